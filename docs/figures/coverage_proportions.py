"""Print how often the intervals of measures that are 0 or 1 cover the true mean, also where ties make fractions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln, xlogy

from deadheat.core.stats import interval_bounds, proportion_bounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deadheat.core.arrays import FloatArray, IntArray

SIZES = (2, 5, 10, 25, 100)
MEANS = (0.5, 0.9, 0.99)
ROUNDING = 1e-9
N_DRAWS, N_SEARCHED, SEED = 20_000, 2_000, 1


def main() -> None:
    """Print a row for each kind of values and true mean, and a column for each number of queries."""
    print(f"| values of a query | true mean | {' | '.join(f'n = {n}' for n in SIZES)} |")
    print(f"|---|---|{'--:|' * len(SIZES)}")
    for label, mean, shares in rows():
        print(f"| {label} | {mean} | {' | '.join(f'{100 * share:.1f}%' for share in shares)} |")


def rows() -> Iterator[tuple[str, str, list[float]]]:
    """Give the kind of values, the true mean and the coverage at each number of queries."""
    for mean in MEANS:
        yield "0 or 1", f"{mean:g}", [coverage(*zero_or_one(mean), n) for n in SIZES]
    for mean in MEANS:
        yield "0, 1/2 or 1", f"{mean:g}", [coverage(*halves(mean), n) for n in SIZES]
    for mean in MEANS:
        yield "1/3 or 1", f"{mean:g}", [coverage(*from_a_third(mean), n) for n in SIZES]
    for mean in MEANS:
        yield "from 0 to 1 (beta distribution)", f"{mean:g}", [sampled(mean, n) for n in SIZES]
    yield "any three, the worst found", "any", [searched(n) for n in SIZES]
    for mean in MEANS:
        yield "0 or 1, by `bca`", f"{mean:g}", [of_bootstrap(mean, n) for n in SIZES]


def zero_or_one(mean: float) -> tuple[FloatArray, FloatArray]:
    """Return values without ties and their probabilities."""
    return np.array([0.0, 1.0]), np.array([1 - mean, mean])


def halves(mean: float) -> tuple[FloatArray, FloatArray]:
    """Return values and probabilities where half of the queries that are not a sure hit tie two documents."""
    missed = (1 - mean) * 4 / 3  # of a miss and a tie of two, half each, the mean is 1/4
    return np.array([0.0, 0.5, 1.0]), np.array([missed / 2, missed / 2, 1 - missed])


def from_a_third(mean: float) -> tuple[FloatArray, FloatArray]:
    """Return values and probabilities where every query has at least one chance in three."""
    sure = (mean - 1 / 3) * 1.5
    return np.array([1 / 3, 1.0]), np.array([1 - sure, sure])


def coverage(values: FloatArray, probabilities: FloatArray, n: int) -> float:
    """Return the exact probability that the interval of n values covers their mean."""
    counts = arrangements(len(values), n)
    low, high = proportion_bounds(counts @ values, n)
    mean = float(values @ probabilities)
    weights = np.exp(gammaln(n + 1) + (xlogy(counts, probabilities) - gammaln(counts + 1)).sum(axis=1))
    return float(weights[(low <= mean + ROUNDING) & (mean <= high + ROUNDING)].sum())


def arrangements(n_values: int, n: int) -> IntArray:
    """Return how often each of two or three values can occur among n, of shape (n_arrangements, n_values)."""
    first, second = np.indices((n + 1, n + 1 if n_values > 2 else 1)).reshape(2, -1)
    counts = np.column_stack([first, second, n - first - second])[first + second <= n]
    return counts if n_values > 2 else counts[:, [0, 2]]


def sampled(mean: float, n: int) -> float:
    """Return the share of drawn samples, from a beta distribution with its poles at 0 and 1, whose interval covers."""
    drawn = np.random.default_rng(SEED).beta(mean / 2, (1 - mean) / 2, (N_DRAWS, n))
    low, high = proportion_bounds(drawn.sum(axis=1), n)
    return float(((low <= mean) & (mean <= high)).mean())


def searched(n: int) -> float:
    """Return the lowest coverage over distributions of three values that are drawn, and then moved downhill."""
    rng = np.random.default_rng(SEED)
    found, lowest = start(rng), 1.0
    for step in range(N_SEARCHED if n < max(SIZES) else N_SEARCHED // 10):
        values, probabilities = start(rng) if step % 2 else found
        if step % 2 == 0:
            size = 10 ** rng.uniform(-4, -0.5)
            values = np.clip(values + size * rng.normal(size=3) * rng.integers(0, 2, 3), 0, 1)
            probabilities = probabilities * np.exp(size * rng.normal(size=3))
            probabilities /= probabilities.sum()
        covered = coverage(values, probabilities, n)
        if covered < lowest:
            found, lowest = (values, probabilities), covered
    return lowest


def start(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return three values, often with 0 and 1 among them, and their probabilities."""
    values = rng.random(3)
    values[: rng.integers(0, 3)] = 0.0
    values[2] = max(values[2], rng.integers(0, 2))
    return values, rng.dirichlet(np.full(3, rng.choice([0.2, 1.0, 5.0])))


def of_bootstrap(mean: float, n: int) -> float:
    """Return the coverage of BCa intervals of values that are 0 or 1, which was the default once."""
    counts = np.arange(n + 1)
    ones = (np.arange(n)[:, None] < counts).astype(float)
    low, high = interval_bounds(ones, rng=SEED)
    weights = np.exp(
        gammaln(n + 1)
        - gammaln(counts + 1)
        - gammaln(n - counts + 1)
        + xlogy(counts, mean)
        + xlogy(n - counts, 1 - mean)
    )
    return float(weights[(low <= mean + ROUNDING) & (mean <= high + ROUNDING)].sum())


if __name__ == "__main__":
    main()
