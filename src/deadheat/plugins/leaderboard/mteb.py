"""Result files of MTEB: the main scores of a model on tasks."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from deadheat.core.errors import DataError, DuplicateError
from deadheat.core.io.objects import read_text
from deadheat.core.wording import format_list
from deadheat.plugins.leaderboard.results import TaskResults
from deadheat.plugins.leaderboard.tables import NEEDED, read_table


def _read_json(path: Path) -> Any:  # noqa: ANN401 - what JSON holds
    try:
        return json.loads(read_text(path, "a result file of MTEB"))
    except (ValueError, RecursionError):
        return None


def find_mteb_results(path: Path) -> list[tuple[str | None, Mapping[str, Any]]]:
    """Return the results in a file of MTEB, each with the name of its model if the file has it; none of other files."""
    found = _read_json(path)
    if not isinstance(found, Mapping):
        return []
    if "task_name" in found and isinstance(found.get("scores"), Mapping):
        return [(None, found)]
    return [
        (one["model_name"], result)
        for one in found.get("model_results", [found])
        if isinstance(one, Mapping) and isinstance(one.get("task_results"), list) and "model_name" in one
        for result in one["task_results"]
    ]


def read_mteb(paths: Sequence[Path], folder: Path | None) -> TaskResults:
    """Read main scores as MTEB takes them: the mean over all splits and subsets that a file has."""
    rows: dict[tuple[str, str], float] = {}
    averaged: dict[str, int] = {}
    for path in paths:
        held = find_mteb_results(path)
        if not held:
            raise DataError(
                "is neither a saved evaluation nor a result file of MTEB",
                hint="give a table or folder alone",
                path=path,
            )
        for named, result in held:
            model, task = named or _model_of(path, folder), str(result["task_name"])
            if (task, model) in rows:
                raise DuplicateError(
                    f"model {model} has two results on {task}",
                    hint="leave one out, such as that of an older revision",
                    path=path,
                )
            scores = _main_scores(path, task, result["scores"])
            averaged[task] = max(averaged.get(task, 0), len(scores))
            rows[task, model] = math.fsum(scores) / len(scores)
    several = [task for task, n in averaged.items() if n > 1]
    notes = (f"{format_list(several)}: the mean over several splits or subsets, as MTEB takes it",) if several else ()
    frame = pl.DataFrame([(*key, value) for key, value in rows.items()], list(NEEDED), orient="row")
    return replace(read_table(frame, None, None), measure="main score", notes=notes)


def _main_scores(path: Path, task: str, splits: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[float]:
    """Return the main score of each split and subset of a task."""
    found = []
    for split, one in ((split, one) for split, subsets in splits.items() for one in subsets):
        given = one.get("main_score")
        if not isinstance(given, int | float) or not math.isfinite(given):
            raise DataError(
                f"the main score of {task}, split {split}, subset {one.get('hf_subset', 'default')},"
                " is not a finite number",
                given=given,
                hint="leave the file out: the model then lacks the task",
                path=path,
            )
        found.append(float(given))
    if not found:
        raise DataError(f"task {task} has no scores", path=path)
    return found


def _model_of(path: Path, folder: Path | None) -> str:
    """Return the model of a result file: from model_meta.json beside it, or the folder MODEL or MODEL/REVISION."""
    meta = path.with_name("model_meta.json")
    made = _read_json(meta) if meta.is_file() else None
    if isinstance(made, Mapping) and made.get("name"):
        return str(made["name"])
    parent = path.absolute().parent
    is_revision = folder is not None and parent.parent != folder.absolute() and parent != folder.absolute()
    return (parent.parent if is_revision else parent).name.replace("__", "/")
