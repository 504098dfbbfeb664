"""compare() over strata, clusters, saved evaluations and odd data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import scipy.stats

import deadheat as dh
from deadheat.errors import NoCommonQueryError
from test_compare import QRELS, RUNS, values

if TYPE_CHECKING:
    from pathlib import Path

scipy_stats: Any = scipy.stats  # its stubs want literals


def test_corrections_reach_over_all_strata() -> None:
    queries = pl.DataFrame({"query_id": list(QRELS), "level": ["easy", "hard"] * 15})
    found = dh.compare(QRELS, RUNS, "AP", baseline="weak", test="t", correction="bonferroni").by("level", queries)
    for part in found.values():
        for pair in part.pairs:
            assert pair.p_adjusted == pytest.approx(min(1.0, 4 * pair.p_value))  # two strata of two rows


def test_clusters_count_in_margins_and_sample_sizes() -> None:
    difference = values(QRELS, RUNS["good"], "AP") - values(QRELS, RUNS["weak"], "AP")
    cluster = np.arange(30) // 5
    two = {"weak": RUNS["weak"], "good": RUNS["good"]}
    found = dh.compare(QRELS, two, "AP", cluster=cluster.tolist())
    sums = np.array([difference[cluster == n].sum() for n in range(6)])
    error = math.sqrt(6 / 5 * ((sums - 5 * difference.mean()) ** 2).sum()) / 30
    expected = scipy_stats.t.sf((difference.mean() + 0.02) / error, 5)
    assert found.equivalence(0.02)["p_no_worse"].item() == pytest.approx(expected)
    assert found.sample_sizes(0.05)["std"].item() == pytest.approx(error * math.sqrt(30))


@pytest.mark.parametrize(("test", "p"), [("t", math.nan), ("bootstrap", math.nan), ("randomization", 0.5)])
def test_one_difference_throughout_is_no_evidence_of_spread(test: str, p: float) -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    sure, unsure = ({query: {"a": score, "b": 0.0} for query in qrels} for score in (1.0, -1.0))
    (pair,) = dh.compare(qrels, {"unsure": unsure, "sure": sure}, "RR", test=test).pairs
    assert pair.p_value == pytest.approx(p, nan_ok=True)
    assert not pair.significant


def test_disjoint_runs_are_refused() -> None:
    halves = {
        name: {query: docs for query, docs in RUNS[name].items() if (int(query[1:]) < 15) == (name == "weak")}
        for name in ("weak", "good")
    }
    with pytest.raises(NoCommonQueryError, match="no query in common"):
        dh.compare(QRELS, halves, "RR", missing="skip")


def test_saved_evaluations_are_compared_by_their_paths(tmp_path: Path) -> None:
    parts = {name: dh.evaluate(QRELS, run, "AP") for name, run in RUNS.items()}
    for name, evaluation in parts.items():
        evaluation.save(tmp_path / f"{name}.json")
    saved = dh.compare_evaluations({name: tmp_path / f"{name}.json" for name in parts})
    ours, theirs = (one.to_polars().drop("flip_probability") for one in (dh.compare_evaluations(parts), saved))
    assert ours.equals(theirs)


def test_the_sign_that_can_be_reversed_is_that_of_the_exact_difference() -> None:
    found = dh.compare(QRELS, RUNS, "RR", ties="doc_id")
    exact = dh.compare(QRELS, RUNS, "RR")
    for one, other in zip(found.pairs, exact.pairs, strict=True):
        assert one.expected_difference == other.difference
        assert one.flip_probability == other.flip_probability
        assert one.difference == pytest.approx(one.doc_id_difference)
