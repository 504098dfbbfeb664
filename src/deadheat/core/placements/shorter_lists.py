"""Placements in shorter lists: cut at a depth, or without unjudged documents; and an engine that finds them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from deadheat.core.arrays import BoolArray, IntArray
from deadheat.core.errors import Advice, ParameterError
from deadheat.core.placements.place import Engine
from deadheat.core.placements.placements import Placements
from deadheat.core.placements.policies import apply, break_by_rule
from deadheat.core.random_generators import Rng


class ShorteningEngine:
    """An engine that first cuts lists at a depth, and then condenses them (as trec_eval's -M and -J).

    Parameters
    ----------
    engine : Engine
        Places the documents of the lists before they are shortened.
    depth : int or None
        Documents of each list that remain; None: all.
    judged_only : bool
        Whether unjudged documents are then taken out, those of negative relevance too.
    ties : str
        The tie policy, which says what remains of a tie that the depth cuts. Under "expected" such a tie must hold no
        judged document, or be below what is looked at.
    rng : numpy.random.Generator, int or None
        For ``ties="random"``.
    deepest : int or None
        Rank below which nothing will be looked at; None: everything is.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        depth: int | None,
        judged_only: bool,
        ties: str,
        rng: Rng,
        deepest: int | None,
    ) -> None:
        self._engine = engine
        self._depth = depth
        self._judged_only = judged_only
        self._ties = ties
        self._rng = rng
        # where unjudged documents are taken out, documents from below `deepest` move up, so all of them count
        self._deepest = None if judged_only else deepest

    @cached_property
    def _full_placements(self) -> Placements:
        """The placements in the lists before they are shortened."""
        return self._engine.place()

    @cached_property
    def _placements(self) -> Placements:
        placements = self._full_placements
        if self._depth is not None:
            ranked = None
            if self._ties != "expected":
                ranked = apply(placements, self._ties, self._rng, self._engine)
            placements = truncate(placements, self._depth, ranked, deepest=self._deepest)
        if self._judged_only:
            placements = condense(placements)
        return placements

    def place(self) -> Placements:
        """Return the placements of the judged documents in the shorter lists."""
        return self._placements

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the remaining documents of its tie that a rule puts before it."""
        remaining = self._placements
        ranked = break_by_rule(self._full_placements, self._engine, rule)
        ranks = _look_up_ranks(remaining, ranked)
        if self._judged_only:
            ranks = _rank_again(remaining.query, ranks)
        # the given placements have the same rows, of some of the queries
        is_given_query = np.isin(remaining.query_ids, placements.query_ids)
        is_given = is_given_query[remaining.query]
        n_before = ranks - remaining.above
        return n_before[is_given][rows]


def _look_up_ranks(placements: Placements, ranked: Placements) -> IntArray:
    """Return how many documents are above each row's document in `ranked`, which has these documents, and more."""
    keys = zip(ranked.query.tolist(), ranked.doc_ids.tolist(), strict=True)
    ranks = dict(zip(keys, ranked.above.tolist(), strict=True))
    wanted = zip(placements.query.tolist(), placements.doc_ids.tolist(), strict=True)
    return np.array([ranks[key] for key in wanted], np.int64)


def _rank_again(query: IntArray, ranks: IntArray) -> IntArray:
    """Return the ranks, from 0 on, among the rows of each query alone.

    Parameters
    ----------
    query : ndarray of int, shape (n_rows,)
        The query of each row, ascending.
    ranks : ndarray of int, shape (n_rows,)
        Among more documents.
    """
    order = np.lexsort((ranks, query))
    first_rows = np.searchsorted(query, query)
    new_ranks = np.empty_like(ranks)
    new_ranks[order] = np.arange(len(order)) - first_rows
    return new_ranks


def condense(placements: Placements) -> Placements:
    """Return the placements in lists without unjudged documents; those of negative relevance count as unjudged.

    Parameters
    ----------
    placements : Placements

    Examples
    --------
    >>> from deadheat import place
    >>> condensed = condense(place({"q": {"b": 1, "d": 0}}, {"q": {"a": 4, "b": 3, "c": 2, "d": 1}}))
    >>> condensed.above.tolist(), condensed.n_retrieved.tolist()
    ([0, 1], [2])
    """
    judged = _select_rows(placements, placements.relevance >= 0)
    starts = judged.tie_starts
    sizes = judged.tie_sizes
    first_row_of_query = np.searchsorted(judged.query, judged.query[starts])
    retrieves_itself = None
    if placements.retrieves_itself is not None:
        retrieves_itself = _find_self_retrieving(judged, placements.retrieves_itself)
    return replace(
        judged,
        n_retrieved=np.bincount(judged.query, minlength=judged.n_queries),
        absent=placements.lacking,
        above=np.repeat(starts - first_row_of_query, sizes),
        tied=np.repeat(sizes, sizes),
        retrieves_itself=retrieves_itself,
    )


def _find_self_retrieving(placements: Placements, may_retrieve: BoolArray) -> BoolArray:
    """Tell which queries retrieve a judged document that has their id, of shape (n_queries,).

    Parameters
    ----------
    placements : Placements
    may_retrieve : ndarray of bool, shape (n_queries,)
        Which queries retrieve such a document, judged or not: mostly none does, and no id is looked at.
    """
    retrieves_itself = np.zeros(placements.n_queries, np.bool_)
    if may_retrieve.any():
        is_same = placements.doc_ids == placements.query_ids[placements.query]
        retrieves_itself[placements.query[is_same]] = True
    return retrieves_itself


def truncate(
    placements: Placements, depth: int, ranked: Placements | None = None, *, deepest: int | None = None
) -> Placements:
    """Return the placements in the first documents of each list.

    Parameters
    ----------
    placements : Placements
    depth : int
        Documents of a list that are kept.
    ranked : Placements, optional
        The same documents without ties: says which documents of a tie remain where the cut goes through it. Those that
        remain still tie.
    deepest : int, optional
        Rank below which nothing will be looked at. If that is above the cut, a tie that is cut may stay whole.

    Raises
    ------
    ParameterError
        The cut goes through a tie that holds judged documents.

    Examples
    --------
    >>> from deadheat import place
    >>> cut = truncate(place({"q": {"b": 1, "d": 0}}, {"q": {"a": 4, "b": 3, "c": 2, "d": 1}}), 3)
    >>> cut.above.tolist(), cut.n_retrieved.tolist()
    ([1], [3])
    """
    n_retrieved = np.minimum(placements.n_retrieved, depth)
    if ranked is not None:
        ranks = _look_up_ranks(placements, ranked)
        remaining = _select_rows(placements, ranks < depth)
        n_left = depth - remaining.above
        return replace(remaining, n_retrieved=n_retrieved, tied=np.minimum(remaining.tied, n_left))
    ends = placements.above + placements.tied
    is_cut = (placements.above < depth) & (ends > depth)
    if deepest is not None and deepest <= depth:
        np.maximum.at(n_retrieved, placements.query[is_cut], ends[is_cut])
    elif is_cut.any():
        raise _make_cut_error(placements, is_cut, depth)
    remaining = _select_rows(placements, placements.above < depth)
    return replace(remaining, n_retrieved=n_retrieved)


def _make_cut_error(placements: Placements, is_cut: BoolArray, depth: int) -> ParameterError:
    """Return the error for the first tie that the depth cuts."""
    first_row = np.flatnonzero(is_cut)[0]
    query_id = placements.query_ids[placements.query[first_row]]
    return ParameterError(
        f"cuts a tie of query {query_id!r}, and which documents remain depends on their order",
        argument="depth",
        given=depth,
        hint=Advice(
            "ties", "doc_id", when=f"choose measures with a cutoff up to {depth}, or a rule that breaks ties: "
        ),
    )


def _select_rows(placements: Placements, is_kept: BoolArray) -> Placements:
    """Return the placements with some of their rows, and without those before a tie policy."""
    return replace(placements.rows(is_kept), before=None, ends_in_tie=None)
