"""Whether values of models on tasks are on one scale, and between which numbers missing ones are."""

from collections.abc import Sequence, Set as AbstractSet

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.measures.notation import measure_named
from deadheat.core.scalars import ROUNDING
from deadheat.core.wording import format_list
from deadheat.plugins.leaderboard.results import Task, TaskResults

MISSING = ("apart", "drop-task", "drop-model", "bounds")
LEAST_PERCENTAGE = 10.0  # values of a task up to it are no percentages
HIGHEST_PERCENTAGE = 100.0
OTHER_SCALE = 5.0  # values that are so many times as large may be on another scale
RANGES = ((0.0, 1.0), (-1.0, 1.0), (0.0, 100.0), (-100.0, 100.0))  # of values by a measure that is not known


def check_scales(results: TaskResults, notes: list[str]) -> None:
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
                f"values of {format_list(low_percentages)} up to 1 on {task.name} count as percentages, as the"
                " others do"
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


def find_value_range(results: TaskResults, values: FloatArray) -> tuple[float, float] | None:
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
