"""What statistics take as independent: queries, or clusters of queries, for the columns that lack the same queries.

A column holds the values of one measure and system, or the differences of one measure and pair of systems.
A NaN is a missing value: its row is left out of its column. For a mean, only the sum of the values and the number
of the queries in each unit matter; where queries have weights, the sum of weight times value and that of the weights.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import ArrayLike, BoolArray, FloatArray, IntArray
from deadheat.core.checks import array_of
from deadheat.core.errors import ParameterError
from deadheat.core.kernels.weighting import are_equal, effective_number, relative
from deadheat.core.scalars import NOISE, ROUNDING

NEGLIGIBLE_DIFFERENCE = NOISE  # differences below it count as zero


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
