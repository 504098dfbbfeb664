"""Measures of what a run retrieves, in whatever order: NumNonrelJudgedRet, SetAP and Utility."""

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.kernels.segments import divide_or_zero
from deadheat.core.measures.parameters import Number, parameter
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import Count, RelevanceMeasure, retrieved_relevant
from deadheat.core.placements.placements import Placements


@register(
    "non-relevant documents retrieved",
    "NumNonrelJudgedRet = retrieved documents of a relevance from 0 on and below rel",
    trec_eval=("num_nonrel_judged_ret",),
    higher_is_better=False,
)
class NumNonrelJudgedRet(Count, RelevanceMeasure):
    """Number of documents retrieved that are judged and not relevant; negative relevance counts as unjudged.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> run = {"q": {"a": 0.5, "b": 0.5, "c": 0.1}}
    >>> evaluate({"q": {"a": 1, "b": 0, "z": 0}}, run, ["NumNonrelJudgedRet"]).means()
    {'NumNonrelJudgedRet': 1.0}
    """

    def mean(self, placements: Placements) -> FloatArray:
        """Return the number of rows of relevance 0 or more, and less than `rel`."""
        return placements.by_query((placements.relevance >= 0) & (placements.relevance < self.rel), placements.query)


@register(
    "average precision of a set",
    "SetAP = C / n · C / R",
    trec_eval=("set_map",),
    range=(0.0, 1.0),
    total=False,
    is_quality=True,
)
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

    def mean(self, placements: Placements) -> FloatArray:
        """Return C^2 / (n R)."""
        found = retrieved_relevant(placements, self.rel)
        return divide_or_zero(found**2, placements.n_retrieved * placements.n_relevant(self.rel).astype(np.float64))


WORTH = Number(low=-1e100, high=1e100)  # times any number of documents it stays a float64


@register(
    "utility of a set",
    "Utility = a C + b (n - C) + c (R - C) + d (N - n - R + C)",
    trec_eval=("utility",),
    range=(-np.inf, np.inf),
    total=False,
    is_quality=True,
)
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

    a: float = parameter(1, WORTH, "worth of a relevant document retrieved")
    b: float = parameter(-1, WORTH, "worth of another document retrieved")
    c: float = parameter(0, WORTH, "worth of a relevant document not retrieved")
    d: float = parameter(0, WORTH, "worth of another document not retrieved")
    N: float = parameter(0, Number(low=0, high=1e100), "documents in the collection (trec_eval -N); matters with d")

    def mean(self, placements: Placements) -> FloatArray:
        """Return the weighted sum."""
        found = retrieved_relevant(placements, self.rel)
        n, relevant = placements.n_retrieved, placements.n_relevant(self.rel)
        left_out = self.N + found - n - relevant
        return self.a * found + self.b * (n - found) + self.c * (relevant - found) + self.d * left_out
