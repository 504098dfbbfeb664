"""Long names in figures: cut, told apart, and drawn as fast as short ones."""

from __future__ import annotations

import re

import altair as alt
import pytest

import deadheat as dh
from deadheat import figures
from deadheat.core.wording import LONGEST_LABEL
from deadheat.plugins.figures.style import finished
from support.figure_data import rows_of

LONG = [f"{'a' * 50_000}{end}" for end in ("", "b", "b" + "a" * 49, "c" + "a" * 49)]  # the last two differ inside


def texts_of(part: object) -> list[str]:
    """Return every text in a chart's specification, but for its description."""
    if isinstance(part, str):
        return [part]
    if isinstance(part, dict):
        return [text for key, inner in part.items() if key != "description" for text in texts_of(inner)]
    if isinstance(part, list):
        return [text for inner in part for text in texts_of(inner)]
    return []


@pytest.mark.slow
def test_no_text_of_a_figure_is_long() -> None:
    qrels = {f"{'q' * 50_000}{n}": {"d": 1} for n in range(9)}
    runs = {
        name: {query: {"d": 1.0, "e": float((n + m) % 3)} for n, query in enumerate(qrels)}
        for m, name in enumerate(LONG)
    }
    compared = dh.compare(qrels, runs, ["RR", "nDCG@3"], n_resamples=99)
    drawn = [one for one in figures.drawings(compared, ["RR", "nDCG@3"]) if one.chart is not None]
    assert len(drawn) > 10
    for one in drawn:
        assert one.chart is not None
        assert max(map(len, texts_of(one.chart.to_dict()))) < LONGEST_LABEL + 20, one.name
    (forest,) = (one.chart for one in drawn if one.name == "forest-RR")
    assert forest is not None
    assert len({row["label"] for row in rows_of(forest)}) == len(LONG)


def test_a_long_name_is_cut_in_rows_scales_and_titles_alike() -> None:
    rows = [{"label": name, "x": 1} for name in LONG]
    axis = alt.Y("label:N", sort=LONG, title=LONG[0], scale=alt.Scale(domain=LONG))
    spec = finished([alt.Chart().mark_point().encode(axis)], rows, height=9, title="", notes=[]).to_dict()
    shown = [row["label"] for row in spec["datasets"][spec["data"]["name"]]]
    (layer,) = spec["layer"]
    assert shown == layer["encoding"]["y"]["sort"] == layer["encoding"]["y"]["scale"]["domain"]
    assert layer["encoding"]["y"]["title"] == shown[0]
    assert len(set(shown)) == len(LONG)
    assert [re.sub("a+", "a", name) for name in shown] == ["a…a", "a…ab", "a…a (2)", "a…a (3)"]


OF_JAVASCRIPT = ("constructor", "toString", "valueOf", "hasOwnProperty", "__proto__")


@pytest.mark.slow
def test_names_that_javascript_knows_are_drawn() -> None:
    qrels = {query: dict.fromkeys(OF_JAVASCRIPT, 1) for query in OF_JAVASCRIPT}
    runs = {
        name: {query: {doc: float((n * m) % 3) for m, doc in enumerate(OF_JAVASCRIPT)} for query in qrels}
        for n, name in enumerate(OF_JAVASCRIPT)
    }
    compared = dh.compare(qrels, runs, ["RR", "nDCG@3"], n_resamples=99)
    drawn = [one.chart for one in figures.drawings(compared, ["RR", "nDCG@3"]) if one.chart is not None]
    shown = "".join(figures.rendered(chart, "svg").decode() for chart in drawn)
    assert all(f">{name}<" in shown for name in OF_JAVASCRIPT)
