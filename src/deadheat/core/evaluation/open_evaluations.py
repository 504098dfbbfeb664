"""Evaluations that are given as such, by the paths of saved ones, or several of them by name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from deadheat.core import hooks
from deadheat.core.checks import as_list, name_items
from deadheat.core.data.sources import Source, as_path
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.measures.notation import MeasureLike
from deadheat.core.phases import phase
from deadheat.core.structures import group_values
from deadheat.core.wording import format_list


def load_evaluation(path: Source, *, system: str | None = None) -> Evaluation:
    """Read an evaluation that :meth:`Evaluation.save` wrote, or values that another tool computed.

    Of a saved one scores, means, tie statistics, intervals and placements are those of the original. A `Custom` measure
    keeps its name and its scores, but not its function. Of values of another tool neither rankings nor ties are known.

    Parameters
    ----------
    path : path, dict of dict, frame, or iterable
        Of the JSON file that was saved. Or values by query: what ``trec_eval -q`` or ``ir_measures -q`` printed, a
        file or frame with the columns query_id, measure and value, a dict ``{query: {measure: value}}`` as of
        pytrec_eval, or what ``ir_measures.iter_calc`` returned.
    system : str, optional
        The system whose values to take, of a table that has a column system with several.

    Returns
    -------
    Evaluation

    Raises
    ------
    DataError
        The file is missing, damaged or changed, or was written by a newer deadheat; or a value is no number.
    ParameterError
        There are several systems, or none of this name.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from deadheat import evaluate
    >>> with TemporaryDirectory() as folder:
    ...     path = evaluate({"q1": {"a": 1}}, {"q1": {"a": 1, "b": 1}}, "RR").save(f"{folder}/bm25.json")
    ...     load_evaluation(path).means()
    {'RR': 0.75}
    >>> load_evaluation({"q1": {"map": 0.5, "P_5": 0.2}, "q2": {"map": 1.0, "P_5": 0.4}}).means()
    {'AP': 0.75, 'P@5': 0.30000000000000004}
    """
    from deadheat.core.evaluation.read_saved import parts_in
    from deadheat.core.evaluation.saved import SAVED  # few evaluations are loaded

    module = _module_with_values(path)
    if module is not None:
        return _of_system(module.read_values(path), system)
    if system is not None:
        raise ParameterError(argument="system", given=system, allowed="left out: the file is a saved evaluation")
    saved = cast("str | Path", path)
    with phase(f"reading {Path(saved).name}"):
        scores, parts = SAVED.read(saved, parts_in)
    return Evaluation(scores, **parts)


def _module_with_values(source: Source) -> ModuleType | None:
    """Return what reads values that another tool computed; None of a file that holds none."""
    path = as_path(source)
    for module in hooks.load("values"):
        if path is None or module.is_values(path):
            return module
    missing = hooks.list_missing_plugins("values")
    if path is None and missing:
        raise hooks.missing_plugin("values that another tool computed", missing[0])
    return None


def _of_system(evaluations: Mapping[str, Evaluation], system: str | None) -> Evaluation:
    """Return the evaluation of a system, or the only one."""
    if system is None and len(evaluations) == 1:
        return next(iter(evaluations.values()))
    if system is None or system not in evaluations:
        raise ParameterError(argument="system", given=system, allowed=[*evaluations])
    return evaluations[system]


def load_each(named: Mapping[str, str | Path]) -> dict[str, Evaluation]:
    """Return the evaluations in files, by the names of these; of a file with several systems, by those of the systems.

    Raises
    ------
    DuplicateError
        Two have one name.
    """
    found: list[tuple[str, Evaluation]] = []
    for name, path in named.items():
        module = _module_with_values(path)
        systems = {} if module is None else module.read_values(path)
        if len(systems) > 1:
            found += systems.items()
        else:
            own = next(iter(systems.values())) if systems else load_evaluation(path)
            found.append((name, own.called(name)))
    return name_items(found, "")


def with_measures(evaluation: Evaluation, measures: Iterable[MeasureLike]) -> Evaluation:
    """Return an evaluation with some of its measures alone, in the order in which they are asked for.

    Raises
    ------
    UnknownMeasureError
        A measure is not in it.

    Examples
    --------
    >>> evaluation = load_evaluation({"q1": {"map": 0.5, "P_5": 0.2, "BLEU": 0.7}})
    >>> with_measures(evaluation, ["P@5", "BLEU"]).means()
    {'P@5': 0.2, 'BLEU': 0.7}
    """
    chosen = {}
    for measure in measures:
        scores = evaluation[measure]
        chosen[scores.measure] = scores
    return Evaluation(chosen.values(), **evaluation.parts())


def is_evaluation(path: str | Path) -> bool:
    """Tell whether a file is a saved evaluation, or holds values that another tool computed."""
    from deadheat.core.evaluation.saved import is_saved

    return is_saved(path) or any(module.is_values(Path(path)) for module in hooks.load("values"))


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
    return name_items(((one.name if name is None else name, one) for name, one in made), where)


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
