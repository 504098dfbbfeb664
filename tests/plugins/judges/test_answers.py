"""read_judgments(): grades in answers, and what becomes of those that hold none."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.io.grades import read_grade
from deadheat.errors import ColumnError, DataError, DuplicateError, ParameterError, SourceTypeError

RAW: dict[str, dict[str, object]] = {
    "q1": {"a": "Score: 2", "b": 0, "c": "I cannot rate this.", "d": "3"},
    "q2": {"e": None, "f": "1"},
}


@pytest.mark.parametrize(
    ("answer", "value", "scale"),
    [
        ("8/10", 8, 10),
        ("Score: 8 / 10", 8, 10),
        ("7 out of 10", 7, 10),
        ("2/3 or 1/3", None, None),
        ("8/10, since 3 words fit", None, None),
        ("3/0", None, None),
        ("12/10", None, None),
        ("Highly relevant", 3, None),
        (" **highly  RELEVANT**.", 3, None),
        ("not highly relevant", None, None),
        ({"score": 2, "reason": "3 words"}, 2, None),
        ('{"rating": "2"}', 2, None),
        ('{"score": 1, "grade": 2}', None, None),
        (np.float32(1.5), 1.5, None),
        (True, None, None),
    ],
)
def test_one_answer(answer: object, value: float | None, scale: float | None) -> None:
    assert read_grade(answer, {"Highly relevant": 3}) == (value, scale)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        # of errors, documents and shares
        ("Error 429: rate limit exceeded", None),
        ("Error code: 429 - {'error': {'message': 'Rate limit reached'}}", None),
        ("HTTP 503", None),
        ("429 Too Many Requests", None),
        ("503: Service Unavailable", None),
        ("503. Try again later.", None),
        ("Response: 500 Internal Server Error", None),
        ("Request failed with status code 500", None),
        ("RateLimitError: retry in 20s", None),
        ("RateLimitError: limit is 20.", None),
        ("The request timed out after 30 seconds.", None),
        ("I got a 404.", None),
        ("Attempt 2/3 failed", None),
        ("exceeded 20/min", None),
        ("maximum of 7 out of 10", None),
        ("I cannot rate document 2", None),
        ("I cannot rate the passage: it ends at line 2.", None),
        ("Document 2 is not relevant", None),
        ("Document 2: not relevant", None),
        ("Passage [3] is off topic", None),
        ("[3] is off topic", None),
        ("(3) is off topic", None),
        ("Not relevant [3].", None),
        ("The relevance of [3] is low", None),
        ("The score of document 2 is low", None),
        ("Answer 2 is off topic", None),
        ("Line 1 answers", None),
        ("2 of the facts are there", None),
        ("3 words fit", None),
        ("7 out of 10 documents are off topic", None),
        ("2nd passage", None),
        ("Q2", None),
        ("Page 1/2", None),
        ("66%", None),
        ("66 %.", None),
        ("Score: 66%", None),
        ("Score: 66 percent", None),
        ('{"status": 429, "error": "rate limit"}', None),
        ('{"score": "Error 429"}', None),
        # grades
        ("2", 2),
        ("-1.", -1),
        ("**2**", 2),
        ("[[2]]", 2),
        ("100", 100),
        ("429", 429),
        ("2 stars", 2),
        ("2 - it answers", 2),
        ("2: it names HTTP errors", 2),
        ("2. The passage names errors.", 2),
        ("2 (related)", 2),
        ("2\n\nThe passage answers.", 2),
        ("2 because it answers", 2),
        ("8/10", 8),
        ("8 out of 10, as it answers", 8),
        ("Rating: 3/5", 3),
        ("Rating: [[5]]", 5),
        ("Score: 2", 2),
        ("score=2", 2),
        ("**Score:** 2", 2),
        ("_Score_: 2", 2),
        ("Score: 2 points", 2),
        ("Score: 2\nReason: the passage names an error", 2),
        ("Reason: an HTTP error.\n##final score: 2", 2),
        ("The passage is about errors. Final answer: 2.", 2),
        ("<score>2</score>", 2),
        ('Here you are: {"score": 2}', 2),
        ("Relevance level: 2", 2),
        ("The relevance score is 2.", 2),
        ("I would give this a score of 2, because it answers", 2),
        ("I'd rate this passage as a 2.", 2),
        ("I would say 7 out of 10", 7),
        ("Highly relevant (3)", 3),
        ("Relevant: 2", 2),
        ('```json\n{"score": 2, "why": "3 of 5 facts"}\n```', 2),
        ('```\n{"why": "3 of 5 facts"}\n```', None),
    ],
)
def test_a_number_is_a_grade_where_it_clearly_is(answer: str, value: float | None) -> None:
    assert read_grade(answer).value == value


def test_what_becomes_of_failures() -> None:
    with pytest.raises(DataError, match=r"2 of 6 answers .*, None\)"):
        dh.read_judgments(RAW)
    dropped = dh.read_judgments(RAW, failed="drop")
    assert dropped.to_dict() == {"q1": {"a": 2, "b": 0, "d": 3}, "q2": {"f": 1}}
    assert dropped.failures is not None
    assert dropped.failures.rows() == [("q1", "c", "I cannot rate this."), ("q2", "e", None)]
    assert dh.read_judgments(RAW, failed="lowest").to_dict()["q1"]["c"] == 0
    run = dh.read_judgments(RAW, kind="run", failed="drop")
    assert isinstance(run, dh.Run)
    assert run.to_dict()["q1"] == {"a": 2, "b": 0, "d": 3}
    with pytest.raises(DataError, match="there is no answer"):
        dh.read_judgments({})
    with pytest.raises(DataError, match="no answer is a grade"):
        dh.read_judgments({"q": {"a": "no"}}, failed="drop")


@pytest.mark.parametrize("measure", ["nDCG@3", "P@2", "AP", "RR", "DCG@5", "R@2"])
def test_bounds_are_the_range_over_all_grades_of_the_failed(measure: str) -> None:
    raw: dict[str, dict[str, object]] = {
        "q1": {"a": "2", "b": 0, "c": "no idea", "d": "1", "x": None},
        "q2": {"e": "what?", "f": 2},
    }
    run = {"q1": {"c": 4.0, "u": 4.0, "a": 3.0, "b": 2.0, "d": 1.0}, "q2": {"u": 3.0, "e": 2.0, "f": 1.0}}
    found = dh.evaluate(dh.read_judgments(raw, failed="bounds", scale=2), run, [measure])[measure]
    for place, (query, documents) in enumerate({"q1": ("c", "x"), "q2": ("e",)}.items()):
        known = {doc: float(str(grade)) for doc, grade in raw[query].items() if doc not in documents}
        values = []
        for grades in product((0, 1, 2), repeat=len(documents)):
            labels = {query: known | dict(zip(documents, grades, strict=True))}
            values.append(dh.evaluate(labels, run, [measure])[measure].values[0])
        assert found.unjudged_min[place] == pytest.approx(min(values), abs=1e-12)
        assert found.unjudged_max[place] == pytest.approx(max(values), abs=1e-12)


@pytest.mark.parametrize("ties", ["expected", "doc_id", "input"])
@pytest.mark.parametrize("depth", [None, 2])
@pytest.mark.parametrize("measure", ["nDCG@3", "P@2", "AP", "RR"])
def test_the_failed_are_ranked_under_the_policy_and_within_the_depth(
    measure: str, ties: str, depth: int | None
) -> None:
    options: dict[str, Any] = {"ties": ties, "depth": depth}
    raw: dict[str, dict[str, object]] = {"q": {"a": 1, "z": "x", "b": 0}, "p": {"b": 1, "z": "x", "a": 0}}
    tied, strict = {"a": 1.0, "z": 1.0, "b": 1.0, "y": 1.0}, {"a": 4.0, "y": 3.0, "z": 2.0, "b": 1.0}
    run = {"q": strict if depth and ties == "expected" else tied, "p": strict}
    found = dh.evaluate(dh.read_judgments(raw, failed="bounds"), run, measure, **options)[measure]
    each = [
        dh.evaluate({query: own | {"z": z} for query, own in raw.items()}, run, measure, **options)[measure].values
        for z in (0, 1)
    ]
    np.testing.assert_allclose(found.unjudged_min, np.minimum(*each), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.unjudged_max, np.maximum(*each), rtol=0, atol=1e-12)


@pytest.mark.parametrize("ties", ["best", "worst", "random"])
def test_policies_that_do_not_rank_the_failed_are_refused(ties: str) -> None:
    judged = dh.read_judgments({"q": {"a": 1, "z": "x"}}, failed="bounds")
    with pytest.raises(ParameterError, match="ties must be"):
        dh.evaluate(judged, {"q": {"a": 1}}, "RR", ties=ties)


def test_of_scores_the_failed_may_be_anywhere_and_rank_last_in_the_values() -> None:
    run = dh.read_judgments(RAW, kind="run", failed="bounds")
    assert isinstance(run, dh.Run)
    assert run.to_dict()["q1"] == {"a": 2, "b": 0, "c": -1, "d": 3}
    assert (
        "2 of 6 answers are no grades ('I cannot rate this.', None), ranked last; bounds of an evaluation are"
        in run.notes[0]
    )
    found = dh.evaluate({"q1": {"c": 1}, "q2": {"f": 1}}, run, ["RR", "bpref"])
    assert found["RR"].values.tolist() == [1 / 4, 1]
    assert (found["RR"].unjudged_min.tolist(), found["RR"].unjudged_max.tolist()) == ([1 / 4, 1 / 2], [1, 1])
    assert not found["bpref"].has_unjudged_bounds
    both = dh.evaluate({"q1": {"c": 1}, "q2": {"f": 1}}, {"a": run, "b": run.renamed("b")}, "RR")
    assert both["b"]["RR"].unjudged_max.tolist() == [1, 1]
    each: list[Any] = [{"depth": 2}, {"judged_only": True}, {"score_precision": 1}, {"unjudged": "bounds"}]
    for options in each:
        with pytest.raises(ParameterError, match="cannot be combined with documents that may be anywhere in run"):
            dh.evaluate({"q1": {"c": 1}}, run, "RR", **options)
    decomposed = dh.read_judgments({"q": {"e\u0301": None, "b": 2}}, kind="run", failed="bounds")
    found = dh.evaluate({"q": {"\u00e9": 1}}, decomposed, "RR", normalize_ids="NFC")
    assert (found["RR"].mean, found["RR"].mean_unjudged_max) == (1 / 2, 1)


@pytest.mark.parametrize("meant", [float("nan"), float("inf"), "three"])
def test_what_a_word_means_is_a_number(meant: Any) -> None:  # noqa: ANN401 - whatever may be wrong
    with pytest.raises(ParameterError, match="grades must be a number"):
        dh.read_judgments({"q": {"a": "good", "b": "bad"}}, grades={"good": meant, "bad": 0})


def test_keys_of_an_answer_may_be_no_text() -> None:
    assert dh.read_judgments({"q": {"a": {1: "x", "score": 2}, "b": 1}}).to_dict() == {"q": {"a": 2, "b": 1}}


def test_a_query_whose_answers_all_failed_stays() -> None:
    found = dh.evaluate(
        dh.read_judgments({"q1": {"a": 1}, "q2": {"b": "?"}}, failed="bounds"), {"q1": {"a": 1}, "q2": {"b": 1}}, "RR"
    )["RR"]
    assert (found.unjudged_min.tolist(), found.unjudged_max.tolist()) == ([1, 0], [1, 1])


def test_a_query_whose_answers_all_failed_is_dropped_with_them() -> None:
    judged = dh.read_judgments({"q1": {"a": 1}, "q2": {"b": "?"}}, failed="drop")
    assert judged.notes == ("1 of 2 answers is no grade ('?'), left out, with 1 query (q2)",)
    found = dh.evaluate(judged, {"q1": {"a": 1}, "q2": {"b": 1}}, "RR")
    assert (found.means(), found.query_ids.tolist()) == ({"RR": 1}, ["q1"])


def test_lists_in_the_place_of_answers_are_named() -> None:
    with pytest.raises(SourceTypeError, match=r"expected a dict of dicts .*, got .*'q': \['a'\]"):
        dh.read_judgments({"q": ["a"]})


def test_scales() -> None:
    assert dh.read_judgments({"q": {"a": "8/10", "b": "3/10"}}).to_dict() == {"q": {"a": 8, "b": 3}}
    for raw, scale in (({"a": "8/10", "b": "3/5"}, None), ({"a": "8/10"}, 5)):
        with pytest.raises(DataError, match="answers are on scale"):
            dh.read_judgments({"q": raw}, scale=scale, failed="drop")
    beyond = dh.read_judgments({"q": {"a": 4, "b": -1, "c": 3}}, scale=3, failed="drop")
    assert beyond.to_dict() == {"q": {"c": 3}}


def test_a_grade_far_beyond_the_others_is_noted() -> None:
    raw = {"q": {**{f"d{place}": str(place % 4) for place in range(40)}, "a": "429"}}
    assert dh.read_judgments(raw).notes == (
        "429 among grades of which nine in ten are at most 3: with a scale these are no grades",
    )
    for failed in ("drop", "bounds"):
        assert not any("nine in ten" in note for note in dh.read_judgments(raw, scale=3, failed=failed).notes)
    assert dh.read_judgments({"q": {f"d{place}": f"{5 * place}/100" for place in range(21)}}).notes == ()


def test_words_that_no_answer_holds_are_noted() -> None:
    raw = {"q": {"a": "3", "b": {"label": "Highly  relevant"}, "c": ["Related", 1]}}
    words = {"highly relevant": 3, "related": 1}
    assert dh.read_judgments(raw, grades=words).notes == ()
    noted = dh.read_judgments(raw, grades={**words, "skale": 3}).notes
    assert noted == ("no answer holds 'skale', which would be a grade",)


def test_several_judgments_of_a_document() -> None:
    assert dh.read_judgments({"q": {"a": [1, "2", None], "b": "[3, 1]"}}).to_dict()["q"]["a"] == 1.5
    with pytest.raises(DataError):
        dh.read_judgments({"q": {"a": [None, "?"], "b": 1}})


def test_files_and_frames(tmp_path: Path) -> None:
    rows = [{"query_id": q, "doc_id": d, "answer": a} for q, own in RAW.items() for d, a in own.items()]
    (tmp_path / "llm.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    frame = pl.DataFrame([{**row, "answer": None if row["answer"] is None else str(row["answer"])} for row in rows])
    frame.write_csv(tmp_path / "llm.csv")
    wanted = dh.read_judgments(RAW, failed="drop").to_dict()
    (tmp_path / "llm.json").write_text(json.dumps(RAW), encoding="utf-8")
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    for source in (*map(tmp_path.joinpath, ("llm.jsonl", "llm.csv", "llm.json", "rows.json")), rows, frame):
        assert dh.read_judgments(source, failed="drop").to_dict() == wanted
    assert dh.read_judgments(tmp_path / "llm.csv", failed="drop").name == "llm"
    named = frame.rename({"answer": "verdict"})
    assert dh.read_judgments(named, grade="verdict", failed="drop").to_dict() == wanted
    assert dh.read_judgments(rows, grade=lambda row: row["answer"], failed="drop").to_dict() == wanted
    with pytest.raises(ColumnError, match="give grade="):
        dh.read_judgments(named)
    with pytest.raises(ColumnError, match="score and answer may both hold the grade: say which one: grade="):
        dh.read_judgments([{"query": "q", "doc": "d", "answer": "2", "score": "0.9"}])
    with pytest.raises(ParameterError, match="scale"):
        dh.read_judgments(RAW, scale=-1)
    with pytest.raises(DuplicateError, match=r"'a' .*more than once"):
        dh.read_judgments([*rows, rows[0]], failed="drop")
    with pytest.raises(DataError, match="row 1 lacks a doc_id"):
        dh.read_judgments([{"query_id": "q", "doc_id": None, "grade": 1}])
