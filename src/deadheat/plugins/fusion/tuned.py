"""TunedFusion: what tuning found, held out and not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray, IntArray, TextArray, special
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import Plottable, Renderable, make_frame
from deadheat.core.data.run import Run
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.measures import Measure
from deadheat.core.wording import escape_invisible
from deadheat.plugins.compare.comparison import Comparison
from deadheat.plugins.fusion.base import METHODS, WEIGHTS
from deadheat.plugins.fusion.fuse import Recipe, format_parameter

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Gain:
    """How much better the fused run is than one of the inputs, held out.

    Attributes
    ----------
    system : str
        The input.
    mean : float
        Its own.
    difference : float
        The mean of the fused run less that.
    low, high : float
        Its confidence interval.
    p_value : float
        Adjusted for the number of inputs.
    """

    system: str
    mean: float
    difference: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class Flatness:
    """How far the best setting is from the worst, on the queries that both were tried on.

    Attributes
    ----------
    difference : float
        Of their means, in the direction of the measure.
    low, high : float
        Its interval, for as many settings at once as there are others.
    is_flat : bool
        Whether no setting can be told from the best by such an interval.
    """

    difference: float
    low: float
    high: float
    is_flat: bool


@dataclass(frozen=True, eq=False)
class TunedFusion(Plottable, Renderable, figures="fusion", shown=("tuning",)):
    """A tuned fusion, and what it is worth on queries that it was not tuned on. Made by :func:`tune_fusion`.

    Attributes
    ----------
    name : str
    measure : Measure
    settings : tuple of dict
        What was tried.
    recipe : Recipe
        The best on all queries; a method that learns has learned from all.
    query_ids : ndarray of str, shape (n_queries,)
    values : ndarray of float, shape (n_settings, n_queries)
        Of a method that learns each is of a query that it did not learn from.
    fold_of_query : ndarray of int, shape (n_queries,)
    chosen : tuple of int
        The setting that was best on the other parts, for each part.
    best : int
        The setting that is best on all queries.
    in_sample : float
        The mean of the best setting on the queries that it was chosen and taught by: too good.
    held_out : Evaluation
        Of every query by what the other parts chose and taught.
    evaluations : dict of str to Evaluation
        Of the inputs.
    comparison : Comparison or None
        Of the inputs with the values held out; None of a single query.
    run : Run
        All queries, fused by the best setting.
    clusters : ndarray of int, shape (n_queries,), or None
    """

    name: str
    measure: Measure
    settings: tuple[Mapping[str, Any], ...]
    recipe: Recipe
    query_ids: TextArray = field(repr=False)
    values: FloatArray = field(repr=False)
    fold_of_query: IntArray = field(repr=False)
    chosen: tuple[int, ...]
    best: int
    in_sample: float
    held_out: Evaluation = field(repr=False)
    evaluations: Mapping[str, Evaluation] = field(repr=False)
    comparison: Comparison | None = field(repr=False)
    run: Run = field(repr=False)
    clusters: IntArray | None = field(repr=False)

    def __repr__(self) -> str:
        held_out = self.held_out[self.measure].reported()
        label = self.measure.label
        return escape_invisible(f"<TunedFusion {self.recipe.describe()}: {label} {held_out:.4f} held out>")

    @property
    def parameters(self) -> dict[str, Any]:
        """The best setting on all queries: give it to :func:`fuse`."""
        return dict(self.settings[self.best])

    @property
    def is_tuned(self) -> bool:
        """Whether there was something to choose or to learn: else nothing needs to be held out."""
        return len(self.settings) > 1 or METHODS[self.recipe.method.name]().is_fitted is False

    @property
    def n_folds(self) -> int:
        """The number of parts of the queries."""
        return len(self.chosen)

    @cached_property
    def means(self) -> FloatArray:
        """The mean of each setting over all queries, of shape (n_settings,)."""
        return np.asarray(np.nanmean(self.values, axis=1))

    @cached_property
    def intervals(self) -> tuple[FloatArray, FloatArray]:
        """The ends of Student's t interval of each mean, of shape (n_settings,)."""
        ends = [interval_of_mean(values, self.clusters, CONFIDENCE) for values in self.values]
        low, high = np.array(ends).T
        return low, high

    @cached_property
    def flatness(self) -> Flatness | None:
        """How far the best setting is from the worst; None if one was tried."""
        if len(self.settings) < 2:
            return None
        level = 1 - (1 - CONFIDENCE) / (len(self.settings) - 1)
        worst = int(np.argmin(self.measure.sign * self.means))
        differences = self.measure.sign * (self.values[self.best] - self.values)
        ends = [interval_of_mean(of_setting, self.clusters, level) for of_setting in differences]
        is_flat = not any(low > 0 for low, _ in ends)
        return Flatness(float(np.nanmean(differences[worst])), *ends[worst], is_flat)

    def gains(self) -> list[Gain]:
        """Return how much better the fused run is than each input, held out."""
        if self.comparison is None:
            return []
        found = []
        for pair in self.comparison.pairs:
            mean = self.evaluations[pair.system][self.measure].reported()
            found.append(Gain(pair.system, mean, -pair.difference, -pair.high, -pair.low, pair.p_adjusted))
        return found

    @property
    def varying(self) -> list[str]:
        """The parameters that differ between settings."""
        names = dict.fromkeys(name for setting in self.settings for name in setting)
        return [name for name in names if len({str(setting.get(name)) for setting in self.settings}) > 1]

    def describe_setting(self, place: int) -> str:
        """Return a setting in words, such as ``k=60``."""
        setting = self.settings[place]
        names = self.varying or list(setting)
        return " ".join(format_parameter(name, setting[name]) for name in names if name in setting) or "default"

    def positions(self) -> tuple[str, list[float]] | None:
        """Return the name of the one number that differs between settings, and its values; None of several."""
        varying = self.varying
        if len(varying) != 1:
            return None
        values = [setting.get(varying[0]) for setting in self.settings]
        if varying[0] != WEIGHTS:
            return varying[0], [float(value) for value in values if value is not None]
        if not all(value is not None and len(value) == 2 for value in values):
            return None
        last = list(self.evaluations)[-1]
        return f"weight of {last}", [weights[1] / sum(weights) for weights in values if weights is not None]

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each setting, in the order of the grid.

        Returns
        -------
        polars.DataFrame
            setting, mean, low, high (Student's t), n_chosen (the parts of the queries that got it) and is_best.
        """
        low, high = self.intervals
        rows = [
            {
                "setting": self.describe_setting(place),
                "mean": float(self.means[place]),
                "low": float(low[place]),
                "high": float(high[place]),
                "n_chosen": self.chosen.count(place),
                "is_best": place == self.best,
            }
            for place in range(len(self.settings))
        ]
        return make_frame(rows)

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        label = self.measure.label
        numbers: list[tuple[tuple[Any, ...], float | None]] = [
            ((label, "held_out"), self.held_out[self.measure].reported()),
            ((label, "in_sample"), self.in_sample),
        ]
        for gain in self.gains():
            numbers.append(((label, (self.name, gain.system), "difference"), gain.difference))
            numbers.append(((label, (self.name, gain.system), "low"), gain.low))
            numbers.append(((label, (self.name, gain.system), "high"), gain.high))
            numbers.append(((label, (self.name, gain.system), "p_adjusted"), gain.p_value))
        return numbers


def interval_of_mean(values: FloatArray, clusters: IntArray | None, level: float) -> tuple[float, float]:
    """Return Student's t interval of a mean over queries, with clusters as units; NaN for fewer than two.

    Parameters
    ----------
    values : ndarray of float, shape (n_queries,)
        NaN for a query without a value.
    clusters : ndarray of int, shape (n_queries,), or None
    level : float
    """
    kept = ~np.isnan(values)
    n_queries = int(kept.sum())
    if not n_queries:
        return float("nan"), float("nan")
    mean = float(values[kept].mean())
    deviations = values[kept] - mean
    units = np.arange(n_queries) if clusters is None else np.unique(clusters[kept], return_inverse=True)[1]
    totals = np.bincount(units, deviations)
    n_units = len(totals)
    if n_units < 2:
        return float("nan"), float("nan")
    error = float(np.sqrt(np.sum(totals**2) * n_units / (n_units - 1)) / n_queries)
    reach = float(special.stdtrit(n_units - 1, (1 + level) / 2)) * error
    return mean - reach, mean + reach
