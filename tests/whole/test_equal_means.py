"""Wherever systems are ranked by means, those that rounding alone separates are equal."""

from __future__ import annotations

import json
import random
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.evaluation.ordering import n_swapped, order_by_mean
from deadheat.core.kernels.ranks import first_ranks
from deadheat.plugins.compare.report import best_first
from support.command import ok
from support.figure_data import rows_of

if TYPE_CHECKING:
    from pathlib import Path

RANKS = range(1, 10)
NAMES = [f"s{n:02}" for n in range(12)]
QRELS = {f"q{rank}": {"a": 1} for rank in RANKS}


def runs() -> dict[str, dict[str, dict[str, float]]]:
    """Return runs that each have the ranks 1 to 9, in different orders of the queries."""
    found = {}
    for name in NAMES:
        ranks = random.Random(name).sample(RANKS, len(RANKS))
        found[name] = {
            query: {"a": 1.0} | {f"x{n}": 20.0 - n for n in range(rank - 1)}
            for query, rank in zip(QRELS, ranks, strict=True)
        }
    return found


@pytest.fixture(scope="module")
def evaluations() -> dict[str, dh.Evaluation]:
    found: Any = dh.evaluate(QRELS, runs(), "RR")
    assert len({one["RR"].mean for one in found.values()}) > 1  # by rounding alone: the values are the same
    return dict(found)


@pytest.mark.parametrize("seed", range(20))
def test_first_ranks_are_those_of_rounded_numbers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    exact = rng.integers(0, 6, 12) / 8 * 10.0 ** rng.integers(0, 5)
    noisy = exact * (1 + rng.normal(0, 1e-15, 12))
    noisy[rng.random(12) < 0.2] = np.nan
    known = exact[~np.isnan(noisy)].tolist()
    expected = [
        np.nan if np.isnan(value) else 1 + sum(other > own for other in known)
        for own, value in zip(exact.tolist(), noisy.tolist(), strict=True)
    ]
    assert first_ranks(noisy).tolist() == pytest.approx(expected, nan_ok=True)


def test_first_ranks_of_numbers_without_an_end() -> None:
    assert first_ranks(np.array([np.inf, 1.0, np.inf, -np.inf])).tolist() == [1, 3, 1, 4]
    assert first_ranks(np.array([])).tolist() == []
    assert first_ranks(np.array([np.nan])).tolist() == pytest.approx([np.nan], nan_ok=True)


def test_systems_of_equal_means_stay_in_their_order(evaluations: dict[str, dh.Evaluation]) -> None:
    measure = evaluations["s00"]["RR"].measure
    assert order_by_mean([one["RR"] for one in evaluations.values()]) == list(range(len(NAMES)))
    assert best_first(evaluations, measure) == NAMES
    turned = dict(reversed(evaluations.items()))
    assert best_first(turned, measure) == NAMES[::-1]
    assert n_swapped([one["RR"].mean for one in evaluations.values()], range(len(NAMES))) == 0


def test_the_command_keeps_the_order_of_runs_with_equal_means(tmp_path: Path) -> None:
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS), encoding="utf-8")
    paths = []
    for name, run in runs().items():
        paths.append(str(tmp_path / f"{name}.json"))
        (tmp_path / f"{name}.json").write_text(json.dumps(run), encoding="utf-8")
    out = ok("evaluate", str(tmp_path / "qrels.json"), *paths, "-m", "RR", "--format", "csv", "--sort", "RR")
    order = [name for line in out.splitlines() for name in NAMES if name in line]
    assert list(dict.fromkeys(order)) == NAMES


def test_judgments_that_change_nothing_change_no_rank(evaluations: dict[str, dh.Evaluation]) -> None:
    found = dh.diff_qrels(QRELS, {query: {"a": 1, "y": 0} for query in QRELS}, evaluations)
    assert {*found.effects["old_rank"].to_list(), *found.effects["new_rank"].to_list()} == {1}


def test_models_of_equal_means_share_a_rank(evaluations: dict[str, dh.Evaluation]) -> None:
    found = dh.leaderboard({"t": evaluations})
    assert found.ranks == [1] * len(NAMES)
    assert found.models == tuple(NAMES)
    assert not found.reversible


def test_systems_of_equal_means_share_ranks_in_a_comparison() -> None:
    found = dh.compare(QRELS, runs(), "RR", n_resamples=99)
    assert {*found.rank_intervals()["rank"].to_list()} == {1}
    verdict = found.verdict
    assert verdict.leader is None


def test_judges_do_not_order_systems_of_equal_means() -> None:
    """All systems have one mean by both labels: there is no order that could agree."""
    judge = dh.Qrels(QRELS, name="judge")
    found = dh.judge_agreement(QRELS, judge, runs=runs(), measures="RR", n_resamples=99)
    (conclusions,) = found.conclusions
    assert np.isnan(conclusions.tau_b)


def test_strata_of_equal_means_are_neither_lowest_nor_highest() -> None:
    """Two languages have the same reciprocal ranks in another order of the queries."""
    first, second = runs()["s00"], runs()["s01"]
    for one, other in combinations(runs().values(), 2):
        first, second = one, other
        means = [dh.evaluate(QRELS, run, "RR")["RR"].mean for run in (one, other)]
        if means[0] != means[1]:
            break
    qrels = {f"{language}-{query}": own for language in ("de", "en") for query, own in QRELS.items()}
    run = {
        f"{language}-{query}": own for language, half in (("de", first), ("en", second)) for query, own in half.items()
    }
    queries = pl.DataFrame({"query_id": list(qrels), "language": [query[:2] for query in qrels]})
    strata = dh.evaluate(qrels, run, "RR").by("language", queries)
    row = strata.averages().row(0, named=True)
    assert row["lowest"] == row["highest"]


def test_figures_keep_the_order_of_equal_means(evaluations: dict[str, dh.Evaluation]) -> None:
    pytest.importorskip("altair")
    rows = rows_of(dh.figures.forest(evaluations, "RR"))
    assert list(dict.fromkeys(row["label"] for row in rows))[:4] == NAMES[:4]
