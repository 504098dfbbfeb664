"""The results of models on tasks, from any of the forms in which they come: runs, evaluations, tables, MTEB's files."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from deadheat.arrays import BoolArray, FloatArray, TextArray, aligned
from deadheat.data.tables import Qrels, Source, label_of
from deadheat.errors import (
    ColumnError,
    DataError,
    DuplicateError,
    MeasureError,
    ParameterError,
    SourceTypeError,
    collected,
    counted,
    three,
)
from deadheat.evaluation.evaluate import by_own_name, evaluate, opened, shared_measures
from deadheat.evaluation.evaluation import Evaluation, refuse_judge, refuse_repeats
from deadheat.evaluation.reconciling import check_conventions, check_weights
from deadheat.evaluation.save_folder import ONE_SAVE
from deadheat.evaluation.saved import is_saved
from deadheat.io.files import path_named
from deadheat.io.formats import COMPRESSED, SUFFIXES
from deadheat.io.guarding import noting_files
from deadheat.io.kinds import check_column
from deadheat.io.objects import read_text
from deadheat.io.records import Wanted, as_written, read_records
from deadheat.kernels.weighting import are_equal, effective_number
from deadheat.measures.notation import MeasureLike, measure_named, parse_measure, parse_measures

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
QRELS = "qrels"
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


def read_results(source: Source, measure: MeasureLike | None = None) -> TaskResults:
    """Read the results of models on tasks, whatever form they have.

    Parameters
    ----------
    source : path, mapping, frame, or iterable of paths and evaluations
    measure : measure, optional
        By default the first that all have.

    Raises
    ------
    DataError
        It is none of the forms; a model comes twice in a task; a task has no value.
    """
    if isinstance(source, str | Path):
        path = path_named(source)
        return _of_folder(path, measure) if path.is_dir() else _of_file(path, measure)
    of_parts = getattr(source, "evaluations", None)  # of a benchmark: by cases, language and retriever
    if isinstance(of_parts, Mapping) and all(isinstance(key, tuple) and len(key) == 3 for key in of_parts):
        named: dict[str, dict[str, Evaluation]] = {}
        for (cases, language, retriever), one in of_parts.items():
            several = len({other for name, other, _ in of_parts if name == cases}) > 1
            named.setdefault(f"{cases} ({language})" if several else cases, {})[retriever] = one
        return _of_evaluations(named, measure)
    if isinstance(source, Mapping) and source:
        return _of_mapping(source, measure)
    given = list(source) if isinstance(source, Iterable) and not hasattr(source, "columns") else []
    if given and all(isinstance(one, str | Path | Evaluation) for one in given):
        return _of_several([one if isinstance(one, Evaluation) else path_named(one) for one in given], measure)
    return _of_table(_frame(source), None, measure)


def _of_file(path: Path, measure: MeasureLike | None) -> TaskResults:
    if path.suffix.lower() == ".json" and (is_saved(path) or _mteb_in(path)):
        return _of_several([path], measure)
    records = read_records(path, None, WANTED)
    frame, notes = records.with_points([one for one in NAMES["value"] if one in records.columns][:1], path)
    found = _of_table(frame, path, measure)
    return replace(found, notes=(*notes, *found.notes))


def _of_folder(folder: Path, measure: MeasureLike | None) -> TaskResults:
    """Read runs and qrels by task, or the saved evaluations or result files that are anywhere in a folder."""
    tasks = {one.name: one for one in sorted(folder.iterdir()) if one.is_dir() and _qrels_in(one)}
    if tasks:
        others = [one.name for one in sorted(folder.iterdir()) if one.is_dir() and one.name not in tasks]
        left = [f"{three(others)} left out: no file {QRELS}"] if others else []
        measures = parse_measures(None)[:1] if measure is None else [parse_measure(measure)]
        found = _of_evaluations({name: _evaluated(one, measures) for name, one in tasks.items()}, None)
        return replace(found, notes=(*left, *found.notes))
    files = sorted(folder.rglob("*.json"))
    limited = (folder / "bench.json").is_file()  # of a benchmark, whose limited runs are other results
    with noting_files():  # a file that is only looked at is no input
        own = [one for one in files if (is_saved(one) and not (limited and ".limit-" in one.name)) or _mteb_in(one)]
    if not own:
        raise DataError("holds no results of models on tasks", allowed=ALLOWED, path=folder)
    return _of_several(own, measure, folder)


def _qrels_in(folder: Path) -> Path | None:
    """Return the judgments in the folder of a task, a file or a folder of BEIR's form."""
    return next((one for one in sorted(folder.iterdir()) if label_of(one) == QRELS), None)


def _evaluated(folder: Path, measures: Sequence[Any]) -> dict[str, Evaluation]:
    """Return the evaluation of each run in the folder of a task."""
    given = _qrels_in(folder)
    qrels = Qrels(folder if given is not None and given.is_dir() else given)
    endings = (*SUFFIXES, *(f"{one}{packed}" for one in SUFFIXES for packed in COMPRESSED))
    paths = [one for one in sorted(folder.iterdir()) if one.is_file() and one.name.endswith(endings) and one != given]
    if not paths:
        raise DataError(f"task {folder.name} has no run", allowed=f"{folder.name}/MODEL.run", path=folder)
    named = {label_of(path): path for path in paths}
    if len(named) < len(paths):
        twice = next(path for path in paths if named[label_of(path)] != path)
        raise DuplicateError(f"two runs of {label_of(twice)} in task {folder.name}", hint="leave one out", path=twice)
    return dict(evaluate(qrels, named, measures, missing="empty"))  # which a note says


def _of_several(
    sources: Sequence[Path | Evaluation], measure: MeasureLike | None, folder: Path | None = None
) -> TaskResults:
    """Read evaluations, of which those of the same judgments are a task; or result files of MTEB."""
    of_mteb = [one for one in sources if isinstance(one, Path) and not is_saved(one)]
    if of_mteb and len(of_mteb) < len(sources):
        raise DataError(f"{of_mteb[0]} is not a saved evaluation, and others are", hint="give one kind of results")
    if of_mteb:
        if measure is not None:
            raise ParameterError(argument="measure", given=str(measure), allowed="left out for MTEB's main scores")
        return _of_mteb(of_mteb, folder)
    read = [(one if isinstance(one, Path) else None, opened(one)) for one in sources]
    by_hash = collected((one.qrels_hash, (path, one)) for path, one in read)
    named: dict[str, dict[str, Evaluation]] = {}
    for name, held in zip(_task_names(by_hash), by_hash.values(), strict=True):
        for path, one in held:
            if one.name in named.setdefault(name, {}):
                raise DuplicateError(f"two evaluations of {one.name} in task {name}", hint=ONE_SAVE, path=path)
            named[name][one.name] = one
    return _of_evaluations(named, measure)


def _task_names(by_hash: Mapping[str, Sequence[tuple[Path | None, Evaluation]]]) -> list[str]:
    """Return names of tasks: of their judgments; if two are equal, of folders or files; else a part of their hash."""
    firsts = {key[:8]: held[0] for key, held in by_hash.items()}
    of_judgments = [one.qrels.name for _, one in firsts.values()]
    folders = [short if path is None else path.absolute().parent.name for short, (path, _) in firsts.items()]
    cases = [  # of a benchmark, whose files are CASES.LANGUAGE.RETRIEVER.json
        f"{parts[0]} ({parts[1]})" if path and len(parts := path.name.split(".")) == 4 else short
        for short, (path, _) in firsts.items()
    ]
    return next(names for names in (of_judgments, folders, cases, list(firsts)) if len(set(names)) == len(by_hash))


def _of_mapping(source: Mapping[Any, Any], measure: MeasureLike | None) -> TaskResults:
    """Read {task: {model: evaluation}}, or the columns of a table."""
    if set(NEEDED) <= set(source):
        return _of_table(pl.DataFrame(dict(source)), None, measure)
    for task, own in source.items():
        if not isinstance(own, Mapping | list | tuple):
            raise SourceTypeError(argument="source", found=type(own).__name__, allowed=ALLOWED)
        if not own:
            raise DataError(f"task {task} has no results")
    return _of_evaluations(
        {str(task): by_own_name(own, where=f" in task {task}") for task, own in source.items()}, measure
    )


def _of_evaluations(named: Mapping[str, Mapping[str, Evaluation]], measure: MeasureLike | None) -> TaskResults:
    """Return the results of evaluations by task and model, by a measure that all have."""
    every = [(f"{name} on {task}", one) for task, own in named.items() for name, one in own.items()]
    refuse_repeats((one for _, one in every), "a leaderboard")
    refuse_judge((one for _, one in every), "a leaderboard")
    wanted: MeasureLike = (
        shared_measures([(name, {str(own): own.label for own in one.measures}) for name, one in every])[0]
        if measure is None
        else measure
    )
    notes: list[str] = []
    tasks = []
    for task, own in named.items():
        if len({one.qrels_hash for one in own.values()}) > 1:
            raise DataError(
                f"the evaluations of task {task} are under different judgments",
                hint="evaluate all under the same: deadheat rescore",
            )
        _check_alike(task, own)
        try:
            scores = {name: one[wanted] for name, one in own.items()}
        except MeasureError as error:
            raise DataError(f"task {task}: {error}") from error
        empty = {name: len(one.missing_queries) for name, one in own.items() if one.conventions.missing == "empty"}
        counts = [f"{name} {n:,}" for name, n in empty.items() if n]
        if counts:
            notes.append(f"queries of {task} that lack a ranking count as empty ones: {three(counts)}")
        ids: TextArray = np.array(sorted(set().union(*(one.query_ids.tolist() for one in scores.values()))), object)
        columns = {
            name: np.column_stack([aligned(getattr(one, name), one.query_ids, ids) for one in scores.values()])
            for name in ("values", "tie_min", "tie_max")
        }
        first = next(iter(scores.values()))
        if first.measure.geometric or first.measure.total:
            raise ParameterError(
                argument="measure", given=str(first.measure), allowed="a measure that is a mean over queries"
            )
        kept = _kept(task, list(scores), columns["values"], notes)
        weights = None if first.weights is None else aligned(first.weights, first.query_ids, ids)[kept]
        if weights is not None and not are_equal(weights):
            worth = f"{counted(int(kept.sum()), 'query is', 'queries are')} worth {effective_number(weights):.1f}"
            notes.append(f"means of {task} are weighted: {worth} of equal weight")
        low, high = (np.average(columns[name][kept], axis=0, weights=weights) for name in ("tie_min", "tie_max"))
        tasks.append(Task(task, tuple(scores), columns["values"][kept], weights, low, high))
    first = next(iter(named[tasks[0].name].values()))[wanted]
    return TaskResults(tuple(tasks), str(first.measure.label), first.measure.higher_is_better, tuple(notes))


def _check_alike(task: str, evaluations: Mapping[str, Evaluation]) -> None:
    """Raise an error if the evaluations of a task have different conventions or weights."""
    (first_name, first), *others = evaluations.items()
    is_any = any(one.unanswerable for one in evaluations.values())
    for name, other in others:
        names = (f"{first_name} on {task}", f"{name} on {task}")
        check_conventions(names, (vars(first.conventions), vars(other.conventions)), is_any=is_any)
        check_weights(names, (first.query_ids, first.weights), (other.query_ids, other.weights))


def _kept(task: str, models: Sequence[str], values: FloatArray, notes: list[str]) -> BoolArray:
    """Return which queries have a value of every model; the others are left out, and counted in a note."""
    lacks = np.isnan(values)
    kept: BoolArray = np.asarray(~lacks.any(axis=1))
    if not kept.any():
        name = models[int(lacks.sum(axis=0).argmax())]
        raise DataError(f"task {task} has no query with a value of every model: {name} lacks most")
    if not kept.all():
        of = [name for name, n in zip(models, lacks.sum(axis=0).tolist(), strict=True) if n]
        notes.append(
            f"{counted(int((~kept).sum()), 'query', 'queries')} of {task} left out, without a value of {three(of)}"
        )
    return kept


def _frame(source: Any) -> pl.DataFrame:  # noqa: ANN401 - any frame
    """Return a table in memory of any library, or records, as a frame."""
    from deadheat.io.frames import frame_of, to_polars  # they need Narwhals: comparisons of runs do not wait for it

    found = frame_of(source, "the table")
    if found is None:
        raise SourceTypeError(argument="source", found=type(source).__name__, allowed=ALLOWED)
    return to_polars(found, "the table")


def _of_table(frame: pl.DataFrame, path: Path | None, measure: MeasureLike | None) -> TaskResults:
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
        tasks.append(Task(str(task), models, values[_kept(str(task), models, values, notes)]))
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


def _json(path: Path) -> Any:  # noqa: ANN401 - what JSON holds
    try:
        return json.loads(read_text(path, "a result file of MTEB"))
    except (ValueError, RecursionError):
        return None


def _mteb_in(path: Path) -> list[tuple[str | None, Mapping[str, Any]]]:
    """Return the results in a file of MTEB, each with the name of its model if the file has it; none of other files."""
    found = _json(path)
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


def _of_mteb(paths: Sequence[Path], folder: Path | None) -> TaskResults:
    """Read main scores as MTEB takes them: the mean over all splits and subsets that a file has."""
    rows: dict[tuple[str, str], float] = {}
    averaged: dict[str, int] = {}
    for path in paths:
        held = _mteb_in(path)
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
    notes = (f"{three(several)}: the mean over several splits or subsets, as MTEB takes it",) if several else ()
    frame = pl.DataFrame([(*key, value) for key, value in rows.items()], list(NEEDED), orient="row")
    return replace(_of_table(frame, None, None), measure="main score", notes=notes)


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
    made = _json(meta) if meta.is_file() else None
    if isinstance(made, Mapping) and made.get("name"):
        return str(made["name"])
    parent = path.absolute().parent
    is_revision = folder is not None and parent.parent != folder.absolute() and parent != folder.absolute()
    return (parent.parent if is_revision else parent).name.replace("__", "/")


def labels_of_tasks(
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
        found = {str(task): value for task, value in given.items()}
    elif columns and str(given) in columns:
        found = dict(columns[str(given)])
    else:
        path = path_named(given)
        frame, _ = read_records(path, None, WANTED).with_points([name] if name == "weight" else [], path)
        task = next((one for one in NAMES["task"] if one in frame.columns), "task")
        for column in (task, name):
            check_column(column, frame.columns, path)
        found = dict(frame.select(task, name).iter_rows())
    unknown = next((task for task in found if task not in known), None)
    if isinstance(given, Mapping) and unknown is not None:
        raise ParameterError(argument=argument, given=unknown, allowed=known)
    lacking = [task for task in tasks if found.get(task) is None or found[task] == ""]
    if lacking:
        raise ParameterError(f"has none for {three(lacking)}", argument=argument, hint=f"give a {name} for every task")
    of_tasks = {task: found[task] for task in tasks}
    return of_tasks if name == "weight" else {task: str(group) for task, group in of_tasks.items()}
