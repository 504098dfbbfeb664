"""Placements: all that a measure needs to know about a run, one row per judged document that was retrieved.

`building.py` makes them of the rows that an engine has found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from deadheat.core.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    TextArray,
    find_places,
    run_sizes,
    run_starts,
)
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import Renderable
from deadheat.core.errors import ABSENT
from deadheat.core.io.guarding import check_threads
from deadheat.core.kernels.counts import Relevant
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.beside import BesideRows, find_rows
from deadheat.core.structures import T
from deadheat.core.wording import format_count

if TYPE_CHECKING:
    from deadheat.core.placements.subtopics import Subtopics


@dataclass(frozen=True, eq=False)
class TextRows:
    """A column of texts as places in a list, for a column that most measures never look at.

    Attributes
    ----------
    texts : list of str
    places : ndarray of int, shape (n_rows,)
        Where in the list the text of each row is.
    """

    texts: list[str]
    places: IntArray

    def __getitem__(self, rows: IntArray | BoolArray | slice) -> TextRows:
        return TextRows(self.texts, self.places[rows])

    def to_list(self) -> list[str]:
        """Return the texts, of length n_rows."""
        return [self.texts[place] for place in self.places.tolist()]


@dataclass(frozen=True, eq=False)
class JudgmentResult:
    """A cached result that depends on judgments alone, with these judgments.

    Attributes
    ----------
    judged_query, judged_relevance : ndarray of shape (n_judgments,)
        Columns of the placements that it was computed for.
    value : object
    per_query : bool
        Whether `value` is an array of shape (n_queries,) in which each number depends on its query's judgments alone.
    """

    judged_query: IntArray
    judged_relevance: FloatArray
    value: Any
    per_query: bool

    def is_valid_for(self, placements: Placements) -> bool:
        """Tell whether placements have the very arrays of judgments that it was computed from."""
        has_same_queries = self.judged_query is placements.judged_query
        return has_same_queries and self.judged_relevance is placements.judged_relevance


@dataclass(frozen=True, eq=False)
class Placements(Renderable):
    """Where the judged documents of a run are ranked.

    Rows are sorted by query, then rank, then relevance (highest first).

    Attributes
    ----------
    query_ids : ndarray of str, shape (n_queries,)
        Queries of the qrels, sorted by code point.
    n_retrieved : ndarray of int, shape (n_queries,)
        Number of documents that the run retrieved for each; 0 if it lacks the query.
    query : ndarray of int, shape (n_rows,)
        Index into `query_ids` of each judged, retrieved document.
    documents : ndarray of str, polars.Series or TextRows, shape (n_rows,)
        Their ids; `doc_ids` has them as text of Python.
    relevance : ndarray of float, shape (n_rows,)
    above : ndarray of int, shape (n_rows,)
        Number of documents of the query with a strictly higher score.
    tied : ndarray of int, shape (n_rows,)
        Number of documents of the query with exactly this score, this one included.
    judged_query, judged_relevance : ndarray of shape (n_judged,)
        Every judgment, retrieved or not, sorted by query and highest relevance first.
    max_relevance : float
        Highest relevance in all of the qrels.
    unjudged_queries : tuple of str
        Queries of the run without judgments; they are left out.
    before : Placements or None
        After a tie policy, the placements before it.
    ends_in_tie : ndarray of bool, shape (n_queries,), or None
        Whether two or more documents share the query's lowest score; None if unknown.
    top_score : ndarray of float, shape (n_queries,), or None
        The highest score of each query, NaN where nothing is retrieved; None if unknown.
    absent : ndarray of bool, shape (n_queries,), or None
        Which queries the run lacked before lists lost their unjudged documents; None if they did not.
    retrieves_itself : ndarray of bool, shape (n_queries,), or None
        Which queries retrieve a document that has their id; None if unknown.
    beside : dict of str to BesideRows
        What measures need of the tables beside the judgments, by their keys, such as subtopics.
    """

    query_ids: TextArray
    n_retrieved: IntArray
    query: IntArray
    documents: TextArray | pl.Series | TextRows
    relevance: FloatArray
    above: IntArray
    tied: IntArray
    judged_query: IntArray
    judged_relevance: FloatArray
    max_relevance: float
    unjudged_queries: tuple[str, ...] = ()
    before: Placements | None = field(default=None, repr=False)
    ends_in_tie: BoolArray | None = field(default=None, repr=False)
    top_score: FloatArray | None = field(default=None, repr=False)
    absent: BoolArray | None = field(default=None, repr=False)
    retrieves_itself: BoolArray | None = field(default=None, repr=False)
    beside: dict[str, BesideRows] = field(default_factory=dict, repr=False)
    _cache: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)  # every copy has its own
    _of_judgments: dict[Any, JudgmentResult] = field(default_factory=dict, repr=False)  # copies share it

    def __repr__(self) -> str:
        queries = format_count(self.n_queries, "query", "queries")
        documents = format_count(len(self.query), "judged document")
        return f"<Placements {queries}, {documents} retrieved>"

    @property
    def subtopics(self) -> Subtopics | None:
        """Judgments by subtopic, if the qrels have some."""
        return cast("Subtopics | None", self.beside.get("subtopics"))

    @cached_property
    def n_queries(self) -> int:
        """Number of queries in the qrels."""
        return len(self.query_ids)

    @cached_property
    def doc_ids(self) -> TextArray:
        """Ids of the judged, retrieved documents, of shape (n_rows,).

        Most measures never look at them, and the text of many judgments takes half the memory. So `documents` becomes
        text of Python when it is first asked for.
        """
        if isinstance(self.documents, np.ndarray):
            return self.documents
        return np.array(self.documents.to_list(), object)

    @property
    def is_unmatched(self) -> bool:
        """Whether no retrieved document is judged, though there are relevant ones: ids may be written in two ways."""
        has_retrieved = bool(self.n_retrieved.any())
        has_relevant = self.max_relevance > 0
        return has_retrieved and has_relevant and not len(self.query)

    @property
    def missing(self) -> BoolArray:
        """Which queries have no document, of shape (n_queries,)."""
        return self.n_retrieved == 0

    @property
    def lacking(self) -> BoolArray:
        """Which queries the run lacks, of shape (n_queries,).

        A query is `missing` but not lacking if its list lost all its documents, as none of them is judged.
        """
        if self.absent is not None:
            return self.absent
        if self.top_score is None:
            return self.missing
        # saved placements have no `absent`, but a list that lost its documents still has its top score
        return self.missing & np.isnan(self.top_score)

    def cached(self, key: object, make: Callable[[], T]) -> T:
        """Return the result of `make`, computed once for each key: measures share counts, ideals and weights."""
        result = self._cache.get(key, ABSENT)
        if result is ABSENT:
            result = make()
            self._cache[key] = result
        return cast("T", result)

    def forget(self) -> None:
        """Drop all cached results."""
        self._cache.clear()

    def of_judgments(self, key: object, make: Callable[[], T], *, per_query: bool) -> T:
        """Return the result of `make`, computed once for all placements with the same judgments.

        Parameters
        ----------
        key : hashable
        make : callable
            It may look at the judgments alone.
        per_query : bool
            Whether the result is an array of shape (n_queries,) in which each number depends on its query's judgments
            alone. Then :meth:`select` hands on the numbers of the selected queries.
        """
        result = self._of_judgments.get(key)
        if result is None or not result.is_valid_for(self):
            result = JudgmentResult(self.judged_query, self.judged_relevance, make(), per_query=per_query)
            self._of_judgments[key] = result
        return cast("T", result.value)

    @cached_property
    def have_ties(self) -> bool:
        """Whether a judged document ties with another document; if none does, all orders give the same values."""
        return bool((self.tied > 1).any())

    @cached_property
    def tie_starts(self) -> IntArray:
        """The first row of each tie that has a judged document, of shape (n_ties,); one document is a tie, too."""
        return run_starts(self.query, self.above)

    @cached_property
    def tie_sizes(self) -> IntArray:
        """The number of judged documents in each of these ties, of shape (n_ties,)."""
        return run_sizes(self.tie_starts, len(self.query))

    def relevant(self, rel: float) -> Relevant:
        """Return the ties with documents of relevance `rel` or more."""
        return self.cached(("relevant", rel), lambda: self._find_relevant(rel))

    def _find_relevant(self, rel: float) -> Relevant:
        rows = np.flatnonzero(self.relevance >= rel)
        query = self.query[rows]
        above = self.above[rows]
        tied = self.tied[rows]
        starts: IntArray | slice = slice(None)  # where no documents tie, each is a tie of its own
        if self.have_ties:
            starts = run_starts(query, above)
        first_rows = np.arange(len(rows))[starts]
        count = run_sizes(first_rows, len(rows))
        first_row_of_query = np.searchsorted(query, np.arange(self.n_queries))
        query_of_tie = query[starts]
        before = first_rows - first_row_of_query[query_of_tie]
        return Relevant(query_of_tie, above[starts], tied[starts], count, before)

    def n_relevant(self, rel: float) -> IntArray:
        """Count each query's judged documents of relevance `rel` or more, retrieved or not."""
        return self.of_judgments(("n_relevant", rel), lambda: self._count_relevant(rel), per_query=True)

    def _count_relevant(self, rel: float) -> IntArray:
        return np.bincount(self.judged_query[self.judged_relevance >= rel], minlength=self.n_queries)

    def by_query(self, values: AnyArray, query: IntArray) -> FloatArray:
        """Return the sum of the values of each query, of shape (n_queries,); `query` is that of each value."""
        return np.bincount(query, values, len(self.query_ids)).astype(np.float64, copy=False)

    def rows(self, rows: IntArray | BoolArray) -> Placements:
        """Return the placements with some of their rows, or with all in another order."""
        return replace(
            self,
            query=self.query[rows],
            documents=self.documents[find_places(rows)],  # a column of Polars takes no mask
            relevance=self.relevance[rows],
            above=self.above[rows],
            tied=self.tied[rows],
        )

    def within(self, depth: int) -> Placements:
        """Return the placements in the first `depth` ranks, each tie whole; all if most are in these ranks."""
        rows = np.flatnonzero(self.above < depth)
        if 2 * len(rows) >= len(self.query):
            return self  # a copy would cost more than it saves
        return self.cached(("within", depth), lambda: self.rows(rows))

    def moved(self, above: IntArray) -> Placements:
        """Return the placements after a tie policy: the same documents at other ranks, and no ties."""
        place = self.query * (above.max(initial=0) + 1) + above  # ascends with the query, then with the rank
        order = np.argsort(place, kind="stable")
        return replace(self.rows(order), above=above[order], tied=np.ones_like(above), before=find_before_policy(self))

    def select(self, keep: BoolArray | IntArray) -> Placements:
        """Return the placements of some queries; `max_relevance` remains that of all the qrels.

        Parameters
        ----------
        keep : ndarray of bool, shape (n_queries,), or of int
            A mask, or the places of queries, in any order; a query may be repeated.
        """
        queries = find_places(keep)
        rows, query = find_rows(self.query, queries)
        judged_rows, judged_query = find_rows(self.judged_query, queries)
        judged_relevance = self.judged_relevance[judged_rows]
        results = self._select_results(queries, judged_query, judged_relevance)
        return replace(
            self.rows(rows),
            **self._select_lists(queries),
            query=query,
            judged_query=judged_query,
            judged_relevance=judged_relevance,
            before=self.before and self.before.select(queries),
            beside={key: table.select(queries) for key, table in self.beside.items()},
            _of_judgments=results,
        )

    def part(self, first: int, last: int) -> Placements:
        """Return the placements of the queries `first` to `last` - 1, as `select` does, with no copy of a column."""
        rows = _find_slice(self.query, first, last)
        judged_rows = _find_slice(self.judged_query, first, last)
        judged_query = self.judged_query[judged_rows] - first
        judged_relevance = self.judged_relevance[judged_rows]
        beside = {}
        for key, table in self.beside.items():
            beside[key] = table.select(np.arange(first, last))
        return replace(
            self,
            **self._select_lists(slice(first, last)),
            before=self.before and self.before.part(first, last),
            beside=beside,
            query=self.query[rows] - first,
            documents=self.documents[rows],
            relevance=self.relevance[rows],
            above=self.above[rows],
            tied=self.tied[rows],
            judged_query=judged_query,
            judged_relevance=judged_relevance,
            _of_judgments=self._select_results(slice(first, last), judged_query, judged_relevance),
        )

    def _select_results(
        self, queries: IntArray | slice, judged_query: IntArray, judged_relevance: FloatArray
    ) -> dict[Any, JudgmentResult]:
        """Return the cached results of single queries for some queries, whose judgments are given."""
        results = {}
        for key, result in self._of_judgments.items():
            if result.per_query and result.is_valid_for(self):
                values = result.value[queries]
                results[key] = JudgmentResult(judged_query, judged_relevance, values, per_query=True)
        return results

    def _select_lists(self, queries: IntArray | slice) -> dict[str, Any]:
        """Return the columns that have one value for each query, for some queries."""
        return {
            "query_ids": self.query_ids[queries],
            "n_retrieved": self.n_retrieved[queries],
            "ends_in_tie": _select_known(self.ends_in_tie, queries),
            "top_score": _select_known(self.top_score, queries),
            "absent": _select_known(self.absent, queries),
            "retrieves_itself": _select_known(self.retrieves_itself, queries),
        }

    def to_polars(self) -> pl.DataFrame:
        """Return query_id, doc_id, relevance, above and tied, sorted by query, rank and document."""
        numbers = pl.DataFrame({"relevance": self.relevance, "above": self.above, "tied": self.tied})
        return self.pairs(np.arange(len(self.query))).with_columns(numbers).sort("query_id", "above", "doc_id")

    def pairs(self, rows: IntArray) -> pl.DataFrame:
        """Return query_id and doc_id of some rows."""
        check_threads()
        docs: pl.Series | list[str]
        if isinstance(self.documents, pl.Series):
            docs = self.documents[rows]
        else:
            docs = self.doc_ids[rows].tolist()
        query_ids = pl.Series(self.query_ids.tolist(), dtype=pl.String)
        return pl.DataFrame(
            {"query_id": query_ids[self.query[rows]], "doc_id": docs},
            schema={"query_id": pl.String, "doc_id": pl.String},
        )

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        return (
            (("n_queries",), self.n_queries),
            (("n_missing",), int(self.missing.sum())),
            (("n_retrieved",), int(self.n_retrieved.sum())),
            (("n_judged",), len(self.judged_query)),
            (("n_judged_retrieved",), len(self.query)),
            (("n_judged_in_ties",), int((self.tied > 1).sum())),
        )


def find_before_policy(placements: Placements) -> Placements:
    """Return the placements before any tie policy, to which those after one refer.

    It is a copy without the cache, which may hold the placements after the policy: Python does not free a cycle of
    references at once.
    """
    return placements.before or replace(placements)


def _select_known(column: AnyArray | None, queries: IntArray | slice) -> AnyArray | None:
    """Return a column for some queries; None if it is not known."""
    if column is None:
        return None
    return column[queries]


def _find_slice(codes: IntArray, first: int, last: int) -> slice:
    """Return where the codes from `first` to before `last` are among ascending ones."""
    start, stop = np.searchsorted(codes, [first, last]).tolist()
    return slice(start, stop)
