"""Evaluation with sampled negatives: the relevant documents among a few others, exactly over all samples."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, sum_by_code
from deadheat.core.errors import MeasureError
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.tie_spread import TieSpread
from deadheat.core.kernels.segments import divide_or_zero
from deadheat.core.measures import RR, Hit, Measure, nDCG
from deadheat.core.measures.families import CutMeasure, SumMeasure
from deadheat.core.measures.top import CutTopMeasure, RelevanceMeasure, TopMeasure
from deadheat.core.measures.weighted import WeightedMeasure, weights_fall
from deadheat.core.placements import policies
from deadheat.core.placements.placements import Placements
from deadheat.core.random_generators import Rng
from deadheat.core.settings import Conventions
from deadheat.plugins.dense import hypergeometric as kernel
from deadheat.plugins.dense.counting import Counted
from deadheat.plugins.dense.sampled_measure import SampledMeasure

POSITIVES = {"together": "together", "each": "each in a list of its own"}  # and what notes say


def sampled_scores(
    counted: Counted,
    measures: Sequence[Measure],
    sampled: int,
    *,
    positives: str,
    conventions: Conventions,
    rng: Rng,
) -> list[Scores]:
    """Return the scores of each measure, averaged over all samples.

    Parameters
    ----------
    counted : Counted
    measures : sequence of Measure
    sampled : int
    positives : {"together", "each"}
    conventions : Conventions
    rng : numpy.random.Generator or int, optional
        For ``ties="random"``.
    """
    for one in measures:
        _refuse_other(one)
    users = counted.placements()
    lists, owner = users, np.arange(users.n_queries)
    if positives == "each":
        lists = _alone(counted).placements()
        owner = np.argsort(np.argsort(counted.query_ids))[counted.query[counted.relevance > 0]]
    size = np.maximum(np.bincount(owner, minlength=users.n_queries), 1)
    ranked = policies.apply(lists, conventions.ties, rng)
    found = []
    for measure in measures:
        ends = [policies.arrange_extreme(lists, best=best) for best in (False, True)]
        if getattr(measure, "negative", "zero") == "gain":
            if positives == "each" and (counted.relevance < 0).any():
                raise MeasureError(
                    "with positives='each' a list has one judged document, so that none of negative gain counts",
                    measure=measure.label,
                )
            ends = [policies.arrange_around_unjudged(lists, sign * lists.relevance) for sign in (-1, 1)]
        mean, variance = _moments(measure, lists, sampled)
        values, low, high = (mean if one is lists else _moments(measure, one, sampled)[0] for one in (ranked, *ends))
        values, mean, low, high = (sum_by_code(owner, one, users.n_queries) / size for one in (values, mean, low, high))
        std = np.sqrt(sum_by_code(owner, variance, users.n_queries)) / size
        whole = TieSpread(measure, users)
        lowest, highest = measure.limits(users)
        stored = SampledMeasure(
            notation=f"{measure} ({sampled} sampled, {positives})",
            total=measure.total,
            lowest=lowest,
            highest=highest,
        )
        of_all = TieSpread.known(
            stored.with_label(measure.label),
            users,
            mean=mean,
            std=np.minimum(std, (high - low) / 2),  # at most half the range (Popoviciu)
            extremes=(low, high),
            standard_error=np.zeros(users.n_queries),
            has_relevant=whole.has_relevant,
            reachable=whole.reachable,
        )
        values = np.where(whole.has_relevant, values, np.nan) if conventions.no_relevant == "skip" else values
        found.append(Scores(of_all.measure, users.query_ids, values, of_all))
    return found


def _refuse_other(measure: Measure) -> None:
    """Raise `MeasureError` for a measure whose mean over samples is not known."""
    kind: type[Any] = type(measure)
    has_moments = isinstance(measure, nDCG) or getattr(kind, "mean", None) is SumMeasure.mean
    moment = getattr(kind, "moment", None)
    is_weighted = isinstance(measure, WeightedMeasure) and moment is WeightedMeasure.moment
    is_top = (
        isinstance(measure, CutTopMeasure) and isinstance(measure, RelevanceMeasure) and moment is TopMeasure.moment
    )
    is_linear = has_moments and (is_weighted or is_top) and getattr(measure, "floor", "zero") == "zero"
    if not is_linear and not isinstance(measure, RR | Hit):
        raise MeasureError(
            "sampled= is for linear measures (nDCG, DCG, P, R, RBP), RR and Hit: others have no mean in closed form",
            measure=measure.label,
        )


def _alone(counted: Counted) -> Counted:
    """Return each relevant document as a query of its own, without the others.

    Judged documents without positive relevance are among the others, which are drawn.
    """
    is_relevant = counted.relevance > 0
    parts = {name: getattr(counted, name)[is_relevant] for name in ("query", "doc_ids", "relevance", "above", "tied")}
    counted = replace(counted, **parts, lists=None)
    is_in = counted.tied > 0
    query, above = counted.query[is_in], counted.above[is_in]
    _, tie, sizes = np.unique(query * (above.max(initial=0) + 1) + above, return_inverse=True, return_counts=True)
    before = (np.cumsum(sizes) - sizes)[tie] - np.searchsorted(query, query)
    others_above, tied = counted.above.copy(), counted.tied.copy()
    others_above[is_in] -= before
    tied[is_in] -= sizes[tie] - 1
    n_others = counted.n_retrieved - np.bincount(query, minlength=len(counted.query_ids))
    return replace(
        counted,
        query_ids=np.array([f"{n:012}" for n in range(len(is_in))], object),  # sorted
        n_retrieved=n_others[counted.query] + is_in,
        query=np.arange(len(is_in)),
        above=others_above,
        tied=tied,
    )


def _moments(measure: Measure, placements: Placements, sampled: int) -> tuple[FloatArray, FloatArray]:
    """Return mean over samples and tie orders, and the variance over tie orders of the mean over samples."""
    is_own = placements.relevance > 0  # others are drawn, such as those of negative relevance
    n_judged = np.bincount(placements.query[is_own], minlength=placements.n_queries)
    n_others = placements.n_retrieved - n_judged
    lists = replace(placements, n_retrieved=np.minimum(n_others, sampled) + n_judged)
    gains: FloatArray = (placements.relevance >= getattr(measure, "rel", 1)) * 1.0
    divisor: FloatArray = np.ones(placements.n_queries)
    if isinstance(measure, RR | Hit) and not np.array_equal(gains > 0, is_own):
        raise MeasureError(
            f"sampled= needs relevance {measure.rel:g} or more of all relevant documents", measure=measure.label
        )
    if isinstance(measure, SumMeasure):
        divisor = np.asarray(measure.divisor(lists), np.float64)
    if isinstance(measure, WeightedMeasure):
        gains = measure.gains(lists)[1]
    weights = _weights(measure, int(lists.n_retrieved.max(initial=1)))
    if not weights_fall(weights):
        raise MeasureError(
            "sampled= is for weights that fall with the rank: of others the least and greatest values over ties are"
            " not known",
            measure=measure.label,
        )
    n_own, is_of_first = np.append(0, np.cumsum(is_own)), isinstance(measure, RR | Hit)
    before: IntArray = n_own[:-1] - n_own[np.searchsorted(placements.query, placements.query)]  # own ones, in the query
    above = placements.above - before  # others
    counts = before == 0 if is_of_first else np.ones_like(is_own)  # else the first relevant document is in a tie above
    is_alone = is_own & (placements.tied == 1)
    alone = np.flatnonzero(counts & is_alone)
    in_list = n_others[placements.query[alone]]
    weight = kernel.means(weights, above[alone], before[alone], in_list, np.minimum(in_list, sampled))
    mean = sum_by_code(placements.query[alone], gains[alone] * weight, placements.n_queries)
    variance = np.zeros(placements.n_queries)
    is_tie = (counts & ~is_alone)[placements.tie_starts]
    for first, end in zip(
        placements.tie_starts[is_tie], (placements.tie_starts + placements.tie_sizes)[is_tie], strict=True
    ):
        query, rows = placements.query[first], slice(first, end)
        own, others = gains[rows][is_own[rows]], gains[rows][~is_own[rows]]
        n, tied = int(n_others[query]), int(placements.tied[first]) - len(own)
        size = min(n, sampled)
        values = _at_ranks(weights, above[first] + np.arange(tied + 1), (n, size), before[first] + np.arange(len(own)))
        if is_of_first:
            values[1:] = 0.0
        drawn: FloatArray = np.zeros((len(own) + 1, tied))
        if others.any():
            ranks = before[first] + np.arange(len(own) + 1)
            drawn = size / n * _at_ranks(weights, above[first] + np.arange(tied), (n - 1, size - 1), ranks)
        of_tie = kernel.moments(values, drawn, own, others)
        mean[query] += of_tie[0]
        variance[query] += of_tie[1]
    return divide_or_zero(mean, divisor), divide_or_zero(variance, divisor**2)


def _at_ranks(weights: FloatArray, above: IntArray, drawn: tuple[int, int], before: IntArray) -> FloatArray:
    """Return the mean weight of a document below some that are always there, and those drawn of some others.

    Parameters
    ----------
    weights : ndarray of float, shape (n_ranks,)
    above : ndarray of int, shape (m,)
        Others that are above it.
    drawn : tuple of int
        How many others there are, and are drawn.
    before : ndarray of int, shape (r,)
        Documents above it that are always there.

    Returns
    -------
    ndarray of float, shape (r, m)
    """
    likely = kernel.probabilities(above, *drawn)
    return np.array([likely @ weights[one : one + drawn[1] + 1] for one in before]).reshape(len(before), len(above))


def _weights(measure: Measure, n_ranks: int) -> FloatArray:
    """Return the weight of each rank, 0 below the cutoff."""
    rank = np.arange(1, n_ranks + 1)
    if isinstance(measure, WeightedMeasure):
        found = measure.weights(n_ranks)
    else:
        found = measure.value_at_rank(rank) if isinstance(measure, RR | Hit) else np.ones(n_ranks)
    cutoff = measure.cutoff if isinstance(measure, CutMeasure) else None
    return found if cutoff is None else np.where(rank <= cutoff, found, 0.0)
