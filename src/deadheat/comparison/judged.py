"""What labels that no human gave say of differences: those of a judge, and outer bounds over all labels."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray, IntArray, TextArray, aligned, members
from deadheat.comparison.pairs import JudgeContribution, Pair, Pairs, pairs_of
from deadheat.errors import ParameterError, Plain
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.scores import PlacedBounds, Scores
from deadheat.kernels import weighting
from deadheat.kernels.weighting import effective_number, linearised
from deadheat.measures import Measure
from deadheat.measures.notation import MeasureLike
from deadheat.measures.unjudged import ends, has_ends
from deadheat.placements.unjudged import as_placed
from deadheat.settings import Design
from deadheat.stats.labels import Powered, powered_mean, sample_doubt

POWERED = "ppi"  # the method of an interval
OF_MEANS = ("randomization", "bootstrap-t", "bootstrap", "t")  # tests of the mean difference


def judged_pairs(
    pairs: Pairs,
    differences: FloatArray,
    query_ids: TextArray,
    judge: Mapping[str, Evaluation],
    design: Design,
) -> Pairs:
    """Return the pairs with what a judge adds; p values are not corrected yet.

    Parameters
    ----------
    pairs : Pairs
        By human labels.
    differences : ndarray of shape (n_queries, n_pairs)
    query_ids : ndarray of str, shape (n_queries,)
        Those with human labels.
    judge : mapping of str to Evaluation
        Of each system under the judge's labels, over more queries.
    design : Design
    """
    found = []
    for pair, own in zip(pairs, differences.T, strict=True):
        two = {name: judge[name] for name in (pair.system, pair.baseline)}
        both, others = (values[:, 0] - values[:, 1] for values in values_of(two, pair.measure, query_ids))
        kept, known = ~np.isnan(own) & ~np.isnan(both), ~np.isnan(others)
        weights, of_others = None, None
        if judge[pair.system][pair.measure].weights is not None:
            ends = zip(values_of(two, pair.measure, query_ids, "weights"), (kept, known), strict=True)
            weights, of_others = (columns[some, 0] for columns, some in ends)
        powered = powered_mean(
            linearised(own[kept], weights),
            linearised(both[kept], weights),
            linearised(others[known], of_others),
            confidence_level=design.confidence_level,
        )
        human = {name: getattr(pair, name) for name in ("difference", "low", "high", "p_value")}
        n_effective = powered.n_effective * (1 if weights is None else effective_number(weights) / len(weights))
        added = JudgeContribution(powered.weight, powered.correlation, n_effective, int(known.sum()), **human)
        numbers: dict[str, Any] = {  # without weight those of the human labels stay
            "difference": powered.estimate,
            "low": powered.low,
            "high": powered.high,
            "p_value": _one_sided(powered, design.alternative),
            "standard_error": powered.standard_error,
            "method": POWERED,
            "exact_p_value": False,
            "n_queries": int(kept.sum()),
        }
        found.append(replace(pair, judged=added, **(numbers if powered.weight else {})))
    return Pairs({one.name: [getattr(pair, one.name) for pair in found] for one in fields(Pair)})


def _one_sided(powered: Powered, alternative: str) -> float:
    """Return the p value of the alternative, from the two-sided one of a symmetric test."""
    if alternative == "two-sided":
        return powered.p_value
    is_in_favour = (powered.estimate > 0) == (alternative == "greater")
    return powered.p_value / 2 if is_in_favour else 1 - powered.p_value / 2


def values_of(
    evaluations: Mapping[str, Evaluation], measure: MeasureLike, query_ids: TextArray, name: str = "values"
) -> tuple[FloatArray, FloatArray]:
    """Return the values, or weights, for some queries and for all others, of shape (n_queries, n_systems).

    NaN where none is.
    """
    each = [one[measure] for one in evaluations.values()]
    others = sorted({query for one in each for query in one.query_ids.tolist()}.difference(query_ids.tolist()))
    own, rest = (
        np.column_stack([aligned(getattr(one, name), one.query_ids, ids) for one in each])
        for ids in (query_ids, np.array(others, object))
    )
    return own, rest


def sampling_doubts(judge: Mapping[str, Evaluation], query_ids: TextArray) -> dict[str, float]:
    """Return p values below `SUSPECT`, by measure, of no difference between queries with human labels and others.

    Of the mean over systems by the judge's labels, by Welch's t test: what a random sample differs in by chance alone.
    """
    found = {}
    for scores in next(iter(judge.values())):
        measure = scores.measure.label
        means = [values.mean(axis=1) for values in values_of(judge, measure, query_ids)]
        if (p := sample_doubt(*means)) is not None:
            found[measure] = p
    return found


def check_judge(design: Design, *, has_clusters: bool) -> None:
    """Raise `ParameterError` if a judge's labels cannot help such a comparison."""
    beside = {"judge": None}
    if design.test not in OF_MEANS:
        raise ParameterError(argument="test", given=design.test, allowed=OF_MEANS, beside=beside)
    if has_clusters:
        raise ParameterError(argument="cluster", given=Plain("some"), allowed="none", beside=beside)


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
