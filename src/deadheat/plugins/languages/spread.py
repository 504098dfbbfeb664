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
    >>> found = spread_of_means(rows, means=resampled_means(rows, rng=0))
    >>> round(found.variance, 4), bool(found.low < found.variance < found.high)
    (0.0225, True)
    """
    tail = (1 - as_level("confidence_level", confidence_level)) / 2
    given = as_matrix("values", values)
    whole: BoolArray = np.asarray(~np.isnan(given).any(axis=1))
    codes = as_clusters(cluster, len(given))
    n_columns = given.shape[1]
    if not whole.any():
        return Spread(np.nan, np.nan, np.nan, np.nan, np.full(n_columns, np.nan), 0)
    (units,) = split_into_units(given[whole], None if codes is None else codes[whole], fewest=1)
    found = units.means - units.means.mean()
    variance = float(found @ found) / n_columns
    if units.n_units < 2:
        return Spread(variance, np.nan, np.nan, np.nan, _lowest(units.means[None]), units.n_units)
    resampled = as_resampled_means(means, np.where(whole[:, None], given, np.nan))
    errors = resampled - units.means
    errors = (errors - errors.mean(axis=1, keepdims=True)) * np.sqrt(units.n_units / (units.n_units - 1))
    low, high = _low(found, errors, tail), _high(found, errors, tail)
    by_chance = float((errors**2).sum(axis=1).mean()) / n_columns
    return Spread(variance, low**2 / n_columns, high**2 / n_columns, by_chance, _lowest(resampled), units.n_units)


def _lowest(means: FloatArray) -> FloatArray:
    """Return the share of rows in which each column is lowest; equal ones share a row."""
    is_lowest = means <= means.min(axis=1, keepdims=True) + ROUNDING * np.abs(means).max(axis=1, keepdims=True)
    return np.asarray((is_lowest / is_lowest.sum(axis=1, keepdims=True)).mean(axis=0))


def _low(found: FloatArray, errors: FloatArray, tail: float) -> float:
    """Return the length at which deviations as long as those found, or longer, are seen with the given probability."""
    length = float(np.sqrt(found @ found))
    if length <= ROUNDING:
        return 0.0
    along, squares = errors @ found / length, (errors**2).sum(axis=1)

    def seen(at: float) -> float:
        return float((at**2 + 2 * at * along + squares >= length**2 * (1 - ROUNDING)).mean())

    if seen(0.0) > tail:
        return 0.0
    low, high = 0.0, length
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if seen(middle) <= tail else (low, middle)
    return low


def _high(found: FloatArray, errors: FloatArray, tail: float) -> float:
    """Return the length that no direction of the deviations exceeds but with the given probability."""
    widest = np.linalg.eigh(errors.T @ errors)[1][:, -1]
    ends = np.quantile(errors @ widest, [tail, 1 - tail])
    return float(np.sqrt(found @ found) + np.abs(ends).max())


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
    least = min(_least_between(low, high, one, other) for one, other in pairwise([*ends, ends[-1]]))
    # convex in the numbers: largest at ends, those above some point at the upper one and all others at the lower one
    order = np.argsort(low + high, kind="stable")
    largest = max(float(np.var(np.append(low[order[:n]], high[order[n:]]))) for n in range(len(low) + 1))
    return least, largest


def _least_between(low: FloatArray, high: FloatArray, one: float, other: float) -> float:
    """Return the least variance of numbers nearest to a point between two neighbouring ends."""
    fixed = np.where(low >= other, low, np.where(high <= one, high, np.nan))
    held = fixed[~np.isnan(fixed)]
    point = float(np.clip(held.mean(), one, other)) if len(held) else one
    return float(np.mean((np.clip(point, low, high) - point) ** 2))
