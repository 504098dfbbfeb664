"""Whether the top k has a document of each subtopic: StAllHit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.measures.families import CutMeasure, distributions_of_chances
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import RelevanceMeasure
from deadheat.core.placements.placements import Placements
from deadheat.plugins.diversity.covering import count_kinds, cover_chance
from deadheat.plugins.diversity.topics import Topics, find_topics


class HitChances(NamedTuple):
    """How likely the top k of each query has all subtopics, over the orders of its ties.

    Attributes
    ----------
    probability : ndarray of float, shape (n_queries,)
    is_possible, is_certain : ndarray of bool, shape (n_queries,)
    """

    probability: FloatArray
    is_possible: BoolArray
    is_certain: BoolArray


@register("all subtopics hit", "StAllHit@k = 1 if c_(s,k) > 0 for all S > 0 subtopics s, else 0")
class StAllHit(RelevanceMeasure, CutMeasure):
    r"""Whether the top k has a relevant document for each subtopic.

    .. math:: \text{StAllHit}@k = [S > 0] \prod_s [c_{s,k} > 0]

    with S subtopics that a document is relevant to, and ``c_(s,k)`` documents relevant to s in the top k: it is 1 where
    `StRecall` is 1. Its mean over ties is the probability of that, and exact, as are variance and extremes. Subtopics
    are as for `alpha_DCG`.

    References
    ----------
    `StRecall`: Zhai, Cohen and Lafferty 2003, https://doi.org/10.1145/860435.860440. As of single documents, `AllHit`.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> topics = {"a": "1", "b": "1", "c": "2"}
    >>> rows = [{"query_id": "q", "doc_id": doc, "subtopic": topic, "relevance": 1} for doc, topic in topics.items()]
    >>> evaluate(rows, {"q": {"a": 1.0, "b": 0.5, "c": 0.5}}, ["StAllHit@1", "StAllHit@2", "StAllHit@3"]).means()
    {'StAllHit@1': 0.0, 'StAllHit@2': 0.5, 'StAllHit@3': 1.0}
    """

    binary = False  # documents of one relevance may differ in their subtopics

    @property
    def is_zero_or_one(self) -> bool:
        """Whether the value is 0 or 1: always."""
        return True

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a document relevant to a subtopic."""
        return self._topics(placements).n_topics > 0

    def can_list_orders(self, placements: Placements) -> bool:
        """Whether there are no subtopics, in which documents of one relevance may differ."""
        return placements.subtopics is None

    def mean(self, placements: Placements) -> FloatArray:
        """Return the probability, over all tie orders, that the top k has a document of each subtopic."""
        return self._chances(placements).probability

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""
        probability = self.mean(placements)
        return probability * (1 - probability)

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return 1 where every order, and where some order, has all subtopics in the top k, else 0."""
        chances = self._chances(placements)
        return chances.is_certain.astype(np.float64), chances.is_possible.astype(np.float64)

    def distributions(self, placements: Placements, queries: IntArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return the values of some queries over all tie orders, and their probabilities."""
        return distributions_of_chances(self.mean(placements)[queries])

    def _topics(self, placements: Placements) -> Topics:
        return placements.cached(("topics", self.rel), lambda: find_topics(placements, self.rel))

    def _chances(self, placements: Placements) -> HitChances:
        return placements.cached(("all subtopics", self.key), lambda: self._find_chances(placements))

    def _find_chances(self, placements: Placements) -> HitChances:
        """Return the chances of each query: the cutoff cuts one tie at most, and the documents above it are sure."""
        topics = self._topics(placements)
        inside = self.inside(placements.above, placements.tied)
        is_sure = inside == placements.tied
        is_cut = ~is_sure & (inside > 0)
        wanted = topics.n_relevant > 0
        missing = wanted & ~_find_hit(topics, placements, is_sure)
        has_all: BoolArray = np.asarray(wanted.any(axis=1) & ~missing.any(axis=1))
        chances = HitChances(np.array(has_all, np.float64), has_all.copy(), has_all.copy())
        in_cut_tie = _find_hit(topics, placements, is_cut)
        is_open = missing.any(axis=1) & ~(missing & ~in_cut_tie).any(axis=1)
        rows = np.flatnonzero(is_cut)
        starts = np.searchsorted(placements.query[rows], np.arange(placements.n_queries + 1))
        for query in np.flatnonzero(is_open).tolist():
            of_query = rows[starts[query] : starts[query + 1]]
            member = topics.member[topics.codes[of_query]][:, missing[query]]
            tied, of_tie = int(placements.tied[of_query[0]]), int(inside[of_query[0]])
            chance = cover_chance(count_kinds(member), tied, of_tie)
            chances.probability[query] = chance.probability
            chances.is_possible[query] = chance.is_possible
            chances.is_certain[query] = chance.is_certain
        return chances


def _find_hit(topics: Topics, placements: Placements, is_looked_at: BoolArray) -> BoolArray:
    """Tell which subtopics of each query some rows of the placements are relevant to."""
    hit = np.zeros(topics.n_relevant.shape, np.bool_)
    np.logical_or.at(hit, placements.query[is_looked_at], topics.member[topics.codes[is_looked_at]])
    return hit
