"""Questions without an answer: abstention at every threshold by definition, and what other measures make of silence."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.report.of_evaluation import report_evaluations
from deadheat.core.report.text import as_text
from deadheat.errors import DataError, MeasureError, ParameterError

ROWS = [
    {"query_id": "q1", "doc_id": "a", "relevance": 1, "answerable": True},
    {"query_id": "q2", "doc_id": None, "relevance": None, "answerable": False},
]
RUN = {"q1": {"a": 0.9}, "q2": {"b": 0.3}}


def drawn(seed: int) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Return qrels and a run whose best scores tie between queries; some queries have no answer, some no document."""
    rng = random.Random(seed)
    queries = [f"q{n:02}" for n in range(30)]
    qrels = {query: {"d1": rng.choice((0.0, 1.0, 2.0))} if rng.random() < 0.7 else {} for query in queries}
    run = {query: {f"d{n}": float(rng.randrange(4)) for n in range(rng.randrange(4))} for query in queries}
    return qrels, {query: docs for query, docs in run.items() if docs} | {"q00": {"d1": 0.0}}


def by_definition(
    qrels: dict[str, dict[str, float]], run: dict[str, dict[str, float]], threshold: float | None, rel: float
) -> dict[str, float]:
    silent = {q for q in qrels if not any(threshold is None or s > threshold for s in run.get(q, {}).values())}
    without = {q for q, judged in qrels.items() if not any(own >= rel for own in judged.values())}
    both = len(silent & without)
    return {
        "rate": len(silent) / len(qrels),
        "precision": both / len(silent) if silent else math.nan,
        "recall": both / len(without) if without else math.nan,
    }


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rel", [1, 2])
def test_rates_at_every_threshold_are_those_of_the_definition(seed: int, rel: float) -> None:
    """In each engine, and in the curve: queries whose best scores tie at the threshold abstain together."""
    qrels, run = drawn(seed)
    frame = pl.DataFrame([(q, d, s) for q, own in run.items() for d, s in own.items()], orient="row")
    frame.columns = ["query_id", "doc_id", "score"]
    sides = ("rate", "precision", "recall")
    evaluations = [
        dh.evaluate(qrels, one, "RR", missing="empty") for one in (run, frame, frame.lazy(), frame.to_pandas())
    ]
    for threshold in (None, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0):
        wanted = by_definition(qrels, run, threshold, rel)
        for one in evaluations:
            measures = [dh.Abstain(of=side, threshold=threshold, rel=rel) for side in sides]
            values = [measure.mean(one.placements) for measure in measures]
            found = [own[~np.isnan(own)].mean() if (~np.isnan(own)).any() else math.nan for own in values]
            assert found == pytest.approx([wanted[side] for side in sides], nan_ok=True)
    for row in evaluations[0].abstention(rel).iter_rows(named=True):
        wanted = by_definition(qrels, run, row["threshold"], rel)
        found = [math.nan if row[side] is None else row[side] for side in sides]
        assert found == pytest.approx([wanted[side] for side in sides], nan_ok=True)


def test_thresholds_after_rounding_saving_and_without_scores(tmp_path: Path) -> None:
    """A rounded score that equals the threshold is not above it; ranks by several keys are no scores."""
    qrels, run = {"q": {}, "p": {"a": 1}}, {"q": {"a": 0.34}, "p": {"a": 0.4}}
    assert dh.evaluate(qrels, run, "Abstain@0.3", score_precision=1).means() == {"Abstain@0.3": 0.5}
    evaluation = dh.evaluate(qrels, run, ["Abstain(of='precision')@0.35", "RR"])
    evaluation.save(tmp_path / "kept.json")
    again = dh.load_evaluation(tmp_path / "kept.json")
    assert again.means() == evaluation.means()
    assert again.abstention().equals(evaluation.abstention())
    assert again.rescored({"q": {"b": 1}, "p": {"a": 1}}).means()["Abstain(of='precision')@0.35"] == 0
    with pytest.raises(MeasureError):
        dh.evaluate(qrels, run, "Abstain@0.3", then_by=run)
    with pytest.raises(MeasureError, match=r"call evaluate with a run of scores"):
        dh.evaluate_dense([[0.1, 0.4]], [[1]], "Abstain@0.3")
    with pytest.raises(MeasureError):
        dh.parse_measure("Abstain(of='f1')")
    assert str(dh.parse_measure("Abstain@-0.5")) == "Abstain@-0.5"


@pytest.mark.parametrize("measure", ["Abstain", "Abstain@0.5", "Abstain@0.9"])
def test_a_list_that_only_became_empty_is_an_answer(measure: str) -> None:
    """Unjudged documents are answers too, also where other measures do not look at them."""
    qrels: dict[str, dict[str, float]] = {"q1": {"a": 1}, "q2": {"z": 1}, "q3": {"z": 1}}
    run = {"q1": {"a": 0.9}, "q2": {"b": 0.8}}
    whole = dh.evaluate(qrels, run, measure, missing="empty")
    assert dh.evaluate(qrels, run, measure, missing="empty", judged_only=True).means() == whole.means()


def test_ranks_by_several_keys_know_which_lists_were_there(tmp_path: Path) -> None:
    """They keep no scores, which say it of other runs."""
    qrels: dict[str, dict[str, float]] = {"q1": {"a": 1}, "q2": {"z": 1}, "q3": {"z": 1}}
    run = {"q1": {"a": 0.9}, "q2": {"b": 0.8}}
    evaluation = dh.evaluate(qrels, run, ["Abstain", "RR"], missing="empty", judged_only=True, then_by=run)
    evaluation.save(tmp_path / "e.json")
    for one in (evaluation, dh.load_evaluation(tmp_path / "e.json")):
        assert one.means()["Abstain"] == one.rescored(measures="Abstain").means()["Abstain"] == 1 / 3
        assert one.abstention()["rate"].to_list() == [1 / 3]


def test_silence_is_right_only_if_asked() -> None:
    """Of measures from 0 to 1, under no_relevant="correct_if_empty": in means, extremes and other orders of ties."""
    qrels: dict[str, dict[str, float]] = {"q1": {"a": 1}, "q2": {}, "q3": {"z": 0}, "q4": {}}
    run = {"q1": {"a": 0.5, "b": 0.5}, "q2": {"b": 0.3}, "q3": {"z": 0.5}}
    plain = dh.evaluate(qrels, run, ["RR", "DCG"], missing="empty")
    assert plain["RR"].values.tolist() == [0.75, 0, 0, 0]
    evaluation = dh.evaluate(qrels, run, ["RR", "DCG"], missing="empty", no_relevant="correct_if_empty")
    scores = evaluation["RR"]
    assert scores.values.tolist() == [0.75, 0, 0, 1]
    assert (scores.tie_min.tolist(), scores.tie_max.tolist()) == ([0.5, 0, 0, 1], [1, 0, 0, 1])
    assert scores.spread.reachable.tolist() == [1, 1, 1, 1]
    assert evaluation["DCG"].values.tolist() == plain["DCG"].values.tolist()
    options: dict[str, Any] = {"missing": "empty", "no_relevant": "correct_if_empty"}
    worst = dh.evaluate(qrels, run, "RR", ties="worst", **options)
    assert worst["RR"].values.tolist() == [0.5, 0, 0, 1]
    other = {**run, "q4": {"x": 1.0}}
    compared = dh.compare(qrels, {"silent": run, "talks": other}, "RR", **options)
    assert compared.differences[:, 0].tolist() == [0, 0, 0, -1]
    by_id = compared.scores_by_doc_id("silent", "RR")
    assert by_id is not None
    assert by_id.values.tolist() == [0.5, 0, 0, 1]
    told = " ".join(as_text(report_evaluations([evaluation], "qrels")).plain.split())
    assert "3 queries (q2, q3, q4), count as 1 where nothing is retrieved, else as 0 for RR" in told
    assert "3 queries (q2, q3, q4), count as 0 for DCG" in told
    with pytest.raises(ParameterError):
        dh.evaluate(qrels, run, "RR", no_relevant="correct_if_empty", unjudged="bounds")


def test_tables_say_which_queries_have_no_answer(tmp_path: Path) -> None:
    """In a column ``answerable``, of dicts, frames and files."""
    sources: list[Any] = [ROWS, pl.DataFrame(ROWS), pl.DataFrame(ROWS).lazy(), pd.DataFrame(ROWS)]
    pl.DataFrame(ROWS).write_csv(tmp_path / "a.csv")
    pl.DataFrame(ROWS).write_ndjson(tmp_path / "a.jsonl")
    pl.DataFrame(ROWS).write_parquet(tmp_path / "a.parquet")
    sources += [tmp_path / f"a.{suffix}" for suffix in ("csv", "jsonl", "parquet")]
    for one in sources:
        qrels = dh.Qrels(one)
        assert qrels.to_dict() == {"q1": {"a": 1.0}, "q2": {}}, one
        assert dh.evaluate(qrels, RUN, "Abstain(of='recall')@0.3").means() == {"Abstain(of='recall')@0.3": 1.0}
    with pytest.raises(DataError):
        dh.Qrels([{"query_id": "q1", "doc_id": "a", "answerable": False}])
    with pytest.raises(DataError):
        dh.Qrels([{"query_id": "q1", "doc_id": "a", "answerable": "perhaps"}])


def test_spans_of_unanswerable_questions() -> None:
    """False in `answerable`, which leaves them out, or an empty list, which scores 0; no chunk of them is relevant."""
    row = {"query_id": "q", "doc_id": "d", "start": 0, "end": 9}
    chunks = [{**row, "score": 2.0}, {**row, "query_id": "p", "score": 1.0}]
    unanswerable = [row, *({"query_id": q, "answerable": False} for q in "ps")]
    empty: dict[str, Any] = {"q": [row], "p": [], "s": []}
    for source, left_out, recall in (
        (unanswerable, ("p", "s"), 1.0),
        (empty, (), 1 / 3),
    ):
        spans = dh.Spans(source)
        assert spans.unanswerable == left_out
        evaluation = dh.evaluate(
            spans, chunks, ["Abstain(of='recall')", "Abstain(of='recall')@1", "R@1"], missing="empty"
        )
        assert list(evaluation.means().values()) == [0.5, 1.0, pytest.approx(recall)]
        zero = dh.evaluate(spans, chunks, "R@1", missing="empty", no_relevant="zero")
        assert zero.means() == {"R@1": pytest.approx(1 / 3)}
        assert spans.judge(chunks)[0].unanswerable == left_out
    with pytest.raises(DataError):
        dh.Spans([row, {"query_id": "q", "answerable": False}])


def test_infinite_scores_are_thresholds_too() -> None:
    qrels, run = {"q": {}, "p": {"a": 1}, "r": {}}, {"q": {"a": -math.inf}, "p": {"a": math.inf}, "r": {"a": 1}}
    found = dh.evaluate(qrels, run, "RR").abstention().select("threshold", "n_abstained", "n_right")
    assert found.rows() == [(None, 0, 0), (-math.inf, 1, 1), (1.0, 2, 2), (math.inf, 3, 2)]
