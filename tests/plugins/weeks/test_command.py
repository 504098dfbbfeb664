"""deadheat rescore, and what deadheat evaluate --save keeps for it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat.errors import NotKeptError
from support.command import call, error_of, names_in, ok

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {f"q{n}": {"a": 1, f"d{n}": 2} for n in range(6)}
NEW = {**QRELS, "q0": {"a": 0, "d7": 1}, "q1": {"a": 1, "d25": 0}, "q6": {"a": 1}}
RUN = {f"q{n}": {"b": 5.0, "a": 5.0, **{f"d{m}": 4.0 - m for m in range(30)}} for n in range(7)}
OLD_NEW = "old,new\nb,c\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, table in (("qrels", QRELS), ("new", NEW), ("run", RUN)):
        (tmp_path / f"{name}.json").write_text(json.dumps(table))
    (tmp_path / "ids.csv").write_text(OLD_NEW)
    return tmp_path


def test_the_command_prints_what_evaluating_anew_prints() -> None:
    ok("evaluate", "qrels.json", "run.json", "-m", "nDCG@10 RR", "--save", "saved.json")
    for options in ([], ["--ties", "worst"], ["-m", "P@5", "--rel", "2", "--no-relevant", "skip"]):
        measures = [] if "-m" in options else ["-m", "nDCG@10 RR"]
        anew = ok("evaluate", "new.json", "run.json", *measures, *options)
        again = ok("rescore", "saved.json", "new.json", *options)
        assert again == anew
    same = ok("rescore", "saved.json", "--format", "json", "-m", "P@1")
    assert json.loads(same)["scores"]["run"]["P@1"]["value"] == dh.evaluate(QRELS, RUN, "P@1").means()["P@1"]


def test_it_is_saved_and_scored_again_and_again() -> None:
    options = ["--save", "saved.json", "--save-depth", "12", "--label", "first", "--commit", "abc"]
    out = ok("evaluate", "qrels.json", "run.json", "-m", "nDCG@10 RR", *options)
    assert "saved.json" in out
    out = " ".join(ok("rescore", "saved.json", "new.json", "--save", "next.json", "--ids", "ids.csv").split())
    assert "first 12 documents of each" in out
    assert re.search(r"renamed [\w ]+: 1 of 1\b", out)
    assert "not found" not in out  # what was not kept may well be found
    found = dh.load_evaluation("next.json")
    assert found.origin == dh.load_evaluation("saved.json").origin
    assert (found.origin.label, found.origin.commit, found.known_depth) == ("first", "abc", 12)  # type: ignore[union-attr]
    result = call("rescore", "next.json", "-m", "RR AP P@20")
    assert result.exit_code == 3
    error = error_of("rescore", "next.json", "-m", "RR AP P@20")
    assert isinstance(error, NotKeptError)
    assert error.queries == {"AP": ("q1",), "P@20": ("q1",)}
    assert names_in(result.stderr)[:2] == ["q1", "q1"]


def test_in_a_folder_it_has_the_name_of_the_saved_one(folder: Path) -> None:
    for name in ("results", "again"):
        (folder / name).mkdir()
    ok("evaluate", "qrels.json", "run.json", "-m", "RR", "--save", "results/main.json")
    ok("rescore", "results/main.json", "new.json", "--save", "again/")
    (new,) = (folder / "again").iterdir()
    assert new.name.endswith("-run.json")
    ok("rescore", "results/main.json", "new.json", "--save", "again/", "--replace")
    assert {one.name for one in (folder / "again").iterdir()} == {new.name, "main.json"}
    assert names_in(call("rescore", "results/main.json", "--replace").stderr)[0] == "--replace"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["new.json", "--ties", "random"], 3, "--ties must be another policy"),
        (["--ids", "ids.csv"], 3, "--ids needs the judgments that have the new ids"),
        (["--columns", "doc_id=x"], 2, "--columns is of judgments: give QRELS too"),
        (["new.json", "--save", "new.json"], 2, "the output 'new.json' is the input 'new.json'"),
        (["new.json", "--save", "x.csv"], 2, "name a file that ends in .json"),
        (["run.json", "-m", "RR"], 0, ""),
    ],
)
def test_what_is_refused(arguments: list[str], code: int, told: str) -> None:
    ok("evaluate", "qrels.json", "run.json", "--save", "saved.json", "-m", "RR")
    result = call("rescore", "saved.json", *arguments)
    assert result.exit_code in {code, 2} if code == 3 else result.exit_code == code, result.output
    assert told in result.stderr


def test_without_a_ranking_and_without_a_file() -> None:
    ok("evaluate", "qrels.json", "run.json", "--save", "saved.json", "--save-depth", "0", "-m", "RR")
    assert "without its ranking" in call("rescore", "saved.json", "new.json").stderr
    result = call("evaluate", "qrels.json", "run.json", "--label", "x")
    assert (result.exit_code, names_in(result.stderr)) == (2, ["--label", "--save", "--save"])
    assert call("rescore", "run.json", "new.json").exit_code == 3
