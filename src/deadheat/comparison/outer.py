"""Outer bounds of differences over unjudged documents: whether labels of these could reverse a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from deadheat.arrays import FloatArray, TextArray, members
from deadheat.comparison.pairs import Design, pairs_of
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.scores import PlacedBounds, Scores
from deadheat.measures.unjudged import ends


@dataclass(frozen=True)
class OuterBound:
    """How far labels of unjudged documents can move a difference, at most.

    Each system is bounded by itself, over the labels of what either of the two retrieves. A document that both
    retrieve may so have two labels, one in each bound. So no labels lead outside of the ends, but these may not be
    attained.

    Attributes
    ----------
    measure, system, baseline : str
    difference : float
        ``mean - baseline_mean``, with unjudged documents without a gain.
    low, high : float
        No labels give a smaller or a larger difference.
    """

    measure: str
    system: str
    baseline: str
    difference: float
    low: float
    high: float

    @property
    def is_safe(self) -> bool:
        """Whether no labels can reverse the sign of the difference; what is 0 has none."""
        return self.low > 0 < self.difference or self.high < 0 > self.difference


def outer_bounds(evaluations: Mapping[str, Evaluation], query_ids: TextArray, design: Design) -> Iterator[OuterBound]:
    """Yield the bound of every difference by a measure that has bounds, if they were asked for and runs are at hand.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
    query_ids : ndarray of str, shape (n_queries,)
        Of all evaluations together, sorted.
    design : Design
    """
    names = list(evaluations)
    for measure in evaluations[names[0]].measures:
        scores = [one[str(measure)] for one in evaluations.values()]
        if not all(one.has_unjudged_bounds and isinstance(one.unjudged, PlacedBounds) for one in scores):
            continue
        for a, b in pairs_of(names, design.baseline):
            value, low, high = _beside(scores[a], scores[b], query_ids)
            other, other_low, other_high = _beside(scores[b], scores[a], query_ids)
            keep = ~np.isnan(value - other)
            if keep.any():
                found = (value - other, low - other_high, high - other_low)
                yield OuterBound(measure.label, names[a], names[b], *(float(one[keep].mean()) for one in found))


def _beside(scores: Scores, other: Scores, query_ids: TextArray) -> FloatArray:
    """Return values and ends over all queries, of shape (3, n_queries), where the other's documents have labels too.

    What the other retrieves unjudged may be relevant and not retrieved here: it counts in divisors.
    """
    bounds, its = scores.unjudged, other.unjudged
    assert isinstance(bounds, PlacedBounds)  # noqa: S101 - looked at above
    assert isinstance(its, PlacedBounds)  # noqa: S101 - as above
    own, others = (members(query_ids, one.query_ids) for one in (scores, other))
    lost = np.zeros(len(query_ids), np.int64)
    lost[others] = its.unjudged.counts(len(other.query_ids))
    unjudged = replace(bounds.unjudged, lost=lost[own])
    low, high = ends(scores.measure, bounds.placements, unjudged, bounds.top)
    found = np.full((3, len(query_ids)), np.nan)
    found[:, own] = scores.values, low, high
    return found
