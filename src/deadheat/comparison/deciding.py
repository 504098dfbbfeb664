"""The queries that decide a comparison: on which one system is best, on which worst, and which hang on their ties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.arrays import BoolArray, FloatArray, TextArray, members
from deadheat.comparison.pairs import Pair
from deadheat.evaluation.evaluation import Evaluation
from deadheat.measures import Measure
from deadheat.stats.units import NEGLIGIBLE_DIFFERENCE

KINDS = ("best", "worst", "ties")


@dataclass(frozen=True)
class DecidingQuery:
    """What one query says about a pair of systems.

    Attributes
    ----------
    measure, system, baseline : str
    kind : {"best", "worst", "ties"}
        Why it is listed: the system is better than the baseline here, or worse; or tie orders move the difference.
    query_id : str
    difference, value, baseline_value : float
        ``value - baseline_value``, under the tie policy.
    tie_min, tie_max : float
        Of the difference, over all orders of the ties of both.
    """

    measure: str
    system: str
    baseline: str
    kind: str
    query_id: str
    difference: float
    value: float
    baseline_value: float
    tie_min: float
    tie_max: float


def deciding_queries(
    pairs: Sequence[Pair],
    measures: Sequence[Measure],
    evaluations: Mapping[str, Evaluation],
    query_ids: TextArray,
    n: int,
) -> Iterator[DecidingQuery]:
    """Give the queries that decide each pair, of each kind `n` at most, the most extreme first.

    Of "best" and "worst" are only queries that differ, of "ties" only those whose difference ties move; among equals
    the order is that of the ids.

    Parameters
    ----------
    pairs : sequence of Pair
    measures : sequence of Measure
        In the order of the pairs.
    evaluations : mapping of str to Evaluation
    query_ids : ndarray of str, shape (n_queries,)
        Of all evaluations together, sorted.
    n : int
    """
    n_pairs = len(pairs) // len(measures)
    own = {name: members(query_ids, one.query_ids) for name, one in evaluations.items()}
    for place, pair in enumerate(pairs):
        measure = measures[place // n_pairs]
        one, other = (_Columns.of(evaluations[name], measure, own[name]) for name in (pair.system, pair.baseline))
        difference, low, high = one.values - other.values, one.low - other.high, one.high - other.low
        better = difference if measure.higher_is_better else -difference
        for kind, size in zip(KINDS, (better, -better, high - low), strict=True):
            found = np.where(np.isnan(difference), -np.inf, size)
            order = np.argsort(-found, kind="stable")[:n]
            for query in order[found[order] > NEGLIGIBLE_DIFFERENCE].tolist():
                numbers = (float(column[query]) for column in (difference, one.values, other.values, low, high))
                names = (pair.measure, pair.system, pair.baseline, kind, str(query_ids[query]))
                yield DecidingQuery(*names, *numbers)


@dataclass(frozen=True, eq=False)
class _Columns:
    """The values of one system by one measure, and their extremes over tie orders; NaN where it has none."""

    values: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, evaluation: Evaluation, measure: Measure, own: BoolArray) -> _Columns:
        scores = evaluation[measure]
        found = np.full((3, len(own)), np.nan)
        for column, values in zip(found, (scores.values, scores.tie_min, scores.tie_max), strict=True):
            column[own] = values
        return cls(*found)
