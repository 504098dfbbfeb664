"""Counts of queries and of documents, whose total over queries is reported, as trec_eval prints them.

Without a cutoff no order of ties changes them.
"""

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import Count, CutTopMeasure, RelevanceMeasure
from deadheat.core.placements.placements import Placements


@register(
    "relevant documents retrieved",
    "NumRelRet@k = relevant documents in the top k",
    trec_eval=("num_rel_ret",),
    range=(0.0, np.inf),
    total=True,
)
class NumRelRet(RelevanceMeasure, CutTopMeasure):
    """Number of relevant documents retrieved (in the top k, with a cutoff).

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "z": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["NumRelRet", "NumRelRet@1"]).means()
    {'NumRelRet': 1.0, 'NumRelRet@1': 0.5}
    """

    def divisor(self, placements: Placements) -> FloatArray:
        """Return 1."""
        return np.ones(placements.n_queries)


class Size(Count):
    """A number that does not depend on which documents are retrieved."""

    def looked_at(self, placements: Placements) -> IntArray:
        """Return 0 for each list."""
        return np.zeros_like(placements.n_retrieved)


@register("queries", "NumQ = 1 for each query", trec_eval=("num_q",), only_total=True)
class NumQ(Size):
    """Number of queries: 1 for each.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5}}, ["NumQ"])["NumQ"].total
    1.0
    """

    def mean(self, placements: Placements) -> FloatArray:
        """Return 1 for each query."""
        return np.ones(placements.n_queries)


@register("documents retrieved", "NumRet = documents retrieved", trec_eval=("num_ret",))
class NumRet(Size):
    """Number of documents retrieved.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.1}}, ["NumRet"])["NumRet"].total
    2.0
    """

    def mean(self, placements: Placements) -> FloatArray:
        """Return the number of rows of the run."""
        return placements.n_retrieved.astype(np.float64)


@register("relevant documents", "NumRel = documents of relevance rel or more in the qrels", trec_eval=("num_rel",))
class NumRel(Size, RelevanceMeasure):
    """Number of relevant documents in the qrels.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 0.5}}, ["NumRel", "NumRel(rel=2)"]).means()
    {'NumRel': 2.0, 'NumRel(rel=2)': 1.0}
    """

    def mean(self, placements: Placements) -> FloatArray:
        """Return the number of judgments of relevance `rel` or more."""
        return placements.n_relevant(self.rel).astype(np.float64)
