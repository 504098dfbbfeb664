"""coarsen() against plain Python, on random runs, real ones and what may go wrong."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat import coarsen
from deadheat.errors import DeadheatWarning, ParameterError
from support.shared_data import SOME_LLM_RUNS, hpo_run, llm_run, needs_shared_data

if TYPE_CHECKING:
    from collections.abc import Callable

Nested = dict[str, dict[str, float]]


def random_run(seed: int) -> Nested:
    rng = np.random.default_rng(seed)
    offset, size = rng.normal(0, 10), 10.0 ** rng.integers(-3, 4)
    return {
        f"q{query}": {f"d{doc}": float(offset + size * rng.random()) for doc in range(rng.integers(1, 12))}
        for query in range(6)
    }


def level(score: float, low: float, high: float, levels: int) -> int:
    """The interval that holds a score, in exact arithmetic; the highest score is in the last one."""
    width = (Fraction(high) - Fraction(low)) / levels
    return min(levels - 1, math.floor((Fraction(score) - Fraction(low)) / width)) if width else 0


def groups(scores: dict[str, float]) -> list[set[str]]:
    """Documents that tie, best first."""
    return [{doc for doc in scores if scores[doc] == score} for score in sorted(set(scores.values()), reverse=True)]


@pytest.mark.parametrize("per_query", [False, True])
@pytest.mark.parametrize("levels", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("seed", range(5))
def test_levels_are_intervals_of_equal_width(seed: int, levels: int, *, per_query: bool) -> None:
    run = random_run(seed)
    found = coarsen(run, levels=levels, per_query=per_query)
    everything = [score for scores in run.values() for score in scores.values()]
    for query, scores in run.items():
        own = list(scores.values()) if per_query else everything
        low, high = min(own), max(own)
        places = {doc: level(score, low, high, levels) for doc, score in scores.items()}
        assert groups(found.to_dict()[query]) == groups(places)  # type: ignore[arg-type]
        for doc, place in places.items():
            at = low + (high - low) * place / max(levels - 1, 1)
            assert found.to_dict()[query][doc] == pytest.approx(at, rel=1e-12, abs=1e-12 * abs(high))


@pytest.mark.parametrize("levels", [2, 5, 50])
@pytest.mark.parametrize("seed", range(5))
def test_coarsening_twice_changes_nothing_more(seed: int, levels: int) -> None:
    once = coarsen(random_run(seed), levels=levels)
    twice = coarsen(once, levels=levels)
    for query, scores in once.to_dict().items():
        assert groups(twice.to_dict()[query]) == groups(scores)
        assert twice.to_dict()[query] == pytest.approx(scores, rel=1e-12)


@pytest.mark.parametrize("decimals", [0, 1, 3])
def test_decimals_are_those_of_python(decimals: int) -> None:
    run = random_run(3)
    expected = {query: {doc: round(score, decimals) for doc, score in own.items()} for query, own in run.items()}
    assert coarsen(run, decimals=decimals).to_dict() == expected


def to_bfloat16(number: float) -> float:
    """Round the upper half of a float32 to nearest, halves to even."""
    (bits,) = struct.unpack("<I", struct.pack("<f", number))
    kept, rest = bits >> 16, bits & 0xFFFF
    kept += rest > 0x8000 or (rest == 0x8000 and kept % 2 == 1)
    return float(struct.unpack("<f", struct.pack("<I", kept << 16))[0])


@pytest.mark.parametrize(
    ("dtype", "stored"),
    [
        ("bfloat16", to_bfloat16),
        ("float16", lambda number: struct.unpack("<e", struct.pack("<e", number))[0]),
        ("float32", lambda number: struct.unpack("<f", struct.pack("<f", number))[0]),
    ],
)
def test_formats_are_those_of_struct(dtype: str, stored: Callable[[float], float]) -> None:
    run = random_run(1)
    expected = {query: {doc: stored(score) for doc, score in own.items()} for query, own in run.items()}
    assert coarsen(run, dtype=dtype).to_dict() == expected


@needs_shared_data
@pytest.mark.parametrize("name", SOME_LLM_RUNS)
def test_a_real_run_coarsened_to_its_own_levels_is_the_same(name: str) -> None:
    run = dh.read_run(llm_run(name))
    n_levels = run.to_polars()["score"].n_unique()
    assert coarsen(run, levels=n_levels).to_polars().equals(run.to_polars())


@needs_shared_data
def test_what_is_in_a_format_already_is_the_same() -> None:
    run = dh.read_run(hpo_run("en.minilm-f32"))
    half = coarsen(run, dtype="float16")
    assert not half.to_polars().equals(run.to_polars())
    assert coarsen(half, dtype="float16").to_polars().equals(half.to_polars())
    assert coarsen(half, dtype="float32").to_polars().equals(half.to_polars())


@pytest.mark.parametrize("n_levels", [2, 4, 11, 101, 1000])
def test_equally_spaced_scores_keep_all_their_ties_and_no_more(n_levels: int) -> None:
    rng = np.random.default_rng(0)
    run = {"q": {f"d{n}": 0.1 * place for n, place in enumerate([*range(n_levels), *rng.integers(0, n_levels, 50)])}}
    assert groups(coarsen(run, levels=n_levels).to_dict()["q"]) == groups(run["q"])


INF = math.inf


@pytest.mark.parametrize(
    ("scores", "levels", "expected"),
    [
        ([INF, 4.0, 1.0, 0.0, -INF], 2, [INF, 4.0, 0.0, 0.0, -INF]),  # infinite ones are beyond the levels
        ([INF, INF], 3, [INF, INF]),
        ([INF, 2.0], 1, [INF, 2.0]),
        ([3.0, 3.0, 3.0], 5, [3.0, 3.0, 3.0]),
        ([3.0], 5, [3.0]),
        ([1.0, 2.0, 9.0], 1, [1.0, 1.0, 1.0]),
        ([1e308, 0.0, -1e308], 3, [1e308, 0.0, -1e308]),  # whose span is infinite
        ([5e-324, 0.0], 2, [5e-324, 0.0]),  # whose half is 0
        ([1.0, 1.0 + 2**-52], 2, [1.0, 1.0 + 2**-52]),
        ([-0.0, 0.0], 2, [0.0, 0.0]),
        ([1.0, 0.5, 0.0], 2, [1.0, 1.0, 0.0]),  # a score between two levels is in the higher one
    ],
)
@pytest.mark.parametrize("per_query", [False, True])
def test_edges(scores: list[float], levels: int, expected: list[float], *, per_query: bool) -> None:
    run = {"q": {f"d{n}": score for n, score in enumerate(scores)}}
    assert list(coarsen(run, levels=levels, per_query=per_query).to_dict()["q"].values()) == expected


def test_levels_of_each_query() -> None:
    run = {"a": {"x": 0.0, "y": 1.0, "z": 10.0}, "b": {"x": 0.0, "y": 1.0, "z": 2.0}, "c": {"x": 7.0}}
    assert coarsen(run, levels=2).to_dict()["b"] == {"x": 0.0, "y": 0.0, "z": 0.0}
    assert coarsen(run, levels=2, per_query=True).to_dict() == {
        "a": {"x": 0.0, "y": 0.0, "z": 10.0},
        "b": {"x": 0.0, "y": 2.0, "z": 2.0},
        "c": {"x": 7.0},
    }


def test_name_and_notes_say_what_was_done() -> None:
    run = dh.Run({"q": {"a": 0.12, "b": 0.14, "c": 0.9}}, name="dense")
    found = coarsen(run, levels=2, per_query=True)
    assert found.name == "dense, 2 levels a query"
    assert found.notes == ("scores coarsened to 2 levels of equal width a query: 3 different ones became 2",)
    assert coarsen(run, decimals=1).name == "dense, 1 decimal"
    assert coarsen(run, dtype="bfloat16").name == "dense, bfloat16"
    assert (run.name, run.notes) == ("dense", ())
    assert run.to_dict() == {"q": {"a": 0.12, "b": 0.14, "c": 0.9}}
    assert dh.evaluate({"q": {"c": 1}}, found, "RR").notes == found.notes


def test_rows_keep_their_order_and_a_run_may_be_coarsened_again() -> None:
    frame = pl.DataFrame({"query_id": ["b", "a", "b"], "doc_id": ["x", "y", "z"], "score": [0.2, 0.3, 0.9]})
    found = coarsen(frame, levels=2)
    assert found.to_polars().select("query_id", "doc_id").equals(frame.select("query_id", "doc_id"))
    again = coarsen(dh.Run(found.to_polars()), levels=1)
    assert set(again.to_polars()["score"]) == {0.2}
    assert isinstance(dh.Run.of(found), dh.Run)


def test_a_format_that_cannot_hold_a_score_is_told() -> None:
    with pytest.warns(DeadheatWarning):
        assert coarsen({"q": {"a": 1e9, "b": 1.0}}, dtype="float16").to_dict() == {"q": {"a": INF, "b": 1.0}}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "levels, decimals and dtype must be one of them, not the others, got none of them"),
        ({"levels": 2, "decimals": 1}, "got levels and decimals"),
        ({"levels": 2, "decimals": 1, "dtype": "float16"}, "got levels and decimals and dtype"),
        ({"levels": 0}, "levels must be a whole number from 1 on, got 0"),
        ({"levels": 2.5}, "levels must be a whole number from 1 on"),
        ({"levels": True}, "levels must be a whole number from 1 on"),
        ({"levels": 2**40}, "levels must be at most"),
        ({"decimals": -1}, "decimals must be a whole number from 0"),
        ({"decimals": 16}, "decimals must be a whole number from 0 to 15"),
        ({"decimals": "2"}, "decimals must be a whole number from 0"),
        ({"dtype": "float8"}, "dtype must be one of .*Did you mean"),
        ({"dtype": "float16", "per_query": True}, "per_query is for levels"),
    ],
)
def test_what_cannot_be_done(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        coarsen({"q": {"a": 1.0}}, **given)


def test_ranks_by_several_keys_are_no_scores() -> None:
    run = dh.Run({"q": {"a": 1, "b": 1}}).then_by({"q": {"a": 2.0, "b": 1.0}})
    with pytest.raises(ParameterError, match="cannot be coarsened"):
        coarsen(run, levels=2)
