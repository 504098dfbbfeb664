"""Placements of many scorings of the same documents: the join with the judgments is made once, for all columns.

What is left for a column is one sort of its scores within each query. The rows are ordered once, judged documents first
in their query, the highest relevance first: a stable sort by score then gives the order of placements.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from deadheat.arrays import BoolArray, FloatArray, IntArray
from deadheat.data.rows import Blocks, blocks_of, is_grouped
from deadheat.data.scorings import Scorings
from deadheat.data.tables import Qrels
from deadheat.io.guarding import guarded
from deadheat.placements.contiguous import Contiguous, find_judged
from deadheat.placements.placements import Placements, from_frames


@dataclass(frozen=True, eq=False)
class _Batch:
    """Queries of about the same number of documents, as a matrix that is sorted at once.

    Attributes
    ----------
    places : ndarray of int, shape (n_queries, most documents)
        Where the rows of each query are; those after its end are not its own.
    is_own : ndarray of bool, of that shape, or None
        None: all queries have as many.
    """

    places: IntArray
    is_own: BoolArray | None


@dataclass(frozen=True, eq=False)
class _Ranking:
    """Rows of all queries in the order of their scores, documents of one score in the order of the rows.

    Attributes
    ----------
    above, tied : ndarray of int, shape (n_rows,)
        Number of documents of the query above each and tied with it.
    source : ndarray of int, shape (n_rows,)
        Which row stands there.
    """

    above: IntArray
    tied: IntArray
    source: IntArray


class Columns:
    """The documents of a table, joined with the judgments.

    Parameters
    ----------
    qrels : Qrels
    scorings : Scorings
    """

    def __init__(self, qrels: Qrels, scorings: Scorings) -> None:
        self.qrels, self.scorings = qrels, scorings
        with guarded(scorings.where):
            blocks, in_blocks = _grouped(scorings.ids)
            self.base = self._joined(blocks)
        found = self.base
        sizes = found.n_retrieved
        code_of = {query: n for n, query in enumerate(found.query_ids.tolist())}
        codes = np.array([code_of.get(query, -1) for query in blocks.query_ids.to_list()], np.int64)
        row_codes = np.repeat(codes, np.diff(blocks.bounds))
        relevance = np.full(len(row_codes), -np.inf)
        relevance[found.above] = found.relevance  # `above` holds the rows, until there are scores
        documents = np.full(len(row_codes), None, dtype=object)
        documents[found.above] = found.doc_ids
        wanted = np.flatnonzero(row_codes >= 0)
        order = wanted[np.lexsort((-relevance[wanted], row_codes[wanted]))]
        self._rows: IntArray = in_blocks[order]
        self._query, self._relevance, self._documents = row_codes[order], relevance[order], documents[order]
        self._is_judged: BoolArray = self._relevance > -np.inf
        self._batches = _batches(sizes)
        self._last: IntArray = np.cumsum(sizes)[sizes > 1] - 1
        self._sizes: IntArray = np.repeat(sizes, sizes)  # of each row's query

    def _joined(self, blocks: Blocks) -> Placements:
        """Return placements with the row of each judged document in the place of the number above it."""
        own = find_judged(self.qrels.to_polars(), blocks)
        found = own.judgments.with_columns(above=own.rows, tied=1)
        counts = pl.DataFrame({"query_id": blocks.query_ids, "n_retrieved": np.diff(blocks.bounds)})
        run = self.scorings.run(next(iter(self.scorings.scores)))
        run.name = self.scorings.where
        return from_frames(self.qrels, run, counts, found)

    @property
    def n_documents(self) -> int:
        """Number of (query, document) pairs in queries that have judgments."""
        return len(self._rows)

    def rank(self, scores: FloatArray) -> _Ranking:
        """Rank the rows of each query by the scores of each row."""
        found = _Ranking(*(np.empty(len(self._rows), np.int64) for _ in range(3)))
        own = scores[self._rows]
        for batch in self._batches:
            _sort(own, batch, found)
        return found

    def reverse(self, ranking: _Ranking) -> _Ranking:
        """Rank the lowest scores first, without another sort: ties change places, and stay as they are inside."""
        above = self._sizes - ranking.above - ranking.tied
        place = np.arange(len(above)) - ranking.above + above  # the start of its query and the place in its tie remain
        found = _Ranking(*(np.empty_like(above) for _ in range(3)))
        found.above[place], found.tied[place], found.source[place] = above, ranking.tied, ranking.source
        return found

    def place(self, ranking: _Ranking, *, has_ids: bool) -> Placements:
        """Return the placements under a ranking; without ids, which no measure looks at, it is faster."""
        tied, source = ranking.tied, ranking.source
        ends_in_tie = np.zeros(len(self.base.query_ids), np.bool_)
        ends_in_tie[self._query[self._last]] = tied[self._last] > 1
        keep = slice(None) if self._all_judged else np.flatnonzero(self._is_judged[source])
        rows = source[keep]
        return replace(
            self.base,
            query=self._query[keep],
            doc_ids=self._documents[rows] if has_ids else np.empty(len(rows), dtype=object),
            relevance=self._relevance[rows],
            above=ranking.above[keep],
            tied=tied[keep],
            ends_in_tie=ends_in_tie,
        )

    @cached_property
    def _all_judged(self) -> bool:
        return bool(self._is_judged.all())


class Column:
    """An engine for one of the scorings.

    Parameters
    ----------
    columns : Columns
    scores : ndarray of float, shape (n_rows,)
        Of each row of the table, rounded.
    has_ids : bool, default True
        Whether its placements have document ids.
    ranking : optional
        The ranking by the scores; made here by default.
    """

    def __init__(
        self, columns: Columns, scores: FloatArray, *, has_ids: bool = True, ranking: _Ranking | None = None
    ) -> None:
        self._columns, self._scores, self._has_ids = columns, scores, has_ids
        self._ranking = columns.rank(scores) if ranking is None else ranking

    @property
    def n_tied(self) -> int:
        """Number of documents that tie with another of their query, in queries that have judgments."""
        return int(np.count_nonzero(self._ranking.tied > 1))

    def reversed(self) -> Column:
        """Return the engine for the lowest scores first."""
        ranking = self._columns.reverse(self._ranking)
        return Column(self._columns, 0.0 - self._scores, has_ids=self._has_ids, ranking=ranking)

    def place(self) -> Placements:
        """Return the placements of the judged documents."""
        return self._columns.place(self._ranking, has_ids=self._has_ids)

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the documents of its tie that a rule puts before it."""
        run = self._columns.scorings.run("column", self._scores)
        blocks, _ = _grouped(run.to_polars())
        return Contiguous(self._columns.qrels, run, blocks).count_first(placements, rows, rule)


def _grouping(queries: pl.Series) -> IntArray:
    """Return an order that puts the rows of each query together, queries and rows as they come first."""
    codes = queries.rle_id() if is_grouped(queries) else queries.rank("dense")
    return np.argsort(codes.to_numpy(), kind="stable")


def _grouped(ids: pl.DataFrame) -> tuple[Blocks, IntArray]:
    """Return the rows grouped by query, and which row of the table each is."""
    blocks = blocks_of(ids)
    if blocks is not None:
        return blocks, np.arange(len(ids))
    order = _grouping(ids["query_id"])
    found = blocks_of(ids[order])
    assert found is not None  # noqa: S101 - they are grouped now
    return found, order


def _batches(sizes: IntArray) -> list[_Batch]:
    """Return the queries in batches, in which none has more than twice as many documents as another."""
    starts = np.cumsum(sizes) - sizes
    found = []
    for bits in np.unique(np.frexp(sizes[sizes > 0])[1]):
        queries = np.flatnonzero((sizes > 0) & (np.frexp(sizes)[1] == bits))
        most = int(sizes[queries].max())
        place = np.arange(most)
        is_own = place < sizes[queries, np.newaxis]
        found.append(_Batch(starts[queries, np.newaxis] + place, None if is_own.all() else is_own))
    return found


def _sort(scores: FloatArray, batch: _Batch, ranking: _Ranking) -> None:
    """Sort the rows of some queries by score, highest first, and write to the places of each query."""
    places, is_own = batch.places, batch.is_own
    # beyond the end of the last query there is nothing
    keys = -scores[places if is_own is None else np.minimum(places, len(scores) - 1)]
    if is_own is not None:
        keys[~is_own] = np.inf  # last, as the sort is stable and they come last already
    order = np.argsort(keys, axis=1, kind="stable")
    ordered = np.take_along_axis(keys, order, axis=1)
    is_first = np.ones(keys.shape, np.bool_)
    is_first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    if is_own is not None:
        is_first[:, 1:] |= is_own[:, 1:] != is_own[:, :-1]  # no tie goes beyond the end of a query
    starts = np.flatnonzero(is_first)
    lengths = np.diff(starts, append=is_first.size)
    from_start, length = (
        np.repeat(values, lengths).reshape(keys.shape) for values in (starts % keys.shape[1], lengths)
    )
    found = np.take_along_axis(places, order, axis=1)
    for target, values in ((ranking.above, from_start), (ranking.tied, length), (ranking.source, found)):
        if values.size == target.size and is_own is None:
            target[:] = values.ravel()  # all rows, in their order
        else:
            target[places if is_own is None else places[is_own]] = values if is_own is None else values[is_own]
