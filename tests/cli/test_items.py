"""deadheat items."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from support.command import call, ok

pytestmark = pytest.mark.usefixtures("folder")


def test_items_of_a_run() -> None:
    out = ok("items", "bm25.run", "-k", "1")
    assert "coverage" in out
    assert "not given: no popularity, tail and novelty" in out


def test_items_beside_what_was_trained_on() -> None:
    document = json.loads(ok("items", "bm25.run", "qrels.txt", "--n-items", "50", "--format", "json"))
    assert (document["n_items"], document["cutoff"], document["head"]) == (50, 10, 0.2)
    assert set(document["items"]) >= {"coverage", "gini", "entropy", "average_popularity", "tail_share", "novelty"}


def test_items_as_csv() -> None:
    rows = list(csv.DictReader(io.StringIO(ok("items", "bm25.run", "qrels.txt", "--format", "csv"))))
    assert [row["number"] for row in rows][:3] == ["coverage", "gini", "entropy"]


def test_notes_are_told_once_and_held_by_json() -> None:
    Path("few.txt").write_text("u 0 d1 1\n", encoding="utf-8")
    result = call("items", "bm25.run", "few.txt", "--format", "csv")
    (note,) = result.stderr.splitlines()
    assert note.startswith("Note: data: ")
    assert note.endswith(" without popularity: it is 0")
    assert json.loads(ok("items", "bm25.run", "few.txt", "--format", "json"))["notes"] == [
        note.removeprefix("Note: data: ")
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("bm25.run", "-k", "0"), 2, "a whole number from 1 on"),
        (("bm25.run", "--n-items", "1"), 2, "is less than the"),
        (("no.run",), 3, "no such file"),
    ],
)
def test_bad_input_is_named(arguments: tuple[str, ...], code: int, message: str) -> None:
    result = call("items", *arguments)
    assert (result.exit_code, message in result.output) == (code, True), result.output
