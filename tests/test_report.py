"""One model, many formats."""

from __future__ import annotations

import csv
import io
import json
import math

import pytest
from rich.cells import cell_len

from deadheat import measures, parse_measure
from deadheat.report.as_csv import as_csv
from deadheat.report.as_json import as_json
from deadheat.report.as_latex import as_latex
from deadheat.report.as_markdown import as_markdown
from deadheat.report.as_text import as_text
from deadheat.report.as_trec import NAMES, as_trec, trec_name
from deadheat.report.docs import read_doc
from deadheat.report.formula import ascii_only, readable
from deadheat.report.model import Column, Fact, Report, Row, Share, Table
from deadheat.report.numbers import format_cell

NAN = math.nan


def table(*groups: str) -> Table:
    rows = (
        Row(("RR",), tuple((0.123456789, NAN) for _ in groups)),
        Row(("NumQ",), tuple((1234, None) for _ in groups)),
    )
    columns = (Column("value", "mean"), Column("tie_std", "tie std"))
    return Table("scores", (Column("measure", "measure"),), columns, rows, groups)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (0.0, "0.0000"),
        (-1e-17, "0.0000"),
        (0.00004, "4e-05"),
        (0.00005, "0.0001"),
        (1 / 3, "0.3333"),
        (12345.678, "12345.6780"),
        (1234567, "1,234,567"),
        (math.inf, "inf"),
        (None, "-"),
        (NAN, "-"),
        (Share(0), "0%"),
        (Share(0.001), "<1%"),
        (Share(0.999), ">99%"),
        (Share(1), "100%"),
        ("q1", "q1"),
    ],
)
def test_cells(cell: float | str | None, text: str) -> None:
    assert format_cell(cell) == text


def test_digits_are_the_only_rounding() -> None:
    assert format_cell(2 / 3, 2) == "0.67"
    assert "0.123456789" in as_csv(table("a"))
    assert "0.12," in as_csv(table("a"), digits=2)
    assert json.loads(as_json(Report((table("a"),))))["scores"]["a"]["RR"]["value"] == 0.123456789


def test_no_value_in_each_format() -> None:
    report = Report((table("a"),))
    assert json.loads(as_json(report))["scores"]["a"]["RR"]["tie_std"] is None
    assert list(csv.reader(io.StringIO(as_csv(report.tables[0]))))[1:] == [
        ["a", "RR", "0.123456789", ""],
        ["a", "NumQ", "1234", ""],
    ]
    assert "| RR | a | 0.1235 | - |" in as_markdown(report)
    assert "RR & 0.1235 & -- \\\\" in as_latex(report)


def test_text_lines_up() -> None:
    lines = as_text(Report((table("a", "b"),))).plain.splitlines()
    assert lines == [
        "          a                 b",
        "          ───────────────   ───────────────",
        "measure     mean  tie std     mean  tie std",
        "RR        0.1235        -   0.1235        -",
        "NumQ       1,234        -    1,234        -",
    ]


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_groups_are_stacked_and_never_cut(width: int) -> None:
    names = [f"system-{n}" for n in range(7)]
    lines = as_text(Report((table(*names),)), width=width).plain.splitlines()
    text = "\n".join(lines)
    assert all(text.count(name) == 1 for name in names)
    assert text.count("0.1235") == 7
    assert max(map(len, lines)) <= max(width, 25)


def test_wide_characters_and_long_names_keep_their_columns() -> None:
    lines = as_text(
        Report((table("順位付け", "a-name-that-is-longer-than-its-columns"),)), width=200
    ).plain.splitlines()
    starts = {cell_len(line[: line.rindex("0.1235")]) + 6 for line in lines if "0.1235" in line}
    assert starts == {cell_len(line[: line.rindex("1,234")]) + 5 for line in lines if "1,234" in line}


def test_words_are_wrapped_in_their_column() -> None:
    rows = (Row(("key",), (("one two three four five six seven eight nine ten",),)),)
    words = Table("words", (Column("a", "a"),), (Column("b", "b"),), rows)
    lines = as_text(Report((words,)), width=30).plain.splitlines()
    assert max(map(len, lines)) <= 30
    assert lines[2].startswith("key   one two")
    assert lines[3].startswith("      ")


def test_facts_stand_where_the_report_says() -> None:
    fact = Fact("n", 3, "number", "three")
    below = as_text(Report((table("a"),), (fact,))).plain
    above = as_text(Report((table("a"),), (fact,), facts_first=True)).plain
    assert below.endswith("number  three")
    assert above.startswith("number  three")
    assert json.loads(as_json(Report((), (fact,)))) == {"n": 3}


def test_markdown_and_latex_escape() -> None:
    odd = table("run_1 & 50% | <x>")
    assert "run\\_1 & 50% \\| \\<x>" in as_markdown(Report((odd,)))
    assert "run\\_1 \\& 50\\% \\textbar{} \\textless{}x\\textgreater{}" in as_latex(Report((odd,)))


@pytest.mark.parametrize("name", [name for name, pair in NAMES.items() for _ in filter(None, pair)])
def test_trec_names_are_read_back_as_the_same_measure(name: str) -> None:
    plain, cut = NAMES[name]
    if plain:
        assert str(parse_measure(plain)) == name
        assert trec_name(name) == plain
    if cut:
        assert str(parse_measure(cut.format(7))) == f"{name}@7"
        assert trec_name(f"{name}@7") == cut.format(7)


def test_trec_names_of_pytrec_eval() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    known = set(pytrec_eval.supported_measures)
    named = {template.format(5) for pair in NAMES.values() for template in pair if template}
    assert {name.removesuffix("_5") for name in named} <= known | {"num_q"}


def test_trec_lines_of_a_query_without_a_value() -> None:
    per_query = Table("per_query", (Column("q", "q"), Column("m", "m")), (Column("value", "value"),), (), ("a",))
    row = Row(("q1", "FRP"), ((None,),))
    out = as_trec(table("a"), Table(**{**vars(per_query), "rows": (row,)}))
    assert "q1" not in out


@pytest.mark.parametrize("name", list(measures()))
def test_formulas_of_all_measures_are_readable(name: str) -> None:
    for formula in read_doc(measures()[name]).formulas:
        assert "\\" not in formula
        assert not {"{", "}"} & set(formula)
        assert ascii_only(formula).isascii()
        assert formula.count("(") == formula.count(")")


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"P@k = C_k / k", "P@k = C_k / k"),
        (r"\frac{1}{R} \sum_{i \le k} x_i", "1/R ∑[i ≤ k] x_i"),
        (r"\sum_{i=1}^{k} \frac{1}{i}\, s(d_i)", "∑[i=1 .. k] (1/i) s(d_i)"),
        (r"\frac{a + b}{c}", "(a + b) / c"),
        (r"p^{i-1}", "p^(i-1)"),
        (r"\min(k, n)", "min(k, n)"),
    ],
)
def test_formulas(latex: str, text: str) -> None:
    assert readable(latex) == text
