"""Sums over segments of an array that are those of the segments alone, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, run_starts


def sum_segments(values: FloatArray, bounds: IntArray) -> FloatArray:
    """Return the sum of each segment, to the last bit the same as that of its values alone.

    Parameters
    ----------
    values : ndarray of float, shape (n_values,)
    bounds : ndarray of int, shape (n_segments + 1,)
        Where each segment begins; the last one is where the last segment ends.

    Returns
    -------
    ndarray of float, shape (n_segments,)

    Examples
    --------
    >>> sum_segments(np.array([0.5, 1.0, 2.0]), np.array([0, 2, 2, 3])).tolist()
    [1.5, 0.0, 2.0]
    """
    # NumPy adds in pairs, and np.add.reduceat in other pairs than np.sum: so segments of one length are summed as rows
    sums = np.zeros(len(bounds) - 1)
    for segments, rows in rows_by_length(bounds):
        sums[segments] = values[rows].sum(axis=1)
    return sums


def rows_by_length(bounds: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the segments of each length with the places of their values, as a row a segment; empty ones are left out.

    There are fewer lengths than twice the root of the number of values.

    Parameters
    ----------
    bounds : ndarray of int, shape (n_segments + 1,)

    Yields
    ------
    segments : ndarray of int, shape (n_rows,)
    places : ndarray of int, shape (n_rows, length)
    """
    lengths = np.diff(bounds)
    by_length = np.argsort(lengths, kind="stable")
    for segments in np.split(by_length, run_starts(lengths[by_length])[1:]):
        length = 0
        if len(segments):
            length = lengths[segments[0]]
        if length:
            yield segments, bounds[segments][:, None] + np.arange(length)
