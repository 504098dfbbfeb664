"""Files of charts: whole or not at all, the same bytes each time, and names in them as text."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import altair as alt
import polars as pl
import pytest

import deadheat as dh
from deadheat import figures
from deadheat.errors import DataError, ParameterError
from deadheat.plugins.figures.registration import REGISTRY, figures_of
from deadheat.plugins.figures.saving import FORMATS
from support.figure_data import EVIL, TIES, rows_of
from support.random_runs import QRELS, RUNS

BEGINS = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "html": b"<!DOCTYPE html>", "json": b"{"}


@pytest.fixture(scope="module")
def chart() -> alt.LayerChart:
    return figures.forest(dh.evaluate(QRELS, RUNS, "RR"), options={"n_resamples": 99})


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_a_file_is_of_the_kind_that_its_name_says(chart: alt.LayerChart, form: str, tmp_path: Path) -> None:
    figures.save(chart, tmp_path / f"x.{form}")
    figures.save(chart, str(tmp_path / f"X.{form.upper()}"))
    content = (tmp_path / f"x.{form}").read_bytes()
    assert content.startswith(BEGINS[form])
    if form != "pdf":  # in which fonts have names that are drawn
        assert content == (tmp_path / f"X.{form.upper()}").read_bytes()
    assert sorted(path.suffix.lower() for path in tmp_path.iterdir()) == [f".{form}"] * 2  # nothing is left beside them


def test_the_json_is_the_chart(chart: alt.LayerChart, tmp_path: Path) -> None:
    figures.save(chart, tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8")) == chart.to_dict()


@pytest.mark.slow
def test_a_page_asks_for_nothing_from_a_network(chart: alt.LayerChart) -> None:
    page = figures.rendered(chart, "html").decode()
    elements = re.sub(r"(<script[^>]*>).*?(</script>)", r"\1\2", page, flags=re.DOTALL)
    assert not re.findall(r"\s(?:src|href|xlink:href)=\"(?!#)|url\((?!#)|@import", elements)
    assert page.count("<script") == page.count("</script>") == 2
    assert "<svg" in page.partition("<script")[0]  # and without scripts there is a picture


@pytest.mark.slow
@pytest.mark.parametrize("title", ["A < B", ["A <", "B"], alt.TitleParams("A < B"), alt.TitleParams(["A <", "B"])])
def test_any_chart_of_altair_is_saved_with_its_title(title: Any) -> None:  # noqa: ANN401 - as Altair takes it
    chart = alt.Chart(pl.DataFrame({"x": [1]}), title=title).mark_point().encode(x="x:Q")
    assert b"<title>A &lt; B</title>" in figures.rendered(chart, "html")
    assert b"<title>deadheat</title>" in figures.rendered(chart, "html", has_title=False)


def test_a_name_that_says_no_format_is_refused(chart: alt.LayerChart, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"\.svg, \.png, \.pdf, \.html, \.json"):
        figures.save(chart, tmp_path / "x.gif")
    with pytest.raises(DataError, match="no such folder"):
        figures.save(chart, tmp_path / "no" / "x.svg")
    assert list(tmp_path.iterdir()) == []


def every_chart() -> dict[str, bytes]:
    compared = dh.compare(QRELS, RUNS, ["RR", "nDCG@3"], n_resamples=99)
    drawn = [*figures.drawings(compared, ["RR"]), *figures.drawings(TIES, ["RR"])]
    return {one.name: figures.rendered(one.chart, "svg") for one in drawn if one.chart is not None}


@pytest.mark.slow
def test_the_same_data_give_the_same_bytes() -> None:
    one, other = every_chart(), every_chart()
    assert len(one) >= 12
    assert one == other


@pytest.mark.parametrize("kind", ["comparison", "ties", "systems", "strata"])
def test_each_kind_of_object_has_figures(kind: str) -> None:
    assert figures_of(kind)
    assert {name for name, one in REGISTRY.items() if kind in one.of} == set(figures_of(kind))


def evil_data() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]:
    qrels = {query: {"a": 1, "b": 0} for query in EVIL}
    runs = {
        name: {query: {"a": float((n + m) % 3), "b": 1.0} for m, query in enumerate(EVIL)}
        for n, name in enumerate(EVIL)
    }
    return qrels, runs


def texts(svg: bytes) -> str:
    """Return all that an SVG shows as text, and check that it has nothing that runs."""
    root = ET.fromstring(svg)  # noqa: S314 - it is our own; parsed, it is well formed
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {
        "svg",
        "rect",
        "g",
        "path",
        "text",
        "tspan",
        "defs",
        "clipPath",
        "line",
        "linearGradient",
        "stop",
        "circle",
        "title",
    }
    assert not any(name.startswith("on") for element in root.iter() for name in element.attrib)
    return "\n".join("".join(element.itertext()) for element in root.iter() if element.tag.endswith("text"))


@pytest.mark.slow
def test_names_and_ids_are_text_in_every_figure() -> None:
    qrels, runs = evil_data()
    compared = dh.compare(qrels, runs, ["RR", "nDCG@3"], n_resamples=99)
    ties = TIES.with_columns(query_id=pl.Series(EVIL[: len(TIES)]), run=pl.lit(EVIL[3]))
    drawn = [*figures.drawings(compared, ["RR"]), *figures.drawings(ties, ["RR"])]
    shown = {one.figure: texts(figures.rendered(one.chart, "svg")) for one in drawn if one.chart is not None}
    assert "a<b>&amp;c" in shown["forest"]
    assert "new\\nline" in shown["forest"]
    assert "esc\\x1b[2Jape" in shown["forest"]
    assert "\\u202eright to left" in shown["forest"]
    assert "שלום" in shown["forest"]
    assert "a<b>&amp;c" in shown["differences"]
    assert not any(control in text for text in shown.values() for control in "\x1b\u202e")


@pytest.mark.slow
def test_a_name_does_not_end_the_script_of_a_page() -> None:
    qrels, runs = evil_data()
    evaluation = dh.evaluate(qrels, runs, "RR")
    page = figures.rendered(figures.forest(evaluation, options={"n_resamples": 99}), "html").decode()
    assert page.count("</script>") == 2
    assert "<script>alert" not in page


def test_names_that_look_alike_are_rows_of_their_own() -> None:
    run = {"q": {"a": 1.0}}
    chart = figures.forest({name: dh.evaluate({"q": {"a": 1}}, run, "RR") for name in ("a\n", "a\\n")})
    assert len({row["label"] for row in rows_of(chart)}) == 2


@pytest.mark.slow
def test_a_figure_of_a_paper_has_no_title_and_the_width_of_a_column(chart: alt.LayerChart, tmp_path: Path) -> None:
    plain, column = tmp_path / "plain.svg", tmp_path / "column.svg"
    figures.save(chart, plain)
    figures.save(chart, column, has_title=False, width=8.4)
    before, after = (ET.parse(path).getroot() for path in (plain, column))  # noqa: S314 - written above
    (first, *_) = chart.to_dict()["title"]["text"]
    assert first[:20] in plain.read_text()
    assert first[:20] not in column.read_text()
    assert float(after.attrib["width"]) == pytest.approx(8.4 / 2.54 * 96, rel=1e-5)
    box = [float(number) for number in after.attrib["viewBox"].split()]
    assert float(after.attrib["width"]) / box[2] == pytest.approx(float(after.attrib["height"]) / box[3], rel=1e-4)
    assert float(before.attrib["width"]) != float(after.attrib["width"])
    figures.save(chart, tmp_path / "column.pdf", width=8.4)
    found = re.search(rb"/MediaBox \[0 0 ([0-9.]+)", (tmp_path / "column.pdf").read_bytes())
    assert found is not None
    assert float(found[1]) == pytest.approx(8.4 / 2.54 * 72, rel=1e-4)  # points
    for path, width in (
        *(("column.json", 8.4), ("column.html", 8.4)),
        *(("column.svg", 0.0), ("column.svg", 101), ("column.png", math.nan)),
    ):
        with pytest.raises(ParameterError, match="width must be"):
            figures.save(chart, tmp_path / path, width=width)


def test_control_characters_of_names_leave_the_svg_well_formed() -> None:
    """Vega reads the escapes in a title, for what it says to people who do not see it."""
    qrels = {f"q{n}": {"a": 1} for n in range(4)}
    runs = {"\x08<img": dict(qrels), "b": {query: {"b": 2.0, "a": 1.0} for query in qrels}}
    found = dh.compare(qrels, runs, "RR", n_resamples=99)
    svg = figures.rendered(figures.scatter(found, "RR"), "svg").decode()
    assert ET.fromstring(svg).tag.endswith("svg")  # noqa: S314 - it is our own
    assert "\x08" not in svg
    assert r"\u0008" in svg
