"""The report of how far runs agree, and orders of systems."""

import math
from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

import numpy as np

from deadheat.comparison.agreement import BOUNDS, KINDS, Agreement
from deadheat.comparison.system_orders import OrderAgreement, SystemOrders
from deadheat.errors import counted, three
from deadheat.report.model import (
    QUERY,
    Column,
    Fact,
    Report,
    Span,
    Table,
    format_cell,
    note,
    said,
    share,
    shows,
    tabulate,
)

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
    ("rbo_w", "tied documents share a rank"),
    ("rbo_a", "averaged over tie orders"),
    ("rbo_b", "rbo_a, corrected for ties"),
)
RANGE = (
    "range of rbo: the lowest and highest value if the lists went on below their end; the mean assumes that they keep"
    " agreeing at the same rate. range of the overlap: over all tie orders. std, min and max are over queries."
)
OF_ORDERS = {
    "tau_b, tau_ap": "tau without pairs of equal means; tau that counts the top more, with the first as reference",
    "by ties": "mean tau of the first order with those that ties of documents broken at random give, and of tau_ap that"
    " counts by the ranks of the first; no order of the ties leaves the ranges",
    "swapped": "neighbours of the first order that the second has the other way round",
}


def report_agreements(found: Sequence[Agreement], *, per_query: bool = False) -> Report:
    """Return the report of pairs of runs.

    Parameters
    ----------
    found : sequence of Agreement
    per_query : bool, default False
        Whether a table of all queries comes after.
    """
    rows = [_row(one, name) for one in found for name in KINDS]
    tables = [tabulate("agreement", (PAIR, KIND), COLUMNS, rows, has_blocks=True)]
    if per_query:
        by_query = [
            {"runs": pair_of(one), "query_id": str(query), "n_common": int(one.n_common[n])}
            | {name: float(values[n]) for name, values in one.values.items()}
            for one in found
            for n, query in enumerate(one.query_ids.tolist())
        ]
        columns = (Column("n_common", "common"), *(Column(name, name, spare=n) for n, name in enumerate(KINDS)))
        tables.append(tabulate("queries", (PAIR, QUERY), columns, by_query, title="Queries", has_blocks=True))
    first = found[0]
    facts = (
        *_facts(found),
        *(said(heading, text) for heading, text in TEXTS),
        Fact("p", first.p, "p", f"{first.p:g}, persistence of rbo"),
        Fact("cutoff", first.cutoff, "overlap", f"of the top {first.cutoff}; of the longer list if that is shorter"),
    )
    return Report(tuple(tables), facts, closing=RANGE)


@shows(Agreement)
def report_agreement(found: Agreement) -> Report:
    """Return the report of one pair of runs."""
    return report_agreements([found])


def pair_of(found: Agreement) -> str:
    """Return the names of both runs."""
    return f"{found.first}, {found.second}"


def _row(found: Agreement, name: str) -> dict[str, Any]:
    """Return the numbers over queries of one kind of agreement."""
    kept = found.values[name][~np.isnan(found.values[name])]
    row = {"runs": pair_of(found), "agreement": name, "n_queries": len(kept)}
    if not len(kept):
        return row | dict.fromkeys(("mean", "range", "std", "min", "max"))
    return row | {
        "mean": float(kept.mean()),
        "range": Span(float(found.low[name].mean()), float(found.high[name].mean())) if name in BOUNDS else None,
        "std": float(np.std(kept, ddof=1)) if len(kept) > 1 else math.nan,
        "min": float(kept.min()),
        "max": float(kept.max()),
    }


def _facts(found: Sequence[Agreement]) -> Iterator[Fact]:
    """Say what the values are of, pair by pair where pairs differ."""
    yield Fact("pairs", {pair_of(one): _numbers(one) for one in found})
    sizes = {
        pair_of(one): f"{counted(len(one.query_ids), 'query', 'queries')}, {one.n_common.mean():.1f} documents in both"
        for one in found
    }
    if len(found) > 1 and len(set(sizes.values())) == 1:
        sizes = {f"each of {len(found)} pairs": sizes[pair_of(found[0])]}
    for name, size in sizes.items():
        yield said("in both", f"{name}: {size}")
    tied = {name: one_share for one in found for name, one_share in zip((one.first, one.second), one.tied, strict=True)}
    shares = [f"{format_cell(share(of_run))} of {run}" for run, of_run in tied.items()]
    yield Fact("tied", tied, "in ties", f"of the documents: {', '.join(shares)}")
    for one in found:
        few = int((one.n_common < 2).sum())
        sides = (one.first, one.second, one.only_first), (one.second, one.first, one.only_second)
        for run, other, queries in sides:
            text = f"{counted(len(queries), 'query', 'queries')} that only {run} has"
            text += f", not {other}" * (len(found) > 1) + f": {three([*map(repr, queries)])}"
            yield note("left out", text if queries else "")
        text = f"{counted(few, 'query', 'queries')} of {pair_of(one)}, with fewer than two documents in both"
        yield note("no tau", text if few else "")


def _numbers(found: Agreement) -> dict[str, object]:
    """Return what JSON holds of a pair beside the values."""
    left_out = {found.first: list(found.only_first), found.second: list(found.only_second)}
    return {"n_queries": len(found.query_ids), "left_out": left_out, "n_without_tau": int((found.n_common < 2).sum())}


def list_orders(found: SystemOrders) -> Table:
    """Return a row for each two orders."""
    columns = (
        Column("n_systems", "systems", spare=3),
        Column("tau_b", "tau_b"),
        Column("tau_ap", "tau_ap"),
        Column("rbo", "rbo", spare=1),
        Column("tie_tau", "by ties", spare=2),
        Column("ties", "range", _over_ties, ("tie_tau_low", "tie_tau_high"), spare=2),
        Column("tie_tau_ap", "tau_ap by ties", spare=3),
        Column("ties_ap", "range", _ap_over_ties, ("tie_tau_ap_low", "tie_tau_ap_high"), spare=3),
        Column("swapped", "swapped", lambda one: three([f"{a} / {b}" for a, b in one.swapped]), spare=4),
    )
    labels = (Column("first", "order by", is_name=True), Column("second", "against", is_name=True))
    return tabulate("orders", labels, columns, found.pairs, title="Orders of the systems")


def _over_ties(one: OrderAgreement) -> Span | None:
    return None if isnan(one.tie_tau) else Span(one.tie_tau_low, one.tie_tau_high)


def _ap_over_ties(one: OrderAgreement) -> Span | None:
    return None if isnan(one.tie_tau_ap) else Span(one.tie_tau_ap_low, one.tie_tau_ap_high)


def tell_orders(found: SystemOrders) -> list[Fact]:
    """Say what the numbers of orders are."""
    if not found.pairs:
        return [note("orders", "one order alone: give two measures, or qrels and runs, whose ties can be broken by id")]
    counts = [f"{one:g}" for one in sorted({pair.n_systems for pair in found.pairs})]
    left = [note("left out", f"on one side only: {three(list(found.left_out))}")] if found.left_out else []
    texts = {"systems": " to ".join(counts[:: len(counts) - 1 or 1])} | OF_ORDERS
    return [*left, *(said(heading, text) for heading, text in texts.items()), said("rbo", f"persistence {found.p:g}")]


@shows(SystemOrders)
def report_orders(found: SystemOrders) -> Report:
    """Return the report of orders of systems."""
    return Report((list_orders(found),), tuple(tell_orders(found)))
