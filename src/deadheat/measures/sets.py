"""Measures of the retrieved documents as a set, and of its top at a depth that the judgments set."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from deadheat.arrays import FloatArray, IntArray
from deadheat.kernels.segments import ratio
from deadheat.measures.base import register
from deadheat.measures.counts import Count
from deadheat.measures.parameters import Number, parameter
from deadheat.measures.top import CutTopMeasure, RelevanceMeasure, TopMeasure, retrieved_relevant
from deadheat.placements.placements import Placements, Relevant

MOST_TIMES = 1e6  # multiples of R, so that ranks stay exact integers


@register
class SetAP(Count, RelevanceMeasure):
    r"""Average precision of a set: precision times recall of all that is retrieved.

    .. math:: \text{SetAP} = \frac{C}{n} \cdot \frac{C}{R}

    with C relevant documents among the n retrieved ones and R in the qrels. The order, and so a tie, does not matter.
    It is 0 for an empty ranking, and for a query without relevant documents.

    References
    ----------
    set_map of trec_eval, https://github.com/usnistgov/trec_eval/blob/main/m_set_map.c.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "z": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["SetAP"]).means()
    {'SetAP': 0.25}
    """

    title = "average precision of a set"
    formula = "SetAP = C / n · C / R"
    trec_eval = ("set_map",)
    range = (0.0, 1.0)
    total = False

    def mean(self, placements: Placements) -> FloatArray:
        """Return C^2 / (n R)."""
        found = retrieved_relevant(placements, self.rel)
        return ratio(found**2, placements.n_retrieved * placements.n_relevant(self.rel).astype(np.float64))


@register
class Utility(Count, RelevanceMeasure):
    r"""Weighted sum of the documents that are retrieved or not, and relevant or not.

    .. math:: \text{Utility} = a\,C + b\,(n - C) + c\,(R - C) + d\,(N - n - R + C)

    with C relevant documents among the n retrieved ones, R in the qrels and N in the collection: a for each relevant
    one retrieved, b for each other one retrieved, c for each relevant one missed and d for each other one left out.
    Unjudged documents are not relevant. The order, and so a tie, does not matter.

    References
    ----------
    utility of trec_eval, https://github.com/usnistgov/trec_eval/blob/main/m_utility.c: the sum over the four cells of
    the contingency table of the TREC filtering tracks.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "z": 1}}, {"q": {"a": 0.5, "b": 0.5, "c": 0.1}}, ["Utility", "Utility(b=-0.5)"]).means()
    {'Utility': -1.0, 'Utility(b=-0.5)': 0.0}
    """

    title = "utility of a set"
    formula = "Utility = a C + b (n - C) + c (R - C) + d (N - n - R + C)"
    range = (-np.inf, np.inf)
    total = False
    trec_eval = ("utility",)

    a: float = parameter(1, Number(), "worth of a relevant document retrieved")
    b: float = parameter(-1, Number(), "worth of another document retrieved")
    c: float = parameter(0, Number(), "worth of a relevant document not retrieved")
    d: float = parameter(0, Number(), "worth of another document not retrieved")
    N: float = parameter(0, Number(low=0), "documents in the collection (trec_eval -N); matters with d")

    def mean(self, placements: Placements) -> FloatArray:
        """Return the weighted sum."""
        found = retrieved_relevant(placements, self.rel)
        n, relevant = placements.n_retrieved, placements.n_relevant(self.rel)
        left_out = self.N + found - n - relevant
        return self.a * found + self.b * (n - found) + self.c * (relevant - found) + self.d * left_out


@register
class RelP(RelevanceMeasure, CutTopMeasure):
    r"""Precision as a share of the highest one possible.

    .. math:: \text{RelP}@k = C_k / \min(k, R)

    with :math:`C_k` the relevant documents in the top k: precision up to k = R, and recall from there on. Without a
    cutoff, k is the number of retrieved documents, and no tie changes the value. With a cutoff, BEIR calls it recall
    that is capped (``R_cap@k``).

    References
    ----------
    relative_P and set_relative_P of trec_eval, https://github.com/usnistgov/trec_eval/blob/main/m_rel_P.c.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "z": 1}}, {"q": {"a": 0.5, "b": 0.5, "c": 0.1}}, ["RelP@1", "RelP@3", "RelP"]).means()
    {'RelP@1': 0.5, 'RelP@3': 0.5, 'RelP': 0.5}
    """

    title = "relative precision"
    formula = "RelP@k = C_k / min(k, R)"
    aliases = ("SetRelP", "R_cap")
    trec_eval = ("set_relative_P", "relative_P_{}")

    def divisor(self, placements: Placements) -> FloatArray:
        """Return min(k, R)."""
        return np.minimum(self.k(placements), placements.n_relevant(self.rel)).astype(np.float64)


@register
class RprecMult(RelevanceMeasure, TopMeasure):
    r"""Precision at a multiple of R, the number of relevant documents.

    .. math:: \text{RprecMult}@m = C_k / k, \quad k = \lfloor m R + 0.9 \rfloor

    with :math:`C_k` the relevant documents in the top k. The rounding of k is trec_eval's, in floating-point numbers.
    ``@`` sets the multiple; at 1 it is `Rprec`. A query without relevant documents has 0.

    References
    ----------
    Rprec_mult of trec_eval, https://github.com/usnistgov/trec_eval/blob/main/m_Rprec_mult.c.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> run = {"q": {"a": 3, "b": 2, "c": 2, "d": 1}}
    >>> evaluate({"q": {"a": 1, "c": 1}}, run, ["RprecMult@0.5", "RprecMult@1", "RprecMult@2"]).means()
    {'RprecMult@0.5': 1.0, 'RprecMult@1': 0.75, 'RprecMult@2': 0.5}
    """

    title = "precision at a multiple of R"
    formula = "RprecMult@m = C_k / k, with k = m R + 0.9 rounded down"
    trec_eval = ("Rprec_mult_{}",)
    at: ClassVar[str] = "multiple"

    multiple: float = parameter(
        1, Number(low=0, high=MOST_TIMES, open_low=True), "k as a multiple of R, before rounding; what @ sets"
    )

    def top(self, placements: Placements, ties: Relevant) -> IntArray:
        """Return how many ranks of each tie are among the first k."""
        return np.clip(self.divisor(placements).astype(np.int64)[ties.query] - ties.above, 0, ties.tied)

    def divisor(self, placements: Placements) -> FloatArray:
        """Return k."""
        return np.floor(self.multiple * placements.n_relevant(self.rel) + 0.9)
