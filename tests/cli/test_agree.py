"""deadheat agree."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

from support.command import call, ok

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def runs(folder: Path) -> None:
    (folder / "dense.run").write_text("q1 Q0 d2 1 5 t\nq1 Q0 d1 2 4 t\nq2 Q0 d3 1 1 t\n", encoding="utf-8")


def test_two_runs() -> None:
    out = ok("agree", "bm25.run", "dense.run")
    assert "tau_b" in out
    assert "rbo_a" in out
    assert "persistence of rbo" in out


def test_every_pair_of_several_runs_as_json() -> None:
    document = json.loads(ok("agree", "bm25.run", "dense.run", "bm25.run", "-k", "2", "-p", "0.5", "--format", "json"))
    assert len(document["agreement"]) == 3
    assert (document["cutoff"], document["p"]) == (2, 0.5)


def test_queries_as_csv() -> None:
    rows = list(csv.DictReader(io.StringIO(ok("agree", "bm25.run", "bm25.run", "--per-query", "--format", "csv"))))
    assert {row["query_id"] for row in rows} >= {"q1"}
    assert {row["rbo_w"] for row in rows} == {"1.0"}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("bm25.run",), 2, "give two runs"),
        (("bm25.run", "dense.run", "-p", "1"), 2, "between 0 and 1"),
        (("bm25.run", "dense.run", "-k", "0"), 2, "a whole number from 1 on"),
        (("bm25.run", "no.run"), 3, "no such file"),
    ],
)
def test_bad_input_is_named(arguments: tuple[str, ...], code: int, message: str) -> None:
    result = call("agree", *arguments)
    assert (result.exit_code, message in result.output) == (code, True), result.output
