"""Sums, scans and padded batches over segments of different lengths, without a Python loop over them."""

from collections.abc import Iterator

import numpy as np

from deadheat.core.arrays import AnyArray, FloatArray, IntArray, run_starts

MAX_CELLS = 1 << 18  # 2 MB of float64 a batch: stays in the cache
SHORT = 8  # shorter segments are one batch: NumPy adds so few numbers one by one, so zeros after them change no bit


def divide_or_zero(numerator: FloatArray, denominator: AnyArray) -> FloatArray:
    """Divide, giving 0 where the denominator is 0."""
    out = np.zeros(np.broadcast_shapes(np.shape(numerator), np.shape(denominator)))
    return np.divide(numerator, denominator, out=out, where=np.asarray(denominator) != 0)


def segment_sums(values: AnyArray, starts: IntArray) -> AnyArray:
    """Sum each segment ``values[starts[i]:starts[i + 1]]``; no segment may be empty.

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
        bound = max(SHORT, 2 * int(ascending[start]))
        rows = max(1, max_cells // bound)
        stop = min(int(np.searchsorted(ascending, bound)), start + rows)
        yield order[start:stop], int(ascending[stop - 1])
        start = stop


def scan_before(values: FloatArray, query: IntArray, operation: np.ufunc) -> FloatArray:
    """Accumulate, for each element, the elements of its query that come before it.

    Every query is scanned on its own, so that no rounding error of one reaches another.

    Parameters
    ----------
    values : ndarray of shape (n,) or (n, s)
    query : ndarray of shape (n,)
        Ascending query codes.
    operation : numpy.ufunc
        ``np.add`` or ``np.multiply``.

    Returns
    -------
    ndarray, shaped as `values`
    """
    out = np.empty_like(values)
    starts = run_starts(query)
    lengths = np.diff(np.append(starts, len(query)))
    for index, width in batches(lengths):
        cells = starts[index, None] + np.arange(width)
        real = np.arange(width) < lengths[index, None]
        padded = np.full((len(index), width, *values.shape[1:]), float(operation.identity))
        padded[:, 1:][real[:, 1:]] = values[cells[:, :-1][real[:, 1:]]]
        out[cells[real]] = operation.accumulate(padded, axis=1)[real]
    return out
