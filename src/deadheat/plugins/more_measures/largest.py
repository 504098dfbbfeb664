"""The best document of the top k: MaxRel."""

from typing import ClassVar

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.kernels.segments import scan_before
from deadheat.core.measures.families import CutMeasure, JointMeasure
from deadheat.core.measures.gains import PositiveMeasure, compute_gains
from deadheat.core.measures.registration import register
from deadheat.core.placements.placements import Placements


@register(
    "largest relevance",
    "MaxRel@k = max(0, r_1, ..., r_k), which is ∑ (t_l - t_(l-1)) over the l with C_(k,l) > 0",
    aliases=("MaxOntSim",),
    range=(0.0, np.inf),
)
class MaxRel(PositiveMeasure, JointMeasure, CutMeasure):
    r"""Largest relevance in the top k.

    .. math:: \text{MaxRel}@k = \max(0, r_1, ..., r_k) = \sum_l (t_l - t_{l-1}) [C_{k,l} > 0]

    with the positive relevance values :math:`t_l` of the judgments in ascending order, :math:`t_0 = 0`, and
    ``C_(k,l)`` documents of relevance :math:`t_l` or more in the top k: a sum of `Hit` over all thresholds.
    Unjudged documents and negative relevance count 0, and so does an empty ranking. Intervals of the mean lie between 0
    and the highest relevance in the qrels, or 1 if that is higher. Without a cutoff it is the
    largest relevance retrieved, which no tie changes. On judgments from ``Ontology.judge`` it is MaxOntSim@k, the
    highest similarity of a retrieved term to an expected one.

    References
    ----------
    MaxOntSim: phentrieve's benchmark, https://github.com/berntpopp/phentrieve. Probabilities over ties: Raghavan,
    Bollmann and Jung 1989, https://doi.org/10.1145/65943.65945.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "c": 0.4}}, {"q": {"a": 0.5, "b": 0.5, "c": 0.5}}, ["MaxRel@1", "MaxRel"]).means()
    {'MaxRel@1': 0.4666666666666667, 'MaxRel': 1.0}
    """

    has_limits = True
    by_ontology: ClassVar[bool] = True

    def limits(self, placements: Placements) -> tuple[float, float]:
        """Return 0 and the highest relevance in the qrels, or 1, as of similarities, where none is higher."""
        return 0.0, max(1.0, placements.max_relevance)

    def find_moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        r"""Compute mean and variance over all tie orders, each of shape (n_queries,).

        Only the tie that the cutoff cuts is random. If m of its n documents fall inside, its j-th best is the best
        of these with probability

        .. math:: \frac{m}{n - j + 1} \prod_{l < j} \frac{n - m - l + 1}{n - l + 1}

        so that no difference of large numbers is taken.
        """
        relevance = compute_gains("linear", placements.relevance)
        inside = self.inside(placements.above, placements.tied)
        whole = inside == placements.tied
        certain = np.zeros(placements.n_queries)
        np.maximum.at(certain, placements.query[whole], relevance[whole])
        rises = relevance - certain[placements.query]
        rows = np.flatnonzero((inside > 0) & ~whole & (rises > 0))  # by query, the most relevant first
        query, rise = placements.query[rows], rises[rows]
        first = np.searchsorted(query, query)
        left = placements.tied[rows] - (np.arange(len(rows)) - first)  # documents from this one on
        outside = np.maximum(left - inside[rows], 0) / left
        better_outside = scan_before(outside, query, np.multiply)
        is_best = better_outside * np.minimum(inside[rows] / left, 1.0)
        last = np.flatnonzero(np.diff(query, append=-1))
        none_inside = placements.by_query((better_outside * outside)[last], query[last])
        raised = placements.by_query(is_best * rise, query)
        best = np.zeros(placements.n_queries)
        best[query] = rise[first]
        differs = placements.by_query((is_best > 0) & (rise < best[query]), query) > 0
        # probabilities may add up to a little less than 1: the mean of equal numbers is that number
        raised = np.where(differs | (none_inside > 0), raised, best)
        squares = placements.by_query(is_best * (rise - raised[query]) ** 2, query)
        return certain + raised, squares + none_inside * raised**2
