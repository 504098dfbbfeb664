"""One model, many formats."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from deadheat import measures, parse_measure
from deadheat.api import Column, Fact, Report
from deadheat.core.cli.printing import ASCII
from deadheat.core.measures.registration import trec_names
from deadheat.core.report.as_data import as_csv, as_json, as_trec, trec_name
from deadheat.core.report.as_html import fragment
from deadheat.core.report.as_latex import as_latex
from deadheat.core.report.as_markdown import as_markdown
from deadheat.core.report.cells import (
    LACKING,
    MARK,
    OF_FEW,
    Bar,
    NumberCell,
    Span,
    format_cell,
    p_value_cell,
    share_cell,
)
from deadheat.core.report.model import Row, Table
from deadheat.core.report.text import as_text, shortened
from deadheat.core.wording import BY_DOC_ID
from deadheat.errors import ColumnError
from support.report_tables import NAN, table

if TYPE_CHECKING:
    from deadheat.core.report.cells import Cell


def test_every_text_format_has_what_closes_a_report() -> None:
    report = Report((table(""),), (), closing="share: of a * b\n  deadheat --help")
    assert as_markdown(report).endswith("|\n\nshare: of a \\* b\n\ndeadheat --help")
    assert "% share: of a * b\n%   deadheat --help\n" in as_latex(report)


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
        (share_cell(0), "0%"),
        (share_cell(0.001), "<1%"),
        (share_cell(0.999), ">99%"),
        (share_cell(1), "100%"),
        ("q1", "q1"),
        (True, "yes"),
        (Span(0.48149, 0.59151), "[0.4815, 0.5915]"),
        (Span(-0.00001, 0.0), "[-1e-05, 0.0000]"),
        (Span(NAN, NAN), "-"),
        (Bar(0.0, 0.5, 1.0, 0.0, 1.0), "├─────────●─────────┤"),
        (p_value_cell(0.0), "<.0001"),
        (p_value_cell(0.00009), "<.0001"),
        (p_value_cell(0.0001), "0.0001"),
        (p_value_cell(1.0), "1.0000"),
        (p_value_cell(NAN), "-"),
        (p_value_cell(None), "-"),
        (p_value_cell(0.00001, is_significant=True), "<.0001*"),
        (p_value_cell(0.04, is_significant=True), "0.0400*"),
    ],
)
def test_cells(cell: Cell, text: str) -> None:
    assert format_cell(cell) == text


def test_digits_are_the_only_rounding() -> None:
    assert format_cell(2 / 3, 2) == "0.67"
    assert "0.123456789" in as_csv(table("a"))
    assert "0.12," in as_csv(table("a"), digits=2)
    assert json.loads(as_json(Report((table("a"),))))["scores"]["a"]["RR"]["value"] == 0.123456789


def test_small_p_values_are_words_for_people_and_numbers_for_programs() -> None:
    rows = (Row(("a < 1",), ((p_value_cell(1e-5, is_significant=True), p_value_cell(0.5), share_cell(0.001), "<.1"),)),)
    columns = tuple(Column(name, name) for name in ("p_adjusted", "p_value", "share", "word"))
    report = Report((Table("pairs", (Column("system", "system"),), columns, rows),))
    assert as_text(report).plain.splitlines()[-1].split() == ["a", "<", "1", "<.0001*", "0.5000", "<1%", "<.1"]
    assert as_text(report, digits=2).plain.splitlines()[-1].split()[3:5] == ["<.01*", "0.50"]
    assert "| a \\< 1 | \\<.0001\\* | 0.5000 | \\<1% | \\<.1 |" in as_markdown(report)
    assert r"a \textless{} 1 & $<.0001$* & 0.5000 & $<1$\% & \textless{}.1 \\" in as_latex(report)
    assert as_csv(report.tables[0]).splitlines()[1] == "a < 1,1e-05,0.5,0.001,<.1"
    held = json.loads(as_json(report))["pairs"]["a < 1"]
    assert (held["p_adjusted"], held["p_value"]) == (1e-5, 0.5)


@pytest.mark.parametrize(("name", "twice"), [("measure", "measure"), ("run", "run"), ("low", "low"), ("tie_std", "")])
def test_csv_has_no_two_columns_of_one_name(name: str, twice: str) -> None:
    columns = (Column("value", "mean"), Column("ci", "95% CI"))
    rows = (Row(("de", "RR"), ((0.5, Span(0.25, 0.75)),)),)
    made = Table("scores", (Column(name, name), Column("measure", "measure")), columns, rows, ("a",))
    if not twice:
        assert as_csv(made).startswith(f"run,measure,{name},value,low,high\n")
        return
    with pytest.raises(ColumnError, match=f"named '{twice}'"):
        as_csv(made)


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
def test_more_than_two_groups_are_rows(width: int) -> None:
    names = [f"system-{n}" for n in range(7)]
    lines = as_text(Report((table(*names),)), width=width).plain.splitlines()
    assert lines[:3] == [
        "measure  run          mean  tie std",
        "───────────────────────────────────",
        "RR       system-0   0.1235        -",
    ]
    assert lines[8:11] == [
        "         system-6   0.1235        -",
        "",
        "NumQ     system-0    1,234        -",
    ]
    assert max(map(len, lines)) <= 35


@pytest.mark.parametrize(("width", "is_side_by_side"), [(60, True), (43, True), (42, False)])
def test_two_groups_are_side_by_side_if_they_fit(width: int, *, is_side_by_side: bool) -> None:
    lines = as_text(Report((table("a", "b"),)), width=width).plain.splitlines()
    assert (lines[2] == "measure     mean  tie std     mean  tie std") is is_side_by_side
    assert max(map(len, lines)) <= width


def test_long_names_are_cut_on_screens_only() -> None:
    names = ("msmarco-passage-dev-cross-encoder-large", "b" * 30, "順" * 20)
    report = Report((table(*names),))
    text = as_text(report).plain
    assert "msmarco-pass…coder-large" in text
    assert not any(name in text for name in names)
    assert all(cell_len(name) <= 24 for name in shortened(names))
    assert all(name in as_markdown(report) and name in as_latex(report) for name in names)
    assert all(name in as_csv(report.tables[0]) and name in as_json(report) for name in names)
    assert "…" not in text.translate(ASCII)
    assert len(text.translate(ASCII)) == len(text)


def test_names_that_would_look_alike_are_cut_less() -> None:
    alike = [f"{'a' * 20}{n}{'b' * 20}" for n in range(3)]
    assert len(set(shortened(alike))) == 3


def test_a_marked_number_keeps_the_decimals_below_each_other() -> None:
    rows = (Row(("FRP",), ((NumberCell(2.0, marks=MARK),),)), Row(("RR",), ((0.5,),)))
    report = Report((Table("scores", (Column("measure", "measure"),), (Column("value", "mean"),), rows, ("a",)),))
    assert as_text(report).plain.splitlines()[-2:] == ["FRP       2.0000*", "RR        0.5000"]
    assert "| FRP | a | 2.0000\\* |" in as_markdown(report)
    assert as_csv(report.tables[0]).splitlines()[1] == "a,FRP,2.0"
    assert "FRP                   \tall\t2.0000" in as_trec(report)


def test_each_mark_has_one_meaning_and_room_in_text_and_html() -> None:
    both = NumberCell(0.25, marks=OF_FEW + LACKING)
    rows = (Row(("FRP",), ((both,),)), Row(("AP",), ((NumberCell(0.75, marks=MARK),),)), Row(("RR",), ((0.5,),)))
    report = Report((Table("scores", (Column("measure", "measure"),), (Column("value", "mean"),), rows),))
    assert as_text(report).plain.splitlines()[-3:] == [
        "FRP       0.2500°#",
        "AP        0.7500*",
        "RR        0.5000",
    ]
    assert '0.2500<span class="mark">°#</span>' in fragment(report)
    assert as_csv(report.tables[0]).splitlines()[1] == "FRP,0.25"


def test_long_headings_have_several_lines() -> None:
    columns = (Column("exact", "exact"), Column("doc_id", BY_DOC_ID))
    report = Report((Table("scores", (Column("run", "run"),), columns, (Row(("a",), ((0.5, 0.25),)),)),))
    assert as_text(report).plain.splitlines() == [
        "              by document",
        "                   id, as",
        "run    exact    trec_eval",
        "─" * 25,
        "a     0.5000       0.2500",
    ]
    assert "| run | exact | by document id, as trec\\_eval |" in as_markdown(report)


def test_commands_and_paths_are_not_broken() -> None:
    command = "  deadheat ties demo-data/Olz-gpt4o.run.gz demo-data/qrels.human.txt.gz"
    fact = Fact("", None, "a long heading", "words in demo-data/qrels-human.txt.gz")
    text = as_text(Report((), (fact,), closing=f"some words-with hyphens before\n{command}"), width=20).plain
    assert text.splitlines() == [
        "a long heading",
        "  words in",
        "  demo-data/qrels-human.txt.gz",
        "",
        "some words-with",
        "hyphens before",
        command,
    ]


def test_a_warning_stands_out() -> None:
    report = Report((), (Fact("", None, "WARNING", "a_b", is_warning=True),))
    assert "red" in str(as_text(report).spans)
    assert as_markdown(report) == "- **WARNING: a\\_b**"


def test_words_are_flush_left_in_markdown() -> None:
    rows = (Row(("key",), (("one", 1),)),)
    words = Table("words", (Column("a", "a"),), (Column("b", "b"), Column("c", "c")), rows)
    assert as_markdown(Report((words,))).splitlines()[1] == "| :-- | :-- | --: |"


def test_wide_characters_and_long_names_keep_their_columns() -> None:
    lines = as_text(Report((table("順位付け", "a-name-longer-than-both"),)), width=200).plain.splitlines()
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
    github = as_markdown(Report((table("@you a@b.de P(rel=2)@10 #12 d#3 #"),), (Fact("n", 1, "#4", "@team"),)))
    assert "@<!-- -->you a\\@b.de P(rel=2)@10 #<!-- -->12 d#<!-- -->3 #" in github
    assert github.endswith("- \\#<!-- -->4: @<!-- -->team")
    assert "run\\_1 \\& 50\\% \\textbar{} \\textless{}x\\textgreater{}" in as_latex(Report((odd,)))


# what trec_eval calls a measure without a cutoff, and with one
TREC_NAMES = {
    "NumQ": ("num_q", None),
    "NumRet": ("num_ret", None),
    "NumRel": ("num_rel", None),
    "NumRelRet": ("num_rel_ret", None),
    "AP": ("map", "map_cut_{}"),
    "Rprec": ("Rprec", None),
    "bpref": ("bpref", None),
    "RR": ("recip_rank", None),
    "P": ("set_P", "P_{}"),
    "R": ("set_recall", "recall_{}"),
    "F": ("set_F", None),
    "nDCG": ("ndcg", "ndcg_cut_{}"),
    "Hit": (None, "success_{}"),
    "NumNonrelJudgedRet": ("num_nonrel_judged_ret", None),
    "IPrec": (None, "iprec_at_recall_{}"),
    "AP11": ("11pt_avg", None),
    "binG": ("binG", None),
    "RnDCG": ("Rndcg", None),
    "nDCGRel": ("ndcg_rel", None),
    "infAP": ("infAP", None),
    "G": ("G", None),
    "GMAP": ("gm_map", None),
    "GMbpref": ("gm_bpref", None),
    "yaap": ("yaap", None),
    "SetAP": ("set_map", None),
    "Utility": ("utility", None),
    "RelP": ("set_relative_P", "relative_P_{}"),
    "RprecMult": (None, "Rprec_mult_{}"),
    "Hole": (None, "unj_{}"),
}


@pytest.mark.parametrize("name", list(measures()))
def test_trec_names_are_read_back_as_the_same_measure(name: str) -> None:
    plain, cut = TREC_NAMES.get(name, (None, None))
    assert trec_names(measures()[name]) == [template for template in (plain, cut) if template]
    measure = measures()[name]()
    if measure.at != "cutoff":
        return  # its names have a number of two decimals, which tests/whole/test_trec_eval_measures.py reads back
    assert trec_name(name) == (plain or str(measure))
    if plain:
        assert str(parse_measure(plain)) == name
    if cut:
        assert str(parse_measure(cut.format(7))) == f"{name}@7"
        assert trec_name(f"{name}@7") == cut.format(7)


@pytest.mark.plugins("more_measures")
def test_levels_of_recall_that_trec_eval_would_round_keep_their_notation() -> None:
    assert [trec_name(f"IPrec@{level}") for level in (0.12, 0.121, 1)] == [
        "iprec_at_recall_0.12",
        "IPrec@0.121",
        "iprec_at_recall_1.00",
    ]


def test_trec_names_of_pytrec_eval() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    known = set(pytrec_eval.supported_measures)
    named = {template.format(5) for measure in measures().values() for template in trec_names(measure)}
    assert {name.removesuffix("_5") for name in named} <= known | {"num_q", "yaap", "unj"}  # it lacks the last two


def test_trec_lines_of_a_query_without_a_value() -> None:
    per_query = Table("per_query", (Column("q", "q"), Column("m", "m")), (Column("value", "value"),), (), ("a",))
    row = Row(("q1", "FRP"), ((None,),))
    out = as_trec(Report((Table(**{**vars(per_query), "rows": (row,)}), table("a"))))
    assert "q1" not in out
