"""The report of how far rankings agree."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deadheat.core.report.cells import Span, format_cell, share_cell
from deadheat.core.report.model import (
    QUERY,
    Column,
    Fact,
    Report,
    note_fact,
    prose_fact,
    registers_report,
    summarise,
    tabulate,
)
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.agree.rankings import BOUNDS, KINDS, Agreement

KIND = Column("agreement", "agreement")
PAIR = Column("runs", "runs")
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
    "of rbo: if the lists went on below their end, where the mean assumes the same rate; of overlap: over tie orders"
)


@registers_report(Agreement, in_brief=True)
def report_agreements(found: Agreement | Sequence[Agreement], *, per_query: bool = False) -> Report:
    """Return the report of pairs of runs.

    Parameters
    ----------
    found : Agreement, or sequence of Agreement
    per_query : bool, default False
        Whether a table of all queries comes after.
    """
    found = [found] if isinstance(found, Agreement) else found
    by_query = [
        {"runs": pair_of(one), "query_id": str(query), "n_common": int(one.n_common[n])}
        | {name: float(values[n]) for name, values in one.values.items()}
        for one in (found if per_query else ())
        for n, query in enumerate(one.query_ids.tolist())
    ]
    columns = (Column("n_common", "common"), *(Column(name, name, spare=n) for n, name in enumerate(KINDS)))
    tables = (
        tabulate(
            "agreement", (PAIR, KIND), COLUMNS, [_row(one, name) for one in found for name in KINDS], has_blocks=True
        ),
        tabulate("queries", (PAIR, QUERY), columns, by_query, title="Queries", has_blocks=True),
    )
    first = found[0]
    return Report(
        tables if per_query else tables[:1],
        (
            *_facts_of_agreement(found),
            *summarise(dict(TEXTS)),
            prose_fact("range", RANGE),
            Fact("p", first.p, "p", f"{first.p:g}, persistence of rbo"),
            Fact(
                "cutoff", first.cutoff, "overlap", f"of the top {first.cutoff}; of the longer list if that is shorter"
            ),
        ),
    )


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
        "std": float(np.std(kept, ddof=1)) if len(kept) > 1 else np.nan,
        "min": float(kept.min()),
        "max": float(kept.max()),
    }


def _facts_of_agreement(found: Sequence[Agreement]) -> list[Fact]:
    """Say what the values are of, pair by pair where pairs differ."""
    held = {
        pair_of(one): {
            "n_queries": len(one.query_ids),
            "left_out": {one.first: list(one.only_first), one.second: list(one.only_second)},
            "n_without_tau": int((one.n_common < 2).sum()),
        }
        for one in found
    }
    sizes = {
        pair_of(
            one
        ): f"{format_count(len(one.query_ids), 'query', 'queries')}, {one.n_common.mean():.1f} documents in both"
        for one in found
    }
    if len(found) > 1 and len(set(sizes.values())) == 1:
        sizes = {f"each of {len(found)} pairs": sizes[pair_of(found[0])]}
    tied = {name: one_share for one in found for name, one_share in zip((one.first, one.second), one.tied, strict=True)}
    shares = [f"{format_cell(share_cell(of_run))} of {run}" for run, of_run in tied.items()]
    alone = [
        (f"{run} has, not {other}" if len(found) > 1 else f"{run} has", queries)
        for one in found
        for run, other, queries in ((one.first, one.second, one.only_first), (one.second, one.first, one.only_second))
        if queries
    ]
    few = {pair_of(one): n for one in found if (n := int((one.n_common < 2).sum()))}
    return [
        Fact("pairs", held),
        *(replace(prose_fact("in both", f"{name}: {size}"), brief=f"{name}: {size}") for name, size in sizes.items()),
        Fact("tied", tied, "in ties", f"of the documents: {', '.join(shares)}", brief=", ".join(shares)),
        *(
            note_fact(
                "left out",
                f"{format_count(len(ids), 'query', 'queries')} that only {whose}: {format_list([*map(repr, ids)])}",
            )
            for whose, ids in alone
        ),
        *(
            note_fact(
                "no tau", f"{format_count(n, 'query', 'queries')} of {pair}, with fewer than two documents in both"
            )
            for pair, n in few.items()
        ),
    ]
