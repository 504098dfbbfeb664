"""Confidence intervals and standard errors of means over queries, column by column, and of proportions."""

from statistics import NormalDist

import numpy as np

from deadheat.core.arrays import ArrayLike, BoolArray, FloatArray, special, with_own_arithmetic
from deadheat.core.checks import as_level, as_resamples, check_choice
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.scalars import ROUNDING
from deadheat.core.settings import BOUNDED, OF_ANY_MEANS, SKEWED
from deadheat.core.stats.gaffke import NORMAL_QUANTILE, gaffke_bounds
from deadheat.core.stats.resamples import BATCH_CELLS, batches, bootstrap_means, bootstrap_t, means_of
from deadheat.core.stats.units import Units, as_clusters, as_matrix, as_weights, units_of

METHODS = (*OF_ANY_MEANS, BOUNDED)
EXACT = (BOUNDED, SKEWED, "t")  # methods that draw nothing
NORMAL_SHARE = np.vectorize(NormalDist().cdf, [float])
SYMMETRIC = 1e-6  # skewness below which the cubic transformation is none, but for rounding
POLE = 1e-9  # in the far tail of very skewed values BCa's denominator reaches 0: beyond lies the extreme mean


@with_own_arithmetic
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

    "bca" takes quantiles of the resampled means at levels that are corrected for bias and skewness,

    .. math:: \alpha_i = \Phi\left(z_0 + \frac{z_0 + z_i}{1 - a (z_0 + z_i)}\right)

    with :math:`z_0` from the share of resampled means below the mean (equal ones count half) and a from leaving
    out each unit once. "percentile" takes the plain quantiles; "t" needs no resamples. "bootstrap-t" takes quantiles of
    the resampled t in place of Student's, and is nowhere narrower than Student's: among few different values the
    resamples can have too little spread, or none, and an end is infinite then. "skewed-t" corrects Student's t for the
    skewness of the values instead, by Hall's cubic transformation, and is nowhere narrower than Student's, either: see
    :func:`skewed_t_bounds`.

    "gaffke" is for values between two limits, such as 0 and 1. It adds a unit with the lowest possible value for the
    lower end, and with the highest for the upper one, and takes quantiles of means whose weights are drawn evenly
    from all that sum to 1,

    .. math:: \sum_{i=1}^{n} w_i x_i + w_{n+1} \ell, \quad w \sim \text{Dirichlet}(1, \dots, 1)

    The quantiles are computed, not drawn: see :mod:`deadheat.stats.gaffke`. Of values that are 0 or 1 it is Clopper and
    Pearson's interval. That it covers the mean of any distribution as often as it says is a conjecture; no simulation
    has found less.

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
        What :func:`resampled_means` gave for the same values and clusters; `n_resamples` and `rng` have no use then.
    limits : tuple of float, default (0, 1)
        For "gaffke": the lowest and the highest value possible.
    weights : array-like of float, shape (n_queries,) or that of `values`, optional
        How much each query counts, above 0 where there is a value.
        Query and weight are drawn together, and :math:`\sum w x / \sum w` is the mean;
        "t" takes the degrees of freedom of the effective number of queries; "gaffke" adds one that weighs as much as
        one of these, of clusters as one of their effective number.

    Returns
    -------
    low, high : ndarray of float, shape (n_columns,)
        NaN with fewer than two units, and without any for "gaffke"; both are the mean where all values are equal, but
        not for "gaffke".

    Raises
    ------
    ParameterError

    References
    ----------
    Efron 1987, https://doi.org/10.1080/01621459.1987.10478410. Efron and Tibshirani 1993, An Introduction to the
    Bootstrap, chapters 12 and 14. Gaffke 2005, "Three test statistics for a nonparametric one-sided hypothesis on the
    mean of a nonnegative variable", Mathematical Methods of Statistics 14. Learned-Miller and Thomas 2019,
    https://arxiv.org/abs/1905.06208, for the simulations.

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
    codes, own = as_clusters(cluster, len(values)), as_weights(weights, values)
    bounds = np.full((2, values.shape[1]), np.nan)
    seed = int(random_generator(rng).integers(1 << 63))  # as `resampled_means`: columns share the resamples
    given = None if means is None else means_of(means, values)
    # as many columns at a time as stay in the cache: resamples of all may take more memory than there is
    for first, last in batches(values.shape[1], 1 if method in EXACT else n_resamples, BATCH_CELLS):
        for units in units_of(
            values[:, first:last],
            codes,
            fewest=1 if method == BOUNDED else 2,
            weights=None if own is None else own[:, first:last],
        ):
            places = first + units.columns
            if method == BOUNDED:
                found = gaffke_bounds(
                    units.sums, units.sizes[:, None], tail=(1 - level) / 2, limits=limits, added=units.typical_size
                )
            elif method == "t":
                found = t_bounds(units, level)
            elif method == SKEWED:
                found = skewed_t_bounds(units, level)
            elif method == "bootstrap-t":
                found = _widened(units, t_bounds(units, level), level, n_resamples, seed)
            else:
                resampled = (
                    bootstrap_means(units.sums, units.sizes, n_resamples=n_resamples, rng=np.random.default_rng(seed))
                    if given is None
                    else given[:, places]
                )
                found = _resampled_bounds(units, resampled, method, level)
            bounds[:, places] = found
    return bounds[0], bounds[1]


@with_own_arithmetic
def standard_errors(
    values: ArrayLike, *, cluster: ArrayLike | None = None, weights: ArrayLike | None = None
) -> FloatArray:
    r"""Return the standard error of the mean of each column.

    .. math:: \frac{s}{\sqrt{n}}, \quad\text{with clusters}\quad
        \frac{1}{N} \sqrt{\frac{G}{G - 1} \sum_{g=1}^{G} (S_g - n_g \bar{x})^2}

    Parameters
    ----------
    values : array-like of shape (n_queries, n_columns)
        NaN where a value is missing: the row is left out of that column.
    cluster : array-like of int, shape (n_queries,), optional
        Code of each query's cluster.
    weights : array-like of float, shape (n_queries,) or that of `values`, optional
        How much each query counts, above 0 where there is a value.
        The error is the jackknife's.

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
    found = np.full(values.shape[1], np.nan)
    for units in units_of(values, as_clusters(cluster, len(values)), weights=as_weights(weights, values)):
        found[units.columns] = units.standard_errors
    return found


@with_own_arithmetic
def proportion_bounds(totals: ArrayLike, n: int, confidence_level: float = 0.95) -> FloatArray:
    r"""Return the bounds of a proportion by Clopper and Pearson, also for values between 0 and 1.

    A proportion is the mean of values that are 0 or 1, or with ties the probability of a 1.

    .. math:: I_{low}(S, n - S + 1) = \frac{1 - c}{2}, \quad I_{high}(S + 1, n - S) = \frac{1 + c}{2}

    with S the sum of n values, c the confidence level and I the regularised incomplete beta function; low is 0 for
    S = 0, high is 1 for S = n. If every value is 0 or 1 these are the exact bounds of a binomial proportion, which
    cover the true one with a probability of c or more.

    A query with ties has the probability of a 1 as its value, a number between. Of all values from 0 to 1 with a given
    mean, 0 and 1 vary most: the mean of every convex function of S is largest for them (by its chord, as in Hoeffding
    1963), so that S lies closer to its mean than a binomial count, and the bounds cover more. For the tails that is no
    proof. What is proved: draw a 1 with the probability of each value, and their number T is binomial; its median is S,
    rounded up or down (Jogdeo and Samuels 1968), so that T reaches the whole number below S in half of all draws or
    more, and S is at most twice as likely as T to lie so far out. What was found: of many distributions of three
    values, searched for the worst, none misses more often than 0 and 1 do (``docs/figures/coverage_proportions.py``).

    Parameters
    ----------
    totals : array-like of float
        Sums of n values each, from 0 to n, of any shape.
    n : int
        Number of values; there are no bounds of none.
    confidence_level : float, default 0.95
        Between 0 and 1.

    Returns
    -------
    ndarray of float, shape (2, ...)
        Lower and upper bounds; NaN if n is 0.

    Raises
    ------
    ParameterError
        The level is not between 0 and 1.

    References
    ----------
    Clopper and Pearson 1934, https://doi.org/10.1093/biomet/26.4.404. Hoeffding 1963,
    https://doi.org/10.1080/01621459.1963.10500830. Jogdeo and Samuels 1968, https://doi.org/10.1214/aoms/1177698243.

    Examples
    --------
    Two hits of two, and two ties of two documents each:

    >>> proportion_bounds([2, 1], 2).round(3).tolist()
    [[0.158, 0.013], [1.0, 0.987]]
    """
    tail = (1 - as_level("confidence_level", confidence_level)) / 2
    sums = np.clip(np.asarray(totals, np.float64), 0, n)
    if not n:
        return np.full((2, *sums.shape), np.nan)
    low = special.betaincinv(np.where(sums > 0, sums, 1.0), n - sums + 1, tail)
    high = special.betaincinv(sums + 1, np.where(sums < n, n - sums, 1.0), 1 - tail)
    return np.stack([np.where(sums > 0, low, 0.0), np.where(sums < n, high, 1.0)])


def jackknife_bounds(value: float, left_out: FloatArray, confidence_level: float) -> tuple[float, float]:
    r"""Return the bounds of a statistic by leaving out each unit once, with Student's t.

    .. math:: \hat\theta \pm t_{n-1} \sqrt{\frac{n - 1}{n} \sum_i (\theta_{(i)} - \bar\theta_{(\cdot)})^2}

    Parameters
    ----------
    value : float
        The statistic of all units.
    left_out : ndarray of float, shape (n_units,)
        The statistic without each unit; NaN where it does not exist, which is left out.
    confidence_level : float

    Returns
    -------
    low, high : float
        NaN with fewer than two units.

    References
    ----------
    Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 11.

    Examples
    --------
    >>> low, high = jackknife_bounds(0.5, np.array([0.7, 0.55, 0.25]), 0.95)  # of 0.1, 0.4 and 1.0, as by Student's t
    >>> round(low, 3), round(high, 3)
    (-0.638, 1.638)
    """
    kept = left_out[~np.isnan(left_out)]
    n = len(kept)
    if n < 2 or np.isnan(value):
        return float("nan"), float("nan")
    error = float(np.sqrt((n - 1) / n * ((kept - kept.mean()) ** 2).sum()))
    half = float(special.stdtrit(n - 1, (1 + confidence_level) / 2)) * error
    return value - half, value + half


def t_bounds(units: Units, level: float) -> FloatArray:
    """Return the lower and upper bounds by Student's t, shape (2, n_columns)."""
    half = special.stdtrit(units.freedom, (1 + level) / 2) * units.standard_errors
    return np.stack([units.means - half, units.means + half])


def skewed_t_bounds(units: Units, level: float) -> FloatArray:
    r"""Return bounds by Student's t after a correction for skewness, shape (2, n_columns), but none within Student's.

    .. math:: g(t) = t + \frac{a}{3} t^2 + \frac{a^2}{27} t^3 + \frac{a}{6}, \quad
        a = \frac{\sum_g r_g^3}{\left(\sum_g r_g^2\right)^{3/2}}, \quad
        \bar{x} - g^{-1}(\pm q)\, se

    with the residuals r of the units (a is their skewness over :math:`\sqrt n`) and a quantile q of Student's t. g
    rises everywhere, and g(t) is less skewed than t: the error of a one-sided bound falls with 1 / n.

    References
    ----------
    Hall 1992, "On the removal of skewness by transformation", https://doi.org/10.1111/j.2517-6161.1992.tb01876.x.
    """
    residuals = units.residuals
    squares = (residuals**2).sum(axis=0)
    scale = np.where(squares > 0, squares, 1.0)
    skew = ((residuals / np.sqrt(scale)) ** 3).sum(axis=0)
    skew = np.where(np.abs(skew) < SYMMETRIC, SYMMETRIC, skew)
    quantile = special.stdtrit(units.freedom, (1 + level) / 2)
    high, low = (3 / skew * (np.cbrt(1 + skew * (z - skew / 6)) - 1) for z in (-quantile, quantile))
    errors = units.standard_errors
    lowest = units.means - np.maximum(low, quantile) * errors
    highest = units.means - np.minimum(high, -quantile) * errors
    return np.stack([lowest, highest])


def _widened(units: Units, bounds: FloatArray, level: float, n_resamples: int, seed: int) -> FloatArray:
    """Return bounds by the bootstrap-t, shape (2, n_columns), but none within those given."""
    found = np.sort(bootstrap_t(units, n_resamples=n_resamples, rng=np.random.default_rng(seed)), axis=0)
    beyond = int(np.floor((1 - level) / 2 * (n_resamples + 1))) - 1  # not interpolated: they may be infinite
    low, high = found[max(beyond, 0)], found[min(n_resamples - 1 - beyond, n_resamples - 1)]
    errors = units.linear_errors
    with np.errstate(invalid="ignore"):  # of equal values, without an error
        ends = units.means - np.where(errors > 0, np.stack([high, low]), 0.0) * errors
    ends = np.where(errors > 0, ends, units.means)
    return np.stack([np.minimum(bounds[0], ends[0]), np.maximum(bounds[1], ends[1])])


def _resampled_bounds(units: Units, resampled: FloatArray, method: str, level: float) -> FloatArray:
    """Return quantiles of the resampled means, shape (2, n_columns)."""
    residuals = units.residuals
    constant: BoolArray = ~np.any(residuals, axis=0)
    shares = np.repeat([[(1 - level) / 2], [(1 + level) / 2]], len(units.columns), axis=1)
    if method == "bca":
        shares = _corrected(shares, _bias(units, resampled), _acceleration(units, residuals, constant))
    ordered = np.sort(np.ascontiguousarray(resampled.T), axis=1).T  # what is sorted lies together
    return np.where(constant, units.means, _quantiles(ordered, shares))


def _bias(units: Units, resampled: FloatArray) -> FloatArray:
    """Return z0, shape (n_columns,); finite also if all resampled means lie on one side of the mean."""
    tolerance, n_resamples = ROUNDING * units.scales, len(resampled)
    below = (resampled < units.means - tolerance).sum(axis=0)
    not_above = (resampled <= units.means + tolerance).sum(axis=0)
    return NORMAL_QUANTILE(np.clip((below + not_above) / 2, 0.5, n_resamples - 0.5) / n_resamples)


def _acceleration(units: Units, residuals: FloatArray, constant: BoolArray) -> FloatArray:
    """Return a, shape (n_columns,), from the mean without each unit; 0 in a constant column."""
    # the mean minus the mean without the unit, in closed form
    influence = residuals / (units.sizes.sum() - units.sizes)[:, None]
    influence -= influence.mean(axis=0)
    influence /= np.where(constant, 1.0, np.abs(influence).max(axis=0))
    squares = np.where(constant, 1.0, (influence**2).sum(axis=0))
    return (influence**3).sum(axis=0) / (6 * squares**1.5)


def _corrected(shares: FloatArray, bias: FloatArray, acceleration: FloatArray) -> FloatArray:
    """Return the levels of the quantiles that BCa takes, shaped as `shares`."""
    z = bias + NORMAL_QUANTILE(shares)
    return NORMAL_SHARE(bias + z / np.maximum(1 - acceleration * z, POLE))


def _quantiles(ordered: FloatArray, shares: FloatArray) -> FloatArray:
    """Return quantiles of sorted columns, (n, n_columns), each at its own levels, (k, n_columns), interpolated."""
    position = shares * (len(ordered) - 1)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, len(ordered) - 1)
    low, high = (np.take_along_axis(ordered, index, axis=0) for index in (below, above))
    return low + (high - low) * (position - below)


@with_own_arithmetic
def quantile_bounds(values: FloatArray, quantile: float, confidence_level: float = 0.95) -> tuple[float, float]:
    r"""Return the bounds of a confidence interval for a quantile: two of the ordered values.

    The l-th smallest of n values lies above the quantile q with probability :math:`P(B < l)`, the u-th below it with
    :math:`P(B \ge u)`, where B is binomial with n and q; each may be half of 1 - `confidence_level` at most. So the
    interval covers at least as often as it says, for values of any distribution.

    Parameters
    ----------
    values : ndarray of shape (n,)
        NaN is left out.
    quantile : float
        Between 0 and 1; 0.5 is the median.
    confidence_level : float, default 0.95

    Returns
    -------
    low, high : float
        Infinite where no value can be an end: the median of fewer than six values has none at 0.95.

    Raises
    ------
    ParameterError
        The quantile or the level is not between 0 and 1.

    References
    ----------
    W. J. Conover, Practical Nonparametric Statistics, 3rd edition (1999), section 3.2.

    Examples
    --------
    >>> quantile_bounds(np.arange(1.0, 11), 0.5), quantile_bounds(np.arange(1.0, 6), 0.5)
    ((2.0, 9.0), (-inf, inf))
    """
    quantile = as_level("quantile", quantile, example="0.5")
    tail = (1 - as_level("confidence_level", confidence_level)) / 2 + ROUNDING  # half of 1 - 0.8 is less than 0.1
    ordered = np.sort(values[~np.isnan(values)])
    n, counts = len(ordered), np.arange(len(ordered))
    n_low = int((special.bdtr(counts, n, quantile) <= tail).sum())  # of l = 1, 2, ...
    n_high = int((special.bdtrc(counts, n, quantile) <= tail).sum())  # of u = n, n - 1, ...
    return (
        float(ordered[n_low - 1]) if n_low else -np.inf,
        float(ordered[n - n_high]) if n_high else np.inf,
    )
