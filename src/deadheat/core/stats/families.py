r"""A family: differences that are tested together by signs that all of them share.

A resample gives every unit (a query, or a cluster of queries) a sign, the same in all differences. The statistic of a
difference is studentised around 0,

.. math:: r = \frac{\sum_g S_g}{\sqrt{\sum_g S_g^2}}

with :math:`S_g` the sum of the difference over the queries of unit g. Signs do not change its denominator, and
Student's t of n units increases with it: :math:`t = r \sqrt{(n - 1) / (n - r^2)}`. So only sums are needed of each
resample, and the sum of a difference of two systems is the difference of their sums.

`family_flips.py` draws the signs and counts, `family_tests.py` makes p-values of the counts, and
`simultaneous_intervals.py` makes intervals of the largest statistics. The formulas are derived in docs/math.md, section
18.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.design import MAX_T, MAX_T_CORRECTIONS
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.alternatives import Alternative, extremeness
from deadheat.core.stats.resamples import batches
from deadheat.core.stats.units import NEGLIGIBLE_DIFFERENCE

BATCH_CELLS = 1 << 21  # values computed at a time: 16 MB


@dataclass(frozen=True, eq=False)
class Block:
    """Some differences of a family: rows minus other rows, or rows that are differences themselves.

    Attributes
    ----------
    rows : ndarray of float, shape (n_rows, n_units)
        Sums over units; none is missing.
    first : ndarray of int, shape (n_differences,)
        The row of each difference.
    second : ndarray of int, shape (n_differences,), or None
        The row that is subtracted; None subtracts nothing.
    """

    rows: FloatArray
    first: IntArray
    second: IntArray | None = None

    def differences(self, places: slice | IntArray) -> FloatArray:
        """Return some differences by unit, shape (n_places, n_units); 0 where equal values differ by rounding."""
        differences = self.rows[self.first[places]]
        if self.second is not None:
            differences -= self.rows[self.second[places]]
        differences[np.abs(differences) < NEGLIGIBLE_DIFFERENCE] = 0.0
        return differences

    def iterate_differences(self) -> Iterator[FloatArray]:
        """Yield all differences by unit, a batch at a time."""
        for start, stop in batches(len(self.first), self.rows.shape[1], BATCH_CELLS):
            yield self.differences(slice(start, stop))


Blocks: TypeAlias = Callable[[], Iterable[Block]]  # returns the blocks of a family, the same at each call


@dataclass(frozen=True, eq=False)
class Observed:
    """The differences of a family in the data, of shape (n_differences,) each.

    Attributes
    ----------
    statistics : ndarray of float
        How far r lies from 0 on the side of the alternative.
    bounds : ndarray of float
        A resample is at least as extreme as the data if its sum is at least this: the sum of the data, less rounding.
    scales : ndarray of float
        Root of the sum of squares; 1 where all are 0.
    n_units : ndarray of int
        Units whose difference is not 0.
    """

    statistics: FloatArray
    bounds: FloatArray
    scales: FloatArray
    n_units: IntArray

    @property
    def is_zero(self) -> BoolArray:
        """Whether a difference is 0 in all units."""
        return self.n_units == 0

    def select(self, places: slice) -> "Observed":
        """Return some of the differences."""
        return Observed(self.statistics[places], self.bounds[places], self.scales[places], self.n_units[places])


@dataclass(frozen=True, eq=False)
class Family:
    """Differences that are tested together, and how.

    Attributes
    ----------
    blocks : callable
        Returns the blocks.
    observed : Observed
    known : ndarray of float, shape (n_differences,)
        P-values that need no flips: from all patterns of signs, where a difference has few units, and bounds of those
        of many units, where a bound is enough; NaN elsewhere.
    alternative : {"two-sided", "greater", "less"}
    correction : str
    level : float
        Of significance, for this family.
    """

    blocks: Blocks
    observed: Observed
    known: FloatArray
    alternative: Alternative
    correction: str
    level: float

    @property
    def n_differences(self) -> int:
        """Number of differences."""
        return len(self.known)

    @property
    def is_known(self) -> BoolArray:
        """Whether a p-value needs no flips."""
        return ~np.isnan(self.known)

    @property
    def has_maxima(self) -> bool:
        """Whether the largest statistic of each resample decides; a single difference is the largest by itself."""
        return self.correction in MAX_T_CORRECTIONS and self.n_differences > 1

    @property
    def is_step_down(self) -> bool:
        """Whether each difference is compared only with those that are no more extreme."""
        return self.has_maxima and self.correction != MAX_T


def observe(blocks: Blocks, alternative: Alternative) -> Observed:
    """Return the statistics of a family in the data."""
    parts = []
    for block in blocks():
        for differences in block.iterate_differences():
            sums = extremeness(differences.sum(axis=1), alternative)
            n_units = np.count_nonzero(differences, axis=1)
            roots = np.sqrt((differences**2).sum(axis=1))
            scales = np.where(n_units > 0, roots, 1.0)
            bounds = sums - ROUNDING * np.abs(differences).sum(axis=1)
            parts.append(Observed(sums / scales, bounds, scales, n_units))
    return Observed(
        np.concatenate([part.statistics for part in parts]),
        np.concatenate([part.bounds for part in parts]),
        np.concatenate([part.scales for part in parts]),
        np.concatenate([part.n_units for part in parts]),
    )
