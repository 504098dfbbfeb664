"""Dot products that depend on two vectors alone, bit by bit: equal vectors tie, whatever they are computed with.

BLAS adds up in another order for a matrix of another shape, and at the edge of a matrix than inside it, so that equal
embeddings had unequal scores. Here equal vectors are multiplied once, and every product is one of two tiles of a fixed
shape, filled up with zeros.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from deadheat.arrays import FloatArray, IntArray

# Of a tile: multiples of what a processor adds up at once, so that no tile has an edge; large, because BLAS waits for
# all its threads at the end of each.
ROWS, COLUMNS = 256, 4096


@dataclass(frozen=True, eq=False)
class Distinct:
    """Vectors, equal ones once.

    Attributes
    ----------
    rows : ndarray of float32, shape (n_distinct, n_dimensions)
    place : ndarray of int, shape (n_vectors,)
        The row of each vector.
    """

    rows: FloatArray
    place: IntArray

    @classmethod
    def of(cls, vectors: FloatArray) -> Self:
        """Find the equal ones among vectors of shape (n_vectors, n_dimensions); -0.0 is 0.0."""
        codes: dict[bytes, int] = {}
        first: list[int] = []
        place = np.empty(len(vectors), np.int64)
        for start in range(0, len(vectors), COLUMNS):
            for number, row in enumerate(vectors[start : start + COLUMNS] + np.float32(0), start):
                # the hash: a dict of the rows themselves would hold them a second time
                code = codes.setdefault(hashlib.sha256(row).digest(), len(codes))
                place[number] = code
                if code == len(first):
                    first.append(number)
        return cls(vectors if len(first) == len(vectors) else vectors[first], place)

    def spread(self, columns: FloatArray) -> FloatArray:
        """Return the columns of the distinct vectors as those of all, of shape (..., n_vectors)."""
        return columns if len(self.rows) == len(self.place) else np.take(columns, self.place, axis=-1)


def products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the dot product of each row of one matrix with each row of another.

    Parameters
    ----------
    left : ndarray of float32, shape (n_left, n_dimensions)
    right : ndarray of float32, shape (n_right, n_dimensions)

    Returns
    -------
    ndarray of float32, shape (n_left, n_right)
        Each number is the same whatever the other rows are, and how many. Too large for float32, it is infinite or NaN.
    """
    found = np.empty((-(-len(left) // ROWS) * ROWS, -(-len(right) // COLUMNS) * COLUMNS), np.float32)
    tiles = [(start, _padded(left[start : start + ROWS], ROWS)) for start in range(0, len(left), ROWS)]
    for column in range(0, len(right), COLUMNS):
        beside = _padded(right[column : column + COLUMNS], COLUMNS).T
        with np.errstate(over="ignore", invalid="ignore"):  # what is NaN is an error where the document is known
            for row, tile in tiles:
                np.matmul(tile, beside, out=found[row : row + ROWS, column : column + COLUMNS])
    return found[: len(left), : len(right)]


def _padded(rows: FloatArray, size: int) -> FloatArray:
    """Return a copy of some rows with rows of zeros behind them, `size` in all."""
    tile = np.zeros((size, rows.shape[1]), np.float32)
    tile[: len(rows)] = rows
    return tile
