"""read_results(): what models have on tasks, from any of the forms in which it comes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from deadheat.core.arrays import TextArray, align_values
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.sources import Source, make_label
from deadheat.core.errors import DataError, DuplicateError, MeasureError, ParameterError, SourceTypeError
from deadheat.core.evaluation.evaluate import evaluate
from deadheat.core.evaluation.evaluation import UNKNOWN, Evaluation
from deadheat.core.evaluation.open_evaluations import (
    by_own_name,
    is_evaluation,
    load_each,
    open_evaluation,
    shared_measures,
)
from deadheat.core.evaluation.reconciling import check_conventions, check_weights
from deadheat.core.evaluation.save_folder import ONE_SAVE
from deadheat.core.evaluation.saved import is_saved
from deadheat.core.evaluation.together import check_use
from deadheat.core.io.columns import check_column
from deadheat.core.io.files import check_path
from deadheat.core.io.formats import COMPRESSED, SUFFIXES
from deadheat.core.io.guarding import collect_read_files
from deadheat.core.io.records import read_records
from deadheat.core.kernels.weighting import are_equal, effective_number
from deadheat.core.measures.notation import MeasureLike, parse_measure, parse_measures
from deadheat.core.structures import group_values
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.leaderboard.mteb import find_mteb_results, read_mteb
from deadheat.plugins.leaderboard.results import ALLOWED, Task, TaskResults, find_complete_queries
from deadheat.plugins.leaderboard.tables import NAMES, NEEDED, WANTED, as_table, read_table

QRELS = "qrels"


def read_results(source: Source, measure: MeasureLike | None = None, exclude: Source | None = None) -> TaskResults:
    """Read the results of models on tasks, whatever form they have.

    Parameters
    ----------
    source : path, mapping, frame, or iterable of paths and evaluations
    measure : measure, optional
        By default the first that all have.
    exclude : optional
        As for `evaluate`, of a folder with runs.

    Raises
    ------
    DataError
        It is none of the forms; a model comes twice in a task; a task has no value.
    ParameterError
        There are no runs of which documents could be excluded.
    """
    path = check_path(source) if isinstance(source, str | Path) else None
    if path is not None and path.is_dir():
        tasks = _find_tasks(path)
        if tasks:
            return _of_runs(path, tasks, measure, exclude)
    if exclude is not None:
        raise ParameterError(
            "is for a folder with TASK/qrels and TASK/MODEL.run",
            argument="exclude",
            hint="evaluate the runs with exclude, and give the evaluations",
        )
    if path is not None:
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
        return _of_several([one if isinstance(one, Evaluation) else check_path(one) for one in given], measure)
    return read_table(as_table(source), None, measure)


def _of_file(path: Path, measure: MeasureLike | None) -> TaskResults:
    if path.suffix.lower() == ".json" and (is_saved(path) or find_mteb_results(path)):
        return _of_several([path], measure)
    if is_evaluation(path):
        return _of_evaluations({make_label(path): load_each({make_label(path): path})}, measure)
    records = read_records(path, None, WANTED)
    frame, notes = records.with_points([one for one in NAMES["value"] if one in records.columns][:1], path)
    found = read_table(frame, path, measure)
    return replace(found, notes=(*notes, *found.notes))


def _of_folder(folder: Path, measure: MeasureLike | None) -> TaskResults:
    """Read the saved evaluations or result files that are anywhere in a folder."""
    files = sorted(folder.rglob("*.json"))
    limited = (folder / "bench.json").is_file()  # of a benchmark, whose limited runs are other results
    with collect_read_files():  # a file that is only looked at is no input
        own = [one for one in files if _is_evaluation(one, limited=limited) or find_mteb_results(one)]
    if not own:
        raise DataError("holds no results of models on tasks", allowed=ALLOWED, path=folder)
    return _of_several(own, measure, folder)


def _find_tasks(folder: Path) -> dict[str, Path]:
    """Return the folders of tasks in a folder, which have qrels."""
    return {one.name: one for one in sorted(folder.iterdir()) if one.is_dir() and _qrels_in(one)}


def _of_runs(
    folder: Path, tasks: Mapping[str, Path], measure: MeasureLike | None, exclude: Source | None
) -> TaskResults:
    """Read runs and qrels by task."""
    others = [one.name for one in sorted(folder.iterdir()) if one.is_dir() and one.name not in tasks]
    left = [f"{format_list(others)} left out: no file {QRELS}"] if others else []
    measures = parse_measures(None)[:1] if measure is None else [parse_measure(measure)]
    evaluations = {name: _evaluated(one, measures, exclude) for name, one in tasks.items()}
    found = _of_evaluations(evaluations, None)
    return replace(found, notes=(*left, *found.notes))


def _is_evaluation(path: Path, *, limited: bool) -> bool:
    """Tell whether a file is a saved evaluation, and not of a limited run where a folder may have these."""
    return is_saved(path) and not (limited and ".limit-" in path.name)


def _qrels_in(folder: Path) -> Path | None:
    """Return the judgments in the folder of a task, a file or a folder of BEIR's form."""
    return next((one for one in sorted(folder.iterdir()) if make_label(one) == QRELS), None)


def _evaluated(folder: Path, measures: Sequence[Any], exclude: Source | None) -> dict[str, Evaluation]:
    """Return the evaluation of each run in the folder of a task."""
    given = _qrels_in(folder)
    qrels = Qrels(folder if given is not None and given.is_dir() else given)
    endings = (*SUFFIXES, *(f"{one}{packed}" for one in SUFFIXES for packed in COMPRESSED))
    paths = [one for one in sorted(folder.iterdir()) if one.is_file() and one.name.endswith(endings) and one != given]
    if not paths:
        raise DataError(f"task {folder.name} has no run", allowed=f"{folder.name}/MODEL.run", path=folder)
    named = {make_label(path): path for path in paths}
    if len(named) < len(paths):
        twice = next(path for path in paths if named[make_label(path)] != path)
        raise DuplicateError(f"two runs of {make_label(twice)} in task {folder.name}", hint="leave one out", path=twice)
    return dict(evaluate(qrels, named, measures, missing="empty", exclude=exclude))  # that it is, a note says


def _of_several(
    sources: Sequence[Path | Evaluation], measure: MeasureLike | None, folder: Path | None = None
) -> TaskResults:
    """Read evaluations, of which those of the same judgments are a task; or result files of MTEB."""
    of_mteb = [one for one in sources if isinstance(one, Path) and not is_evaluation(one)]
    if of_mteb and len(of_mteb) < len(sources):
        raise DataError(f"{of_mteb[0]} is not a saved evaluation, and others are", hint="give one kind of results")
    if of_mteb:
        if measure is not None:
            raise ParameterError(argument="measure", given=str(measure), allowed="left out for MTEB's main scores")
        return read_mteb(of_mteb, folder)
    read = [(one if isinstance(one, Path) else None, open_evaluation(one)) for one in sources]
    by_hash = group_values((one.qrels_hash, (path, one)) for path, one in read)
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
        return read_table(pl.DataFrame(dict(source)), None, measure)
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
    check_use("leaderboard", (one for _, one in every))
    wanted: MeasureLike = (
        shared_measures([(name, {str(own): own.label for own in one.measures}) for name, one in every])[0]
        if measure is None
        else measure
    )
    notes: list[str] = []
    without_rankings = dict.fromkeys(one.name for _, one in every if one.ties == UNKNOWN)
    if without_rankings:
        notes.append(f"what ties make of values is not known without rankings: {format_list([*without_rankings])}")
    exclusions = dict.fromkeys(one.conventions.exclude for _, one in every if one.conventions.exclude is not None)
    if exclusions:
        notes.append(f"documents excluded: {format_list([*exclusions])}")
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
            notes.append(f"queries of {task} that lack a ranking count as empty ones: {format_list(counts)}")
        ids: TextArray = np.array(sorted(set().union(*(one.query_ids.tolist() for one in scores.values()))), object)
        columns = {
            name: np.column_stack([align_values(getattr(one, name), one.query_ids, ids) for one in scores.values()])
            for name in ("values", "tie_min", "tie_max")
        }
        first = next(iter(scores.values()))
        if first.measure.geometric or first.measure.total:
            raise ParameterError(
                argument="measure", given=str(first.measure), allowed="a measure that is a mean over queries"
            )
        kept = find_complete_queries(task, list(scores), columns["values"], notes)
        weights = None if first.weights is None else align_values(first.weights, first.query_ids, ids)[kept]
        if weights is not None and not are_equal(weights):
            worth = f"{format_count(int(kept.sum()), 'query is', 'queries are')} worth {effective_number(weights):.1f}"
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
        path = check_path(given)
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
        raise ParameterError(
            f"has none for {format_list(lacking)}", argument=argument, hint=f"give a {name} for every task"
        )
    of_tasks = {task: found[task] for task in tasks}
    return of_tasks if name == "weight" else {task: str(group) for task, group in of_tasks.items()}
