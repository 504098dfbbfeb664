"""Bounds of a difference over unjudged documents: of two runs, in which a document has one label, the same in both.

Each run bounded by itself gives an outer bound: a document that both retrieve counts there as if it had two labels.
Here each document counts once, by how much more it weighs in the one run than in the other. That is exact for measures
that are a sum over documents, over a divisor that both runs share: P, DCG and RBP, whose divisor no label changes; R, F
and nDCG, whose divisor depends on the labels alone. The arguments are those of one run, with weights that may be below
0 (:mod:`deadheat.plugins.bounds.kernel`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.measures.base import Measure
from deadheat.core.measures.discounted import DCG, nDCG
from deadheat.core.measures.gains import scale_top
from deadheat.core.measures.parameters import Gains
from deadheat.core.measures.rank_biased import RBP
from deadheat.core.measures.top import F, P, R, constant_norm
from deadheat.core.placements.placements import Placements
from deadheat.plugins.bounds import kernel as kernels
from deadheat.plugins.bounds.ends import (
    Ends,
    allowed_numbers,
    check_scale,
    gains_of_judgments,
    has_ends,
    labels_of_ends,
    levels_of,
    offered_gains,
)
from deadheat.plugins.bounds.ndcg_ends import OpenSums, ndcg_ends, split_into_levels


@dataclass(frozen=True, eq=False)
class UnjudgedOfTwo:
    """The unjudged documents that one of two runs retrieves, or both, each once.

    Attributes
    ----------
    query : ndarray of int, shape (n_documents,)
        Index into the query ids of the placements, ascending.
    above, tied : ndarray of int, shape (2, n_documents)
        Documents above the tie in each run, and in it; 0 in it where the run does not retrieve the document.
    """

    query: IntArray
    above: IntArray
    tied: IntArray


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two runs over the same queries and judgments.

    Attributes
    ----------
    placements : tuple of two Placements
        From before any tie policy, of the same queries.
    documents : UnjudgedOfTwo
    top : float
        The highest relevance that an unjudged document can have.
    """

    placements: tuple[Placements, Placements]
    documents: UnjudgedOfTwo
    top: float

    def difference(self, find: Callable[[Placements], FloatArray]) -> FloatArray:
        """Return what a function finds for each query of the first run, less that of the second."""
        first, second = self.placements
        return find(first) - find(second)

    def difference_of_weights(self, weigh: Callable[[Placements, IntArray, IntArray], FloatArray]) -> FloatArray:
        """Return by how much more each document weighs in the first run, given above and tied of each."""
        documents = self.documents
        first, second = self.placements
        own = weigh(first, documents.above[0], documents.tied[0])
        return own - weigh(second, documents.above[1], documents.tied[1])

    def of_each_query(self, find: Callable[[int, slice], kernels.Ends]) -> Ends:
        """Return the ends that a function finds for each query, given its place and the places of its documents."""
        n_queries = self.placements[0].n_queries
        edges = np.searchsorted(self.documents.query, np.arange(n_queries + 1)).tolist()
        low, high = np.zeros((2, n_queries))
        for query in range(n_queries):
            low[query], high[query] = find(query, slice(edges[query], edges[query + 1]))
        return low, high


def has_joint_ends(measure: Measure) -> bool:
    """Return whether the bounds of a difference are known exactly, each document with one label."""
    if not has_ends(measure):
        return False
    if isinstance(measure, R | F) and measure.norm != "R":
        return False  # the relevant documents of each list divide
    if isinstance(measure, F) and measure.cutoff is None:
        return False  # as do the documents of each list
    if isinstance(measure, nDCG) and measure.ideal != "judged":
        return False
    return type(measure) in JOINT_ENDS


def joint_ends(measure: Measure, pairing: Pairing) -> Ends:
    """Return the least and the greatest difference of each query over all relevance of the unjudged documents.

    Parameters
    ----------
    measure : Measure
        One for which :func:`has_joint_ends` holds.
    pairing : Pairing

    Returns
    -------
    low, high : ndarray of shape (n_queries,)
        Of the first run less the second: some labels give them.

    Examples
    --------
    The first run has a relevant document where the second has another one; both have the unjudged ``u`` at rank 2.

    >>> from deadheat import P, place
    >>> qrels = {"q": {"good": 1, "bad": 0}}
    >>> runs = {"q": {"good": 2, "u": 1}}, {"q": {"bad": 2, "u": 1}}
    >>> placed = place(qrels, runs[0]), place(qrels, runs[1])
    >>> shared = UnjudgedOfTwo(np.array([0]), np.array([[1], [1]]), np.array([[1], [1]]))
    >>> low, high = joint_ends(P @ 2, Pairing(placed, shared, top=1))
    >>> low.tolist(), high.tolist()
    ([0.5], [0.5])
    """
    return JOINT_ENDS[type(measure)](measure, pairing)


def _ends_of_sum(measure: Any, pairing: Pairing) -> Ends:  # noqa: ANN401 - P, DCG or RBP
    """Return the ends where each document adds its gain times its weight, whatever the others are."""
    check_scale(measure, pairing.placements[0], pairing.top)
    label_gains = levels_of(measure, np.array(labels_of_ends(measure, pairing.top)))
    if isinstance(measure, RBP) and measure.graded:
        label_gains = label_gains / (scale_top(measure.max_rel, pairing.placements[0], "RBP") or 1.0)

    def weigh(placements: Placements, above: IntArray, tied: IntArray) -> FloatArray:
        if isinstance(measure, P):
            return _share_inside(measure, above, tied) / _divisor_of(measure, placements)[pairing.documents.query]
        return _mean_weight(measure, placements, above, tied)

    added = np.outer(label_gains, pairing.difference_of_weights(weigh))
    base = pairing.difference(measure.mean)
    query, n_queries = pairing.documents.query, len(base)
    low = base + np.bincount(query, added.min(axis=0), n_queries)
    high = base + np.bincount(query, added.max(axis=0), n_queries)
    return low, high


def _divisor_of(measure: P, placements: Placements) -> FloatArray:
    """Return the divisor of each query; 1 where it is 0, as of an empty list, in which no document is."""
    return np.maximum(measure.divisor(placements), 1.0)


def _share_inside(measure: Any, above: IntArray, tied: IntArray) -> FloatArray:  # noqa: ANN401 - with a cutoff
    """Return how likely each document is inside the cutoff; 0 where it is not retrieved."""
    return np.asarray(measure.inside(above, tied) / np.maximum(tied, 1))


def _mean_weight(
    measure: Any,  # noqa: ANN401 - with weights of ranks and a cutoff
    placements: Placements,
    above: IntArray,
    tied: IntArray,
) -> FloatArray:
    """Return the mean weight of each document over the ranks of its tie; 0 where it is not retrieved."""
    weights = measure.weights(max(int(measure.depth(placements).max(initial=0)), 1))
    sums = np.concatenate(([0.0], np.cumsum(weights)))
    first = np.minimum(above, len(weights))
    last = np.minimum(first + measure.inside(above, tied), len(weights))
    return np.asarray((sums[last] - sums[first]) / np.maximum(tied, 1))


def _ends_of_ratio(measure: Any, pairing: Pairing) -> Ends:  # noqa: ANN401 - R or F
    """Return the ends of recall and of F: the divisor depends on how many documents are relevant."""
    base = pairing.difference(lambda placements: measure.moment(placements, squares=False))
    shares = pairing.difference_of_weights(lambda _, above, tied: _share_inside(measure, above, tied))
    placements = pairing.placements[0]  # the divisor is that of both
    known = constant_norm(measure.norm, placements, measure.rel)
    of_k, of_relevant = measure.weights() if isinstance(measure, F) else (0.0, 1.0)
    k = measure.k(placements) if isinstance(measure, F) else np.zeros(placements.n_queries)

    def find(query: int, documents: slice) -> kernels.Ends:
        n_documents = documents.stop - documents.start
        n_relevant = known[query] + np.arange(n_documents + 1)
        divisor = (of_k * k[query] + of_relevant * n_relevant) / (of_k + of_relevant)
        allowed = allowed_numbers(measure, n_documents, pairing.top)
        return kernels.ratio_ends(float(base[query]), shares[documents], divisor, allowed)

    return pairing.of_each_query(find)


def _ends_of_ndcg(measure: nDCG, pairing: Pairing) -> Ends:
    base = pairing.difference(lambda placements: measure.moment(placements, squares=False))
    weights = pairing.difference_of_weights(
        lambda placements, above, tied: _mean_weight(measure, placements, above, tied)
    )
    judged_query, gains = gains_of_judgments(measure, pairing.placements[0])
    documents = pairing.documents
    n_queries = len(base)
    n_ranks = np.bincount(judged_query, minlength=n_queries) + np.bincount(documents.query, minlength=n_queries)
    longest = max(int(n_ranks.max(initial=0)), 1)
    discounts = measure.weights(longest if measure.cutoff is None else min(longest, measure.cutoff))
    levels = split_into_levels(
        judged_query,
        gains,
        n_queries,
        offered_gains(measure, pairing.top),
        discounts,
        tries_judged=not isinstance(measure.gain, Gains),
    )
    return ndcg_ends(OpenSums(base, documents.query, weights, np.zeros(n_queries, np.int64)), levels)


JOINT_ENDS: dict[type[Measure], Callable[[Any, Pairing], Ends]] = {
    **dict.fromkeys((P, DCG, RBP), _ends_of_sum),
    **dict.fromkeys((R, F), _ends_of_ratio),
    nDCG: _ends_of_ndcg,
}
