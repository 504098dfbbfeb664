"""Ranks that hold for all models together: boards in which some range of ranks misses a true rank.

`python docs/figures/rank_sets.py --full` simulates the whole grid, which takes 17 minutes.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from _families import table
from numpy.typing import NDArray

from deadheat.core.stats.ranks import ranks
from deadheat.core.stats.units import Units
from deadheat.plugins.leaderboard.separation import (
    cautious_spread,
    joint_critical_value,
    pairwise_errors,
    rank_bounds,
    separated,
)

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, Values], Values]

LEVEL = 0.95
WORST = -1.4  # standard deviations by which the worst of the different models is worse than the equal ones


class Layout(NamedTuple):
    """Blocks of units: groups of tasks, which are resampled, or tasks whose queries are."""

    name: str
    sizes: tuple[int, ...]
    unit: Literal["task", "query"]
    spread: float = 0.0  # standard deviation of the logarithm of the tasks' weights


class Size(NamedTuple):
    """Number of models, of boards that are drawn, and of sign flips for each board."""

    n_models: int
    n_boards: int
    n_flips: int


class Grid(NamedTuple):
    """Sizes of the tables: equal models, different ones, weights and several blocks, skewed differences."""

    equal: tuple[Size, ...]
    different: tuple[Size, ...]
    other: tuple[Size, ...]
    skewed: tuple[Size, ...]


SINGLE = (
    Layout("10 tasks", (10,), "task"),
    Layout("25 tasks", (25,), "task"),
    Layout("50 tasks", (50,), "task"),
    Layout("one task, 25 queries", (25,), "query"),
)
OTHER = (
    Layout("25 tasks, lognormal weights", (25,), "task", spread=1.0),
    Layout("3 tasks of 10 queries", (10, 10, 10), "query"),
    Layout("tasks of 100 and 5 queries", (100, 5), "query"),
    Layout("groups of 12 and 2 tasks", (12, 2), "task"),
    Layout("groups of 8, 8, 3, 2, 10, 9 tasks", (8, 8, 3, 2, 10, 9), "task"),
)
FULL = Grid(
    equal=(Size(10, 2000, 999), Size(20, 2000, 999), Size(40, 2000, 499), Size(100, 2000, 199), Size(200, 1000, 199)),
    different=(Size(10, 2000, 499), Size(40, 2000, 199), Size(200, 400, 199)),
    other=(Size(3, 1000, 199), Size(10, 1000, 199), Size(40, 400, 199)),
    skewed=(Size(10, 1000, 199), Size(40, 1000, 199), Size(200, 200, 199)),
)
SHORT = Grid(
    equal=(Size(10, 1000, 199), Size(40, 1000, 199), Size(200, 200, 199)),
    different=(Size(10, 1000, 199), Size(40, 400, 199)),
    other=(Size(10, 300, 199),),
    skewed=(Size(10, 400, 199), Size(40, 400, 199)),
)
MOST_MODELS = (Size(500, 400, 199),)


def kinds() -> dict[str, Draw]:
    """Return what draws the values of models, shape (n_units, n_models), by their effects, in standard deviations."""

    def normal(rng: np.random.Generator, n: int, effects: Values) -> Values:
        return rng.normal(size=(n, len(effects))) + effects

    def uniform(rng: np.random.Generator, n: int, effects: Values) -> Values:
        return rng.random((n, len(effects))) + effects / 12**0.5

    def half(rng: np.random.Generator, n: int, effects: Values) -> Values:
        return (rng.random((n, len(effects))) < 0.5 + 0.3 * effects).astype(np.float64)

    def hits(rng: np.random.Generator, n: int, effects: Values) -> Values:
        return (rng.random((n, len(effects))) >= 0.1 - 0.3 * effects).astype(np.float64)

    def heavy(rng: np.random.Generator, n: int, effects: Values) -> Values:
        return rng.standard_t(3, (n, len(effects))) + effects * 3**0.5

    return {
        "normal": normal,
        "uniform": uniform,
        "0 or 1, half": half,
        "0 or 1, a tenth 0": hits,
        "t with 3 degrees of freedom": heavy,
    }


def skewed_kinds() -> dict[str, Draw]:
    """Return what draws values whose differences are skewed."""

    def skewed(rng: np.random.Generator, n: int, effects: Values) -> Values:
        values = rng.exponential(size=(n, len(effects)))
        values[:, ::2] = rng.normal(1, 0.2, size=values[:, ::2].shape)
        return values + effects

    return {"half exponential, half normal": skewed}


def blocks_of(values: Values, layout: Layout, rng: np.random.Generator) -> tuple[list[Units], list[float]]:
    """Return what a leaderboard gives to the kernel, and the share of each block."""
    parts = np.split(values, np.cumsum(layout.sizes)[:-1])
    columns = np.arange(values.shape[1])
    share = 1 / len(parts)
    are_tasks = layout.unit == "task"
    blocks = []
    for part in parts:
        sizes = np.ones(len(part))
        if are_tasks:
            sizes = rng.lognormal(0, layout.spread, len(part))
            sizes *= share / sizes.sum()
        blocks.append(Units(columns, part * sizes[:, None], sizes, is_weighted=are_tasks))
    return blocks, [share] * len(parts)


def misses(values: Values, true: Values, layout: Layout, n_flips: int, rng: np.random.Generator) -> bool:
    """Return whether the range of some model misses one of the ranks that it truly shares."""
    blocks, shares = blocks_of(values, layout, rng)
    errors, freedom = pairwise_errors(blocks, shares)
    spread = cautious_spread(errors, freedom, blocks, shares)
    critical = joint_critical_value(blocks, shares, LEVEL, n_resamples=n_flips, rng=rng)
    totals = np.array(shares) @ np.array([block.means for block in blocks])
    better = separated(totals, totals, spread, critical)
    low, high = rank_bounds(better)
    first, last = ranks(true[None])
    return bool((low > first[0]).any() or (high < last[0]).any())


def simulate(draw: Draw, name: str, layout: Layout, size: Size, *, are_different: bool) -> float:
    """Return in how many boards of 100 some range misses; of different models half are equal, the others worse."""
    rng = np.random.default_rng([zlib.crc32(f"{name}, {layout.name}".encode()), size.n_models, are_different])
    effects = np.zeros(size.n_models)
    if are_different:
        n_worse = size.n_models // 2
        effects[:n_worse] = np.linspace(WORST, 0, n_worse, endpoint=False)
    n_missed = 0
    for _ in range(size.n_boards):
        values = draw(rng, sum(layout.sizes), effects)
        n_missed += misses(values, effects, layout, size.n_flips, rng)
    return 100 * n_missed / size.n_boards


def grid(
    draws: dict[str, Draw], sizes: tuple[Size, ...], layouts: tuple[Layout, ...], *, are_different: bool = False
) -> str:
    """Return a table of values and numbers of models, with the layouts in each cell."""
    columns = ["values"]
    for size in sizes:
        columns.append(f"{size.n_models} models")
    rows = []
    for name, draw in draws.items():
        row = [name]
        for size in sizes:
            cells = [simulate(draw, name, layout, size, are_different=are_different) for layout in layouts]
            row.append(" / ".join(f"{missed:.1f}" for missed in cells))
        rows.append(row)
    return table(columns, rows)


def named(layouts: tuple[Layout, ...]) -> str:
    """Return what the cells of a table are."""
    return " / ".join(layout.name for layout in layouts)


def main() -> None:
    """Print tables of percentages."""
    parser = argparse.ArgumentParser(description="Simulate ranks that hold for all models together.")
    parser.add_argument("--full", action="store_true", help="the whole grid: 17 minutes")
    is_full = parser.parse_args().full
    sizes = FULL if is_full else SHORT
    layouts = SINGLE if is_full else SINGLE[::3]
    draws = kinds()
    boards = named(layouts)
    print(f"All models equal; {boards}:\n\n{grid(draws, sizes.equal, layouts)}\n", flush=True)
    different = grid(draws, sizes.different, layouts, are_different=True)
    print(f"Half of the models different; {boards}:\n\n{different}\n", flush=True)
    if is_full:
        many = grid(draws, MOST_MODELS, layouts[:2])
        print(f"All models equal; {named(layouts[:2])}:\n\n{many}\n", flush=True)
    other = grid(draws, sizes.other, OTHER)
    print(f"All models equal; {named(OTHER)}:\n\n{other}\n", flush=True)
    skewed = grid(skewed_kinds(), sizes.skewed, layouts)
    print(f"All models equal, skewed differences; {boards}:\n\n{skewed}", flush=True)


if __name__ == "__main__":
    main()
