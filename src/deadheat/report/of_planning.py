"""Tables of what a comparison says about margins, and about the number of queries that it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from polars import DataFrame

from deadheat import stats
from deadheat.comparison.comparison import Comparison, n_units
from deadheat.comparison.pairs import Pair
from deadheat.evaluation.intervals import FEWEST
from deadheat.evaluation.strata import keys_of, label
from deadheat.report.model import Column, Fact, Row, Table, p_value
from deadheat.report.numbers import listed
from deadheat.report.of_comparison import name_of
from deadheat.wording import counted

Comparisons = Mapping[str | tuple[str, ...], Comparison] | Mapping[tuple[()], Comparison]

OF_TOTALS = {"difference", "detectable_difference"}
PROVED = ("no_worse", "equivalent")
LABELS = tuple(Column(name, name) for name in ("system", "baseline", "measure"))


def planned(
    parts: Comparisons, columns: Sequence[str], margin: float | None, detect: float | None
) -> tuple[list[Table], list[Fact]]:
    """Return the tables and facts of a margin, and of a difference to detect, if there are any."""
    tables = [] if margin is None else [list_equivalence(parts, columns, margin)]
    tables += [] if detect is None else [list_sample_sizes(parts, columns, detect)]
    facts = [Fact("margin", margin), Fact("detect", detect)]
    return tables, [*facts, *(() if margin is None else doubt_equivalence(parts))]


def list_equivalence(parts: Comparisons, columns: Sequence[str], margin: float) -> Table:
    """Return whether each system is no worse than its baseline by a margin, and whether both are equivalent."""
    shown = (
        Column("difference", "difference", spare=1),
        Column("p_no_worse", "p no worse"),
        Column("p_equivalent", "p equivalent"),
    )
    title = f"No worse by a margin of {margin:g}, and equivalent (one-sided t tests, uncorrected)"
    rows = [
        (
            stratum,
            {**found, **{f"p_{name}": p_value(found[f"p_{name}"], is_significant=found[name]) for name in PROVED}},
        )
        for stratum, part in parts.items()
        for found in _in_totals(part, margin, part.equivalence)
    ]
    return _table("equivalence", columns, shown, rows, title)


def doubt_equivalence(parts: Comparisons) -> Iterator[Fact]:
    """Say of which pairs the t tests of a margin prove nothing, or little."""
    yield from doubt_margin([(label(stratum), pair) for stratum, part in parts.items() for pair in part.pairs])


def doubt_margin(placed: Sequence[tuple[str, Pair]]) -> Iterator[Fact]:
    """Say of which pairs, given with their strata, the t tests of a margin prove nothing, or little."""
    total = counted(len(placed), "pair")
    found: dict[str, list[str]] = {}
    for stratum, pair in placed:
        if why := _why_doubtful(pair):
            found.setdefault(why, []).append(name_of(stratum, pair))
    for why, names in found.items():
        yield Fact("", None, "margin", f"{why}: {len(names)} of {total}, {listed(names)}", is_note=True)


def _why_doubtful(pair: Pair) -> str:
    units = "queries" if pair.n_clusters is None else "clusters"
    if n_units(pair) < FEWEST:
        return f"fewer than {FEWEST} {units} prove nothing"
    if not pair.low < pair.high:
        return f"one difference in all {units} does not say how others vary"
    if stats.is_doubtful(np.array([pair.skewness]), np.array([n_units(pair)]), "t")[0]:
        return f"too skewed for so few {units}, a t test rules out rare large differences too easily"
    return ""


def list_sample_sizes(parts: Comparisons, columns: Sequence[str], difference: float) -> Table:
    """Return how many queries each pair needs to detect a difference, and what it can detect now."""
    shown = (
        Column("std", "std", spare=2),
        Column("n_queries", "queries", spare=1),
        Column("power", "power"),
        Column("n_needed", "needed"),
        Column("detectable_difference", "detectable"),
    )
    title = f"To detect {difference:g} with a power of 80% (paired t test, not corrected)"
    rows = [
        (stratum, found) for stratum, part in parts.items() for found in _in_totals(part, difference, part.sample_sizes)
    ]
    return _table("sample_sizes", columns, shown, rows, title)


def _table(
    key: str,
    columns: Sequence[str],
    shown: tuple[Column, ...],
    found: Iterable[tuple[str | tuple[str, ...], Mapping[str, Any]]],
    title: str,
) -> Table:
    """Return a table with a row a stratum and pair, whose numbers have the names of the columns."""
    rows = tuple(
        Row((*keys_of(stratum), *(row[one.key] for one in LABELS)), (tuple(row[one.key] for one in shown),))
        for stratum, row in found
    )
    return Table(key, (*(Column(name, name) for name in columns), *LABELS), shown, rows, title=title)


def _in_totals(part: Comparison, size: float, table_for: Callable[[float], DataFrame]) -> Iterator[dict[str, Any]]:
    """Give a row for each pair, for a difference of this size between means, or between totals of counts."""
    counts = {measure.label for measure in part.measures if measure.total}
    of_means = table_for(size).rows(named=True)
    for place, (pair, row) in enumerate(zip(part.pairs, of_means, strict=True)):
        if pair.measure not in counts or not pair.n_queries:
            yield {**row, "measure": pair.measure}  # which knows the notation
            continue
        found = {**table_for(size / pair.n_queries).row(place, named=True), "measure": pair.measure}
        for name in OF_TOTALS.intersection(found):
            found[name] = None if found[name] is None else pair.n_queries * found[name]
        yield found


def beside(pairs: Table, *others: Table) -> Table:
    """Return the table of pairs with the columns that it lacks of others, whose rows have the same labels."""
    rows, columns = {row.labels: row.cells[0] for row in pairs.rows}, pairs.columns
    for other in others:
        held = {column.key for column in columns}
        places = [place for place, column in enumerate(other.columns) if column.key not in held]
        columns += tuple(other.columns[place] for place in places)
        for row in other.rows:
            rows[row.labels] += tuple(row.cells[0][place] for place in places)
    return replace(pairs, columns=columns, rows=tuple(Row(labels, (cells,)) for labels, cells in rows.items()))
