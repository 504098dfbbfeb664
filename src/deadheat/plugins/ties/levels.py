"""How coarse scores are: their levels, their decimals, and the format of numbers that holds them."""

from functools import reduce
from typing import cast

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.data.rounding import round_scores

FEW_LEVELS = 20  # a scale that a person or a language model grades on has fewer
GRIDS = {"bfloat16": 2.0**-7, "float16": 2.0**-10, "float32": 2.0**-23}  # steps relative to the score, coarsest first
SAMPLE = 10_000  # scores that settle most questions about all of them


def find_levels(scores: FloatArray, sizes: IntArray) -> tuple[int, tuple[tuple[float, int], ...]]:
    """Return the number of distinct scores, and each with its documents if there are few.

    Parameters
    ----------
    scores : ndarray of float, shape (n_groups,)
        Of groups of documents.
    sizes : ndarray of int, shape (n_groups,)
        How many documents they have.
    """
    found = pl.DataFrame({"score": scores, "size": sizes}).group_by("score").agg(pl.col("size").sum())
    few = found.sort("score", descending=True).rows() if found.height <= FEW_LEVELS else ()
    return found.height, tuple(cast("list[tuple[float, int]]", few))


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
    if grid == "bfloat16":
        return False  # NumPy has none that could write itself
    for part in (scores[:SAMPLE], scores):
        distinct = pl.Series(part).unique()
        with np.errstate(over="ignore"):  # what is beyond the format is not kept, and found so
            held = distinct.to_numpy().astype(grid)
        text = pl.Series(held.astype(str).tolist()) if grid == "float16" else pl.Series(held).cast(pl.String)
        if not text.cast(pl.Float64).equals(distinct, check_names=False):
            return False
    return True
