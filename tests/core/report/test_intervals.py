"""Intervals in reports: spans, bars, and the columns that a narrow screen can spare."""

from __future__ import annotations

import json

import pytest

from deadheat.api import Column, Report
from deadheat.core.cli.printing import ASCII
from deadheat.core.report.as_data import as_csv, as_json
from deadheat.core.report.as_latex import as_latex
from deadheat.core.report.as_markdown import as_markdown, in_sections
from deadheat.core.report.cells import MARK, Bar, NumberCell, Span, bars, draw, plain
from deadheat.core.report.model import Row, Table
from deadheat.core.report.text import as_text
from support.report_tables import NAN, table


def with_intervals(*groups: str) -> Table:
    """Return a table with every kind of column."""
    columns = (
        Column("value", "mean"),
        Column("interval", "95% CI"),
        Column("bar", "", spare=9),
        Column("is_small", "small", is_data=True),
        Column("tie_min", "tie min", spare=1),
    )
    drawn = bars([Span(0.25, 0.75), Span(NAN, NAN)], [0.5, 1.0])
    rows = (
        Row(("de", "RR"), tuple((0.5, Span(0.25, 0.75), drawn[0], False, 0.125) for _ in groups)),
        Row(("en", "RR"), tuple((NumberCell(1.0, marks=MARK), Span(NAN, NAN), drawn[1], True, None) for _ in groups)),
    )
    return Table("scores", (Column("lang", "lang"), Column("measure", "measure")), columns, rows, groups)


def test_a_span_is_two_numbers_in_data() -> None:
    report = Report((with_intervals("a"),))
    assert json.loads(as_json(report))["scores"]["a"] == {
        "de": {"RR": {"value": 0.5, "low": 0.25, "high": 0.75, "is_small": False, "tie_min": 0.125}},
        "en": {"RR": {"value": 1.0, "low": None, "high": None, "is_small": True, "tie_min": None}},
    }
    assert as_csv(report.tables[0]).splitlines() == [
        "run,measure,lang,value,low,high,is_small,tie_min",
        "a,RR,de,0.5,0.25,0.75,false,0.125",
        "a,RR,en,1.0,,,true,",
    ]
    assert as_csv(Table("t", (), (Column("d", "d", ends=("from", "to")),), (Row((), ((Span(1.0, 2.0),),)),))) == (
        "from,to\n1.0,2.0"
    )
    for cell in (Span(0.0, 1.0), Bar(0.0, 0.5, 1.0, 0.0, 1.0)):
        with pytest.raises(TypeError, match=f"leaves no {type(cell).__name__}"):
            plain(cell)


def test_people_read_a_span_as_one_text_and_no_data() -> None:
    report = Report((with_intervals("a"),))
    assert as_markdown(report).splitlines() == [
        "| lang | measure | run | mean | 95% CI | tie min |",
        "| :-- | :-- | :-- | --: | --: | --: |",
        "| de | RR | a | 0.5000 | [0.2500, 0.7500] | 0.1250 |",
        "| en | RR | a | 1.0000\\* | - | - |",
    ]
    latex = as_latex(report)
    assert "\\begin{tabular}{llrrr}" in latex
    assert "lang & measure & mean & 95\\% CI & tie min \\\\" in latex
    assert "de & RR & 0.5000 & [0.2500, 0.7500] & 0.1250 \\\\" in latex
    assert "●" not in latex + as_markdown(report) + as_json(report) + as_csv(report.tables[0])


def test_words_are_flush_left_in_latex() -> None:
    rows = (Row(("RR",), ((0.5, "de"),)),)
    words = Table("t", (Column("measure", "measure"),), (Column("m", "m"), Column("lowest", "lowest")), rows)
    assert "\\begin{tabular}{lrl}" in as_latex(Report((words,)))


def test_a_screen_draws_bars_if_there_is_room() -> None:
    report = Report((with_intervals("a"),))
    wide = as_text(report, width=80).plain.splitlines()
    assert wide[2:] == [
        "lang  measure      mean            95% CI                         tie min",
        "de    RR        0.5000   [0.2500, 0.7500]  ├──────●─────┤          0.1250",
        "en    RR        1.0000*                 -                      ●        -",
    ]
    assert max(map(len, wide)) == 73
    narrower = as_text(report, width=72).plain.splitlines()
    assert narrower[3] == "de    RR        0.5000   [0.2500, 0.7500]   0.1250"
    assert "not shown" not in narrower[-1]
    narrow = as_text(report, width=49).plain.splitlines()
    assert narrow[3:] == [
        "de    RR        0.5000   [0.2500, 0.7500]",
        "en    RR        1.0000*                 -",
        "not shown at this width: tie min (-o FILE.txt has",
        "all)",
    ]
    assert as_text(report, width=10).plain.splitlines()[:5] == narrow[:5]


@pytest.mark.parametrize(
    ("width", "n_bars", "is_side_by_side"), [(200, 4, True), (87, 0, True), (86, 4, False), (None, 0, True)]
)
def test_groups_that_fit_without_bars_stay_side_by_side(
    width: int | None, n_bars: int, *, is_side_by_side: bool
) -> None:
    text = as_text(Report((with_intervals("a", "b"),)), width=width).plain
    assert text.count("●") == n_bars
    assert ("run" not in text) is is_side_by_side
    assert max(map(len, text.splitlines())) <= (120 if width is None else width)


def test_the_main_column_is_found_again() -> None:
    columns = (Column("a", "a", is_data=True), Column("b", "b"), Column("c", "c"))
    main = Table("t", (), columns, (Row((), ((1, 2, 3),)),), main=2)
    assert main.for_people().main == 1
    assert main.select([0]).main == 0
    assert main.for_data() is not None
    assert main.select([0, 1, 2]) is main


def test_blocks_stand_apart() -> None:
    rows = tuple(Row((language, measure), ((0.5,),)) for language in ("de", "en") for measure in ("RR", "AP"))
    blocks = Table("t", (Column("l", "l"), Column("m", "m")), (Column("v", "v"),), rows, ("a",), has_blocks=True)
    lines = as_text(Report((blocks,))).plain.splitlines()
    assert [line.split()[:1] for line in lines[3:]] == [["de"], ["AP"], [], ["en"], ["AP"]]


def test_bars_share_a_scale() -> None:
    drawn = bars([Span(-0.5, 0.0), Span(0.25, 0.5), Span(NAN, NAN)], [-0.25, 0.375, NAN])
    assert [(bar.start, bar.end) for bar in drawn] == [(-0.5, 0.5)] * 3
    assert [draw(bar, 9) for bar in drawn] == ["├─●─┤    ", "    ┊ ├●┤", "    ┊    "]
    assert draw(Bar(-0.5, 0.25, 0.5, -0.5, 0.5), 9) == "├───┼─●─┤"
    assert draw(Bar(0.25, 0.25, 0.25, 0.25, 0.25), 9) == "    ●    "
    assert draw(bars([Span(NAN, NAN)], [NAN])[0], 5) == "     "
    assert draw(Bar(-9.0, 0.5, 9.0, 0.0, 1.0), 5) == "├─●─┤"
    drawing = draw(Bar(-0.5, 0.25, 0.5, -0.5, 0.5), 9)
    assert drawing.translate(ASCII) == "|---+-o-|"
    assert "┊".translate(ASCII) == ":"


def test_sections_for_markdown() -> None:
    columns = (Column("n_queries", "queries"), Column("value", "mean"), Column("interval", "95% CI"))
    rows = tuple(Row((language, "RR"), ((n, 0.5, Span(0.25, 0.75)),) * 2) for n, language in enumerate(("de", "en")))
    labels = (Column("lang", "lang"), Column("measure", "measure"))
    report = Report((Table("strata", labels, columns, rows, ("a_1", "b")), table("a")))
    lines = as_markdown(in_sections(report)).splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "### a\\_1 (de)",
        "### a\\_1 (en)",
        "### b (de)",
        "### b (en)",
    ]
    assert lines[2:5] == [
        "| Metric | Value | 95% CI | queries |",
        "| :-- | --: | --: | --: |",
        "| RR | 0.5000 | [0.2500, 0.7500] | 0 |",
    ]
    assert lines[-4] == "| measure | run | mean | tie std |"  # a table without intervals
