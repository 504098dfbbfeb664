"""Measures of diversity, of judgments by subtopic: alpha_DCG, ERR_IA, NRBP, their shares of an ideal, AP_IA and kin.

Each is a sum over the subtopics of a sum over the ranks, in which a document adds what its rank and the documents of
the same subtopic above it say. So the mean over tie orders is a sum over subtopics of means that only one kind of
document is needed for, and is always exact. Variance and extremes need the documents of each set of subtopics.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.errors import MeasureError
from deadheat.core.kernels import prefix_counts
from deadheat.core.kernels.segments import divide_or_zero, scan_before, segment_sums
from deadheat.core.measures.families import CutMeasure, computed_once, ranks_to
from deadheat.core.measures.parameters import Number, parameter, parameters
from deadheat.core.measures.prefix import GainTies, KindTies, MeanMeasure, shape_for_states
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import REL
from deadheat.core.placements.placements import Placements
from deadheat.plugins.diversity.covering import count_kinds, hit_numbers
from deadheat.plugins.diversity.topics import Topics, find_topics


@parameters
class TopicMeasure(MeanMeasure):
    """A sum over subtopics and ranks of what the relevant documents of a subtopic are worth."""

    most_steps: ClassVar[int] = 1 << 19  # each takes as long as it has subtopics and sets of them

    rel: float = parameter(1, Number(), REL)

    @abstractmethod
    def worth(self, rank: IntArray, above: IntArray | FloatArray, n_relevant: IntArray) -> FloatArray:
        """Return what a document of a subtopic is worth.

        Parameters
        ----------
        rank, above, n_relevant : ndarray
            Its rank, how many documents of the subtopic are above it, and how many the qrels have.
        """

    def topics(self, placements: Placements) -> Topics:
        """Return the subtopics of the documents."""
        return placements.cached(("topics", self.rel), lambda: find_topics(placements, self.rel))

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a document relevant to a subtopic."""
        return self.topics(placements).n_topics > 0

    def find_moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Compute mean, variance, the error of a sample's mean, minimum and maximum; relevance is sets of subtopics."""
        topics = self.topics(placements)
        coded = replace(placements, relevance=topics.codes.astype(np.float64))
        coded.cached(("topics", self.rel), lambda: topics)
        return super().find_moments(coded)

    def can_list_orders(self, placements: Placements) -> bool:
        """Whether there are no subtopics, in which documents of one relevance may differ."""
        return placements.subtopics is None

    @computed_once("key")
    def mean(self, placements: Placements) -> FloatArray:
        """Return the mean over all tie orders, a sum over the subtopics."""
        topics, starts = self.topics(placements), placements.tie_starts
        counts = segment_sums(topics.member[topics.codes].astype(np.int64), starts)
        before = np.rint(scan_before(counts.astype(np.float64), placements.query[starts], np.add)).astype(np.int64)
        tie, topic = np.nonzero(counts)
        query, above, tied = (column[starts][tie] for column in (placements.query, placements.above, placements.tied))
        over, n_relevant = before[tie, topic], topics.n_relevant[query, topic]

        def added(ties: IntArray, j: int, _: int, seen: Sequence[IntArray]) -> FloatArray:
            n_above = shape_for_states(over[ties], seen) + seen[0]
            return self.worth(
                shape_for_states(above[ties] + j, seen), n_above, shape_for_states(n_relevant[ties], seen)
            )

        means = prefix_counts.moments(tied, self.inside(above, tied), counts[tie, topic][:, None], added)[0]
        return divide_or_zero(placements.by_query(means, query), self.divisor(placements))

    def ties(self, placements: Placements) -> tuple[KindTies, prefix_counts.Added]:
        """Return the ties with a relevant document: the documents of each set of subtopics."""
        topics, found = self.topics(placements), GainTies.from_gains(placements, placements.relevance)
        member = topics.member[found.levels.astype(np.int64)]
        of_ties = (member * found.counts[:, :, None]).sum(axis=1).astype(np.float64)
        before = scan_before(of_ties, found.query, np.add)

        def added(ties: IntArray, j: int, kind: int, seen: Sequence[IntArray]) -> FloatArray:
            rank, total = shape_for_states(found.above[ties] + j, seen), shape_for_states(np.zeros(1), seen)
            for topic in np.flatnonzero(member[ties, kind].any(axis=0)).tolist():
                over = shape_for_states(before[ties, topic], seen)
                for other, number in enumerate(seen):
                    if (is_own := member[ties, other, topic]).any():
                        over = over + shape_for_states(is_own.astype(np.float64), seen) * number
                worth = self.worth(rank, over, shape_for_states(topics.n_relevant[found.query[ties], topic], seen))
                total = total + shape_for_states(member[ties, kind, topic].astype(np.float64), seen) * worth
            return total

        return found, added

    def divisor(self, placements: Placements) -> FloatArray:
        """Return the number of subtopics, unless a measure has another divisor."""
        return self.topics(placements).n_topics.astype(np.float64)

    def score_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return the value of each ranking."""
        topics, total = self.topics(placements), np.zeros(len(rankings))
        rank = np.arange(1, rankings.shape[1] + 1)
        for topic in np.flatnonzero(topics.n_relevant[query]).tolist():
            is_own = topics.member[rankings.astype(np.int64), topic]
            above = np.cumsum(is_own, axis=1) - is_own
            total += np.where(is_own, self.worth(rank, above, topics.n_relevant[query, topic]), 0.0).sum(axis=1)
        return total / (self.divisor(placements)[query] or 1.0)


@parameters
class NoveltyMeasure(TopicMeasure):
    """One in which each further document of a subtopic is worth less."""

    alpha: float = parameter(
        0.5, Number(low=0, high=1), "how much less the next document of a subtopic is worth: 0 as much, 1 nothing"
    )

    @abstractmethod
    def weights(self, rank: IntArray | FloatArray) -> FloatArray:
        """Return the weight of each rank."""

    def worth(self, rank: IntArray, above: IntArray | FloatArray, n_relevant: IntArray) -> FloatArray:  # noqa: ARG002 - of AP_IA
        """Return the weight of the rank, times 1 - alpha for each document above."""
        return np.where(rank <= (self.deepest or np.inf), self.weights(rank) * np.power(1.0 - self.alpha, above), 0.0)


class IdealShare(NoveltyMeasure):
    """One over that of an ideal list."""

    range: ClassVar[tuple[float, float]] = (0.0, np.inf)

    def divisor(self, placements: Placements) -> FloatArray:
        """Return the sum of the ideal list."""
        topics, cutoff = self.topics(placements), self.deepest

        def find() -> tuple[IntArray, list[FloatArray]]:
            known: dict[bytes, int] = {}  # queries often share the sets of their documents, and so the ideal list
            of_queries = [known.setdefault(sets.tobytes(), len(known)) for sets in topics.judged]
            return np.array(of_queries, np.int64), [
                topics.ideal_gains(np.frombuffer(sets, np.int64), self.alpha) for sets in known
            ]

        of_queries, ideals = placements.cached(("ideal of topics", self.rel, self.alpha), find)
        sums = [(gains * self.weights(np.arange(1, len(gains) + 1)))[:cutoff].sum() for gains in ideals]
        return np.array(sums)[of_queries]


@register(
    "discounted gain of novelty",
    "alpha_DCG@k = 1/Z ∑ 1 / log2(i + 1) ∑ (1 - a)^c_s over i ≤ k and the subtopics s of d_i",
)
class alpha_DCG(NoveltyMeasure, CutMeasure):
    r"""Discounted cumulative gain of novelty, divided by that of documents relevant to all subtopics.

    .. math:: \alpha DCG@k = \frac{1}{Z} \sum_{i \le k} \frac{1}{\log_2(i + 1)}
        \sum_{s\ \text{of}\ d_i} (1 - \alpha)^{c_{s,i-1}}

    with the subtopics s that document i is relevant to, and ``c_(s,i-1)`` documents relevant to s above it. Z is that
    sum of k documents that are each relevant to all subtopics of the query. Without a cutoff, k is the number of
    retrieved documents. Subtopics are the second field of TREC qrels, or a column ``subtopic`` of a table; without them
    a query is one subtopic. Under ``ties="best"`` and ``"worst"`` the ids order what is equally relevant. The mean over
    ties is exact. Variance and extremes are too, but for ties of many documents with many sets of subtopics, where they
    are those of a sample of 100 to 10,000 orders. At a cutoff of 1, ndeval (pyndeval, and ir_measures with it) forgets
    Z.

    References
    ----------
    Clarke et al. 2008, https://doi.org/10.1145/1390334.1390446; Z: ndeval of the TREC Web tracks.

    Examples
    --------
    >>> import polars as pl
    >>> from deadheat import evaluate
    >>> rows = [("q", "a", "1", 1), ("q", "a", "2", 1), ("q", "b", "1", 1)]
    >>> qrels = pl.DataFrame(rows, schema=["query_id", "doc_id", "subtopic", "relevance"], orient="row")
    >>> round(evaluate(qrels, {"q": {"a": 0.5, "b": 0.5}}, ["alpha_DCG@2"]).means()["alpha_DCG@2"], 4)
    0.81
    """

    def weights(self, rank: IntArray | FloatArray) -> FloatArray:
        """Return the discounts."""
        return 1 / np.log2(rank + 1.0)

    def divisor(self, placements: Placements) -> FloatArray:
        """Return the sum of k documents that are relevant to all subtopics; k is n without a cutoff."""
        k = self.k(placements)
        rank = ranks_to(self, int(k.max(initial=0)))
        sums: FloatArray = np.append(0.0, np.cumsum(self.weights(rank) * np.power(1.0 - self.alpha, rank - 1)))
        return self.topics(placements).n_topics * sums[k]


@register("normalised discounted gain of novelty", "alpha_nDCG@k = alpha_DCG@k / alpha_DCG@k of an ideal list")
class alpha_nDCG(IdealShare, alpha_DCG):
    r"""Discounted cumulative gain of novelty, as a share of that of an ideal list.

    .. math:: \alpha nDCG@k = \alpha DCG@k \,/\, \alpha DCG@k\ \text{of an ideal list}

    The ideal list has at each rank the judged document that gains most after those above it, of equal ones that of the
    higher id. It is nearly the best one, so that a list can exceed 1 by a little. Without a cutoff the ideal list has
    all documents that gain, also more than were retrieved. Other conventions, and what is exact, are those of
    `alpha_DCG`.

    References
    ----------
    Clarke et al. 2008, https://doi.org/10.1145/1390334.1390446.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> round(evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["alpha_nDCG@10"]).means()["alpha_nDCG@10"], 4)
    0.8155
    """


@register(
    "intent-aware expected reciprocal rank", "ERR_IA@k = 1/Z ∑ 1/i ∑ (1 - a)^c_s over i ≤ k and the subtopics s of d_i"
)
class ERR_IA(alpha_DCG):
    r"""Intent-aware expected reciprocal rank, divided by that of documents relevant to all subtopics.

    .. math:: \text{ERR\_IA}@k = \frac{1}{Z} \sum_{i \le k} \frac{1}{i}
        \sum_{s\ \text{of}\ d_i} (1 - \alpha)^{c_{s,i-1}}

    Conventions, and what is exact, are those of `alpha_DCG`.

    References
    ----------
    Chapelle et al. 2009, section 7, https://doi.org/10.1145/1645953.1646033, in the form of ndeval, where a relevant
    document satisfies with probability 1/2 and Z is as for `alpha_DCG`.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> round(evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["ERR_IA@5"]).means()["ERR_IA@5"], 4)
    0.5446
    """

    def weights(self, rank: IntArray | FloatArray) -> FloatArray:
        """Return 1 / rank."""
        return 1.0 / rank


@register("normalised intent-aware expected reciprocal rank", "nERR_IA@k = ERR_IA@k / ERR_IA@k of an ideal list")
class nERR_IA(IdealShare, ERR_IA):
    r"""Intent-aware expected reciprocal rank, as a share of that of an ideal list.

    .. math:: \text{nERR\_IA}@k = \text{ERR\_IA}@k \,/\, \text{ERR\_IA}@k\ \text{of an ideal list}

    The ideal list is that of `alpha_nDCG`, without a cutoff of all documents that gain; other conventions, and what is
    exact, are those of `alpha_DCG`.

    References
    ----------
    Chapelle et al. 2009, https://doi.org/10.1145/1645953.1646033, in the form of ndeval.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["nERR_IA@5"]).means()
    {'nERR_IA@5': 0.75}
    """


@register(
    "novelty- and rank-biased precision",
    "NRBP = (1 - (1 - a) β) / S ∑ β^(i - 1) ∑ (1 - a)^c_s over i and the subtopics s of d_i",
)
class NRBP(NoveltyMeasure):
    r"""Novelty- and rank-biased precision.

    .. math:: \text{NRBP} = \frac{1 - (1 - \alpha) \beta}{S} \sum_i \beta^{i-1}
        \sum_{s\ \text{of}\ d_i} (1 - \alpha)^{c_{s,i-1}}

    with S subtopics that a document is relevant to. Other conventions, and what is exact, are those of `alpha_DCG`.

    References
    ----------
    Clarke, Kolla and Vechtomova 2009, https://doi.org/10.1007/978-3-642-04417-5_17.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["NRBP"]).means()
    {'NRBP': 0.5625}
    """

    beta: float = parameter(0.5, Number(low=0, high=1, open_high=True), "probability of going on to the next document")

    def weights(self, rank: IntArray | FloatArray) -> FloatArray:
        """Return beta^(rank - 1)."""
        return np.power(float(self.beta), rank - 1.0)

    def divisor(self, placements: Placements) -> FloatArray:
        """Return S over 1 - (1 - alpha) beta."""
        return self.topics(placements).n_topics / (1 - (1 - self.alpha) * self.beta)


@register("normalised novelty- and rank-biased precision", "nNRBP = NRBP / NRBP of an ideal list")
class nNRBP(IdealShare, NRBP):
    r"""Novelty- and rank-biased precision, as a share of that of an ideal list.

    .. math:: \text{nNRBP} = \text{NRBP} \,/\, \text{NRBP of an ideal list}

    The ideal list is that of `alpha_nDCG`; other conventions, and what is exact, are those of `alpha_DCG`.

    References
    ----------
    Clarke, Kolla and Vechtomova 2009, https://doi.org/10.1007/978-3-642-04417-5_17.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["nNRBP"]).means()
    {'nNRBP': 0.75}
    """


@register("intent-aware average precision", "AP_IA = 1/S ∑ AP_s over the subtopics s", aliases=("MAP_IA",))
class AP_IA(TopicMeasure):
    r"""Intent-aware average precision: the mean over the subtopics.

    .. math:: \text{AP\_IA} = \frac{1}{S} \sum_s \frac{1}{R_s} \sum_{d_i\ \text{of}\ s} \frac{c_{s,i}}{i}

    with S subtopics that a document is relevant to, :math:`R_s` documents relevant to s in the qrels and
    ``c_(s,i)`` in the top i. Other conventions, and what is exact, are those of `alpha_DCG`.

    References
    ----------
    Agrawal et al. 2009, https://doi.org/10.1145/1498759.1498766, with equal weights of the intents.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["AP_IA"]).means()
    {'AP_IA': 0.75}
    """

    def worth(self, rank: IntArray, above: IntArray | FloatArray, n_relevant: IntArray) -> FloatArray:
        """Return the precision at the rank over the relevant documents."""
        return (above + 1.0) / rank / np.maximum(n_relevant, 1)


@register("intent-aware precision", "P_IA@k = 1/S ∑ P_s@k over the subtopics s")
class P_IA(TopicMeasure, CutMeasure):
    r"""Intent-aware precision: the mean over the subtopics.

    .. math:: \text{P\_IA}@k = \frac{1}{S} \sum_s \frac{c_{s,k}}{k}

    with S subtopics that a document is relevant to, and ``c_(s,k)`` documents relevant to s in the top k. Without a
    cutoff, k is the number of retrieved documents. Other conventions, and what is exact, are those of `alpha_DCG`.

    References
    ----------
    Agrawal et al. 2009, https://doi.org/10.1145/1498759.1498766, with equal weights of the intents.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["P_IA@1"]).means()
    {'P_IA@1': 0.5}
    """

    def worth(self, rank: IntArray, above: IntArray | FloatArray, n_relevant: IntArray) -> FloatArray:  # noqa: ARG002 - of others
        """Return 1 in the top k."""
        return np.where(rank <= (self.deepest or np.inf), 1.0, 0.0)

    def divisor(self, placements: Placements) -> FloatArray:
        """Return S k."""
        return super().divisor(placements) * self.k(placements)


@register("subtopic recall", "StRecall@k = 1/S ∑ [c_(s,k) > 0] over the subtopics s", aliases=("strec",))
class StRecall(TopicMeasure, CutMeasure):
    r"""Subtopic recall: share of the subtopics that the top k has a relevant document for.

    .. math:: \text{StRecall}@k = \frac{1}{S} \sum_s [c_{s,k} > 0]

    with S subtopics that a document is relevant to, and ``c_(s,k)`` documents relevant to s in the top k. Variance and
    extremes are exact in large ties, too, unless very many subtopics share documents. Other conventions are those of
    `alpha_DCG`.

    References
    ----------
    Zhai, Cohen and Lafferty 2003, https://doi.org/10.1145/860435.860440.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["StRecall@1"]).means()
    {'StRecall@1': 0.5}
    """

    def worth(self, rank: IntArray, above: IntArray | FloatArray, n_relevant: IntArray) -> FloatArray:  # noqa: ARG002 - of others
        """Return 1 for the first document of the subtopic, in the top k."""
        return np.where((above == 0) & (rank <= (self.deepest or np.inf)), 1.0, 0.0)

    def compute_over_orders(self, placements: Placements, queries: IntArray) -> FloatArray:
        """Return mean, variance, standard error, minimum and maximum of queries with large ties, exact in nearly all.

        The cutoff cuts one tie at most, of which it is counted how many subtopics have a document above the cutoff.
        Orders are drawn only where too many subtopics share documents.
        """
        numbers = np.zeros((5, len(queries)))
        for place, query in enumerate(queries.tolist()):
            try:
                numbers[:, place] = self._count_over_orders(placements, query)
            except MeasureError:
                numbers[:, [place]] = super().compute_over_orders(placements, queries[[place]])
        return numbers

    def _count_over_orders(self, placements: Placements, query: int) -> tuple[float, ...]:
        """Return these numbers of one query."""
        topics = self.topics(placements)
        first, last = np.searchsorted(placements.query, [query, query + 1]).tolist()
        member = topics.member[topics.codes[first:last]]
        tied = placements.tied[first:last]
        inside = self.inside(placements.above[first:last], tied)
        is_hit = member[inside == tied].any(axis=0)
        is_cut = (inside > 0) & (inside < tied)
        n_sure, n_topics = int(is_hit.sum()), int(topics.n_topics[query])
        if not is_cut.any():
            share = n_sure / n_topics
            return share, 0.0, 0.0, share, share
        hits = hit_numbers(count_kinds(member[is_cut][:, ~is_hit]), int(tied[is_cut][0]), int(inside[is_cut][0]))
        return (
            (n_sure + hits.mean) / n_topics,
            hits.variance / n_topics**2,
            0.0,
            (n_sure + hits.fewest) / n_topics,
            (n_sure + hits.most) / n_topics,
        )
