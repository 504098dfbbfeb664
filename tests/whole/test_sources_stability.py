"""The tie report of the tutorial on tied measures (source 1), from its own code and queries, is that of a profile.

Its text says what is wrong there: its "max tie size observed" is a mean, exact values need no list of orders, and its
MTRR is not that of the paper (tests/whole/test_sources_ties.py).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from support.tie_tutorial import ClosedForms, as_data, needs_tutorial, run_cell, tutorial

pytestmark = needs_tutorial
pd = pytest.importorskip("pandas", reason="the tutorial reports with pandas, which is not installed")

CUTOFFS = (1, 3, 5, 10)
NAMES = {"mrr": "RR"} | {f"hits_{k}": f"Hit@{k}" for k in CUTOFFS}
EXACT = {"mrr": "mtrr"} | {f"hits_{k}": f"tmhits_{k}" for k in CUTOFFS}


def profile_of(results: list[Any], *measures: str) -> dh.TieProfile:
    qrels, run = as_data(results)
    return dh.tie_profile(run, qrels, measures=measures, beside="input")


def of_divisor_n(std: float, n: int) -> float:
    """Return a standard deviation with the divisor n, which the tutorial's report has, for one with n - 1."""
    return std * math.sqrt((n - 1) / n)


def test_the_report_on_its_hundred_queries() -> None:
    """Means and standard deviations of both, mean and largest difference, and the recommendation with its share."""
    results = tutorial()["grag_scenarios"]
    theirs, by_query = tutorial()["evaluator"].evaluate_query_set(results)
    profile = profile_of(results, *NAMES.values())
    n = theirs["num_queries"]
    assert profile.n_queries == n == 100
    for one, name in zip(profile.stability, NAMES, strict=True):
        ours = one.difference
        assert str(ours.measure) == NAMES[name]
        assert ours.traditional == pytest.approx(theirs[f"mean_traditional_{name}"], abs=1e-12)
        assert ours.exact == pytest.approx(theirs[f"mean_{EXACT[name]}"], abs=1e-12)
        assert of_divisor_n(ours.traditional_std, n) == pytest.approx(theirs[f"std_traditional_{name}"], abs=1e-12)
        assert of_divisor_n(ours.std, n) == pytest.approx(theirs[f"std_{EXACT[name]}"], abs=1e-12)
    of_mrr = profile.stability[0].difference
    assert of_mrr.mean == pytest.approx(theirs["mean_mrr_difference"], abs=1e-12)
    assert of_mrr.max == pytest.approx(theirs["max_mrr_difference"], abs=1e-12)
    largest = profile.queries["largest_tie"]
    assert np.where(largest > 1, largest, 0).tolist() == [one["max_tie_size"] for one in by_query]
    assert profile.queries["n_ties"].to_list() == [one["num_tie_groups"] for one in by_query]
    assert profile.mean_ties == pytest.approx(theirs["mean_num_tie_groups"], abs=1e-12)
    groups = [one.get_tied_groups() for one in results]
    for scores, tied in zip((one.scores for one in results), groups, strict=True):
        of_ties = tutorial()["OptimizedTiedMetrics"].analyze_computational_complexity(tied)
        assert dh.tie_complexity(scores).samples_by_rule_of_thumb == of_ties["recommended_sampling"]
    # the largest tie counts 0 there where none tie, and 1 here
    none_tie = 1 - profile.n_queries_with_ties / n
    assert profile.mean_largest_tie == pytest.approx(theirs["mean_max_tie_size"] + none_tie, abs=1e-12)
    assert profile.queries["n_orders"].to_list() == [one["total_permutations"] for one in by_query]
    assert of_divisor_n(of_mrr.distance_std, n) == pytest.approx(
        np.std([abs(one["traditional_mrr"] - one["mtrr"]) for one in by_query]), abs=1e-12
    )


def test_what_it_prints() -> None:
    """These numbers, to four decimals."""
    printed = tutorial()["printed"]
    profile = profile_of(tutorial()["grag_scenarios"], "RR", "Hit@3")
    rr, hit = (one.difference for one in profile.stability)
    assert f"MRR: {rr.traditional:.4f} (±{of_divisor_n(rr.traditional_std, 100):.4f})" in printed
    assert f"MTRR: {rr.exact:.4f} (±{of_divisor_n(rr.std, 100):.4f})" in printed
    assert f"TMHits@3: {hit.exact:.4f} (±{of_divisor_n(hit.std, 100):.4f})" in printed
    assert f"Mean |MRR - MTRR|: {rr.mean:.4f}" in printed
    assert f"Max |MRR - MTRR|: {rr.max:.4f}" in printed
    assert f"Queries with ties: {100 * profile.n_queries_with_ties / profile.n_queries:.1f}%" in printed
    found = profile.recommendation
    assert found is not None
    assert "Recommendation: Use tied metrics for fair comparison" in printed
    assert found.is_exact_by_rule_of_thumb
    assert found.is_exact
    # what it calls the largest tie is the mean of the largest ties
    assert profile.largest is not None
    assert profile.largest.n_documents == max(profile.queries["largest_tie"])
    assert "Max tie size observed: 1.7" in printed
    assert profile.largest.n_documents >= 3


def test_its_two_hundred_rankings_and_correlations() -> None:
    """Differences of MRR and Hits@3, and how they go with the tie ratio and the largest tie."""
    names = {"pd": pd, "metrics": ClosedForms()}
    found = run_cell("def generate_synthetic_scenarios", "\nprint", names)
    table, results = found["analysis_df"], found["synthetic_scenarios"]
    brute = tutorial()["TiedRankingMetrics"]
    small = [one for one in results if math.prod(map(math.factorial, map(len, one.get_tied_groups()))) <= 200]
    assert len(small) > 150
    for one in small:  # the closed forms are what its own code lists
        assert names["metrics"].compute_mtrr(one) == pytest.approx(brute.compute_mtrr(one), abs=1e-12)
        assert names["metrics"].compute_tmhits_k(one, 3) == pytest.approx(brute.compute_tmhits_k(one, 3), abs=1e-12)
    profile = profile_of(results, "RR", "Hit@3")
    assert profile.n_queries_with_ties == (table["num_ties"] > 0).sum() == 60  # 30% of them
    told = [(one.difference.mean, one.difference.distance_std, one.difference.max) for one in profile.stability]
    assert [tuple(round(number, 4) for number in numbers) for numbers in told] == [
        (0.0252, 0.0779, 0.5092),  # as docs/simulate.md says
        (0.0291, 0.1221, 0.75),
    ]
    assert profile.mean_largest_tie == pytest.approx(table["max_tie_size"].mean(), abs=1e-12)
    assert profile.mean_ties == pytest.approx(table["num_ties"].mean(), abs=1e-12)
    queries = profile.per_query()
    for (measure, one), (exact, traditional, apart) in zip(
        queries.group_by("measure", maintain_order=True),
        (("mtrr", "traditional_mrr", "mrr_diff"), ("tmhits3", "traditional_hits3", "hits3_diff")),
        strict=True,
    ):
        theirs = {"n_documents": "n_docs", "n_ties": "num_ties", "n_tied": "total_tied_docs", "exact": exact}
        theirs |= {"n_relevant": "n_relevant", "largest_tie": "max_tie_size", "tie_ratio": "tie_ratio"}
        theirs |= {"traditional": traditional}
        for column, name in theirs.items():
            np.testing.assert_allclose(one[column], table[name], rtol=0, atol=1e-12, err_msg=f"{measure}, {column}")
        np.testing.assert_allclose(one["difference"].abs(), table[apart], rtol=0, atol=1e-12)
    for one, apart in zip(profile.stability, ("mrr_diff", "hits3_diff"), strict=True):
        assert one.difference.mean == pytest.approx(table[apart].mean(), abs=1e-12)
        assert one.difference.max == pytest.approx(table[apart].max(), abs=1e-12)
        assert one.difference.distance_std == pytest.approx(table[apart].std(), abs=1e-12)
        assert one.with_tie_ratio.n_queries == 200
        assert one.with_tie_ratio.value == pytest.approx(table["tie_ratio"].corr(table[apart]), abs=1e-12)
        assert one.with_largest_tie.value == pytest.approx(table["max_tie_size"].corr(table[apart]), abs=1e-12)


def test_its_four_rerankers() -> None:
    """A hundred queries each; its code lists the orders of all documents on three levels, which does not end."""
    forms = ClosedForms()
    names = {"pd": pd, "metrics": forms}
    table = run_cell("class LLMRerankerSimulator", "\nprint", names)["llm_results"]
    rerankers = table["reranker"].unique()
    for n, reranker in enumerate(rerankers):
        theirs = table[table["reranker"] == reranker]
        profile = profile_of(forms.seen[n :: len(rerankers)], "RR", "Hit@5")
        rr, hit = (one.difference for one in profile.stability)
        assert profile.n_queries == len(theirs) == 100
        assert profile.queries["tie_ratio"].mean() == pytest.approx(theirs["tie_ratio"].mean(), abs=1e-12)
        for ours, exact, traditional, apart in (
            (rr, "mtrr", "traditional_mrr", "mrr_diff"),
            (hit, "tmhits5", "traditional_hits5", "hits5_diff"),
        ):
            assert ours.exact == pytest.approx(theirs[exact].mean(), abs=1e-12)
            assert ours.std == pytest.approx(theirs[exact].std(), abs=1e-12)
            assert ours.traditional == pytest.approx(theirs[traditional].mean(), abs=1e-12)
            assert ours.traditional_std == pytest.approx(theirs[traditional].std(), abs=1e-12)
            assert ours.mean == pytest.approx(theirs[apart].mean(), abs=1e-12)
            assert ours.max == pytest.approx(theirs[apart].max(), abs=1e-12)
