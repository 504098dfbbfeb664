"""The report of how far orders of systems agree."""

import numpy as np

from deadheat.core.report.cells import Span
from deadheat.core.report.model import Column, Fact, Report, Table, note_fact, prose_fact, registers_report, tabulate
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.compare.robustness import OrderAgreement, SystemOrders

OF_ORDERS = {
    "tau_b, tau_ap": "tau without pairs of equal means; tau that counts the top more, with the first as reference, as a"
    " mean over all orders of equal means",
    "by ties": "mean tau of the first order with those that ties of documents broken at random give, and of tau_ap that"
    " counts by the ranks of the first; no order of the ties leaves the ranges",
    "swapped": "neighbours of the first order that the second has the other way round",
}


def list_orders(found: SystemOrders) -> Table:
    """Return a row for each two orders."""
    counts = {orders.n_queries for orders in found.pairs}
    columns = (
        Column("n_systems", "systems", spare=4),
        *([] if counts == {None} else [Column("n_queries", "queries", is_data=len(counts) == 1)]),
        Column("tau_b", "tau_b"),
        Column("tau_ap", "tau_ap"),
        Column("rbo", "rbo", spare=2),
        Column("tie_tau", "by ties", spare=1),
        Column("ties", "range", lambda one: _over_ties(one, "tie_tau"), ("tie_tau_low", "tie_tau_high"), spare=3),
        Column("tie_tau_ap", "tau_ap by ties", spare=4),
        Column(
            "ties_ap",
            "range",
            lambda one: _over_ties(one, "tie_tau_ap"),
            ("tie_tau_ap_low", "tie_tau_ap_high"),
            spare=4,
        ),
        Column("swapped", "swapped", lambda one: format_list([f"{a} / {b}" for a, b in one.swapped]), spare=1),
    )
    return tabulate(
        "orders",
        (Column("first", "order by", is_name=True), Column("second", "against", is_name=True)),
        columns,
        found.pairs,
        title="Orders of the systems",
    )


def _over_ties(orders: OrderAgreement, name: str) -> Span | None:
    low, high = getattr(orders, f"{name}_low"), getattr(orders, f"{name}_high")
    return None if np.isnan(low) else Span(low, high)


def tell_orders(found: SystemOrders) -> list[Fact]:
    """Say what the numbers of orders are."""
    if not found.pairs:
        return [
            note_fact("orders", "one order alone: give two measures, or qrels and runs, whose ties can be broken by id")
        ]
    counts = [pair.n_systems for pair in found.pairs]
    texts = {"systems": " to ".join(f"{end:g}" for end in dict.fromkeys((min(counts), max(counts))))} | OF_ORDERS
    facts: list[Fact] = []
    if found.left_out:
        facts.append(note_fact("left out", f"on one side only: {format_list(list(found.left_out))}"))
    facts += _tell_queries(found)
    for heading, text in texts.items():
        facts.append(prose_fact(heading, text))
    facts.append(prose_fact("rbo", f"persistence {found.p:g}"))
    for why in dict.fromkeys(pair.tie_unknown for pair in found.pairs if pair.tie_unknown):
        facts.append(note_fact("by ties", f"not known: {why}"))
    return facts


def _tell_queries(found: SystemOrders) -> list[Fact]:
    """Say which queries the means of two sides are over, and which were left out."""
    counts = sorted({orders.n_queries for orders in found.pairs if orders.n_queries is not None})
    if not counts:
        return []
    n_queries = " to ".join(f"{n:,}" for n in dict.fromkeys((counts[0], counts[-1])))
    facts = [prose_fact("queries", f"{n_queries}, for which every system has a value on both sides")]
    for side, queries in (("first", found.only_first), ("second", found.only_second)):
        if queries:
            named = format_list([*map(repr, queries)])
            text = f"{format_count(len(queries), 'query', 'queries')} that only the {side} side has: {named}"
            facts.append(note_fact("left out", text))
    return facts


@registers_report(SystemOrders, in_brief=True)
def report_orders(found: SystemOrders) -> Report:
    """Return the report of orders of systems."""
    return Report((list_orders(found),), tuple(tell_orders(found)))
