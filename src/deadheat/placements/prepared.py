"""Judgments that many runs are held against: what concerns them alone is done once.

For dicts, and for 32 bits of a score and ties by document id, as trec_eval, as programs ask
for it that evaluate in a loop. One sorted array of integers holds queries and scores together, so that nothing but
reading the dicts is done query by query.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.arrays import FloatArray, IntArray, TextArray, run_starts
from deadheat.errors import SourceTypeError
from deadheat.io.mappings import Nested, all_numbers, check_ids, check_mapping
from deadheat.placements.placements import Placements
from deadheat.wording import Plain

MAX_ROWS = 1 << 16  # placed at once: their arrays stay in the processor's cache
Keys: TypeAlias = NDArray[np.uint64]
SHORT = 8  # bytes of an id that an integer holds
FITS = 1 << 62  # of the product of two numbers in one


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

    @cached_property
    def keys(self) -> Keys | None:
        """The same as integers, if they are short."""
        return _as_integers(self.ids)


class Prepared:
    """Judgments, made ready for any number of runs.

    Parameters
    ----------
    qrels : mapping of mapping
        ``{query: {document: relevance}}``; queries without a document are left out.
    """

    def __init__(self, qrels: Mapping[Any, Any]) -> None:
        _check_is_mapping(qrels, "relevance")
        mapping = {query: own for query, own in check_mapping(qrels, "qrels", "qrels").items() if own}
        check_ids(list(qrels), "qrels")  # numbers are no ids here, as in pytrec_eval
        check_ids(list(chain.from_iterable(qrels.values())), "qrels")
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
        _check_is_mapping(run, "score")
        queries = [query for query in run if query in self._documents]
        if len(queries) < len(run):
            check_ids([query for query in run if query not in self._documents], "run")
        for query in queries:
            if not isinstance(run[query], Mapping):
                given = Plain(f"{run[query]!r} for {query!r}")
                raise SourceTypeError(given=given, allowed="a dict of dicts {query: {document: score}}")
        return queries

    def place(self, run: Nested, queries: list[str]) -> Placements:
        """Return the placements of some queries in 32 bits and by document id, as trec_eval, without ties.

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
            judged = _Judged(query, scores, rows[of_part], chosen)
            above[of_part] = _count_above(run, queries[part], sizes[part], judged)
        order = np.argsort(chosen.query[rows] * (sizes.max(initial=0) + 1) + above)
        rows = rows[order]
        return Placements(
            np.array(queries, dtype=object),
            sizes,
            chosen.query[rows],
            np.empty(len(rows), dtype=object),  # no measure looks at ids
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
    rows : ndarray of int, shape (n,)
        Which of the judgments they are.
    chosen : Chosen
    """

    query: IntArray
    scores: FloatArray
    rows: IntArray
    chosen: Chosen


def _check_is_mapping(source: object, value: str) -> None:
    if not isinstance(source, Mapping):
        given = Plain(f"{source!r:.80} ({type(source).__name__})")
        raise SourceTypeError(given=given, allowed=f"a dict of dicts {{query: {{document: {value}}}}}")


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
    for missed in np.flatnonzero(np.bincount(chosen.query[np.isnan(scores)])).tolist():
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
    ordered, starts_of_query = np.sort(keys), np.cumsum(sizes) - sizes
    first = np.searchsorted(ordered, _keys(judged.query, judged.scores))
    above = first - starts_of_query[judged.query]
    starts = run_starts(ordered)
    lengths = np.diff(starts, append=len(ordered))
    ties = np.repeat(np.arange(len(starts)), lengths)
    own = ties[first]
    tied = np.flatnonzero(lengths[own] > 1)
    if not len(tied):
        return above
    is_member = np.zeros(len(starts), np.bool_)
    is_member[own[tied]] = True
    members = np.flatnonzero(is_member[ties])
    rows = np.argsort(keys, kind="stable")[members]
    if 2 * len(rows) > len(keys):
        documents = list(chain.from_iterable(map(run.__getitem__, queries)))
    else:
        documents, rows = _documents(run, queries, starts_of_query, rows), np.arange(len(rows))
    first_member = (np.cumsum(lengths * is_member) - lengths)[own[tied]]
    above[tied] += _count_first(documents, rows, ties[members], judged, tied, own[tied]) - first_member
    return above


def _documents(run: Nested, queries: list[str], starts: IntArray, rows: IntArray) -> list[str]:
    """Return the documents of some rows, whose queries ascend."""
    query = np.searchsorted(starts, rows, side="right") - 1
    firsts = run_starts(query)
    found: list[str] = []
    for n, own in zip(query[firsts].tolist(), np.split(rows, firsts[1:]), strict=bool(len(rows))):
        found += map(list(run[queries[n]]).__getitem__, (own - starts[n]).tolist())
    return found


def _keys(query: IntArray, scores: FloatArray) -> IntArray:
    """Return integers that ascend with the query and, within it, as the scores in 32 bits descend."""
    with np.errstate(over="ignore"):  # trec_eval makes infinity of what is too large
        bits = (scores.astype(np.float32) + np.float32(0)).view(np.int32)  # + 0: -0.0 is 0.0
    return (query << 32) - (bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF)))


def _count_first(  # noqa: PLR0917 - arrays that belong together
    documents: list[str], rows: IntArray, ties: IntArray, judged: _Judged, tied: IntArray, own: IntArray
) -> IntArray:
    """Count the documents of earlier ties, and those of its tie that have a higher id, for some tied documents.

    Parameters
    ----------
    documents : list of str, shape (n_documents,)
    rows : ndarray of int, shape (n_rows,)
        Which of them are in these ties, tie by tie.
    ties : ndarray of int, shape (n_rows,)
        Their ties.
    judged : _Judged
    tied : ndarray of int, shape (n,)
        Which of the judged documents are counted for; all are among those in the ties.
    own : ndarray of int, shape (n,)
        Their ties.
    """
    names, own_names = _numbered(documents, rows, judged.chosen, judged.rows[tied])
    if (most := int(names.max()) + 1) > FITS // (int(ties[-1]) + 1):
        names, own_names = _ranks(names, own_names)
        most = len(names)
    ordered = np.sort(ties * most + (most - 1 - names.astype(np.int64)))
    return np.searchsorted(ordered, own * most + (most - 1 - own_names.astype(np.int64)))


def _numbered(
    documents: list[str], rows: IntArray, chosen: Chosen, own: IntArray
) -> tuple[Keys, Keys] | tuple[IntArray, IntArray]:
    """Return numbers from 0 on in the order of ids by their UTF-8 bytes: of some documents, and of some judgments.

    All of these judgments are among the documents.
    """
    keys = None if chosen.keys is None else _as_integers(documents)
    if keys is None or chosen.keys is None:  # sorted as text: the order of code points is that of UTF-8 bytes
        some = [documents[row] for row in rows.tolist()]
        place = {text: n for n, text in enumerate(sorted(set(some)))}
        return np.array([place[text] for text in some]), np.array([place[text] for text in chosen.ids[own].tolist()])
    keys = keys[rows]
    lowest, shared = keys.min(), int(np.bitwise_or.reduce(keys))
    unused = np.uint64((shared & -shared).bit_length() - 1)  # zeros at the end of all of them
    return (keys - lowest) >> unused, (chosen.keys[own] - lowest) >> unused


def _ranks(names: Keys | IntArray, own_names: Keys | IntArray) -> tuple[IntArray, IntArray]:
    """Return the ranks of numbers from the lowest; another has the last of those equal to it."""
    order = np.argsort(names)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))  # of equal ones in any order
    return ranks, np.searchsorted(names[order], own_names, side="right") - 1


def _as_integers(texts: Sequence[str] | TextArray) -> Keys | None:
    """Return integers in the order of the texts; None if one is longer than 8 bytes or not plain ASCII."""
    together = "\0".join(texts)
    if not together.isascii() or together.count("\0") != len(texts) - 1:
        return None
    text = np.frombuffer(together.encode() + bytes(SHORT), np.uint8)
    ends = np.append(np.flatnonzero(text[:-SHORT] == 0), len(together))
    starts = np.append(0, ends[:-1] + 1)
    lengths = ends - starts
    if lengths.max() > SHORT:
        return None
    # the eight bytes from each place on, as one number; those after the end of the text are pushed out
    from_each = np.ndarray(len(text) - SHORT + 1, ">u8", text.data, strides=(1,))
    surplus = (8 * (SHORT - lengths)).astype(np.uint64)
    return (from_each[starts].astype(np.uint64) >> surplus) << surplus
