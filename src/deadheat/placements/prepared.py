"""Judgments that many runs are held against: what concerns them alone is done once.

For dicts and for the rule of trec_eval, which keeps 32 bits of a score and breaks ties by document id, as programs ask
for it that evaluate in a loop. One sorted array of integers holds queries and scores together, so that nothing but
reading the dicts is done query by query.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import Any

import numpy as np

from deadheat.arrays import FloatArray, IntArray, TextArray
from deadheat.errors import SourceTypeError
from deadheat.io.mappings import Nested, all_numbers, check_ids, check_mapping
from deadheat.placements.contiguous import spans
from deadheat.placements.placements import Placements
from deadheat.wording import Plain

MAX_ROWS = 1 << 16  # placed at once: their arrays stay in the processor's cache
SHORT = 8  # bytes of an id that an integer holds


@dataclass(frozen=True, eq=False)
class Chosen:
    """The judgments of some queries.

    Attributes
    ----------
    queries : list of str
    documents : list of list of str
        Of each query, the highest relevance first.
    query : ndarray of int, shape (n_judged,)
        Index into `queries` of each judgment.
    relevance : ndarray of float, shape (n_judged,)
    """

    queries: list[str]
    documents: list[list[str]]
    query: IntArray
    relevance: FloatArray

    @cached_property
    def ids(self) -> TextArray:
        """The document of each judgment, of shape (n_judged,)."""
        return np.array(list(chain.from_iterable(self.documents)), dtype=object)


class Prepared:
    """Judgments, made ready for any number of runs.

    Parameters
    ----------
    qrels : mapping of mapping
        ``{query: {document: relevance}}``; queries without a document are left out.
    """

    def __init__(self, qrels: Mapping[Any, Any]) -> None:
        mapping = check_mapping(qrels, "qrels", "qrels")
        queries = list(mapping)
        values = all_numbers(mapping, queries, "qrels", "qrels")
        self.mapping: Nested = mapping
        self.max_relevance = float(values.max())
        self._documents: dict[str, list[str]] = {}
        self._relevance: dict[str, FloatArray] = {}
        ends = np.cumsum([len(documents) for documents in mapping.values()])
        for query, relevance in zip(queries, np.split(values, ends[:-1]), strict=True):
            order, documents = np.argsort(-relevance, kind="stable"), list(mapping[query])
            self._documents[query] = [documents[n] for n in order.tolist()]
            self._relevance[query] = relevance[order]
        self._chosen = Chosen([], [], np.zeros(0, np.int64), np.zeros(0))

    def common(self, run: Mapping[Any, Any]) -> list[str]:
        """Return the queries of a run that have judgments, in the order of the run."""
        queries = [query for query in run if query in self._documents]
        for query in queries:
            if not isinstance(run[query], Mapping):
                given = Plain(f"{run[query]!r} for {query!r}")
                raise SourceTypeError(given=given, allowed="a dict of dicts {query: {document: score}}")
        return queries

    def place(self, run: Nested, queries: list[str]) -> Placements:
        """Return the placements of some queries under the rule of trec_eval, without ties.

        Parameters
        ----------
        run : mapping of mapping
        queries : list of str
            What :meth:`common` returned; the placements have the same order.
        """
        chosen = self._choose(queries)
        sizes = np.array([len(run[query]) for query in queries], np.int64)
        own = _looked_up(run, chosen)
        rows = np.flatnonzero(~np.isnan(own))  # no score is NaN
        above = np.empty(len(rows), np.int64)
        for part in _parts(sizes):
            of_part = slice(*np.searchsorted(chosen.query[rows], (part.start, part.stop)))
            query, scores = chosen.query[rows[of_part]] - part.start, own[rows[of_part]]
            judged = _Judged(query, scores, chosen.ids[rows[of_part]])
            above[of_part] = _count_above(run, queries[part], sizes[part], judged)
        order = np.argsort(chosen.query[rows] * (sizes.max(initial=0) + 1) + above)
        rows = rows[order]
        return Placements(
            np.array(queries, dtype=object),
            sizes,
            chosen.query[rows],
            np.broadcast_to(np.array("", dtype=object), len(rows)),  # no measure looks at ids
            chosen.relevance[rows],
            above[order],
            np.ones(len(rows), np.int64),
            chosen.query,
            chosen.relevance,
            self.max_relevance,
        )

    def _choose(self, queries: list[str]) -> Chosen:
        """Return the judgments of some queries; for the same ones again, the same object."""
        if queries != self._chosen.queries:
            documents = [self._documents[query] for query in queries]
            query = np.repeat(np.arange(len(queries)), [len(own) for own in documents])
            self._chosen = Chosen(
                queries, documents, query, np.concatenate([self._relevance[query] for query in queries])
            )
        return self._chosen


@dataclass(frozen=True, eq=False)
class _Judged:
    """Judged documents that some queries retrieve.

    Attributes
    ----------
    query : ndarray of int, shape (n,)
        Index into these queries, ascending.
    scores : ndarray of float, shape (n,)
    ids : ndarray of str, shape (n,)
    """

    query: IntArray
    scores: FloatArray
    ids: TextArray


def _looked_up(run: Nested, chosen: Chosen) -> FloatArray:
    """Return the score of each judgment; NaN where the run lacks the document."""
    found: list[float] = []
    for query, documents in zip(chosen.queries, chosen.documents, strict=True):
        found += map(run[query].get, documents, repeat(math.nan))
    try:
        scores = np.array(found, np.float64)
    except (TypeError, ValueError, OverflowError):
        all_numbers(run, chosen.queries, "run", "run")  # says which number is none
        raise
    for missed in np.unique(chosen.query[np.isnan(scores)]).tolist():
        check_ids(list(run[chosen.queries[missed]]), "run")  # 10 is not "10": it would be missed in silence
    return scores


def _parts(sizes: IntArray) -> Iterator[slice]:
    """Give ranges of queries that have about `MAX_ROWS` documents together."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = ends[start] - sizes[start]
        stop = max(start + 1, int(np.searchsorted(ends, before + MAX_ROWS, side="right")))
        yield slice(start, stop)
        start = stop


def _count_above(run: Nested, queries: list[str], sizes: IntArray, judged: _Judged) -> IntArray:
    """Count the documents before each judged one: those of a higher score, and of its score those of a higher id."""
    keys = _keys(np.repeat(np.arange(len(queries)), sizes), all_numbers(run, queries, "run", "run"))
    own, ordered = _keys(judged.query, judged.scores), np.sort(keys)
    first = np.searchsorted(ordered, own)
    size = np.searchsorted(ordered, own, side="right") - first
    above = first - (np.cumsum(sizes) - sizes)[judged.query]
    tied = np.flatnonzero(size > 1)
    if len(tied):
        documents = list(chain.from_iterable(run[query] for query in queries))
        order = np.argsort(keys, kind="stable")
        above[tied] += _count_first(documents, order, first[tied], size[tied], judged.ids[tied].tolist())
    return above


def _keys(query: IntArray, scores: FloatArray) -> IntArray:
    """Return integers that ascend with the query and, within it, as the scores in 32 bits descend."""
    with np.errstate(over="ignore"):  # trec_eval makes infinity of what is too large
        bits = (scores.astype(np.float32) + np.float32(0)).view(np.int32)  # + 0: -0.0 is 0.0
    ascending = bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))
    return (query << 32) - ascending


def _count_first(documents: list[str], order: IntArray, first: IntArray, size: IntArray, own: list[str]) -> IntArray:
    """Count the documents of its tie that have a higher id than each of some tied documents.

    Parameters
    ----------
    documents : list of str, shape (n_rows,)
    order : ndarray of int, shape (n_rows,)
        Rows by query and score.
    first, size : ndarray of int, shape (n,)
        Place in this order at which the tie of each document begins, and its documents.
    own : list of str, shape (n,)
    """
    starts, at = np.unique(first, return_index=True)
    within = spans(starts, size[at])
    names, own_names = _ranks([documents[row] for row in order[within].tolist()], own)
    most = len(within)
    ordered = np.sort(np.repeat(starts, size[at]) * most + (most - 1 - names))
    return np.searchsorted(ordered, first * most + (most - 1 - own_names)) - np.searchsorted(ordered, first * most)


def _ranks(texts: list[str], own: list[str]) -> tuple[IntArray, IntArray]:
    """Return the rank of each text by its UTF-8 bytes, equal ones in any order; and the last rank of each of `own`."""
    keys = _as_integers(texts)
    if keys is None:  # the order of code points is that of UTF-8 bytes
        rank = {text: n for n, text in enumerate(sorted(set(texts)))}
        return np.array([rank[text] for text in texts]), np.array([rank[text] for text in own])
    order = np.argsort(keys)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    found = _as_integers(own)
    assert found is not None  # noqa: S101 - they are among the texts
    return ranks, np.searchsorted(keys[order], found, side="right") - 1


def _as_integers(texts: list[str]) -> IntArray | None:
    """Return integers in the order of the texts; None if they are longer than 8 bytes, or not ASCII."""
    together = "".join(texts)
    if not together.isascii() or "\0" in together:
        return None
    cells = np.array(texts, f"S{SHORT + 1}").view(np.uint8).reshape(len(texts), SHORT + 1)
    if cells[:, SHORT].any():
        return None
    return np.ascontiguousarray(cells[:, :SHORT]).view(">u8").ravel().astype(np.uint64)
