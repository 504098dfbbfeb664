"""The tie profile: how many documents of a run share their score, where that matters, and what it decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from deadheat.data import Run
from deadheat.errors import ParameterError
from deadheat.evaluation import evaluate
from deadheat.precision import round_scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from deadheat.data import Source
    from deadheat.evaluation import Scores
    from deadheat.measures import Measure
    from deadheat.measures._notation import MeasureLike

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

CUTOFFS = (1, 3, 5, 10, 20, 50, 100)
FEW_LEVELS = 20  # a scale that a person or a language model grades on has fewer
GRIDS = {"bfloat16": 2.0**-7, "float16": 2.0**-10, "float32": 2.0**-23}  # steps relative to the score, coarsest first
MAX_DECIMALS = 15
N_WORST = 5
SAMPLE = 10_000  # scores that settle most questions about all of them


@dataclass(frozen=True)
class Spread:
    """Smallest, middle and largest of some counts."""

    min: int
    median: float
    max: int


@dataclass(frozen=True)
class Cut:
    """What a cutoff does to ties.

    Attributes
    ----------
    cutoff : int
    n_queries : int
        Queries with a tie that the cutoff cuts: some of its documents are above, some below.
    share : float
        Of all queries of the run.
    """

    cutoff: int
    n_queries: int
    share: float


@dataclass(frozen=True)
class LargestTie:
    """The tie with the most documents (the first such)."""

    query_id: str
    score: float
    n_documents: int


@dataclass(frozen=True)
class Decided:
    """How much of a measure is decided by the order of ties.

    Attributes
    ----------
    measure : Measure
    mean, tie_std, tie_min, tie_max : float
        As in `Scores`: of the mean over queries.
    n_queries : int
        Queries whose value depends on the order.
    share_of_queries : float
    share_of_error : float
        If ties were broken at random: the part of the squared standard error of the mean that would be due to it.
    worst : tuple of WorstQuery
        The queries with the widest range, widest first.
    """

    measure: Measure
    mean: float
    tie_std: float
    tie_min: float
    tie_max: float
    n_queries: int
    share_of_queries: float
    share_of_error: float
    worst: tuple[WorstQuery, ...]


@dataclass(frozen=True)
class WorstQuery:
    """A query and the range of its value over tie orders."""

    query_id: str
    mean: float
    tie_std: float
    tie_min: float
    tie_max: float


@dataclass(frozen=True)
class TieProfile:
    """What is known about the ties of a run.

    Attributes
    ----------
    name : str
        Label of the run.
    n_queries, n_documents : int
        Queries, and rows, of the run.
    n_queries_with_ties : int
    n_ties : int
        Groups of two or more documents with the same score.
    n_tied : int
        Documents in them.
    tie_size : Spread or None
        Documents a tie; None without ties.
    largest : LargestTie or None
    distinct_scores : Spread
        Distinct scores a query.
    cuts : tuple of Cut
    n_levels : int
        Distinct scores in the whole run.
    levels : tuple of (float, int)
        Each score with its documents, highest first, if there are few.
    decimals : int or None
        The decimals that suffice to write every score; None if 15 do not.
    grid : {"bfloat16", "float16", "float32"} or None
        The coarsest floating-point format that holds every score, or held it before it was written with `decimals`.
    decided : tuple of Decided
        By measure; empty without qrels.
    """

    name: str
    n_queries: int
    n_documents: int
    n_queries_with_ties: int
    n_ties: int
    n_tied: int
    tie_size: Spread | None
    largest: LargestTie | None
    distinct_scores: Spread
    cuts: tuple[Cut, ...]
    n_levels: int
    levels: tuple[tuple[float, int], ...]
    decimals: int | None
    grid: str | None
    decided: tuple[Decided, ...] = ()

    @property
    def share_tied(self) -> float:
        """Share of the documents that are in a tie."""
        return self.n_tied / self.n_documents


@dataclass(frozen=True)
class Groups:
    """Documents with the same score in the same query, sorted by query and score (highest first).

    Attributes
    ----------
    query, above, size : ndarray of int, shape (n_groups,)
        Query code, documents with a higher score, documents.
    score : ndarray of float, shape (n_groups,)
    names : ndarray of str, shape (n_queries,)
        The query of each code.
    """

    query: IntArray
    above: IntArray
    size: IntArray
    score: FloatArray
    names: pl.Series

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.names)


def tie_profile(
    run: Source,
    qrels: Source | None = None,
    at: Sequence[int] = CUTOFFS,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    check_duplicates: bool = True,
) -> TieProfile:
    """Describe the ties of a run and, with qrels, what they decide.

    Parameters
    ----------
    run : path, dict of dict, dataframe or Run
    qrels : path, dict of dict, dataframe or Qrels, optional
    at : sequence of int, default (1, 3, 5, 10, 20, 50, 100)
        Cutoffs to look at.
    measures : measure or iterable of measures, optional
        As for `evaluate`; only with qrels.
    check_duplicates : bool, default True
        Whether to look for (query, document) pairs that stand twice.

    Returns
    -------
    TieProfile

    Raises
    ------
    DataError
        The data cannot be evaluated; the message names the place.
    ParameterError
        A cutoff is not a whole number from 1 on, or measures are given without qrels.

    Examples
    --------
    >>> profile = tie_profile({"q1": {"a": 2, "b": 1, "c": 1}, "q2": {"a": 3, "b": 1}}, at=[1, 2])
    >>> profile.cuts
    (Cut(cutoff=1, n_queries=0, share=0.0), Cut(cutoff=2, n_queries=1, share=0.5))
    >>> profile.levels
    ((3.0, 1), (2.0, 1), (1.0, 3))
    """
    for cutoff in at:
        if cutoff not in range(1, 2**63):
            msg = f"at holds whole numbers from 1 on, got {cutoff!r}"
            raise ParameterError(msg)
    if measures is not None and qrels is None:
        msg = "measures need qrels, got None"
        raise ParameterError(msg)
    run = Run.of(run)
    if check_duplicates:
        run.check_duplicates()
    groups = group_scores(run.to_polars())
    decided = () if qrels is None else _decided(qrels, run, measures)
    return _describe(run.name, groups, at, decided)


def group_scores(frame: pl.DataFrame) -> Groups:
    """Group the rows of a run by query and score, without sorting where they are sorted already.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns query_id and score.
    """
    block, first = _blocks(frame["query_id"])
    names, scores = frame["query_id"].gather(first.tolist()), frame["score"].to_numpy()
    rises = scores[1:] > scores[:-1]
    rises[first[1:] - 1] = False  # from one query to the next it may
    if rises.any() or names.n_unique() < len(names):
        frame = frame.select("query_id", "score").sort("query_id", "score", descending=[False, True])
        block, first = _blocks(frame["query_id"])
        names, scores = frame["query_id"].gather(first.tolist()), frame["score"].to_numpy()
    new = np.ones(len(scores), np.bool_)
    new[1:] = scores[1:] != scores[:-1]
    new[first] = True
    start = np.flatnonzero(new)
    query = block[start]
    return Groups(query, start - first[query], np.diff(np.append(start, len(scores))), scores[start], names)


def _blocks(query_ids: pl.Series) -> tuple[IntArray, IntArray]:
    """Return the number of the stretch of equal ids that each row is in, and the first row of each stretch."""
    block = query_ids.rle_id().to_numpy().astype(np.int64)
    return block, np.flatnonzero(np.append(True, block[1:] != block[:-1]))


def _describe(name: str, groups: Groups, at: Sequence[int], decided: tuple[Decided, ...]) -> TieProfile:
    tied = np.flatnonzero(groups.size > 1)
    query, above, size = groups.query[tied], groups.above[tied], groups.size[tied]
    largest = None
    if len(tied):
        place = tied[size.argmax()]
        largest = LargestTie(groups.names[int(groups.query[place])], float(groups.score[place]), int(size.max()))
    n_levels, levels = _levels(groups)
    decimals = next((n for n in range(MAX_DECIMALS + 1) if _is_kept(groups.score, n)), None)
    return TieProfile(
        name=name,
        n_queries=groups.n_queries,
        n_documents=int(groups.size.sum()),
        n_queries_with_ties=len(np.unique(query)),
        n_ties=len(tied),
        n_tied=int(size.sum()),
        tie_size=_spread(size) if len(tied) else None,
        largest=largest,
        distinct_scores=_spread(np.bincount(groups.query, minlength=groups.n_queries)),
        cuts=tuple(_cut(int(cutoff), above, size, groups.n_queries) for cutoff in at),
        n_levels=n_levels,
        levels=levels,
        decimals=decimals,
        grid=next((grid for grid in GRIDS if _is_on_grid(groups.score, grid, decimals)), None),
        decided=decided,
    )


def _cut(cutoff: int, above: IntArray, size: IntArray, n_queries: int) -> Cut:
    """Count the queries with a tie that begins above a cutoff and ends below it; a query has at most one."""
    n = int(((above < cutoff) & (above + size > cutoff)).sum())
    return Cut(cutoff, n, n / n_queries)


def _spread(counts: IntArray) -> Spread:
    return Spread(int(counts.min()), float(np.median(counts)), int(counts.max()))


def _levels(groups: Groups) -> tuple[int, tuple[tuple[float, int], ...]]:
    """Return the number of distinct scores, and each with its documents if there are few."""
    import polars as pl

    frame = pl.DataFrame({"score": groups.score, "size": groups.size})
    n_levels = frame["score"].n_unique()
    if n_levels > FEW_LEVELS:
        return n_levels, ()
    counts = frame.group_by("score").agg(pl.col("size").sum()).sort("score", descending=True)
    return n_levels, tuple(cast("list[tuple[float, int]]", counts.rows()))


def _is_kept(scores: FloatArray, *precisions: str | int) -> bool:
    """Tell whether rounding, once or several times over, leaves every score; a few mostly tell that it does not."""
    for part in (scores[:SAMPLE], scores[SAMPLE:]):
        rounded = part
        for precision in precisions:
            rounded = round_scores(rounded, precision)
        if not np.array_equal(rounded, part):
            return False
    return True


def _is_on_grid(scores: FloatArray, grid: str, decimals: int | None) -> bool:
    """Tell whether a format holds every score, as it is or as it was before it was written with so many decimals."""
    if _is_kept(scores, grid):
        return True
    if decimals is None:
        return False
    # decimals that are coarser than the grid say nothing about it
    step = float(np.median(np.abs(scores))) * GRIDS[grid]
    return step > 2 * 10.0**-decimals and _is_kept(scores, grid, decimals)


def _decided(qrels: Source, run: Run, measures: MeasureLike | Iterable[MeasureLike] | None) -> tuple[Decided, ...]:
    evaluation = evaluate(qrels, run, measures, check_duplicates=False)
    return tuple(_of_measure(scores) for scores in evaluation)


def _of_measure(scores: Scores) -> Decided:
    span = scores.tie_max - scores.tie_min
    n_decided = int((span > 1e-12).sum())  # a smaller one is what floating point leaves of no difference
    n_queries = scores.n_queries
    of_ties = scores.mean_tie_std**2
    of_queries = scores.std**2 / n_queries if n_queries > 1 else 0.0
    widest = [place for place in np.argsort(-span, kind="stable").tolist() if span[place] > 1e-12][:N_WORST]
    return Decided(
        scores.measure,
        scores.mean,
        scores.mean_tie_std,
        scores.mean_tie_min,
        scores.mean_tie_max,
        n_decided,
        n_decided / n_queries if n_queries else float("nan"),
        of_ties / (of_ties + of_queries) if of_ties > 0 else 0.0,
        tuple(_worst_query(scores, place) for place in widest),
    )


def _worst_query(scores: Scores, place: int) -> WorstQuery:
    columns = (scores.values, scores.tie_std, scores.tie_min, scores.tie_max)
    value, tie_std, tie_min, tie_max = (float(column[place]) for column in columns)
    return WorstQuery(str(scores.query_ids[place]), value, tie_std, tie_min, tie_max)
