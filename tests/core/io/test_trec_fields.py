"""TREC files with commas as decimal marks, tabs between fields with blanks in them; and ranks that begin with 0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.data import unread_trec
from deadheat.errors import DataError, DuplicateError, MalformedRowError
from support.command import call, ok
from support.error_parts import raises_parts

COMMAS = "q Q0 b 1 2,5 x\nq Q0 a 2 1,5 x\nq Q0 c 3 1.000,25 x\n"
TABS = "q 1\tQ0\tdoc b\t1\t2.5\tmy tag\nq 1\tQ0\tdoc a\t2\t1.5\tmy tag\nr\tQ0\tc\t1\t1\tx\n"


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_comma_is_a_decimal_mark_where_it_is_said_to_be(tmp_path: Path) -> None:
    path = write(tmp_path, "x.run", COMMAS)
    with dh.decimal(","):
        assert dh.Run(path).to_dict() == {"q": {"b": 2.5, "a": 1.5, "c": 1000.25}}
    qrels = write(tmp_path, "x.qrels", "q 0 a 0,5\nq 0 b 1\n")
    with dh.decimal(","):
        assert dh.Qrels(qrels).to_dict() == {"q": {"a": 0.5, "b": 1.0}}


def test_a_group_of_thousands_is_no_fraction(tmp_path: Path) -> None:
    """Polars would read 1.500 as one and a half."""
    path = write(tmp_path, "x.run", "q Q0 b 1 1.500 x\nq Q0 a 2 999 x\n")
    with dh.decimal(","):
        assert dh.Run(path).to_dict() == {"q": {"b": 1500.0, "a": 999.0}}
        with raises_parts(MalformedRowError, line=1):
            dh.Run(write(tmp_path, "y.run", "q Q0 b 1 2.5 x\n"))
    assert dh.Run(path).to_dict() == {"q": {"b": 1.5, "a": 999.0}}


@pytest.mark.slow
@pytest.mark.plugins("engines")
def test_large_and_unread_files_have_them_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unread_trec, "BLOCK", 40_000)  # many blocks, and few enough to take a second
    rows = [
        f"q{number // 100} Q0 document-with-a-long-name-{number} 1 {30_000 - number},5 x" for number in range(30_000)
    ]
    path = write(tmp_path, "x.run", "\n".join(rows) + "\n")
    assert path.stat().st_size > 1 << 20
    qrels = {f"q{number}": [f"document-with-a-long-name-{number * 100 + 1}"] for number in range(300)}
    for most_memory in (10**10, 1):
        with dh.decimal(","), dh.max_memory(most_memory):
            assert dh.evaluate(qrels, path, "RR").means() == {"RR": 0.5}


def test_without_it_the_error_says_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "x.run", COMMAS)
    write(tmp_path, "x.qrels", "q 0 a 1\n")
    with raises_parts(MalformedRowError, given="2,5", line=1):
        dh.Run("x.run")
    result = call("evaluate", "x.qrels", "x.run")
    assert result.exit_code == 3
    assert "--decimal" in result.output
    assert "0.3333" in ok("evaluate", "x.qrels", "x.run", "--decimal", ",", "-m", "RR")


def test_fields_between_tabs_may_have_blanks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = write(tmp_path, "x.run", TABS)
    qrels = write(tmp_path, "x.qrels", "q 1\t0\tdoc a\t1\nr\t0\tc\t1\n")
    assert dh.Run(run).to_dict() == {"q 1": {"doc b": 2.5, "doc a": 1.5}, "r": {"c": 1.0}}
    assert dh.Qrels(qrels).to_dict() == {"q 1": {"doc a": 1.0}, "r": {"c": 1.0}}
    assert dh.evaluate(qrels, run, "RR").to_dict() == {"q 1": {"RR": 0.5}, "r": {"RR": 1.0}}
    assert "0.7500" in ok("evaluate", "x.qrels", "x.run", "-m", "RR")


def test_blanks_elsewhere_stay_errors(tmp_path: Path) -> None:
    for text in ("q Q0 doc b 1 2.5 x\n", "q\tQ0\tdoc b\t\t1\t2.5\tx\n", "q\tQ0\tdoc b\t1\t2.5\tx\ty\n"):
        with raises_parts(MalformedRowError, line=1):
            dh.Run(write(tmp_path, "x.run", text))


def test_a_repeated_pair_with_blanks_is_named_with_its_lines(tmp_path: Path) -> None:
    with raises_parts(DuplicateError, line=2):
        dh.evaluate({"q": ["a"]}, write(tmp_path, "x.run", "q\tQ0\td b\t1\t2\tx\nq\tQ0\td b\t1\t2\tx\n"), "RR")


RANKS: dict[str, Any] = {"query_id": ["q", "q", "r"], "doc_id": ["b", "a", "a"], "rank": [0, 1, 0]}


@pytest.mark.parametrize("form", ["pandas", "polars", "lazy", "rows", "csv", "jsonl", "parquet", "lists"])
def test_ranks_may_begin_with_0(form: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(RANKS)
    run: Any = {
        "pandas": pd.DataFrame(RANKS),
        "polars": frame,
        "lazy": frame.lazy(),
        "rows": frame.to_dicts(),
        "lists": [
            {"query_id": "q", "retrieved": ["a", "b"], "rank": [1, 0]},
            {"query_id": "r", "retrieved": ["a"], "rank": [0]},
        ],
    }.get(form, tmp_path / f"x.{form}")
    if form == "csv":
        frame.write_csv(run)
    elif form == "jsonl":
        frame.write_ndjson(run)
    elif form == "parquet":
        frame.write_parquet(run)
    assert dh.evaluate({"q": ["a"], "r": ["a"]}, run, "RR").to_dict() == {"q": {"RR": 0.5}, "r": {"RR": 1.0}}


@pytest.mark.parametrize("rank", [-1, 0.5])
def test_other_ranks_are_errors(rank: float) -> None:
    with pytest.raises(DataError, match="whole number from 0"):
        dh.Run(pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "rank": [rank]}))
