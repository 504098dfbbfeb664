"""compare(): its numbers worked out in other ways, on small cases and on real runs."""

import math
from collections.abc import Iterable
from dataclasses import fields
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy

import deadheat as dh
from deadheat.api import FloatArray
from deadheat.core import stats
from deadheat.core.design import Design
from deadheat.errors import DataError, ParameterError, UnknownMeasureError
from deadheat.plugins.compare.least_p import least_p, least_ps, n_units, units_of
from deadheat.plugins.compare.pair import Pair, Pairs
from deadheat.plugins.compare.report import report_comparison
from oracle.signed_ranks import signed_rank
from support.numbers_in_text import numbers_in
from support.random_runs import QRELS, RUNS, hits, random_runs, values
from support.shared_data import LLM_RUNS, llm_qrels, llm_run, needs_shared_data

untyped: Any = scipy  # its stubs want literals
MEASURES = ["nDCG@10", "AP", "RR", "P@3"]
COLUMNS = (
    *("measure", "system", "baseline", "mean", "baseline_mean", "difference", "low", "high", "p_value", "p_adjusted"),
    *("significant", "effect_size", "wins", "draws", "losses", "flip_probability", "can_flip"),
)


def test_columns_are_those_of_the_contract() -> None:
    frame = dh.compare(QRELS, RUNS, MEASURES, baseline="weak").to_polars()
    assert tuple(frame.columns) == COLUMNS
    assert frame.height == 8
    assert frame["system"].unique().sort().to_list() == ["fair", "good"]


def test_every_pair_without_a_baseline() -> None:
    found = dh.compare(QRELS, RUNS, "RR")
    assert [(pair.system, pair.baseline) for pair in found.pairs] == [
        ("fair", "weak"),
        ("good", "weak"),
        ("good", "fair"),
    ]


@pytest.mark.parametrize("measure", MEASURES)
def test_numbers_without_a_test(measure: str) -> None:
    (pair,) = (p for p in dh.compare(QRELS, RUNS, MEASURES, baseline="weak")[measure] if p.system == "good")
    good, weak = values(QRELS, RUNS["good"], measure), values(QRELS, RUNS["weak"], measure)
    difference = good - weak
    assert pair.mean == pytest.approx(good.mean(), abs=1e-15)
    assert pair.baseline_mean == pytest.approx(weak.mean(), abs=1e-15)
    assert pair.difference == pytest.approx(difference.mean(), abs=1e-15)
    assert pair.effect_size == pytest.approx(difference.mean() / difference.std(ddof=1))
    assert pair.std == pytest.approx(difference.std(ddof=1))
    assert pair.standard_error == pytest.approx(difference.std(ddof=1) / math.sqrt(30))
    counts = tuple(int(sign) for sign in ((difference > 1e-9).sum(), (abs(difference) <= 1e-9).sum()))
    assert (pair.wins, pair.draws) == counts
    assert pair.wins + pair.draws + pair.losses == pair.n_queries == 30


def test_of_a_rank_less_is_better() -> None:
    (pair,) = dh.compare(QRELS, {"weak": RUNS["weak"], "good": RUNS["good"]}, "MR", baseline="weak").pairs
    assert pair.difference < 0
    assert pair.wins > pair.losses


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_p_values_are_those_of_scipy(alternative: str) -> None:
    good, weak = values(QRELS, RUNS["good"], "AP"), values(QRELS, RUNS["weak"], "AP")
    pair_of = {
        test: dh.compare(
            QRELS, {name: RUNS[name] for name in ("weak", "good")}, "AP", test=test, alternative=alternative
        ).pairs[0]
        for test in ("t", "wilcoxon", "sign", "randomization", "bootstrap")
    }
    assert pair_of["t"].p_value == pytest.approx(untyped.stats.ttest_rel(good, weak, alternative=alternative).pvalue)
    billionths = np.round((good - weak) * 1e9)  # sizes that only rounding tells apart are equal
    assert pair_of["wilcoxon"].p_value == pytest.approx(signed_rank(billionths, alternative))
    wins, losses = int((good - weak > 1e-12).sum()), int((good - weak < -1e-12).sum())
    expected = untyped.stats.binomtest(wins, wins + losses, alternative=alternative).pvalue
    assert pair_of["sign"].p_value == pytest.approx(expected)
    sampled = untyped.stats.permutation_test(
        (good, weak),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        alternative=alternative,
        n_resamples=20_000,
        rng=1,
    ).pvalue
    assert pair_of["randomization"].p_value == pytest.approx(sampled, abs=0.01)
    assert pair_of["bootstrap"].p_value == pytest.approx(sampled, abs=0.02)


@pytest.mark.slow
def test_corrections_are_over_the_rows_of_one_measure() -> None:
    raw = dh.compare(QRELS, RUNS, MEASURES, test="t", correction="none")
    for correction, method in (("bonferroni", None), ("holm", None), ("bh", "bh")):
        found = dh.compare(QRELS, RUNS, MEASURES, test="t", correction=correction)
        for measure in MEASURES:
            p = np.array([pair.p_value for pair in raw[measure]])
            if method:
                expected = untyped.stats.false_discovery_control(p, method=method)
            elif correction == "bonferroni":
                expected = np.minimum(1, p * len(p))
            else:
                order = np.argsort(p)
                expected = np.empty_like(p)
                expected[order] = np.minimum(1, np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p)))))
            assert [pair.p_adjusted for pair in found[measure]] == pytest.approx(expected)
            assert [pair.significant for pair in found[measure]] == [bool(value < 0.05) for value in expected]


def test_interval_is_that_of_the_differences() -> None:
    (pair,) = dh.compare(QRELS, {"weak": RUNS["weak"], "good": RUNS["good"]}, "AP", method="t").pairs
    difference = values(QRELS, RUNS["good"], "AP") - values(QRELS, RUNS["weak"], "AP")
    expected = untyped.stats.ttest_1samp(difference, 0).confidence_interval(0.95)
    assert (pair.low, pair.high) == pytest.approx((expected.low, expected.high))


def test_wilcoxon_of_tenths_is_that_of_whole_numbers() -> None:
    counts = np.random.default_rng(4).integers(0, 10, (2, 25))
    qrels, runs = hits(one=counts[0].tolist(), other=counts[1].tolist())
    (pair,) = dh.compare(qrels, runs, "P@10", test="wilcoxon").pairs
    assert pair.p_value == pytest.approx(signed_rank(counts[1] - counts[0], "two-sided"), rel=1e-12)
    assert pair.exact_p_value


def test_tukey_is_stricter_than_the_single_test() -> None:
    single = dh.compare(QRELS, RUNS, "AP", correction="none")
    family = dh.compare(QRELS, RUNS, "AP", test="tukey")
    for one, other in zip(single.pairs, family.pairs, strict=True):
        assert other.p_value == other.p_adjusted >= one.p_value - 0.01


def explicit_values(qrels: dict[str, Any], run: dict[str, Any], rng: np.random.Generator, n_draws: int) -> FloatArray:
    """Give the mean RR of random orders of the ties, each sorted out explicitly: shape (n_draws,)."""
    total = np.zeros(n_draws)
    for query, judged in qrels.items():
        scores = np.array([run[query][doc] for doc in judged], float)
        relevant = np.array(list(judged.values())) > 0
        order = np.lexsort((rng.random((n_draws, len(scores))), np.broadcast_to(-scores, (n_draws, len(scores)))))
        first = relevant[order].argmax(axis=1) + 1
        total += np.where(relevant.any(), 1 / first, 0.0)
    return total / len(qrels)


def test_flip_probability_against_simulated_tie_breaks() -> None:
    qrels, runs = random_runs(n_queries=12, levels=2, seed=3)
    rng = np.random.default_rng(5)
    drawn = {name: explicit_values(qrels, run, rng, 10_000) for name, run in runs.items()}
    for pair in dh.compare(qrels, runs, "RR").pairs:
        signs = np.sign(drawn[pair.system] - drawn[pair.baseline])
        share = float((signs == -np.sign(pair.difference)).mean())
        assert pair.flip_probability == pytest.approx(share, abs=0.02)
        assert pair.can_flip == (share > 0) or pair.flip_probability < 1e-3


def test_flip_by_enumeration_of_a_small_case() -> None:
    qrels = {"q": {"a": 1}}
    runs = {"tied": {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}, "second": {"q": {"b": 2.0, "a": 1.0, "c": 0.0}}}
    (pair,) = dh.compare(qrels, runs, "RR", baseline="tied").pairs
    # tied: 1, 1/2, 1/3 with mean 11/18; second: 1/2. Reversed where the tied one falls below 1/2.
    assert pair.difference == pytest.approx(1 / 2 - 11 / 18)
    assert pair.flip_probability == pytest.approx(1 / 3)
    assert (pair.can_flip, pair.flip_method) == (True, "exact")
    assert pair.tie_standard_error == pytest.approx(np.std([1, 1 / 2, 1 / 3]))
    # one query: no interval, and no evidence
    assert math.isnan(pair.low)
    assert pair.p_value == 1.0
    assert not pair.significant


def test_what_trec_eval_would_rank_the_other_way() -> None:
    judged = {query: {"z": 1} for query in ("q1", "q2", "q3")}
    first, second = {"z": 2.0, "a": 1.0}, {"a": 2.0, "z": 1.0}
    runs = {
        "tied": {query: {"a": 1.0, "z": 1.0} for query in judged},  # 3/4 each; trec_eval puts z first: 1
        "late": {query: {"z": 1.0, "zz": 1.0} for query in judged},  # 3/4 each; here it puts z behind: 1/2
        "good": {"q1": first, "q2": first, "q3": second},
        "fair": {"q1": first, "q2": second, "q3": second},
    }
    exact = {"tied": 3 / 4, "late": 3 / 4, "good": (1 + 1 + 1 / 2) / 3, "fair": (1 + 1 / 2 + 1 / 2) / 3}
    by_id = exact | {"tied": 1.0, "late": 1 / 2}
    pairs = {(p.system, p.baseline): p for p in dh.compare(judged, runs, "RR").pairs}
    for (system, baseline), pair in pairs.items():
        assert pair.difference == pytest.approx(exact[system] - exact[baseline])
        assert pair.doc_id_difference == pytest.approx(by_id[system] - by_id[baseline])
    # 5/6 - 3/4 is above 0, 5/6 - 1 below; 2/3 - 3/4 is below, 2/3 - 1/2 above
    assert {names for names, pair in pairs.items() if pair.doc_id_reverses} == {("good", "tied"), ("fair", "late")}


def test_queries_without_a_value_are_left_out_of_their_pairs() -> None:
    runs = {"weak": RUNS["weak"], "good": {query: docs for query, docs in RUNS["good"].items() if query != "q03"}}
    (pair,) = dh.compare(QRELS, runs, "RR", missing="skip").pairs
    kept = [query for query in sorted(QRELS) if query != "q03"]
    expected = [values(QRELS, run, "RR")[[sorted(QRELS).index(q) for q in kept]].mean() for run in RUNS.values()]
    assert pair.n_queries == 29
    assert pair.baseline_mean == pytest.approx(expected[0])
    assert pair.mean == pytest.approx(expected[2])


def test_equal_runs() -> None:
    (pair,) = dh.compare(QRELS, {"one": RUNS["weak"], "same": RUNS["weak"]}, "AP").pairs
    assert (pair.difference, pair.p_value, pair.effect_size, pair.draws) == (0.0, 1.0, 0.0, 30)
    assert math.isnan(pair.flip_probability)
    assert not pair.significant


def test_of_clusters_the_interval_is_wider() -> None:
    qrels, runs = random_runs(n_queries=12)
    copies = [f"q{n:02d}" for n in range(12)]

    def copied(nested: dict[str, Any]) -> dict[str, Any]:
        return {f"{query}-{n}": nested[query] for query in copies for n in range(4)}

    document = {query: query.split("-")[0] for query in copied(qrels)}
    pair_of = dh.compare(qrels, {"a": runs["weak"], "b": runs["good"]}, "AP", method="t", test="t").pairs[0]
    many = {"a": copied(runs["weak"]), "b": copied(runs["good"])}
    plain = dh.compare(copied(qrels), many, "AP", method="t", test="t").pairs[0]
    clustered = dh.compare(copied(qrels), many, "AP", method="t", test="t", cluster=document).pairs[0]
    assert plain.high - plain.low < 0.6 * (clustered.high - clustered.low)
    assert (clustered.low, clustered.high, clustered.p_value) == pytest.approx(
        (pair_of.low, pair_of.high, pair_of.p_value)
    )


def test_strata() -> None:
    queries = pl.DataFrame({"query_id": list(QRELS), "level": ["easy", "hard"] * 15})
    found = dh.compare(QRELS, RUNS, "AP", baseline="weak").by("level", queries)
    assert list(found) == ["easy", "hard"]
    easy = {query: judged for n, (query, judged) in enumerate(QRELS.items()) if n % 2 == 0}
    alone = dh.compare(easy, RUNS, "AP", baseline="weak")
    for one, other in zip(found["easy"].pairs, alone.pairs, strict=True):
        assert one.difference == pytest.approx(other.difference)
        assert one.p_value == pytest.approx(other.p_value)


@pytest.mark.slow
def test_evaluations_at_hand_are_compared_alike() -> None:
    direct = dh.compare(QRELS, RUNS, MEASURES)
    parts = {name: dh.evaluate(QRELS, run, MEASURES) for name, run in RUNS.items()}
    assert dh.compare_evaluations(parts).to_polars().equals(direct.to_polars())
    other = dh.evaluate({**QRELS, "q00": {"d0": 2}}, RUNS["fair"], MEASURES)
    with pytest.raises(DataError, match="qrels"):
        dh.compare_evaluations({"weak": parts["weak"], "fair": other})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "waek"}, "Did you mean 'weak'"),
        ({"test": "randomisation"}, "Did you mean 'randomization'"),
        ({"correction": "holmes"}, "Did you mean 'holm'"),
        ({"alternative": "more"}, "two-sided"),
        ({"method": "bcaa"}, "Did you mean 'bca'"),
        ({"confidence_level": 95}, "confidence_level"),
        ({"n_resamples": 98}, "n_resamples must be a whole number from 99 on, got 98"),
        ({"test": "tukey", "alternative": "less"}, "two-sided"),
        ({"test": "sign", "cluster": dict.fromkeys(QRELS, "one")}, "cluster"),
        ({"cluster": {"q00": "a"}}, "cluster"),
        (
            {"queries": "no such file.csv"},
            "queries is the table that has the column of clusters: name the column, .* got none",
        ),
        ({"rng": -1}, "rng must be a whole number from 0 on, a numpy.random.Generator or None, got -1"),
        ({"rng": 0.5, "ties": "random"}, "rng must be a whole number from 0 on, .* got 0.5"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        dh.compare(QRELS, RUNS, "RR", **options)


def test_one_run_is_no_comparison() -> None:
    with pytest.raises(ParameterError, match="two runs or more, got 1"):
        dh.compare(QRELS, {"weak": RUNS["weak"]}, "RR")


def test_a_measure_that_was_not_compared() -> None:
    with pytest.raises(UnknownMeasureError, match="this evaluation holds RR"):
        dh.compare(QRELS, RUNS, "RR")["AP"]


@pytest.mark.slow
@needs_shared_data
def test_twelve_real_judges() -> None:
    qrels, runs = llm_qrels(), {name: llm_run(name) for name in LLM_RUNS}
    found = dh.compare(qrels, runs, ["nDCG@10", "AP"])
    assert len(found["nDCG@10"]) == 66
    means = {name: dh.evaluate(qrels, run, "nDCG@10")["nDCG@10"] for name, run in runs.items()}
    rule = {name: dh.evaluate(qrels, run, "nDCG@10", ties="doc_id")["nDCG@10"].mean for name, run in runs.items()}
    pairs: dict[tuple[str, str], Pair] = {(pair.baseline, pair.system): pair for pair in found["nDCG@10"]}
    for one, other in combinations(runs, 2):
        pair = pairs[one, other]
        assert pair.difference == pytest.approx(means[other].mean - means[one].mean, abs=1e-12)
        assert pair.doc_id_difference == pytest.approx(rule[other] - rule[one], abs=1e-12)
        low = means[other].mean_tie_min - means[one].mean_tie_max
        high = means[other].mean_tie_max - means[one].mean_tie_min
        assert pair.can_flip == (low < 0 < high)
        deviation = math.hypot(means[one].mean_tie_std, means[other].mean_tie_std)
        assert pair.tie_standard_error == pytest.approx(deviation)
        if pair.flip_method == "normal":
            assert pair.flip_probability == pytest.approx(untyped.stats.norm.cdf(-abs(pair.difference) / deviation))
    assert sum(pair.doc_id_reverses for pair in pairs.values()) > 0


def test_names_that_are_one_as_text_are_an_error() -> None:
    """The last run counted."""
    runs: Any = {1: {"q": ["a"]}, "1": {"q": ["b"]}}
    with pytest.raises(ParameterError, match="two runs are named '1'"):
        dh.evaluate({"q": {"a": 1}}, runs, "RR")
    with pytest.raises(ParameterError, match="two runs are named '1'"):
        dh.compare({"q": {"a": 1}}, runs, "RR")


def drawn_systems(n_systems: int, n_queries: int, seed: int, levels: int = 6) -> dict[str, dh.Evaluation]:
    """Evaluations of systems by measures whose differences are seldom 0, and often: with up to 30 that are not."""
    rng = np.random.default_rng(seed)
    docs = [f"d{n}" for n in range(12)]
    qrels = dh.Qrels({f"q{n:02}": {doc: int(rng.integers(3)) for doc in docs} for n in range(n_queries)})
    runs = {
        f"s{n:02}": dh.Run({query: {doc: float(rng.integers(levels)) for doc in docs} for query in qrels.to_dict()})
        for n in range(n_systems)
    }
    return dh.evaluate(qrels, runs, ["nDCG@5", "RR", "P@5"])


@pytest.mark.slow
@pytest.mark.parametrize("alternative", ["two-sided", "less"])
def test_thirty_systems_have_the_p_values_of_each_pair_alone(alternative: str) -> None:
    evaluations = drawn_systems(30, 34, seed=5, levels=10**6)
    found = dh.compare_evaluations(evaluations, alternative=alternative, n_resamples=999, rng=4)
    assert len(found.pairs) == 3 * 435
    assert 0 < sum(pair.exact_p_value for pair in found.pairs) < len(found.pairs)
    for measure in ("nDCG@5", "RR", "P@5"):
        values = {name: one[measure].values for name, one in evaluations.items()}
        pairs = found[measure]
        differences = np.column_stack([values[pair.system] - values[pair.baseline] for pair in pairs])
        alone = stats.p_values(differences, test="randomization", alternative=alternative, n_resamples=999, rng=4)
        assert [pair.p_value for pair in pairs] == pytest.approx(alone.p_values.tolist(), abs=1e-12)
        assert [pair.exact_p_value for pair in pairs] == alone.is_exact.tolist()
        assert [pair.difference for pair in pairs] == pytest.approx(differences.mean(axis=0).tolist(), abs=1e-12)
        low, high = stats.interval_bounds(differences, method="t")
        assert [pair.low for pair in pairs] == pytest.approx(low.tolist(), abs=1e-12)
        assert [pair.high for pair in pairs] == pytest.approx(high.tolist(), abs=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"test": "sign", "alternative": "greater"},
        {"cluster": {f"q{n:02}": n // 2 for n in range(4)}},
        {"test": "t", "weights": {f"q{n:02}": n + 1 for n in range(4)}},
    ],
)
def test_columns_say_of_all_pairs_what_each_says(options: dict[str, Any]) -> None:
    found = dh.compare_evaluations(drawn_systems(5, 4, seed=3, levels=2), n_resamples=199, **options)
    pairs = [*found.pairs]
    for name in (*(one.name for one in fields(Pair)), "unknown", "is_known"):
        assert list(map(repr, found.pairs.column(name).tolist())) == [repr(getattr(pair, name)) for pair in pairs]
    assert any(pair.unknown for pair in pairs)
    assert units_of(found.pairs).tolist() == [n_units(pair) for pair in pairs]
    differing = [min(pair.wins + pair.losses, pair.n_clusters or 4) for pair in pairs]
    sides = 2 if found.design.alternative == "two-sided" else 1
    least = [
        min(1.0, sides / 2**n) if pair.exact_p_value and found.design.test != "t" else 0.0
        for pair, n in zip(pairs, differing, strict=True)
    ]
    assert least_ps(found.pairs, found.design).tolist() == least == [least_p(pair, found.design) for pair in pairs]
    assert as_written(Pairs.of(pairs)) == as_written(pairs)
    above = found.pairs.column("difference") > 0
    parts = [found.pairs.where(above), found.pairs.where(~above)]
    assert as_written(parts[0]) == as_written(pair for pair in pairs if pair.difference > 0)
    assert as_written(Pairs.joined(parts)) == as_written(sorted(pairs, key=lambda pair: not pair.difference > 0))
    assert as_written(found.pairs.by("RR")) == as_written(found["RR"]) == as_written(pairs[10:20])


def as_written(pairs: Iterable[Any]) -> list[list[str]]:
    """Return every field of every pair with all its digits; NaN is that of another pair, which Python 3.13 denies."""
    return [[repr(getattr(pair, one.name)) for one in fields(pair)] for pair in pairs]


@pytest.mark.slow
def test_blocks_of_pairs_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluations = drawn_systems(4, 12, seed=7, levels=10**6)
    options: list[dict[str, Any]] = [
        {},
        {"test": "t"},
        {"test": "tukey", "n_resamples": 199},
        {"test": "bootstrap-t", "method": "bca", "n_resamples": 199},
        {"cluster": {f"q{n:02}": n // 2 for n in range(12)}},
    ]
    whole = [dh.compare_evaluations(evaluations, **one) for one in options]
    monkeypatch.setattr("deadheat.plugins.compare.stack.FEWEST_PAIRS", 4)
    monkeypatch.setattr("deadheat.plugins.compare.stack.MOST_PAIRS", 4)
    blocked = [dh.compare_evaluations(evaluations, **one) for one in options]
    for one, other in zip(whole, blocked, strict=True):
        assert as_written(one.pairs) == as_written(other.pairs)
    seed = int(np.random.default_rng(3).integers(1 << 63))  # that all blocks share
    drawn, seeded = (dh.compare_evaluations(evaluations, rng=rng) for rng in (np.random.default_rng(3), seed))
    assert as_written(drawn.pairs) == as_written(seeded.pairs)
    monkeypatch.setattr("deadheat.plugins.compare.pair.KEPT", 10)
    again = dh.compare_evaluations(evaluations)
    assert as_written(again.pairs) == as_written(whole[0].pairs)
    some = [(found.pairs[3], *found.pairs[2:4]) for found in (again, whole[0])]
    assert as_written(some[0]) == as_written(some[1])
    assert again.to_polars().equals(whole[0].to_polars())
    assert np.array_equal(again.differences, whole[0].differences)


def test_very_many_pairs_say_what_they_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluations = drawn_systems(3, 4, seed=1)
    monkeypatch.setattr("deadheat.plugins.compare.pairs.SECONDS", 1.5)
    with pytest.warns(dh.DeadheatWarning, match=r"9 pairs, in 0\.0 GB of memory, takes about 14 s: with a baseline"):
        dh.compare_evaluations(evaluations)
    dh.compare_evaluations(evaluations, baseline="s00")


def test_too_few_resamples_for_so_many_pairs_are_told() -> None:
    evaluations = drawn_systems(5, 34, seed=3, levels=10**6)
    found = dh.compare_evaluations(evaluations, n_resamples=99, correction="holm")
    assert min(pair.p_adjusted for pair in found.pairs) >= 0.1 - 1e-12
    assert numbers_in(found.verdict.facts["resamples"]) == [99, 10, 0.1, 200]
    assert "max-t" in found.verdict.facts["resamples"]
    others = (
        dh.compare_evaluations(evaluations, n_resamples=99, test="t"),
        dh.compare_evaluations(evaluations, n_resamples=99),
        dh.compare_evaluations(evaluations, correction="holm"),
    )
    assert not any("corrected for 10" in str(one.verdict) for one in others)
    more = dh.compare_evaluations(evaluations, n_resamples=999, correction="holm")
    few, enough = (
        next(fact for fact in report_comparison(one, qrels="q").facts if fact.key == "least_p_adjusted")
        for one in (found, more)
    )
    assert few.value == pytest.approx(0.1)
    assert enough.text == ""
    assert numbers_in(few.text) == [10, 99, 0.1, 200]
    assert few.text in found.to_markdown().replace("\\", "")


@pytest.mark.slow
def test_more_sign_flips_are_drawn_where_these_leave_a_decision_open(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluations = drawn_systems(34, 60, seed=3, levels=10**6)
    n_pairs = math.comb(34, 2)  # 561 x 1 / 10,001 is above 0.05
    by_holm: dict[str, Any] = {"correction": "holm"}
    found = dh.compare_evaluations(evaluations, **by_holm)
    (n_flips,) = {pair.n_resamples for pair in found["nDCG@5"] if not pair.exact_p_value}
    assert n_flips in {100_000, 1_000_000}
    assert found.design.n_resamples == 10_000
    (test,) = [fact.text for fact in report_comparison(found, qrels="q").facts if fact.heading == "test"]
    assert numbers_in(test) == [n_flips]
    assert ", exact where few queries differ" in test
    alone = stats.p_values(found.differences[:, :n_pairs], test="randomization", n_resamples=100_000, rng=0)
    assert [pair.p_value for pair in found["nDCG@5"]] == pytest.approx(alone.p_values.tolist(), abs=0.005)
    given = dh.compare_evaluations(evaluations, n_resamples=9_999, **by_holm)
    assert {pair.n_resamples for pair in given.pairs} <= {0, 9_999}
    assert min(pair.p_adjusted for pair in given.pairs) >= n_pairs / 10_000
    n_signs = 60 * len(found.measures)
    monkeypatch.setattr("deadheat.core.design.MAX_COMPARED", 20_000 * (len(found.pairs) + 10 * n_signs))
    few = dh.compare_evaluations(evaluations, **by_holm)
    assert max(pair.n_resamples for pair in few.pairs) == 20_000
    assert sum(pair.undecided for pair in given.pairs) > sum(pair.undecided for pair in found.pairs)


@pytest.mark.parametrize(
    ("n_rows", "n_signs", "options", "expected"),
    [
        (10, 50, {}, 1_000_000),
        (1, 7_000, {}, 57_142),
        (10, 50, {"n_strata": 40}, 196_078),
        (780, 50, {}, 1_000_000),
        (780, 50, {"correction": "max-t-step-down"}, 481_927),
        (499_500, 50, {}, 10_000),
        (1, 7_000, {"n_resamples": 9_999}, 9_999),
        (1, 7_000, {"is_fixed": True}, 10_000),
    ],
)
def test_no_more_flips_are_drawn_than_take_some_seconds(
    n_rows: int, n_signs: int, options: dict[str, Any], expected: int
) -> None:
    assert Design(**options).most_flips(n_rows, n_signs) == expected


def test_several_baselines_are_compared_with_all_others() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(7)}
    rng = np.random.default_rng(3)
    runs = {name: {query: {doc: float(rng.integers(9)) for doc in "abcd"} for query in qrels} for name in "wxyz"}
    every = {(one.system, one.baseline): one for one in dh.compare(qrels, runs, "RR").pairs}
    found = dh.compare(qrels, runs, "RR", baseline=["x", "z"], correction="holm")
    assert [(one.system, one.baseline) for one in found.pairs] == [
        ("w", "x"),
        ("y", "x"),
        ("z", "x"),
        ("w", "z"),
        ("y", "z"),
    ]
    for one in found.pairs:
        other = every.get((one.system, one.baseline)) or every[one.baseline, one.system]
        assert abs(one.difference) == pytest.approx(abs(other.difference), abs=1e-15)
        assert one.p_value == other.p_value
    raw = [one.p_value for one in found.pairs]
    assert [one.p_adjusted for one in found.pairs] == pytest.approx(holm(raw))
    assert dh.compare(qrels, runs, "RR", baseline=["x"]).design.baseline == "x"
    several: list[Any] = [np.array(["x", "z"]), pl.Series(["x", "z"]), ("x", "z", "x")]
    for names in several:
        assert dh.compare(qrels, runs, "RR", baseline=names).design.baselines == ("x", "z")
    for wrong in ([["x"]], 1, b"x"):
        with pytest.raises(ParameterError, match="baseline"):
            dh.compare(qrels, runs, "RR", baseline=wrong)  # type: ignore[arg-type]
    assert "w" in str(found)
    with pytest.raises(ParameterError, match="baseline"):
        dh.compare(qrels, runs, "RR", baseline=["x", "other"])


def holm(raw: list[float]) -> list[float]:
    order = np.argsort(raw)
    found, largest = np.zeros(len(raw)), 0.0
    for place, n in enumerate(order):
        largest = max(largest, min(1.0, raw[n] * (len(raw) - place)))
        found[n] = largest
    return found.tolist()


def test_a_clear_difference_of_very_many_queries_needs_no_flips(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    qrels = {f"q{n}": {"a": 1} for n in range(300)}
    ranks = {"good": rng.integers(2, size=300), "bad": rng.integers(4, size=300)}
    runs = {
        name: {query: {"a": -float(rank), "b": -0.5, "c": -1.5} for query, rank in zip(qrels, column, strict=True)}
        for name, column in ranks.items()
    }
    monkeypatch.setattr("deadheat.core.stats.family_tests.MANY_SIGNS", 1)
    found = dh.compare(qrels, runs, "RR Success@1", n_resamples=500, correction="holm")
    assert found.design.n_resamples == 500
    for pair in found.pairs:
        values = {name: dh.evaluate(qrels, run, pair.measure)[pair.measure].values for name, run in runs.items()}
        differences = values["good"] - values["bad"]
        z = differences.sum() / np.sqrt((differences**2).sum())
        assert pair.p_value == pair.p_adjusted == pytest.approx(2 * np.exp(-(z**2) / 2))
        assert (pair.n_resamples, pair.exact_p_value, pair.p_is_bound) == (0, False, True)
        assert (pair.significant, pair.undecided) == (True, False)
    facts = report_comparison(found, qrels="q").facts
    (test,) = [fact.text for fact in facts if fact.heading == "test"]
    assert ", at most Hoeffding's bound" in test
    assert numbers_in(test) == []
    (n_resamples,) = [fact.value for fact in facts if fact.key == "test_resamples"]
    assert n_resamples == 0
    by_maxima = dh.compare(qrels, {**runs, "third": runs["bad"]}, "RR", n_resamples=500)
    assert {pair.n_resamples for pair in by_maxima.pairs} == {500}
