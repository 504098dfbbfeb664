"""Evaluations that are given as such, by the paths of saved ones, or several of them by name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deadheat.core.checks import as_list, by_name
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.structures import group_values
from deadheat.core.wording import format_list


def load_evaluation(path: str | Path) -> Evaluation:
    """Read an evaluation that :meth:`Evaluation.save` wrote.

    Scores, means, tie statistics, intervals and placements are those of the original. A `Custom` measure keeps its name
    and its scores, but not its function.

    Parameters
    ----------
    path : path
        Of the JSON file.

    Returns
    -------
    Evaluation

    Raises
    ------
    DataError
        The file is missing, damaged or changed, or was written by a newer deadheat.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from deadheat import evaluate
    >>> with TemporaryDirectory() as folder:
    ...     path = evaluate({"q1": {"a": 1}}, {"q1": {"a": 1, "b": 1}}, "RR").save(f"{folder}/bm25.json")
    ...     load_evaluation(path).means()
    {'RR': 0.75}
    """
    from deadheat.core.evaluation.saved import SAVED, parts_in  # few evaluations are loaded

    scores, parts = SAVED.read(path, parts_in)
    return Evaluation(scores, **parts)


def open_evaluation(evaluation: object) -> Evaluation:
    """Return an evaluation that is given as such or as the path of a saved one."""
    if isinstance(evaluation, Evaluation):
        return evaluation
    if not isinstance(evaluation, str | Path):
        raise ParameterError(found=type(evaluation).__name__, allowed="an Evaluation or the path of a saved one")
    return load_evaluation(evaluation)


def by_own_name(
    given: Mapping[Any, Any] | Iterable[Any], evaluated: Callable[[Any], Evaluation] = open_evaluation, where: str = ""
) -> dict[str, Evaluation]:
    """Return evaluations by the names that a mapping has for them; those of a list have names of their own.

    Parameters
    ----------
    given : mapping, or iterable
        Of evaluations, or of whatever `evaluated` makes one of.
    evaluated : callable
    where : str, default ""
        For the error, if two have one name.
    """
    if isinstance(given, Mapping):
        pairs: Iterable[tuple[Any, Any]] = given.items()
    else:
        pairs = [(None, one) for one in as_list("evaluations", given, "a dict {name: evaluation}, or a list of them")]
    made = [(name, evaluated(one)) for name, one in pairs]
    return by_name(((one.name if name is None else name, one) for name, one in made), where)


def shared_measures(measures: Sequence[tuple[str, Mapping[str, str]]]) -> list[str]:
    """Return the notations of the measures that all evaluations have; raise an error if there is none.

    Parameters
    ----------
    measures : sequence of (str, mapping of str to str)
        The name of each evaluation, and by the notations of its measures the names by which they were asked for.
    """
    (_, first), *others = measures
    shared = [notation for notation in first if all(notation in labels for _, labels in others)]
    if not shared:
        held = group_values((", ".join(labels.values()), name) for name, labels in measures)
        told = [f"{labels} of {names[0]}" for labels, names in held.items()]
        raise DataError("the evaluations have no measure in common", found=format_list(told, between="; "))
    return shared
