"""Rows that are read where they are placed: those that are excluded are left out as they are read."""

from __future__ import annotations

from dataclasses import dataclass, replace

from deadheat.core.io.id_columns import IdRuns
from deadheat.core.io.lazy import CheckedRows, Frame, Reading
from deadheat.core.libraries import polars as pl
from deadheat.plugins.exclude.matching import KEYS, find_excluded, split_in_engine


@dataclass(frozen=True, eq=False)
class ExcludingReading(Reading):
    """Reads and checks rows, and leaves some out.

    Attributes
    ----------
    pairs : polars.DataFrame or None
        query_id and doc_id of what is excluded; None: documents with the id of their query.
    """

    pairs: pl.DataFrame | None = None

    def read_in_polars(self, frame: Frame) -> CheckedRows:
        """Return the rows that remain, what is wrong, and the rows that were left out."""
        checked = super().read_in_polars(frame)
        is_excluded = find_excluded(checked.frame, self.pairs)
        if not is_excluded.any():
            return checked
        remaining = checked.frame.filter(~is_excluded)
        excluded = checked.frame.filter(is_excluded).select(KEYS)
        return replace(checked, frame=remaining, query_runs=IdRuns.of(remaining["query_id"]), excluded=excluded)

    def read_in_engine(self, frame: Frame, where: str) -> Frame:
        """Return the rows of a lazy frame that remain, in its engine, checked there."""
        remaining, _ = split_in_engine(super().read_in_engine(frame, where), self.pairs)
        return remaining
