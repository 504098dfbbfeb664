"""Methods that combine ranks: of a tie each gets the mean over the ranks that its documents may have.

The runs order their ties independently, so the mean of a sum over runs is the sum of these means. ISR and its kin
multiply that sum by what the number of runs makes, which no order of ties changes: their means are exact, too.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.plugins.fusion.base import Method, add_up, at_least, between, merge_rounding, parameter, register
from deadheat.plugins.fusion.pool import Pool, RankedRun

MOURAO = "Mourão, Martins and Magalhães, CMIG 39, 2015, doi:10.1016/j.compmedimag.2014.05.006"
ASLAM_MONTAGUE = "Aslam and Montague, SIGIR 2001, doi:10.1145/383952.384007"


class RankMethod(Method):
    """The base of methods that look at no score."""

    uses_scores: ClassVar[bool] = False
    uses_ranks: ClassVar[bool] = True


class SumOverRanks(RankMethod):
    """The base of sums over runs of a function of the rank. A run that lacks the document adds 0.

    Ranks beyond a window add 0: of a tie that it cuts, the mean is over the orders in which it may cut it.
    """

    @abstractmethod
    def values_of_ranks(self, ranks: FloatArray) -> FloatArray:
        """Return the function of the ranks 1, 2, and so on."""

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        matrix = pool.matrix([self._values(run, pool.window) for run in pool.runs])
        if self.takes_weights and self.weights is not None:
            matrix *= self.weights_of(pool)[:, np.newaxis]
        return merge_rounding(add_up(matrix))

    def _values(self, run: RankedRun, window: int | None) -> FloatArray:
        values = self.values_of_ranks(np.arange(1.0, run.depth + 1))
        if window is not None:
            values[window:] = 0.0
        return run.mean_over_ranks(values)


@register
@dataclass(frozen=True)
class RRF(SumOverRanks):
    """Reciprocal rank fusion, perhaps with weights. A run that lacks the document adds 0."""

    name: ClassVar[str] = "rrf"
    formula: ClassVar[str] = "Σ w_i / (k + r_i)"
    source: ClassVar[str] = "Cormack, Clarke and Büttcher, SIGIR 2009, doi:10.1145/1571941.1572114"
    takes_weights: ClassVar[bool] = True

    k: float = parameter(
        60.0, at_least(0), "How little the first ranks differ.", (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 100.0, 200.0)
    )

    def values_of_ranks(self, ranks: FloatArray) -> FloatArray:
        """Return what each rank adds."""
        return 1 / (self.k + ranks)


@register
@dataclass(frozen=True)
class ISR(SumOverRanks):
    """The sum of inverse squared ranks, times the number of runs that have the document."""

    name: ClassVar[str] = "isr"
    formula: ClassVar[str] = "n · Σ 1 / r_i²"
    source: ClassVar[str] = MOURAO

    def values_of_ranks(self, ranks: FloatArray) -> FloatArray:
        """Return what each rank adds."""
        return 1 / ranks**2

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        return super().fuse(pool) * self.factor(pool.count_runs().astype(np.float64))

    def factor(self, n_runs: FloatArray) -> FloatArray:
        """Return what the number of runs multiplies the sum by."""
        return n_runs


@register
@dataclass(frozen=True)
class LogISR(ISR):
    """The sum of inverse squared ranks, times the logarithm of the number of runs that have the document.

    A document of a single run scores 0: all these tie.
    """

    name: ClassVar[str] = "log_isr"
    formula: ClassVar[str] = "ln n · Σ 1 / r_i²"

    def factor(self, n_runs: FloatArray) -> FloatArray:
        """Return what the number of runs multiplies the sum by."""
        return np.log(n_runs)


@register
@dataclass(frozen=True)
class LogNISR(ISR):
    """As log_isr, with `sigma` added to the number of runs, so that documents of a single run do not all tie."""

    name: ClassVar[str] = "logn_isr"
    formula: ClassVar[str] = "ln(n + sigma) · Σ 1 / r_i²"

    sigma: float = parameter(0.01, between(0, 1), "Added to the number of runs.", (0.01, 0.1, 0.25, 0.5, 0.75, 1.0))

    def factor(self, n_runs: FloatArray) -> FloatArray:
        """Return what the number of runs multiplies the sum by."""
        return np.log(n_runs + self.sigma)


@register
@dataclass(frozen=True)
class RBC(SumOverRanks):
    """Rank-biased centroid. A run that lacks the document adds 0."""

    name: ClassVar[str] = "rbc"
    formula: ClassVar[str] = "Σ (1 - phi) phi^(r_i - 1)"
    source: ClassVar[str] = "Bailey, Moffat, Scholer and Thomas, SIGIR 2017, doi:10.1145/3077136.3080839"

    phi: float = parameter(0.8, between(0, 1), "How far down people look.", (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98))

    def values_of_ranks(self, ranks: FloatArray) -> FloatArray:
        """Return what each rank adds."""
        factors = np.full(len(ranks), self.phi)
        factors[:1] = 1 - self.phi
        return np.cumprod(factors)  # a power's last digit depends on the processor


@register
@dataclass(frozen=True)
class BordaFuse(RankMethod):
    """Borda's count: of N candidates, the first one of a run gets N points, the next N - 1, and so on.

    The documents that a run lacks share the points that are left, as in the paper. A run without the query gives none.
    """

    name: ClassVar[str] = "bordafuse"
    formula: ClassVar[str] = "Σ (N - r_i + 1); (N - n_i + 1) / 2 from a run of n_i documents that lacks it"
    source: ClassVar[str] = ASLAM_MONTAGUE

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        points = np.stack([points_of(pool, run) for run in pool.runs])
        return add_up(points * self.weights_of(pool)[:, np.newaxis])


@register
@dataclass(frozen=True)
class WeightedBordaFuse(BordaFuse):
    """Borda's count, with a weight for each run."""

    name: ClassVar[str] = "w_bordafuse"
    formula: ClassVar[str] = "as bordafuse, with w_i before each term"
    takes_weights: ClassVar[bool] = True


def points_of(pool: Pool, run: RankedRun) -> FloatArray:
    """Return the points that a run gives each candidate: of a tie the mean, which is that of its first and last."""
    n_candidates = pool.n_candidates
    has_query = run.n_documents > 0
    n_retrieved = np.bincount(run.query, minlength=pool.n_queries)
    of_missing = np.where(has_query, (n_candidates - n_retrieved + 1) / 2, 0.0)
    points = of_missing[pool.query]
    points[run.place] = n_candidates[run.query] - run.above - (run.tied - 1) / 2
    return points
