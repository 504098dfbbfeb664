"""The values of an evaluation beside those of its baseline, query by query, of each measure that both have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deadheat.core import stats
from deadheat.core.arrays import BoolArray, FloatArray, IntArray, TextArray
from deadheat.core.errors import DataError, UnknownMeasureError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.interval_estimates import stack_weights
from deadheat.core.evaluation.intervals import FEWEST
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.together import check_use
from deadheat.core.kernels import weighting
from deadheat.core.measures import Measure
from deadheat.plugins.gates.settings import GateOptions


@dataclass(frozen=True, eq=False)
class PairedValues:
    """The values of shared measures in an evaluation and its baseline, query by query.

    Attributes
    ----------
    measures : tuple of Measure
    values, before : ndarray of float, shape (n_queries, n_measures)
        NaN in both where either has no value.
    is_lost : ndarray of bool, shape (n_queries, n_measures)
        Where only the baseline has a value.
    cluster : ndarray of int, shape (n_queries,), or None
    query_ids : ndarray of str, shape (n_queries,)
    weights : ndarray of float, shape (n_queries, n_measures), or None
        How much each query counts.
    """

    measures: tuple[Measure, ...]
    values: FloatArray
    before: FloatArray
    is_lost: BoolArray
    cluster: IntArray | None
    query_ids: TextArray
    weights: FloatArray | None = None

    @cached_property
    def better(self) -> FloatArray:
        """The differences, above 0 where the evaluation is better."""
        return (self.values - self.before) * np.array([measure.sign for measure in self.measures])

    @property
    def are_equal(self) -> bool:
        """Whether both have the same values."""
        return bool(np.array_equal(self.values, self.before, equal_nan=True)) and not self.is_lost.any()

    @cached_property
    def n_queries(self) -> IntArray:
        """Queries with a value in both, of shape (n_measures,)."""
        return (~np.isnan(self.values)).sum(axis=0)

    @cached_property
    def n_units(self) -> IntArray:
        """Queries with a value in both, or their clusters, of shape (n_measures,); by weight what they are worth."""
        n_units = self.n_queries
        has_value = ~np.isnan(self.values)
        if self.cluster is not None:
            n_units = np.array([len(np.unique(self.cluster[column])) for column in has_value.T], np.int64)
        if self.weights is None:
            return n_units
        worth = []
        for weights, column in zip(self.weights.T, has_value.T, strict=True):
            worth.append(int(weighting.effective_number(weights[column])))
        return np.minimum(n_units, worth)

    @cached_property
    def is_same(self) -> BoolArray:
        """Which measures have values that are all equal in both, and lost none."""
        is_negligible = np.nan_to_num(np.abs(self.better)) < stats.NEGLIGIBLE_DIFFERENCE
        return (self.n_queries > 0) & ~self.is_lost.any(axis=0) & is_negligible.all(axis=0)

    @cached_property
    def scales(self) -> FloatArray:
        """The factors from means to reported numbers: the number of queries for counts, reported as totals; else 1."""
        return np.where([measure.total for measure in self.measures], np.maximum(self.n_queries, 1.0), 1.0)

    def is_known(self, options: GateOptions) -> BoolArray:
        """Whether all values are equal, or enough for a test, of shape (n_measures,)."""
        is_enough = (self.n_units >= FEWEST) | options.allow_unknown
        return self.is_same | is_enough & (self.n_queries > 0)

    def select(self, places: IntArray) -> "PairedValues":
        """Return the pairs of some queries."""
        return PairedValues(
            measures=self.measures,
            values=self.values[places],
            before=self.before[places],
            is_lost=self.is_lost[places],
            cluster=None if self.cluster is None else self.cluster[places],
            query_ids=self.query_ids[places],
            weights=None if self.weights is None else self.weights[places],
        )


@dataclass(frozen=True)
class Pairing:
    """An evaluation beside its baseline.

    Attributes
    ----------
    pairs : PairedValues
        Of every measure that both have.
    not_compared : tuple of str
        The measures that only one of the two has, sorted.
    """

    pairs: PairedValues
    not_compared: tuple[str, ...]


def pair_values(evaluation: Evaluation, baseline: Evaluation, cluster: IntArray | None) -> Pairing:
    """Return the pairs of every measure that an evaluation and its baseline share, and which they do not share.

    Raises
    ------
    DataError
        They have other queries.
    UnknownMeasureError
        They share no measure.
    """
    if evaluation.queries_hash != baseline.queries_hash:
        raise _error_of_queries(evaluation, baseline)
    check_use("baseline", (evaluation, baseline))
    scores = {str(column.measure): column for column in evaluation}
    baseline_scores = {str(column.measure): column for column in baseline}
    shared = [name for name in scores if name in baseline_scores]
    if not shared:
        raise UnknownMeasureError(
            f"{evaluation.name} and its baseline {baseline.name} share no measure:"
            f" {', '.join(scores)} and {', '.join(baseline_scores)}"
        )
    values = _stack_values(scores, shared)
    before = _stack_values(baseline_scores, shared)
    is_lacking = np.isnan(values - before)
    pairs = PairedValues(
        measures=tuple(scores[name].measure for name in shared),
        values=np.where(is_lacking, np.nan, values),
        before=np.where(is_lacking, np.nan, before),
        is_lost=np.isnan(values) & ~np.isnan(before),
        cluster=cluster,
        query_ids=evaluation.query_ids,
        weights=stack_weights([scores[name] for name in shared]),
    )
    not_compared = []
    for name, column in {**baseline_scores, **scores}.items():
        if name not in shared:
            not_compared.append(column.measure.label)
    return Pairing(pairs, tuple(sorted(not_compared)))


def _stack_values(scores: Mapping[str, Scores], names: Sequence[str]) -> FloatArray:
    """Return the values of some measures, of shape (n_queries, n_names)."""
    return np.column_stack([scores[name].values for name in names])


def _error_of_queries(evaluation: Evaluation, baseline: Evaluation) -> DataError:
    """Return the error for an evaluation and a baseline of different queries."""
    query_ids = set(evaluation.query_ids.tolist())
    baseline_ids = set(baseline.query_ids.tolist())
    parts = []
    for name, only in ((evaluation.name, query_ids - baseline_ids), (baseline.name, baseline_ids - query_ids)):
        if only:
            parts.append(f"{len(only)} only in {name}, such as {min(only)!r}")
    hint = "evaluate both on the same queries"
    if baseline.conventions.missing == "skip":
        hint += " (missing='skip' leaves out the queries that a run lacks)"
    names = f"{evaluation.name} and its baseline {baseline.name}"
    return DataError(f"{names} are of different queries: {' and '.join(parts)}", hint=hint)
