"""The report of many scorings of one collection: which column ranks best, and what that is worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from deadheat.arrays import FloatArray
from deadheat.evaluation.columns import Scored
from deadheat.evaluation.evaluation import Evaluation
from deadheat.measures import Measure
from deadheat.report.conventions import made_under, nothing_judged, tell_ties, tell_unshared, without_relevant
from deadheat.report.model import Cell, Column, Fact, Report, share, tabulate
from deadheat.report.numbers import format_cell
from deadheat.report.totals import as_cell, tell_counts
from deadheat.stats.selection import Selection, resample_choice
from deadheat.version import __version__
from deadheat.wording import NOISE, counted, three


@dataclass(frozen=True, eq=False)
class ColumnScores:
    """What the report needs of one column, so that the evaluations of many need not be kept.

    Attributes
    ----------
    name : str
    cells : tuple
        The mean of each measure, of a count the total.
    tie_min, tie_max : Cell
        Of the first measure.
    values : ndarray of float, shape (n_queries,)
        Of the first measure.
    tied : float
        Share of the documents that tie with another of their query.
    reversed : float or None
        Mean of the first measure if the lowest scores ranked first.
    """

    name: str
    cells: tuple[Cell, ...]
    tie_min: Cell
    tie_max: Cell
    values: FloatArray
    tied: float
    reversed: float | None

    @classmethod
    def of(cls, scored: Scored) -> Self:
        """Take the numbers from an evaluation."""
        scores = list(scored.evaluation)
        return cls(
            scored.name,
            tuple(map(as_cell, scores)),
            as_cell(scores[0], "tie_min"),
            as_cell(scores[0], "tie_max"),
            scores[0].values,
            scored.n_tied / max(scored.n_documents, 1),
            scored.reversed,
        )


@dataclass(frozen=True)
class ColumnsContext:
    """How the columns were evaluated, as far as an evaluation does not say it.

    Attributes
    ----------
    qrels, table : str
        The names of the files.
    is_ascending : bool
        Whether lower scores ranked first.
    seed : int, optional
        Of ``ties="random"``.
    digits : int, optional
        Decimals of the numbers in sentences.
    """

    qrels: str
    table: str
    is_ascending: bool = False
    seed: int | None = None
    digits: int | None = None


def report_columns(columns: Sequence[ColumnScores], first: Evaluation, context: ColumnsContext) -> Report:
    """Return the report of columns, sorted by the first measure, the best first.

    Parameters
    ----------
    columns : sequence of ColumnScores
    first : Evaluation
        Of any of them: they share measures, conventions, queries and judgments.
    context : ColumnsContext
    """
    measure, *others = first.measures
    sign = -1.0 if measure.higher_is_better else 1.0
    ranked = sorted(columns, key=lambda one: np.nan_to_num(sign * _number(one.cells[0]), nan=np.inf))  # stable
    values = np.array([one.values for one in ranked])
    is_choice = values.shape[0] > 1 and values.shape[1] > 1 and not np.isnan(values).all(0).any()
    choice = resample_choice(values, higher_is_better=measure.higher_is_better) if is_choice else None
    shares = dict(zip((one.name for one in ranked), choice.shares.tolist() if choice else (), strict=False))
    heads = [
        Column(str(measure), str(measure), lambda one: one.cells[0]),
        Column("tie_min", "tie min", spare=1),
        Column("tie_max", "tie max", spare=1),
        Column("tied", "tied", lambda one: share(one.tied), spare=1),
        Column("reversed", "descending" if context.is_ascending else "ascending", spare=2),
        *([Column("best_share", "best", lambda one: share(shares[one.name]), spare=3)] if choice else []),
        *(Column(str(one), str(one), lambda one, n=n: one.cells[n], spare=3 + n) for n, one in enumerate(others, 1)),
    ]
    table = tabulate("columns", [Column("column", "column", lambda one: one.name)], heads, ranked)
    return Report((table,), tuple(_facts(ranked, first, choice, context)))


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) else float("nan")


def _facts(
    ranked: Sequence[ColumnScores], first: Evaluation, choice: Selection | None, context: ColumnsContext
) -> Iterator[Fact]:
    if not len(first.placements.query):
        text = nothing_judged(context.table)
        yield Fact("nothing_judged", value=True, heading="WARNING", text=text, is_warning=True)
    yield Fact("deadheat", __version__)
    yield Fact("qrels", context.qrels)
    yield Fact("table", context.table)
    n_queries = len(first.query_ids) + (len(first.missing_queries) if first.conventions.missing == "skip" else 0)
    text = f"{counted(len(ranked), 'column')} of {context.table}, {counted(n_queries, 'query', 'queries')}"
    yield Fact("n_columns", len(ranked), "columns", f"{text} in {context.qrels}")
    yield Fact("n_queries", n_queries)
    yield from tell_ties(first.ties, context.seed)
    if first.ties == "random":
        yield Fact("rng", context.seed)
    yield from _effect(ranked, first.measures[0], context.digits)
    yield from _reversed(ranked, first.measures[0], context)
    if choice is not None:
        yield from _chosen(ranked, first, choice, context.digits)
    yield from tell_counts(first.measures)
    yield from made_under(first.conventions)
    yield from tell_unshared([first], first.conventions.missing, is_alone=True)
    yield from without_relevant([first])
    yield Fact("notes", list(first.notes), "data", "; ".join(first.notes))


def _effect(ranked: Sequence[ColumnScores], measure: Measure, digits: int | None) -> Iterator[Fact]:
    """Say which column ties move most, and whether that is enough for another rank."""
    spans = [_number(one.tie_max) - _number(one.tie_min) for one in ranked]
    widest = int(np.nanargmax(spans)) if np.isfinite(spans).any() else 0
    if not spans[widest] > NOISE:
        yield Fact("effect_of_ties", None, "", f"no order of equal scores changes {measure}")
        return
    best, higher = _number(ranked[0].cells[0]), measure.higher_is_better
    reach = [one.name for one in ranked[1:] if (_number(one.tie_max) > best if higher else _number(one.tie_min) < best)]
    text = (
        f"tie order alone moves {measure} of column {ranked[widest].name} by up to {format_cell(spans[widest], digits)}"
    )
    if reach:
        text += f"; {counted(len(reach), 'column')} could pass column {ranked[0].name} by tie order ({three(reach)})"
    value = {"column": ranked[widest].name, "range": spans[widest], "could_pass_the_best": reach}
    yield Fact("effect_of_ties", value, "", text)


def _reversed(ranked: Sequence[ColumnScores], measure: Measure, context: ColumnsContext) -> Iterator[Fact]:
    """Name the columns that rank better the other way round."""
    sign = 1.0 if measure.higher_is_better else -1.0
    found = [
        one.name for one in ranked if one.reversed is not None and sign * (one.reversed - _number(one.cells[0])) > NOISE
    ]
    way = "descending, without --ascending" if context.is_ascending else "ascending, as --ascending does"
    text = f"{counted(len(found), 'column')} would rank better {way}: {three(found)}" if found else ""
    yield Fact("better_reversed", found, "direction", text)


def _chosen(ranked: Sequence[ColumnScores], first: Evaluation, choice: Selection, digits: int | None) -> Iterator[Fact]:
    """Warn that the best of many was chosen on the queries that it is judged by."""
    measure, best, best_share = first.measures[0], ranked[0].name, float(choice.shares[0])
    value = {
        "best": best,
        "n_columns": len(ranked),
        "n_queries": len(first.query_ids),
        "share": best_share,
        "optimism": None if measure.geometric or measure.total else choice.optimism,
        "n_resamples": choice.n_resamples,
    }
    by = "" if value["optimism"] is None else f" by about {format_cell(choice.optimism, digits)}"
    queries, shown = counted(len(first.query_ids), "query", "queries"), format_cell(share(best_share))
    text = (
        f"column {best} is the best of {counted(len(ranked), 'column')} on the {queries} that it is chosen by, so its"
        f" {measure} is too good{by}; it is best in {shown} of {choice.n_resamples:,} resamples of"
        " the queries (column best). Choose on some queries and report others, or test the best with deadheat compare,"
        " which corrects for the number of runs"
    )
    yield Fact("selection", value, "selection", text, is_note=True)
