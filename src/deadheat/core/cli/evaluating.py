"""Evaluating what commands are given: runs by their files, and systems of several runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import deadheat as dh
from deadheat.core.cli.inputs import changed_run, checked_run, open_pairs, open_qrels, open_run
from deadheat.core.cli.judged import judgments_asked
from deadheat.core.cli.paths import asked, label
from deadheat.core.cli.read_options import measures_under
from deadheat.core.phases import phase
from deadheat.core.random_generators import Rng
from deadheat.core.settings import Conventions

if TYPE_CHECKING:
    from deadheat.core.arrays import FloatArray
    from deadheat.core.cli.evaluators import EvaluatorOption
    from deadheat.core.data.sources import Source
    from deadheat.core.evaluation.systems import System
    from deadheat.core.measures import Measure


@dataclass(frozen=True)
class EvaluationTask:
    """What `deadheat evaluate` evaluates, and how.

    Attributes
    ----------
    qrels : str
        The file of the judgments.
    runs : mapping of str to str
        The file of each run, by its name.
    systems : mapping of str to System
        Systems of several runs, by their names.
    form : str or None
        The format of the runs, if that is known.
    measures : sequence of Measure
    conventions : Conventions
    seed : int or None
        Of ``ties="random"``.
    rule : str or None
        Which breaks ties beside the exact values.
    evaluator : EvaluatorOption or None
        The option with whose file runs are evaluated.
    save_depth : int
        To which rank rankings stay in memory, to be saved.
    """

    qrels: str
    runs: Mapping[str, str]
    systems: Mapping[str, System]
    form: str | None
    measures: Sequence[Measure]
    conventions: Conventions
    seed: int | None
    rule: str | None
    evaluator: EvaluatorOption | None
    save_depth: int


@dataclass(frozen=True)
class Evaluated:
    """The evaluation of each run, and by its name what else there is of it.

    Attributes
    ----------
    evaluations : sequence of Evaluation
    by_rule : dict of str to Evaluation
        With ties broken by a rule, if there is one.
    unmatched : dict of str to (str, str)
        Of a run without a judged document one of its documents and one of the qrels.
    """

    evaluations: Sequence[dh.Evaluation]
    by_rule: dict[str, dh.Evaluation]
    unmatched: dict[str, tuple[str, str]]


@dataclass(frozen=True)
class EvaluatedRun:
    """A run and its evaluation.

    Attributes
    ----------
    judgments : Qrels
        Of all runs, or of this one where each has its own.
    run : Run
    evaluation : Evaluation
    values_by_rule : list of ndarray of float
        For each measure the values of queries with ties broken by a rule; empty without one.
    """

    judgments: dh.Qrels
    run: dh.Run
    evaluation: dh.Evaluation
    values_by_rule: list[FloatArray]


def evaluate_task(task: EvaluationTask) -> Evaluated:
    """Return the evaluation of each run. The qrels are read and checked once."""
    from deadheat.core.evaluation.rule_difference import traditional

    evaluations: list[dh.Evaluation] = []
    by_rule: dict[str, dh.Evaluation] = {}
    unmatched: dict[str, tuple[str, str]] = {}
    is_read_once = bool(task.systems) and judgments_asked() is None
    judgments = open_qrels(task.qrels) if is_read_once else task.qrels
    evaluated_runs = evaluate_each(
        judgments,
        task.runs,
        task.conventions,
        task.measures,
        seed=task.seed,
        rule=task.rule,
        form=task.form,
        evaluator=task.evaluator,
    )
    with phase("evaluating runs", len(task.runs)) as advance:
        for evaluated in evaluated_runs:
            evaluation = evaluated.evaluation
            name = evaluated.run.name
            evaluations.append(evaluation.keeping(task.save_depth))
            if task.rule:
                by_rule[name] = traditional(evaluation, evaluated.values_by_rule, task.rule).keeping(0)
            if evaluation.placements.is_unmatched:
                unmatched[name] = _pick_documents(evaluated)
            advance(1)
    if task.systems:
        evaluations += evaluate_systems(judgments, task.systems, task.measures, task.conventions).values()
    return Evaluated(evaluations, by_rule, unmatched)


def _pick_documents(evaluated: EvaluatedRun) -> tuple[str, str]:
    """Return a retrieved document and a judged one, to show how ids are written; of one query if there is such."""
    evaluation = evaluated.evaluation
    retrieved_rows = evaluated.run.rows
    judged_rows = evaluated.judgments.rows
    retrieved = evaluation.query_ids[evaluation.placements.n_retrieved > 0].tolist()
    judged = {*evaluation.query_ids[evaluation.placements.judged_query].tolist()}
    shared = next((query for query in retrieved if query in judged), None)
    if shared is None:
        return retrieved_rows.pick_document(retrieved[0]), judged_rows.sample_documents(1)[0]
    return retrieved_rows.pick_document(shared), judged_rows.pick_document(shared)


def evaluate_systems(
    qrels: str | dh.Qrels, systems: Mapping[str, System], measures: Sequence[Measure], conventions: Conventions
) -> dict[str, dh.Evaluation]:
    """Return the evaluation of each system of several runs, by its name.

    The judgments are read and checked; or they are the file of an option that judges each run by itself.
    """
    from deadheat.core.evaluation.evaluate_runs import evaluate_under

    if isinstance(qrels, dh.Qrels):
        measures = measures_under(qrels, measures)
    conventions_of_runs = conventions
    if conventions.missing == "skip":  # the system says what becomes of a query that some of its runs lack
        conventions_of_runs = replace(conventions, missing="empty")
    option = judgments_asked()
    judging = None if option is None else option.open(str(qrels))
    evaluations_of_systems = {}
    for name, system in systems.items():
        evaluations = []
        for given in system.runs:
            if judging is not None:
                judgments, run = judging.judge(given, ascending=bool(asked()["ascending"]))
            else:
                judgments = cast("dh.Qrels", qrels)
                run = _open_run_of_system(given)
            evaluations.append(evaluate_under(conventions_of_runs, judgments, run, measures))
        evaluations_of_systems[name] = system.together(evaluations, conventions.missing)
    return evaluations_of_systems


def _open_run_of_system(given: Source) -> dh.Run:
    """Return a run of a system, which is a file or rows, checked and changed as the options say."""
    if isinstance(given, str):
        return open_run(given, label(given))
    return changed_run(checked_run(dh.Run.of(given)))


def evaluate_each(
    qrels: str | dh.Qrels,
    runs: Mapping[str, str],
    conventions: Conventions,
    measures: Sequence[Measure],
    *,
    seed: Rng = None,
    rule: str | None = None,
    form: str | None = None,
    evaluator: EvaluatorOption | None = None,
) -> Iterator[EvaluatedRun]:
    """Yield each run with its evaluation.

    The judgments are read and checked once, unless each run has its own; `form` is the format of the runs, if that is
    known, and `evaluator` the option with whose file they are evaluated.
    """
    from deadheat.core.evaluation.evaluate_runs import evaluate_many
    from deadheat.core.evaluation.warned import warn_of_form

    evaluate_runs = evaluate_many if evaluator is None else evaluator.read(asked()[evaluator.name])
    for judgments, opened in open_pairs(qrels, runs, form=form):
        chosen = measures_under(judgments, measures)
        evaluated = evaluate_runs(conventions, judgments, opened, chosen, [seed] * len(opened), rule=rule)
        for run, (evaluation, values_by_rule) in zip(opened, evaluated, strict=True):
            warn_of_form(evaluation, judgments, run)
            yield EvaluatedRun(judgments, run, evaluation, values_by_rule)
