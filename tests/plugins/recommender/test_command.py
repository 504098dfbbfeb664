"""deadheat items."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import deadheat as dh
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


def test_exposure_of_items_and_groups() -> None:
    groups = {doc: "ab"[n % 2] for n, doc in enumerate(sorted(dh.Run("bm25.run").to_polars()["doc_id"].unique()))}
    Path("groups.csv").write_text("item_id,producer\n" + "".join(f"{doc},{one}\n" for doc, one in groups.items()))
    document = json.loads(
        ok(
            "items",
            "bm25.run",
            "--groups",
            "groups.csv",
            "--qrels",
            "qrels.txt",
            *("--discount", "linear", "-o", "x.json"),
        )
        or Path("x.json").read_text(encoding="utf-8")
    )
    found = dh.exposure("bm25.run", "qrels.txt", groups, "linear")
    assert {name: one["mean"] for name, one in document["expected_exposure"].items()} == found.means()
    assert {name: one["amortised"] for name, one in document["expected_exposure"].items()} == found.amortised
    assert {doc: one["exposure"] for doc, one in document["exposure"].items()} == dict(
        found.to_polars().select("doc_id", "exposure").rows()
    )
    assert found.groups is not None
    assert {one: row["per_item"] for one, row in document["groups"].items()} == dict(
        found.groups.select("group", "per_item").rows()
    )
    assert document["pairs"]["a"]["b"].keys() >= {"disparity", "low", "high", "ratio", "ratio_of_target"}
    top = json.loads(ok("items", "bm25.run", "--qrels", "qrels.txt", "-k", "1", "--format", "json"))
    assert (top["cutoff"], top["exposure_cutoff"]) == (1, 1)
    assert top["expected_exposure"]["EE-D"]["mean"] == dh.exposure("bm25.run", "qrels.txt", cutoff=1).means()["EE-D"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("bm25.run", "-k", "0"), 2, "a whole number from 1 on"),
        (("bm25.run", "--n-items", "1"), 2, "--n-items must be 5 or more, the items that the run"),
        (("bm25.run", "--discount", "linear"), 2, "--discount is of exposure: give --groups or --qrels too"),
        (("bm25.run", "--groups", "no.csv"), 3, "no such file"),
        (("bm25.run", "--qrels", "qrels.txt", "--discount", "log"), 2, "discount"),
        (("no.run",), 3, "no such file"),
    ],
)
def test_bad_input_is_named(arguments: tuple[str, ...], code: int, message: str) -> None:
    result = call("items", *arguments)
    assert (result.exit_code, message in result.output) == (code, True), result.output


def test_pairs_of_groups_fit_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    docs = dh.Run("bm25.run").to_polars()["doc_id"].unique().sort().to_list()
    Path("groups.csv").write_text("item_id,producer\n" + "".join(f"{doc},{n % 2}\n" for n, doc in enumerate(docs)))
    out = ok("items", "bm25.run", "--groups", "groups.csv", "--qrels", "qrels.txt")
    assert max(map(len, out.splitlines())) <= 80
    assert "ratio of target" in out
