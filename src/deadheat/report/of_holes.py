"""The report of holes: which unjudged documents to judge first."""

from deadheat.comparison.holes import Holes
from deadheat.errors import counted
from deadheat.report.conventions import named
from deadheat.report.model import QUERY, Column, Fact, Report, format_cell, shows, tabulate

MOST = 20  # documents that people are shown
MEANT = {
    "range": "what a judgment takes off the range of the mean, over both answers and all runs",
    "decision": "how far the two answers are apart in the difference of two runs, over all pairs",
}


@shows(Holes)
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
    lacking = "; ".join(f"{name} {named(own)}" for name, own in found.missing_queries.items() if own)
    facts = (
        Fact("measure", found.measure.label, "measure", found.measure.label),
        Fact("by", found.by, "weight", MEANT[found.by]),
        Fact("ranges", ranges, "if judged", f"the mean may be: {told}"),
        Fact("depth", found.depth),
        Fact(
            "n_unjudged",
            found.n_unjudged,
            "unjudged",
            f"{counted(found.n_unjudged, 'document')} up to rank {found.depth:,}{shown}{below}",
        ),
        Fact("n_below", found.n_below),
        Fact("n_queries", found.n_queries),
        Fact(
            "missing_queries",
            {name: list(own) for name, own in found.missing_queries.items()},
            "missing queries",
            f"of {found.n_queries:,} in the qrels: {lacking}; counted as empty rankings" if lacking else "",
            is_note=True,
        ),
    )
    return Report((table,), facts, heading="Documents to judge first")
