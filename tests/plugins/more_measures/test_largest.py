"""MaxRel: the sum of Hit over all thresholds, exact for long ties, fast for many judgments."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

import deadheat as dh
from support.command import ok

if TYPE_CHECKING:
    from pathlib import Path


def exact_moments(relevance: list[Fraction], n_tied: int, inside: int) -> tuple[Fraction, Fraction]:
    """Mean and variance of the largest relevance among `inside` of `n_tied` documents, by counting subsets."""
    all_subsets = math.comb(n_tied, inside)
    descending = sorted(relevance, reverse=True)
    chances = [Fraction(math.comb(n_tied - place - 1, inside - 1), all_subsets) for place in range(len(descending))]
    mean = sum((chance * value for chance, value in zip(chances, descending, strict=True)), Fraction(0))
    squares = sum((chance * value**2 for chance, value in zip(chances, descending, strict=True)), Fraction(0))
    return mean, squares - mean**2


@pytest.mark.parametrize(("n_tied", "n_judged", "cutoff"), [(60, 50, 10), (1_000, 50, 1), (1_000, 400, 999), (7, 7, 7)])
def test_one_long_tie(n_tied: int, n_judged: int, cutoff: int) -> None:
    rng = random.Random(n_tied + cutoff)
    values = [Fraction(rng.randrange(1, 4_096), 4_096) for _ in range(n_judged)]
    qrels = {"q": {f"d{number}": float(value) for number, value in enumerate(values)}}
    run = {"q": dict.fromkeys((f"d{number}" for number in range(n_tied)), 0.5)}
    scores = dh.evaluate(qrels, run, [dh.MaxRel @ cutoff])[f"MaxRel@{cutoff}"]
    mean, variance = exact_moments(values, n_tied, cutoff)
    assert scores.values[0] == pytest.approx(float(mean), rel=1e-13)
    assert scores.tie_std[0] ** 2 == pytest.approx(float(variance), rel=1e-9, abs=1e-15)


def test_sum_of_hits_over_thresholds() -> None:
    rng = random.Random(3)
    qrels = {f"q{query}": {f"d{doc}": rng.choice([-1, 0, 0.25, 0.5, 2]) for doc in range(9)} for query in range(40)}
    run = {f"q{query}": {f"d{doc}": float(rng.randrange(3)) for doc in range(12)} for query in range(40)}
    thresholds = [0.25, 0.5, 2]
    evaluation = dh.evaluate(qrels, run, ["MaxRel@4", *(f"Hit(rel={level})@4" for level in thresholds)])
    steps = np.diff(thresholds, prepend=0)
    hits = sum(step * evaluation[f"Hit(rel={level})@4"].values for step, level in zip(steps, thresholds, strict=True))
    np.testing.assert_allclose(evaluation["MaxRel@4"].values, hits, atol=1e-14)


def test_binary_relevance_makes_it_a_hit() -> None:
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
    means = dh.evaluate({"q": {"a": 1, "b": 0}}, run, ["MaxRel@2", "Hit@2", "MaxRel", "Hit"]).means()
    assert means["MaxRel@2"] == pytest.approx(means["Hit@2"])
    assert means["MaxRel"] == means["Hit"] == 1


def test_queries_without_positive_relevance_are_reported_as_such() -> None:
    evaluation = dh.evaluate({"q": {"a": -1, "b": 0}, "p": {"a": 0.1}}, {"q": {"a": 1.0}, "p": {"a": 1.0}}, ["MaxRel"])
    assert evaluation["MaxRel"].values.tolist() == [0.1, 0.0]
    assert evaluation["MaxRel"].spread.has_relevant.tolist() == [True, False]


@pytest.mark.slow
def test_equal_relevance_throughout_a_cut_tie_leaves_no_spread() -> None:
    """The probabilities of which document is the best one inside add up to 1 but for rounding."""
    for n in range(2, 30):
        docs = {f"d{place}": 0.7 for place in range(n)}
        for cutoff in range(1, n):
            scores = dh.evaluate({"q": docs}, {"q": dict.fromkeys(docs, 1.0)}, [dh.MaxRel @ cutoff])[f"MaxRel@{cutoff}"]
            assert (scores.values[0], scores.tie_std[0]) == (0.7, 0)


def test_a_hit_that_is_sure_is_1_and_has_no_spread() -> None:
    """Also where the ranks that are looked at end before the tie does: beyond them is less than 1e-20."""
    for n, relevant in ((3, 2), (49, 3), (1_000, 200), (5_000, 50)):
        qrels = {"q": {f"d{place}": 1 for place in range(relevant)}}
        run = {"q": {f"d{place}": 1.0 for place in range(n)}}
        scores = dh.evaluate(qrels, run, ["Hit"])["Hit"]
        assert (scores.values[0], scores.tie_std[0], scores.tie_min[0], scores.tie_max[0]) == (1, 0, 1, 1)


def similarities(n_queries: int, n_near: int) -> tuple[dict[str, dict[str, float]], dict[str, list[str]]]:
    """Queries that find what is expected, which is similar by 1, but for some that find what is similar by 0.7."""
    qrels = {f"q{n}": {"exact": 1.0, "near": 0.7} for n in range(n_queries)}
    return qrels, {f"q{n}": ["near"] if n < n_near else ["exact"] for n in range(n_queries)}


@pytest.mark.parametrize("n_queries", [5, 30, 110])
@pytest.mark.parametrize("n_near", [1, 3])
def test_intervals_lie_between_0_and_the_highest_relevance(n_queries: int, n_near: int) -> None:
    evaluation = dh.evaluate(*similarities(n_queries, n_near), "MaxRel@5 Hit@5")
    interval = evaluation["MaxRel@5"].interval()
    assert interval.mean == pytest.approx((n_queries - 0.3 * n_near) / n_queries)
    assert 0 <= interval.low < interval.mean < interval.high <= 1
    assert interval.method == "gaffke"  # as of other measures with two limits


def test_the_limits_are_those_of_the_judgments_in_strata_and_saves_too(tmp_path: Path) -> None:
    qrels = {f"q{n}": {"a": 3 if n == 0 else 1, "b": 0} for n in range(12)}
    evaluation = dh.evaluate(qrels, {f"q{n}": ["a"] if n % 2 else ["b"] for n in range(12)}, "MaxRel@5")
    evaluation.save(tmp_path / "saved.json")
    parts = [evaluation, dh.load_evaluation(tmp_path / "saved.json"), evaluation.select(np.arange(1, 12))]
    for part in parts:
        assert part["MaxRel@5"].limits == (0, 3)  # the highest in the whole qrels, also where q0 is not
    assert dh.evaluate({"q": {"a": 0.4}}, {"q": ["a"]}, "MaxRel")["MaxRel"].limits == (0, 1)
    assert parts[1].intervals()["MaxRel@5"].high == evaluation.intervals()["MaxRel@5"].high <= 3


def test_gaffkes_bounds_are_taken_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "q.qrels").write_text("".join(f"q{n} 0 a 1\nq{n} 0 b 0.5\n" for n in range(4)))
    (tmp_path / "r.run").write_text("".join(f"q{n} Q0 {'ab'[n % 2]} 1 1 t\n" for n in range(4)))
    files = (tmp_path / "q.qrels", tmp_path / "r.run")
    document = json.loads(ok("evaluate", *files, "-m", "MaxRel@5", "--ci", "--ci-method", "gaffke", "--format", "json"))
    scores = document["scores"]["r"]["MaxRel@5"]
    assert scores["value"] == 0.75 < scores["high"] <= 1
