"""What takes long says so, before the time is spent, and is shown from then on."""

from __future__ import annotations

import time
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.kernels import orders
from deadheat.core.phases import lasting, set_watcher
from deadheat.errors import DurationWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock of the processor's time that goes on by a number of seconds whenever it is looked at."""
    seconds = [0.0, 0.0]

    def look() -> float:
        seconds[0] += seconds[1]
        return seconds[0]

    monkeypatch.setattr(time, "thread_time", look)
    return seconds


def test_steps_that_take_long_say_so_once_and_are_shown_from_then_on(clock: list[float]) -> None:
    clock[1] = 1.0
    shown: list[tuple[str, int | None, list[int]]] = []

    @contextmanager
    def watch(what: str, n_steps: int | None) -> Iterator[Callable[[int], None]]:
        shown.append((what, n_steps, []))
        yield shown[-1][2].append

    def count() -> None:
        with set_watcher(watch), lasting("counting", 50, "; fewer take less") as advance:
            for _ in range(50):
                advance(1)

    with pytest.warns(DurationWarning, match=r"counting .* 50 s; fewer") as said:
        count()
    assert len(said) == 1
    assert shown == [("counting", 50, [1] * 50)]


@pytest.mark.parametrize(("n_steps", "step"), [(50, 0.1), (20, 0.01)])
def test_steps_that_take_ten_seconds_at_most_say_nothing(clock: list[float], n_steps: int, step: float) -> None:
    clock[1] = step
    with warnings.catch_warnings(action="error"), lasting("counting", n_steps) as advance:
        for _ in range(n_steps):
            advance(1)


GRADES = {"q": {f"d{n}": n % 4 for n in range(60)}}
TIED = {"q": dict.fromkeys(GRADES["q"], 1.0)}


@pytest.mark.parametrize("measure", ["Compat", "INST", "NERR8", "NERR9", "NERR10", "NERR11"])
def test_large_ties_of_grades_are_announced(clock: list[float], measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "MAX_CELLS", 10 * len(TIED["q"]))  # few orders at a time, as of large ties
    clock[1] = 5.0
    with pytest.warns(DurationWarning, match=r"takes about \d+ s"):
        dh.evaluate(GRADES, TIED, measure).means()


@pytest.mark.parametrize("measure", ["alpha_nDCG", "ERR_IA", "nERR_IA"])
def test_large_ties_of_subtopics_are_announced(clock: list[float], measure: str) -> None:
    clock[1] = 5.0
    qrels = dh.Qrels([{"query_id": "q", "doc_id": f"d{n}", "subtopic": str(n % 3), "relevance": 1} for n in range(60)])
    with pytest.warns(DurationWarning, match=r"takes about \d+ s"):
        dh.evaluate(qrels, TIED, measure).means()


@pytest.mark.slow
def test_resamples_are_announced(clock: list[float]) -> None:
    clock[1] = 5.0
    with pytest.warns(DurationWarning, match=r"resampling .*\d s; fewer"):
        dh.interval(np.random.default_rng(0).random(5000), method="bca", n_resamples=10_000)
