"""Scores by several keys: ranks by the first one, in which what ties is ordered by the next."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from deadheat.core.data.rounding import ScorePrecision, round_and_warn
from deadheat.core.errors import DataError
from deadheat.core.io.kinds import KEYS
from deadheat.core.io.values import check_number
from deadheat.core.libraries import polars as pl
from deadheat.core.scalars import LARGEST_INTEGER
from deadheat.core.wording import format_count

if TYPE_CHECKING:
    pass


def order_by_keys(
    frame: pl.DataFrame, others: Mapping[str, pl.DataFrame], precision: ScorePrecision
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return a run whose scores are ranks by several keys, and notes on documents that have no second key.

    Parameters
    ----------
    frame : polars.DataFrame
        query_id, doc_id, score.
    others : mapping of str to polars.DataFrame
        The next keys in order, by name, each with the same columns.
    precision : str, int or None
        To which the scores of all keys are rounded first.

    Returns
    -------
    frame : polars.DataFrame
        The same rows in the same order; the lowest score is 1, equal scores are equal by every key.
    notes : tuple of str
    """
    ranks, notes = _ranked(_rounded(frame["score"], precision)), []
    for name, other in others.items():
        joined = frame.select(*KEYS).join(other.select(*KEYS, then="score"), on=KEYS, how="left", maintain_order="left")
        is_tied = pl.DataFrame({"query_id": frame["query_id"], "rank": ranks}).is_duplicated()
        n_lacking = int((is_tied & joined["then"].is_null()).sum())
        are = "is not in it: it comes last" if n_lacking == 1 else "are not in it: they come last"
        lacking = f", {n_lacking:,} of them {are}" if n_lacking else ""
        notes.append(f"{format_count(int(is_tied.sum()), 'tied document')} ordered by {name}{lacking}")
        ranks = _ranked(ranks, _rounded(joined["then"], precision))
    return frame.with_columns(score=ranks), tuple(notes)


def rank_tuples(source: Mapping[str, Mapping[str, Any]], where: str) -> dict[str, dict[str, float]] | None:
    """Return a run with ranks in place of tuples or lists of scores, which order documents by their parts in turn.

    None if the first score is neither.

    Raises
    ------
    DataError
        Some scores have more parts than others, or a part is no number.

    Examples
    --------
    >>> rank_tuples({"q": {"a": (3, 0.5), "b": (3, 0.7), "c": (3, 0.5), "d": (1, 9.0)}}, "the run")
    {'q': {'a': 2.0, 'b': 3.0, 'c': 2.0, 'd': 1.0}}
    """
    first = next((score for documents in source.values() for score in documents.values()), None)
    if not isinstance(first, tuple | list):
        return None
    scores = list(chain.from_iterable(documents.values() for documents in source.values()))
    if wrong := [one for one in scores if not isinstance(one, tuple | list) or len(one) != len(first) or not one]:
        raise DataError(
            found=f"{wrong[0]!r}",
            allowed=f"a tuple of {len(first)} numbers, as the first score is" if first else "a tuple of numbers",
            path=where,
        )
    try:
        columns = np.array(scores, np.float64).T
    except (TypeError, ValueError, OverflowError):
        columns = np.zeros(0)
    if columns.ndim != 2 or not (np.abs(columns) < LARGEST_INTEGER).all():  # a part may be a list, text or NaN
        for query, documents in source.items():
            for doc, part in ((doc, part) for doc, score in documents.items() for part in score):
                check_number("run", query, doc, part, where)
    numbers = iter(_ranked(*map(pl.Series, columns + 0.0)).to_list())
    return {query: dict(zip(documents, numbers, strict=False)) for query, documents in source.items()}


def _rounded(scores: pl.Series, precision: ScorePrecision) -> pl.Series:
    """Return scores rounded; null where there is none."""
    if precision is None:
        return scores
    rounded = pl.Series(round_and_warn(scores.fill_null(0.0).to_numpy(), precision))
    return pl.select(pl.when(scores.is_not_null()).then(rounded)).to_series()


def _ranked(*keys: pl.Series) -> pl.Series:
    """Return dense ranks from the lowest, 1, on, by the first key, then by the next; null is below every number."""
    return (
        pl.DataFrame({f"key {number}": key for number, key in enumerate(keys)})
        .select(pl.struct(pl.all()).rank("dense").cast(pl.Float64))
        .to_series()
    )
