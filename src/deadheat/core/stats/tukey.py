"""All pairs of systems at once: the randomised Tukey HSD test."""

import numpy as np

from deadheat.core.arrays import ArrayLike, FloatArray, use_default_arithmetic
from deadheat.core.checks import as_resamples
from deadheat.core.errors import ParameterError
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.resamples import batches
from deadheat.core.stats.units import as_clusters, as_matrix, as_weights, sum_by_unit

BATCH_CELLS = 1 << 20  # values permuted at a time: 8 MB


@use_default_arithmetic
def tukey_p_values(
    values: ArrayLike,
    *,
    n_resamples: int = 10_000,
    cluster: ArrayLike | None = None,
    rng: Rng = None,
    weights: ArrayLike | None = None,
) -> FloatArray:
    """Compare all pairs of systems at once: randomised Tukey HSD.

    Each resample permutes the systems' values within every query and notes the range of the means, the largest minus
    the smallest. The p-value of a pair, (b + 1) / (m + 1), counts the resamples whose range reaches the pair's
    difference; so it is corrected for the number of pairs, if no system differs from any other. Systems that vary more
    than the others from query to query are called different too often.

    Parameters
    ----------
    values : array-like of shape (n_queries, n_systems)
        One measure. A query with a missing value (NaN) is left out.
    n_resamples : int, default 10000
    cluster : array-like of int, shape (n_queries,), optional
        Code of each query's cluster; the systems change places in all queries of a cluster alike.
    rng : numpy.random.Generator or int, optional
    weights : array-like of float, shape (n_queries,), optional
        How much each query counts, above 0 where there is a value.

    Returns
    -------
    ndarray of float, shape (n_systems, n_systems)
        Symmetric, with ones on the diagonal; two-sided.

    Raises
    ------
    ParameterError

    References
    ----------
    Carterette 2012, https://doi.org/10.1145/2094072.2094076. Boytsov, Belova and Westfall 2013,
    https://doi.org/10.1145/2484028.2484034.

    Examples
    --------
    >>> values = np.array([[0.1, 0.1, 0.6], [0.3, 0.2, 0.7], [0.2, 0.3, 0.9], [0.1, 0.1, 0.5], [0.4, 0.3, 0.8]])
    >>> (tukey_p_values(values, rng=1) < 0.05).tolist()
    [[False, False, True], [False, False, True], [True, True, False]]
    """
    values = as_matrix("values", values)
    n_systems = values.shape[1]
    if n_systems < 2:
        raise ParameterError("must have a column for each of two or more systems", argument="values", given=n_systems)
    n_resamples = as_resamples("n_resamples", n_resamples)
    codes = as_clusters(cluster, len(values))
    is_complete = np.asarray(~np.isnan(values).any(axis=1))
    complete = np.where(is_complete[:, None], values, np.nan)  # weights are relative to the largest of these queries
    weights = as_weights(weights, complete)
    weighted = values if weights is None else values * weights
    codes = None if codes is None else codes[is_complete]
    unit_values, _ = sum_by_unit(weighted[is_complete], codes)
    ranges = np.sort(_permute_ranges(unit_values, n_resamples, random_generator(rng)))
    sums = unit_values.sum(axis=0)
    tolerance = ROUNDING * np.abs(unit_values).sum()
    differences = np.abs(sums[:, None] - sums)
    n_smaller = np.searchsorted(ranges, differences - tolerance)
    return (n_resamples - n_smaller + 1) / (n_resamples + 1)


def _permute_ranges(values: FloatArray, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return the largest column sum minus the smallest with the values of each row permuted, shape (n_resamples,)."""
    ranges = np.empty(n_resamples)
    for start, stop in batches(n_resamples, values.size, BATCH_CELLS):
        copies = np.broadcast_to(values, (stop - start, *values.shape))
        sums = rng.permuted(copies, axis=2).sum(axis=1)
        ranges[start:stop] = np.ptp(sums, axis=1)
    return ranges
