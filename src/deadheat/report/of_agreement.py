"""The report of how far runs agree."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from deadheat.arrays import FloatArray
from deadheat.comparison.agreement import BOUNDS, KINDS, Agreement
from deadheat.report.model import QUERY, Cell, Column, Fact, Report, Row, Share, Span, Table
from deadheat.report.numbers import format_cell
from deadheat.wording import counted, three

KIND, PAIR = Column("agreement", "agreement"), Column("runs", "runs")
COLUMNS = (
    Column("mean", "mean"),
    Column("range", "range", ends=("range_low", "range_high"), spare=1),
    Column("std", "std", spare=3),
    Column("min", "min", spare=2),
    Column("max", "max", spare=2),
    Column("n_queries", "queries"),
)
TEXTS = (
    ("tau", "over the documents that both lists have; -1 reversed, 1 the same order"),
    ("tau_b", "without the pairs that tie in either run"),
    ("tau_ap", "tau that counts the top more; the first run is the reference"),
    ("rbo_w, rbo_a, rbo_b", "ties are equals; are averaged over their orders; are averaged and corrected for"),
)
RANGE = (
    "range: of rbo what may lie below both lists, agreeing nowhere or everywhere (the mean goes on as so far); of the"
    " overlap over all orders of the ties. std, min and max are over queries."
)


def of_agreement(found: Agreement) -> Report:
    """Return the report of two runs."""
    return report_agreements([found])


def report_agreements(found: Sequence[Agreement], *, per_query: bool = False) -> Report:
    """Return the report of pairs of runs.

    Parameters
    ----------
    found : sequence of Agreement
    per_query : bool, default False
        Whether a table of all queries comes after.
    """
    rows = tuple(Row((pair_of(one), name), (_cells(one, name),)) for one in found for name in KINDS)
    tables = [Table("agreement", (PAIR, KIND), COLUMNS, rows, has_blocks=True)]
    if per_query:
        tables.append(_per_query(found))
    first = found[0]
    facts = (
        *(fact for one in found for fact in _facts(one)),
        *(Fact("", None, heading, text) for heading, text in TEXTS),
        Fact("p", first.p, "p", f"{first.p:g}, persistence of rbo"),
        Fact("cutoff", first.cutoff, "overlap", f"of the top {first.cutoff}; of the longer list if that is shorter"),
    )
    return Report(tuple(tables), facts, closing=RANGE)


def pair_of(found: Agreement) -> str:
    """Return the names of both runs."""
    return f"{found.first}, {found.second}"


def _cells(found: Agreement, name: str) -> tuple[Cell, ...]:
    values = found.values[name]
    kept = values[~np.isnan(values)]
    if not len(kept):
        return (None, None, None, None, None, 0)
    span = Span(float(found.low[name].mean()), float(found.high[name].mean())) if name in BOUNDS else None
    std = float(np.std(kept, ddof=1)) if len(kept) > 1 else math.nan
    return float(kept.mean()), span, std, float(kept.min()), float(kept.max()), len(kept)


def _facts(found: Agreement) -> Iterator[Fact]:
    name = pair_of(found)
    n_common = found.n_common
    text = f"{name}: {counted(len(found.query_ids), 'query', 'queries')}, {n_common.mean():.1f} documents in both"
    yield Fact("n_queries", len(found.query_ids), "in both", text)
    shares = [format_cell(Share(share)) for share in found.tied]
    text = f"{shares[0]} of the documents of {found.first}, {shares[1]} of {found.second}"
    yield Fact("tied", list(found.tied), "in ties", text)
    for run, queries in ((found.first, found.only_first), (found.second, found.only_second)):
        if queries:
            text = (
                f"{counted(len(queries), 'query', 'queries')} that only {run} has: {three([*map(repr, queries[:4])])}"
            )
            yield Fact("left_out", list(queries), "left out", text, is_note=True)
    few = int((n_common < 2).sum())
    if few:
        text = f"{counted(few, 'query', 'queries')} of {name} with fewer than two documents in both has no tau"
        yield Fact("n_without_tau", few, "no tau", text, is_note=True)


def _per_query(found: Sequence[Agreement]) -> Table:
    columns = (Column("n_common", "common"), *(Column(name, name, spare=place) for place, name in enumerate(KINDS)))
    rows = tuple(
        Row(
            (pair_of(one), str(query)),
            ((int(one.n_common[n]), *(_number(values, n) for values in one.values.values())),),
        )
        for one in found
        for n, query in enumerate(one.query_ids.tolist())
    )
    return Table("queries", (PAIR, QUERY), columns, rows, title="Queries", has_blocks=True)


def _number(values: FloatArray, n: int) -> float | None:
    value = float(values[n])
    return None if math.isnan(value) else value
