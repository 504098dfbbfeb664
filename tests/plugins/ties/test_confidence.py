"""evaluate_with_confidence() against the exact probabilities of Plackett and Luce, listed for small ties."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat import evaluate_with_confidence
from deadheat.errors import DataError, DuplicateError, ParameterError, UnknownMeasureError
from oracle.binary import Judged, Ranking
from oracle.plackett_luce import all_orders, mean
from oracle.reference import REFERENCE
from support.demo import DEMO
from support.error_parts import raises_parts

MEASURES: dict[str, tuple[str, dict[str, Any]]] = {
    "nDCG@3": ("nDCG", {"cutoff": 3}),
    "RR": ("RR", {}),
    "AP": ("AP", {}),
    "P@2": ("P", {"cutoff": 2}),
    "ERR": ("ERR", {}),
    "bpref": ("bpref", {}),
}
DRAWS = 4_000
SCALES = (0.05, 0.7, 3.0)


def draw_data(seed: int, n_queries: int = 8) -> tuple[Any, Any, Any]:
    """Queries of up to seven documents with ties of up to four; some documents unjudged, some lacking below."""
    rng = np.random.default_rng(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    second: dict[str, dict[str, float]] = {}
    for query in range(n_queries):
        docs = [f"d{n}" for n in range(7)]
        first = rng.permutation([0, 0, 0, 0, 1, 1, 2]).tolist()
        levels = rng.choice([-1, 0, 1, 2, 3], 7).tolist()
        run[f"q{query}"] = {doc: float(score) for doc, score in zip(docs, first, strict=True)}
        qrels[f"q{query}"] = {"d0": 1} | {d: x for d, x in zip(docs, levels, strict=True) if rng.random() < 0.8}
        if query % 2:
            qrels[f"q{query}"]["never retrieved"] = 2
        scores = rng.choice([0.0, 0.5, 1.0, 2.5], 7).tolist()
        second[f"q{query}"] = {d: s for d, s in zip(docs, scores, strict=True) if rng.random() < 0.85} or {"d0": 1.0}
    return qrels, run, second


def one_ranking(name: str, parameters: dict[str, object], judged: Judged, top: float, ranking: Ranking) -> float:
    return REFERENCE[name](ranking, judged, top, **parameters)


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", range(3))
def test_means_are_those_of_all_orders(seed: int, scale: float) -> None:
    """Within 5 standard errors, query by query."""
    qrels, run, second = draw_data(seed)
    found = evaluate_with_confidence(qrels, run, second, list(MEASURES), scale=scale, n_draws=DRAWS, rng=seed)
    top = max(level for judged in qrels.values() for level in judged.values())
    for notation, (name, parameters) in MEASURES.items():
        scores = found[notation]
        for query, value, error in zip(scores.query_ids, scores.values, scores.standard_errors, strict=True):
            measure = partial(one_ranking, name, parameters, qrels[query], top)
            exact = mean(measure, run[query], qrels[query], second[query], scale)
            assert abs(value - exact) <= 5 * error + 1e-12, (notation, query)


def test_standard_errors_are_those_of_the_spread_over_orders() -> None:
    qrels, run, second = draw_data(9, 4)
    found = evaluate_with_confidence(qrels, run, second, "RR", scale=1.0, n_draws=DRAWS)["RR"]
    for query, error in zip(found.query_ids, found.standard_errors, strict=True):
        orders = list(all_orders(run[query], second[query], 1.0))
        values = np.array([dh.evaluate({"q": qrels[query]}, {"q": order}, "RR").means()["RR"] for order, _ in orders])
        weights = np.array([probability for _, probability in orders])
        assert weights.sum() == pytest.approx(1.0)
        deviation = math.sqrt(float(weights @ (values - weights @ values) ** 2))
        assert error == pytest.approx(deviation / math.sqrt(DRAWS), rel=0.1, abs=1e-12)
        assert (error == 0) == (len(set(values.tolist())) == 1)
    assert found.mean == pytest.approx(found.values.mean())
    assert found.standard_error == pytest.approx(math.sqrt((found.standard_errors**2).sum()) / 4)


@pytest.mark.parametrize("n_queries", [1, 5])
def test_orders_that_were_never_drawn_have_an_error(n_queries: int) -> None:
    """b comes before a with probability 1 / (1 + e^14), which 500 draws do not show; c is always last."""
    ids = [f"q{n}" for n in range(n_queries)]
    qrels, run = {q: {"a": 1} for q in ids}, {q: dict.fromkeys("abc", 1) for q in ids}
    second = {q: {"a": 14.0, "b": 0.0} for q in ids}
    found = evaluate_with_confidence(qrels, run, second, ["RR", "P@2"], scale=1.0, n_draws=500)
    rr = found["RR"]
    assert rr.values.tolist() == [1.0] * n_queries
    assert rr.standard_errors == pytest.approx([3 / 500 * 0.5] * n_queries)  # rank 2 at worst
    assert 0.5 / (1 + math.exp(14)) < rr.standard_error  # the error of the mean
    assert rr.standard_error == pytest.approx(3 / 500 * 0.5 / math.sqrt(n_queries))
    assert found["P@2"].standard_error == 0.0  # a is in the top 2 in every order


@pytest.mark.parametrize("seed", range(3))
def test_without_noise_the_second_score_decides(seed: int) -> None:
    qrels, run, second = draw_data(seed)
    found = evaluate_with_confidence(qrels, run, second, list(MEASURES), scale=0)
    expected = dh.evaluate(qrels, run, list(MEASURES), then_by=second)
    assert found.means() == expected.means()
    assert found.n_draws == 0
    for notation in MEASURES:
        assert found[notation].values.tolist() == expected[notation].values.tolist()
        assert not found[notation].standard_errors.any()


@pytest.mark.parametrize("seed", range(3))
def test_with_infinite_noise_ties_are_plain(seed: int) -> None:
    qrels, run, second = draw_data(seed)
    found = evaluate_with_confidence(qrels, run, second, list(MEASURES), scale=math.inf)
    assert found.means() == dh.evaluate(qrels, run, list(MEASURES)).means()
    assert (found.n_draws, found["RR"].standard_error) == (0, 0.0)


@pytest.mark.parametrize("tiny", [1e-12, 1e-300, 5e-324])
def test_little_noise_orders_what_the_second_score_leaves_equal(tiny: float) -> None:
    """Where the noise vanishes beside the scores, equal ones are still in random order."""
    qrels, run = {"q": {"a": 1}}, {"q": dict.fromkeys("abcd", 1)}
    second = {"q": {"a": 30.0, "b": 30.0, "c": 30.0, "d": 29.0}}
    found = evaluate_with_confidence(qrels, run, second, ["P@1", "R@3"], scale=tiny, n_draws=2000)
    assert abs(found["P@1"].mean - 1 / 3) < 5 * found["P@1"].standard_error
    assert found["R@3"].mean == 1.0


@pytest.mark.parametrize("huge", [1e12, 1e308])
def test_much_noise_is_as_good_as_infinite(huge: float) -> None:
    qrels, run, second = draw_data(1)
    found = evaluate_with_confidence(
        qrels, run, {q: {d: s for d in run[q] for s in [second[q].get(d, 0.0)]} for q in run}, "RR", scale=huge
    )["RR"]
    exact = dh.evaluate(qrels, run, "RR")["RR"]
    assert (np.abs(found.values - exact.values) <= 5 * found.standard_errors + 1e-12).all()


def test_infinite_second_scores_get_no_noise() -> None:
    qrels = {"q": {"a": 1}}
    run = {"q": dict.fromkeys("abcd", 1)}
    second = {"q": {"a": -math.inf, "b": math.inf, "c": 0.0}}
    found = evaluate_with_confidence(qrels, run, second, "RR", scale=100.0, n_draws=50)
    assert found.means() == {"RR": 1 / 3}  # before d, which has no second score at all
    assert found["RR"].standard_error == 0.0
    assert "last in their ties, as run lacks them: 1 document" in found.notes


def test_documents_that_do_not_tie_stay_where_they_are() -> None:
    qrels = {"q": {"a": 1, "b": 1}}
    run = {"q": {"a": 3, "b": 2, "c": 1}}
    found = evaluate_with_confidence(qrels, run, {"q": {"c": 100.0}}, ["RR", "AP"], scale=5.0, n_draws=10)
    assert found.means() == {"RR": 1.0, "AP": 1.0}


def test_the_seed_decides_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither how many orders are drawn at once, nor the order of rows."""
    qrels, run, second = draw_data(2)

    def means(rng: int) -> dict[str, float]:
        return evaluate_with_confidence(qrels, run, second, ["AP", "RR"], scale=1.0, n_draws=500, rng=rng).means()

    first = means(rng=4)
    assert means(rng=4) == first
    assert means(rng=5) != first
    monkeypatch.setattr("deadheat.plugins.ties.confidence.CELLS", 1000)
    assert means(rng=4) == pytest.approx(first, rel=1e-12)
    second = {query: dict(reversed(scores.items())) for query, scores in second.items()}
    run = {query: dict(reversed(scores.items())) for query, scores in run.items()}
    assert means(rng=4) == pytest.approx(first, rel=1e-12)


def test_a_column_of_the_same_table_is_a_second_score() -> None:
    frame = pl.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "score": [1.0, 1.0], "bm25": [2.0, 1.0]})
    found = evaluate_with_confidence({"q": {"a": 1}}, frame, "bm25", "P@1", scale=1.0, n_draws=20_000)
    assert abs(found["P@1"].mean - math.e / (1 + math.e)) < 5 * found["P@1"].standard_error


def test_queries_without_a_value_have_none() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"a": 1}}
    run = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "b": 1}}
    second = {"q1": {"a": 1.0, "b": 1.0}}
    found = evaluate_with_confidence(
        qrels, run, second, ["RR", "FRP"], scale=1.0, n_draws=100, no_relevant="skip", missing="empty"
    )
    assert np.isnan(found["RR"].values).tolist() == [False, True, False]
    assert found["RR"].values[2] == 0.0
    assert np.isnan(found["FRP"].values).tolist() == [False, True, True]
    table = found.to_polars()
    assert table.columns == ["query_id", "measure", "value", "standard_error"]
    assert table.filter(pl.col("value").is_null()).height == 3
    assert 0.5 < found["RR"].values[0] < 1.0
    assert found["RR"].mean == pytest.approx(found["RR"].values[0] / 2)


def test_all_measures_see_the_same_orders() -> None:
    """Each as if it were asked for alone."""
    data = draw_data(7)
    together = dh.evaluate_with_confidence(*data, ["nDCG@3", "RR"], scale=0.7, n_draws=50, rng=3)
    assert together["RR"].mean == dh.evaluate_with_confidence(*data, "RR", scale=0.7, n_draws=50, rng=3)["RR"].mean


def test_a_geometric_mean() -> None:
    qrels, run, second = draw_data(5)
    found = evaluate_with_confidence(qrels, run, second, "GMAP", scale=1e-9, n_draws=50)["GMAP"]
    exact = dh.evaluate(qrels, run, "GMAP", then_by=second)["GMAP"]
    assert abs(found.mean - exact.mean) < 5 * found.standard_error + 1e-9
    assert found.mean == pytest.approx(math.exp(found.values.mean()))


def test_real_ties_between_both_limits() -> None:
    """From the second score to plain ties as the noise grows."""
    qrels = dh.read_qrels(DEMO / "qrels.human.txt.gz")
    run, other = (dh.read_run(DEMO / f"{name}.run.gz") for name in ("Olz-gpt4o", "TREMA-CoT"))
    ends = [
        evaluate_with_confidence(qrels, run, other, "nDCG@10", scale=scale).means()["nDCG@10"]
        for scale in (0, math.inf)
    ]
    found = evaluate_with_confidence(qrels, run, other, "nDCG@10", scale=1.0, n_draws=100)["nDCG@10"]
    assert min(ends) - 5 * found.standard_error < found.mean < max(ends) + 5 * found.standard_error
    assert 0 < found.standard_error < 0.005


def test_it_says_what_it_is() -> None:
    qrels, run, second = draw_data(0)
    found = evaluate_with_confidence(qrels, dh.Run(run, name="llm"), dh.Run(second, name="bm25"), "RR", scale=0.5)
    assert "drawn by bm25 with Gumbel noise of scale 0.5 (Plackett-Luce)" in " ".join(found.notes)
    assert "no closed form is known" in " ".join(found.notes)
    assert "no closed form is known" in " ".join(str(evaluate_with_confidence.__doc__).split()).lower()
    assert repr(found).startswith("<ConfidenceEvaluation of llm: RR 0.")
    assert repr(found).endswith("; 1,000 drawn orders>")
    assert repr(found["RR"]).startswith("<ConfidenceScores RR: 0.")
    assert [str(scores.measure) for scores in found] == ["RR"]
    assert list(found.standard_errors()) == ["RR"]
    with pytest.raises(UnknownMeasureError, match="there are RR"):
        found["AP"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": -1}, "scale must be a number from 0 on"),
        ({"scale": math.nan}, "scale must be a number from 0 on"),
        ({"scale": "1"}, "scale must be a number from 0 on"),
        ({"scale": 1.0, "n_draws": 1}, "n_draws must be a whole number from 2 on"),
        ({"scale": 1.0, "rng": -1}, "rng must be"),
    ],
)
def test_bad_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        evaluate_with_confidence({"q": {"a": 1}}, {"q": {"a": 1}}, {"q": {"a": 1}}, "RR", **options)


def test_bad_data() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1, "b": 1}}
    twice = [("q", "a", 1.0), ("q", "a", 2.0)]
    with pytest.raises(DuplicateError):
        evaluate_with_confidence(qrels, run, twice, "RR", scale=1.0)
    with pytest.raises(DataError):
        evaluate_with_confidence(qrels, {"r": {"a": 1}}, run, "RR", scale=1.0)
    with raises_parts(ParameterError, argument="then_by", found="2 runs", allowed="one run"):
        evaluate_with_confidence(qrels, run, [run, run], "RR", scale=1.0)
