"""leaderboard(): rank models by their mean over tasks, and say which ranks are certain."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

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
from deadheat.core.structures import group_values
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
    n_resamples, random = as_resamples("n_resamples", n_resamples), random_generator(rng)
    results = read_results(source, measure, exclude)
    notes = list(results.notes)
    check_scales(results, notes)
    kept, incomplete = _complete(results, missing, notes)
    names, own = kept.models, [task.of(kept.models) for task in kept.tasks]
    of_tasks = [task.name for task in own]
    known_tasks = [task.name for task in results.tasks]  # also those that are dropped
    labels = find_task_labels("groups", groups, of_tasks, results.columns, known=known_tasks)
    given = find_task_labels("weights", weights, of_tasks, known=known_tasks)
    numbers = array_of("weights", [given.get(task, 1.0) for task in of_tasks], np.float64, "numbers")
    shares = task_shares(
        np.array([as_positive("weights", one) for one in numbers.tolist()]),
        np.array([labels.get(task, "") for task in of_tasks]),
    )
    units = [_units(task) for task in own]
    values = np.column_stack([_means(task) for task in own])
    value_range = find_value_range(kept, values) if missing == "bounds" else None
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
    lacking = group_values(
        (name, task.name) for name in results.models for task in results.tasks if name not in task.models
    )
    if not lacking or missing == "bounds":
        return results, {}
    if missing == "drop-task":
        gone = {task for tasks in lacking.values() for task in tasks}
        left = tuple(task for task in results.tasks if task.name not in gone)
        if not left:
            raise DataError("no task has results of all models", hint="missing='apart' lists models apart instead")
        notes.append(f"{format_count(len(gone), 'task')} left out, which a model lacks: {format_list(sorted(gone))}")
        return replace(results, tasks=left), {}
    whole = [name for name in results.models if name not in lacking]
    if not whole:
        raise DataError(
            "no model has results on all tasks",
            found=f"{format_list(list(lacking))} of {format_count(len(results.tasks), 'task')}",
            hint="missing='bounds' ranks them by what they may have, 'drop-task' by the tasks that all have",
        )
    of_whole = replace(results, tasks=tuple(task.of(whole) for task in results.tasks))
    if missing == "drop-model":
        notes.append(f"{format_count(len(lacking), 'model')} left out, without all tasks: {format_list(list(lacking))}")
        return of_whole, {}
    means = {task.name: dict(zip(task.models, _means(task).tolist(), strict=True)) for task in results.tasks}
    return of_whole, {name: {task: own[name] for task, own in means.items() if name in own} for name in lacking}


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
            f"{format_count(len(tasks), 'task')}, and a spread over tasks takes {FEWEST_TASKS}",
        ),
        (is_random and alone, f"{format_list(alone)}: a group of a single task, whose spread is not known"),
        (is_random, ""),
        (not has_queries, "tasks are fixed, and the values of their queries are not known"),
        (few, f"{format_list(few)}: a single query, whose spread is not known"),
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
    first, last = ranks(sign * filled)
    summary = summarize_ranks(first, last, board.confidence_level)
    return Uncertainty(
        reach=special.stdtrit(np.minimum(freedom[:-1, -1], MANY), (1 + board.confidence_level) / 2) * errors[:-1, -1],
        critical=critical,
        better=better,
        rank_low=summary.low,
        rank_high=summary.high,
        p_best=summary.p_best,
    )
