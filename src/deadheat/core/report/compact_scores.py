"""One table for a paper: a row for each system, a column for each measure, the best bold."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.measures import Measure
from deadheat.core.report.cells import NumberCell, ranked
from deadheat.core.report.conventions import describe_ties
from deadheat.core.report.model import SYSTEM, Column, Table, tabulate
from deadheat.core.report.report_parts import report_parts_of
from deadheat.core.wording import join_sentences

LOWER = "↓"  # behind a measure of which less is better
MOST_KEPT = 3  # measures that a table keeps on the narrowest screen


def columns_of_measures(measures: Sequence[Measure], cell: Callable[[Any, str], NumberCell | None]) -> list[Column]:
    """Return a column for each measure; `cell` takes an item of the table and the label of a measure."""
    columns = []
    for place, measure in enumerate(measures):
        heading = measure.label if measure.higher_is_better else f"{measure.label} {LOWER}"
        spare = max(0, place - MOST_KEPT + 1)  # on a narrow screen the last measures are left out first
        columns.append(Column(measure.label, heading, partial(_item_of, cell, measure.label), spare=spare))
    return columns


def _item_of(cell: Callable[[Any, str], NumberCell | None], measure: str, item: Any) -> NumberCell | None:  # noqa: ANN401 - of a table
    """Return what a table has of an item by a measure."""
    return cell(item, measure)


def describe_numbers(measures: Sequence[Measure], over: str, by: str = "") -> str:
    """Say what the numbers of a table are, and what is bold."""
    noun = "query" if over == "1" else "queries"
    return join_sentences(
        f"{kinds_of_numbers(measures)} over {over} {noun}{by}; the best of each measure is bold.",
        name_lower_better(measures, f" ({LOWER})"),
    )


def kinds_of_numbers(measures: Sequence[Measure]) -> str:
    """Say whether the numbers of a table are means, geometric means or totals."""
    kinds = {"totals" if one.total else "geometric means" if one.geometric else "means" for one in measures}
    return " and ".join(sorted(kinds)).capitalize()


def name_lower_better(measures: Sequence[Measure], mark: str = "") -> str:
    """Say of which measures less is better."""
    lower = [measure.label for measure in measures if not measure.higher_is_better]
    return f"Of {', '.join(lower)}{mark} less is better." if lower else ""


def compact_scores(evaluations: Sequence[Evaluation], *, seed: int | None = None, digits: int | None = None) -> Table:
    """Return the table of a paper for systems that are not compared: a row each, a column a measure, the best bold."""
    measures, counts = evaluations[0].measures, sorted({one.n_queries for each in evaluations for one in each})
    cells = {
        one.label: ranked(
            one.sign * one.is_quality, {each.name: each[one].reported() for each in evaluations}, digits=digits
        )
        for one in measures
    }
    over = "-".join(f"{n:,}" for n in dict.fromkeys([counts[0], counts[-1]]))
    estimated = [part.describe_means(evaluations[0]) for part in report_parts_of(evaluations[0])]
    ties = f"Ties: {describe_ties(evaluations[0].ties, seed)}."
    return tabulate(
        "scores",
        (replace(SYSTEM, of=str),),
        columns_of_measures(measures, lambda name, measure: cells[measure][name]),
        [one.name for one in evaluations],
        caption=join_sentences(describe_numbers(measures, over), *estimated, ties),
        main=-1,
    )
