"""Queries without a relevant document count 1 if that is asked for, as in LightGBM and XGBoost."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import ParameterError
from support.command import call, ok
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from pathlib import Path

LABELS = [2, 0, 1, 0, 0, 1, 3]
SCORES = [0.8, 0.9, 0.7, 0.9, 0.8, 0.9, 0.8]
SIZES = [3, 2, 2]
BOOSTED = {1: 0.38095238095238093, 2: 0.7437019233370618, 3: 0.7896038487330929}  # of LightGBM 4.7 and XGBoost 3.2
BOOSTED_MAP = {1: 2 / 3, 2: 0.75, 3: 31 / 36}  # of labels of 0 and 1
QRELS: dict[str, dict[str, float]] = {"q1": {"a": 1}, "q2": {}, "q3": {"z": 0}}
RUN = {"q1": {"a": 0.5, "b": 0.5}, "q2": {"b": 0.3}}


def gained(labels: list[int], cutoff: int) -> float:
    """Return DCG of labels in their order."""
    return sum((2**label - 1) / math.log2(rank + 1) for rank, label in enumerate(labels[:cutoff], 1))


@pytest.mark.parametrize("cutoff", [1, 2, 3])
def test_the_numbers_of_lightgbm_and_xgboost(cutoff: int) -> None:
    lists = [[0, 2, 1], [0, 0], [1, 3]]  # by score
    expected = fmean(
        gained(one, cutoff) / gained(sorted(one, reverse=True), cutoff) if any(one) else 1.0 for one in lists
    )
    assert expected == pytest.approx(BOOSTED[cutoff], abs=1e-12)
    qrels, run = dh.from_arrays(LABELS, SCORES, group_sizes=SIZES)
    measure = f"nDCG(gain='exp')@{cutoff}"
    assert dh.evaluate(qrels, run, measure, no_relevant="one").means()[measure] == pytest.approx(expected, abs=1e-12)
    binary, _ = dh.from_arrays([min(label, 1) for label in LABELS], SCORES, group_sizes=SIZES)
    measure = f"AP(norm='min')@{cutoff}"
    means = dh.evaluate(binary, run, measure, no_relevant="one").means()
    assert means[measure] == pytest.approx(BOOSTED_MAP[cutoff], abs=1e-12)


@pytest.mark.parametrize("cutoff", [1, 2, 3])
def test_lightgbm_itself(cutoff: int) -> None:
    """Scores are those that training begins with; a step of 1e-9 leaves their order as it is."""
    lightgbm = pytest.importorskip("lightgbm")
    features = np.zeros((len(LABELS), 1))
    data = lightgbm.Dataset(features, LABELS, group=SIZES, init_score=np.array(SCORES), free_raw_data=False)
    options = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [cutoff], "learning_rate": 1e-9, "verbose": -1}
    log: dict[str, dict[str, list[float]]] = {}
    callbacks = [lightgbm.record_evaluation(log)]
    lightgbm.train(options, data, 1, valid_sets=[data], valid_names=["dev"], callbacks=callbacks)
    assert log["dev"][f"ndcg@{cutoff}"][-1] == pytest.approx(BOOSTED[cutoff], abs=1e-12)


@pytest.mark.plugins("ties")
def test_it_counts_1_in_every_order_and_rule(tmp_path: Path) -> None:
    options: dict[str, Any] = {"missing": "empty", "no_relevant": "one"}
    evaluation = dh.evaluate(QRELS, RUN, ["RR", "Judged@1"], **options)
    scores = evaluation["RR"]
    assert scores.values.tolist() == [0.75, 1, 1]
    assert scores.mean == 2.75 / 3
    assert (scores.tie_min.tolist(), scores.tie_max.tolist()) == ([0.5, 1, 1], [1, 1, 1])
    assert scores.spread.reachable.tolist() == [1, 1, 1]
    assert evaluation["Judged@1"].values.tolist() == [0.5, 0, 0]  # it looks for nothing relevant
    assert evaluation.steps("RR", "q3").value == 1
    assert dh.evaluate(QRELS, RUN, "RR", ties="worst", **options)["RR"].values.tolist() == [0.5, 1, 1]
    assert "(q2, q3), count as 1" in " ".join(str(evaluation).split())
    evaluation.save(tmp_path / "e.json")
    assert dh.load_evaluation(tmp_path / "e.json")["RR"].values.tolist() == [0.75, 1, 1]
    compared = dh.compare(QRELS, {"one": RUN, "two": {"q1": {"a": 1.0}}}, "RR", **options)
    assert compared.differences[:, 0].tolist() == [0.25, 0, 0]


@pytest.mark.plugins("compare", "more_measures")
@pytest.mark.parametrize("measure", ["MR", "DCG", "FRP", "NumRel", "GMAP"])
def test_measures_that_do_not_go_from_0_to_1_refuse_it(measure: str) -> None:
    with raises_parts(ParameterError, rf"\b{measure}\b", argument="no_relevant"):
        dh.evaluate(QRELS, RUN, ["RR", measure], missing="empty", no_relevant="one")
    runs = {"one": dh.Run([("q1", "a", 1.0)]), "two": dh.Run([("q1", "b", 1.0)])}
    with pytest.raises(ParameterError):
        dh.compare(QRELS, runs, measure, no_relevant="one")


@pytest.mark.plugins("dense")
def test_matrices() -> None:
    scores = np.array([[2.0, 1.0], [2.0, 1.0]])
    assert dh.evaluate_dense(scores, [[0], []], "RR", no_relevant="one")["RR"].values.tolist() == [1, 1]
    assert dh.evaluate_dense(scores, [[1], []], "RR", no_relevant="one")["RR"].values.tolist() == [0.5, 1]
    with pytest.raises(ParameterError, match="sampled"):
        dh.evaluate_dense(scores, [[1], []], "RR", no_relevant="one", sampled=1)
    with pytest.raises(ParameterError, match="measures from 0 to 1"):
        dh.evaluate_dense(scores, [[1], []], "DCG", no_relevant="one")


@pytest.mark.plugins("bounds")
def test_bounds_over_labels_refuse_it() -> None:
    with pytest.raises(ParameterError, match="no_relevant"):
        dh.evaluate(QRELS, RUN, "RR", no_relevant="one", unjudged="bounds")


@pytest.mark.plugins("compare")
def test_probabilities_over_tie_orders_know_silence_that_is_right() -> None:
    """`silent` is ahead by the query without an answer, whatever the order of its tie: it was reversed in a quarter."""
    qrels: dict[str, dict[str, float]] = {"q1": {"a": 1}, "q2": {}}
    silent, talking = {"q1": {"a": 1.0, "b": 1.0}}, {"q1": {"a": 1.0, "b": 1.0}, "q2": {"x": 1.0}}
    options: dict[str, Any] = {"missing": "empty", "no_relevant": "correct_if_empty"}
    (pair,) = dh.compare(qrels, {"talking": talking, "silent": silent}, "RR", **options).pairs
    assert pair.difference == 0.5
    assert pair.flip_probability == 0


@pytest.mark.plugins("ties")
def test_ties_ordered_by_an_uncertain_score() -> None:
    """Means over drawn orders left out the 1 of queries without a relevant document."""
    other = {query: {doc: float(n) for n, doc in enumerate(docs)} for query, docs in RUN.items()}
    found = dh.evaluate_with_confidence(
        QRELS, RUN, other, ["RR", "AP"], scale=1.0, n_draws=100, missing="empty", no_relevant="one"
    )
    assert all((one.values[1:] == 1).all() for one in found.scores)


def test_commands(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq3 0 z 0\n")
    (tmp_path / "x.run").write_text("q1 Q0 a 1 1 t\nq3 Q0 b 1 1 t\n")
    files = (tmp_path / "qrels.txt", tmp_path / "x.run")
    assert "RR        1.0000" in ok("evaluate", *files, "-m", "RR", "--no-relevant", "one")
    result = call("evaluate", *files, "-m", "RR MR", "--no-relevant", "one")
    assert result.exit_code == 2
    assert "--no-relevant" in result.stderr
