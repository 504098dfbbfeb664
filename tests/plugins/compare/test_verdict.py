"""The verdict of a comparison: one sentence for each kind of outcome, its numbers, and what it never says."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy import stats as scipy_stats

import deadheat as dh
from deadheat import parse_measure
from deadheat.core.design import Design
from deadheat.core.report.cells import format_cell, p_value_cell
from deadheat.plugins.compare.deciding import Grounds, explain_doubt, find_favourite
from deadheat.plugins.compare.pair import Pair, Pairs
from deadheat.plugins.compare.pairs import LIKELY
from deadheat.plugins.compare.report import reversal
from deadheat.plugins.compare.verdict import Lacking, Verdict, Within
from deadheat.plugins.compare.verdict_facts import describe_strata, format_number, headline_of_strata
from support.demo import DEMO
from support.numbers_in_text import numbers_in

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

RUNS = [DEMO / f"{name}.run.gz" for name in ("Olz-gpt4o", "willia-umbrela1", "TREMA-CoT", "NISTRetrieval-instruct0")]
QRELS = DEMO / "qrels.human.txt.gz"

PAIR = Pair(
    measure="nDCG@10",
    system="new",
    baseline="old",
    mean=0.7,
    baseline_mean=0.6,
    difference=0.1,
    low=0.05,
    high=0.15,
    p_value=0.001,
    p_adjusted=0.002,
    significant=True,
    effect_size=0.5,
    wins=30,
    draws=10,
    losses=10,
    flip_probability=0.0,
    can_flip=False,
    flip_method="exact",
    flip_standard_error=0.0,
    n_queries=50,
    standard_error=0.02,
    tie_standard_error=0.01,
    std=0.2,
    exact_p_value=True,
    expected_difference=0.1,
    doc_id_difference=0.1,
    doc_id_reverses=False,
    n_clusters=None,
    method="bca",
    skewness=0.1,
    doubtful=False,
)


def judged(
    *pairs: Pair,
    within: dict[Pair, Within] | None = None,
    detectable: float | None = None,
    levels: dict[str, dict[str, float]] | None = None,
    ties: str = "expected",
    n_tests: int = 1,
    lacking: Lacking | None = None,
    by_weight: tuple[float, dict[str, float]] | None = None,
    **design: Any,  # noqa: ANN401 - of any field
) -> Verdict:
    """Return the verdict of pairs; the systems are those that they name, with these means."""
    found: dict[str, dict[str, float]] = {}
    for pair in pairs:
        own = found.setdefault(pair.measure, {})
        own.setdefault(pair.baseline, pair.baseline_mean)
        own.setdefault(pair.system, pair.mean)
    measures = [parse_measure(name) for name in found]
    grounds = Grounds(
        pairs=Pairs.of(pairs),
        levels=levels or found,
        measures=measures,
        design=Design(**design),
        ties=ties,
        within={(one.system, one.baseline): own for one, own in (within or {}).items()},
        detectable=lambda _: (detectable, n_tests),
        lacking=lambda *_: lacking,
        by_weight=lambda _: by_weight,
    )
    return grounds.verdict()


def pair(**changes: Any) -> Pair:  # noqa: ANN401 - of any field
    return replace(PAIR, **changes)


NOT_SHOWN: dict[str, Any] = {"significant": False, "p_value": 0.3, "p_adjusted": 0.3, "low": -0.05}
BEHIND: dict[str, Any] = {
    "mean": 0.6,
    "baseline_mean": 0.7,
    "difference": -0.1,
    "expected_difference": -0.1,
    "low": -0.15,
    "high": -0.05,
    "wins": 10,
    "losses": 30,
}
NUMBERS = {"difference": "+0.1000, new - old", "95% CI": "[0.0500, 0.1500]", "p": "0.0020, sign flips, 50 queries"}
NEVER = {"ties": "no order puts old ahead"}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str, dict[str, str]]] = {
    "better": ({}, {}, "better", {"nDCG@10": "new 0.7000, old 0.6000", **NUMBERS, **NEVER}),
    "the baseline is better: numbers are seen from the leader": (
        BEHIND,
        {"confidence_level": 0.9},
        "better",
        {
            "nDCG@10": "old 0.7000, new 0.6000",
            "difference": "+0.1000, old - new",
            "90% CI": "[0.0500, 0.1500]",
            "p": "0.0020, sign flips, 50 queries",
            "ties": "no order puts new ahead",
        },
    ),
    "not shown": (
        NOT_SHOWN,
        {"detectable": 0.123},
        "not shown",
        {
            "nDCG@10": "new 0.7000, old 0.6000",
            "difference": "+0.1000, new - old",
            "95% CI": "[-0.0500, 0.1500]",
            "p": "0.3000, sign flips, 50 queries",
            "ties": "no order puts old ahead",
            "detects": "0.1230 and more (80% power, t test, level 0.05)",
        },
    ),
    "clusters": ({"n_clusters": 9}, {}, "better", {"p": "0.0020, sign flips, 50 queries in 9 clusters"}),
    "few queries": (
        {"n_queries": 4},
        {"test": "t"},
        "few",
        {
            "nDCG@10": "new 0.7000, old 0.6000",
            "difference": "+0.1000, new - old",
            "p": "0.0020, t test, 4 queries",
            "doubt": "4 queries prove little",
            "ties": "no order puts old ahead",
        },
    ),
    "few clusters": ({"n_clusters": 3}, {}, "few", {"doubt": "3 clusters prove little"}),
    "few for a bootstrap": ({"n_queries": 20}, {"test": "bootstrap"}, "few", {"doubt": "20 queries prove little"}),
    "one query": (
        {"n_queries": 1, "significant": False, "p_adjusted": 1.0},
        {},
        "one query",
        {
            "nDCG@10": "new 0.7000, old 0.6000",
            "doubt": "one query shows nothing about others",
            "ties": "no order puts old ahead",
        },
    ),
    "skewed, p near the level": (
        {"doubtful": True, "skewness": 3.2, "p_adjusted": 0.03},
        {},
        "in doubt",
        {
            **NUMBERS,
            "p": "0.0300, sign flips, 50 queries",
            "doubt": "differences are skewed (+3.2) for so few queries: p above 0.005 decides nothing",
        },
    ),
    "skewed, p far below the level": (
        {"doubtful": True, "skewness": 3.2},
        {},
        "better",
        {"doubt": "differences are skewed (+3.2) for so few queries: p may be too small"},
    ),
    "equal": (
        {"difference": 0.0, "mean": 0.6, "wins": 0, "losses": 0, "significant": False, "flip_probability": math.nan},
        {},
        "equal",
        {"nDCG@10": "both 0.6000 on each of 50 queries"},
    ),
    "equal on one query": (
        {"difference": 0.0, "mean": 0.6, "wins": 0, "losses": 0, "significant": False, "n_queries": 1},
        {},
        "equal",
        {"nDCG@10": "both 0.6000 on the only query"},
    ),
    "same mean": (
        {"difference": 0.0, "mean": 0.6, "significant": False, "flip_probability": math.nan},
        {},
        "same mean",
        {"nDCG@10": "both 0.6000 over 50 queries, which differ"},
    ),
    "no query": (
        {"n_queries": 0, "mean": math.nan, "baseline_mean": math.nan, "difference": math.nan, "significant": False},
        {},
        "none",
        {"nDCG@10": "no value for two systems on any query"},
    ),
    "lower is better": (
        {"measure": "MR", **BEHIND, "mean": 3.25, "baseline_mean": 4.5, "difference": -1.25, "wins": 30, "losses": 10},
        {},
        "better",
        {
            "MR": "new 3.2500, old 4.5000, less is better",
            "difference": "-1.2500, new - old",
            "95% CI": "[-0.1500, -0.0500]",
        },
    ),
    "totals": (
        {"measure": "NumRelRet", "n_queries": 50, "mean": 3.0, "baseline_mean": 2.5, "difference": 0.5, "high": 0.8},
        {},
        "better",
        {"NumRelRet": "new 150, old 125", "difference": "+25, new - old", "95% CI": "[2.5000, 40]"},
    ),
    "one-sided, the other way": (
        {**BEHIND, "significant": False, "p_value": 0.99, "p_adjusted": 0.99},
        {"alternative": "greater"},
        "not shown",
        {"nDCG@10": "old 0.7000, new 0.6000", "p": "0.9900, sign flips for new greater than old, 50 queries"},
    ),
    "a test that is not of the means": (
        {"wins": 10, "losses": 30},
        {"test": "sign"},
        "contradicted",
        {"doubt": "the sign test is not of means, and finds the opposite: 10 wins, 30 losses"},
    ),
    "ties reverse it": (
        {"can_flip": True, "flip_probability": 0.362, "flip_standard_error": 0.003, "flip_method": "sampled"},
        {},
        "better",
        {"ties": "36% ± 0.3% of orders put old ahead"},
    ),
    "ties hardly ever reverse it": (
        {"can_flip": True, "flip_probability": 1e-9},
        {},
        "better",
        {"ties": "some orders, under 1%, put old ahead"},
    ),
    "trec_eval reverses it": (
        {"can_flip": True, "flip_probability": 0.2, "doc_id_reverses": True},
        {},
        "better",
        {"ties": "20% of orders put old ahead; ties broken by document id, as trec_eval, do too"},
    ),
    "a probability that nobody knows": (
        {"can_flip": True, "flip_probability": 0.2, "flip_method": "normal", "flip_standard_error": 0.3},
        {},
        "better",
        {"ties": "some orders, how many is not known, put old ahead"},
    ),
    "the tie policy decides": (
        {"expected_difference": -0.02, "can_flip": True, "flip_probability": 0.4},
        {"ties": "doc_id"},
        "better",
        {"ties": "doc_id decides: over all orders old is ahead by 0.0200, and 40% of orders put new ahead"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_outcome_has_its_facts(name: str) -> None:
    changes, options, outcome, expected = CASES[name]
    found = judged(pair(**changes), **options)
    assert found.outcome == outcome
    assert {label: found.facts.get(label) for label in expected} == expected
    assert found.is_better == (outcome == "better")
    assert str(found).split("\n") == [found.headline, *(f"{label}: {text}" for label, text in found.facts.items())]


HEADLINES = {
    "the baseline is better: numbers are seen from the leader": "old beats new by about 10 points of nDCG@10.",
    "not shown": "No clear winner: new and old cannot be told apart by nDCG@10.",
    "few queries": "new leads old by nDCG@10, but 4 queries prove little.",
    "few clusters": "new leads old by nDCG@10, but 3 clusters prove little.",
    "one query": "new leads old by nDCG@10, but one query proves nothing.",
    "skewed, p near the level": "No clear winner: new leads old by nDCG@10, but chance may explain it.",
    "skewed, p far below the level": ("new beats old by about 10 points of nDCG@10 (differences are skewed)."),
    "equal": "No winner: old and new are equal by nDCG@10 on every query.",
    "same mean": "No winner: old and new have the same mean nDCG@10.",
    "no query": "Nothing to compare: no query has nDCG@10 of both systems.",
    "lower is better": "new beats old by about 1.2 in MR.",
    "totals": "new beats old by about 25 in NumRelRet.",
    "one-sided, the other way": "No clear winner: old is not shown better than new by nDCG@10.",
    "a test that is not of the means": "No clear winner: by nDCG@10, the means and the sign test disagree.",
    "ties reverse it": "new beats old by about 10 points of nDCG@10, but ties could reverse it.",
    "ties hardly ever reverse it": "new beats old by about 10 points of nDCG@10.",
    "trec_eval reverses it": "new beats old by about 10 points of nDCG@10, but ties could reverse it.",
    "the tie policy decides": "new beats old by about 10 points of nDCG@10, but ties could reverse it.",
}


@pytest.mark.parametrize("name", HEADLINES)
def test_each_outcome_has_its_headline(name: str) -> None:
    changes, options, outcome, _ = CASES[name]
    found = judged(pair(**changes), **options)
    assert found.headline == HEADLINES[name]
    assert len(found.headline.split()) <= 15
    assert (" beats " in found.headline) == (outcome == "better")
    assert found.to_dict()["headline"] == found.headline


def test_headlines_of_margins_missing_judgments_and_many() -> None:
    one = pair(**NOT_SHOWN)
    equivalent = replace(WITHIN, equivalent=True)
    said = judged(one, within={one: WITHIN}).headline
    assert said == "No clear winner, but new is no worse than old within 0.01 nDCG@10."
    said = judged(one, within={one: equivalent}).headline
    assert said == "No clear winner: new and old are equivalent within 0.01 nDCG@10."
    outer = Lacking(depth=10, system=0.1, baseline=0.5, low=-0.1, high=0.3)
    without_doubt = judged(PAIR).headline
    assert judged(PAIR, lacking=outer).headline == without_doubt
    lacking = replace(outer, is_attained=True)
    with_doubt = judged(PAIR, lacking=lacking).headline
    assert with_doubt.startswith(without_doubt.removesuffix("."))
    assert "missing judgments" in with_doubt
    flips = pair(can_flip=True, flip_probability=0.2)
    said = judged(flips, lacking=lacking, by_weight=(-0.1, {"q": 0.9})).headline
    assert said == "new beats old by nDCG@10, but ties, missing judgments and weights could reverse it."
    said = judged(PAIR, levels={"nDCG@10": dict.fromkeys("abcdefghij", 0.5)}).headline
    assert said == "No clear winner: a, b, c and 7 more share the best nDCG@10."
    said = judged(pair(measure="NumRel")).headline
    assert said == "Nobody leads: NumRel cannot say how good a system is."


def test_the_headline_of_strata_counts_those_where_more_than_chance_is_shown() -> None:
    what = ("stratum of kind", "strata of kind")
    better, same, behind = (judged(pair(**changes)) for changes in ({}, NOT_SHOWN, {**BEHIND, **NOT_SHOWN}))
    said = headline_of_strata({"a": better, "b": same, "c": behind}, what)
    assert said == "By nDCG@10, new leads in 2 of 3 strata of kind, by more than chance in 1."
    said = headline_of_strata({"a": same, "b": behind}, what)
    assert said == "No lead by nDCG@10 within any of 2 strata of kind is more than chance."


WITHIN = Within(margin=0.01, p_no_worse=0.004, no_worse=True, p_equivalent=0.6, equivalent=False)


@pytest.mark.parametrize(
    ("within", "expected"),
    [
        (WITHIN, "new is no worse than old, p = 0.0040"),
        (
            replace(WITHIN, no_worse=False, p_no_worse=0.2),
            "not shown that new is no worse than old: p = 0.2000",
        ),
        (
            replace(WITHIN, equivalent=True, p_equivalent=0.00001),
            "new and old are equivalent, p < 0.0001",
        ),
    ],
)
def test_no_worse_is_another_fact_than_not_shown_better(within: Within, expected: str) -> None:
    one = pair(**NOT_SHOWN)
    found = judged(one, within={one: within}, detectable=0.2)
    assert found.facts["margin 0.01"] == expected
    assert found.outcome == "not shown"
    assert (found.margin, found.no_worse, found.equivalent) == (0.01, within.no_worse, within.equivalent)
    assert "detects" not in found.facts


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"skewness": 3.0, "n_queries": 12}, "differences are skewed"),
        ({"low": 0.1, "high": 0.1}, "differences never vary"),
    ],
)
@pytest.mark.parametrize("is_equivalent", [False, True])
def test_headline_and_fact_of_a_margin_share_its_doubt(
    changes: dict[str, Any], why: str, *, is_equivalent: bool
) -> None:
    one = pair(**{**NOT_SHOWN, **changes})
    found = judged(one, within={one: replace(WITHIN, equivalent=is_equivalent, p_equivalent=0.01)})
    if is_equivalent:
        expected = f"No clear winner: new and old seem equivalent within 0.01 nDCG@10, but {why}."
        assert numbers_in(found.facts["margin 0.01"]) == [0.01]
    else:
        expected = f"new seems no worse than old within 0.01 nDCG@10, but {why}."
        assert numbers_in(found.facts["margin 0.01"]) == [0.004]
    assert (" seem" in found.facts["margin 0.01"]) is (" seem" in expected)
    assert found.headline == expected
    assert len(found.headline.split()) <= 15
    assert (found.no_worse, found.equivalent) == (True, is_equivalent)


def test_of_many_pairs_a_margin_counts_those_in_doubt() -> None:
    one, other = pair(**NOT_SHOWN), pair(baseline="third", skewness=3.0, n_queries=12, **NOT_SHOWN)
    within = {each: replace(WITHIN, equivalent=True) for each in (one, other)}
    found = judged(one, other, within=within)
    assert numbers_in(found.facts["margin 0.01"]) == [2, 2, 1]  # equivalent, of all, in doubt


def test_queries_without_results_are_a_fact() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(9)}
    whole = {query: {"a": 1.0, "b": float(n % 3)} for n, query in enumerate(qrels)}
    runs = {"whole": whole, "part": {query: whole[query] for query in list(qrels)[2:]}}
    found = dh.compare(qrels, runs, "RR").verdict
    assert numbers_in(found.facts["missing"]) == [2, 9]
    assert "part (q0, q1): counted" in found.facts["missing"]
    assert list(found.facts).index("missing") == list(found.facts).index("p") + 1
    skipped = dh.compare(qrels, runs, "RR", missing="skip").verdict
    assert skipped.facts["missing"].endswith("(q0, q1): left out")
    third = {query: whole[query] for query in list(qrels)[1:]}
    text = dh.compare(qrels, {**runs, "third": third}, "RR").verdict.facts.get("missing", "")
    assert numbers_in(text) == [2, 9, 1]
    assert text.index(" part ") < text.index(" third")
    assert "missing" not in dh.compare(qrels, {"one": whole, "two": whole}, "RR").verdict.facts


def test_a_margin_says_that_few_queries_cannot_show_it() -> None:
    one = pair(n_queries=3, **{**NOT_SHOWN, "p_adjusted": 0.25})
    found = judged(one, within={one: replace(WITHIN, no_worse=False)})
    assert found.facts["doubt"] == "3 queries prove little"
    assert numbers_in(found.facts["margin 0.01"]) == [3]  # queries; no p
    assert found.no_worse is False


def of_three(**of_next: Any) -> tuple[Pair, Pair, Pair]:  # noqa: ANN401 - of any field
    return (
        pair(baseline="poor", system="fair", mean=0.6, baseline_mean=0.5),
        pair(baseline="poor", system="good", mean=0.7, baseline_mean=0.5, difference=0.2),
        pair(baseline="fair", system="good", **of_next),
    )


def test_the_first_of_many_is_held_against_the_next() -> None:
    found = judged(*of_three())
    assert (found.leader, found.runner_up, found.n_better, found.n_compared, found.n_systems) == (
        "good",
        "fair",
        2,
        2,
        3,
    )
    assert numbers_in(found.facts["nDCG@10"]) == [0.7, 3, 0.6]
    assert found.facts["nDCG@10"].endswith("; runner-up fair 0.6000")
    assert found.facts["p"].endswith(", corrected by max-t")
    assert numbers_in(found.facts["better than"]) == [2, 2]
    found = judged(*of_three(**NOT_SHOWN))
    assert not found.is_better
    assert numbers_in(found.facts["better than"]) == [found.n_better, found.n_compared] == [1, 2]
    nobody = [replace(one, significant=False) for one in of_three()]
    assert numbers_in(judged(*nobody).facts["better than"]) == [0, 2]
    for uncorrected in (judged(*of_three(), test="tukey"), judged(*of_three(), correction="none")):
        assert "corrected" not in uncorrected.facts["p"]


def test_systems_are_held_against_the_baseline() -> None:
    own = (
        pair(system="good", baseline="base", mean=0.7, baseline_mean=0.6),
        pair(
            system="poor",
            baseline="base",
            **BEHIND,
        ),
        pair(system="fair", baseline="base", mean=0.61, baseline_mean=0.6, **NOT_SHOWN),
    )
    levels = {"nDCG@10": {"base": 0.6, "good": 0.7, "poor": 0.5, "fair": 0.61}}
    found = judged(*own, baseline="base", levels=levels)
    assert (found.leader, found.runner_up, found.is_better) == ("good", "base", True)
    assert numbers_in(found.facts["nDCG@10"]) == [0.7, 4, 0.61, 0.6]
    assert found.facts["nDCG@10"].endswith("; baseline base 0.6000")
    assert numbers_in(found.facts["against base"]) == [1, 3, 1]  # better, of the others, worse
    assert (found.n_above_baseline, found.n_below_baseline) == (1, 1)
    levels = {"nDCG@10": {"base": 0.8, "good": 0.7, "poor": 0.5, "fair": 0.61}}
    behind = tuple(replace(one, **BEHIND) if one.system == "good" else one for one in own)
    found = judged(*behind, baseline="base", levels=levels)
    assert (found.leader, found.runner_up) == ("base", "good")
    assert numbers_in(found.facts["nDCG@10"]) == [0.8, 4, 0.7]
    assert found.facts["nDCG@10"].startswith("base 0.8000, the baseline, ")
    assert found.facts["nDCG@10"].endswith("; runner-up good 0.7000")


def test_of_several_baselines_the_best_is_the_rival() -> None:
    own = (
        pair(system="good", baseline="poor", mean=0.7, baseline_mean=0.5),
        pair(system="fair", baseline="poor", mean=0.6, baseline_mean=0.5),
        pair(system="good", baseline="fair", mean=0.7, baseline_mean=0.6, **NOT_SHOWN),
    )
    levels = {"nDCG@10": {"poor": 0.5, "fair": 0.6, "good": 0.7, "next": 0.65}}
    found = judged(*own, baselines=("poor", "fair"), levels=levels)
    assert (found.leader, found.runner_up, found.is_better) == ("good", "fair", False)
    assert (
        found.facts["nDCG@10"]
        == "good 0.7000, first of 4; second next 0.6500, not compared with it; best baseline fair 0.6000"
    )
    assert found.facts["better than"].startswith("1 of 2 baselines, ")
    led = judged(*own, baselines=("good", "fair"), levels=levels | {"nDCG@10": {"poor": 0.5, "fair": 0.6, "good": 0.7}})
    assert led.runner_up == "fair"
    three = {"nDCG@10": {"base": 0.5, "good": 0.7, "next": 0.65}}
    against = [
        pair(system=name, baseline="base", mean=mean, baseline_mean=0.5)
        for name, mean in (("good", 0.7), ("next", 0.65))
    ]
    untested = judged(*against, baseline="base", levels=three)
    assert (untested.leader, untested.runner_up) == ("good", "base")
    assert numbers_in(untested.facts["nDCG@10"]) == [0.7, 3, 0.65, 0.5]
    assert "second next" in untested.facts["nDCG@10"]
    assert "runner-up fair" in led.facts["nDCG@10"]


def test_means_that_print_alike_are_printed_once() -> None:
    found = judged(pair(mean=0.70002, baseline_mean=0.7, difference=2e-5))
    assert found.facts["nDCG@10"] == "new leads old, both 0.7000"
    assert found.facts["difference"] == "+2e-05, new - old"


def test_margins_of_many() -> None:
    own = of_three()
    within = dict.fromkeys(own, WITHIN)
    found = judged(*own, within=within)
    assert found.facts["margin 0.01"].startswith("none of 3 pairs ")
    against = tuple(replace(one, baseline="base") for one in (pair(system="a"), pair(system="b")))
    found = judged(
        *against, within=dict(zip(against, (WITHIN, replace(WITHIN, no_worse=False)), strict=True)), baseline="base"
    )
    assert numbers_in(found.facts["margin 0.01"]) == [1, 2]
    assert "no worse than base: a (" in found.facts["margin 0.01"]


def test_nobody_leads_where_the_best_mean_is_shared() -> None:
    levels = {"nDCG@10": {"poor": 0.5, "fair": 0.7, "good": 0.7}}
    found = judged(*of_three(), levels=levels)
    assert (found.outcome, found.leader, found.n_systems) == ("shared", None, 3)
    assert list(found.facts) == ["nDCG@10"]
    assert found.facts["nDCG@10"].startswith("fair and good share ")
    assert numbers_in(found.facts["nDCG@10"]) == [3, 0.7]


def test_a_leader_that_is_behind_over_shared_queries_is_not_called_better() -> None:
    found = judged(*of_three(**{**BEHIND, "n_queries": 7}), levels={"nDCG@10": {"poor": 0.5, "fair": 0.6, "good": 0.7}})
    assert (found.outcome, found.is_better) == ("contradicted", False)
    assert found.facts["doubt"].startswith("not ahead ")
    assert numbers_in(found.facts["doubt"]) == [7]
    assert found.facts["difference"] == "-0.1000, good - fair"


def test_what_ties_reverse_is_said_of_the_first_measure_and_the_pair() -> None:
    reversible: dict[str, Any] = {"can_flip": True, "flip_probability": 0.39, "doc_id_reverses": True}
    found = judged(pair(**reversible), pair(measure="RR", **BEHIND))
    assert found.facts["other measures"] == "old leads by RR"
    assert found.facts["ties"].startswith("39% of orders put old ahead; ")
    behind = judged(  # the leader of all queries is behind over those that both have
        *of_three(**{**BEHIND, **reversible}), levels={"nDCG@10": {"poor": 0.5, "fair": 0.6, "good": 0.7}}
    )
    assert behind.leader == "good"
    assert behind.facts["ties"].startswith("39% of orders put good ahead")


def test_a_probability_that_is_small_but_vague_is_not_called_small() -> None:
    vague = pair(can_flip=True, flip_probability=0.001, flip_method="normal", flip_standard_error=0.04)
    assert (
        judged(vague).facts["ties"]
        == judged(replace(vague, flip_probability=0.2, flip_standard_error=0.3)).facts["ties"]
    )
    assert numbers_in(judged(vague).facts["ties"]) == []


@pytest.mark.parametrize(
    ("chance", "error", "shown"),
    [
        (0.39, 0.003, "39% ± 0.3%"),
        (0.39, 0.43, "unknown"),  # anything from 0% to 82%
        (0.6, 0.43, "unknown"),
        (0.03, 0.04, "unknown"),
        (0.0, 0.012, "<4%"),
        (0.39, 0.0, "39%"),
    ],
)
def test_a_probability_whose_error_is_larger_is_unknown_wherever_it_is_shown(
    chance: float, error: float, shown: str
) -> None:
    own = pair(can_flip=True, flip_probability=chance, flip_method="normal", flip_standard_error=error)
    assert format_cell(reversal(own)) == shown
    chance_text = "some orders, how many is not known," if shown == "unknown" else f"{shown} of orders"
    verdict = judged(own)
    assert verdict.facts["ties"] == f"{chance_text} put old ahead"
    assert ("unknown probability" in repr(own)) == (shown == "unknown")
    assert (verdict.flip_probability, verdict.flip_standard_error) == (chance, error)
    in_strata = describe_strata({"easy": verdict}, ("stratum", "strata")).get("ties")
    if shown == "unknown":
        assert in_strata is not None
        assert in_strata.endswith(" not known in easy (new / old)")
    elif chance < LIKELY:
        assert in_strata is None
    else:
        assert in_strata is not None
        assert numbers_in(in_strata) == [LIKELY, chance]
        assert in_strata.endswith(" in easy (new / old: 39%)")


def test_two_systems_that_could_not_be_tested_are_not_called_equal() -> None:
    """By a t test, where the one is better by the same on each query."""
    qrels = {f"q{n}": {"a": 1} for n in range(9)}
    runs = {
        "first": {query: {"a": 2.0, "b": 1.0} for query in qrels},
        "second": {query: {"b": 2.0, "a": 1.0} for query in qrels},
    }
    comparison = dh.compare(qrels, runs, "RR", test="t")
    assert math.isnan(comparison.pairs[0].p_value)
    assert (comparison.verdict.outcome, comparison.verdict.leader) == ("not shown", "first")
    assert comparison.verdict.headline.endswith(", but they could not be tested.")


def test_other_measures_agree_or_not() -> None:
    others = (pair(measure="RR"), pair(measure="AP", **BEHIND), pair(measure="MR"))
    found = judged(pair(), *others)
    assert (found.agree, found.others) == (("RR",), {"AP": "old", "MR": "old"})
    assert found.facts["other measures"].split("; ") == ["new leads by RR too", "old leads by AP, MR"]
    assert judged(pair(), pair(measure="P@5", mean=0.6)).facts["other measures"] == "nobody leads by P@5"


def test_strata_are_counted() -> None:
    verdicts = {
        "easy": judged(pair(can_flip=True, flip_probability=0.12)),
        "medium": judged(pair(**NOT_SHOWN)),
        "hard": judged(pair(**{**BEHIND, **NOT_SHOWN})),
    }
    assert describe_strata(verdicts, ("stratum of difficulty", "strata of difficulty")) == {
        "nDCG@10": "3 strata of difficulty: new leads in 2 (easy, medium), old leads in 1 (hard)",
        "more than chance": "new over old in easy (+0.1000, p = 0.0020, n = 50); no lead in 2 of 3",
        "ties": "5% of orders or more reverse leader and rival in easy (new / old: 12%)",
    }
    crossed = describe_strata({"easy": judged(pair(low=-0.01))}, ("stratum", "strata"))
    assert numbers_in(crossed["more than chance"]) == [0.1, 0.002, 50, 0]
    assert "interval has 0" in crossed["more than chance"]
    nobody = {"one": judged(pair(**NOT_SHOWN)), "two": judged(pair(**NOT_SHOWN))}
    described = describe_strata(nobody, ("stratum of a and b", "strata of a and b"))
    assert described["nDCG@10"].endswith("new leads in all 2 (one, two)")
    assert described["more than chance"] == "no lead in any of 2"


sizes = st.floats(-1, 1, allow_nan=False)
shares = st.floats(0, 1)


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    """Any pair, also one that no comparison would make."""
    mean, baseline = draw(sizes), draw(sizes)
    return pair(
        measure=draw(st.sampled_from(["nDCG@10", "MR", "NumRelRet", "GMAP"])),
        mean=mean,
        baseline_mean=baseline,
        difference=mean - baseline,
        expected_difference=draw(sizes),
        low=draw(st.sampled_from([-0.5, math.nan])),
        p_adjusted=draw(st.one_of(shares, st.just(math.nan))),
        significant=draw(st.booleans()),
        wins=draw(st.integers(0, 9)),
        losses=draw(st.integers(0, 9)),
        n_queries=draw(st.integers(0, 60)),
        n_clusters=draw(st.one_of(st.none(), st.integers(1, 9))),
        doubtful=draw(st.booleans()),
        can_flip=draw(st.booleans()),
        flip_probability=draw(st.one_of(shares, st.just(math.nan))),
        doc_id_reverses=draw(st.booleans()),
    )


@pytest.mark.slow
@given(
    pairs(), st.sampled_from(["randomization", "sign", "bootstrap"]), st.sampled_from(["two-sided", "greater", "less"])
)
def test_it_never_says_better_without_significance(one: Pair, test: str, alternative: str) -> None:
    found = judged(one, test=test, alternative=alternative)
    assert found.is_better <= one.significant
    assert (" beats " in found.headline) == found.is_better
    design = Design(test=test, alternative=alternative)
    if found.is_better:
        assert find_favourite(one, parse_measure(one.measure), design) == found.leader
        assert not explain_doubt(one, design)
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.headline.endswith(".")
    assert all(label and text for label, text in found.facts.items())


@pytest.mark.slow
@given(st.floats(-1e6, 1e6, allow_nan=False))
def test_numbers_are_those_of_the_tables(value: float) -> None:
    shown = format_number(value)
    assert shown == format_cell(value) or (value.is_integer() and shown == format_cell(int(value)))


@pytest.mark.slow
def test_numbers_come_from_the_pairs() -> None:
    comparison = dh.compare(QRELS, RUNS[:2], ["nDCG@10", "RR", "AP"])
    (own,) = comparison["nDCG@10"]
    found = comparison.verdict
    assert (found.leader, found.runner_up) == (own.system, own.baseline) == ("willia-umbrela1", "Olz-gpt4o")
    held = {one.name for one in fields(Pair)} & {one.name for one in fields(Verdict)} - {"baseline"}
    assert held > {"p_value", "p_adjusted", "difference", "low", "high", "n_queries", "flip_probability", "can_flip"}
    for name in held:
        assert getattr(found, name) == getattr(own, name)
    assert found.facts["p"].startswith(f"{format_cell(p_value_cell(own.p_adjusted))},")
    assert found.facts["95% CI"] == f"[{own.low:.4f}, {own.high:.4f}]"
    assert (found.agree, found.others) == (("RR",), {"AP": "Olz-gpt4o"})
    detectable = comparison.sample_sizes()["detectable_difference"][0]
    assert found.facts["detects"].startswith(f"{detectable:.4f} and more (80% power")


def test_the_margin_is_that_of_the_equivalence_tests() -> None:
    comparison = dh.compare(QRELS, RUNS, ["nDCG@10", "NumRelRet"], baseline="TREMA-CoT")
    frame = comparison.equivalence(0.01)
    found = comparison.judge(0.01)
    row = frame.filter(system=found.system, measure="nDCG@10").row(0, named=True)
    assert (found.margin, found.no_worse, found.equivalent) == (0.01, row["no_worse"], row["equivalent"])
    n = frame.filter(measure="nDCG@10")["no_worse"].sum()
    assert numbers_in(found.facts["margin 0.01"].partition(":")[0]) == [n, 3]
    with pytest.raises(ValueError, match="margin"):
        comparison.judge(0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["AP", "FRP"])
def test_a_margin_counts_for_the_measure_by_which_one_judges(name: str) -> None:
    """By scipy's one-sided t test: a system is no worse if its loss is less than the margin."""
    values = [{measure: dh.evaluate(QRELS, run, measure)[measure].values for measure in ("AP", "FRP")} for run in RUNS]
    (one, other), margin = (own[name] for own in values[:2]), 0.5
    comparison = dh.compare(QRELS, RUNS[:2], ["nDCG@10", "AP", "FRP", "NumRet"])
    measure = next(own for own in comparison.measures if own.label == name)
    found, pair = comparison.judge(margin, measure=measure), comparison[name][0]
    gains = (one - other) * (-1 if name == "FRP" else 1) * (1 if pair.system == "Olz-gpt4o" else -1)
    p = scipy_stats.ttest_1samp(gains, -margin, alternative="greater").pvalue
    assert comparison.equivalence(margin).filter(measure=name)["p_no_worse"].item() == pytest.approx(p)
    assert (found.measure, found.margin, found.no_worse) == (name, margin, p < 0.05)
    assert f"within {margin:g} {name}" in found.headline
    assert comparison.judge(margin, measure=comparison.measures[3]) == comparison.judge(margin)


def test_systems_of_which_nothing_is_known() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    runs = {"one": {"q1": {"a": 1.0}, "q2": {"a": 1.0}}, "two": {"q1": {"a": 1.0}, "q2": {"a": 1.0}}}
    found = dh.compare(qrels, runs, "RR").verdict
    assert (found.outcome, list(found.facts)) == ("equal", ["RR"])
    assert numbers_in(found.facts["RR"]) == [1.0, 2]
    worse = {"q1": {"b": 2.0, "a": 1.0}}
    one = dh.compare({"q1": {"a": 1}}, {"one": runs["one"], "two": worse}, "RR").verdict
    assert one.facts["RR"] == "one 1.0000, two 0.5000"
    assert (one.outcome, one.n_queries) == ("one query", 1)
    assert one.facts["doubt"].startswith("one query ")


def of_differing(differences: Sequence[int], **options: Any) -> tuple[dh.Comparison, Verdict]:  # noqa: ANN401 - of the design
    """Compare two systems by P@4 of which the first is better by so many quarters in each query."""
    qrels = {f"q{n:02}": {f"d{i}": 1 for i in range(4)} for n in range(len(differences))}
    good, poor = ({query: {f"d{i}": 9.0 - i for i in range(2)} for query in qrels} for _ in range(2))
    for query, quarters in zip(qrels, differences, strict=True):
        better, n = (good, quarters) if quarters > 0 else (poor, -quarters)
        better[query] |= {f"d{2 + i}": 5.0 - i for i in range(n)}
    comparison = dh.compare(qrels, {"poor": poor, "good": good}, "P@4", **options)
    return comparison, comparison.verdict


@pytest.mark.parametrize("test", ["randomization", "wilcoxon", "sign"])
def test_where_few_queries_differ_the_least_p_is_said_first(test: str) -> None:
    _, found = of_differing([1, 2, 1, *[0] * 22], test=test)
    assert (found.outcome, found.least_p, found.p_value) == ("few", 0.25, 0.25)
    assert found.facts["P@4"] == "good 0.5400, poor 0.5000"
    assert found.facts["doubt"].startswith("3 of 25 queries differ: ")
    assert numbers_in(found.facts["doubt"]) == [3, 25, found.least_p]
    assert found.facts["p"].startswith("0.2500, ")
    _, of_bca = of_differing([1, 2, 1, *[0] * 22], test=test, method="bca")
    assert numbers_in(of_bca.facts["doubt"]) == [3, 25, 0.25, 3]
    assert "interval" in of_bca.facts["doubt"]
    assert "detects" not in found.facts


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("n", range(1, 9))
def test_the_least_p_is_that_of_differences_of_one_sign(n: int, alternative: str) -> None:
    """Enumerated: of the 2^n patterns of signs one gives the greatest sum, and one the least."""
    for test in ("randomization", "wilcoxon", "sign"):
        _, found = of_differing([1] * n + [0] * 9, test=test, alternative=alternative)
        assert found.least_p == min(1.0, (2 if alternative == "two-sided" else 1) / 2**n)
        assert found.p_value == pytest.approx(found.least_p)
        _, mixed = of_differing([(-1) ** i * (1 + i % 2) for i in range(n)] + [0] * 9, test=test)
        assert mixed.p_value >= mixed.least_p - 1e-12


def test_tests_that_are_not_of_signs_have_no_least_p() -> None:
    for test in ("t", "bootstrap", "bootstrap-t", "tukey"):
        assert of_differing([1, 2, 1, *[0] * 22], test=test)[1].least_p == 0.0
    assert "doubt" not in of_differing([1, 2, 1, *[0] * 22], test="t")[1].facts


def test_clusters_are_what_differs() -> None:
    groups = {f"q{n:02}": str(n // 5) for n in range(25)}
    _, found = of_differing([1, 2, 1, 1, 1, 1, *[0] * 19], cluster=groups)
    assert (found.outcome, found.least_p) == ("few", 2.0**-4)  # 6 queries in 2 of 5 clusters differ
    assert found.facts["doubt"].startswith("5 of 5 clusters differ: ")


def test_the_least_p_is_corrected_as_p_is() -> None:
    many = [pair(system=f"s{n}", mean=0.5, p_value=0.5, p_adjusted=1.0, significant=False) for n in range(9)]
    one = pair(**NOT_SHOWN, wins=8, losses=0, draws=42)
    for correction, least in (("none", 2**-7), ("bh", 2**-7), ("holm", 10 * 2**-7), ("bonferroni", 10 * 2**-7)):
        found = judged(one, *many, baseline="old", correction=correction)
        assert found.least_p == pytest.approx(least)
        assert found.outcome == ("few" if least > 0.05 else "not shown")
    assert numbers_in(found.facts["doubt"]) == [8, 50, pytest.approx(10 * 2**-7, abs=1e-4)]


@pytest.mark.slow
def test_the_power_is_that_of_a_test_at_the_corrected_level() -> None:
    comparison = dh.compare(QRELS, RUNS, ["nDCG@10", "RR"])
    found = comparison.verdict
    (own,) = [one for one in comparison["nDCG@10"] if {one.system, one.baseline} == {found.leader, found.runner_up}]
    error = own.std / 5
    level = 2 * scipy_stats.t.sf((own.simultaneous_high - own.difference) / error, 24)
    assert 0.05 / 6 < level < 0.05
    size = dh.stats.detectable_difference(own.std, 25, confidence_level=1 - level)
    assert found.detectable == pytest.approx(size)
    assert found.n_tests == 6
    assert numbers_in(found.facts["detects"]) == [round(size, 4), 0.8, 0.05, 6]
    assert found.facts["detects"].endswith("level 0.05 over 6 differences)")
    by_holm = dh.compare(QRELS, RUNS, ["nDCG@10"], correction="holm").verdict
    size = dh.stats.detectable_difference(own.std, 25, confidence_level=1 - 0.05 / 6)
    assert by_holm.detectable == pytest.approx(size)
    assert by_holm.n_tests == 6
    assert numbers_in(by_holm.facts["detects"]) == [round(size, 4), 0.8, 0.05, 6]
    assert by_holm.facts["detects"].endswith("level 0.05/6)")
    alone = dh.stats.detectable_difference(own.std, 25)
    uncorrected = dh.compare(QRELS, RUNS, ["nDCG@10"], correction="bh").verdict
    assert uncorrected.detectable == pytest.approx(alone)
    assert uncorrected.n_tests == 1
    assert numbers_in(uncorrected.facts["detects"]) == [round(alone, 4), 0.8, 0.05, 6]
    assert "not corrected" in uncorrected.facts["detects"]


@pytest.mark.slow
def test_the_power_within_strata_is_corrected_over_all_of_them() -> None:
    queries = [{"query_id": query, "half": str(n % 2)} for n, query in enumerate(dh.read_qrels(QRELS).to_dict())]
    frame = pl.DataFrame(queries).with_columns(pl.col("query_id").cast(pl.String))
    parts = dh.compare(QRELS, RUNS[:2], ["nDCG@10"]).by("half", frame)
    assert all(part.verdict.facts["detects"].endswith(" t test, level 0.05/2)") for part in parts.values())


def pooled(n: int = 30, *, judges: int = 12) -> tuple[dict[str, dict[str, int]], dict[str, Any]]:
    """Return qrels of which one system's documents are the pool, and two systems that share no document."""
    old = {f"q{i:02}": {f"old{rank}": 20.0 - rank for rank in range(15)} for i in range(n)}
    new = {query: {f"new{rank}": 20.0 - rank for rank in range(15)} for query in old}
    qrels = {query: {doc: int(hash_of(query, doc) % 3 == 0) for doc in [*docs][:judges]} for query, docs in old.items()}
    for query in qrels:
        qrels[query] |= {"new0": 0}
    return qrels, {"new": new, "old": old}


def hash_of(*parts: str) -> int:
    return sum(n * ord(letter) for n, letter in enumerate("".join(parts), 1))


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "P@5", "R@10", "bpref", "MR"])
def test_a_lead_over_a_system_that_is_not_judged_may_be_due_to_the_judgments(measure: str) -> None:
    qrels, runs = pooled()
    comparison = dh.compare(qrels, runs, measure)
    found = comparison.verdict
    depth = 5 if measure == "P@5" else 10
    assert found.is_better
    assert found.leader == "old"
    assert found.lacking is not None
    assert found.lacking.depth == depth
    assert (found.lacking.system, round(found.lacking.baseline, 9)) == (0.0, 1 - 1 / depth)
    assert numbers_in(found.facts["judgments"])[:3] == [1 - 1 / depth, depth, 0]
    assert f"{depth} of new and 0% of old" in found.facts["judgments"]
    assert found.to_dict()["lacking"]["depth"] == depth
    if measure in {"bpref", "MR"}:
        assert math.isnan(found.lacking.low)
        assert found.to_dict()["lacking"]["low"] is None
    else:  # some labels do reverse it, and the bounds are those that were asked for, or wider
        (asked,) = dh.compare(qrels, runs, measure, unjudged="bounds").unjudged_outer_bounds
        assert found.lacking.low <= asked.low + 1e-9 < 0 < asked.high - 1e-9 <= found.lacking.high
        assert asked.low == pytest.approx(found.lacking.low)
        judged = {query: docs | {f"new{n}": 1 for n in range(15)} for query, docs in qrels.items()}
        assert dh.compare(judged, runs, measure).verdict.leader == "new"


def same_below(n_better: int = 34, n_alike: int = 6) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return two systems that differ in judged documents alone, above the same two documents that nobody judged."""
    queries = [f"q{n:02}" for n in range(n_better + n_alike)]
    qrels: dict[str, Any] = {query: {"good": 1, "bad": 0} for query in queries}
    first = {q: {"good" if n < n_better else "bad": 3.0, "u": 2.0, "v": 1.0} for n, q in enumerate(queries)}
    return qrels, {"a": first, "b": {query: {"bad": 3.0, "u": 2.0, "v": 1.0} for query in queries}}


@pytest.mark.parametrize("measure", ["P@3", "DCG@3", "RBP", "R@3", "nDCG@3", "F@3"])
def test_labels_that_both_systems_share_reverse_nothing(measure: str) -> None:
    """Each is bounded by itself from far below the other: only as one difference is it known."""
    qrels, runs = same_below()
    found = dh.compare(qrels, runs, measure)
    assert found.verdict.lacking is not None
    assert found.verdict.lacking.is_safe
    assert "missing judgments" not in found.verdict.headline
    assert "no labels reverse" in found.verdict.facts["judgments"]
    differences = []
    for labels in itertools.product((0, 1), repeat=2):  # the same in each query: those of one do not change another
        judged = {query: own | dict(zip("uv", labels, strict=True)) for query, own in qrels.items()}
        differences.append(dh.compare(judged, runs, measure, n_resamples=99).pairs[0].difference)
    ends = sorted((min(differences), max(differences)))
    assert (found.verdict.lacking.low, found.verdict.lacking.high) == pytest.approx(ends)
    (asked,) = dh.compare(qrels, runs, measure, unjudged="bounds").unjudged_outer_bounds
    assert (asked.is_attained, asked.is_safe, asked.is_reversible) == (True, True, False)


@pytest.mark.parametrize("measure", ["AP", "RR", "ERR", "Hit@3", "Rprec"])
def test_the_headline_is_silent_where_bounds_may_not_be_attained(measure: str) -> None:
    qrels, runs = pooled()
    found = dh.compare(qrels, runs, measure).verdict
    assert found.lacking is not None
    assert not found.lacking.is_attained
    assert "missing judgments" not in found.headline
    assert "(outer bounds)" in str(found)


@pytest.mark.slow
def test_the_headline_is_silent_where_documents_are_not_known(tmp_path: Path) -> None:
    """Of saved evaluations without (enough of) their rankings, and of a difference that a judge helps to estimate.

    Documents below the saved ones are relevant or not for the ideal of nDCG, and nothing for P@5.
    """
    qrels, runs = pooled()
    assert "missing judgments" in dh.compare(qrels, runs, "P@5").verdict.headline
    for save_depth, known in ((100, {"P@5", "nDCG@10"}), (5, {"P@5"}), (0, set())):
        for name, run in runs.items():
            evaluation = dh.evaluate(qrels, dh.Run(run, name=name), "P@5 nDCG@10")
            evaluation.save(tmp_path / f"{name}.json", save_depth=save_depth)
        saved = dh.compare_evaluations([tmp_path / f"{name}.json" for name in runs])
        for verdict in (saved.judge(measure=measure) for measure in saved.measures):
            assert verdict.lacking is not None
            assert verdict.lacking.is_attained == (verdict.measure in known)
            assert ("missing judgments" in verdict.headline) == verdict.lacking.is_attained
    half = dict(list(qrels.items())[:15])
    judged = dh.compare(half, runs, "P@5", judge=qrels)
    assert judged.pairs[0].is_estimated
    assert judged.verdict.lacking is not None
    assert math.isnan(judged.verdict.lacking.low)
    assert "missing judgments" not in judged.verdict.headline


def test_a_lead_that_no_labels_reverse_is_safe() -> None:
    """The first document of the one is judged and not relevant: its RR is 0.5 at most."""
    qrels, runs = pooled()
    found = dh.compare(qrels, runs, "RR").verdict
    assert found.lacking is not None
    assert found.lacking.is_safe
    bounds = [round(found.lacking.low, 4), round(found.lacking.high, 4)]
    assert numbers_in(found.facts["judgments"]) == [0.9, 10, 0, *bounds]
    assert "no labels reverse" in found.facts["judgments"]
    assert bounds[0] > 0
    strata = describe_strata({"a": found, "b": dh.compare(qrels, runs, "AP").verdict}, ("half", "halves"))
    assert strata["unjudged"].startswith("b (90% of the top 10 of new): ")


@pytest.mark.slow
def test_what_is_judged_or_unjudged_alike_by_design_says_nothing() -> None:
    assert dh.compare(QRELS, RUNS, ["nDCG@10"]).verdict.lacking is None
    qrels = {f"q{n}": {"x": 1} for n in range(9)}
    runs = {
        name: {q: {"x": place} | {f"{name}{i}": 5.0 - i for i in range(5)} for q in qrels}
        for name, place in (("a", 9.0), ("b", 4.5))
    }
    found = dh.compare(qrels, runs, "RR").verdict
    assert (found.leader, found.lacking) == ("a", None)


def test_no_system_wins_by_what_the_data_hold() -> None:
    qrels, runs = pooled()
    found = dh.compare(qrels, runs, ["Judged@10", "nDCG@10", "NumRet", "RR"]).verdict
    assert (found.measure, found.agree) == ("nDCG@10", ("RR",))
    assert "Judged" not in str(found)
    nothing = dh.compare(qrels, runs, ["Judged@10", "NumRet"])
    assert (nothing.verdict.outcome, nothing.verdict.leader) == ("none", None)
    assert list(nothing.verdict.facts) == ["Judged@10, NumRet"]
    compact = dh.compare(qrels, runs, ["Judged@10", "nDCG@10"]).to_markdown(compact=True)
    rows = [line for line in compact.splitlines() if line.startswith("| ") and "old" in line]
    assert "**1.0000**" not in rows[0]


@pytest.mark.parametrize("name", ["Hole@2", "RBPResidual", "Abstain@0.5", "NumRet"])
def test_one_measure_of_the_data_says_so(name: str) -> None:
    """Who keeps silent, or is judged, is not better for it."""
    qrels = {f"q{n}": {"x": 1} for n in range(30)}
    runs = {
        "mute": {query: {"x": 0.1} for query in qrels},
        "loud": {query: {"a": 0.9, "x": 0.8, "b": 0.7} for query in qrels},
    }
    found = dh.compare(qrels, runs, name).verdict
    assert (found.outcome, found.leader, found.measure) == ("none", None, name)
    assert list(found.facts) == [name]
    assert found.facts[name].startswith("says what the data hold, ")


@pytest.mark.parametrize("name", ["SetAP", "Utility", "Abstain(of='recall')@0.5"])
def test_sets_and_silence_that_is_right_are_quality(name: str) -> None:
    answers = {f"q{n}": {"x": 1} for n in range(30)}
    qrels = {**answers, **{f"none{n}": {} for n in range(30)}}
    runs = {
        "good": {query: {"x" if own else "a": 0.9 if own else 0.1} for query, own in qrels.items()},
        "poor": {query: {"a": 0.9 if int(query[-1]) else 0.1, "x": 0.05} for query in qrels},
    }
    found = dh.compare(qrels, runs, name).verdict
    assert (found.leader, found.measure) == ("good", name)


def test_a_verdict_says_where_interval_and_p_disagree() -> None:
    def interval(**changes: Any) -> str:  # noqa: ANN401 - of any field
        return judged(pair(method="t", **changes)).facts["95% CI"]

    assert interval() == "[0.0500, 0.1500]"
    assert interval(low=-0.01).startswith("[-0.0100, 0.1500], has 0: by Student's t, ")
    not_shown = {"significant": False, "p_adjusted": 0.06}
    assert interval(**not_shown).startswith("[0.0500, 0.1500], excludes 0: by Student's t, ")
    assert interval(low=-0.01, **not_shown) == "[-0.0100, 0.1500]"
    of_many = (pair(**not_shown), pair(system="third", mean=0.65, **not_shown))
    assert judged(*of_many, correction="holm").facts["95% CI"].endswith("], not corrected")


@pytest.mark.parametrize(
    ("changes", "size"),
    [
        ({}, ""),
        ({"p_adjusted": 0.03}, ""),
        ({"n_queries": 24, "p_adjusted": 0.03}, " (few queries)"),
        ({"n_queries": 24, "p_adjusted": 0.004}, ""),
        ({"n_clusters": 24, "p_adjusted": 0.03}, " (few clusters)"),
        ({"doubtful": True, "p_adjusted": 0.0002}, " (differences are skewed)"),
        ({"doubtful": True, "p_adjusted": 0.00009}, " (differences are skewed)"),
    ],
)
def test_the_headline_says_what_a_p_near_the_level_may_be_due_to(changes: dict[str, Any], size: str) -> None:
    found = judged(pair(**changes))
    assert found.headline.endswith(f" of nDCG@10{size}.")
    assert found.outcome == "better"
    assert ("doubt" in found.facts) is ("skewed" in size)


def test_a_margin_is_not_corrected_as_joint_intervals_are() -> None:
    own = [replace(one, simultaneous_low=-0.2, simultaneous_high=0.3, significant=False) for one in of_three()]
    found = judged(*own, within={one: replace(WITHIN, equivalent=True) for one in own})
    assert numbers_in(found.facts["margin 0.01"]) == [3, 3]
    assert "not corrected, unlike " in found.facts["margin 0.01"]
    assert found.headline.endswith(" (uncorrected).")
