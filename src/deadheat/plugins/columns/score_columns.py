"""Several scores of each document, and which columns of a table they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deadheat.core.arrays import FloatArray
from deadheat.core.errors import ColumnError
from deadheat.core.io.columns import check_column
from deadheat.core.io.kinds import NO_SCORES
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_list


@dataclass(frozen=True, eq=False)
class ScoreColumns:
    """A table with several scores a document, checked.

    Attributes
    ----------
    ids : polars.DataFrame
        query_id and doc_id, in file order.
    scores : dict of str to ndarray of float, shape (n_rows,)
        By the name of the column.
    notes : tuple of str
        What was done to read it that people should know.
    relevance : polars.Series or None
        Of each row, in a format that always has it.
    """

    ids: pl.DataFrame
    scores: dict[str, FloatArray]
    notes: tuple[str, ...] = ()
    relevance: pl.Series | None = None


def chosen_names(
    asked: Sequence[str] | None,
    numeric: Sequence[str],
    known: Sequence[str],
    given: Mapping[str, str],
    where: str | Path,
) -> tuple[list[str], tuple[str, ...]]:
    """Return the columns to read as scores, and notes on those that were left out.

    Parameters
    ----------
    asked : sequence of str or None
        None: all that hold numbers, but for ids, relevance and ranks.
    numeric, known : sequence of str
        The columns that hold numbers, and all.
    given : mapping of str to str
        Names of columns that the user says, by canonical name.
    where : str or path
        For messages.
    """
    others = NO_SCORES | set(given.values())
    names = [name for name in numeric if name not in others] if asked is None else list(dict.fromkeys(asked))
    if not names:
        raise ColumnError(
            "no column of numbers beside ids, relevance and ranks", allowed="one score a column", path=where
        )
    for name in names:
        check_column(name, known, where)
    left_out = [name for name in known if asked is None and name not in numeric and name not in others]
    return names, (f"columns that hold no numbers are left out: {format_list(left_out)}",) if left_out else ()
