"""Confidence intervals and standard errors of means over queries, column by column."""

from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import ArrayLike, FloatArray, use_default_arithmetic
from deadheat.core.checks import as_level, as_resamples, check_choice
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.settings import BOUNDED, OF_ANY_MEANS, SKEWED
from deadheat.core.stats.bootstrap_intervals import bca_bounds, bootstrap_t_bounds, percentile_bounds
from deadheat.core.stats.gaffke import gaffke_bounds
from deadheat.core.stats.resamples import BATCH_CELLS, as_resampled_means, batches, bootstrap_means
from deadheat.core.stats.student_intervals import skewed_t_bounds, t_bounds
from deadheat.core.stats.units import Units, as_clusters, as_matrix, as_weights, split_into_units

METHODS = (*OF_ANY_MEANS, BOUNDED)
WITHOUT_RESAMPLES = (BOUNDED, SKEWED, "t")


@use_default_arithmetic
def interval_bounds(
    values: ArrayLike,
    *,
    method: str = "bca",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    cluster: ArrayLike | None = None,
    rng: Rng = None,
    means: ArrayLike | None = None,
    limits: tuple[float, float] = (0.0, 1.0),
    weights: ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray]:
    r"""Return the bounds of a confidence interval for the mean of each column.

    "t" is Student's interval and draws nothing.

    "skewed-t" corrects Student's t for the skewness of the values by Hall's cubic transformation, and is nowhere
    narrower than "t": see :func:`skewed_t_bounds`.

    "percentile" takes quantiles of the resampled means.

    "bca" takes them at levels that are corrected for bias and skewness,

    .. math:: \alpha_i = \Phi\left(z_0 + \frac{z_0 + z_i}{1 - a (z_0 + z_i)}\right)

    with :math:`z_0` from the share of resampled means below the mean (equal ones count half) and a from leaving
    out each unit once.

    "bootstrap-t" takes quantiles of the resampled t in place of Student's, and is nowhere narrower than "t". With few
    different values the resamples can have too little spread, or none; then a bound is infinite.

    "gaffke" is for values between two limits, such as 0 and 1. It adds a unit with the lowest possible value for the
    lower bound, and with the highest for the upper one, and takes quantiles of means whose weights are drawn evenly
    from all that sum to 1,

    .. math:: \sum_{i=1}^{n} w_i x_i + w_{n+1} \ell, \quad w \sim \text{Dirichlet}(1, \dots, 1)

    The quantiles are computed, not drawn: see :mod:`deadheat.core.stats.gaffke`. For values that are 0 or 1 it is
    Clopper and Pearson's interval. That it covers the mean of any distribution as often as it says is a conjecture; no
    simulation has found less.

    Parameters
    ----------
    values : array-like of shape (n_queries, n_columns)
        NaN where a value is missing: the row is left out of that column.
    method : {"bca", "bootstrap-t", "percentile", "t", "skewed-t", "gaffke"}, default "bca"
    confidence_level : float, default 0.95
    n_resamples : int, default 10000
    cluster : array-like of int, shape (n_queries,), optional
        Code of each query's cluster, such as its topic; clusters are drawn, or left out, as a whole. "t" takes the
        cluster-robust standard error and one degree of freedom less than there are clusters.
    rng : numpy.random.Generator or int, optional
    means : array-like of shape (n_resamples, n_columns), optional
        The result of :func:`resampled_means` for the same values and clusters, in place of `n_resamples` and `rng`.
    limits : tuple of float, default (0, 1)
        For "gaffke": the lowest and the highest value possible.
    weights : array-like of float, shape (n_queries,) or that of `values`, optional
        How much each query counts, above 0 where there is a value.
        Query and weight are drawn together, and :math:`\sum w x / \sum w` is the mean. "t" takes the degrees of freedom
        of the effective number of queries; "gaffke" adds a query of the total weight over the effective number. With
        clusters it is the effective number of clusters.

    Returns
    -------
    low, high : ndarray of float, shape (n_columns,)
        NaN with fewer than two units, for "gaffke" with none. Where all values are equal both are the mean, except for
        "gaffke".

    Raises
    ------
    ParameterError

    References
    ----------
    Efron 1987, https://doi.org/10.1080/01621459.1987.10478410, for "bca". Efron and Tibshirani 1993, An Introduction to
    the Bootstrap, chapters 12 and 14, https://doi.org/10.1201/9780429246593. Hall 1992,
    https://doi.org/10.1111/j.2517-6161.1992.tb01876.x, for "skewed-t". Gaffke 2005, "Three test statistics for a
    nonparametric one-sided hypothesis on the mean of a nonnegative variable", Mathematical Methods of Statistics 14.
    Learned-Miller and Thomas 2019, https://arxiv.org/abs/1905.06208, for its simulations.

    Examples
    --------
    >>> low, high = interval_bounds([[0.2, 1.0], [0.4, 1.0], [0.9, 1.0]], method="t")
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([-0.396, 1.0], [1.396, 1.0])
    >>> low, high = interval_bounds([[0.2, 1.0], [0.4, 1.0], [0.9, 1.0]], method="gaffke")
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.122, 0.292], [0.894, 1.0])
    """
    check_choice("method", method, METHODS)
    level = as_level("confidence_level", confidence_level)
    n_resamples = as_resamples("n_resamples", n_resamples)
    values = as_matrix("values", values)
    codes = as_clusters(cluster, len(values))
    weights = as_weights(weights, values)
    given_means = None if means is None else as_resampled_means(means, values)
    seed = int(random_generator(rng).integers(1 << 63))  # one for all columns, so that they share the resamples
    settings = IntervalSettings(method, level, n_resamples, seed, limits)
    n_columns = values.shape[1]
    bounds = np.full((2, n_columns), np.nan)
    # some columns at a time: the resamples of all together may take more memory than there is
    cells_of_column = 1 if method in WITHOUT_RESAMPLES else n_resamples
    fewest = 1 if method == BOUNDED else 2
    for first, last in batches(n_columns, cells_of_column, BATCH_CELLS):
        batch_weights = None
        if weights is not None:
            batch_weights = weights[:, first:last]
        for units in split_into_units(values[:, first:last], codes, fewest, weights=batch_weights):
            columns = first + units.columns
            unit_means = None if given_means is None else given_means[:, columns]
            bounds[:, columns] = _compute_bounds(units, settings, unit_means)
    return bounds[0], bounds[1]


@dataclass(frozen=True)
class IntervalSettings:
    """How the intervals of all columns are computed.

    Attributes
    ----------
    method : str
    level : float
    n_resamples : int
    seed : int
    limits : tuple of float
        The lowest and the highest value possible.
    """

    method: str
    level: float
    n_resamples: int
    seed: int
    limits: tuple[float, float]


def _compute_bounds(units: Units, settings: IntervalSettings, given_means: FloatArray | None) -> FloatArray:
    """Return the bounds of the means of these units, shape (2, n_columns); of resampled means, if these are given."""
    method = settings.method
    level = settings.level
    if method == BOUNDED:
        tail = (1 - level) / 2
        sizes = units.sizes[:, None]
        return gaffke_bounds(units.sums, sizes, tail=tail, limits=settings.limits, added=units.typical_size)
    if method == "t":
        return t_bounds(units, level)
    if method == SKEWED:
        return skewed_t_bounds(units, level)
    generator = np.random.default_rng(settings.seed)
    if method == "bootstrap-t":
        return bootstrap_t_bounds(units, level, n_resamples=settings.n_resamples, rng=generator)
    resampled = given_means
    if resampled is None:
        resampled = bootstrap_means(units.sums, units.sizes, n_resamples=settings.n_resamples, rng=generator)
    if method == "bca":
        return bca_bounds(units, resampled, level)
    return percentile_bounds(units, resampled, level)


@use_default_arithmetic
def standard_errors(
    values: ArrayLike, *, cluster: ArrayLike | None = None, weights: ArrayLike | None = None
) -> FloatArray:
    r"""Return the standard error of the mean of each column.

    .. math:: \frac{s}{\sqrt{n}}, \quad\text{with G clusters}\quad
        \frac{1}{N} \sqrt{\frac{G}{G - 1} \sum_{g=1}^{G} (S_g - n_g \bar{x})^2}

    Parameters
    ----------
    values : array-like of shape (n_queries, n_columns)
        NaN where a value is missing: the row is left out of that column.
    cluster : array-like of int, shape (n_queries,), optional
        Code of each query's cluster.
    weights : array-like of float, shape (n_queries,) or that of `values`, optional
        How much each query counts, above 0 where there is a value.
        Unequal weights take the jackknife: see :attr:`Units.standard_errors`.

    Returns
    -------
    ndarray of float, shape (n_columns,)
        NaN with fewer than two units.

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> standard_errors([[0.0], [1.0], [0.0], [1.0]]).round(4).tolist()
    [0.2887]
    >>> standard_errors([[0.0], [1.0], [0.0], [1.0]], cluster=[0, 0, 1, 1]).tolist()
    [0.0]
    """
    values = as_matrix("values", values)
    codes = as_clusters(cluster, len(values))
    weights = as_weights(weights, values)
    errors = np.full(values.shape[1], np.nan)
    for units in split_into_units(values, codes, weights=weights):
        errors[units.columns] = units.standard_errors
    return errors
