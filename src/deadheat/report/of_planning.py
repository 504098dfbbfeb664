"""Tables of what a comparison says about margins, and about the number of queries that it takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from deadheat.report.model import Column, Row, Table, p_value
from deadheat.strata import keys_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deadheat.comparison import Comparison

    Parts = Mapping[str | tuple[str, ...], Comparison] | Mapping[tuple[()], Comparison]

LABELS = tuple(Column(name, name) for name in ("system", "baseline", "measure"))


def list_equivalence(parts: Parts, columns: Sequence[str], margin: float) -> Table:
    """Return whether each system is no worse than its baseline by a margin, and whether both are equivalent."""
    rows = []
    for stratum, part in parts.items():
        for found in part.equivalence(margin).iter_rows(named=True):
            cells = (
                found["difference"],
                p_value(found["p_no_worse"], is_significant=found["no_worse"]),
                p_value(found["p_equivalent"], is_significant=found["equivalent"]),
            )
            rows.append(Row((*keys_of(stratum), found["system"], found["baseline"], found["measure"]), (cells,)))
    shown = (
        Column("difference", "difference", spare=1),
        Column("p_no_worse", "p no worse"),
        Column("p_equivalent", "p equivalent"),
    )
    title = f"No worse by a margin of {margin:g}, and equivalent (one-sided t tests, uncorrected)"
    return Table("equivalence", (*_columns(columns), *LABELS), shown, tuple(rows), title=title)


def list_sample_sizes(parts: Parts, columns: Sequence[str], difference: float) -> Table:
    """Return how many queries each pair needs to detect a difference, and what it can detect now."""
    rows = []
    for stratum, part in parts.items():
        for found in part.sample_sizes(difference).iter_rows(named=True):
            cells = tuple(found[name] for name in ("std", "n_queries", "power", "n_needed", "detectable_difference"))
            rows.append(Row((*keys_of(stratum), found["system"], found["baseline"], found["measure"]), (cells,)))
    shown = (
        Column("std", "std", spare=2),
        Column("n_queries", "queries", spare=1),
        Column("power", "power"),
        Column("n_needed", "needed"),
        Column("detectable_difference", "detectable"),
    )
    title = f"To detect {difference:g} with a power of 80% (paired t test, not corrected)"
    return Table("sample_sizes", (*_columns(columns), *LABELS), shown, tuple(rows), title=title)


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


def _columns(names: Sequence[str]) -> tuple[Column, ...]:
    return tuple(Column(name, name) for name in names)
