"""The orders of one query's ties as rows of a matrix: all distinct ones, or a sample of them.

Documents are given by codes; orders that exchange documents of one code are the same.
"""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.errors import MeasureError

MOST_CELLS = 1 << 20  # of a matrix that is yielded


def n_arrangements(codes: FloatArray) -> int:
    """Return the number of distinct orders of some codes."""
    return math.factorial(len(codes)) // math.prod(
        map(math.factorial, np.unique(codes, return_counts=True)[1].tolist())
    )


def arrangements(codes: FloatArray) -> FloatArray:
    """Return the distinct orders of some codes, of shape (n_arrangements, n_codes).

    Examples
    --------
    >>> arrangements(np.array([1.0, 0.0, 0.0])).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if (n_cells := n_arrangements(codes) * len(codes)) > MOST_CELLS << 8:
        raise MeasureError(
            f"the orders of a tie need {n_cells * 8 / 1e9:,.0f} GB",
            found=f"{len(codes):,} documents that tie",
            hint="a limit of max_orders draws as many instead",
        )
    values, counts = np.unique(codes, return_counts=True)
    commonest = int(counts.argmax())
    rows = np.full((1, len(codes)), values[commonest])
    free = np.arange(len(codes))[None]
    for value, count in zip(np.delete(values, commonest), np.delete(counts, commonest).tolist(), strict=True):
        chosen = np.array(list(itertools.combinations(range(free.shape[1]), count)))
        is_free = np.ones((len(chosen), free.shape[1]), np.bool_)
        np.put_along_axis(is_free, chosen, values=False, axis=1)
        rest = np.nonzero(is_free)[1].reshape(len(chosen), -1)
        rows = np.repeat(rows, len(chosen), axis=0)
        np.put_along_axis(rows, free[:, chosen].reshape(len(rows), count), value, axis=1)
        free = free[:, rest].reshape(len(rows), rest.shape[1])
    return rows


def listed(ranking: FloatArray, ties: Sequence[tuple[int, FloatArray]]) -> Iterator[FloatArray]:
    """Yield every distinct ranking once, in matrices of shape (n_orders, n_ranks).

    Parameters
    ----------
    ranking : ndarray of shape (n_ranks,)
        Codes by rank; those of the ties do not matter.
    ties : sequence of (int, ndarray)
        The ranks above each tie, and its codes.
    """
    tables = [arrangements(codes) for _, codes in ties]
    total = math.prod(map(len, tables))
    block = max(1, MOST_CELLS // max(1, len(ranking)))
    for start in range(0, total, block):
        number = np.arange(start, min(start + block, total))
        rows = np.repeat(ranking[None], len(number), axis=0)
        place: Sequence[IntArray] = np.unravel_index(number, [len(table) for table in tables]) if tables else ()
        for (above, codes), table, index in zip(ties, tables, place, strict=True):
            rows[:, above : above + len(codes)] = table[index]
        yield rows


def drawn(
    ranking: FloatArray, ties: Sequence[tuple[int, FloatArray]], size: int, rng: "np.random.Generator"
) -> Iterator[FloatArray]:
    """Yield `size` random rankings; parameters as for :func:`listed`."""
    block = max(1, MOST_CELLS // max(1, len(ranking)))
    for start in range(0, size, block):
        rows = np.repeat(ranking[None], min(block, size - start), axis=0)
        for above, codes in ties:
            rows[:, above : above + len(codes)] = codes
            rng.permuted(rows[:, above : above + len(codes)], axis=1, out=rows[:, above : above + len(codes)])
        yield rows
