"""Shorter lists from any engine: those cut at a depth, and those without unjudged documents."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from deadheat.arguments import Rng
from deadheat.arrays import BoolArray, IntArray
from deadheat.placements import policies
from deadheat.placements.condensing import condense, truncate
from deadheat.placements.place import Engine
from deadheat.placements.placements import Placements


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
    rng : numpy.random.Generator or int, optional
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
        rng: Rng = None,
        deepest: int | None = None,
    ) -> None:
        self._engine, self._depth, self._judged_only = engine, depth, judged_only
        self._ties, self._rng = ties, rng
        self._deepest = None if judged_only else deepest  # ranks without unjudged documents are others

    @cached_property
    def _whole(self) -> Placements:
        return self._engine.place()

    @cached_property
    def missing(self) -> BoolArray:
        """Which queries the run lacks; a list that only became empty is not missing."""
        return self._whole.missing

    @cached_property
    def _ranked(self) -> Placements:
        """The whole lists without ties that the depth cuts."""
        return policies.apply(self._whole, self._ties, self._rng, self._engine)

    @cached_property
    def _placed(self) -> Placements:
        shorter = self._whole
        if self._depth is not None:
            ranked = None if self._ties == "expected" else self._ranked
            shorter = truncate(shorter, self._depth, ranked, deepest=self._deepest)
        return condense(shorter) if self._judged_only else shorter

    def place(self) -> Placements:
        """Return the placements of the judged documents in the shorter lists."""
        return self._placed

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the remaining documents of its tie that a rule puts before it."""
        ranked = policies.by_rule(self._whole, self._engine, rule)
        ranks = _ranks(ranked, self._placed)
        own = self._placed
        if self._judged_only:  # the rank among what remains
            order = np.lexsort((ranks, own.query))
            ranks = np.empty_like(ranks)
            starts = np.searchsorted(own.query, own.query)
            ranks[order] = np.arange(len(order)) - starts[order]
        first = ranks - own.above
        is_there = np.isin(own.query_ids, placements.query_ids)[own.query]
        return first[is_there][rows]


def shortened(
    engine: Engine,
    *,
    depth: int | None,
    judged_only: bool,
    ties: str,
    rng: Rng = None,
    deepest: int | None = None,
) -> Engine:
    """Return the engine, with shorter lists if that was asked for; parameters as for `Shortened`."""
    if isinstance(engine, Shortened) or (depth is None and not judged_only):
        return engine
    return Shortened(engine, depth=depth, judged_only=judged_only, ties=ties, rng=rng, deepest=deepest)


def _ranks(ranked: Placements, some: Placements) -> IntArray:
    """Return how many documents are above each row of some placements in others that hold it too."""
    places = {
        (query, document): above
        for query, document, above in zip(
            ranked.query.tolist(), ranked.doc_ids.tolist(), ranked.above.tolist(), strict=True
        )
    }
    wanted = zip(some.query.tolist(), some.doc_ids.tolist(), strict=True)
    return np.array([places[pair] for pair in wanted], np.int64)
