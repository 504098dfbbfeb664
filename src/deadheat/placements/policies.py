"""Tie policies: each turns placements into placements, and no measure knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from deadheat.errors import RowOrderError

if TYPE_CHECKING:
    from deadheat.arrays import FloatArray, IntArray
    from deadheat.data.tables import Qrels, Run
    from deadheat.placements.placements import Placements

POLICIES = ("expected", "best", "worst", "doc_id", "input", "random")
LOOK_AT_RUN = ("doc_id", "input")


def arrange(placements: Placements, key: FloatArray, *, best: bool) -> Placements:
    """Break every tie in favour of the documents with a high `key`, or against them.

    Parameters
    ----------
    placements : Placements
    key : ndarray of shape (n_rows,)
        The judged documents are put in its order; unjudged ones stand after them (`best`) or before them.
    best : bool

    Returns
    -------
    Placements
        Without ties among judged documents.
    """
    order = np.lexsort((-key if best else key, placements.above, placements.query))
    starts = placements.tie_starts
    sizes = np.diff(np.append(starts, len(order)))
    place = np.arange(len(order)) - np.repeat(starts, sizes)
    first = placements.above[order]
    if not best:
        first = first + placements.tied[order] - np.repeat(sizes, sizes)
    above = np.empty_like(placements.above)
    above[order] = first + place
    return placements.moved(above, np.ones_like(above))


def best(placements: Placements) -> Placements:
    """Put the judged documents first in their tie, highest relevance first."""
    return placements.cached("best", lambda: arrange(placements, placements.relevance, best=True))


def worst(placements: Placements) -> Placements:
    """Put the judged documents last in their tie, lowest relevance first."""
    return placements.cached("worst", lambda: arrange(placements, placements.relevance, best=False))


def draw(placements: Placements, rng: np.random.Generator | None) -> Placements:
    """Draw one order of every tie, each with the same probability.

    Parameters
    ----------
    placements : Placements
    rng : numpy.random.Generator, optional
        The same state gives the same order.
    """
    generator = np.random.default_rng(rng)
    starts = placements.tie_starts
    sizes = np.diff(np.append(starts, len(placements.query)))
    tied = placements.tied[starts]
    group = np.repeat(np.arange(len(starts)), tied)
    order = np.lexsort((generator.random(len(group)), group))
    begin = np.cumsum(tied) - tied
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(begin, tied)
    within = np.arange(len(placements.query)) - np.repeat(starts, sizes)
    above = placements.above + rank[np.repeat(begin, sizes) + within]
    return placements.moved(above, np.ones_like(above))


def check_row_order(run: Run, ties: str) -> None:
    """Raise `RowOrderError` if a policy asks for the order of the rows, and their engine has none."""
    if ties == "input" and not run.is_polars:
        raise RowOrderError(
            f"ties='input' needs rows in an order, and {run.where} has none",
            hint="use a file, a dict or an eager frame",
        )


def by_rule(placements: Placements, qrels: Qrels, run: Run, rule: str) -> Placements:
    """Break ties by document id (descending, by UTF-8 bytes, as trec_eval does) or by the order of the input.

    Parameters
    ----------
    placements : Placements
    qrels, run : Qrels, Run
        What the placements are of; the run's scores already rounded if they were for the placements.
    rule : {"doc_id", "input"}
    """
    tied = np.flatnonzero(placements.tied > 1)
    above = placements.above.copy()
    if len(tied):
        above[tied] += _documents_first(placements, qrels, run, rule, tied)
    return placements.moved(above, np.ones_like(above))


def _documents_first(placements: Placements, qrels: Qrels, run: Run, rule: str, rows: IntArray) -> IntArray:
    """Count, for each of `rows`, the documents of its tie that the rule puts before it."""
    import narwhals as nw

    from deadheat.placements import relational

    judged, retrieved = relational.same_engine(qrels, run)
    if rule == "input":
        retrieved = nw.from_native(retrieved.to_native().with_row_index("row"))
    tie, by_id = ["query_id", "score"], rule == "doc_id"
    tied = relational.rows_tied_with_judged(judged, retrieved)
    tied = tied.sort(*tie, "doc_id" if by_id else "row", descending=by_id)
    tied = tied.with_columns(first=pl.int_range(pl.len(), dtype=pl.Int64).over(tie))
    query_ids, doc_ids = placements.query_ids[placements.query[rows]], placements.doc_ids[rows]
    wanted = pl.DataFrame({"query_id": query_ids.tolist(), "doc_id": doc_ids.tolist()})
    return wanted.join(tied, on=["query_id", "doc_id"], how="left", maintain_order="left")["first"].to_numpy()


def apply(placements: Placements, ties: str, rng: np.random.Generator | None) -> Placements:
    """Apply a policy that needs the placements alone."""
    if ties == "best":
        return best(placements)
    if ties == "worst":
        return worst(placements)
    return draw(placements, rng) if ties == "random" else placements
