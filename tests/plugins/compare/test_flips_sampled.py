"""Flip probabilities from random orders, and what a normal distribution can be off: by shuffles and by arithmetic."""

import importlib.util
import math
import tracemalloc
from itertools import combinations
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy

import deadheat as dh
from deadheat import Pair
from deadheat.core.measures.orders import OrdersMeasure
from deadheat.plugins.compare import orders, pairs
from deadheat.plugins.compare.flips import Side, flip, is_moved, normal_errors
from deadheat.plugins.compare.orders import DrawnSums, draw_sums, probability_below
from deadheat.plugins.compare.report import report_comparison
from oracle.graded import expected_reciprocal_rank
from oracle.random_cases import BATCHES
from oracle.variants import VARIANTS, Variant
from support.numbers_in_text import numbers_in
from support.paths import ROOT
from support.shared_data import LLM_RUNS, llm_qrels, llm_run, needs_shared_data, qrels_dict, run_dict

FIGURES = ROOT / "docs" / "figures" / "flips.py"
HARD = dict(sorted(BATCHES["graded"].cases.items(), key=lambda item: -len(item[1].rankings))[:8])
Grades = dict[str, dict[str, float]]


def figures() -> ModuleType:
    """Load the script that shuffles documents: it knows nothing of how deadheat finds a probability."""
    spec = importlib.util.spec_from_file_location("figures_flips", FIGURES)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def skewed(n_queries: int = 1, n_docs: int = 40, n_last: int = 4) -> tuple[Grades, dict[str, Grades]]:
    """One very relevant document among many: the run that finds it first is far ahead."""
    docs = [f"d{n:02}" for n in range(n_docs)]
    qrels: Grades = {}
    runs: dict[str, Grades] = {"one": {}, "two": {}}
    for query in (f"q{n}" for n in range(n_queries)):
        qrels[query] = (
            dict.fromkeys(docs, 0.0) | {docs[0]: 3.0} | {doc: 1.0 + n % 2 for n, doc in enumerate(docs[5:14])}
        )
        runs["one"][query] = dict.fromkeys(docs, 1.0)
        runs["two"][query] = dict.fromkeys(docs, 1.0) | dict.fromkeys(docs[1 : 1 + n_last], 0.5)
    return qrels, runs


def only(qrels: Grades, runs: dict[str, Grades], measure: str | dh.Custom, rng: int | np.random.Generator = 0) -> Pair:
    (pair,) = dh.compare(qrels, runs, measure, method="t", test="t", rng=rng).pairs
    return pair


# The whole way


@pytest.mark.slow
def test_one_query_of_skewed_values() -> None:
    """By the normal distribution this was off by 0.18."""
    qrels, runs = skewed(n_docs=100, n_last=20)
    pair = only(qrels, runs, "ERR(max_rel=3)")
    rng, values = np.random.default_rng(3), {}
    for name, run in runs.items():
        scores = run["q0"]
        drawn = []
        for _ in range(4_000):
            keys = rng.random(len(scores))
            order = np.lexsort((keys, -np.array(list(scores.values()))))
            ranking = [(doc, qrels["q0"][doc]) for doc in np.array(list(scores))[order].tolist()]
            drawn.append(expected_reciprocal_rank(ranking, qrels["q0"], 3.0, max_rel=3))
        values[name] = np.array(drawn)
    difference = values[pair.system] - values[pair.baseline]
    share = (np.sign(pair.difference) * difference < -1e-10).mean()
    normal = scipy.stats.norm.cdf(-abs(pair.difference) / pair.tie_standard_error)
    assert abs(normal - share) > 0.15
    assert pair.flip_method == "sampled"
    assert 0 < pair.flip_standard_error < 0.01
    assert pair.flip_probability == pytest.approx(share, abs=4 * math.hypot(0.5 / math.sqrt(4_000), 0.01))


@needs_shared_data
@pytest.mark.slow
def test_real_runs_in_parts_of_few_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pair by six measures, over all queries and over random parts of them: `docs/figures/flips.py` has all."""
    shuffles = figures()
    monkeypatch.setattr(shuffles, "N_ORDERS", 1_000)
    monkeypatch.setattr(shuffles, "MEASURES", shuffles.MEASURES[:4])
    runs = {name: run_dict(llm_run(name)) for name in LLM_RUNS[:3]}
    qrels, parts = qrels_dict(llm_qrels()), shuffles.partitions(25)
    some = dict(sorted(qrels.items())[:6])
    found = shuffles.compare_all(qrels, runs, {size: parts[size] for size in (25, 5)})
    found |= shuffles.compare_all(some, runs, {1: np.arange(len(some))[:, None]})
    compared = [one for of_size in found.values() for one in of_size]
    assert [one for one in compared if one.off > one.allowed] == []
    assert sum(one.method == "sampled" for one in compared) > 80
    assert max(one.error for one in compared if one.method == "sampled") < 0.02


@pytest.mark.slow
def test_a_tie_of_100_000_documents() -> None:
    """Five relevant ones in it: the sum of precisions at their ranks, against that of places drawn by NumPy."""
    docs = [f"d{n}" for n in range(100_000)]
    qrels = {"q": dict.fromkeys(docs[:5], 1.0)}
    runs = {"tied": {"q": dict.fromkeys(docs, 1.0)}, "half": {"q": dict.fromkeys(docs[1:], 1.0)}}
    pair = only(qrels, runs, "AP")
    rng = np.random.default_rng(1)

    def drawn(size: int, n: int) -> np.ndarray:
        ranks = np.sort([rng.choice(size, n, replace=False) + 1 for _ in range(20_000)], axis=1)
        return np.asarray((np.arange(1, n + 1) / ranks).sum(axis=1) / 5)

    difference = drawn(99_999, 4) - drawn(100_000, 5)
    share = (np.sign(pair.difference) * (difference if pair.system == "half" else -difference) < 0).mean()
    assert pair.flip_method == "sampled"
    assert pair.flip_probability == pytest.approx(share, abs=4 * math.hypot(pair.flip_standard_error, 0.0035))


@pytest.mark.slow
def test_a_measure_of_ones_own() -> None:
    """It is the precision at five, whose distribution is exact; its own moments are sampled."""
    own = dh.Custom("mine", lambda relevance: float((relevance[:5] > 0).mean()), max_orders=500)
    qrels, runs = skewed(2)
    sampled, exact = only(qrels, runs, own), only(qrels, runs, "P@5")
    assert (sampled.flip_method, exact.flip_method) == ("sampled", "exact")
    assert sampled.flip_probability == pytest.approx(exact.flip_probability, abs=4 * sampled.flip_standard_error)


def test_draws_are_those_of_a_system_whatever_stands_beside_it() -> None:
    qrels, runs = skewed(3)
    pair = only(qrels, runs, "AP")
    more = {"three": {"q1": {"d00": 1.0}}, **dict(reversed(runs.items()))}
    found = {(one.system, one.baseline): one for one in dh.compare(qrels, more, ["RR", "AP"], missing="empty")["AP"]}
    turned = found[pair.baseline, pair.system]
    assert turned.flip_probability == pytest.approx(pair.flip_probability, abs=1e-12)
    assert turned.flip_standard_error == pytest.approx(pair.flip_standard_error, abs=1e-12)
    assert only(qrels, runs, "AP").flip_probability == pair.flip_probability
    renamed = {f"new {name}": run for name, run in runs.items()}
    assert only(qrels, renamed, "AP").flip_probability == pair.flip_probability
    assert only(qrels, runs, "AP", rng=1).flip_probability != pair.flip_probability
    assert only(qrels, runs, "AP", rng=np.random.default_rng(2)).flip_method == "sampled"


def test_two_runs_that_are_alike_are_drawn_apart() -> None:
    """Nearly the same run twice: the two are independent, not equal in each order."""
    qrels, runs = skewed(2)
    runs["two"] = {query: docs | {"d39": 0.5} for query, docs in runs["one"].items()}
    assert only(qrels, runs, "AP").flip_probability == pytest.approx(0.5, abs=0.1)


# Saved evaluations


@pytest.mark.slow
def test_where_no_order_can_be_drawn_it_says_how_far_it_may_be_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for a custom measure from a file; of others orders are drawn."""
    qrels, runs = skewed(n_docs=100, n_last=20)
    for name, run in runs.items():
        dh.evaluate(qrels, run, "ERR(max_rel=3)").save(tmp_path / f"{name}.json")
    drawn = only(qrels, runs, "ERR(max_rel=3)")
    loaded = {name: dh.load_evaluation(tmp_path / f"{name}.json") for name in runs}
    assert dh.compare_evaluations(loaded).pairs[0].flip_probability == drawn.flip_probability
    monkeypatch.setattr(Side, "can_draw", property(lambda _: False))
    found = dh.compare_evaluations(loaded)
    (saved,) = found.pairs
    assert saved.flip_method == "normal"
    off = abs(saved.flip_probability - drawn.flip_probability)
    assert 0.15 < off < saved.flip_standard_error <= 1
    texts = [fact.text for fact in report_comparison(found, qrels="q").facts if fact.heading == "reversed"]
    assert numbers_in(texts[0]) == [1, 1, 0, 0.05, 1]
    assert texts[0].endswith("(1 unknown)")
    assert numbers_in(texts[1])[:3] == [1, 1, 0.05]
    assert "not known" in texts[1]


# The bounds of the normal distribution


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5])
@pytest.mark.parametrize("n", [1, 10, 400, 20_000])
def test_a_normal_distribution_is_off_by_less_than_is_said(n: int, p: float) -> None:
    """Sums of n values that are 1 - c with probability p and -c otherwise: their distribution is the binomial one."""
    sums = np.arange(n + 1)
    cumulative = scipy.stats.binom.cdf(sums, n, p)
    variance, largest = n * p * (1 - p), 1 - p

    def bounded(mean: float) -> float:
        return float(normal_errors(*(np.array([one]) for one in (mean, variance, largest * variance, largest)))[0])

    tails = []
    for count in np.unique(np.linspace(0, n, 50).astype(int)).tolist():
        mean = n * p - count - 0.5  # of the sum of values less c = (count + 0.5) / n
        below = cumulative[count] if mean > 0 else 1 - cumulative[count]
        bound = bounded(mean)
        normal = scipy.stats.norm.sf(abs(mean) / math.sqrt(n * p * (1 - p)))
        assert abs(below - normal) <= bound + 1e-12
        tails.append(bound)
    assert min(tails) < (0.005 if n > 10 else 1.01)
    assert bounded(0.0) < {20_000: 0.03, 400: 0.2}.get(n, 1.01)


def test_without_more_the_bound_is_that_of_cantelli() -> None:
    found = flip(0.3, 0.01, -1.0, 1.0)
    assert found.method == "normal"
    assert found.standard_error == pytest.approx(0.01 / (0.01 + 0.09))
    assert flip(0.3, 0.01, -1.0, 1.0, most_off=0.02).standard_error == 0.02
    assert flip(0.3, 0.01, -1.0, 1.0, sign=-1.0).probability == pytest.approx(1 - found.probability)


@pytest.mark.slow
def test_many_queries_are_as_good_as_normal() -> None:
    """Two runs over 3,000 queries in ties of ten: proved, so that nothing is drawn; 1,000 shuffles agree."""
    n, rng = 3_000, np.random.default_rng(8)
    queries = [f"q{number:04}" for number in range(n)]
    qrels = {query: {"d0": 1.0, "d1": 1.0} for query in queries}
    runs = {
        "one": {query: {f"d{number}": 1.0 for number in range(10)} for query in queries},
        "two": {query: {f"d{number}": 1.0 for number in range(10 + (query > "q2980"))} for query in queries},
    }
    pair = only(qrels, runs, "AP")
    assert pair.flip_method == "normal"
    assert 0.005 < pair.flip_standard_error < 0.05
    drawn = {}
    for name, run in runs.items():
        sizes = np.array([len(run[query]) for query in queries])
        first, second = rng.integers(1, sizes + 1, (1_000, n)), rng.integers(1, sizes, (1_000, n))
        ranks = np.sort([first, second + (second >= first)], axis=0)  # two different ones
        drawn[name] = ((1 / ranks[0] + 2 / ranks[1]) / 2).mean(axis=1)
    share = (np.sign(pair.difference) * (drawn[pair.system] - drawn[pair.baseline]) < 0).mean()
    assert pair.flip_probability == pytest.approx(share, abs=0.06)


# Drawing


def test_only_queries_that_ties_move_are_drawn() -> None:
    """Four hundred queries of which one ties take no more memory than what its orders need."""
    docs = [f"d{n}" for n in range(60)]
    qrels = {f"q{n:03}": dict.fromkeys(docs, 1) for n in range(400)}
    run = {query: {doc: -float(n) for n, doc in enumerate((*docs, "x"))} for query in qrels}
    run["q200"] = dict.fromkeys((*docs, *(f"x{n}" for n in range(60))), 1.0)
    placements, measure = dh.place(qrels, run), dh.AP()
    moved = is_moved(measure.mean(placements), measure.variance(placements))
    assert moved.sum() == 1
    tracemalloc.start()
    found = orders.draw_sums(measure, placements, np.ones(400, np.bool_), moved, np.random.default_rng(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3e7
    assert found is not None
    assert len(found.sums) == orders.MOST
    assert found.sums.mean() == pytest.approx(found.mean, abs=4 * found.deviation / math.sqrt(orders.MOST))


@pytest.mark.parametrize(("size", "n_judged"), [(4, 2), (4, 4), (7, 4), (9, 3), (30, 2)])
def test_places_are_all_as_likely(size: int, n_judged: int) -> None:
    """Of few among many, and of many among few."""
    found = orders._draw_places(size, n_judged, 100_000, np.random.default_rng(5))
    kinds, counts = np.unique(found, axis=0, return_counts=True)
    assert len(kinds) == math.perm(size, n_judged)
    assert (np.diff(np.sort(found, axis=1)) > 0).all()
    assert found.min() == 0
    assert found.max() == size - 1
    assert scipy.stats.chisquare(counts).pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.notation(None))
def test_drawn_orders_have_the_exact_moments(variant: Variant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every measure and cutoff, query by query: mean and variance are those of the closed form, and no more."""
    lists_orders = isinstance(dh.parse_measure(variant.notation(variant.cutoffs[0])), OrdersMeasure)  # slowest of all
    monkeypatch.setattr(orders, "MOST", 300 if lists_orders else 1_000)
    placements = dh.place(
        {query: dict(case.judged) for query, case in HARD.items()},
        {query: dict(case.scores) for query, case in HARD.items()},
    )
    for cutoff in variant.cutoffs:
        measure = dh.parse_measure(variant.notation(cutoff))
        if not measure.can_list_orders(placements):
            continue
        mean, variance = measure.mean(placements), measure.variance(placements)
        low, high = measure.extremes(placements)
        for query in np.flatnonzero(~np.isnan(mean)).tolist():
            keep = np.arange(placements.n_queries) == query
            found = draw_sums(measure, placements, keep, keep & is_moved(mean, variance), np.random.default_rng(query))
            assert found is not None
            n = len(found.sums)
            assert low[query] - 1e-9 <= found.sums.min()
            assert found.sums.max() <= high[query] + 1e-9
            spread = math.sqrt(variance[query])
            assert found.sums.mean() == pytest.approx(mean[query], abs=5 * spread / math.sqrt(n) + 1e-9)
            fourth = ((found.sums - mean[query]) ** 2).std() / math.sqrt(n)
            assert ((found.sums - mean[query]) ** 2).mean() == pytest.approx(variance[query], abs=5 * fourth + 1e-9)


def drawn_from(values: np.ndarray, shares: np.ndarray, n: int, rng: np.random.Generator) -> DrawnSums:
    mean = float(values @ shares)
    return DrawnSums(np.sort(rng.choice(values, n, p=shares)), mean, math.sqrt((values - mean) ** 2 @ shares))


def test_standard_error_is_how_far_the_probability_is_off() -> None:
    """Skewed values on a lattice, so that sums are often equal, drawn 400 times."""
    one, p = np.arange(8) / 8.0, np.array([0.5, 0.2, 0.1, 0.1, 0.04, 0.03, 0.02, 0.01])
    other, r = np.arange(12) / 8.0, np.full(12, 1 / 12)
    exact = float((p[:, None] * r)[one[:, None] < other].sum())
    rng = np.random.default_rng(11)
    found = [probability_below(drawn_from(one, p, 300, rng), drawn_from(other, r, 200, rng)) for _ in range(400)]
    off = np.array([probability - exact for probability, _ in found])
    errors = np.array([error for _, error in found])
    assert abs(off.mean()) < 4 * off.std() / 20
    assert (off / errors).std() == pytest.approx(1, abs=0.1)
    assert off.std() < 0.6 * math.sqrt(exact * (1 - exact) / 200)  # of which control variates are the cause


def test_what_was_never_seen_is_not_impossible() -> None:
    never = DrawnSums(np.linspace(2, 3, 500), 2.5, 0.29), DrawnSums(np.linspace(0, 1, 400), 0.5, 0.29)
    probability, error = probability_below(*never)
    assert probability == pytest.approx(0, abs=1e-9)
    assert error == 1 / 400
    fixed = DrawnSums(np.array([2.0]), 2.0, 0.0)
    assert probability_below(fixed, never[0])[0] == pytest.approx(1, abs=0.01)


def test_strata_are_drawn_for_themselves() -> None:
    qrels, runs = skewed(4)
    table = pl.DataFrame({"query_id": list(qrels), "part": ["a", "a", "b", "b"]})
    for part in dh.compare(qrels, runs, "AP", method="t", test="t").by("part", table).values():
        assert part.pairs[0].flip_method == "sampled"
        assert part.pairs[0].n_queries == 2


def test_of_very_many_documents_the_leading_systems_have_their_orders_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict is about the two that lead; that of the others may be off, and says so."""
    docs = [f"d{n}" for n in range(8)]
    qrels = {f"q{n}": {doc: int(doc in docs[: 2 + n]) for doc in docs} for n in range(3)}
    runs = {
        name: {query: {doc: 2.0 if place in first else 1.0 for place, doc in enumerate(docs)} for query in qrels}
        for name, first in {"a": (0, 2, 3, 4), "b": (0, 5, 7), "c": (1, 3, 6), "d": (0, 2, 3, 6, 7)}.items()
    }
    means = {name: dh.evaluate(qrels, run, "AP").means()["AP"] for name, run in runs.items()}
    known = {frozenset((one.system, one.baseline)): one for one in dh.compare(qrels, runs, "AP").pairs}
    assert {one.flip_method for one in known.values()} == {"exact"}
    for name, value in {"FEW_SIDES": 1, "LITTLE": 1, "MOST_CELLS": 1, "LEADING": 2}.items():
        monkeypatch.setattr(pairs, name, value)
    monkeypatch.setattr("deadheat.plugins.compare.flips.LITTLE", 1)
    first, second, third, last = sorted(means, key=lambda name: -means[name])
    found = {frozenset((one.system, one.baseline)): one for one in dh.compare(qrels, runs, "AP").pairs}
    leading = frozenset((first, second))
    assert found[leading].flip_method == "exact"
    assert found[leading].flip_probability == pytest.approx(known[leading].flip_probability, abs=1e-12)
    assert {one.flip_method for place, one in found.items() if place != leading} == {"normal"}
    against = {one.system: one.flip_method for one in dh.compare(qrels, runs, "AP", baseline=last).pairs}
    assert against == {first: "exact", second: "exact", third: "normal"}


def test_a_missing_value_leads_by_no_measure_of_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "LEADING", 2)
    values = {
        "gap": [3, np.nan, np.nan],
        "last": [9, 9, 9],
        "second": [2, 2, 2],
        "first": [1, 1, 1],
        "none": [np.nan] * 3,
    }
    sides: Any = {name: SimpleNamespace(values=np.array(own), measure=dh.FRP()) for name, own in values.items()}
    places = [*combinations(values, 2)]
    found = pairs._are_leading(sides, places)
    assert [place for place, is_leading in zip(places, found, strict=True) if is_leading] == [("second", "first")]
