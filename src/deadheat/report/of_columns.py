"""The report of many scorings of one collection: which column ranks best, and what that is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from deadheat.arrays import FloatArray
from deadheat.evaluation.columns import Scored
from deadheat.evaluation.evaluation import Evaluation
from deadheat.measures import Measure
from deadheat.report.conventions import made_under, nothing_judged, tell_ties, tell_unshared, without_relevant
from deadheat.report.model import Column, Fact, Report, share, tabulate
from deadheat.report.numbers import count_cell, format_cell, tell_counts
from deadheat.stats.selection import Selection, resample_choice
from deadheat.version import __version__
from deadheat.wording import NOISE, counted, three


@dataclass(frozen=True, eq=False)
class ColumnScores:
    """What the report needs of one column, so that the evaluations of many need not be kept.

    Attributes
    ----------
    name : str
    levels : tuple of float
        The mean of each measure, of a count the total.
    tie_min, tie_max : float
        Of the first measure.
    values : ndarray of float, shape (n_queries,)
        Of the first measure.
    tied : float
        Share of the documents that tie with another of their query.
    reversed : float or None
        Mean of the first measure if the lowest scores ranked first.
    """

    name: str
    levels: tuple[float, ...]
    tie_min: float
    tie_max: float
    values: FloatArray
    tied: float
    reversed: float | None

    @classmethod
    def of(cls, scored: Scored) -> Self:
        """Take the numbers from an evaluation."""
        first, *_ = scores = list(scored.evaluation)
        ends = first.reported("tie_min"), first.reported("tie_max")
        tied = scored.n_tied / max(scored.n_documents, 1)
        return cls(scored.name, tuple(one.reported() for one in scores), *ends, first.values, tied, scored.reversed)


def report_columns(
    columns: Sequence[ColumnScores],
    first: Evaluation,
    *,
    qrels: str,
    table: str,
    is_ascending: bool = False,
    seed: int | None = None,
    digits: int | None = None,
) -> Report:
    """Return the report of columns, sorted by the first measure, the best first.

    Parameters
    ----------
    columns : sequence of ColumnScores
    first : Evaluation
        Of any of them: they share measures, conventions, queries and judgments.
    qrels, table : str
        The names of the files.
    is_ascending : bool, default False
        Whether lower scores ranked first.
    seed : int, optional
        Of ``ties="random"``.
    digits : int, optional
        Decimals of the numbers in sentences.
    """
    measure, conventions = first.measures[0], first.conventions
    sign = -1.0 if measure.higher_is_better else 1.0
    ranked = sorted(columns, key=lambda one: np.nan_to_num(sign * one.levels[0], nan=np.inf))  # stable
    values = np.array([one.values for one in ranked])
    is_choice = values.shape[0] > 1 and values.shape[1] > 1 and not np.isnan(values).all(0).any()
    choice = resample_choice(values, higher_is_better=measure.higher_is_better) if is_choice else None
    shares = dict(zip((one.name for one in ranked), choice.shares.tolist() if choice else (), strict=False))
    main, *others = (
        Column(
            str(one),
            str(one),
            lambda own, n=n, is_count=one.total: count_cell(own.levels[n]) if is_count else own.levels[n],
            spare=3 + n if n else 0,
        )
        for n, one in enumerate(first.measures)
    )
    ends = (
        Column(
            key,
            key.replace("_", " "),
            lambda one, key=key: count_cell(getattr(one, key)) if measure.total else getattr(one, key),
            spare=1,
        )
        for key in ("tie_min", "tie_max")
    )
    heads = [
        main,
        *ends,
        Column("tied", "tied", lambda one: share(one.tied), spare=1),
        Column("reversed", "descending" if is_ascending else "ascending", spare=2),
        *([Column("best_share", "best", lambda one: share(shares[one.name]), spare=3)] if choice else []),
        *others,
    ]
    n_queries = len(first.query_ids) + (len(first.missing_queries) if conventions.missing == "skip" else 0)
    text = f"{counted(len(ranked), 'column')} of {table}, {counted(n_queries, 'query', 'queries')} in {qrels}"
    warned = Fact("nothing_judged", value=True, heading="WARNING", text=nothing_judged(table), is_warning=True)
    facts = (
        *([] if len(first.placements.query) else [warned]),
        Fact("deadheat", __version__),
        Fact("qrels", qrels),
        Fact("table", table),
        Fact("n_columns", len(ranked), "columns", text),
        Fact("n_queries", n_queries),
        *tell_ties(first.ties, seed),
        *([Fact("rng", seed)] if first.ties == "random" else []),
        _effect(ranked, measure, digits),
        _reversed(ranked, measure, is_ascending=is_ascending),
        *([_chosen(ranked[0].name, len(ranked), first, choice, digits)] if choice else []),
        *tell_counts(first.measures),
        *made_under(conventions),
        *tell_unshared([first], conventions.missing, is_alone=True),
        *without_relevant([first]),
        Fact("notes", list(first.notes), "data", "; ".join(first.notes)),
    )
    labels = [Column("column", "column", lambda one: one.name)]
    return Report((tabulate("columns", labels, heads, ranked),), facts)


def _effect(ranked: Sequence[ColumnScores], measure: Measure, digits: int | None) -> Fact:
    """Say which column ties move most, and whether that is enough for another rank."""
    best, *others = ranked
    widest = max(ranked, key=lambda one: np.nan_to_num(one.tie_max - one.tie_min))
    span = widest.tie_max - widest.tie_min
    if not span > NOISE:
        return Fact("effect_of_ties", None, "", f"no order of equal scores changes {measure}")
    sign, end = (1.0, "tie_max") if measure.higher_is_better else (-1.0, "tie_min")
    reach = [one.name for one in others if sign * (getattr(one, end) - best.levels[0]) > 0]
    text = f"tie order alone moves {measure} of column {widest.name} by up to {format_cell(span, digits)}"
    if reach:
        text += f"; {counted(len(reach), 'column')} could pass column {best.name} by tie order ({three(reach)})"
    return Fact("effect_of_ties", {"column": widest.name, "range": span, "could_pass_the_best": reach}, "", text)


def _reversed(ranked: Sequence[ColumnScores], measure: Measure, *, is_ascending: bool) -> Fact:
    """Name the columns that rank better the other way round."""
    sign = 1.0 if measure.higher_is_better else -1.0
    apart = {one.name: sign * (one.reversed - one.levels[0]) for one in ranked if one.reversed is not None}
    found = [name for name, better in apart.items() if better > NOISE]
    way = "descending, without --ascending" if is_ascending else "ascending, as --ascending does"
    text = f"{counted(len(found), 'column')} would rank better {way}: {three(found)}" if found else ""
    return Fact("better_reversed", found, "direction", text)


def _chosen(best: str, n_columns: int, first: Evaluation, choice: Selection, digits: int | None) -> Fact:
    """Warn that the best of many was chosen on the queries that it is judged by."""
    measure, best_share = first.measures[0], float(choice.shares[0])
    optimism = None if measure.geometric or measure.total else choice.optimism
    value = {
        "best": best,
        "n_columns": n_columns,
        "n_queries": len(first.query_ids),
        "share": best_share,
        "optimism": optimism,
        "n_resamples": choice.n_resamples,
    }
    by = "" if optimism is None else f" by about {format_cell(optimism, digits)}"
    queries, shown = counted(len(first.query_ids), "query", "queries"), format_cell(share(best_share))
    text = (
        f"column {best} is the best of {counted(n_columns, 'column')} on the {queries} that it is chosen by, so its"
        f" {measure} is too good{by}; it is best in {shown} of {choice.n_resamples:,} resamples of"
        " the queries (column best). Choose on some queries and report others, or test the best with deadheat compare,"
        " which corrects for the number of runs"
    )
    return Fact("selection", value, "selection", text, is_note=True)
