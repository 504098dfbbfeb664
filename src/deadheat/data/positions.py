"""Where each document of a run is: how many are above it, and how many share its score."""

from __future__ import annotations

import polars as pl

from deadheat.data.tables import Run
from deadheat.io.forking import check_threads


def positions(run: Run) -> pl.DataFrame:
    """Return query_id, doc_id, above and tied of all documents.

    Parameters
    ----------
    run : Run

    Examples
    --------
    >>> positions(Run({"q": {"a": 2, "b": 1, "c": 1}})).sort("doc_id").rows()
    [('q', 'a', 0, 1), ('q', 'b', 1, 2), ('q', 'c', 1, 2)]
    """
    check_threads()
    score = pl.col("score").cast(pl.Float64) + 0.0  # -0.0 is 0.0
    return run.to_polars().select(
        "query_id",
        "doc_id",
        above=score.rank("min", descending=True).over("query_id").cast(pl.Int64) - 1,
        tied=pl.len().over("query_id", score).cast(pl.Int64),
    )
