"""Measures whose value at a rank depends on how many documents of each kind are above it: infAP, G and AUPRC."""

from collections.abc import Sequence

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels import prefix_counts
from deadheat.core.kernels.segments import scan_before, segment_sums
from deadheat.core.measures.gains import compute_gains, ideal_gains
from deadheat.core.measures.prefix import GainTies, KindTies, PrefixMeasure, shape_for_states
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import RelevanceMeasure
from deadheat.core.measures.weighted import GainMeasure
from deadheat.core.placements.placements import Placements
from deadheat.plugins.more_measures.ideal_sums import IdealSums

EPSILON = 1e-5  # of infAP


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
                return shape_for_states(np.zeros(1), seen)
            relevant, other, pooled = (
                shape_for_states(before[ties, n], seen) + (seen[n] if n < len(seen) else 0) for n in range(3)
            )
            return _inferred(shape_for_states(above[ties] + j, seen), relevant, relevant + other, pooled)

        return KindTies(query[own], placements.tied[starts][own], above, counts[own]), added

    def score_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
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
        return np.where(np.isnan(relevance), 0.0, compute_gains(self.gain, np.nan_to_num(relevance, nan=-1.0)))

    def divisor(self, placements: Placements) -> FloatArray:
        """Return the sum of all gains."""
        return placements.by_query(ideal_gains(placements, self.gain), placements.judged_query)

    def ties(self, placements: Placements) -> tuple[KindTies, prefix_counts.Added]:
        """Return the ties with a gain: the documents of each of its gains."""
        found = GainTies.from_gains(placements, compute_gains(self.gain, placements.relevance))

        def added(ties: IntArray, j: int, kind: int, seen: Sequence[IntArray]) -> FloatArray:
            own = found.levels[ties, kind]
            gained = found.add_seen(shape_for_states(found.before[ties] + own, seen), ties, seen)
            cost = shape_for_states(self._cost(placements, found.above[ties] + j, found.query[ties]), seen)
            # less is for states that no order reaches
            return shape_for_states(own, seen) / np.log2(np.maximum(2 + cost - gained, 2.0))

        return found, added

    def score_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
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
            return _strip(
                shape_for_states(found.above[ties] + j, seen), shape_for_states(found.before[ties] + 1, seen) + seen[0]
            )

        return KindTies(found.query, found.tied, found.above, found.count[:, None]), added

    def score_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return the value of each ranking."""
        strips = _strip(np.arange(1, rankings.shape[1] + 1), np.cumsum(rankings, axis=1))
        return np.where(rankings == 1, strips, 0.0).sum(axis=1) / max(placements.n_relevant(self.rel)[query], 1)


def _strip(rank: IntArray, count: IntArray | FloatArray) -> FloatArray:
    """Return the mean precision of a rank, which holds the last of `count` relevant documents, and the one above."""
    return (count / rank + np.where(rank > 1, (count - 1) / np.maximum(rank - 1, 1), 1.0)) / 2
