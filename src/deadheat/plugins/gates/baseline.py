"""The baseline of a gate: an evaluation, the file of a saved one, or a folder of saved ones."""

from dataclasses import dataclass
from pathlib import Path

from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.open_evaluations import open_evaluation
from deadheat.core.evaluation.save_folder import find_baseline
from deadheat.core.io.files import check_path


@dataclass(frozen=True)
class Baseline:
    """The evaluation that another one must not be worse than.

    Attributes
    ----------
    evaluation : Evaluation
    file : str
        The name of its file, where a folder was given; else empty.
    """

    evaluation: Evaluation
    file: str = ""


def open_baseline(given: object, name: str, evaluation: Evaluation | None = None) -> Baseline:
    """Return the baseline of a run; of a folder it is the newest save that fits (:func:`find_baseline`).

    Parameters
    ----------
    given : Evaluation, Baseline or path
        One that was opened before stays as it is.
    name : str
        Of the run.
    evaluation : Evaluation, optional
        Of the run, if there is one already: its own saves are no baseline of it.
    """
    if isinstance(given, Baseline):
        return given
    if not isinstance(given, str | Path) or not check_path(given).is_dir():
        return Baseline(open_evaluation(given))
    if evaluation is None:
        path = find_baseline(given, name)
    else:
        path = find_baseline(given, name, evaluation.origin, without=evaluation.saved_files)
    return Baseline(open_evaluation(path), path.name)
