"""What comes from data is shown as text: no format and no message lets it be anything else."""

from __future__ import annotations

import csv
import io
import json
import re
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import polars as pl
import pytest

from deadheat import evaluate, gate
from deadheat.api import Column, Fact, Report
from deadheat.core.io.spreadsheets import guard_text, unguard_text
from deadheat.core.report.as_data import as_csv, as_json, as_jsonl, as_trec
from deadheat.core.report.as_html import as_html, fragment
from deadheat.core.report.as_latex import as_latex
from deadheat.core.report.as_markdown import as_markdown
from deadheat.core.report.model import Row, Table
from deadheat.core.report.text import as_text
from deadheat.core.wording import escape_for_terminal, escape_invisible
from deadheat.errors import DataError, DeadheatError, DeadheatWarning, ParameterError
from deadheat.plugins.gates.formats import as_junit
from deadheat.plugins.gates.report import report_gate
from support.command import call
from support.html_pages import check_harmless, read_html

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EVIL = [
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x9b2J",
    "a\nmap\tall\t1.0",
    "a\r\nb",
    "a\u2028b\u2029c\x85d",
    "\u202egnp.exe",
    "a\u200bb\u2060c\ufeffd",
    "\x01\x08\x7f",
    "all",
    "all ",
    "::error::forged",
    "##[error]forged",
    "::error file=a.py,line=1::forged",
    "![x](http://evil.example/x.png)",
    "[x](javascript:alert(1))",
    "<script>alert(1)</script><img src=x onerror=y>",
    "<http://evil.example>",
    "https://evil.example/x www.evil.example",
    "&lt;b&gt;&#x202e;",
    "a | b | c",
    "`code` *em* __strong__ ~~s~~ $x^2$",
    "[2cm] x",
    "* x",
    "\\input{/etc/passwd} % & # $ _ { } ~ ^",
    "=cmd|'/C calc'!A0",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "'=1",
    "\t=1",
    "\n=1+1",
    " =1+1",
    "\uff1d1+1",
    "a\rb",
    "\r=1",
    "a ::error::forged",
    "::add-mask::a",
    "a\u034fb\u115f\u1160\u17b4\u180b\u2800\u3164\ufe0f\uffa0\U000e0100",
    "[bold red]rich[/bold red] [/]",
    "木 🎯 ü",
]
# what a terminal, a log or a reader could be deceived by
RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
LONG = "x" * 10**6


def commands_in(text: str) -> list[str]:
    """Return the lines that a build log of GitHub obeys."""
    return [line for line in text.splitlines() if line.lstrip().startswith("::") or "##[" in line]


def report() -> Report:
    labels = (Column("query_id", "query"), Column("measure", "measure"))
    rows = tuple(Row((text, "RR"), ((0.5, text),)) for text in EVIL)
    table = Table("t", labels, (Column("value", "mean"), Column("word", "word")), rows, ("run\x1b\n",), title=EVIL[3])
    facts = tuple(Fact(f"k{n}", text, text, text) for n, text in enumerate(EVIL))
    return Report((table,), facts, EVIL[0])


def test_a_terminal_gets_text() -> None:
    text = as_text(report(), width=400).plain
    assert not RAW.search(text)
    rows = text.split("\n\n")[1].splitlines()
    assert len(rows) == len(EVIL) + 4  # the title, the run, its line, the headings
    assert r"\x1b[31mred\x1b[0m" in text
    assert commands_in(text) == []
    assert "木 🎯 ü" in text


def test_markdown_gets_text() -> None:
    text = as_markdown(report())
    assert not RAW.search(text)
    assert len(re.findall(r"^\| ", text, re.MULTILINE)) == len(EVIL) + 2
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 6 for line in text.splitlines() if line.startswith("| "))
    without = re.sub(r"(?<=[@#])<!-- -->", "", text)  # what keeps GitHub from taking names and numbers for its own
    assert not re.search(r"(?<!\\)(?:\\\\)*[\[<`~$]", without)
    assert not re.search(r"(?<!\\)&#?\w+;", text)
    assert not re.search(r"https?://|www\.", text)
    assert not re.search(r"^- [#>+*-]", text, re.MULTILINE)


def test_latex_gets_text() -> None:
    text = as_latex(report())
    assert not RAW.search(text)
    *_, body = text.partition(r"\begin{tabular}")
    assert body.count("\\\\\n") == len(EVIL) + 3  # the title, the run, the headings
    assert "\\input" not in body
    assert not re.search(r"^[\[*]", body, re.MULTILINE)
    before = text.partition(r"\begin{tabular}")[0].splitlines()
    assert all(line.startswith(("% ", r"\par\medskip", r"{\small", r"\resizebox")) for line in before)


@pytest.mark.parametrize("write", [as_html, fragment])
def test_html_gets_text(write: Callable[[Report], str]) -> None:
    """It is what a reader of the HTML finds, whatever a browser would make of it."""
    text = write(report())
    assert not RAW.search(text)
    root = read_html(text)
    check_harmless(root)
    (table,) = root.all("table")
    assert (
        [row[0] for row in table.rows()[2:]]
        == [row[3] for row in table.rows()[2:]]
        == list(map(escape_invisible, EVIL))
    )
    assert [one.text for one in root.all("dt", "dd")] == [escape_invisible(text) for text in EVIL for _ in range(2)]
    assert root.all("h1" if write is as_html else "strong")[0].text == escape_invisible(EVIL[0])
    assert table.all("caption")[0].text == root.all("div")[-1].attributes["aria-label"] == escape_invisible(EVIL[3])


def test_csv_holds_no_formula_and_every_text() -> None:
    table = report().tables[0]
    rows = list(csv.DictReader(io.StringIO(as_csv(table), newline="")))
    for text, row in zip(EVIL, rows, strict=True):
        for shown in (row["query_id"], row["word"]):
            assert not shown.lstrip().startswith(("=", "+", "-", "@", "\uff1d"))
            assert not shown.startswith(("\t", "\r"))
            assert unguard_text(shown) == text
    assert {row["value"] for row in rows} == {"0.5"}
    assert commands_in(as_csv(table)) == []


def test_lines_of_csv_are_one_for_a_row_to_readers_that_end_one_at_a_carriage_return() -> None:
    table = report().tables[0]
    with_ends = [row.labels[0] for row in table.rows if re.search(r"[\r\n]", row.labels[0])]
    text = as_csv(table)
    for label in with_ends:
        assert f'"{guard_text(label)}"' in text


@pytest.mark.parametrize("write", [as_json, as_jsonl, as_html, as_markdown, as_latex, as_trec, as_csv])
def test_no_format_has_a_command_of_a_build_log(write: Callable[..., str]) -> None:
    *_, summary = report().tables
    names = tuple(Row(row.labels[:1], row.cells) for row in summary.rows)
    table = Table("t", summary.labels[:1], summary.columns, names)
    if write is as_csv:
        assert commands_in(as_csv(table)) == []
        return
    if write is as_trec:
        of_all = Table("s", summary.labels[1:], (Column("v", "v"),), (Row(("RR",), ((0.25,),)),), ("##[error]x",))
        per_query = Table(
            "q", summary.labels, (Column("v", "v"),), tuple(Row(r.labels, ((0.5,),)) for r in summary.rows)
        )
        assert commands_in(as_trec(Report((per_query, of_all)))) == []
        return
    made = replace(report(), tables=(table,), opening="::error::x", closing="::error::y")
    assert commands_in(write(made)) == []


@pytest.mark.slow
def test_what_is_long_is_cut_for_people_and_whole_in_data() -> None:
    table = report().tables[0]
    rows = (Row((LONG, "RR"), ((0.5, LONG),)),)
    made = replace(report(), tables=(replace(table, rows=rows),), opening=f"of {LONG}", heading="h")
    for write in (as_html, as_markdown, as_latex):
        assert len(write(made)) < 100_000
    assert len(as_text(made, width=100).plain) < 20_000
    assert LONG in as_json(made)
    assert LONG in as_csv(made.tables[0])


@pytest.mark.parametrize(
    "error",
    [
        DataError(f"document {LONG!r} is retrieved twice"),
        ParameterError(argument="x", found=LONG, allowed="a word"),
        DeadheatWarning(f"{LONG} is odd", LONG),
        DeadheatError(" ".join(["word"] * 10**6)),
    ],
)
def test_messages_cut_what_is_long(error: Exception) -> None:
    assert len(str(error)) <= 10_000
    assert "…" in str(error)


def test_trec_is_three_fields_a_line_and_one_summary() -> None:
    *_, summary = report().tables
    per_query = Table("q", summary.labels, (Column("v", "v"),), tuple(Row(r.labels, ((0.5,),)) for r in summary.rows))
    of_all = Table("s", summary.labels[1:], (Column("v", "v"),), (Row(("RR",), ((0.25,),)),), ("run\n\tx",))
    lines = as_trec(Report((per_query, of_all))).splitlines()
    assert [line.split("\t")[1:] for line in lines if line.split()[1] == "all"] == [
        ["all", r"run\n\tx"],
        ["all", "0.2500"],
    ]
    queries = [line.split() for line in lines[:-2]]
    assert len(queries) == len(EVIL)
    assert all(len(fields) == 3 for fields in queries)
    assert len({fields[1] for fields in queries}) == len(EVIL)


def test_json_is_valid_and_exact() -> None:
    text = as_json(report())
    assert not RAW.search(text)
    document = json.loads(text)
    assert [document[f"k{n}"] for n in range(len(EVIL))] == EVIL
    assert list(document["t"]["run\x1b\n"]) == EVIL
    assert json.loads(as_json(Report((), (Fact("half", "\udcff"),)))) == {"half": "\udcff"}


def test_what_can_be_seen_stays() -> None:
    for text in ("木 🎯 ü", "a b", "q_1\\x", "a\u3000b", "std::vector", "::std"):
        assert escape_invisible(text) == escape_for_terminal(text) == text


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Qrels, runs and labelled cases whose ids, names and labels are evil."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    # control characters in ids of text files are refused elsewhere; Parquet and Python may hold them
    qrels = {text: {f"d{text}": 1} for text in EVIL}
    run = {text: {f"d{text}": 1.0, f"e{text}": 1.0} for text in [*EVIL[1:], "\x1b[31munknown"]}
    for name, data, value in ((QRELS, qrels, "relevance"), (RUNS[0], run, "score"), (RUNS[1], run, "score")):
        rows = [(query, doc, number) for query, docs in data.items() for doc, number in docs.items()]
        pl.DataFrame(rows, ["query_id", "doc_id", value], orient="row").write_parquet(tmp_path / name)
    cases = [
        {
            "text": f"some {text} words",
            "expected_ids": ["X:1"],
            "language": "en",
            "category": text,
            "domain": text,
        }
        for text in EVIL
    ]
    (tmp_path / "cases\x1b.json").write_text(json.dumps(cases))
    (tmp_path / "terms.csv").write_text("id,text\nX:1,some words\nX:2,others\n")
    evaluation = evaluate(qrels, run, ["RR", "nDCG@10"])
    evaluation.save(tmp_path / "saved.json")
    return tmp_path


QRELS = "qrels.parquet"
RUNS = ["a\x1b[2J\n::error::x.parquet", "[bold]b[x].parquet"]
COMMANDS = [
    *(["evaluate", QRELS, *RUNS, "--per-query", "--format", form] for form in ("table", "json", "markdown")),
    *(["evaluate", QRELS, *RUNS, "--format", form] for form in ("trec", "latex", "html")),
    ["evaluate", QRELS, *RUNS, "--per-query", "--format", "html"],
    ["evaluate", QRELS, RUNS[0], "--format", "trec", "--per-query"],
    ["evaluate", QRELS, *RUNS, "--missing", "error"],
    ["compare", QRELS, *RUNS, "-m", "RR"],
    ["compare", QRELS, *RUNS, "-m", "RR", "--format", "markdown"],
    ["compare", QRELS, *RUNS, "-m", "RR", "--format", "html"],
    ["ties", RUNS[0], QRELS],
    ["ties", RUNS[0], QRELS, "--format", "html"],
    ["gate", "saved.json", "-c", "RR > 0.9"],
    ["gate", "saved.json", "-c", "RR > 0.9", "--format", "github"],
    *(["gate", QRELS, RUNS[0], "-c", "RR > 0.9", "--format", form] for form in ("junit", "html")),
    ["validate", "cases\x1b.json"],
    ["bench", "cases\x1b.json", "--collection", "terms.csv", "--format", "table"],
    ["bench", "cases\x1b.json", "--collection", "terms.csv", "--format", "html"],
    ["bench", "cases\x1b.json", "--collection", "terms.csv", "--format", "markdown", "--output", "bench"],
    ["validate", "no\x1b\n::error::.json"],
    ["convert", RUNS[0], "x.trec", "--kind", "run"],
    ["convert", RUNS[0], "x\x1b.csv", "--kind", "run"],
    ["convert", "cases\x1b.json", "-", "--kind", "run", "--to", "csv"],
    ["evaluate", "no\x1b\n::error::.run", RUNS[0]],
    ["evaluate", QRELS, RUNS[0], "-m", "\x1b[2J"],
    ["\x1b[2J\n::error::"],
]


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: escape_invisible(" ".join(arguments)))
def test_no_command_shows_what_a_terminal_obeys(arguments: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        result = call(*arguments)
    assert result.exit_code != 70, result.output
    for text in (result.stdout, result.stderr):
        assert not RAW.search(text)
        assert not any(line.lstrip().startswith("::error") for line in text.splitlines())
        assert "##[" not in text or {"trec", "json"} & {*arguments}  # which are data
    if arguments[0] in {"bench", "validate"} and arguments[1].startswith("cases"):
        assert result.exit_code == 0, result.output
    if "junit" in arguments:
        assert ET.fromstring(result.stdout).get("tests") == "1"  # noqa: S314 - it is ours
    if "html" in arguments:
        check_harmless(read_html(result.stdout))
    if "json" in arguments[-1:]:
        json.loads(result.stdout)


def test_junit_has_no_line_of_an_id() -> None:
    """A build on GitHub obeys a line that begins so, wherever it is printed."""
    evaluation = evaluate({"\n::error::evil": {"d": 1}, "q": {"d": 1}}, {"q": {"d": 1.0}}, ["RR"])
    result = gate(evaluation, ["RR > 0.9"])
    text = as_junit(result, report_gate(result))
    assert "::error::evil" in text
    assert not any(line.lstrip().startswith("::error") for line in text.splitlines())


@pytest.mark.usefixtures("folder")
def test_csv_is_escaped_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["evaluate", QRELS, RUNS[1], "--per-query", "--format", "csv"]
    data = call(*arguments).stdout
    assert "\x1b[31mred" in data
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True)
    shown = call(*arguments).stdout
    assert not RAW.search(shown)
    assert r"\x1b[31mred" in shown
