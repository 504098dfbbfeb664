"""Judgments from an ontology equal their definition; the ideal is that of the whole ontology; chance is exact."""

from __future__ import annotations

import itertools
import random
import warnings

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import DataError, DeadheatWarning, ParameterError
from deadheat.plugins.bench.ontology import KINDS, Ontology
from oracle.ontology import draw_parents
from support.error_parts import raises_parts

PARENTS = draw_parents(random.Random(11), 40)
ONTOLOGY = Ontology.from_parents(PARENTS)


def draw_data(seed: int) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Draw expected ids (one to three, and some that are not) and retrieved terms with ties."""
    rng = random.Random(seed)
    qrels = {
        f"q{query:02}": {
            term: rng.choice([1.0, 1.0, 3.0, 0.0, -1.0]) for term in rng.sample(ONTOLOGY.ids, rng.randint(1, 4))
        }
        for query in range(30)
    }
    run = {
        query: {term: float(rng.randrange(4)) for term in rng.sample(ONTOLOGY.ids, rng.randint(1, 12))}
        for query in qrels
        if query != "q07"
    }
    return qrels, run


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("aggregate", ["best", "mean"])
def test_relevance_is_the_best_or_mean_similarity(kind: str, aggregate: str) -> None:
    qrels, run = draw_data(1)
    judged = ONTOLOGY.judge(qrels, run, kind=kind, aggregate=aggregate, ideal=False).to_dict()
    assert list(judged) == sorted(qrels)
    for query, terms in judged.items():
        assert terms.keys() == qrels[query].keys() | run.get(query, {}).keys()
        expected = [term for term, relevance in qrels[query].items() if relevance > 0]
        for term, relevance in terms.items():
            similarities = [ONTOLOGY.similarity(one, term, kind) for one in expected] or [0.0]
            wanted = max(similarities) if aggregate == "best" else sum(similarities) / len(similarities)
            assert relevance == pytest.approx(wanted, abs=1e-14)


@pytest.mark.parametrize("kind", ["lin", "path"])
def test_ideal_is_that_of_the_whole_ontology(kind: str) -> None:
    qrels, run = draw_data(2)
    everything = {query: dict.fromkeys(ONTOLOGY.ids, 1.0) for query in qrels}
    whole = ONTOLOGY.judge(qrels, run, everything, kind=kind)
    some = ONTOLOGY.judge(qrels, run, kind=kind, depth=5)
    assert len(some.to_polars()) < len(whole.to_polars())
    for cutoff in (1, 3, 5):
        expected = dh.evaluate(whole, run, [dh.nDCG @ cutoff], missing="empty").means()
        assert dh.evaluate(some, run, [dh.nDCG @ cutoff], missing="empty").means() == pytest.approx(expected, abs=1e-14)
    judged = ONTOLOGY.judge(qrels, run, kind=kind, ideal=False)
    narrow = dh.evaluate(judged, run, ["nDCG@5"], missing="empty").means()
    assert narrow["nDCG@5"] > expected["nDCG@5"]


def test_depth_follows_the_longest_list() -> None:
    chain: dict[str, list[str]] = {"c000": []} | {f"c{number:03}": [f"c{number - 1:03}"] for number in range(1, 300)}
    ontology = Ontology.from_parents(chain)
    short = ontology.judge({"q": {"c150": 1}}, {"q": {"c150": 1.0}})
    assert len(short.to_polars()) == 100
    farthest = {"q": dict.fromkeys(ontology.ids[:120], 1.0)}
    assert len(ontology.judge({"q": {"c299": 1}}, farthest).to_polars()) == 120 + 120


def test_equal_similarities_are_cut_in_the_order_of_ids() -> None:
    star = Ontology.from_parents({"root": []} | {f"leaf{number}": ["root"] for number in range(9)})
    judged = star.judge({"q": {"leaf4": 1}}, {"q": {"leaf4": 1.0}}, kind="path", depth=4).to_dict()["q"]
    assert judged == {"leaf4": 1, "root": 1 / 2, "leaf0": 1 / 3, "leaf1": 1 / 3}


def test_several_runs_are_judged_together_and_can_be_compared() -> None:
    qrels, run = draw_data(3)
    _, other = draw_data(4)
    judged = ONTOLOGY.judge(qrels, run, other)
    assert judged.to_dict() == ONTOLOGY.judge(qrels, other, run).to_dict()
    assert dh.compare(judged, {"one": run, "other": other}, ["MaxRel@3"], missing="empty").measures


def test_unknown_ids_are_reported() -> None:
    ontology = Ontology.from_parents({"A": [], "B": ["A"]}, obsolete={"O": ["B"]}, alternatives={"M": "A"})
    qrels = {"q1": {"O": 1, "B": 1}, "q2": {"Z": 1}}
    run = {"q1": {"A": 2.0, "B": 1.0, "O": 0.5, "M": 0.4}, "q2": {"Z": 1.0, "A": 0.5}}
    with pytest.warns(DeadheatWarning) as caught:
        judged = ontology.judge(qrels, run, kind="path")
    unknown, merged = "'O' (is obsolete: use 'B'), 'Z'", "'M' (is an alternative id: use 'A')"
    messages = [str(warning.message) for warning in caught]
    assert messages == [
        f"2 expected ids are not terms of {ontology}; such ids have similarity 0 to everything: {unknown}",
        f"1 retrieved id is not a term of {ontology}; such ids are given relevance 0: {merged}",
    ]
    assert all(warning.filename == __file__ for warning in caught)
    assert judged.to_dict() == {"q1": {"A": 0.5, "B": 1, "M": 0, "O": 0}, "q2": {"A": 0, "Z": 0}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mean = ontology.judge(qrels, run, kind="path", aggregate="mean")
    assert mean.to_dict()["q1"] == {"A": 0.25, "B": 0.5, "M": 0, "O": 0}


def test_queries_of_the_run_alone_are_left_out() -> None:
    judged = ONTOLOGY.judge({"q": {ONTOLOGY.ids[3]: 1}}, {"q": {ONTOLOGY.ids[1]: 1.0}, "p": {ONTOLOGY.ids[1]: 1.0}})
    assert list(judged.to_dict()) == ["q"]


def test_another_ontology_is_an_error() -> None:
    with pytest.raises(DataError, match=r"<Ontology 40 terms>.*'HP:1'"):
        ONTOLOGY.judge({"q": {"HP:1": 1}}, {"q": {"t01": 1.0}})


def test_nothing_expected_is_an_error() -> None:
    with pytest.raises(DataError, match="nothing is expected"):
        ONTOLOGY.judge({"q": {"t01": 0}}, {"q": {"t01": 1.0}})


def test_wrong_options_are_refused() -> None:
    qrels, run = draw_data(1)
    with raises_parts(ParameterError, argument="aggregate", given="max", allowed=("best", "mean")):
        ONTOLOGY.judge(qrels, run, aggregate="max")
    with raises_parts(ParameterError, argument="depth", given=0, allowed="a whole number from 1 on"):
        ONTOLOGY.judge(qrels, run, depth=0)
    with pytest.raises(ParameterError, match="Did you mean 'resnik'"):
        ONTOLOGY.judge(qrels, run, kind="resnick")


@pytest.mark.parametrize("kind", KINDS)
def test_chance_equals_the_enumeration_of_all_rankings(kind: str) -> None:
    ontology = Ontology.from_parents(draw_parents(random.Random(2), 6))
    qrels = {term: {term: 1} for term in ontology.ids}
    for cutoff, value in ontology.chance(qrels, kind, cutoffs=[1, 2, 4, 6, 9]).items():
        tops = list(itertools.combinations(range(6), min(cutoff, 6)))
        best = [ontology.similarities(term, kind)[list(top)].max() for term in ontology.ids for top in tops]
        assert value == pytest.approx(np.mean(best), abs=1e-14)


def test_chance_is_the_mean_over_the_orders_of_a_ranking_that_ties_as_a_whole() -> None:
    qrels, _ = draw_data(1)
    everything = {query: dict.fromkeys(ONTOLOGY.ids, 1.0) for query in qrels}
    expected = dh.evaluate(ONTOLOGY.judge(qrels, everything), everything, ["MaxRel@1", "MaxRel@10"]).means()
    chance = ONTOLOGY.chance(qrels, cutoffs=[1, 10])
    assert chance == pytest.approx({1: expected["MaxRel@1"], 10: expected["MaxRel@10"]}, abs=1e-14)


def test_chance_refuses_wrong_cutoffs() -> None:
    with raises_parts(ParameterError, argument="each of cutoffs", given=0, allowed="a whole number from 1 on"):
        ONTOLOGY.chance(draw_data(1)[0], cutoffs=[0])
