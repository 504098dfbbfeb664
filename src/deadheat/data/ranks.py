"""Ranks beside scores: whether they contradict each other, looked for in the first queries of a run."""

from __future__ import annotations

import warnings
from itertools import islice

import polars as pl

from deadheat.errors import RankOrderWarning
from deadheat.io.formats.base import ROWS
from deadheat.io.mappings import Nested
from deadheat.wording import counted

QUERIES = 1000  # of a run, that are looked at
FEWEST = 3  # documents of a query, from which an order says something
ENOUGH = 10  # documents in all, that count by chance no more


def warn_of_ranks(head: pl.DataFrame, where: str) -> None:
    """Warn the user if the scores of most queries rise with the rank.

    Parameters
    ----------
    head : polars.DataFrame
        query_id, rank and score of the first rows; of as many queries as they have, up to 1,000.
    where : str
        Where the run comes from.
    """
    if head.is_empty():
        return
    of_query = head.group_by("query_id", maintain_order=True).agg(
        pl.len().alias("n"), pl.corr("rank", "score").alias("agreement")
    )
    looked = of_query.head(QUERIES).filter((pl.col("n") >= FEWEST) & pl.col("agreement").is_finite())
    contrary = looked.filter(pl.col("agreement") > 0.5).height
    if 2 * contrary > looked.height:
        _warn(
            f"{where}: scores rise with the rank in {contrary:,} of {counted(looked.height, 'query', 'queries')} at its"
            " start: distances, or ranks?"
        )


def warn_of_counting(rows: pl.DataFrame | Nested, where: str) -> None:
    """Warn the user if the scores of each of the first queries count 1, 2, 3, ... in the order of the rows."""
    if isinstance(rows, pl.DataFrame):
        head = rows.head(ROWS).group_by("query_id", maintain_order=True).agg("score").head(QUERIES)
        lists = [scores for scores in head["score"].to_list() if len(scores) >= FEWEST]
    else:
        few = islice(rows.values(), QUERIES)
        lists = [list(documents.values()) for documents in few if len(documents) >= FEWEST]
    if sum(map(len, lists)) >= ENOUGH and all(scores == list(range(1, len(scores) + 1)) for scores in lists):
        _warn(f"{where}: the scores of each query are 1, 2, 3, ... in the order of the rows: are they ranks?")


def _warn(problem: str) -> None:
    advice = "Higher scores rank first; ascending=True (--ascending) puts lower ones first"
    warnings.warn(f"{problem} {advice}", RankOrderWarning, stacklevel=6)
