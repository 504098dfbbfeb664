"""Saves are called by their labels, and of two of them what is said is about the later one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat.core.evaluation.documents import checksum
from support.command import call, ok

if TYPE_CHECKING:
    from pathlib import Path

IDS = [f"q{n:02}" for n in range(20)]
QRELS = {query: {"good": 1} for query in IDS}
GOOD = {query: {"good": 2, "bad": 1} for query in IDS}
BAD = {query: {"good": 1, "bad": 2} if n < 12 else GOOD[query] for n, query in enumerate(IDS)}


def save(
    path: Path, run: dict[str, dict[str, int]], label: str | None, day: int, *, name: str = "bm25", branch: str = ""
) -> Path:
    """Save an evaluation as if it had been saved on a day, perhaps with the branch as its label."""
    dh.evaluate(QRELS, dh.Run(run, name=name), "RR P@1").save(path, label=label)
    document = json.loads(path.read_text(encoding="utf-8")) | {"time": f"2026-11-{day:02}T10:00:00.000Z"}
    if branch:
        document |= {"label": branch, "label_is_branch": True}
    document["sha256"] = checksum(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "a.json", GOOD, "week 4", 4)
    save(tmp_path / "b.json", BAD, "week 5", 11)
    return tmp_path


@pytest.mark.parametrize("files", [("a.json", "b.json"), ("b.json", "a.json")])
def test_the_later_week_is_worse(folder: Path, files: tuple[str, str]) -> None:
    """Of 20 queries 12 fell from RR 1 to 0.5."""
    out = ok("compare", *files)
    assert out.startswith("week 5 is worse than week 4 by about 30 points of RR.")
    told = dict(re.split("  +", line, maxsplit=1) for line in out.split("\n\n")[1].splitlines())
    assert told["RR"] == "week 4 1.0000, week 5 0.7000"
    assert told["difference"] == "-0.3000, week 5 - week 4"
    low, high = map(float, re.findall(r"^95% CI +\[(-[0-9.]+), (-[0-9.]+)\]", out, re.MULTILINE)[0])
    assert low < -0.3 < high < 0
    assert told["other measures"].startswith("week 5 is behind by P@1")
    assert str(dh.compare_evaluations([folder / file for file in files]).verdict).startswith("week 5 is worse")


def test_the_later_week_is_better(folder: Path) -> None:
    save(folder / "c.json", GOOD, "week 6", 18)
    out = ok("compare", "b.json", "c.json")
    assert out.startswith("week 6 beats week 5 by ")
    told = dict(re.split("  +", line, maxsplit=1) for line in out.split("\n\n")[1].splitlines())
    assert told["RR"] == "week 5 0.7000, week 6 1.0000"
    assert told["difference"] == "+0.3000, week 6 - week 5"


@pytest.mark.usefixtures("folder")
def test_numbers_of_the_verdict_are_seen_from_the_leader() -> None:
    verdict = json.loads(ok("compare", "a.json", "b.json", "--format", "json"))["verdict"]
    assert (verdict["leader"], verdict["runner_up"]) == ("week 4", "week 5")
    assert verdict["difference"] == pytest.approx(0.3)
    assert 0 < verdict["low"] < verdict["difference"] < verdict["high"]


def test_few_queries_that_fell() -> None:
    qrels = {"q1": {"good": 1}, "q2": {"good": 1}, "q3": {"good": 1}}
    old, new = (dh.evaluate(qrels, dict.fromkeys(qrels, own), "RR") for own in (["good"], ["bad", "good"]))
    verdict = dh.compare_evaluations({"old": old, "new": new}).verdict
    assert verdict.headline.startswith("old leads new by RR")  # they are no saves


@pytest.mark.slow
def test_a_page_of_before_and_after_is_about_what_came_after(folder: Path) -> None:
    ok("report", "a.json", "b.json", "--diff", "-o", "weeks.html")
    page = (folder / "weeks.html").read_text(encoding="utf-8")
    assert re.findall("<title>(.*)</title>", page)[:1] == ["week 5 against week 4 by RR"]
    assert "week 5 is worse than week 4 by" in page
    for text in ("what fell and rose, week 5 - week 4", "RR, week 5 - week 4; 95% interval -"):
        assert text in page
    assert "week 4 over week 5" not in page


@pytest.mark.slow
def test_before_and_after_without_labels_are_files(folder: Path) -> None:
    save(folder / "before.json", GOOD, "", 4)
    save(folder / "after.json", BAD, "", 3)  # what comes after is what was said to
    ok("report", "before.json", "after.json", "--diff", "-o", "weeks.html")
    page = (folder / "weeks.html").read_text(encoding="utf-8")
    assert re.findall("<title>(.*)</title>", page)[:1] == ["after against before by RR"]
    assert "after is worse than before by" in page
    assert ok("compare", "before.json", "after.json").startswith("before beats after by ")


def test_a_gate_says_the_labels(folder: Path) -> None:
    document = json.loads(call("gate", "b.json", "--baseline", "a.json", "--format", "json").stdout)
    assert (document["name"], document["baseline"]) == ("week 5", "week 4")
    out = call("gate", "b.json", "-c", "RR > 0.9").stdout
    assert out.startswith("week 5: 1 of 1 gate failed")
    (folder / "qrels.json").write_text(json.dumps(QRELS), encoding="utf-8")
    (folder / "bm25.json").write_text(json.dumps(BAD), encoding="utf-8")
    document = json.loads(call("gate", "qrels.json", "bm25.json", "--baseline", "a.json", "--format", "json").stdout)
    assert (document["name"], document["baseline"]) == ("bm25", "week 4")
    save(folder / "no_label.json", GOOD, "", 1)
    document = json.loads(
        call("gate", "qrels.json", "bm25.json", "--baseline", "no_label.json", "--format", "json").stdout
    )
    assert document["baseline"] == "bm25 (baseline)"


@pytest.mark.parametrize("baseline", ["a.json", "a", "week 4"])
def test_a_baseline_is_a_file_or_a_label(folder: Path, baseline: str) -> None:
    save(folder / "c.json", GOOD, "week 6", 18)
    pairs = json.loads(ok("compare", "b.json", "a.json", "c.json", "--baseline", baseline, "--format", "json"))["pairs"]
    assert {system: list(baselines) for system, baselines in pairs.items()} == {
        "week 5": ["week 4"],
        "week 6": ["week 4"],
    }
    wrong = call("compare", "b.json", "a.json", "--baseline", "week")
    assert (wrong.exit_code, "'week 5', 'week 4'" in wrong.stderr) == (2, True)


@pytest.mark.slow
def test_a_branch_tells_saves_of_one_run_apart_but_not_runs(folder: Path) -> None:
    one = save(folder / "one.json", GOOD, None, 1, branch="main")
    two = save(folder / "two.json", BAD, None, 2, branch="feature")
    assert ok("compare", "one.json", "two.json").startswith("feature is worse than main")
    assert dh.compare_evaluations([one, two]).later == "feature"
    other = save(folder / "dense.json", BAD, None, 2, name="dense", branch="feature")
    assert ok("compare", "one.json", "dense.json").startswith("one beats dense by")
    assert dh.compare_evaluations([one, other]).systems == ("bm25", "dense")
    assert dh.load_evaluation(one).origin.label_is_branch  # type: ignore[union-attr]
    dh.load_evaluation(one).save(folder / "again.json")
    assert dh.load_evaluation(folder / "again.json").origin.label_is_branch  # type: ignore[union-attr]
    dh.load_evaluation(one).save(folder / "again.json", label="week 1")
    assert not dh.load_evaluation(folder / "again.json").origin.label_is_branch  # type: ignore[union-attr]


def test_equal_labels_tell_nothing_apart(folder: Path) -> None:
    save(folder / "c.json", BAD, "week 4", 18)
    assert ok("compare", "a.json", "c.json").startswith("a beats c by")


def test_names_that_a_dict_has_stay(folder: Path) -> None:
    comparison = dh.compare_evaluations({"x": folder / "a.json", "y": folder / "b.json"})
    assert (comparison.systems, comparison.later) == (("x", "y"), None)
