"""CSV of Quepid, as its source writes it: caseCSVSvc.js and the controllers of its exports."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import deadheat as dh
from deadheat.errors import ColumnError, MalformedRowError
from support.command import call, ok

BASIC = 'query,docid,rating\n"say ""hi"", you",d1,3\nnothing rated,,\n =cmd,d2,0\n =cmd,d3,'
DETAILED = (
    "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating,score,rating\r\n"
    'T,C,8,"say ""hi"", you",d1,1,One,3,0.5,9\r\n'
    'T,C,8,"say ""hi"", you",d9,2,"Two, too",,0.5,9\r\n'
    "T,C,8,no results\r\n"
    "T,C,8, =cmd,d3,1,Three,,,\r\n"
    "T,C,8, =cmd,d2,2,Four,0,,\r\n"
)
SNAPSHOT = (
    "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title\r\n"
    '(1/1/2026) mine,Thu,8,"say ""hi"", you",d9,2,x\r\n(1/1/2026) mine,Thu,8,"say ""hi"", you",d1,1,y\r\n'
)
HI = 'say "hi", you'


def test_ratings(tmp_path: Path) -> None:
    (tmp_path / "basic.csv").write_text(BASIC, newline="")
    qrels = dh.read_qrels(tmp_path / "basic.csv")
    assert qrels.to_dict() == {HI: {"d1": 3.0}, "=cmd": {"d2": 0.0}}
    assert qrels.notes == ("2 rows of Quepid's export without a rating skipped",)


def test_results_with_ratings_are_both(tmp_path: Path) -> None:
    """Its own columns count, not fields of the documents that are called score and rating."""
    path = tmp_path / "detailed.csv"
    path.write_text(DETAILED, newline="")
    qrels, run = dh.read_qrels(path), dh.read_run(path)
    assert qrels.to_dict() == {HI: {"d1": 3.0}, "=cmd": {"d2": 0.0}}
    assert qrels.notes == ("3 rows of Quepid's export without a rating skipped",)
    assert run.to_dict() == {HI: {"d1": -1.0, "d9": -2.0}, "=cmd": {"d3": -1.0, "d2": -2.0}}
    assert run.notes[0] == "1 row of Quepid's export without a document skipped"
    assert dh.evaluate(path, path, ["RR"]).to_dict() == {HI: {"RR": 1.0}, "=cmd": {"RR": 0.0}}


def test_a_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.csv"
    path.write_text(SNAPSHOT, newline="")
    assert dh.read_run(path).to_dict() == {HI: {"d9": -2.0, "d1": -1.0}}
    # RR of d9, at position 2
    assert dh.evaluate({HI: "d9"}, path, ["RR"]).means() == {"RR": 0.5}


def test_equal_positions_tie(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.csv"
    path.write_text(SNAPSHOT.replace("d9,2", "d9,1"), newline="")
    assert dh.evaluate({HI: "d9"}, path, ["RR"]).means() == {"RR": (1 + 1 / 2) / 2}


def test_quotes_without_quotes_around_them(tmp_path: Path) -> None:
    """Quepid doubles quotes and adds none around a field without a comma."""
    path = tmp_path / "snapshot.csv"
    path.write_text('Query Text,Doc ID,Doc Position\r\nsay ""hi"",a,1\r\n', newline="")
    assert dh.read_run(path).to_dict() == {'say "hi"': {"a": -1.0}}


def test_the_ratings_of_one_judge(tmp_path: Path) -> None:
    path = tmp_path / "book.csv"
    path.write_text("query,docid,Doug,Anonymous\nq,a,3,\nq,b,,1\n")
    assert dh.read_qrels(path, columns={"relevance": "Doug"}).to_dict() == {"q": {"a": 3.0}}
    with pytest.raises(ColumnError, match=r"'relevance'.*'Anonymous'"):
        dh.read_qrels(path)


def test_a_frame_of_it(tmp_path: Path) -> None:
    (tmp_path / "snapshot.csv").write_text(SNAPSHOT, newline="")
    assert dh.read_run(pd.read_csv(tmp_path / "snapshot.csv")).to_dict() == {HI: {"d9": -2.0, "d1": -1.0}}


def test_other_tables_may_lack_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("query,doc_id,rating\nq,a,\n")
    with pytest.raises(dh.DeadheatError, match="relevance must be a number"):
        dh.read_qrels(tmp_path / "x.csv")
    (tmp_path / "x.csv").write_text("query,docid,rating\nq,a,1,2\n")
    with pytest.raises(MalformedRowError, match="expected 3 fields"):
        dh.read_qrels(tmp_path / "x.csv")


def test_convert_asks_which_of_both_is_meant(tmp_path: Path) -> None:
    (tmp_path / "detailed.csv").write_text(DETAILED, newline="")
    refused = call("convert", tmp_path / "detailed.csv", tmp_path / "out.jsonl")
    assert (
        "has the columns of Quepid, whose results have their ratings: give --kind qrels or --kind run" in refused.output
    )
    ok("convert", tmp_path / "detailed.csv", tmp_path / "out.jsonl", "--kind", "qrels")
    assert dh.read_qrels(tmp_path / "out.jsonl").to_dict() == {HI: {"d1": 3.0}, "=cmd": {"d2": 0.0}}
