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


@dataclass(frozen=True, eq=False, kw_only=True)
class Duel:
    """A system against another by one measure.

    Attributes
    ----------
    measure : Measure
    system, baseline : str
    query_ids : ndarray of str, shape (n_queries,)
        Those for which both have a value.
    values, lowest, highest : ndarray of float, shape (2, n_queries)
        The values of the system and of the baseline, and their ranges over tie orders.
    p_value : float
        After the correction; NaN if the comparison tested only the other direction.
    wins, losses : int
        Queries on which the system is better, and worse, by the direction of the measure.
    pair : Pair
        As the comparison has it, maybe the other way round.
    """

    measure: Measure
    system: str
    baseline: str
    query_ids: TextArray
    values: FloatArray
    lowest: FloatArray
    highest: FloatArray
    p_value: float
    wins: int
    losses: int
    pair: Pair

    @property
    def difference(self) -> FloatArray:
        """System minus baseline."""
        return self.values[0] - self.values[1]

    @property
    def low(self) -> FloatArray:
        """The smallest difference over the orders of the ties, which are independent in two runs."""
        return self.lowest[0] - self.highest[1]

    @property
    def high(self) -> FloatArray:
        """The largest difference over the orders of the ties."""
        return self.highest[0] - self.lowest[1]

    @property
    def is_open(self) -> BoolArray:
        """Where the order of the ties decides who is better."""
        return (self.low < -NOISE) & (self.high > NOISE)


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
    usual = comparison.design.baseline
    baseline = baseline or (usual if usual != system else None)
    system = system or next((name for name in ranked if name != baseline), None)
    baseline = baseline or next((name for name in ranked if name != system), None)
    if system is None or baseline is None or system == baseline:
        raise FigureError(f"fewer than two systems have a value of {of.label}")
    pair = next((pair for pair in comparison[of] if {pair.system, pair.baseline} == {system, baseline}), None)
    if pair is None:
        raise FigureError(
            f"{system} and {baseline} were not compared",
            hint="compare every pair, without a baseline, or against one of them",
        )
    one, other = comparison.evaluations[system], comparison.evaluations[baseline]
    shared = members(one.query_ids, other.query_ids)
    columns = [
        [column[keep] for column in (scores.values, scores.tie_min, scores.tie_max)]
        for scores, keep in ((one[of], shared), (other[of], members(other.query_ids, one.query_ids)))
    ]
    values, lowest, highest = np.swapaxes(np.array(columns), 0, 1)
    both = ~np.isnan(values).any(axis=0)
    if not both.any():
        raise FigureError(f"{system} and {baseline} have no query in common for {of.label}")
    is_reversed = pair.system != system
    is_tested = comparison.design.alternative == "two-sided" or not is_reversed
    return Duel(
        measure=one[of].measure,
        system=system,
        baseline=baseline,
        query_ids=one.query_ids[shared][both],
        values=values[:, both],
        lowest=lowest[:, both],
        highest=highest[:, both],
        p_value=pair.p_adjusted if is_tested else float("nan"),
        wins=pair.losses if is_reversed else pair.wins,
        losses=pair.wins if is_reversed else pair.losses,
        pair=pair,
    )


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
