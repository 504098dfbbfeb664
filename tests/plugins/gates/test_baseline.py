"""Two questions of a baseline: is a loss significant, and is a loss of a margin ruled out."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy

import deadheat as dh
from deadheat import gate
from deadheat.core.report.text import as_text
from deadheat.errors import DataError, UnknownMeasureError
from deadheat.plugins.gates.formats import as_junit
from deadheat.plugins.gates.report import report_gate
from support.gated_runs import BEST, EV, QRELS, ranked
from support.numbers_in_text import numbers_in

if TYPE_CHECKING:
    from deadheat import Evaluation
    from deadheat.plugins.gates.notation import Check


def regression(evaluation: Evaluation, baseline: Evaluation, measure: str = "RR", **options: Any) -> Check:  # noqa: ANN401 - passed on
    checks = {check.measure: check for check in gate(evaluation, baseline=baseline, **options).checks}
    return checks[measure]


def test_an_evaluation_is_no_worse_than_itself() -> None:
    for options in ({}, {"no_worse_than": 0.1}, {"no_worse_than": 0.1, "no_regression": True}):
        result = gate(EV, baseline=EV, **options)  # type: ignore[arg-type]
        assert result.passed
        assert not result.proving_little
        assert [check.measure for check in result.checks] == ["RR", "P@1", "MR", "mine"] * max(1, len(options))
        assert {check.value for check in result.checks} == {0.0}


@pytest.mark.parametrize("n", [1, 2, 4, 5, 30])
def test_equal_values_pass_at_any_size(n: int) -> None:
    ranks = [1, 2, 3] * 10
    one, other = ranked(*ranks[:n], name="old"), ranked(*ranks[:n], name="new")
    assert gate(one, baseline=other, no_regression=True, no_worse_than=0.001)


def test_a_loss_is_significant_or_not() -> None:
    baseline = ranked(*[1] * 40, name="old")
    evaluation = ranked(*[1] * 30, *[2] * 10, name="new")  # the mean drops from 1 to 0.875, on every fourth query
    test = scipy.stats.ttest_1samp(np.repeat([0.0, -0.5], [30, 10]), 0.0, alternative="less")
    for alpha in (0.05, 1e-3, 1e-4):
        check = regression(evaluation, baseline, alpha=alpha)
        assert check.gate == "RR >= baseline"
        assert check.value == pytest.approx(-0.125)
        assert check.p_value == check.p_adjusted == pytest.approx(test.pvalue)
        assert check.bound == pytest.approx(test.confidence_interval(1 - alpha).high)
        assert check.passed is bool(test.pvalue >= alpha)
        assert (check.mean, check.baseline_mean) == (0.875, 1.0)
    check = regression(evaluation, baseline)
    assert check.causes[0] == "significant"
    assert numbers_in(check.reason)[:2] == [0.125, round(float(test.pvalue), 4)]


@pytest.mark.parametrize("margin", [0.05, 0.1, 0.125, 0.2, 0.3])
def test_a_margin_has_to_be_ruled_out(margin: float) -> None:
    baseline = ranked(*[1] * 40, name="old")
    evaluation = ranked(*[1] * 30, *[2] * 10, name="new")
    test = scipy.stats.ttest_1samp(np.repeat([0.0, -0.5], [30, 10]), -margin, alternative="greater")
    (check,) = (one for one in gate(evaluation, baseline=baseline, no_worse_than=margin).checks if one.measure == "RR")
    assert check.gate == f"RR > baseline - {margin:g}"
    assert (check.operator, check.threshold, check.question) == (">", -margin, "no_worse_than")
    assert check.p_value == pytest.approx(test.pvalue)
    assert check.bound == pytest.approx(test.confidence_interval(0.95).low)
    assert check.passed is bool(test.confidence_interval(0.95).low > -margin) is bool(test.pvalue < 0.05)
    if not check.passed:
        assert check.causes == ("worse", "not ruled out")
        assert numbers_in(check.reason) == [0.125, margin, round(float(test.pvalue), 4)]


def test_what_passes_for_want_of_queries_says_so_first() -> None:
    baseline = ranked(*[1] * 12, name="old")
    evaluation = ranked(*[1] * 10, 2, 2, name="new")
    result = gate(evaluation, baseline=baseline)
    assert result.passed
    assert [check.measure for check in result.proving_little] == ["RR", "MR"]
    differences = np.repeat([0.0, -0.5], [10, 2])
    found = regression(evaluation, baseline).detectable
    assert found is not None
    # by simulation: a true loss of that size is found in 80 % of the cases
    draws = np.random.default_rng(1).normal(-found, differences.std(ddof=1), (20_000, 12))
    rate = np.mean(np.asarray(scipy.stats.ttest_1samp(draws, 0, axis=1, alternative="less").pvalue) < 0.05)
    assert rate == pytest.approx(0.8, abs=0.012)
    check = regression(evaluation, baseline)
    assert check.causes == ("power", "not significant")
    assert check.p_value is not None
    assert numbers_in(check.reason) == [12, float(f"{found:.2g}"), 0.8, 0.08333, round(check.p_value, 4)]
    assert result.summary.startswith("new: 2 gates passed, but RR >= baseline proves little: ")
    assert check.reason in result.summary
    assert check.reason in repr(result)
    report = report_gate(result)
    assert numbers_in(report.heading) == [2, 2]
    assert report.heading.endswith(" prove little")
    assert f'name="summary" value="{result.summary}"'.replace(">", "&gt;") in as_junit(result, report)


def test_a_loss_that_is_not_significant_is_not_ruled_out() -> None:
    rng = np.random.default_rng(3)
    ranks = rng.integers(1, 6, 25)
    old, new = ranked(*ranks, name="A"), ranked(*np.maximum(1, ranks + rng.integers(-1, 2, 25)), name="B")
    loss = old["RR"].mean - new["RR"].mean
    assert loss > 0.01
    assert gate(new, baseline=old, no_regression=True).proving_little
    assert not gate(new, baseline=old, no_worse_than=0.01)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_few_queries_say_nothing_of_others(n: int) -> None:
    better, worse = ranked(*[1] * n, name="better"), ranked(*[2] * n, name="worse")
    for one, other in ((better, worse), (worse, better)):
        questions: list[dict[str, Any]] = [{"no_regression": True}, {"no_worse_than": 0.01}]
        for question in questions:
            result = gate(one, baseline=other, **question)
            assert {check.causes for check in result.checks} == {("unknown",)}
            assert {check.reason.partition(" with ")[2] for check in result.checks} == {f"{n} queries"}
            assert not result
            assert gate(one, baseline=other, allow_unknown=True, **question).passed is (one is better)
    assert len(gate(better, baseline=worse, allow_unknown=True).proving_little) == 2
    assert gate(ranked(*[1] * 5), baseline=ranked(*[2] * 5), no_worse_than=0.01)
    clusters = [str(k % 4) for k in range(20)]
    result = gate(ranked(*[1] * 20), baseline=ranked(*[2] * 20), cluster=clusters)
    assert {check.causes for check in result.checks} == {("unknown",)}
    assert {check.reason.partition(" with ")[2] for check in result.checks} == {"4 clusters"}


def test_a_small_p_value_is_told_as_in_tables() -> None:
    evaluation = ranked(*[1] * 20, *[2] * 20)
    result = gate(evaluation, "RR > 0.1", baseline=ranked(*[1] * 40))
    assert result.checks[1].p_value == pytest.approx(1e-6, rel=1)
    assert result.checks[1].causes == ("significant",)
    assert result.checks[1].reason.startswith("worse by 0.25, ")
    assert result.checks[1].reason.endswith("(p < 0.0001)")
    assert "(p &lt; 0.0001)" in as_junit(result, report_gate(result))


def test_a_p_value_below_one_is_never_told_as_one() -> None:
    """The reason has the decimals of the table: nine differences of -1/2 and one of 0."""
    old, new = ranked(*[1] * 10), ranked(*[2] * 9, 1)
    check = regression(new, old, no_worse_than=0.25)
    better = np.array([-0.5] * 9 + [0.0])
    p = scipy.stats.ttest_1samp(better, -0.25, alternative="greater").pvalue
    assert 0.995 < p < 0.9999
    assert check.p_value == pytest.approx(p)
    assert check.causes == ("worse", "not ruled out")
    assert numbers_in(check.reason) == [0.45, 0.25, round(float(p), 4)]


def test_a_p_value_that_rounds_to_one_is_a_bound() -> None:
    old, new = ranked(*[1] * 20), ranked(*[2] * 19, 1)
    result = gate(new, baseline=old, no_worse_than=0.35)
    check = result.checks[0]
    assert check.p_value is not None
    assert 0.99995 < check.p_value < 1
    assert numbers_in(check.reason)[:2] == [0.475, 0.35]
    assert check.reason.endswith("(p > 0.9999)")
    assert ">.9999" in as_text(report_gate(result))


def test_an_improvement_passes() -> None:
    assert regression(ranked(*[1] * 9), ranked(*[2] * 9)).passed
    assert regression(ranked(*[1] * 9), ranked(*[2] * 9)).value == 0.5


def test_a_constant_difference_is_held_against_the_margin_exactly() -> None:
    new, old = ranked(*[2] * 9), ranked(*[1] * 9)
    assert not regression(new, old).passed
    for margin, passed in ((0.4, False), (0.5, False), (0.5 + 1e-9, True)):
        assert regression(new, old, no_worse_than=margin).passed is passed
    assert regression(old, new, no_worse_than=1e-9).passed
    assert regression(old, new).detectable is None


def test_of_a_rank_more_is_worse() -> None:
    old, new = ranked(*[1] * 9, 2, name="old"), ranked(*[3] * 9, 2, name="new")
    check = regression(new, old, "MR", no_worse_than=0.5)
    assert check.gate == "MR < baseline + 0.5"
    assert check.value == pytest.approx(1.8)
    assert (check.threshold, check.operator, check.passed) == (0.5, "<", False)
    assert check.bound is not None
    assert check.bound > 1.8
    assert regression(old, new, "MR", no_worse_than=0.5).passed
    check = regression(new, old, "MR")
    assert (check.gate, check.passed) == ("MR <= baseline", False)
    assert check.bound is not None
    assert 0 < check.bound < 1.8
    assert regression(new, old).gate == "RR >= baseline"


def test_clusters_widen_the_test() -> None:
    old, new = ranked(*[1] * 40, name="old"), ranked(*[1] * 32, *[2] * 8, name="new")
    clusters = [str(n // 8) for n in range(40)]
    assert not gate(new, baseline=old).passed
    assert gate(new, baseline=old, cluster=clusters).passed
    differences = np.repeat([0.0, -0.5], [32, 8])
    sums = np.add.reduceat(differences, range(0, 40, 8))
    error = np.sqrt(5 / 4 * ((sums - 8 * differences.mean()) ** 2).sum()) / 40
    check = regression(new, old, cluster=clusters)
    assert check.p_value == pytest.approx(scipy.stats.t.sf(-differences.mean() / error, 4))
    assert check.bound == pytest.approx(differences.mean() + scipy.stats.t.ppf(0.95, 4) * error)


def test_counts_are_compared_by_their_totals() -> None:
    qrels = {f"q{n}": {"a": 1, "b": 1} for n in range(10)}
    both = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    fewer = both | {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    old, new = (dh.evaluate(qrels, run, ["NumRelRet", "R"]) for run in (both, fewer))
    check = regression(new, old, "NumRelRet")
    assert (check.mean, check.baseline_mean, check.value) == (18.0, 20.0, -2.0)
    per_query = scipy.stats.ttest_1samp(np.repeat([-1.0, 0.0], [2, 8]), 0.0, alternative="less")
    assert check.p_value == pytest.approx(per_query.pvalue)
    assert check.bound == pytest.approx(10 * per_query.confidence_interval(0.95).high)
    other_side = scipy.stats.ttest_1samp(np.repeat([-1.0, 0.0], [2, 8]), 0.0, alternative="greater")
    bound = 10 * float(other_side.confidence_interval(0.95).low)
    for margin in (abs(bound) - 0.01, abs(bound) + 0.01):
        check = regression(new, old, "NumRelRet", no_worse_than=margin)
        assert check.bound == pytest.approx(bound)
        assert check.passed is bool(bound > -margin)


def test_queries_without_a_value_in_both_are_left_out() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    old = dh.evaluate(qrels, {"q1": {"a": 1.0}, "q2": {"a": 1.0}}, ["MR"], missing="empty")
    new = dh.evaluate(qrels, {"q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 1.0}, "q3": {"a": 1.0}}, ["MR"])
    check = regression(new, old, "MR")
    assert (check.n_queries, check.mean, check.baseline_mean, check.passed) == (2, 1.5, 1.0, False)
    assert check.causes == ("unknown",)
    one, another = (dh.evaluate(qrels, {query: {"a": 1.0}}, ["MR"], missing="empty") for query in ("q1", "q2"))
    check = regression(one, another, "MR")
    assert (check.passed, check.causes) == (False, ("no query",))


def test_queries_that_lost_their_value_are_no_equality() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(12)}
    run = {query: {"a": 1.0} for query in qrels}
    old = dh.evaluate(qrels, run, ["MR"])
    for n_left, passed in ((3, False), (6, True)):
        left = {query: run[query] for query in list(run)[:n_left]}
        new = dh.evaluate(qrels, left, ["MR"], missing="empty")
        assert new["MR"].mean == old["MR"].mean == 1.0
        check = regression(new, old, "MR")
        assert check.passed is passed
        if passed:
            for options in ({}, {"no_worse_than": 0.1}):
                result = gate(new, baseline=old, **options)  # type: ignore[arg-type]
                assert (result.checks[0].causes, result.checks[0].proves_little) == (("lost",), True)
                assert numbers_in(result.checks[0].because) == [6]
                assert result.summary.endswith(result.checks[0].reason)
        assert not regression(old, new, "MR").proves_little


def test_measures_that_only_one_has_are_named() -> None:
    other = dh.evaluate(QRELS, BEST, ["RR", "AP"])
    result = gate(EV, baseline=other)
    assert result.not_compared == ("AP", "MR", "P@1", "mine")
    assert [check.gate for check in result.checks] == ["RR >= baseline"]
    with pytest.raises(UnknownMeasureError, match=": RR, P@1, MR, mine and AP"):
        gate(EV, baseline=dh.evaluate(QRELS, BEST, ["AP"]))


def test_what_cannot_be_compared_is_refused() -> None:
    qrels = QRELS | {"q0": {"a": 2}}
    with pytest.raises(DataError, match=r"different qrels .*newer"):
        gate(EV, baseline=dh.evaluate(qrels, BEST, ["RR"]))
    fewer = {query: docs for query, docs in BEST.items() if query != "q7"}
    skipped = [dh.evaluate(QRELS, run, ["RR"], missing="skip") for run in (BEST, fewer)]
    message = "are of different queries: 1 only in run, such as 'q7': evaluate both on the same queries .missing='skip'"
    with pytest.raises(DataError, match=message):
        gate(skipped[0], baseline=skipped[1])
    with pytest.raises(DataError, match=r"'doc_id'.* None and 3"):
        gate(EV, baseline=dh.evaluate(QRELS, BEST, ["RR"], ties="doc_id", score_precision=3))


def test_a_loss_that_few_queries_show_is_not_ruled_out_in_silence() -> None:
    baseline = ranked(*[1] * 100, name="old")
    lost = ranked(*[1] * 99, 20, name="new")  # one query of 100 loses 0.95
    result = gate(lost, baseline=baseline, no_worse_than=0.03)
    (check,) = (one for one in result.checks if one.measure == "RR")
    # At a true loss of 0.03 (3.2% of the queries lose 0.95) one sample of six has at most one such query.
    assert scipy.stats.binom.cdf(1, 100, 0.03 / 0.95) > 0.15
    assert check.passed
    assert check.proves_little
    assert check.causes == ("skewed losses",)
    assert numbers_in(check.reason) == [pytest.approx(scipy.stats.skew([0.0] * 99 + [-0.95], bias=False), abs=0.1), 100]
    won = gate(baseline, baseline=lost, no_worse_than=0.03).checks[0]  # a long tail of gains errs on the safe side
    assert won.passed
    assert not won.proves_little


@pytest.mark.parametrize(("n", "margin", "is_sure"), [(849, 0.02, True), (849, 0.003, False), (100, 0.03, False)])
def test_a_loss_is_ruled_out_where_no_distribution_within_the_range_allows_it(
    n: int, margin: float, *, is_sure: bool
) -> None:
    """One query of n loses a little: what other queries may lose is bounded by how many there are."""
    baseline, lost = ranked(*[1] * n, name="old"), ranked(*[1] * (n - 1), 2, name="new")
    options: dict[str, Any] = {"no_worse_than": margin}
    (check,) = (one for one in gate(lost, baseline=baseline, **options).checks if one.measure == "RR")
    assert check.passed
    assert ("skewed losses" not in check.causes) is is_sure
    # Gaffke's bound by hand: of n - 1 equal differences, one of -0.5, and one of -1, which is added
    drawn = np.random.default_rng(1)
    equal, one, added = drawn.standard_gamma(n - 1, 20_000), *drawn.standard_exponential((2, 20_000))
    bound = np.quantile(-(0.5 * one + added) / (equal + one + added), 0.05)
    assert (bound > -margin) is np.bool_(is_sure)
    if is_sure:  # if a loss of the margin were true, as losses of 1 or of 0.5, a sample with one would be rare
        assert max(scipy.stats.binom.cdf(1, n, margin), scipy.stats.binom.cdf(1, n, 2 * margin)) < 0.05
        for more in ({"cluster": [str(k) for k in range(n)]}, {"alpha": 0.001, "no_worse_than": 0.008}):
            (other,) = (one for one in gate(lost, baseline=baseline, **options | more).checks if one.measure == "RR")
            assert "skewed losses" in other.causes


def test_no_loss_is_detectable_that_a_measure_cannot_have() -> None:
    old, new = ranked(1, 9, 9, 9, 9, name="old"), ranked(9, 1, 1, 9, 9, name="new")
    std = float((new["RR"].values - old["RR"].values).std(ddof=1))
    assert dh.stats.detectable_difference(std, 5, alternative="greater") > 1
    check = regression(old, new)
    assert (check.detectable, check.passed) == (None, True)
    assert (check.proves_little, check.causes) == (True, ("few", "not significant"))
    assert numbers_in(check.reason)[:2] == [5, round(float(old["RR"].mean - new["RR"].mean) * -1, 4)]
    assert regression(old, new, "MR").detectable == pytest.approx(
        dh.stats.detectable_difference(8 * std / (8 / 9), 5, alternative="greater")
    )  # ranks have no highest value


def test_a_loss_is_not_significant_in_silence_where_a_few_queries_gain_much() -> None:
    before = ranked(*[2] * 9, 1, name="old")
    after = ranked(*[3] * 9, 1, name="new")
    assert "skewed" not in regression(ranked(*[3, 4] * 5), ranked(*[2] * 10)).reason
    check = regression(after, before)
    test = scipy.stats.ttest_1samp([-1 / 6] * 9 + [0.0], 0.0, alternative="less")
    assert not check.passed
    assert check.p_value == pytest.approx(test.pvalue)
    assert check.causes == ("significant", "skewed gains")
    assert numbers_in(check.reason)[-2:] == [3.2, 10]
    text = as_text(report_gate(gate(after, baseline=before)))
    assert "too skewed" in text


def test_a_loss_that_all_queries_share_says_nothing_of_how_others_vary() -> None:
    check = gate(ranked(*[2] * 6), baseline=ranked(*[1] * 6), no_worse_than=0.6).checks[0]
    assert check.passed
    assert (check.proves_little, check.causes) == (True, ("constant",))
    assert numbers_in(check.reason) == [6]
    assert not gate(ranked(*[1] * 6), baseline=ranked(*[2] * 6), no_worse_than=0.6).checks[0].proves_little


def test_values_that_are_all_equal_are_told() -> None:
    """Where the newest save of a folder is the baseline, it may be of the run itself."""
    before, other = ranked(1, 2, 3, name="old"), ranked(1, 2, 4, name="new")
    same = gate(before, baseline=before, no_worse_than=0.5)
    assert same.is_unchanged
    changed = gate(other, baseline=before, no_worse_than=0.5)
    assert not changed.is_unchanged
    of_folder = dataclasses.replace(same, baseline_file="20261128T100000Z-old.json")
    for result, is_said in ((same, False), (of_folder, True), (changed, False)):
        (fact,) = (fact for fact in report_gate(result).facts if fact.key == "unchanged")
        assert (fact.value, bool(fact.text)) == (result.is_unchanged, is_said)
    assert not gate(before, "RR >= 0.1").is_unchanged


@pytest.mark.parametrize("question", [{"no_worse_than": 0.5}, {"no_regression": True}])
@pytest.mark.parametrize("n", [24, 25])
def test_with_few_queries_a_p_near_alpha_decides_nothing(n: int, question: dict[str, Any]) -> None:
    old, new = ranked(*([1, 2, 3, 4] * 7)[:n], name="old"), ranked(*([2, 1, 4] * 10)[:n], name="new")
    shown = report_gate(gate(new, baseline=old, **question)).in_brief().shown
    assert ("few queries" in {fact.heading for fact in shown}) is (n < 25)
