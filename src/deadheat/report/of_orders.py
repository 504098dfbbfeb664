"""The report of orders of systems."""

from math import isnan

from deadheat.comparison.system_orders import OrderAgreement, SystemOrders
from deadheat.report.model import (
    Column,
    Fact,
    Report,
    Span,
    Table,
    note,
    said,
    shows,
    tabulate,
)
from deadheat.wording import three

TEXTS = {
    "tau_b, tau_ap": "tau without pairs of equal means; tau that counts the top more, with the first as reference",
    "by ties": "mean tau of the first order with those that ties of documents broken at random give; no order of the"
    " ties leaves the range",
    "swapped": "neighbours of the first order that the second has the other way round",
}


def list_orders(found: SystemOrders) -> Table:
    """Return a row for each two orders."""
    columns = (
        Column("n_systems", "systems", spare=3),
        Column("tau_b", "tau_b"),
        Column("tau_ap", "tau_ap"),
        Column("rbo", "rbo", spare=1),
        Column("tie_tau", "by ties", spare=2),
        Column("ties", "range", _over_ties, ("tie_tau_low", "tie_tau_high"), spare=2),
        Column("swapped", "swapped", lambda one: three([f"{a} / {b}" for a, b in one.swapped]), spare=4),
    )
    labels = (Column("first", "order by", is_name=True), Column("second", "against", is_name=True))
    return tabulate("orders", labels, columns, found.pairs, title="Orders of the systems")


def _over_ties(one: OrderAgreement) -> Span | None:
    return None if isnan(one.tie_tau) else Span(one.tie_tau_low, one.tie_tau_high)


def tell_orders(found: SystemOrders) -> list[Fact]:
    """Say what the numbers of orders are."""
    if not found.pairs:
        return [note("orders", "one order alone: give two measures, or qrels and runs, whose ties can be broken by id")]
    counts = [f"{one:g}" for one in sorted({pair.n_systems for pair in found.pairs})]
    left = [note("left out", f"on one side only: {three(list(found.left_out))}")] if found.left_out else []
    texts = {"systems": " to ".join(counts[:: len(counts) - 1 or 1])} | TEXTS
    return [*left, *(said(heading, text) for heading, text in texts.items()), said("rbo", f"persistence {found.p:g}")]


@shows(SystemOrders)
def report_orders(found: SystemOrders) -> Report:
    """Return the report of orders of systems."""
    return Report((list_orders(found),), tuple(tell_orders(found)))
