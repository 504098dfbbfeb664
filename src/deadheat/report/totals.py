"""What is reported of counts: the total over queries and its spread, where other measures have a mean."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from deadheat.report.model import Cell, Column, Fact, Span

if TYPE_CHECKING:
    from deadheat.comparison.comparison import Comparison
    from deadheat.comparison.pairs import Pair
    from deadheat.evaluation.intervals import Interval
    from deadheat.evaluation.scores import Scores
    from deadheat.measures import Measure

    T = TypeVar("T", Pair, Interval)

OF_MEANS = {
    *("mean", "baseline_mean", "difference", "low", "high", "expected_difference", "doc_id_difference"),
    *("standard_error", "query_standard_error", "tie_standard_error", "tie_std", "tie_min", "tie_max"),
}  # numbers that are as many times as large of a total as it has queries; a test and its p value do not change
TOTALS = ("total", "baseline_total")  # of a pair


def as_cell(scores: Scores, of_ties: str = "") -> Cell:
    """Return what `reported` does, of a count an int where it is a whole number."""
    number = scores.reported(of_ties)
    return count_cell(number) if scores.measure.total else number


TOTAL = Column("total", "total", lambda one: as_cell(one.scores) if one.scores.measure.total else None, is_data=True)
"""Of what has scores: where others have a mean, this has the total of a count."""


def span_of_ties(scores: Scores) -> Span:
    """Return the ends that tie orders give to the mean of scores, of a count to the total."""
    return Span(scores.reported("tie_min"), scores.reported("tie_max"))


def count_cell(value: float) -> Cell:
    """Return a count as an int; over ties it may have a fraction."""
    whole_number = round(value) if math.isfinite(value) else None
    is_whole = whole_number is not None and abs(value - whole_number) < 1e-9 * max(1.0, abs(value))
    return whole_number if is_whole else value


def in_totals(of_mean: T, n_queries: int) -> T:
    """Return a pair or an interval with the numbers of the total over so many queries."""
    names = OF_MEANS.intersection(field.name for field in fields(of_mean))
    return replace(of_mean, **{name: n_queries * getattr(of_mean, name) for name in names})


def reported_interval(scores: Scores, interval: Interval) -> Interval:
    """Return the interval of the mean of scores, of a count that of the total."""
    return in_totals(interval, scores.n_queries) if scores.measure.total else interval


def reported_pairs(comparison: Comparison) -> tuple[Pair, ...]:
    """Return the pairs of a comparison, those of counts with totals over the queries that both have."""
    counts = {one.label for one in comparison.measures if one.total}
    return tuple(in_totals(pair, pair.n_queries) if pair.measure in counts else pair for pair in comparison.pairs)


def totals_of_row(row: Mapping[str, Any], counts: Collection[str], n_queries: int) -> dict[str, Any]:
    """Return a row with a field `total` if there are counts, and `baseline_total` of a pair.

    A row of a count has totals there, no means, and all its numbers are of the total.
    """
    found = dict(row)
    if not counts:
        return found
    is_count = row["measure"] in counts
    if is_count:
        found |= {name: n_queries * row[name] for name in OF_MEANS.intersection(row) if row[name] is not None}
    for mean, total in (("mean", "total"), ("baseline_mean", "baseline_total")):
        if mean in row:
            found[total] = found[mean] if is_count else None
            found[mean] = None if is_count else found[mean]
    return found


def mean_heading(measures: Iterable[Measure]) -> str:
    """Return the heading of a column of means, or of totals if there is nothing else in it."""
    return "total" if all(one.total for one in measures) else "mean"


def tell_counts(measures: Sequence[Measure]) -> Iterator[Fact]:
    """Say which numbers of a table are totals, if others are means, and which are geometric means."""
    counts = [one.label for one in measures if one.total]
    if counts:
        text = f"{', '.join(counts)}: totals over the queries, all else means"
        yield Fact("counts", counts, "counts", text if len(counts) < len(measures) else "")
    geometric = [one.label for one in measures if one.geometric]
    if geometric:
        text = f"{', '.join(geometric)}: geometric means; the values of queries are logarithms"
        yield Fact("geometric_means", geometric, "geometric means", text)
