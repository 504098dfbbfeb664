"""The subtopics that the documents of placements are relevant to."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.errors import MeasureError
from deadheat.core.placements.placements import Placements
from deadheat.core.structures import group_values


@dataclass(frozen=True, eq=False)
class Topics:
    """Which subtopics each document is relevant to.

    Attributes
    ----------
    codes : ndarray of int, shape (n_rows,)
        The set of subtopics of each row of the placements: a row of `member`, 0 for none.
    member : ndarray of bool, shape (n_sets, n_topics)
        Which subtopics are in each set.
    n_relevant : ndarray of int, shape (n_queries, n_topics)
        Judged documents relevant to each subtopic.
    judged : list of ndarray of int
        For each query the sets of its judged documents, document ids descending.
    """

    codes: IntArray
    member: BoolArray
    n_relevant: IntArray
    judged: Sequence[IntArray]

    @property
    def n_topics(self) -> IntArray:
        """Subtopics of each query that some document is relevant to, of shape (n_queries,)."""
        return (self.n_relevant > 0).sum(axis=1)

    def ideal_gains(self, sets: IntArray, alpha: float) -> FloatArray:
        """Return the gains of a list of judged documents, given their sets, in which each gains most after those above.

        That is nearly the best list, which would take too long to find. Of equal gains the higher document id is first,
        as in ndeval.
        """
        kinds, of_kind = np.unique(sets, return_inverse=True)  # documents of one set gain the same
        member = self.member[kinds].astype(np.float64)
        waiting = np.split(np.argsort(of_kind, kind="stable"), np.cumsum(np.bincount(of_kind, minlength=len(kinds))))
        places = [own.tolist()[::-1] for own in waiting[: len(kinds)]]
        worth, gains = np.ones(member.shape[1]), []
        while any(places):
            of_each = np.where([bool(own) for own in places], member @ worth, 0.0)
            best = float(of_each.max())
            if best <= 0:
                break
            chosen = min(np.flatnonzero(of_each == best).tolist(), key=lambda kind: places[kind][-1])
            places[chosen].pop()
            gains.append(best)
            worth = worth * np.where(member[chosen] > 0, 1 - alpha, 1.0)
        return np.array(gains)


def find_topics(placements: Placements, rel: float) -> Topics:
    """Return the subtopics of the documents; without subtopics in the qrels each query is one."""
    if placements.subtopics is None:
        n_relevant = placements.n_relevant(rel)
        codes = (placements.relevance >= rel).astype(np.int64)
        alike = [np.ones(number, np.int64) for number in n_relevant.tolist()]
        return Topics(codes, np.array([[False], [True]]), n_relevant[:, None], alike)
    if None in placements.doc_ids.tolist():
        raise MeasureError("judgments by subtopic need the ids of the documents, which are not at hand here")
    own = placements.subtopics
    kept = own.relevance >= rel
    pairs = zip(own.query[kept].tolist(), own.doc_ids[kept], strict=True)
    sets = group_values(zip(pairs, own.topic[kept].tolist(), strict=True))
    known: dict[tuple[int, ...], int] = {(): 0}
    of_docs = {key: known.setdefault(tuple(sorted(topics)), len(known)) for key, topics in sets.items()}
    n_topics = int(own.topic.max(initial=0)) + 1
    member = np.zeros((len(known), n_topics), np.bool_)
    for topics, code in known.items():
        member[code, list(topics)] = True
    judged = group_values((query, code) for (query, _), code in sorted(of_docs.items(), reverse=True))
    found = [np.array(judged.get(query, []), np.int64) for query in range(placements.n_queries)]
    n_relevant = np.zeros((placements.n_queries, n_topics), np.int64)
    np.add.at(n_relevant, np.array([query for query, _ in of_docs], np.int64), member[[*of_docs.values()]])
    codes, places = np.zeros(len(placements.query), np.int64), np.flatnonzero(placements.relevance >= rel)
    keys = zip(placements.query[places].tolist(), placements.doc_ids[places].tolist(), strict=True)
    codes[places] = [of_docs.get(key, 0) for key in keys]
    return Topics(codes, member, n_relevant, found)
