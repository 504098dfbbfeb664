"""Sums, scans and padded batches over segments of different lengths, without a Python loop over them."""

from collections.abc import Iterator

import numpy as np

from deadheat.core.arrays import AnyArray, FloatArray, IntArray, run_sizes, run_starts

MAX_CELLS = 1 << 18  # 2 MB of float64 a batch: stays in the cache
# Segments shorter than this share a batch. NumPy adds up to 8 numbers one by one, so that the zeros with which they are
# padded change no bit of their sums
SHORT = 8


def divide_or_zero(numerator: FloatArray, denominator: AnyArray) -> FloatArray:
    """Return the quotients, and 0 where the denominator is 0."""
    shape = np.broadcast(numerator, denominator).shape
    is_defined = np.asarray(denominator) != 0
    return np.divide(numerator, denominator, out=np.zeros(shape), where=is_defined)


def segment_sums(values: AnyArray, starts: IntArray) -> AnyArray:
    """Return the sum of each segment ``values[starts[i]:starts[i + 1]]``; no segment may be empty.

    `np.add.reduceat` returns the neighbour's value for an empty segment, so it is called only here: the
    starts of :func:`run_starts` never give one.
    """
    if not len(starts):
        return np.zeros((0, *values.shape[1:]), values.dtype)
    return np.add.reduceat(values, starts, axis=0)


def batches(lengths: IntArray, max_cells: int = MAX_CELLS) -> Iterator[tuple[IntArray, int]]:
    """Put segments of similar length together, so that they can be padded to a matrix.

    Parameters
    ----------
    lengths : ndarray of shape (n_segments,)
        Segments of length 0 are left out.
    max_cells : int
        Upper bound for the size of a matrix, unless one segment alone is longer.

    Yields
    ------
    index : ndarray
        The segments of the batch.
    width : int
        The longest of them; the shortest is longer than ``width / 2``, or all are shorter than 8.
    """
    order = np.argsort(lengths, kind="stable")
    ascending = lengths[order]
    start = int(np.searchsorted(ascending, 1))
    while start < len(order):
        too_long = max(SHORT, 2 * int(ascending[start]))
        n_rows = max(1, max_cells // too_long)
        stop = min(int(np.searchsorted(ascending, too_long)), start + n_rows)
        longest = int(ascending[stop - 1])
        yield order[start:stop], longest
        start = stop


def scan_before(values: FloatArray, query: IntArray, operation: np.ufunc) -> FloatArray:
    """Return, for each element, the sum or product of the elements of its query that come before it.

    Every query is scanned by itself, so that no rounding error of one reaches another. Its first element gets the
    identity of the operation, 0 or 1.

    Parameters
    ----------
    values : ndarray of shape (n,) or (n, s)
    query : ndarray of shape (n,)
        Query codes; those of a query are adjacent.
    operation : numpy.ufunc
        ``np.add`` or ``np.multiply``.

    Returns
    -------
    ndarray, shaped as `values`
    """
    scanned = np.empty_like(values)
    starts = run_starts(query)
    lengths = run_sizes(starts, len(query))
    for index, width in batches(lengths):
        place = np.arange(width)
        element = starts[index, None] + place
        is_element = place < lengths[index, None]
        # Each element is written one place to the right, so that a place accumulates the elements before it.
        has_one_before = is_element[:, 1:]
        element_before = element[:, :-1]
        padded = np.full((len(index), width, *values.shape[1:]), float(operation.identity))
        padded[:, 1:][has_one_before] = values[element_before[has_one_before]]
        scanned[element[is_element]] = operation.accumulate(padded, axis=1)[is_element]
    return scanned
