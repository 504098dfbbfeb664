"""deadheat convert: what a file is taken for, and that it never guesses in silence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deadheat import Qrels, Run
from deadheat.errors import DuplicateError
from support.command import QRELS, call, error_of, names_in

BEIR = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n"
AS_QRELS = "q1 0 d1 1\nq1 0 d2 0\n"
AS_RUN = "q1 Q0 d1 1 1.0 deadheat\nq1 Q0 d2 2 0.0 deadheat\n"


@pytest.fixture(autouse=True)
def folder(folder: Path) -> Path:
    (folder / "qrels").mkdir()
    for name in ("qrels/test.tsv", "test.tsv", "dense.run.tsv"):
        (folder / name).write_text(BEIR)
    (folder / "own.csv").write_text("query_id,doc_id,score\nq1,d1,1\nq1,d2,0\n")
    return folder


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        (["qrels/test.tsv", "out"], AS_QRELS),
        (["qrels/test.tsv", "out.qrels"], AS_QRELS),
        (["test.tsv", "out.qrels"], AS_QRELS),
        (["test.tsv", "out.run"], AS_RUN),
        (["test.tsv", "out", "--kind", "qrels"], AS_QRELS),
        (["qrels/test.tsv", "out.run", "--kind", "run"], AS_RUN),
        (["dense.run.tsv", "out"], AS_RUN),
        (["own.csv", "out"], AS_RUN),  # deadheat's own names say that a score is one
    ],
)
def test_names_say_what_a_file_holds(folder: Path, arguments: list[str], written: str) -> None:
    result = call("convert", *arguments)
    assert result.exit_code == 0, result.stderr
    assert (folder / arguments[1]).read_text() == written


def test_a_folder_says_it_from_inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "qrels")
    assert "2 rows of qrels as trec" in call("convert", "test.tsv", "out").stderr


@pytest.mark.parametrize("suffix", ["tsv", "parquet", "jsonl", "tsv.gz"])
def test_names_of_beir_alone_say_nothing(folder: Path, suffix: str) -> None:
    made = folder / f"made.{suffix}"
    frame = (
        Qrels("qrels/test.tsv")
        .to_polars()
        .rename({"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"})
    )
    if suffix == "parquet":
        frame.write_parquet(made)
    elif suffix == "jsonl":
        frame.write_ndjson(made)
    else:
        made.write_text(BEIR)
    result = call("convert", made.name, "out")
    assert result.exit_code == 2
    assert names_in(result.stderr) == [made.name, "--kind", "--kind"]
    assert "BEIR" in result.stderr
    assert not (folder / "out").exists()


@pytest.mark.parametrize("arguments", [["qrels/test.tsv", "out.run"], ["bm25.run", "out.qrels"]])
def test_names_that_differ_are_no_answer(folder: Path, arguments: list[str]) -> None:
    result = call("convert", *arguments)
    assert result.exit_code == 2
    assert names_in(result.stderr)[-2:] == ["--kind", "--kind"]
    assert not (folder / arguments[1]).exists()


@pytest.mark.parametrize("arguments", [["bm25.run", "out.csv"], ["qrels/test.tsv", "out.txt"]])
def test_a_tag_that_nothing_would_hold_is_refused(folder: Path, arguments: list[str]) -> None:
    result = call("convert", *arguments, "--tag", "mine")
    assert result.exit_code == 2
    assert names_in(result.stderr)[0] == "--tag"
    assert not (folder / arguments[1]).exists()


@pytest.mark.parametrize(
    ("docs", "arguments", "said"),
    [
        (["a", "b", "a"], ["--duplicates", "best"], ": 2 rows of a run as csv; 1 of 3 results repeat a document"),
        (["a#0", "b#0", "a#1"], ["--duplicates", "first", "--doc-id-of", "#"], "; 1 of 3 results repeat a document"),
        (["a", "b", "a"], ["--duplicates", "trust"], "; documents that come twice were not looked for"),
    ],
)
def test_what_became_of_documents_that_come_twice_is_told(
    folder: Path, docs: list[str], arguments: list[str], said: str
) -> None:
    rows = [f"q1 Q0 {doc} {rank} {3 - rank} t\n" for rank, doc in enumerate(docs)]
    (folder / "twice.run").write_text("".join(rows))
    result = call("convert", "twice.run", "out.csv", *arguments)
    assert result.exit_code == 0, result.stderr
    assert said in " ".join(result.stderr.split())


def test_a_repeated_document_is_named_where_it_stands(folder: Path) -> None:
    (folder / "twice.run").write_text("q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\nq1 Q0 d1 3 0 t\n")
    result = call("convert", "twice.run", "out.json")
    assert result.exit_code == 3
    error = error_of("convert", "twice.run", "out.json")
    assert isinstance(error, DuplicateError)
    assert (error.path, error.line) == (Path("twice.run"), 3)
    assert names_in(str(error.problem))[0] == "d1"
    assert not (folder / "out.json").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"query_id": "q1", "doc_id": "the-corpus-id-7", "score": 1}\n'),
        ("a.jsonl", '{"query_id": "q1", "corpus-id": "d1", "score": 1}\n'),
        ("a.csv", "x,corpus-id-note,zscore,query_id,doc_id,score\n1,2,3,q1,d1,1\n"),
    ],
)
def test_what_only_looks_like_beir_is_a_run(folder: Path, name: str, content: str) -> None:
    (folder / name).write_text(content)
    assert call("convert", name, "out.txt").exit_code == 0
    assert (folder / "out.txt").read_text().split()[1] == "Q0"


def test_a_damaged_table_is_bad_data(folder: Path) -> None:
    (folder / "bad.parquet").write_text("no Parquet")
    (folder / "bad.jsonl").write_text("{\n")
    for name in ("bad.parquet", "bad.jsonl"):
        result = call("convert", name, "out.csv")
        assert result.exit_code == 3
        assert f"{name}:" in result.stderr


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="there is no /dev/stdin here")
@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_a_stream_of_a_table_needs_its_kind(form: str) -> None:
    content = BEIR if form == "tsv" else BEIR.replace("\t", ",")

    def converted(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "deadheat", "convert", "-", "-", "--from", form, "--to", "trec", *more]
        return subprocess.run(command, input=content, capture_output=True, text=True, check=False)

    refused = converted()
    assert refused.returncode == 2
    assert f"stream of {form}" in refused.stderr
    assert "--kind" in names_in(refused.stderr)
    assert converted("--kind", "qrels").stdout == AS_QRELS


def test_one_name_that_says_two_things_is_named(folder: Path) -> None:
    (folder / "bm25.minus-qrels.run").write_text("q1 Q0 d1 1 1 t\n")
    told = " ".join(call("convert", "bm25.minus-qrels.run", "out.csv").stderr.split())
    assert "'bm25.minus-qrels.run'" in told


def test_deep_json_lines_are_bad_data(folder: Path) -> None:
    (folder / "deep.jsonl").write_text("[" * 10**5 + "]" * 10**5 + "\n")
    result = call("convert", "deep.jsonl", "x.csv")
    assert (result.exit_code, (folder / "x.csv").exists()) == (3, False)


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
