"""Ids that are UUIDs or paths: written as `str` writes them, in every form in which judgments and runs may be given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import SourceTypeError
from support.error_parts import raises_parts

UUIDS = [UUID(int=number) for number in (7, 8, 9)]
PATHS = [PurePosixPath("docs", f"{number}.txt") for number in (7, 8, 9)]
FORMS: dict[str, Callable[[Any, Any, Any], tuple[Any, Any]]] = {  # of an id of a query, and of two documents
    "lists": lambda q, a, b: ({q: [a]}, {q: [b, a]}),
    "sets": lambda q, a, b: ({q: {a}}, {q: (b, a)}),
    "dicts": lambda q, a, b: ({q: {a: 1}}, {q: {b: 2.0, a: 1.0}}),
    "pairs": lambda q, a, b: ({q: [(a, 1)]}, {q: [(b, 2.0), (a, 1.0)]}),
    "triples": lambda q, a, b: ([(q, a, 1)], [(q, b, 2.0), (q, a, 1.0)]),
    "results": lambda q, a, b: (
        dh.Qrels.of_results({q: [{"id": a}]}),
        dh.Run.of_results({q: [{"id": b, "score": 2.0}, {"id": a, "score": 1.0}]}),
    ),
    "rows": lambda q, a, b: (
        [{"query_id": q, "doc_id": a, "relevance": 1}],
        [{"query_id": q, "doc_id": b, "score": 2.0}, {"query_id": q, "doc_id": a, "score": 1.0}],
    ),
    "pandas": lambda q, a, b: (
        pd.DataFrame({"query_id": [q], "doc_id": [a], "relevance": [1]}),
        pd.DataFrame({"query_id": [q, q], "doc_id": [b, a], "score": [2.0, 1.0]}),
    ),
    "polars": lambda q, a, b: (
        pl.DataFrame({"query_id": pl.Series([q], dtype=pl.Object), "doc_id": pl.Series([a], dtype=pl.Object)}),
        pl.DataFrame(
            {
                "query_id": pl.Series([q, q], dtype=pl.Object),
                "doc_id": pl.Series([b, a], dtype=pl.Object),
                "score": [2.0, 1.0],
            }
        ),
    ),
    "a list a row": lambda q, a, b: (
        pd.DataFrame({"query_id": [q], "relevant": [[a]]}),
        pd.DataFrame({"query_id": [q], "retrieved": [[b, a]]}),
    ),
    "arrays": lambda q, a, b: dh.from_arrays([0, 1], [2.0, 1.0], groups=[q, q], doc_ids=[b, a]),
}


@pytest.mark.parametrize("ids", [UUIDS, PATHS], ids=["UUID", "path"])
@pytest.mark.parametrize("form", FORMS)
def test_they_are_written_as_text(form: str, ids: list[Any]) -> None:
    """The relevant document is second, and is found under its text, too."""
    qrels, run = FORMS[form](*ids)
    query, relevant, other = map(str, ids)
    found = dh.evaluate(qrels, run, "RR")
    assert found.to_dict() == {query: {"RR": 0.5}}
    assert dh.evaluate({query: [relevant]}, run, "RR").to_dict() == {query: {"RR": 0.5}}
    assert dh.evaluate(qrels, {query: [other, relevant]}, "RR").to_dict() == {query: {"RR": 0.5}}


@pytest.mark.plugins("topk")
def test_neighbours_may_have_them() -> None:
    ids = np.array([[UUIDS[1], UUIDS[0]]], object)
    run = dh.Run.from_topk(ids, [[0.9, 0.5]])
    assert run.to_dict() == {"0": {str(UUIDS[1]): 0.9, str(UUIDS[0]): 0.5}}


def test_paths_of_this_system_are_ids_in_lists_and_files_alone(tmp_path: Path) -> None:
    (tmp_path / "bm25.run").write_text("q Q0 a/b 1 2.0 x\n", encoding="utf-8")
    qrels = {"q": [Path("a", "b")]}
    assert dh.evaluate(qrels, {"q": [Path("a", "c"), Path("a", "b")]}, "RR").means() == {"RR": 0.5}
    several = dh.evaluate(qrels, {"bm25": tmp_path / "bm25.run"}, "RR")
    assert {name: one.means() for name, one in several.items()} == {"bm25": {"RR": 1.0}}


@pytest.mark.parametrize("other", ["x", 3])
def test_they_are_not_mixed_with_other_ids(other: object) -> None:
    with raises_parts(SourceTypeError, hint="write str(id) for every id"):
        dh.evaluate({"q": [str(UUIDS[0])]}, [("q", UUIDS[0], 2.0), ("q", other, 1.0)], "RR")


def test_what_is_no_id_stays_an_error() -> None:
    for wrong in (1.5, True, b"a", None, (1, 2)):
        with pytest.raises((SourceTypeError, dh.errors.DataError)):
            dh.evaluate({"q": ["a"]}, [("q", wrong, 1.0)], "RR")
