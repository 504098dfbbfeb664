"""A judge's labels as a part of scores: values by them, with which the mean and its interval are estimated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.evaluation.intervals import Interval
from deadheat.core.evaluation.parts import Scored
from deadheat.plugins.judges.prediction import FEWEST_OF_MEAN, Powered, powered_mean

JUDGE = "judge"


class Predicted(NamedTuple):
    """Values by the labels of a judge, which more queries have than human ones.

    Attributes
    ----------
    own : ndarray of float, shape (n_queries,)
        Of the same queries.
    others : ndarray of float, shape (n_others,)
        Of those that have no human labels.
    weights : ndarray of float, shape (n_others,), or None
        What these weigh.
    """

    own: FloatArray
    others: FloatArray
    weights: FloatArray | None

    @property
    def argument(self) -> str:
        """The argument that it is made of."""
        return JUDGE

    def select(self, keep: BoolArray | IntArray) -> None:
        """Return None: of which others some queries are a sample is not known here."""

    def columns(self) -> Mapping[str, FloatArray | None]:
        """Return none."""
        return {}

    def range_column(self) -> None:
        """Return None: reports show no range of it."""

    def estimate_mean(self, scores: Scored) -> Powered | None:
        """Return what the labels add to the mean (prediction-powered inference); None if no query counts."""
        if not scores.n_queries:
            return None
        known, rest = scores.kept & ~np.isnan(self.own), ~np.isnan(self.others)
        found = powered_mean(
            scores.values[known],
            self.own[known],
            self.others[rest],
            weights=None if scores.weights is None else scores.weights[known],
            other_weights=None if self.weights is None else self.weights[rest],
            fewest=FEWEST_OF_MEAN,
        )
        return replace(found, n_effective=found.n_effective * scores.n_effective / scores.n_queries)

    def change_interval(self, interval: Interval, scores: Scored) -> Interval:
        """Return an interval around the estimate with the labels, narrower as the standard error is."""
        powered = cast("Powered | None", scores.estimated_mean)
        if powered is None or not powered.weight:
            return interval if powered is None else replace(interval, judge_weight=0.0)
        ratio = math.sqrt(scores.n_effective / powered.n_effective)
        low, high = (powered.estimate + ratio * (end - interval.mean) for end in (interval.low, interval.high))
        lowest, highest = scores.limits
        return replace(
            interval,
            mean=powered.estimate,
            low=max(low, lowest),
            high=min(high, highest),
            standard_error=interval.standard_error * ratio,
            query_standard_error=interval.query_standard_error * ratio,
            tie_standard_error=math.nan,
            n_effective=powered.n_effective,
            judge_weight=powered.weight,
            alone=interval,
        )
