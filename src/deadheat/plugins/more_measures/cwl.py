"""Measures of the C/W/L framework: a user goes on from each rank with some probability, and gains per document read.

W(i) is the share of the documents read that stand at rank i; a measure is the sum of W(i) g(i). Where the user's
plans are fixed (INSQ, SDCG), it is a weighted sum. Where they depend on what was gained (INST, BPM, NERR8 to NERR11),
only BPM has moments in closed form: the others are ratios of two sums that both depend on the order.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, special
from deadheat.core.errors import MeasureError
from deadheat.core.kernels import prefix_counts
from deadheat.core.kernels.segments import divide_or_zero
from deadheat.core.measures.base import Measure
from deadheat.core.measures.families import CutMeasure, ranks_to
from deadheat.core.measures.gains import scale_top
from deadheat.core.measures.orders import OrdersMeasure
from deadheat.core.measures.parameters import CUTOFF, Number, parameter, parameters
from deadheat.core.measures.prefix import GainTies, KindTies, PrefixMeasure, shape_for_states
from deadheat.core.measures.registration import register
from deadheat.core.measures.weighted import WeightedMeasure
from deadheat.core.placements.placements import Placements

NEARLY = 1e-9  # gains that add up to what is wanted, but for rounding
MOST_WANTED = 1e100  # its square and the inverse of that are far from the ends of float64
WANTED = "gain that the user hopes for; a document of the highest relevance has 1"
RANKS = parameter(
    None, CUTOFF, "ranks that the user may read, over which the weights add up to 1; None: no end (cwl_eval: 1000)"
)


@parameters
class ScaledMeasure(Measure):
    """A measure of gains between 0 and 1: where the relevance is between the lowest and the highest of its scale."""

    min_rel: float = parameter(0, Number(low=0), "relevance up to which there is no gain")
    max_rel: float | None = parameter(
        None, Number(low=0, open_low=True, optional=True), "relevance of gain 1; None: highest relevance of the qrels"
    )

    def __post_init__(self) -> None:
        """Refuse a scale without a length."""
        super().__post_init__()
        if self.max_rel is not None and self.max_rel <= self.min_rel:
            raise MeasureError(
                f"max_rel={self.max_rel} is not above min_rel={self.min_rel}", measure=type(self).__name__
            )

    def scaled(self, placements: Placements, relevance: FloatArray) -> FloatArray:
        """Return the gain of each relevance; NaN, an unjudged document, has none."""
        length = scale_top(self.max_rel, placements, type(self).__name__) - self.min_rel
        above = np.maximum(np.nan_to_num(relevance, nan=-1.0) - self.min_rel, 0.0)
        return above / length if length > 0 else np.zeros_like(above)

    def codes(self, relevance: FloatArray) -> FloatArray:
        """Return the relevance that has a gain, by which orders of ties differ."""
        return np.where(relevance > self.min_rel, relevance, self.min_rel)

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a document with a gain."""
        return placements.n_relevant(math.nextafter(self.min_rel, math.inf)) > 0

    def gains(self, placements: Placements) -> tuple[object, FloatArray]:
        """Return the gain of each row."""
        return ("scaled", self.min_rel, self.max_rel), self.scaled(placements, placements.relevance)


def _inverse_squares(start: FloatArray | float, n_ranks: FloatArray | float | None) -> FloatArray:
    """Return the sum of 1 / (start + i)^2 over the i from 0 on: all of them, or `n_ranks`."""
    total = special.zeta(2, start)
    return np.asarray(total if n_ranks is None else total - special.zeta(2, start + n_ranks), np.float64)


@register("inverse squares", "INSQ = 1/S ∑ gain(d_i) / (i + 2T - 1)^2 over all ranks i, with S = ∑ (i + 2T - 1)^-2")
class INSQ(ScaledMeasure, WeightedMeasure):
    r"""Inverse squares: the gain per document of a user who hopes for a gain of T.

    .. math:: \text{INSQ} = \frac{1}{S} \sum_i \frac{g(d_i)}{(i + 2T - 1)^2}, \quad S = \sum_i (i + 2T - 1)^{-2}

    The gain of a document is its relevance over `max_rel`, from `min_rel` on.

    References
    ----------
    Moffat, Scholer and Thomas 2012, https://doi.org/10.1145/2407085.2407092.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> round(evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["INSQ"]).means()["INSQ"], 4)
    0.28
    """

    T: float = parameter(1, Number(low=1e-6, high=MOST_WANTED), WANTED)
    ranks: int | None = RANKS

    def weights(self, n_ranks: int) -> FloatArray:
        """Return the inverse squares over their sum."""
        rank, total = np.arange(n_ranks), _inverse_squares(2.0 * self.T, self.ranks)
        return np.where(rank < (self.ranks or n_ranks), (rank + 2.0 * self.T) ** -2 / total, 0.0)


@register(
    "scaled discounted cumulative gain",
    "SDCG@k = ∑ gain(d_i) / log2(i + 1) over the ranks i = 1..k, divided by ∑ 1 / log2(i + 1)",
)
class SDCG(ScaledMeasure, WeightedMeasure):
    r"""Scaled DCG: discounted gain over what k documents of gain 1 would have.

    .. math:: \text{SDCG}@k = \frac{\sum_{i \le k} g(d_i) / \log_2(i + 1)}{\sum_{i \le k} 1 / \log_2(i + 1)}

    The gain of a document is its relevance over `max_rel`, from `min_rel` on. Other than for `nDCG`, the divisor does
    not depend on the judgments. Without a cutoff, k is the number of retrieved documents.

    References
    ----------
    Jarvelin and Kekalainen 2002, https://doi.org/10.1145/582415.582418; scaled: Moffat, Bailey, Scholer and Thomas
    2017, https://doi.org/10.1145/3052768.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> round(evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["SDCG@5"]).means()["SDCG@5"], 4)
    0.2766
    """

    def weights(self, n_ranks: int) -> FloatArray:
        """Return the discounts."""
        return 1 / np.log2(ranks_to(self, n_ranks) + 1)

    def divisor(self, placements: Placements) -> FloatArray:
        """Return the sum of the discounts of k ranks."""
        k = self.k(placements)
        return np.append(0.0, np.cumsum(self.weights(int(k.max(initial=0)))))[k]


@register("bejeweled player model", "BPM@k = 1/s ∑ gain(d_i) over the ranks i ≤ s, s the first of gain T in all, or k")
class BPM(ScaledMeasure, PrefixMeasure, CutMeasure):
    r"""Bejeweled player model: the gain per document of a user who stops at a gain of T, or after k documents.

    .. math:: \text{BPM}@k = \frac{1}{s} \sum_{i \le s} g(d_i), \quad s = \min\{i : i = k
        \ \text{or}\ g(d_1) + ... + g(d_i) \ge T\}

    The gain of a document is its relevance over `max_rel`, from `min_rel` on. Ranks below the list have none. Without a
    cutoff, k is the number of retrieved documents. Moments and extremes over ties are exact; for large ties of many
    gains, orders are drawn, and ``Scores.standard_error`` says how far the mean may be off.

    References
    ----------
    Zhang et al. 2017, https://doi.org/10.1145/3077136.3080841, the static form.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 2, "c": 1}}, {"q": {"a": 0.5, "b": 0.5, "c": 0.1}}, ["BPM@10"]).means()
    {'BPM@10': 0.75}
    """

    T: float = parameter(1, Number(low=0, open_low=True), WANTED)

    def ties(self, placements: Placements) -> tuple[KindTies, prefix_counts.Added]:
        """Return the ties with a gain.

        Each gain counts over k. That which fulfils the hopes also makes good what all before it were short of.
        """
        found = GainTies.from_gains(placements, self.scaled(placements, placements.relevance))
        last = self.k(placements)[found.query]

        def added(ties: IntArray, j: int, kind: int, seen: Sequence[IntArray]) -> FloatArray:
            before = found.add_seen(shape_for_states(found.before[ties], seen), ties, seen)
            after = before + shape_for_states(found.levels[ties, kind], seen)
            rank, k = shape_for_states(found.above[ties] + j, seen), shape_for_states(last[ties], seen)
            is_read = (before < self.T - NEARLY) & (rank <= k)
            return np.where(is_read, np.where(after < self.T - NEARLY, after / k, after / rank) - before / k, 0.0)

        return found, added

    def score_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return the value of each ranking."""
        last = int(self.k(placements)[query])
        gains = np.cumsum(self.scaled(placements, rankings), axis=1)[:, :last]
        enough = gains >= self.T - NEARLY
        stop = np.where(enough.any(axis=1), enough.argmax(axis=1) + 1, last)
        return np.take_along_axis(gains, np.minimum(stop, gains.shape[1])[:, None] - 1, axis=1)[:, 0] / stop


class AdaptiveMeasure(ScaledMeasure, OrdersMeasure):
    """The gain per document of a user who goes on with a probability that depends on the gains down to each rank.

    It is a ratio of two sums that both depend on the order of ties, which has no closed form: all orders are listed
    where they are few, and drawn elsewhere.
    """

    ranks: int | None  # of those without a cutoff

    def reach(self, placements: Placements, query: int) -> int:
        """Return the last rank that may have a gain: what is read below it depends on the gain down to it alone."""
        rows = slice(*np.searchsorted(placements.query, [query, query + 1]))
        ends = (placements.above + placements.tied)[rows][placements.relevance[rows] > self.min_rel]
        last = int(ends.max(initial=0))
        horizon = self.horizon(int(placements.n_retrieved[query]))
        return last if horizon is None else min(last, horizon)

    def score_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return the value of each ranking."""
        horizon = self.horizon(int(placements.n_retrieved[query]))
        gains = self.scaled(placements, rankings[:, :horizon])
        n_read = gains.shape[1]
        gained = np.cumsum(gains, axis=1)
        goes_on = self.goes_on(np.arange(1.0, n_read + 1), gains, gained)
        arrives = np.cumprod(np.column_stack((np.ones(len(gains)), goes_on)), axis=1)
        below = None if horizon is None else horizon - n_read
        last = gained[:, -1] if n_read else np.zeros(len(gains))
        n_expected = arrives[:, :-1].sum(axis=1) + arrives[:, -1] * self.below(n_read, below, last)
        return divide_or_zero((arrives[:, :-1] * gains).sum(axis=1), n_expected)

    def horizon(self, n_retrieved: int) -> int | None:  # noqa: ARG002 - of those with a cutoff
        """Return the number of ranks that may be read; None: no end."""
        return self.ranks

    @abstractmethod
    def goes_on(self, rank: FloatArray, gains: FloatArray, gained: FloatArray) -> FloatArray:
        """Return the probability of going on from each rank.

        Parameters
        ----------
        rank : ndarray of shape (n_ranks,)
        gains, gained : ndarray of shape (n_orders, n_ranks)
            The gain at each rank, and down to it.
        """

    @abstractmethod
    def below(self, n_read: int, n_ranks: int | None, gained: FloatArray) -> FloatArray | float:
        """Return the documents that a user who arrives below the list still reads, where there is no gain any more.

        Parameters
        ----------
        n_read : int
            Documents of the list.
        n_ranks : int or None
            Ranks that are left.
        gained : ndarray of shape (n_orders,)
        """


@register(
    "adaptive inverse squares", "INST = ∑ V_i gain(d_i) / ∑ V_i, V_i = ∏[j<i] ((j + 2T - cg_j - 1) / (j + 2T - cg_j))^2"
)
class INST(AdaptiveMeasure):
    r"""Gain per document of a user who hopes for a gain of T, and adapts to what was gained.

    .. math:: C(i) = \left(\frac{i + T + T_i - 1}{i + T + T_i}\right)^2, \quad T_i = T - g(d_1) - ... - g(d_i)

    is the probability of going on from rank i, and INST the sum of g(d_i) times the chance to read rank i, over the sum
    of these chances. The gain of a document is its relevance over `max_rel`, from `min_rel` on. A query with more than
    10,000 orders of its ties has a sample of them, and ``Scores.standard_error`` says how far the mean may be off.

    References
    ----------
    Moffat, Bailey, Scholer and Thomas 2015, https://doi.org/10.1145/2838931.2838938.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> round(evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["INST"]).means()["INST"], 4)
    0.4075
    """

    T: float = parameter(1, Number(low=0.5, high=MOST_WANTED), WANTED)
    ranks: int | None = RANKS

    def goes_on(self, rank: FloatArray, gains: FloatArray, gained: FloatArray) -> FloatArray:  # noqa: ARG002 - as above
        """Return the probability of going on from each rank."""
        return np.maximum(1 - 1 / (rank + 2 * self.T - gained), 0.0) ** 2

    def below(self, n_read: int, n_ranks: int | None, gained: FloatArray) -> FloatArray:
        """Return the documents that a user who arrives below the list still reads."""
        left = n_read + 2 * self.T - gained
        return left**2 * _inverse_squares(left, n_ranks)


@register("nearly ERR, equation 8", "NERR8@k = ∑ V_i gain(d_i) / ∑ V_i over i ≤ k, with V_i = ∏[j<i] (1 - gain(d_j))")
class NERR8(AdaptiveMeasure, CutMeasure):
    r"""Not, but nearly, ERR: gain per document of a user who stops at a document with its gain as probability.

    .. math:: C(i) = 1 - g(d_i) \quad (i < k), \qquad C(k) = 0

    is the probability of going on from rank i, and the value the sum of g(d_i) times the chance to read rank i, over
    the sum of these chances. The gain of a document is its relevance over `max_rel`, from `min_rel` on. Ranks below the
    list are read too; without a cutoff, k is the number of retrieved documents. A query with more than 10,000 orders of
    its ties has a sample of them, and ``Scores.standard_error`` says how far the mean may be off.

    References
    ----------
    Azzopardi, Mackenzie and Moffat 2021, equation 8, https://doi.org/10.1145/3471158.3472239.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["NERR8@10"]).means()
    {'NERR8@10': 0.75}
    """

    def horizon(self, n_retrieved: int) -> int:
        """Return k."""
        return n_retrieved if self.cutoff is None else self.cutoff

    def goes_on(self, rank: FloatArray, gains: FloatArray, gained: FloatArray) -> FloatArray:  # noqa: ARG002 - of others
        """Return the probability of going on from each rank."""
        return 1 - gains

    def below(self, n_read: int, n_ranks: int | None, gained: FloatArray) -> float:  # noqa: ARG002 - as above
        """Return the documents that a user who arrives below the list still reads: all."""
        return float(n_ranks or 0)


@register(
    "nearly ERR, equation 9", "NERR9@k = ∑ V_i gain(d_i) / ∑ V_i over i ≤ k, with V_i = 1/i ∏[j<i] (1 - gain(d_j))"
)
class NERR9(NERR8):
    r"""Not, but nearly, ERR: as `NERR8`, with a user who also tires as the reciprocal rank does.

    .. math:: C(i) = \frac{i}{i + 1}\, (1 - g(d_i)) \quad (i < k), \qquad C(k) = 0

    Conventions, and what is exact, are those of `NERR8`.

    References
    ----------
    Azzopardi, Mackenzie and Moffat 2021, equation 9, https://doi.org/10.1145/3471158.3472239.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> round(evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["NERR9@10"]).means()["NERR9@10"], 4)
    0.6667
    """

    def goes_on(self, rank: FloatArray, gains: FloatArray, gained: FloatArray) -> FloatArray:  # noqa: ARG002 - of others
        """Return the probability of going on from each rank."""
        return rank / (rank + 1) * (1 - gains)

    def below(self, n_read: int, n_ranks: int | None, gained: FloatArray) -> float:  # noqa: ARG002 - as above
        """Return the documents that a user who arrives below the list still reads."""
        return float((n_read + 1) * (1 / (n_read + ranks_to(self, n_ranks or 0))).sum())


@register("nearly ERR, equation 10", "NERR10 = ∑ V_i gain(d_i) / ∑ V_i, with V_i = ∏[j<i] p (1 - gain(d_j))")
class NERR10(AdaptiveMeasure):
    r"""Not, but nearly, ERR: a user who stops at a document with its gain as probability, else goes on with p.

    .. math:: C(i) = p\, (1 - g(d_i))

    is the probability of going on from rank i, as for `RBP` where there is no gain. Other conventions, and what is
    exact, are those of `NERR8`.

    References
    ----------
    Azzopardi, Mackenzie and Moffat 2021, equation 10, https://doi.org/10.1145/3471158.3472239.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> round(evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["NERR10"]).means()["NERR10"], 4)
    0.7368
    """

    p: float = parameter(0.9, Number(low=0, high=1, open_high=True), "probability of going on where there is no gain")
    ranks: int | None = RANKS

    def goes_on(self, rank: FloatArray, gains: FloatArray, gained: FloatArray) -> FloatArray:  # noqa: ARG002 - as above
        """Return the probability of going on from each rank."""
        return self.p * (1 - gains)

    def below(self, n_read: int, n_ranks: int | None, gained: FloatArray) -> float:  # noqa: ARG002 - as above
        """Return the documents that a user who arrives below the list still reads."""
        return (1.0 if n_ranks is None else 1 - float(self.p) ** n_ranks) / (1 - self.p)


@register(
    "nearly ERR, equation 11",
    "NERR11 = ∑ V_i gain(d_i) / ∑ V_i, with V_i = (2T / (i + 2T - 1))^2 ∏[j<i] (1 - gain(d_j))",
)
class NERR11(AdaptiveMeasure):
    r"""Not, but nearly, ERR: a user who stops at a document with its gain as probability, else goes on as for `INSQ`.

    .. math:: C(i) = \left(\frac{i + 2T - 1}{i + 2T}\right)^2 (1 - g(d_i))

    is the probability of going on from rank i. Other conventions, and what is exact, are those of `NERR8`.

    References
    ----------
    Azzopardi, Mackenzie and Moffat 2021, equation 11, https://doi.org/10.1145/3471158.3472239.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> round(evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["NERR11"]).means()["NERR11"], 4)
    0.6538
    """

    T: float = parameter(1, Number(low=1e-6, high=MOST_WANTED), WANTED)
    ranks: int | None = RANKS

    def goes_on(self, rank: FloatArray, gains: FloatArray, gained: FloatArray) -> FloatArray:  # noqa: ARG002 - as above
        """Return the probability of going on from each rank."""
        return (1 - 1 / (rank + 2 * self.T)) ** 2 * (1 - gains)

    def below(self, n_read: int, n_ranks: int | None, gained: FloatArray) -> float:  # noqa: ARG002 - as above
        """Return the documents that a user who arrives below the list still reads."""
        left = n_read + 2.0 * self.T
        return float(left**2 * _inverse_squares(left, n_ranks))
