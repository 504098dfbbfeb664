"""Relevant and other documents in the right order: binG, AUC, GAUC and Accuracy."""

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels import preference
from deadheat.core.measures.families import JointMeasure, divide_moments
from deadheat.core.measures.mean_rank import RankSum
from deadheat.core.measures.parameters import Choice, parameter
from deadheat.core.measures.preference import bpref
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import RelevanceMeasure
from deadheat.core.placements.placements import Placements


@register("binary gain", "binG = 1/R ∑ 1 / log2(2 + n_d) over the retrieved relevant documents d", trec_eval=("binG",))
class binG(RelevanceMeasure, JointMeasure):
    r"""Gain of the relevant documents, each discounted by the documents above it that are not relevant.

    .. math:: \text{binG} = \frac{1}{R} \sum_{d\ \text{relevant, retrieved}} \frac{1}{\log_2(2 + n_d)}

    with :math:`n_d` the documents above d that are not relevant, unjudged ones included: `G` with a gain of 0 or 1.
    In a tie of s other documents and r relevant ones, the number of others above one relevant document is uniform on
    0..s, and that above two is x and y with probability 1 / ((s + 1)(s + 2)), twice that if x = y: there are as many
    orders as ways to put r documents into s + 1 gaps. That gives mean and variance.

    References
    ----------
    binG of trec_eval, https://github.com/usnistgov/trec_eval/blob/main/m_binG.c.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> round(evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["binG"]).means()["binG"], 4)
    0.8155
    """

    def find_moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Compute mean and variance over all tie orders."""
        found = placements.relevant(self.rel)
        above = found.above - found.before  # that are not relevant
        parts = preference.moments(
            found.count, found.tied - found.count, lambda index, x: 1 / np.log2(2.0 + above[index, None] + x)
        )
        return divide_moments(placements, parts, found.query, placements.n_relevant(self.rel))


@register(
    "area under the ROC curve",
    "AUC = pairs of a relevant and another judged document in order / all such pairs that are retrieved",
)
class AUC(JointMeasure, RelevanceMeasure):
    r"""Area under the ROC curve: share of pairs of a relevant and another document that are in the right order.

    .. math:: \text{AUC} = \frac{|\{(d, d') : \text{rank}(d) < \text{rank}(d')\}|}{R_n N_n}

    over all pairs of a relevant document d and a judged one d' that is not, both retrieved: :math:`R_n` and
    :math:`N_n` of them. Over the orders of ties a tied pair counts a half. Documents that are not retrieved or not
    judged, and those of negative relevance, are left out. Without a pair there is no value (NaN), and the query is left
    out of the mean. In a tie of s other documents and r relevant ones, the number of pairs in order has the variance
    r s (r + s + 1) / 12.

    References
    ----------
    Hanley and McNeil 1982, https://doi.org/10.1148/radiology.143.1.7063747; variance over ties: Mann and Whitney 1947,
    https://doi.org/10.1214/aoms/1177730491.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> run = {"q": {"a": 3, "b": 2, "c": 2, "x": 9}}
    >>> evaluate({"q": {"a": 1, "b": 0, "c": 1}}, run, ["AUC"]).means()
    {'AUC': 0.75}
    """

    def find_moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Compute mean and variance over all tie orders; then the numbers of relevant and of other documents."""
        ties = bpref(rel=self.rel).judged_ties(placements)
        query, relevant, others = ties.query, ties.n_relevant, ties.n_others
        is_other = (placements.relevance >= min(0, self.rel)) & (placements.relevance < self.rel)
        n_others = placements.by_query(is_other, placements.query)
        mean = placements.by_query(relevant * (n_others[query] - ties.others_above - others / 2), query)
        variance = placements.by_query(relevant * others * ((relevant + others + 1) / 12), query)
        n_relevant = placements.by_query(relevant, query)
        n_pairs = np.where(n_relevant * n_others > 0, n_relevant * n_others, np.nan)
        return mean / n_pairs, variance / n_pairs**2, n_relevant, n_others


@register(
    "group-weighted area under the ROC curve",
    "GAUC = ∑ w_q AUC_q / ∑ w_q over the queries q",
    range=(0.0, np.inf),
    only_total=True,
)
class GAUC(AUC):
    r"""Area under the ROC curve of each query (or user), averaged with weights.

    .. math:: \text{GAUC} = \frac{\sum_q w_q\, \text{AUC}_q}{\sum_q w_q}

    The weight of a query is the number of its judged documents that were retrieved (``weight="judged"``: the
    impressions, as Zhou et al. have it), or of the relevant ones among these (``"relevant"``: the clicks, as RecBole
    does). Queries without a pair have no value (NaN) and no weight. So that the mean over queries is GAUC, the value of
    a single query is its AUC times its weight over the mean weight; in a part of the queries (strata), the weights
    are still those of all. Intervals take these values as they are, and so the weights for chance too: where queries
    weigh very differently, they are wider than those of a ratio would be. A difference of two systems has no such
    surplus where it is small.

    References
    ----------
    Zhou et al. 2018, Deep interest network, section 6.2, https://doi.org/10.1145/3219819.3219823.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> qrels = {"u1": {"a": 1, "b": 0}, "u2": {"a": 1, "b": 0, "c": 0, "d": 0}}
    >>> run = {"u1": {"a": 2, "b": 1}, "u2": {"b": 4, "c": 3, "a": 2, "d": 1}}
    >>> means = evaluate(qrels, run, ["AUC", "GAUC"]).means()
    >>> round(means["AUC"], 4), round(means["GAUC"], 4)
    (0.6667, 0.5556)
    """

    weight: str = parameter("judged", Choice(("judged", "relevant")), "retrieved documents that a query weighs")

    def can_list_orders(self, placements: Placements) -> bool:  # noqa: ARG002 - of measures of diversity
        """Return False: the value of a query has the weights of all in it."""
        return False

    def find_moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Compute mean and variance over all tie orders."""
        mean, variance, n_relevant, n_others = super().find_moments(placements)
        has_value = n_relevant * n_others > 0
        weight = np.where(has_value, n_relevant + (n_others if self.weight == "judged" else 0), 0.0)
        share = weight / (weight.sum() / max(int(has_value.sum()), 1) or 1.0)
        return share * mean, share**2 * variance


@register(
    "accuracy of pairs", "Accuracy@k = pairs of a relevant and another document of the top k in order / all such pairs"
)
class Accuracy(RankSum):
    r"""Share of pairs of a relevant and another document of the top k that are in the right order.

    .. math:: \text{Accuracy}@k = 1 - \frac{\sum_{d\ \text{relevant}} (\text{rank}(d) - C_d)}{C_k (m - C_k)}

    over the relevant documents in the top k: :math:`C_k` of the m retrieved there, :math:`C_d` of them from d up. Other
    than for `AUC`, all documents that are not relevant count, unjudged ones too. Where the top k holds no relevant
    document it is 0, and where it holds relevant ones alone 1: ir_measures has no value in the first case, and divides
    by zero in the second.

    References
    ----------
    MacAvaney, Macdonald and Ounis 2022, https://doi.org/10.48550/arXiv.2111.13466, whose ir-measures calls it so.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> run = {"q": {"a": 3, "b": 2, "c": 2, "x": 1}}
    >>> evaluate({"q": {"a": 1, "c": 1}}, run, ["Accuracy", "Accuracy@2"]).means()
    {'Accuracy': 0.875, 'Accuracy@2': 1.0}
    """

    @property
    def is_zero_or_one(self) -> bool:
        """Whether there is one pair at most."""
        return self.cutoff in {1, 2}

    def line(self, placements: Placements, size: FloatArray, query: IntArray | slice) -> tuple[FloatArray, FloatArray]:
        """Return the slope and the start of the value as a line over the sum of ranks."""
        others = np.maximum(self.depth(placements)[query] - size, 0)
        slope = np.where(others > 0, -1 / np.maximum(size * others, 1), 0.0)
        return slope, np.where(others > 0, 1 + (size + 1) / (2 * np.maximum(others, 1)), 1.0)
