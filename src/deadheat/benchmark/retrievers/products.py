"""Dot products that depend on two vectors alone, bit by bit: equal vectors tie, whatever they are computed with.

Floating-point sums depend on the order in which a processor adds up, and BLAS adds in another order for a matrix of
another shape, at another place of one matrix, and with another number of threads. A sum that needs no rounding does
not: here each vector is first rounded to whole multiples of a power of two, so few bits that float64 holds every sum
of their products exactly. (The idea, for one part: Ozaki et al., Numerical Algorithms 59, 2012,
doi:10.1007/s11075-011-9478-1.)
"""

from __future__ import annotations

import numpy as np

from deadheat.arrays import FloatArray

ROWS = 4096  # of the right matrix that are float64 at once
_FLOAT32, _FLOAT64 = 24, 53  # bits of their numbers


def rounded(vectors: FloatArray) -> FloatArray:
    """Return vectors with so few bits that `products` adds up those of equal length exactly.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n_vectors, n_dimensions)

    Returns
    -------
    ndarray of float32, shape (n_vectors, n_dimensions)
        Off by at most 2^-bits of the largest number of its vector: bits is 22 for 384 dimensions, 21 for 2,048.

    Examples
    --------
    >>> rounded(np.array([[0.75, 1e-9]], np.float32)).tolist()
    [[0.75, 0.0]]
    """
    n_dimensions = vectors.shape[1]
    bits = min(_FLOAT32, (_FLOAT64 - max(0, n_dimensions - 1).bit_length()) // 2)
    _, exponent = np.frexp(np.abs(vectors).max(axis=1, initial=0, keepdims=True))
    unit = np.ldexp(1.0, exponent - bits)
    return (np.rint(vectors / unit) * unit).astype(np.float32)


def products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the dot product of each row of one matrix with each row of another.

    Parameters
    ----------
    left : ndarray of float32, shape (n_left, n_dimensions)
    right : ndarray of float32, shape (n_right, n_dimensions)
        Both of them `rounded`.

    Returns
    -------
    ndarray of float32, shape (n_left, n_right)
        Each number is the same whatever the other rows are, how many, and on how many threads. Beyond float32, it is
        infinite.
    """
    found = np.empty((len(left), len(right)), np.float32)
    wide = left.astype(np.float64)
    for start in range(0, len(right), ROWS):
        beside = right[start : start + ROWS].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):  # what is infinite is an error where the document is known
            found[:, start : start + ROWS] = wide @ beside.T + 0.0  # never -0.0
    return found
