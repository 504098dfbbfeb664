"""The fixture assert_ranking, in a pytest of its own that finds it by the entry point."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat.errors import DataError, ParameterError, UnknownMeasureError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from deadheat import GateResult

pytest_plugins = ["pytester"]

QRELS = {f"q{n}": {"a": 1} for n in range(6)}
TIED = {f"q{n}": {"a": 1.0, "b": 1.0} for n in range(6)}
BEST = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(6)}
TESTS = """
import deadheat as dh

QRELS = {f"q{n}": {"a": 1} for n in range(6)}
RUN = {f"q{n}": {"a": 1.0, "b": 1.0} for n in range(6)}

def test_good(assert_ranking):
    result = assert_ranking(QRELS, RUN, ["RR >= 0.75", "low(P@1) > 0.1"])
    assert [check.passed for check in result.checks] == [True, True]

def test_bad(assert_ranking):
    assert_ranking(QRELS, RUN, ["RR > 0.8", "P@1 > 0.1"])

def test_worse(assert_ranking):
    best = dh.evaluate(QRELS, {query: {"a": 1.0} for query in QRELS}, ["RR"])
    assert_ranking(dh.evaluate(QRELS, RUN, ["RR"]), baseline=best, no_worse_than=0.1)
"""


@pytest.mark.slow
def test_the_fixture_in_a_run_of_pytest(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    done = pytester.runpytest_subprocess("-W", "error", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines(
        [
            '>       assert_ranking(QRELS, RUN, [[]"RR > 0.8", "P@1 > 0.1"[]])',
            "E       AssertionError: run: 1 of 2 gates failed",
            "E       RR > 0.8    0.7500     0.8000   1.0000        6  failed",
            "E       P@1 > 0.1   0.5000     0.1000   1.0000        6  passed",
            "E       RR          1.0000  0.7500     -0.2500  -0.2500   1.0000        6  failed",
        ]
    )
    done.stdout.no_fnmatch_line("*pytest_plugin.py:*")  # the traceback ends at the test


@pytest.mark.slow
def test_pytest_lists_the_fixture(pytester: pytest.Pytester) -> None:
    done = pytester.runpytest_subprocess("--fixtures", "-p", "no:cacheprovider")
    done.stdout.fnmatch_lines(["assert_ranking*deadheat/integrations/pytest_plugin.py:*", "*Assert on measures: *"])


@pytest.mark.slow
def test_the_plugin_waits_with_the_heavy_libraries() -> None:
    (entry,) = [entry for entry in entry_points(group="pytest11") if entry.name == "deadheat"]
    assert entry.value == "deadheat.integrations.pytest_plugin"
    code = f"import sys, {entry.value}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert not set(done.stdout.split()) & {"numpy", "polars", "scipy", "rich", "narwhals", "click"}


def test_of_a_run_of_chunks(assert_ranking: Callable[..., GateResult]) -> None:
    chunks = {query: {"b#0": 3.0, "a#1": 2.0, "a#0": 4.0} for query in QRELS}
    assert assert_ranking(QRELS, chunks, "RR >= 1", doc_id_of="#", duplicates="best").passed
    with pytest.raises(AssertionError):
        assert_ranking(QRELS, chunks, "RR >= 1", doc_id_of="#", duplicates="first")


def test_of_an_evaluation(assert_ranking: Callable[..., GateResult]) -> None:
    custom = dh.Custom("first", lambda relevance: float(relevance[0]))
    evaluation = dh.evaluate(QRELS, TIED, ["RR", custom])
    assert assert_ranking(evaluation, "RR > 0.5") == dh.gate(evaluation, "RR > 0.5")
    assert assert_ranking(evaluation, (text for text in ["first >= 0.5", "RR > 0"]))
    with pytest.raises(AssertionError, match=r"1 of 1 gate failed(.*\n)*first > 0\.5"):
        assert_ranking(evaluation, ["first > 0.5"])
    with pytest.raises(UnknownMeasureError, match="P@3 was not evaluated"):
        assert_ranking(evaluation, ["P@3 > 0.5"])


def test_of_qrels_and_run(assert_ranking: Callable[..., GateResult], tmp_path: Path) -> None:
    assert assert_ranking(QRELS, TIED, "RR >= 1", ties="best").checks[0].value == 1.0
    with pytest.raises(AssertionError, match="missing queries"):
        assert_ranking(QRELS, {"q1": {"a": 1.0}}, "RR >= 1")
    with pytest.warns(dh.DeadheatWarning, match=r"missing queries .* it fails"):
        assert assert_ranking(QRELS, {"q1": {"a": 1.0}}, "RR >= 1", missing="skip")
    path = tmp_path / "best.json"
    dh.evaluate(QRELS, BEST, ["RR", "MR"]).save(path)
    result = assert_ranking(QRELS, BEST, baseline=path)
    assert [check.gate for check in result.checks] == ["RR >= baseline", "MR <= baseline"]
    with pytest.raises(AssertionError) as caught:
        assert_ranking(QRELS, TIED, "P@1 > 0.6", baseline=path, alpha=0.01)
    rows = [line.split() for line in str(caught.value).splitlines()]
    assert [row[3] for row in rows if row[:3] == ["P@1", ">", "0.6"]] == ["0.5000"]
    assert [row[1:3] for row in rows if row[:1] == ["RR"]] == [["1.0000", "0.7500"]]


@pytest.mark.parametrize("query", ["q0", "q1"])
def test_a_query_for_which_nothing_was_retrieved_fails(query: str, assert_ranking: Callable[..., GateResult]) -> None:
    """As parametrised tests ask for one query at a time; it was an error of the data."""
    with pytest.raises(AssertionError, match=r"RR > 0\.5 +0\.0000"):
        assert_ranking({query: ["a"]}, {query: []}, "RR > 0.5")
    with pytest.raises(dh.errors.DataError):
        assert_ranking({query: ["a"]}, {}, "RR > 0.5")


def test_a_pass_that_proves_little_gives_a_warning(assert_ranking: Callable[..., GateResult]) -> None:
    some = TIED | {query: BEST[query] for query in ("q0", "q1", "q2", "q3")}
    best = dh.evaluate(QRELS, BEST, ["RR"])
    with pytest.warns(dh.DeadheatWarning, match=r"RR >= baseline proves little.* 6 queries"):
        assert assert_ranking(QRELS, some, baseline=best)
    with pytest.raises(AssertionError, match=r"No loss of 0\.05 or more"):
        assert_ranking(QRELS, some, baseline=best, no_worse_than=0.05)
    table = {query: {"level": str(n % 2)} for n, query in enumerate(QRELS)}
    with pytest.raises(AssertionError, match=r"RR > 0\.9 .*level: 0"):
        assert_ranking(QRELS, BEST | {"q0": {"b": 1.0}}, "each(level): RR > 0.9", queries=table)


def test_a_seed_is_that_of_drawn_ties_too(assert_ranking: Callable[..., GateResult]) -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(40)}
    tied = {query: {"a": 1.0, "b": 1.0} for query in qrels}
    gates = ["P@1 > 0", "low(P@1) > 0"]
    with pytest.warns(dh.DeadheatWarning, match=r"P@1 > 0 proves little: .* random"):
        drawn = [assert_ranking(qrels, tied, gates, ties="random", rng=rng).checks for rng in (1, 1, 2)]
    evaluation = dh.evaluate(qrels, tied, "P@1", ties="random", rng=1)
    assert drawn[0] == drawn[1] == dh.gate(evaluation, gates, rng=1).checks
    assert drawn[0] != drawn[2]


def test_wrong_calls(assert_ranking: Callable[..., GateResult]) -> None:
    evaluation = dh.evaluate(QRELS, TIED, ["RR"])
    with pytest.raises(ParameterError, match="nothing to check"):
        assert_ranking(QRELS, TIED)
    with pytest.raises(ParameterError, match="nothing to check"):
        assert_ranking(evaluation)
    for given in ([], [QRELS], [evaluation, "RR > 0", "RR > 0"], [QRELS, TIED, "RR > 0", "RR > 0"]):
        with pytest.raises(TypeError, match="takes an Evaluation"):
            assert_ranking(*given)
    with pytest.raises(TypeError, match="argument 'ties'"):
        assert_ranking(evaluation, "RR > 0", ties="best")


def test_a_question_more_needs_no_new_baseline(assert_ranking: Callable[..., GateResult], tmp_path: Path) -> None:
    dh.evaluate(QRELS, BEST, ["RR"]).save(tmp_path / "base.json")
    more = {**QRELS, "q1": {"a": 2}, "new": {"a": 1}}
    result = assert_ranking(more, {**BEST, "new": {"a": 1.0}}, "RR >= 0.9", baseline=tmp_path / "base.json")
    assert [check.n_queries for check in result.checks] == [7, 6]
    worse = {query: {"a": 1.0, "b": 4.0, "c": 3.0} for query in more}
    with pytest.raises(AssertionError) as caught:
        assert_ranking(more, worse, baseline=tmp_path / "base.json")
    (sizes,) = re.findall(r"(\d) queries: (\d) [a-z ]+, (\d) [a-z ]+, (\d) new", str(caught.value))
    assert sizes == ("7", "5", "1", "1")  # of them are the same, have changed judgments, are new
    with pytest.raises(DataError, match="different qrels"):
        assert_ranking(more, BEST, baseline=tmp_path / "base.json", judgments="strict")
