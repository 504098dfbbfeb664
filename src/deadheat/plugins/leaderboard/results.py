"""What a leaderboard ranks: the values of models on tasks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray
from deadheat.core.errors import DataError
from deadheat.core.wording import format_count, format_list

ALLOWED = (
    "a folder with TASK/qrels and TASK/MODEL.run, saved evaluations, a benchmark, a table with the columns task, model"
    " and value, or result files of MTEB"
)


@dataclass(frozen=True, eq=False)
class Task:
    """The values of models on one task.

    Attributes
    ----------
    name : str
    models : tuple of str
    values : ndarray of float, shape (n_queries, n_models)
        One row, of means, where the queries are not known.
    weights : ndarray of float, shape (n_queries,), or None
        How much each query counts.
    tie_min, tie_max : ndarray of float, shape (n_models,), or None
        The lowest and highest mean over orders of equal scores; None where these are not known.
    has_queries : bool
    """

    name: str
    models: tuple[str, ...]
    values: FloatArray = field(repr=False)
    weights: FloatArray | None = field(default=None, repr=False)
    tie_min: FloatArray | None = field(default=None, repr=False)
    tie_max: FloatArray | None = field(default=None, repr=False)
    has_queries: bool = True

    def of(self, models: Sequence[str]) -> Self:
        """Return the task with columns of these models; NaN for those that it lacks."""
        own = {name: place for place, name in enumerate(self.models)}
        places = np.array([own.get(name, -1) for name in models])
        columns = {name: getattr(self, name) for name in ("values", "tie_min", "tie_max")}
        chosen: dict[str, Any] = {
            name: None if one is None else np.where(places >= 0, one[..., places], math.nan)
            for name, one in columns.items()
        }
        return replace(self, models=tuple(models), **chosen)


@dataclass(frozen=True, eq=False)
class TaskResults:
    """The results of models on tasks by one measure.

    Attributes
    ----------
    tasks : tuple of Task
    measure : str
    higher_is_better : bool
    notes : tuple of str
        What was assumed or left out.
    columns : dict of str to dict of str to str
        Of a long table: what other columns say of each task, where that is one text.
    """

    tasks: tuple[Task, ...]
    measure: str
    higher_is_better: bool = True
    notes: tuple[str, ...] = ()
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @cached_property
    def models(self) -> list[str]:
        """All models, in the order in which tasks name them."""
        return list(dict.fromkeys(name for task in self.tasks for name in task.models))


def find_complete_queries(task: str, models: Sequence[str], values: FloatArray, notes: list[str]) -> BoolArray:
    """Return which queries have a value of every model; the others are left out, and counted in a note."""
    lacks = np.isnan(values)
    kept: BoolArray = np.asarray(~lacks.any(axis=1))
    if not kept.any():
        name = models[int(lacks.sum(axis=0).argmax())]
        raise DataError(f"task {task} has no query with a value of every model: {name} lacks most")
    if not kept.all():
        of = [name for name, n in zip(models, lacks.sum(axis=0).tolist(), strict=True) if n]
        notes.append(
            f"{format_count(int((~kept).sum()), 'query', 'queries')} of {task} left out, without a value of"
            f" {format_list(of)}"
        )
    return kept
