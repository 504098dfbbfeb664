"""The reports of small objects, which notebooks show: scores, an interval, qrels and runs."""

from deadheat.core.data.document_table import DocumentTable
from deadheat.core.data.rows import MappingRows, MemoryRows
from deadheat.core.data.table_facts import TableFacts
from deadheat.core.evaluation.intervals import Interval
from deadheat.core.evaluation.scores import Scores
from deadheat.core.libraries import polars as pl
from deadheat.core.report.interval_facts import interval_cell
from deadheat.core.report.model import (
    QUERY,
    Column,
    Fact,
    Report,
    note_fact,
    prose_fact,
    registers_report,
    tabulate,
)
from deadheat.core.report.score_tables import level_heading
from deadheat.core.report.totals import TIE_NUMBERS, mean_cell, mean_heading, tell_geometric
from deadheat.core.wording import format_count

MOST_ROWS = 10  # of values by query, and of documents: more are no table to read


@registers_report(Scores)
def of_scores(scores: Scores) -> Report:
    """Return the report of scores: the mean with what ties leave open, and the first queries."""
    of_all = (
        Column("mean", mean_heading([scores.measure]), mean_cell),
        *(Column(name, name.replace("_", " "), lambda one, name=name: mean_cell(one, name)) for name in TIE_NUMBERS),
        Column("n_queries", "queries"),
    )
    name = Column("measure", "measure", lambda one: one.measure.label)
    columns = [Column(name, name.replace("_", " ")) for name in ("value", *TIE_NUMBERS)]
    held = {"query_id": scores.query_ids, "value": scores.values} | {
        name: getattr(scores, name) for name in TIE_NUMBERS
    }
    rows = pl.DataFrame(held).head(MOST_ROWS).to_dicts()
    return Report(
        (tabulate("means", (name,), of_all, [scores]), tabulate("queries", (QUERY,), columns, rows)),
        (prose_fact("queries", _first(len(rows), len(scores.query_ids))), *tell_geometric([scores.measure.label])),
    )


@registers_report(Interval)
def of_interval(interval: Interval) -> Report:
    """Return the report of an interval."""
    which = "mean" if interval.quantile is None else f"quantile {interval.quantile:g}"
    columns = (
        Column("mean", which, lambda one: one.mean if one.at is None else one.at),
        Column("ci", level_heading(interval.confidence_level, {interval.n_queries}), interval_cell),
        Column("standard_error", "std err"),
        Column("tie_standard_error", "tie std err"),
    )
    return Report(
        (tabulate("interval", (), columns, [interval]),),
        (Fact("method", interval.method, "method", interval.method), note_fact("?", interval.unknown)),
    )


@registers_report(DocumentTable)
def of_documents(table: DocumentTable) -> Report:
    """Return the report of qrels or a run: how many rows, and the first; of what is not in memory its name alone."""
    heading = " ".join(dict.fromkeys((table.kind, table.name)))
    if not isinstance(table.rows, MemoryRows | MappingRows):
        return Report((), (prose_fact("rows", "not in memory: read when they are used"),), heading)
    frame, facts = table.to_polars(), table.facts()
    value = frame.columns[2]
    rows = frame.head(MOST_ROWS).to_dicts()
    told = (
        Fact("n_queries", facts.n_queries, "queries", f"{facts.n_queries:,}"),
        Fact(
            "n_documents",
            facts.n_documents,
            "documents",
            f"{facts.n_documents:,} in {format_count(facts.n_rows, 'row')}",
        ),
        Fact("range", (facts.lowest, facts.highest), value, _range_of(facts)),
        Fact("n_tied", facts.n_tied_queries, "ties", f"in {format_count(facts.n_tied_queries, 'query', 'queries')}")
        if table.kind == "run"
        else prose_fact("", ""),
        *(note_fact("note", one) for one in facts.notes),
        prose_fact("rows", _first(len(rows), facts.n_rows)),
    )
    return Report(
        (tabulate("rows", (QUERY,), [Column("doc_id", "document"), Column(value, value)], rows),), told, heading
    )


def _range_of(facts: TableFacts) -> str:
    """Return the lowest and the highest number; empty without rows."""
    return f"{facts.lowest:g} to {facts.highest:g}" if facts.n_rows else ""


def _first(n_shown: int, n: int) -> str:
    return f"the first {n_shown} of {n:,}" if n_shown < n else ""
