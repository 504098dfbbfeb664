"""The picture of coarser scores has the numbers of the profile, and says what it cannot draw."""

from __future__ import annotations

from pathlib import Path

import pytest

import deadheat as dh
from deadheat.errors import FigureError
from support.command import ok
from support.figure_data import rows_of

figures = pytest.importorskip("deadheat.figures", reason="figures need Altair")

QRELS = {f"q{n}": {"a": 1, "c": 1} for n in range(6)}
RUNS = {
    "good": {f"q{n}": {"a": 0.9, "b": 0.8, "c": 0.1 * n, "d": 0.05} for n in range(6)},
    "bad": {f"q{n}": {"a": 0.2, "b": 0.8, "c": 0.15, "d": 0.9} for n in range(6)},
}


@pytest.mark.slow
@pytest.mark.parametrize("names", [["good"], ["good", "bad"]])
def test_numbers_are_those_of_the_profile(names: list[str]) -> None:
    profile = dh.coarsening_profile(QRELS, {name: RUNS[name] for name in names}, ["MAP", "RR"], levels=[2, 5])
    chart = profile.plot(measure="MAP")
    drawn = [(row["run"], row["scores"], row["value"], row["tie_min"], row["tie_max"]) for row in rows_of(chart)]
    for run, scores, *numbers in drawn:
        again = dh.Run(RUNS[run]) if scores == "as given" else dh.coarsen(RUNS[run], levels=int(scores.split()[0]))
        found = dh.evaluate(QRELS, again, "AP")["AP"]
        assert numbers == pytest.approx([found.mean, found.mean_tie_min, found.mean_tie_max], abs=1e-12)
    assert [scores for _, scores, *_ in drawn] == ["2 levels", "5 levels", "as given"] * len(names)
    assert "good" in " ".join(chart.title.text)
    assert profile.plot("coarsening").to_dict() == chart.to_dict()
    if len(names) == 1:
        assert "band: range over tie orders" in " ".join(chart.title.subtitle)


@pytest.mark.parametrize("measure", ["FRP", "MR", "RR"])
def test_the_best_runs_are_drawn(measure: str) -> None:
    """The relevant document of run n is at rank n; of ranks the lowest are best."""
    runs = {
        f"r{n}": {"q": {"a": 100.5 - n} | {f"d{m}": 100.0 - m for m in range(1, 12)}} for n in (3, 8, 1, 5, 7, 2, 6)
    }
    chart = dh.coarsening_profile({"q": {"a": 1}}, runs, measure, levels=[2, 3]).plot(measure=measure)
    drawn = [row["run"] for row in rows_of(chart) if row["scores"] == "as given"]
    assert drawn == ["r1", "r2", "r3", "r5", "r6", "r7"]
    assert f"{measure} of r1 " in " ".join(chart.title.text)


def test_what_it_cannot_draw() -> None:
    profile = dh.coarsening_profile(QRELS, RUNS, "RR", levels=[2])
    with pytest.raises(FigureError, match="no values of P@5, only of RR"):
        figures.coarsening(profile, "P@5")


@pytest.mark.slow
def test_the_command_draws_it(tmp_path: Path) -> None:
    (tmp_path / "x.qrels").write_text("".join(f"{q} 0 {d} 1\n" for q, own in QRELS.items() for d in own))
    rows = (f"{q} Q0 {d} 0 {s} t\n" for q, own in RUNS["good"].items() for d, s in own.items())
    (tmp_path / "good.run").write_text("".join(rows))
    files = (tmp_path / "good.run", tmp_path / "x.qrels")
    said = ok("simulate", "--coarsen", *files, "-m", "RR", "--levels", "2", "--figures", tmp_path / "out")
    assert "coarsening-RR.svg" in " ".join(said.split())
    assert (tmp_path / "out" / "coarsening-RR.svg").read_text(encoding="utf-8").startswith("<svg")
