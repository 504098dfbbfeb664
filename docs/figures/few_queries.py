"""How intervals and tests of a difference at the level 5% hold with few queries, by the shape of the differences."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np
from _families import families, table

from deadheat.core import stats

if TYPE_CHECKING:
    from _families import Draw

SIZES = (5, 10, 15, 20, 25, 40)
N_SETS, N_RESAMPLES = 2000, 999
METHODS = ("t", "bootstrap-t")
TESTS = ("randomization", "bootstrap-t")
ROUNDING = 1e-9
CAPTIONS = {
    "interval": "Coverage of 95% intervals by `t` / `bootstrap-t`, in %:",
    "test": "Rejections by `randomization` / `bootstrap-t`, in %:",
    "unmarked": "Sets not marked as skewed / rejections by `randomization` among these, in %:",
    "far": "p of `randomization` of 0.005 or less, in %:",
}


def shapes() -> dict[str, Draw]:
    """Return what draws differences, by name: those of other simulations, and differences of skewed values."""
    return {
        **families(),
        "exponential - exponential (0)": lambda rng, shape: rng.exponential(1, shape) - rng.exponential(1, shape),
        "beta(0.3, 3) - beta(3, 30) (1.8)": lambda rng, shape: rng.beta(0.3, 3, shape) - rng.beta(3, 30, shape),
    }


def cells_of(draw: Draw, n: int, seed: int) -> dict[str, str]:
    """Return a cell of each table."""
    rng = np.random.default_rng([seed, n])
    differences = draw(rng, (n, N_SETS))
    covered = []
    for method in METHODS:
        low, high = stats.interval_bounds(differences, method=method, n_resamples=N_RESAMPLES, rng=rng)
        covered.append(percent((low <= ROUNDING) & (high >= -ROUNDING)))
    p_values = {}
    for test in TESTS:
        p_values[test] = stats.p_values(differences, test=test, n_resamples=N_RESAMPLES, rng=rng).p_values
    by_flips = p_values["randomization"]
    unmarked = ~stats.is_doubtful(*stats.skewness(differences), "randomization")
    return {
        "interval": " / ".join(covered),
        "test": " / ".join(percent(p <= 0.05) for p in p_values.values()),
        "unmarked": f"{percent(unmarked)} / {percent(by_flips[unmarked] <= 0.05)}",
        "far": percent(by_flips <= 0.005),
    }


def percent(holds: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> str:
    """Return a share in percent."""
    return f"{100 * float(holds.mean()):.0f}" if holds.size else "?"


def main() -> None:
    """Print the tables."""
    found = {}
    for name, draw in shapes().items():
        found[name] = [cells_of(draw, n, zlib.crc32(name.encode())) for n in SIZES]
    columns = ["differences with the mean 0", *(f"n = {n}" for n in SIZES)]
    tables = []
    for key, caption in CAPTIONS.items():
        rows = [[name, *(cells[key] for cells in of_sizes)] for name, of_sizes in found.items()]
        tables.append(f"{caption}\n\n{table(columns, rows)}")
    print("\n\n".join(tables))


if __name__ == "__main__":
    main()
