"""The tests of a margin: whether a system is no worse than a baseline, or equivalent to it."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from deadheat.core import stats
from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.design import Design
from deadheat.core.evaluation.intervals import FEWEST
from deadheat.core.measures import Measure
from deadheat.core.stats.student_tests import t_tail
from deadheat.plugins.compare.least_p import n_units
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.compare.verdict import Within


def within_margins(
    pairs: Sequence[Pair],
    differences: FloatArray,
    margins: FloatArray,
    measures: Sequence[Measure],
    *,
    design: Design,
    cluster: IntArray | None,
    weights: FloatArray | None = None,
) -> list[Within]:
    """Return what the tests of a margin say about pairs, each with its own margin and column of differences."""
    signs = {measure.label: measure.sign for measure in measures}
    better = differences * np.array([signs[pair.measure] for pair in pairs])
    options: dict[str, Any] = {"confidence_level": design.confidence_level, "cluster": cluster, "weights": weights}
    one, both = stats.no_worse(better, margins, **options), stats.equivalent(better, margins, **options)
    is_enough = np.array([n_units(pair) >= FEWEST for pair in pairs], np.bool_)
    columns = margins, one.p_values, one.is_shown & is_enough, both.p_values, both.is_shown & is_enough
    return [Within(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def estimated_within(pair: Pair, margin: float, sign: float, design: Design) -> Within:
    """Return what the tests of a margin say about a difference that a judge's labels help to estimate.

    The t tests of :func:`within_margins` by its estimate and standard error, with the degrees of freedom of its
    interval, so that "no worse" is shown where the one-sided bound is above the margin.

    Parameters
    ----------
    pair : Pair
    margin : float
    sign : float
        -1 where less is better.
    design : Design
    """
    better = sign * pair.difference
    ends = np.array([margin + better, margin - better])  # from the margin on the worse side, and on the better one
    tails = t_tail(ends, np.full(2, pair.standard_error), pair.n_queries - 1)
    p_no_worse, p_equivalent = float(tails[0]), float(tails.max())
    is_shown = stats.significant([p_no_worse, p_equivalent], 1 - design.confidence_level)
    is_enough = n_units(pair) >= FEWEST
    return Within(
        margin,
        p_no_worse,
        bool(is_shown[0]) and is_enough,
        p_equivalent,
        bool(is_shown[1]) and is_enough,
    )


def planned(target: float, error: float, pair: Pair, design: Design, power: float) -> dict[str, float | None]:
    """Return what the t test of one pair can do: it takes as many independent numbers as there are units."""
    n = n_units(pair)
    if not error > 0 or n < 2:  # NaN, of one query or cluster, too: nothing says how much queries differ
        return {}
    std = error * math.sqrt(n)
    level: dict[str, Any] = {"confidence_level": design.confidence_level, "alternative": design.alternative}
    detectable = stats.detectable_difference(std, n, power=power, **level)
    if abs(target) <= stats.NEGLIGIBLE_DIFFERENCE:
        return {"detectable_difference": detectable}
    needed = None
    if stats.power(target, std, stats.MAX_QUERIES, **level) >= power:  # else too small, or of the other sign
        needed = math.ceil(stats.sample_size(target, std, power=power, **level) * pair.n_queries / n)
    return {
        "power": stats.power(target, std, n, **level),
        "n_needed": needed,
        "detectable_difference": detectable,
    }
