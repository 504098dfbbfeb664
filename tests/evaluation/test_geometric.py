"""Geometric means over queries: of values, of the ends that ties allow, and of intervals."""

import math
import random
from pathlib import Path

import numpy as np
import pytest

import deadheat as dh
from support.command import ok

QRELS = {f"q{query}": {f"d{doc}": int(doc % 4 == query % 3) for doc in range(12)} for query in range(9)}


def scores_of(n_scores: int) -> dict[str, dict[str, float]]:
    """Draw a run with so many different scores."""
    rng = random.Random(n_scores)
    return {query: {doc: float(rng.randrange(n_scores)) for doc in docs} for query, docs in QRELS.items()}


@pytest.mark.parametrize(("name", "measure", "average"), [("gm_map", "GMAP", "AP"), ("gm_bpref", "GMbpref", "bpref")])
def test_trec_eval_has_the_same_mean(name: str, measure: str, average: str) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run = scores_of(1000)
    theirs = pytrec_eval.RelevanceEvaluator(QRELS, {name}).evaluate(run)
    aggregated = pytrec_eval.compute_aggregated_measure(name, [values[name] for values in theirs.values()])
    evaluation = dh.evaluate(QRELS, run, [measure, average], ties="doc_id")
    assert evaluation[measure].mean == pytest.approx(aggregated, abs=1e-12)
    product = math.prod(np.maximum(evaluation[average].values, 1e-5))
    assert evaluation[measure].mean == pytest.approx(product ** (1 / len(QRELS)), abs=1e-12)
    assert evaluation.means()[measure] == evaluation[measure].mean


def test_ends_and_intervals_are_of_the_same_kind() -> None:
    scores = dh.evaluate(QRELS, scores_of(3), ["GMAP"])["GMAP"]
    assert scores.mean_tie_min == pytest.approx(math.exp(scores.tie_min.mean()))
    assert 0 < scores.mean_tie_min < scores.mean < scores.mean_tie_max < 1
    assert scores.reachable == 1
    assert scores.mean_tie_std == pytest.approx(scores.mean * math.sqrt((scores.tie_std**2).sum()) / len(QRELS))
    logarithms = np.log(np.maximum(dh.evaluate(QRELS, scores_of(3), ["AP"], ties="doc_id")["AP"].values, 1e-5))
    untied = dh.evaluate(QRELS, scores_of(3), ["GMAP"], ties="doc_id")["GMAP"]
    interval = untied.interval("t")
    half = 2.306004 * logarithms.std(ddof=1) / math.sqrt(len(QRELS))  # Student's t with 8 degrees of freedom
    assert (interval.low, interval.high) == pytest.approx(
        tuple(math.exp(logarithms.mean() + sign * half) for sign in (-1, 1)), rel=1e-6
    )
    assert interval.standard_error == pytest.approx(untied.mean * logarithms.std(ddof=1) / math.sqrt(len(QRELS)))


def test_saved_and_read_back(tmp_path: Path) -> None:
    evaluation = dh.evaluate(QRELS, scores_of(3), ["GMAP", "AP"])
    evaluation.save(tmp_path / "saved.json")
    again = dh.load_evaluation(tmp_path / "saved.json")
    assert again.means() == evaluation.means()


def test_reports_say_so(tmp_path: Path) -> None:
    (tmp_path / "qrels.json").write_text('{"q": {"a": 1}, "r": {"a": 1}}')
    (tmp_path / "run.json").write_text('{"q": {"a": 2, "b": 1}, "r": {"a": 1, "b": 2, "c": 3, "d": 4}}')
    files = [str(tmp_path / name) for name in ("qrels.json", "run.json")]
    out = ok("evaluate", *files, "-m", "gm_map")
    assert "geometric means; the values of queries are logarithms" in out
    assert "0.5000" in out
    assert ok("evaluate", *files, "-m", "gm_map", "--format", "trec", "--per-query").splitlines()[1:] == [
        "gm_map                \tall\t0.5000"
    ]


def test_quantiles_are_of_values_and_not_of_logarithms() -> None:
    found = dh.evaluate(QRELS, scores_of(3), ["GMAP", "AP"])
    wanted = found["AP"].quantile(0.5)
    assert found["GMAP"].quantile(0.5).value == pytest.approx(np.median(np.exp(found["GMAP"].values)))
    assert 0 < found["GMAP"].quantile(0.5).low <= found["GMAP"].quantile(0.5).high <= wanted.high


def test_an_interval_with_the_labels_of_a_judge_holds_the_mean() -> None:
    run = {query: own | {"new": 1.0} for query, own in scores_of(3).items()}
    judge = {query: own | {"new": 1} for query, own in QRELS.items()}
    scores = dh.evaluate(QRELS, run, "GMAP", judge=judge, unjudged="judge")["GMAP"]
    found = scores.interval("t")
    assert 0 < found.low < scores.mean < found.high < 1
