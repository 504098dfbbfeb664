"""Ends of the intervals of all strata: those of strata with as many queries are computed together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deadheat.core.arrays import FloatArray, use_default_arithmetic
from deadheat.core.evaluation.strata_numbers import select_places
from deadheat.core.kernels.exact_sums import rows_by_length
from deadheat.core.settings import BOUNDED

if TYPE_CHECKING:
    from deadheat.core.evaluation.scores import Scores
    from deadheat.core.evaluation.stratum_places import StratumPlaces


@use_default_arithmetic
def estimate_bounded_ends(scores: Scores, strata: StratumPlaces, confidence_level: float) -> FloatArray:
    """Return the ends of Gaffke's intervals of all strata, of shape (2, n_strata); NaN where no query has a value.

    To the last bit they are those of each stratum alone, as each column is searched by itself.

    Parameters
    ----------
    scores : Scores
        Of all queries, without weights.
    strata : StratumPlaces
    confidence_level : float
    """
    from deadheat.core import stats  # slow to import, and only intervals need it

    places, bounds = select_places(strata, scores.kept)
    values = scores.values[places]
    ends = np.full((2, len(strata)), np.nan)
    for segments, rows in rows_by_length(bounds):
        low, high = stats.interval_bounds(
            values[rows].T, method=BOUNDED, confidence_level=confidence_level, limits=scores.value_limits
        )
        ends[0, segments] = low
        ends[1, segments] = high
    return ends
