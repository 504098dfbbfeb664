"""Random signs of units, held as bits, and sums of values under them.

A sum under signs needs no sign as a number. Eight units have 256 patterns of signs, and a byte of the bits is the
number of a pattern: so the 256 sums of each eight values are made once, and each resample looks up one of them for
each byte. With 500,000 units and 10,000 resamples that is 0.6 billion additions in place of five billion products.
Where many rows of values share the signs, a product of matrices is faster.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from deadheat.core.arrays import FloatArray, IntArray, use_default_arithmetic
from deadheat.core.stats.resamples import BATCH_CELLS, batches

UNITS_OF_BYTE = 8
N_PATTERNS = 1 << UNITS_OF_BYTE
UNITS_OF_HALF = UNITS_OF_BYTE // 2
N_HALF_PATTERNS = 1 << UNITS_OF_HALF
FEW_ROWS = 4  # rows of values up to which tables are faster than a product of matrices
BIT_CELLS = 1 << 23  # words of bits, or sums, in memory at a time: 64 MB
PIECE_BYTES, PIECE_RESAMPLES = 128, 256  # looked up at a time: tables and places stay in the cache


@dataclass(frozen=True, eq=False)
class Signs:
    """A random sign of each unit in each resample.

    Attributes
    ----------
    n_units : int
    bits : ndarray of uint8, shape (n_resamples, n_bytes)
        The first unit is the highest bit of the first byte; a bit of 0 is the sign -1. Bits beyond the last unit have
        no meaning.
    """

    n_units: int
    bits: npt.NDArray[np.uint8]

    @cached_property
    def matrix(self) -> FloatArray:
        """The signs as numbers, shape (n_resamples, n_units)."""
        signs = np.unpackbits(self.bits, axis=1, count=self.n_units).astype(np.float64)
        signs *= 2  # in place: a bit of 0 becomes -1
        signs -= 1
        return signs

    def sums(self, rows: FloatArray) -> FloatArray:
        """Return the sum of each row of values in each resample.

        Parameters
        ----------
        rows : ndarray of float, shape (n_rows, n_units)

        Returns
        -------
        ndarray of float, shape (n_rows, n_resamples)
        """
        if len(rows) > FEW_ROWS:
            return rows @ self.matrix.T
        n_bytes = math.ceil(self.n_units / UNITS_OF_BYTE)
        sums = np.zeros((len(rows), len(self.bits)))
        for first in range(0, n_bytes, PIECE_BYTES):
            stop = min(first + PIECE_BYTES, n_bytes)
            tables = _tabulate_sums(rows[:, UNITS_OF_BYTE * first : UNITS_OF_BYTE * stop])
            table_starts = N_PATTERNS * np.arange(stop - first)
            for start in range(0, len(self.bits), PIECE_RESAMPLES):
                resamples = slice(start, start + PIECE_RESAMPLES)
                places = self.bits[resamples, first:stop].astype(np.int64)  # adding to bytes would take twice as long
                places += table_starts
                for row, table in enumerate(tables):
                    sums[row, resamples] += table.take(places).sum(axis=1)
        return sums


@use_default_arithmetic
def sign_flip_sums(values: FloatArray, *, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return the sum over units in each resample that gives every unit a random sign.

    Parameters
    ----------
    values : ndarray of float, shape (n_units, n_columns)
    n_resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of float, shape (n_resamples, n_columns)

    Examples
    --------
    >>> differences = np.array([[0.5], [0.25]])
    >>> np.unique(sign_flip_sums(differences, n_resamples=100, rng=np.random.default_rng(1))).tolist()
    [-0.75, -0.25, 0.25, 0.75]
    """
    n_units, n_columns = values.shape
    sums = np.empty((n_columns, n_resamples))  # the sums of a column are adjacent in memory
    for start, stop in sign_batches(n_resamples, n_columns, n_units):
        sums[:, start:stop] = draw_signs(stop - start, n_units, rng).sums(values.T)
    return sums.T


def sign_batches(n_resamples: int, n_rows: int, n_units: int) -> Iterator[tuple[int, int]]:
    """Yield the first resample and the end of batches whose signs, and sums of so many rows, fit into memory."""
    if n_rows > FEW_ROWS:
        return batches(n_resamples, max(n_rows, n_units), BATCH_CELLS)
    n_words_of_bits = math.ceil(n_units / 64)
    return batches(n_resamples, max(n_rows, n_words_of_bits), BIT_CELLS)


def draw_signs(n_resamples: int, n_units: int, rng: np.random.Generator) -> Signs:
    """Return a random sign of each unit in each resample."""
    n_words = math.ceil(n_units / 32)  # of a row, which has whole words: so batches do not change the signs
    words = rng.integers(0, 1 << 32, (n_resamples, n_words), dtype=np.uint32)  # as `rng.bytes`, which copies them
    return Signs(n_units, words.astype("<u4", copy=False).view(np.uint8))


def _signs_of_patterns() -> FloatArray:
    """Return the signs of the four units of half a byte in each pattern, shape (16, 4)."""
    patterns: IntArray = np.arange(N_HALF_PATTERNS)
    places = np.arange(UNITS_OF_HALF - 1, -1, -1)  # the first unit is the highest bit
    bits = (patterns[:, None] >> places) & 1
    return 2.0 * bits - 1.0


def _tabulate_sums(rows: FloatArray) -> FloatArray:
    """Return the sum of each eight values under each pattern of signs, the tables of a row one after the other.

    Parameters
    ----------
    rows : ndarray of float, shape (n_rows, n_units)
        Values beyond the last unit count as 0.

    Returns
    -------
    ndarray of float, shape (n_rows, n_tables * 256)
    """
    n_rows, n_units = rows.shape
    n_tables = math.ceil(n_units / UNITS_OF_BYTE)
    values = np.zeros((n_rows, UNITS_OF_BYTE * n_tables))
    values[:, :n_units] = rows
    halves = values.reshape(n_rows * n_tables, 2, UNITS_OF_HALF) @ _signs_of_patterns().T
    sums = halves[:, 0, :, None] + halves[:, 1, None, :]  # the first half is the higher one of the byte
    return sums.reshape(n_rows, n_tables * N_PATTERNS)
