"""Plain counts, as trec_eval prints them; their sum over queries is reported."""

from __future__ import annotations

import numpy as np

from deadheat.arrays import FloatArray
from deadheat.measures.base import Measure, register
from deadheat.measures.top import RelevanceMeasure
from deadheat.placements.placements import Placements


class Count(Measure):
    """A number that no tie order changes."""

    range = (0.0, np.inf)
    total = True
    is_quality = False

    def variance(self, placements: Placements) -> FloatArray:
        """Return 0."""
        return np.zeros(placements.n_queries)


@register
class NumQ(Count):
    """Number of queries: 1 for each.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5}}, ["NumQ"])["NumQ"].total
    1.0
    """

    title = "queries"
    formula = "NumQ = 1 for each query"
    trec_eval = ("num_q",)
    only_total = True

    def mean(self, placements: Placements) -> FloatArray:
        """Return 1 for each query."""
        return np.ones(placements.n_queries)


@register
class NumRet(Count):
    """Number of documents retrieved.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.1}}, ["NumRet"])["NumRet"].total
    2.0
    """

    title = "documents retrieved"
    formula = "NumRet = documents retrieved"
    trec_eval = ("num_ret",)

    def mean(self, placements: Placements) -> FloatArray:
        """Return the number of rows of the run."""
        return placements.n_retrieved.astype(np.float64)


@register
class NumRel(Count, RelevanceMeasure):
    """Number of relevant documents in the qrels.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 0.5}}, ["NumRel", "NumRel(rel=2)"]).means()
    {'NumRel': 2.0, 'NumRel(rel=2)': 1.0}
    """

    title = "relevant documents"
    formula = "NumRel = documents of relevance rel or more in the qrels"
    trec_eval = ("num_rel",)

    def mean(self, placements: Placements) -> FloatArray:
        """Return the number of judgments of relevance `rel` or more."""
        return placements.n_relevant(self.rel).astype(np.float64)


@register
class NumNonrelJudgedRet(Count, RelevanceMeasure):
    """Number of documents retrieved that are judged and not relevant; negative relevance counts as unjudged.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> run = {"q": {"a": 0.5, "b": 0.5, "c": 0.1}}
    >>> evaluate({"q": {"a": 1, "b": 0, "z": 0}}, run, ["NumNonrelJudgedRet"]).means()
    {'NumNonrelJudgedRet': 1.0}
    """

    title = "non-relevant documents retrieved"
    formula = "NumNonrelJudgedRet = retrieved documents of a relevance from 0 on and below rel"
    trec_eval = ("num_nonrel_judged_ret",)
    higher_is_better = False

    def mean(self, placements: Placements) -> FloatArray:
        """Return the number of rows of relevance 0 or more, and less than `rel`."""
        is_counted = (placements.relevance >= 0) & (placements.relevance < self.rel)
        return placements.by_query(is_counted, placements.query)
