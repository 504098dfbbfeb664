"""Whether queries with human labels look like a random sample of all."""

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, special
from deadheat.core.scalars import ROUNDING

N_SAMPLES = 9_999
SUSPECT = 0.01  # p below which known values do not look like a sample of all


def sample_doubt(one: FloatArray, other: FloatArray) -> float | None:
    """Return the p value of Welch's t test of two samples if it is below `SUSPECT`: they are not of one population."""
    one, other = (values[~np.isnan(values)] for values in (one, other))
    if min(len(one), len(other)) < 2:
        return None
    parts = [float(np.var(values, ddof=1)) / len(values) for values in (one, other)]
    apart, variance = abs(float(one.mean() - other.mean())), sum(parts)
    if not variance:
        return 0.0 if apart else None
    freedom = variance**2 / sum(part**2 / (len(values) - 1) for part, values in zip(parts, (one, other), strict=True))
    p_value = float(2 * special.stdtr(freedom, -apart / variance**0.5))
    return p_value if p_value < SUSPECT else None


def strata_doubt(known: IntArray, others: IntArray) -> float | None:
    """Return the p value of known values and others in the same strata alike, if it is below `SUSPECT`.

    By the chi-square statistic over random samples of all, without an approximation for small strata.

    Parameters
    ----------
    known, others : ndarray of int, shape (n_strata,)
        How many there are in each stratum.
    """
    every = known + others
    expected = every * (known.sum() / every.sum())
    drawn = np.random.default_rng(0).multivariate_hypergeometric(every, int(known.sum()), size=N_SAMPLES)
    own, apart = (((counts - expected) ** 2 / expected).sum(-1) for counts in (known, drawn))
    p_value = (1 + int((apart >= own * (1 - ROUNDING)).sum())) / (1 + N_SAMPLES)
    return p_value if p_value < SUSPECT else None
