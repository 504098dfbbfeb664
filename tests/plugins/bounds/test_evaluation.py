"""Bounds over unjudged documents in evaluations: by query and of means, saved, shown, by strata, and in comparisons."""

from __future__ import annotations

import csv
import io
import itertools
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import MeasureError, ParameterError
from support.command import call, ok

Nested = dict[str, dict[str, float]]
MEASURES = ["P@2", "R@2", "AP", "nDCG@3", "RR", "ERR", "Rprec", "bpref"]
OF_DIFFERENCES = [*MEASURES[:-1], "P", "F@2", "R@1", "nDCG(gain='exp')", "DCG@2", "RBP", "RBP(graded=True)@3"]
JOINT = {"P@2", "R@2", "nDCG@3", "P", "F@2", "R@1", "nDCG(gain='exp')", "DCG@2", "RBP", "RBP(graded=True)@3"}


def drawn(seed: int, n_systems: int = 1) -> tuple[Nested, list[Nested]]:
    """Judgments of some of seven documents, and runs with ties; a run retrieves four of them."""
    rng = random.Random(seed)
    documents, queries = [f"d{n}" for n in range(7)], ["q1", "q2"]
    qrels = {query: {one: float(rng.randrange(3)) for one in rng.sample(documents, 4)} for query in queries}
    qrels["q1"]["lost"] = 3.0
    runs = [
        {query: {one: float(rng.randrange(3)) for one in rng.sample(documents, 4)} for query in queries}
        for _ in range(n_systems)
    ]
    return qrels, runs


def labelled(qrels: Nested, runs: Sequence[Mapping[str, Iterable[str]]]) -> list[Nested]:
    """Judgments in which each query by itself has every combination of labels of what is retrieved unjudged."""
    free = {q: sorted({one for run in runs for one in run[q] if one not in own}) for q, own in qrels.items()}
    sets = {q: list(itertools.product((0.0, 1.0, 2.0, 3.0), repeat=len(own))) for q, own in free.items()}
    return [
        {
            query: own | dict(zip(free[query], sets[query][n % len(sets[query])], strict=True))
            for query, own in qrels.items()
        }
        for n in range(max(map(len, sets.values())))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["expected", "doc_id", "input"])
@pytest.mark.parametrize("seed", range(6))
def test_ends_are_those_of_all_judgments_that_can_be(seed: int, ties: str) -> None:
    """Of each query and of the mean: evaluated anew with every set of labels."""
    qrels, (run,) = drawn(seed)
    found = dh.evaluate(qrels, run, MEASURES, ties=ties, unjudged="bounds")
    others = [dh.evaluate(known, run, MEASURES[:-1], ties=ties) for known in labelled(qrels, [run])]
    for name in MEASURES[:-1]:
        values = np.array([one[name].values for one in others])
        assert found[name].unjudged_min == pytest.approx(values.min(axis=0), abs=1e-12), name
        assert found[name].unjudged_max == pytest.approx(values.max(axis=0), abs=1e-12), name
        assert found[name].mean_unjudged_min == pytest.approx(values.min(axis=0).mean())
        assert found[name].mean_unjudged_max == pytest.approx(values.max(axis=0).mean())
    assert not found["bpref"].has_unjudged_bounds
    with pytest.raises(MeasureError, match="no bounds"):
        _ = found["bpref"].unjudged_min


@pytest.mark.parametrize(("ties", "depth"), [("expected", None), ("doc_id", None), ("doc_id", 2)])
@pytest.mark.parametrize("seed", range(12))
def test_a_difference_is_bounded_over_the_labels_of_both(seed: int, ties: str, depth: int | None) -> None:
    """No labels lead beyond, and by some measures some labels lead to each end: evaluated with every set of labels.

    Elsewhere each system is bounded by itself. Only of what a depth cut off is it not known whether both retrieve it.
    """
    qrels, runs = drawn(seed, 2)
    del runs[1]["q2"]["d0" if "d0" in runs[1]["q2"] else next(iter(runs[1]["q2"]))]  # lists of several lengths
    names = OF_DIFFERENCES
    options: dict[str, Any] = {"ties": ties, "depth": depth}
    asked = [*names, "bpref"]
    found = dh.compare(qrels, {"a": runs[0], "b": runs[1]}, asked, unjudged="bounds", n_resamples=99, **options)
    bounds = {one.measure: one for one in found.unjudged_outer_bounds}
    assert list(bounds) == names
    kept = [{q: sorted(own, key=lambda one: (own[one], one))[::-1][:depth] for q, own in run.items()} for run in runs]
    known = labelled(qrels, kept)
    every = {f"{query} {n}": own[query] for n, own in enumerate(known) for query in qrels}
    values = []
    for run in runs:
        ranked = {key: run[key.split()[0]] for key in every}
        scores = dh.evaluate(every, ranked, names, **options)
        of = [np.array([key.startswith(query) for key in scores.query_ids]) for query in qrels]
        values.append({name: [scores[name].values[own] for own in of] for name in names})
    for name in names:
        sides = [one[name] for one in values]
        low, high = (
            np.mean([here(theirs) - there(own) for own, theirs in zip(*sides, strict=True)])
            for here, there in ((np.min, np.max), (np.max, np.min))
        )
        assert bounds[name].is_attained == (name in JOINT and ties == "expected")
        if depth is None and not bounds[name].is_attained:
            assert (bounds[name].low, bounds[name].high) == pytest.approx((low, high), abs=1e-12), name
        apart = [theirs - own for own, theirs in zip(*sides, strict=True)]
        least, most = (float(np.mean([end(one) for one in apart])) for end in (np.min, np.max))
        assert bounds[name].low - 1e-12 <= least <= most <= bounds[name].high + 1e-12
        assert not bounds[name].is_safe or least * most > 0
        if bounds[name].is_attained:
            assert (bounds[name].low, bounds[name].high) == pytest.approx((least, most), abs=1e-12), name
            has_sign = abs(bounds[name].difference) > 1e-12
            assert bounds[name].is_reversible == (has_sign and least < -1e-12 and most > 1e-12)
        assert not (bounds[name].is_reversible and bounds[name].is_safe)


@pytest.mark.filterwarnings("ignore:.*means depend on few queries")
@pytest.mark.parametrize("name", ["P@2", "nDCG@3", "R@2"])
def test_bounds_of_a_weighted_difference_are_over_the_queries_of_both(name: str) -> None:
    """One system lacks a query, and the others weigh 1 and 3."""
    qrels, runs = drawn(5, 2)
    qrels["q3"], runs[0]["q3"] = {"d0": 1.0}, {"d0": 1.0, "d1": 2.0}
    weights = {"q1": 1.0, "q2": 3.0, "q3": 2.0}
    found = dh.compare(
        qrels, {"a": runs[0], "b": runs[1]}, name, unjudged="bounds", missing="skip", weights=weights, n_resamples=99
    )
    (bound,) = found.unjudged_outer_bounds
    known = labelled({query: qrels[query] for query in ("q1", "q2")}, runs)
    apart: dict[str, list[float]] = {"q1": [], "q2": []}
    for judged in known:
        values = [dh.evaluate(judged | {"q3": qrels["q3"]}, run, name, missing="empty").to_dict() for run in runs]
        for query, differences in apart.items():
            differences.append(values[1][query][name] - values[0][query][name])
    assert bound.is_attained
    assert bound.low == pytest.approx((min(apart["q1"]) + 3 * min(apart["q2"])) / 4)
    assert bound.high == pytest.approx((max(apart["q1"]) + 3 * max(apart["q2"])) / 4)


def test_a_lower_top_has_narrower_bounds() -> None:
    qrels, (run,) = drawn(3)
    wide, narrow, none = (
        dh.evaluate(qrels, run, "DCG", unjudged="bounds", unjudged_max_rel=top)["DCG"] for top in (None, 1, 0)
    )
    assert wide.mean_unjudged_max > narrow.mean_unjudged_max > none.mean_unjudged_max == none.mean


def test_what_has_no_bounds_is_refused() -> None:
    qrels, (run,) = drawn(0)
    for ties in ("best", "worst"):
        with pytest.raises(ParameterError, match="ties"):
            dh.evaluate(qrels, run, "AP", unjudged="bounds", ties=ties)
    with pytest.raises(ParameterError, match=r"no_relevant must be .* (if|with) unjudged='bounds'"):
        dh.evaluate(qrels, run, "AP", unjudged="bounds", no_relevant="skip")  # labels change what is averaged
    with pytest.raises(ParameterError, match="judged_only must be False with"):
        dh.evaluate(qrels, run, "AP", unjudged="bounds", judged_only=True)
    with pytest.raises(ParameterError, match="unjudged_max_rel"):
        dh.evaluate(qrels, run, "AP", unjudged_max_rel=2)
    with pytest.raises(ParameterError, match="unjudged"):
        dh.evaluate(qrels, run, "AP", unjudged="range")
    with pytest.raises(ParameterError, match="unjudged='bounds'"):
        _ = dh.evaluate(qrels, run, "AP")["AP"].unjudged_min


def test_they_are_saved_and_selected_and_in_frames(tmp_path: Path) -> None:
    qrels, (run,) = drawn(4)
    found = dh.evaluate(qrels, run, MEASURES, unjudged="bounds")
    found.save(tmp_path / "one.json")
    loaded = dh.load_evaluation(tmp_path / "one.json")
    assert loaded.conventions == found.conventions
    for name in MEASURES[:-1]:
        assert loaded[name].unjudged_max.tolist() == found[name].unjudged_max.tolist()
        part = found.select(np.array([False, True]))[name]
        assert part.unjudged_min.tolist() == found[name].unjudged_min[1:].tolist()
    assert not loaded["bpref"].has_unjudged_bounds
    assert not found.select(np.array([False, True]))["bpref"].has_unjudged_bounds
    assert found.to_polars().columns[-2:] == ["unjudged_min", "unjudged_max"]
    assert found.to_flat()["ap.unjudged_max"] == found["AP"].mean_unjudged_max
    assert "if judged" in str(found)
    assert "over unjudged documents: bpref" in str(found)


def test_commands_show_a_second_range(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "a.run"
    qrels.write_text("q 0 a 1\nq 0 b 0\np 0 x 2\n")
    run.write_text("q Q0 u 1 3 t\nq Q0 a 2 2 t\nq Q0 b 3 1 t\np Q0 x 1 1 t\n")
    other = tmp_path / "b.run"
    other.write_text("q Q0 a 1 3 t\nq Q0 b 2 2 t\np Q0 v 1 2 t\np Q0 x 2 1 t\n")
    found = json.loads(ok("evaluate", qrels, run, "-m", "RR bpref", "--unjudged", "bounds", "--format", "json"))
    ends = {name: (row["unjudged_min"], row["unjudged_max"]) for name, row in found["scores"]["a"].items()}
    assert ends == {"RR": (0.75, 1.0), "bpref": (None, None)}
    assert "[0.7500, 1.0000]" in ok("evaluate", qrels, run, "-m", "RR", "--unjudged", "bounds")
    told = ok("compare", qrels, run, other, "-m", "RR", "--unjudged", "bounds", "--unjudged-max-rel", "1")
    assert "labels of unjudged documents could reverse" in " ".join(told.split())
    result = call("evaluate", qrels, run, "--unjudged", "bounds", "--ties", "best")
    assert result.exit_code == 2


def test_a_report_says_which_differences_labels_reverse_and_of_which_that_is_not_known() -> None:
    qrels = {f"q{n}": {"good": 1, "bad": 0} for n in range(8)}
    first = {query: {"good": 2.0, "x": 1.0} if n else {"bad": 2.0, "x": 1.0} for n, query in enumerate(qrels)}
    runs = {"a": first, "b": {query: {"bad": 2.0, "y": 3.0} for query in qrels}}
    found = dh.compare(qrels, runs, "P@2 RR R@2", unjudged="bounds", n_resamples=99)
    bounds = {bound.measure: bound for bound in found.unjudged_outer_bounds}
    assert [bound.is_reversible for bound in bounds.values()] == [True, False, True]
    assert [bound.is_open for bound in bounds.values()] == [False, True, False]
    text = " ".join(str(found).split())
    assert "could reverse 2 of 3 differences: P@2 b - a" in text
    assert "; of 1 that is not known (outer bounds): RR b - a [" in text


def test_bounds_of_queries_are_in_every_format(tmp_path: Path) -> None:
    """By hand: RR of q is 1/2, or 1 if u is relevant; P@2 of p is 1/2, with v relevant 1."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "a.run"
    qrels.write_text("q 0 a 1\np 0 x 1\n")
    run.write_text("q Q0 u 1 3 t\nq Q0 a 2 2 t\np Q0 x 1 2 t\np Q0 v 2 1 t\n")
    asked = ["evaluate", qrels, run, "-m", "RR P@2 bpref", "--unjudged", "bounds", "--per-query"]
    expected = {("q", "RR"): (0.5, 1), ("q", "P@2"): (0.5, 1), ("p", "RR"): (1, 1), ("p", "P@2"): (0.5, 1)}
    document = json.loads(ok(*asked, "--format", "json"))["per_query"]["a"]
    for (query, name), ends in expected.items():
        one = document[query][name]
        assert (one["unjudged_min"], one["unjudged_max"]) == ends
    assert document["q"]["bpref"]["unjudged_max"] is None
    rows = list(csv.DictReader(io.StringIO(ok(*asked, "--format", "csv"))))
    found = {(row["query_id"], row["measure"]): (row["unjudged_min"], row["unjudged_max"]) for row in rows}
    assert {key: tuple(map(float, found[key])) for key in expected} == expected
    assert found["q", "bpref"] == ("", "")
    assert "[0.5000, 1.0000]" in ok(*asked)
    assert "unjudged_min" not in ok(*asked[:5], "--per-query", "--format", "csv")


def test_what_does_not_go_with_bounds_or_a_depth_names_its_option(tmp_path: Path) -> None:
    files = tmp_path / "qrels.txt", tmp_path / "a.run"
    files[0].write_text("q 0 a 1\nq 0 b 0\n")
    files[1].write_text("q Q0 a 1 3 t\nq Q0 b 2 3 t\n")
    for options, advice in (
        (("--unjudged-max-rel", "1"), "give --unjudged bounds"),
        (("--unjudged", "bounds", "-J"), "--judged-only must be False with --unjudged bounds"),
        (("-M", "1"), "give --ties doc_id"),
    ):
        result = call("evaluate", *files, "-m", "RR", *options)
        assert (result.exit_code, advice in result.output) == (2, True), result.output
