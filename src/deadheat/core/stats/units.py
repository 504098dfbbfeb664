"""Units: the queries, or clusters of queries, that statistics take as independent.

A column holds the values of one measure and system, or the differences of one measure and pair of systems.
A NaN is a missing value: its row is left out of its column. A mean depends only on the sum of the values and the number
of queries in each unit; where queries have weights, on the sum of weight times value and the sum of the weights.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import ArrayLike, BoolArray, FloatArray, IntArray
from deadheat.core.checks import array_of
from deadheat.core.errors import ParameterError
from deadheat.core.kernels.weighting import are_equal, divide_by_largest, effective_number
from deadheat.core.scalars import NOISE, ROUNDING

NEGLIGIBLE_DIFFERENCE = NOISE  # differences below it count as zero


@dataclass(frozen=True, eq=False)
class Units:
    """Columns that lack the same rows, summed by unit.

    Attributes
    ----------
    columns : ndarray of int, shape (n_columns,)
        Indices of these columns among all columns.
    sums : ndarray of float, shape (n_units, n_columns)
        Sum of the values in each unit.
    sizes : ndarray of int, shape (n_units,)
        Number of queries in each unit, which is 1 without clusters; with weights the sum of their weights.
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
        """Degrees of freedom of Student's t: the number of units less 1; with weights the effective number less 1."""
        if self.is_weighted:
            return effective_number(self.sizes) - 1
        return self.n_units - 1

    @property
    def typical_size(self) -> FloatArray:
        """Size of the unit that Gaffke's bounds add, shape (1,): the total size over the effective number of units."""
        return np.array([self.sizes.sum() / effective_number(self.sizes)])

    @property
    def means(self) -> FloatArray:
        """Mean over queries of each column; at least one unit is needed."""
        return self.sums.sum(axis=0) / self.sizes.sum()

    @property
    def scales(self) -> FloatArray:
        """Mean absolute value of each column; rounding errors are judged against it."""
        return np.abs(self.sums).sum(axis=0) / self.sizes.sum()

    @property
    def residuals(self) -> FloatArray:
        """Sum minus size times mean, shape (n_units, n_columns); exact zeros in a constant column."""
        residuals = self.sums - self.sizes[:, None] * self.means
        largest_sums = np.abs(self.sums).max(axis=0)
        is_constant = np.abs(residuals).max(axis=0) <= ROUNDING * largest_sums
        residuals[:, is_constant] = 0.0
        return residuals

    @property
    def standard_errors(self) -> FloatArray:
        r"""Standard error of the mean of each column; at least two units are needed.

        Without weights :attr:`linear_errors`. With weights these are too small, and the jackknife of the ratio is used,

        .. math:: \sqrt{\frac{G - 1}{G} \sum_{g=1}^{G} \left(\frac{S_g - n_g \bar{x}}{N - n_g}\right)^2}

        which accounts for how far each unit pulls the mean towards itself. For equal weights the two are equal.

        References
        ----------
        Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 11, https://doi.org/10.1201/9780429246593.
        """
        if not self.is_weighted:
            return self.linear_errors
        other_sizes = self.sizes.sum() - self.sizes
        pulls = self.residuals / other_sizes[:, None]
        return np.sqrt((self.n_units - 1) / self.n_units * (pulls**2).sum(axis=0))

    @property
    def linear_errors(self) -> FloatArray:
        r"""Standard error of the mean of each column by linearisation; at least two units are needed.

        .. math:: \frac{1}{N} \sqrt{\frac{G}{G - 1} \sum_{g=1}^{G} (S_g - n_g \bar{x})^2}

        Without clusters and weights this is :math:`s / \sqrt{n}`.

        References
        ----------
        Liang and Zeger 1986, https://doi.org/10.1093/biomet/73.1.13, for clusters.
        """
        spread = self.n_units / (self.n_units - 1) * (self.residuals**2).sum(axis=0)
        return np.sqrt(spread) / self.sizes.sum()


def split_into_units(
    values: FloatArray, cluster: IntArray | None, fewest: int = 2, *, weights: FloatArray | None = None
) -> Iterator[Units]:
    """Yield the units of each group of columns that lack the same rows and have the same weights.

    Parameters
    ----------
    values : ndarray of shape (n_queries, n_columns)
        NaN where a value is missing.
    cluster : ndarray of int, shape (n_queries,), or None
        Code of each query's cluster; None makes each query a unit.
    fewest : int, default 2
        Columns with fewer units are left out.
    weights : ndarray of float, shape (n_queries, n_columns), optional
        Above 0 where there is a value. Equal weights count as no weights.

    Yields
    ------
    Units
    """
    for columns, rows in _group_columns(np.isnan(values), weights):
        present = values[np.ix_(rows, columns)]
        codes = None if cluster is None else cluster[rows]
        row_weights = None
        if weights is not None:
            row_weights = _scale_weights(weights[rows, columns[0]])
        sums, sizes = sum_by_unit(present, codes, row_weights)
        units = Units(columns, sums, sizes, is_weighted=row_weights is not None)
        if units.n_units >= fewest:
            yield units


def _scale_weights(weights: FloatArray) -> FloatArray | None:
    """Return weights over the largest; None if they are equal."""
    if are_equal(weights):
        return None
    return divide_by_largest(weights, len(weights))


def sum_by_unit(
    values: FloatArray, cluster: IntArray | None, weights: FloatArray | None = None
) -> tuple[FloatArray, IntArray | FloatArray]:
    """Return the sum of each column in each unit, shape (n_units, n_columns), and the number of queries in each unit.

    With weights, of shape (n_queries,), these are sums of weight times value, and sums of weights.
    """
    if weights is not None:
        values = values * weights[:, None]
    if cluster is None:
        if weights is not None:
            return values, weights
        return values, np.ones(len(values), np.int64)
    _, unit, counts = np.unique(cluster, return_inverse=True, return_counts=True)
    sizes = counts if weights is None else np.bincount(unit, weights)
    sums = np.zeros((len(sizes), values.shape[1]))
    absolute_sums = np.zeros_like(sums)
    np.add.at(sums, unit, values)
    np.add.at(absolute_sums, unit, np.abs(values))
    is_zero = np.abs(sums) <= ROUNDING * absolute_sums  # the values cancel, and leave a rounding error
    return np.where(is_zero, 0.0, sums), sizes


def _group_columns(missing: BoolArray, weights: FloatArray | None) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the columns that lack the same rows and have the same weights, and the rows that they have."""
    n_rows, n_columns = missing.shape
    if weights is None and not missing.any():
        yield np.arange(n_columns), np.arange(n_rows)
        return
    groups: dict[bytes, list[int]] = {}
    for column, packed in enumerate(np.packbits(missing, axis=0).T):
        key = packed.tobytes()
        if weights is not None:
            key += np.where(missing[:, column], 0.0, weights[:, column]).tobytes()
        groups.setdefault(key, []).append(column)
    for columns in groups.values():
        yield np.array(columns), np.flatnonzero(~missing[:, columns[0]])


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
    weights = array_of("weights", given, np.float64, "numbers")
    if weights.shape not in {values.shape, (len(values),)}:
        raise ParameterError(
            argument="weights",
            found=f"the shape {weights.shape}",
            allowed=f"the shape ({len(values)},) or {values.shape}",
        )
    if weights.ndim == 1:
        weights = np.broadcast_to(weights[:, None], values.shape)
    is_missing = np.isnan(values)
    is_positive = (weights > 0) & (weights < np.inf)
    wrong = weights[~is_missing & ~is_positive]
    if len(wrong):
        raise ParameterError(
            argument="weights", found=str(wrong[0]), allowed="above 0 where there is a value: NaN leaves one out"
        )
    tiny = np.finfo(np.float64).tiny  # so that an empty column is not divided by 0
    largest = np.where(is_missing, 0.0, weights).max(axis=0, initial=tiny)
    return weights / largest
