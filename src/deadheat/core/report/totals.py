"""Counts: the report of a measure that counts has the total over the queries where others have the mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from deadheat.core.measures import Measure
from deadheat.core.measures.notation import unit_of
from deadheat.core.report.cells import Cell, Span, count_cell
from deadheat.core.report.model import Fact

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from deadheat.core.evaluation.intervals import Interval
    from deadheat.core.evaluation.scores import Scores

    Scaled = TypeVar("Scaled", bound=DataclassInstance)

TIE_NUMBERS = ("tie_std", "tie_min", "tie_max")
"""What the orders of equal scores make of a mean."""
MEANS = ("mean", "baseline_mean")
SCALED = {
    *MEANS,
    *TIE_NUMBERS,
    *("difference", "low", "high", "simultaneous_low", "simultaneous_high"),
    *("expected_difference", "doc_id_difference"),
    *("standard_error", "query_standard_error", "tie_standard_error"),
}
"""Numbers that are as many times as large of a total as it has queries; a test and its p value do not change."""


def mean_cell(scores: Scores, of_ties: str = "") -> Cell:
    """Return what `reported` does, of a count an int where it is a whole number."""
    return measure_cell(scores.measure, scores.reported(of_ties))


def measure_cell(measure: Measure, value: float) -> Cell:
    """Return a value of a measure as a cell, of a count as :func:`count_cell` does."""
    return count_cell(value) if measure.total else value


def tie_range_cell(scores: Scores) -> Span:
    """Return the ends that tie orders give to the mean of scores, of a count to the total."""
    return Span(scores.reported("tie_min"), scores.reported("tie_max"))


def scale_to_total(record: Scaled, n_queries: int) -> Scaled:
    """Return a pair or an interval of means with the numbers of the total over so many queries."""
    scaled = {}
    for field in fields(record):
        if field.name in SCALED:
            scaled[field.name] = n_queries * getattr(record, field.name)
    return replace(record, **scaled)


def reported_interval(scores: Scores, interval: Interval) -> Interval:
    """Return the interval of the mean of scores, of a count that of the total."""
    return scale_to_total(interval, scores.n_queries) if scores.measure.total else interval


def add_totals(
    row: Mapping[str, Any], counts: Collection[str], n_queries: int, prefixes: Sequence[str] = ("",)
) -> dict[str, Any]:
    """Return a row with a field `total` if there are counts, and `baseline_total` of a pair.

    Parameters
    ----------
    row : mapping
        Numbers of a measure, by name.
    counts : collection of str
        The measures that count. A row of one has totals and no means, and all its numbers are of the total.
    n_queries : int
    prefixes : sequence of str, default ("",)
        What names of numbers may begin with, as those of a part of a comparison do.
    """
    if not counts:
        return dict(row)
    means = [f"{prefix}{mean}" for prefix in prefixes for mean in MEANS]
    total_by_mean = {mean: mean.replace("mean", "total") for mean in means if mean in row}
    if row["measure"] not in counts:
        return {**row, **dict.fromkeys(total_by_mean.values())}
    completed = dict(row)
    for prefix in prefixes:
        for name in SCALED:
            key = f"{prefix}{name}"
            if row.get(key) is not None:
                completed[key] = n_queries * row[key]
    for mean, total in total_by_mean.items():
        completed[total] = completed[mean]
        completed[mean] = None
    return completed


def mean_heading(measures: Iterable[Measure]) -> str:
    """Return the heading of a column of means, or of totals if there is nothing else in it."""
    return "total" if all(measure.total for measure in measures) else "mean"


def tell_counts(measures: Sequence[Measure]) -> Iterator[Fact]:
    """Say which numbers of a table are totals, if others are means, and which are geometric means."""
    counts = [measure.label for measure in measures if measure.total]
    if counts:
        has_means = len(counts) < len(measures)
        text = f"{', '.join(counts)}: totals over the queries, all else means" if has_means else ""
        yield Fact("counts", counts, "counts", text, brief=text)
    yield from tell_geometric(measure.label for measure in measures if measure.geometric)


def tell_geometric(measures: Iterable[str]) -> Iterator[Fact]:
    """Say which numbers are in logarithms."""
    geometric = [measure for measure in dict.fromkeys(measures) if unit_of(measure)]
    if geometric:
        text = f"{', '.join(geometric)}: the values of queries, and their differences, are in logarithms"
        yield Fact("geometric_means", geometric, "geometric means", text, is_note=True)
