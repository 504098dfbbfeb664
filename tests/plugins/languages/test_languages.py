"""The same queries in several languages: tests as SciPy's on the differences, ties as in all their orders."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy
from polars.testing import assert_frame_equal

import deadheat as dh
from deadheat import Evaluation, Languages
from deadheat.errors import DataError, ParameterError
from deadheat.plugins.languages.comparing import compare_languages, languages_of_queries
from oracle.orders import all_orders
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

QRELS = {f"q{n:02d}": {"r": 1, "s": 1} for n in range(40)}
DOCS = ["r", "s", *"abcd"]
MEASURES = ["RR", "nDCG@3", "P@2"]


def drawn_run(rng: np.random.Generator, helped: float, queries: Mapping[str, Any] = QRELS) -> dict[str, Any]:
    """Scores of four levels, so that many tie; the relevant documents are raised."""
    return {query: {doc: float(rng.integers(0, 4)) + helped * (doc in "rs") for doc in DOCS} for query in queries}


def drawn(seed: int = 3, **helped: tuple[float, float]) -> dict[str, dict[str, Evaluation]]:
    """Evaluations of two systems in languages."""
    rng = np.random.default_rng(seed)
    return {
        language: {
            name: dh.evaluate(QRELS, drawn_run(rng, own), MEASURES) for name, own in zip("AB", each, strict=True)
        }
        for language, each in helped.items()
    }


EVALUATIONS = drawn(en=(1, 2), fr=(0.5, 1), es=(0, 2))


def compared(**options: str) -> Languages:
    return compare_languages(EVALUATIONS, n_resamples=999, **options)  # type: ignore[arg-type]


def values(language: str, system: str, measure: str) -> np.ndarray:
    return EVALUATIONS[language][system][measure].values


@pytest.mark.parametrize(
    ("test", "p_value"),
    [
        ("t", lambda one, other: scipy.stats.ttest_rel(one, other).pvalue),
        ("wilcoxon", lambda one, other: scipy.stats.wilcoxon(np.round(one - other, 9), method="approx").pvalue),
        (
            "sign",
            lambda one, other: (
                scipy.stats.binomtest(int((one - other > 1e-9).sum()), int((np.abs(one - other) > 1e-9).sum())).pvalue
            ),
        ),
    ],
)
def test_differences_between_languages_are_tested_as_by_scipy(test: str, p_value: Callable[[Any, Any], float]) -> None:
    found = compared(test=test, method="t")
    assert len(found.differences) == 3 * 2 * 3
    assert [(one.pair.system, one.pair.baseline) for one in found.differences[:3]] == [
        ("fr", "en"),
        ("es", "en"),
        ("es", "fr"),
    ]
    for one in found.differences:
        pair = one.pair
        first, second = (values(language, one.system, pair.measure) for language in (pair.system, pair.baseline))
        expected = p_value(first, second)
        # SciPy has Wilcoxon's normal distribution where differences tie, deadheat the exact one
        assert math.isclose(pair.p_value, expected, rel_tol=1e-9, abs_tol=0.02 if test == "wilcoxon" else 0)
        interval = scipy.stats.ttest_rel(first, second).confidence_interval()
        assert np.allclose([pair.difference, pair.low, pair.high], [(first - second).mean(), *interval], atol=1e-12)


def test_p_values_of_a_measure_are_corrected_together_by_holm() -> None:
    found = compared(test="t")
    for measure in MEASURES:
        for rows in (found.differences, found.interactions):
            own = [one.pair for one in rows if one.pair.measure == measure]
            raw = np.array([pair.p_value for pair in own])
            order = np.argsort(raw)
            stepped = np.maximum.accumulate(raw[order] * (len(raw) - np.arange(len(raw)))).clip(max=1)
            assert np.allclose([own[place].p_adjusted for place in order], stepped, atol=1e-15)


def test_interactions_are_differences_of_differences() -> None:
    found = compared(test="t", method="t")
    assert len(found.interactions) == 3 * 3
    for one in found.interactions:
        pair = one.pair
        assert (pair.system, pair.baseline) == ("B", "A")
        gaps = [
            values(one.language, name, pair.measure) - values(one.baseline, name, pair.measure) for name in ("B", "A")
        ]
        assert math.isclose(pair.mean, gaps[0].mean(), abs_tol=1e-12)
        assert math.isclose(pair.baseline_mean, gaps[1].mean(), abs_tol=1e-12)
        tested: Any = scipy.stats.ttest_1samp(gaps[0] - gaps[1], 0)
        assert math.isclose(pair.p_value, tested.pvalue, rel_tol=1e-9)
        assert np.allclose([pair.low, pair.high], tested.confidence_interval(), atol=1e-12)
    frame = found.interactions_to_polars()
    assert frame["gap"].to_list() == [one.pair.mean for one in found.interactions]


def test_equivalence_is_two_one_sided_tests() -> None:
    found, margin = compared(), 0.15
    for one, (p_value, is_shown) in zip(found.differences, found.equivalence(margin), strict=True):
        difference = values(one.pair.system, one.system, one.pair.measure) - values(
            one.pair.baseline, one.system, one.pair.measure
        )
        sides = [
            scipy.stats.ttest_1samp(difference, -margin, alternative="greater").pvalue,
            scipy.stats.ttest_1samp(difference, margin, alternative="less").pvalue,
        ]
        assert math.isclose(p_value, max(sides), rel_tol=1e-9)
        assert is_shown == (max(sides) < 0.05)


def test_across_languages_each_counts_the_same() -> None:
    found = compared()
    for one in found.across:
        means = {language: values(language, one.system, one.measure).mean() for language in ("en", "fr", "es")}
        assert np.allclose(list(one.means.values()), list(means.values()), atol=1e-14)
        assert math.isclose(one.mean, np.mean(list(means.values())), abs_tol=1e-12)
        assert math.isclose(one.variance, np.var(list(means.values())), abs_tol=1e-12)
        assert one.worst == min(means, key=means.__getitem__)
        assert one.best == max(means, key=means.__getitem__)
        assert one.variance_low <= one.variance <= one.variance_high
        assert one.variance_tie_min <= one.variance <= one.variance_tie_max
        assert one.low < one.mean < one.high
        assert one.n_queries == 40
    frame = found.to_polars()
    assert frame["mean_fr"].to_list() == [one.means["fr"] for one in found.across]


def reciprocal(order: list[str]) -> float:
    return 1 / (1 + min(order.index(doc) for doc in ("r", "s") if doc in order))


def small() -> tuple[dict[str, dict[str, dict[str, float]]], dict[str, Any]]:
    """Two queries in two languages by two systems, with ties of two or three documents."""
    runs = {
        "A en": {"q1": {"r": 1.0, "a": 1.0}, "q2": {"a": 2.0, "r": 1.0, "b": 1.0}},
        "A fr": {"q1": {"a": 3.0, "r": 1.0}, "q2": {"a": 1.0, "s": 1.0, "b": 1.0}},
        "B en": {"q1": {"r": 1.0, "a": 1.0, "b": 1.0}, "q2": {"r": 2.0, "b": 1.0}},
        "B fr": {"q1": {"a": 1.0, "s": 1.0}, "q2": {"a": 2.0, "b": 1.0, "r": 1.0}},
    }
    return runs, {"q1": {"r": 1, "s": 1}, "q2": {"r": 1, "s": 1}}


def test_ties_flip_differences_and_interactions_as_often_as_in_all_orders() -> None:
    """And the variance across languages is, on average and at most, that of all orders."""
    runs, qrels = small()
    evaluations = {
        language: {name: dh.evaluate(qrels, runs[f"{name} {language}"], "RR") for name in "AB"}
        for language in ("en", "fr")
    }
    found = compare_languages(evaluations, n_resamples=99)
    means = {
        name: [
            float(np.mean(each))
            for each in itertools.product(*([reciprocal(order) for order in all_orders(own)] for own in run.values()))
        ]
        for name, run in runs.items()
    }
    exact = {name: float(np.mean(own)) for name, own in means.items()}
    for one in found.differences:
        both = itertools.product(means[f"{one.system} fr"], means[f"{one.system} en"])
        difference = exact[f"{one.system} fr"] - exact[f"{one.system} en"]
        expected = np.mean([(first - second) * difference < -1e-12 for first, second in both])
        assert math.isclose(one.pair.difference, difference, abs_tol=1e-12)
        assert math.isclose(one.pair.flip_probability, expected, abs_tol=1e-12)
        assert one.pair.flip_method in {"exact", "none"}
    (interaction,) = found.interactions
    contrast = np.array(
        [
            b_fr - b_en - a_fr + a_en
            for b_fr, b_en, a_fr, a_en in itertools.product(*(means[name] for name in ("B fr", "B en", "A fr", "A en")))
        ]
    )
    assert math.isclose(interaction.pair.difference, contrast.mean(), abs_tol=1e-12)
    expected = np.mean(contrast * contrast.mean() < -1e-12)
    assert 0 < expected < 1
    assert math.isclose(interaction.pair.flip_probability, expected, abs_tol=1e-12)
    assert math.isclose(interaction.pair.tie_standard_error, contrast.std(), abs_tol=1e-12)
    for across in found.across:
        variances = [
            np.var(both) for both in itertools.product(means[f"{across.system} en"], means[f"{across.system} fr"])
        ]
        assert math.isclose(across.variance_of_one_order, np.mean(variances), abs_tol=1e-12)
        assert math.isclose(across.variance_tie_max, max(variances), abs_tol=1e-12)
        assert across.variance_tie_min <= min(variances) + 1e-12


def test_flips_of_many_ties_agree_with_drawn_orders() -> None:
    rng = np.random.default_rng(5)
    found = compare_languages(drawn(en=(0.3, 0.3), fr=(0.2, 0.4)), n_resamples=99)
    runs = {}
    again = np.random.default_rng(3)
    for language, helped in {"en": (0.3, 0.3), "fr": (0.2, 0.4)}.items():
        for name, own in zip("AB", helped, strict=True):
            runs[name, language] = drawn_run(again, own)
    means = {}
    for key, run in runs.items():
        total = np.zeros(4000)
        for own in run.values():
            ids = np.array(list(own))
            keys = np.array(list(own.values())) + rng.random((4000, len(ids))) * 0.5e-1
            ranked = ids[np.argsort(-keys, axis=1)]
            total += 1 / (1 + np.argmax(np.isin(ranked, ["r", "s"]), axis=1))
        means[key] = total / len(run)
    for one in found.differences:
        if one.pair.measure == "RR":
            difference = means[one.system, "fr"] - means[one.system, "en"]
            share = float(np.mean(difference * one.pair.difference < -1e-12))
            assert abs(share - one.pair.flip_probability) < 0.04
    (interaction,) = (one for one in found.interactions if one.pair.measure == "RR")
    gap = (means["B", "fr"] - means["B", "en"]) - (means["A", "fr"] - means["A", "en"])
    share = float(np.mean(gap * interaction.pair.difference < -1e-12))
    assert abs(share - interaction.pair.flip_probability) < 0.04


@pytest.mark.slow
def test_pairs_may_have_other_ids_in_each_language_and_in_another_order() -> None:
    """The numbers are those of queries that are called alike."""
    plain = compared()
    pairs = {language: {query: query for query in QRELS} for language in EVALUATIONS}
    renamed: dict[str, dict[str, Evaluation]] = {}
    for number, (language, systems) in enumerate(EVALUATIONS.items()):
        names = {query: f"{language}{(7 * int(query[1:]) + number) % 40:02d}" for query in QRELS}
        renamed[language] = {name: one.renamed(names) for name, one in systems.items()}
        pairs[language] = {name: query for query, name in names.items()}
    found = compare_languages(renamed, pairs, n_resamples=999)
    for frames in ("to_polars", "differences_to_polars", "interactions_to_polars"):
        assert_frame_equal(getattr(found, frames)(), getattr(plain, frames)(), abs_tol=1e-12)
    french = found.evaluations["fr"]["A"]
    assert french.qrels.to_dict() == QRELS  # under the ids of the pairs, as the evaluation
    own = {query: own for query, own in french.qrels.to_dict().items() if query < "q10"}
    assert french.qrels.of_queries({query: query for query in own}).to_dict() == own


def test_partial_overlap_is_used_and_counted() -> None:
    half = {query: one for query, one in QRELS.items() if int(query[1:]) < 25}
    other = {query: one for query, one in QRELS.items() if int(query[1:]) >= 15} | {"x": {"r": 1}}
    rng = np.random.default_rng(8)
    evaluations = {
        "en": dh.evaluate(QRELS, drawn_run(rng, 1), "RR"),
        "fr": dh.evaluate(half, drawn_run(rng, 1, half), "RR"),
        "es": dh.evaluate(other, drawn_run(rng, 1, other), "RR"),
    }
    found = compare_languages(evaluations, n_resamples=99)
    counts = {(one.pair.system, one.pair.baseline): one.pair.n_queries for one in found.differences}
    assert counts == {("fr", "en"): 25, ("es", "en"): 25, ("es", "fr"): 10}
    assert found.across[0].n_queries == found.n_shared == 10
    assert dict(found.left_out) == {"en": 0, "fr": 0, "es": 1}
    french = evaluations["fr"]["RR"].values[15:]
    assert math.isclose(found.across[0].means["fr"], french.mean(), abs_tol=1e-12)


def test_languages_that_share_no_query_with_all_others_have_no_number_across() -> None:
    """Each shares some with one other: differences are of these, and nothing is said of all three."""
    rng = np.random.default_rng(8)
    evaluations = {}
    for language, (start, stop) in {"en": (0, 15), "fr": (10, 30), "es": (25, 40)}.items():
        own = {query: one for query, one in QRELS.items() if start <= int(query[1:]) < stop}
        evaluations[language] = dh.evaluate(own, drawn_run(rng, 1, own), "RR")
    found = compare_languages(evaluations, n_resamples=99)
    counts = {(one.pair.system, one.pair.baseline): one.pair.n_queries for one in found.differences}
    assert counts == {("fr", "en"): 5, ("es", "en"): 0, ("es", "fr"): 5}
    (across,) = found.across
    assert (across.n_queries, across.worst, across.is_known) == (0, None, False)
    assert math.isnan(across.variance)
    assert "queries" in str(found)
    assert found.to_polars()["variance"].to_list() == [None]


def test_the_worst_language_of_a_rank_has_the_highest_mean() -> None:
    evaluations = {
        "en": dh.evaluate(QRELS, drawn_run(np.random.default_rng(1), 3), "FRP"),
        "fr": dh.evaluate(QRELS, drawn_run(np.random.default_rng(2), 0), "FRP"),
    }
    (one,) = compare_languages(evaluations, n_resamples=99).across
    assert one.means["fr"] > one.means["en"]
    assert (one.worst, one.best, one.p_worst) == ("fr", "en", 1.0)


def test_a_shift_between_languages_is_found_with_the_power_that_is_stated() -> None:
    """Queries differ as those of the first comparison do; the shift is the difference that 80% should find."""
    found = compared(test="t")
    pair = found.differences[0].pair
    stated = found.detectable(power=0.8)["RR"]
    differences = values("fr", "A", "RR") - values("en", "A", "RR")
    rng, n_trials = np.random.default_rng(4), 1500
    single = compare_languages({code: EVALUATIONS[code]["A"] for code in ("en", "fr")}, test="t", n_resamples=99)
    (shift, most) = single.detectable(power=0.8)["RR"]
    assert shift == most
    assert stated[0] <= shift <= stated[1]
    trials = rng.normal(shift, differences.std(ddof=1), (n_trials, pair.n_queries))
    p_values = np.asarray(scipy.stats.ttest_1samp(trials, 0, axis=1).pvalue)
    n_found = int((p_values < 0.05).sum())
    assert abs(n_found / n_trials - 0.8) < 0.035


def test_what_cannot_be_compared_is_refused() -> None:
    english, french = EVALUATIONS["en"], EVALUATIONS["fr"]
    with raises_parts(ParameterError, argument="evaluations", given=["en"]):
        compare_languages({"en": english})
    with raises_parts(ParameterError, argument="evaluations", given="A, B and A"):
        compare_languages({"en": english, "fr": {"A": french["A"]}})
    with pytest.raises(ParameterError, match=r"other measures in fr than in en"):
        compare_languages({"en": english["A"], "fr": dh.evaluate(QRELS, drawn_run(np.random.default_rng(1), 1), "RR")})
    with pytest.raises(DataError, match=r"no query of en is one of fr too"):
        compare_languages({"en": english, "fr": {name: one.renamed({"q00": "x"}) for name, one in french.items()}})
    with raises_parts(ParameterError, argument="pairs", given="fr"):
        compare_languages({"en": english, "fr": french}, {"en": {}})
    with raises_parts(ParameterError, argument="baseline", given="en"):
        compare_languages({"en": english, "fr": french}, baseline="en")
    with pytest.raises(ParameterError, match=r"baseline must be .*got 'en'"):
        compare_languages({"en": english["A"], "fr": french["A"]}, baseline="en")
    with raises_parts(ParameterError, argument="baseline", given="zz"):
        compare_languages({"en": english, "fr": french}, baseline=["A", "zz"])  # type: ignore[arg-type]
    twice = {"en": {query: query for query in QRELS}, "fr": dict.fromkeys(QRELS, "q00")}
    with pytest.raises(DataError, match=r"two .* called 'q00'"):
        compare_languages({"en": english, "fr": french}, twice)


@pytest.mark.parametrize("kind", ["weights", "repeats"])
def test_weights_and_repeats_are_refused_which_means_of_languages_would_leave_out(kind: str) -> None:
    rng = np.random.default_rng(3)
    given: dict[str, Any] = {"weights": {query: 1.0 + (query == "q00") for query in QRELS}} if kind == "weights" else {}
    runs = [[drawn_run(rng, 1), drawn_run(rng, 2)] for _ in range(4)]
    evaluations = {
        language: {
            name: dh.evaluate(QRELS, dh.Repeats(run, name) if kind == "repeats" else run[0], "RR", **given)
            for name, run in zip("AB", each, strict=True)
        }
        for language, each in (("en", runs[:2]), ("fr", runs[2:]))
    }
    with pytest.raises(ParameterError, match="weights or repeats"):
        compare_languages(evaluations)
    queries = [
        {"query_id": query, "language": "en" if query < "q20" else "fr", "pair_id": query[2:]} for query in QRELS
    ]
    comparison = dh.compare_evaluations(evaluations["en"], n_resamples=99)
    assert languages_of_queries(comparison, dh.Queries.of(queries)) is None


def test_a_single_system_has_a_table_of_gaps_without_a_row() -> None:
    several = compared().interactions_to_polars()
    single = compare_languages({code: EVALUATIONS[code]["A"] for code in ("en", "fr")}, n_resamples=99)
    alone = single.interactions_to_polars()
    assert (alone.height, alone.columns) == (0, several.columns)
    assert alone.schema["gap"] == several.schema["gap"]


def test_equal_values_say_nothing_of_the_variance_of_others() -> None:
    """Nine queries with one value, and nine with one difference: no resample varies, so that an end is no bound."""
    nine = list(QRELS)[:9]
    qrels = {query: {"r": 1} for query in nine}
    first = dh.evaluate(qrels, {query: {"r": 2, "a": 1} for query in nine}, "RR")
    second = dh.evaluate(qrels, {query: {"r": 1, "a": 2} for query in nine}, "RR")
    for french in (first, second):
        found = compare_languages({"en": first, "fr": french}, n_resamples=99)
        (one,) = found.across
        assert (one.n_units, one.is_known) == (9, False)
        assert found.differences[0].pair.is_known is False
        assert f"{one.variance:.4f}  [{one.variance:.4f}, {one.variance:.4f}]?" in str(found)
    clusters = {query: n // 12 for n, query in enumerate(QRELS)}
    assert compared().across[0].is_known
    (some, *_) = compare_languages(EVALUATIONS, n_resamples=99, cluster=clusters).across
    assert (some.n_queries, some.n_units, some.is_known) == (40, 4, False)
