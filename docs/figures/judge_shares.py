"""How often 95% intervals of :func:`judge_agreement` cover, of labels that depend on their query and not."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from _families import table
from scipy import special

from deadheat.core.arrays import FloatArray
from deadheat.plugins.judges import label_statistics as labels
from deadheat.plugins.judges.shares import share_bounds

SIZES = (5, 10, 25, 50, 200)
RIGHT = (0.6, 0.8, 0.95, 0.99)  # share of the labels in which the judge agrees with the humans
N_LABELS = (5, 50)  # a query
RELEVANT = {2: 0.3, 4: 0.1}  # share of the documents, by the number of grades
FEWEST = 5  # queries with such documents, of which an interval is known
N_SETS, N_WEIGHTS, N_QUERIES = 500, 999, 100_000
FEWEST_KNOWN = 0.1  # share of the sets with a known interval: of fewer no coverage is given
NOISE = 1e-9
SHARES = ("agreement", "precision", "recall", "grade 0 called the highest")
OTHERS = ("kappa", "quadratic kappa", "alpha", "inflation")
Counts = FloatArray  # (n_sets, n_queries, n_grades, n_grades): documents by human grade and the judge's


@dataclass(frozen=True)
class Judge:
    """A judge and its labels: `together` is the correlation, within a query, of being right."""

    n_grades: int
    n_labels: int
    right: float
    together: float

    def draw(self, rng: np.random.Generator, n_sets: int, n_queries: int) -> Counts:
        """Return labels of some sets of queries; half of them have about twice as many relevant documents."""
        shape = (n_sets, n_queries)
        right = np.full(shape, self.right)
        if self.together:
            spread = 1 / self.together - 1
            right = rng.beta(self.right * spread, (1 - self.right) * spread, shape)
        share = RELEVANT[self.n_grades]
        n_relevant = rng.binomial(self.n_labels, rng.beta(9 * share, 9 * (1 - share), shape))
        of_grade = [self.n_labels - n_relevant]
        for grade in range(1, self.n_grades):
            is_last = grade == self.n_grades - 1
            own = n_relevant if is_last else rng.binomial(n_relevant, 0.6)
            of_grade.append(own)
            n_relevant = n_relevant - own
        counts = np.zeros((*shape, self.n_grades, self.n_grades))
        for grade, n_documents in enumerate(of_grade):
            n_right = rng.binomial(n_documents, right)
            n_wrong = n_documents - n_right
            counts[..., grade, grade] = n_right
            others = [other for other in range(self.n_grades) if other != grade]
            for place, other in enumerate(others):
                own = rng.binomial(n_wrong, 1 / (len(others) - place))
                counts[..., grade, other] = own
                n_wrong = n_wrong - own
        return counts


def shares_of(counts: Counts) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return hits and totals of each share, of shape (n_sets, n_queries)."""
    relevant = labels.count_relevant(counts, np.arange(counts.shape[-1], dtype=np.float64), 1)
    return {
        "agreement": (np.trace(counts, axis1=-2, axis2=-1), counts.sum((-2, -1))),
        "precision": (relevant.both, relevant.second),
        "recall": (relevant.both, relevant.first),
        "grade 0 called the highest": (counts[..., 0, -1], counts[..., 0, :].sum(-1)),
    }


def others_of(tables: FloatArray) -> dict[str, FloatArray]:
    """Return statistics that are no shares, of tables of shape (..., n_grades, n_grades)."""
    grades = np.arange(tables.shape[-1], dtype=np.float64)
    return {
        "kappa": labels.kappa(tables, grades),
        "quadratic kappa": labels.kappa(tables, grades, 2),
        "alpha": labels.alpha(labels.coincidences(tables), grades),
        "inflation": labels.of_relevant(tables, grades, 1)["inflation"],
    }


def by_jackknife(left_out: FloatArray, whole: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ends, of shape (n_sets,), from a statistic without each query, (n_sets, n_queries), and of all."""
    n = left_out.shape[1]
    apart = left_out - left_out.mean(axis=1, keepdims=True)
    half = special.stdtrit(n - 1, 0.975) * np.sqrt((n - 1) / n * (apart**2).sum(axis=1))
    return whole - half, whole + half


def coverage(judge: Judge, n_queries: int) -> dict[str, float]:
    """Return the share of the sets whose interval covers, in percent; of a share also by the jackknife.

    Intervals that are marked unknown are left out, but for the jackknife's of a share those without width.
    """
    every = judge.draw(np.random.default_rng(0), 1, N_QUERIES)
    seed = [n_queries, judge.n_grades, judge.n_labels, round(100 * judge.right), round(10 * judge.together)]
    counts = judge.draw(np.random.default_rng(seed), N_SETS, n_queries)
    found = {}
    for name, (hits, totals) in shares_of(counts).items():
        of_all, n_all = shares_of(every)[name]
        truth = of_all.sum() / n_all.sum()
        is_known = (totals > 0).sum(axis=1) >= FEWEST
        own, n_own = hits[is_known], totals[is_known]
        if is_known.mean() < FEWEST_KNOWN:
            continue
        low, high = share_bounds(own.T, n_own.T, n_sets=N_WEIGHTS)
        found[name] = percent_within(low, high, truth)
        sums, n_sums = own.sum(axis=1), n_own.sum(axis=1)
        with np.errstate(invalid="ignore"):  # documents of one query alone
            left_out = (sums[:, None] - own) / (n_sums[:, None] - n_own)
        found[f"{name}, jackknife"] = percent_within(*by_jackknife(left_out, sums / n_sums), truth)
    whole = counts.sum(axis=1)
    left_out_of = others_of(whole[:, None] - counts)
    for name, values in others_of(whole).items():
        low, high = by_jackknife(left_out_of[name], values)
        is_known = high - low > NOISE
        truth = float(others_of(every[0].sum(axis=0))[name])
        if is_known.mean() >= FEWEST_KNOWN:
            found[name] = percent_within(low[is_known], high[is_known], truth)
    return found


def percent_within(low: FloatArray, high: FloatArray, truth: float) -> float:
    """Return how many percent of the intervals hold the true value."""
    return 100 * float(((low <= truth + NOISE) & (truth <= high + NOISE)).mean())


def lowest(found: list[dict[str, float]], name: str) -> str:
    """Return the lowest coverage of several judges, or a question mark where none has a known interval."""
    known = [of_judge[name] for of_judge in found if name in of_judge]
    return f"{min(known):.0f}" if known else "?"


def main() -> None:
    """Print two tables."""
    found = {}
    for n_queries, right, together in product(SIZES, RIGHT, (0.0, 0.2)):
        judges = [Judge(n_grades, n_labels, right, together) for n_grades, n_labels in product(RELEVANT, N_LABELS)]
        found[n_queries, right, together] = [coverage(judge, n_queries) for judge in judges]
    columns = [f"n = {n}" for n in SIZES]
    rows = []
    for name, right in product(SHARES, RIGHT):
        cells = []
        for n in SIZES:
            of_judges = found[n, right, 0.0] + found[n, right, 0.2]
            cells.append(f"{lowest(of_judges, name)} / {lowest(of_judges, f'{name}, jackknife')}")
        rows.append([name, f"{right:.0%}", *cells])
    print(f"Shares, lowest coverage / that of the jackknife:\n\n{table(['of', 'judge right', *columns], rows)}\n")
    rows = []
    for name, (how, together) in product(OTHERS, (("alone", 0.0), ("together", 0.2))):
        cells = []
        for n in SIZES:
            cells.append(lowest([one for right in RIGHT for one in found[n, right, together]], name))
        rows.append([name, how, *cells])
    print(f"Others, lowest coverage of the jackknife:\n\n{table(['of', 'errors come', *columns], rows)}")


if __name__ == "__main__":
    main()
