"""Reports as HTML: tables that a screen reader can read, in any theme, with the numbers of all other formats."""

from __future__ import annotations

import json
import math
import re
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from deadheat.api import Column, Fact, Report
from deadheat.core.report.as_html import as_html, as_svg, escaped, fragment
from deadheat.core.report.cells import MARK, Bar, NumberCell, Span
from deadheat.core.report.model import Row, Table
from deadheat.core.report.text import as_text
from support.command import QRELS, RUN, call, ok
from support.html_pages import check_harmless, read_html
from support.report_tables import table

if TYPE_CHECKING:
    from pathlib import Path

STYLE = (files("deadheat.core.report") / "templates" / "report.css").read_text(encoding="utf-8")
COLORS = {"white": "#ffffff", "black": "#000000", "dark": "#16191d"}


def test_a_table_has_headings_of_columns_and_rows() -> None:
    (found,) = read_html(fragment(Report((table("one", "two"),)))).all("table")
    assert found.rows() == [
        ["", "one", "two"],
        ["measure", "mean", "tie std", "mean", "tie std"],
        ["RR", "0.1235", "-", "0.1235", "-"],
        ["NumQ", "1,234", "-", "1,234", "-"],
    ]
    scopes = [[cell.attributes.get("scope") for cell in row.all("th", "td")] for row in found.all("tr")]
    assert scopes == [[None, "colgroup", "colgroup"], ["col"] * 5, *[["row", *[None] * 4]] * 2]
    assert [cell.attributes.get("colspan") for cell in found.all("tr")[0].all("th", "td")] == ["1", "2", "2"]


def test_more_than_two_groups_are_rows_as_in_text() -> None:
    (found,) = read_html(fragment(Report((table("a", "b", "c"),)))).all("table")
    assert found.rows()[:3] == [["measure", "run", "mean", "tie std"], *[["RR", run, "0.1235", "-"] for run in "ab"]]
    dimmed = [cell.text for cell in found.all("th") if "again" in cell.attributes.get("class", "")]
    assert dimmed == ["RR", "RR", "NumQ", "NumQ"]


def test_blocks_words_and_marks() -> None:
    rows = (
        Row(("de", "7"), ((NumberCell(0.5, marks=MARK), "some words", 7),)),
        Row(("de", "10"), ((0.25, "others", 7),)),
        Row(("en", "7"), ((1.0, "<b>", 7),)),
    )
    labels = (Column("language", "language"), Column("cutoff", "cutoff"))
    columns = (Column("value", "mean"), Column("word", "why"), Column("secret", "data", is_data=True))
    blocks = Table("t", labels, columns, rows, has_blocks=True, title="A & B")
    (found,) = read_html(fragment(Report((blocks,)))).all("table")
    assert found.all("caption")[0].text == "A & B"
    assert [len(body.all("tr")) for body in found.all("tbody")] == [2, 1]
    assert found.rows()[1:] == [
        ["de", "7", "0.5000*", "some words"],
        ["de", "10", "0.2500", "others"],
        ["en", "7", "1.0000", "<b>"],
    ]
    aligned = [
        ["n" in cell.attributes.get("class", "").split() for cell in row.all("th", "td")] for row in found.all("tr")
    ]
    assert aligned == [[False, True, True, False]] * 4
    assert [mark.text for mark in found.all("span")] == ["*"]  # which takes no room


def test_facts_heading_and_closing() -> None:
    facts = (
        Fact("", None, "intervals", "BCa"),
        Fact("", None, "intervals", "too narrow"),
        Fact("", None, "", "goes on"),
        Fact("hidden", 1),
        Fact("", None, "WARNING", "few <queries>", is_warning=True),
    )
    report = Report((table(""),), facts, "All of it", "Try:\n  deadheat --help", facts_first=True)
    root = read_html(as_html(report))
    assert [one.text for one in root.all("title", "h1")] == ["All of it", "All of it"]
    assert [(one.name, one.text) for one in root.all("dt", "dd")] == [
        ("dt", "intervals"),
        ("dd", "BCa"),
        ("dd", "too narrow"),
        ("dd", "goes on"),
        ("dt", "WARNING"),
        ("dd", "few <queries>"),
    ]
    assert [one.text for one in root.all("dd") if one.attributes.get("class") == "warning"] == ["few <queries>"]
    assert [one.name for one in root.all("dl", "table", "p", "pre")] == ["dl", "table", "p", "pre"]
    assert root.all("pre")[0].text == "deadheat --help"
    piece = read_html(fragment(report))
    assert not piece.all("h1", "html", "body", "title", "meta")  # headings of a page around it stay its own
    assert piece.all("strong")[0].text == "All of it"


@pytest.mark.parametrize(
    ("report", "title"),
    [
        (Report(()), "deadheat"),
        (Report((table(""),)), "deadheat: scores"),
        (Report((table("a<b", "c"),)), "deadheat: scores of a<b, c"),
        (Report((Table("t", (), (), (), title="Ties"),)), "deadheat: t"),
    ],
)
def test_every_document_has_a_title(report: Report, title: str) -> None:
    root = read_html(as_html(report))
    assert [one.text for one in root.all("title", "h1")] == [title, title]
    assert root.all("html")[0].attributes == {"lang": "en"}


def test_bars_have_their_places() -> None:
    root = read_html(as_svg(Bar(-0.5, -0.25, 0.5, -0.5, 0.5)))
    (svg,) = root.all("svg")
    assert svg.attributes["aria-hidden"] == "true"
    zero, line = (path.attributes["d"] for path in svg.all("path"))
    assert zero == "M60.0 0V14"
    assert line == "M5.0 7H115.0M5.0 3V11M115.0 3V11"
    assert svg.all("circle")[0].attributes["cx"] == "32.5"
    assert not read_html(as_svg(Bar(math.nan, math.nan, math.nan, 0, 1))).all("path", "circle")
    assert read_html(as_svg(Bar(1, 1, 1, 1, 1))).all("circle")[0].attributes["cx"] == "60.0"
    columns = (Column("ci", "CI"), Column("bar", "", spare=1))
    bars = Table("t", (Column("m", "m"),), columns, (Row(("RR",), ((Span(0.0, 1.0), Bar(0, 0.5, 1, 0, 1)),)),))
    assert read_html(fragment(Report((bars,)))).all("table")[0].rows() == [
        ["m", "CI", ""],
        ["RR", "[0.0000, 1.0000]", ""],
    ]


def luminance(color: str) -> float:
    """Relative luminance by WCAG 2.2."""
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def mixed(ink: str, paper: str, opacity: float) -> str:
    parts = [(int(ink[n : n + 2], 16), int(paper[n : n + 2], 16)) for n in (1, 3, 5)]
    return "#" + "".join(f"{round(opacity * top + (1 - opacity) * below):02x}" for top, below in parts)


def test_contrast_is_enough_in_both_themes() -> None:
    text = as_html(Report((table(""),)))
    themes = re.findall(r"--paper:(#\w+);--ink:(#\w+)", text)
    assert len(themes) == 3  # light, dark, print
    for paper, ink in (
        [color if len(color) == 7 else "#" + "".join(2 * one for one in color[1:]) for color in theme]
        for theme in themes
    ):
        assert contrast(paper, ink) > 12
        for opacity in map(float, re.findall(r"opacity:([.\d]+)", STYLE)):
            assert contrast(paper, mixed(ink, paper, opacity)) > 4.5
    accents = set(re.findall(r"#[0-9a-f]{6}\b", STYLE))
    assert len(accents) == 1
    assert all(contrast(accent, color) > 3 for accent in accents for color in COLORS.values())


def test_a_piece_brings_no_colours_of_text_or_ground() -> None:
    """A notebook in a dark theme on a light desktop has its own."""
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", STYLE)
    assert rules
    for selector, rule in rules:
        assert ".deadheat" in selector or "@media" in selector
        assert all(
            value in {"none", "inherit", "#c8551b"}
            for value in re.findall(r"(?:^|;)(?:color|background):([^;]+)", rule)
        )


def test_texts_are_escaped_once() -> None:
    for text in ("<script>alert(1)</script>", "a&amp;b", "\"'><img>", "木 🎯 ü", "\u05d0\u05d1", "</style>"):
        assert read_html(f'<p title="{escaped(text)}">{escaped(text)}</p>').all("p")[0].text == text
        assert read_html(f'<p title="{escaped(text)}"></p>').all("p")[0].attributes["title"] == text
    assert escaped("a\x1b\u202e\n") == "a\\x1b\\u202e\\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "b.run").write_text(RUN.replace("0.9", "0.8"))
    ok("evaluate", "qrels.txt", "a.run", "--save", "saved.json")
    return tmp_path


COMMANDS = [
    ["evaluate", "qrels.txt", "a.run", "b.run"],
    ["evaluate", "qrels.txt", "a.run", "--per-query", "--ci"],
    ["compare", "qrels.txt", "a.run", "b.run", "-m", "RR"],
    ["ties", "a.run", "qrels.txt"],
    ["gate", "saved.json", "-c", "RR > 0.9"],
    ["measures", "nDCG"],
    ["demo"],
]


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_every_command_writes_html(arguments: list[str]) -> None:
    root = read_html(call(*arguments, "--format", "html").stdout)
    check_harmless(root)
    assert root.all("h1")[0].text


def test_a_file_that_ends_in_html_is_html(folder: Path) -> None:
    for name in ("x.html", "x.HTM"):
        assert ok("evaluate", "qrels.txt", "a.run", "-o", name) == ""
        assert (folder / name).read_text() == ok("evaluate", "qrels.txt", "a.run", "--format", "html")


@pytest.mark.usefixtures("folder")
def test_numbers_are_those_of_json() -> None:
    command = ["evaluate", "qrels.txt", "a.run", "b.run", "--sort", "given"]
    document = json.loads(ok(*command, "--format", "json"))["scores"]
    (found,) = read_html(ok(*command, "--format", "html")).all("table")
    _, _, *rows = found.rows()
    keys = ("value", "tie_std", "tie_min", "tie_max")
    for measure, *cells in rows:
        expected = [document[run][measure][key] for run in "ab" for key in keys]
        assert cells == [f"{number:.4f}" for number in expected]
    assert [row[0] for row in rows] == list(document["a"])


def test_what_text_says_html_says_too() -> None:
    facts = (Fact("", None, "queries", "5 in x"), Fact("", None, "", "more"))
    report = Report((table("a", "b"),), facts, "Heading")
    shown = read_html(fragment(report)).all("strong", "th", "td", "dt", "dd")
    assert {word for one in shown for word in one.text.split()} == set(
        as_text(report, width=200).plain.replace("─", " ").split()
    )
