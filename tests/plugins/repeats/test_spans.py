"""``compare --spans --repeats``: the numbers of `compare` of `Repeats` and `Spans`."""

from __future__ import annotations

import csv
import random
from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from support.command import call

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.plugins("spans", "compare")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Spans, and three runs of chunks of each of two systems."""
    rng = random.Random(0)
    spans = [(f"q{n}", f"d{n % 3}", 10 * n, 10 * n + 10) for n in range(12)]
    rows = [f"{query},{doc},{start},{end}\n" for query, doc, start, end in spans]
    (tmp_path / "spans.csv").write_text("query_id,doc_id,start,end\n" + "".join(rows))
    for system, gain in {"good": 0.5, "bad": 0.0}.items():
        for repeat in range(3):
            rows = []
            for query, doc, start, _ in spans:
                for chunk in range(8):
                    score = rng.random() + gain * (chunk * 15 <= start < chunk * 15 + 15)
                    rows.append(f"{query},{doc},{chunk * 15},{chunk * 15 + 15},{score}\n")
            text = "query_id,doc_id,start,end,score\n" + "".join(rows)
            (tmp_path / f"{system}-{repeat}.csv").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def repeats(folder: Path) -> dict[str, dh.Repeats]:
    return {name: dh.Repeats(sorted(folder.glob(f"{name}-*.csv")), name) for name in ("good", "bad")}


PATTERNS = ("--repeats", "good=good-*.csv", "--repeats", "bad=bad-*.csv")


@pytest.mark.slow
def test_compare(folder: Path) -> None:
    result = call("compare", "--spans", "spans.csv", *PATTERNS, "-m", "R@2", "--baseline", "bad", "--format", "csv")
    assert result.exit_code == 0, result.output
    expected = dh.compare(dh.Spans(folder / "spans.csv"), repeats(folder), "R@2", baseline="bad")
    (pair,) = csv.DictReader(result.stdout.splitlines())
    for name in ("difference", "p_value", "low", "high", "rerun_probability"):
        assert float(pair[name]) == pytest.approx(getattr(expected.pairs[0], name)), name
    assert expected.pairs[0].difference > 0


def test_one_run_beside_repeats(folder: Path) -> None:
    result = call("compare", "--spans", "spans.csv", "good-0.csv", *PATTERNS[2:], "-m", "R@2", "--format", "csv")
    assert result.exit_code == 0, result.output
    runs = {"good-0": folder / "good-0.csv", "bad": repeats(folder)["bad"]}
    expected = dh.compare(dh.Spans(folder / "spans.csv"), runs, "R@2")
    (pair,) = csv.DictReader(result.stdout.splitlines())
    assert float(pair["difference"]) == pytest.approx(expected.pairs[0].difference)


def test_evaluate(folder: Path) -> None:
    result = call("evaluate", "--spans", "spans.csv", *PATTERNS[:2], "-m", "R@2", "--format", "csv")
    assert result.exit_code == 0, result.output
    value = float(result.stdout.splitlines()[1].split(",")[2])
    expected = dh.evaluate(dh.Spans(folder / "spans.csv"), repeats(folder)["good"], "R@2")
    assert value == pytest.approx(expected["R@2"].mean)


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_what_is_missing_is_named(command: str, folder: Path) -> None:  # noqa: ARG001 - where files are
    assert "Missing argument 'QRELS" in call(command).stderr
    assert "Missing argument 'RUN" in call(command, "--spans", "spans.csv").stderr


def test_a_gate_takes_no_repeats(folder: Path) -> None:  # noqa: ARG001 - as above
    result = call("gate", "--spans", "spans.csv", "good-0.csv", "-c", "R@2 > 0", *PATTERNS)
    assert result.exit_code == 2
    assert "No such option" in result.stderr
    assert "--repeats" in result.stderr
