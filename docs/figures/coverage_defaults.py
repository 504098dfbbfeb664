"""Print how often the default intervals of a mean cover it, and how wide they are beside others'.

Of values between limits: Gaffke's bounds, of queries that count the same, of weighted ones, and of clusters. Of values
without limits: the skewed t beside Student's and the bootstrap-t.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from _families import DEMO, table
from numpy.typing import NDArray

import deadheat as dh
from deadheat.core import stats
from deadheat.core.stats.gaffke import gaffke_bounds

Array = NDArray[np.floating[Any]]
Draw = Callable[[np.random.Generator, tuple[int, int]], Array]
SIZES = (3, 5, 10, 20, 50, 100, 300)
SIZES_OF_UNITS = (5, 20, 60)
SIZES_OF_WIDTHS = (50, 100, 300, 1000)
SIZES_WITHOUT_LIMITS = (20, 50, 100, 300, 1000)
N_SETS, N_SETS_OF_UNITS, N_SETS_OF_BOOTSTRAPS, N_RESAMPLES = 4_000, 1_000, 1_000, 999
MOST_CELLS = 500_000  # of many values there are fewer sets: the standard error of 97% in 1,666 sets is 0.4
N_TRUTH = 1_000_000  # drawn for the true mean of values that depend on their weight
TAIL, ROUNDING = 0.025, 1e-9


@dataclass(frozen=True)
class Family:
    """Values of queries: their true mean, and how they are drawn."""

    mean: float
    draw: Draw


def beta(a: float, b: float) -> Family:
    """Return values of a beta distribution."""
    return Family(a / (a + b), lambda rng, shape: rng.beta(a, b, shape))


def mostly(value: float, share: float) -> Family:
    """Return values of which a share is 0 or 1 and the others are uniform."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
        return np.where(rng.random(shape) < share, value, rng.random(shape))

    return Family(share * value + (1 - share) / 2, draw)


def hits(share: float) -> Family:
    """Return zeros and ones."""
    return Family(share, lambda rng, shape: (rng.random(shape) < share).astype(np.float64))


def listed(values: Array, shares: Array) -> Family:
    """Return values from a list."""
    return Family(float(values @ shares), lambda rng, shape: rng.choice(values, shape, p=shares))


def reciprocal_ranks(first: float, decline: float) -> Family:
    """Return reciprocal ranks up to 100: so many at rank 1, each rank less likely than the one before; 5% are 0."""
    shares = decline ** np.arange(99)
    shares *= (0.95 - first) / shares.sum()
    values = np.append(1 / np.arange(1, 101), 0.0)
    return listed(values, np.concatenate([[first], shares, [0.05]]))


def of_demo(measure: str) -> Family:
    """Return the values of all queries of the demo's systems."""
    paths = sorted(DEMO.glob("*.run.gz"))
    values = np.concatenate([dh.evaluate(DEMO / "qrels.human.txt.gz", path, measure)[measure].values for path in paths])
    return listed(values, np.full(len(values), 1 / len(values)))


BOUNDED = {
    "uniform": beta(1, 1),
    "beta(2, 1)": beta(2, 1),
    "beta(0.3, 3)": beta(0.3, 3),
    "beta(0.1, 5)": beta(0.1, 5),
    "95% 0, others uniform": mostly(0.0, 0.95),
    "95% 1, others uniform": mostly(1.0, 0.95),
    "0 or 1, half": hits(0.5),
    "0 or 1, 5% are 1": hits(0.05),
    "0 or 1, 98% are 1": hits(0.98),
    "RR, 40% at rank 1": reciprocal_ranks(0.4, 0.6),
    "RR, 90% at rank 1": reciprocal_ranks(0.9, 0.5),
    "nDCG@10 of the demo": of_demo("nDCG@10"),
}
OF_UNITS = ("beta(0.1, 5)", "95% 1, others uniform", "RR, 40% at rank 1", "nDCG@10 of the demo")
OF_WIDTHS = ("uniform", "beta(0.3, 3)", "95% 0, others uniform", "nDCG@10 of the demo")
UNBOUNDED = {
    "exponential": Family(1.0, lambda rng, shape: rng.exponential(1, shape)),
    "90% 0, others exponential": Family(
        0.1, lambda rng, shape: np.where(rng.random(shape) < 0.9, 0.0, rng.exponential(1, shape))
    ),
    "lognormal, spread 1": Family(float(np.exp(0.5)), lambda rng, shape: rng.lognormal(0, 1, shape)),
    "lognormal, spread 1.5": Family(float(np.exp(1.125)), lambda rng, shape: rng.lognormal(0, 1.5, shape)),
}


def main() -> None:
    """Print five tables."""
    print("Values between limits, queries that count the same:\n")
    print(table(["values", *(f"n = {n}" for n in SIZES)], [[name, *covered(name)] for name in BOUNDED]))
    print("\nWeights (lognormal) and sizes of clusters, independent of the values / large ones have lower values:\n")
    rows = []
    for name in OF_UNITS:
        for kind in (
            "weights, spread 1",
            "weights, spread 1.5",
            "clusters, sizes geometric",
            "clusters, sizes lognormal",
        ):
            rows.append([name, kind, *covered_units(name, kind)])
    print(table(["values", "units", *(f"{n} units" for n in SIZES_OF_UNITS)], rows))
    print("\nMedian width over that of `t`, `gaffke` / `bca`:\n")
    print(table(["values", *(f"n = {n}" for n in SIZES_OF_WIDTHS)], [[name, *widths(name)] for name in OF_WIDTHS]))
    print("\nValues without limits, `skewed-t` / `t` / `bootstrap-t`:\n")
    compared = [without_limits(name) for name in UNBOUNDED]
    columns = ["values", *(f"n = {n}" for n in SIZES_WITHOUT_LIMITS)]
    print(table(columns, [[name, *found[0]] for name, found in zip(UNBOUNDED, compared, strict=True)]))
    print("\nShare of the sets that the report marks as skewed, in %, and median width over that of `t`, as above:\n")
    print(table(columns, [[name, *found[1]] for name, found in zip(UNBOUNDED, compared, strict=True)]))


def covered(name: str) -> list[str]:
    """Return how often Gaffke's bounds cover the mean, for each number of queries."""
    family = BOUNDED[name]
    cells = []
    for n in SIZES:
        values = family.draw(seeded(name, n), (n, min(N_SETS, MOST_CELLS // n)))
        low, high = stats.interval_bounds(values, method="gaffke")
        cells.append(percent(holds(low, high, family.mean)))
    return cells


def covered_units(name: str, kind: str) -> list[str]:
    """Return how often the bounds of weighted queries, or of clusters, cover the ratio of means."""
    cells = []
    for n in SIZES_OF_UNITS:
        found = []
        for is_lower in (False, True):
            rng = seeded(name, n)
            sizes, values = units(name, kind, rng, (n, N_SETS_OF_UNITS), is_lower=is_lower)
            added = (sizes**2).sum(axis=0) / sizes.sum(axis=0)
            low, high = gaffke_bounds(sizes * values, sizes, tail=TAIL, limits=(0.0, 1.0), added=added)
            found.append(percent(holds(low, high, true_ratio(name, kind, is_lower=is_lower))))
        cells.append(" / ".join(found))
    return cells


def units(
    name: str, kind: str, rng: np.random.Generator, shape: tuple[int, int], *, is_lower: bool
) -> tuple[Array, Array]:
    """Return the sizes of units and their mean values; the queries of a cluster are alike."""
    values = BOUNDED[name].draw(rng, shape)
    match kind:
        case "weights, spread 1":
            sizes = rng.lognormal(0, 1, shape)
        case "weights, spread 1.5":
            sizes = rng.lognormal(0, 1.5, shape)
        case "clusters, sizes geometric":
            sizes = rng.geometric(0.25, shape).astype(np.float64)
        case _:
            sizes = np.ceil(rng.lognormal(0, 1, shape))
    return sizes, values / (1 + sizes) if is_lower else values


def true_ratio(name: str, kind: str, *, is_lower: bool) -> float:
    """Return the mean over all queries that there may be."""
    if not is_lower:
        return BOUNDED[name].mean
    sizes = units("uniform", kind, np.random.default_rng(1), (N_TRUTH, 1), is_lower=False)[0]
    shares = sizes / (1 + sizes)
    return BOUNDED[name].mean * float(shares.mean() / sizes.mean())


def widths(name: str) -> list[str]:
    """Return the median widths over that of Student's t, for each number of queries."""
    cells = []
    for n in SIZES_OF_WIDTHS:
        values = BOUNDED[name].draw(seeded(name, n), (n, N_SETS_OF_BOOTSTRAPS))
        found = {method: median_width(values, method, rng=seeded(name, n)) for method in ("t", "gaffke", "bca")}
        cells.append(f"{found['gaffke'] / found['t']:.2f} / {found['bca'] / found['t']:.2f}")
    return cells


def median_width(values: Array, method: str, rng: np.random.Generator) -> float:
    """Return the median width of intervals."""
    low, high = stats.interval_bounds(values, method=method, n_resamples=N_RESAMPLES, rng=rng)
    return float(np.median(high - low))


def without_limits(name: str) -> tuple[list[str], list[str]]:
    """Return how often intervals cover, and how often they are marked and how wide they are."""
    family = UNBOUNDED[name]
    coverage, marked = [], []
    for n in SIZES_WITHOUT_LIMITS:
        values = family.draw(seeded(name, n), (n, N_SETS_OF_BOOTSTRAPS))
        values = values[:, values.max(axis=0) > 0]
        shares, width = [], {}
        for method in ("skewed-t", "t", "bootstrap-t"):
            low, high = stats.interval_bounds(values, method=method, n_resamples=N_RESAMPLES, rng=seeded(name, n))
            shares.append(percent(holds(low, high, family.mean)))
            width[method] = float(np.median(high - low))
        coverage.append(" / ".join(shares))
        skewness = np.abs(stats.skewness(values)[0])
        share = (skewness > np.maximum(1.0, 0.3 * np.sqrt(n))).mean()
        ratio = width["skewed-t"] / width["t"], width["bootstrap-t"] / width["t"]
        marked.append(f"{100 * share:.0f}; {ratio[0]:.2f} / {ratio[1]:.2f}")
    return coverage, marked


def holds(low: Array, high: Array, mean: float) -> NDArray[np.bool_]:
    """Return which intervals cover the mean."""
    return (low <= mean + ROUNDING) & (mean - ROUNDING <= high)


def seeded(name: str, n: int) -> np.random.Generator:
    """Return a generator of these values alone."""
    return np.random.default_rng([zlib.crc32(name.encode()), n])


def percent(outcomes: NDArray[np.bool_]) -> str:
    """Return a share in percent."""
    return f"{100 * float(outcomes.mean()):.1f}"


if __name__ == "__main__":
    main()
