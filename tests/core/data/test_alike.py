"""Ids that look alike and are not equal: found among queries that one side lacks, and among a few documents."""

from __future__ import annotations

import unicodedata
import warnings
from typing import TYPE_CHECKING

import polars as pl
import pytest

import deadheat as dh
from deadheat.core.data.similar_ids import ADVICE, describe_similar_ids
from deadheat.errors import DataError, DeadheatWarning
from support.command import call

if TYPE_CHECKING:
    from pathlib import Path

COMPOSED, DECOMPOSED = (unicodedata.normalize(form, "Krämpfe") for form in ("NFC", "NFD"))


def test_the_words_for_each_difference() -> None:
    assert COMPOSED != DECOMPOSED
    assert (
        describe_similar_ids(["a"], ["b"])
        == describe_similar_ids([], ["b"])
        == describe_similar_ids([COMPOSED], [])
        == ""
    )
    unicode = f"1 query of the qrels and of the run differs only in Unicode form (NFC, NFD): {DECOMPOSED!r}" + ADVICE
    assert describe_similar_ids([DECOMPOSED, "a"], ["b", COMPOSED]) == unicode
    case = "2 queries of the qrels and of the run differ only in case or in blanks around them: 'Q1' is ' q1'"
    assert describe_similar_ids(["Q1", "q2 "], [" q1", "q2"]) == case


@pytest.mark.parametrize(("other", "words"), [(DECOMPOSED, "Unicode form"), ("KRÄMPFE", "only in case")])
def test_queries_are_warned_of_and_noted(other: str, words: str) -> None:
    qrels, run = {"q1": {"a": 1}, COMPOSED: {"a": 1}}, {"q1": {"a": 1.0}, other: {"a": 1.0}}
    with pytest.warns(DeadheatWarning, match=f"^run: .*{words}"):
        found = dh.evaluate(qrels, run, "RR")
    assert found["RR"].mean == 0.5
    assert any(words in note for note in found.notes)
    with pytest.raises(DataError, match=words):
        dh.evaluate({COMPOSED: {"a": 1}}, {other: {"a": 1.0}})


def test_frames_and_documents() -> None:
    qrels = pl.DataFrame({"query_id": ["q", "r"], "doc_id": ["a", COMPOSED], "relevance": [1, 1]})
    run = pl.DataFrame({"query_id": ["q", "r"], "doc_id": ["a", DECOMPOSED], "score": [1.0, 1.0]})
    with pytest.warns(DeadheatWarning, match="of the first 100, 1 doc"):
        dh.evaluate(qrels, run, "RR")
    with warnings.catch_warnings(action="error"):
        dh.evaluate(qrels, run.with_columns(doc_id=pl.Series(["a", COMPOSED])), "RR")


@pytest.mark.filterwarnings("always::deadheat.core.errors.DeadheatWarning")
def test_the_commands_warn_of_it_and_note_it(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text(f"q1 0 a 1\n{COMPOSED} 0 a 1\n", encoding="utf-8")
    (tmp_path / "r.run").write_text(f"q1 Q0 a 1 1 t\n{DECOMPOSED} Q0 a 1 1 t\n", encoding="utf-8")
    done = call("evaluate", tmp_path / "q.txt", tmp_path / "r.run", "-m", "RR")
    for shown in (done.stdout, done.stderr):
        assert "only in Unicode form" in " ".join(shown.split())
