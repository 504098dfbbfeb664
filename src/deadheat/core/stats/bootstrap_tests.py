"""Bootstrap tests of "the mean difference is 0": by the resampled mean, or by the resampled t."""

from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.alternatives import Alternative, count_extreme
from deadheat.core.stats.resamples import bootstrap_means, bootstrap_t
from deadheat.core.stats.significance import Significance
from deadheat.core.stats.units import Units, split_into_units

T_ROUNDING = 1e-9  # resampled t that differ by less are equal in theory


@dataclass(frozen=True, eq=False)
class ResampledStatistic:
    """A statistic of each column, in the data and in resamples.

    Attributes
    ----------
    null : ndarray of float, shape (n_resamples, n_columns)
        In each resample, around the mean of the data.
    observed : ndarray of float, shape (n_columns,)
        In the data, around 0.
    tolerance : ndarray of float, shape (n_columns,)
        How much rounding may separate statistics that are equal in theory.
    """

    null: FloatArray
    observed: FloatArray
    tolerance: FloatArray


def bootstrap_p_values(
    differences: FloatArray,
    *,
    is_studentized: bool,
    alternative: Alternative,
    n_resamples: int,
    cluster: IntArray | None,
    rng: np.random.Generator,
    weights: FloatArray | None,
) -> Significance:
    """Return the p-values of bootstrap tests; two-sided ones compare absolute values.

    Parameters
    ----------
    differences : ndarray of float, shape (n_queries, n_columns)
        NaN where a value is missing.
    is_studentized : bool
        Whether each resampled mean is divided by its standard error.
    alternative : {"two-sided", "greater", "less"}
    n_resamples : int
    cluster : ndarray of int, shape (n_queries,), or None
    rng : numpy.random.Generator
    weights : ndarray of float, shaped as `differences`, or None

    References
    ----------
    Efron and Tibshirani 1993, An Introduction to the Bootstrap, section 16.4, https://doi.org/10.1201/9780429246593.
    Hall 1992, The Bootstrap and Edgeworth Expansion, https://doi.org/10.1007/978-1-4612-4384-7.
    """
    seed = int(rng.integers(1 << 63))  # one for all columns, so that they share the resamples, as in `resampled_means`
    n_columns = differences.shape[1]
    p_values = np.full(n_columns, np.nan)
    is_exact = np.ones(n_columns, np.bool_)
    for units in split_into_units(differences, cluster, weights=weights):
        if is_studentized:
            statistic = _resample_t(units, n_resamples, seed)
        else:
            statistic = _resample_means(units, n_resamples, seed)
        n_extreme = count_extreme(
            statistic.null, statistic.observed, alternative=alternative, tolerance=statistic.tolerance
        )
        is_zero = ~units.sums.any(axis=0)
        is_exact[units.columns] = is_zero
        p_values[units.columns] = np.where(is_zero, 1.0, (n_extreme + 1) / (n_resamples + 1))
    return Significance(p_values, is_exact)


def _resample_means(units: Units, n_resamples: int, seed: int) -> ResampledStatistic:
    """Return the mean difference, and the resampled means less the mean of the data."""
    means = units.means
    generator = np.random.default_rng(seed)
    resampled = bootstrap_means(units.sums, units.sizes, n_resamples=n_resamples, rng=generator)
    return ResampledStatistic(resampled - means, means, ROUNDING * units.scales)


def _resample_t(units: Units, n_resamples: int, seed: int) -> ResampledStatistic:
    """Return Student's t, and that of the resamples around the mean of the data."""
    means = units.means
    errors = units.linear_errors
    has_spread = errors > 0
    observed = np.divide(means, errors, out=np.copysign(np.inf, means), where=has_spread)
    null = bootstrap_t(units, n_resamples=n_resamples, rng=np.random.default_rng(seed))
    finite = np.where(has_spread, observed, 0.0)
    return ResampledStatistic(null, observed, T_ROUNDING * (1 + np.abs(finite)))
