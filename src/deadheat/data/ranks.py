"""Ranks beside scores: whether they contradict each other, looked for in the first queries of a run."""

import warnings
from collections.abc import Collection
from itertools import islice, pairwise
from typing import Any

import numpy as np
import polars as pl

from deadheat.errors import DeadheatWarning, counted
from deadheat.io.formats.base import ROWS
from deadheat.io.mappings import Nested

QUERIES = 1000  # of a run, that are looked at
ADVICE = "Higher scores rank first; ascending=True (--ascending) puts lower ones first"
FEWEST = 3  # documents of a query, or queries, from which an order says something
ENOUGH = 10  # documents in all, that count by chance no more


def warn_of_ranks(head: pl.DataFrame, where: str, *, ascending: bool) -> None:
    """Warn the user if ranks and scores of most queries contradict each other.

    Parameters
    ----------
    head : polars.DataFrame
        query_id, rank and score of the first rows; of as many queries as they have, up to 1,000.
    where : str
        Where the run comes from.
    ascending : bool
        Whether the user said that lower scores rank first.
    """
    if not ascending and _are_in_order(head):
        return  # mostly so, and this look is the faster one
    rows = head.drop_nulls().filter(pl.all_horizontal(pl.col("rank", "score").is_finite()))
    best_first = pl.col("score").sort_by("rank") * (-1 if ascending else 1)
    of_query = rows.group_by("query_id", maintain_order=True).agg(
        n=pl.len(),
        n_ranks=pl.col("rank").n_unique(),
        n_scores=pl.col("score").n_unique(),
        rises=(best_first.diff() > 0).sum(),
        falls=(best_first.diff() < 0).sum(),
    )
    looked = of_query.head(QUERIES).filter((pl.col("n") >= FEWEST) & (pl.col("n_ranks") == pl.col("n")))
    looked = looked.filter(pl.col("n_scores") > 1)
    queries = f"of {counted(looked.height, 'query', 'queries')} at its start"
    contrary = looked.filter(pl.col("rises") > 2 * pl.col("falls")).height
    differing = looked.filter(pl.col("rises") > 0).height
    if 2 * contrary > looked.height:
        if ascending:
            _warn(
                f"{where}: scores fall with the rank in {contrary:,} {queries}, and ascending puts the lowest first.",
                "",
            )
        else:
            _warn(f"{where}: scores rise with the rank in {contrary:,} {queries}: distances, or ranks?")
    elif 2 * differing > looked.height:
        _warn(f"{where}: ranks and scores disagree in {differing:,} {queries}: the scores count, not the ranks.", "")


def _are_in_order(head: pl.DataFrame) -> bool:
    """Tell whether ranks rise and scores fall from each row to the next one of its query."""
    rank, score = head["rank"].to_numpy(), head["score"].to_numpy()  # null is NaN
    others = np.flatnonzero(~((rank[1:] > rank[:-1]) & (score[1:] <= score[:-1])))
    ids = head["query_id"].gather(np.append(others, others + 1))
    return bool((ids[: len(others)] != ids[len(others) :]).all())


def warn_of_order(rows: pl.DataFrame | Nested, where: str) -> None:
    """Warn the user if the scores of the first queries count 1, 2, 3, ... or rise in the order of the rows.

    Dicts have their order by chance: rows alone are looked at for scores that rise.
    """
    if isinstance(rows, pl.DataFrame):
        head = rows.head(ROWS).group_by("query_id", maintain_order=True).agg("score").head(QUERIES)
        of_queries: list[Collection[float]] = head["score"].to_list()
    else:
        of_queries = [documents.values() for documents in islice(rows.values(), QUERIES)]
    some = [scores for scores in of_queries if len(scores) >= FEWEST]
    if sum(map(len, some)) < ENOUGH:
        return
    if all(list(scores) == list(range(1, len(scores) + 1)) for scores in some):  # mostly ends at the first
        _warn(f"{where}: the scores of each query are 1, 2, 3, ... in the order of the rows: are they ranks?")
    elif isinstance(rows, pl.DataFrame) and len(some) >= FEWEST and all(map(_rises, some)):
        _warn(f"{where}: the scores of all queries at its start rise from row to row: are they distances?")


def _rises(scores: Collection[Any]) -> bool:
    """Tell whether numbers rise strictly; what is no number is refused later."""
    try:
        return all(one < other for one, other in pairwise(scores))
    except TypeError:
        return False


def _warn(problem: str, advice: str = ADVICE) -> None:
    warnings.warn(f"{problem} {advice}".strip(), DeadheatWarning, stacklevel=6)
