"""The table of compared systems: the mean of each with its interval, and what tie orders can make of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from deadheat.comparison.comparison import Comparison
from deadheat.comparison.pairs import Pair
from deadheat.evaluation.intervals import KNOWN
from deadheat.measures import Measure
from deadheat.report.bars import bars
from deadheat.report.model import MEASURE, Cell, Column, Row, Span, Table
from deadheat.report.score_tables import level_heading
from deadheat.report.totals import TOTAL, as_cell, mean_heading, reported, reported_interval, reported_pairs

SYSTEM = Column("system", "system")


@dataclass(frozen=True)
class StratumComparison:
    """A comparison of one stratum, or of all queries."""

    stratum: tuple[str, ...]
    comparison: Comparison

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs as they are reported: of counts, with totals."""
        return reported_pairs(self.comparison)

    def of(self, measure: Measure) -> list[Pair]:
        """Return the pairs of one measure."""
        return [pair for pair in self.pairs if pair.measure == measure.label]

    @property
    def counts(self) -> set[int]:
        """The numbers of queries with a value, of systems and of pairs: these share fewer if each lacks another."""
        of_systems = {scores.n_queries for one in self.comparison.evaluations.values() for scores in one}
        return of_systems | {pair.n_queries for pair in self.comparison.pairs}


def list_systems(parts: Sequence[StratumComparison], leading: tuple[Column, ...], measure: Measure) -> Table:
    """Return the systems by one measure, for people; in each part the best one first."""
    rows = tuple(Row((*labels, name), (cells,)) for labels, name, cells in _entries(parts, measure))
    level_name = mean_heading([measure])
    title = f"{measure.label}: {level_name}s"
    return Table("systems", (*leading, SYSTEM), _columns(parts, level_name), rows, title=title, main=1)


def systems_as_data(parts: Sequence[StratumComparison], leading: tuple[Column, ...]) -> Table:
    """Return the systems by all measures, for programs; counts have a total where others have a mean."""
    measures = parts[0].comparison.measures
    has_counts = any(measure.total for measure in measures)
    rows = tuple(
        Row((*labels, name, measure.label), (_as_data(cells, measure, has_counts=has_counts),))
        for measure in measures
        for labels, name, cells in _entries(parts, measure)
    )
    columns = (*_columns(parts), *((TOTAL,) if has_counts else ()))
    return Table("systems", (*leading, SYSTEM, MEASURE), columns, rows)


def _as_data(cells: tuple[Cell, ...], measure: Measure, *, has_counts: bool) -> tuple[Cell, ...]:
    n_queries, level_, *others = cells
    mean, total = (None, level_) if measure.total else (level_, None)
    return (n_queries, mean, *others, *((total,) if has_counts else ()))


def counts_vary(parts: Sequence[StratumComparison]) -> bool:
    """Tell whether the numbers of queries differ: between strata, or as some have no value."""
    return len(set().union(*(part.counts for part in parts))) > 1


def level(parts: Sequence[StratumComparison]) -> str:
    """Return the heading of intervals, with the number of queries where it is the same everywhere."""
    counts = set().union(*(part.counts for part in parts))
    return level_heading(parts[0].comparison.design.confidence_level, counts)


def _columns(parts: Sequence[StratumComparison], heading: str = "mean") -> tuple[Column, ...]:
    return (
        Column("n_queries", "queries", is_data=not counts_vary(parts)),
        Column("mean", heading),
        Column("ci", level(parts)),
        Column("bar", "", spare=1),
        Column("ties", "tie orders", ends=("tie_min", "tie_max"), spare=2),
        Column("standard_error", "std err", spare=3),
        Column("tie_standard_error", "tie std err", is_data=True),
        *(Column(key, key, is_data=True) for key in KNOWN),
    )


def _entries(
    parts: Sequence[StratumComparison], measure: Measure
) -> Iterator[tuple[tuple[str, ...], str, tuple[Cell, ...]]]:
    """Give the stratum, name and cells of every system; their bars share one scale."""
    found = [
        (part.stratum, name, scores, reported_interval(scores, part.comparison.intervals[name, measure.label]))
        for part in parts
        for name in best_first(part.comparison, measure)
        for scores in [part.comparison.evaluations[name][measure]]
    ]
    spans = [Span(one.low, one.high, one.is_known) for *_, one in found]
    drawn = bars(spans, [one.mean for *_, one in found])
    for (labels, name, scores, one), span, bar in zip(found, spans, drawn, strict=True):
        ties = Span(reported(scores, "tie_min"), reported(scores, "tie_max"))
        cells = one.n_queries, as_cell(scores), span, bar, ties, one.standard_error, one.tie_standard_error
        yield labels, name, (*cells, *(getattr(one, attribute) for attribute in KNOWN.values()))


def best_first(comparison: Comparison, measure: Measure) -> list[str]:
    """Return the names of the systems; one without a mean comes last."""
    sign = -1 if measure.higher_is_better else 1
    means = {name: sign * evaluation[measure].mean for name, evaluation in comparison.evaluations.items()}
    return sorted(means, key=lambda name: (math.isnan(means[name]), means[name]))
