"""Numbers of a file, looked at once."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.io.values import are_plain

LIMIT = 2.0**53


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], True),
        ([0.0, -0.0, 1e-300, -2.5], True),
        ([LIMIT - 1, 1 - LIMIT], True),
        ([LIMIT], False),
        ([1.0, -LIMIT], False),
        ([1.0, math.inf], False),
        ([-math.inf, 1.0], False),
        ([1.0, math.nan], False),
        ([math.nan], False),
        ([1.0, None], False),
        ([None], False),
    ],
)
@pytest.mark.parametrize("name", ["score", "^s.*$", ""])
def test_plain_numbers_are_numbers_that_need_no_second_look(
    values: list[float | None], name: str, *, expected: bool
) -> None:
    assert are_plain(pl.Series(name, values, pl.Float64)) is expected


def test_numbers_of_numpy_beside_others_cut_none() -> None:
    """Polars would make a column of float32 of them, in which two scores that differ are a tie."""
    scores = [np.float32(0.5), 0.1, 0.1 + 1e-9]
    rows = [{"query_id": "q", "doc_id": doc, "score": score} for doc, score in zip("abc", scores, strict=True)]
    assert dh.Run(rows).to_dict() == {"q": {"a": 0.5, "b": 0.1, "c": 0.1 + 1e-9}}
    rows = [{"query_id": "q", "doc_id": "a", "score": np.int64(2)}, {"query_id": "q", "doc_id": "b", "score": 2.5}]
    assert dh.Run(rows).to_dict() == {"q": {"a": 2.0, "b": 2.5}}
