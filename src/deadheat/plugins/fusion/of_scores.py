"""Methods that combine scores. A run that lacks a document gives it nothing: each method says what that means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.plugins.fusion.base import Method, add_up, at_least, parameter, register
from deadheat.plugins.fusion.pool import Pool

FOX_SHAW = "Fox and Shaw, TREC-2, 1994"
WU_CRESTANI = "Wu and Crestani, CIKM 2002, doi:10.1145/584792.584908"
OPENSEARCH = "OpenSearch, normalization processor"


def scores_of(pool: Pool, missing: float = 0.0) -> FloatArray:
    """Return the scores as a matrix, of shape (n_runs, n_candidates)."""
    return pool.matrix([run.score for run in pool.runs], missing)


def total_of(pool: Pool) -> FloatArray:
    """Return the sum of the scores of each candidate, of shape (n_candidates,)."""
    return add_up(pool.scores)


@register
@dataclass(frozen=True)
class Min(Method):
    """The lowest score of the runs that have the document."""

    name: ClassVar[str] = "min"
    formula: ClassVar[str] = "min of s_i"
    source: ClassVar[str] = FOX_SHAW

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        return np.asarray(scores_of(pool, np.inf).min(axis=0))


@register
@dataclass(frozen=True)
class Max(Method):
    """The highest score of the runs that have the document."""

    name: ClassVar[str] = "max"
    formula: ClassVar[str] = "max of s_i"
    source: ClassVar[str] = FOX_SHAW

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        return np.asarray(scores_of(pool, -np.inf).max(axis=0))


@register
@dataclass(frozen=True)
class Med(Method):
    """The median score of the runs that have the document; of an even number the mean of the middle two."""

    name: ClassVar[str] = "med"
    formula: ClassVar[str] = "median of s_i"
    source: ClassVar[str] = FOX_SHAW

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        ordered = np.sort(scores_of(pool, np.inf), axis=0)  # missing ones come last
        n_runs = pool.count_runs()
        columns = np.arange(ordered.shape[1])
        return (ordered[(n_runs - 1) // 2, columns] + ordered[n_runs // 2, columns]) / 2


@register
@dataclass(frozen=True)
class Sum(Method):
    """The sum of the scores. A run that lacks the document adds 0."""

    name: ClassVar[str] = "sum"
    formula: ClassVar[str] = "Σ s_i"
    source: ClassVar[str] = FOX_SHAW

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        return total_of(pool)


@register
@dataclass(frozen=True)
class Anz(Method):
    """The mean score of the runs that have the document."""

    name: ClassVar[str] = "anz"
    formula: ClassVar[str] = "Σ s_i / n, n: the runs that have the document"
    source: ClassVar[str] = FOX_SHAW

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        return total_of(pool) / pool.count_runs()


@register
@dataclass(frozen=True)
class Mnz(Method):
    """The sum of the scores, times the number of runs that have the document."""

    name: ClassVar[str] = "mnz"
    formula: ClassVar[str] = "n · Σ s_i"
    source: ClassVar[str] = FOX_SHAW

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        return total_of(pool) * pool.count_runs()


@register
@dataclass(frozen=True)
class Gmnz(Method):
    """The sum of the scores, times a power of the number of runs that have the document.

    With ``gamma=0`` it is sum, with 1 mnz, with -1 anz.
    """

    name: ClassVar[str] = "gmnz"
    formula: ClassVar[str] = "n^gamma · Σ s_i"
    source: ClassVar[str] = "Lee, SIGIR 1997, doi:10.1145/258525.258587"

    gamma: float = parameter(1.0, at_least(-10), "The power.", (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0))

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        return total_of(pool) * pool.count_runs().astype(np.float64) ** self.gamma


@register
@dataclass(frozen=True)
class Wmnz(Method):
    """The sum of the scores, times the sum of the weights of the runs that have the document."""

    name: ClassVar[str] = "wmnz"
    formula: ClassVar[str] = "Σ s_i · Σ w_i, both over the runs that have the document"
    source: ClassVar[str] = WU_CRESTANI
    takes_weights: ClassVar[bool] = True

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        return total_of(pool) * weights_present(pool, self.weights_of(pool))


@register
@dataclass(frozen=True)
class Wsum(Method):
    """The weighted sum of the scores. A run that lacks the document adds 0.

    Engines call it a linear, convex or relative score combination.
    """

    name: ClassVar[str] = "wsum"
    formula: ClassVar[str] = "Σ w_i s_i"
    source: ClassVar[str] = "Vogt and Cottrell, Information Retrieval 1, 1999"
    takes_weights: ClassVar[bool] = True

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        return weighted_total(pool, self.weights_of(pool))


@register
@dataclass(frozen=True)
class Mixed(Method):
    """The weighted sum of the scores, times the root of the number of runs that have the document."""

    name: ClassVar[str] = "mixed"
    formula: ClassVar[str] = "√n · Σ w_i s_i"
    source: ClassVar[str] = WU_CRESTANI
    takes_weights: ClassVar[bool] = True

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        return weighted_total(pool, self.weights_of(pool)) * np.sqrt(pool.count_runs())


@register
@dataclass(frozen=True)
class ArithmeticMean(Method):
    """The weighted mean of the scores. A run that lacks the document, or has it below 0, counts as in OpenSearch.

    One that lacks it counts with 0; a score below 0 is left out, with its weight.
    """

    name: ClassVar[str] = "arithmetic_mean"
    formula: ClassVar[str] = "Σ w_i s_i / Σ w_i, over s_i ≥ 0; a missing s_i is 0"
    source: ClassVar[str] = OPENSEARCH
    takes_weights: ClassVar[bool] = True

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        scores = pool.scores
        weights = self.weights_of(pool)[:, np.newaxis] * (scores >= 0)
        return divide(add_up(weights * scores), add_up(weights))


@register
@dataclass(frozen=True)
class GeometricMean(Method):
    """The weighted geometric mean of the scores above 0. Others, and runs that lack the document, are left out."""

    name: ClassVar[str] = "geometric_mean"
    formula: ClassVar[str] = "exp(Σ w_i ln s_i / Σ w_i), over s_i > 0; 0 without any"
    source: ClassVar[str] = OPENSEARCH
    takes_weights: ClassVar[bool] = True

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        scores = pool.scores
        is_positive = scores > 0
        weights = self.weights_of(pool)[:, np.newaxis] * is_positive
        total = add_up(weights)
        mean = np.exp(divide(add_up(weights * np.log(np.where(is_positive, scores, 1.0))), total))
        return np.where(total > 0, mean, 0.0)


@register
@dataclass(frozen=True)
class HarmonicMean(Method):
    """The weighted harmonic mean of the scores above 0. Others, and runs that lack the document, are left out."""

    name: ClassVar[str] = "harmonic_mean"
    formula: ClassVar[str] = "Σ w_i / Σ (w_i / s_i), over s_i > 0; 0 without any"
    source: ClassVar[str] = OPENSEARCH
    takes_weights: ClassVar[bool] = True

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        scores = pool.scores
        is_positive = scores > 0
        weights = self.weights_of(pool)[:, np.newaxis] * is_positive
        return divide(add_up(weights), add_up(weights / np.where(is_positive, scores, 1.0)))


def weighted_total(pool: Pool, weights: FloatArray) -> FloatArray:
    """Return the weighted sum of the scores of each candidate."""
    return add_up(weights[:, np.newaxis] * pool.scores)


def weights_present(pool: Pool, weights: FloatArray) -> FloatArray:
    """Return the sum of the weights of the runs that have each candidate."""
    return add_up(
        pool.matrix([np.full(len(run.place), weight) for weight, run in zip(weights, pool.runs, strict=True)])
    )


def divide(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return a quotient; 0 where it is by 0."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
