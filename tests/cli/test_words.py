"""Messages on the command line name what the command has: its options, never arguments of Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from deadheat.cli import main
from deadheat.cli.words import in_words, options_of
from support.command import call

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "cannot tell the format of these queries: name the file .csv, .tsv, .jsonl, .json or .parquet"
CASES = "cannot tell the format of these cases: name the file .json, .jsonl, .csv or .tsv, or give --input-format json"
DOCUMENTS = "cannot tell the format of these documents: name the file .csv, .tsv, .json, .jsonl, .parquet, .obo or .owl"
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
        (["evaluate", "qrels.txt", "table"], HEADER),
        (["ties", "table"], HEADER),
        (["convert", "table", "out.json", "--kind", "run"], f"{HEADER}, or give --from csv"),
        (["convert", "object", "out.json", "--kind", "run"], "this looks like JSON: name the file .json or .jsonl"),
        (["cases", "queries"], f"queries: {CASES}"),
        (["bench", "queries", "--collection", "documents.csv"], f"queries: {CASES}"),
        (["bench", "cases.csv", "--collection", "queries"], DOCUMENTS),
        ([*COMPARE, "--test", "tukey", "--alternative", "less"], "--test tukey is two-sided, got --alternative less"),
        ([*COMPARE, "--no-relevant", "none"], "--no-relevant must be one of 'zero', 'skip', got 'none'."),
        ([*COMPARE, "--score-precision", "x"], "or a number of decimals from 0 to 15, got 'x'"),
        ([*COMPARE, "-m", "MR(missing='capped')"], "MR: missing='capped' needs a cutoff"),  # a notation is Python
        (
            ["bench", "cases.csv", "--collection", "documents.csv", "--cluster", "category"],
            "cases: --cluster category: 1 of 1 case have no category",
        ),
        (
            ["bench", "cases.csv", "--collection", "documents.csv", "--cluster", "id"],
            "--cluster must be one of 'expected_ids', 'text', 'difficulty', 'category', 'domain', got 'id'.",
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
        (["evaluate", "qrels.txt", "missing is.run"], "Error: missing is.run: no such file."),
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
    case = '{"case_id": "a", "text": "foo", "language": "german", "expected_ids": ["x"]}'
    (folder / "cases.json").write_text(f'{{"metadata": {{"dataset_id": "x"}}, "cases": [{case}]}}')
    told = call("validate", "cases.json").stdout
    assert "language is 'german'" in told
    assert "--language" not in told


def test_data_are_quoted_as_they_are() -> None:
    options = options_of(main.commands["compare"])
    assert options["no_relevant"] == "--no-relevant"
    for message in ("a.run:1: expected 6 fields, got 'q1 Q0 test=x d1'", "ties in a.run", "baseline.run: no such file"):
        assert in_words(message, options) == message
