"""Logarithms of averages: GMAP and GMbpref, of which the geometric mean over queries is reported, and yaap."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import batches
from deadheat.core.measures.average import AP
from deadheat.core.measures.base import Measure
from deadheat.core.measures.orders import OrdersMeasure
from deadheat.core.measures.parameters import parameters
from deadheat.core.measures.preference import bpref
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import RelevanceMeasure
from deadheat.core.placements.placements import Placements
from deadheat.plugins.more_measures.kernels import logarithms

FLOOR = 1e-5  # the least average that a geometric mean counts, as in trec_eval
MOST_STEPS = 1 << 27  # numbers computed for one query, in about a second; beyond, orders are drawn
MOST_QUERIES = 1 << 12  # computed at once


@dataclass(frozen=True, eq=False)
class Parts:
    """The ties whose order decides about a sum.

    Attributes
    ----------
    query, size, count : ndarray of shape (n_ties,)
        Ranks of each tie, and relevant documents on them.
    value : callable
        What a relevant document adds, as for `logarithms.transform`.
    """

    query: IntArray
    size: IntArray
    count: IntArray
    value: logarithms.Value


class LogarithmMeasure(RelevanceMeasure, OrdersMeasure):
    """A function of an average that has an exact mean and exact extremes itself."""

    @property
    @abstractmethod
    def average(self) -> Measure:
        """The average, which this one rises with."""

    @abstractmethod
    def of_average(self, average: FloatArray, n_relevant: IntArray) -> FloatArray:
        """Return the value where the average is known; R is that of its query."""

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the values of the smallest and of the largest average."""
        n_relevant = placements.n_relevant(self.rel)
        low, high = (self.of_average(end, n_relevant) for end in self.average.extremes(placements))
        return low, high

    def find_moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Compute mean, variance and standard error."""
        low, high = self.extremes(placements)
        moments = np.array([low, np.zeros_like(low), np.zeros_like(low)])
        drawn = self.fill(placements, np.flatnonzero(high > low), moments)
        moments[:, drawn] = self.compute_over_orders(placements, drawn)[:3]
        return tuple(moments)

    @abstractmethod
    def fill(self, placements: Placements, queries: IntArray, moments: FloatArray) -> IntArray:
        """Write the moments of queries that some order changes, and return those for which orders must be drawn."""

    def parts(self, placements: Placements, queries: IntArray) -> tuple[Parts, FloatArray]:
        """Return the ties of some queries, numbered from 0 on, and how many numbers one node of each query takes."""
        own = self.ties(placements)
        place = np.full(placements.n_queries, -1)
        place[queries] = np.arange(len(queries))
        keep = np.flatnonzero(place[own.query] >= 0)
        parts = Parts(
            place[own.query[keep]],
            own.size[keep],
            own.count[keep],
            lambda index, left, i: own.value(keep[index], left, i),
        )
        return parts, np.bincount(parts.query, parts.size * (parts.count + 1.0), len(queries)).astype(np.float64)

    @abstractmethod
    def ties(self, placements: Placements) -> Parts:
        """Return all ties with a relevant document."""


def transform_of(parts: Parts, n_queries: int) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return the transform of the sum over the ties of each query."""

    def transform_at(s: NDArray[Any]) -> NDArray[Any]:
        product = np.ones((n_queries, s.shape[1]), s.dtype)
        np.multiply.at(product, parts.query, logarithms.transform(parts.size, parts.count, parts.value, s[parts.query]))
        return product

    return transform_at


@parameters
class GeometricMeasure(LogarithmMeasure):
    """The logarithm of an average, at least that of 0.00001; its mean is reported as a geometric mean."""

    range = (float(np.log(FLOOR)), 0.0)
    geometric: ClassVar[bool] = True
    only_total: ClassVar[bool] = True

    def of_average(self, average: FloatArray, n_relevant: IntArray) -> FloatArray:  # noqa: ARG002 - for yaap
        """Return the logarithm of the average or of 0.00001."""
        return np.log(np.maximum(average, FLOOR))

    @abstractmethod
    def least(self, placements: Placements) -> FloatArray:
        """Return a lower bound of the sums above 0, of shape (n_queries,)."""

    def fill(self, placements: Placements, queries: IntArray, moments: FloatArray) -> IntArray:
        """Write the moments of queries without a sum between 0 and R times 0.00001."""
        total = placements.n_relevant(self.rel).astype(np.float64)
        least, mean, highest = (
            self.least(placements),
            self.average.mean(placements),
            self.average.extremes(placements)[1],
        )
        _, cells = self.parts(placements, queries)
        with np.errstate(divide="ignore"):
            spread = highest[queries] * total[queries] / least[queries]
        n_nodes = np.array([logarithms.n_nodes(one) for one in spread.tolist()])
        exact = (least[queries] >= FLOOR * total[queries]) & (cells * n_nodes <= MOST_STEPS)
        for start in range(0, int(exact.sum()), MOST_QUERIES):
            chosen = np.flatnonzero(exact)[start : start + MOST_QUERIES]
            own = queries[chosen]
            parts, _ = self.parts(placements, own)
            sums, widest = mean[own] * total[own], float(spread[chosen].max())
            moments[:2, own] = self._exact(parts, sums, widest, np.log(total[own]))
        return queries[~exact]

    @staticmethod
    def _exact(parts: Parts, mean: FloatArray, spread: float, log_total: FloatArray) -> FloatArray:
        """Return mean and variance over all orders, those with a sum of 0 apart."""
        transform_at = transform_of(parts, len(mean))
        none = transform_at(np.full((len(mean), 1), logarithms.EVERYTHING))
        some = 1 - none[:, 0]
        log_mean, log_variance = logarithms.moments(
            lambda s: (transform_at(s) - none) / some[:, None], mean / some, spread
        )
        of_some, of_none = log_mean - log_total, np.log(FLOOR)
        centre = some * of_some + none[:, 0] * of_none
        spread_of_means = some * (of_some - centre) ** 2 + none[:, 0] * (of_none - centre) ** 2
        return np.array([centre, some * log_variance + spread_of_means])


class PrecisionSum(LogarithmMeasure):
    """A function of average precision."""

    @property
    def average(self) -> Measure:
        """Average precision."""
        return AP(rel=self.rel)

    def score_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return the value of each ranking."""
        precision = np.cumsum(rankings, axis=1) / np.arange(1, rankings.shape[1] + 1)
        n_relevant = placements.n_relevant(self.rel)[[query]]
        return self.of_average((rankings * precision).sum(axis=1) / n_relevant, n_relevant)

    def ties(self, placements: Placements) -> Parts:
        """Return all ties with a relevant document, whose rank adds its precision."""
        found = placements.relevant(self.rel)

        def value(index: IntArray, left: IntArray, i: int) -> FloatArray:
            return (found.before[index, None] + left) / (found.above[index, None] + i)

        return Parts(found.query, found.tied, found.count, value)


@register(
    "geometric mean average precision",
    "GMAP = exp of the mean over queries of log max(AP, 0.00001)",
    trec_eval=("gm_map",),
)
class GMAP(GeometricMeasure, PrecisionSum):
    r"""Geometric mean of average precision over the queries.

    .. math:: \text{GMAP} = \exp\Big(\frac{1}{|Q|} \sum_{q \in Q} \log \max(AP_q, 0.00001)\Big)

    The value of a query is the logarithm, over ties its exact mean; ``Scores.mean`` is the exponential of their mean,
    and so are its ends and those of its interval. Standard errors of the geometric mean are that times those of the
    mean logarithm. A comparison is of logarithms: a difference is the logarithm of a ratio. A query without a relevant
    document, retrieved or at all, counts log 0.00001. The mean of a logarithm over ties is an integral of the Laplace
    transform of `AP`, exact to rounding. For very large ties, or values that the least one cuts, orders are drawn, and
    ``Scores.standard_error`` says how far the mean may be off.

    References
    ----------
    Robertson 2006, On GMAP, https://doi.org/10.1145/1183614.1183630; gm_map of trec_eval.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 2, "b": 1}, "r": {"a": 1, "b": 2, "c": 3, "d": 4}}
    >>> scores = evaluate(qrels, run, ["GMAP"])["GMAP"]
    >>> scores.mean, scores.values.round(4).tolist()
    (0.5, [0.0, -1.3863])
    """

    def least(self, placements: Placements) -> FloatArray:
        """Return the smallest sum of precisions."""
        return self.average.extremes(placements)[0] * placements.n_relevant(self.rel)


@register(
    "geometric mean binary preference",
    "GMbpref = exp of the mean over queries of log max(bpref, 0.00001)",
    trec_eval=("gm_bpref",),
)
class GMbpref(GeometricMeasure):
    r"""Geometric mean of binary preference over the queries.

    .. math:: \text{GMbpref} = \exp\Big(\frac{1}{|Q|} \sum_{q \in Q} \log \max(\text{bpref}_q, 0.00001)\Big)

    Conventions, and what is exact, are those of `GMAP`.

    References
    ----------
    gm_bpref of trec_eval, https://github.com/usnistgov/trec_eval/blob/main/m_gm_bpref.c.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> qrels, run = {"q": {"a": 1, "b": 0}, "r": {"a": 1}}, {"q": {"a": 1, "b": 1}, "r": {"a": 1}}
    >>> round(evaluate(qrels, run, ["GMbpref"])["GMbpref"].mean, 4)
    0.0562
    """

    @property
    def average(self) -> Measure:
        """Binary preference."""
        return bpref(rel=self.rel)

    def codes(self, relevance: FloatArray) -> FloatArray:
        """Return 2 for relevant documents, 1 for judged others, 0 for all else."""
        return np.where(relevance >= self.rel, 2.0, 1.0 * (relevance >= 0))

    def score_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return the value of each ranking."""
        n_relevant = placements.n_relevant(self.rel)[[query]]
        others_above = np.cumsum(rankings == 1, axis=1)
        values = bpref(rel=self.rel).value_below(placements, np.array([query]), others_above)
        return self.of_average(np.where(rankings == 2, values, 0.0).sum(axis=1) / n_relevant, n_relevant)

    def least(self, placements: Placements) -> FloatArray:
        """Return the smallest worth of a document that is not 0."""
        return 1 / np.maximum(bpref(rel=self.rel).bound(placements), 1)

    def ties(self, placements: Placements) -> Parts:
        """Return all ties with a relevant document, their judged documents alone."""
        measure = bpref(rel=self.rel)
        ties = measure.judged_ties(placements)

        def value(index: IntArray, left: IntArray, i: int) -> FloatArray:
            others_above = ties.others_above[index, None] + np.maximum(i - left, 0)
            values = measure.value_below(placements, ties.query[index, None], others_above)
            return np.maximum(values, 0.0)  # less is for states that no order reaches

        return Parts(ties.query, ties.n_relevant + ties.n_others, ties.n_relevant, value)


@register(
    "log odds of average precision",
    "yaap = log((1 + S) / (1 + R - S)), with S = R · AP",
    trec_eval=("yaap",),
    range=(-np.inf, np.inf),
)
class yaap(PrecisionSum):
    r"""Yet another average precision: the logarithm of the odds of average precision, smoothed.

    .. math:: \text{yaap} = \log \frac{1 + S}{1 + R - S}, \quad S = R \cdot AP

    It has no limits, so that its mean over queries is less bent than that of `AP`. A query without relevant documents
    has 0. Mean and variance over ties are Fourier series of the characteristic function of S, exact to rounding. For
    very large ties, orders are drawn, and ``Scores.standard_error`` says how far the mean may be off.

    References
    ----------
    Robertson 2012, On smoothing average precision, https://doi.org/10.1007/978-3-642-28997-2_14; yaap of trec_eval.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> round(evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["yaap"]).means()["yaap"], 4)
    0.3466
    """

    def of_average(self, average: FloatArray, n_relevant: IntArray) -> FloatArray:
        """Return the logarithm of the odds."""
        return _log_odds(average * n_relevant, n_relevant=n_relevant)

    def fill(self, placements: Placements, queries: IntArray, moments: FloatArray) -> IntArray:
        """Write the moments of queries whose ties are not too large."""
        n_relevant = placements.n_relevant(self.rel)
        low, high = (end * n_relevant for end in self.average.extremes(placements))
        room = 1 + low, 1 + n_relevant - high
        _, cells = self.parts(placements, queries)
        n_nodes = logarithms.n_frequencies(low[queries], high[queries], (room[0][queries], room[1][queries]))
        is_small = cells * n_nodes <= MOST_STEPS
        small = np.flatnonzero(is_small)
        for chosen, _ in batches(n_nodes[small], MOST_STEPS >> 5):
            own = np.sort(queries[small[chosen]])
            parts, _ = self.parts(placements, own)
            moments[:2, own] = logarithms.moments_of(
                partial(_log_odds, n_relevant=n_relevant[own, None]),
                transform_of(parts, len(own)),
                low[own],
                high[own],
                room=(room[0][own], room[1][own]),
            )
        return queries[~is_small]


def _log_odds(total: FloatArray, *, n_relevant: IntArray) -> FloatArray:
    return np.log((1 + total) / (1 + n_relevant - total))
