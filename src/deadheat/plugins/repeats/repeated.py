"""Repeats as a part of scores: the values of each run of one system, which widen the interval of the mean."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.evaluation.intervals import Interval
from deadheat.core.evaluation.parts import Scored
from deadheat.plugins.repeats.variances import shared_of, widened

REPEATS = "repeats"


@dataclass(frozen=True, eq=False)
class Repeated:
    """The values of several runs of one system.

    Attributes
    ----------
    values, tie_variances : ndarray of float, shape (n_queries, n_repeats)
        Exact means and variances over tie orders; NaN where a repeat lacks a query.
    """

    several_runs: ClassVar[str] = REPEATS

    values: FloatArray
    tie_variances: FloatArray

    def select(self, keep: BoolArray | IntArray) -> Repeated:
        """Return those of some queries."""
        return Repeated(self.values[keep], self.tie_variances[keep])

    def columns(self) -> Mapping[str, FloatArray | None]:
        """Return none: saved files have a table of repeats."""
        return {}

    def range_column(self) -> None:
        """Return None: reports show no range of it."""

    def change_interval(self, interval: Interval, scores: Scored) -> Interval:
        """Return an interval wider by what all queries of a repeat share."""
        shared = shared_of(self.values[scores.kept])
        ends = widened(interval.mean, (interval.low, interval.high), [shared], interval.confidence_level)
        low, high = np.clip(ends, *scores.value_limits).tolist()
        return replace(
            interval,
            low=low,
            high=high,
            standard_error=math.hypot(interval.standard_error, math.sqrt(shared.variance)),
            query_standard_error=math.hypot(interval.query_standard_error, math.sqrt(shared.variance)),
        )
