"""Intervals of the means of scores, and of their quantiles.

Scores of the same queries are estimated together: those with the same method and the same limits share the resamples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from deadheat.core import hooks
from deadheat.core.arrays import FloatArray, IntArray, use_default_arithmetic
from deadheat.core.errors import ParameterError
from deadheat.core.evaluation.intervals import BEARABLE_SKEWNESS, Interval, IntervalOptions, method_of
from deadheat.core.evaluation.parts import EstimatesMean
from deadheat.core.evaluation.query_columns import cluster_codes
from deadheat.core.kernels import weighting
from deadheat.core.phases import phase
from deadheat.core.settings import PROPORTION, SKEWED
from deadheat.core.structures import group_values

if TYPE_CHECKING:
    from deadheat.core.evaluation.scores import Scores
    from deadheat.core.measures import Measure

Ends: TypeAlias = "Mapping[Measure, tuple[float, float]]"  # low and high of the interval of a measure

NO_ENDS: Ends = MappingProxyType({})
GEOMETRIC = "geometric"  # the step that takes the interval of a mean logarithm to that of the geometric mean


@use_default_arithmetic
def estimate_intervals(
    scores_by_column: Sequence[Scores], options: IntervalOptions, known_ends: Ends = NO_ENDS
) -> list[Interval]:
    """Return the intervals of several scores of the same queries, all from the same resamples.

    Parameters
    ----------
    scores_by_column : sequence of Scores
        Those of one measure are a column of the arrays below.
    options : IntervalOptions
    known_ends : mapping of Measure to (float, float), optional
        Low and high of measures whose ends were computed before, as those of many strata together.

    Raises
    ------
    ParameterError
        The method does not apply to a measure or to clusters, or a query has no cluster.
    """
    from deadheat.core import stats  # slow to import, and only intervals need it

    cluster = cluster_codes(options.cluster, options.queries, scores_by_column[0].query_ids)
    if cluster is not None:
        _refuse_clusters(scores_by_column)
    weights = stack_weights(scores_by_column)
    values = np.column_stack([scores.values for scores in scores_by_column])
    tie_means = np.column_stack([scores.tie_mean for scores in scores_by_column])
    errors = stats.standard_errors(values, cluster=cluster, weights=weights).tolist()
    query_errors = errors
    if not np.array_equal(values, tie_means, equal_nan=True):  # they are equal where ties are counted exactly
        query_errors = stats.standard_errors(tie_means, cluster=cluster, weights=weights).tolist()
    methods = []
    for scores in scores_by_column:
        has_weights = scores.is_weighted
        method = method_of(options.method, scores.measure, has_clusters=cluster is not None, has_weights=has_weights)
        methods.append(method)
    low, high = _estimate_ends(scores_by_column, methods, cluster, weights, options, known_ends=known_ends).tolist()
    skewness = _estimate_skewness(scores_by_column, methods, cluster, weights)
    intervals = []
    for column, scores in enumerate(scores_by_column):
        n_effective = None
        if scores.is_weighted:
            n_effective = scores.n_effective
        weights_of_column = None
        if weights is not None:
            weights_of_column = weights[scores.kept, column]
        n_clusters = None
        if cluster is not None:
            n_clusters = len(np.unique(cluster[scores.kept]))
        interval = Interval(
            mean=weighting.mean(scores.values[scores.kept], weights_of_column),
            low=low[column],
            high=high[column],
            standard_error=errors[column],
            query_standard_error=query_errors[column],
            tie_standard_error=scores.tie_std_of_values,
            method=methods[column],
            confidence_level=options.confidence_level,
            n_queries=scores.n_queries,
            n_clusters=n_clusters,
            n_effective=n_effective,
            skewness=skewness[column],
        )
        intervals.append(_change_by_parts(interval, scores))
    return intervals


def _refuse_clusters(scores_by_column: Sequence[Scores]) -> None:
    """Raise `ParameterError` if a part estimates a mean, which it cannot with clusters."""
    for scores in scores_by_column:
        for part in scores.parts.values():
            if isinstance(part, EstimatesMean):
                raise ParameterError(argument="cluster", found="some", allowed="none", beside={part.argument: None})


def _change_by_parts(interval: Interval, scores: Scores) -> Interval:
    """Return an interval after each part of its scores has changed it, in the order of the registry."""
    for step in hooks.order_interval_steps(scores.parts):
        if step == GEOMETRIC:
            interval = _exponentiate(interval, scores)
        elif step in scores.parts:
            interval = scores.parts[step].change_interval(interval, scores)
    return interval


def _estimate_ends(
    scores_by_column: Sequence[Scores],
    methods: Sequence[str],
    cluster: IntArray | None,
    weights: FloatArray | None,
    options: IntervalOptions,
    *,
    known_ends: Ends,
) -> FloatArray:
    """Return the ends of the intervals, of shape (2, n_scores).

    Scores with the same method and the same limits are estimated together, from the same resamples.
    """
    from deadheat.core import stats  # as above

    ends = np.empty((2, len(scores_by_column)))
    columns_by_key = []
    for column, (method, scores) in enumerate(zip(methods, scores_by_column, strict=True)):
        if scores.measure in known_ends:
            ends[:, column] = known_ends[scores.measure]
        else:
            columns_by_key.append(((method, scores.value_limits), column))
    for (method, limits), columns in group_values(columns_by_key).items():
        if method == PROPORTION:
            for column in columns:
                scores = scores_by_column[column]
                ends[:, column] = stats.proportion_bounds(scores.total, scores.n_queries, options.confidence_level)
            continue
        with phase("estimating intervals"):
            bounds = np.stack(
                stats.interval_bounds(
                    np.column_stack([scores_by_column[column].values for column in columns]),
                    method=method,
                    confidence_level=options.confidence_level,
                    n_resamples=options.n_resamples,
                    cluster=cluster,
                    rng=options.rng,
                    limits=limits,
                    weights=None if weights is None else weights[:, columns],
                )
            )
        if method in {SKEWED, "bootstrap-t"}:
            # an infinite end is one that is not known, and a limit does not make it known
            bounds = np.where(np.isinf(bounds), bounds, np.clip(bounds, *limits))
        ends[:, columns] = bounds
    return ends


def _estimate_skewness(
    scores_by_column: Sequence[Scores], methods: Sequence[str], cluster: IntArray | None, weights: FloatArray | None
) -> list[float | None]:
    """Return the skewness of each column of values; None where its method does not need it, or it is not known."""
    from deadheat.core import stats  # as above

    skewness: list[float | None] = [None] * len(scores_by_column)
    columns = [column for column, method in enumerate(methods) if method in BEARABLE_SKEWNESS]
    if not columns:
        return skewness
    estimates = stats.skewness(
        np.column_stack([scores_by_column[column].values for column in columns]),
        cluster=cluster,
        weights=None if weights is None else weights[:, columns],
    )[0]
    for column, estimate in zip(columns, estimates.tolist(), strict=True):
        if not math.isnan(estimate):
            skewness[column] = estimate
    return skewness


def _exponentiate(interval: Interval, scores: Scores) -> Interval:
    """Return the interval of a geometric mean, given that of the mean logarithm; its errors are first-order ones."""
    if not scores.measure.geometric:
        return interval
    low, high = np.exp([interval.low, interval.high]).tolist()
    return replace(
        interval,
        mean=scores.mean_of_values,
        low=low,
        high=high,
        standard_error=interval.standard_error * scores.mean,
        query_standard_error=interval.query_standard_error * scores.mean,
    )


def stack_weights(scores_by_column: Sequence[Scores]) -> FloatArray | None:
    """Return the weights of scores of the same queries, of shape (n_queries, n_scores); None where all are equal."""
    if not any(scores.is_weighted for scores in scores_by_column):
        return None
    columns: list[FloatArray] = []
    for scores in scores_by_column:
        if scores.weights is None:
            columns.append(np.ones(len(scores.values)))
        else:
            columns.append(scores.weights)
    return np.column_stack(columns)


def estimate_quantile(scores: Scores, quantile: float, confidence_level: float) -> Interval:
    """Return a quantile over queries with its exact interval; see :meth:`Scores.quantile`.

    Parameters
    ----------
    scores : Scores
    quantile, confidence_level : float
    """
    from deadheat.core import stats  # as above

    if scores.several_runs:
        raise ParameterError(
            f"a quantile is not for systems with {scores.several_runs}, whose noise its interval would leave out"
        )
    values = scores.measure.level_of(scores.values)
    low, high = stats.quantile_bounds(values, quantile, confidence_level)
    open_ends = []
    if math.isinf(low):
        open_ends.append("low")
    if math.isinf(high):
        open_ends.append("high")
    counted = values[scores.kept]
    estimate = math.nan
    if len(counted):
        estimate = float(np.quantile(counted, quantile))
    lowest, highest = scores.limits
    return Interval(
        mean=scores.mean_of_values,
        low=max(low, lowest),
        high=min(high, highest),
        standard_error=math.nan,
        query_standard_error=math.nan,
        tie_standard_error=math.nan,
        method="binomial",
        confidence_level=confidence_level,
        n_queries=scores.n_queries,
        quantile=quantile,
        at=estimate,
        open_ends=tuple(open_ends),
    )
