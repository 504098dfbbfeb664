"""The evaluations that :func:`history` is given: files of a folder, paths and objects, and the steps read from them."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadheat.core.checks import as_list
from deadheat.core.errors import DataError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.open_evaluations import is_evaluation
from deadheat.core.evaluation.origin import Origin
from deadheat.core.io.files import check_path
from deadheat.core.structures import group_values
from deadheat.core.wording import format_count, format_list, format_path
from deadheat.plugins.weeks.steps import Step, read_step_or_error


@dataclass(frozen=True, eq=False)
class GivenEvaluations:
    """The evaluations of a history as they were given.

    Attributes
    ----------
    by_name : dict of str to (Evaluation, str or Path)
        What to open, by the name that reports call it: its file, or the name of one in memory with its place. One
        whose weights are changed is replaced by the evaluation with those weights.
    reference : str or None
        The name of the reference.
    is_folder : bool
        Whether they are the files of a folder, of which damaged ones are left out.
    """

    by_name: dict[str, Evaluation | str | Path]
    reference: str | None
    is_folder: bool

    def in_memory(self) -> list[Evaluation]:
        """Return the evaluations that are no files."""
        return [evaluation for evaluation in self.by_name.values() if isinstance(evaluation, Evaluation)]


def collect_evaluations(
    source: str | Path | Iterable[str | Path | Evaluation],
    reference: str | Path | Evaluation | None,
    notes: list[str],
) -> GivenEvaluations:
    """Return the evaluations of a source, with the reference after them if it is no other; note files left out."""
    by_key = dict(_evaluations_with_keys(source, notes))
    key_of_reference = None
    if reference is not None:
        ((key_of_reference, evaluation),) = _evaluations_with_keys([reference], notes)
        by_key.setdefault(key_of_reference, evaluation)
    names = _names_of(by_key)
    return GivenEvaluations(
        by_name={names[key]: evaluation for key, evaluation in by_key.items()},
        reference=None if key_of_reference is None else names[key_of_reference],
        is_folder=_is_folder(source),
    )


def read_given_steps(given: GivenEvaluations, notes: list[str]) -> list[Step]:
    """Return the steps of evaluations as they were given.

    Damaged files of a folder are left out, and noted.

    Raises
    ------
    DataError
        A file that was named, or the reference, is damaged; or every file of the folder is.
    """
    now = Origin.here()  # of all that were not saved: they stay in their order

    def read(name: str) -> Step | DataError:
        return read_step_or_error(name, given.by_name[name], now)

    with ThreadPoolExecutor(4) as threads:  # each waits for Polars' threads
        steps_and_errors = list(threads.map(read, given.by_name))
    steps = [step for step in steps_and_errors if isinstance(step, Step)]
    errors = [error for error in steps_and_errors if isinstance(error, DataError)]
    if not errors:
        return steps
    is_reference_damaged = given.reference in {str(error.path) for error in errors}
    if not given.is_folder or not steps or is_reference_damaged:
        raise errors[0]
    notes += [f"left out: {error}" for error in errors]
    return steps


def sort_by_time(steps: Sequence[Step], notes: list[str]) -> list[Step]:
    """Return steps in order of time, and note those of the same time, which stay in the order given."""
    sorted_steps = sorted(steps, key=lambda step: step.origin.time)
    files_by_time = group_values((step.origin.time, step.file) for step in sorted_steps)
    files_of_same_time: list[str] = []
    for files in files_by_time.values():
        if len(files) > 1:
            files_of_same_time += map(format_path, files)
    if files_of_same_time:
        notes.append(f"{format_list(files_of_same_time)}: of the same time, in the order in which they were given")
    return sorted_steps


def _is_folder(source: object) -> bool:
    """Tell whether a source is a folder, from which every saved evaluation is taken."""
    return isinstance(source, str | Path) and check_path(source).is_dir()


def _evaluations_with_keys(source: Any, notes: list[str]) -> Iterable[tuple[str, Any]]:  # noqa: ANN401 - paths or evaluations
    """Yield each evaluation, or its path, after a key that tells it from others."""
    if _is_folder(source):
        source = _saved_files_of(check_path(source), notes)
    elif isinstance(source, str | Path | Evaluation):
        source = [source]
    evaluations = as_list("source", source, "a folder, or a list of paths and evaluations")
    if not evaluations:
        raise DataError("there is no saved evaluation", hint="deadheat evaluate QRELS RUN --save FOLDER/ writes them")
    for evaluation in evaluations:
        if isinstance(evaluation, Evaluation):
            yield f"{evaluation.name} ({id(evaluation)})", evaluation
        else:
            yield str(check_path(evaluation)), evaluation


def _saved_files_of(folder: Path, notes: list[str]) -> list[Path]:
    """Return the saved evaluations of a folder, and note its other files."""
    saved_files: list[Path] = []
    names_of_others: list[str] = []
    for path in sorted(folder.iterdir()):
        if not path.is_file():
            continue
        if is_evaluation(path):
            saved_files.append(path)
        else:
            names_of_others.append(path.name)
    if names_of_others:
        left_out = f"{format_count(len(names_of_others), 'file')} of {format_path(folder)} left out"
        notes.append(f"{left_out}, no saved evaluations: {format_list(names_of_others)}")
    return saved_files


def _names_of(by_key: Mapping[str, Evaluation | str | Path]) -> dict[str, str]:
    """Return what reports call each evaluation, by its key: its file, or the name of one in memory with its place."""
    names: dict[str, str] = {}
    for place, (key, evaluation) in enumerate(by_key.items(), start=1):
        names[key] = f"{evaluation.name} ({place})" if isinstance(evaluation, Evaluation) else key
    return names
