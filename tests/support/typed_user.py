"""What a user with a type checker writes: `make test-all` runs mypy --strict on it, and test_release.py runs it."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import polars as pl

import deadheat as dh

QRELS = {"q1": {"a": 2, "b": 1}, "q2": {"a": 1}, "q3": {"c": 1}}
BM25 = {"q1": {"a": 1.0, "b": 1.0, "c": 0.5}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"c": 1.0, "d": 1.0}}
DENSE = {"q1": ["b", "a"], "q2": ["a"], "q3": ["d", "c"]}


def values(ev: dh.Evaluation) -> list[float]:
    scores = ev["RR"]
    assert_type(scores, dh.Scores)
    assert_type(scores.mean, float)
    interval = scores.interval("t", confidence_level=0.9)
    return [*scores.values.tolist(), interval.low, interval.high]


def decide(folder: Path) -> str:
    ev = dh.evaluate(QRELS, BM25, ["RR", "nDCG@10"])
    assert_type(ev, dh.Evaluation)
    means: dict[str, float] = ev.means()
    by_name = dh.evaluate(QRELS, {"bm25": dh.Run(BM25), "dense": dh.Run(DENSE)}, "RR", ties="expected", missing="skip")
    assert_type(by_name["dense"], dh.Evaluation)
    path = folder / "bm25.json"
    ev.save(path, save_depth=10, label="main")
    loaded: dh.Evaluation = dh.load_evaluation(path)
    comparison = dh.compare(QRELS, {"bm25": BM25, "dense": DENSE}, ["RR"], baseline="bm25", test="t")
    assert_type(comparison, dh.Comparison)
    pair: dh.Pair = comparison.pairs[0]
    frame: pl.DataFrame = comparison.to_polars()
    result: dh.GateResult = dh.gate(loaded, ["RR > 0.1"])
    numbers = [*means.values(), *values(loaded), pair.difference, float(frame.height)]
    return f"{result.passed}: {sum(numbers):.2f} of {', '.join(by_name)}"


def read(folder: Path) -> dh.Run:
    path = folder / "run.csv"
    pl.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "score": [1.0]}).write_csv(path)
    run = dh.read_run(path)
    assert_type(run.to_dict(), dict[str, dict[str, float]])
    return run.then_by(BM25)


def count_ties(run: dh.Run) -> int:
    profile: dh.TieProfile = dh.tie_profile(run)
    measures = sorted(dh.measures())
    assert_type(measures, list[str])
    return profile.per_query().height + len(measures)


def went_on(folder: Path) -> int:
    history: dh.History = dh.history([folder / "bm25.json"])
    repeated = dh.evaluate(QRELS, dh.Repeats([dh.Run(BM25), dh.Run(DENSE)]), "RR")
    assert_type(repeated["RR"].plan_repeats(0.2), pl.DataFrame)
    return len(history.steps)
