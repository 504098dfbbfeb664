"""compare() over strata, clusters, saved evaluations, drawn ties and odd data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import scipy

import deadheat as dh
from deadheat.errors import DataError, ParameterError
from oracle.tukey import enumerated
from support.random_runs import QRELS, RUNS, random_runs, values

if TYPE_CHECKING:
    from pathlib import Path

untyped: Any = scipy  # its stubs want literals


def test_corrections_reach_over_all_strata() -> None:
    queries = pl.DataFrame({"query_id": list(QRELS), "level": ["easy", "hard"] * 15})
    found = dh.compare(QRELS, RUNS, "AP", baseline="weak", test="t", correction="bonferroni").by("level", queries)
    for part in found.values():
        for pair in part.pairs:
            assert pair.p_adjusted == pytest.approx(min(1.0, 4 * pair.p_value))  # two strata of two rows
            assert pair.significant is (pair.p_adjusted < 0.05)
    assert {pair.significant for part in found.values() for pair in part.pairs} == {True, False}


def test_strata_keep_the_margin_and_what_is_to_be_detected() -> None:
    queries = pl.DataFrame({"query_id": list(QRELS), "level": ["easy", "hard"] * 15})
    found = dh.compare(QRELS, RUNS, "AP", margin=0.5, detect=0.1).by("level", queries)
    assert {(part.margin, part.detect) for part in found.values()} == {(0.5, 0.1)}


@pytest.mark.parametrize(("test", "p"), [("t", math.nan), ("bootstrap", math.nan), ("randomization", 0.5)])
def test_one_difference_throughout_is_no_evidence_of_spread(test: str, p: float) -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    sure, unsure = ({query: {"a": score, "b": 0.0} for query in qrels} for score in (1.0, -1.0))
    (pair,) = dh.compare(qrels, {"unsure": unsure, "sure": sure}, "RR", test=test).pairs
    assert pair.p_value == pytest.approx(p, nan_ok=True)
    assert not pair.significant


def some(name: str, numbers: range) -> dict[str, Any]:
    """Return a run of some queries."""
    return {query: docs for query, docs in RUNS[name].items() if int(query[1:]) in numbers}


def test_disjoint_runs_are_refused_where_they_are_compared() -> None:
    halves = {"weak": some("weak", range(15)), "good": some("good", range(15, 30))}
    with pytest.raises(DataError, match=r"weak and good .*15 and 15"):
        dh.compare(QRELS, halves, "RR", missing="skip")
    three = {"fair": RUNS["fair"], **halves}
    assert [pair.n_queries for pair in dh.compare(QRELS, three, "RR", missing="skip", baseline="fair").pairs] == [
        15,
        15,
    ]
    with pytest.raises(DataError, match="weak and good"):
        dh.compare(QRELS, three, "RR", missing="skip")
    with pytest.raises(ParameterError, match="only 0, where a pair has 15"):
        dh.compare(QRELS, three, "RR", missing="skip", baseline="fair", test="tukey")


@pytest.mark.slow
def test_a_stratum_that_a_run_lacks_has_rows_without_numbers() -> None:
    queries = pl.DataFrame({"query_id": list(QRELS), "level": ["easy"] * 10 + ["hard"] * 20})
    runs = {"weak": RUNS["weak"], "fair": RUNS["fair"], "good": some("good", range(10, 30))}
    found = dh.compare(QRELS, runs, "AP", missing="skip", test="t", correction="bonferroni").by("level", queries)
    rows = {(level, pair.system, pair.baseline): pair for level, part in found.items() for pair in part.pairs}
    assert [pair.n_queries for pair in rows.values()] == [10, 0, 0, 20, 20, 20]
    for test in ("t", "randomization", "wilcoxon"):
        part = dh.compare(QRELS, runs, "AP", missing="skip", test=test).by("level", queries)["easy"]
        for pair in part.pairs[1:]:
            numbers = (pair.mean, pair.difference, pair.low, pair.high, pair.p_value, pair.p_adjusted, pair.std)
            assert all(math.isnan(number) for number in numbers)
            assert (pair.significant, pair.can_flip, pair.wins) == (False, False, 0)
        assert part.to_polars()["p_value"].null_count() == 2
        assert part.sample_sizes()["n_needed"].null_count() >= 2
        assert part.equivalence(0.1)["equivalent"].to_list()[1:] == [False, False]
        assert math.isnan(part.intervals["good", "AP"].mean)
    # what was not tested does not count among the tests: four p values are left
    tested = rows["easy", "fair", "weak"]
    assert tested.p_adjusted == pytest.approx(min(1, 4 * tested.p_value))


def test_tukey_by_enumeration() -> None:
    qrels, runs = random_runs(n_queries=5, seed=2)
    exact = enumerated(np.column_stack([values(qrels, run, "AP") for run in runs.values()]))
    names = list(runs)
    found = dh.compare(qrels, runs, "AP", test="tukey", n_resamples=40_000)
    for pair in found.pairs:
        expected = exact[names.index(pair.system), names.index(pair.baseline)]
        assert pair.p_value == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / 40_000))
        assert pair.p_adjusted == pair.p_value
    assert len({round(pair.p_value, 2) for pair in found.pairs}) == 3


def test_tukey_needs_the_same_queries_of_all() -> None:
    runs = {"weak": RUNS["weak"], "good": RUNS["good"], "short": some("fair", range(2))}
    message = r"by RR only 2, where a pair has 30\. short has the fewest, 2: leave it out, or choose another test"
    with pytest.raises(ParameterError, match=message):
        dh.compare(QRELS, runs, "RR", missing="skip", test="tukey")
    with pytest.raises(ParameterError, match=message):
        dh.compare(QRELS, runs, "RR", missing="skip", test="tukey", baseline="weak")
    equally_short = {name: some(name, range(9)) for name in RUNS}
    assert dh.compare(QRELS, equally_short, "RR", missing="skip", test="tukey").pairs[0].n_queries == 9


def test_intervals_of_systems_are_of_clusters() -> None:
    cluster = np.arange(30) // 5
    found = dh.compare(QRELS, RUNS, "AP", method="t", cluster=cluster.tolist()).intervals["good", "AP"]
    own = values(QRELS, RUNS["good"], "AP")
    sums = np.array([own[cluster == n].sum() for n in range(6)])
    error = math.sqrt(6 / 5 * ((sums - 5 * own.mean()) ** 2).sum()) / 30
    assert (found.n_queries, found.n_clusters) == (30, 6)
    assert found.standard_error == pytest.approx(error)
    assert found.low == pytest.approx(own.mean() - untyped.stats.t.ppf(0.975, 5) * error)


def test_drawn_ties_are_those_of_the_seed_and_each_run_has_its_own() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(30)}
    tied = {query: {"a": 1.0, "b": 1.0} for query in qrels}

    def drawn(rng: Any) -> list[float]:  # noqa: ANN401 - whatever a seed may be
        found = dh.compare(qrels, {"one": tied, "two": tied}, "RR", ties="random", rng=rng)
        return found.differences[:, 0].tolist()

    assert any(drawn(3))
    assert drawn(3) == drawn(3) == drawn(np.int64(3))
    assert drawn(3) != drawn(4)
    assert drawn(np.random.default_rng(1)) == drawn(np.random.default_rng(1))


def test_trec_evals_rule_sees_rounded_scores() -> None:
    close, sure = {"q": {"a": 0.52, "z": 0.49}}, {"q": {"a": 0.9, "z": 0.1}}
    (pair,) = dh.compare({"q": {"a": 1}}, {"sure": sure, "close": close}, "RR", score_precision=1).pairs
    assert (pair.difference, pair.doc_id_difference) == (3 / 4 - 1, 1 / 2 - 1)
    (pair,) = dh.compare({"q": {"a": 1}}, {"sure": sure, "close": close}, "RR").pairs
    assert (pair.difference, pair.doc_id_difference) == (0, 0)


def test_measures_may_be_named_one_by_one() -> None:
    found = dh.compare(QRELS, RUNS, (name for name in ["RR", "AP"]))
    assert [pair.measure for pair in found.pairs] == ["RR"] * 3 + ["AP"] * 3


@pytest.mark.parametrize(("n_resamples", "confidence_level"), [(99, 0.99), (199, 0.995), (124, 0.992), (999, 0.999)])
def test_a_p_value_that_equals_the_level_is_not_below_it(n_resamples: int, confidence_level: float) -> None:
    options: dict[str, Any] = {"test": "bootstrap", "n_resamples": n_resamples}
    two = {"weak": RUNS["weak"], "good": RUNS["good"]}
    for level, is_below in ((confidence_level, False), (confidence_level - 1e-9, True)):
        (pair,) = dh.compare(QRELS, two, "AP", confidence_level=level, **options).pairs
        assert pair.p_value == 1 / (n_resamples + 1)
        assert bool(dh.stats.significant(pair.p_adjusted, 1 - level)) is is_below
        assert (pair.significant, pair.undecided, pair.p_is_bound) == (False, True, True)  # another seed has more
        queries = {query: {"part": "all"} for query in QRELS}
        (part,) = dh.compare(QRELS, two, "AP", confidence_level=level, **options).by("part", queries).values()
        names = ("p_adjusted", "significant", "undecided", "p_is_bound")
        assert [getattr(part.pairs[0], name) for name in names] == [getattr(pair, name) for name in names]


@pytest.mark.slow
def test_saved_evaluations_are_compared_by_their_paths(tmp_path: Path) -> None:
    parts = {name: dh.evaluate(QRELS, run, "AP") for name, run in RUNS.items()}
    for name, evaluation in parts.items():
        evaluation.save(tmp_path / f"{name}.json")
    saved = dh.compare_evaluations({name: tmp_path / f"{name}.json" for name in parts})
    ours, theirs = (one.to_polars().drop("flip_probability") for one in (dh.compare_evaluations(parts), saved))
    assert ours.equals(theirs)


def test_evaluations_with_the_same_measures_in_another_order() -> None:
    mine = dh.Custom("mine", lambda relevance: float(relevance[0]))
    one, other = (dh.evaluate(QRELS, RUNS[name], ["AP", "RR", mine]) for name in ("weak", "good"))
    turned = dh.evaluate(QRELS, RUNS["good"], [mine, "RR", "AP"])
    expected = dh.compare_evaluations({"weak": one, "good": other})
    assert dh.compare_evaluations({"weak": one, "good": turned}).to_polars().equals(expected.to_polars())


def test_evaluations_that_cannot_be_compared() -> None:
    weak = dh.evaluate(QRELS, RUNS["weak"], "AP")
    for other, message in (
        (
            dh.evaluate(QRELS, RUNS["good"], "AP", ties="best", score_precision=3),
            r"evaluated under different conventions \(ties 'expected' and 'best', score_precision None and 3\)",
        ),
        (
            dh.evaluate(QRELS, RUNS["good"], ["AP", "RR"]),
            r"a and b were evaluated with different measures \(AP and AP, RR\)",
        ),
        (
            dh.evaluate({**QRELS, "q00": {"d0": 2}}, RUNS["good"], "AP"),
            r"a and b were evaluated with different qrels \(SHA-256 \w{12} .*; from b to a: 30 queries: 29 the same",
        ),
    ):
        with pytest.raises(DataError, match=message):
            dh.compare_evaluations({"a": weak, "b": other})


def test_the_sign_that_can_be_reversed_is_that_of_the_exact_difference() -> None:
    found = dh.compare(QRELS, RUNS, "RR", ties="doc_id")
    exact = dh.compare(QRELS, RUNS, "RR")
    for one, other in zip(found.pairs, exact.pairs, strict=True):
        assert one.expected_difference == other.difference
        assert one.flip_probability == other.flip_probability
        assert one.difference == pytest.approx(one.doc_id_difference)
