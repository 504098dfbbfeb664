"""leaderboard(): models over many tasks, with ranks as intervals and tiers instead of 1 to N."""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from deadheat.arrays import BoolArray, FloatArray, IntArray, special
from deadheat.comparison.tasks import Task, TaskResults, labels_of_tasks, read_results
from deadheat.data.renderable import Numbers, Plottable, Renderable, frame_of
from deadheat.data.tables import Source
from deadheat.errors import (
    ROUNDING,
    DataError,
    ParameterError,
    Rng,
    array_of,
    as_level,
    as_positive,
    as_resamples,
    check_choice,
    collected,
    counted,
    generator,
    printable,
    three,
)
from deadheat.evaluation.intervals import FEWEST
from deadheat.evaluation.scores import n_swapped
from deadheat.kernels import agreement
from deadheat.kernels.ranks import first_ranks
from deadheat.measures.notation import MeasureLike, measure_named
from deadheat.stats.rank_sets import (
    MANY,
    cautious_spread,
    joint_critical_value,
    pairwise_errors,
    rank_bounds,
    separated,
    tiers_of,
)
from deadheat.stats.ranks import bounds_of_ranks, ranks, resampled_totals
from deadheat.stats.units import Units

MISSING = ("apart", "drop-task", "drop-model", "bounds")
FEWEST_TASKS = 10  # of which a spread over tasks can be estimated
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
LEAST_PERCENTAGE = 10.0  # values of a task up to it are no percentages
HIGHEST_PERCENTAGE = 100.0
OTHER_SCALE = 5.0  # values that are so many times as large may be on another scale
RANGES = ((0.0, 1.0), (-1.0, 1.0), (0.0, 100.0), (-100.0, 100.0))  # of values by a measure that is not known


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """What resamples say of the means, and of all their differences at once.

    Attributes
    ----------
    reach : ndarray of float, shape (n_models,)
        From a mean to the ends of its interval, for itself alone.
    critical : float
        Of :func:`~deadheat.stats.rank_sets.joint_critical_value`, for all differences together.
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
class Leaderboard(Plottable, Renderable):
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
        sizes = f"{counted(len(self.models), 'model')} on {counted(len(self.tasks), 'task')}"
        return printable(f"<Leaderboard of {sizes} by {self.measure}, {self.models[0]} first>")

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
        return None if self.uncertainty is None else tiers_of(range(len(self.models)), self.uncertainty.better).tolist()

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
        return frame_of(self.rows()).cast(NULLABLE)  # type: ignore[arg-type]  # columns by name

    def rows(self) -> list[dict[str, Any]]:
        """Return the same as dicts."""
        low, high = self.intervals()
        # what is missing may change the order of any resample
        unsure, none = None if np.isnan(self.values).any() else self.uncertainty, [None] * len(self.models)
        is_known = self.mean_low == self.mean_high
        ends: Any = self.rank_intervals or [(None, None)] * len(self.models)
        ties: Any = self.tie_ranks or [(None, None)] * len(self.models)
        columns: dict[str, Sequence[Any]] = {
            "rank": self.ranks,
            "model": self.models,
            "mean": np.where(is_known, self.mean_low, np.nan).tolist(),
            **({"mean_low": self.mean_low.tolist(), "mean_high": self.mean_high.tolist()} if self.value_range else {}),
            "low": low.tolist(),
            "high": high.tolist(),
            "rank_low": [first for first, _ in ends],
            "rank_high": [last for _, last in ends],
            "tier": self.tiers or none,
            "mean_rank": self.mean_ranks.tolist(),
            "p_best": none if unsure is None else unsure.p_best.tolist(),
            "resampled_rank_low": none if unsure is None else unsure.rank_low.astype(int).tolist(),
            "resampled_rank_high": none if unsure is None else unsure.rank_high.astype(int).tolist(),
            "tie_min": none if self.tie_min is None else self.tie_min.tolist(),
            "tie_max": none if self.tie_max is None else self.tie_max.tolist(),
            "tie_rank_low": [first for first, _ in ties],
            "tie_rank_high": [last for _, last in ties],
            "n_tasks": (~np.isnan(self.values)).sum(axis=1).tolist(),
            **{f"mean_{name}": own.tolist() for name, own in self.group_means.items()},
        }
        return [
            *(dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)),
            *(dict.fromkeys(columns) | {"model": name, "n_tasks": len(own)} for name, own in self.incomplete.items()),
        ]

    def task_values(self) -> pl.DataFrame:
        """Return a row for each model and a column for each task; null where a model lacks it."""
        rows = [dict(zip(self.tasks, row, strict=True)) for row in self.values.tolist()]
        columns = {name: [row.get(name) for row in (*rows, *self.incomplete.values())] for name in self.tasks}
        return frame_of({"model": [*self.models, *self.incomplete], **columns})

    @cached_property
    def without_tasks(self) -> list[tuple[str, FloatArray]]:
        """Each task with the means of all models without it; empty with fewer than two tasks or with bounds."""
        if len(self.tasks) < 2 or np.isnan(self.values).any():
            return []
        groups = np.array(self.groups or [""] * len(self.tasks))
        left = {name: np.arange(len(self.tasks)) != place for place, name in enumerate(self.tasks)}
        return [(name, self.values[:, kept] @ _shares(self.shares[kept], groups[kept])) for name, kept in left.items()]

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
            tau_b = agreement.tau(_above(whole), above)[0]
            rows.append((name, self.models[int(above.argmin())], tau_b, n_swapped(whole, own)))
        return frame_of(rows, WITHOUT_TASK).sort("n_swapped", descending=True, maintain_order=True)

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


def leaderboard(
    source: Source,
    *,
    measure: MeasureLike | None = None,
    weights: str | Path | Mapping[str, float] | None = None,
    groups: str | Path | Mapping[str, str] | None = None,
    missing: str = "apart",
    tasks: str | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: Rng = 0,
) -> Leaderboard:
    """Rank models by their mean over tasks, and say which ranks are certain.

    A rank is an interval: one more than the models that are above for sure, to all but those that are below, where
    "for sure" is by intervals of all differences at once. Models that cannot be told from the best are the first tier.

    Parameters
    ----------
    source : path, mapping, frame, or list of paths and evaluations
        A folder with ``TASK/qrels`` and ``TASK/MODEL.run``; saved evaluations of several tasks, or evaluations as
        ``{task: {model: evaluation}}``; a benchmark, or its folder; a table with the columns task, model, value, and
        query_id if there is one; or result files of MTEB, of which the main scores are taken.
    measure : measure, optional
        By default the first that all have.
    weights : dict of str to float, or path, optional
        Of each task, or a table with the columns task and weight; by default all count the same. Tasks that `missing`
        leaves out may have one too.
    groups : dict of str to str, path, or name of a column, optional
        Of each task, such as its type or language: means are over the tasks of a group first, and then over groups.
        A table with the columns task and group, or a column of `source`.
    missing : {"apart", "drop-task", "drop-model", "bounds"}, default "apart"
        Models that lack a task are listed apart, without a rank; or the task is left out; or the model is; or it is
        ranked by all that its missing values may be.
    tasks : {"fixed", "random"}, optional
        Whether only these tasks matter, and queries are resampled within each; or tasks are a sample of others, ten at
        least, and are resampled too. By default "fixed" where queries are known, else "random".
    confidence_level : float, default 0.95
        Of all rank intervals together.
    n_resamples : int, default 10,000
    rng : numpy.random.Generator or int, default 0

    Returns
    -------
    Leaderboard

    Raises
    ------
    DataError
        A model comes twice, a task has no value, a task has shares of some models and percentages of others,
        evaluations of a task differ in conventions or weights, no model has all tasks, ...
    ParameterError
        An option is not known, or a task has no weight or group; a model has repeats, whose noise intervals would leave
        out, or means that a judge's labels help to estimate.

    Notes
    -----
    Differences are divided by their standard errors over queries (or tasks). The critical value of the largest of them
    is that of resamples in which every query (or task) has a random sign, the same for all models, as a quantile of
    Student's t with the degrees of freedom of each difference.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm 2024, https://doi.org/10.1093/restud/rdad006.

    Examples
    --------
    >>> table = [(f"t{n % 3}", f"q{n}", model, gain + n % 4 / 4) for n in range(36) for model, gain in
    ...          (("good", 0.2), ("twin", 0.2), ("bad", 0.0))]
    >>> board = leaderboard(pl.DataFrame(table, ["task", "query_id", "model", "value"], orient="row"))
    >>> board.models, board.rank_intervals, board.tiers
    (('good', 'twin', 'bad'), [(1, 2), (1, 2), (3, 3)], [1, 1, 2])
    """
    check_choice("missing", missing, MISSING)
    if tasks is not None:
        check_choice("tasks", tasks, ("fixed", "random"))
    confidence_level = as_level("confidence_level", confidence_level)
    n_resamples, random = as_resamples("n_resamples", n_resamples), generator(rng)
    results = read_results(source, measure)
    notes = list(results.notes)
    _check_scales(results, notes)
    kept, incomplete = _complete(results, missing, notes)
    names, own = kept.models, [task.of(kept.models) for task in kept.tasks]
    of_tasks = [task.name for task in own]
    known_tasks = [task.name for task in results.tasks]  # also those that are dropped
    labels = labels_of_tasks("groups", groups, of_tasks, results.columns, known=known_tasks)
    given = labels_of_tasks("weights", weights, of_tasks, known=known_tasks)
    numbers = array_of("weights", [given.get(task, 1.0) for task in of_tasks], np.float64, "numbers")
    shares = _shares(
        np.array([as_positive("weights", one) for one in numbers.tolist()]),
        np.array([labels.get(task, "") for task in of_tasks]),
    )
    units = [_units(task) for task in own]
    values = np.column_stack([_means(task) for task in own])
    value_range = _value_range(kept, values) if missing == "bounds" else None
    low, high = ((np.nan_to_num(values, nan=end) @ shares) for end in value_range or (0.0, 0.0))
    has_queries = all(task.has_queries for task in own)
    sampling = tasks or ("fixed" if has_queries else "random")
    sign = 1.0 if results.higher_is_better else -1.0
    order = np.argsort(first_ranks(sign * (low + high)), kind="stable")
    groups_of = tuple(labels[task] for task in of_tasks) if labels else ()
    unknown = _unknown(units, of_tasks, groups_of, sampling, has_queries=has_queries)
    board = Leaderboard(
        measure=results.measure,
        higher_is_better=results.higher_is_better,
        models=tuple(names[n] for n in order),
        tasks=tuple(of_tasks),
        values=values[order],
        shares=shares,
        groups=groups_of,
        mean_low=low[order],
        mean_high=high[order],
        tie_min=sum_of_ties(own, shares, "tie_min", order),
        tie_max=sum_of_ties(own, shares, "tie_max", order),
        incomplete=incomplete,
        sampling=sampling,
        has_queries=has_queries,
        uncertainty=None,
        unknown=unknown,
        confidence_level=confidence_level,
        value_range=value_range,
        notes=tuple(notes),
    )
    if unknown:
        return board
    return replace(
        board,
        uncertainty=_uncertainty(board, [replace(one, sums=one.sums[:, order]) for one in units], n_resamples, random),
    )


def _complete(results: TaskResults, missing: str, notes: list[str]) -> tuple[TaskResults, dict[str, dict[str, float]]]:
    """Return the results to rank, and the values of the models that are listed apart."""
    lacking = collected(
        (name, task.name) for name in results.models for task in results.tasks if name not in task.models
    )
    if not lacking or missing == "bounds":
        return results, {}
    if missing == "drop-task":
        gone = {task for tasks in lacking.values() for task in tasks}
        left = tuple(task for task in results.tasks if task.name not in gone)
        if not left:
            raise DataError("no task has results of all models", hint="missing='apart' lists models apart instead")
        notes.append(f"{counted(len(gone), 'task')} left out, which a model lacks: {three(sorted(gone))}")
        return replace(results, tasks=left), {}
    whole = [name for name in results.models if name not in lacking]
    if not whole:
        raise DataError(
            "no model has results on all tasks",
            found=f"{three(list(lacking))} of {counted(len(results.tasks), 'task')}",
            hint="missing='bounds' ranks them by what they may have, 'drop-task' by the tasks that all have",
        )
    of_whole = replace(results, tasks=tuple(task.of(whole) for task in results.tasks))
    if missing == "drop-model":
        notes.append(f"{counted(len(lacking), 'model')} left out, without all tasks: {three(list(lacking))}")
        return of_whole, {}
    means = {task.name: dict(zip(task.models, _means(task).tolist(), strict=True)) for task in results.tasks}
    return of_whole, {name: {task: own[name] for task, own in means.items() if name in own} for name in lacking}


def _check_scales(results: TaskResults, notes: list[str]) -> None:
    """Raise an error if a task has shares of some models and percentages of others; note tasks on scales of their own.

    Some are shares, and others percentages, if no model is in the gap between them, and no other task has percentages
    of the models with low values: these have low percentages, which is noted.
    """
    known = measure_named(results.measure)
    if known is not None and known.range[1] != 1:
        return
    of_tasks = [np.nanmax(np.abs(task.values), axis=0) for task in results.tasks]
    highest = {}
    for task, of_models in zip(results.tasks, of_tasks, strict=True):
        highest[task.name] = float(of_models.max())
    in_percent = _models_in_percent(results.tasks, of_tasks)
    for task, of_models in zip(results.tasks, of_tasks, strict=True):
        low_percentages = _check_scale_of(task, of_models, in_percent)
        if low_percentages:
            notes.append(
                f"values of {three(low_percentages)} up to 1 on {task.name} count as percentages, as the others do"
            )
    lowest_task = min(highest, key=highest.__getitem__)
    highest_task = max(highest, key=highest.__getitem__)
    low, high = highest[lowest_task], highest[highest_task]
    if high > 1 + ROUNDING and high >= OTHER_SCALE * low:
        notes.append(
            f"tasks have scales of their own: values of {highest_task} are up to {high:g}, of {lowest_task} up to"
            f" {low:g}; the mean over tasks hangs most on those with large values, the mean rank does not"
        )


def _models_in_percent(tasks: Sequence[Task], highest: Sequence[FloatArray]) -> set[str]:
    """Return the models that have a value above 1 on a task of percentages."""
    models: set[str] = set()
    for task, of_models in zip(tasks, highest, strict=True):
        if LEAST_PERCENTAGE < of_models.max() <= HIGHEST_PERCENTAGE:
            models.update(task.models[place] for place in np.flatnonzero(of_models > 1 + ROUNDING).tolist())
    return models


def _check_scale_of(task: Task, highest: FloatArray, in_percent: AbstractSet[str]) -> list[str]:
    """Raise an error if the highest values of models on a task are shares and percentages.

    Returns
    -------
    list of str
        The models whose values look like shares, and are percentages as those of other tasks.
    """
    is_share = (highest > 0) & (highest <= 1 + ROUNDING)
    is_beyond = highest > 1 + ROUNDING
    if not is_share.any() or highest.max() <= LEAST_PERCENTAGE:
        return []
    share = int(np.where(is_share, highest, 0.0).argmax())
    percentage = int(np.where(is_beyond, highest, np.inf).argmin())
    if highest[percentage] < OTHER_SCALE * highest[share]:
        return []
    with_low_values = [task.models[place] for place in np.flatnonzero(is_share).tolist()]
    if in_percent >= set(with_low_values):
        return with_low_values
    raise DataError(
        f"values of task {task.name} may be on different scales: of {task.models[share]} up to {highest[share]:g}, of"
        f" {task.models[percentage]} up to {highest[percentage]:g}",
        hint="if all are percentages, divide all by 100; if some are shares, divide the others by 100",
    )


def _value_range(results: TaskResults, values: FloatArray) -> tuple[float, float] | None:
    """Return between which numbers a missing value is: those of the measure, or the nearest usual ones.

    None if no limits are known and no value is missing.
    """
    known = measure_named(results.measure)
    if known is not None and np.isfinite(known.range).all():
        return known.range
    of_tasks = [_usual_range(column) for column in values.T]
    found = _usual_range(values)
    if found is not None and all(own is not None and own[1] == found[1] for own in of_tasks):
        return found
    if not np.isnan(values).any():
        return None
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    why = "no limits are known" if found is None else "tasks on scales of their own"
    raise ParameterError(
        argument="missing",
        given="bounds",
        allowed=[one for one in MISSING if one != "bounds"],
        hint=f"{results.measure} has values from {least:g} to {most:g}, and {why}",
    )


def _usual_range(values: FloatArray) -> tuple[float, float] | None:
    """Return the first of the usual ranges that has all values; None if none has."""
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    for low, high in RANGES:
        if low <= least and most <= high:
            return low, high
    return None


def _shares(weights: FloatArray, groups: np.ndarray[Any, Any]) -> FloatArray:
    """Return what each task counts: its weight within its group, of which each counts the same."""
    group = np.unique(groups, return_inverse=True)[1]
    of_groups = np.bincount(group, weights)
    return np.asarray(weights / of_groups[group] / len(of_groups))


def _means(task: Task) -> FloatArray:
    return np.asarray(np.average(task.values, axis=0, weights=task.weights))


def _units(task: Task) -> Units:
    """Return the queries of a task as what is resampled; a model that lacks it has zeros, which do not vary."""
    values = np.nan_to_num(task.values)
    sizes = np.ones(len(values)) if task.weights is None else task.weights
    return Units(np.arange(values.shape[1]), values * sizes[:, None], sizes, task.weights is not None)


def sum_of_ties(tasks: Sequence[Task], shares: FloatArray, end: str, order: IntArray) -> FloatArray | None:
    """Return the lowest or highest mean over tasks that tie orders give each model, in some order of models."""
    columns = [getattr(task, end) for task in tasks]
    if any(one is None for one in columns):
        return None
    return np.asarray((np.column_stack(columns) @ shares)[order])


def _unknown(
    units: Sequence[Units], tasks: Sequence[str], groups: Sequence[str], sampling: str, *, has_queries: bool
) -> str:
    """Return why nothing can be said of uncertainty; empty if it can."""
    is_random = sampling == "random"
    n = sum(one.n_units for one in units)
    n_effective = sum(one.freedom + 1 for one in units)
    worth = "" if n_effective == n else f" worth {n_effective:.1f} of equal weight"
    alone = [name for name in dict.fromkeys(groups) if groups.count(name) == 1]
    few = [name for name, one in zip(tasks, units, strict=True) if one.n_units < 2]
    cases = (  # of which the first holds
        (
            is_random and len(tasks) < FEWEST_TASKS,
            f"{counted(len(tasks), 'task')}, and a spread over tasks takes {FEWEST_TASKS}",
        ),
        (is_random and alone, f"{three(alone)}: a group of a single task, whose spread is not known"),
        (is_random, ""),
        (not has_queries, "tasks are fixed, and the values of their queries are not known"),
        (few, f"{three(few)}: a single query, whose spread is not known"),
        (n_effective < FEWEST, f"{n} queries{worth}, and {FEWEST} are the fewest"),
        (True, ""),
    )
    return next(why for holds, why in cases if holds)


def _uncertainty(board: Leaderboard, tasks: Sequence[Units], n_resamples: int, rng: np.random.Generator) -> Uncertainty:
    """Return what resamples say, of tasks whose columns are in the order of the models."""
    groups: list[IntArray] | None = None
    if board.sampling == "fixed":
        blocks, of_blocks = list(tasks), board.shares.tolist()
    else:
        names = np.array(board.groups or [""] * len(tasks))
        groups = [np.flatnonzero(names == name) for name in dict.fromkeys(names.tolist())]
        means = np.vstack([one.means for one in tasks])
        blocks = [
            Units(np.arange(means.shape[1]), means[own] * board.shares[own, None], board.shares[own], is_weighted=True)
            for own in groups
        ]
        of_blocks = [float(board.shares[own].sum()) for own in groups]
    errors, freedom = pairwise_errors(blocks, of_blocks)
    totals = resampled_totals(tasks, board.shares, groups, n_resamples=n_resamples, rng=rng)
    spread = cautious_spread(errors, freedom, blocks, of_blocks)
    critical = joint_critical_value(blocks, of_blocks, board.confidence_level, n_resamples=n_resamples, rng=rng)
    sign = 1.0 if board.higher_is_better else -1.0
    low, high = np.sort(sign * np.vstack([board.mean_low, board.mean_high]), axis=0)
    better = separated(low, high, spread, critical)
    filled = totals + (board.mean_low + board.mean_high) / 2 - totals.mean(axis=0)
    rank_low, rank_high, p_best = bounds_of_ranks(*ranks(sign * filled), board.confidence_level)
    return Uncertainty(
        reach=special.stdtrit(np.minimum(freedom[:-1, -1], MANY), (1 + board.confidence_level) / 2) * errors[:-1, -1],
        critical=critical,
        better=better,
        rank_low=rank_low,
        rank_high=rank_high,
        p_best=p_best,
    )
