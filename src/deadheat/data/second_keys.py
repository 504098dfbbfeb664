"""Second keys: equal scores ordered by other scores; what these leave tied too stays tied."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from deadheat.data.rows import ScorePrecision, round_and_warn
from deadheat.errors import LARGEST_INTEGER, DataError, Plain, counted
from deadheat.io.values import check_number

PAIR = ("query_id", "doc_id")


def ordered_by(
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
        own = other.select(*PAIR, then="score")
        joined = frame.select(*PAIR).join(own, on=PAIR, how="left", maintain_order="left")
        is_tied = pl.DataFrame({"query_id": frame["query_id"], "rank": ranks}).is_duplicated()
        n_lacking = int((is_tied & joined["then"].is_null()).sum())
        notes.append(f"{counted(int(is_tied.sum()), 'tied document')} ordered by {name}{_lacking(n_lacking)}")
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
    wrong = [one for one in scores if not isinstance(one, tuple | list) or len(one) != len(first) or not one]
    if wrong:
        raise DataError(
            given=Plain(f"{wrong[0]!r}"),
            allowed=f"a tuple of {len(first)} numbers, as the first score is" if first else "a tuple of numbers",
            path=where,
        )
    try:
        columns = np.array(scores, np.float64).T
    except (TypeError, ValueError, OverflowError):
        columns = np.zeros(0)
    if columns.ndim != 2:  # a part may be a list
        raise DataError("a part of a score is not a number", allowed="tuples of numbers", path=where)
    if (np.abs(columns) >= LARGEST_INTEGER).any():
        _check_large(source, where)
    if np.isnan(columns).any():
        raise DataError("a part of a score is NaN", allowed="tuples of numbers", path=where)
    numbers = iter(_ranked(*map(pl.Series, columns + 0.0)).to_list())
    return {query: dict(zip(documents, numbers, strict=False)) for query, documents in source.items()}


def _check_large(source: Mapping[str, Mapping[str, Any]], where: str) -> None:
    """Raise for a part of a score that float64 may merge with its neighbours."""
    for query, documents in source.items():
        for doc, score in documents.items():
            for part in score:
                check_number("run", query, doc, part, where)


def _lacking(number: int) -> str:
    """Say how many documents have no second key."""
    if not number:
        return ""
    one, many = "1 of them is not in it: it comes last", f"{number:,} of them are not in it: they come last"
    return f", {one if number == 1 else many}"


def _rounded(scores: pl.Series, precision: ScorePrecision) -> pl.Series:
    """Return scores rounded; null where there is none."""
    if precision is None:
        return scores
    rounded = pl.Series(round_and_warn(scores.fill_null(0.0).to_numpy(), precision))
    return pl.select(pl.when(scores.is_not_null()).then(rounded)).to_series()


def _ranked(*keys: pl.Series) -> pl.Series:
    """Return dense ranks from the lowest, 1, on, by the first key, then by the next; null is below every number."""
    both = pl.DataFrame({f"key {number}": key for number, key in enumerate(keys)})
    return both.select(pl.struct(pl.all()).rank("dense").cast(pl.Float64)).to_series()
