"""How the scores of a run are brought to one scale before they are combined: one class each, by name in `NORMS`.

All but `borda` look at the list of one query by itself. Where all its scores are equal there is no scale: they become
0, or what the class says. `rank` and `borda` look at ranks, and give equal scores the mean over those they may have.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, sum_by_code
from deadheat.core.errors import DataError
from deadheat.core.wording import format_count
from deadheat.plugins.fusion.of_ranks import points_of
from deadheat.plugins.fusion.pool import Pool, RankedRun

N = TypeVar("N", bound="type[Norm]")
NORMS: dict[str, type[Norm]] = {}


class Norm(ABC):
    """The base of normalizations.

    Attributes
    ----------
    name : str
    formula : str
    source : str
    uses_scores : bool
        Else ranks alone count.
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    uses_scores: ClassVar[bool] = True

    @abstractmethod
    def apply(self, pool: Pool) -> Pool:
        """Return the pool with all its runs on the new scale."""


class NormOfLists(Norm):
    """The base of normalizations that look at one list at a time, whatever the other runs have."""

    @abstractmethod
    def scale(self, run: RankedRun, lists: Lists) -> FloatArray:
        """Return the scores of a run on the new scale, of shape (n_rows,)."""

    def apply(self, pool: Pool) -> Pool:
        """Return the pool with all its runs on the new scale."""
        runs = tuple(replace(run, score=self.scale(run, Lists.of(run, pool.n_queries))) for run in pool.runs)
        return replace(pool, runs=runs)


@dataclass(frozen=True, eq=False)
class Lists:
    """Of the list of each query what scales are made of; 0 of a query without a list.

    Attributes
    ----------
    query : ndarray of int, shape (n_rows,)
    size, lowest, highest : ndarray of float, shape (n_queries,)
    """

    query: IntArray
    size: FloatArray
    lowest: FloatArray
    highest: FloatArray

    @classmethod
    def of(cls, run: RankedRun, n_queries: int) -> Lists:
        """Return those of a run."""
        lowest = np.full(n_queries, np.inf)
        highest = np.full(n_queries, -np.inf)
        first = run.above == 0
        last = run.above + run.tied >= run.n_documents[run.query]
        highest[run.query[first]] = run.score[first]
        lowest[run.query[last]] = run.score[last]
        size = np.bincount(run.query, minlength=n_queries).astype(np.float64)
        if np.isinf(lowest[size > 0]).any():  # of a window, or ties that a rule broke
            np.minimum.at(lowest, run.query, run.score)
        is_empty = size == 0
        return cls(run.query, size, np.where(is_empty, 0.0, lowest), np.where(is_empty, 0.0, highest))

    def total(self, values: FloatArray) -> FloatArray:
        """Return the sum of values of rows for each query."""
        return sum_by_code(self.query, values, len(self.size))

    def ratio(self, above: FloatArray, below: FloatArray, of_equal: float = 0.0) -> FloatArray:
        """Return values of rows over a number of their query; of a query whose scores are equal the given value."""
        below = np.where(self.highest > self.lowest, below, 0.0)[self.query]
        return np.divide(above, below, out=np.full_like(above, of_equal), where=below > 0)

    def deviations(self, run: RankedRun) -> FloatArray:
        """Return the scores minus the mean of their query."""
        mean = self.total(run.score) / np.maximum(self.size, 1)
        return run.score - mean[self.query]


def register(cls: N) -> N:
    """Add a normalization to those that `fuse` knows by name."""
    NORMS[cls.name] = cls
    return cls


@register
class MinMax(NormOfLists):
    """The lowest score becomes 0, the highest 1."""

    name = "min-max"
    formula = "(s - min) / (max - min)"
    source = "Lee, SIGIR 1997, doi:10.1145/258525.258587"

    def scale(self, run: RankedRun, lists: Lists) -> FloatArray:
        """Return the scores of a run on the new scale."""
        return lists.ratio(run.score - lists.lowest[run.query], lists.highest - lists.lowest)


@register
class MaxNorm(NormOfLists):
    """The highest score, which has to be above 0, becomes 1; 0 stays 0. Lists of zeros stay as they are."""

    name = "max"
    formula = "s / max"
    source = "Lee, Combining multiple evidence, SIGIR 1995"

    def scale(self, run: RankedRun, lists: Lists) -> FloatArray:
        """Return the scores of a run on the new scale."""
        below = np.flatnonzero((lists.highest < 0) | ((lists.highest == 0) & (lists.lowest < 0)))
        if len(below):
            queries = format_count(len(below), "query", "queries")
            raise DataError(
                f"{run.name} has no score above 0 for {queries}, by which norm='max' could divide",
                hint="norm='min-max' takes all scores",
            )
        highest = lists.highest[run.query]
        return np.divide(run.score, highest, out=np.zeros_like(run.score, np.float64), where=highest > 0)


@register
class SumNorm(NormOfLists):
    """The lowest score becomes 0, and the sum 1."""

    name = "sum"
    formula = "(s - min) / Σ (s - min)"
    source = "Montague and Aslam, Relevance score normalization, CIKM 2001"

    def scale(self, run: RankedRun, lists: Lists) -> FloatArray:
        """Return the scores of a run on the new scale."""
        shifted = run.score - lists.lowest[run.query]
        return lists.ratio(shifted, lists.total(shifted))


@register
class Zmuv(NormOfLists):
    """The mean becomes 0, and the standard deviation (of all, not of a sample) 1."""

    name = "zmuv"
    formula = "(s - mean) / std"
    source = "Montague and Aslam, Relevance score normalization, CIKM 2001"

    def scale(self, run: RankedRun, lists: Lists) -> FloatArray:
        """Return the scores of a run on the new scale."""
        deviations = lists.deviations(run)
        variance = lists.total(deviations**2) / np.maximum(lists.size, 1)
        return lists.ratio(deviations, np.sqrt(variance))


@register
class RankNorm(NormOfLists):
    """The first rank becomes 1, the next ones as much less each, so that one after the last would be 0."""

    name = "rank"
    formula = "1 - (r - 1) / n"
    source = "Lee, SIGIR 1997, doi:10.1145/258525.258587"
    uses_scores = False

    def scale(self, run: RankedRun, lists: Lists) -> FloatArray:
        """Return the scores of a run on the new scale."""
        mean_rank = run.above + (run.tied + 1) / 2
        return 1 - (mean_rank - 1) / lists.size[run.query]


@register
class BordaNorm(Norm):
    """Borda's points divided by the number of candidates N; candidates that a run lacks get a score, too."""

    name = "borda"
    formula = "1 - (r - 1) / N; 1/2 - (n - 1) / 2N of a document that the run lacks"
    source = "Renda and Straccia, Web metasearch, SAC 2003"
    uses_scores = False

    def apply(self, pool: Pool) -> Pool:
        """Return the pool with a score for every candidate."""
        runs = []
        for run in pool.runs:
            share = points_of(pool, run) / pool.n_candidates[pool.query]
            place = np.flatnonzero((run.n_documents > 0)[pool.query])
            ranks = np.zeros_like(place)
            runs.append(replace(run, place=place, query=pool.query[place], score=share[place], above=ranks, tied=ranks))
        return replace(pool, runs=tuple(runs))


@register
class L2(NormOfLists):
    """The scores become a vector of length 1; zeros stay zeros."""

    name = "l2"
    formula = "s / √Σ s²"
    source = "OpenSearch, normalization processor"

    def scale(self, run: RankedRun, lists: Lists) -> FloatArray:
        """Return the scores of a run on the new scale."""
        length = np.sqrt(lists.total(run.score.astype(np.float64) ** 2))[run.query]
        return np.divide(run.score, length, out=np.zeros(len(run.score)), where=length > 0)


@register
class Dbsf(NormOfLists):
    """Three standard deviations (of a sample) below the mean become 0, three above it 1; equal scores become 1/2."""

    name = "dbsf"
    formula = "(s - mean + 3 std) / 6 std"
    source = "Mazzeschi 2023; Qdrant, distribution-based score fusion"

    def scale(self, run: RankedRun, lists: Lists) -> FloatArray:
        """Return the scores of a run on the new scale."""
        deviations = lists.deviations(run)
        std = np.sqrt(lists.total(deviations**2) / np.maximum(lists.size - 1, 1))
        return lists.ratio(deviations + 3 * std[run.query], 6 * std, of_equal=0.5)
