"""What is resampled: queries, or clusters of queries, for the columns that lack the same queries; and the resamples.

A column holds the values of one measure and system, or the differences of one measure and pair of systems.
A NaN is a missing value: its row is left out of its column. For a mean, only the sum of the values and the number
of the queries in each unit matter; where queries have weights, the sum of weight times value and that of the weights.

Resampled means and sums are products of a matrix of counts or signs with the matrix of values. All columns share the
resamples, so that differences between columns stay paired. A seed gives the same resamples whatever the batches are
and whatever other columns there are.
"""

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import numpy as np

from deadheat.core.arrays import ArrayLike, BoolArray, FloatArray, IntArray, with_own_arithmetic
from deadheat.core.checks import array_of, as_resamples, check_choice
from deadheat.core.errors import ParameterError
from deadheat.core.kernels.weighting import are_equal, effective_number, relative
from deadheat.core.phases import lasting
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.scalars import NOISE, ROUNDING
from deadheat.core.settings import ALTERNATIVES

NEGLIGIBLE_DIFFERENCE = NOISE  # differences below it count as zero
DRAWN_CELLS = 1 << 17  # drawn at a time: 1 MB of integers stays in the cache
BATCH_CELLS = 1 << 21  # multiplied at a time: 16 MB; few large products, because each wakes the threads of BLAS


@dataclass(frozen=True, eq=False)
class Units:
    """Columns whose missing values are in the same rows, summed by unit.

    Attributes
    ----------
    columns : ndarray of int, shape (n_columns,)
        Where the columns are among all columns.
    sums : ndarray of float, shape (n_units, n_columns)
        Sum of the values in each unit.
    sizes : ndarray of int, shape (n_units,)
        Number of queries in each unit: ones without clusters; with weights the sum of these.
    is_weighted : bool, default False
    """

    columns: IntArray
    sums: FloatArray
    sizes: IntArray | FloatArray
    is_weighted: bool = False

    @property
    def n_units(self) -> int:
        """Number of units that have a value."""
        return len(self.sizes)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of Student's t: the number of units, with weights the effective one, less 1."""
        return (effective_number(self.sizes) if self.is_weighted else self.n_units) - 1

    @property
    def typical_size(self) -> FloatArray:
        """Size of one of the effective number of units, shape (1,): with unequal sizes more than their mean."""
        return np.array([self.sizes.sum() / effective_number(self.sizes)])

    @property
    def means(self) -> FloatArray:
        """Mean over queries of each column; at least one unit is needed."""
        return self.sums.sum(axis=0) / self.sizes.sum()

    @property
    def scales(self) -> FloatArray:
        """Mean absolute value of each column, against which rounding is judged."""
        return np.abs(self.sums).sum(axis=0) / self.sizes.sum()

    @property
    def residuals(self) -> FloatArray:
        """Sum minus size times mean, shape (n_units, n_columns); exact zeros in a constant column."""
        residuals = self.sums - self.sizes[:, None] * self.means
        residuals[:, np.abs(residuals).max(axis=0) <= ROUNDING * np.abs(self.sums).max(axis=0)] = 0.0
        return residuals

    @property
    def standard_errors(self) -> FloatArray:
        r"""Standard error of the mean of each column; at least two units are needed.

        That of :attr:`linear_errors`; with weights, where this is too small, the jackknife of the ratio,

        .. math:: \sqrt{\frac{G - 1}{G} \sum_{g=1}^{G} \left(\frac{S_g - n_g \bar{x}}{N - n_g}\right)^2}

        which takes into account how far each unit pulls the mean to itself. Of equal weights both are the same.
        """
        if not self.is_weighted:
            return self.linear_errors
        pulls = self.residuals / (self.sizes.sum() - self.sizes)[:, None]
        return np.sqrt((self.n_units - 1) / self.n_units * (pulls**2).sum(axis=0))

    @property
    def linear_errors(self) -> FloatArray:
        r"""Standard error of the mean of each column by linearisation; at least two units are needed.

        .. math:: \frac{1}{N} \sqrt{\frac{G}{G - 1} \sum_{g=1}^{G} (S_g - n_g \bar{x})^2}

        Without clusters and weights this is :math:`s / \sqrt{n}`.
        """
        spread = self.n_units / (self.n_units - 1) * (self.residuals**2).sum(axis=0)
        return np.sqrt(spread) / self.sizes.sum()


def units_of(
    values: FloatArray, cluster: IntArray | None, fewest: int = 2, *, weights: FloatArray | None = None
) -> Iterator[Units]:
    """Yield the units of the columns that lack the same rows, and weigh them alike, if there are enough.

    Parameters
    ----------
    values : ndarray of shape (n_queries, n_columns)
        NaN where a value is missing.
    cluster : ndarray of int, shape (n_queries,), or None
        Code of each query's cluster; None makes each query a unit.
    fewest : int, default 2
        Columns with fewer units are left out.
    weights : ndarray of float, shape (n_queries, n_columns), optional
        Above 0 where there is a value. Equal ones are none.

    Yields
    ------
    Units
    """
    for columns, present in _patterns(np.isnan(values), weights):
        codes = None if cluster is None else cluster[present]
        own = None if weights is None else weights[present, columns[0]]
        own = None if own is None or are_equal(own) else relative(own, len(own))
        units = Units(columns, *unit_sums(values[np.ix_(present, columns)], codes, own), own is not None)
        if units.n_units >= fewest:
            yield units


def unit_sums(
    values: FloatArray, cluster: IntArray | None, weights: FloatArray | None = None
) -> tuple[FloatArray, IntArray | FloatArray]:
    """Return the sum of each column, shape (n_units, n_columns), and the number of queries, in each unit.

    With weights, of shape (n_queries,), the sum of weight times value, and that of the weights.
    """
    values = values if weights is None else values * weights[:, None]
    if cluster is None:
        return values, np.ones(len(values), np.int64) if weights is None else weights
    _, unit, counts = np.unique(cluster, return_inverse=True, return_counts=True)
    sizes = counts if weights is None else np.bincount(unit, weights)
    sums, absolute = np.zeros((2, len(sizes), values.shape[1]))
    np.add.at(sums, unit, values)
    np.add.at(absolute, unit, np.abs(values))
    return np.where(np.abs(sums) <= ROUNDING * absolute, 0.0, sums), sizes  # what cancels leaves no rounding error


def _patterns(missing: BoolArray, weights: FloatArray | None) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the columns that share a pattern of missing rows and their weights, and the rows that they have."""
    if weights is None and not missing.any():
        yield np.arange(missing.shape[1]), np.arange(missing.shape[0])
        return
    alike: dict[bytes, list[int]] = {}
    for column, packed in enumerate(np.packbits(missing, axis=0).T):
        own = b"" if weights is None else np.where(missing[:, column], 0.0, weights[:, column]).tobytes()
        alike.setdefault(packed.tobytes() + own, []).append(column)
    for columns in alike.values():
        yield np.array(columns), np.flatnonzero(~missing[:, columns[0]])


@with_own_arithmetic
def bootstrap_means(
    sums: FloatArray, sizes: IntArray | FloatArray, *, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return the mean over queries in each bootstrap resample of the units.

    A resample draws as many units as there are, with replacement; its mean is the sum of what was drawn over the
    number of queries drawn.

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
    Efron and Tibshirani 1993, An Introduction to the Bootstrap.

    Examples
    --------
    >>> hits = np.array([[1.0], [0.0], [1.0], [1.0]])
    >>> means = bootstrap_means(hits, np.ones(4, int), n_resamples=1000, rng=np.random.default_rng(1))
    >>> round(float(means.mean()), 2)
    0.75
    """
    operand = np.column_stack([sums, sizes])
    means = np.empty((n_resamples, sums.shape[1]))
    for first, counts in drawn_counts(len(sizes), n_resamples, rng):
        drawn = counts @ operand
        np.divide(drawn[:, :-1], drawn[:, -1:], out=means[first : first + len(counts)])
    return means


def bootstrap_t(units: Units, *, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    r"""Return Student's t of each bootstrap resample of the units, around the mean of the data.

    .. math:: t^* = \frac{\bar{x}^* - \bar{x}}{se^*}

    with the standard error of :attr:`Units.linear_errors`, of the resample.

    Parameters
    ----------
    units : Units
        Two or more.
    n_resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of float, shape (n_resamples, n_columns)
        Infinite where a resample is off the mean and without spread; 0 where it is at the mean and without spread.

    References
    ----------
    Efron and Tibshirani 1993, An Introduction to the Bootstrap, section 12.5. Hall 1992, The Bootstrap and Edgeworth
    Expansion.
    """
    centred, sizes = units.residuals, units.sizes
    n_units, n_columns = centred.shape
    operand = np.column_stack([centred, centred**2, centred * sizes[:, None], sizes, sizes**2]).astype(np.float64)
    negligible = ROUNDING * np.abs(centred).sum(axis=0), ROUNDING * (centred**2).sum(axis=0)
    found = np.empty((n_resamples, n_columns))
    for first, counts in drawn_counts(n_units, n_resamples, rng):
        for start, stop in batches(len(counts), operand.shape[1], BATCH_CELLS):
            drawn = counts[start:stop] @ operand
            sums, squares, products = (drawn[:, n * n_columns : (n + 1) * n_columns] for n in range(3))
            mean = sums / drawn[:, -2:-1]
            spread = squares - 2 * mean * products + mean**2 * drawn[:, -1:]  # sum of (S_g - n_g mean)^2
            flat = spread <= negligible[1]
            t = sums / np.sqrt(np.where(flat, 1.0, spread * (n_units / (n_units - 1))))
            at_mean = np.abs(sums) <= negligible[0]
            found[first + start : first + stop] = np.where(flat, np.where(at_mean, 0.0, np.copysign(np.inf, sums)), t)
    return found


@with_own_arithmetic
def sign_flip_sums(values: FloatArray, *, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return the sum over units in each resample that gives every unit a random sign.

    Parameters
    ----------
    values : ndarray of float, shape (n_units, n_columns)
    n_resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of float, shape (n_resamples, n_columns)

    Examples
    --------
    >>> differences = np.array([[0.5], [0.25]])
    >>> np.unique(sign_flip_sums(differences, n_resamples=100, rng=np.random.default_rng(1))).tolist()
    [-0.75, -0.25, 0.25, 0.75]
    """
    sums = np.empty((values.shape[1], n_resamples)).T  # all of a column lie together
    for start, stop in batches(n_resamples, max(values.shape), BATCH_CELLS):
        sums[start:stop] = drawn_signs(stop - start, len(values), rng) @ values
    return sums


def drawn_signs(n_resamples: int, n_units: int, rng: np.random.Generator) -> FloatArray:
    """Return a random sign of each unit in each resample, shape (n_resamples, n_units)."""
    width = 4 * -(-n_units // 32)  # bytes of a row: whole words, since a generator draws no less
    words = np.frombuffer(rng.bytes(n_resamples * width), np.uint8).reshape(n_resamples, width)
    signs = np.unpackbits(words, axis=1, count=n_units).astype(np.float64)
    signs *= 2
    signs -= 1
    return signs


@with_own_arithmetic
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
    codes, own = as_clusters(cluster, len(values)), as_weights(weights, values)
    n_resamples = as_resamples("n_resamples", n_resamples)
    seed = int(random_generator(rng).integers(1 << 63))  # one for all: a column's resamples do not depend on the others
    means = np.full((n_resamples, values.shape[1]), np.nan)
    for units in units_of(values, codes, fewest=1, weights=own):
        means[:, units.columns] = bootstrap_means(
            units.sums, units.sizes, n_resamples=n_resamples, rng=np.random.default_rng(seed)
        )
    return means


def means_of(given: ArrayLike, values: FloatArray) -> FloatArray:
    """Return resampled means that were given; raise if they do not fit the values."""
    means = np.asarray(given, np.float64)
    if means.ndim != 2 or not len(means) or means.shape[1] != values.shape[1]:
        raise ParameterError(
            f"must have the shape (n_resamples, {values.shape[1]}), as resampled_means gives",
            argument="means",
            found=str(means.shape),
        )
    return means


def drawn_counts(n_units: int, n_resamples: int, rng: np.random.Generator) -> Iterator[tuple[int, FloatArray]]:
    """Yield the first resample of each batch, and how often each unit was drawn in each one, shape (b, n_units).

    Counting draws in pieces that stay in the cache is four times as fast as `rng.multinomial`.
    """
    buffer = np.empty((min(n_resamples, max(1, BATCH_CELLS // n_units)), n_units))
    for first, last in batches(n_resamples, n_units, BATCH_CELLS):
        for start, stop in batches(last - first, n_units, DRAWN_CELLS):
            rows = stop - start
            drawn = rng.integers(0, n_units, (rows, n_units))
            drawn += n_units * np.arange(rows)[:, None]
            buffer[start:stop] = np.bincount(drawn.ravel(), minlength=rows * n_units).reshape(rows, n_units)
        yield first, buffer[: last - first]


def batches(n_rows: int, n_columns: int, max_cells: int) -> Iterator[tuple[int, int]]:
    """Yield the first row and the end of batches that hold at most `max_cells` cells, or one row.

    What the caller does with them is announced if it takes long.
    """
    rows = max(1, max_cells // max(1, n_columns))
    with lasting("resampling", n_rows, "; fewer resamples take less") as advance:
        for start in range(0, n_rows, rows):
            stop = min(start + rows, n_rows)
            yield start, stop
            advance(stop - start)


def joined_groups(keys: Sequence[Collection[Hashable]]) -> list[int]:
    """Return a number for each item, the same for those that share a key, directly or by way of others.

    Parameters
    ----------
    keys : sequence of collections
        What each item has; one that has nothing is alone.

    Examples
    --------
    >>> joined_groups([{"a"}, {"b"}, {"b", "a"}, {"c"}, ()])
    [0, 0, 0, 1, 2]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not keys:
        return []
    places: dict[Hashable, int] = {}
    ends = [(n, places.setdefault(key, len(keys) + len(places))) for n, own in enumerate(keys) for key in own]
    size = len(keys) + len(places)
    rows, columns = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    labels = connected_components(coo_array((np.ones(len(ends)), (rows, columns)), shape=(size, size)))[1]
    return [int(label) for label in labels[: len(keys)]]


Alternative: TypeAlias = Literal["two-sided", "greater", "less"]


def towards(values: FloatArray, alternative: Alternative) -> FloatArray:
    """Return how far values are from 0 on the side, or the sides, of the alternative."""
    if alternative == "two-sided":
        return np.abs(values)
    return values if alternative == "greater" else -values


def as_matrix(name: str, given: ArrayLike) -> FloatArray:
    """Return a matrix of float64, finite or NaN, with a row for each query."""
    values = array_of(name, given, np.float64, "a matrix of numbers with a row for each query")
    if values.ndim != 2:
        raise ParameterError(
            "must have the shape (n_queries, n_columns)", argument=name, found=f"the shape {values.shape}"
        )
    infinite = np.argwhere(np.isinf(values))
    if len(infinite):
        row, column = infinite[0].tolist()
        raise ParameterError(
            argument=name,
            found=f"{values[row, column]} in row {row}, column {column}",
            allowed="finite, or NaN for a missing value",
        )
    return values


def as_clusters(given: ArrayLike | None, n_queries: int) -> IntArray | None:
    """Return the code of each query's cluster, or None without clusters."""
    if given is None:
        return None
    codes = array_of("cluster", given)
    if codes.shape != (n_queries,) or codes.dtype.kind not in "iub":
        raise ParameterError(
            argument="cluster",
            found=f"{codes.dtype} of shape {codes.shape}",
            allowed=f"whole numbers of shape ({n_queries},), the cluster of each query",
        )
    return codes


def as_weights(given: ArrayLike | None, values: FloatArray) -> FloatArray | None:
    """Return the weight of each value, over the largest of its column and shaped as `values`; None without weights."""
    if given is None:
        return None
    found = array_of("weights", given, np.float64, "numbers")
    if found.shape not in {values.shape, (len(values),)}:
        raise ParameterError(
            argument="weights",
            found=f"the shape {found.shape}",
            allowed=f"the shape ({len(values)},) or {values.shape}",
        )
    found = np.broadcast_to(found.reshape(len(values), -1), values.shape)
    wrong = found[~np.isnan(values) & ~((found > 0) & (found < np.inf))]
    if len(wrong):
        raise ParameterError(
            argument="weights", found=str(wrong[0]), allowed="above 0 where there is a value: NaN leaves one out"
        )
    return found / np.where(np.isnan(values), 0.0, found).max(axis=0, initial=np.finfo(np.float64).tiny)


def as_alternative(given: str) -> Alternative:
    """Return the alternative to "the mean difference is 0" that is tested."""
    check_choice("alternative", given, ALTERNATIVES)
    return cast("Alternative", given)
