"""Agreement of labels against the definitions, pair by pair of labels, and against scikit-learn and krippendorff."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from deadheat.core.stats.student_intervals import jackknife_bounds
from deadheat.plugins.judges import label_statistics as labels

CASES = range(30)


def drawn(seed: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return grades, of uneven distances, and what two raters gave some things."""
    rng = np.random.default_rng(seed)
    grades = np.sort(rng.choice([0.0, 1.0, 2.0, 3.5, 5.0, -1.0], rng.integers(2, 6), replace=False))
    first = rng.choice(grades, rng.integers(4, 40))
    second = np.where(rng.random(len(first)) < 0.5, first, rng.choice(grades, len(first)))
    return grades, first, second


def table(grades: Any, first: Any, second: Any) -> Any:  # noqa: ANN401 - arrays
    return np.array([[((first == a) & (second == b)).sum() for b in grades] for a in grades], float)


def alpha_by_definition(things: list[list[float]], kind: str) -> float:
    """Return 1 - observed over expected disagreement, from all ordered pairs of labels."""
    kept = [one for one in things if len(one) > 1]
    every = [label for one in kept for label in one]

    def apart(a: float, b: float) -> float:
        if kind == "nominal":
            return float(a != b)
        if kind == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(low < one < high for one in every)
        return 0.0 if a == b else (between + (every.count(a) + every.count(b)) / 2) ** 2

    observed = sum(apart(a, b) / (len(one) - 1) for one in kept for a, b in permutations(one, 2)) / len(every)
    expected = sum(apart(a, b) for a, b in permutations(every, 2)) / (len(every) * (len(every) - 1))
    return 1 - observed / expected


def test_kappa_is_scikit_learns() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    for seed in CASES:
        grades, first, second = drawn(seed)
        counts = table(grades, first, second)
        names = [f"{grade:g}" for grade in grades]
        as_names = [[names[list(grades).index(one)] for one in own] for own in (first, second)]
        assert labels.kappa(counts, grades) == pytest.approx(metrics.cohen_kappa_score(*as_names), abs=1e-12)
        equal = np.arange(len(grades), dtype=float)  # scikit-learn's distances are those of the places
        for power, weights in ((1, "linear"), (2, "quadratic")):
            ranks = [[list(grades).index(one) for one in own] for own in (first, second)]
            expected = metrics.cohen_kappa_score(*ranks, labels=range(len(grades)), weights=weights)
            assert labels.kappa(counts, equal, power) == pytest.approx(expected, abs=1e-12)


def test_weights_are_distances_of_the_grades() -> None:
    for seed in CASES:
        grades, first, second = drawn(seed)
        n = len(first)
        for power in (1, 2):
            observed = sum(abs(a - b) ** power for a, b in zip(first, second, strict=True)) / n
            expected = sum(abs(a - b) ** power for a in first for b in second) / n**2
            found = labels.kappa(table(grades, first, second), grades, power)
            assert found == pytest.approx(1 - observed / expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", labels.LEVELS)
def test_alpha_is_its_definition(kind: labels.Level) -> None:
    for seed in CASES:
        grades, first, second = drawn(seed)
        expected = alpha_by_definition([list(pair) for pair in zip(first, second, strict=True)], kind)
        found = labels.alpha(labels.coincidences(table(grades, first, second)), grades, kind)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", labels.LEVELS)
def test_alpha_of_many_raters_with_gaps(kind: labels.Level) -> None:
    for seed in CASES:
        rng = np.random.default_rng(seed)
        grades = np.array([0.0, 1.0, 2.0, 4.0])
        given = rng.choice(grades, (4, 12))
        given[rng.random(given.shape) < 0.3] = np.nan
        things = [[one for one in column if not np.isnan(one)] for column in given.T]
        counts = np.array([[one.count(grade) for grade in grades] for one in things], float)
        found = labels.alpha(labels.coincidences_of_many(counts).sum(0), grades, kind)
        assert found == pytest.approx(alpha_by_definition(things, kind), abs=1e-12)


@pytest.mark.parametrize("kind", labels.LEVELS)
def test_alpha_is_that_of_krippendorff(kind: labels.Level) -> None:
    package = pytest.importorskip("krippendorff")
    for seed in CASES:
        grades, first, second = drawn(seed)
        expected = package.alpha(np.stack([first, second]), level_of_measurement=kind)
        found = labels.alpha(labels.coincidences(table(grades, first, second)), grades, kind)
        assert found == pytest.approx(expected, abs=1e-12)


def test_tau_b_is_that_of_scipy() -> None:
    for seed in CASES:
        grades, first, second = drawn(seed)
        expected = scipy_stats.kendalltau(first, second).statistic
        assert labels.tau_b(table(grades, first, second)) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_grades_one_by_one() -> None:
    for seed in CASES:
        grades, first, second = drawn(seed)
        found = labels.by_grade(table(grades, first, second), grades)
        for n, grade in enumerate(grades):
            of_first, of_second = first == grade, second == grade
            expected = [
                (of_first & of_second).sum() / of_second.sum() if of_second.any() else np.nan,
                (of_first & of_second).sum() / of_first.sum() if of_first.any() else np.nan,
                second[of_first].mean() - grade if of_first.any() else np.nan,
            ]
            assert [found[name][n] for name in ("precision", "recall", "inflation")] == pytest.approx(
                expected, nan_ok=True
            )
        relevant, called = first >= 2, second >= 2
        of = labels.of_relevant(table(grades, first, second), grades, 2)
        if called.any() and relevant.any():
            assert of["precision"] == pytest.approx((relevant & called).sum() / called.sum())
            assert of["recall"] == pytest.approx((relevant & called).sum() / relevant.sum())
        assert of["inflation"] == pytest.approx(called.mean() - relevant.mean())


def test_what_does_not_exist_is_nan() -> None:
    grades = np.array([0.0, 1.0])
    one_grade = np.array([[5.0, 0.0], [0.0, 0.0]])
    assert np.isnan(labels.kappa(one_grade, grades))
    assert np.isnan(labels.alpha(labels.coincidences(one_grade), grades))
    assert np.isnan(labels.tau_b(one_grade))
    assert np.isnan(labels.share_equal(np.zeros((2, 2))))


def test_the_jackknife_of_a_mean_is_students_interval() -> None:
    values = np.random.default_rng(3).random(12)
    left = np.array([np.delete(values, n).mean() for n in range(12)])
    expected = scipy_stats.t.interval(0.9, 11, values.mean(), scipy_stats.sem(values))
    assert jackknife_bounds(values.mean(), left, 0.9) == pytest.approx(expected)
    assert all(np.isnan(jackknife_bounds(0.5, np.array([0.5]), 0.9)))


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [5, 10, 25])
def test_intervals_cover_kappa_of_a_judge_that_varies_by_query(n_queries: int) -> None:
    """Of 600 samples of queries, 90% or more with 5 queries, 92% from 10 on (measured: 93 to 95%)."""
    grades, rng = np.arange(4.0), np.random.default_rng(1)
    base = np.array([[0.6, 0.25, 0.1, 0.05], [0.25, 0.4, 0.25, 0.1], [0.1, 0.25, 0.4, 0.25], [0.05, 0.15, 0.3, 0.5]])

    def queries(n: int) -> Any:  # noqa: ANN401 - an array
        own = np.empty((n, 4, 4))
        for one in own:
            human = rng.dirichlet(np.array([0.5, 0.2, 0.2, 0.1]) * 6)
            judge = np.array([rng.dirichlet(row * 6) for row in base])
            one[:] = rng.multinomial(rng.integers(20, 200), (human[:, None] * judge).ravel()).reshape(4, 4)
        return own

    true = labels.kappa(queries(20_000).sum(0), grades, 2)
    covered = 0
    for _ in range(600):
        own = queries(n_queries)
        whole = own.sum(0)
        found = labels.kappa(np.concatenate([whole[None], whole - own]), grades, 2)
        low, high = jackknife_bounds(float(found[0]), found[1:], 0.95)
        covered += int(low <= true <= high)
    assert covered / 600 > (0.89 if n_queries == 5 else 0.92)
