"""The variance of the means of several columns, such as languages, and its interval."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from deadheat.core.arrays import ArrayLike, BoolArray, FloatArray
from deadheat.core.checks import as_level
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.resamples import as_resampled_means
from deadheat.core.stats.units import as_clusters, as_matrix, split_into_units

HALVINGS = 60  # of the range in which an end lies: more than a float has digits


@dataclass(frozen=True)
class Spread:
    """The variance of the means of columns.

    Attributes
    ----------
    variance : float
        Divisor: the number of columns.
    low, high : float
        Its confidence interval; `low` is 0 where equal means would show as much now and then.
    by_chance : float
        The variance that equal means would show on average, by the choice of rows alone.
    p_lowest : ndarray of float, shape (n_columns,)
        Share of the resamples in which a column has the lowest mean; equal ones share a resample.
    n_units : int
        Rows, or clusters, that have a value in every column.
    """

    variance: float
    low: float
    high: float
    by_chance: float
    p_lowest: FloatArray
    n_units: int


def spread_of_means(
    values: ArrayLike,
    *,
    confidence_level: float = 0.95,
    cluster: ArrayLike | None = None,
    means: ArrayLike,
) -> Spread:
    r"""Return the variance of the means of columns whose rows are paired, with an interval for that of all such rows.

    With c the deviations of the column means from their own mean, the variance is :math:`V = |c|^2 / L`. What was
    observed is :math:`\hat c = c + e`, so that it is too large on average, by :math:`E|e|^2 / L` (`by_chance`), and an
    interval of resampled variances would hardly ever hold a small V. Its ends are found from e, of which the bootstrap
    gives draws, widened by :math:`\sqrt{n / (n - 1)}`:

    * the lower one is the V at which so large a variance is seen with a probability of half the error, if c has the
      direction of :math:`\hat c`; 0 where V = 0 shows one as large more often;
    * the upper one, whatever the direction v of c, by :math:`|c| \le |\hat c| - v \cdot e`, with the v in which e
      varies most.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_columns)
        Rows with a NaN are left out.
    confidence_level : float, default 0.95
    cluster : array-like of int, shape (n_rows,), optional
        Code of each row's cluster; clusters are drawn as a whole.
    means : array-like of shape (n_resamples, n_columns)
        What :func:`resampled_means` gave for the same values, with NaN in whole rows, and clusters.

    Returns
    -------
    Spread
        NaN ends with fewer than two units; with no row all is NaN.

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> from deadheat.core.stats import resampled_means
    >>> rows = np.array([[0.2, 0.5], [0.4, 0.8], [0.9, 1.0], [0.3, 0.7]])
    >>> spread = spread_of_means(rows, means=resampled_means(rows, rng=0))
    >>> round(spread.variance, 4), bool(spread.low < spread.variance < spread.high)
    (0.0225, True)
    """
    tail = (1 - as_level("confidence_level", confidence_level)) / 2
    matrix = as_matrix("values", values)
    is_whole: BoolArray = np.asarray(~np.isnan(matrix).any(axis=1))
    codes = as_clusters(cluster, len(matrix))
    n_columns = matrix.shape[1]
    if not is_whole.any():
        return Spread(np.nan, np.nan, np.nan, np.nan, np.full(n_columns, np.nan), 0)
    whole_codes = None if codes is None else codes[is_whole]
    (units,) = split_into_units(matrix[is_whole], whole_codes, fewest=1)
    n_units = units.n_units
    deviations = units.means - units.means.mean()
    variance = float(deviations @ deviations) / n_columns
    if n_units < 2:
        p_lowest = _share_lowest(units.means[None])
        return Spread(variance, np.nan, np.nan, np.nan, p_lowest, n_units)
    resampled = as_resampled_means(means, np.where(is_whole[:, None], matrix, np.nan))
    errors = resampled - units.means
    errors -= errors.mean(axis=1, keepdims=True)
    errors *= np.sqrt(n_units / (n_units - 1))
    shortest = _shortest_length(deviations, errors, tail)
    longest = _longest_length(deviations, errors, tail)
    return Spread(
        variance=variance,
        low=shortest**2 / n_columns,
        high=longest**2 / n_columns,
        by_chance=float((errors**2).sum(axis=1).mean()) / n_columns,
        p_lowest=_share_lowest(resampled),
        n_units=n_units,
    )


def _share_lowest(means: FloatArray) -> FloatArray:
    """Return the share of rows in which each column is lowest; equal ones share a row."""
    lowest = means.min(axis=1, keepdims=True)
    rounding = ROUNDING * np.abs(means).max(axis=1, keepdims=True)
    is_lowest = means <= lowest + rounding
    shares = is_lowest / is_lowest.sum(axis=1, keepdims=True)
    return np.asarray(shares.mean(axis=0))


def _shortest_length(deviations: FloatArray, errors: FloatArray, tail: float) -> float:
    """Return the length at which deviations as long as those observed, or longer, have the probability `tail`.

    It is 0 where deviations of length 0 have a higher one. The probability rises with the length, which is found by
    halving the range from 0 to the length observed.
    """
    observed = float(np.sqrt(deviations @ deviations))
    if observed <= ROUNDING:
        return 0.0
    errors_along = errors @ deviations / observed
    squared_errors = (errors**2).sum(axis=1)

    def probability_as_long(length: float) -> float:
        squared_lengths = length**2 + 2 * length * errors_along + squared_errors
        return float((squared_lengths >= observed**2 * (1 - ROUNDING)).mean())

    if probability_as_long(0.0) > tail:
        return 0.0
    low, high = 0.0, observed
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if probability_as_long(middle) <= tail:
            low = middle
        else:
            high = middle
    return low


def _longest_length(deviations: FloatArray, errors: FloatArray, tail: float) -> float:
    """Return the length that no direction of the deviations exceeds but with the given probability."""
    eigenvectors = np.linalg.eigh(errors.T @ errors)[1]
    widest = eigenvectors[:, -1]  # the direction in which the errors vary most
    error_ends = np.quantile(errors @ widest, [tail, 1 - tail])
    observed = float(np.sqrt(deviations @ deviations))
    return observed + float(np.abs(error_ends).max())


def order_range(low: FloatArray, high: FloatArray) -> tuple[float, float]:
    """Return the least and the largest variance of numbers that lie between given ends.

    Parameters
    ----------
    low, high : ndarray of float, shape (n,)

    Returns
    -------
    tuple of float
        The least is of numbers that may lie anywhere between; the largest of numbers at the ends.

    Examples
    --------
    >>> order_range(np.array([0.0, 0.5]), np.array([0.2, 1.0]))
    (0.0225, 0.25)
    """
    # the variance is the least mean square from any point, and convex in it: the best point lies between two ends
    ends: list[float] = np.unique(np.concatenate([low, high])).tolist()
    least = min(_least_variance_between(low, high, left, right) for left, right in pairwise([*ends, ends[-1]]))
    # convex in the numbers: largest at ends, those above some point at the upper one and all others at the lower one
    order = np.argsort(low + high, kind="stable")
    variances = []
    for n_low in range(len(low) + 1):
        numbers = np.append(low[order[:n_low]], high[order[n_low:]])
        variances.append(float(np.var(numbers)))
    return least, max(variances)


def _least_variance_between(low: FloatArray, high: FloatArray, left: float, right: float) -> float:
    """Return the least variance of numbers nearest to a point between the neighbouring ends `left` and `right`."""
    nearest = np.full(len(low), np.nan)  # to every point between the two; NaN of numbers that may be the point itself
    is_above = low >= right
    is_below = high <= left
    nearest[is_below] = high[is_below]
    nearest[is_above] = low[is_above]
    fixed = nearest[~np.isnan(nearest)]
    if len(fixed):
        point = float(np.clip(fixed.mean(), left, right))
    else:
        point = left
    numbers = np.clip(point, low, high)
    return float(np.mean((numbers - point) ** 2))
