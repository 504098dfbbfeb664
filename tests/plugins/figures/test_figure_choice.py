"""Which figures are drawn by default, for pages and --figures alike."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import deadheat as dh
from deadheat import figures
from deadheat.core import report
from deadheat.core.data.renderable import Plottable
from deadheat.plugins.figures.choice import MOST_SHOWN, figures_to_show
from deadheat.plugins.figures.style import GAIN, LOSS, UNDECIDED
from deadheat.plugins.page.assemble import LIVE
from support.random_runs import QRELS, RUNS

TIED = {query: dict.fromkeys(scores, 1.0) for query, scores in RUNS["good"].items()}
PAGE = Path(report.__file__).parent
THEME = re.compile(r":root\{([^}]*)\}")


CLASSES = (
    *(dh.Evaluation, dh.Comparison, dh.Languages, dh.Strata, dh.TieProfile, dh.CoarseningProfile, dh.Simulation),
    *(dh.History, dh.Leaderboard, dh.JudgeAgreement, dh.TunedFusion),
)


@pytest.mark.parametrize("of", CLASSES)
def test_what_is_shown_of_a_class_are_figures_of_its_kind(of: type[Plottable]) -> None:
    assert 1 <= len(of.figures_shown) <= MOST_SHOWN
    assert set(of.figures_shown) <= set(figures.figures_of(of.figure_kind))


def test_every_class_with_figures_says_which() -> None:
    assert set(Plottable.__subclasses__()) == {*CLASSES}


def test_the_script_of_a_page_draws_each_figure_of_a_comparison() -> None:
    assert set(LIVE) == set(dh.Comparison.figures_shown)


def test_ties_are_shown_where_their_order_decides() -> None:
    apart = dh.compare(QRELS, {name: RUNS[name] for name in ("weak", "good")}, ["RR", "MR"], n_resamples=99)
    contested = dh.compare(QRELS, {"good": RUNS["good"], "tied": TIED}, ["RR", "MR"], n_resamples=99)
    for measure in ("RR", "MR"):  # of the second, less is better
        assert figures_to_show(apart, measure) == ("forest", "differences")
        assert figures_to_show(contested, measure) == ("forest", "differences", "traditional")
        assert any(pair.can_flip for pair in contested[measure])
        assert not any(pair.can_flip for pair in apart[measure])


def test_ties_of_a_single_system_are_shown_where_they_move_its_mean() -> None:
    strict = {query: {doc: float(n) for n, doc in enumerate(scores)} for query, scores in TIED.items()}
    assert figures_to_show(dh.evaluate(QRELS, TIED, "RR"), "RR") == ("forest", "traditional")
    assert figures_to_show(dh.evaluate(QRELS, strict, "RR"), "RR") == ("forest",)


def test_nothing_is_shown_of_one_query() -> None:
    query = next(iter(QRELS))
    qrels, runs = {query: QRELS[query]}, {name: {query: RUNS[name][query]} for name in RUNS}
    compared = dh.compare(qrels, runs, "RR")
    evaluation = compared.evaluations["good"]
    strata = evaluation.by("level", pl.DataFrame({"query_id": [query], "level": ["easy"]}))
    profile = dh.tie_profile(runs["good"], qrels, measures=["RR"])
    for one in (compared, evaluation, {"good": evaluation}, strata, {"good": strata}, profile):
        assert figures_to_show(one, "RR") == ()


def test_the_colours_of_gains_and_losses_are_those_of_the_page() -> None:
    page = (PAGE.parent.parent / "plugins" / "page" / "page.css").read_text(encoding="utf-8")
    document = (PAGE / "templates" / "document.css").read_text(encoding="utf-8")
    light, dark = (dict(re.findall(r"--([\w-]+):(#\w+)", own)) for own in THEME.findall(page)[:2])
    in_dark = dict(re.findall(r"--fig-(\w+):(#\w+)", document))
    for name, colour in (("gain", GAIN), ("loss", LOSS), ("undecided", UNDECIDED)):
        assert light[name] == colour.lower()
        assert dark[name] == in_dark[colour.lower().removeprefix("#")]
