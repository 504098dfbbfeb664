"""Two evaluations of one system, before and after a change: queries that fell and rose, judgments that changed."""

import polars as pl

from deadheat.comparison.comparison import Comparison
from deadheat.errors import counted
from deadheat.report.model import QUERY, Column, Span, Table, count_cell, tabulate

MOST = 10  # queries that fell, and that rose
MOST_JUDGMENTS = 20
KINDS = {"worst": "fell", "best": "rose"}


def before_and_after(comparison: Comparison, texts: dict[str, str]) -> tuple[Table, ...]:
    """Return the queries that fell and rose most by the first measure, and the judgments that changed.

    Parameters
    ----------
    comparison : Comparison
        Of two, of which the baseline is before.
    texts : dict of str to str
        Of queries, where there are any.
    """
    measure, higher = comparison.measures[0], comparison.measures[0].higher_is_better
    rows = comparison.queries(MOST).filter(pl.col("measure") == measure.label, pl.col("kind").is_in(list(KINDS)))
    (system, baseline) = comparison.pairs[0].system, comparison.pairs[0].baseline
    kind = Column("kind", "", lambda row: KINDS[row["kind"]] + " (less is better)" * (not higher))
    columns = (
        Column("difference", "difference"),
        Column("baseline_value", baseline),
        Column("value", system),
        Column("ties", "over tie orders", lambda row: Span(row["tie_min"], row["tie_max"])),
        *([Column("text", "text", lambda row: texts.get(row["query_id"], ""))] if texts else []),
    )
    moved = rows.sort(pl.col("kind") == "best", maintain_order=True).to_dicts()
    title = f"{measure.label}: what fell and rose, {system} - {baseline}"
    pair = next(one for one in comparison.pairs if one.measure == measure.label)
    if max(pair.wins, pair.losses) > MOST:
        title += f"; the first {MOST} of {counted(pair.losses, 'loss', 'losses')} and of {counted(pair.wins, 'win')}"
    tables = [tabulate("moved", (kind, QUERY), columns, moved, title=title, has_blocks=True)] if moved else []
    for name, found in ({} if comparison.together is None else comparison.together.changes).items():
        documents = found.documents.sort("query_id", "doc_id")
        shown = documents.head(MOST_JUDGMENTS).to_dicts()
        grades = [Column(key, key, lambda row, key=key: count_cell(row[key])) for key in ("old", "new")]
        n = counted(documents.height, "judgment")
        title = f"Judgments that changed since {name}: {n}" + ", the first" * (len(shown) < documents.height)
        tables.append(tabulate("judgments", (QUERY, Column("doc_id", "document")), grades, shown, title=title))
    return tuple(tables)
