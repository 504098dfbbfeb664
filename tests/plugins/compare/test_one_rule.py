"""What is significant by one rule of ties alone: where all flips are drawn, and where a few or none say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.plugins.compare import one_rule
from deadheat.plugins.compare.pairs import compare_sides

if TYPE_CHECKING:
    from deadheat.core.design import Design
    from deadheat.plugins.compare.flips import Side
    from deadheat.plugins.compare.pair import Pairs

Runs = dict[str, dict[str, dict[str, float]]]
N_QUERIES = 60


def draw_runs(seed: int, lead: float) -> tuple[dict[str, dict[str, int]], Runs]:
    """Return qrels, and two runs with ties; the relevant document is last in its tie by id more often in the first."""
    rng = np.random.default_rng(seed)
    qrels = {f"q{n}": {"d5": 1, "d2": int(rng.integers(0, 2))} for n in range(N_QUERIES)}
    runs: Runs = {}
    for name, shift in (("first", lead), ("second", 0.0)):
        runs[name] = {}
        for query in qrels:
            scores = rng.integers(0, 3, 9).astype(float)
            scores[5] += rng.random() < shift
            runs[name][query] = {f"d{doc}": score for doc, score in enumerate(scores.tolist())}
    return qrels, runs


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of flips with which pairs were compared by document id."""
    numbers: list[int] = []

    def count(asked: Any, sides: list[dict[str, Side]], places: Any, *, design: Design, cluster: Any) -> Pairs:  # noqa: ANN401 - handed on
        numbers.append(design.n_resamples)
        return compare_sides(asked, sides, places, design=design, cluster=cluster)

    monkeypatch.setattr(one_rule, "compare_sides", count)
    return numbers


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("lead", [0.0, 0.3, 0.5, 0.9])
def test_a_few_flips_say_what_all_say(
    seed: int, lead: float, drawn: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, runs = draw_runs(seed, lead)
    comparison = dh.compare(qrels, runs, ["nDCG@3", "RR"])
    of_all = comparison.significant_by_one_rule()
    assert drawn == [10_000]
    drawn.clear()
    monkeypatch.setattr(one_rule, "MANY_SIGNS", 0)
    found = comparison.significant_by_one_rule()
    assert found.rows() == of_all.rows()
    assert drawn[0] == one_rule.FEW_FLIPS
    if of_all.height:
        assert drawn == [one_rule.FEW_FLIPS, 10_000]  # only all of them give the p-value


def test_few_flips_are_enough_for_a_clear_lead(drawn: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_rule, "MANY_SIGNS", N_QUERIES * 10_000)
    qrels, runs = draw_runs(1, 0.9)
    comparison = dh.compare(qrels, runs, "nDCG@3")
    assert comparison.pairs[0].significant
    assert comparison.significant_by_one_rule().is_empty()
    assert drawn == [one_rule.FEW_FLIPS]


def test_without_ties_nothing_is_drawn(drawn: list[int]) -> None:
    qrels, runs = draw_runs(2, 0.5)
    strict: Runs = {}
    for name, queries in runs.items():
        strict[name] = {}
        for query, scores in queries.items():
            strict[name][query] = {doc: score + place / 100 for place, (doc, score) in enumerate(scores.items())}
    found = dh.compare(qrels, strict, "nDCG@3").significant_by_one_rule()
    assert found.is_empty()
    assert found.schema["doc_id_p_adjusted"] == pl.Float64
    assert drawn == []


def test_by_document_id_nothing_is_drawn(drawn: list[int]) -> None:
    qrels, runs = draw_runs(3, 0.5)
    assert dh.compare(qrels, runs, "nDCG@3", ties="doc_id").significant_by_one_rule().is_empty()
    assert drawn == []
