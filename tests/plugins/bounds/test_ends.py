"""Bounds over unjudged documents, against all labels of small cases, and all orders of their ties for each."""

from __future__ import annotations

import itertools
import random
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest

import deadheat as dh
from deadheat import Measure
from deadheat.errors import MeasureError
from deadheat.plugins.bounds.documents import as_placed, with_ties
from deadheat.plugins.bounds.ends import ends, has_ends
from oracle.orders import moments, weighted_rankings
from oracle.variants import VARIANTS, Variant

NAMES = ("P", "R", "F", "Hit", "RR", "AP", "Rprec", "DCG", "nDCG", "RBP", "ERR")
BOUNDED = [one for one in VARIANTS if one.name in NAMES and one.parameters.get("top") != "query"]
CUTOFFS = (None, 1, 2, 3, 5)
WHOLE = (0.0, 1.0, 2.0, 3.0)
EQUAL = 1e-12


def case(seed: int) -> tuple[dict[str, float], dict[str, float]]:
    """Judgments (one or two of documents that are not retrieved) and scores of up to six documents."""
    rng = random.Random(seed)
    documents = [f"d{n}" for n in range(rng.choice([3, 4, 5, 6]))]
    n_unjudged = rng.randrange(1, min(3, len(documents)) + 1)
    judged = {one: float(rng.choice([-1, 0, 1, 1, 2, 3])) for one in documents[n_unjudged:]}
    judged |= {f"lost{n}": float(rng.choice([0, 1, 3])) for n in range(rng.randrange(3))}
    judged = judged or {"lost": 1.0}
    return judged, {one: float(rng.randrange(rng.choice([1, 2, 4]))) for one in rng.sample(documents, len(documents))}


def labels_of(variant: Variant) -> tuple[float, ...]:
    """The labels that are tried: those that a mapping names, else whole numbers."""
    gain = variant.parameters.get("gain")
    return tuple(sorted({0.0, *(one for one in gain if one >= 0)})) if isinstance(gain, dict) else WHOLE


def at_cutoffs(variant: Variant, cutoffs: tuple[int | None, ...]) -> list[tuple[int | None, Measure]]:
    """The measure at each of some cutoffs, or as a whole where it has none; not as a whole where it needs one."""
    measure = dh.measures()[variant.name]
    if len(variant.cutoffs) == 1:
        return [(None, measure(**variant.parameters))]
    found: list[tuple[int | None, Measure]] = []
    for cutoff in cutoffs:
        if cutoff is not None:
            found.append((cutoff, measure(**variant.parameters, cutoff=cutoff)))
        elif None in variant.cutoffs:
            found.append((None, measure(**variant.parameters)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(14))
def test_ends_are_those_of_all_labels(seed: int) -> None:
    judged, scores = case(seed)
    unjudged = [one for one in scores if one not in judged]
    qrels = {"q": judged, "scale": {"x": 3.0}}
    run = dh.Run({"q": scores, "scale": {"x": 1.0}})
    placements = dh.place(qrels, run)
    ties = with_ties(placements, run)
    assert int(ties.count.sum()) == len(unjudged)
    rankings: dict[tuple[float, ...], list[tuple[list[tuple[str, float | None]], int]]] = {}
    for variant in BOUNDED:
        choices = labels_of(variant)
        if len(choices) ** len(unjudged) > 200:
            continue
        for cutoff, measure in at_cutoffs(variant, CUTOFFS):
            values = []
            for labels in itertools.product(choices, repeat=len(unjudged)):
                known = judged | dict(zip(unjudged, labels, strict=True))
                if labels not in rankings:
                    rankings[labels] = weighted_rankings(scores, known)  # type: ignore[assignment]
                values.append(moments(variant.reference(cutoff, known, 3.0), rankings[labels]).mean)
            if not has_ends(measure):
                assert variant.parameters.get("norm") == "retrieved" or variant.parameters.get("negative") == "gain"
                continue
            low, high = ends(measure, placements, ties, 3.0)
            assert (low[0], high[0]) == pytest.approx((min(values), max(values)), abs=EQUAL), (measure, judged, scores)


@pytest.mark.parametrize("top", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("name", ["P@2", "R@2", "F@2", "AP", "Rprec", "nDCG@2", "nDCG(gain='exp')", "DCG", "R(rel=2)"])
def test_a_lower_top_allows_fewer_labels(name: str, top: float) -> None:
    measure = dh.parse_measure(name)
    own = {one.name: getattr(measure, one.name) for one in fields(measure) if getattr(measure, one.name) != one.default}
    parameters = {key: value for key, value in own.items() if key != "cutoff"}
    variant = Variant(type(measure).__name__, parameters, (None,))
    for seed in range(20, 30):
        judged, scores = case(seed)
        unjudged = [one for one in scores if one not in judged]
        placements = dh.place({"q": judged}, run := dh.Run({"q": scores}))
        values = []
        for labels in itertools.product([level for level in WHOLE if level <= top], repeat=len(unjudged)):
            known = judged | dict(zip(unjudged, labels, strict=True))
            reference = variant.reference(getattr(measure, "cutoff", None), known, 3.0)
            values.append(moments(reference, weighted_rankings(scores, known)).mean)
        low, high = ends(measure, placements, with_ties(placements, run), top)
        assert (low[0], high[0]) == pytest.approx((min(values), max(values)), abs=EQUAL), (judged, scores)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_labels_between_whole_numbers_reach_no_further(seed: int) -> None:
    """Halves and quarters: the ends of nDCG are at labels that judged documents have, at 0 and at the top."""
    judged, scores = case(100 + seed)
    unjudged = [one for one in scores if one not in judged][:2]
    judged |= {one: 1.0 for one in scores if one not in judged and one not in unjudged}
    placements = dh.place({"q": judged}, run := dh.Run({"q": scores}))
    for name in ("nDCG", "nDCG@2", "nDCG(gain='exp')@3"):
        measure = dh.parse_measure(name)
        low, high = ends(measure, placements, with_ties(placements, run), 3.0)
        for labels in itertools.product(np.arange(0, 3.01, 0.25).tolist(), repeat=len(unjudged)):
            known = judged | dict(zip(unjudged, labels, strict=True))
            value = measure.mean(dh.place({"q": known}, run))[0]
            assert low[0] - EQUAL <= value <= high[0] + EQUAL


@pytest.mark.parametrize("seed", range(10))
def test_in_a_fixed_order_each_rank_is_by_itself(seed: int) -> None:
    judged, scores = case(200 + seed)
    fixed = {one: float(-n) for n, one in enumerate(scores)}
    placements = dh.place({"q": judged}, run := dh.Run({"q": fixed}))
    one, other = with_ties(placements, run), as_placed(placements)
    for column in ("query", "above", "tied", "count"):
        assert getattr(one, column).tolist() == getattr(other, column).tolist()


@pytest.mark.parametrize("seed", range(40))
def test_placements_alone_give_bounds_that_contain_those_of_the_run(seed: int) -> None:
    judged, scores = case(300 + seed)
    placements = dh.place({"q": judged}, run := dh.Run({"q": scores}))
    one, other = with_ties(placements, run), as_placed(placements)
    assert one.counts() == other.counts()
    for name in [
        "P@2",
        "R@2",
        "F@3",
        "Hit@1",
        "RR",
        "AP",
        "AP(norm='min')@3",
        "Rprec",
        "DCG@3",
        "nDCG@3",
        "nDCG",
        "RBP",
    ]:
        measure = dh.parse_measure(name)
        (low, high), (outer_low, outer_high) = (ends(measure, placements, each, 3.0) for each in (one, other))
        assert outer_low <= low + 1e-12
        assert high <= outer_high + 1e-12


@pytest.mark.slow
def test_many_queries_are_each_what_they_are_alone() -> None:
    cases = {f"q{seed}": case(seed) for seed in range(12)}
    qrels = {query: judged for query, (judged, _) in cases.items()}
    run = dh.Run({query: scores for query, (_, scores) in cases.items()})
    placements = dh.place(qrels, run)
    names = ["P@2", "R@2", "F", "Hit@1", "RR", "AP", "AP(norm='min')@3", "Rprec", "DCG@3", "nDCG@3", "RBP"]
    for name in names:
        low, high = ends(dh.parse_measure(name), placements, with_ties(placements, run), 3.0)
        for n, query in enumerate(placements.query_ids.tolist()):
            own = dh.Run({query: cases[query][1]})
            alone = dh.place({query: cases[query][0]}, own)
            expected = ends(dh.parse_measure(name), alone, with_ties(alone, own), 3.0)
            assert (low[n], high[n]) == pytest.approx((expected[0][0], expected[1][0]), abs=EQUAL), (name, query)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_documents_that_are_not_retrieved_may_be_relevant_too(seed: int) -> None:
    """As those of another system: they count in divisors and in ideals."""
    judged, scores = case(300 + seed)
    unjudged = [*(one for one in scores if one not in judged), "ghost"]
    placements = dh.place({"q": judged, "scale": {"x": 3.0}}, run := dh.Run({"q": scores, "scale": {"x": 1.0}}))
    ties = replace(with_ties(placements, run), lost=np.array([1, 0]))
    plain = [one for one in BOUNDED if not {"gain", "stop", "discount"}.intersection(one.parameters)]
    for variant in plain:
        is_open = {("norm", "retrieved"), ("negative", "gain")} & set(variant.parameters.items())
        if is_open or variant.parameters.get("max_rel"):
            continue
        for cutoff, measure in at_cutoffs(variant, (None, 2)):
            values = []
            for labels in itertools.product(WHOLE, repeat=len(unjudged)):
                known = judged | dict(zip(unjudged, labels, strict=True))
                reference = variant.reference(cutoff, known, 3.0)
                values.append(moments(reference, weighted_rankings(scores, known)).mean)
            low, high = ends(measure, placements, ties, 3.0)
            assert (low[0], high[0]) == pytest.approx((min(values), max(values)), abs=EQUAL), (measure, judged, scores)


@pytest.mark.parametrize("scores", [{"w": 1.0}, {}])
def test_what_is_judged_elsewhere_counts_where_nothing_relevant_is_retrieved(scores: dict[str, float]) -> None:
    qrels, run = {"q": {"w": 0.0, "d": 1.0}, "p": {"x": 1.0}}, dh.Run({"q": scores, "p": {"x": 1.0}})
    placements = dh.place(qrels, run)
    ties = replace(with_ties(placements, run), lost=np.array([0, 2]))
    for name in ("P@1", "R", "R@1", "F@2", "Hit@1", "RR", "AP", "AP@1", "Rprec", "DCG", "nDCG", "nDCG@1", "RBP", "ERR"):
        low, high = ends(dh.parse_measure(name), placements, ties, 1.0)
        assert (low[1], high[1]) == (0.0, 0.0), name


def test_a_cutoff_far_below_the_lists_is_none() -> None:
    judged, scores = case(1)
    placements = dh.place({"q": judged}, run := dh.Run({"q": scores}))
    for name in ("nDCG", "DCG", "RBP"):
        measure, ties = dh.parse_measure(name), with_ties(placements, run)
        far = ends(measure @ 1_000_000_000, placements, ties, 3.0)
        assert np.array(far) == pytest.approx(np.array(ends(measure, placements, ties, 3.0)), abs=EQUAL)


def test_measures_without_bounds_say_so() -> None:
    placements = dh.place({"q": {"a": 1}}, {"q": {"a": 1, "b": 0}})
    for name in ("bpref", "AP(norm='retrieved')@2", "Judged@1", "nERR", "MR"):
        measure = dh.parse_measure(name)
        assert not has_ends(measure)
        with pytest.raises(MeasureError, match="no bounds"):
            ends(measure, placements, as_placed(placements), 1)


def test_a_label_above_the_scale_is_refused() -> None:
    placements = dh.place({"q": {"a": 1}}, {"q": {"a": 1, "b": 0}})
    for name in ("ERR", "RBP(graded=True)", "ERR(max_rel=2)"):
        with pytest.raises(MeasureError, match="above the top of its scale"):
            ends(dh.parse_measure(name), placements, as_placed(placements), 3)
    with pytest.raises(MeasureError, match=r"write RBP\(graded=True, max_rel=3\)@2"):
        ends(dh.RBP(graded=True) @ 2, placements, as_placed(placements), 3)


@pytest.mark.parametrize("name", ["ERR(stop='identity')", "ERR(stop='identity')@2"])
def test_no_label_is_a_probability_above_one(name: str) -> None:
    placements = dh.place({"q": {"a": 1}}, {"q": {"b": 2, "a": 1}})
    low, high = ends(dh.parse_measure(name), placements, as_placed(placements), 1)
    assert (low[0], high[0]) == (1 / 2, 1)
    with pytest.raises(MeasureError, match="needs relevance from 0 to 1, got 4"):
        ends(dh.parse_measure(name), placements, as_placed(placements), 4)


def test_a_measure_without_a_scale_takes_any_label() -> None:
    placements = dh.place({"q": {"a": 1}}, {"q": {"b": 2, "a": 1}})
    low, high = ends(dh.ERR(stop="sigmoid(1, 2)"), placements, as_placed(placements), 4)
    none, one, four = (1 / (1 + np.exp(2 - label)) for label in (0, 1, 4))
    assert (low[0], high[0]) == pytest.approx([stop + (1 - stop) * one / 2 for stop in (none, four)], abs=EQUAL)


@pytest.mark.parametrize("beta", [0, 0.3, 3, 1e200])
def test_bounds_of_f_with_any_weight_of_recall(beta: float) -> None:
    placements = dh.place({"q": {"a": 1, "z": 1}}, {"q": {"b": 2, "a": 1, "c": 0}})
    low, high = ends(dh.F(beta=beta) @ 1, placements, as_placed(placements), 1)
    square = Fraction(beta) ** 2
    assert (low[0], high[0]) == (0, pytest.approx(float((1 + square) / (1 + square * 3)), rel=EQUAL))
