"""Measures whose value at a rank depends on how many documents of each kind are above it: infAP, G, AUPRC, Compat."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deadheat.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.kernels import prefix_counts
from deadheat.kernels.segments import ratio, scan_before, segment_sums
from deadheat.measures.base import CUTOFF, FLAG, Measure, Number, once, parameter, ranks_to, register
from deadheat.measures.discounted import (
    LOWEST_POSITIVE,
    GainMeasure,
    IdealSums,
    PositiveMeasure,
    gains_of,
    ideal_gains,
)
from deadheat.measures.orders import OrdersMeasure
from deadheat.measures.top import RelevanceMeasure
from deadheat.placements.placements import Placements

EPSILON = 1e-5  # of infAP


@dataclass(frozen=True, eq=False)
class KindTies:
    """The ties of which some document counts.

    Attributes
    ----------
    query, tied : ndarray of shape (n_ties,)
    above : ndarray of shape (n_ties,)
        Documents above the tie.
    counts : ndarray of shape (n_ties, n_kinds)
        Documents of each kind in the tie.
    """

    query: IntArray
    tied: IntArray
    above: IntArray
    counts: IntArray


@dataclass(frozen=True, eq=False)
class GainTies(KindTies):
    """The ties with a gain, whose kinds are their different gains, the highest first.

    Attributes
    ----------
    levels : ndarray of shape (n_ties, n_kinds)
        The gain of each kind; 0 where a tie has fewer.
    before : ndarray of shape (n_ties,)
        The gains above the tie, added up.
    """

    levels: FloatArray
    before: FloatArray

    @classmethod
    def of(cls, placements: Placements, gains: FloatArray) -> "GainTies":
        """Find the ties of which some document has a gain; `gains` is that of each row."""
        order = np.lexsort((-gains, placements.above, placements.query))
        rows = order[gains[order] > 0]
        query, above, gains = placements.query[rows], placements.above[rows], gains[rows]
        kinds = run_starts(query, above, gains)  # the first row of each gain in each tie
        n_of_kind = np.diff(np.append(kinds, len(rows)))
        starts = run_starts(query, above)
        tie = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(rows))))[kinds]
        place = np.arange(len(kinds)) - np.searchsorted(tie, tie)
        counts = np.zeros((len(starts), int(place.max(initial=0)) + 1), np.int64)
        levels = np.zeros(counts.shape)
        counts[tie, place], levels[tie, place] = n_of_kind, gains[kinds]
        before = scan_before(segment_sums(gains, starts), query[starts], np.add)
        return cls(query[starts], placements.tied[rows][starts], above[starts], counts, levels, before)

    def with_seen(self, gains: FloatArray, ties: IntArray, seen: Sequence[IntArray]) -> FloatArray:
        """Return gains, shaped as states are, with those of the documents that were seen in some ties."""
        return sum((along(self.levels[ties, kind], seen) * number for kind, number in enumerate(seen)), gains)


class PrefixMeasure(OrdersMeasure):
    """A sum over the ranks, divided by a constant of the query."""

    # states of one tie over all its ranks, in about a second; beyond, orders are drawn
    most_steps: ClassVar[int] = 1 << 24

    @abstractmethod
    def ties(self, placements: Placements) -> tuple[KindTies, prefix_counts.Added]:
        """Return the ties, in the order of queries and ranks, and what their ranks add."""

    def divisor(self, placements: Placements) -> FloatArray:
        """Return what the sum is divided by, of shape (n_queries,); the value is 0 where it is 0."""
        return np.ones(placements.n_queries)

    def find_moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Compute mean, variance, standard error, minimum and maximum."""
        ties, added = self.ties(placements)
        large = np.unique(ties.query[prefix_counts.n_steps(ties.tied, ties.counts) > self.most_steps])
        own = np.flatnonzero(~np.isin(ties.query, large))
        parts = prefix_counts.moments(
            ties.tied[own],
            self.inside(ties.above, ties.tied)[own],
            ties.counts[own],
            lambda index, j, kind, seen: added(own[index], j, kind, seen),
        )
        divisor = self.divisor(placements)
        mean, variance, low, high = (placements.by_query(part, ties.query[own]) for part in parts)
        moments = ratio(np.array([mean, variance, np.zeros_like(mean), low, high]), divisor)
        moments[1] = ratio(moments[1], divisor)  # of the variance, the square
        moments[:, large] = self.over_orders(placements, large)
        return tuple(moments)


class MeanMeasure(PrefixMeasure):
    """One with a mean of its own: a sum of means that are exact however many documents tie."""

    standard_error = Measure.standard_error  # 0: the mean is exact, also where variance and extremes are of a sample

    def has_drawn_spread(self, placements: Placements) -> BoolArray:
        """Tell for which queries variance and extremes are those of drawn orders."""
        return self.moments(placements)[2] > 0


def along(values: FloatArray | IntArray, seen: Sequence[IntArray]) -> Any:  # noqa: ANN401 - of the dtype of the values
    """Return numbers of ties, shaped for the states of the kinds, each of which has an axis in `seen`."""
    return values.reshape(-1, *(1 for _ in range(seen[0].ndim)))


@register(
    "inferred average precision",
    "infAP = 1/R ∑ (1 + (J_i + U_i) (C_i + e) / (J_i + 2 e)) / i over the ranks i of relevant documents",
    trec_eval=("infAP",),
)
class infAP(RelevanceMeasure, PrefixMeasure):
    r"""Inferred average precision, for judgments of a sample of the pool.

    .. math::
        \text{infAP} = \frac{1}{R} \sum_{d_i\ \text{relevant}}
        \frac{1}{i} \left(1 + (J_i + U_i) \frac{C_i + e}{J_i + 2 e}\right)

    with, above rank i, :math:`C_i` relevant and :math:`J_i` judged documents, and :math:`U_i` of negative relevance:
    in the pool, but not judged. The precision of the judged documents above is taken for that of the whole pool, and
    documents outside of the pool are not relevant. The number e is 0.00001, as in trec_eval. Without negative relevance
    it is nearly `AP`. Moments and extremes over ties are exact, by way of the number of documents of each
    kind above a rank. For ties of several hundred judged documents, orders are drawn, and ``Scores.standard_error``
    says how far the mean may be off.

    References
    ----------
    Yilmaz and Aslam 2006, https://doi.org/10.1145/1183614.1183633, in the form of trec_eval.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> run = {"q": {"b": 3, "p": 2, "x": 2, "a": 1}}
    >>> round(evaluate({"q": {"a": 1, "b": 1, "p": -1}}, run, ["infAP"]).means()["infAP"], 4)
    0.875
    """

    def codes(self, relevance: FloatArray) -> FloatArray:
        """Return 2 for relevant documents, 1 for judged and 3 for pooled others, 0 for all else."""
        others = np.where(relevance >= 0, 1.0, np.where(np.isnan(relevance), 0.0, 3.0))
        return np.where(relevance >= self.rel, 2.0, others)

    def divisor(self, placements: Placements) -> FloatArray:
        """Return R."""
        return placements.n_relevant(self.rel).astype(np.float64)

    def ties(self, placements: Placements) -> tuple[KindTies, prefix_counts.Added]:
        """Return the ties with a relevant document: relevant, judged and pooled ones."""
        starts = placements.tie_starts
        codes, query = self.codes(placements.relevance), placements.query[starts]
        counts = segment_sums((codes[:, None] == [2, 1, 3]).astype(np.int64), starts).reshape(-1, 3)
        before = np.rint(scan_before(counts.astype(np.float64), query, np.add)).astype(np.int64)
        own = np.flatnonzero(counts[:, 0])
        above, before = placements.above[starts][own], before[own]

        def added(ties: IntArray, j: int, kind: int, seen: Sequence[IntArray]) -> FloatArray:
            if kind:
                return along(np.zeros(1), seen)
            relevant, other, pooled = (
                along(before[ties, n], seen) + (seen[n] if n < len(seen) else 0) for n in range(3)
            )
            return _inferred(along(above[ties] + j, seen), relevant, relevant + other, pooled)

        return KindTies(query[own], placements.tied[starts][own], above, counts[own]), added

    def of_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return the value of each ranking."""
        relevant, other, pooled = (np.cumsum(rankings == code, axis=1) - (rankings == code) for code in (2, 1, 3))
        each = _inferred(np.arange(1, rankings.shape[1] + 1), relevant, relevant + other, pooled)
        return np.where(rankings == 2, each, 0.0).sum(axis=1) / max(placements.n_relevant(self.rel)[query], 1)


def _inferred(rank: IntArray, relevant: IntArray, judged: IntArray, pooled: IntArray) -> FloatArray:
    """Return what a relevant document adds at a rank, given what is above it."""
    return (1 + (judged + pooled) * (relevant + EPSILON) / (judged + 2 * EPSILON)) / rank


@register(
    "normalised gain",
    "G = 1/S ∑ g(d_i) / log2(2 + c_i - ∑ g(d_j)) over the ranks j ≤ i, with c_i = ∑ max(1, g*_j)",
    trec_eval=("G",),
)
class G(PrefixMeasure, GainMeasure):
    r"""Gain of each document, discounted by the gain that was missed down to its rank.

    .. math:: G = \frac{1}{S} \sum_i \frac{g(d_i)}{\log_2(2 + c_i - g(d_1) - ... - g(d_i))}

    with :math:`c_i` the sum of the i highest gains of the judgments, each counted as at least 1, also below the last
    one, and S the sum of all gains. So a document is worth its gain where only ideal ones are above it,
    and less with each one that is not. Moments and extremes over ties are exact, by way of the number of documents of
    each gain above a rank. For large ties of many gains, orders are drawn, and ``Scores.standard_error`` says how far
    the mean may be off.

    References
    ----------
    G of trec_eval, https://github.com/usnistgov/trec_eval/blob/main/m_G.c.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> round(evaluate({"q": {"a": 2, "c": 1}}, {"q": {"a": 0.5, "b": 0.5, "c": 0.1}}, ["G"]).means()["G"], 4)
    0.754
    """

    def codes(self, relevance: FloatArray) -> FloatArray:
        """Return the gains."""
        return np.where(np.isnan(relevance), 0.0, gains_of(self.gain, np.nan_to_num(relevance, nan=-1.0)))

    def divisor(self, placements: Placements) -> FloatArray:
        """Return the sum of all gains."""
        return placements.by_query(ideal_gains(placements, self.gain), placements.judged_query)

    def ties(self, placements: Placements) -> tuple[KindTies, prefix_counts.Added]:
        """Return the ties with a gain: the documents of each of its gains."""
        found = GainTies.of(placements, gains_of(self.gain, placements.relevance))

        def added(ties: IntArray, j: int, kind: int, seen: Sequence[IntArray]) -> FloatArray:
            own = found.levels[ties, kind]
            gained = found.with_seen(along(found.before[ties] + own, seen), ties, seen)
            cost = along(self._cost(placements, found.above[ties] + j, found.query[ties]), seen)
            # less is for states that no order reaches
            return along(own, seen) / np.log2(np.maximum(2 + cost - gained, 2.0))

        return found, added

    def of_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return the value of each ranking."""
        rank = np.arange(1, rankings.shape[1] + 1)
        cost = self._cost(placements, rank, np.full(len(rank), query))
        sums = (rankings / np.log2(2 + cost - np.cumsum(rankings, axis=1))).sum(axis=1)
        return sums / self.divisor(placements)[query]

    def _cost(self, placements: Placements, rank: IntArray, query: IntArray) -> FloatArray:
        """Return c of some ranks of some queries."""

        def find() -> IdealSums:
            above_one = np.maximum(ideal_gains(placements, self.gain) - 1, 0.0)
            return IdealSums.of(placements.judged_query, above_one, placements.n_queries)

        return rank + placements.cached(("cost of G", self.gain), find).at(rank, query)


@register(
    "area under the precision-recall curve",
    "AUPRC = 1/R ∑ (C_i / i + C_(i-1) / (i - 1)) / 2 over the ranks i of relevant documents",
    aliases=("PRAUC", "PR_AUC"),
)
class AUPRC(RelevanceMeasure, PrefixMeasure):
    r"""Area under the precision-recall curve, whose points, one for each rank, are joined by straight lines.

    .. math::
        \text{AUPRC} = \frac{1}{R} \sum_{d_i\ \text{relevant}} \frac{1}{2}
        \left(\frac{C_i}{i} + \frac{C_{i-1}}{i-1}\right)

    with :math:`C_i` the relevant documents in the top i and R those of the qrels. At i = 1 the second term is 1: the
    curve begins at precision 1. Beyond the recall of the whole list there is no area. It is never above `AP`, which
    takes the precision at the end of each step. Ties are averaged over their orders; scikit-learn joins the two ends of
    a tie by one straight line, which is no mean over orders. The points themselves are P@k and R@k, and ``pr_curve``
    stands for interpolated precision at eleven levels of recall (`IPrec`). Moments and extremes over ties are exact.
    For ties of several thousand documents with many relevant ones, orders are drawn, and ``Scores.standard_error``
    says how far the mean may be off.

    References
    ----------
    Davis and Goadrich 2006, https://doi.org/10.1145/1143844.1143874, also on what straight lines between far points do.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["AUPRC"]).means()
    {'AUPRC': 0.625}
    """

    divisor = infAP.divisor

    def ties(self, placements: Placements) -> tuple[KindTies, prefix_counts.Added]:
        """Return the ties with a relevant document."""
        found = placements.relevant(self.rel)

        def added(ties: IntArray, j: int, _kind: int, seen: Sequence[IntArray]) -> FloatArray:
            return _strip(along(found.above[ties] + j, seen), along(found.before[ties] + 1, seen) + seen[0])

        return KindTies(found.query, found.tied, found.above, found.count[:, None]), added

    def of_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return the value of each ranking."""
        strips = _strip(np.arange(1, rankings.shape[1] + 1), np.cumsum(rankings, axis=1))
        return np.where(rankings == 1, strips, 0.0).sum(axis=1) / max(placements.n_relevant(self.rel)[query], 1)


def _strip(rank: IntArray, count: IntArray | FloatArray) -> FloatArray:
    """Return the mean precision of a rank, which holds the last of `count` relevant documents, and the one above."""
    return (count / rank + np.where(rank > 1, (count - 1) / np.maximum(rank - 1, 1), 1.0)) / 2


@register(
    "compatibility", "Compat = 1/Z ∑ p^(i - 1) X_i / i, X_i the documents that the top i shares with the ideal one"
)
class Compat(PositiveMeasure, MeanMeasure):
    r"""Compatibility: rank-biased overlap with the ideal ranking that is nearest to the list.

    .. math:: \text{Compat} = \frac{1}{Z} \sum_{i=1}^{D} p^{i-1}\, \frac{|I_i \cap L_i|}{i}

    with the top i of the list :math:`L_i` and of an ideal ranking :math:`I_i`: the documents of positive relevance, the
    highest first, those of one relevance in the order of the list, and D the length of the longer one, as in
    ir_measures. The authors' program goes on to rank 1,000, whatever the lengths are, and counts what the two share at
    those ranks too: ``Compat(depth=1000)``. Z is the value of the ideal ranking itself, or with
    ``normalize=False`` the sum of the weights of all ranks, both to the same depth. The mean over ties is
    exact; variance and extremes are too, but for large ties of many levels, where they are those of 100 to 10,000
    drawn orders. Documents that were not retrieved come last in their level; ir_measures takes their score for 0, so
    that they come first where scores are negative.

    References
    ----------
    Clarke, Vtyurina and Smucker 2021, https://doi.org/10.1145/3451161; rank-biased overlap: Webber, Moffat and Zobel
    2010, https://doi.org/10.1145/1852102.1852106.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> run = {"q": {"a": 0.5, "b": 0.5}}
    >>> round(evaluate({"q": {"a": 1}}, run, ["Compat(p=0.5)"]).means()["Compat(p=0.5)"], 4)
    0.6

    A list with one of ten documents:

    >>> short = evaluate({"q": {f"d{n}": 1 for n in range(10)}}, {"q": {"d0": 1.0}}, ["Compat", "Compat(depth=1000)"])
    >>> {name: round(mean, 4) for name, mean in short.means().items()}
    {'Compat': 0.3254, 'Compat(depth=1000)': 0.2345}
    """

    p: float = parameter(0.95, Number(low=0, high=1, open_low=True, open_high=True), "persistence")
    normalize: bool = parameter(True, FLAG, "whether the ideal ranking has 1")  # noqa: FBT003 - a default
    depth: int | None = parameter(None, CUTOFF, "rank at which the sums end; None: the end of the longer list")

    def codes(self, relevance: FloatArray) -> FloatArray:
        """Return the positive relevance, else 0."""
        return np.where(relevance > 0, relevance, 0.0)

    def divisor(self, placements: Placements) -> FloatArray:
        """Return Z."""
        depth, n_ideal = self._depth(placements), placements.n_relevant(LOWEST_POSITIVE)
        if not self.normalize:
            return (1 - float(self.p) ** depth) / (1 - self.p)
        rank = ranks_to(self, int(depth.max(initial=0)))
        full = np.append(0.0, np.cumsum(float(self.p) ** (rank - 1)))  # of ranks that the ideal list fills
        harmonic, n_ideal = self._harmonic(placements), np.minimum(n_ideal, depth)
        return full[n_ideal] + n_ideal * (harmonic[depth] - harmonic[n_ideal])

    def ties(self, placements: Placements) -> tuple[KindTies, prefix_counts.Added]:
        """Return the ties with a document of positive relevance.

        The c-th document of a level adds to the overlap from its rank on, but not above the rank that c documents of
        this level have in the ideal ranking.
        """
        found, first, worth = self._levels(placements)
        return found, lambda ties, j, kind, seen: worth(ties, j, first[ties, kind], seen[kind])

    @once("key")
    def mean(self, placements: Placements) -> FloatArray:
        """Return the mean over all tie orders, a sum over the levels: each adds by its own documents alone."""
        found, first, worth = self._levels(placements)
        tie, kind = np.nonzero(found.counts)
        means = prefix_counts.moments(
            found.tied[tie],
            found.tied[tie],
            found.counts[tie, kind][:, None],
            lambda index, j, _, seen: worth(tie[index], j, first[tie, kind][index], seen[0]),
        )[0]
        return ratio(placements.by_query(means, found.query[tie]), self.divisor(placements))

    def of_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return the value of each ranking."""
        own = placements.judged_relevance[placements.judged_query == query]
        depth, harmonic = int(self._depth(placements)[query]), self._harmonic(placements)
        total = np.zeros(len(rankings))
        for level in np.unique(own[own > 0]).tolist():
            is_own = rankings == level
            ideal = (own > level).sum() + np.cumsum(is_own, axis=1)
            rank = np.minimum(np.maximum(np.arange(1, rankings.shape[1] + 1), ideal), depth + 1)
            total += np.where(is_own, harmonic[depth] - harmonic[rank - 1], 0.0).sum(axis=1)
        return total / (self.divisor(placements)[query] or 1.0)

    def _depth(self, placements: Placements) -> IntArray:
        longer = np.maximum(placements.n_retrieved, placements.n_relevant(LOWEST_POSITIVE))
        return longer if self.depth is None else np.full(len(longer), self.depth)

    @once("p", "depth")
    def _harmonic(self, placements: Placements) -> FloatArray:
        """Return the sums of p^(i - 1) / i over the first ranks: none, one and so on."""
        rank = ranks_to(self, int(self._depth(placements).max(initial=0)))
        return np.append(0.0, np.cumsum(float(self.p) ** (rank - 1) / rank))

    def _levels(
        self, placements: Placements
    ) -> tuple[GainTies, IntArray, Callable[[IntArray, int, IntArray, IntArray], FloatArray]]:
        """Return the ties, and the ideal rank of the first document of each level in each, of shape (n_ties, n_kinds).

        The third gives what rank j of some ties adds, by this ideal rank and the documents of the level above rank j.
        """
        values = np.unique(placements.judged_relevance)
        # levels are counted from 1: sums of relevance may be beyond float64
        levels = np.where(placements.relevance > 0, 1.0 + np.searchsorted(values, placements.relevance), 0.0)
        found = GainTies.of(placements, levels)
        tie, kind = np.nonzero(found.counts)
        query = found.query[tie]
        key = query * len(values) - (found.levels[tie, kind].astype(np.int64) - 1)  # the highest level first
        judged = placements.judged_query * len(values) - np.searchsorted(values, placements.judged_relevance)
        n_higher = np.searchsorted(judged, key) - np.searchsorted(placements.judged_query, query)
        order = np.argsort(key, kind="stable")
        first = np.zeros(found.counts.shape, np.int64)
        n_above = scan_before(found.counts[tie, kind][order].astype(np.float64), key[order], np.add)
        first[tie[order], kind[order]] = n_higher[order] + n_above + 1
        ends, harmonic = self._depth(placements)[found.query], self._harmonic(placements)

        def worth(ties: IntArray, j: int, first: IntArray, seen: IntArray) -> FloatArray:
            rank = np.maximum(along(found.above[ties] + j, [seen]), along(first, [seen]) + seen)
            end = along(ends[ties], [seen])
            # 0 beyond the depth, and in states that no order reaches
            return harmonic[end] - harmonic[np.minimum(rank, end + 1) - 1]

        return found, first, worth
