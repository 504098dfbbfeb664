"""How often 95% intervals of a mean cover with a judge's labels, by the number of queries that people labelled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from _families import table
from scipy import special, stats

from deadheat.core.arrays import FloatArray
from deadheat.core.stats import interval_bounds
from deadheat.plugins.judges.prediction import powered_mean

SIZES = (5, 10, 15, 25, 40, 100)
WEIGHTED_SIZES = (10, 25, 50)
N_SETS, N_OTHERS, N_RESAMPLES, N_QUERIES = 400, 300, 999, 1_000_000
FEWEST_SETS = 20  # in which the judge counts: of fewer no coverage is given


@dataclass(frozen=True)
class Family:
    """Values from 0 to 1: their mean, and the value at each share of them."""

    mean: float
    quantile: Callable[[FloatArray], FloatArray]


FAMILIES = {
    "uniform": Family(0.5, lambda share: share),
    "beta(0.3, 3)": Family(0.3 / 3.3, lambda share: stats.beta.ppf(share, 0.3, 3)),
    "80% 0, others uniform": Family(0.1, lambda share: np.maximum(share - 0.8, 0) / 0.2),
    "80% 1, others uniform": Family(0.9, lambda share: np.minimum(share / 0.2, 1)),
}


def draw(rng: np.random.Generator, shape: tuple[int, int], judge: str) -> tuple[FloatArray, FloatArray]:
    """Return shares of two kinds, people's and the judge's: alike in nine of ten queries, or of correlated ranks."""
    own = rng.random(shape)
    if judge == "right in 90%":
        return own, np.where(rng.random(shape) < 0.9, own, rng.random(shape))
    correlation = float(judge.removeprefix("correlation "))
    noise = np.sqrt(1 - correlation**2) * rng.normal(size=shape)
    return own, special.ndtr(correlation * special.ndtri(own) + noise)


def coverage(family: Family, n: int, judge: str) -> str:
    """Return how often the judge counts if it may, and coverage then, of the interval with it and of people's alone."""
    rng = np.random.default_rng([n, len(judge)])
    known, predicted = map(family.quantile, draw(rng, (n, N_SETS), judge))
    others = family.quantile(draw(rng, (N_OTHERS, N_SETS), judge)[1])
    low, high = interval_bounds(known, method="gaffke", n_resamples=N_RESAMPLES, rng=rng)
    with_judge, alone = [], []
    for n_set in range(N_SETS):
        found = powered_mean(known[:, n_set], predicted[:, n_set], others[:, n_set])
        if not found.weight:
            continue
        ratio = np.sqrt(n / found.n_effective)
        mean = known[:, n_set].mean()
        ends = found.estimate + ratio * (np.array([low[n_set], high[n_set]]) - mean)
        with_judge.append(bool(ends[0] <= family.mean <= ends[1]))
        alone.append(bool(low[n_set] <= family.mean <= high[n_set]))
    if len(alone) < FEWEST_SETS:
        return "?"
    return f"{percent(with_judge)} / {percent(alone)} ({100 * len(alone) / N_SETS:.0f})"


def percent(holds: list[bool]) -> str:
    """Return a share in percent."""
    return f"{100 * float(np.mean(holds)):.0f}"


def weighted_coverage(n: int, spread: float) -> str:
    """Return the coverage of t intervals of a weighted mean, with a judge and without."""

    def draw_weighted(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        shared = rng.normal(size=n)
        return np.exp(spread * rng.normal(size=n) + 0.2 * shared), shared + rng.normal(size=n), shared

    weights, values, _ = draw_weighted(np.random.default_rng(0), N_QUERIES)
    truth = float(np.average(values, weights=weights))
    rng = np.random.default_rng([n, round(10 * spread)])
    with_judge, alone = [], []
    for _ in range(2 * N_SETS):
        weights, known, predicted = draw_weighted(rng, n)
        other_weights, _, others = draw_weighted(rng, N_OTHERS)
        found = powered_mean(known, predicted, others, weights=weights, other_weights=other_weights)
        with_judge.append(found.low <= truth <= found.high)
        found = powered_mean(known, predicted, np.empty(0), weights=weights)
        alone.append(found.low <= truth <= found.high)
    return f"{percent(with_judge)} / {percent(alone)}"


def main() -> None:
    """Print two tables."""
    rows = []
    for name, family in FAMILIES.items():
        for judge in ("correlation 0.6", "correlation 0.9", "right in 90%"):
            rows.append([name, judge, *(coverage(family, n, judge) for n in SIZES)])
    columns = ["values", "judge", *(f"n = {n}" for n in SIZES)]
    print(f"With the judge / alone (sets in which the judge would count), in %:\n\n{table(columns, rows)}\n")
    rows = [[f"{spread}", *(weighted_coverage(n, spread) for n in WEIGHTED_SIZES)] for spread in (0.5, 1.0)]
    columns = ["lognormal weights, standard deviation of the logarithm", *(f"n = {n}" for n in WEIGHTED_SIZES)]
    print(f"Weighted means, t, with the judge / alone, in %:\n\n{table(columns, rows)}")


if __name__ == "__main__":
    main()
