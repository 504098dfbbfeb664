"""leaderboard(): rank models by their mean over tasks, and say which ranks are certain."""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, special
from deadheat.core.checks import array_of, as_level, as_positive, as_resamples, check_choice
from deadheat.core.data.sources import Source
from deadheat.core.errors import DataError
from deadheat.core.evaluation.intervals import FEWEST
from deadheat.core.kernels.ranks import first_ranks
from deadheat.core.measures.notation import MeasureLike
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.stats.ranks import ranks, summarize_ranks
from deadheat.core.stats.units import Units
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.leaderboard.board import Leaderboard, Uncertainty, task_shares
from deadheat.plugins.leaderboard.resampling import resampled_totals
from deadheat.plugins.leaderboard.results import Task, TaskResults
from deadheat.plugins.leaderboard.scales import MISSING, check_scales, find_value_range
from deadheat.plugins.leaderboard.separation import (
    MANY,
    cautious_spread,
    joint_critical_value,
    pairwise_errors,
    separated,
)
from deadheat.plugins.leaderboard.sources import read_results
from deadheat.plugins.leaderboard.task_labels import find_task_labels

FEWEST_TASKS = 10  # of which a spread over tasks can be estimated


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
    exclude: Source | None = None,
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
    exclude : {"self"}, dict, rows, path, dataframe or Qrels, optional
        Documents to leave out of runs first, and of their judgments, as for :func:`evaluate`; of a folder with runs.

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
    >>> import polars as pl
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
    n_resamples = as_resamples("n_resamples", n_resamples)
    generator = random_generator(rng)
    results = read_results(source, measure, exclude)
    notes = list(results.notes)
    check_scales(results, notes)
    selection = _select_complete(results, missing)
    if selection.note:
        notes.append(selection.note)
    models = selection.results.models
    ranked_tasks = [task.of(models) for task in selection.results.tasks]
    task_names = [task.name for task in ranked_tasks]
    known_tasks = [task.name for task in results.tasks]  # also those that are dropped
    group_of_task = find_task_labels("groups", groups, task_names, results.columns, known=known_tasks)
    weight_of_task = find_task_labels("weights", weights, task_names, known=known_tasks)
    shares = _share_tasks(task_names, weight_of_task, group_of_task)
    units = [_units(task) for task in ranked_tasks]
    values = np.column_stack([_means(task) for task in ranked_tasks])
    value_range = find_value_range(selection.results, values) if missing == "bounds" else None
    low, high = _bound_means(values, shares, value_range)
    sign = 1.0 if results.higher_is_better else -1.0
    order = np.argsort(first_ranks(sign * (low + high)), kind="stable")
    has_queries = all(task.has_queries for task in ranked_tasks)
    sampling = tasks or ("fixed" if has_queries else "random")
    groups_of_tasks = tuple(group_of_task[task] for task in task_names) if group_of_task else ()
    unknown = _explain_unknown(units, task_names, groups_of_tasks, sampling, has_queries=has_queries)
    board = Leaderboard(
        measure=results.measure,
        higher_is_better=results.higher_is_better,
        models=tuple(models[place] for place in order),
        tasks=tuple(task_names),
        values=values[order],
        shares=shares,
        groups=groups_of_tasks,
        mean_low=low[order],
        mean_high=high[order],
        tie_min=_sum_ends_of_ties(ranked_tasks, shares, "tie_min", order),
        tie_max=_sum_ends_of_ties(ranked_tasks, shares, "tie_max", order),
        incomplete=selection.incomplete,
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
    ordered_units = [replace(task, sums=task.sums[:, order]) for task in units]
    return replace(board, uncertainty=_resample(board, ordered_units, n_resamples, generator))


@dataclass(frozen=True)
class Selection:
    """The results that are ranked.

    Attributes
    ----------
    results : TaskResults
    incomplete : dict of str to dict of str to float
        Of each model that is listed apart its mean on each task that it has.
    note : str
        What was left out; empty if nothing was.
    """

    results: TaskResults
    incomplete: dict[str, dict[str, float]] = field(default_factory=dict)
    note: str = ""


def _select_complete(results: TaskResults, missing: str) -> Selection:
    """Return the results to rank, which are those of all models on all tasks except with "bounds"."""
    lacking = _find_lacking_tasks(results)
    if not lacking or missing == "bounds":
        return Selection(results)
    if missing == "drop-task":
        return _drop_tasks(results, set().union(*lacking.values()))
    complete = [model for model in results.models if model not in lacking]
    if not complete:
        raise DataError(
            "no model has results on all tasks",
            found=f"{format_list(list(lacking))} of {format_count(len(results.tasks), 'task')}",
            hint="missing='bounds' ranks them by what they may have, 'drop-task' by the tasks that all have",
        )
    of_complete = replace(results, tasks=tuple(task.of(complete) for task in results.tasks))
    if missing == "drop-model":
        n_models = format_count(len(lacking), "model")
        return Selection(of_complete, note=f"{n_models} left out, without all tasks: {format_list(list(lacking))}")
    incomplete: dict[str, dict[str, float]] = {model: {} for model in lacking}
    for task in results.tasks:
        for model, mean in zip(task.models, _means(task).tolist(), strict=True):
            if model in incomplete:
                incomplete[model][task.name] = mean
    return Selection(of_complete, incomplete)


def _find_lacking_tasks(results: TaskResults) -> dict[str, list[str]]:
    """Return the tasks that each model lacks; a model that has all is not in it."""
    lacking: dict[str, list[str]] = {}
    for model in results.models:
        tasks = [task.name for task in results.tasks if model not in task.models]
        if tasks:
            lacking[model] = tasks
    return lacking


def _drop_tasks(results: TaskResults, dropped: AbstractSet[str]) -> Selection:
    """Return the results without some tasks; raise `DataError` if none is left."""
    kept = tuple(task for task in results.tasks if task.name not in dropped)
    if not kept:
        raise DataError("no task has results of all models", hint="missing='apart' lists models apart instead")
    n_tasks = format_count(len(dropped), "task")
    note = f"{n_tasks} left out, which a model lacks: {format_list(sorted(dropped))}"
    return Selection(replace(results, tasks=kept), note=note)


def _share_tasks(
    tasks: Sequence[str], weight_of_task: Mapping[str, object], group_of_task: Mapping[str, str]
) -> FloatArray:
    """Return what each task counts in the mean; raise `ParameterError` for a weight that is no positive number."""
    given: list[Any] = [weight_of_task.get(task, 1.0) for task in tasks]
    numbers = array_of("weights", given, np.float64, "numbers")
    weights = np.array([as_positive("weights", number) for number in numbers.tolist()])
    return task_shares(weights, np.array([group_of_task.get(task, "") for task in tasks]))


def _means(task: Task) -> FloatArray:
    """Return the mean over queries of each model."""
    return np.asarray(np.average(task.values, axis=0, weights=task.weights))


def _bound_means(
    values: FloatArray, shares: FloatArray, value_range: tuple[float, float] | None
) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest mean over tasks of each model, by the range of missing values."""
    least, most = value_range or (0.0, 0.0)
    return np.nan_to_num(values, nan=least) @ shares, np.nan_to_num(values, nan=most) @ shares


def _units(task: Task) -> Units:
    """Return the queries of a task as what is resampled; a model that lacks it has zeros, which do not vary."""
    values = np.nan_to_num(task.values)
    sizes = np.ones(len(values)) if task.weights is None else task.weights
    return Units(np.arange(values.shape[1]), values * sizes[:, None], sizes, task.weights is not None)


def _sum_ends_of_ties(tasks: Sequence[Task], shares: FloatArray, end: str, order: IntArray) -> FloatArray | None:
    """Return the lowest or highest mean over tasks that tie orders give each model, in some order of models."""
    columns = [getattr(task, end) for task in tasks]
    if any(column is None for column in columns):
        return None
    return np.asarray((np.column_stack(columns) @ shares)[order])


def _explain_unknown(
    units: Sequence[Units], tasks: Sequence[str], groups: Sequence[str], sampling: str, *, has_queries: bool
) -> str:
    """Return why nothing can be said of uncertainty; empty if it can."""
    if sampling == "random":
        if len(tasks) < FEWEST_TASKS:
            return f"{format_count(len(tasks), 'task')}, and a spread over tasks takes {FEWEST_TASKS}"
        alone = [group for group in dict.fromkeys(groups) if groups.count(group) == 1]
        if alone:
            return f"{format_list(alone)}: a group of a single task, whose spread is not known"
        return ""
    if not has_queries:
        return "tasks are fixed, and the values of their queries are not known"
    with_single_query = [name for name, task in zip(tasks, units, strict=True) if task.n_units < 2]
    if with_single_query:
        return f"{format_list(with_single_query)}: a single query, whose spread is not known"
    n_queries = sum(task.n_units for task in units)
    n_effective = sum(task.freedom + 1 for task in units)
    if n_effective >= FEWEST:
        return ""
    worth = "" if n_effective == n_queries else f" worth {n_effective:.1f} of equal weight"
    return f"{n_queries} queries{worth}, and {FEWEST} are the fewest"


def _resample(board: Leaderboard, tasks: Sequence[Units], n_resamples: int, rng: np.random.Generator) -> Uncertainty:
    """Return what resamples say, of tasks whose columns are in the order of the models."""
    groups: list[IntArray] | None = None
    if board.sampling == "fixed":
        blocks = list(tasks)
        shares_of_blocks = board.shares.tolist()
    else:
        groups = _find_groups(board.groups or [""] * len(tasks))
        means = np.vstack([task.means for task in tasks])
        blocks = [_tasks_as_units(means[group], board.shares[group]) for group in groups]
        shares_of_blocks = [float(board.shares[group].sum()) for group in groups]
    errors, freedom = pairwise_errors(blocks, shares_of_blocks)
    totals = resampled_totals(tasks, board.shares, groups, n_resamples=n_resamples, rng=rng)
    spread = cautious_spread(errors, freedom, blocks, shares_of_blocks)
    critical = joint_critical_value(blocks, shares_of_blocks, board.confidence_level, n_resamples=n_resamples, rng=rng)
    sign = 1.0 if board.higher_is_better else -1.0
    low, high = np.sort(sign * np.vstack([board.mean_low, board.mean_high]), axis=0)
    better = separated(low, high, spread, critical)
    middle = (board.mean_low + board.mean_high) / 2
    centred = totals + middle - totals.mean(axis=0)
    first, last = ranks(sign * centred)
    summary = summarize_ranks(first, last, board.confidence_level)
    freedom_of_means = np.minimum(freedom[:-1, -1], MANY)  # the last column is of the means themselves
    reach = special.stdtrit(freedom_of_means, (1 + board.confidence_level) / 2) * errors[:-1, -1]
    return Uncertainty(
        reach=reach,
        critical=critical,
        better=better,
        rank_low=summary.low,
        rank_high=summary.high,
        p_best=summary.p_best,
    )


def _find_groups(groups: Sequence[str]) -> list[IntArray]:
    """Return the places of the tasks of each group, in order of appearance."""
    names = np.array(groups)
    return [np.flatnonzero(names == name) for name in dict.fromkeys(names.tolist())]


def _tasks_as_units(means: FloatArray, shares: FloatArray) -> Units:
    """Return the tasks of a group, with the means of models on each, as what is resampled."""
    return Units(np.arange(means.shape[1]), means * shares[:, None], shares, is_weighted=True)
