"""What runs lose as scores become coarser: against evaluations of coarsened runs, and all orders of small ties."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat import coarsen
from deadheat.errors import DataError, DeadheatWarning, DuplicateError, ParameterError
from deadheat.plugins.ties.coarsening_profile import LEVELS, coarsening_profile
from support.demo import DEMO
from support.shared_data import hpo_qrels, hpo_run, needs_shared_data

Nested = dict[str, dict[str, float]]
MEASURES = ["nDCG@3", "RR", "P@2"]


def draw_data(seed: int, n_queries: int = 3, n_documents: int = 5) -> tuple[dict[str, dict[str, int]], Any]:
    """Two runs of few documents with fine scores, so that coarser ones have few orders."""
    rng = np.random.default_rng(seed)
    docs = [f"d{n}" for n in range(n_documents)]
    qrels = {f"q{n}": dict(zip(docs, rng.integers(0, 3, n_documents).tolist(), strict=True)) for n in range(n_queries)}
    runs = {
        name: {
            query: {doc: float(rng.random() + 0.2 * skill * judged[doc]) for doc in docs}
            for query, judged in qrels.items()
        }
        for name, skill in (("good", 1.0), ("fair", 0.4))
    }
    return qrels, runs


@pytest.mark.slow
@pytest.mark.parametrize("per_query", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_evaluations_of_coarser_runs(seed: int, *, per_query: bool) -> None:
    qrels, runs = draw_data(seed)
    found = coarsening_profile(qrels, runs, MEASURES, levels=[3, 2], per_query=per_query)
    assert [row.scores for row in found.rows[:3]] == ["as given", "3 levels", "2 levels"]
    for row in found.rows:
        run = dh.Run(runs[row.run])
        fine = dh.evaluate(qrels, run, row.measure)[row.measure]
        if row.scores != "as given":
            run = coarsen(run, levels=int(row.scores.split()[0]), per_query=per_query)
        exact = dh.evaluate(qrels, run, row.measure)[row.measure]
        usual = dh.evaluate(qrels, run, row.measure, ties="doc_id")[row.measure]
        assert (row.value, row.doc_id, row.original) == pytest.approx((exact.mean, usual.mean, fine.mean))
        assert (row.tie_std, row.tie_min, row.tie_max) == pytest.approx(
            (exact.mean_tie_std, exact.mean_tie_min, exact.mean_tie_max)
        )
        assert (row.error, row.change) == pytest.approx((usual.mean - fine.mean, exact.mean - fine.mean))
        scores = [score for own in run.to_dict().values() for score in own.values()]
        tied = sum(list(own.values()).count(score) > 1 for own in run.to_dict().values() for score in own.values())
        assert row.n_distinct == len(set(scores))
        assert row.share_tied == pytest.approx(tied / len(scores))
        assert row.n_queries == 3


def values_in_all_orders(
    qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]], measure: str
) -> list[list[float]]:
    """Of each query, the value in every order of its ties."""
    found = []
    for query, scores in run.items():
        groups = [[doc for doc in scores if scores[doc] == score] for score in sorted(set(scores.values()))[::-1]]
        orders = [
            list(itertools.chain.from_iterable(parts))
            for parts in itertools.product(*(itertools.permutations(group) for group in groups))
        ]
        lists = {f"{n}": order for n, order in enumerate(orders)}
        judged = dict.fromkeys(lists, qrels[query])
        found.append(dh.evaluate(judged, lists, measure)[measure].values.tolist())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", range(6))
def test_the_wrong_winner_is_counted_over_all_orders(seed: int, measure: str) -> None:
    """Of both runs, whose ties are independent."""
    qrels, runs = draw_data(seed, n_queries=2, n_documents=4)
    found = coarsening_profile(qrels, runs, measure, levels=[2, 3])
    as_given = found.pairs[0].original
    assert as_given == pytest.approx(
        dh.evaluate(qrels, runs["fair"], measure).means()[measure]
        - dh.evaluate(qrels, runs["good"], measure).means()[measure]
    )
    for pair in found.pairs:
        if abs(as_given) < 1e-12:
            assert math.isnan(pair.wrong_winner)
            continue
        by_run = []
        for name in ("fair", "good"):
            run = dh.Run(runs[name])
            run = run if pair.scores == "as given" else coarsen(run, levels=int(pair.scores[0]))
            parts = values_in_all_orders(qrels, run.to_dict(), measure)
            by_run.append(np.array([sum(values) for values in itertools.product(*parts)]))
        differences = np.subtract.outer(*by_run) * math.copysign(1, as_given)
        assert pair.wrong_winner == pytest.approx(float((differences < -1e-9).mean()), abs=1e-3)
        assert pair.no_winner == pytest.approx(float((np.abs(differences) <= 1e-9).mean()), abs=1e-3)
        assert pair.difference == pytest.approx(float(differences.mean()) / 2 * math.copysign(1, as_given))


@pytest.mark.slow
def test_drawn_orders_agree_with_the_chance_of_a_wrong_winner() -> None:
    """Real ties, too many to list: 400 random tie-breaks of both runs."""
    qrels = dh.read_qrels(DEMO / "qrels.human.txt.gz")
    runs = {name: dh.read_run(DEMO / f"{name}.run.gz") for name in ("TREMA-CoT", "NISTRetrieval-instruct0")}
    found = coarsening_profile(qrels, runs, "nDCG@10", levels=[3])
    pair = found.pairs[1]
    assert pair.scores == "3 levels"
    assert (pair.original < 0) != (pair.difference < 0)  # coarser, the other one is ahead
    coarse = {name: coarsen(run, levels=3) for name, run in runs.items()}
    drawn = {
        name: [
            dh.evaluate(qrels, run, "nDCG@10", ties="random", rng=1000 * place + n).means()["nDCG@10"]
            for n in range(400)
        ]
        for place, (name, run) in enumerate(coarse.items())
    }
    differences = np.subtract.outer(drawn[pair.system], drawn[pair.baseline])
    wrong = float((differences * math.copysign(1, pair.original) < 0).mean())
    assert pair.wrong_winner == pytest.approx(wrong, abs=0.06)
    assert {row.wrong_winner for row in found.rows if row.scores == "3 levels"} == {pair.wrong_winner}


def test_what_no_tie_moves_is_certain() -> None:
    qrels = {"q": {"a": 1}}
    runs = {"right": {"q": {"a": 1.0, "b": 0.0, "c": 0.6}}, "wrong": {"q": {"b": 1.0, "a": 0.0, "c": 0.4}}}
    found = coarsening_profile(qrels, runs, "RR", levels=[3, 1])
    assert [(pair.scores, pair.wrong_winner, pair.no_winner, pair.method) for pair in found.pairs] == [
        ("as given", 0.0, 0.0, "none"),
        ("3 levels", 0.0, 0.0, "none"),
        ("1 level", pytest.approx(1 / 3), pytest.approx(1 / 3), "exact"),
    ]
    swapped = {"right": {"q": {"a": 0.9, "b": 0.8}}, "wrong": {"q": {"a": 0.8, "b": 0.9}}}
    pairs = coarsening_profile(qrels, swapped, "RR", decimals=[0]).pairs
    assert (pairs[1].wrong_winner, pairs[1].no_winner) == (0.25, 0.5)
    # scores that become infinite, and others that do not: another order, not a tie
    huge = {"a": {"q": {"a": 1e5, "b": 2e5, "c": 1.0}}, "b": {"q": {"a": 1.0, "b": 2.0, "c": 0.0}}}
    with pytest.warns(dh.DeadheatWarning):
        assert coarsening_profile(qrels, huge, "RR", dtypes=["float16"]).pairs[1].original == 0.0


def test_equal_runs_have_no_winner() -> None:
    qrels, runs = draw_data(0)
    found = coarsening_profile(qrels, {"a": runs["good"], "b": runs["good"]}, "RR", levels=[2])
    assert all(math.isnan(pair.wrong_winner) for pair in found.pairs)
    assert all(row.rival is None for row in found.rows)
    assert found.to_polars()["wrong_winner"].null_count() == 2 * 2


@pytest.mark.slow
def test_the_rival_is_the_one_that_is_most_likely_to_win_wrongly() -> None:
    qrels, runs = draw_data(4, n_queries=20)
    third = {query: {doc: score / 3 + 0.5 for doc, score in own.items()} for query, own in runs["fair"].items()}
    third = {query: {doc: 1 - score for doc, score in own.items()} for query, own in third.items()}
    found = coarsening_profile(qrels, {**runs, "third": third}, "nDCG@3", levels=[2])
    for row in found.rows:
        own = {
            pair.baseline if pair.system == row.run else pair.system: pair.wrong_winner
            for pair in found.pairs
            if pair.scores == row.scores and row.run in {pair.system, pair.baseline}
        }
        assert len(own) == 2
        assert row.wrong_winner == max(own.values())
        assert own[str(row.rival)] == row.wrong_winner
    against = coarsening_profile(qrels, {**runs, "third": third}, "nDCG@3", levels=[2], baseline="fair")
    assert {(pair.system, pair.baseline) for pair in against.pairs} == {("good", "fair"), ("third", "fair")}


def test_own_levels_change_nothing() -> None:
    qrels, run = DEMO / "qrels.human.txt.gz", DEMO / "Olz-gpt4o.run.gz"
    given, same = coarsening_profile(qrels, run, "nDCG@10", levels=[4]).rows
    assert given.value == same.value
    assert given.doc_id == same.doc_id
    assert same.change == 0.0


@needs_shared_data
def test_more_levels_bring_a_real_run_back() -> None:
    found = coarsening_profile(hpo_qrels("en"), hpo_run("en.minilm-f32"), "nDCG@10", levels=LEVELS).to_polars()
    assert found["share_tied"][1:].is_sorted(descending=True)
    assert found["value"][1:].is_sorted()
    assert abs(found["change"][-1]) < 0.001
    assert found["change"][1] < -0.5


def test_runs_may_be_given_in_several_ways() -> None:
    qrels, runs = draw_data(1)
    by_name = coarsening_profile(qrels, runs, "RR", levels=2)  # type: ignore[arg-type]  # a single number
    listed = coarsening_profile(qrels, [dh.Run(run, name=name) for name, run in runs.items()], "RR", levels=[2, 2])
    assert by_name.rows == listed.rows
    assert [row.scores for row in coarsening_profile(qrels, runs["good"], "RR").rows] == [
        "as given",
        *(f"{n} levels" for n in LEVELS),
    ]
    assert repr(by_name) == "<CoarseningProfile of good, fair by RR: 3 queries>"
    assert coarsening_profile(qrels, runs["good"], "RR", dtypes="bfloat16").rows[1].scores == "bfloat16"
    assert by_name.to_polars().height == 4
    assert not coarsening_profile(qrels, runs["good"], "RR", levels=[2]).pairs


def test_queries_that_are_missing() -> None:
    qrels, runs = draw_data(2)
    part = {"q0": runs["good"]["q0"]}
    with pytest.warns(DeadheatWarning):
        coarsening_profile(qrels, part, "RR", levels=[2])
    found = coarsening_profile(qrels, {"a": part, "b": runs["fair"]}, "RR", levels=[2], missing="skip")
    assert {(row.run, row.n_queries) for row in found.rows} == {("a", 1), ("b", 3)}
    one = dh.evaluate({"q0": qrels["q0"]}, runs["fair"], "RR").means()["RR"]
    other = dh.evaluate({"q0": qrels["q0"]}, part, "RR").means()["RR"]
    assert found.pairs[0].original == pytest.approx(one - other)
    with pytest.raises(DataError):
        coarsening_profile(qrels, part, "RR", missing="error")


def test_nothing_relevant_and_one_query() -> None:
    found = coarsening_profile({"q": {"a": 0}}, {"q": {"a": 0.3, "b": 0.2}}, "RR", levels=[1], no_relevant="skip")
    assert all(math.isnan(row.value) for row in found.rows)
    assert found.to_polars()["value"].null_count() == 2
    found = coarsening_profile({"q": {"a": 0}}, {"q": {"a": 0.3, "b": 0.2}}, "RR", levels=[1])
    assert [row.value for row in found.rows] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": [2], "dtypes": ["float16"]}, "must be one of them, not the others, got levels and dtypes"),
        ({"levels": []}, "levels must be at least one"),
        ({"levels": [2, 0]}, "levels must be a whole number from 1 on"),
        ({"decimals": [16]}, "decimals must be"),
        ({"dtypes": ["float8"]}, "dtype must be one of"),
        ({"dtypes": ["float16"], "per_query": True}, "per_query is for levels"),
        ({"baseline": "best"}, "baseline must be"),
        ({"rng": -2}, "rng must be"),
    ],
)
def test_bad_arguments(options: dict[str, Any], message: str) -> None:
    qrels, runs = draw_data(0)
    with pytest.raises(ParameterError, match=message):
        coarsening_profile(qrels, runs, "RR", **options)


@pytest.mark.slow
def test_too_many_pairs_and_equal_names() -> None:
    qrels, runs = draw_data(0)
    many = {f"run{n}": runs["good"] for n in range(40)}
    with pytest.raises(ParameterError, match="40 runs make 780 pairs"):
        coarsening_profile(qrels, many, "RR", levels=[2])
    assert len(coarsening_profile(qrels, many, "RR", levels=[2], baseline="run0").pairs) == 2 * 39
    with pytest.raises(ParameterError, match="two runs are named 'run'"):
        coarsening_profile(qrels, [dh.Run(runs["good"]), dh.Run(runs["fair"])], "RR")
    twice = pl.DataFrame({"query_id": ["q0"] * 2, "doc_id": ["d"] * 2, "score": [1.0, 2.0]})
    with pytest.raises(DuplicateError):
        coarsening_profile(qrels, twice, "RR")
