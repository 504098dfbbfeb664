"""deadheat compare of saved evaluations: the same comparison as of the runs, but for ties by document id."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command import call, ok

QRELS = "".join(f"q{q} 0 d{d} {(q + d) % 3 == 0:d}\n" for q in range(12) for d in range(6))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    for name, step in (("one", 2), ("other", 3)):
        rows = [f"q{q} Q0 d{d} 1 {(q * step + d) % 4} t\n" for q in range(12) for d in range(6)]
        (tmp_path / f"{name}.run").write_text("".join(rows))
        ok("evaluate", "qrels.txt", f"{name}.run", "-m", "nDCG@5 RR", "--save", f"{name}.json")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_saved_evaluations_are_compared_as_their_runs() -> None:
    of_runs = json.loads(ok("compare", "qrels.txt", "one.run", "other.run", "-m", "nDCG@5 RR", "--format", "json"))
    of_saved = json.loads(ok("compare", "one.json", "other.json", "--format", "json"))
    of_runs, of_saved = (one["pairs"]["other"]["one"] for one in (of_runs, of_saved))
    assert list(of_runs) == list(of_saved) == ["nDCG@5", "RR"]
    unknown = {"doc_id_mean", "doc_id_baseline_mean", "doc_id_difference", "doc_id_reverses"}
    for measure, found in of_runs.items():
        for key in found.keys() - unknown:
            assert found[key] == of_saved[measure][key], key
    assert ok("compare", "one.json", "other.json", "--baseline", "one.json", "-o", "x.csv") == ""


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["one.json", "other.run"], "one.json is a saved evaluation, and other.run is none"),
        (["one.json", "other.json", "-m", "RR"], "-m is for QRELS RUN RUN...: one.json is already evaluated"),
        (["one.json", "other.json", "--ties", "best"], "--ties is for QRELS RUN RUN...: one.json is already evaluated"),
        (["one.json", "other.json", "--missing", "skip"], "--missing is for QRELS RUN RUN..."),
    ],
)
def test_what_saved_evaluations_cannot_take(arguments: list[str], message: str) -> None:
    result = call("compare", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
