"""Folders with the response to one search in each file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import deadheat as dh
from deadheat.errors import DataError, DuplicateError
from support.command import call, ok
from support.error_parts import raises_parts


def response(**scores: float) -> str:
    hits = [{"_index": "i", "_id": doc, "_score": score} for doc, score in scores.items()]
    return json.dumps({"took": 1, "timed_out": False, "_shards": {"failed": 0}, "hits": {"hits": hits}})


@pytest.fixture
def responses(tmp_path: Path) -> Path:
    folder = tmp_path / "responses"
    folder.mkdir()
    (folder / "q1.json").write_text(response(a=2.0, b=2.0))
    (folder / "red shoes v1.2.json").write_text(response(b=1.0))
    (folder / "nothing.json").write_text(response())
    (folder / "notes.txt").write_text("mine")
    return folder


def test_a_response_in_each_file_named_by_the_query(responses: Path) -> None:
    run = dh.read_run(responses)
    assert run.to_dict() == {"q1": {"a": 2.0, "b": 2.0}, "red shoes v1.2": {"b": 1.0}, "nothing": {}}
    assert run.notes == ("3 files with the responses of searches, named by the query",)
    assert run.name == "responses"
    with gzip.open(responses / "q7.json.gz", "wt") as file:
        file.write(response(c=1.0))
    assert dh.read_run(responses).to_dict()["q7"] == {"c": 1.0}
    (responses / "q7.json").write_text(response(c=1.0))
    with raises_parts(DuplicateError, allowed="one", problem="two files of query 'q7'"):
        dh.read_run(responses)


def test_the_command_takes_a_folder_of_responses(responses: Path, tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nnothing 0 a 1\n")
    out = " ".join(ok("evaluate", tmp_path / "qrels.txt", responses, "-m", "RR").split())
    assert "RR 0.3750" in out
    assert "3 files with the responses of searches, named by the query" in out
    assert "1 query with an empty list of results (nothing)" in out
    refused = call("evaluate", responses, tmp_path / "qrels.txt").stderr
    assert "is a directory, expected a file, Parquet files, a data set of BEIR" in refused


@pytest.mark.parametrize("content", ["[1]", '{"error": {"type": "parse"}, "status": 400}', '{"responses": []}', "{"])
def test_a_file_that_is_no_response_is_named(responses: Path, content: str) -> None:
    (responses / "broken.json").write_text(content)
    with pytest.raises(DataError, match=r"responses/broken.json:"):
        dh.read_run(responses)


def test_a_response_without_its_query_says_what_to_save(responses: Path) -> None:
    with pytest.raises(
        DataError, match=r"does not say the query: save .* named by it \(q1.json\), and give the folder"
    ):
        dh.read_run(responses / "q1.json")
