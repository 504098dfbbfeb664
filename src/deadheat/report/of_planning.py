"""What a comparison says on request: about margins, sample sizes, deciding queries, and how sure its ranks are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
from polars import DataFrame

from deadheat import stats
from deadheat.comparison.comparison import Comparison
from deadheat.comparison.pairs import Pair, n_units
from deadheat.errors import counted, three, whole
from deadheat.evaluation.intervals import FEWEST
from deadheat.evaluation.strata import keys_of, label
from deadheat.report.conventions import drawn_with, gathered
from deadheat.report.model import (
    MEASURE,
    QUERY,
    SYSTEM,
    Column,
    Fact,
    Report,
    Row,
    Span,
    Table,
    note,
    p_value,
    said,
    share,
    shows,
    tabulate,
)
from deadheat.report.of_compact import report_compact
from deadheat.report.of_comparison import BASELINE, columns_of_strata, name_of, report_comparison
from deadheat.report.score_tables import level_heading

HEADINGS = {"best": "best", "worst": "worst", "ties": "by ties"}
NUMBERS = ("difference", "value", "baseline_value")
Comparisons = Mapping[str | tuple[str, ...], Comparison] | Mapping[tuple[()], Comparison]

OF_TOTALS = {"difference", "detectable_difference"}


@shows(Comparison)
def _of_comparison(comparison: Comparison, *, compact: bool = False) -> Report:
    first = next(iter(comparison.evaluations.values()))
    if compact:
        return report_compact(comparison, qrels=first.qrels_name)
    report = report_comparison(comparison, qrels=first.qrels_name, margin=comparison.margin)
    tables, facts = planned({(): comparison}, (), comparison.margin, comparison.detect)
    return replace(report, tables=(*report.tables, *tables), facts=(*report.facts, *facts))


def planned(
    parts: Comparisons, columns: Sequence[str], margin: float | None, detect: float | None
) -> tuple[list[Table], list[Fact]]:
    """Return the tables and facts of a margin, and of a difference to detect, if there are any."""
    tables, facts = [], [Fact("margin", margin), Fact("detect", detect)]
    labels = (*columns_of_strata(columns), SYSTEM, BASELINE, MEASURE)
    if margin is not None:
        shown = (
            Column("difference", "difference", spare=1),
            Column("p_no_worse", "p no worse", lambda row: p_value(row["p_no_worse"], is_significant=row["no_worse"])),
            Column(
                "p_equivalent",
                "p equivalent",
                lambda row: p_value(row["p_equivalent"], is_significant=row["equivalent"]),
            ),
        )
        title = f"No worse by a margin of {margin:g}, and equivalent (one-sided t tests, uncorrected)"
        rows = _in_totals(parts, margin, Comparison.equivalence)
        tables.append(tabulate("equivalence", labels, shown, rows, title=title))
        facts += doubt_margin([(label(stratum), pair) for stratum, part in parts.items() for pair in part.pairs])
    if detect is not None:
        powers = (
            Column("std", "std", spare=2),
            Column("n_queries", "queries", spare=1),
            Column("power", "power"),
            Column("n_needed", "needed"),
            Column("detectable_difference", "detectable"),
        )
        title = f"To detect {detect:g} with a power of 80% (paired t test, not corrected)"
        rows = _in_totals(parts, detect, Comparison.sample_sizes)
        tables.append(tabulate("sample_sizes", labels, powers, rows, title=title))
    return tables, facts


def doubt_margin(placed: Sequence[tuple[str, Pair]]) -> Iterator[Fact]:
    """Say of which pairs, given with their strata, the t tests of a margin prove nothing, or little."""
    total = counted(len(placed), "pair")
    found = gathered((name_of(stratum, pair), _why_doubtful(pair)) for stratum, pair in placed)
    for why, names in found.items():
        yield note("margin", f"{why}: {len(names)} of {total}, {three(names)}" if why else "")


def _why_doubtful(pair: Pair) -> str:
    units = "queries" if pair.n_clusters is None else "clusters"
    if n_units(pair) < FEWEST:
        return f"fewer than {FEWEST} {units} prove nothing"
    if not pair.low < pair.high:
        return f"one difference in all {units} does not say how others vary"
    if stats.is_doubtful(np.array([pair.skewness]), np.array([n_units(pair)]), "t")[0]:
        return f"too skewed for so few {units}, a t test rules out rare large differences too easily"
    return ""


def _in_totals(
    parts: Comparisons, size: float, table_for: Callable[[Comparison, float], DataFrame]
) -> Iterator[dict[str, Any]]:
    """Give a row for each pair, for a difference of this size between means, or between totals of counts."""
    for stratum, part in parts.items():
        counts = {measure.label for measure in part.measures if measure.total}
        rows = table_for(part, size).rows(named=True)
        for place, (pair, row) in enumerate(zip(part.pairs, rows, strict=True)):
            found, n_queries = row, pair.n_queries
            if n_queries and pair.measure in counts:
                found = table_for(part, size / n_queries).row(place, named=True)
                found |= {name: n_queries * found[name] for name in OF_TOTALS if found.get(name) is not None}
            yield {**found, "stratum": keys_of(stratum)}


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
    ties = Column(
        "ties", "tie orders", lambda row: Span(row["tie_min"], row["tie_max"]), ("tie_min", "tie_max"), spare=2
    )
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


def list_ranks(comparison: Comparison, columns: Sequence[str], strata: Comparisons | None = None) -> Table:
    """Return the rank of each system with its interval, the best first; of each stratum if there are any."""
    parts: Comparisons = {(): comparison} if strata is None else strata
    rows = []
    for stratum, part in parts.items():
        found = part.rank_intervals().to_dicts()
        of_measure = {name: place for place, name in enumerate(dict.fromkeys(row["measure"] for row in found))}
        found.sort(key=lambda row: (of_measure[row["measure"]], row["rank"] is None, row["rank"]))
        rows += [{**row, "stratum": keys_of(stratum)} for row in found]
    shown = (
        Column("rank", "rank"),
        Column(
            "ci", level_heading(comparison.design.confidence_level, set()), lambda row: Span(row["low"], row["high"])
        ),
        Column("p_best", "P(best)", lambda row: share(row["p_best"])),
        Column("n_queries", "queries", spare=1),
    )
    return tabulate(
        "ranks", (*columns_of_strata(columns), MEASURE, SYSTEM), shown, rows, title="Ranks", has_blocks=True
    )


def tell_ranks(comparison: Comparison) -> Fact:
    """Say how the intervals of ranks were made."""
    design = comparison.design
    units = "queries" if comparison.cluster is None else "clusters"
    return said(
        "ranks",
        f"by the exact mean; bootstrap over {units}, with the ties of every drawn query broken at random,"
        f" {design.n_resamples:,} resamples{drawn_with(whole(design.rng))}",
    )
