"""Bounds over the places of documents without a grade: every score that each could have is tried."""

from __future__ import annotations

import itertools
import random

import pytest

import deadheat as dh
from deadheat.plugins.bounds import anywhere

MEASURES = ["P@2", "Hit@1", "RR", "R@2", "F@3", "AP", "AP(rel=2)@3", "Rprec", "DCG@3", "nDCG@3", "nDCG", "RBP", "ERR"]
MORE = [
    "nDCG(gain={1: 1, 2: 5, 3: 4})@3",
    "nDCG(ideal='retrieved')@3",
    "ERR(stop='sigmoid(1, 2)')",
    "AP(norm='retrieved')",
]

Answers = dict[str, float | None]


def drawn(seed: int, n_failed: int) -> tuple[dict[str, float], Answers]:
    """Judgments, of which some are of documents without a grade, and grades from 0 to 2 with ties."""
    rng = random.Random(seed)
    documents = [f"d{n}" for n in range(5 + n_failed)]
    judged = {doc: float(rng.randrange(4)) for doc in documents if rng.random() < 0.8} | {"lost": 1.0}
    failed = rng.sample(documents, n_failed)
    return judged, {doc: None if doc in failed else float(rng.randrange(3)) for doc in documents}


def everywhere(answers: Answers) -> list[dict[str, float]]:
    """Every list that scores of the failed documents can make: in and between all ties, and among each other."""
    failed = [doc for doc, grade in answers.items() if grade is None]
    step = len(failed) + 1  # as many places between two grades as can differ
    kept = {doc: grade * step for doc, grade in answers.items() if grade is not None}
    places = itertools.product(range(1 - step, 3 * step), repeat=len(failed))
    return [kept | dict(zip(failed, map(float, scores), strict=True)) for scores in places]


def check(seed: int, n_failed: int, measures: list[str]) -> None:
    judged, answers = drawn(seed, n_failed)
    run = dh.read_judgments({"q": answers, "p": {"d0": 1}}, kind="run", failed="bounds")
    found = dh.evaluate({"q": judged, "p": {"d0": 1.0}}, run, measures)
    lists = everywhere(answers)
    ids = [f"q{n}" for n in range(len(lists))]
    each = dh.evaluate(dict.fromkeys(ids, judged), dict(zip(ids, lists, strict=True)), measures)
    for name in measures:
        values, own = each[name].values, found[name]
        assert own.unjudged_min.tolist() == pytest.approx([own.values[0], values.min()], abs=1e-12), name
        assert own.unjudged_max.tolist() == pytest.approx([own.values[0], values.max()], abs=1e-12), name
        assert own.unjudged_min[1] - 1e-12 <= own.values[1] <= own.unjudged_max[1] + 1e-12, name


@pytest.mark.parametrize("seed", range(6))
def test_one_document(seed: int) -> None:
    check(seed, 1, MEASURES + MORE)


@pytest.mark.parametrize("seed", range(3))
def test_two_documents(seed: int) -> None:
    check(seed, 2, MEASURES + MORE)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_three_documents(seed: int) -> None:
    check(seed, 3, ["AP", "nDCG@3", "nDCG", "ERR"])


@pytest.mark.parametrize("seed", range(3))
def test_outer_ends_contain_the_exact_ones(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    judged, answers = drawn(seed, 3)
    names = [*MEASURES, *MORE]

    def ends() -> dict[str, tuple[float, float]]:
        run = dh.read_judgments({"q": answers}, kind="run", failed="bounds")
        found = dh.evaluate({"q": judged}, run, names)
        return {name: (found[name].mean_unjudged_min, found[name].mean_unjudged_max) for name in names}

    exact = ends()
    monkeypatch.setattr(anywhere, "MOST", 1)
    outer = ends()
    for name, (low, high) in exact.items():
        assert outer[name][0] <= low + 1e-12, name
        assert outer[name][1] >= high - 1e-12, name
