"""deadheat ties, measures, convert and demo."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from deadheat import measures
from deadheat.data.tables import Qrels, Run
from support.command import QRELS, call, ok
from support.shared_data import llm_qrels, llm_run, needs_shared_data

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("folder")


def test_ties_of_a_run() -> None:
    lines = ok("ties", "bm25.run", "--at", "1,2").splitlines()
    assert lines[0] == "bm25: 4 queries, 6 documents"
    assert "queries with ties  1 of 4 (25%)" in lines
    assert "documents in ties  2 of 6 (33%), in 1 tie" in lines
    assert "     1         1    25%" in lines
    assert "     2         0     0%" in lines


def test_ties_with_qrels_say_what_they_decide() -> None:
    out = ok("ties", "bm25.run", "qrels.txt", "-m", "RR")
    assert "RR        0.3125   0.0625   0.2500   0.3750  0.1250        1    25%" in out
    assert "RR       q1      0.7500   0.2500   0.5000   1.0000" in out


def test_ties_as_json() -> None:
    document = json.loads(ok("ties", "bm25.run", "qrels.txt", "-m", "RR P@1", "--at", "1", "--format", "json"))
    assert document["n_tied"] == 2
    assert document["cutoffs"]["1"] == {"n_queries": 1, "share": 0.25}
    assert document["levels"][0] == {"score": 1.0, "n_documents": 2}
    assert document["measures"]["RR"]["share_of_queries"] == 0.25
    assert set(document["worst_queries"]) == {"RR", "P@1"}


@needs_shared_data
def test_ties_of_an_llm_fit_a_screen() -> None:
    out = ok("ties", llm_run("Olz-gpt4o"), llm_qrels())
    assert "4 levels in the whole run" in out
    assert "3 (387), 2 (504), 1" in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_catalogue_is_the_registry() -> None:
    out = ok("measures")
    assert [name for name in measures() if f"\n{name} " not in out] == []
    document = json.loads(ok("measures", "--format", "json"))
    assert list(document["measures"]) == list(measures())
    assert document["parameters"]["P"]["rel"]["default"] == 1
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("name", list(measures()))
def test_every_measure_has_a_page(name: str) -> None:
    out = ok("measures", name)
    assert out.startswith(f"{name}: {measures()[name].title}")
    assert not {"\\", "``", ":math:"} & {part for part in ("\\", "``", ":math:") if part in out}
    assert max(map(len, out.splitlines())) <= 80


def test_a_page_is_found_by_any_name() -> None:
    assert ok("measures", "ndcg_cut_10").startswith("nDCG: normalised")
    assert ok("measures", "MAP").startswith("AP: average precision (asked for as MAP)")


def test_a_page_says_how_to_read_values() -> None:
    out = " ".join(ok("measures", "RR").split())
    assert "harmonic mean" in out
    assert "target RR > 0.80" in out


@pytest.mark.parametrize(("use", "measure"), [("top1", "RR"), ("top3", "P@3"), ("k=10", "nDCG@10"), ("10", "nDCG@10")])
def test_advice(use: str, measure: str) -> None:
    assert f"-m {measure}" in ok("measures", "--for", use)


def test_advice_without_a_use_lists_all() -> None:
    out = ok("measures", "--for")
    assert all(f"\n{use} " in out for use in ("voice", "ads", "mobile", "fact", "snippet", "autocomplete", "k=20"))


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.jsonl", "out.parquet", "out.run.gz", "out.jsonl.zst"])
def test_convert_there_and_back(name: str) -> None:
    assert call("convert", "bm25.run", name).exit_code == 0
    assert call("convert", name, "back.run", "--tag", "mine").exit_code == 0
    assert Run("back.run").to_dict() == Run("bm25.run").to_dict()


def test_convert_tells_qrels_from_runs(folder: Path) -> None:
    (folder / "judgments").write_text(QRELS)
    result = call("convert", "judgments", "out.parquet")
    assert "5 rows of qrels as parquet" in result.stderr
    assert call("convert", "out.parquet", "again.jsonl").exit_code == 0
    assert Qrels("again.jsonl").to_dict() == Qrels("judgments").to_dict()


def test_convert_of_json_needs_to_know(folder: Path) -> None:
    (folder / "labels.json").write_text('{"q1": {"a": 1}}')
    assert call("convert", "labels.json", "out.txt").exit_code == 2
    assert call("convert", "labels.json", "out.txt", "--kind", "qrels").exit_code == 0
    assert (folder / "out.txt").read_text() == "q1 0 a 1\n"


def test_convert_replaces_only_on_demand(folder: Path) -> None:
    (folder / "out.csv").write_text("old")
    assert call("convert", "bm25.run", "out.csv").exit_code == 2
    assert (folder / "out.csv").read_text() == "old"
    assert call("convert", "bm25.run", "out.csv", "--force").exit_code == 0
    assert (folder / "out.csv").read_text() != "old"


def test_convert_of_neither_names_the_line(folder: Path) -> None:
    (folder / "bad.run").write_text("q1 Q0 a 1 0.5 t\nq1 Q0 b 0.5 t\n")
    result = call("convert", "bad.run", "out.csv")
    assert result.exit_code == 3
    assert "bad.run:2: " in result.stderr


def test_demo_fits_a_screen_and_shows_that_the_winner_changes() -> None:
    out = ok("demo")
    lines = out.splitlines()
    assert len(lines) < 24  # with the line to type the next command on
    assert max(map(len, lines)) <= 80
    assert "NIST assessors" in out
    document = json.loads(ok("demo", "--format", "json"))
    assert len(set(document["best_system"].values())) > 1
    for by_rule in document["scores"]["nDCG@10"].values():
        assert by_rule["worst"] <= min(by_rule["doc_id"], by_rule["input"], by_rule["expected"])
        assert by_rule["best"] >= max(by_rule["doc_id"], by_rule["input"], by_rule["expected"])


def test_what_the_demo_says_next_works(folder: Path) -> None:
    commands = [line.split()[1:] for line in ok("demo").splitlines() if line.startswith("  deadheat ")]
    assert [command[0] for command in commands] == ["demo", "ties"]
    for command in commands:
        assert call(*command).exit_code == 0
    assert (folder / "demo-data" / "SOURCE.md").is_file()


def test_the_demo_names_a_program_that_a_shell_finds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", [".venv/bin/deadheat"])
    monkeypatch.setenv("PATH", str(folder))
    assert "\n  .venv/bin/deadheat demo --copy demo-data\n" in ok("demo")
    (folder / "deadheat").touch(0o755)
    assert "\n  deadheat demo --copy demo-data\n" in ok("demo")


def test_options_that_nothing_uses_are_refused() -> None:
    for arguments in (["measures", "nDCG", "--digits", "2"], ["demo", "--force"], ["demo", "--copy", "x", "-o", "y"]):
        assert call(*arguments).exit_code == 2
    assert "default 3, in json all there are" in " ".join(ok("demo", "--help").split())
    assert "default 4, in json and csv all there are" in " ".join(ok("evaluate", "--help").split())


def test_advice_as_json_holds_lists_and_targets() -> None:
    held = json.loads(ok("measures", "--for", "top1", "--format", "json"))
    assert (held["measures"], held["targets"]) == (["RR", "Hit@1"], {"RR": 0.8})
    assert "target    RR > 0.80" in ok("measures", "--for", "top1")
    uses = json.loads(ok("measures", "--for", "--format", "json"))["uses"]
    assert uses["top1"]["measures"] == ["RR", "Hit@1"]
    catalogue = json.loads(ok("measures", "--format", "json"))["measures"]
    assert catalogue["RR"]["aliases"] == list(measures()["RR"].aliases)


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize(
    "arguments",
    [
        ["ties", "demo-data/Olz-gpt4o.run.gz", "demo-data/qrels.human.txt.gz", "-m", "trec"],
        ["ties", "demo-data/Olz-gpt4o.run.gz", "demo-data/qrels.human.txt.gz"],
        ["evaluate", "demo-data/qrels.human.txt.gz", "demo-data/Olz-gpt4o.run.gz", "bm25.run", "--per-query"],
        ["measures"],
        ["measures", "--for"],
        ["demo"],
    ],
)
def test_tables_fit_a_screen(width: int, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("demo", "--copy", "demo-data").exit_code == 0
    monkeypatch.setenv("COLUMNS", str(width))
    lines = ok(*arguments).splitlines()
    assert [line for line in lines if len(line) > width and not line.startswith("  deadheat ")] == []
    monkeypatch.setenv("COLUMNS", "200")
    if any("not shown at this width" in line for line in lines):
        assert "not shown" not in ok(*arguments)
