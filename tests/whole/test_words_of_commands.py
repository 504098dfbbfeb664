"""Messages on the command line name what the command has: its options, never arguments of Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from deadheat.core.cli.errors import error_message
from deadheat.errors import Advice, DataError, MeasureError, ParameterError
from support.command import call, command

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "cannot tell the format of these queries: name the file .csv, .tsv, .jsonl, .json, .parquet or .xlsx"
CASES = (
    "cannot tell the format of these cases: name the file .json, .jsonl, .csv, .tsv or .xlsx, or give --input-format"
    " json"
)
DOCUMENTS = (
    "cannot tell the format of these documents: name the file .csv, .tsv, .json, .jsonl, .parquet, .xlsx, .obo or .owl"
)
HEADER = "this looks like a table with a header: name the file .csv"
COMPARE = ["compare", "qrels.txt", "a.run", "b.run"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    for name in ("a.run", "b.run"):
        (tmp_path / name).write_text("q1 Q0 d1 1 0.5 t\n")
    (tmp_path / "queries").write_text("query_id,language\nq1,en\n")
    (tmp_path / "table").write_text("query_id,doc_id,score\nq1,d1,0.5\n")
    (tmp_path / "object").write_text('{"q1": {"d1": 0.5}}\n')
    (tmp_path / "cases.csv").write_text("text,expected_ids,category\nred apple,d1,\n")
    (tmp_path / "documents.csv").write_text("doc_id,text\nd1,a red apple\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "qrels.txt", "a.run", "--queries", "queries"], f"queries: {TABLE}"),
        ([*COMPARE, "--queries", "queries"], f"queries: {TABLE}"),
        (["evaluate", "qrels.txt", "table"], f"{HEADER}, or give --input-format run=csv"),
        (["ties", "table"], f"{HEADER}, or give --input-format run=csv"),
        (["evaluate", "object", "a.run"], "name the file .json or .jsonl, or give --input-format qrels=json"),
        (["convert", "table", "out.json", "--kind", "run"], f"{HEADER}, or give --from csv"),
        (
            ["convert", "object", "out.json", "--kind", "run"],
            "this looks like JSON: name the file .json or .jsonl, or give --from json",
        ),
        (["bench", "queries", "--collection", "documents.csv"], f"queries: {CASES}"),
        (["bench", "cases.csv", "--collection", "queries"], DOCUMENTS),
        (
            [*COMPARE, "--test", "tukey", "--alternative", "less"],
            "--alternative must be 'two-sided' with --test tukey, got 'less'",
        ),
        ([*COMPARE, "--no-relevant", "none"], "'zero', 'skip', 'one', 'correct_if_empty', got 'none'"),
        ([*COMPARE, "--score-precision", "x"], "or a number of decimals from 0 to 15, got 'x'"),
        ([*COMPARE, "-m", "MR(missing='capped')"], "MR: missing='capped' needs a cutoff"),  # a notation is Python
        (
            ["bench", "cases.csv", "--collection", "documents.csv", "--cluster", "category"],
            "cases: --cluster must be a label that every case has, got 'category'; 1 of 1 case have none, such as",
        ),
        (
            ["bench", "cases.csv", "--collection", "documents.csv", "--cluster", "id"],
            "--cluster must be one of 'expected_ids', 'text', 'difficulty', 'category', 'domain', got 'id'",
        ),
    ],
)
def test_messages_are_in_the_words_of_the_command(arguments: list[str], message: str) -> None:
    result = call(*arguments)
    told = " ".join(result.stderr.split())
    assert result.exit_code in {2, 3}
    assert message in told
    assert "format=" not in told
    assert (f"{message}, or" in told) is False


def test_validate_says_it_in_its_findings() -> None:
    found = " ".join(call("validate", "queries").stdout.split())
    assert re.sub("[^a-z]+", " ", CASES) in re.sub("[^a-z]+", " ", found)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["evaluate", "qrels.txt", "missing is.run"], "Error: missing is.run: no such file"),
        (["evaluate", "qrels.txt", "ties.run"], "got 5: \"q1 Q0 ties='best' 1 2.5\""),
        (["compare", "qrels.txt", "test='t'.run", "a.run"], "Error: test='t'.run:1: "),
        ([*COMPARE, "--baseline", "missing='x'"], "got \"missing='x'\""),
        (["gate", "qrels.txt", "a.run", "-c", "MR(missing='capped')@10 < x"], "\"MR(missing='capped')@10 < x\""),
    ],
)
def test_names_and_data_are_no_arguments(folder: Path, arguments: list[str], told: str) -> None:
    for name in ("ties.run", "test='t'.run"):
        (folder / name).write_text("q1 Q0 ties='best' 1 2.5\n")
    assert told in " ".join(call(*arguments).stderr.split())


def test_fields_of_cases_are_no_options(folder: Path) -> None:
    case = '{"case_id": "a", "text": "foo", "language": "klingon", "expected_ids": ["x"]}'
    (folder / "cases.json").write_text(f'{{"metadata": {{"dataset_id": "x"}}, "cases": [{case}]}}')
    told = call("validate", "cases.json").stdout
    assert "language is 'klingon'" in told
    assert "--language" not in told


COMPARES, CONVERTS = command("compare"), command("convert")


@pytest.mark.parametrize(
    ("error", "python", "command"),
    [
        (
            ParameterError(argument="no_relevant", given="x", allowed=("zero", "skip")),
            "no_relevant must be one of 'zero', 'skip', got 'x'",
            "--no-relevant must be one of 'zero', 'skip', got 'x'",
        ),
        (
            ParameterError(argument="test", given="sign", allowed=("t", "wilcoxon"), beside={"cluster": None}),
            "test must be one of 't', 'wilcoxon' with cluster, got 'sign'",
            "--test must be one of 't', 'wilcoxon' with --cluster, got 'sign'",
        ),
        (
            ParameterError(argument="alternative", given="less", allowed="'two-sided'", beside={"test": "tukey"}),
            "alternative must be 'two-sided' with test='tukey', got 'less'",
            "--alternative must be 'two-sided' with --test tukey, got 'less'",
        ),
        (
            ParameterError(argument="baseline", given="a", allowed=("b", "c"), python="or None"),
            "baseline must be one of 'b', 'c', got 'a'; or None",
            "--baseline must be one of 'b', 'c', got 'a'",
        ),
        (
            ParameterError("is a column", argument="cluster", given="user", hint=Advice("queries", "q.csv")),
            "cluster is a column, got 'user'; give queries='q.csv'",
            "--cluster is a column, got 'user'; give --queries q.csv",
        ),
        (
            DataError("too much", hint=Advice("max_memory", when="if it is meant so, "), path="a.run", line=3),
            "a.run:3: too much: if it is meant so, give max_memory",
            "a.run:3: too much: if it is meant so, give --max-memory",
        ),
        (MeasureError(measure="MR", argument="missing", allowed="x"), *["MR: missing must be x"] * 2),  # is Python
        (
            ParameterError("test='t', baseline must be a text"),
            *["test='t', baseline must be a text"] * 2,
        ),  # a file's words
    ],
)
def test_the_same_error_in_the_words_of_python_and_of_a_command(error: DataError, python: str, command: str) -> None:
    assert str(error) == python
    assert error_message(error, COMPARES) == command


def test_a_format_is_an_option_of_some_commands() -> None:
    error = DataError("which format?", hint=Advice("format", "csv", ".csv or .tsv", of="run"), path="a")
    assert str(error) == "a: which format?: name the file .csv or .tsv, or pass format='csv'"
    assert error_message(error, CONVERTS) == "a: which format?: name the file .csv or .tsv, or give --from csv"
    told = "which format?: name the file .csv or .tsv, or give --input-format run=csv"
    assert error_message(error, COMPARES, has_place=False) == told
    told = "which format?: name the file .csv or .tsv"  # --input-format of bench is of cases
    assert error_message(error, command("bench"), has_place=False) == told
    error = DataError("which format?", hint=Advice("format", "csv", ".csv or .tsv"), path="a")
    assert error_message(error, COMPARES, has_place=False) == told  # it may be any of its files
    error = DataError("which format?", hint=Advice("format", "csv", ".csv", of="qrels and runs"), path="/dev/stdin")
    told = "which format?: save it in a file that ends in .csv, or give --input-format csv"
    assert error_message(error, COMPARES, has_place=False) == told
