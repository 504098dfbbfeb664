"""What qrels or a run hold, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class TableFacts:
    """Facts about qrels or a run.

    Attributes
    ----------
    n_queries, n_rows, n_documents : int
        Queries, (query, document) pairs, and different documents.
    fewest, most : int
        Documents of a query.
    lowest, highest : float
        Relevance or score.
    n_tied_queries : int
        Queries in which two documents have the same number.
    notes : tuple of str
        What was assumed or skipped to read them.
    """

    n_queries: int
    n_rows: int
    n_documents: int
    fewest: int
    most: int
    lowest: float
    highest: float
    n_tied_queries: int
    notes: tuple[str, ...] = ()


def facts_of_rows(rows: pl.DataFrame, notes: tuple[str, ...]) -> TableFacts:
    """Count the rows of a table: query_id, doc_id and a number."""
    value = rows.columns[2]
    of_query = rows.group_by("query_id").agg(pl.len().alias("n"), pl.col(value).n_unique().alias("n_values"))
    sizes = of_query["n"]
    low, high = rows.select(low=pl.col(value).min(), high=pl.col(value).max()).row(0)
    return TableFacts(
        n_queries=of_query.height,
        n_rows=rows.height,
        n_documents=rows["doc_id"].n_unique(),
        fewest=int(sizes.min()),  # type: ignore[arg-type]  # of whole numbers
        most=int(sizes.max()),  # type: ignore[arg-type]
        lowest=low,
        highest=high,
        n_tied_queries=of_query.filter(pl.col("n_values") < pl.col("n")).height,
        notes=notes,
    )
