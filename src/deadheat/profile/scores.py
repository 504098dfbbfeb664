"""The scores of a run: grouped by query, and how coarse they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import cast

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray, IntArray, run_starts
from deadheat.data.precision import round_scores
from deadheat.io.forking import check_threads

FEW_LEVELS = 20  # a scale that a person or a language model grades on has fewer
GRIDS = {"bfloat16": 2.0**-7, "float16": 2.0**-10, "float32": 2.0**-23}  # steps relative to the score, coarsest first
MAX_DECIMALS = 15
SAMPLE = 10_000  # scores that settle most questions about all of them


@dataclass(frozen=True)
class Groups:
    """Documents with the same score in the same query, sorted by query and score (highest first).

    Attributes
    ----------
    query, above, size : ndarray of int, shape (n_groups,)
        Query code, documents with a higher score, documents.
    score : ndarray of float, shape (n_groups,)
    names : polars.Series of str, shape (n_queries,)
        The query of each code.
    """

    query: IntArray
    above: IntArray
    size: IntArray
    score: FloatArray
    names: pl.Series

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.names)


def group_scores(frame: pl.DataFrame) -> Groups:
    """Group the rows of a run by query and score, without sorting where they are sorted already.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns query_id and score.
    """
    check_threads()
    block, first, names, scores = _columns(frame)
    rises = scores[1:] > scores[:-1]
    rises[first[1:] - 1] = False  # from one query to the next it may
    if rises.any() or names.n_unique() < len(names):
        frame = frame.select("query_id", "score").sort("query_id", "score", descending=[False, True])
        block, first, names, scores = _columns(frame)
    start = run_starts(block, scores)
    query = block[start]
    return Groups(query, start - first[query], np.diff(np.append(start, len(scores))), scores[start], names)


def _columns(frame: pl.DataFrame) -> tuple[IntArray, IntArray, pl.Series, FloatArray]:
    """Return the block of equal query ids that each row is in, the first row and the id of each block, and scores."""
    block = frame["query_id"].rle_id().to_numpy().astype(np.int64)
    first = run_starts(block)
    return block, first, frame["query_id"].gather(first.tolist()), frame["score"].to_numpy()


def find_levels(scores: FloatArray, sizes: IntArray) -> tuple[int, tuple[tuple[float, int], ...]]:
    """Return the number of distinct scores, and each with its documents if there are few.

    Parameters
    ----------
    scores : ndarray of float, shape (n_groups,)
        Of groups of documents.
    sizes : ndarray of int, shape (n_groups,)
        How many documents they have.
    """
    frame = pl.DataFrame({"score": scores, "size": sizes})
    n_levels = frame["score"].n_unique()
    if n_levels > FEW_LEVELS:
        return n_levels, ()
    counts = frame.group_by("score").agg(pl.col("size").sum()).sort("score", descending=True)
    return n_levels, tuple(cast("list[tuple[float, int]]", counts.rows()))


def is_kept(scores: FloatArray, *precisions: str | int) -> bool:
    """Tell whether rounding, once or several times over, leaves every score; a few mostly tell that it does not."""
    parts = (scores[:SAMPLE], scores[SAMPLE:])
    return all(np.array_equal(reduce(round_scores, precisions, part), part) for part in parts)


def is_on_grid(scores: FloatArray, grid: str, decimals: int | None) -> bool:
    """Tell whether a format holds every score, as it is or as it was before it was written with fewer digits."""
    if is_kept(scores, grid):
        return True
    # digits that are coarser than the grid say nothing about it
    step = float(np.median(np.abs(scores))) * GRIDS[grid]
    if decimals is None or step <= 2 * 10.0**-decimals:
        return False
    return is_kept(scores, grid, decimals) or _is_shortest(scores, grid)


def _is_shortest(scores: FloatArray, grid: str) -> bool:
    """Tell whether every score is the shortest text of a number of the format, which is how Python writes float16."""
    for part in (scores[:SAMPLE], scores):
        distinct = pl.Series(part).unique()
        if grid != "float32" and len(distinct) > 2**16:
            return False
        if grid == "float16":
            with np.errstate(over="ignore"):  # what is beyond the format is not kept, and found so
                half = distinct.to_numpy().astype(np.float16)
            text = pl.Series(half.astype(str).tolist())
        elif grid == "float32":
            text = distinct.cast(pl.Float32).cast(pl.String)
        else:
            return False  # NumPy has no bfloat16 that could write itself
        if not text.cast(pl.Float64).equals(distinct, check_names=False):
            return False
    return True


def find_decimals(scores: FloatArray) -> int | None:
    """Return the decimals that suffice to write every score, if 15 do."""
    return next((n for n in range(MAX_DECIMALS + 1) if is_kept(scores, n)), None)


def find_grid(scores: FloatArray, decimals: int | None) -> str | None:
    """Return the coarsest floating-point format that holds every score."""
    return next((grid for grid in GRIDS if is_on_grid(scores, grid, decimals)), None)
