"""Numbers of a file, looked at once."""

from __future__ import annotations

import math

import polars as pl
import pytest

from deadheat.io.values import are_plain

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
