"""The report of the steps by which a value comes about."""

from collections.abc import Mapping

from deadheat.errors import counted
from deadheat.evaluation.steps import Steps
from deadheat.report.model import Column, Fact, Report, count_cell, format_cell, said, shows, tabulate

HEADINGS = {
    "precision": "P at rank",
    "stops_here": "stops here",
    "part": "adds",
    "sum": "sum",
}
MEANINGS = {
    "gain": "gain and weight: of the relevance, and of the rank; in a tie the mean weight of its ranks",
    "precision": "P at rank: the precision at the rank of the document; in a tie the mean over its orders",
    "stops_here": "stop: the probability of stopping at such a document; stops here: of reaching it and stopping",
    "part": "adds: what the document adds to the sum; in a tie the mean over its orders",
}


@shows(Steps)
def of_steps(steps: Steps) -> Report:
    """Return the report of the steps by which a value comes about."""
    frame = steps.documents
    shown = [name for name in frame.columns if name not in {"first", "last", "doc_id"}]
    if not frame["score"].count():
        shown.remove("score")
    columns = [Column("first", "", is_data=True), Column("last", "", is_data=True), *map(_column, shown)]
    labels = (
        Column("rank", "rank", _ranks),
        Column("doc_id", "document"),
    )
    tables = [tabulate("steps", labels, columns, frame.to_dicts(), main=len(columns) - 1)]
    if steps.ideal is not None:
        ideal = [_column(name) for name in steps.ideal.columns if name != "rank"]
        rank = (Column("rank", "rank", lambda row: f"{row['rank']}"),)
        title = "The ideal ranking, whose sum is the IDCG"
        tables.append(tabulate("ideal", rank, ideal, steps.ideal.to_dicts(), title=title, main=len(ideal) - 1))
    heading = f"{steps.measure.label} = {format_cell(steps.value)} for query {steps.query_id} of {steps.name}"
    return Report(tuple(tables), tuple(_facts(steps)), heading=heading)


def _ranks(row: Mapping[str, int]) -> str:
    return f"{row['first']}" if row["first"] == row["last"] else f"{row['first']}-{row['last']}"


def _column(name: str) -> Column:
    counts = name in {"relevance", "gain", "score"}
    return Column(name, HEADINGS.get(name, name), (lambda row: count_cell(row[name])) if counts else None)


def _facts(steps: Steps) -> list[Fact]:
    columns, total = steps.documents.columns, steps.documents["sum"].drop_nulls()
    is_sum = "part" in columns
    how = f"{format_cell(steps.value)}, {'the sum' if is_sum else 'sum: the value if the list ended with this tie'}"
    if steps.divisor != 1:
        last = format_cell(float(total[-1])) if len(total) else "0"
        how = f"{last} / {format_cell(count_cell(steps.divisor))} = {format_cell(steps.value)}"
    ends = [format_cell(one) for one in (steps.tie_min, steps.tie_max)]
    moved = f"from {ends[0]} in the worst order of the ties to {ends[1]} in the best" if ends[0] != ends[1] else ""
    means = "the exact mean over all orders of equal scores" if steps.ties == "expected" else f"the {steps.ties} order"
    listed = steps.documents["relevance"].null_count()
    more = "" if listed == steps.n_unjudged else f", {listed:,} of them listed" if listed else ", not listed"
    unjudged, missed = counted(steps.n_unjudged, "retrieved document"), counted(steps.n_missed, "relevant document")
    return [
        Fact("measure", steps.measure.label),
        Fact("query_id", steps.query_id),
        Fact("value", steps.value, "value", how),
        Fact("divisor", steps.divisor),
        Fact("ties", steps.ties, "ties", f"{means}; {moved}" if moved else "no order of equal scores changes it"),
        Fact("tie_min", steps.tie_min),
        Fact("tie_max", steps.tie_max),
        Fact("formula", steps.measure.formula, "formula", steps.measure.formula),
        *(said("columns", MEANINGS[name]) for name in columns if name in MEANINGS),
        Fact("n_unjudged", steps.n_unjudged, "unjudged", unjudged + more if steps.n_unjudged else ""),
        Fact("n_missed", steps.n_missed, "not retrieved", missed if steps.n_missed else ""),
    ]
