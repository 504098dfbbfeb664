"""Results of models on tasks that evaluations hold."""

from collections.abc import Mapping, Sequence

import numpy as np

from deadheat.core.arrays import FloatArray, TextArray, align_values
from deadheat.core.errors import DataError, MeasureError, ParameterError
from deadheat.core.evaluation.evaluation import UNKNOWN, Evaluation
from deadheat.core.evaluation.open_evaluations import shared_measures
from deadheat.core.evaluation.reconciling import check_conventions, check_weights
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.together import check_use
from deadheat.core.kernels.weighting import are_equal, effective_number
from deadheat.core.measures.notation import MeasureLike
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.leaderboard.results import Task, TaskResults, find_complete_queries


def read_evaluations(tasks: Mapping[str, Mapping[str, Evaluation]], measure: MeasureLike | None) -> TaskResults:
    """Return the results of evaluations by a measure that all have.

    Parameters
    ----------
    tasks : mapping of str to mapping of str to Evaluation
        By task and model.
    measure : measure, optional
        By default the first that all have.

    Raises
    ------
    DataError
        The evaluations of a task are under different judgments or conventions, or lack the measure.
    ParameterError
        The measure is not a mean over queries.
    """
    evaluations: list[Evaluation] = []
    for by_model in tasks.values():
        evaluations += by_model.values()
    check_use("leaderboard", evaluations)
    chosen_measure: MeasureLike = _find_shared_measure(tasks) if measure is None else measure
    notes = _describe_conventions(evaluations)
    results = []
    for task, by_model in tasks.items():
        scores = _find_scores(task, by_model, chosen_measure)
        notes += _describe_missing(task, by_model)
        results.append(_make_task(task, scores, notes))
    first_measure = evaluations[0][chosen_measure].measure
    return TaskResults(tuple(results), str(first_measure.label), first_measure.higher_is_better, tuple(notes))


def _find_shared_measure(tasks: Mapping[str, Mapping[str, Evaluation]]) -> str:
    """Return the first measure that all evaluations have."""
    measures = []
    for task, by_model in tasks.items():
        for model, evaluation in by_model.items():
            label_by_notation = {str(measure): measure.label for measure in evaluation.measures}
            measures.append((f"{model} on {task}", label_by_notation))
    return shared_measures(measures)[0]


def _describe_conventions(evaluations: Sequence[Evaluation]) -> list[str]:
    """Return notes on evaluations without rankings, and on excluded documents."""
    without_rankings: dict[str, None] = {}  # a set that keeps the order
    exclusions: dict[str, None] = {}
    for evaluation in evaluations:
        if evaluation.ties == UNKNOWN:
            without_rankings[evaluation.name] = None
        if evaluation.conventions.exclude is not None:
            exclusions[evaluation.conventions.exclude] = None
    notes = []
    if without_rankings:
        names = format_list(list(without_rankings))
        notes.append(f"what ties make of values is not known without rankings: {names}")
    if exclusions:
        notes.append(f"documents excluded: {format_list(list(exclusions))}")
    return notes


def _find_scores(task: str, evaluations: Mapping[str, Evaluation], measure: MeasureLike) -> dict[str, Scores]:
    """Return the scores of each model on a task; raise where they cannot be compared."""
    if len({evaluation.qrels_hash for evaluation in evaluations.values()}) > 1:
        raise DataError(
            f"the evaluations of task {task} are under different judgments",
            hint="evaluate all under the same: deadheat rescore",
        )
    _check_alike(task, evaluations)
    try:
        scores = {model: evaluation[measure] for model, evaluation in evaluations.items()}
    except MeasureError as error:
        raise DataError(f"task {task}: {error}") from error
    first_measure = next(iter(scores.values())).measure
    if first_measure.geometric or first_measure.total:
        raise ParameterError(
            argument="measure", given=str(first_measure), allowed="a measure that is a mean over queries"
        )
    return scores


def _check_alike(task: str, evaluations: Mapping[str, Evaluation]) -> None:
    """Raise an error if the evaluations of a task have different conventions or weights."""
    (first_model, first), *others = evaluations.items()
    is_any_unanswerable = any(evaluation.unanswerable for evaluation in evaluations.values())
    for model, other in others:
        names = (f"{first_model} on {task}", f"{model} on {task}")
        conventions = (vars(first.conventions), vars(other.conventions))
        check_conventions(names, conventions, is_any=is_any_unanswerable)
        check_weights(names, (first.query_ids, first.weights), (other.query_ids, other.weights))


def _describe_missing(task: str, evaluations: Mapping[str, Evaluation]) -> list[str]:
    """Return a note on queries without a ranking that count as empty ones, if there are some."""
    counts = []
    for model, evaluation in evaluations.items():
        n_missing = len(evaluation.missing_queries)
        if n_missing and evaluation.conventions.missing == "empty":
            counts.append(f"{model} {n_missing:,}")
    if not counts:
        return []
    return [f"queries of {task} that lack a ranking count as empty ones: {format_list(counts)}"]


def _make_task(name: str, scores: Mapping[str, Scores], notes: list[str]) -> Task:
    """Return a task with the queries that have a value of every model; what is left out is added to the notes."""
    all_query_ids: set[str] = set()
    for model_scores in scores.values():
        all_query_ids.update(model_scores.query_ids.tolist())
    query_ids: TextArray = np.array(sorted(all_query_ids), object)
    values = _stack_columns(scores, "values", query_ids)
    is_complete = find_complete_queries(name, list(scores), values, notes)
    first = next(iter(scores.values()))  # all have the same weights
    weights = None
    if first.weights is not None:
        weights = align_values(first.weights, first.query_ids, query_ids)[is_complete]
    if weights is not None and not are_equal(weights):
        n_queries = format_count(int(is_complete.sum()), "query is", "queries are")
        worth = f"{n_queries} worth {effective_number(weights):.1f} of equal weight"
        notes.append(f"means of {name} are weighted: {worth}")
    tie_min = _stack_columns(scores, "tie_min", query_ids)[is_complete]
    tie_max = _stack_columns(scores, "tie_max", query_ids)[is_complete]
    return Task(
        name,
        tuple(scores),
        values[is_complete],
        weights,
        np.average(tie_min, axis=0, weights=weights),
        np.average(tie_max, axis=0, weights=weights),
    )


def _stack_columns(scores: Mapping[str, Scores], attribute: str, query_ids: TextArray) -> FloatArray:
    """Return an attribute of the scores, such as "values", of shape (n_queries, n_models); NaN for a missing query."""
    columns = []
    for model_scores in scores.values():
        columns.append(align_values(getattr(model_scores, attribute), model_scores.query_ids, query_ids))
    return np.column_stack(columns)
