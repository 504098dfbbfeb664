"""Each use of a result, with each feature that it may have: the numbers of an oracle, or a refusal that is declared."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
import scipy.stats

import deadheat as dh
from deadheat.core.evaluation.together import Asked as Declared, feature_named, go_together
from deadheat.errors import DataError, ParameterError
from oracle.evaluations import Answers, answers_to, mean_of
from support.features import HUMAN, LACKING, MORE, NO_SHARES, TRIED, Asked, asked_with, drawn_labels, drawn_run

if TYPE_CHECKING:
    from pathlib import Path

LEVELS = {query: "hard" if place % 3 else "easy" for place, query in enumerate((*HUMAN, *MORE))}
QUERIES = pl.DataFrame({"query_id": list(LEVELS), "level": list(LEVELS.values())})
CLUSTERS = {query: f"c{place % 7}" for place, query in enumerate((*HUMAN, *MORE))}
NEGLIGIBLE = 1e-6
Use = Callable[["Case"], None]
USES: dict[str, Use] = {}


@dataclass(frozen=True)
class Case:
    """A question with one feature, and what deadheat says."""

    asked: Asked
    evaluation: dh.Evaluation


def use(check: Use) -> Use:
    """Add a use: a function, called as the feature that it is, which checks what comes out."""
    USES[check.__name__] = check
    return check


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRIED)
@pytest.mark.filterwarnings("ignore::deadheat.DeadheatWarning")
def test_each_use_is_computed_or_refused(name: str) -> None:
    asked = asked_with(name)
    evaluation = asked.evaluate()
    wrong = [f"{one}: {problem}" for one in USES if (problem := problem_of(one, name, asked, evaluation))]
    assert not wrong, f"{name}\n" + "\n".join(wrong)


def problem_of(one: str, name: str, asked: Asked, evaluation: dh.Evaluation) -> str:
    """Say what is wrong with a use of a result with a feature; empty if it is computed, or refused, as declared."""
    is_declared = are_declared(one.replace("_", " ") if one == "gate_by_strata" else one, name)
    try:
        USES[one](Case(asked, evaluation))
    except (ParameterError, DataError) as error:
        if is_declared:
            return f"declared, and refused: {error}"
        return "" if re.search(TRIED[name].words, str(error)) else f"it is not named: {error}"
    except AssertionError as error:
        return f"wrong: {error}"
    return "" if is_declared else "not declared, and computed"


def are_declared(one: str, name: str) -> bool:
    feature, _, value = TRIED[name].declared.partition("=")
    return not feature or go_together(Declared(feature_named(one)), Declared(feature_named(feature), value or None))


def other_of(asked: Asked) -> Asked:
    """Return the same question of another run, which is one whatever the first is."""
    other = deepcopy(asked)
    run = drawn_run(99)
    other.question.runs = [{query: run[query] for query in asked.question.runs[0]}]
    return other


def both(asked: Asked) -> dict[str, dh.Evaluation]:
    return {"system": asked.evaluate(), "other": other_of(asked).evaluate()}


def compared(asked: Asked) -> dh.Comparison:
    runs = {"system": asked.run(), "other": other_of(asked).run()}
    measures = list(asked.question.measures)
    return dh.compare(asked.qrels(), runs, measures, baseline="other", test="t", correction="none", **asked.arguments())


def check_same(found: dh.Evaluation, expected: dh.Evaluation) -> None:
    rows, others = found.to_polars(), expected.to_polars()
    assert rows.columns == others.columns
    for column in rows.columns:
        if rows[column].dtype != pl.Float64:
            assert rows[column].equals(others[column]), column
        else:
            values, expected_values = (one.fill_null(math.nan).to_numpy() for one in (rows[column], others[column]))
            np.testing.assert_allclose(values, expected_values, atol=1e-9, err_msg=column)
    for label, interval in found.intervals(method="t").items():
        other = expected.intervals(method="t")[label]
        ends, other_ends = ([one.mean, one.low, one.high, one.standard_error] for one in (interval, other))
        np.testing.assert_allclose(ends, other_ends, atol=1e-9, err_msg=f"interval of {label}")


def checked(case: Case) -> str:
    """Return the measure that is looked at where one is enough."""
    measures = case.asked.question.measures
    return "P@2" if "P@2" in measures else next(iter(measures))


@use
def save(case: Case) -> None:
    check_same(dh.load_evaluation(case.evaluation.save("saved.json")), case.evaluation)


@use
def rescore(case: Case) -> None:
    """Under other judgments it is what the run itself is."""
    other = deepcopy(case.asked)
    labels = drawn_labels(11, list(other.question.qrels), 0.7)
    if case.asked.are_spans or case.asked.are_groups:
        labels = {query: {doc: one for doc, one in docs.items() if one > 0} for query, docs in labels.items()}
    other.question.qrels = labels
    if other.question.open_labels is not None:
        other.question.open_labels = {
            query: [doc for doc in docs if doc not in labels[query]]
            for query, docs in other.question.open_labels.items()
        }
    check_same(case.evaluation.rescored(other.qrels()), other.evaluate())


@use
def by(case: Case) -> None:
    """The mean of a stratum is that of its queries."""
    answers = answers_to(case.asked.question)
    for level, part in case.evaluation.by("level", QUERIES).items():
        for measure, of_all in answers.items():
            own = {query: one for query, one in of_all.items() if LEVELS[query] == level}
            scores = part[measure]
            assert set(scores.query_ids.tolist()) == set(own)
            if case.asked.question.ties == "random":
                continue
            has_judge = case.asked.question.judge is not None and measure not in NO_SHARES
            found = scores.human_mean if has_judge else scores.reported()
            assert found == pytest.approx(mean_of(own, measure, case.asked.question.weights), abs=1e-9), measure


@use
def cluster(case: Case) -> None:
    """The error of a mean is that of the sums of clusters."""
    for scores in case.evaluation:
        interval = scores.interval("t", cluster=CLUSTERS)
        kept = ~np.isnan(scores.values)
        clusters = [CLUSTERS[query] for query in scores.query_ids[kept].tolist()]
        values = scores.values[kept]
        if case.asked.question.weights is not None:
            continue  # of weighted means the error is the jackknife's
        apart = (values - values.mean()) / len(values)
        sums = [apart[[one == name for one in clusters]].sum() for name in sorted(set(clusters))]
        error = math.sqrt(len(sums) / (len(sums) - 1) * np.square(sums).sum())
        if scores.measure.geometric:
            error *= scores.mean
        if len(case.asked.question.runs) == 1:  # the noise of repeats comes on top
            assert interval.standard_error == pytest.approx(error), scores.measure.label
        else:
            assert interval.standard_error >= error


@use
def compare(case: Case) -> None:
    check_pairs(case.asked, compared(case.asked))


@use
def compare_evaluations(case: Case) -> None:
    check_pairs(case.asked, dh.compare_evaluations(both(case.asked), baseline="other", test="t", correction="none"))


def check_pairs(asked: Asked, found: dh.Comparison) -> None:
    """Check differences of means, and the p values of differences that nothing but queries makes differ."""
    question = asked.question
    if question.ties == "random":
        return
    answers, others = answers_to(question), answers_to(other_of(asked).question)
    for measure in question.measures:
        (pair,) = found[measure]
        differences, weights = differences_of(answers[measure], others[measure]), None
        if question.weights is not None and not measure.startswith("Num"):
            weights = [question.weights[query] for query in differences]
        values = list(differences.values())
        if question.judge is None:
            difference = pair.difference
        elif measure in NO_SHARES:
            continue
        else:  # means are by human labels
            difference = pair.mean - pair.baseline_mean
        assert difference == pytest.approx(np.average(values, weights=weights), abs=1e-9), measure
        is_plain = question.judge is None and weights is None and len(question.runs) == 1
        if is_plain and np.ptp(values):
            assert pair.p_value == pytest.approx(scipy.stats.ttest_1samp(values, 0).pvalue), measure


def differences_of(answers: Answers, others: Answers) -> dict[str, float]:
    differences = {}
    for query, one in answers.items():
        other = others.get(query)
        if one is not None and other is not None:
            differences[query] = one.value - other.value
    return differences


@use
def orders(case: Case) -> None:
    compared(case.asked).orders()


@use
def margin(case: Case) -> None:
    """Two one-sided t tests, where nothing but queries makes differences differ."""
    found = compared(case.asked).equivalence(0.05)
    question = case.asked.question
    if question.ties == "random" or question.judge is not None or question.weights is not None:
        return
    answers, others = answers_to(question), answers_to(other_of(case.asked).question)
    for measure, row in zip(question.measures, found.iter_rows(named=True), strict=True):
        values = list(differences_of(answers[measure], others[measure]).values())
        if np.ptp(values):
            no_worse = scipy.stats.ttest_1samp(values, -0.05, alternative="greater").pvalue
            assert row["p_no_worse"] == pytest.approx(no_worse), measure


@use
def detect(case: Case) -> None:
    found = compared(case.asked).sample_sizes(difference=0.1)
    assert found["n_needed"].null_count() < len(found)


@use
def ranks(case: Case) -> None:
    compared(case.asked).rank_intervals(n_resamples=99)


@use
def gate(case: Case) -> None:
    """A threshold just below what is reported passes, one just above fails."""
    for scores in case.evaluation:
        mean, label = scores.reported(), scores.measure.label
        assert dh.gate(case.evaluation, f"{label} >= {mean - NEGLIGIBLE!r}").passed, label
        assert not dh.gate(case.evaluation, f"{label} >= {mean + NEGLIGIBLE!r}").passed, label


@use
def baseline(case: Case) -> None:
    """Without a difference nothing is worse; against a run that finds everything this one is."""
    assert dh.gate(case.evaluation, baseline=case.evaluation).passed
    other = deepcopy(case.asked)
    best = {}
    for query, docs in case.asked.question.qrels.items():
        ranked = sorted(docs, key=lambda doc: docs[doc])
        best[query] = {doc: float(place) for place, doc in enumerate(ranked)}
    del best[LACKING[0]]
    other.question.runs = [best]
    assert not dh.gate(case.evaluation, baseline=other.evaluate()).passed


@use
def gate_by_strata(case: Case) -> None:
    means = [part[checked(case)].mean for part in case.evaluation.by("level", QUERIES).values()]
    assert dh.gate(
        case.evaluation, f"each(level): {checked(case)} >= {min(means) - NEGLIGIBLE!r}", queries=QUERIES
    ).passed
    assert not dh.gate(case.evaluation, f"each(level): {checked(case)} >= {max(means)!r}", queries=QUERIES).passed


@use
def history(case: Case) -> None:
    found = dh.history([case.evaluation, case.evaluation], n_resamples=99)
    for step in found.steps:
        for scores in case.evaluation:
            assert step.means[scores.measure.label]["mean"] == pytest.approx(scores.mean), scores.measure.label


@use
def leaderboard(case: Case) -> None:
    """The mean over two tasks of one value is that value."""
    each = both(case.asked)
    measure = case.evaluation.measures[0]
    found = dh.leaderboard({"one": each, "two": each}, measure=measure, n_resamples=99)
    rows = {row["model"]: row["mean"] for row in found.to_polars().iter_rows(named=True)}
    assert rows == pytest.approx({name: one[measure].mean for name, one in each.items()})


@use
def compare_languages(case: Case) -> None:
    found = dh.compare_languages({"en": case.evaluation, "fr": case.evaluation}, n_resamples=99)
    assert "system" in str(found) or case.evaluation.name in str(found)


@use
def report(case: Case) -> None:
    """The page of a result shows its means."""
    page = case.evaluation.to_html(full=True)
    for scores in case.evaluation:
        shown = f"{scores.reported():.0f}" if scores.measure.total else f"{scores.reported():.4f}"
        assert shown in page, scores.measure.label


@use
def steps(case: Case) -> None:
    """What documents contribute to precision sums to its value."""
    query = "q07"
    found = case.evaluation.steps(checked(case), query)
    value = case.evaluation[checked(case)].values[case.evaluation.query_ids.tolist().index(query)]
    assert math.isnan(value) or found.value == pytest.approx(value)


@use
def abstention(case: Case) -> None:
    assert case.evaluation.abstention()["n_abstained"].ge(0).all()
