"""The report of documents to judge first."""

from deadheat.core.report.cells import format_cell
from deadheat.core.report.data_facts import describe_queries
from deadheat.core.report.model import QUERY, Column, Fact, Report, registers_report, tabulate
from deadheat.core.wording import format_count
from deadheat.plugins.weeks.holes import Holes

MOST = 20  # documents that people are shown
MEANT_OF_HOLES = {
    "range": "what a judgment takes off the range of the mean, over both answers and all runs",
    "decision": "how far the two answers are apart in the difference of two runs, over all pairs",
}


@registers_report(Holes, in_brief=True)
def report_holes(found: Holes, *, for_people: bool = True) -> Report:
    """Return the report of holes.

    Parameters
    ----------
    found : Holes
    for_people : bool, default True
        Whether to list the first documents only.
    """
    frame = found.documents.head(MOST) if for_people else found.documents
    ranks = [name for name in frame.columns if name.startswith("rank ")]
    rows = frame.to_dicts()
    table = tabulate(
        "documents",
        (QUERY, Column("doc_id", "document")),
        (Column("weight", "weight"), *(Column(name, name, spare=n) for n, name in enumerate(ranks))),
        rows,
    )
    shown = f", the first {len(rows):,} are shown" if len(rows) < len(found.documents) else ""
    below = f"; {found.n_below:,} more below that rank count too, and are not listed" if found.n_below else ""
    ranges = {name: {"low": low, "high": high} for name, (low, high) in found.ranges.items()}
    told = "; ".join(
        f"{name} {' to '.join(map(format_cell, (low, high)))}" for name, (low, high) in found.ranges.items()
    )
    unjudged = f"{format_count(found.n_unjudged, 'document')} up to rank {found.depth:,}{shown}{below}"
    facts = (
        Fact("measure", found.measure.label, "measure", found.measure.label, brief=found.measure.label),
        Fact("by", found.by, "weight", MEANT_OF_HOLES[found.by]),
        Fact("ranges", ranges, "if judged", f"the mean may be: {told}", brief=told),
        Fact("depth", found.depth),
        Fact("n_unjudged", found.n_unjudged, "unjudged", unjudged, brief=unjudged),
        Fact("n_below", found.n_below),
        Fact("n_queries", found.n_queries),
        *(
            Fact(
                key,
                {name: list(own) for name, own in queries.items()},
                key.replace("_", " "),
                "; ".join([*(f"{name} {describe_queries(own)}" for name, own in queries.items() if own), effect])
                if any(queries.values())
                else "",
                is_note=True,
            )
            for key, queries, effect in (
                (
                    "missing_queries",
                    found.missing_queries,
                    f"of {found.n_queries:,} in the qrels, counted as empty rankings",
                ),
                ("unjudged_queries", found.unjudged_queries, "left out, not in the qrels"),
            )
        ),
    )
    of = " of the queries in the qrels" if any(found.unjudged_queries.values()) else ""
    heading = f"Nothing to judge up to rank {found.depth:,}: all documents{of} have labels"
    return Report((table,), facts, heading="Documents to judge first" if rows else heading)
