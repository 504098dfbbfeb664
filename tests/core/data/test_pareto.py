"""Pareto levels against their definition."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.data import pareto
from deadheat.errors import DeadheatError, DuplicateError, ParameterError
from support.error_parts import raises_parts


def levels_of(rows: list[tuple[float, ...]]) -> list[int]:
    """Return the level of each row by its definition: peel off those that no other one dominates."""
    found, left, level = [0] * len(rows), set(range(len(rows))), 0

    def dominates(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
        return all(x >= y for x, y in zip(a, b, strict=True)) and a != b

    while left:
        level += 1
        first = {n for n in left if not any(dominates(rows[other], rows[n]) for other in left)}
        for n in first:
            found[n] = level
        left -= first
    return found


@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("max_cells", [1 << 24, 10])
def test_levels_are_those_of_the_definition(n_columns: int, max_cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pareto, "MAX_CELLS", max_cells)
    rng = np.random.default_rng(n_columns)
    names = [f"c{n}" for n in range(n_columns)]
    frame = pl.DataFrame(
        {
            "query_id": rng.choice(["a", "b", "c"], 40),
            "doc_id": [f"d{n}" for n in range(40)],
            **{name: rng.integers(0, 5, 40).astype(float) for name in names},
        }
    )
    asked = [names[0], *(f"-{name}" for name in names[1:])]
    found = dh.pareto_levels(frame, asked).to_polars()
    for query, own in frame.partition_by("query_id", as_dict=True).items():
        rows = [(row[0], *(-one for one in row[1:])) for row in own.select(names).rows()]
        right = dict(zip(own["doc_id"], levels_of(rows), strict=True))
        mine = found.filter(pl.col("query_id") == query[0])
        assert dict(zip(mine["doc_id"], (-mine["score"]).to_list(), strict=True)) == right


def test_what_is_no_criterion_is_refused() -> None:
    frame = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "match": [1.0]})
    with raises_parts(ParameterError, argument="columns", given=[], allowed="a list of names, at least one"):
        dh.pareto_levels(frame, [])
    with pytest.raises(DeadheatError, match="no column 'price'"):
        dh.pareto_levels(frame, ["match", "-price"])
    with pytest.raises(DuplicateError, match="'d' is retrieved 2 times"):
        dh.pareto_levels(pl.concat([frame, frame]), ["match"])
