"""How often 95% intervals of the mean cover it: those that deadheat takes by default, and each method by itself."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from _families import table
from numpy.typing import NDArray

import deadheat as dh
from deadheat.core import stats
from deadheat.core.design import Design
from deadheat.core.evaluation.intervals import method_of, why_unknown

SIZES = (3, 5, 10, 20, 50, 100)
SIZES_OF_EACH = (5, 10, 20, 50)  # of the second table, with each method
METHODS = ("t", "bca", "bootstrap-t", "percentile", "skewed-t", "gaffke")
N_BATCHES, N_SETS, N_RESAMPLES = 8, 500, 999
ROUNDING = 1e-9
BOUNDED, UNBOUNDED, DIFFERENCES = "from 0 to 1", "from 0 on", "differences"
Draw = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]


@dataclass(frozen=True)
class Family:
    """Values of queries: what they are, their true mean, and how they are drawn."""

    kind: str
    mean: float
    draw: Draw


def mixed(zeros: float, ones: float = 0.0) -> Family:
    """Return values of which so many are 0 and 1, and the others uniform between."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
        kind = rng.random(shape)
        return np.where(kind < zeros, 0.0, np.where(kind < zeros + ones, 1.0, rng.random(shape)))

    return Family(BOUNDED, ones + (1 - zeros - ones) / 2, draw)


FAMILIES = {
    "uniform": Family(BOUNDED, 0.5, lambda rng, shape: rng.random(shape)),
    "beta(2, 1)": Family(BOUNDED, 2 / 3, lambda rng, shape: rng.beta(2, 1, shape)),
    "beta(0.5, 0.5)": Family(BOUNDED, 0.5, lambda rng, shape: rng.beta(0.5, 0.5, shape)),
    "beta(0.3, 3)": Family(BOUNDED, 0.3 / 3.3, lambda rng, shape: rng.beta(0.3, 3, shape)),
    "half 0, others uniform": mixed(0.5),
    "80% 0, others uniform": mixed(0.8),
    "40% 0, 40% 1, others uniform": mixed(0.4, 0.4),
    "10% 0, 80% 1, others uniform": mixed(0.1, 0.8),
    "90% 1, others uniform": mixed(0, 0.9),
    "exponential": Family(UNBOUNDED, 1.0, lambda rng, shape: rng.exponential(1, shape)),
    "lognormal": Family(UNBOUNDED, float(np.exp(0.5)), lambda rng, shape: rng.lognormal(0, 1, shape)),
    "normal differences": Family(DIFFERENCES, 0.0, lambda rng, shape: rng.normal(0, 1, shape)),
    "70% 0, others normal, differences": Family(
        DIFFERENCES, 0.0, lambda rng, shape: np.where(rng.random(shape) < 0.7, 0.0, rng.normal(0, 1, shape))
    ),
}


def default(kind: str) -> str:
    """Return the method that deadheat takes by default."""
    if kind == DIFFERENCES:
        return Design().difference_method
    measure = dh.parse_measure("nDCG" if kind == BOUNDED else "DCG")
    return method_of("auto", measure, has_clusters=False)


def coverage(family: Family, n: int, seed: int) -> dict[str, float]:
    """Return the shares of the known intervals that cover the mean, in percent, by method; NaN if none is known."""
    covered: dict[str, list[bool]] = {}
    for batch in range(N_BATCHES):
        rng = np.random.default_rng([seed, n, batch])
        values = family.draw(rng, (n, N_SETS))
        for method in METHODS if family.kind == BOUNDED else METHODS[:-1]:
            low, high = stats.interval_bounds(values, method=method, n_resamples=N_RESAMPLES, rng=rng)
            holds = (low <= family.mean + ROUNDING) & (family.mean <= high + ROUNDING)
            is_default = method == default(family.kind)
            known = [
                not why_unknown(*ends, n, None, method) if is_default else ends[0] < ends[1]
                for ends in zip(low.tolist(), high.tolist(), strict=True)
            ]
            covered.setdefault(method, []).extend(holds[known].tolist())
    return {method: 100 * float(np.mean(found)) if found else float("nan") for method, found in covered.items()}


def main() -> None:
    """Print two tables."""
    found = {
        name: {n: coverage(family, n, zlib.crc32(name.encode())) for n in SIZES} for name, family in FAMILIES.items()
    }
    chosen = [
        [name, *(_percent(found[name][n][default(family.kind)], 1) for n in SIZES)] for name, family in FAMILIES.items()
    ]
    print(f"The default:\n\n{table(_columns(SIZES), chosen)}\n")
    each = [
        [
            name,
            *(
                " / ".join(_percent(found[name][n].get(method, float("nan"))) for method in METHODS)
                for n in SIZES_OF_EACH
            ),
        ]
        for name in FAMILIES
    ]
    print(f"{' / '.join(f'`{method}`' for method in METHODS)}:\n\n{table(_columns(SIZES_OF_EACH), each)}")


def _columns(sizes: tuple[int, ...]) -> list[str]:
    return ["values", *(f"n = {n}" for n in sizes)]


def _percent(share: float, digits: int = 0) -> str:
    return "?" if np.isnan(share) else f"{share:.{digits}f}"


if __name__ == "__main__":
    main()
