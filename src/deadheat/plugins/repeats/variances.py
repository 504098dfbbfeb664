"""Parts of a variance: queries, repeats and ties of values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray, special
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.alternatives import Alternative

HALVINGS = 60  # of the range in which a p value lies: more than a float has digits


@dataclass(frozen=True)
class VarianceComponents:
    """The variance of single values, split into what they differ by; estimates without bias may be below 0.

    Attributes
    ----------
    queries : float
        Of the queries' means over all repeats that there could be.
    repeats : float
        Within a query, over repeats, of exact expected values.
    ties : float
        Mean exact variance over tie orders, which comes on top: it is not in `repeats`.
    shared : float
        The part of `repeats` that all queries of one repeat have in common, such as a seed or a model's version; over
        the queries that all repeats have. NaN where there are fewer than two.
    shared_p_value : float
        Of the F test of "there is no such effect".
    n_queries : int
    n_repeats : float
        Of a query; where queries lack some the n0 of analysis of variance.
    """

    queries: float
    repeats: float
    ties: float
    shared: float
    shared_p_value: float
    n_queries: int
    n_repeats: float

    @property
    def negative(self) -> tuple[str, ...]:
        """The components whose estimate is below 0: the data show less variance than chance alone gives on average."""
        return tuple(name for name in ("queries", "repeats", "shared") if getattr(self, name) < 0)


@dataclass(frozen=True)
class Shared:
    """What an effect that all queries of a repeat share adds to the variance of a mean.

    Attributes
    ----------
    variance : float
        Of the mean over queries and repeats, 0 where none is seen.
    of_one : float
        Of the mean over queries of a single repeat, its own noise included.
    freedom : int
        Repeats less one.
    """

    variance: float
    of_one: float
    freedom: int


def variance_components(values: FloatArray, tie_variances: FloatArray) -> VarianceComponents:
    r"""Split the variance of values of queries and repeats.

    .. math:: \hat\sigma_q^2 = \frac{MS_q - MS_e}{n_0}, \quad n_0 = \frac{N - \sum_q k_q^2 / N}{n - 1}

    where :math:`MS_e` is the mean square of what query and repeat leave over if each query has every repeat, so that a
    shared effect of a repeat has no part in it; else the mean square within queries.

    Parameters
    ----------
    values, tie_variances : ndarray of float, shape (n_queries, n_repeats)
        NaN where a repeat lacks a query.

    References
    ----------
    Searle, Casella and McCulloch 1992, Variance Components, chapters 3 and 4.

    Examples
    --------
    >>> values = np.array([[0.2, 0.4], [0.6, 0.8], [0.5, 0.9]])
    >>> found = variance_components(values, np.zeros((3, 2)))
    >>> round(found.queries, 4), round(found.repeats, 4), round(found.shared, 4)
    (0.05, 0.04, 0.0333)
    """
    own = values[(~np.isnan(values)).any(axis=1)]
    counts = (~np.isnan(own)).sum(axis=1)
    n, total = len(own), int(counts.sum())
    if n < 2 or total == n:
        return VarianceComponents(math.nan, math.nan, math.nan, math.nan, math.nan, n, total / n if n else math.nan)
    means = np.nanmean(own, axis=1)
    between = float((counts * (means - np.nansum(own) / total) ** 2).sum()) / (n - 1)
    within = float(np.nansum((own - means[:, None]) ** 2)) / (total - n)
    n0 = (total - float((counts**2).sum()) / total) / (n - 1)
    of_repeats, left, whole = _mean_squares(values)
    shared, p_value = math.nan, math.nan
    if not math.isnan(of_repeats):
        n_whole, n_repeats = whole.shape
        shared = _excess(of_repeats, left) / n_whole
        degrees = (n_repeats - 1, (n_whole - 1) * (n_repeats - 1))
        p_value = float(special.fdtrc(*degrees, of_repeats / left)) if left > 0 else float(of_repeats <= 0)
    error = left if len(whole) == n and not math.isnan(left) else within
    ties = float(np.nanmean(np.where(np.isnan(values), np.nan, tie_variances)))
    return VarianceComponents(_excess(between, error) / n0, within, ties, shared, p_value, n, n0)


def shared_of(values: FloatArray) -> Shared:
    """Return what a shared effect of repeats adds to the mean of values, of shape (n_queries, n_repeats)."""
    of_repeats, left, whole = _mean_squares(values)
    if math.isnan(of_repeats):
        return Shared(0.0, 0.0, 0)
    return Shared(max(0.0, _excess(of_repeats, left)) / whole.size, of_repeats / len(whole), whole.shape[1] - 1)


def _excess(square: float, other: float) -> float:
    """Return how much more one mean square is than another; 0 where rounding alone tells them apart."""
    return 0.0 if abs(square - other) <= ROUNDING * max(square, other) else square - other


def _mean_squares(values: FloatArray) -> tuple[float, float, FloatArray]:
    """Return the mean squares of repeats and of what is left over, and the queries that have every repeat.

    Values are taken as distances from those of the first repeat: equal ones leave exactly 0.
    """
    whole = (values - values[:, :1])[~np.isnan(values).any(axis=1)]
    n, k = whole.shape
    if n < 2 or k < 2:
        return math.nan, math.nan, whole
    mean, of_queries, of_repeats = whole.mean(), whole.mean(axis=1, keepdims=True), whole.mean(axis=0)
    left = float(((whole - of_queries - of_repeats + mean) ** 2).sum()) / ((n - 1) * (k - 1))
    return n * float(((of_repeats - mean) ** 2).sum()) / (k - 1), left, whole


def widened(
    mean: float, ends: tuple[float, float], shared: Sequence[Shared], confidence_level: float
) -> tuple[float, float]:
    r"""Return the ends of an interval over queries, widened by shared effects of repeats.

    .. math:: (\bar x - low)^2 + \sum t_{K-1}^2 \, \hat\sigma^2_{shared} / K

    The squares of the distances add up, each with its own quantile: of two repeats only one degree of freedom tells how
    far another would be, so that the interval is wide where these two differ by more than chance.

    Parameters
    ----------
    mean : float
    ends : tuple of float
    shared : sequence of Shared
        One for each system.
    confidence_level : float
    """
    extra = sum(
        special.stdtrit(one.freedom, (1 + confidence_level) / 2) ** 2 * one.variance for one in shared if one.variance
    )
    low, high = (math.sqrt((mean - end) ** 2 + extra) for end in ends)
    return mean - low, mean + high


def shared_p_value(
    difference: float, error: float, freedom: float, shared: Sequence[Shared], alternative: Alternative
) -> float:
    """Return the p value of a t test of a mean difference whose error has shared effects of repeats too.

    The level at which the interval of :func:`widened` ends at 0.

    Examples
    --------
    >>> round(shared_p_value(0.1, 0.04, 20, [], "two-sided"), 4)  # as Student's t
    0.0212
    """
    low, high = (0.0, 0.5) if difference else (0.5, 0.5)  # of one tail
    parts = [(freedom, error**2), *((one.freedom, one.variance) for one in shared if one.variance)]
    for _ in range(HALVINGS):
        tail = (low + high) / 2
        reach = sum(special.stdtrit(degrees, 1 - tail) ** 2 * variance for degrees, variance in parts)
        low, high = (low, tail) if reach <= difference**2 else (tail, high)
    if alternative == "two-sided":
        return min(1.0, 2 * high)
    return high if {"greater": difference, "less": -difference}[alternative] >= 0 else 1 - high


def rerun_probability(difference: float, shared: Sequence[Shared]) -> float:
    r"""Return the probability that running both systems once more, on these queries, reverses their order.

    If nothing else is known of the difference, a new one lies around the one found with the variance
    :math:`\sum s_r^2 (1 + 1/K)`, of the means of repeats; by t, with the degrees of freedom of Welch and Satterthwaite.

    Examples
    --------
    >>> round(rerun_probability(0.02, [Shared(0.0, 0.0004, 4), Shared(0.0, 0.0, 4)]), 3)
    0.206
    """
    parts = [(one.of_one * (1 + 1 / (one.freedom + 1)), one.freedom) for one in shared if one.freedom]
    variance = sum(own for own, _ in parts)
    if not variance or math.isnan(difference):
        return math.nan if not parts or math.isnan(difference) else 0.0
    freedom = variance**2 / sum(own**2 / degrees for own, degrees in parts)
    return float(special.stdtr(freedom, -abs(difference) / math.sqrt(variance)))
