"""The steps of a history brought together: under one kind of judgments, the same weights and the same judgments."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from deadheat.core.data.changes import compare_judgments
from deadheat.core.data.queries import Queries
from deadheat.core.data.sources import Source
from deadheat.core.errors import DataError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.open_evaluations import open_evaluation, shared_measures
from deadheat.core.evaluation.query_columns import Weights, source_of_weights
from deadheat.core.evaluation.reconciling import check_conventions, check_judged, reconcile
from deadheat.core.evaluation.shared_weights import SharedWeights, have_same_weights, weigh_as
from deadheat.core.kernels.weighting import are_equal
from deadheat.plugins.weeks.steps import Step, labels_of, names_of_steps, places_before, read_step


def select_alike(steps: Sequence[Step], reference: str | None, notes: list[str]) -> tuple[list[Step], list[str]]:
    """Return the steps that can be compared with the last, and the measures that all of these have."""
    last, *earlier = reversed(steps)
    is_any = any(one.unanswerable for one in steps)
    labels = labels_of(last)
    alike, shared, errors = [last], list(last.means), dict[str | None, DataError]()
    for one in earlier:
        try:
            check_judged((one.name, last.name), (one.judged, last.judged))
            check_conventions((one.name, last.name), (one.conventions, last.conventions), is_any=is_any)
            shared = shared_measures([(last.name, {name: labels[name] for name in shared}), (one.name, labels_of(one))])
        except DataError as error:
            errors[one.file] = error
        else:
            alike.insert(0, one)
    if reference in errors or len(errors) == len(earlier) > 0:
        raise errors.get(reference) or errors[earlier[0].file]
    notes += [f"{file} left out: {error}" for file, error in errors.items()]
    left_out: dict[str, str] = {}
    for step in alike:
        left_out |= {notation: label for notation, label in labels_of(step).items() if notation not in shared}
    if left_out:
        notes.append(f"not in all evaluations, and left out: {', '.join(left_out.values())}")
    return alike, shared


def weigh_steps(
    steps: Sequence[Step],
    given: dict[str, Evaluation | str | Path],
    weights: Weights | None,
    queries: Source | None,
) -> list[Step]:
    """Return steps with these weights, and put their evaluations into `given`; without weights steps as they are."""
    if weights is None and queries is None:
        return list(steps)
    table = queries
    if isinstance(weights, str) and queries is not None:
        table = Queries.of(queries, [weights])  # it is read once
    weighted_steps: list[Step] = []
    for step in steps:
        evaluation = open_evaluation(given[step.file]).weighted(weights, table)
        given[step.file] = evaluation
        weighted_steps.append(read_step(step.file, evaluation, step.origin))
    return weighted_steps


def share_weights_of_steps(
    steps: Sequence[Step], given: dict[str, Evaluation | str | Path], reference: str | None, notes: list[str]
) -> list[Step]:
    """Return the steps with the weights of the last one, and put their evaluations into `given`.

    Where a value that they need was not kept, a step is left out; the reference cannot be.
    """
    last = steps[-1]
    own = (last.query_ids, last.weights)
    if all(have_same_weights((step.query_ids, step.weights), own) for step in steps):
        return list(steps)
    newest = open_evaluation(given[last.file])
    shared: list[Step] = []
    left_out: dict[str, tuple[str, ...]] = {}
    for name, step in zip(names_of_steps(steps), steps, strict=True):
        if have_same_weights((step.query_ids, step.weights), own):
            shared.append(step)
            continue
        try:
            evaluation, left_out[name] = weigh_as(open_evaluation(given[step.file]), newest)
        except DataError as error:
            if step.file == reference or len(steps) == 2:
                raise
            notes.append(f"{step.file} left out: {error}")
            continue
        given[step.file] = evaluation
        shared.append(read_step(step.file, evaluation, step.origin))
    if left_out:
        shared_weights = SharedWeights(
            reference=names_of_steps(steps)[-1],
            source=source_of_weights(newest.notes),
            are_equal=are_equal(last.weights),
            reweighted=tuple(left_out),
            left_out=left_out,
        )
        notes.append(f"weights: {shared_weights.describe()}")
    return shared


def reconcile_steps(
    steps: Sequence[Step], sources: Sequence[Evaluation | str | Path], judgments: str | None, notes: list[str]
) -> list[Step]:
    """Return the steps under judgments that make them comparable, where that can be."""
    if len({step.qrels_hash for step in steps}) == 1:
        return list(steps)
    evaluations = [open_evaluation(source) for source in sources]
    steps = _note_changes(steps, evaluations)
    names = names_of_steps(steps)
    try:
        reconciled_evaluations, how = reconcile(dict(zip(names, evaluations, strict=True)), judgments, are_pairs=True)
    except DataError as error:
        if judgments is not None:
            raise
        notes.append(f"judgments changed, and values are not comparable across that: {error}")
        newest = steps[-1].qrels_hash
        return [replace(step, is_comparable=step.qrels_hash == newest) for step in steps]
    if how is not None:
        notes += [f"judgments: {line}" for line in how.describe()[len(how.changes) :]]
    reconciled_steps: list[Step] = []
    for name, step in zip(names, steps, strict=True):
        reconciled_step = read_step(step.file, reconciled_evaluations[name], step.origin)
        reconciled_steps.append(replace(reconciled_step, changed=step.changed))
    return reconciled_steps


def _note_changes(steps: Sequence[Step], evaluations: Sequence[Evaluation]) -> list[Step]:
    """Return steps with what changed in the judgments since the step before each."""
    changed_steps: list[Step] = []
    for step, evaluation, place_before in zip(steps, evaluations, places_before(steps), strict=True):
        if place_before is None:
            changed_steps.append(step)
        else:
            changed_steps.append(replace(step, changed=_describe_changes(evaluations[place_before], evaluation)))
    return changed_steps


def _describe_changes(old: Evaluation, new: Evaluation) -> str:
    """Return what differs between the judgments of two evaluations; empty if nothing does."""
    if old.qrels_hash == new.qrels_hash:
        return ""
    return str(compare_judgments(old.qrels, new.qrels))
