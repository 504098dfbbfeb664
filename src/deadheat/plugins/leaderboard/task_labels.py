"""The weight or the group that a caller gives each task."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deadheat.core.errors import ParameterError
from deadheat.core.io.columns import check_column
from deadheat.core.io.files import check_path
from deadheat.core.io.records import read_records
from deadheat.core.wording import format_list
from deadheat.plugins.leaderboard.tables import NAMES, WANTED


def find_task_labels(
    argument: str,
    given: Mapping[str, Any] | str | Path | None,
    tasks: Sequence[str],
    columns: Mapping[str, Mapping[str, str]] | None = None,
    *,
    known: Sequence[str],
) -> dict[str, Any]:
    """Return the weight or group of each task, from a dict, a table, or a column of the results; empty for None.

    Parameters
    ----------
    argument : {"weights", "groups"}
    given : dict, path, name of a column, or None
    tasks : sequence of str
        Those that each need one.
    columns : dict of str to dict of str to str, optional
        Of the results.
    known : sequence of str
        All tasks that a dict may name: also those that were left out.

    Raises
    ------
    ParameterError
        A task has none, or one is named that is no task.
    """
    if given is None:
        return {}
    name = argument.removesuffix("s")
    if isinstance(given, Mapping):
        labels = {str(task): label for task, label in given.items()}
        for task in labels:
            if task not in known:
                raise ParameterError(argument=argument, given=task, allowed=known)
    elif columns and str(given) in columns:
        labels = dict(columns[str(given)])
    else:
        labels = _read_labels(check_path(given), name)
    lacking = [task for task in tasks if labels.get(task) is None or labels[task] == ""]
    if lacking:
        raise ParameterError(
            f"has none for {format_list(lacking)}", argument=argument, hint=f"give a {name} for every task"
        )
    if name == "weight":
        return {task: labels[task] for task in tasks}
    return {task: str(labels[task]) for task in tasks}


def _read_labels(path: Path, name: str) -> dict[str, Any]:
    """Return the column "weight" or "group" of a table, by task."""
    records = read_records(path, None, WANTED)
    number_columns = [name] if name == "weight" else []
    frame, _ = records.with_points(number_columns, path)
    task_column = "task"
    for known_name in NAMES["task"]:
        if known_name in frame.columns:
            task_column = known_name
            break
    check_column(task_column, frame.columns, path)
    check_column(name, frame.columns, path)
    return dict(frame.select(task_column, name).iter_rows())
