"""The report of how far runs agree."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from deadheat.arrays import FloatArray
from deadheat.comparison.agreement import BOUNDS, KINDS, Agreement
from deadheat.report.model import QUERY, Cell, Column, Fact, Report, Row, Share, Span, Table
from deadheat.report.numbers import format_cell, listed
from deadheat.wording import counted

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
        *_facts(found),
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


def _facts(found: Sequence[Agreement]) -> Iterator[Fact]:
    """Say what the values are of, pair by pair where pairs differ."""
    yield Fact("pairs", {pair_of(one): _numbers(one) for one in found})
    sizes = {pair_of(one): _size(one) for one in found}
    if len(found) > 1 and len(set(sizes.values())) == 1:
        sizes = {f"each of {len(found)} pairs": _size(found[0])}
    for name, size in sizes.items():
        yield Fact("", None, "in both", f"{name}: {size}")
    tied = {name: share for one in found for name, share in zip((one.first, one.second), one.tied, strict=True)}
    yield Fact("tied", tied, "in ties", _shares(tied))
    for one in found:
        name = pair_of(one)
        for run, queries in ((one.first, one.only_first), (one.second, one.only_second)):
            if queries:
                text = f"{counted(len(queries), 'query', 'queries')} that only {run} has"
                text += f", not {one.second if run == one.first else one.first}" * (len(found) > 1)
                yield Fact("", None, "left out", f"{text}: {listed([*map(repr, queries)])}", is_note=True)
        few = _n_without_tau(one)
        if few:
            text = f"{counted(few, 'query', 'queries')} of {name} with fewer than two documents in both has no tau"
            yield Fact("", None, "no tau", text, is_note=True)


def _numbers(found: Agreement) -> dict[str, object]:
    """Return what JSON holds of a pair beside the values."""
    left_out = {found.first: list(found.only_first), found.second: list(found.only_second)}
    return {"n_queries": len(found.query_ids), "left_out": left_out, "n_without_tau": _n_without_tau(found)}


def _n_without_tau(found: Agreement) -> int:
    return int((found.n_common < 2).sum())


def _size(found: Agreement) -> str:
    return f"{counted(len(found.query_ids), 'query', 'queries')}, {found.n_common.mean():.1f} documents in both"


def _shares(tied: Mapping[str, float]) -> str:
    (name, share), *others = tied.items()
    rest = [f"{format_cell(Share(one))} of {run}" for run, one in others]
    return ", ".join([f"{format_cell(Share(share))} of the documents of {name}", *rest])


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
