"""The ties of each query, a rule beside the exact values, correlations and the recommendation, by plain counting."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy

import deadheat as dh
from deadheat.errors import NothingJudgedWarning, ParameterError
from deadheat.plugins.ties.stability import Correlation, correlate
from oracle.random_cases import BATCHES
from support.error_parts import raises_parts
from support.random_runs import QRELS, RUNS

NAMES = ("ratio", "difference")


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())
def test_ties_of_queries_equal_counting(batch: Any) -> None:  # noqa: ANN401 - a class of the oracle's
    rows = {row["query_id"]: row for row in dh.tie_profile(batch.run).per_query().iter_rows(named=True)}
    assert rows.keys() == batch.run.keys()
    for query, scores in batch.run.items():
        sizes = Counter(scores.values()).values()
        tied = [size for size in sizes if size > 1]
        row = rows[query]
        assert (row["n_documents"], row["n_ties"], row["n_tied"]) == (len(scores), len(tied), sum(tied))
        assert (row["largest_tie"], row["tie_ratio"]) == (max(sizes), sum(tied) / len(scores))


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())
@pytest.mark.parametrize("rule", ["doc_id", "input"])
def test_queries_have_what_evaluate_gives(batch: Any, rule: str) -> None:  # noqa: ANN401 - as above
    measures = ["nDCG@3", "RR", "AP(rel=2)"]
    profile = dh.tie_profile(batch.run, batch.qrels, measures=measures, beside=rule)
    exact = dh.evaluate(batch.qrels, batch.run, measures, missing="empty").to_polars().fill_null(-1)
    other = dh.evaluate(batch.qrels, batch.run, measures, ties=rule, missing="empty").to_polars().fill_null(-1)
    found = profile.per_query()
    assert found["rule"].unique().to_list() == [rule]
    shown = found.fill_null(-1)
    names = {"query_id": "query_id", "measure": "measure", "exact": "value"}
    names |= {name: name for name in ("tie_std", "tie_min", "tie_max")}
    for own, theirs in names.items():
        assert shown[own].to_list() == exact[theirs].to_list()
    assert shown["traditional"].to_list() == other["value"].to_list()
    np.testing.assert_allclose(found["difference"], found["traditional"] - found["exact"], atol=1e-12)
    for row in found.iter_rows(named=True):
        lowest = 2 if "rel=2" in row["measure"] else 1 if row["measure"] == "RR" else 1e-300
        judged = batch.qrels[row["query_id"]].values()
        assert row["n_relevant"] == sum(relevance >= lowest for relevance in judged)
        assert row["n_documents"] == len(batch.run.get(row["query_id"], ()))
        assert (row["tie_ratio"] is None) == (row["n_documents"] == 0)


def test_correlations_are_those_of_scipy_and_pandas() -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    rng = np.random.default_rng(3)
    run = {f"q{n}": {f"d{m}": int(rng.integers(0, 12)) for m in range(rng.integers(3, 20))} for n in range(40)}
    qrels = {query: {"d0": 1, "d2": 2} for query in run}
    profile = dh.tie_profile(run, qrels, measures=["RR", "nDCG@5"])
    for one in profile.stability:
        rows = profile.per_query().filter(pl.col("measure") == str(one.difference.measure))
        for found, column in ((one.with_tie_ratio, "tie_ratio"), (one.with_largest_tie, "largest_tie")):
            apart, other = rows["difference"].abs().to_numpy(), rows[column].to_numpy()
            assert found.n_queries == 40
            assert found.value == pytest.approx(scipy.stats.pearsonr(apart, other).statistic, abs=1e-12)
            assert found.value == pytest.approx(pd.Series(apart).corr(pd.Series(other)), abs=1e-12)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1, 2], [3, 5], Correlation(None, 2, "needs 3 queries")),
        ([], [], Correlation(None, 0, "needs 3 queries")),
        ([1, math.nan, 2, 3], [1, 2, math.nan, 3], Correlation(None, 2, "needs 3 queries")),
        ([0.5, 0.5, 0.5], [1, 2, 3], Correlation(None, 3, "ratio is the same in all queries")),
        ([0.1, 0.2, 0.3], [0, 0, 0], Correlation(None, 3, "difference is the same in all queries")),
        ([0.1, 0.1 + 1e-17, 0.3 - 0.2], [1, 2, 3], Correlation(None, 3, "ratio is the same in all queries")),
    ],
)
def test_a_correlation_that_is_undefined_says_why(one: list[float], other: list[float], expected: Correlation) -> None:
    assert correlate(np.array(one, float), np.array(other, float), NAMES) == expected


def test_a_correlation_is_never_beyond_one() -> None:
    values = np.array([0.1, 0.2, 0.7, 0.30000000001])
    for factor in (0.1, 3, 7):
        up, down = (correlate(values, sign * factor * values, NAMES).value for sign in (1, -1))
        assert up is not None
        assert down is not None
        assert 1 - 1e-15 < up <= 1
        assert -1 <= down < -1 + 1e-15


def test_queries_that_the_run_lacks_are_in_no_correlation() -> None:
    run = {query: documents for query, documents in RUNS["weak"].items() if query != "q05"}
    found = dh.tie_profile(run, QRELS, measures=["RR"]).stability[0]
    assert found.difference.n_queries == len(QRELS)
    assert found.with_tie_ratio.n_queries == found.with_largest_tie.n_queries == len(run)


def ranking(*groups: str) -> dict[str, float]:
    """Give the documents of each group one score, the first group the highest."""
    return {doc: float(len(groups) - n) for n, group in enumerate(groups) for doc in group}


def recommended(ties: int, others: int, *, tied: tuple[str, ...], measures: str = "RR") -> Any:  # noqa: ANN401 - not None
    run = {f"t{n}": ranking(*tied) for n in range(ties)} | {f"u{n}": ranking("a", "b", "c") for n in range(others)}
    return dh.tie_profile(run, {query: {"a": 1} for query in run}, measures=measures).recommendation


def test_ties_that_decide_nothing_need_no_exact_values() -> None:
    """They are among documents that do not count; the rule of thumb sees only that they are there."""
    found = recommended(50, 50, tied=("a", "bc"))
    assert not found.is_exact
    assert found.is_exact_by_rule_of_thumb
    assert not found.agrees
    assert (found.low, found.high, found.n_decided) == (1.0, 1.0, 0)


def test_few_ties_that_decide_need_exact_values() -> None:
    found = recommended(5, 95, tied=("ab", "c"))
    assert found.is_exact
    assert not found.is_exact_by_rule_of_thumb
    assert not found.agrees
    assert (found.low, found.high) == pytest.approx(((5 * 0.5 + 95) / 100, 1.0))
    assert (found.n_decided, found.n_queries, found.n_with_ties, found.n_of_run) == (5, 100, 5, 100)


@pytest.mark.parametrize(
    ("ties", "others", "is_exact"), [(10, 90, False), (11, 89, True), (3, 27, False), (4, 27, True)]
)
def test_the_rule_of_thumb_is_more_than_ten_percent(ties: int, others: int, is_exact: bool) -> None:  # noqa: FBT001 - a column
    assert recommended(ties, others, tied=("ab", "c")).is_exact_by_rule_of_thumb is is_exact


def test_a_change_that_no_mean_shows_needs_no_exact_means() -> None:
    """One query of 7,000 moves the mean by 0.00007."""
    found = recommended(1, 6_999, tied=("ab", "c"))
    assert not found.is_exact
    assert found.n_decided == 1
    assert found.high - found.low == pytest.approx(0.5 / 7000)


def test_the_measure_that_moves_most_is_the_reason() -> None:
    """A rank is on another scale than values up to 1, unless nothing else moves."""
    assert str(recommended(3, 0, tied=("abc",), measures="MR RR AP P@1").measure) == "P@1"
    assert str(recommended(3, 0, tied=("abc",), measures="MR P@3").measure) == "MR"


def test_nothing_is_recommended_where_nothing_is_relevant() -> None:
    found = dh.tie_profile({"q": {"a": 1, "b": 1}}, {"q": {"a": 0}}, measures=["RR"])
    assert found.recommendation is None
    assert dh.tie_profile({"q": {"a": 1, "b": 1}}).recommendation is None
    with pytest.warns(NothingJudgedWarning):
        assert dh.tie_profile({"q": {"a": 1, "b": 1}}, {"q": {"z": 1}}, measures=["RR"]).recommendation is None


def test_a_rule_that_does_not_exist() -> None:
    with raises_parts(ParameterError, argument="beside", given="random", allowed=("doc_id", "input")):
        dh.tie_profile({"q": {"a": 1}}, beside="random")


def test_one_query() -> None:
    profile = dh.tie_profile({"q": {"a": 1, "b": 1}}, {"q": {"a": 1}}, measures=["RR"])
    (found,) = profile.stability
    assert found.with_tie_ratio == Correlation(None, 1, "needs 3 queries")
    assert math.isnan(found.difference.std)
    assert found.difference.difference == -0.25  # b comes first: ids descend
