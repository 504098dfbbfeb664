"""A baseline fails only what is worse by more than the margin and beyond chance, and must be of the same queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

import deadheat as dh
from deadheat.errors import BaselineMismatchError, DataError, UnknownMeasureError
from deadheat.gates import gate
from deadheat.report.as_junit import as_junit
from deadheat.report.of_gate import report_gate
from test_gates import BEST, EV, QRELS

if TYPE_CHECKING:
    from deadheat.evaluation import Evaluation
    from deadheat.gates import Check


def ranked(*ranks: int, name: str = "run") -> Evaluation:
    """Return the evaluation of a run whose relevant documents stand at these ranks."""
    qrels = {f"q{n:03}": {"relevant": 1} for n in range(len(ranks))}
    run = {
        f"q{n:03}": {"relevant": 0.5, **{f"d{above}": 1.0 + above for above in range(rank - 1)}}
        for n, rank in enumerate(ranks)
    }
    evaluation = dh.evaluate(qrels, run, ["RR", "MR"])
    return evaluation.select(np.ones(len(ranks), np.bool_), name=name)


def regression(evaluation: Evaluation, baseline: Evaluation, measure: str = "RR", **options: Any) -> Check:  # noqa: ANN401 - passed on
    checks = {check.measure: check for check in gate(evaluation, baseline=baseline, **options).checks}
    return checks[measure]


def test_an_evaluation_is_no_worse_than_itself() -> None:
    for margin in (0.0, 0.1):
        result = gate(EV, baseline=EV, no_worse_than=margin)
        assert result.passed
        assert [check.measure for check in result.checks] == ["RR", "P@1", "MR", "mine"]
        assert {(check.value, check.p_value) for check in result.checks} == {(0.0, 1.0)}


def test_a_drop_is_held_against_margin_and_chance() -> None:
    baseline = ranked(*[1] * 40, name="old")
    evaluation = ranked(*[1] * 30, *[2] * 10, name="new")  # the mean drops from 1 to 0.875, on every fourth query
    differences = np.repeat([0.0, -0.5], [30, 10])
    for margin in (0.0, 0.05, 0.1, 0.125, 0.2):
        check = regression(evaluation, baseline, no_worse_than=margin)
        test = stats.ttest_1samp(-differences, margin, alternative="greater")
        assert check.value == pytest.approx(-0.125)
        assert check.p_value == pytest.approx(test.pvalue)
        assert check.bound == pytest.approx(-test.confidence_interval(0.95).low)
        assert check.passed is bool(test.pvalue >= 0.05)
        assert check.passed is bool(-test.confidence_interval(0.95).low >= -margin)
        assert (check.mean, check.baseline_mean) == (0.875, 1.0)
    assert regression(evaluation, baseline, no_worse_than=0.05).reason.startswith(
        "worse by 0.125, significantly more than the margin 0.05 (p = 0.0"
    )
    assert regression(evaluation, baseline).reason.startswith("worse by 0.125, significantly (p = 0.0")
    assert regression(evaluation, baseline, no_worse_than=0.1).reason.startswith(
        "worse by 0.125, but not significantly more than the margin 0.1 (p = 0."
    )
    assert not regression(evaluation, baseline, no_worse_than=0.125).reason  # within the margin, however sure
    assert regression(evaluation, baseline, no_worse_than=0.05, alpha=0.001).passed


def test_a_small_p_value_is_told_as_in_tables() -> None:
    evaluation = ranked(*[1] * 20, *[2] * 20)
    result = gate(evaluation, "RR > 0.1", baseline=ranked(*[1] * 40))
    assert result.checks[1].p_value == pytest.approx(1e-6, rel=1)
    assert result.checks[1].reason == "worse by 0.25, significantly (p < .0001)"
    assert 'message="worse by 0.25, significantly (p &lt; .0001)"' in as_junit(result, report_gate(result, evaluation))


def test_an_improvement_passes() -> None:
    assert regression(ranked(*[1] * 9), ranked(*[2] * 9)).passed
    assert regression(ranked(*[1] * 9), ranked(*[2] * 9)).value == 0.5


def test_a_constant_drop_beyond_the_margin_fails() -> None:
    check = regression(ranked(*[2] * 9), ranked(*[1] * 9), no_worse_than=0.4)
    assert (check.passed, check.p_value) == (False, 0.0)
    assert regression(ranked(*[2] * 9), ranked(*[1] * 9), no_worse_than=0.5).passed


def test_of_a_rank_more_is_worse() -> None:
    old, new = ranked(*[1] * 9, 2, name="old"), ranked(*[3] * 9, 2, name="new")
    check = regression(new, old, "MR", no_worse_than=0.5)
    assert check.gate == "MR <= baseline + 0.5"
    assert check.value == pytest.approx(1.8)
    assert (check.threshold, check.operator, check.passed) == (0.5, "<=", False)
    assert check.bound is not None
    assert 0.5 < check.bound < 1.8
    assert regression(old, new, "MR").passed
    assert regression(new, old).gate == "RR >= baseline"


def test_clusters_widen_the_test() -> None:
    old, new = ranked(*[1] * 40, name="old"), ranked(*[1] * 30, *[2] * 10, name="new")
    clusters = [str(n // 10) for n in range(40)]
    assert not gate(new, baseline=old).passed
    assert gate(new, baseline=old, cluster=clusters).passed
    differences = np.repeat([0.0, -0.5], [30, 10])
    sums = np.add.reduceat(differences, [0, 10, 20, 30])
    error = np.sqrt(4 / 3 * ((sums - 10 * differences.mean()) ** 2).sum()) / 40
    check = regression(new, old, cluster=clusters)
    assert check.p_value == pytest.approx(stats.t.sf(-differences.mean() / error, 3))
    assert check.bound == pytest.approx(differences.mean() + stats.t.ppf(0.95, 3) * error)


def test_one_query_is_too_few_for_a_test() -> None:
    old, new = ranked(1), ranked(2)
    check = regression(new, old, no_worse_than=0.1)
    assert not check.passed
    assert check.reason == "worse by 0.5, more than the margin 0.1; a test takes two queries, or two clusters"
    assert regression(new, old, no_worse_than=0.5).passed


def test_queries_without_a_value_in_both_are_left_out() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    old = dh.evaluate(qrels, {"q1": {"a": 1.0}, "q2": {"a": 1.0}}, ["MR"])
    new = dh.evaluate(qrels, {"q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 1.0}, "q3": {"a": 1.0}}, ["MR"])
    check = regression(new, old, "MR")
    assert (check.n_queries, check.mean, check.baseline_mean) == (2, 1.5, 1.0)
    one, another = (dh.evaluate(qrels, {query: {"a": 1.0}}, ["MR"]) for query in ("q1", "q2"))
    check = regression(one, another, "MR")
    assert (check.passed, check.reason) == (False, "no query has a value in both")


def test_measures_that_only_one_has_are_named() -> None:
    other = dh.evaluate(QRELS, BEST, ["RR", "AP"])
    result = gate(EV, baseline=other)
    assert result.not_compared == ("AP", "MR", "P@1", "mine")
    assert [check.gate for check in result.checks] == ["RR >= baseline"]
    with pytest.raises(UnknownMeasureError, match=r"share no measure: RR, P@1, MR, mine and AP"):
        gate(EV, baseline=dh.evaluate(QRELS, BEST, ["AP"]))


def test_what_cannot_be_compared_is_refused() -> None:
    qrels = QRELS | {"q0": {"a": 2}}
    with pytest.raises(BaselineMismatchError, match="run and its baseline run were evaluated with different qrels"):
        gate(EV, baseline=dh.evaluate(qrels, BEST, ["RR"]))
    fewer = {query: docs for query, docs in BEST.items() if query != "q7"}
    skipped = [dh.evaluate(QRELS, run, ["RR"], missing="skip") for run in (BEST, fewer)]
    message = "are of different queries: 1 only in run, such as 'q7'; evaluate both on the same queries .missing='skip'"
    with pytest.raises(BaselineMismatchError, match=message):
        gate(skipped[0], baseline=skipped[1])
    with pytest.raises(BaselineMismatchError, match=r"\(ties 'expected' and 'doc_id', score_precision None and 3\)"):
        gate(EV, baseline=dh.evaluate(QRELS, BEST, ["RR"], ties="doc_id", score_precision=3))
    assert issubclass(BaselineMismatchError, DataError)
