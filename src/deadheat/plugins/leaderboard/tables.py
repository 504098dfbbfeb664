"""Results in a long table: a row for each task and model, or for each query of them too."""

import math
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
    names = {name: next((one for one in known if one in frame.columns), None) for name, known in NAMES.items()}
    lacking = [name for name in NEEDED if names[name] is None]
    if lacking:
        raise ColumnError(
            f"no column {lacking[0]!r} in the table of results: found {', '.join(map(repr, frame.columns))}",
            allowed=f"one of {', '.join(NAMES[lacking[0]])}",
            path=path,
        )
    others = [name for name in frame.columns if name not in names.values()]
    own = {name: pl.col(column) for name, column in names.items() if column is not None}
    text = {name: one.cast(pl.String).str.strip_chars() for name, one in own.items() if name != "value"}
    number = own["value"].str.strip_chars() if frame.select(own["value"]).dtypes[0] == pl.String else own["value"]
    table = frame.select(
        *(one.alias(name) for name, one in text.items()),
        pl.when(number.cast(pl.String) != "").then(number).cast(pl.Float64, strict=False).alias("value"),
        own["value"].cast(pl.String).alias("written"),
        *(pl.col(name).cast(pl.String) for name in others if name not in NAMES),
    )
    table, of = _of_measure(table, measure)
    _check_rows(table, path)
    table = table.filter(pl.col("value").is_not_null())
    notes: list[str] = []
    tasks = []
    for (task,), rows in table.group_by("task", maintain_order=True):
        if "query_id" not in table.columns:
            tasks.append(Task(str(task), tuple(rows["model"]), rows["value"].to_numpy()[None, :], has_queries=False))
            continue
        # a name that no model has, as theirs are stripped
        wide = rows.rename({"query_id": " "}).pivot(on="model", index=" ", values="value")
        models = tuple(wide.columns[1:])
        values = wide.select(models).fill_null(math.nan).to_numpy()
        tasks.append(Task(str(task), models, values[find_complete_queries(str(task), models, values, notes)]))
    if not tasks:
        raise DataError("the table of results has no value", path=path)
    known = None if of is None else measure_named(of)
    pairs = {name: table.select("task", name).unique() for name in others if name not in NAMES}
    said = {name: dict(own.iter_rows()) for name, own in pairs.items() if own["task"].n_unique() == len(own)}
    return TaskResults(tuple(tasks), of or "value", known.higher_is_better if known else True, tuple(notes), said)


def _of_measure(table: pl.DataFrame, measure: MeasureLike | None) -> tuple[pl.DataFrame, str | None]:
    """Return the rows of one measure of a table that names some, and its name."""
    if "measure" not in table.columns:
        return table, None if measure is None else str(measure)
    by_task = table.group_by("task", maintain_order=True).agg(pl.col("measure").unique(maintain_order=True))
    lists = by_task["measure"].to_list()
    shared = [name for name in lists[0] if all(name in other for other in lists)]
    chosen = shared[0] if measure is None and shared else str(measure)
    if chosen not in shared:
        lacking, held = next((row for row in by_task.iter_rows() if chosen not in row[1]), by_task.row(-1))
        raise DataError(
            f"task {lacking} has no value by {chosen}" if measure else "the tasks have no measure in common",
            found=f"{', '.join(held)} of {lacking}",
        )
    return table.filter(pl.col("measure") == chosen).drop("measure"), chosen


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
