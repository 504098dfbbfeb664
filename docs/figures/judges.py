"""Print what judges do for few human labels, on real data: `python docs/figures/judges.py`.

The demo's data: 25 queries that people labelled, and the labels of four language models, each of which is the judge
once, with the other three as rerankers. People's labels of 10 queries, drawn 500 times, and the judge's of all
25: is the human value on all 25 in the interval (with the finite-population variance)?
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

import deadheat as dh
from deadheat.plugins.judges.prediction import powered_mean

if TYPE_CHECKING:
    from deadheat.core.arrays import FloatArray

DEMO = Path(dh.__file__).parent / "core" / "demo"
MEASURE = "nDCG@10"
N_HUMAN, N_DRAWS = 10, 500
RUNS = {path.name.removesuffix(".run.gz"): dh.Run(path) for path in sorted(DEMO.glob("*.run.gz"))}
HUMAN = dh.Qrels(DEMO / "qrels.human.txt.gz").to_dict()


def main() -> None:
    """Print the table."""
    print("| judge | of | correlation | covered, people alone | covered, with the judge | width |")
    print("|---|---|--:|--:|--:|--:|")
    for judge in RUNS:
        for of, pairs in values_of(judge).items():
            correlation = np.mean([np.corrcoef(known, by_judge)[0, 1] for known, by_judge in pairs])
            alone, both, width = np.mean([drawn(*pair) for pair in pairs], axis=0)
            cells = f"{100 * alone:.0f}% | {100 * both:.0f}% | {100 * width:.0f}%"
            print(f"| {judge} | {of} | {correlation:.2f} | {cells} |")


def values_of(judge: str) -> dict[str, list[tuple[FloatArray, FloatArray]]]:
    """Return values by people's labels and by a judge's, of the means of the other systems and of their differences."""
    labels = RUNS[judge].to_dict()
    systems = [one for name, one in RUNS.items() if name != judge]
    means: list[tuple[FloatArray, FloatArray]] = [
        (dh.evaluate(HUMAN, one, MEASURE)[MEASURE].values, dh.evaluate(labels, one, MEASURE)[MEASURE].values)
        for one in systems
    ]
    apart: list[tuple[FloatArray, FloatArray]] = [
        (one[0] - other[0], one[1] - other[1]) for one, other in combinations(means, 2)
    ]
    return {"means": means, "differences": apart}


def drawn(known: FloatArray, by_judge: FloatArray) -> tuple[float, float, float]:
    """Return how often intervals of the mean of all hold it, without and with the judge, and the ratio of widths.

    Both are around estimates from queries drawn without replacement: the variance is (1 - n/N) s^2 / n.
    """
    rng, n_all = np.random.default_rng(1), len(known)
    truth, t = known.mean(), float(special.stdtrit(N_HUMAN - 1, 0.975))
    factor = t * np.sqrt((1 - N_HUMAN / n_all) / N_HUMAN)
    covered, widths = np.zeros((N_DRAWS, 2)), np.zeros((N_DRAWS, 2))
    for draw in range(N_DRAWS):
        order = rng.permutation(n_all)
        own, rest = order[:N_HUMAN], order[N_HUMAN:]
        found = powered_mean(known[own], by_judge[own], by_judge[rest])
        slope = found.weight * n_all / len(rest)
        halves = factor * np.array([known[own].std(ddof=1), (known[own] - slope * by_judge[own]).std(ddof=1)])
        covered[draw] = np.abs(np.array([known[own].mean(), found.estimate]) - truth) <= halves
        widths[draw] = halves
    return (*covered.mean(0).tolist(), float((widths[:, 1] / widths[:, 0]).mean()))


if __name__ == "__main__":
    main()
