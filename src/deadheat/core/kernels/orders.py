"""The orders of one query's ties as rows of a matrix: all distinct ones, or a sample of them.

Documents are given by codes; orders that exchange documents of one code are the same.
"""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.errors import MeasureError

MAX_CELLS = 1 << 20  # of a matrix of rankings
MAX_CELLS_OF_TIE = MAX_CELLS << 8  # of the matrix of all orders of one tie: 2 GB


def count_arrangements(codes: FloatArray) -> int:
    """Return the number of distinct orders of some codes.

    Examples
    --------
    >>> count_arrangements(np.array([1.0, 0.0, 0.0]))
    3
    """
    _, counts = np.unique(codes, return_counts=True)
    n_repeated = math.prod(math.factorial(count) for count in counts.tolist())
    return math.factorial(len(codes)) // n_repeated


def list_arrangements(codes: FloatArray) -> FloatArray:
    """Return the distinct orders of some codes, of shape (n_arrangements, n_codes).

    The matrix begins as one row of the commonest code. Then each other code is put on every choice of the places that
    are still free.

    Raises
    ------
    MeasureError
        If they need more than 2 GB.

    Examples
    --------
    >>> list_arrangements(np.array([1.0, 0.0, 0.0])).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    n_cells = count_arrangements(codes) * len(codes)
    if n_cells > MAX_CELLS_OF_TIE:
        raise MeasureError(
            f"the orders of a tie need {n_cells * 8 / 1e9:,.0f} GB",
            found=f"{len(codes):,} documents that tie",
            hint="a limit of max_orders draws as many instead",
        )
    values, counts = np.unique(codes, return_counts=True)
    commonest = int(counts.argmax())
    other_values, other_counts = np.delete(values, commonest), np.delete(counts, commonest)
    rows = np.full((1, len(codes)), values[commonest])
    free = np.arange(len(codes))[None]  # places of each row that no other code has taken
    for value, count in zip(other_values, other_counts.tolist(), strict=True):
        n_free = free.shape[1]
        chosen = np.array(list(itertools.combinations(range(n_free), count)))
        is_free = np.ones((len(chosen), n_free), np.bool_)
        np.put_along_axis(is_free, chosen, values=False, axis=1)
        still_free = np.nonzero(is_free)[1].reshape(len(chosen), n_free - count)
        rows = np.repeat(rows, len(chosen), axis=0)
        np.put_along_axis(rows, free[:, chosen].reshape(len(rows), count), value, axis=1)
        free = free[:, still_free].reshape(len(rows), n_free - count)
    return rows


def list_rankings(ranking: FloatArray, ties: Sequence[tuple[int, FloatArray]]) -> Iterator[FloatArray]:
    """Yield every distinct ranking once, in matrices of shape (n_orders, n_ranks).

    Parameters
    ----------
    ranking : ndarray of shape (n_ranks,)
        Codes by rank; those of the ties do not matter.
    ties : sequence of (int, ndarray)
        The ranks above each tie, and its codes.
    """
    tables = [list_arrangements(codes) for _, codes in ties]
    sizes = [len(table) for table in tables]
    n_orders = math.prod(sizes)
    block = _rows_of_matrix(ranking)
    for start in range(0, n_orders, block):
        numbers = np.arange(start, min(start + block, n_orders))
        rows = np.repeat(ranking[None], len(numbers), axis=0)
        if tables:  # the number of an order says which row of each table it has, as digits do
            rows_of_tables = np.unravel_index(numbers, sizes)
            for (above, codes), table, rows_of_table in zip(ties, tables, rows_of_tables, strict=True):
                rows[:, above : above + len(codes)] = table[rows_of_table]
        yield rows


def draw_rankings(
    ranking: FloatArray, ties: Sequence[tuple[int, FloatArray]], size: int, rng: "np.random.Generator"
) -> Iterator[FloatArray]:
    """Yield `size` random rankings; the other parameters are those of :func:`list_rankings`."""
    block = _rows_of_matrix(ranking)
    for start in range(0, size, block):
        rows = np.repeat(ranking[None], min(block, size - start), axis=0)
        for above, codes in ties:
            tie = rows[:, above : above + len(codes)]
            tie[:] = codes
            rng.permuted(tie, axis=1, out=tie)
        yield rows


def _rows_of_matrix(ranking: FloatArray) -> int:
    """Return how many rankings a matrix has at most."""
    return max(1, MAX_CELLS // max(1, len(ranking)))
