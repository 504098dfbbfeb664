"""Orders of systems: against SciPy, and against all orders of ties."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise, permutations, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

import deadheat as dh
from deadheat.core.report.cells import format_cell
from deadheat.core.report.text import as_text
from deadheat.plugins.compare.pair import Pairs
from deadheat.plugins.compare.report import report_comparison
from deadheat.plugins.compare.report_orders import report_orders

if TYPE_CHECKING:
    from collections.abc import Sequence

QRELS = {f"q{n}": {"r": 1} for n in range(2)}
RUNS: dict[str, dict[str, dict[str, float]]] = {
    "a": {"q0": {"r": 2, "x": 1}, "q1": {"r": 1, "x": 1, "y": 1}},
    "b": {"q0": {"r": 1, "x": 1}, "q1": {"r": 2, "x": 1}},
    "c": {"q0": {"r": 1, "x": 1, "y": 1}, "q1": {"r": 1, "x": 1}},
    "d": {"q0": {"r": 0, "x": 1}, "q1": {"r": 1, "x": 2, "y": 1}},
}


def all_means(run: dict[str, dict[str, float]]) -> list[float]:
    """Return the mean RR in each of all orders of the ties, which are equally likely."""
    of_queries = [
        [
            1 / (order.index("r") + 1)
            for order in permutations(scores)
            if all(scores[one] >= scores[other] for one, other in pairwise(order))
        ]
        for scores in run.values()
    ]
    return [float(np.mean(pair)) for pair in product(*of_queries)]


def test_two_rules_and_what_ties_can_do() -> None:
    comparison = dh.compare(QRELS, RUNS, "RR")
    (found,) = comparison.orders().pairs
    exact = np.array([one.means()["RR"] for one in comparison.evaluations.values()])
    ruled = np.array([dh.evaluate(QRELS, run, "RR", ties="doc_id").means()["RR"] for run in RUNS.values()])
    assert found.tau_b == pytest.approx(stats.kendalltau(exact, ruled)[0])
    order = np.argsort(-exact)
    assert set(found.swapped) == {
        ("abcd"[a], "abcd"[b]) for a, b in pairwise(order) if exact[a] > exact[b] and ruled[a] < ruled[b]
    }
    every = [all_means(run) for run in RUNS.values()]
    pairs = [(i, j) for i in range(4) for j in range(4) if exact[i] > exact[j] + 1e-12]
    taus = [np.mean([1 - 2 * (drawn[i] < drawn[j] - 1e-12) for i, j in pairs]) for drawn in product(*every)]
    assert found.tie_tau == pytest.approx(np.mean(taus), abs=1e-9)
    assert found.tie_tau_low <= min(taus)
    assert max(taus) <= found.tie_tau_high
    reversible = [any(x < y - 1e-12 for x in every[i] for y in every[j]) for i, j in pairs]
    assert found.tie_tau_low == pytest.approx(1 - 2 * np.mean(reversible))
    by_ap = [tau_ap(exact.tolist(), drawn) for drawn in product(*every)]
    assert found.tie_tau_ap == pytest.approx(np.mean(by_ap), abs=1e-9)
    assert found.tie_tau_ap_low <= min(by_ap)
    assert max(by_ap) <= found.tie_tau_ap_high
    worst = [1 / sum(other > exact[j] for other in exact) for i, j in pairs]
    assert found.tie_tau_ap_low == pytest.approx(1 - 2 * np.average(reversible, weights=worst))


def tau_ap(listed: Sequence[float], reference: Sequence[float]) -> float:
    """Return tau-AP by its definition: of those above each of a list, the share that the reference has not below it."""
    order = np.argsort(-np.array(listed), kind="stable").tolist()
    shares = [np.mean([reference[j] >= reference[i] - 1e-12 for j in order[:n]]) for n, i in enumerate(order) if n]
    return float(2 * np.mean(shares) - 1)


def test_tau_ap_over_ties_where_exact_means_are_equal() -> None:
    """Systems with equal means have each order in turn; of two the pair itself says nothing."""
    runs = {**RUNS, "twin": RUNS["a"], "last": {"q0": {"x": 1}, "q1": {"x": 2, "r": 1}}}
    for measure in ("RR", "MR(missing='last')"):
        comparison = dh.compare(QRELS, runs, measure)
        (found,) = comparison.orders().pairs
        sign = 1 if measure == "RR" else -1
        exact = {name: sign * next(iter(one.means().values())) for name, one in comparison.evaluations.items()}
        weights, lost, can = [], [], []
        for pair in comparison.pairs:
            gap = exact[pair.system] - exact[pair.baseline]
            if abs(gap) < 1e-12:
                continue
            low = exact[pair.baseline if gap > 0 else pair.system]
            above = sum(other > low + 1e-12 for other in exact.values())
            equal = sum(abs(other - low) < 1e-12 for other in exact.values())
            weights.append(np.mean([1 / rank for rank in range(above, above + equal)]))
            lost.append(pair.flip_probability)
            can.append(pair.can_flip is True)
        assert found.tie_tau_ap == pytest.approx(1 - 2 * np.average(lost, weights=weights))
        assert found.tie_tau_ap_low == pytest.approx(1 - 2 * np.average(can, weights=weights))


def test_two_measures_are_as_agree_has_them() -> None:
    comparison = dh.compare(QRELS, RUNS, "RR P@1")
    found = {(one.first, one.second): one for one in comparison.orders(p=0.8).pairs}
    assert len(found) == 3
    runs = [
        {"of": {name: round(one.means()[measure], 12) for name, one in comparison.evaluations.items()}}
        for measure in ("RR", "P@1")
    ]
    expected = dh.agree(*runs, p=0.8).means()
    own = found["RR", "P@1"]
    assert (own.tau_b, own.tau_ap, own.rbo) == pytest.approx((expected["tau_b"], expected["tau_ap"], expected["rbo_a"]))


def test_lower_is_better_turns_the_order() -> None:
    (found,) = (one for one in dh.compare(QRELS, RUNS, "RR MR").orders().pairs if one.second == "MR")
    exact = [[dh.evaluate(QRELS, run, measure).means()[measure] for run in RUNS.values()] for measure in ("RR", "MR")]
    assert found.tau_b == pytest.approx(stats.kendalltau(exact[0], -np.array(exact[1]))[0])


def test_what_ties_do_to_an_order_takes_every_pair_and_says_so() -> None:
    comparison = dh.compare(QRELS, RUNS, "RR P@1", baseline="a", n_resamples=99)
    found = comparison.orders()
    assert all(np.isnan([pair.tie_tau, pair.tie_tau_low]).all() for pair in found.pairs)
    (why,) = {pair.tie_unknown for pair in found.pairs}
    assert "baseline" in why
    text = " ".join(as_text(report_orders(found), width=100).plain.split())
    assert text.count(f"not known: {why}") == 1
    every = dh.compare(QRELS, RUNS, "RR", n_resamples=99).orders()
    assert {pair.tie_unknown for pair in every.pairs} == {""}
    assert "not known" not in as_text(report_orders(every)).plain
    alike = dh.compare(QRELS, {"a": RUNS["a"], "b": RUNS["a"]}, "RR", n_resamples=99).orders()
    (why_alike,) = {pair.tie_unknown for pair in alike.pairs}
    assert why_alike.startswith("no two systems have different ")


def test_a_tau_over_ties_of_unknown_probabilities_is_unknown_and_its_range_is_not() -> None:
    comparison = dh.compare(QRELS, RUNS, "RR", n_resamples=99)
    (known,) = comparison.orders().pairs
    vague = [replace(pair, flip_standard_error=0.4) for pair in comparison.pairs]
    found = replace(comparison, pairs=Pairs.of(vague)).orders().pairs[0]
    assert np.isnan([found.tie_tau, found.tie_tau_ap]).all()
    assert (found.tie_tau_low, found.tie_tau_high) == (known.tie_tau_low, known.tie_tau_high)
    assert "probabilities" in found.tie_unknown
    assert known.tie_unknown == ""


def test_significant_under_one_rule_only() -> None:
    """The relevant document is last in its tie by document id, and in the mean before half of it."""
    qrels = {f"q{n}": {"a": 1} for n in range(12)}
    tied = {query: {"a": 1.0, "b": 1.0, "c": 0.0} for query in qrels}
    second = {query: {"b": 2.0, "a": 1.0} for query in qrels}
    comparison = dh.compare(qrels, {"tied": tied, "second": second}, "RR")
    row = comparison.significant_by_one_rule().row(0, named=True)
    assert (row["system"], row["rule"], row["doc_id_difference"]) == ("second", "expected", 0.0)
    one, other = (dh.evaluate(qrels, run, "RR", ties="doc_id")["RR"].values for run in (second, tied))
    pair = dh.paired_test(one, other)
    assert row["doc_id_p_adjusted"] == pytest.approx(pair.p_value)
    assert row["p_adjusted"] == comparison.pairs[0].p_adjusted
    assert "Significant under one tie rule only" in comparison.to_markdown(compact=False)
    assert re.search("1 difference significant .* one tie rule only", str(comparison))
    for width in (40, 80):
        text = as_text(report_comparison(comparison, qrels="q.txt"), width=width).plain
        table = text.partition("Significant under one tie rule only\n")[2]
        shown = next(line for line in table.splitlines() if line.startswith("RR")).split()
        assert "0.0005*" in shown  # significant by this rule
        assert (format_cell(row["doc_id_p_adjusted"]) in shown) == (width == 80)
        assert max(map(len, text.split("\n"))) <= width


@pytest.mark.parametrize("correction", ["holm", "none"])
def test_a_stratum_is_not_compared_with_p_values_of_another_correction(correction: str) -> None:
    """Nothing ties: over both strata p is 0.0625 under either rule, within one it would be 0.0312."""
    qrels = {f"q{n:02}": {"a": 1} for n in range(12)}
    runs = {name: {query: {"a": score, "b": 1.0} for query in qrels} for name, score in (("good", 2.0), ("poor", 0.5))}
    table = [{"query_id": query, "half": query < "q06"} for query in qrels]
    parts = dh.compare(qrels, runs, "RR", correction=correction).by("half", dh.Queries.of(table))
    assert {part.pairs[0].p_value for part in parts.values()} == {2 / 2**6}
    assert [len(part.significant_by_one_rule()) for part in parts.values()] == [0, 0]
    tied = {query: {"a": 1.0, "b": 1.0} for query in qrels}
    found = dh.compare(qrels, {"tied": tied, "poor": runs["poor"]}, "RR", correction=correction).by("half", table)
    n_rows = [len(part.significant_by_one_rule()) for part in found.values()]
    assert n_rows == ([1, 1] if correction == "none" else [0, 0])


def test_what_is_explained_is_shown_at_80_columns() -> None:
    """Names without a place for a break are wider than the last column has to be: other columns are left out."""
    names = {name: f"long4name4of4a4system4{name}" for name in RUNS}
    found = dh.compare(QRELS, {names[name]: run for name, run in RUNS.items()}, "RR").orders()
    shown = as_text(report_orders(found), width=80).plain
    heading = shown.split("\n")[1].split()
    assert heading[-3:] == ["by", "ties", "swapped"]
    assert max(map(len, shown.split("\n"))) <= 80
