"""Differences of two systems that are equally good: their mean is 0, whatever their shape."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import deadheat as dh

Draw = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]
DEMO = Path(dh.__file__).parent / "core" / "demo"


def families() -> dict[str, Draw]:
    """Return what draws an array of differences of a shape, by a name with the skewness."""
    real = demo_differences()
    skew = (real**3).mean(axis=0) / (real**2).mean(axis=0) ** 1.5
    place = int(np.abs(skew).argmax())
    most, largest = real[:, place] * np.sign(skew[place]), abs(float(skew[place]))

    def some_pair(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
        return real[rng.integers(0, len(real), shape), rng.integers(0, real.shape[1], shape[1])]

    return {
        "normal (skewness 0)": lambda rng, shape: rng.normal(0, 1, shape),
        "25 queries of the demo, drawn anew, any pair and measure": some_pair,
        f"the most skewed pair and measure of them ({largest:.1f})": lambda rng, shape: rng.choice(most, shape),
        "exponential (2)": lambda rng, shape: rng.exponential(1, shape) - 1,
        "beta(0.3, 3) (2.2)": lambda rng, shape: rng.beta(0.3, 3, shape) - 0.3 / 3.3,
        "one query in ten gains 1 (2.7)": lambda rng, shape: (rng.random(shape) < 0.1) - 0.1,
        "lognormal (6.2)": lambda rng, shape: rng.lognormal(0, 1, shape) - np.exp(0.5),
    }


def demo_differences() -> NDArray[np.float64]:
    """Return the differences between all pairs of the demo's systems, less their mean, shape (25, n_pairs)."""
    runs = {path.name.partition(".")[0]: path for path in sorted(DEMO.glob("*.run.gz"))}
    measures = ["nDCG@10", "AP", "RR", "P@10", "ERR@10"]
    differences = dh.compare(DEMO / "qrels.human.txt.gz", runs, measures, test="t", method="t").differences
    return differences - differences.mean(axis=0)


def table(columns: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [columns, ["---"] * len(columns), *rows])
