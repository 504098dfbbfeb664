"""MaxRel on the judgments of an ontology: everything that is made of tie orders has its placements, saved ones too."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import Collection, Ontology
from deadheat.plugins.bench.cases import Case, Cases
from deadheat.plugins.bench.result import Key
from support.command import ok
from support.figure_data import rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from deadheat import BenchResult

N_TERMS, N_CASES = 31, 12
TERMS = tuple(f"D{n:02}" for n in range(1, N_TERMS + 1))
TREE = Ontology.from_parents({f"D{n:02}": [f"D{n // 2:02}"] if n > 1 else [] for n in range(1, N_TERMS + 1)})
EXPECTED = [TERMS[-1 - 2 * n % N_TERMS] for n in range(N_CASES)]
CASES = Cases("mine", {}, tuple(Case(f"c{n:02}", f"text {n}", (one,), (1.0,)) for n, one in enumerate(EXPECTED)))
KEY = ("mine", "(none)")


def found_by(seed: int) -> list[dict[str, float]]:
    rng = random.Random(seed)
    return [{doc: float(rng.randrange(2)) for doc in rng.sample(TERMS, 6)} for _ in range(N_CASES)]


FOUND = {"first": found_by(1), "second": found_by(2)}


def finder(name: str) -> Callable[[Sequence[str], int], list[dict[str, float]]]:
    def search(texts: Sequence[str], k: int) -> list[dict[str, float]]:  # noqa: ARG001 - as every retriever
        return [FOUND[name][int(text.split()[1])] for text in texts]

    search.__name__ = name
    return search


def drawn_means(name: str, k: int, n_draws: int) -> np.ndarray[Any, Any]:
    """Return the mean MaxRel@k over cases in random orders of equal scores, from its definition."""
    rng, total = np.random.default_rng(7), np.zeros(n_draws)
    for scores, expected in zip(FOUND[name], EXPECTED, strict=True):
        similar = dict(zip(TREE.ids, TREE.similarities(expected).tolist(), strict=True))
        values = np.array([similar[doc] for doc in scores])
        keys = rng.random((n_draws, len(scores))) - np.array(list(scores.values()))
        total += values[np.argsort(keys, axis=1)[:, :k]].max(axis=1)
    return total / N_CASES


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> tuple[BenchResult, Path]:
    documents, folder = Collection("terms", TERMS, TERMS, ((),) * N_TERMS), tmp_path_factory.mktemp("results")
    measures = ["MaxRel@2", "MaxRel@1", "RR"]
    retrievers = [finder("first"), finder("second")]
    return dh.bench(CASES, documents, retrievers, measures, ontology=TREE, output=folder, n_resamples=99), folder


@pytest.mark.parametrize("k", [1, 2])
def test_the_probability_of_a_reversal_is_that_of_drawn_orders(result: tuple[BenchResult, Path], k: int) -> None:
    pair = next(one for one in result[0].comparisons[KEY].pairs if one.measure == f"MaxRel@{k}")
    means = {name: drawn_means(name, k, 20_000) for name in FOUND}
    difference = means[pair.system] - means[pair.baseline]
    assert pair.difference == pytest.approx(difference.mean(), abs=0.002)
    share = (np.sign(pair.difference) * difference < -1e-10).mean()
    assert 0.01 < share < 0.99
    assert pair.flip_method in {"exact", "grid"}
    assert pair.flip_probability == pytest.approx(share, abs=4 * 0.5 / 20_000**0.5)


def test_saved_evaluations_are_compared_as_those_in_memory(result: tuple[BenchResult, Path]) -> None:
    found, folder = result
    saved = dh.compare_evaluations(sorted((folder / "evaluations").glob("*.json")), n_resamples=99)
    of_measure = {one.measure: one.flip_probability for one in found.comparisons[KEY].pairs}
    assert {one.measure: one.flip_probability for one in saved.pairs} == of_measure


@pytest.mark.slow
def test_everything_after_a_benchmark_has_its_placements(result: tuple[BenchResult, Path], tmp_path: Path) -> None:
    found, folder = result
    saved = list(map(str, sorted((folder / "evaluations").glob("*.json"))))
    ok("report", folder, "-o", tmp_path / "page.html")
    ok("report", *saved, "-o", tmp_path / "saved.html")
    assert "To detect 0.05" in ok("compare", *saved, "--detect", "0.05")
    both = [found.evaluations[Key(*KEY, name)] for name in FOUND]
    assert len(rows_of(dh.figures.precision_recall(both))) > 0
    drawn = {
        (row["system"], row["cutoff"]): row["mean"] for row in rows_of(dh.figures.cutoffs(both, "MaxRel", at=[1, 3]))
    }
    for name in FOUND:
        assert drawn[name, 1] == pytest.approx(found.evaluations[Key(*KEY, name)]["MaxRel@1"].mean)
        assert drawn[name, 3] == pytest.approx(drawn_means(name, 3, 20_000).mean(), abs=0.005)


def test_some_queries_and_renamed_ones_keep_both_placements(result: tuple[BenchResult, Path]) -> None:
    own = result[0].evaluations[Key(*KEY, "first")]
    measure = dh.parse_measure("MaxRel@2")
    few = own.select(np.arange(N_CASES) % 2 == 0)
    assert measure.mean(few.placements_of(measure)).tolist() == few[measure].values.tolist()
    names = {one: f"z{N_CASES - n:02}" for n, one in enumerate(own.query_ids.tolist())}
    other = own.renamed(names)
    assert measure.mean(other.placements_of(measure)).tolist() == other[measure].values.tolist()
