"""The table of compared systems: the mean of each with its interval, and what tie orders can make of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deadheat.report.bars import bars
from deadheat.report.model import Column, Row, Span, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deadheat.comparison import Comparison
    from deadheat.measures import Measure
    from deadheat.report.model import Cell

SYSTEM, MEASURE = Column("system", "system"), Column("measure", "measure")


@dataclass(frozen=True)
class Part:
    """A comparison of one stratum, or of all queries."""

    stratum: tuple[str, ...]
    comparison: Comparison

    @property
    def counts(self) -> set[int]:
        """The numbers of queries with a value, of systems and of pairs: these share fewer if each lacks another."""
        of_systems = {scores.n_queries for one in self.comparison.evaluations.values() for scores in one}
        return of_systems | {pair.n_queries for pair in self.comparison.pairs}


def list_systems(parts: Sequence[Part], leading: tuple[Column, ...], measure: Measure) -> Table:
    """Return the systems by one measure, for people; in each part the best one first."""
    rows = tuple(Row((*labels, name), (cells,)) for labels, name, cells in _entries(parts, measure))
    return Table("systems", (*leading, SYSTEM), _columns(parts), rows, title=f"{measure}: means", main=1)


def systems_as_data(parts: Sequence[Part], leading: tuple[Column, ...]) -> Table:
    """Return the systems by all measures, for programs."""
    rows = tuple(
        Row((*labels, name, str(measure)), (cells,))
        for measure in parts[0].comparison.measures
        for labels, name, cells in _entries(parts, measure)
    )
    return Table("systems", (*leading, SYSTEM, MEASURE), _columns(parts), rows)


def counts_vary(parts: Sequence[Part]) -> bool:
    """Tell whether the numbers of queries differ: between strata, or as some have no value."""
    return len(set().union(*(part.counts for part in parts))) > 1


def level(parts: Sequence[Part]) -> str:
    """Return the heading of intervals."""
    return f"{100 * parts[0].comparison.design.confidence_level:g}% CI"


def _columns(parts: Sequence[Part]) -> tuple[Column, ...]:
    return (
        Column("n_queries", "queries", is_data=not counts_vary(parts)),
        Column("mean", "mean"),
        Column("ci", level(parts)),
        Column("bar", "", spare=1),
        Column("ties", "tie orders", ends=("tie_min", "tie_max"), spare=2),
        Column("standard_error", "std err", spare=3),
        Column("tie_standard_error", "tie std err", is_data=True),
    )


def _entries(parts: Sequence[Part], measure: Measure) -> Iterator[tuple[tuple[str, ...], str, tuple[Cell, ...]]]:
    """Give the stratum, name and cells of every system; their bars share one scale."""
    found = [
        (part.stratum, name, part.comparison.evaluations[name][measure], part.comparison.intervals[name, str(measure)])
        for part in parts
        for name in _best_first(part.comparison, measure)
    ]
    spans = [Span(one.low, one.high) for *_, one in found]
    drawn = bars(spans, [one.mean for *_, one in found])
    for (labels, name, scores, one), span, bar in zip(found, spans, drawn, strict=True):
        ties = Span(scores.mean_tie_min, scores.mean_tie_max)
        yield labels, name, (one.n_queries, one.mean, span, bar, ties, one.standard_error, one.tie_standard_error)


def _best_first(comparison: Comparison, measure: Measure) -> list[str]:
    """Return the names of the systems; one without a mean comes last."""
    sign = -1 if measure.higher_is_better else 1
    means = {name: sign * evaluation[measure].mean for name, evaluation in comparison.evaluations.items()}
    return sorted(means, key=lambda name: (math.isnan(means[name]), means[name]))
