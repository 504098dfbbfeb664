"""The steps of a history: what is read of each saved evaluation, and in which order they follow each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from deadheat.core.arrays import FloatArray, TextArray
from deadheat.core.data.judging import find_kind_of_qrels
from deadheat.core.data.kind_of_judgments import KindOfJudgments
from deadheat.core.errors import DataError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.open_evaluations import open_evaluation
from deadheat.core.evaluation.origin import Origin
from deadheat.core.evaluation.packed_tables import NUMBERS
from deadheat.core.evaluation.parts import ScorePart
from deadheat.core.evaluation.saved import SAVED, is_saved, stated
from deadheat.core.measures.selection import ByMeasure
from deadheat.core.structures import T
from deadheat.plugins.weeks.saved_steps import summary_in


@dataclass(frozen=True, eq=False)
class Step:
    """One evaluation of a history: what files hold of it, with values and means under the judgments of the history.

    Attributes
    ----------
    name : str
        Of the system.
    qrels_hash : str
        Of the judgments that the values are under.
    origin : Origin
        Time, label and commit.
    conventions : dict
        As written.
    judged : KindOfJudgments
        What the judgments are of.
    unanswerable : tuple of str
        The queries that the judgments say no document answers.
    query_ids : ndarray of str, shape (n_queries,)
    weights : ndarray of shape (n_queries,), or None
        Of the queries.
    values : dict of str to ndarray of shape (n_queries,)
        By measure, as the last evaluation was asked for it; NaN where a query has no value.
    ties : dict of str to dict of str to ndarray of shape (n_queries,)
        By measure: tie_mean, tie_std, tie_min, tie_max, and standard_error where the moments are sampled.
    means : dict of str to dict
        Of each measure: mean, low, high, known, unknown, tie_min, tie_max, n_queries and other numbers.
    parts : dict of str to mapping of str to ScorePart
        What features know of its scores, by measure and key.
    file : str
        Its path; of one that was given as such its name.
    changed : str
        What is different in its own judgments from those of the step before; empty if nothing is.
    is_comparable : bool
        Whether its values are under the same judgments as those of the last step.
    """

    name: str
    qrels_hash: str
    origin: Origin
    conventions: Mapping[str, object]
    judged: KindOfJudgments
    unanswerable: tuple[str, ...]
    query_ids: TextArray
    weights: FloatArray | None = field(repr=False)
    values: dict[str, FloatArray] = field(repr=False)
    ties: dict[str, dict[str, FloatArray]] = field(repr=False)
    means: dict[str, dict[str, Any]] = field(repr=False)
    parts: dict[str, Mapping[str, ScorePart]] = field(repr=False)
    file: str
    changed: str = ""
    is_comparable: bool = True


def names_of_steps(steps: Sequence[Step]) -> list[str]:
    """Return what steps are called: by their labels, if they have one; numbered where several have one name."""
    called = [step.origin.label or step.name for step in steps]
    return [name if called.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(called, start=1)]


def read_step_or_error(file: str, given: Evaluation | str | Path, now: Origin) -> Step | DataError:
    """Return the step of an evaluation, or the error of a file that is damaged."""
    try:
        return read_step(file, given, now)
    except DataError as error:
        return error


def read_step(file: str, given: Evaluation | str | Path, now: Origin) -> Step:
    """Return the step of an evaluation; of one that was not saved the origin is `now`."""
    if not isinstance(given, Evaluation):
        if is_saved(given):
            return Step(**SAVED.read(given, summary_in), file=file)
        given = open_evaluation(given)
    return Step(
        given.name,
        given.qrels_hash,
        given.origin or now,
        vars(given.conventions),
        find_kind_of_qrels(given.qrels),
        given.unanswerable,
        given.query_ids,
        given.weights,
        {str(one.measure): one.values for one in given},
        {str(one.measure): {name: getattr(one, name) for name in NUMBERS} for one in given},
        {str(one.measure): {"label": one.measure.label, **stated(one, one.interval())} for one in given},
        {str(one.measure): one.parts for one in given},
        file,
    )


def with_labels(step: Step, labels: Mapping[str, str]) -> Step:
    """Return a step whose measures have the names by which the last evaluation was asked for them.

    Parameters
    ----------
    step : Step
        By the notations of measures.
    labels : mapping of str to str
        The name of each notation; other measures keep the names by which this step was asked for them.
    """
    names = {notation: labels.get(notation, means["label"]) for notation, means in step.means.items()}

    def renamed(by_notation: Mapping[str, T]) -> dict[str, T]:
        return ByMeasure({names[notation]: value for notation, value in by_notation.items()})

    return replace(
        step,
        values=renamed(step.values),
        ties=renamed(step.ties),
        means=renamed(step.means),
        parts=renamed(step.parts),
    )


def labels_of(step: Step) -> dict[str, str]:
    """Return the names by which measures were asked for, by their notations."""
    return {notation: means["label"] for notation, means in step.means.items()}


def places_before(steps: Sequence[Step]) -> tuple[int | None, ...]:
    """Return the place of the step before each: of its system's last one, if a system comes again after others."""
    names = [one.name for one in steps]
    is_one = len(set(names)) == len([*groupby(names)])
    return tuple(
        next((place for place in reversed(range(n)) if is_one or names[place] == name), None)
        for n, name in enumerate(names)
    )
