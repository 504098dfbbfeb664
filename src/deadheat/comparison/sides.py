"""Sides of a comparison: a system by one measure, query by query, with what its ties can do."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from deadheat.arguments import Rng, generator
from deadheat.arrays import BoolArray, FloatArray
from deadheat.comparison.drawing import Drawn, draw_sums, n_draws
from deadheat.comparison.flips import is_moved, summands
from deadheat.comparison.sums import Summands
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.scores import Scores
from deadheat.measures import Measure
from deadheat.measures.stored import StoredMeasure
from deadheat.placements.placements import Placements


@dataclass(frozen=True, eq=False)
class Side:
    """One system by one measure, over the queries of all systems; NaN where it has no value.

    Attributes
    ----------
    own : ndarray of bool, shape (n_queries,)
        The queries that the evaluation has.
    values, mean, variance, low, high, by_doc_id : ndarray of shape (n_queries,)
        Under the tie policy; then over all tie orders: mean, variance, extremes; and by document id, as
        trec_eval.
    is_exact : bool
        Whether the moments and extremes are; those of a `Custom` measure may be sampled.
    rng : numpy.random.Generator, int or None
        Of the random orders.
    """

    measure: Measure
    evaluation: Evaluation
    own: BoolArray
    values: FloatArray
    mean: FloatArray
    variance: FloatArray
    low: FloatArray
    high: FloatArray
    by_doc_id: FloatArray
    is_exact: bool
    rng: Rng

    @property
    def placements(self) -> Placements:
        """What the measure is computed from."""
        return self.evaluation.placements_of(self.measure)

    @property
    def can_draw(self) -> bool:
        """Whether orders can be listed or drawn: not of a `Custom` measure from a file, nor without placements.

        Nor where a measure sees more of a document than relevance and rank.
        """
        if isinstance(self.measure, StoredMeasure):
            return False
        return self.measure.can_list_orders(self.placements)

    def summands(self, keep: BoolArray) -> Summands | None:
        """Return the exact distributions over tie orders of some of the queries, where they are feasible."""
        return summands(self.measure, self.placements, keep[self.own])

    def moved(self, keep: BoolArray) -> BoolArray:
        """Tell which of some queries ties move, of shape (n_queries,)."""
        return keep & is_moved(self.mean, self.variance)

    def n_draws(self, keep: BoolArray) -> int:
        """Return how many orders of some queries can be drawn at a cost that does not hurt."""
        return n_draws(self.placements, self.moved(keep)[self.own])

    def drawn(self, keep: BoolArray) -> Drawn | None:
        """Return sums over some of the queries in random orders, where they are feasible."""
        placements, moved = self.placements, self.moved(keep)[self.own]
        # A run has its own stream by what it ranks where, whatever it is called and whatever other runs there are.
        content = hashlib.sha256()
        for column in (placements.above, placements.tied, placements.relevance):
            content.update(column.astype(np.float64).tobytes())
        return draw_sums(self.measure, placements, keep[self.own], moved, generator(self.rng, *content.digest()))


class Compared(Protocol):
    """What is compared: a system by one measure, as `Side`, or what is made of several."""

    @property
    def measure(self) -> Measure:
        """The measure."""
        ...

    @property
    def values(self) -> FloatArray:
        """Of each query, under the tie policy; NaN where there is none."""
        ...

    @property
    def mean(self) -> FloatArray:
        """Of each query, over all orders of its ties."""
        ...

    @property
    def variance(self) -> FloatArray:
        """Of each query, over all orders."""
        ...

    @property
    def low(self) -> FloatArray:
        """Of each query, the least over all orders."""
        ...

    @property
    def high(self) -> FloatArray:
        """Of each query, the most over all orders."""
        ...

    @property
    def by_doc_id(self) -> FloatArray:
        """Of each query, with ties broken by document id, as trec_eval."""
        ...

    @property
    def is_exact(self) -> bool:
        """Whether moments and extremes are."""
        ...

    @property
    def can_draw(self) -> bool:
        """Whether orders can be listed or drawn."""
        ...

    def summands(self, keep: BoolArray) -> Summands | None:
        """Return the exact distributions of some of the queries."""
        ...

    def n_draws(self, keep: BoolArray) -> int:
        """Return how many orders can be drawn."""
        ...

    def drawn(self, keep: BoolArray) -> Drawn | None:
        """Return sums in random orders."""
        ...


def side_of(
    scores: Scores, evaluation: Evaluation, own: BoolArray, by_doc_id: Sequence[FloatArray] | None, rng: Rng
) -> Side:
    """Return the scores of a system over the queries of all, of which `own` are those that it has."""

    def spread(values: FloatArray) -> FloatArray:
        everywhere = np.full(len(own), np.nan)
        everywhere[own] = values
        return everywhere

    return Side(
        scores.measure,
        evaluation,
        own,
        spread(scores.values),
        spread(scores.tie_mean),
        spread(scores.tie_std**2),
        spread(scores.tie_min),
        spread(scores.tie_max),
        np.full(len(own), np.nan)
        if by_doc_id is None
        else spread(by_doc_id[evaluation.measures.index(scores.measure)]),
        not np.nan_to_num(scores.standard_error).any(),
        rng,
    )
