"""Every call returns what it did: see the docstring of the package for the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from golden.calls_measures import BY_MEASURE
from golden.comparing import RELATIVE, RELATIVE_OF_OTHER_SCIPY, differences
from golden.entries import ENTRIES, FOLDER, load_entries, other_version
from golden.files import EXPECTED, MOST_BYTES, read_feature
from golden.running import result_of

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

MOST_SHOWN = 12  # differences

OF_PASSAGES = {"CharRecall", "CharPrecision", "CharIoU", "CharDensity"}  # in calls_spans.py

load_entries()


# What takes seconds, beside processes
SLOW = {"bench.of_demo[bm25]", "measures.large_ties[infAP]"}

QUICK_PROCESSES = {  # each process takes long, so the others are left to the rest of the tests
    "processes.numbers[evaluate graded.txt graded.run -m 'nDCG@3 RR']",
    "processes.numbers[compare qrels.txt weak.run good.run -m RR --test t]",
    "processes.numbers[gate qrels.txt fair.run -c 'RR > 0.99']",
    "processes.words[--help]",
    "processes.words[evaluate missing.txt graded.run]",
}


def cases_of_calls() -> list[ParameterSet]:
    """Return the names of all calls; most processes are slow."""
    assert ENTRIES.keys() >= QUICK_PROCESSES
    cases = []
    for name in sorted(ENTRIES):
        is_process = ENTRIES[name].feature == "processes"
        is_slow = name in SLOW or (is_process and name not in QUICK_PROCESSES)
        cases.append(pytest.param(name, marks=pytest.mark.slow if is_slow else ()))
    return cases


@pytest.mark.every_case
@pytest.mark.parametrize("name", cases_of_calls())
def test_a_call_returns_what_it_did(name: str) -> None:
    call = ENTRIES[name]
    kept = read_feature(call.feature).get(name)
    assert kept is not None, f"nothing is kept of {name}: python -m golden.renew '{name}'"
    packages = ["numpy", *call.pinned] if kept.is_drawn else call.pinned
    if reason := other_version(packages):
        pytest.skip(reason)
    relative = RELATIVE_OF_OTHER_SCIPY if other_version(["scipy"]) else RELATIVE
    found = differences(kept.result, result_of(call), relative=relative)
    shown = "\n".join(map(str, found[:MOST_SHOWN]))
    assert not found, f"{name} has {len(found)} other values:\n{shown}"


def test_every_result_has_its_call() -> None:
    kept = set()
    for path in EXPECTED.glob("*.json"):
        names = set(read_feature(path.stem))
        assert {name.partition(".")[0] for name in names} == {path.stem}
        kept |= names
    assert kept <= ENTRIES.keys(), "python -m golden.renew --gone drops these"


def test_every_measure_is_called() -> None:
    assert set(dh.measures()) == {*BY_MEASURE, *OF_PASSAGES}


def test_the_files_are_small() -> None:
    kept = [*EXPECTED.iterdir(), *(FOLDER / "saved").iterdir()]
    assert sum(path.stat().st_size for path in kept) <= MOST_BYTES


@pytest.mark.parametrize(
    ("expected", "found", "keys"),
    [
        ({"a": 1.0}, {"a": 1.0 + 1e-11}, []),
        ({"a": 1.0}, {"a": 1.0 + 1e-9}, ["a"]),
        ({"a": 0.0}, {"a": 1e-15}, []),
        ({"a": 0.0}, {"a": 1e-13}, ["a"]),
        ({"a": 1}, {"a": 1.0}, ["a"]),
        ({"a": 1}, {"a": True}, ["a"]),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, ["a.b[1]"]),
        ({"a": [1]}, {"a": [1, 1]}, ["a (its length)"]),
        ({"a": 1, "b": 2}, {"a": 1, "c": 2}, ["b", "c"]),
        ({"a": None}, {}, ["a"]),
        ({"a": "nan"}, {"a": 0.5}, ["a"]),
    ],
)
def test_what_differs_is_found(expected: object, found: object, keys: list[str]) -> None:
    assert [one.key for one in differences(expected, found)] == keys
