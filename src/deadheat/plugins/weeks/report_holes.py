"""The report of documents to judge first."""

from collections.abc import Mapping, Sequence

import polars as pl

from deadheat.core.report.cells import format_cell
from deadheat.core.report.data_facts import describe_queries
from deadheat.core.report.model import QUERY, Column, Fact, Report, Table, registers_report, tabulate
from deadheat.core.wording import format_count
from deadheat.plugins.weeks.holes import Holes

MOST_DOCUMENTS = 20  # that people are shown
MEANING_OF_WEIGHT = {  # by what documents are ordered by
    "range": "what a judgment takes off the range of the mean, over both answers and all runs",
    "decision": "how far the two answers are apart in the difference of two runs, over all pairs",
}


@registers_report(Holes, in_brief=True)
def report_holes(holes: Holes, *, for_people: bool = True) -> Report:
    """Return the report of holes.

    Parameters
    ----------
    holes : Holes
    for_people : bool, default True
        Whether to list the first documents only.
    """
    documents = holes.documents
    if for_people:
        documents = documents.head(MOST_DOCUMENTS)
    n_shown = len(documents)
    heading = "Documents to judge first" if n_shown else _format_heading_without_holes(holes)
    return Report((_tabulate(documents),), tuple(_list_facts(holes, n_shown)), heading=heading)


def _tabulate(documents: pl.DataFrame) -> Table:
    """Return a row for each document, with its weight and its rank in each run."""
    columns = [Column("weight", "weight")]
    rank_names = [name for name in documents.columns if name.startswith("rank ")]
    for n, name in enumerate(rank_names):
        columns.append(Column(name, name, spare=n))
    return tabulate("documents", (QUERY, Column("doc_id", "document")), columns, documents.to_dicts())


def _format_heading_without_holes(holes: Holes) -> str:
    queries = ""
    if any(holes.unjudged_queries.values()):
        queries = " of the queries in the qrels"
    return f"Nothing to judge up to rank {holes.depth:,}: all documents{queries} have labels"


def _list_facts(holes: Holes, n_shown: int) -> list[Fact]:
    label = holes.measure.label
    unjudged = _describe_unjudged(holes, n_shown)
    return [
        Fact("measure", label, "measure", label, brief=label),
        Fact("by", holes.by, "weight", MEANING_OF_WEIGHT[holes.by]),
        _tell_ranges(holes),
        Fact("depth", holes.depth),
        Fact("n_unjudged", holes.n_unjudged, "unjudged", unjudged, brief=unjudged),
        Fact("n_below", holes.n_below),
        Fact("n_queries", holes.n_queries),
        _tell_queries(
            "missing_queries",
            holes.missing_queries,
            f"of {holes.n_queries:,} in the qrels, counted as empty rankings",
        ),
        _tell_queries("unjudged_queries", holes.unjudged_queries, "left out, not in the qrels"),
    ]


def _tell_ranges(holes: Holes) -> Fact:
    """Say between which values the mean of each run can be once its documents are judged."""
    ranges: dict[str, dict[str, float]] = {}
    texts: list[str] = []
    for run_name, (low, high) in holes.ranges.items():
        ranges[run_name] = {"low": low, "high": high}
        texts.append(f"{run_name} {format_cell(low)} to {format_cell(high)}")
    text = "; ".join(texts)
    return Fact("ranges", ranges, "if judged", f"the mean may be: {text}", brief=text)


def _describe_unjudged(holes: Holes, n_shown: int) -> str:
    """Say how many documents are not judged, and which of them are not listed."""
    text = f"{format_count(holes.n_unjudged, 'document')} up to rank {holes.depth:,}"
    if n_shown < len(holes.documents):
        text += f", the first {n_shown:,} are shown"
    if holes.n_below:
        text += f"; {holes.n_below:,} more below that rank count too, and are not listed"
    return text


def _tell_queries(key: str, queries_of_runs: Mapping[str, Sequence[str]], effect: str) -> Fact:
    """Say which queries of each run are missing or unjudged, and what becomes of them."""
    value = {run_name: list(query_ids) for run_name, query_ids in queries_of_runs.items()}
    texts: list[str] = []
    for run_name, query_ids in queries_of_runs.items():
        if query_ids:
            texts.append(f"{run_name} {describe_queries(query_ids)}")
    if texts:
        texts.append(effect)
    return Fact(key, value, key.replace("_", " "), "; ".join(texts), is_note=True)
