"""read_results(): what models have on tasks, from any of the forms in which it comes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from deadheat.core.data.qrels import Qrels
from deadheat.core.data.sources import Source, make_label
from deadheat.core.errors import DataError, DuplicateError, ParameterError, SourceTypeError
from deadheat.core.evaluation.evaluate import evaluate
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.open_evaluations import by_own_name, is_evaluation, load_each, open_evaluation
from deadheat.core.evaluation.save_folder import ONE_SAVE
from deadheat.core.evaluation.saved import is_saved
from deadheat.core.io.files import check_path
from deadheat.core.io.formats import COMPRESSED, SUFFIXES
from deadheat.core.io.guarding import collect_read_files
from deadheat.core.io.records import read_records
from deadheat.core.measures.notation import MeasureLike, parse_measure, parse_measures
from deadheat.core.wording import format_list
from deadheat.plugins.leaderboard.evaluated_tasks import read_evaluations
from deadheat.plugins.leaderboard.mteb import find_mteb_results, read_mteb
from deadheat.plugins.leaderboard.results import ALLOWED, TaskResults
from deadheat.plugins.leaderboard.tables import NAMES, NEEDED, WANTED, as_table, read_table

QRELS = "qrels"


@dataclass(frozen=True)
class OpenedEvaluation:
    """An evaluation of one task, and the file that it comes from.

    Attributes
    ----------
    path : Path or None
        None for an evaluation that was given as an object.
    evaluation : Evaluation
    """

    path: Path | None
    evaluation: Evaluation


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
    if isinstance(source, str | Path):
        return _read_path(check_path(source), measure, exclude)
    _refuse_exclude(exclude)
    if _is_benchmark(source):
        return read_evaluations(_name_tasks_of_benchmark(source), measure)
    if isinstance(source, Mapping) and source:
        return _read_mapping(source, measure)
    if isinstance(source, Iterable) and not hasattr(source, "columns"):
        items = list(source)
        if items and all(isinstance(item, str | Path | Evaluation) for item in items):
            paths_and_evaluations: list[Path | Evaluation] = []
            for item in items:
                paths_and_evaluations.append(item if isinstance(item, Evaluation) else check_path(item))
            return _read_several(paths_and_evaluations, measure)
    return read_table(as_table(source), None, measure)


def _read_path(path: Path, measure: MeasureLike | None, exclude: Source | None) -> TaskResults:
    """Read a file or a folder, in which runs come before saved results."""
    if path.is_dir():
        task_folders = _find_task_folders(path)
        if task_folders:
            return _read_runs(path, task_folders, measure, exclude)
    _refuse_exclude(exclude)
    if path.is_dir():
        return _read_folder(path, measure)
    return _read_file(path, measure)


def _refuse_exclude(exclude: Source | None) -> None:
    """Raise if documents are to be excluded from results that are evaluated already."""
    if exclude is not None:
        raise ParameterError(
            "is for a folder with TASK/qrels and TASK/MODEL.run",
            argument="exclude",
            hint="evaluate the runs with exclude, and give the evaluations",
        )


def _is_benchmark(source: object) -> bool:
    """Tell whether a source is a benchmark, which has evaluations by cases, language and retriever."""
    evaluations = getattr(source, "evaluations", None)
    if not isinstance(evaluations, Mapping):
        return False
    return all(isinstance(key, tuple) and len(key) == 3 for key in evaluations)


def _name_tasks_of_benchmark(benchmark: Any) -> dict[str, dict[str, Evaluation]]:  # noqa: ANN401 - of another plugin
    """Return the evaluations of a benchmark by task and retriever; cases in one language are a task of their name."""
    languages_of_cases: dict[str, set[str]] = {}
    for cases, language, _ in benchmark.evaluations:
        languages_of_cases.setdefault(cases, set()).add(language)
    tasks: dict[str, dict[str, Evaluation]] = {}
    for (cases, language, retriever), evaluation in benchmark.evaluations.items():
        task = cases
        if len(languages_of_cases[cases]) > 1:
            task = f"{cases} ({language})"
        tasks.setdefault(task, {})[retriever] = evaluation
    return tasks


def _read_file(path: Path, measure: MeasureLike | None) -> TaskResults:
    """Read one file: of MTEB, a saved evaluation, what trec_eval -q printed, or a table."""
    if path.suffix.lower() == ".json" and (is_saved(path) or find_mteb_results(path)):
        return _read_several([path], measure)
    if is_evaluation(path):
        task = make_label(path)
        return read_evaluations({task: load_each({task: path})}, measure)
    records = read_records(path, None, WANTED)
    value_columns = [name for name in NAMES["value"] if name in records.columns]
    frame, notes = records.with_points(value_columns[:1], path)
    results = read_table(frame, path, measure)
    return replace(results, notes=(*notes, *results.notes))


def _read_folder(folder: Path, measure: MeasureLike | None) -> TaskResults:
    """Read the saved evaluations or result files that are anywhere in a folder."""
    # a benchmark saves limited runs beside the whole ones: they are other results
    may_be_limited = (folder / "bench.json").is_file()
    paths = []
    with collect_read_files():  # a file that is only looked at is no input
        for path in sorted(folder.rglob("*.json")):
            is_limited = may_be_limited and ".limit-" in path.name
            is_whole_evaluation = is_saved(path) and not is_limited
            if is_whole_evaluation or find_mteb_results(path):
                paths.append(path)
    if not paths:
        raise DataError("holds no results of models on tasks", allowed=ALLOWED, path=folder)
    return _read_several(paths, measure, folder)


def _find_task_folders(folder: Path) -> dict[str, Path]:
    """Return the folders of tasks in a folder, which have qrels, by the names of the tasks."""
    task_folders = {}
    for path in sorted(folder.iterdir()):
        if path.is_dir() and _find_qrels(path):
            task_folders[path.name] = path
    return task_folders


def _find_qrels(task_folder: Path) -> Path | None:
    """Return the judgments in the folder of a task, a file or a folder of BEIR's form."""
    for path in sorted(task_folder.iterdir()):
        if make_label(path) == QRELS:
            return path
    return None


def _read_runs(
    folder: Path, task_folders: Mapping[str, Path], measure: MeasureLike | None, exclude: Source | None
) -> TaskResults:
    """Evaluate the runs of each task."""
    notes = []
    left_out = [path.name for path in sorted(folder.iterdir()) if path.is_dir() and path.name not in task_folders]
    if left_out:
        notes.append(f"{format_list(left_out)} left out: no file {QRELS}")
    measures = parse_measures(None)[:1] if measure is None else [parse_measure(measure)]
    evaluations = {}
    for task, task_folder in task_folders.items():
        evaluations[task] = _evaluate_runs(task_folder, measures, exclude)
    results = read_evaluations(evaluations, None)
    return replace(results, notes=(*notes, *results.notes))


def _evaluate_runs(task_folder: Path, measures: Sequence[Any], exclude: Source | None) -> dict[str, Evaluation]:
    """Return the evaluation of each run in the folder of a task."""
    task = task_folder.name
    qrels_path = _find_qrels(task_folder)
    is_of_beir = qrels_path is not None and qrels_path.is_dir()
    qrels = Qrels(task_folder if is_of_beir else qrels_path)
    paths = _find_runs(task_folder, qrels_path)
    if not paths:
        raise DataError(f"task {task} has no run", allowed=f"{task}/MODEL.run", path=task_folder)
    path_of_model = {make_label(path): path for path in paths}
    for path in paths:
        model = make_label(path)
        if path_of_model[model] != path:
            raise DuplicateError(f"two runs of {model} in task {task}", hint="leave one out", path=path)
    # a query without a ranking is said in a note
    return dict(evaluate(qrels, path_of_model, measures, missing="empty", exclude=exclude))


def _find_runs(task_folder: Path, qrels_path: Path | None) -> list[Path]:
    """Return the files in the folder of a task that may be runs."""
    endings = list(SUFFIXES)
    for suffix in SUFFIXES:
        endings += [f"{suffix}{compressed}" for compressed in COMPRESSED]
    paths = []
    for path in sorted(task_folder.iterdir()):
        if path.is_file() and path.name.endswith(tuple(endings)) and path != qrels_path:
            paths.append(path)
    return paths


def _read_several(
    sources: Sequence[Path | Evaluation], measure: MeasureLike | None, folder: Path | None = None
) -> TaskResults:
    """Read evaluations, of which those of the same judgments are a task; or result files of MTEB."""
    mteb_paths = [source for source in sources if isinstance(source, Path) and not is_evaluation(source)]
    if mteb_paths and len(mteb_paths) < len(sources):
        raise DataError(f"{mteb_paths[0]} is not a saved evaluation, and others are", hint="give one kind of results")
    if mteb_paths:
        if measure is not None:
            raise ParameterError(argument="measure", given=str(measure), allowed="left out for MTEB's main scores")
        return read_mteb(mteb_paths, folder)
    opened_by_hash: dict[str, list[OpenedEvaluation]] = {}
    for source in sources:
        path = source if isinstance(source, Path) else None
        opened = OpenedEvaluation(path, open_evaluation(source))
        opened_by_hash.setdefault(opened.evaluation.qrels_hash, []).append(opened)
    tasks: dict[str, dict[str, Evaluation]] = {}
    for task, opened_of_task in zip(_name_tasks(opened_by_hash), opened_by_hash.values(), strict=True):
        tasks[task] = {}
        for opened in opened_of_task:
            model = opened.evaluation.name
            if model in tasks[task]:
                raise DuplicateError(f"two evaluations of {model} in task {task}", hint=ONE_SAVE, path=opened.path)
            tasks[task][model] = opened.evaluation
    return read_evaluations(tasks, measure)


def _name_tasks(opened_by_hash: Mapping[str, Sequence[OpenedEvaluation]]) -> list[str]:
    """Return names of tasks: of their judgments; if two are equal, of folders or files; else a part of their hash."""
    names_of_judgments = []
    names_of_folders = []
    names_of_cases = []
    short_hashes = []
    for qrels_hash, opened_of_task in opened_by_hash.items():
        first = opened_of_task[0]
        short_hash = qrels_hash[:8]
        folder = short_hash
        cases = short_hash
        if first.path is not None:
            folder = first.path.absolute().parent.name
            parts = first.path.name.split(".")
            if len(parts) == 4:  # of a benchmark, whose files are CASES.LANGUAGE.RETRIEVER.json
                cases = f"{parts[0]} ({parts[1]})"
        names_of_judgments.append(first.evaluation.qrels.name)
        names_of_folders.append(folder)
        names_of_cases.append(cases)
        short_hashes.append(short_hash)
    for names in (names_of_judgments, names_of_folders, names_of_cases):
        are_unique = len(set(names)) == len(names)
        if are_unique:
            return names
    return short_hashes


def _read_mapping(source: Mapping[Any, Any], measure: MeasureLike | None) -> TaskResults:
    """Read {task: {model: evaluation}}, or the columns of a table."""
    if set(NEEDED) <= set(source):
        return read_table(pl.DataFrame(dict(source)), None, measure)
    for task, evaluations in source.items():
        if not isinstance(evaluations, Mapping | list | tuple):
            raise SourceTypeError(argument="source", found=type(evaluations).__name__, allowed=ALLOWED)
        if not evaluations:
            raise DataError(f"task {task} has no results")
    tasks = {}
    for task, evaluations in source.items():
        tasks[str(task)] = by_own_name(evaluations, where=f" in task {task}")
    return read_evaluations(tasks, measure)
