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


def facts_of(rows: pl.DataFrame, bare: tuple[str, ...], notes: tuple[str, ...]) -> TableFacts:
    """Return the facts about the rows of a table.

    Parameters
    ----------
    rows : polars.DataFrame
        query_id, doc_id, and relevance or score.
    bare : tuple of str
        The queries that were given without a document.
    notes : tuple of str
    """
    value = rows.columns[2]
    of_query = rows.group_by("query_id").agg(pl.len().alias("n"), pl.col(value).n_unique().alias("n_values"))
    sizes = [*of_query["n"], *([0] * len(bare))]
    numbers = rows[value].to_numpy()
    return TableFacts(
        n_queries=len(sizes),
        n_rows=rows.height,
        n_documents=rows["doc_id"].n_unique(),
        fewest=min(sizes),
        most=max(sizes),
        lowest=float(numbers.min()) if len(numbers) else np.nan,
        highest=float(numbers.max()) if len(numbers) else np.nan,
        n_tied_queries=of_query.filter(pl.col("n_values") < pl.col("n")).height,
        notes=notes,
    )
