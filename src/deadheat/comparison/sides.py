"""Sides of a comparison: a system by one measure, query by query, with what its ties can do."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import numpy as np

from deadheat.arguments import Rng, generator
from deadheat.arrays import BoolArray, FloatArray
from deadheat.comparison.flips import is_moved, normal_error, summands
from deadheat.comparison.orders import Drawn, draw_sums, n_draws
from deadheat.comparison.sums import Distribution, Summands, comparable
from deadheat.evaluation.evaluation import Evaluation
from deadheat.measures import Measure
from deadheat.measures.stored import StoredMeasure
from deadheat.placements.placements import Placements

T = TypeVar("T")

PROVED = 0.005  # what the normal distribution may be off
FEW, DEAR = 400, 0.05  # where fewer orders than that are cheap, a larger bound will do: they would say little more


@dataclass(frozen=True, eq=False)
class Side:
    """One system by one measure, over the queries of all systems; or one less another (:func:`gap_of`).

    Attributes
    ----------
    own : ndarray of bool, shape (n_queries,)
        The queries that the evaluation has.
    values, mean, variance, low, high, by_doc_id : ndarray of shape (n_queries,)
        Under the tie policy; then over all tie orders: mean, variance, extremes; and by document id, as
        trec_eval. NaN where it has no value.
    is_exact : bool
        Whether the moments and extremes are; those of a `Custom` measure may be sampled.
    rng : numpy.random.Generator, int or None
        Of the random orders.
    parts : tuple of Side
        Of a gap: the two sides.
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
    parts: tuple[Side, ...] = ()

    @property
    def placements(self) -> Placements:
        """What the measure is computed from."""
        return self.evaluation.placements_of(self.measure)

    @property
    def can_draw(self) -> bool:
        """Whether orders can be listed or drawn: not of a `Custom` measure from a file, nor without placements.

        Nor where a measure sees more of a document than relevance and rank.
        """
        if self.parts:
            return all(part.can_draw for part in self.parts)
        if isinstance(self.measure, StoredMeasure):
            return False
        return self.measure.can_list_orders(self.placements)

    def summands(self, keep: BoolArray) -> Summands | None:
        """Return the exact distributions over tie orders of some of the queries, where they are feasible."""
        if self.parts:
            first = self.parts[0].summands(keep)
            second = self.parts[1].summands(keep) if first else None
            return first.minus(second) if first and second else None
        return summands(self.measure, self.placements, keep[self.own])

    def moved(self, keep: BoolArray) -> BoolArray:
        """Tell which of some queries ties move, of shape (n_queries,)."""
        return keep & is_moved(self.mean, self.variance)

    def n_draws(self, keep: BoolArray) -> int:
        """Return how many orders of some queries can be drawn at a cost that does not hurt."""
        if self.parts:
            return min(part.n_draws(keep) for part in self.parts)
        return n_draws(self.placements, self.moved(keep)[self.own])

    def drawn(self, keep: BoolArray) -> Drawn | None:
        """Return sums over some of the queries in random orders, where they are feasible."""
        if self.parts:
            first = self.parts[0].drawn(keep)
            second = self.parts[1].drawn(keep) if first else None
            return first.minus(second, generator(self.rng, 1)) if first and second else None
        placements, moved = self.placements, self.moved(keep)[self.own]
        # A run has its own stream by what it ranks where, whatever it is called and whatever other runs there are.
        content = hashlib.sha256()
        for column in (placements.above, placements.tied, placements.relevance):
            content.update(column.astype(np.float64).tobytes())
        return draw_sums(self.measure, placements, keep[self.own], moved, generator(self.rng, *content.digest()))


def side_of(
    evaluation: Evaluation,
    measure: Measure,
    own: BoolArray,
    by_doc_id: Sequence[FloatArray] | None = None,
    rng: Rng = None,
) -> Side:
    """Return a system by a measure over the queries of all, of which `own` are those that it has.

    Parameters
    ----------
    evaluation : Evaluation
    measure : Measure
    own : ndarray of bool, shape (n_queries,)
    by_doc_id : sequence of ndarray, optional
        The scores with ties broken by document id, as trec_eval, of each measure of the evaluation.
    rng : numpy.random.Generator, int or None
        Of random orders.
    """
    scores = evaluation[str(measure)]
    known = [scores.values, scores.tie_mean, scores.tie_std**2, scores.tie_min, scores.tie_max]
    if by_doc_id is not None:
        known.append(by_doc_id[evaluation.measures.index(scores.measure)])
    columns = np.full((6, len(own)), np.nan)
    columns[: len(known), own] = known
    return Side(
        measure=scores.measure,
        evaluation=evaluation,
        own=own,
        values=columns[0],
        mean=columns[1],
        variance=columns[2],
        low=columns[3],
        high=columns[4],
        by_doc_id=columns[5],
        is_exact=not np.nan_to_num(scores.standard_error).any(),
        rng=rng,
    )


def gap_of(one: Side, other: Side) -> Side:
    """Return one side less another, such as a system in one language and in another.

    The ties of the two are broken independently, so that means subtract and variances add.
    """
    return replace(
        one,
        values=one.values - other.values,
        mean=one.mean - other.mean,
        variance=one.variance + other.variance,
        low=one.low - other.high,
        high=one.high - other.low,
        by_doc_id=one.by_doc_id - other.by_doc_id,
        is_exact=one.is_exact and other.is_exact,
        parts=(one, other),
    )


@dataclass(frozen=True, eq=False)
class TieSums:
    """Sums of sides over queries, and how ties distribute them; found once, as pairs share sides.

    Attributes
    ----------
    sides : sequence of Side
    """

    sides: Sequence[Side]
    known: dict[tuple[object, int, bytes], Any] = field(default_factory=dict, repr=False)

    def exact(self, a: int, b: int, keep: BoolArray) -> tuple[Distribution, Distribution] | None:
        """Return the distributions of two sums, exact or on one grid; None where they are not feasible."""
        if not (self.sides[a].can_draw and self.sides[b].can_draw):
            return None
        one = self._once(Side.summands, a, keep)
        other = self._once(Side.summands, b, keep) if one else None
        return comparable(one, other) if one and other else None

    def drawn(self, a: int, b: int, keep: BoolArray, normal_error: float) -> tuple[Drawn, Drawn] | None:
        """Return two drawn sums; None where none can be drawn, or a normal distribution with this error will do."""
        both = (self.sides[a], self.sides[b])
        if not all(side.can_draw for side in both):
            return None
        enough = DEAR if min(side.n_draws(keep) for side in both) < FEW else PROVED
        if not normal_error > enough:  # NaN too
            return None
        one, other = self._once(Side.drawn, a, keep), self._once(Side.drawn, b, keep)
        return (one, other) if one and other else None

    def _once(self, find: Callable[[Side, BoolArray], T], place: int, keep: BoolArray) -> T:
        key = find, place, keep.tobytes()
        if key not in self.known:
            self.known[key] = find(self.sides[place], keep)
        return cast("T", self.known[key])


def normal_error_of(one: Side, other: Side, keep: BoolArray, difference: float) -> float:
    """Return the most that a normal distribution can be off; 1 where moments are sampled, which proves nothing."""
    if not (one.is_exact and other.is_exact):
        return 1.0
    deviations = [np.maximum(side.high - side.mean, side.mean - side.low)[keep] for side in (one, other)]
    variances = [side.variance[keep] for side in (one, other)]
    return normal_error(difference, np.concatenate(variances), np.concatenate(deviations))
