"""Results in a long table: a row for each task and model, or for each query of them too."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from deadheat.core.errors import (
    ColumnError,
    DataError,
    DuplicateError,
    SourceTypeError,
)
from deadheat.core.io.records import Wanted, as_written
from deadheat.core.measures.notation import MeasureLike, measure_named
from deadheat.plugins.leaderboard.results import ALLOWED, Task, TaskResults, find_complete_queries

NAMES = {
    "task": ("task", "task_name", "dataset", "collection"),
    "model": ("model", "model_name", "system", "run", "retriever"),
    "value": ("value", "score", "main_score"),
    "query_id": ("query_id", "qid", "query", "topic"),
    "measure": ("measure", "metric"),
}
"""What the columns of a long table are called; the last two are in few."""
NEEDED = ("task", "model", "value")
WANTED = Wanted(what="results", expected="task, model and value in each row", number=as_written)


def as_table(source: Any) -> pl.DataFrame:  # noqa: ANN401 - any frame
    """Return a table in memory of any library, or records, as a frame."""
    from deadheat.core.io.frames import find_frame, to_polars

    found = find_frame(source, "the table")
    if found is None:
        raise SourceTypeError(argument="source", found=type(source).__name__, allowed=ALLOWED)
    return to_polars(found, "the table")


def read_table(frame: pl.DataFrame, path: Path | None, measure: MeasureLike | None) -> TaskResults:
    """Read a long table, of a file or not: a row for each task and model, or for each query of them too."""
    names = _find_columns(frame, path)
    other_names = [name for name in frame.columns if name not in (*names.values(), *NAMES)]
    table = _select_columns(frame, names, other_names)
    table, measure_name = _select_measure(table, measure)
    _check_rows(table, path)
    table = table.filter(pl.col("value").is_not_null())
    notes: list[str] = []
    tasks = []
    for (name,), rows in table.group_by("task", maintain_order=True):
        tasks.append(_read_task(str(name), rows, notes))
    if not tasks:
        raise DataError("the table of results has no value", path=path)
    known = None if measure_name is None else measure_named(measure_name)
    return TaskResults(
        tuple(tasks),
        measure=measure_name or "value",
        higher_is_better=known.higher_is_better if known else True,
        notes=tuple(notes),
        columns=_describe_tasks(table, other_names),
    )


def _find_columns(frame: pl.DataFrame, path: Path | None) -> dict[str, str]:
    """Return the column of each part of a result that the table has; raise `ColumnError` if it lacks a needed one."""
    columns = {}
    for name, usual_names in NAMES.items():
        for usual_name in usual_names:
            if usual_name in frame.columns:
                columns[name] = usual_name
                break
    for name in NEEDED:
        if name not in columns:
            raise ColumnError(
                f"no column {name!r} in the table of results: found {', '.join(map(repr, frame.columns))}",
                allowed=f"one of {', '.join(NAMES[name])}",
                path=path,
            )
    return columns


def _select_columns(frame: pl.DataFrame, names: Mapping[str, str], other_names: Sequence[str]) -> pl.DataFrame:
    """Return the columns of results under our names, also the value as it is written, and others as text."""
    texts = []
    for name, column in names.items():
        if name != "value":
            texts.append(pl.col(column).cast(pl.String).str.strip_chars().alias(name))
    value = pl.col(names["value"])
    written = value.cast(pl.String)
    if frame.schema[names["value"]] == pl.String:
        value = value.str.strip_chars()
    number = pl.when(value.cast(pl.String) != "").then(value).cast(pl.Float64, strict=False)
    others = [pl.col(name).cast(pl.String) for name in other_names]
    return frame.select(*texts, number.alias("value"), written.alias("written"), *others)


def _read_task(name: str, rows: pl.DataFrame, notes: list[str]) -> Task:
    """Return the values of models on a task; count the queries that lack a model in a note."""
    if "query_id" not in rows.columns:
        return Task(name, tuple(rows["model"]), rows["value"].to_numpy()[None, :], has_queries=False)
    # a name that no model has, as theirs are stripped
    wide = rows.rename({"query_id": " "}).pivot(on="model", index=" ", values="value")
    models = tuple(wide.columns[1:])
    values = wide.select(models).fill_null(math.nan).to_numpy()
    is_complete = find_complete_queries(name, models, values, notes)
    return Task(name, models, values[is_complete])


def _describe_tasks(table: pl.DataFrame, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return what other columns say of each task, of those that say one text of each."""
    texts: dict[str, dict[str, str]] = {}
    for name in names:
        pairs = table.select("task", name).unique()
        if pairs["task"].n_unique() == len(pairs):
            texts[name] = dict(pairs.iter_rows())
    return texts


def _select_measure(table: pl.DataFrame, measure: MeasureLike | None) -> tuple[pl.DataFrame, str | None]:
    """Return the rows of one measure of a table that names some, and its name."""
    if "measure" not in table.columns:
        return table, None if measure is None else str(measure)
    by_task = table.group_by("task", maintain_order=True).agg(pl.col("measure").unique(maintain_order=True))
    measures_of_tasks = by_task["measure"].to_list()
    shared = set(measures_of_tasks[0]).intersection(*measures_of_tasks)
    if measure is None and shared:
        chosen = next(name for name in measures_of_tasks[0] if name in shared)
    else:
        chosen = str(measure)
    if chosen not in shared:
        raise _error_of_measure(by_task, chosen, is_asked=bool(measure))
    return table.filter(pl.col("measure") == chosen).drop("measure"), chosen


def _error_of_measure(by_task: pl.DataFrame, measure: str, *, is_asked: bool) -> DataError:
    """Return the error for a measure that a task lacks; it shows the measures of the first such task."""
    task, measures = by_task.row(-1)
    for name, measures_of_task in by_task.iter_rows():
        if measure not in measures_of_task:
            task, measures = name, measures_of_task
            break
    message = f"task {task} has no value by {measure}" if is_asked else "the tasks have no measure in common"
    return DataError(message, found=f"{', '.join(measures)} of {task}")


def _check_rows(table: pl.DataFrame, path: Path | None) -> None:
    """Raise an error for a row without a name, with a value that is no finite number, or that comes twice."""
    keys = [name for name in ("task", "model", "query_id") if name in table.columns]
    wrong = table.filter(pl.any_horizontal(pl.col(name).is_null() | (pl.col(name) == "") for name in keys))
    if len(wrong):
        raise DataError("a row of the results has no name", found=str(dict(wrong.row(0, named=True))), path=path)
    value = pl.col("value")
    no_number = (value.is_null() & (pl.col("written").fill_null("").str.strip_chars() != "")) | ~value.is_finite()
    wrong = table.filter(no_number.fill_null(value=False))
    if len(wrong):
        row = wrong.row(0, named=True)
        raise DataError(
            f"the value of {row['model']} on {row['task']} is not a finite number",
            given=row["written"],
            hint="leave the row out, or its value empty: the model then lacks the task",
            path=path,
        )
    twice = table.filter(table.select(keys).is_duplicated())
    if len(twice):
        row = twice.row(0, named=True)
        query = f", query {row['query_id']}" if "query_id" in row else ""
        raise DuplicateError(f"model {row['model']} appears twice on task {row['task']}{query}", path=path)
