"""Rounded scores, beside Python's ``round`` and beside the nearest number of the format found in fractions."""

from __future__ import annotations

import struct
import warnings
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.checks import as_precision
from deadheat.core.data.rounding import round_scores
from deadheat.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deadheat.api import FloatArray
    from deadheat.core.data.rounding import ScorePrecision


def assert_rounds_as_python(scores: FloatArray, decimals: int) -> None:
    """Compare bit by bit with ``round``, which is exact."""
    expected = np.array([round(score, decimals) for score in scores.tolist()])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(round_scores(scores, decimals), expected)


@pytest.mark.parametrize("decimals", range(16))
def test_decimals_of_scores_of_every_size(decimals: int) -> None:
    rng = np.random.default_rng(decimals)
    for exponent in (*range(-4, 18), 300):
        assert_rounds_as_python(rng.uniform(-1, 1, 300) * 10.0**exponent, decimals)


@pytest.mark.parametrize("decimals", range(16))
def test_decimals_half_way(decimals: int) -> None:
    """Exact halves, those that only look so, and their neighbours."""
    rng = np.random.default_rng(decimals)
    half = (rng.integers(0, 10 ** min(decimals + 2, 15), 300) + 0.5) / 10.0**decimals
    for scores in (half, np.nextafter(half, 0), np.nextafter(half, np.inf), -half):
        assert_rounds_as_python(scores, decimals)
    assert_rounds_as_python(rng.integers(0, 2**20, 300) / 2.0 ** rng.integers(0, 30, 300), decimals)


@pytest.mark.parametrize("decimals", range(16))
def test_decimals_where_floats_become_as_coarse(decimals: int) -> None:
    """Around 2^51 .. 2^53 steps, where the product with 10^decimals is rounded by a quarter, a half or a whole one."""
    edge = 2.0**53 / 10.0**decimals
    assert_rounds_as_python(np.random.default_rng(decimals).uniform(edge / 5, edge * 1.2, 1000), decimals)
    for power in (edge, edge / 2, edge / 4):
        near = power + np.spacing(power) * np.arange(-100, 100)
        assert_rounds_as_python(near, decimals)


def test_more_decimals_than_a_score_has_leave_it() -> None:
    scores = np.array([3e295, 2e295, -1e308, np.inf, -np.inf, *np.random.default_rng(1).uniform(1e7, 1e8, 1000)])
    np.testing.assert_array_equal(round_scores(scores, 10), scores)
    run = {"q": {"a": 3e295, "b": 2e295}}
    assert dh.evaluate({"q": {"a": 1}}, run, ["RR"], score_precision=15).means() == {"RR": 1.0}


def bfloat16_neighbours(value: Fraction) -> Iterator[tuple[Fraction, int]]:
    """Yield the numbers of the format, each with its bits, of which the two around a positive value are some."""
    bits = struct.unpack(">I", struct.pack(">f", float(value)))[0] >> 16
    for near in range(max(bits - 2, 0), bits + 3):
        yield Fraction(struct.unpack(">f", struct.pack(">I", near << 16))[0]), near


def as_bfloat16(score: float) -> float:
    """Find the nearest number of the format to the float32 of a score; of two the one with even bits."""
    value = Fraction(struct.unpack("<f", struct.pack("<f", abs(score)))[0])
    nearest, _ = min(bfloat16_neighbours(value), key=lambda pair: (abs(pair[0] - value), pair[1] % 2))
    return float(nearest) if score > 0 else -float(nearest)


@pytest.mark.parametrize("exponent", [-41, -40, -39, -38, -37, -10, 0, 30])
def test_bfloat16_is_the_nearest_by_way_of_float32(exponent: int) -> None:
    """Below 1.2e-38 too, where it has fewer bits."""
    rng = np.random.default_rng(exponent + 100)
    scores = np.concatenate((rng.uniform(-10, 10, 500), 1 + rng.integers(0, 2**9, 200) / 2**9)) * 10.0**exponent
    np.testing.assert_array_equal(round_scores(scores, "bfloat16"), [as_bfloat16(score) for score in scores.tolist()])


def test_bfloat16_at_its_ends() -> None:
    assert round_scores(np.array([1.01e-40, 1.02e-40]), "bfloat16").tolist() == [2.0**-133, 2.0**-133]
    largest = (2 - 2.0**-7) * 2.0**127
    given = [largest, (2 - 2.0**-8) * 2.0**127, 1e300, -np.inf, 2.0**-134, -1e-300, 1 + 2.0**-8 + 2.0**-40]
    expected = [largest, np.inf, np.inf, -np.inf, 0.0, 0.0, 1.0]
    assert round_scores(np.array(given), "bfloat16").tolist() == expected


@pytest.mark.parametrize(("given", "taken"), [(np.int64(2), 2), ("2", 2), (15, 15), ("float16", "float16")])
def test_precisions_that_are_taken(given: Any, taken: ScorePrecision) -> None:  # noqa: ANN401 - NumPy's number too
    checked = as_precision("score_precision", given)
    assert (checked, type(checked)) == (taken, type(taken))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("²", "from 0 to 15, got '²'"),
        ("9" * 5000, "got '9{197}[.][.][.]"),
        pytest.param(10**5000, "got a number of thousands of digits", id="beyond printing"),
        ("float23", r"got 'float23'\. Did you mean 'float32'\?"),
        (True, "got True"),
        (2.0, r"got 2\.0"),
        (np.array([1, 2]), r"got array\(\[1, 2\]\)"),
        (16, "got 16"),
    ],
)
def test_precisions_that_are_refused(given: ScorePrecision, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, ["RR"], score_precision=given)


@pytest.mark.parametrize(("precision", "scores"), [("float16", [70_000.0, 80_000.0]), ("float32", [1e39, 1e40])])
def test_scores_that_a_format_cannot_hold_tie_aloud(precision: str, scores: list[float]) -> None:
    run = {"q": {"a": scores[0], "b": scores[1]}}
    with pytest.warns(dh.DeadheatWarning, match=f"{precision} cannot hold the score"):
        assert dh.evaluate({"q": {"a": 1}}, run, ["P@1"], score_precision=precision).means() == {"P@1": 0.5}
