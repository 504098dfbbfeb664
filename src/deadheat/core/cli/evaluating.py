"""Evaluating what commands are given: runs by their files, and systems of several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import deadheat as dh
from deadheat.core.cli.inputs import changed_run, checked_run, open_pairs, open_run
from deadheat.core.cli.judged import judgments_asked
from deadheat.core.cli.paths import asked, label
from deadheat.core.cli.read_options import measures_under
from deadheat.core.random_generators import Rng
from deadheat.core.settings import Conventions

if TYPE_CHECKING:
    from deadheat.core.arrays import FloatArray
    from deadheat.core.cli.evaluators import EvaluatorOption
    from deadheat.core.evaluation.systems import System
    from deadheat.core.measures import Measure


def evaluate_systems(
    qrels: str | dh.Qrels, systems: Mapping[str, System], measures: Sequence[Measure], conventions: Conventions
) -> dict[str, dh.Evaluation]:
    """Return the evaluation of each system of several runs, by its name.

    The judgments are read and checked; or they are the file of an option that judges each run by itself.
    """
    from deadheat.core.evaluation.evaluate_runs import evaluate_under

    if isinstance(qrels, dh.Qrels):
        measures = measures_under(qrels, measures)
    own = replace(conventions, missing="empty") if conventions.missing == "skip" else conventions
    option = judgments_asked()
    of_each = None if option is None else option.open(str(qrels))
    found = {}
    for name, system in systems.items():
        evaluations = []
        for given in system.runs:
            if of_each is not None:
                judgments, run = of_each.judge(given, ascending=bool(asked()["ascending"]))
            elif isinstance(given, str):
                judgments, run = cast("dh.Qrels", qrels), open_run(given, label(given))
            else:
                judgments, run = cast("dh.Qrels", qrels), changed_run(checked_run(dh.Run.of(given)))
            evaluations.append(evaluate_under(own, judgments, run, measures))
        found[name] = system.together(evaluations, conventions.missing)
    return found


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
) -> Iterator[tuple[dh.Qrels, dh.Run, dh.Evaluation, list[FloatArray]]]:
    """Yield the judgments of each run, the run, its evaluation, and its values with ties broken by a rule.

    The judgments are read and checked once, unless each run has its own; `form` is the format of the runs, if that is
    known, and `evaluator` the option with whose file they are evaluated.
    """
    from deadheat.core.evaluation.evaluate_runs import evaluate_many
    from deadheat.core.evaluation.warned import warn_of_form

    evaluate_runs = evaluate_many if evaluator is None else evaluator.read(asked()[evaluator.name])
    for judgments, opened in open_pairs(qrels, runs, form=form):
        chosen = measures_under(judgments, measures)
        each = evaluate_runs(conventions, judgments, opened, chosen, [seed] * len(opened), rule=rule)
        for run, (evaluation, by_rule) in zip(opened, each, strict=True):
            warn_of_form(evaluation, judgments, run)
            yield judgments, run, evaluation, by_rule
