"""Facts about qrels or a run: how many rows, queries and ties there are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadheat.core.libraries import polars as pl


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


def count_facts(rows: pl.DataFrame, bare: tuple[str, ...], notes: tuple[str, ...]) -> TableFacts:
    """Return how many rows, queries and ties a table has.

    Parameters
    ----------
    rows : polars.DataFrame
        query_id, doc_id, and relevance or score.
    bare : tuple of str
        The queries that were given without a document.
    notes : tuple of str
    """
    value_column = rows.columns[2]
    queries = rows.group_by("query_id").agg(n=pl.len(), n_values=pl.col(value_column).n_unique())
    sizes = queries["n"].to_list() + [0] * len(bare)
    values = rows[value_column].to_numpy()
    lowest = highest = np.nan
    if len(values):
        lowest = float(values.min())
        highest = float(values.max())
    return TableFacts(
        n_queries=len(sizes),
        n_rows=rows.height,
        n_documents=rows["doc_id"].n_unique(),
        fewest=min(sizes),
        most=max(sizes),
        lowest=lowest,
        highest=highest,
        n_tied_queries=queries.filter(pl.col("n_values") < pl.col("n")).height,
        notes=notes,
    )
