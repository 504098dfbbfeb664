"""Methods that learn from judged queries how much the ranks of each run are worth.

All count where relevant documents are, over the orders of equal scores: of a tie each rank has its share of them. Then
they sum over runs a function of the rank (of segfuse also of the score), as the methods of `of_ranks` do; a run that
lacks a document adds 0, of bayesfuse what is said there.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.checks import as_count
from deadheat.core.measures import AP
from deadheat.plugins.fusion.base import Method, add_up, merge_rounding, parameter, register
from deadheat.plugins.fusion.judged import Hits, JudgedPool
from deadheat.plugins.fusion.pool import Pool, RankedRun

LILLIS_2010 = "Lillis et al., SIGIR 2010, doi:10.1145/1835449.1835508"
BAYES_BOUNDS = np.array([0, 5, 10, 15, 20, 30, 100, 200, 500, 1000])
LEAST = 0.001  # of a probability whose odds are taken: ranx's
SEGMENT_BOUNDS = np.array([0, *(10 * 2**k - 5 for k in range(10))])


@dataclass(frozen=True)
class LearnedMethod(Method):
    """The base of methods that learn.

    Attributes
    ----------
    learned : tuple of ndarray, or None
        What was learned of each run; None before `fit`.
    """

    uses_scores: ClassVar[bool] = False
    uses_ranks: ClassVar[bool] = True

    learned: tuple[FloatArray, ...] | None = field(default=None, repr=False, compare=False)

    @property
    def is_fitted(self) -> bool:
        """Whether it has learned."""
        return self.learned is not None

    def fit(self, judged: JudgedPool) -> Self:
        """Return the method as it learned of each run."""
        return replace(self, learned=tuple(self.learn(run, judged) for run in judged.pool.runs))

    @property
    def of_runs(self) -> tuple[FloatArray, ...]:
        """What was learned of each run."""
        if self.learned is None:
            raise RuntimeError(f"{self.name} has not learned yet")
        return self.learned

    @abstractmethod
    def learn(self, run: RankedRun, judged: JudgedPool) -> FloatArray:
        """Return what judgments say of one run."""

    @abstractmethod
    def value(self, run: RankedRun, learned: FloatArray) -> FloatArray:
        """Return what a run adds to the score of each of its rows."""

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        values = [self.value(run, learned) for run, learned in zip(pool.runs, self.of_runs, strict=True)]
        return merge_rounding(add_up(pool.matrix(values)))


@register
@dataclass(frozen=True)
class MapFuse(LearnedMethod):
    """The average precision of each run on the judged queries, over the rank."""

    name: ClassVar[str] = "mapfuse"
    formula: ClassVar[str] = "Σ AP_i / r_i"
    source: ClassVar[str] = LILLIS_2010

    def learn(self, run: RankedRun, judged: JudgedPool) -> FloatArray:
        """Return what judgments say of one run."""
        values = AP(rel=judged.rel).mean(judged.place_run(run))
        return np.array([values.mean() if len(values) else 0.0])

    def value(self, run: RankedRun, learned: FloatArray) -> FloatArray:
        """Return what a run adds to the score of each of its rows."""
        return run.mean_over_ranks(learned[0] / np.arange(1.0, run.depth + 1))


@register
@dataclass(frozen=True)
class BayesFuse(LearnedMethod):
    """The log odds of relevance of the ranks 1 to 5, 6 to 10, 11 to 15, to 20, 30, 100, 200, 500 and 1,000.

    A run that lacks a document, or has it below rank 1,000, adds ln(.001 / .999), as ranx has it; a run without the
    query adds 0. Of a share of 0 or 1 the odds are those of .001 and .999.
    """

    name: ClassVar[str] = "bayesfuse"
    formula: ClassVar[str] = "Σ ln(P_i(r_i) / (1 - P_i(r_i)))"
    source: ClassVar[str] = "Aslam and Montague, SIGIR 2001, doi:10.1145/383952.384007"

    def learn(self, run: RankedRun, judged: JudgedPool) -> FloatArray:
        """Return what judgments say of one run."""
        hits = judged.hits_of(run)
        share = _share_of_segments(hits, BAYES_BOUNDS)
        share = np.where(share == 0, LEAST, share)
        others = np.where(share == 1, LEAST, 1 - share)
        return np.log(share / others)

    def value(self, run: RankedRun, learned: FloatArray) -> FloatArray:
        """Return what a run adds to the score of each of its rows."""
        values = np.full(run.depth, self._of_missing)
        of_ranks = np.repeat(learned, np.diff(BAYES_BOUNDS))[: run.depth]
        values[: len(of_ranks)] = of_ranks
        return run.mean_over_ranks(values)

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        columns = []
        for run, learned in zip(pool.runs, self.of_runs, strict=True):
            column = np.where((run.n_documents > 0)[pool.query], self._of_missing, 0.0)
            column[run.place] = self.value(run, learned)
            columns.append(column)
        return merge_rounding(add_up(np.stack(columns)))

    @property
    def _of_missing(self) -> float:
        return float(np.log(LEAST / (1 - LEAST)))


@register
@dataclass(frozen=True)
class PosFuse(LearnedMethod):
    """The share of relevant documents at the rank; 0 at ranks that no judged list has."""

    name: ClassVar[str] = "posfuse"
    formula: ClassVar[str] = "Σ P_i(r_i)"
    source: ClassVar[str] = LILLIS_2010

    def learn(self, run: RankedRun, judged: JudgedPool) -> FloatArray:
        """Return what judgments say of one run."""
        return _share_of_ranks(judged.hits_of(run))

    def value(self, run: RankedRun, learned: FloatArray) -> FloatArray:
        """Return what a run adds to the score of each of its rows."""
        return run.mean_over_ranks(_of_length(learned, run.depth))


@register
@dataclass(frozen=True)
class ProbFuse(LearnedMethod):
    """The share of relevant documents in the segment of the list, over the number of the segment.

    Each list is cut into segments of the same size, the last ones perhaps shorter or empty.
    """

    name: ClassVar[str] = "probfuse"
    formula: ClassVar[str] = "Σ P_i(k_i) / k_i, k: the segment"
    source: ClassVar[str] = "Lillis, Toolan, Collier and Dunnion, SIGIR 2006, doi:10.1145/1148170.1148197"

    n_segments: int = parameter(25, as_count, "Segments of a list.", (2, 5, 10, 25, 50, 100))

    def learn(self, run: RankedRun, judged: JudgedPool) -> FloatArray:
        """Return what judgments say of one run."""
        hits = judged.hits_of(run)
        length = run.n_documents[hits.query]
        size = self._size_of(length)
        segment = hits.rank // size
        own_size = np.minimum(size, length - segment * size)
        sums = np.bincount(segment, hits.probability / own_size, self.n_segments)
        return sums / max(1, len(hits.lengths))

    def value(self, run: RankedRun, learned: FloatArray) -> FloatArray:
        """Return what a run adds to the score of each of its rows."""
        query, rank = _ranks_of_lists(run)
        segment = rank // self._size_of(run.n_documents[query])
        return _mean_over_places(run, learned[segment] / (segment + 1))

    def _size_of(self, length: IntArray) -> IntArray:
        return np.maximum(-(-length // self.n_segments), 1)


@register
@dataclass(frozen=True)
class SegFuse(LearnedMethod):
    """The share of relevant documents in a segment of ranks, times the score plus 1. The segments double in size.

    They are ranks 1 to 5, 6 to 15, 16 to 35 and so on to 5,115, beyond which a document gets 0.
    """

    name: ClassVar[str] = "segfuse"
    formula: ClassVar[str] = "Σ P_i(r_i) (s_i + 1)"
    source: ClassVar[str] = "Shokouhi, ECIR 2007, doi:10.1007/978-3-540-71496-5_19"
    uses_scores: ClassVar[bool] = True

    def learn(self, run: RankedRun, judged: JudgedPool) -> FloatArray:
        """Return what judgments say of one run."""
        return _share_of_segments(judged.hits_of(run), SEGMENT_BOUNDS)

    def value(self, run: RankedRun, learned: FloatArray) -> FloatArray:
        """Return what a run adds to the score of each of its rows."""
        of_ranks = np.repeat(learned, np.diff(SEGMENT_BOUNDS))
        return run.mean_over_ranks(_of_length(of_ranks, run.depth)) * (run.score + 1)


@register
@dataclass(frozen=True)
class SlideFuse(LearnedMethod):
    """The share of relevant documents at the ranks around, as far as the list goes."""

    name: ClassVar[str] = "slidefuse"
    formula: ClassVar[str] = "Σ mean of P_i over ranks r_i - w to r_i + w"
    source: ClassVar[str] = "Lillis, Toolan, Collier and Dunnion, ECIR 2008, doi:10.1007/978-3-540-78646-7_33"

    w: int = parameter(5, lambda name, given: as_count(name, given, 0), "Ranks on each side.", (0, 1, 2, 5, 10, 20))

    def learn(self, run: RankedRun, judged: JudgedPool) -> FloatArray:
        """Return what judgments say of one run."""
        return _share_of_ranks(judged.hits_of(run))

    def value(self, run: RankedRun, learned: FloatArray) -> FloatArray:
        """Return what a run adds to the score of each of its rows."""
        sums = np.append(0.0, np.cumsum(_of_length(learned, run.depth)))
        query, rank = _ranks_of_lists(run)
        first = np.maximum(rank - self.w, 0)
        last = np.minimum(rank + self.w, run.n_documents[query] - 1)
        return _mean_over_places(run, (sums[last + 1] - sums[first]) / (last - first + 1))


def _share_of_ranks(hits: Hits) -> FloatArray:
    """Return the share of lists with a relevant document at each rank, among those that have the rank."""
    return hits.by_rank() / np.maximum(hits.lists_by_rank(), 1)


def _share_of_segments(hits: Hits, bounds: IntArray) -> FloatArray:
    """Return the share of relevant documents in segments of ranks, of shape (n_segments,): shorter lists have fewer."""
    of_ranks = _of_length(hits.by_rank(), int(bounds[-1]))
    return np.add.reduceat(of_ranks, bounds[:-1]) / np.diff(bounds) / max(1, len(hits.lengths))


def _of_length(values: FloatArray, length: int) -> FloatArray:
    """Return the first values, with zeros behind them where there are fewer."""
    found = np.zeros(length)
    n_known = min(length, len(values))
    found[:n_known] = values[:n_known]
    return found


def _ranks_of_lists(run: RankedRun) -> tuple[IntArray, IntArray]:
    """Return the query and the rank, from 0, of each place of all lists, one list after the other."""
    query = np.repeat(np.arange(len(run.n_documents)), run.n_documents)
    return query, np.arange(len(query)) - _first_places(run)[query]


def _first_places(run: RankedRun) -> IntArray:
    """Return where the list of each query starts among the places of all."""
    return np.cumsum(run.n_documents) - run.n_documents


def _mean_over_places(run: RankedRun, values: FloatArray) -> Any:  # noqa: ANN401 - NumPy's
    """Return for each row the mean of values over the places of its tie; `values` are of the places of all lists."""
    places = _first_places(run)[run.query] + run.above
    if not run.have_ties:
        return values[places]
    is_first = np.zeros(len(values) + 1, np.bool_)
    is_first[places] = True
    is_first[places + run.tied] = True  # a window may leave out what comes next
    is_first = is_first[:-1]
    starts = np.flatnonzero(is_first)
    means = np.add.reduceat(values, starts) / np.diff(starts, append=len(values))
    return means[np.cumsum(is_first)[places] - 1]
