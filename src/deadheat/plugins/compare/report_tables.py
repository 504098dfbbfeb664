"""What a comparison shows on request: margins, sample sizes, deciding queries, ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from deadheat.core.data.queries import Queries
from deadheat.core.evaluation.query_columns import SMALLEST
from deadheat.core.evaluation.stratum import keys_of, label
from deadheat.core.libraries import polars as pl
from deadheat.core.report.cells import Span, p_value_cell, share_cell
from deadheat.core.report.model import (
    MEASURE,
    QUERY,
    SYSTEM,
    Column,
    Fact,
    Report,
    Row,
    Table,
    note_fact,
    prose_fact,
    registers_report,
    tabulate,
)
from deadheat.core.report.of_strata import describe_small_strata, tell_overlap
from deadheat.core.report.score_tables import columns_of_strata, level_heading
from deadheat.core.scalars import as_integer
from deadheat.core.wording import format_path, format_seed
from deadheat.plugins.compare.companions import Companion, tell_absent
from deadheat.plugins.compare.comparison import Comparison, knows_ties
from deadheat.plugins.compare.report import BASELINE, as_shown, by_values_alone, report_comparison, titled
from deadheat.plugins.compare.report_compact import Strata, report_compact
from deadheat.plugins.compare.report_orders import list_orders, tell_orders
from deadheat.plugins.compare.report_tests import doubt_margin

HEADINGS = {"best": "best", "worst": "worst", "ties": "by ties"}
NUMBERS = ("difference", "value", "baseline_value")
WEIGHT = Column("weight", "weight", spare=1)
Comparisons = Strata | Mapping[tuple[()], Comparison]

PLANS: tuple[tuple[str, str, tuple[Column, ...], Callable[[Comparison, float], pl.DataFrame]], ...] = (
    (
        "equivalence",
        "No worse by a margin of {:g}, and equivalent (one-sided t tests, uncorrected)",
        (
            Column("difference", "difference", spare=1),
            Column(
                "p_no_worse", "p no worse", lambda row: p_value_cell(row["p_no_worse"], is_significant=row["no_worse"])
            ),
            Column(
                "p_equivalent",
                "p equivalent",
                lambda row: p_value_cell(row["p_equivalent"], is_significant=row["equivalent"]),
            ),
        ),
        Comparison.equivalence,
    ),
    (
        "sample_sizes",
        "To detect {:g} with a power of 80% (paired t test, not corrected)",
        (
            Column("std", "std", spare=2),
            Column("n_queries", "queries", spare=1),
            Column("power", "power"),
            Column("n_needed", "needed"),
            Column("detectable_difference", "detectable"),
        ),
        Comparison.sample_sizes,
    ),
)
"""The tables of a margin and of a difference to detect: their keys, titles, columns and rows."""


@registers_report(Comparison)
def _of_comparison(comparison: Comparison, *, compact: bool = True) -> Report:
    qrels = format_path(next(iter(comparison.evaluations.values())).qrels.where)
    report = report_with_requests(
        comparison, qrels=qrels, compact=compact, margin=comparison.margin, detect=comparison.detect
    )
    return report.in_brief() if compact else report


def report_with_requests(
    comparison: Comparison,
    *,
    qrels: str,
    compact: bool = False,
    digits: int | None = None,
    queries: Queries | None = None,
    source: str = "",
    columns: Sequence[str] = (),
    strata: Strata | None = None,
    companions: Sequence[Companion] = (),
    margin: float | None = None,
    detect: float | None = None,
    ranks: bool = False,
    orders: bool = False,
    queries_worst: int | None = None,
    for_people: bool = True,
    in_one: bool = False,
    with_others: bool = True,
) -> Report:
    """Return the report of a comparison, with all that was asked for beside the differences.

    Parameters
    ----------
    comparison : Comparison
    qrels : str
        The name of the qrels.
    compact : bool, default False
        Whether to show one table and what changes a decision, instead of all tables; with a judge's labels, which have
        columns of their own, all tables are shown.
    digits : int, optional
        Decimals that will be printed.
    queries : Queries, optional
    source : str, default ""
        The name of their table.
    columns : sequence of str
        What `strata` are of.
    strata : mapping of stratum to Comparison, optional
        Shown instead of the whole.
    companions : sequence of Companion, default ()
        What else is compared on the queries.
    margin, detect : float, optional
        What differences are tested against, and one to detect.
    ranks, orders : bool, default False
        Whether to say how sure ranks are, and how far orders of the systems agree.
    queries_worst : int, optional
        How many queries to list of each kind.
    for_people : bool, default True
    in_one : bool, default False
        Whether the first table has the columns of margin and detect too.
    with_others : bool, default True
        Whether there is room for the tables of companions.
    """
    among = "systems" if companions else ""
    if compact and not comparison.parts:
        report = report_compact(
            comparison, qrels=qrels, columns=columns, strata=strata, margin=margin, digits=digits, among=among
        )
    else:
        report = report_comparison(
            comparison,
            qrels=qrels,
            columns=columns,
            strata=strata,
            for_people=for_people,
            margin=margin,
            among=among,
        )
    parts: Comparisons = {(): comparison} if strata is None else strata
    tables, facts = planned(parts, columns, margin, detect, for_people=for_people)
    if in_one:
        report, tables = replace(report, tables=(beside(report.tables[0], *tables), *report.tables[1:])), []
    found = comparison.orders() if orders else None
    report = replace(
        report,
        tables=(
            *report.tables,
            *tables,
            *([list_ranks(comparison, columns, parts)] if ranks else []),
            *([list_orders(found)] if found else []),
            *(list_deciding(comparison, queries_worst, queries, for_people=for_people) if queries_worst else []),
        ),
        facts=(
            *report.facts,
            *facts,
            *([tell_ranks(comparison)] if ranks else []),
            *(tell_orders(found) if found else []),
            *_of_queries(comparison, queries, parts, source),
            *(
                [note_fact("decide", "queries of the pairs of the two best; JSON has those of every pair")]
                if queries_worst and for_people and as_shown(comparison) is not comparison
                else []
            ),
        ),
    )
    if with_others:
        for companion in companions:
            report = companion.extend(report, margin, for_people=for_people)
    return report


def _of_queries(comparison: Comparison, queries: Queries | None, parts: Comparisons, source: str) -> list[Fact]:
    """Say what is not compared beside systems, where the strata are from, and which are small."""
    if queries is None:
        return []
    small = {label(name): len(one.query_ids) for name, one in parts.items() if len(one.query_ids) < SMALLEST}
    n_listed = sum(len(one.query_ids) for one in parts.values())
    distinct = set[str]().union(*(one.query_ids.tolist() for one in parts.values()))
    strata = [
        Fact("strata", len(parts), "strata", f"{len(parts)} from {source}"),
        *tell_overlap(n_listed - len(distinct)),
        *([Fact("small", list(small), "small", describe_small_strata(small, SMALLEST))] if small else []),
    ]
    return [
        *tell_absent(comparison, queries),
        *([] if () in parts else strata),
    ]


def planned(
    parts: Comparisons, columns: Sequence[str], margin: float | None, detect: float | None, *, for_people: bool
) -> tuple[list[Table], list[Fact]]:
    """Return the tables and facts of a margin, and of a difference to detect, if there are any."""
    reported: Comparisons = {name: as_shown(part) for name, part in parts.items()} if for_people else parts
    tables = [
        tabulate(
            key,
            (*columns_of_strata(columns), SYSTEM, BASELINE, MEASURE),
            shown,
            _in_totals(reported, size, table_for),
            title=titled(title.format(size), reported.values()),
        )
        for size, (key, title, shown, table_for) in zip((margin, detect), PLANS, strict=True)
        if size is not None
    ]
    return tables, [
        Fact("margin", margin),
        Fact("detect", detect),
        *doubt_margin([(label(name), pair) for name, part in parts.items() if margin for pair in part.pairs]),
    ]


def _in_totals(
    parts: Comparisons, size: float, table_for: Callable[[Comparison, float], pl.DataFrame]
) -> Iterator[dict[str, Any]]:
    """Give a row for each pair, for a difference of this size between means, or between totals of counts."""
    for stratum, part in parts.items():
        counts = {measure.label for measure in part.measures if measure.total}
        sizes = set(part.pairs.column("n_queries").tolist()) - {0} if counts else ()
        of_totals = {n: table_for(part, size / n) for n in sizes}
        for place, (pair, row) in enumerate(zip(part.pairs, table_for(part, size).rows(named=True), strict=True)):
            found, n_queries = row, pair.n_queries
            if n_queries and pair.measure in counts:
                found = of_totals[n_queries].row(place, named=True)
                found |= {
                    name: n_queries * found[name]
                    for name in ("difference", "detectable_difference")
                    if found.get(name) is not None
                }
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


def list_deciding(comparison: Comparison, n: int, queries: Queries | None, *, for_people: bool) -> list[Table]:
    """Return the queries that decide each pair: a table of each pair for people, one of all for programs.

    Parameters
    ----------
    comparison : Comparison
    n : int
        Queries of each kind.
    queries : Queries or None
        Their texts, where there are any.
    for_people : bool
    """
    rows = (as_shown(comparison) if for_people else comparison).queries(n).to_dicts()
    ties = []
    if knows_ties(comparison):
        ties.append(
            Column(
                "ties", "tie orders", lambda row: Span(row["tie_min"], row["tie_max"]), ("tie_min", "tie_max"), spare=2
            )
        )
    texts = {} if queries is None else queries.texts(comparison.query_ids.tolist())
    text = [Column("text", "text", lambda row: texts.get(row["query_id"], ""))] if texts else []
    weight = [WEIGHT] if any(row["weight"] is not None for row in rows) else []
    if not for_people:
        columns = (*(Column(name, name) for name in NUMBERS), *ties, *weight, *text)
        return [tabulate("queries", (SYSTEM, BASELINE, MEASURE, Column("kind", ""), QUERY), columns, rows)]
    kind, tables = Column("kind", "", lambda row: HEADINGS[row["kind"]]), []
    for (measure, *pair), own in groupby(rows, key=lambda row: (row["measure"], row["system"], row["baseline"])):
        columns = (
            Column("difference", "difference"),
            *(Column(name, heading, spare=1) for name, heading in zip(NUMBERS[1:], pair, strict=True)),
            *(*ties, *weight, *text),
        )
        title = f"{measure}: queries that decide, {' - '.join(pair)}{by_values_alone([comparison])}"
        tables.append(tabulate("queries", (kind, QUERY), columns, own, title=title, has_blocks=True))
    return tables


def list_ranks(comparison: Comparison, columns: Sequence[str], parts: Comparisons) -> Table:
    """Return the rank of each system with its interval, the best first; of each stratum if there are any."""
    rows = [
        {**row, "stratum": keys_of(stratum)}
        for stratum, part in parts.items()
        for own in part.rank_intervals().partition_by("measure", maintain_order=True)
        for row in own.sort("rank", nulls_last=True, maintain_order=True).to_dicts()
    ]
    return tabulate(
        "ranks",
        (*columns_of_strata(columns), MEASURE, SYSTEM),
        (
            Column("rank", "rank"),
            Column(
                "ci",
                level_heading(comparison.design.confidence_level, set()),
                lambda row: Span(row["low"], row["high"]),
            ),
            Column("p_best", "P(best)", lambda row: share_cell(row["p_best"])),
            Column("n_queries", "queries", spare=1),
        ),
        rows,
        title="Ranks",
        has_blocks=True,
    )


def tell_ranks(comparison: Comparison) -> Fact:
    """Say how the intervals of ranks were made."""
    design = comparison.design
    drawn = " with the ties of every drawn query broken at random," if knows_ties(comparison) else ""
    return prose_fact(
        "ranks",
        f"by the exact mean; bootstrap over {'queries' if comparison.cluster is None else 'clusters'},{drawn}"
        f" {design.n_resamples:,} resamples{format_seed(as_integer(design.rng))}",
    )
