"""Tables of the queries that decide a comparison, and of how sure the ranks of its systems are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from deadheat import arguments
from deadheat.comparison.comparison import Comparison
from deadheat.evaluation.strata import keys_of
from deadheat.report.conventions import drawn_with
from deadheat.report.model import MEASURE, QUERY, SYSTEM, Column, Fact, Span, Table, share, tabulate
from deadheat.report.of_comparison import BASELINE, columns_of_strata

Strata = Mapping[str | tuple[str, ...], Comparison]
HEADINGS = {"best": "best", "worst": "worst", "ties": "by ties"}
NUMBERS = ("difference", "value", "baseline_value")


def list_queries(comparison: Comparison, n: int, texts: Mapping[str, str], *, for_people: bool) -> list[Table]:
    """Return the queries that decide each pair: a table of each pair for people, one of all for programs.

    Parameters
    ----------
    comparison : Comparison
    n : int
        Queries of each kind.
    texts : mapping of str to str
        The texts of queries, where there are any.
    for_people : bool
    """
    rows = comparison.queries(n).to_dicts()
    ties = Column("ties", "tie orders", _ties, ("tie_min", "tie_max"), spare=2)
    text = [Column("text", "text", lambda row: texts.get(row["query_id"], ""))] if texts else []
    if not for_people:
        columns = (*(Column(name, name) for name in NUMBERS), ties, *text)
        return [tabulate("queries", (SYSTEM, BASELINE, MEASURE, Column("kind", ""), QUERY), columns, rows)]
    kind, tables = Column("kind", "", lambda row: HEADINGS[row["kind"]]), []
    for key, own in groupby(rows, key=lambda row: (row["measure"], row["system"], row["baseline"])):
        measure, *pair = key
        named = (Column(name, heading, spare=1) for name, heading in zip(NUMBERS[1:], pair, strict=True))
        title = f"{measure}: queries that decide, {' - '.join(pair)}"
        columns = (Column("difference", "difference"), *named, ties, *text)
        tables.append(tabulate("queries", (kind, QUERY), columns, own, title=title, has_blocks=True))
    return tables


def _ties(row: Mapping[str, Any]) -> Span | None:
    low, high = row["tie_min"], row["tie_max"]
    return None if low is None or high is None else Span(low, high)


def list_ranks(comparison: Comparison, columns: Sequence[str], strata: Strata | None = None) -> Table:
    """Return the rank of each system with its interval, the best first; of each stratum if there are any."""
    parts: Strata | Mapping[tuple[()], Comparison] = {(): comparison} if strata is None else strata
    rows = []
    for stratum, part in parts.items():
        found = part.rank_intervals().to_dicts()
        of_measure = {name: place for place, name in enumerate(dict.fromkeys(row["measure"] for row in found))}
        found.sort(key=lambda row: (of_measure[row["measure"]], row["rank"] is None, row["rank"]))
        rows += [{**row, "stratum": keys_of(stratum)} for row in found]
    shown = (
        Column("rank", "rank"),
        Column("ci", f"{100 * comparison.design.confidence_level:g}% CI", _interval),
        Column("p_best", "P(best)", lambda row: share(row["p_best"])),
        Column("n_queries", "queries", spare=1),
    )
    labels = (*columns_of_strata(columns), MEASURE, SYSTEM)
    return tabulate("ranks", labels, shown, rows, title="Ranks", has_blocks=True)


def _interval(row: Mapping[str, Any]) -> Span | None:
    return None if row["rank"] is None else Span(row["low"], row["high"])


def tell_ranks(comparison: Comparison) -> Fact:
    """Say how the intervals of ranks were made."""
    design = comparison.design
    seed = arguments.whole(design.rng)
    units = "queries" if comparison.cluster is None else "clusters"
    how = f"bootstrap over {units}, with the ties of every drawn query broken at random"
    text = f"by the exact mean; {how}, {design.n_resamples:,} resamples{drawn_with(seed)}"
    return Fact("", None, "ranks", text)
