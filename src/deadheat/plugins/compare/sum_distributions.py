"""Sums of independent values, one for each query, and how ties distribute them.

They are exact where they are few, else on a grid: every value is rounded to a multiple of 1/M, and what rounding adds
to a sum is known: its mean, which is taken back, and its standard deviation. M has many divisors, so that 1/2, 1/3, ...
are on the grid; equal values round alike, so that two sums of the same values stay equal.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from deadheat.core.arrays import FloatArray, IntArray, run_starts
from deadheat.core.kernels.segments import segment_sums
from deadheat.core.scalars import ROUNDING

MAX_VALUES = 50_000
PAIRS = 8  # sums of two values that are formed in all, as a multiple of the values that may be left
MAX_CELLS = 1 << 18  # of a grid, under the values of all queries laid end to end: 2 MB a sum
FEW_CELLS = 1 << 17  # of a coarse one
GRIDS = (
    *(1, 2, 6, 12, 24, 60, 120, 240, 420, 840, 1_680, 2_520, 5_040, 10_080, 20_160, 27_720, 55_440, 110_880),
    *(166_320, 332_640, 720_720, 1_441_440, 2_162_160, 3_603_600, 7_207_200),
)
ON_GRID = 1e-6  # cells: numbers closer than this are equal in theory
COARSE = 0.01  # of the standard deviation over tie orders: more than this may not be due to rounding
LEAST_PROBABILITY = 1e-17  # probability of a cell, as small as the rounding errors of a Fourier transform
SPARSE_CELLS = 4  # pairs of cells, as a multiple of the cells of their sums, that are added faster than transformed


class Cells(NamedTuple):
    """Cells of a grid that something falls on.

    Attributes
    ----------
    places : ndarray of int, shape (n,)
        Their numbers.
    probabilities : ndarray of float, shape (n,)
        To be added up where numbers repeat.
    """

    places: IntArray
    probabilities: FloatArray


@dataclass(frozen=True, eq=False)
class Distribution:
    """A distribution on finitely many values.

    Attributes
    ----------
    values : ndarray of float, shape (n,)
        Ascending, and further apart than rounding errors; on a grid, neighbouring multiples of ``1 / cells``.
    probabilities : ndarray of float, shape (n,)
    cells : int
        Of the grid in a unit; 0 where there is none.
    shift : float
        The mean of what rounding to the grid added.
    rounding : float
        Its standard deviation; where that is 0, the values less the shift are exact.
    """

    values: FloatArray
    probabilities: FloatArray
    cells: int = 0
    shift: float = 0.0
    rounding: float = 0.0


@dataclass(frozen=True, eq=False)
class IndependentSum:
    """Independent values whose sum is wanted, one for each query.

    Attributes
    ----------
    fixed : ndarray of float, shape (n_fixed,)
        The values of queries that no tie moves.
    values, probabilities : ndarray of float, shape (n,)
        Those of the other queries one after another, ascending within each.
    starts : ndarray of int, shape (n_moved,)
        Where each of them starts.
    max_values : int
        Most distinct values of an exact sum.
    """

    fixed: FloatArray
    values: FloatArray
    probabilities: FloatArray
    starts: IntArray
    max_values: int = MAX_VALUES
    _roundings: dict[int, tuple[float, float]] = field(default_factory=dict, repr=False)
    _on_grids: dict[int, Distribution] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, fixed: FloatArray, moved: Sequence[tuple[FloatArray, FloatArray]], max_values: int = MAX_VALUES
    ) -> Self:
        """Put together the values and probabilities of each query, which may repeat and be in any order."""
        if not moved:
            return cls(fixed, np.zeros(0), np.zeros(0), np.zeros(0, np.int64), max_values)
        values = np.concatenate([values_of_query for values_of_query, _ in moved])
        probabilities = np.concatenate([probabilities_of_query for _, probabilities_of_query in moved])
        n_values = [len(values_of_query) for values_of_query, _ in moved]
        query = np.repeat(np.arange(len(moved)), n_values)
        order = np.lexsort((values, query))
        starts = _find_distinct(values[order], query)
        return cls(
            fixed,
            values[order][starts],
            segment_sums(probabilities[order], starts),
            run_starts(query[starts]),
            max_values,
        )

    def minus(self, other: Self) -> "IndependentSum":
        """Return the summands of the difference of two sums, which are independent of each other."""
        minuends = zip(self.split(self.values), self.split(self.probabilities), strict=True)
        subtrahends = zip(other.split(-other.values), other.split(other.probabilities), strict=True)
        fixed = np.concatenate([self.fixed, -other.fixed])
        return IndependentSum.of(fixed, [*minuends, *subtrahends], self.max_values)

    @cached_property
    def variance(self) -> float:
        """Variance of the sum."""
        return self._variance_of(self.values)

    @cached_property
    def span(self) -> float:
        """Largest sum less the smallest."""
        return float(sum(values[-1] - values[0] for values in self.split(self.values)))

    @cached_property
    def exact(self) -> Distribution | None:
        """The distribution of the sum, or None if it takes too many values."""
        # Each query has two values or more, so that the first i have i + 1 sums or more.
        if len(self.starts) ** 2 > PAIRS * self.max_values:
            return None
        n_pairs = 0
        total = Distribution(self.fixed.sum(keepdims=True), np.ones(1))
        parts = zip(self.split(self.values), self.split(self.probabilities), strict=True)
        for values, probabilities in sorted(parts, key=lambda part: len(part[0])):
            n_pairs += len(values) * len(total.values)
            if n_pairs > PAIRS * self.max_values:
                return None
            sums = values[:, None] + total.values  # sorted rows: the stable sort merges them
            order = np.argsort(sums, axis=None, kind="stable")
            starts = _find_distinct(sums.ravel()[order])
            total = Distribution(
                sums.ravel()[order][starts],
                segment_sums(np.outer(probabilities, total.probabilities).ravel()[order], starts),
            )
            if len(total.values) > self.max_values:
                return None
        return total

    def rounding(self, cells: int) -> tuple[float, float]:
        """Return mean and standard deviation of what rounding to a grid adds to the sum."""
        if cells not in self._roundings:
            _, off_moved = _round_to_grid(self.values, cells)
            _, off_fixed = _round_to_grid(self.fixed, cells)
            added_to_moved = off_moved / cells
            added_to_fixed = off_fixed / cells
            mean = float(added_to_fixed.sum() + added_to_moved @ self.probabilities)
            self._roundings[cells] = mean, math.sqrt(self._variance_of(added_to_moved))
        return self._roundings[cells]

    def on_grid(self, cells: int) -> Distribution:
        """Return the distribution of the sum of the rounded values."""
        if cells not in self._on_grids:
            places, _ = _round_to_grid(self.values, cells)
            fixed_places, _ = _round_to_grid(self.fixed, cells)
            rows = [Cells(fixed_places.sum(keepdims=True), np.ones(1))]
            for row in zip(self.split(places), self.split(self.probabilities), strict=True):
                rows.append(Cells(*row))
            first, probabilities = _lay_out(_convolve(rows))
            values = np.arange(first, first + len(probabilities)) / cells
            shift, deviation = self.rounding(cells)
            self._on_grids[cells] = Distribution(values, probabilities / probabilities.sum(), cells, shift, deviation)
        return self._on_grids[cells]

    def split(self, of_values: NDArray[Any]) -> list[NDArray[Any]]:
        """Return what is given for each value, by query."""
        return np.split(of_values, self.starts)[1:]

    def _variance_of(self, of_values: FloatArray) -> float:
        """Return the variance of the sum of what is given for each value."""
        if not len(self.starts):
            return 0.0
        means = segment_sums(of_values * self.probabilities, self.starts)
        n_values = np.diff(np.append(self.starts, len(of_values)))
        centred = of_values - np.repeat(means, n_values)
        return float(centred**2 @ self.probabilities)


def match_distributions(
    one: IndependentSum, other: IndependentSum, *, is_coarse: bool = False
) -> tuple[Distribution, Distribution] | None:
    """Return the distributions of two sums: both exact or on the same grid.

    The grid is the coarsest that has all values, or else the finest that is not too large. It is chosen for the
    two alone, and does not depend on what else is compared; but of very many systems it is coarser (`is_coarse`).

    The mean of what rounding adds is taken back, so that the error of the probability that one sum is the smaller is
    of second order: ``0.12 * (rounding / deviation) ** 2`` at most if the difference is bell-shaped.

    Returns
    -------
    tuple of Distribution, or None
        None where rounding would be more than 1% of what tie-breaks do to the difference of the sums.
    """
    if one.exact is not None and other.exact is not None:
        return one.exact, other.exact
    most = FEW_CELLS if is_coarse else MAX_CELLS
    fitting = [cells for cells in GRIDS if max(one.span, other.span) * cells <= most]
    if not fitting:
        return None
    for cells in fitting:
        deviation = _add_roundings(one, other, cells)
        if not deviation:
            break
    if deviation > COARSE * math.sqrt(one.variance + other.variance):
        return None
    return one.on_grid(cells), other.on_grid(cells)


def _add_roundings(one: IndependentSum, other: IndependentSum, cells: int) -> float:
    """Return the standard deviation of what rounding to a grid adds to the difference of two sums."""
    _, deviation_of_one = one.rounding(cells)
    _, deviation_of_other = other.rounding(cells)
    return math.hypot(deviation_of_one, deviation_of_other)


def _find_distinct(ascending: FloatArray, query: IntArray | None = None) -> IntArray:
    """Return where values start that differ by more than rounding errors, or are of another query."""
    if query is None:
        query = np.zeros(len(ascending), np.int64)
    first = run_starts(query)
    largest = np.maximum.reduceat(np.abs(ascending), first)
    is_new = np.diff(ascending, prepend=-np.inf) > ROUNDING * largest[query]
    is_new[first] = True
    return np.flatnonzero(is_new)


def _round_to_grid(values: FloatArray, cells: int) -> tuple[IntArray, FloatArray]:
    """Return the number of the nearest cell of a grid, and how far it is in cells: 0 for what is on it."""
    places = values * cells
    # A hair up: where two cells are as near, rounding errors do not choose between them.
    nearest = np.floor(places + (0.5 + ON_GRID))
    off = nearest - places
    return nearest.astype(np.int64), np.where(np.abs(off) < ON_GRID, 0.0, off)


def _convolve(rows: list[Cells]) -> Cells:
    """Return the distribution of the sum of independent numbers of cells: neighbours first, so that few are long."""
    while len(rows) > 1:
        sums = [_add(one, other) for one, other in zip(rows[::2], rows[1::2], strict=False)]
        if len(rows) % 2:
            sums.append(rows[-1])
        rows = sums
    return rows[0]


def _add(one: Cells, other: Cells) -> Cells:
    """Return the distribution of the sum of two independent numbers of cells."""
    from scipy.fft import irfft, next_fast_len, rfft

    first = int(one.places[0] + other.places[0])
    size = int(one.places[-1] - one.places[0] + other.places[-1] - other.places[0]) + 1
    if len(one.places) * len(other.places) <= SPARSE_CELLS * size:
        places = np.add.outer(one.places, other.places).ravel()
        probabilities = np.outer(one.probabilities, other.probabilities).ravel()
        return _leave_out_empty(*_lay_out(Cells(places, probabilities)))
    length = next_fast_len(size, real=True)
    transformed = rfft(_lay_out(one)[1], length) * rfft(_lay_out(other)[1], length)
    return _leave_out_empty(first, irfft(transformed, length)[:size])


def _leave_out_empty(first: int, probabilities: FloatArray) -> Cells:
    """Leave out the cells that nothing falls on, of a row of them."""
    kept = np.flatnonzero(probabilities >= LEAST_PROBABILITY)
    return Cells(kept + first, probabilities[kept])


def _lay_out(cells: Cells) -> tuple[int, FloatArray]:
    """Return the first cell, and the probability of each from there on; the cells may repeat, in any order."""
    first = int(cells.places.min())
    probabilities = np.bincount(cells.places - first, weights=cells.probabilities)
    return first, probabilities.astype(np.float64, copy=False)
