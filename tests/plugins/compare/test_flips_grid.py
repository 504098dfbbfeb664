"""Sums on a grid against exact ones: reciprocal ranks as whole multiples of one small unit, added one by one."""

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import deadheat as dh
from deadheat.plugins.compare import sum_distributions
from deadheat.plugins.compare.flips import Flip, flip, summands
from deadheat.plugins.compare.pair import Pairs
from deadheat.plugins.compare.report import report_comparison
from deadheat.plugins.compare.sum_distributions import Distribution, IndependentSum, match_distributions

UNIT = math.lcm(*range(1, 31))  # all reciprocal ranks down to 30 are whole multiples of 1 / UNIT


class Tie(NamedTuple):
    """Where a query's relevant documents are: in a tie below some others."""

    above: int
    size: int
    relevant: int


System = Sequence[Tie]


def summed(system: System) -> dict[int, float]:
    """Probability of each sum of reciprocal ranks, in units."""
    total = {0: 1.0}
    for above, size, relevant in system:
        orders = math.comb(size, relevant)
        # the others of the relevant ones stand on the ranks behind the first
        first = {x: math.comb(size - x, relevant - 1) / orders for x in range(1, size - relevant + 2)}
        before, total = total, {}
        for (value, one), (x, other) in itertools.product(before.items(), first.items()):
            value += UNIT // (above + x)  # noqa: PLW2901 - a running sum
            total[value] = total.get(value, 0.0) + one * other
    return total


def compared(one: System, other: System) -> tuple[float, float]:
    """Probability that the first sum is the smaller, and that they are equal."""
    (a, p), (b, r) = (map(np.array, zip(*sorted(summed(system).items()), strict=True)) for system in (one, other))
    cumulative = np.concatenate(([0.0], np.cumsum(p)))
    below, upto = (float(cumulative[np.searchsorted(a, b, side)] @ r) for side in ("left", "right"))
    return below, upto - below


def place(system: System) -> dh.Placements:
    """Return the run and the judgments of a system."""
    run, qrels = {}, {}
    for number, (above, size, relevant) in enumerate(system):
        query = f"q{number:03}"
        run[query] = {f"d{n}": 1.0 + max(0, above - n) for n in range(above + size)}
        qrels[query] = {f"d{n}": 1 for n in range(above, above + relevant)}
    return dh.place(qrels, run)


def values_of(system: System, max_values: int = 1) -> IndependentSum:
    """Take what deadheat knows of each query, and allow few exact sums."""
    placements = place(system)
    found = summands(dh.RR(), placements, np.ones(len(system), np.bool_), max_values=max_values)
    assert found is not None
    return found


def flip_between(one: System, other: System, distributions: tuple[Distribution, Distribution] | None) -> Flip:
    """Turn the sign of the difference of the sums."""
    of_both = [place(system) for system in (one, other)]
    (mean, others), (variance, more) = (
        [float(moment(placements).sum()) for placements in of_both] for moment in (dh.RR().mean, dh.RR().variance)
    )
    (low, high), (lowest, highest) = ([float(end.sum()) for end in dh.RR().extremes(of)] for of in of_both)
    return flip(mean - others, variance + more, low - highest, high - lowest, distributions)


def draw(seed: int, n_queries: int, deepest: int) -> tuple[System, System]:
    """Draw two systems that have much in common."""
    rng = random.Random(seed)

    def tie() -> Tie:
        size = rng.randint(3, 6)
        return Tie(rng.randint(0, deepest), size, rng.randint(1, size - 1))

    one = [tie() for _ in range(n_queries)]
    return one, [same if rng.random() < 0.5 else tie() for same in one]


@pytest.mark.parametrize("seed", range(8))
def test_values_on_the_grid_stay_exact(seed: int) -> None:
    """Twelve queries whose ranks are 1 to 6: all sums are multiples of 1/60, and often equal."""
    one, other = draw(seed, 12, 0)
    found = match_distributions(values_of(one), values_of(other))
    assert found is not None
    assert found[0].cells == found[1].cells
    assert found[0].cells in {6, 12, 60}
    flipped = flip_between(one, other, found)
    below, equal = compared(one, other)
    mean = dh.RR().mean(place(one)).sum() - dh.RR().mean(place(other)).sum()
    assert flipped.probability == pytest.approx(below if mean > 0 else 1 - below - equal, abs=1e-12)
    assert flipped.method == "exact"
    assert equal > 0.005


@pytest.mark.slow
def test_grid_against_exact_sums() -> None:
    """Seven queries whose ranks go down to 30, most of which stand between the cells of any grid."""
    methods = []
    for seed in range(100, 115):
        one, other = draw(seed, 7, 24)
        below, equal = compared(one, other)
        mean = dh.RR().mean(place(one)).sum() - dh.RR().mean(place(other)).sum()
        expected = below if mean > 0 else 1 - below - equal
        exact = flip_between(one, other, match_distributions(values_of(one, 50_000), values_of(other, 50_000)))
        assert exact.probability == pytest.approx(expected, abs=1e-10)
        assert exact.method == "exact"
        found = flip_between(one, other, match_distributions(values_of(one), values_of(other)))
        assert found.probability == pytest.approx(expected, abs=1e-4 if found.method == "grid" else 1e-10)
        methods.append(found.method)
    assert methods.count("grid") > 5
    assert methods.count("exact") > 1


def test_equal_sums_stay_equal() -> None:
    """However coarse the grid, the same values in other queries leave no difference."""
    one = [Tie(16, 4, 1), Tie(18, 3, 1), Tie(22, 1, 1), Tie(12, 1, 1)]
    other = [Tie(22, 1, 1), Tie(16, 4, 1), Tie(12, 1, 1), Tie(18, 3, 1)]
    below, equal = compared(one, other)
    assert equal > 1 / 12
    for cells in (24, 240, 5_040, 27_720):
        system, baseline = values_of(one).on_grid(cells), values_of(other).on_grid(cells)
        assert system.rounding > 0
        ahead, behind = (flip(sign, 1.0, -1.0, 1.0, (system, baseline)) for sign in (0.01, -0.01))
        assert ahead.probability + behind.probability <= 1 - equal + 1e-12
        assert ahead.method == "grid"
    assert ahead.probability == pytest.approx(below, abs=1e-12)
    assert behind.probability == pytest.approx(1 - below - equal, abs=1e-12)


def test_what_rounding_adds_is_known() -> None:
    """Mean and standard deviation over all sums, of which queries without ties have a part."""
    system = [Tie(0, 5, 2), Tie(7, 4, 1), Tie(3, 6, 3), Tie(10, 1, 1), Tie(16, 1, 1)]
    for cells in (24, 240, 5_040):
        found = values_of(system).on_grid(cells)
        values = [[1 / (above + x) for x in range(1, n - r + 2)] for above, n, r in system]
        shares = [[math.comb(n - x, r - 1) / math.comb(n, r) for x in range(1, n - r + 2)] for _, n, r in system]
        weights = np.array([math.prod(some) for some in itertools.product(*shares)])
        rounded = np.array([sum(math.floor(v * cells + 0.5) for v in some) for some in itertools.product(*values)])
        added = rounded / cells - np.array([sum(some) for some in itertools.product(*values)])
        assert found.shift == pytest.approx(added @ weights, abs=1e-12)
        assert found.rounding == pytest.approx(np.sqrt((added - found.shift) ** 2 @ weights), abs=1e-9)
        cell = np.rint(found.values * cells).astype(int) - rounded.min()
        np.testing.assert_allclose(np.bincount(rounded - rounded.min(), weights)[cell], found.probabilities, atol=1e-15)
        assert found.probabilities.sum() == pytest.approx(1, abs=1e-12)


def test_queries_without_ties_shift_the_sums() -> None:
    """Two hundred values between the cells of a coarse grid: together, they are off by several cells."""
    one, other = draw(7, 6, 10)
    one = [*one, *(Tie(10 + number % 7, 1, 1) for number in range(200))]
    other = [*other, *(Tie(10 + number % 5, 1, 1) for number in range(194)), *(Tie(29, 1, 1) for _ in range(6))]
    system, baseline = values_of(one).on_grid(5_040), values_of(other).on_grid(5_040)
    assert abs(system.shift - baseline.shift) * 5_040 > 5
    below, equal = compared(one, other)
    ahead, behind = (flip(sign, 1.0, -1.0, 1.0, (system, baseline)).probability for sign in (0.1, -0.1))
    assert ahead == pytest.approx(below, abs=1e-3)
    assert behind == pytest.approx(1 - below - equal, abs=1e-3)
    assert 0.01 < below < 0.99


def test_ties_of_values_on_the_grid_are_exact_whatever_stands_beside() -> None:
    """The ranks 1 to 4 are on the grid, 11 and 13 are not: what rounding adds to those is no error."""
    one, other = [Tie(0, 4, 1)] * 9 + [Tie(10, 1, 1)], [Tie(0, 4, 1)] * 9 + [Tie(12, 1, 1)]
    found = match_distributions(values_of(one), values_of(other))
    assert found is not None
    assert found[0].cells == 12
    flipped = flip_between(one, other, found)
    assert flipped.probability == pytest.approx(compared(one, other)[0], abs=1e-12)
    assert flipped.method == "exact"


@pytest.mark.slow
@pytest.mark.parametrize(("n_queries", "method"), [(300, "grid"), (1_000, "grid"), (9_000, "normal")])
def test_many_queries(n_queries: int, method: str) -> None:
    """Mean and variance on the grid are those of the closed form; a mean over so many queries is near to normal."""
    rng = random.Random(n_queries)
    one, other = ([Tie(rng.randint(0, 9), rng.randint(2, 9), 1) for _ in range(n_queries)] for _ in range(2))
    found = match_distributions(values_of(one), values_of(other))
    flipped, normal = flip_between(one, other, found), flip_between(one, other, None)
    assert flipped.method == method
    assert (found is None) == (method == "normal")
    assert flipped.probability == pytest.approx(normal.probability, abs=1e-3)
    for system, distribution in zip((one, other), found or (), strict=False):
        mean = distribution.values @ distribution.probabilities
        variance = (distribution.values - mean) ** 2 @ distribution.probabilities
        assert mean - distribution.shift == pytest.approx(dh.RR().mean(place(system)).sum(), abs=1e-9)
        assert variance == pytest.approx(dh.RR().variance(place(system)).sum(), rel=1e-3)


def test_a_grid_that_would_be_coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = draw(1, 7, 24)
    both = values_of(one), values_of(other)
    for max_cells, feasible in ((1, False), (100, False), (10_000, True)):
        monkeypatch.setattr(sum_distributions, "MAX_CELLS", max_cells)
        assert (match_distributions(*both) is not None) == feasible


@pytest.mark.slow
def test_a_coarse_grid_of_many_systems_is_off_by_little() -> None:
    """Against sums that are added one by one; and twelve queries on half of the cells against all of them."""
    methods, n_coarser = [], 0
    for n_queries in (7, 12):
        for seed in range(100, 106):
            one, other = draw(seed, n_queries, 24)
            system, baseline = values_of(one), values_of(other)
            fine, coarse = match_distributions(system, baseline), match_distributions(system, baseline, is_coarse=True)
            assert fine is not None
            assert coarse is not None
            found = flip_between(one, other, coarse)
            expected = flip_between(one, other, fine).probability
            if n_queries == 7:
                below, equal = compared(one, other)
                mean = dh.RR().mean(place(one)).sum() - dh.RR().mean(place(other)).sum()
                expected = below if mean > 0 else 1 - below - equal
            n_coarser += fine[0].cells > coarse[0].cells
            methods.append(found.method)
            assert found.probability == pytest.approx(expected, abs=1e-4)
    assert methods.count("grid") > 5
    assert n_coarser > 3


def test_few_exact_sums_against_many() -> None:
    """Both stand on the grid then, and the one that hardly moves does not need a finer one."""
    one, other = [Tie(22, 2, 1)], [*draw(3, 7, 24)[0]]
    found = match_distributions(values_of(one, 100), values_of(other, 100))
    assert found is not None
    assert values_of(one, 100).exact is not None
    assert found[0].cells == found[1].cells > 0
    assert flip_between(one, other, found).probability == pytest.approx(1 - sum(compared(one, other)), abs=1e-4)


def test_a_report_says_how_each_probability_was_found() -> None:
    tie = {"a": 1.0, "b": 1.0}
    found = dh.compare({"q": {"a": 1}}, {"x": {"q": tie}, "y": {"q": {"b": 2.0, "a": 1.0}}}, "RR@1")
    (pair,) = found.pairs
    words = {
        ("exact",): "(exact)",
        ("grid", "grid"): "(to about 0.0001, as sums on a grid)",
        (
            "normal",
            "exact",
            "normal",
        ): "(1 exact; 2 by the normal distribution with the exact variance, off by up to 0.4%)",
        ("sampled",): "(from random orders, with a standard error of up to 0.4%)",
    }
    for methods, expected in words.items():
        n = len(methods)
        columns: dict[str, list[Any]] = {name: [value] * (n + 1) for name, value in vars(pair).items()}
        columns |= {"flip_method": [*methods, ""], "can_flip": [True] * n + [False]}
        pairs = Pairs(columns | {"flip_standard_error": [0.004] * (n + 1)})
        facts = report_comparison(replace(found, pairs=pairs), qrels="q").facts
        (text,) = [fact.text for fact in facts if fact.heading == "reversed" and fact.text]
        assert text.endswith(expected)


@pytest.mark.parametrize(
    ("method", "how"),
    [("normal", "by the normal distribution with the exact variance"), ("sampled", "from random orders")],
)
def test_an_error_that_rounds_to_nothing_is_left_out(method: str, how: str) -> None:
    tie = {"a": 1.0, "b": 1.0}
    found = dh.compare({"q": {"a": 1}}, {"x": {"q": tie}, "y": {"q": {"b": 2.0, "a": 1.0}}}, "RR@1")
    (pair,) = found.pairs
    told = []
    for error in (0.0004, 0.0005):
        changed = replace(pair, flip_method=method, can_flip=True, flip_standard_error=error)
        facts = report_comparison(replace(found, pairs=Pairs.of([changed])), qrels="q").facts
        told += [fact.text for fact in facts if fact.heading == "reversed" and fact.text]
    without, with_error = told
    assert without.endswith(f"({how})")
    assert with_error.endswith(" up to 0.1%)")
