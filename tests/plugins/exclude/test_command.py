"""--exclude: what commands print has the numbers of files from which the documents were deleted by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import deadheat as dh
from deadheat.errors import ParameterError
from support.command import call, ok
from support.error_parts import raises_parts

QRELS = """\
a 0 b 1
a 0 c 2
b 0 b 0
b 0 a 1
c 0 a 0
c 0 d 1
"""
RUN = """\
a Q0 a 1 3.0 x
a Q0 b 2 2.0 x
a Q0 c 3 2.0 x
b Q0 b 1 3.0 x
b Q0 a 2 2.0 x
c Q0 c 1 2.0 x
c Q0 d 2 1.0 x
"""
OTHER = """\
a Q0 c 1 3.0 x
a Q0 b 2 2.0 x
b Q0 d 1 2.0 x
b Q0 a 2 2.0 x
c Q0 d 1 1.0 x
c Q0 c 2 1.0 x
"""
PAIRS = {("a", "c"), ("b", "b"), ("c", "x")}
SELF = {("a", "a"), ("b", "b"), ("c", "c")}
NAMES = ("q.qrels", "r.run", "o.run")


def without(text: str, pairs: set[tuple[str, str]]) -> str:
    """Return the lines of a file that are not of the pairs."""
    lines = [line for line in text.splitlines() if (line.split()[0], line.split()[2]) not in pairs]
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the files, and to the folders `pairs` and `self` those that remain."""
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text("query_id,doc_id\na,c\nb,b\nc,x\n", encoding="utf-8")
    for folder, of_qrels, of_runs in ((".", set(), set()), ("pairs", PAIRS, PAIRS), ("self", set(), SELF)):
        Path(folder).mkdir(exist_ok=True)
        for name, text in zip(NAMES, (QRELS, RUN, OTHER), strict=True):
            pairs = of_qrels if name == "q.qrels" else of_runs
            Path(folder, name).write_text(without(text, pairs), encoding="utf-8")


def numbers_of(output: str) -> object:
    """Return a JSON report without what names files, notes and conventions."""
    told = json.loads(output)

    def keep(value: object) -> object:
        if isinstance(value, dict):
            return {key: keep(own) for key, own in value.items() if key not in {"notes", "retrieving_themselves"}}
        if isinstance(value, list):
            return [keep(own) for own in value]
        return None if isinstance(value, str) and "/" in value else value

    return keep(told)


COMMANDS = {
    "evaluate": ("evaluate", "q.qrels", "r.run", "o.run", "-m", "RR nDCG@10 NumRel NumRet AP"),
    "compare": ("compare", "q.qrels", "r.run", "o.run", "-m", "RR"),
    "ties": ("ties", "r.run", "q.qrels"),
    "holes": ("holes", "q.qrels", "r.run"),
    "steps": ("steps", "q.qrels", "r.run", "-m", "AP", "--query", "a"),
    "explain": ("explain", "q.qrels", "r.run", "--reported", "RR=0.9"),
    "agree": ("agree", "r.run", "o.run"),
    "judges": ("judges", "q.qrels", "r.run"),
    "gate": ("gate", "q.qrels", "r.run", "--check", "RR >= 0.1"),
}


@pytest.mark.parametrize("what", ["pairs", "self"])
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_print_what_they_print_of_the_files_that_remain(
    command: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    exclude = "pairs.csv" if what == "pairs" else "self"
    found = ok(*COMMANDS[command], "--exclude", exclude, "--format", "json")
    monkeypatch.chdir(what)
    assert numbers_of(found) == numbers_of(ok(*COMMANDS[command], "--format", "json"))


def test_the_note_is_below_the_table() -> None:
    """Retrieved are a c (relevant) and b b; c x is not there."""
    assert "2 documents excluded in 2 queries, 1 of them relevant" in ok(
        "evaluate", "q.qrels", "r.run", "--exclude", "pairs.csv"
    )


@pytest.mark.filterwarnings("ignore:.*only look alike")
def test_a_relevant_document_that_is_excluded_is_not_said_to_lack() -> None:
    """Of query x the document x is relevant, retrieved and excluded; y is relevant and not retrieved."""
    Path("x.qrels").write_text("x 0 x 1\nx 0 y 1\n", encoding="utf-8")
    Path("x.run").write_text("x Q0 x 1 2 t\nx Q0 z 2 1 t\n", encoding="utf-8")
    table = ok("evaluate", "x.qrels", "x.run", "-m", "RR", "--exclude", "self", "--full")
    assert "2 of 2 relevant documents are not in the run, or excluded" in " ".join(table.split())
    assert "excluded" not in ok("evaluate", "x.qrels", "x.run", "-m", "RR").partition("same id")[0]


def test_a_saved_evaluation_is_scored_again_without_the_pairs() -> None:
    ok("evaluate", "q.qrels", "r.run", "-m", "RR AP", "--exclude", "pairs.csv", "--save", "x.json")
    Path("new.qrels").write_text(QRELS.replace("a 0 b 1", "a 0 b 0"), encoding="utf-8")
    again = dh.load_evaluation("x.json").rescored("new.qrels")
    new = [
        line
        for line in Path("new.qrels").read_text(encoding="utf-8").splitlines()
        if line not in {"a 0 c 2", "b 0 b 0"}
    ]
    Path("left.qrels").write_text("\n".join(new), encoding="utf-8")
    assert again.means() == dh.evaluate("left.qrels", "pairs/r.run", ["RR", "AP"]).means()
    assert f"{again.means()['AP']:.4f}" in ok("rescore", "x.json", "new.qrels")


def test_saved_evaluations_refuse_the_option() -> None:
    ok("evaluate", "q.qrels", "r.run", "--save", "x.json")
    result = call("compare", "x.json", "x.json", "--exclude", "self")
    assert result.exit_code == 2
    assert "--exclude" in result.output


def test_a_file_that_is_not_there_is_named() -> None:
    result = call("evaluate", "q.qrels", "r.run", "--exclude", "slef")
    assert result.exit_code == 3
    assert "slef" in result.output


@pytest.mark.slow
def test_pairs_may_come_from_standard_input() -> None:
    command = [sys.executable, "-m", "deadheat", "evaluate", "q.qrels", "r.run", "-m", "RR", "--format", "json"]
    text = "".join(f"{query} 0 {doc} 1\n" for query, doc in sorted(PAIRS))
    found = subprocess.run([*command, "--exclude", "-"], input=text, capture_output=True, text=True, check=True)
    expected = subprocess.run(command, cwd="pairs", capture_output=True, text=True, check=True)
    assert numbers_of(found.stdout) == numbers_of(expected.stdout)


def test_a_leaderboard_of_runs_is_without_them() -> None:
    for folder in (".", "pairs"):
        task = Path(folder, "board", "t")
        task.mkdir(parents=True)
        for name, new in zip(NAMES, ("qrels", "r.run", "o.run"), strict=True):
            (task / new).write_bytes(Path(folder, name).read_bytes())
    found = dh.leaderboard("board", measure="RR", exclude="pairs.csv")
    expected = dh.leaderboard("pairs/board", measure="RR")
    assert found.to_polars().equals(expected.to_polars())
    assert any(note.startswith("documents excluded: 3 pairs") for note in found.notes)
    assert "documents excluded: self" in ok("leaderboard", "board", "-m", "RR", "--exclude", "self", "--full")


def test_a_leaderboard_without_runs_refuses_it() -> None:
    evaluation = dh.evaluate("q.qrels", "r.run", "RR")
    with raises_parts(ParameterError, argument="exclude"):
        dh.leaderboard({"t": {"m": evaluation}}, exclude="self")


def test_spans_refuse_the_option() -> None:
    Path("spans.csv").write_text("query_id,doc_id,start,end\na,b,0,5\n", encoding="utf-8")
    result = call("evaluate", "--spans", "spans.csv", "r.run", "--exclude", "self")
    assert result.exit_code == 2
    assert "--exclude is not for --spans" in result.output


@pytest.mark.parametrize(("exclude", "folder"), [("pairs.csv", "pairs"), ("self", "self")])
def test_an_engine_leaves_them_out_where_its_rows_are(exclude: str, folder: str) -> None:
    pytest.importorskip("duckdb")
    dh.Qrels("q.qrels").to_polars().write_parquet("q.parquet")
    dh.Run("r.run").to_polars().write_parquet("r.parquet")
    measures = ("-m", "RR NumRel NumRet", "--format", "json")
    found = ok("evaluate", "q.parquet", "r.parquet", "--engine", "duckdb", "--exclude", exclude, *measures)
    expected = ok("evaluate", f"{folder}/q.qrels", f"{folder}/r.run", *measures)
    assert [json.loads(found)[key] for key in ("scores", "n_queries")] == [
        json.loads(expected)[key] for key in ("scores", "n_queries")
    ]


def test_repeats_of_a_table_are_without_them() -> None:
    """Self is first in repeat 1, and second in repeat 2 with a relevant document before it."""
    rows = "query_id,doc_id,score,repeat\na,a,3,1\na,b,2,1\na,c,3,2\na,a,2,2\n"
    Path("x.csv").write_text(rows, encoding="utf-8")
    found = dh.evaluate({"a": {"b": 1, "c": 1}}, "x.csv", "RR", exclude="self")
    assert found.means() == {"RR": 1.0}
    printed = json.loads(ok("evaluate", "q.qrels", "x.csv", "-m", "RR", "--exclude", "self", "--format", "json"))
    assert any("excluded" in note for note in printed["notes"]["x"])


@pytest.mark.parametrize(("name", "mark"), [("bare.csv", ","), ("bare.tsv", "\t"), ("bare.txt", " ")])
def test_pairs_without_a_header_are_told_to_have_one(name: str, mark: str) -> None:
    """Options that name columns and formats are of qrels and runs: their advice did not reach this file."""
    rows = [f"{query}{mark}{doc}\n" for query, doc in sorted(PAIRS)]
    Path(name).write_text("".join(rows))
    words = ["evaluate", "q.qrels", "r.run", "-m", "RR", "--exclude"]
    refused = call(*words, name)
    assert refused.exit_code == 3
    assert "name the file .csv, and write the header query_id,doc_id" in " ".join(refused.stderr.split())
    Path("as_told.csv").write_text("query_id,doc_id\n" + "".join(rows).replace(mark, ","))
    assert ok(*words, "as_told.csv", "--format", "csv") == ok(*words, "pairs.csv", "--format", "csv")
