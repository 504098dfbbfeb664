"""Saved evaluations, read again: saved just now, and kept files of each format that is read.

`saved/format-2.tar.xz` was written by commit f6062ca1, the last one that wrote format 2, and `format-3.tar.xz` by
572b1090, both with `EVALUATIONS` below and ``save(..., method="t")``. They are never written again.
"""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import deadheat as dh
from golden.data import CHUNKS, PASSAGES, QRELS, REPEATS, RUNS, WEIGHTS, Scores, query_ids
from golden.entries import FOLDER, entry
from golden.plain import Numbers, attributes
from golden.results import interval_of, spread_of

MEASURES = ["nDCG@3", "RR", "NumRelRet"]
SIX = {query: QRELS[query] for query in query_ids(6)}
FOUR_PASSAGES = [row for row in PASSAGES if row["query_id"] < "q05"]
FOUR_CHUNKS = [row for row in CHUNKS["fine"] if row["query_id"] < "q05"]
ANSWERS = {"q1": {"a": "2", "b": 0, "c": "no idea", "d": "1", "x": None}, "q2": {"e": "what?", "f": 2}}
OF_ANSWERS = {"q1": {"c": 4.0, "u": 4.0, "a": 3.0, "b": 2.0, "d": 1.0}, "q2": {"u": 3.0, "e": 2.0, "f": 1.0}}
GRADES = {"q1": {"a": 2, "b": 0, "c": "no idea", "d": 1}, "q2": {"e": "?", "f": 2}}
OF_GRADES = {"q1": {"a": 2, "c": 1, "d": 1}, "q2": {"e": 1}}


def six(run: Scores) -> Scores:
    """Return the first six queries of a run."""
    return {query: run[query] for query in SIX}


def plain() -> dh.Evaluation:
    return dh.evaluate(SIX, six(RUNS["fair"]), MEASURES)


def repeats() -> dh.Evaluation:
    return dh.evaluate(SIX, dh.Repeats([six(run) for run in REPEATS["fair"]]), MEASURES)


def passages() -> dh.Evaluation:
    return dh.evaluate(dh.Spans(FOUR_PASSAGES), FOUR_CHUNKS, ["R@3", "CharRecall@2", "RR"])


def failures() -> dh.Evaluation:
    """Answers of a judge that are no grades: each may be any grade."""
    return dh.evaluate(dh.read_judgments(ANSWERS, failed="bounds", scale=2), OF_ANSWERS, ["nDCG@3", "RR"])


def anywhere() -> dh.Evaluation:
    """Answers of a reranker that are no grades: each document may be anywhere in the list."""
    return dh.evaluate(OF_GRADES, dh.read_judgments(GRADES, kind="run", failed="bounds"), ["nDCG@3", "RR"])


def weights() -> dh.Evaluation:
    return dh.evaluate(SIX, six(RUNS["weak"]), MEASURES, weights=WEIGHTS)


def bounds() -> dh.Evaluation:
    return dh.evaluate(SIX, six(RUNS["weak"]), ["nDCG@3", "RR"], unjudged="bounds")


def subtopics() -> dh.Evaluation:
    return dh.evaluate("subtopics.txt", "fair.run", ["alpha_nDCG@3", "StRecall@3"])


def deeper() -> dh.Evaluation:
    return dh.evaluate(SIX, six(RUNS["weak"]), ["AP", "P@2"], ties="doc_id", depth=5, rel=2)


def unanswerable() -> dh.Evaluation:
    return dh.evaluate("unanswerable.csv", "fair.run", ["RR", "Abstain"])


EVALUATIONS: dict[str, Callable[[], dh.Evaluation]] = {
    "plain": plain,
    "repeats": repeats,
    "passages": passages,
    "failures": failures,
    "anywhere": anywhere,
    "weights": weights,
    "bounds": bounds,
    "subtopics": subtopics,
    "deeper": deeper,
    "unanswerable": unanswerable,
}


@cache
def folder_of_saves(archive: str) -> Path:
    """Unpack the saved evaluations of a format."""
    folder = Path(tempfile.mkdtemp(prefix="saved-", dir=Path.cwd()))
    with tarfile.open(FOLDER / "saved" / archive) as files:
        files.extractall(folder, filter="data")
    return folder


def numbers_of(evaluation: dh.Evaluation) -> Numbers:
    """Return what an evaluation that was read has of each measure, and what it scores again."""
    found: Numbers = {"query_ids": evaluation.query_ids}
    for scores in evaluation:
        numbers = {**attributes(scores, "values mean total"), **spread_of(scores)}
        if scores.has_unjudged_bounds:
            numbers |= attributes(scores, "unjudged_min unjudged_max mean_unjudged_min mean_unjudged_max")
        if scores.repeats is not None:
            components = "queries repeats ties shared shared_p_value n_repeats"
            numbers["variance_components"] = attributes(scores.variance_components, components)
        numbers["interval"] = interval_of(scores.interval("t"))
        found[str(scores.measure)] = numbers
    found["rescored"] = rescored_means(evaluation)
    return found


def rescored_means(evaluation: dh.Evaluation) -> Numbers | str:
    """Score the ranking that was kept again; where that is refused, say so."""
    try:
        return evaluation.rescored().means()
    except dh.DeadheatError as error:
        return type(error).__name__


@entry(EVALUATIONS)
def again(evaluate: Callable[[], dh.Evaluation]) -> Numbers:
    """Save an evaluation, and read it."""
    with tempfile.TemporaryDirectory() as folder:
        evaluation = evaluate()
        evaluation.save(f"{folder}/saved.json", method="t")
        loaded = dh.load_evaluation(f"{folder}/saved.json")
        return {**numbers_of(loaded), "as_before": loaded.means() == evaluation.means()}


@entry(EVALUATIONS)
def of_format_2(evaluate: Callable[[], dh.Evaluation]) -> Numbers:
    return numbers_of(dh.load_evaluation(folder_of_saves("format-2.tar.xz") / f"{evaluate.__name__}.json"))


@entry(EVALUATIONS)
def of_format_3(evaluate: Callable[[], dh.Evaluation]) -> Numbers:
    return numbers_of(dh.load_evaluation(folder_of_saves("format-3.tar.xz") / f"{evaluate.__name__}.json"))


@entry()
def compared() -> Numbers:
    """A kept file of format 2 beside one that was saved just now."""
    old = dh.load_evaluation(folder_of_saves("format-2.tar.xz") / "plain.json")
    new = dh.evaluate(SIX, dh.Run(six(RUNS["good"]), name="good"), MEASURES)
    comparison = dh.compare_evaluations([old, new], test="t")
    return {"pairs": comparison.to_polars()}
