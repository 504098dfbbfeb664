"""Shorter lists: cut at a depth, or without unjudged documents; of placements, and of any engine."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from deadheat.core.arrays import BoolArray, IntArray
from deadheat.core.errors import Advice, ParameterError
from deadheat.core.placements.place import Engine
from deadheat.core.placements.placements import Placements
from deadheat.core.placements.policies import apply, by_rule
from deadheat.core.random_generators import Rng


class Shortened:
    """An engine whose lists are cut and condensed, in this order (as trec_eval's -M and -J).

    Parameters
    ----------
    engine : Engine
        Finds the whole lists.
    depth : int or None
        Documents of each list that remain; None: all.
    judged_only : bool
        Whether unjudged documents are then taken out, those of negative relevance too.
    ties : str
        The tie policy, which says what remains of a tie that the depth cuts. Under "expected" it must hold no judged
        document, or be below what is looked at.
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
        self._engine, self._depth, self._judged_only = engine, depth, judged_only
        self._ties, self._rng = ties, rng
        self._deepest = None if judged_only else deepest  # ranks without unjudged documents are others

    @cached_property
    def _whole(self) -> Placements:
        return self._engine.place()

    @cached_property
    def _placed(self) -> Placements:
        shorter = self._whole
        if self._depth is not None:
            ranked = None if self._ties == "expected" else apply(self._whole, self._ties, self._rng, self._engine)
            shorter = truncate(shorter, self._depth, ranked, deepest=self._deepest)
        return condense(shorter) if self._judged_only else shorter

    def place(self) -> Placements:
        """Return the placements of the judged documents in the shorter lists."""
        return self._placed

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the remaining documents of its tie that a rule puts before it."""
        own = self._placed
        ranks = _ranks(by_rule(self._whole, self._engine, rule), own)
        if self._judged_only:  # the rank among what remains
            order = np.lexsort((ranks, own.query))
            ranks = np.empty_like(ranks)
            ranks[order] = np.arange(len(order)) - np.searchsorted(own.query, own.query)
        is_there = np.isin(own.query_ids, placements.query_ids)[own.query]
        return (ranks - own.above)[is_there][rows]


def _ranks(ranked: Placements, some: Placements) -> IntArray:
    """Return how many documents are above each row of some placements in others that hold it too."""
    keys, others = (zip(one.query.tolist(), one.doc_ids.tolist(), strict=True) for one in (ranked, some))
    places = dict(zip(keys, ranked.above.tolist(), strict=True))
    return np.array([places[key] for key in others], np.int64)


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
    kept = _kept(placements, placements.relevance >= 0)
    starts, tied = kept.tie_starts, kept.tie_sizes
    of_query = np.searchsorted(kept.query, kept.query[starts])
    return replace(
        kept,
        n_retrieved=np.bincount(kept.query, minlength=kept.n_queries),
        absent=placements.lacking,
        above=np.repeat(starts - of_query, tied),
        tied=np.repeat(tied, tied),
        retrieves_itself=None if placements.retrieves_itself is None else _judge_themselves(kept),
    )


def _judge_themselves(placements: Placements) -> BoolArray:
    """Tell which queries retrieve a judged document that has their id."""
    own = np.zeros(placements.n_queries, np.bool_)
    if placements.retrieves_itself is not None and placements.retrieves_itself.any():
        is_own = placements.doc_ids == placements.query_ids[placements.query]
        own[placements.query[is_own]] = True
    return own


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
        The same documents without ties: says which of a tie remain, where the cut goes through it. What remains of it
        still ties.

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
    if ranked is not None:  # the ties are those that there were
        kept = _kept(placements, _ranks(ranked, placements) < depth)
        return replace(kept, n_retrieved=n_retrieved, tied=np.minimum(kept.tied, depth - kept.above))
    is_cut = (placements.above < depth) & (placements.above + placements.tied > depth)
    if deepest is not None and deepest <= depth:
        np.maximum.at(n_retrieved, placements.query[is_cut], (placements.above + placements.tied)[is_cut])
    elif is_cut.any():
        query = placements.query_ids[placements.query[np.flatnonzero(is_cut)[0]]]
        raise ParameterError(
            f"cuts a tie of query {query!r}, and which documents remain depends on their order",
            argument="depth",
            given=depth,
            hint=Advice(
                "ties", "doc_id", when=f"choose measures with a cutoff up to {depth}, or a rule that breaks ties: "
            ),
        )
    return replace(_kept(placements, placements.above < depth), n_retrieved=n_retrieved)


def _kept(placements: Placements, keep: BoolArray) -> Placements:
    """Return the placements with some of their rows, and without what was before a tie policy."""
    return replace(placements.rows(keep), before=None, ends_in_tie=None)
