"""Leaderboards over tasks, languages, agreement of runs and of orders."""

from __future__ import annotations

from typing import Any

import deadheat as dh
from golden.data import GRADED_RUN, LANGUAGES, QRELS, RUNS, draw_run
from golden.entries import entry
from golden.plain import Numbers
from golden.results import sum_of

SOURCES: dict[str, tuple[str, Numbers]] = {
    "values": ("results.csv", {}),
    "bounds": ("results.csv", {"missing": "bounds"}),
    "without the task": ("results.csv", {"missing": "drop-task"}),
    "without the model": ("results.csv", {"missing": "drop-model"}),
    "groups and weights": ("results.csv", {"groups": "groups.csv", "weights": "task-weights.csv"}),
    "queries": ("results-by-query.csv", {"tasks": "fixed"}),
    "queries of random tasks": ("results-by-query.csv", {"tasks": "random"}),
    "runs": ("tasks", {"measure": "nDCG@3"}),
}
LANGUAGE_OF = {row["query_id"]: row["language"] for row in LANGUAGES}


@entry(SOURCES)
def leaderboard(source: tuple[str, Numbers]) -> Numbers:
    path, options = source
    found = dh.leaderboard(path, n_resamples=499, **options)
    return {"rows": found.rows(), "tasks": found.task_values(), "intervals": found.intervals()}


@entry()
def leaderboard_without_a_task() -> object:
    return dh.leaderboard("results-by-query.csv", n_resamples=499).leave_one_out()


def of_languages() -> dict[str, dict[str, dh.Evaluation]]:
    """Evaluate two systems in two languages, query by query the same questions."""
    evaluations: dict[str, dict[str, dh.Evaluation]] = {}
    for seed, language in enumerate(("de", "en", "fr")):
        evaluations[language] = {}
        for place, name in enumerate(("weak", "good")):
            run = draw_run(80 + 10 * seed + place, QRELS, 4, 0.4 + seed / 2 + place / 2)
            evaluations[language][name] = dh.evaluate(QRELS, run, "RR")
    return evaluations


@entry(["t", "wilcoxon", "randomization"])
def languages(test: str) -> Numbers:
    found = dh.compare_languages(of_languages(), test=test, n_resamples=499)
    return {"differences": found.differences_to_polars(), "interactions": found.interactions_to_polars()}


@entry()
def languages_with_margin() -> Numbers:
    found = dh.compare_languages(of_languages(), test="t", baseline="weak")
    return {"differences": found.differences_to_polars(0.1), "flat": found.to_flat()}


@entry()
def languages_of_queries() -> Numbers:
    """Pairs of queries, each in one language."""
    evaluations = {name: dh.evaluate(QRELS, run, "RR") for name, run in RUNS.items()}
    strata = {name: evaluation.by("language", LANGUAGES) for name, evaluation in evaluations.items()}
    return {name: {str(key): part.means() for key, part in parts.items()} for name, parts in strata.items()}


@entry({"plain": {}, "deep": {"p": 0.98, "cutoff": 3}, "rounded": {"score_precision": 0}})
def agreement(options: Numbers) -> Numbers:
    found = dh.agree(RUNS["weak"], RUNS["good"], **options)
    return agreement_in(found)


def agreement_in(found: dh.Agreement) -> Numbers:
    """Return the means of each statistic, and a sum over queries."""
    result: Numbers = {"means": found.means()}
    for name in ("values", "low", "high"):
        result[name] = {key: sum_of(values) for key, values in getattr(found, name).items()}
    return result


@entry()
def agreement_of_ties() -> Numbers:
    found = dh.agree(GRADED_RUN, draw_run(90, GRADED_RUN, 2, 0.0))
    return agreement_in(found)


@entry()
def agreement_of_systems() -> Numbers:
    """Two orders of the same systems."""
    orders: list[Any] = []
    for policy in ("expected", "worst"):
        orders.append({name: dh.evaluate(QRELS, run, ["RR", "nDCG@3"], ties=policy) for name, run in RUNS.items()})
    found = dh.agree_systems(*orders)
    return {"table": found.to_polars(), "flat": found.to_flat()}
