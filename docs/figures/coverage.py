"""How often 95% intervals of the mean cover it, by method, shape and number of the values."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
from _families import table
from numpy.typing import NDArray

from deadheat import stats

SIZES = (3, 5, 9, 10, 25, 40, 100)
METHODS = ("bca", "percentile", "t")
N_BATCHES, N_SETS, N_RESAMPLES = 10, 1000, 1999
Draw = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]
FAMILIES: dict[str, tuple[float, Draw]] = {
    "normal": (0.0, lambda rng, shape: rng.normal(0, 1, shape)),
    "uniform": (0.5, lambda rng, shape: rng.random(shape)),
    "beta(2, 1)": (2 / 3, lambda rng, shape: rng.beta(2, 1, shape)),
    "exponential": (1.0, lambda rng, shape: rng.exponential(1, shape)),
    "lognormal": (float(np.exp(0.5)), lambda rng, shape: rng.lognormal(0, 1, shape)),
}


def coverage(draw: Draw, mean: float, n: int, seed: int) -> str:
    """Return the shares of intervals that cover the mean, in percent, for each method."""
    covered: dict[str, list[float]] = {method: [] for method in METHODS}
    for batch in range(N_BATCHES):
        rng = np.random.default_rng([seed, n, batch])
        values = draw(rng, (n, N_SETS))
        means = stats.resampled_means(values, n_resamples=N_RESAMPLES, rng=rng)
        for method in METHODS:
            low, high = stats.interval_bounds(values, method=method, means=means)
            covered[method].append(100 * float(((low <= mean) & (mean <= high)).mean()))
    return " / ".join(f"{np.mean(covered[method]):.1f}" for method in METHODS)


def main() -> None:
    """Print one table."""
    rows = [
        [name, *(coverage(draw, mean, n, zlib.crc32(name.encode())) for n in SIZES)]
        for name, (mean, draw) in FAMILIES.items()
    ]
    print(table(["values", *(f"n = {n}" for n in SIZES)], rows))


if __name__ == "__main__":
    main()
