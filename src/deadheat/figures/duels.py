"""Two systems query by query: what each figure of a pair takes from a comparison."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadheat.arrays import BoolArray, FloatArray, TextArray, members
from deadheat.comparison.comparison import Comparison
from deadheat.comparison.pairs import TUKEY, Design, Pair
from deadheat.errors import FigureError, ParameterError
from deadheat.figures.style import NOISE
from deadheat.figures.systems import measure_of, systems_of
from deadheat.measures import Measure
from deadheat.measures.notation import MeasureLike

RESAMPLED = ("randomization", "bootstrap", "bootstrap-t")


@dataclass(frozen=True, eq=False)
class Side:
    """One of two systems, over the queries that both have.

    Attributes
    ----------
    values, low, high : ndarray of float, shape (n_queries,)
        The value, and its range over tie orders.
    """

    values: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def has_range(self) -> BoolArray:
        """Where ties leave more than one value open."""
        return self.high - self.low > NOISE


@dataclass(frozen=True, eq=False)
class Duel:
    """A system against another by one measure.

    Attributes
    ----------
    measure : Measure
    system, baseline : str
    query_ids : ndarray of str, shape (n_queries,)
        Those for which both have a value.
    of_system, of_baseline : Side
    p_value : float
        After the correction; NaN if the comparison tested only the other direction.
    pair : Pair
        As the comparison has it, maybe the other way round.
    design : Design
    n_pairs : int
        That the p values were corrected for.
    """

    measure: Measure
    system: str
    baseline: str
    query_ids: TextArray
    of_system: Side
    of_baseline: Side
    p_value: float
    pair: Pair
    design: Design
    n_pairs: int

    @property
    def difference(self) -> FloatArray:
        """System minus baseline."""
        return self.of_system.values - self.of_baseline.values

    @property
    def low(self) -> FloatArray:
        """The smallest difference over the orders of the ties, which are independent in two runs."""
        return self.of_system.low - self.of_baseline.high

    @property
    def high(self) -> FloatArray:
        """The largest difference over the orders of the ties."""
        return self.of_system.high - self.of_baseline.low

    @property
    def wins(self) -> int:
        """Queries on which the system is better, by the direction of the measure."""
        return int((self._better > NOISE).sum())

    @property
    def losses(self) -> int:
        """Queries on which it is worse."""
        return int((self._better < -NOISE).sum())

    @property
    def n_open(self) -> int:
        """Queries on which the order of the ties decides who is better."""
        return int(((self.low < -NOISE) & (self.high > NOISE)).sum())

    @property
    def _better(self) -> FloatArray:
        return self.difference if self.measure.higher_is_better else -self.difference


def duel_of(comparison: Comparison, measure: MeasureLike | None, system: str | None, baseline: str | None) -> Duel:
    """Return two systems query by query.

    Parameters
    ----------
    comparison : Comparison
    measure : measure, optional
        By default the first.
    system, baseline : str, optional
        By default the best system against the comparison's baseline (if it is that, the next one); without one, the
        best against the second.

    Raises
    ------
    ParameterError
        There is no such system.
    FigureError
        The two were not compared, or have no query in common.
    """
    of = measure_of(comparison.evaluations, measure)
    for argument, name in (("system", system), ("baseline", baseline)):
        if name is not None and name not in comparison.evaluations:
            raise ParameterError(argument=argument, given=name, allowed=list(comparison.evaluations))
    ranked = [one.name for one in systems_of(comparison, of)]
    if baseline is None and system is not None and comparison.design.baseline == system:
        baseline = next((name for name in ranked if name != system), None)
    baseline = baseline or comparison.design.baseline
    system = system or next((name for name in ranked if name != baseline), None)
    baseline = baseline or next((name for name in ranked if name != system), None)
    if system is None or baseline is None or system == baseline:
        raise FigureError(f"fewer than two systems have a value of {of.label}")
    pair, is_reversed = _pair(comparison, of, system, baseline)
    one, other = comparison.evaluations[system], comparison.evaluations[baseline]
    sides = []
    for mine, its in ((one, other), (other, one)):
        keep, scores = members(mine.query_ids, its.query_ids), mine[of]
        sides.append((mine.query_ids[keep], scores.values[keep], scores.tie_min[keep], scores.tie_max[keep]))
    both = ~np.isnan(sides[0][1] - sides[1][1])
    if not both.any():
        raise FigureError(f"{system} and {baseline} have no query in common for {of.label}")
    first, second = (Side(*(column[both] for column in side[1:])) for side in sides)
    is_symmetric = comparison.design.alternative == "two-sided" or not is_reversed
    p_value = pair.p_adjusted if is_symmetric else float("nan")
    return Duel(
        one[of].measure,
        system,
        baseline,
        sides[0][0][both],
        first,
        second,
        p_value,
        pair,
        comparison.design,
        len(comparison[of]),
    )


def _pair(comparison: Comparison, measure: Measure, system: str, baseline: str) -> tuple[Pair, bool]:
    for pair in comparison[measure]:
        if {pair.system, pair.baseline} == {system, baseline}:
            return pair, pair.system != system
    raise FigureError(
        f"{system} and {baseline} were not compared",
        hint="compare every pair, without a baseline, or against one of them",
    )


def tested(duel: Duel) -> str:
    """Say by which test the p value was found, and what it was corrected for."""
    return tested_by(duel.design, duel.n_pairs)


def tested_by(design: Design, n_pairs: int) -> str:
    """Say by which test p values were found, and what they were corrected for."""
    if design.test == TUKEY:
        return "p: Tukey's HSD test by randomization."
    corrected = f", {design.correction} over {n_pairs:,} pairs" if n_pairs > 1 and design.correction != "none" else ""
    sided = "" if design.alternative == "two-sided" else f", one-sided ({design.alternative})"
    least = n_pairs / (design.n_resamples + 1)  # a resampled p value is at least 1 / (n_resamples + 1)
    floor = (
        f" {design.n_resamples:,} resamples are too few to find any of so many significant."
        if corrected and design.correction != "bh" and design.test in RESAMPLED and least >= 1 - design.confidence_level
        else ""
    )
    return f"p: {design.test} test{sided}{corrected}.{floor}"
