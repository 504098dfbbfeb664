"""All pairs of several systems: false findings, findings, and how often the intervals of all pairs hold together."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from _families import table
from numpy.typing import NDArray

from deadheat.core import stats
from deadheat.core.stats.simultaneous_intervals import simultaneous_bounds

Values = NDArray[np.float64]

CELLS = ((2, 50), (5, 25), (5, 50), (5, 200), (40, 25), (40, 50), (40, 200), (200, 50))  # systems, queries
N_SETS = {2: 1000, 5: 400, 40: 100, 200: 20}
N_FLIPS, N_PERMUTED, LEVEL = 999, 199, 0.05
SHIFT = 0.7
FALSE = "Sets with a false finding, in %, by `max-t` / `max-t-step-down` / Holm (t) / Tukey / BH:"
METHODS = ("max-t", "max-t-step-down", "holm", "tukey", "bh")


class Drawn(NamedTuple):
    """Values of systems, shape (n_systems, n_queries), and their true means."""

    values: Values
    means: Values


Draw = Callable[[np.random.Generator, int, int], Drawn]


def kinds() -> dict[str, Draw]:
    """Return what draws systems, by name."""

    def equal(rng: np.random.Generator, n_systems: int, n: int) -> Drawn:
        return Drawn(rng.normal(size=(n_systems, n)) + rng.normal(size=n), np.zeros(n_systems))

    def half(rng: np.random.Generator, n_systems: int, n: int) -> Drawn:
        means = np.where(np.arange(n_systems) < n_systems // 2, SHIFT, 0.0)
        return Drawn(equal(rng, n_systems, n).values + means[:, None], means)

    def unequal(rng: np.random.Generator, n_systems: int, n: int) -> Drawn:
        scale = np.where(np.arange(n_systems) < max(1, n_systems // 5), 3.0, 1.0)
        return Drawn(rng.normal(size=(n_systems, n)) * scale[:, None], np.zeros(n_systems))

    def duplicates(rng: np.random.Generator, n_systems: int, n: int) -> Drawn:
        values = rng.normal(size=(n_systems, n))
        values[1::2] = values[::2][: n_systems // 2] + rng.normal(size=(n_systems // 2, n)) * 0.02
        return Drawn(values, np.zeros(n_systems))

    def skewed(rng: np.random.Generator, n_systems: int, n: int) -> Drawn:
        values = rng.exponential(size=(n_systems, n))
        values[::2] = rng.normal(1, 0.2, size=values[::2].shape)
        return Drawn(values, np.ones(n_systems))

    def tied(rng: np.random.Generator, n_systems: int, n: int) -> Drawn:
        values = np.where(rng.random((n_systems, n)) < 0.8, rng.random(n), rng.random((n_systems, n)))
        return Drawn(values, np.full(n_systems, 0.5))

    def hits(rng: np.random.Generator, n_systems: int, n: int) -> Drawn:
        return Drawn((rng.random((n_systems, n)) < 0.9).astype(np.float64), np.full(n_systems, 0.9))

    return {
        "equal, normal": equal,
        f"half of them better by {SHIFT}": half,
        "equal; a fifth vary three times as much": unequal,
        "equal; pairs of near-duplicates": duplicates,
        "equal; skewed differences": skewed,
        "equal; most values tied": tied,
        "equal; 0 or 1, a tenth 0": hits,
    }


def rates(draw: Draw, n_systems: int, n: int, seed: int) -> dict[str, float]:
    """Return percentages: sets with a false finding, different pairs that are found, sets of intervals that hold.

    The same signs serve all sets; that they are counted so by deadheat is tested elsewhere.
    """
    rng = np.random.default_rng([seed, n_systems, n])
    second, first = np.triu_indices(n_systems, 1)
    signs = rng.choice([-1.0, 1.0], size=(n, N_FLIPS))
    errors: dict[str, list[float]] = {method: [] for method in METHODS}
    power: dict[str, list[float]] = {method: [] for method in METHODS}
    held = []
    for _ in range(N_SETS[n_systems]):
        drawn = draw(rng, n_systems, n)
        true = drawn.means[first] - drawn.means[second]
        differences = (drawn.values[first] - drawn.values[second]).T
        scales = np.maximum(np.sqrt((differences**2).sum(axis=0)), 1e-12)
        observed = np.abs(differences.sum(axis=0)) / scales
        sums = drawn.values @ signs
        flipped = np.abs(sums[first] - sums[second]) / scales[:, None]
        maxima = flipped.max(axis=0)
        alone = stats.p_values(differences, test="t").p_values
        p_values = {
            "max-t": ((maxima >= observed[:, None] - 1e-9).sum(axis=1) + 1) / (N_FLIPS + 1),
            "holm": stats.adjust(alone, "holm"),
            "bh": stats.adjust(alone, "bh"),
        }
        if n_systems <= 40:
            order = np.argsort(observed)
            so_far = np.maximum.accumulate(flipped[order], axis=0)
            down = np.empty(len(order))
            down[order] = ((so_far >= observed[order, None] - 1e-9).sum(axis=1) + 1) / (N_FLIPS + 1)
            down[order[::-1]] = np.maximum.accumulate(down[order[::-1]])
            p_values["max-t-step-down"] = down
            of_all = stats.tukey_p_values(drawn.values.T, n_resamples=N_PERMUTED, rng=rng)
            p_values["tukey"] = of_all[first, second]
        for method, own in p_values.items():
            errors[method].append(100 * float((own[true == 0] < LEVEL).any()))
            if true.any():
                power[method].append(100 * float((own[true != 0] < LEVEL).mean()))
        critical = np.sort(maxima)[-int(LEVEL * (N_FLIPS + 1))]
        low, high = simultaneous_bounds(differences, critical, alternative="two-sided", cluster=None, weights=None)
        held.append(100 * float(((low <= true + 1e-12) & (true - 1e-12 <= high)).all()))
    found_of = {f"error {method}": own for method, own in errors.items()}
    found_of |= {f"power {method}": own for method, own in power.items()} | {"held": held}
    return {name: float(np.mean(own)) for name, own in found_of.items() if own}


def main() -> None:
    """Print three tables."""
    found = {
        name: [rates(draw, n_systems, n, zlib.crc32(name.encode())) for n_systems, n in CELLS]
        for name, draw in kinds().items()
    }
    columns = ["systems", *(f"{n_systems}, n = {n}" for n_systems, n in CELLS)]

    def cells(own: list[dict[str, float]], kind: str, methods: tuple[str, ...]) -> list[str]:
        return [" / ".join(f"{one[kind + m]:.0f}" if kind + m in one else "-" for m in methods) for one in own]

    rows = [[name, *cells(own, "error ", METHODS)] for name, own in found.items()]
    print(f"{FALSE}\n\n{table(columns, rows)}\n")
    rows = [[name, *cells(own, "power ", METHODS)] for name, own in found.items() if "power max-t" in own[0]]
    print(f"Different pairs that are found, in %, by the same:\n\n{table(columns, rows)}\n")
    rows = [[name, *cells(own, "held", ("",))] for name, own in found.items()]
    print(f"Sets in which the intervals of all pairs hold, in %:\n\n{table(columns, rows)}")


if __name__ == "__main__":
    main()
