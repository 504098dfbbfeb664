"""Scores by several sort keys: the first key ranks, the second orders the ties of the first, and so on.

`KEYS` are no such keys, but query_id and doc_id, the columns that tables are joined on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.data.rounding import ScorePrecision, round_and_warn
from deadheat.core.errors import DataError
from deadheat.core.io.kinds import KEYS
from deadheat.core.io.values import check_number
from deadheat.core.libraries import polars as pl
from deadheat.core.scalars import LARGEST_INTEGER
from deadheat.core.wording import format_count


def order_by_keys(
    frame: pl.DataFrame, next_keys: Mapping[str, pl.DataFrame], precision: ScorePrecision
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return a run whose scores are ranks by several sort keys, and notes on the ties that each key ordered.

    Parameters
    ----------
    frame : polars.DataFrame
        query_id, doc_id, score.
    next_keys : mapping of str to polars.DataFrame
        The next keys in order, by name, each with the same columns.
    precision : str, int or None
        The precision that the scores of all keys are rounded to first.

    Returns
    -------
    frame : polars.DataFrame
        The same rows in the same order. The lowest score is 1; documents have the same score if they tie by every key.
    notes : tuple of str
    """
    ranks = _rank_by_keys(_round_present(frame["score"], precision))
    notes = []
    for name, key in next_keys.items():
        next_scores = _look_up_scores(frame, key)
        is_tied = pl.DataFrame({"query_id": frame["query_id"], "rank": ranks}).is_duplicated()
        n_tied = int(is_tied.sum())
        n_lacking = int((is_tied & next_scores.is_null()).sum())
        notes.append(_describe_tied(name, n_tied, n_lacking))
        ranks = _rank_by_keys(ranks, _round_present(next_scores, precision))
    return frame.with_columns(score=ranks), tuple(notes)


def _look_up_scores(frame: pl.DataFrame, key: pl.DataFrame) -> pl.Series:
    """Return the score that a key has for each row of a run; null where it lacks the document."""
    scores = key.select(*KEYS, next_score="score")
    return frame.select(*KEYS).join(scores, on=KEYS, how="left", maintain_order="left")["next_score"]


def _describe_tied(name: str, n_tied: int, n_lacking: int) -> str:
    """Say how many tied documents a key ordered, and how many of them it lacks."""
    text = f"{format_count(n_tied, 'tied document')} ordered by {name}"
    if n_lacking == 0:
        return text
    if n_lacking == 1:
        return f"{text}, 1 of them is not in it: it comes last"
    return f"{text}, {n_lacking:,} of them are not in it: they come last"


def rank_tuples(source: Mapping[str, Mapping[str, Any]], where: str) -> dict[str, dict[str, float]] | None:
    """Return a run with ranks in place of scores that are tuples or lists, each part of which is a sort key.

    Return None if the first score is a single number.

    Raises
    ------
    DataError
        Some scores have more parts than others, or a part is no number.

    Examples
    --------
    >>> rank_tuples({"q": {"a": (3, 0.5), "b": (3, 0.7), "c": (3, 0.5), "d": (1, 9.0)}}, "the run")
    {'q': {'a': 2.0, 'b': 3.0, 'c': 2.0, 'd': 1.0}}
    """
    first = _first_score(source)
    if not isinstance(first, tuple | list):
        return None
    scores: list[Any] = []
    for documents in source.values():
        scores.extend(documents.values())
    _check_lengths(scores, len(first), where)
    keys = [pl.Series(key) for key in _split_keys(scores, source, where)]
    ranks = iter(_rank_by_keys(*keys).to_list())
    return {query: dict(zip(documents, ranks, strict=False)) for query, documents in source.items()}


def _first_score(source: Mapping[str, Mapping[str, Any]]) -> object:
    """Return the first score of a run; None if no query has a document."""
    for documents in source.values():
        for score in documents.values():
            return score
    return None


def _check_lengths(scores: Sequence[Any], n_parts: int, where: str) -> None:
    """Raise unless all scores are tuples or lists of as many parts, at least one."""
    for score in scores:
        is_alike = isinstance(score, tuple | list) and len(score) == n_parts
        if is_alike and n_parts:
            continue
        allowed = "a tuple of numbers"
        if n_parts:
            allowed = f"a tuple of {n_parts} numbers, as the first score is"
        raise DataError(found=f"{score!r}", allowed=allowed, path=where)


def _split_keys(scores: Sequence[Any], source: Mapping[str, Mapping[str, Any]], where: str) -> FloatArray:
    """Return the parts of scores as keys, of shape (n_keys, n_rows); raise for a part that is no number."""
    try:
        parts = np.array(scores, np.float64)
    except (TypeError, ValueError, OverflowError):
        _check_parts(source, where)
        raise
    if parts.ndim != 2 or not (np.abs(parts) < LARGEST_INTEGER).all():  # a part may be a list, NaN or too large
        _check_parts(source, where)
    return parts.T + 0.0  # without -0.0, which is a rank of its own


def _check_parts(source: Mapping[str, Mapping[str, Any]], where: str) -> None:
    """Raise for the first part of a score that cannot be evaluated."""
    for query, documents in source.items():
        for doc, score in documents.items():
            for part in score:
                check_number("run", query, doc, part, where)


def _round_present(scores: pl.Series, precision: ScorePrecision) -> pl.Series:
    """Return scores rounded; null stays null."""
    if precision is None:
        return scores
    rounded = pl.Series(round_and_warn(scores.fill_null(0.0).to_numpy(), precision))
    return pl.select(pl.when(scores.is_not_null()).then(rounded)).to_series()


def _rank_by_keys(*keys: pl.Series) -> pl.Series:
    """Return dense ranks by the first key, then by the next; the lowest is 1, and null is below every number."""
    frame = pl.DataFrame({f"key {number}": key for number, key in enumerate(keys)})
    return frame.select(pl.struct(pl.all()).rank("dense").cast(pl.Float64)).to_series()
