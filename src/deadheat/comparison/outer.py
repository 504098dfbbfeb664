"""Outer bounds of differences over unjudged documents: whether labels of these could reverse a comparison."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray, IntArray, TextArray, aligned, members
from deadheat.comparison.pairs import pairs_of
from deadheat.errors import ParameterError
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.scores import PlacedBounds, Scores
from deadheat.kernels import weighting
from deadheat.measures import Measure
from deadheat.measures.unjudged import ends, has_ends
from deadheat.placements.unjudged import as_placed
from deadheat.settings import Design

MOST_BOUNDED = 200_000  # documents, whose bounds a verdict looks for unasked


@dataclass(frozen=True)
class OuterBound:
    """How far labels of unjudged documents can move a difference, at most.

    Each system is bounded by itself, over the labels of what either of the two retrieves, each document once. One that
    both retrieve may so have two labels, one in each bound. So no labels lead outside of the ends, but these may not be
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
    documents: dict[str, pl.DataFrame | None] = {}
    for measure in next(iter(evaluations.values())).measures:
        scores = {name: one[str(measure)] for name, one in evaluations.items()}
        if not all(one.has_unjudged_bounds and isinstance(one.unjudged, PlacedBounds) for one in scores.values()):
            continue
        documents = documents or {name: _documents(one, str(measure)) for name, one in evaluations.items()}
        for system, baseline in pairs_of(list(evaluations), design.against):
            both = _both(documents[system], documents[baseline], query_ids)
            if found := difference_bounds(scores[system], scores[baseline], query_ids, both):
                yield OuterBound(measure.label, system, baseline, *found)


def difference_bounds(
    scores: Scores, other: Scores, query_ids: TextArray, both: IntArray
) -> tuple[float, float, float] | None:
    """Return the mean difference of two systems and its outer bounds; None where no query has a value for both.

    Parameters
    ----------
    scores, other : Scores
        With placed bounds.
    query_ids : ndarray of str, shape (n_queries,)
    both : ndarray of int, shape (n_queries,)
        Unjudged documents that both retrieve, as far as is known.
    """
    value, low, high = _beside(scores, other, query_ids, both)
    its_value, its_low, its_high = _beside(other, scores, query_ids, both)
    keep = ~np.isnan(value - its_value)
    if not keep.any():
        return None
    weights = None if scores.weights is None else aligned(scores.weights, scores.query_ids, query_ids)[keep]
    ends_of = (value - its_value, low - its_high, high - its_low)
    found, lowest, highest = (weighting.mean(one[keep], weights) for one in ends_of)
    return found, lowest, highest


def bounded(evaluation: Evaluation, measure: Measure) -> Scores | None:
    """Return the scores of a measure with bounds over unjudged documents from placements alone.

    None where there are no such bounds, labels change more than gains, the documents are so many that it takes long, or
    they are those of one repeat of several.
    """
    conventions = evaluation.conventions
    try:
        replace(conventions, unjudged="bounds")
    except ParameterError:
        return None
    if conventions.ties != "expected" or conventions.depth or not has_ends(measure):
        return None
    placements, scores = evaluation.placements_of(measure), evaluation[str(measure)]
    if placements.n_retrieved.sum() > MOST_BOUNDED or scores.repeats is not None:
        return None
    top = conventions.highest_label(placements.max_relevance)
    return replace(scores, unjudged=PlacedBounds(measure, placements, as_placed(placements), top, None))


def _documents(evaluation: Evaluation, measure: str) -> pl.DataFrame | None:
    """Return query_id and doc_id of what was retrieved unjudged, but for ties that a depth cuts; None: not known."""
    bounds, depth = evaluation[measure].unjudged, evaluation.conventions.depth
    if not isinstance(bounds, PlacedBounds) or bounds.documents is None:
        return None
    found = bounds.documents()
    is_whole = True if depth is None else found["above"] + found["tied"] <= depth
    return found.filter(is_whole).select("query_id", "doc_id")


def _both(one: pl.DataFrame | None, other: pl.DataFrame | None, query_ids: TextArray) -> IntArray:
    """Return how many unjudged documents of each query two systems retrieve, as far as is known."""
    if one is None or other is None:
        return np.zeros(len(query_ids), np.int64)
    shared = one.join(other, on=["query_id", "doc_id"]).group_by("query_id").len()
    counts = aligned(shared["len"].to_numpy(), shared["query_id"].to_numpy(), query_ids)
    return np.nan_to_num(counts).astype(np.int64)


def _beside(scores: Scores, other: Scores, query_ids: TextArray, both: IntArray) -> FloatArray:
    """Return values and ends over all queries, of shape (3, n_queries), where the other's documents have labels too.

    What only the other retrieves unjudged may be relevant and not retrieved here: it counts in divisors.
    """
    bounds, its = scores.unjudged, other.unjudged
    assert isinstance(bounds, PlacedBounds)  # noqa: S101 - looked at above
    assert isinstance(its, PlacedBounds)  # noqa: S101 - as above
    own, others = (members(query_ids, one.query_ids) for one in (scores, other))
    lost = -both
    lost[others] += its.unjudged.counts()
    unjudged = replace(bounds.unjudged, lost=np.maximum(lost[own], 0))  # repeated rows may count twice
    low, high = ends(scores.measure, bounds.placements, unjudged, bounds.top)
    found = np.full((3, len(query_ids)), np.nan)
    found[:, own] = scores.values, low, high
    return found
