"""Whether the top k is all that a query needs: AllHit."""

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import batches
from deadheat.core.measures.families import CutMeasure, distributions_of_chances
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import RelevanceMeasure, retrieved_relevant
from deadheat.core.placements.placements import Placements


@register(
    "all hit",
    "AllHit@k = 1 if C_k = R > 0, else 0",
    aliases=("recall_all", "RecallAll"),
)
class AllHit(RelevanceMeasure, CutMeasure):
    r"""Whether all relevant documents are in the top k: for questions that need every piece of evidence.

    .. math:: \text{AllHit}@k = [C_k = R > 0]

    with :math:`C_k` the relevant documents in the top k and R those in the qrels. Its mean over ties is the probability
    of finding all. It is 0 where R is more than k, and for a query without relevant documents, as `Hit` is. With one
    relevant document it is `Hit`, and it is never above `R`.

    References
    ----------
    recall_all of LongMemEval, Wu et al. 2024, https://doi.org/10.48550/arXiv.2410.10813; its recall_any is `Hit`.
    Probabilities over ties: Raghavan, Bollmann and Jung 1989, https://doi.org/10.1145/65943.65945.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.9, "b": 0.5, "c": 0.5}}
    >>> evaluate(qrels, run, ["AllHit@1", "AllHit@2", "AllHit@3"]).means()
    {'AllHit@1': 0.0, 'AllHit@2': 0.5, 'AllHit@3': 1.0}
    """

    @property
    def is_zero_or_one(self) -> bool:
        """Whether the value is 0 or 1: always."""
        return True

    def mean(self, placements: Placements) -> FloatArray:
        """Return the probability, over all tie orders, that all relevant documents are in the top k."""
        ties = placements.relevant(self.rel)
        inside = self.inside(ties.above, ties.tied)
        n_relevant = placements.n_relevant(self.rel)
        finds_all = (n_relevant > 0) & (retrieved_relevant(placements, self.rel) == n_relevant)
        probability = finds_all.astype(np.float64)
        # The cutoff cuts one tie at most: those above it have probability 1, those below it 0
        np.minimum.at(probability, ties.query, probability_of_all(ties.tied, inside, ties.count))
        return probability

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""
        probability = self.mean(placements)
        return probability * (1 - probability)

    def distributions(self, placements: Placements, queries: IntArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return the values of some queries over all tie orders, and their probabilities."""
        return distributions_of_chances(self.mean(placements)[queries])


def probability_of_all(tied: IntArray, inside: IntArray, relevant: IntArray) -> FloatArray:
    r"""Return the probability that all relevant documents of each tie are on its first ranks.

    docs/math.md, section 4: it is P(X = r), here with m ranks inside and r of n documents relevant,

    .. math:: \prod_{j < r} \frac{m - j}{n - j} = \prod_{j < n - m} \frac{n - r - j}{n - j}

    and the shorter product is taken.

    Parameters
    ----------
    tied, inside, relevant : ndarray of shape (n_ties,)
        Documents in the tie, its ranks within the cutoff, relevant documents in it.

    Returns
    -------
    ndarray of shape (n_ties,)
    """
    outside = tied - inside
    n_factors = np.minimum(relevant, outside)
    n_free = tied - np.maximum(relevant, outside)  # of the first numerator
    probability = np.ones(len(tied))
    for index, width in batches(n_factors):
        j = np.arange(width)
        numerator = np.maximum(n_free[index, None] - j, 0)
        factor = numerator / np.maximum(tied[index, None] - j, 1)
        factor = np.where(j < n_factors[index, None], factor, 1.0)
        probability[index] = factor.prod(axis=1)
    return probability
