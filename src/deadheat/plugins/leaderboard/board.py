"""A leaderboard: models over many tasks, best first, and what is derived from their values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import Plottable, Renderable, make_frame
from deadheat.core.evaluation.ordering import n_swapped
from deadheat.core.kernels import agreement
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.ranks import assign_tiers, ranks
from deadheat.core.wording import escape_invisible, format_count
from deadheat.plugins.leaderboard.separation import rank_bounds

WITHOUT_TASK: dict[str, type[pl.DataType]] = {
    "task": pl.String,
    "leader": pl.String,
    "tau_b": pl.Float64,
    "n_swapped": pl.Int64,
}
NULLABLE: dict[str, type[pl.DataType]] = {  # columns of a leaderboard that may be all null
    **dict.fromkeys(("rank", "rank_low", "rank_high", "tier"), pl.Int64),
    **dict.fromkeys(("mean", "low", "high", "mean_rank", "p_best"), pl.Float64),
    **dict.fromkeys(("resampled_rank_low", "resampled_rank_high"), pl.Int64),
    **dict.fromkeys(("tie_min", "tie_max"), pl.Float64),
    **dict.fromkeys(("tie_rank_low", "tie_rank_high"), pl.Int64),
}


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """What resamples say of the means, and of all their differences at once.

    Attributes
    ----------
    reach : ndarray of float, shape (n_models,)
        From a mean to the ends of its interval, for itself alone.
    critical : float
        Of :func:`~deadheat.plugins.leaderboard.separation.joint_critical_value`, for all differences together.
    better : ndarray of bool, shape (n_models, n_models)
        Whether the model of the row is above that of the column in all simultaneous intervals.
    rank_low, rank_high : ndarray of float, shape (n_models,)
        Quantiles of the rank in resamples: a description, not a confidence interval.
    p_best : ndarray of float, shape (n_models,)
        The share of resamples in which a model is first, divided among equals.
    """

    reach: FloatArray = field(repr=False)
    critical: float
    better: BoolArray = field(repr=False)
    rank_low: FloatArray = field(repr=False)
    rank_high: FloatArray = field(repr=False)
    p_best: FloatArray = field(repr=False)


@dataclass(frozen=True, eq=False)
class Leaderboard(Plottable, Renderable, figures="leaderboard", shown=("rank_intervals", "tiers", "heat_map")):
    """Models over tasks, best first. Made by :func:`leaderboard`.

    Attributes
    ----------
    measure : str
    higher_is_better : bool
    models : tuple of str
        The best first; those that lack a task are in `incomplete`, unless bounds were asked for.
    tasks : tuple of str
    values : ndarray of float, shape (n_models, n_tasks)
        NaN where a model lacks a task.
    shares : ndarray of float, shape (n_tasks,)
        What each task counts, 1 together.
    groups : tuple of str
        Of each task; empty without groups.
    mean_low, mean_high : ndarray of float, shape (n_models,)
        Equal for a model that has all tasks; else between which its mean is, whatever it would have.
    tie_min, tie_max : ndarray of float, shape (n_models,), or None
        The lowest and highest mean over orders of equal scores; None where these are not known.
    incomplete : dict of str to dict of str to float
        The values of models that lack a task, and are not ranked.
    sampling : {"fixed", "random"}
        Whether tasks are the very ones of interest, or a sample.
    has_queries : bool
        Whether queries were resampled within tasks.
    uncertainty : Uncertainty or None
    unknown : str
        Why there is none.
    confidence_level : float
    value_range : tuple of float or None
        The lowest and highest value that a missing one may have; None without bounds.
    notes : tuple of str
    """

    measure: str
    higher_is_better: bool
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    values: FloatArray = field(repr=False)
    shares: FloatArray = field(repr=False)
    groups: tuple[str, ...]
    mean_low: FloatArray = field(repr=False)
    mean_high: FloatArray = field(repr=False)
    tie_min: FloatArray | None = field(repr=False)
    tie_max: FloatArray | None = field(repr=False)
    incomplete: Mapping[str, Mapping[str, float]] = field(repr=False)
    sampling: str
    has_queries: bool
    uncertainty: Uncertainty | None = field(repr=False)
    unknown: str
    confidence_level: float
    value_range: tuple[float, float] | None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        sizes = f"{format_count(len(self.models), 'model')} on {format_count(len(self.tasks), 'task')}"
        return escape_invisible(f"<Leaderboard of {sizes} by {self.measure}, {self.models[0]} first>")

    @property
    def _sign(self) -> float:
        return 1.0 if self.higher_is_better else -1.0

    @cached_property
    def ranks(self) -> list[int | None]:
        """The rank of each model by its mean, equal ones the first; None where a missing value leaves it open."""
        worst, best = np.sort(self._sign * np.vstack([self.mean_low, self.mean_high]), axis=0)
        rounding = _rounding_of(best, worst)
        n_above = _n_larger(worst, best + rounding)  # whatever is missing
        may_be_above = _n_larger(best, worst + rounding) - (best > worst + rounding)  # not counting itself
        found: list[int | None] = []
        for least, most in zip(n_above.tolist(), may_be_above.tolist(), strict=True):
            found.append(1 + least if least == most else None)
        return found

    @cached_property
    def rank_intervals(self) -> list[tuple[int, int]] | None:
        """The first and last rank that simultaneous intervals of all differences allow; None if they are unknown."""
        return (
            None
            if self.uncertainty is None
            else list(zip(*(ends.tolist() for ends in rank_bounds(self.uncertainty.better)), strict=True))
        )

    @cached_property
    def tiers(self) -> list[int] | None:
        """The tier of each model, 1 for all that are not separated from the best; None if intervals are unknown."""
        return (
            None
            if self.uncertainty is None
            else assign_tiers(range(len(self.models)), self.uncertainty.better).tolist()
        )

    @cached_property
    def tie_ranks(self) -> list[tuple[int, int]] | None:
        """The first and last rank that orders of equal scores alone give each model; None where they are not known."""
        if self.tie_min is None or self.tie_max is None or np.isnan(self.values).any():
            return None
        return list(zip(*(one.tolist() for one in _ranks_within(self.tie_min, self.tie_max, self._sign)), strict=True))

    @cached_property
    def reversible(self) -> list[tuple[str, str]] | None:
        """The pairs whose order some order of equal scores alone reverses; None where these are not known."""
        if self.tie_ranks is None:
            return None
        low, high = np.sort(self._sign * np.vstack([self.tie_min, self.tie_max]), axis=0)  # type: ignore[list-item]  # known
        rounding = _rounding_of(low, high)
        found = []
        for place, model in enumerate(self.models):
            can_be_above = high - low[place] > rounding
            is_below = self._sign * (self.mean_low[place] - self.mean_low) > rounding
            found += [(model, self.models[other]) for other in np.flatnonzero(can_be_above & is_below).tolist()]
        return found

    @property
    def tie_share(self) -> float | None:
        """Of the pairs whose order may change, by other queries, tasks or ties, the share that ties alone can change.

        None where tie orders or intervals are not known.
        """
        if self.reversible is None or self.uncertainty is None:
            return None
        place = {name: n for n, name in enumerate(self.models)}
        is_open = ~(self.uncertainty.better | self.uncertainty.better.T)
        only_ties = sum(not is_open[place[one], place[other]] for one, other in self.reversible)
        n_open = int(is_open[np.triu_indices(len(place), 1)].sum()) + only_ties
        return len(self.reversible) / n_open if n_open else 0.0

    @cached_property
    def mean_ranks(self) -> FloatArray:
        """The mean over tasks of the rank of each model, equal ones the mean of theirs; NaN with bounds."""
        if np.isnan(self.values).any():
            return np.full(len(self.models), np.nan)
        first, last = ranks(self._sign * self.values.T)
        return np.asarray(self.shares @ (first + last) / 2)

    @cached_property
    def group_means(self) -> dict[str, FloatArray]:
        """The mean of each model over the tasks of each group; NaN where it lacks one."""
        places = {name: np.flatnonzero(np.array(self.groups) == name) for name in dict.fromkeys(self.groups)}
        return {name: self.values[:, own] @ self.shares[own] / self.shares[own].sum() for name, own in places.items()}

    def intervals(self) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the interval of each mean, for itself alone; NaN if they are unknown."""
        reach = np.full(len(self.models), np.nan) if self.uncertainty is None else self.uncertainty.reach
        return self.mean_low - reach, self.mean_high + reach

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each model, best first; those that lack a task come last, without mean and rank.

        Columns: rank, model, mean (null with a missing value; mean_low and mean_high are its bounds then), low and high
        (its interval), rank_low and rank_high (by simultaneous intervals of all differences), tier, mean_rank, p_best,
        resampled_rank_low and resampled_rank_high (which describe the bootstrap; null with missing values), tie_min,
        tie_max, tie_rank_low and tie_rank_high (over orders of equal scores alone), n_tasks, and the mean of each
        group.
        """
        return make_frame(self.rows()).cast(NULLABLE)  # type: ignore[arg-type]  # columns by name

    def rows(self) -> list[dict[str, Any]]:
        """Return the same as dicts."""
        columns = self._columns()
        rows: list[dict[str, Any]] = []
        for values in zip(*columns.values(), strict=True):
            rows.append(dict(zip(columns, values, strict=True)))
        for name, known_values in self.incomplete.items():
            row: dict[str, Any] = dict.fromkeys(columns)
            row["model"] = name
            row["n_tasks"] = len(known_values)
            rows.append(row)
        return rows

    def _columns(self) -> dict[str, Sequence[Any]]:
        """Return the columns of the models that have every task, or bounds for it."""
        unknown = [None] * len(self.models)
        is_exact = self.mean_low == self.mean_high
        columns: dict[str, Sequence[Any]] = {
            "rank": self.ranks,
            "model": self.models,
            "mean": np.where(is_exact, self.mean_low, np.nan).tolist(),
        }
        if self.value_range:
            columns["mean_low"] = self.mean_low.tolist()
            columns["mean_high"] = self.mean_high.tolist()
        low, high = self.intervals()
        columns["low"] = low.tolist()
        columns["high"] = high.tolist()
        ranks: Any = self.rank_intervals or [(None, None)] * len(self.models)
        columns["rank_low"] = [first for first, _ in ranks]
        columns["rank_high"] = [last for _, last in ranks]
        columns["tier"] = self.tiers or unknown
        columns["mean_rank"] = self.mean_ranks.tolist()
        columns |= dict.fromkeys(("p_best", "resampled_rank_low", "resampled_rank_high"), unknown)
        # what is missing may change the order of any resample
        if self.uncertainty is not None and not np.isnan(self.values).any():
            columns["p_best"] = self.uncertainty.p_best.tolist()
            columns["resampled_rank_low"] = self.uncertainty.rank_low.astype(int).tolist()
            columns["resampled_rank_high"] = self.uncertainty.rank_high.astype(int).tolist()
        columns["tie_min"] = unknown if self.tie_min is None else self.tie_min.tolist()
        columns["tie_max"] = unknown if self.tie_max is None else self.tie_max.tolist()
        ranks_over_ties: Any = self.tie_ranks or [(None, None)] * len(self.models)
        columns["tie_rank_low"] = [first for first, _ in ranks_over_ties]
        columns["tie_rank_high"] = [last for _, last in ranks_over_ties]
        columns["n_tasks"] = (~np.isnan(self.values)).sum(axis=1).tolist()
        for name, means in self.group_means.items():
            columns[f"mean_{name}"] = means.tolist()
        return columns

    def task_values(self) -> pl.DataFrame:
        """Return a row for each model and a column for each task; null where a model lacks it."""
        rows = [dict(zip(self.tasks, row, strict=True)) for row in self.values.tolist()]
        columns = {name: [row.get(name) for row in (*rows, *self.incomplete.values())] for name in self.tasks}
        return make_frame({"model": [*self.models, *self.incomplete], **columns})

    @cached_property
    def without_tasks(self) -> list[tuple[str, FloatArray]]:
        """Each task with the means of all models without it; empty with fewer than two tasks or with bounds."""
        if len(self.tasks) < 2 or np.isnan(self.values).any():
            return []
        groups = np.array(self.groups or [""] * len(self.tasks))
        found: list[tuple[str, FloatArray]] = []
        for place, name in enumerate(self.tasks):
            kept = np.arange(len(self.tasks)) != place
            shares = task_shares(self.shares[kept], groups[kept])
            found.append((name, self.values[:, kept] @ shares))
        return found

    def leave_one_out(self) -> pl.DataFrame:
        """Return what the order would be without each task, that which changes most first.

        Columns: task, leader (several with equal means: the first of them by all tasks), tau_b of the order to that by
        all tasks, n_swapped (pairs in the other order, equal ones not counted).
        """
        return self._without_each

    @cached_property
    def _without_each(self) -> pl.DataFrame:
        rows = []
        whole = self._sign * self.mean_low
        for name, means in self.without_tasks:
            own = self._sign * means
            above = _above(own)
            tau_b = agreement.tau(_above(whole), above).tau_b
            rows.append((name, self.models[int(above.argmin())], tau_b, n_swapped(whole, own)))
        return make_frame(rows, WITHOUT_TASK).sort("n_swapped", descending=True, maintain_order=True)

    @property
    def deciding_task(self) -> str | None:
        """The task without which another model leads; of several the one that changes most. None if there is none.

        Nor if several share the best mean, so that none leads.
        """
        rows = self.leave_one_out().iter_rows() if self.ranks.count(1) == 1 else ()
        return next((row[0] for row in rows if row[1] != self.models[0]), None)

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        for row in self.rows():
            yield from (((str(row["model"]), name), row[name]) for name in ("mean", "rank", "rank_low", "rank_high"))


def _above(totals: FloatArray) -> IntArray:
    """Return how many are above each of some numbers, those that differ by rounding being equal."""
    (first,), _ = ranks(totals[None, :])
    return np.asarray(first - 1, np.int64)


def _ranks_within(low: FloatArray, high: FloatArray, sign: float) -> tuple[IntArray, IntArray]:
    """Return the first and last rank of each, if every one may be anywhere between its two ends by itself."""
    worst, best = np.sort(sign * np.vstack([low, high]), axis=0)
    rounding = _rounding_of(worst, best)
    first = 1 + _n_larger(worst, best + rounding)
    last = len(low) - _n_larger(-best, -(worst - rounding))
    return first, last


def _n_larger(values: FloatArray, limits: FloatArray) -> IntArray:
    """Return how many of the values are above each limit."""
    return len(values) - np.searchsorted(np.sort(values), limits, side="right")


def _rounding_of(*means: FloatArray) -> float:
    """Return what rounding may leave of a difference of equal means."""
    return ROUNDING * max(1.0, *(float(np.abs(of_models).max()) for of_models in means))


def task_shares(weights: FloatArray, groups: np.ndarray[Any, Any]) -> FloatArray:
    """Return what each task counts: its weight within its group, of which each counts the same."""
    group = np.unique(groups, return_inverse=True)[1]
    of_groups = np.bincount(group, weights)
    return np.asarray(weights / of_groups[group] / len(of_groups))
