"""Hostile names: ids, runs and files that terminals, logs, spreadsheets and browsers would take for more than text."""

from __future__ import annotations

import csv
import io
import json
import re
from contextlib import chdir
from typing import TYPE_CHECKING

import polars as pl

from deadheat.core.io.spreadsheets import unguard_text
from deadheat.core.wording import escape_invisible
from fuzz.case import Kind
from support.command import call

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from fuzz.strict import Row

PARTS = (
    *(
        "q",
        "d1",
        "bm25",
        "0880",
        "-1.5",
        "1e5",
        "NaN",
        "ü",
        "日本",
        "\U0001f600",
        "all",
        "amean",
        "mean",
        "value",
        "query_id",
    ),
    *("constructor", "__proto__", "toString", "hasOwnProperty", "con", "nul", "aux.json", "..", ".", "-", "--", "-o"),
    *("::error::x", "::add-mask::x", "::set-output name=a::b", "##[error]x", "##[group]", "::stop-commands::x"),
    *(
        "=1+2",
        "+1",
        "-x",
        "@SUM(A1)",
        "'=1",
        "\t=1",
        "\n=1",
        "\r=1",
        " =1",
        "\uff1d1",
        "=cmd|'/C calc'!A0",
        "'",
        '"',
        '""',
    ),
    *("\x1b[31m", "\x1b]0;t\x07", "\x9b2J", "\x08", "\x7f", "\r", "\n", "\r\n", "\t", "\x0b", "\x85", "\u2028"),
    *("\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u00ad", "\u034f", "\u115f", "\u1160", "\u17b4", "\u180b"),
    *("\u2800", "\u3164", "\ufe0f", "\uffa0", "\U000e0100", "\U000e0001", "\u0301", "a\u0300" * 20, "\u00a0", "\u3000"),
    *("<script>alert(1)</script>", "<img src=x onerror=y>", "</title>", "</script>", "<!--", "-->", "]]>", "&lt;"),
    *(
        "&#x202e;",
        "{{x}}",
        "{x}",
        "%s",
        "%",
        "$x^2$",
        "\\input{x}",
        "\\end{tabular}",
        "\\\\",
        "~",
        "^",
        "_",
        "#",
        "&",
        "|",
    ),
    *(
        "a | b",
        "[x](javascript:y)",
        "![x](//y)",
        "*x*",
        "`x`",
        "https://evil.example/x",
        "www.evil.example",
        "@user",
        "#1",
    ),
    *("a@b.example", "[bold red]x[/]", "[/]", "a;b", "a,b", "a:b", "a/b", "..//", " ", "  ", "\x00", "\u2029", "@x"),
    *("x" * 300, "x" * 5_000, "a " * 3_000, "\u00fc" * 120),
)
FORMATS = ("table", "json", "csv", "markdown", "html", "latex", "trec")
FOR_PEOPLE = {"table", "markdown", "html", "latex"}
QRELS, SHEET = "qrels.parquet", "sheet.csv"


def hostile_name(rng: Random) -> str:
    """Return a name of one to three parts."""
    return "".join(rng.choice(PARTS) for _ in range(rng.choice((1, 1, 2, 3))))


def hostile_file(rng: Random) -> str:
    """Return a name that a file can have, without its ending."""
    name = re.sub(r"[/\0]", "", hostile_name(rng))
    short = name.encode(errors="ignore")[:150].decode(errors="ignore")
    return short if short.strip(".") and not short.startswith("-") else f"x{short}"


def commands_in(text: str) -> list[str]:
    """Return the lines that a build log of GitHub obeys."""
    return [line for line in text.split("\n") if line.lstrip().startswith("::") or "##[" in line]


class Names(Kind):
    """Commands on runs with hostile ids and files of hostile names: they print text, whole where it is data."""

    name = "names"

    def write(self, folder: Path, rng: Random) -> Path:
        queries = list(dict.fromkeys(hostile_name(rng) for _ in range(rng.randint(1, 3))))
        docs = list(dict.fromkeys(hostile_name(rng) for _ in range(rng.randint(2, 5))))
        rows = [(query, doc, rng.randint(0, 2)) for query in queries for doc in docs if rng.random() < 0.7]
        rows = rows or [(queries[0], docs[0], 1)]
        pl.DataFrame(rows, ["query_id", "doc_id", "relevance"], orient="row").write_parquet(folder / QRELS)
        runs = list(dict.fromkeys(hostile_file(rng) for _ in range(2)))
        for name in runs:
            scored = [(query, doc, float(rng.randint(0, 2))) for query in queries for doc in docs]
            table = pl.DataFrame(scored, ["query_id", "doc_id", "score"], orient="row")
            table.write_parquet(folder / f"{name}.parquet")
        wanted = {
            "runs": runs,
            "command": rng.choice(list(COMMANDS)),
            "format": rng.choice(FORMATS),
            "name": hostile_name(rng),
        }
        path = folder / "wanted.json"
        path.write_text(json.dumps(wanted))
        return path

    def expected(self, path: Path) -> list[Row] | None:
        del path
        return []

    def read(self, path: Path) -> list[Row]:
        """Return what is wrong, a row each."""
        folder, wanted = path.parent, json.loads(path.read_text())
        before = {one.name: one.read_bytes() for one in folder.iterdir()}
        runs = [f"{name}.parquet" for name in wanted["runs"]]
        words, form = words_of(wanted["command"], runs, wanted["format"], wanted["name"])
        with chdir(folder):
            result = call(*words)
        problems: list[Row] = []
        if result.exit_code not in {0, 1, 2, 3}:
            problems.append(("exit code", str(result.exit_code), result.stderr[-500:]))
        if result.exit_code > 1 and not result.stderr:
            problems.append(("nothing is said", str(words), ""))
        if escape_invisible(result.stderr, "\n") != result.stderr or commands_in(result.stderr):
            problems.append(("standard error is not plain", repr(result.stderr[:500]), ""))
        if len(result.stderr) > 30_000:
            problems.append(("standard error is long", str(len(result.stderr)), ""))
        problems += [
            ("an input was changed", name, "") for name, data in before.items() if (folder / name).read_bytes() != data
        ]
        if result.exit_code in {0, 1}:
            problems += checked_output(result.stdout, form)
        if wanted["command"] == "holes" and not result.exit_code:
            problems += checked_sheet(folder)
        return problems


QUICK = ["-m", "RR", "--n-resamples", "99"]
COMMANDS: dict[str, list[str]] = {  # FIRST is a run, RUNS are all, NAME is a hostile one
    "evaluate": ["evaluate", QRELS, "RUNS", "-m", "RR", "--per-query"],
    "trec": ["evaluate", QRELS, "RUNS", "-m", "RR", "--per-query", "--format", "trec"],
    "save": ["evaluate", QRELS, "RUNS", "-m", "RR", "--save", "saves/", "--label=NAME"],
    "figures": ["evaluate", QRELS, "FIRST", "-m", "RR", "--figures", "figures", "--figure-format", "json"],
    "holes": ["holes", QRELS, "RUNS", "-m", "P@20", "--judge", SHEET],
    "compare": ["compare", QRELS, "RUNS", *QUICK],
    "gate": ["gate", QRELS, "FIRST", "-c", "RR > 0.5", "--allow-unknown"],
    "report": ["report", QRELS, "RUNS", *QUICK, "--title=NAME", "-o", "-"],
    "trec_eval": ["trec_eval", "-q", QRELS, "FIRST"],
    "ties": ["ties", "FIRST", QRELS, "--per-query"],
    "agree": ["agree", "RUNS", "--per-query"],
    "items": ["items", "FIRST", QRELS],
    "diff": ["diff", QRELS, QRELS, "FIRST"],
    "explain": ["explain", QRELS, "FIRST", "--reported", "RR=0.5"],
    "no measure": ["evaluate", QRELS, "FIRST", "-m", "xNAME"],
    "no file": ["evaluate", QRELS, "xNAME"],
}
OWN_FORMATS = {"trec": "trec", "report": "html", "trec_eval": "trec"}
GATE_FORMATS = {"html": "junit", "markdown": "github", "csv": "json", "latex": "json", "trec": "json"}


def words_of(command: str, runs: list[str], form: str, name: str) -> tuple[list[str], str]:
    """Return the words of a command, and the format of what it prints."""
    short = name.replace("\0", "")[:1000]
    words: list[str] = []
    for word in COMMANDS[command]:
        if word == "RUNS":
            words += runs
        else:
            words.append(word.replace("FIRST", runs[0]).replace("NAME", short))
    if command in OWN_FORMATS:
        return words, OWN_FORMATS[command]
    if command == "gate":
        chosen = GATE_FORMATS.get(form, form)
    elif form == "trec":
        chosen = "json"
    else:
        chosen = form
    return [*words, "--format", chosen], chosen


def checked_output(text: str, form: str) -> list[Row]:
    """Return what is wrong with what a command printed."""
    problems: list[Row] = []
    if commands_in(text):
        problems.append(("a line is a command", form, repr(commands_in(text)[0][:300])))
    if form in FOR_PEOPLE and escape_invisible(text, "\n\t") != text:
        unseen = {one for one in set(text) - {"\n", "\t"} if escape_invisible(one) != one}
        problems.append(("characters that nobody sees", form, repr(unseen)))
    if form == "json":
        try:
            json.loads(text)
        except ValueError as error:
            problems.append(("no JSON", str(error), text[:300]))
    if form == "csv":
        rows = list(csv.reader(io.StringIO(text, newline="")))
        if len({len(row) for row in rows}) != 1:
            problems.append(("rows of several lengths", form, text[:300]))
        if any(
            re.match(r"\s*[=+@]|\s*-[^\d.]|[\t\r]", field)
            for row in rows
            for field in row
            if field not in {"-", "-inf"}
        ):
            problems.append(("a formula", form, text[:300]))
    return problems


def checked_sheet(folder: Path) -> list[Row]:
    """Return what is wrong with the sheet for annotators: filled in, it must give back its ids."""
    with (folder / SHEET).open(newline="", encoding="utf-8") as file:
        head, *rows = list(csv.reader(file))
    if not rows:
        return []
    ids = {(unguard_text(row[0]), unguard_text(row[1])) for row in rows}
    if any(text != text.strip() for pair in ids for text in pair):
        return []  # people's blanks are taken off
    place = head.index("relevance")
    filled = [[*row[:place], "1", *row[place + 1 :]] for row in rows]
    with (folder / "filled.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *filled])
    with chdir(folder):
        result = call("convert", QRELS, "all.parquet", "--kind", "qrels", "--add", "filled.csv", "--force")
    if result.exit_code:
        return [("a sheet is not read", str(result.exit_code), result.stderr[-500:])]
    judged = set(pl.read_parquet(folder / "all.parquet").select("query_id", "doc_id").rows())
    return [("a document is lost", repr(query), repr(doc)) for query, doc in sorted(ids - judged)]
