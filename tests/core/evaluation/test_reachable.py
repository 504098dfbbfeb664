"""What the judgments allow: the best value over every list of documents, by listing them."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest

import deadheat as dh
from oracle.variants import VARIANTS

if TYPE_CHECKING:
    from pathlib import Path

JUDGED = [
    {"a": 2, "b": 1, "c": 0},
    {"a": 3, "b": 1, "c": 1, "d": -1},
    {"a": 1, "b": 1, "c": 0, "d": 0},
    {"a": 0, "b": -1},
    {"a": 0.5, "b": 0.25},
    {"a": 1, "b": 1, "c": 1, "d": 1},  # three of which, without the fourth, are best where all retrieved count
]
UNLIMITED = ("NumRet", "ERR(stop='sigmoid", "nERR(stop='sigmoid")  # to which a document without a judgment adds
NOTATIONS = sorted(
    {variant.notation(cutoff) for variant in VARIANTS for cutoff in variant.cutoffs if cutoff in {None, 1, 3, 100}}
)


def lists_of(judged: dict[str, float]) -> list[tuple[str, ...]]:
    """Return every list of judged documents and two that are not, or of some of them; of five at most."""
    docs = [*judged, "unjudged", "another"][:5]
    return [order for size in range(len(docs) + 1) for order in permutations(docs, size)]


def every_list(judged: dict[str, float], highest: dict[str, float]) -> tuple[dict, dict]:  # type: ignore[type-arg]
    """Return qrels and run of one query for each list; another one holds the highest relevance."""
    lists = lists_of(judged)
    names = [f"q{n:03}" for n in range(len(lists))]
    run = {
        name: {doc: float(-place) for place, doc in enumerate(order)} for name, order in zip(names, lists, strict=True)
    }
    return dict.fromkeys(names, judged) | {"z": highest}, run | {"z": {"a": 1.0}}


@pytest.mark.slow
@pytest.mark.parametrize("judged", JUDGED, ids=str)
def test_no_list_is_better_than_what_the_judgments_allow(judged: dict[str, float]) -> None:
    qrels, run = every_list(judged, {"a": 3})
    is_judged = np.array([set(order) <= set(judged) for order in lists_of(judged)])
    every = dh.evaluate(qrels, run, NOTATIONS, missing="empty")
    one = dh.evaluate({name: qrels[name] for name in ("q000", "z")}, run, NOTATIONS, missing="empty")
    for scores, of_judgments in zip(every, one, strict=True):  # which are the same for every list
        sign = 1 if scores.measure.higher_is_better else -1
        values = sign * scores.values[:-1]
        found = of_judgments.spread.reachable
        assert found is not None
        if np.isnan(values).all() or isinstance(scores.measure, dh.GAUC):  # which weighs each list by all others
            assert np.isnan(found[0])
            continue
        if str(scores.measure).startswith("Abstain(of='precision'"):  # an answer takes the query out of the mean
            assert found[0] == 1
            continue
        best = float(np.nanmax(values))
        if getattr(scores.measure, "floor", "") == "worst" and scores.measure.ideal == "retrieved":
            continue  # both ends depend on which documents are in the list
        if np.isnan(found[0]):
            assert str(scores.measure).startswith(UNLIMITED)
            assert np.nanmax(values[is_judged]) < best
        else:
            assert found[0] == pytest.approx(sign * best, abs=1e-12), scores.measure


def test_the_mean_is_over_the_queries_that_count() -> None:
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 0}, "q3": {"a": 1}}
    run = {query: {"x": 2.0, "a": 1.0} for query in qrels}
    assert dh.evaluate(qrels, run, "P@2")["P@2"].reachable == (1 + 0 + 0.5) / 3
    assert dh.evaluate(qrels, run, "P@2", no_relevant="skip")["P@2"].reachable == (1 + 0.5) / 2
    some = {"q1": {"x": 2.0, "a": 1.0}}
    assert dh.evaluate(qrels, some, "P@2", missing="empty")["P@2"].reachable == (1 + 0 + 0.5) / 3
    assert dh.evaluate(qrels, some, "P@2", missing="skip")["P@2"].reachable == 1.0
    selected = dh.evaluate(qrels, run, "P@2").select(np.array([False, False, True]))
    assert selected["P@2"].reachable == 0.5
    assert np.isnan(selected.select(np.zeros(1, np.bool_))["P@2"].reachable or 0.0)
    custom = dh.Custom("mine", lambda relevance: float(relevance[0]))
    assert np.isnan(dh.evaluate(qrels, run, [custom])["mine"].reachable or 0.0)


def test_a_saved_evaluation_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}}, {"q1": {"a": 1.0}, "q2": {"c": 1.0}}
    evaluation = dh.evaluate(qrels, run, ["P@2", "MR", "NumRet"])
    evaluation.save(path)
    loaded = dh.load_evaluation(path)
    assert [one.reachable for one in loaded][:2] == [one.reachable for one in evaluation][:2] == [0.75, 1.0]
    assert np.isnan(loaded["NumRet"].reachable or 0.0)
