"""Hold flip probabilities against 20,000 explicit shuffles of the tied documents: `python docs/figures/flips.py`.

By default three of the demo's runs are compared; `python docs/figures/flips.py FOLDER` takes all FOLDER/runs/*.run,
with the judgments FOLDER/qrels.human.txt. The queries are taken together, and in random parts of 1, 2, 3, 5 and 10.
Then come single queries whose values are skewed, and one with a tie of 100,000 documents. No code is shared with
deadheat: the shuffles sort random keys, and the measures are their definitions.
"""

from __future__ import annotations

import gzip
import itertools
import math
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

import deadheat as dh

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

DEMO = Path(dh.__file__).parent / "core" / "demo"
N_ORDERS = 20_000
AT_ONCE = 1_000
SIZES = (25, 10, 5, 3, 2, 1)
NOTHING = 1e-10  # differences closer to 0 than this are due to rounding
MEASURES = ("nDCG@10", "nDCG(gain='exp')@10", "AP", "ERR(max_rel=3)@10", "P@10", "RBP")

Grades = dict[str, dict[str, float]]


class Compared(NamedTuple):
    """One flip probability beside the share of shuffles that reverse the sign."""

    method: str
    given: float
    error: float
    share: float

    @property
    def off(self) -> float:
        """Return how far the two are apart."""
        return abs(self.given - self.share)

    @property
    def allowed(self) -> float:
        """Return four standard errors of the difference, or 0.01 if that is more."""
        of_shuffles = self.share * (1 - self.share) / N_ORDERS
        return max(0.01, 4 * math.hypot(math.sqrt(of_shuffles), self.error))


Found = dict[tuple[str, int], list[Compared]]
"""All compared pairs, by measure and number of queries."""


def shuffled(scores: np.ndarray, grades: np.ndarray, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, ...]]:
    """Sort by score and a random key, and yield ranks and grades of the judged documents by rank: (n_orders, n)."""
    n, place = len(scores), np.unique(-scores, return_inverse=True)[1]
    if np.isnan(grades).sum() > n // 2:
        yield from sparse(place, grades, rng)
        return
    fixed = (place << 48 | np.arange(n)).astype(np.uint64)
    for _ in range(N_ORDERS // AT_ONCE):
        keys = rng.integers(0, 1 << 31, (AT_ONCE, n), dtype=np.uint64) << np.uint64(17) | fixed
        keys.sort(axis=1)
        yield np.arange(1, n + 1)[None], np.nan_to_num(grades[keys & np.uint64(0x1FFFF)])


def sparse(place: np.ndarray, grades: np.ndarray, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, ...]]:
    """Do the same where few of many documents are judged: only these are placed, each tie by NumPy's own choice."""
    ties = []
    for group in range(place.max() + 1):
        here = np.flatnonzero((place == group) & ~np.isnan(grades))
        ties.append(((place < group).sum() + 1, (place == group).sum(), grades[here]))
    for _ in range(N_ORDERS // AT_ONCE):
        ranks = [
            np.concatenate([first + rng.choice(size, len(own), replace=False) for first, size, own in ties])
            for _ in range(AT_ONCE)
        ]
        order = np.argsort(ranks, axis=1)
        yield np.take_along_axis(np.array(ranks), order, 1), np.concatenate([own for *_, own in ties])[order]


def values_of(ranks: np.ndarray, grades: np.ndarray, judged: np.ndarray) -> np.ndarray:
    """Return each of `MEASURES` from its definition, of shape (n_measures, n_orders)."""
    ideal, hits = -np.sort(-judged)[:10], grades >= 1
    top, rank = grades[:, :10], ranks[:, :10]
    weights, best = np.where(rank <= 10, 1 / np.log2(rank + 1), 0.0), 1 / np.log2(np.arange(len(ideal)) + 2)
    stop = np.where(rank <= 10, (2**top - 1) / 2**3, 0.0)
    reads = np.hstack((np.ones((len(top), 1)), np.cumprod(1 - stop, axis=1)[:, :-1]))
    return np.array(
        [
            (top * weights).sum(axis=1) / (ideal @ best),
            ((2**top - 1) * weights).sum(axis=1) / ((2**ideal - 1) @ best),
            (np.cumsum(hits, axis=1) * hits / ranks).sum(axis=1) / (judged >= 1).sum(),
            (reads * stop / rank).sum(axis=1),
            (hits[:, :10] * (rank <= 10)).sum(axis=1) / 10,
            (hits * (0.2 * 0.8 ** (ranks - 1))).sum(axis=1),
        ]
    )


def simulate(qrels: Grades, run: Grades, seed: int) -> np.ndarray:
    """Return the value of each query by each measure in each order, of shape (n_queries, n_measures, n_orders)."""
    rng, found = np.random.default_rng([seed, N_ORDERS]), []
    for query, judged in sorted(qrels.items()):
        scores = np.array(list(run[query].values()))
        grades = np.array([judged.get(doc, np.nan) for doc in run[query]])
        every = np.array(list(judged.values()))
        parts = [values_of(ranks, drawn, every) for ranks, drawn in shuffled(scores, grades, rng)]
        found.append(np.concatenate(parts, axis=1))
    return np.array(found)


def partitions(n_queries: int) -> dict[int, list[np.ndarray]]:
    """Divide the queries at random into parts of each size."""
    rng = np.random.default_rng(9)
    found = {}
    for size in SIZES:
        order = rng.permutation(n_queries)
        found[size] = [np.sort(order[start : start + size]) for start in range(0, n_queries, size)]
    return found


def compare_all(qrels: Grades, runs: Mapping[str, Grades], sizes: Mapping[int, list[np.ndarray]]) -> Found:
    """Compare all pairs in all parts, by measure and size of the part."""
    simulated = {name: simulate(qrels, run, seed) for seed, (name, run) in enumerate(sorted(runs.items()))}
    queries = sorted(qrels)
    found: Found = {}
    for (row, measure), (size, parts) in itertools.product(enumerate(MEASURES), sizes.items()):
        began = time.process_time()
        whole = dh.compare(qrels, runs, measure, method="t", test="t")
        part_of = {queries[n]: f"part {number:02}" for number, part in enumerate(parts) for n in part}
        table = pl.DataFrame({"query_id": list(part_of), "part": list(part_of.values())})
        strata = whole.by("part", table)
        taken = time.process_time() - began
        compared = []
        for number, part in enumerate(parts):
            for pair in strata[f"part {number:02}"].pairs:
                difference = sum(simulated[pair.system][n, row] - simulated[pair.baseline][n, row] for n in part)
                if not math.isnan(pair.flip_probability):
                    share = float((np.sign(pair.expected_difference) * difference < -NOTHING).mean())
                    compared.append(Compared(pair.flip_method, pair.flip_probability, pair.flip_standard_error, share))
        found[measure, size] = compared
        print(measure, size, f"{taken:.1f} s", *row_of(compared), file=sys.stderr)
    return found


def row_of(compared: Iterable[Compared]) -> list[str]:
    """Return the number of pairs, those of each method, the worst deviation and how many are beyond what is allowed."""
    known = list(compared)
    methods = Counter(one.method for one in known if one.method != "none")
    told = ", ".join(f"{n} {method}" for method, n in sorted(methods.items()))
    worst, beyond = max(one.off for one in known), sum(one.off > one.allowed for one in known)
    return [f"{len(known)}", told, f"{worst:.3f}", f"{beyond}"]


def skewed() -> Iterator[tuple[str, Grades, dict[str, Grades]]]:
    """Give few queries whose values are skewed, and one with a tie of 100,000 documents, with two runs each."""
    for n_queries in (1, 3, 5):
        rng = np.random.default_rng(n_queries)
        qrels: Grades = {}
        runs: dict[str, Grades] = {"one": {}, "two": {}}
        for query in (f"q{n}" for n in range(n_queries)):
            grades = np.where(rng.random(40) < 0.08, 3, rng.random(40) < 0.2).astype(float)
            grades[0] = 3
            qrels[query] = {f"d{n}": grade for n, grade in enumerate(grades.tolist())}
            for number, run in enumerate(runs.values()):
                run[query] = {f"d{n}": float(n % (2 + number)) for n in range(40)}
        yield f"skewed values, {n_queries}", qrels, runs
    large = {f"d{n}": 1.0 for n in range(100_000)}
    some = {f"d{n}": float(n // 2_000 % 4) for n in range(0, 100_000, 2_000)}
    yield "a tie of 100,000, 1", {"q": some}, {"one": {"q": large}, "two": {"q": large | {"d2000": 0.5, "d4000": 0.5}}}


def read(path: Path) -> Grades:
    """Read TREC judgments or a run."""
    found: Grades = {}
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        for line in file:
            query, _, doc, *fields = line.split()
            found.setdefault(query, {})[doc] = float(fields[0] if len(fields) == 1 else fields[1])
    return found


def main() -> None:
    """Print a table in Markdown."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEMO
    files = sorted(folder.glob("runs/*.run")) or sorted(folder.glob("*.run*"))
    qrels = read(next(folder.glob("qrels.human*")))
    runs = {path.name.partition(".")[0]: read(path) for path in files}
    runs = runs if len(sys.argv) > 1 else dict(list(runs.items())[:3])
    print("| measure | queries | pairs | found | largest deviation | beyond 4 standard errors and 0.01 |")
    print("|---|---:|---:|---|---:|---:|")
    for (measure, size), compared in compare_all(qrels, runs, partitions(len(qrels))).items():
        print("|", " | ".join([measure, f"{size}", *row_of(compared)]), "|")
    for name, own, two in skewed():
        every = compare_all(own, two, {len(own): [np.arange(len(own))]})
        compared = list(itertools.chain.from_iterable(every.values()))
        print("|", " | ".join(["all six, " + name.rpartition(", ")[0], f"{len(own)}", *row_of(compared)]), "|")


if __name__ == "__main__":
    main()
