"""Resamples of units: drawn counts, and the means that they give.

Resampled means are products of a matrix of counts with the matrix of values. All columns share the
resamples, so differences between columns stay paired. A seed gives the same resamples for any size of batches and
beside any other columns.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deadheat.core.arrays import ArrayLike, FloatArray, IntArray, use_default_arithmetic
from deadheat.core.checks import as_resamples
from deadheat.core.errors import ParameterError
from deadheat.core.phases import lasting
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.units import Units, as_clusters, as_matrix, as_weights, split_into_units

DRAWN_CELLS = 1 << 17  # drawn at a time: 1 MB of integers stays in the cache
BATCH_CELLS = 1 << 21  # multiplied at a time: 16 MB; few large products, as each one wakes the threads of BLAS
ONCE = np.uint16(1)


@use_default_arithmetic
def bootstrap_means(
    sums: FloatArray, sizes: IntArray | FloatArray, *, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return the mean over queries in each bootstrap resample of the units.

    A resample draws as many units as there are, with replacement; its mean is the sum of the drawn values over the
    number of drawn queries.

    Parameters
    ----------
    sums : ndarray of float, shape (n_units, n_columns)
        Sum of the values in each unit.
    sizes : ndarray of int or float, shape (n_units,)
        Number of queries in each unit, or the sum of their weights.
    n_resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of float, shape (n_resamples, n_columns)

    References
    ----------
    Efron and Tibshirani 1993, An Introduction to the Bootstrap, https://doi.org/10.1201/9780429246593.

    Examples
    --------
    >>> hits = np.array([[1.0], [0.0], [1.0], [1.0]])
    >>> means = bootstrap_means(hits, np.ones(4, int), n_resamples=1000, rng=np.random.default_rng(1))
    >>> round(float(means.mean()), 2)
    0.75
    """
    sums_and_sizes = np.column_stack([sums, sizes])
    means = np.empty((n_resamples, sums.shape[1]))
    for first, counts in draw_counts(len(sizes), n_resamples, rng):
        drawn = counts @ sums_and_sizes
        rows = slice(first, first + len(counts))
        np.divide(drawn[:, :-1], drawn[:, -1:], out=means[rows])
    return means


def bootstrap_t(units: Units, *, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    r"""Return Student's t of each bootstrap resample of the units, around the mean of the data.

    .. math:: t^* = \frac{\bar{x}^* - \bar{x}}{se^*}

    where :math:`se^*` is :attr:`Units.linear_errors` of the resample.

    Parameters
    ----------
    units : Units
        Two or more.
    n_resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of float, shape (n_resamples, n_columns)
        In a resample without spread 0 if its mean is that of the data, and infinite if not.

    References
    ----------
    Efron and Tibshirani 1993, An Introduction to the Bootstrap, section 12.5, https://doi.org/10.1201/9780429246593.
    Hall 1992, The Bootstrap and Edgeworth Expansion, https://doi.org/10.1007/978-1-4612-4384-7.
    """
    centred = units.residuals
    sizes = units.sizes
    n_units, n_columns = centred.shape
    products = centred * sizes[:, None]
    columns = np.column_stack([centred, centred**2, products, sizes, sizes**2]).astype(np.float64)
    ends = [n_columns, 2 * n_columns, 3 * n_columns, 3 * n_columns + 1]  # of the five parts but the last
    negligible_sums = ROUNDING * np.abs(centred).sum(axis=0)
    negligible_squares = ROUNDING * (centred**2).sum(axis=0)
    statistics = np.empty((n_resamples, n_columns))
    for first, counts in draw_counts(n_units, n_resamples, rng):
        for start, stop in batches(len(counts), columns.shape[1], BATCH_CELLS):
            drawn = counts[start:stop] @ columns
            drawn_sums, drawn_squares, drawn_products, n_queries, squared_sizes = np.split(drawn, ends, axis=1)
            mean = drawn_sums / n_queries
            # the sum of (S_g - n_g mean)^2; the number of queries cancels between t's numerator and denominator
            spread = drawn_squares - 2 * mean * drawn_products + mean**2 * squared_sizes
            is_constant = spread <= negligible_squares
            variance = np.where(is_constant, 1.0, spread * (n_units / (n_units - 1)))
            t = drawn_sums / np.sqrt(variance)
            if is_constant.any():
                is_at_mean = np.abs(drawn_sums) <= negligible_sums
                limit = np.where(is_at_mean, 0.0, np.copysign(np.inf, drawn_sums))
                t = np.where(is_constant, limit, t)
            statistics[first + start : first + stop] = t
    return statistics


@use_default_arithmetic
def resampled_means(
    values: ArrayLike,
    *,
    n_resamples: int = 10_000,
    cluster: ArrayLike | None = None,
    rng: Rng = None,
    weights: ArrayLike | None = None,
) -> FloatArray:
    """Return bootstrap means of columns with missing values, to be shared by intervals and tests.

    Parameters
    ----------
    values : array-like of shape (n_queries, n_columns)
        NaN where a value is missing: the row is left out of that column. Columns that lack the same rows share
        their resamples.
    n_resamples : int, default 10000
    cluster : array-like of int, shape (n_queries,), optional
        Code of each query's cluster; clusters are drawn as a whole.
    rng : numpy.random.Generator or int, optional
    weights : array-like of float, shape (n_queries,) or that of `values`, optional
        How much each query counts, above 0 where there is a value.
        Query and weight are drawn together.

    Returns
    -------
    ndarray of float, shape (n_resamples, n_columns)
        NaN in a column without any value.

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> resampled_means([[0.5], [1.0], [float("nan")]], n_resamples=99, rng=1).shape
    (99, 1)
    """
    values = as_matrix("values", values)
    codes = as_clusters(cluster, len(values))
    weights = as_weights(weights, values)
    n_resamples = as_resamples("n_resamples", n_resamples)
    seed = int(random_generator(rng).integers(1 << 63))  # one for all: a column's resamples do not depend on the others
    means = np.full((n_resamples, values.shape[1]), np.nan)
    for units in split_into_units(values, codes, fewest=1, weights=weights):
        generator = np.random.default_rng(seed)
        means[:, units.columns] = bootstrap_means(units.sums, units.sizes, n_resamples=n_resamples, rng=generator)
    return means


def as_resampled_means(given: ArrayLike, values: FloatArray) -> FloatArray:
    """Return the given resampled means as an array; raise `ParameterError` if they do not fit the values."""
    means = np.asarray(given, np.float64)
    if means.ndim != 2 or not len(means) or means.shape[1] != values.shape[1]:
        raise ParameterError(
            f"must have the shape (n_resamples, {values.shape[1]}), as resampled_means gives",
            argument="means",
            found=str(means.shape),
        )
    return means


def draw_counts(n_units: int, n_resamples: int, rng: np.random.Generator) -> Iterator[tuple[int, FloatArray]]:
    """Yield the first resample of each batch, and how often each unit was drawn in each resample of it.

    The counts have the shape (batch size, n_units), and are valid until the next batch: the array is written again.
    Counting draws in pieces that stay in the cache is four times as fast as `rng.multinomial`. No unit is drawn so
    often that its count is too large for 16 bits: that has a probability below 10^-200,000.
    """
    batch_size = min(n_resamples, max(1, BATCH_CELLS // n_units))
    counts = np.empty((batch_size, n_units))
    for first, last in batches(n_resamples, n_units, BATCH_CELLS):
        for start, stop in batches(last - first, n_units, DRAWN_CELLS):
            n_rows = stop - start
            drawn = rng.integers(0, n_units, (n_rows, n_units))
            drawn += n_units * np.arange(n_rows)[:, None]  # the cell of the unit in the counts of these rows
            piece = np.zeros(n_rows * n_units, np.uint16)  # small numbers: with 500,000 units they are in the cache
            np.add.at(piece, drawn.ravel(), ONCE)
            counts[start:stop] = piece.reshape(n_rows, n_units)
        yield first, counts[: last - first]


def batches(n_rows: int, n_columns: int, max_cells: int) -> Iterator[tuple[int, int]]:
    """Yield the first row and the end of batches of at most `max_cells` cells, or of a single row.

    If all batches take long, a warning says so.
    """
    batch_size = max(1, max_cells // max(1, n_columns))
    with lasting("resampling", n_rows, "; fewer resamples take less") as advance:
        for start in range(0, n_rows, batch_size):
            stop = min(start + batch_size, n_rows)
            yield start, stop
            advance(stop - start)
