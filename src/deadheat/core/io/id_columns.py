"""Columns of ids in Polars: their runs of equal ids, and whether their texts can be ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from deadheat.core.arrays import IntArray
from deadheat.core.io.ids import NUL
from deadheat.core.libraries import polars as pl

AT_ONCE = 1 << 16  # ids that are joined, which stay in the processor's cache
MOST_TEXT = 1 << 24  # bytes of the ids that are joined, at most


@dataclass(frozen=True, eq=False)
class IdRuns:
    """The stretches of adjacent rows with the same id, as run-length encoding finds them. No retrieval run is meant.

    Mostly each query has one stretch.

    Attributes
    ----------
    ids : polars.Series of length n_runs
        The id of each stretch.
    ends : ndarray of int, shape (n_runs,)
        The row after the last one of each stretch.
    """

    ids: pl.Series
    ends: IntArray

    @classmethod
    def of(cls, column: pl.Series) -> IdRuns:
        """Return the stretches of equal ids in a column."""
        runs = column.rle().struct.unnest()
        return cls(runs["value"], np.cumsum(runs["len"].to_numpy(), dtype=np.int64))


def are_ids(texts: pl.Series) -> bool:
    """Tell whether all texts of a column can be ids: none is null or empty, and none has a NUL.

    Many texts are joined and searched for a NUL at once. That takes half as long as a search in each.
    """
    if texts.is_empty():
        return True
    sizes = texts.str.len_bytes()
    shortest, longest = cast("int | None", sizes.min()), cast("int | None", sizes.max())
    if texts.null_count() or not shortest or not longest:
        return False
    n_at_once = max(1, min(AT_ONCE, MOST_TEXT // longest))
    for start in range(0, len(texts), n_at_once):
        if NUL in texts.slice(start, n_at_once).str.join("").item():
            return False
    return True
