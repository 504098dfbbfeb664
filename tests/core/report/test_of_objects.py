"""Small objects in a notebook: tables with the numbers that the objects hold."""

from __future__ import annotations

import re
from typing import Any

import pytest

import deadheat as dh

QRELS = {"q": {"a": 1, "b": 0}, "r": {"a": 2}}
RUNS = {"one": {"q": {"a": 2, "b": 2}, "r": {"c": 1, "<i>": 1}}, "two": {"q": {"a": 1, "b": 2}, "r": {"a": 3}}}


def rows_of(shown: object) -> list[list[str]]:
    """Return the cells of all rows of all tables."""
    text: str = shown._repr_html_()  # type: ignore[attr-defined]
    assert "<i>" not in text
    rows = re.findall(r"<tr>(<th scope=\"row\".*?|<td class.*?)</tr>", text)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


@pytest.mark.plugins("repeats")
def test_several_evaluations_are_a_dict_and_a_table() -> None:
    found: Any = dh.evaluate(QRELS, RUNS, ["RR", "NumRel"])
    assert type(found) is dh.Evaluations
    assert issubclass(dh.Evaluations, dict)
    assert found == {**found}
    assert repr(found) == "<Evaluations of one, two: RR, NumRel; 2 queries>"
    # RR of one: q is a tie of a relevant and another document, (1 + 1/2) / 2; r has none; of two: 1/2 and 1
    assert rows_of(found)[0][:2] == ["RR", f"{(0.75 + 0) / 2:.4f}"]
    frame = found.to_polars().filter(measure="RR")
    assert frame["mean"].to_list() == pytest.approx([0.375, 0.75])
    assert frame["tie_min"].to_list() == pytest.approx([0.25, 0.75])
    assert found.to_flat()["two.rr"] == pytest.approx(0.75)
    assert "0.3750" in str(found)
    assert isinstance(dh.evaluate(QRELS, {name: dh.Repeats([run, run]) for name, run in RUNS.items()}), dh.Evaluations)


@pytest.mark.plugins("compare")
def test_scores_intervals_and_pairs_show_their_numbers() -> None:
    scores = dh.evaluate(QRELS, RUNS["one"], "RR")["RR"]
    of_all, *queries = rows_of(scores)
    assert of_all == ["RR", "0.3750", "0.1250", "0.2500", "0.5000", "2"]  # a fair coin decides q: 1 or 1/2
    assert queries == [["q", "0.7500", "0.2500", "0.5000", "1.0000"], ["r", *["0.0000"] * 4]]
    interval = scores.interval(method="t")
    ((mean, ends, *_),) = rows_of(interval)
    assert (mean, ends.strip("[]?").split(", ")) == ("0.3750", [f"{one:.4f}" for one in (interval.low, interval.high)])
    pair = dh.compare(QRELS, RUNS, ["RR"]).pairs[0]
    ((system, baseline, measure, difference, *_),) = rows_of(pair)
    assert (system, baseline, measure, difference) == ("two", "one", "RR", "0.3750")


def test_rows_without_a_value_are_counted_among_those_that_are_not_shown() -> None:
    qrels = {f"q{n:02}": {"a": int(n > 1)} for n in range(12)}
    scores = dh.evaluate(qrels, {query: ["a"] for query in qrels}, "RR", no_relevant="skip")["RR"]
    assert scores.n_queries == 10
    assert "the first 10 of 12" in scores._repr_html_()


def test_runs_and_qrels_show_their_first_rows() -> None:
    assert rows_of(dh.Run(RUNS["one"]))[:2] == [["q", "a", "2.0000"], ["q", "b", "2.0000"]]
    assert rows_of(dh.Qrels(QRELS)) == [["q", "a", "1.0000"], ["q", "b", "0.0000"], ["r", "a", "2.0000"]]
    many = dh.Run({"q": {f"d{n}": float(n) for n in range(40)}})
    assert len(rows_of(many)) == 10
    assert "the first 10 of 40" in many._repr_html_()
    assert "ties" in dh.Run(RUNS["one"])._repr_html_()
