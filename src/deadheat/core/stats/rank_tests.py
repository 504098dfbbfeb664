"""Tests that use the signs and ranks of differences, not their mean: Wilcoxon's signed-rank test and the sign test.

The distribution of Wilcoxon's statistic is derived in docs/math.md, section 19.
"""

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, special
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.alternatives import Alternative
from deadheat.core.stats.significance import Significance

MAX_EXACT_RANKS = 200  # the exact distribution then takes 2 ms; beyond, the normal one is off by 0.001


def wilcoxon_p_values(differences: FloatArray, alternative: Alternative) -> Significance:
    """Return the p-values of Wilcoxon's signed-rank test: zeros are left out, equal sizes share their mean rank.

    Given the ranks, each has the sign + or - with probability 1/2. So the distribution of their sum is exact with ties,
    too; above `MAX_EXACT_RANKS` ranks it is taken as normal, with its exact variance.

    References
    ----------
    Wilcoxon 1945, https://doi.org/10.2307/3001968.
    """
    n_columns = differences.shape[1]
    p_values = np.ones(n_columns)
    is_exact = np.ones(n_columns, np.bool_)
    has_differences = np.nan_to_num(differences).any(axis=0)
    for column in np.flatnonzero(has_differences).tolist():
        values = differences[:, column]
        signed_levels = _number_sizes(values[~np.isnan(values)])
        signed_levels = signed_levels[signed_levels != 0]
        doubled_ranks = _double_mean_ranks(np.abs(signed_levels))
        positive_sum = int(doubled_ranks[signed_levels > 0].sum())
        is_exact[column] = len(doubled_ranks) <= MAX_EXACT_RANKS
        if is_exact[column]:
            greater, less = _exact_tails(doubled_ranks, positive_sum)
        else:
            greater, less = _normal_tails(doubled_ranks, positive_sum)
        if alternative == "greater":
            p_values[column] = greater
        elif alternative == "less":
            p_values[column] = less
        else:
            p_values[column] = min(1.0, 2 * min(greater, less))
    return Significance(p_values, is_exact)


def _number_sizes(values: FloatArray) -> IntArray:
    """Return the level of each absolute value with the sign of the value: 0 for zeros, then 1, 2, ... by size.

    Sizes that are equal in theory have one level: 0.3 - 0.2, 0.4 - 0.3 and 0.1 are three numbers of float64, and their
    order is that of rounding errors.
    """
    sizes = np.abs(values)
    order = np.argsort(sizes)
    is_larger = np.diff(sizes[order], prepend=0.0) > ROUNDING * sizes.max()
    levels = np.empty(len(values), np.int64)
    levels[order] = np.cumsum(is_larger)
    return np.where(values < 0, -levels, levels)


def _double_mean_ranks(levels: IntArray) -> IntArray:
    """Return twice the mean rank that equal levels share, which is a whole number."""
    _, level_index, counts = np.unique(levels, return_inverse=True, return_counts=True)
    doubled = 2 * np.cumsum(counts) - counts + 1
    return doubled[level_index]


def _exact_tails(ranks: IntArray, positive_sum: int) -> tuple[float, float]:
    """Return P(T >= positive_sum) and P(T <= positive_sum), where each rank counts in T with probability 1/2."""
    probabilities = np.zeros(ranks.sum() + 1)
    probabilities[0] = 1.0
    n_sums = 1  # all sums so far are below this
    for rank in np.sort(ranks).tolist():  # the smallest first, so that there are few sums for most of the time
        probabilities[:n_sums] /= 2
        probabilities[rank : rank + n_sums] += probabilities[:n_sums]
        n_sums += rank
    greater = float(probabilities[positive_sum:].sum())
    less = float(probabilities[: positive_sum + 1].sum())
    return min(1.0, greater), min(1.0, less)


def _normal_tails(ranks: IntArray, positive_sum: int) -> tuple[float, float]:
    """Return the tails of `_exact_tails` by the normal distribution, as SciPy without a correction for continuity."""
    mean = ranks.sum() / 2
    variance = (ranks.astype(np.float64) ** 2).sum() / 4
    z = (positive_sum - mean) / np.sqrt(variance)
    return float(special.ndtr(-z)), float(special.ndtr(z))


def sign_p_values(differences: FloatArray, alternative: Alternative) -> Significance:
    """Return the p-values of the sign test: zeros are left out, and the signs are binomial with probability 1/2.

    References
    ----------
    Dixon and Mood 1946, https://doi.org/10.1080/01621459.1946.10501898.
    """
    n_above = (differences > 0).sum(axis=0)
    n_below = (differences < 0).sum(axis=0)
    if alternative == "greater":
        n_against = n_below
    elif alternative == "less":
        n_against = n_above
    else:
        n_against = np.minimum(n_above, n_below)
    p_values = special.bdtr(n_against.astype(np.float64), n_above + n_below, 0.5)
    if alternative == "two-sided":
        p_values = np.minimum(1.0, 2 * p_values)
    return Significance(p_values, np.ones(len(p_values), np.bool_))
