r"""Families of differences: signs that all share, and what the largest of the family in each resample says of each.

A resample gives every unit (a query, or a cluster of queries) a sign, the same in all differences. The statistic of a
difference is studentised around 0,

.. math:: r = \frac{\sum_g S_g}{\sqrt{\sum_g S_g^2}}

with :math:`S_g` the sum of the difference over the queries of unit g. Signs do not change its denominator, and
Student's t of n units increases with it: :math:`t = r \sqrt{(n - 1) / (n - r^2)}`. So of each resample only sums are
needed, and the sum of a difference of two systems is the difference of theirs.

One distribution decides p-values and intervals: a difference is significant if its r is above a quantile c of the
largest r of the family, and its interval holds every mean that, taken from all queries, leaves an r of c at most.

References
----------
Westfall and Young 1993, Resampling-Based Multiple Testing, for single-step and step-down maxima.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_starts, special
from deadheat.core.design import MAX_T, OF_MAXIMA
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.alternatives import Alternative, towards
from deadheat.core.stats.resamples import batches, drawn_signs
from deadheat.core.stats.significance import adjust, exact_p_value, most_exact, significant
from deadheat.core.stats.units import NEGLIGIBLE_DIFFERENCE, Units, split_into_units

DOUBT = 0.00135  # the probability, on each side, that a share of resamples lies beyond the ends that are given for it
CELLS = 1 << 21  # sums computed at a time: 16 MB
ROWS, FLIPS = 32, 4096  # sums compared at a time, which stay in the cache
ROUGH = 2.0**-22  # four times the rounding error of a float32, as two are subtracted
FINE = 1e-5  # a statistic may be off by so much; where float32 is not so close, sums are compared as float64
HUGE = 1e30  # float32 may overflow beyond


@dataclass(frozen=True, eq=False)
class Block:
    """Some differences of a family: those of rows, or rows themselves.

    Attributes
    ----------
    rows : ndarray of float, shape (n_rows, n_units)
        Sums over units; none is missing.
    first : ndarray of int, shape (n_differences,)
    second : ndarray of int, shape (n_differences,), or None
        The rows that are subtracted; None: nothing is.
    """

    rows: FloatArray
    first: IntArray
    second: IntArray | None = None

    def differences(self, places: slice | IntArray) -> FloatArray:
        """Return some differences by unit; 0 for what rounding leaves of equal values."""
        differences = self.rows[self.first[places]]
        if self.second is not None:
            differences -= self.rows[self.second[places]]
        differences[np.abs(differences) < NEGLIGIBLE_DIFFERENCE] = 0.0
        return differences

    def in_batches(self) -> Iterator[FloatArray]:
        """Yield all differences by unit, some at a time."""
        for start, stop in batches(len(self.first), self.rows.shape[1], CELLS):
            yield self.differences(slice(start, stop))


Blocks: TypeAlias = Callable[[], Iterable[Block]]  # gives the blocks of a family, the same each time


@dataclass(frozen=True, eq=False)
class Observed:
    """The differences of a family as they are, of shape (n_differences,) each.

    Attributes
    ----------
    statistics : ndarray of float
        How far r is from 0 on the side of the alternative.
    bounds : ndarray of float
        The sum that is as far from 0 but for rounding.
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
    observed : Observed
    exact : ndarray of float, shape (n_differences,)
        The p-values of differences of few units, of which all patterns of signs are counted; NaN of others.
    alternative : {"two-sided", "greater", "less"}
    correction : str
    level : float
        Of significance, for this family.
    """

    blocks: Blocks
    observed: Observed
    exact: FloatArray
    alternative: Alternative
    correction: str
    level: float

    @property
    def is_exact(self) -> BoolArray:
        """Whether a p-value needs no flips."""
        return ~np.isnan(self.exact)

    @property
    def has_maxima(self) -> bool:
        """Whether the largest statistic of each resample decides: a single difference is the largest itself."""
        return self.correction in OF_MAXIMA and len(self.exact) > 1

    @property
    def is_step_down(self) -> bool:
        """Whether each difference is compared with those alone that are no farther from 0."""
        return self.has_maxima and self.correction != MAX_T


@dataclass(frozen=True, eq=False)
class Flips:
    """What was counted in resamples.

    Attributes
    ----------
    n_flips : int
    is_complete : bool
        Whether they are all patterns of signs.
    extreme : ndarray of int, shape (n_differences,)
        In how many the difference is as far from 0 as it is.
    largest : ndarray of int, shape (n_differences,)
        In how many one of those that are no farther from 0 is as far; zeros if nobody asked.
    maxima : ndarray of float, shape (n_flips,)
        The largest statistic of the family in each.
    """

    n_flips: int
    is_complete: bool
    extreme: IntArray
    largest: IntArray
    maxima: FloatArray

    @property
    def n_counted(self) -> int:
        """How many flips a p-value has an error from; 0 where they are all patterns of signs."""
        return 0 if self.is_complete else self.n_flips

    def shares(self, counts: IntArray) -> FloatArray:
        """Return p-values of counts."""
        if self.is_complete:
            return counts / self.n_flips
        return (counts + 1) / (self.n_flips + 1)

    def with_more(self, more: "Flips") -> "Flips":
        """Return these and others."""
        return Flips(
            self.n_flips + more.n_flips,
            self.is_complete,
            self.extreme + more.extreme,
            self.largest + more.largest,
            np.concatenate([self.maxima, more.maxima]),
        )


@dataclass(frozen=True, eq=False)
class Decision:
    """What flips say so far.

    Attributes
    ----------
    p_values : ndarray of float, shape (n_differences,)
    p_adjusted : ndarray of float, shape (n_differences,), or None
        Corrected by maxima, before it accounts for other families; None with other corrections.
    is_open : bool
        Whether more flips may change which differences are significant.
    """

    p_values: FloatArray
    p_adjusted: FloatArray | None
    is_open: bool


@dataclass(frozen=True, eq=False)
class FamilyTest:
    """What sign flips say of the differences of a family, of shape (n_differences,) each.

    Attributes
    ----------
    p_values : ndarray of float
        1 where a difference is 0 in all units.
    p_adjusted : ndarray of float, or None
        Corrected by maxima of the same flips; None with other corrections, which :func:`adjust` makes of `p_values`.
    is_exact : ndarray of bool
        Whether the p-value has no error from resampling.
    n_flips : int
        0 where none was needed.
    n_counted : int
        The same, but 0 where they are all patterns of signs, which leave no error.
    critical : float
        What r must be above for an adjusted p-value below the level; NaN where no maxima decide.
    """

    p_values: FloatArray
    p_adjusted: FloatArray | None
    is_exact: BoolArray
    n_flips: int
    n_counted: int
    critical: float


def flip_family(
    blocks: Blocks,
    *,
    correction: str,
    level: float,
    alternative: Alternative,
    n_resamples: int,
    most_flips: int,
    rng: np.random.Generator,
    n_families: int = 1,
) -> FamilyTest:
    """Test each difference of a family by sign flips, and correct for how many there are where maxima of flips do that.

    Parameters
    ----------
    blocks : callable
    correction : str
        "max-t": by the largest statistic of all in each resample (single step); "max-t-step-down": of those that are
        no farther from 0; or one of :func:`adjust`, which says alone when it is open what is significant.
    level : float
        Of significance, such as 0.05.
    alternative : {"two-sided", "greater", "less"}
    n_resamples : int
        Flips to begin with; all patterns of signs if they are no more.
    most_flips : int
        Ten times as many are drawn, and so on up to this number, while it is open whether a difference is significant.
    rng : numpy.random.Generator
    n_families : int, default 1
        For so many families the level is divided, as by Bonferroni.

    Returns
    -------
    FamilyTest
    """
    observed = observe(blocks, alternative)
    exact = _exact_p_values(blocks, observed, alternative)
    family = Family(blocks, observed, exact, alternative, correction, level / n_families)
    if family.is_exact.all() and not family.has_maxima:
        p_adjusted = np.minimum(1.0, n_families * exact) if correction in OF_MAXIMA else None
        return FamilyTest(exact, p_adjusted, family.is_exact, 0, 0, np.nan)
    flips = draw(family, n_resamples, rng)
    decision = _decide(family, flips)
    while decision.is_open and flips.n_flips < most_flips:
        n_more = min(10 * flips.n_flips, most_flips) - flips.n_flips
        flips = flips.with_more(draw(family, n_more, rng, can_be_complete=False))
        decision = _decide(family, flips)
    p_adjusted = decision.p_adjusted
    return FamilyTest(
        decision.p_values,
        None if p_adjusted is None else np.minimum(1.0, n_families * p_adjusted),
        family.is_exact | observed.is_zero | flips.is_complete,
        flips.n_flips,
        flips.n_counted,
        critical_value(flips, family.level) if family.has_maxima and not family.is_step_down else np.nan,
    )


def _decide(family: Family, flips: Flips) -> Decision:
    """Return what flips say of a family: p-values, and whether more flips may change which are below the level."""
    p_values = np.where(family.is_exact, family.exact, flips.shares(flips.extreme))
    p_values = np.where(family.observed.is_zero, 1.0, p_values)
    n_counted = np.full(len(p_values), flips.n_counted)
    if family.has_maxima:
        p_adjusted = np.maximum(_adjust_by_maxima(family, flips), p_values)
        is_open = undecided(p_adjusted, n_counted, "none", family.level)
        return Decision(p_values, p_adjusted, bool(is_open.any()))
    n_counted[family.is_exact | family.observed.is_zero] = 0
    if family.correction in OF_MAXIMA:
        is_open = undecided(p_values, n_counted, "none", family.level)
        return Decision(p_values, p_values, bool(is_open.any()))
    is_open = undecided(p_values, n_counted, family.correction, family.level)
    return Decision(p_values, None, bool(is_open.any()))


def undecided(p_values: FloatArray, n_counted: IntArray, correction: str, level: float) -> BoolArray:
    """Tell of which p-values, corrected together, other resamples may change whether they are below the level.

    Parameters
    ----------
    p_values : ndarray of float, shape (n_tests,)
        As shares of resamples, (b + 1) / (m + 1).
    n_counted : ndarray of int, shape (n_tests,)
        Resamples, m; 0: the p-value has no error.
    correction : str
        One of :func:`adjust`.
    level : float

    Returns
    -------
    ndarray of bool, shape (n_tests,)

    Examples
    --------
    Ends of 99.7% of 400 to 700 in 10,000 resamples:

    >>> undecided(np.array([0.04, 0.047, 0.052, 0.07]), np.full(4, 10_000), "none", 0.05).tolist()
    [False, True, True, False]
    """
    low, high = p_values.copy(), p_values.copy()
    is_counted = (n_counted > 0) & ~np.isnan(p_values)
    n = n_counted[is_counted]
    extreme = np.clip(np.rint(p_values[is_counted] * (n + 1) - 1), 0, n)
    some, some_not = np.maximum(extreme, 1), np.maximum(n - extreme, 1)
    low[is_counted] = np.where(extreme > 0, special.betaincinv(some, n - some + 1, DOUBT), 0.0)
    high[is_counted] = np.where(extreme < n, special.betaincinv(extreme + 1, some_not, 1 - DOUBT), 1.0)
    return np.asarray(significant(adjust(low, correction), level) & ~significant(adjust(high, correction), level))


def observe(blocks: Blocks, alternative: Alternative) -> Observed:
    """Return what the differences of a family are."""
    columns = []
    for block in blocks():
        for differences in block.in_batches():
            sums = towards(differences.sum(axis=1), alternative)
            n_units = np.count_nonzero(differences, axis=1)
            scales = np.where(n_units > 0, np.sqrt((differences**2).sum(axis=1)), 1.0)
            bounds = sums - ROUNDING * np.abs(differences).sum(axis=1)
            columns.append((sums / scales, bounds, scales, n_units))
    return Observed(*map(np.concatenate, zip(*columns, strict=True)))


def _find_differing(blocks: Blocks) -> IntArray:
    """Return the units in which some difference is not 0."""
    is_differing = np.zeros(next(iter(blocks())).rows.shape[1], np.bool_)
    for block in blocks():
        for differences in block.in_batches():
            is_differing |= differences.any(axis=0)
    return np.flatnonzero(is_differing)


def _exact_p_values(blocks: Blocks, observed: Observed, alternative: Alternative) -> FloatArray:
    """Return the p-values of differences of few units, of which all patterns of signs are counted; NaN of others."""
    exact = np.full(len(observed.scales), np.nan)
    is_exact = observed.n_units <= most_exact(observed.n_units)
    n_before = 0
    for block in blocks():
        places = np.flatnonzero(is_exact[n_before : n_before + len(block.first)])
        for place in places.tolist():
            (differences,) = block.differences(np.array([place]))
            exact[n_before + place] = exact_p_value(differences[differences != 0], alternative)
        n_before += len(block.first)
    return exact


def draw(family: Family, n_flips: int, rng: np.random.Generator, *, can_be_complete: bool = True) -> Flips:
    """Draw flips; or take all patterns of signs of the units that differ, if that can be and they are no more."""
    n_differences = len(family.observed.scales)
    n_units = next(iter(family.blocks())).rows.shape[1]
    differing: IntArray = np.arange(n_units)
    if can_be_complete and int(family.observed.n_units.max()) <= n_flips.bit_length():
        differing = _find_differing(family.blocks)
    n_free = len(differing)
    if family.alternative == "two-sided":  # the opposite signs are as far from 0
        n_free = max(n_free - 1, 0)
    is_complete = can_be_complete and n_free < n_flips.bit_length()
    if is_complete:
        n_flips = 2**n_free
    extreme: IntArray = np.zeros(n_differences, np.int64)
    largest: IntArray = np.zeros(n_differences, np.int64)
    maxima: FloatArray = np.empty(n_flips)
    n_rows = n_differences if family.is_step_down else max(len(block.rows) for block in family.blocks())
    for start, stop in batches(n_flips, max(n_rows, n_units), CELLS):
        if is_complete:
            signs = _list_signs(np.arange(start, stop), differing, n_units)
        else:
            signs = drawn_signs(stop - start, n_units, rng).T
        if family.is_step_down:
            n_extreme, n_largest, maxima[start:stop] = _step_down(family, signs)
            largest += n_largest
        else:
            n_extreme, maxima[start:stop] = _single_step(family, signs)
        extreme += n_extreme
    return Flips(n_flips, is_complete, extreme, largest, maxima)


def _list_signs(patterns: IntArray, differing: IntArray, n_units: int) -> FloatArray:
    """Return the signs of patterns, whose bits are those of the units that differ, of shape (n_units, n_patterns)."""
    signs: FloatArray = np.ones((n_units, len(patterns)))
    bits = patterns >> np.arange(len(differing))[:, None] & 1
    signs[differing] = 1.0 - 2.0 * bits
    return signs


def _step_down(family: Family, signs: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Count in how many flips each difference, and one of those that are no farther from 0, is as far as it is."""
    observed = family.observed
    by_block = []
    for block in family.blocks():
        of_rows = block.rows @ signs
        sums = of_rows[block.first]
        if block.second is not None:
            sums -= of_rows[block.second]
        by_block.append(towards(sums, family.alternative))
    far = np.concatenate(by_block)
    extreme = (far >= observed.bounds[:, None]).sum(axis=1)
    far /= observed.scales[:, None]
    far[observed.is_zero] = 0.0
    order = np.argsort(observed.statistics, kind="stable")
    so_far = np.maximum.accumulate(far[order], axis=0)
    largest = np.empty(len(order), np.int64)
    largest[order] = (so_far >= observed.statistics[order, None] - 2 * FINE).sum(axis=1)
    return extreme, largest, so_far[-1]


def _single_step(family: Family, signs: FloatArray) -> tuple[IntArray, FloatArray]:
    """Count in how many flips each difference is as far from 0 as it is; and return the largest statistic of each."""
    extreme: IntArray = np.zeros(len(family.observed.scales), np.int64)
    maxima: FloatArray = np.full(signs.shape[1], -np.inf)
    n_before = 0
    for block in family.blocks():
        places = slice(n_before, n_before + len(block.first))
        observed = family.observed.select(places)
        extreme[places], of_block = _compare_block(block.rows @ signs, block, observed, family.alternative)
        np.maximum(maxima, of_block, out=maxima)
        n_before = places.stop
    return extreme, maxima


def _compare_block(
    sums: FloatArray, block: Block, observed: Observed, alternative: Alternative
) -> tuple[IntArray, FloatArray]:
    """Do what :func:`_single_step` does for one block, as float32 where that is close enough: it takes half the time.

    Some differences at a time, of the same subtracted row, in as many threads as there are processors.
    """
    size = float(np.abs(sums).max(initial=0.0))
    off = ROUGH * size
    is_fine = (off < FINE * observed.scales) & (1 / HUGE < size < HUGE)
    counts = np.zeros(len(is_fine), np.int64)
    maxima = np.full(sums.shape[1], -np.inf)
    rough = sums.astype(np.float32) if is_fine.any() else sums
    n_threads = os.cpu_count() or 1
    with ThreadPoolExecutor(n_threads) as threads:
        for is_chosen, compared, slack in ((is_fine, rough, off), (~is_fine, sums, 0.0)):
            pieces = _cut_in_pieces(block, np.flatnonzero(is_chosen & ~observed.is_zero))
            bounds = (observed.bounds - slack).astype(compared.dtype)
            weights = (1 / observed.scales).astype(compared.dtype)
            compare = partial(
                _compare_pieces,
                compared,
                block,
                bounds=bounds,
                weights=weights,
                counts=counts,
                alternative=alternative,
            )
            for of_thread in threads.map(compare, [pieces[n::n_threads] for n in range(n_threads)]):
                np.maximum(maxima, of_thread, out=maxima)
    return counts, maxima


def _cut_in_pieces(block: Block, places: IntArray) -> list[IntArray]:
    """Return places of differences, some at a time, with the same subtracted row."""
    runs = [places]
    if block.second is not None and len(places):
        places = places[np.argsort(block.second[places], kind="stable")]
        runs = np.split(places, run_starts(block.second[places])[1:])
    pieces = []
    for run in runs:
        if len(run):
            pieces += np.array_split(run, -(-len(run) // ROWS))
    return pieces


def _compare_pieces(
    sums: FloatArray,
    block: Block,
    pieces: list[IntArray],
    *,
    bounds: FloatArray,
    weights: FloatArray,
    counts: IntArray,
    alternative: Alternative,
) -> FloatArray:
    """Put counts of the differences of some pieces in their place, and return the largest statistic of each flip."""
    maxima = np.full(sums.shape[1], -np.inf, sums.dtype)
    for piece in pieces:
        first = block.first[piece]
        rows = slice(first[0], first[-1] + 1) if (np.diff(first) == 1).all() else first  # a slice needs no copy
        ends, weights_of_piece = bounds[piece, None], weights[piece, None]
        for start in range(0, sums.shape[1], FLIPS):
            flips = slice(start, start + FLIPS)
            far = sums[rows, flips]
            if block.second is not None:
                far = far - sums[block.second[piece[0]], flips]
            if alternative == "two-sided":
                far = np.abs(far)
            elif alternative == "less":
                far = -far
            counts[piece] += np.fromiter(map(np.count_nonzero, far >= ends), np.int64, len(piece))  # fast row by row
            far = far * weights_of_piece
            np.maximum(maxima[flips], far.max(axis=0), out=maxima[flips])
    return maxima


def _adjust_by_maxima(family: Family, flips: Flips) -> FloatArray:
    """Return p-values that account for the family by its largest statistic in each flip."""
    observed = family.observed
    if not family.is_step_down:
        ordered = np.sort(flips.maxima)
        n_below = np.searchsorted(ordered, observed.statistics - 2 * FINE)
        return np.where(observed.is_zero, 1.0, flips.shares(flips.n_flips - n_below))
    adjusted = np.where(observed.is_zero, 1.0, flips.shares(flips.largest))
    order = np.argsort(-observed.statistics, kind="stable")
    adjusted[order] = np.maximum.accumulate(adjusted[order])
    return adjusted


def critical_value(flips: Flips, level: float) -> float:
    """Return what a statistic must be above for a p-value below the level; infinite if no flips allow one."""
    counts = np.arange(flips.n_flips + 1)
    n_below = int(significant(flips.shares(counts), level).sum())  # counts that are few enough
    if n_below <= flips.is_complete:  # all patterns of signs hold the signs as they are
        return np.inf
    descending = np.sort(flips.maxima)[::-1]
    return float(descending[min(n_below - 1, flips.n_flips - 1)]) + 2 * FINE


def shared_bounds(
    differences: FloatArray,
    critical: float,
    *,
    alternative: Alternative,
    cluster: IntArray | None,
    weights: FloatArray | None,
) -> FloatArray:
    """Return the ends of intervals of means that hold together, of shape (2, n_columns).

    Parameters
    ----------
    differences : ndarray of float, shape (n_queries, n_columns)
        NaN where a value is missing.
    critical : float
        The quantile of the largest statistic, as :func:`critical_value` gives it; NaN gives NaN, as one unit does.
    alternative : {"two-sided", "greater", "less"}
    cluster : ndarray of int, shape (n_queries,), or None
    weights : ndarray of float, shaped as `differences`, or None
    """
    ends = np.full((2, differences.shape[1]), np.nan)
    for units in split_into_units(differences, cluster, weights=weights):
        ends[:, units.columns] = _score_bounds(units, critical, alternative)
    return ends


def _score_bounds(units: Units, critical: float, alternative: Alternative) -> FloatArray:
    r"""Return the means for which no statistic is above the critical value, of shape (2, n_columns).

    .. math:: |\sum_g (S_g - n_g \mu)| \le c \sqrt{\sum_g (S_g - n_g \mu)^2}

    Without clusters and weights this is :math:`\bar{d} \pm t \cdot se` with :math:`t = c \sqrt{(n - 1) / (n - c^2)}`.
    Infinite where so few units allow no difference to be significant, but of a difference that is 0 in all units, and
    on the side on which a one-sided alternative has no end.
    """
    sizes = np.asarray(units.sizes, np.float64)
    n = sizes.sum()
    scale = (sizes**2).sum()
    totals = units.sums.sum(axis=0)
    squares = (units.sums**2).sum(axis=0)
    products = sizes @ units.sums
    # a mu^2 - 2 b mu + c <= 0
    leading = n**2 - critical**2 * scale
    if np.isnan(critical):
        return np.full((2, len(totals)), np.nan)
    if not leading > 0:
        ends = np.repeat([[-np.inf], [np.inf]], len(totals), axis=1)
        ends[:, (np.abs(units.sums) < NEGLIGIBLE_DIFFERENCE).all(axis=0)] = 0.0
    else:
        linear = n * totals - critical**2 * products
        constant = totals**2 - critical**2 * squares
        root = np.sqrt(np.maximum(linear**2 - leading * constant, 0.0))
        ends = np.stack([linear - root, linear + root]) / leading
    if alternative == "greater":
        ends[1] = np.inf
    elif alternative == "less":
        ends[0] = -np.inf
    return ends
