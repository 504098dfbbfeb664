"""The report of the steps by which the value of a measure for one query comes about."""

import math

from deadheat.core.measures.notation import unit_of
from deadheat.core.report.cells import count_cell, format_cell, ranks
from deadheat.core.report.model import Column, Fact, Report, prose_fact, registers_report, tabulate
from deadheat.core.wording import format_count
from deadheat.plugins.ties.steps import HEADINGS, Steps

MEANINGS = {
    "gain": "gain and weight: of the relevance, and of the rank; in a tie the mean weight of its ranks",
    "precision": "P at rank: the precision at the rank of the document; in a tie the mean over its orders",
    "stops_here": "stop: the probability of stopping at such a document; stops here: of reaching it and stopping",
    "part": "adds: what the document adds to the sum; in a tie the mean over its orders",
}


@registers_report(Steps)
def of_steps(steps: Steps) -> Report:
    """Return the report of the steps by which a value comes about."""
    frame = steps.documents
    shown = [name for name in frame.columns if name not in {"first", "last", "doc_id"}]
    if not frame["score"].count():
        shown.remove("score")
    columns = [Column("first", "", is_data=True), Column("last", "", is_data=True), *map(_column, shown)]
    rank = Column("rank", "rank", lambda row: ranks(row["first"], row["last"]))
    tables = [tabulate("steps", (rank, Column("doc_id", "document")), columns, frame.to_dicts(), main=len(columns) - 1)]
    if steps.ideal is not None:
        ideal = [_column(name) for name in steps.ideal.columns if name != "rank"]
        rank, title = Column("rank", "rank", lambda row: f"{row['rank']}"), "The ideal ranking, whose sum is the IDCG"
        tables.append(tabulate("ideal", (rank,), ideal, steps.ideal.to_dicts(), title=title, main=len(ideal) - 1))
    return Report(
        tuple(tables),
        tuple(_facts_of_steps(steps)),
        heading=f"{steps.measure.label} = {format_cell(steps.value)}{unit_of(steps.measure)} for query {steps.query_id}"
        f" of {steps.name}",
    )


def _column(name: str) -> Column:
    counts = name in {"relevance", "gain", "score"}
    return Column(name, HEADINGS.get(name, name), (lambda row: count_cell(row[name])) if counts else None)


def _facts_of_steps(steps: Steps) -> list[Fact]:
    columns, total = steps.documents.columns, steps.documents["sum"].drop_nulls()
    what = "the sum" if "part" in columns else "sum: the value if the list ended with this tie"
    how = f"{format_cell(steps.value)}, {what}"
    if steps.lacks_relevant and math.isnan(steps.value):
        how = "none: no document is relevant, and the query is left out"
    elif steps.lacks_relevant:
        how = f"{format_cell(steps.value)}, as no document is relevant"
    elif steps.divisor != 1:
        last = format_cell(float(total[-1])) if len(total) else "0"
        how = f"{last} / {format_cell(count_cell(steps.divisor))} = {format_cell(steps.value)}"
    ends = [
        format_cell(one) for one in sorted((steps.tie_min, steps.tie_max), key=lambda end: steps.measure.sign * end)
    ]
    moved = f"from {ends[0]} in the worst order of the ties to {ends[1]} in the best" if ends[0] != ends[1] else ""
    means = "the exact mean over all orders of equal scores" if steps.ties == "expected" else f"the {steps.ties} order"
    listed = steps.documents["relevance"].null_count()
    more = "" if listed == steps.n_unjudged else f", {listed:,} of them listed" if listed else ", not listed"
    unjudged, missed = (
        format_count(steps.n_unjudged, "retrieved document"),
        format_count(steps.n_missed, "relevant document"),
    )
    return [
        Fact("measure", steps.measure.label),
        Fact("query_id", steps.query_id),
        Fact("value", steps.value, "value", how),
        Fact("divisor", steps.divisor),
        Fact("ties", steps.ties, "ties", f"{means}; {moved}" if moved else "no order of equal scores changes it"),
        Fact("tie_min", steps.tie_min),
        Fact("tie_max", steps.tie_max),
        Fact("formula", steps.measure.formula, "formula", steps.measure.formula),
        *(prose_fact("columns", MEANINGS[name]) for name in columns if name in MEANINGS),
        Fact("n_unjudged", steps.n_unjudged, "unjudged", unjudged + more if steps.n_unjudged else ""),
        Fact("n_missed", steps.n_missed, "not retrieved", missed if steps.n_missed else ""),
    ]
