"""nDCG averaged over several ranks of one list: RnDCG where the ideal gain changes, nDCGRel at gaining documents."""

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels import linear
from deadheat.core.kernels.segments import scan_before
from deadheat.core.measures.families import JointMeasure, computed_once, divide_moments
from deadheat.core.measures.gains import compute_gains, exponents_of_small, ideal_gains, ideal_rank
from deadheat.core.measures.parameters import Number, parameter, parameters
from deadheat.core.measures.registration import register
from deadheat.core.measures.weighted import GainMeasure, sum_gains, sum_squared_deviations
from deadheat.core.placements.placements import Placements
from deadheat.plugins.more_measures.ideal_sums import IdealSums
from deadheat.plugins.more_measures.kernels import discounted_pairs


@parameters
class AveragedMeasure(GainMeasure, JointMeasure):
    """An average of nDCG over ranks; a swap that puts the higher gain first never lowers it.

    Very small gains of a query are divided by a power of two, which nDCG divides out: float64 then holds the inverse of
    the ideal, and its square.
    """

    @computed_once("gain")
    def exponent(self, placements: Placements) -> IntArray:
        """Return the power of two that the gains of each query are divided by, of shape (n_queries,)."""
        highest = np.zeros(placements.n_queries)
        np.maximum.at(highest, placements.judged_query, ideal_gains(placements, self.gain))
        return exponents_of_small(highest)

    def scaled_gains(self, placements: Placements) -> FloatArray:
        """Return the scaled gain of each row."""
        gains = compute_gains(self.gain, placements.relevance)
        return np.ldexp(gains, -self.exponent(placements)[placements.query])

    @computed_once("gain")
    def ideal(self, placements: Placements) -> tuple[IdealSums, FloatArray]:
        """Return the ideal DCG, of judgments with a positive gain, and their scaled gains."""
        gains = ideal_gains(placements, self.gain)
        gains = np.ldexp(gains, -self.exponent(placements)[placements.judged_query])
        positive = gains > 0
        query, gains, rank = placements.judged_query[positive], gains[positive], ideal_rank(placements)[positive]
        return IdealSums.of(query, gains / np.log2(rank + 2.0), placements.n_queries), gains


@register(
    "nDCG at the ends of levels",
    "RnDCG = 1/|K| ∑ DCG_k / IDCG_k over the ranks k ∈ K at which a level ends in the ideal ranking",
    trec_eval=("Rndcg",),
)
class RnDCG(AveragedMeasure):
    r"""Average of nDCG over the ranks where the gain of the ideal ranking changes.

    .. math:: \text{RnDCG} = \frac{1}{|K|} \sum_{k \in K} \frac{DCG_k}{IDCG_k}

    K are the ranks at which the documents of a level end in the ideal ranking: with 5 documents of gain 3, 3 of gain 2
    and 10 of gain 1, they are 5, 8 and 18. The last retrieved rank is one more if it is at least two below these, as
    trec_eval has it. The discount is log2(i + 1). It is a weighted sum of gains, and so are its moments; the weights
    fall, so the extremes have the gains of each tie in order. A query without a document of relevance `rel` has 0.

    References
    ----------
    Rndcg of trec_eval, https://github.com/usnistgov/trec_eval/blob/main/m_Rndcg.c.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> run = {"q": {"a": 3, "b": 2, "c": 2, "d": 1}}
    >>> round(evaluate({"q": {"a": 1, "b": 2}}, run, ["RnDCG"]).means()["RnDCG"], 4)
    0.6433
    """

    rel: float = parameter(1, Number(), "lowest relevance that a judgment must reach for a value above 0")

    def find_moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Compute mean and variance over all tie orders."""
        gains = self.scaled_gains(placements)
        total = sum_gains(placements, ("scaled", self.gain), gains)
        squares = sum_squared_deviations(placements, ("scaled", self.gain), gains)
        own = np.flatnonzero(total > 0)
        starts = placements.tie_starts[own]
        query, above, tied = placements.query[starts], placements.above[starts], placements.tied[starts]
        span = int(max(placements.n_retrieved.max(initial=0), len(placements.judged_query))) + 1  # beyond all ranks
        ends, from_end, last = self._levels(placements, span)

        def weight(index: IntArray, j: IntArray) -> FloatArray:
            rank, of = above[index, None] + j, query[index, None]
            end = np.searchsorted(ends, of * span + np.minimum(rank, span - 1))
            own_part = np.where(ends[end] // span == of, from_end[end], 0.0)
            return (own_part + last[of]) / np.log2(rank + 1.0)

        parts = linear.moments(tied, tied, total[own], squares[own], weight=weight)
        return tuple(placements.by_query(part, query) * (placements.n_relevant(self.rel) > 0) for part in parts)

    def _levels(self, placements: Placements, span: int) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return where levels end (query and rank as one number), the weight of ranks from there up, and of all.

        An end beyond all queries, without a weight, comes last.
        """
        ideal, gains = self.ideal(placements)
        end = np.flatnonzero((np.diff(gains, append=0.0) != 0) | (np.diff(ideal.query, append=-1) != 0))
        query, rank = ideal.query[end], end - ideal.starts[ideal.query[end]] + 1
        is_longer = (placements.n_retrieved >= ideal.sizes + 2) & (ideal.sizes > 0)
        n_ends = np.bincount(query, minlength=placements.n_queries) + is_longer
        share = 1 / (ideal.sums[end] * n_ends[query])
        from_end = scan_before(share[::-1], -query[::-1], np.add)[::-1] + share
        last = np.zeros(placements.n_queries)
        last[query] = share  # the last of each query is written last
        ends = np.append(query * span + rank, placements.n_queries * span)
        return ends, np.append(from_end, 0.0), np.where(is_longer, last, 0.0)


@register(
    "nDCG at documents with a gain",
    "nDCGRel = 1/G (∑ DCG_i / IDCG_i over ranks i of the G_n found + (G - G_n) DCG_n / IDCG_G)",
    trec_eval=("ndcg_rel",),
)
class nDCGRel(AveragedMeasure):
    r"""Average of nDCG over the ranks of the documents with a gain.

    .. math::
        \text{nDCGRel} = \frac{1}{G} \Big(\sum_{g(d_i) > 0} \frac{DCG_i}{IDCG_i}
        + (G - G_n) \frac{DCG_n}{IDCG_G}\Big)

    G documents have a positive gain, :math:`G_n` of them among the n retrieved; each one missed counts with the nDCG
    of the whole list. The ideal DCG is that of the ideal ranking down to the same rank; the discount is log2(i + 1).
    Putting the higher gain of two neighbours first raises the DCG at both, and takes a gaining document to a rank with
    a smaller ideal: so the extremes have the gains of each tie in order.

    References
    ----------
    ndcg_rel of trec_eval, https://github.com/usnistgov/trec_eval/blob/main/m_ndcg_rel.c.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> round(evaluate({"q": {"a": 1, "c": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["nDCGRel"]).means()["nDCGRel"], 4)
    0.5967
    """

    def find_moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Compute mean and variance over all tie orders."""
        gains = self.scaled_gains(placements)
        ideal, _ = self.ideal(placements)
        rows = np.flatnonzero(gains > 0)
        own, first = np.unique(np.searchsorted(placements.tie_starts, rows, side="right") - 1, return_index=True)
        starts = placements.tie_starts[own]
        query, above, tied = placements.query[starts], placements.above[starts], placements.tied[starts]
        n_missed = ideal.sizes - np.bincount(placements.query[rows], minlength=placements.n_queries)
        rest = n_missed[query] / ideal.at(ideal.sizes[query], query)

        def weights(index: IntArray, j: IntArray) -> tuple[FloatArray, FloatArray]:
            rank = above[index, None] + j
            return 1 / np.log2(rank + 1.0), 1 / ideal.at(rank, query[index, None])

        parts = discounted_pairs.moments(query, tied, gains[rows], first, rest=rest, weights=weights)
        return divide_moments(placements, parts, query, ideal.sizes.astype(np.float64))
