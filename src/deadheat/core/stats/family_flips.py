"""Flips: signs of units that all differences of a family share, and how extreme the differences are under them."""

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, run_starts
from deadheat.core.stats.alternatives import Alternative, extremeness
from deadheat.core.stats.families import Block, Blocks, Family, Observed
from deadheat.core.stats.resamples import batches
from deadheat.core.stats.sign_sums import Signs, draw_signs, sign_batches

BATCH_CELLS = 1 << 21  # sums computed at a time: 16 MB
PIECE_ROWS, PIECE_FLIPS = 32, 4096  # sums compared at a time, which stay in the cache
FLOAT32_ROUNDING = 2.0**-22  # four times the rounding error of a float32, as two of them are subtracted
FLOAT32_RANGE = 1e30  # beyond, float32 may overflow
# Error that a statistic may have; where float32 has a larger one, sums are compared as float64. Two statistics that are
# equal in theory differ by up to twice this
TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Flips:
    """Flips that were drawn, and how extreme the differences of a family are under them.

    Attributes
    ----------
    n_flips : int
    is_complete : bool
        Whether they are all patterns of signs.
    n_extreme : ndarray of int, shape (n_differences,)
        In how many flips the difference is at least as extreme as in the data.
    n_reached : ndarray of int, shape (n_differences,)
        In how many flips the difference, or one that is less extreme in the data, reaches the statistic that this one
        has in the data; zeros where the family is not step-down.
    maxima : ndarray of float, shape (n_flips,)
        The largest statistic of the family in each flip.
    """

    n_flips: int
    is_complete: bool
    n_extreme: IntArray
    n_reached: IntArray
    maxima: FloatArray

    @property
    def n_counted(self) -> int:
        """Number of flips whose draw leaves an error in the p-values; 0 where they are all patterns of signs."""
        if self.is_complete:
            return 0
        return self.n_flips

    def p_values(self, counts: IntArray) -> FloatArray:
        """Return the p-value of each count of flips."""
        if self.is_complete:
            return counts / self.n_flips
        return (counts + 1) / (self.n_flips + 1)

    def with_more(self, more: "Flips") -> "Flips":
        """Return these flips and more of the same family."""
        return Flips(
            self.n_flips + more.n_flips,
            self.is_complete,
            self.n_extreme + more.n_extreme,
            self.n_reached + more.n_reached,
            np.concatenate([self.maxima, more.maxima]),
        )


@dataclass(frozen=True, eq=False)
class Counts:
    """The counts of one batch of flips; the attributes are those of `Flips`."""

    n_extreme: IntArray
    n_reached: IntArray
    maxima: FloatArray


def draw_flips(family: Family, n_flips: int, rng: np.random.Generator, *, can_be_complete: bool = True) -> Flips:
    """Draw flips, or take all patterns of signs of the units that differ if these are no more than `n_flips`.

    Parameters
    ----------
    family : Family
    n_flips : int
    rng : numpy.random.Generator
    can_be_complete : bool, default True
        False always draws, so that the flips may be added to others.
    """
    n_units = _count_units(family.blocks)
    differing: IntArray = np.arange(n_units)
    n_bits = n_flips.bit_length()
    has_few_units = int(family.observed.n_units.max()) <= n_bits
    if can_be_complete and has_few_units:  # otherwise there are too many patterns anyway
        differing = _find_differing_units(family.blocks)
    n_free = len(differing)
    if family.alternative == "two-sided":  # the opposite signs give the same statistic
        n_free = max(n_free - 1, 0)
    is_complete = can_be_complete and n_free < n_bits  # 2^n_free patterns are at most n_flips
    if is_complete:
        n_flips = 2**n_free
    # the rows of sums that a batch has in memory at once
    if family.is_step_down:
        n_rows = family.n_differences
    else:
        n_rows = max(len(block.rows) for block in family.blocks())
    if is_complete:
        flip_batches = batches(n_flips, max(n_rows, n_units), BATCH_CELLS)
    else:
        flip_batches = sign_batches(n_flips, n_rows, n_units)
    n_extreme: IntArray = np.zeros(family.n_differences, np.int64)
    n_reached: IntArray = np.zeros(family.n_differences, np.int64)
    maxima: FloatArray = np.empty(n_flips)
    for start, stop in flip_batches:
        if is_complete:
            signs = _list_signs(np.arange(start, stop), differing, n_units)
        else:
            signs = draw_signs(stop - start, n_units, rng)
        counts = _count_flips(family, signs)
        n_extreme += counts.n_extreme
        n_reached += counts.n_reached
        maxima[start:stop] = counts.maxima
    return Flips(n_flips, is_complete, n_extreme, n_reached, maxima)


def _count_units(blocks: Blocks) -> int:
    """Return the number of units, which is the same in all blocks."""
    first_block = next(iter(blocks()))
    return first_block.rows.shape[1]


def _find_differing_units(blocks: Blocks) -> IntArray:
    """Return the units in which some difference is not 0."""
    is_differing = np.zeros(_count_units(blocks), np.bool_)
    for block in blocks():
        for differences in block.iterate_differences():
            is_differing |= differences.any(axis=0)
    return np.flatnonzero(is_differing)


def _list_signs(patterns: IntArray, differing: IntArray, n_units: int) -> Signs:
    """Return the signs of patterns: each bit is the sign of a unit that differs."""
    is_plus: IntArray = np.ones((len(patterns), n_units), np.uint8)
    is_plus[:, differing] = 1 - ((patterns[:, None] >> np.arange(len(differing))) & 1)
    return Signs(n_units, np.packbits(is_plus, axis=1))


def _count_flips(family: Family, signs: Signs) -> Counts:
    """Count a batch of flips."""
    if family.is_step_down:
        return _count_step_down(family, signs)
    return _count_single_step(family, signs)


def _count_step_down(family: Family, signs: Signs) -> Counts:
    """Count flips for step-down maxima: for each difference, the largest of those no more extreme in the data."""
    observed = family.observed
    parts = []
    for block in family.blocks():
        row_sums = signs.sums(block.rows)
        sums = row_sums[block.first]
        if block.second is not None:
            sums -= row_sums[block.second]
        parts.append(extremeness(sums, family.alternative))
    statistics = np.concatenate(parts)
    n_extreme = (statistics >= observed.bounds[:, None]).sum(axis=1)
    statistics /= observed.scales[:, None]
    statistics[observed.is_zero] = 0.0
    order = np.argsort(observed.statistics, kind="stable")
    maxima_so_far = np.maximum.accumulate(statistics[order], axis=0)
    bounds = observed.statistics[order, None] - 2 * TOLERANCE
    n_reached = np.empty(len(order), np.int64)
    n_reached[order] = (maxima_so_far >= bounds).sum(axis=1)
    return Counts(n_extreme, n_reached, maxima_so_far[-1])


def _count_single_step(family: Family, signs: Signs) -> Counts:
    """Count the flips in which each difference is extreme, and find the largest statistic of each flip."""
    n_extreme: IntArray = np.zeros(family.n_differences, np.int64)
    maxima: FloatArray = np.full(len(signs.bits), -np.inf)
    n_before = 0
    for block in family.blocks():
        places = slice(n_before, n_before + len(block.first))
        observed = family.observed.select(places)
        n_extreme[places], block_maxima = _compare_block(signs.sums(block.rows), block, observed, family.alternative)
        np.maximum(maxima, block_maxima, out=maxima)
        n_before = places.stop
    return Counts(n_extreme, np.zeros_like(n_extreme), maxima)


def _compare_block(
    sums: FloatArray, block: Block, observed: Observed, alternative: Alternative
) -> tuple[IntArray, FloatArray]:
    """Return in how many flips each difference of a block is extreme, and the largest statistic of each flip.

    Sums are compared as float32, which takes half the time, where that is close enough.

    Parameters
    ----------
    sums : ndarray of float, shape (n_rows, n_flips)
        Of the rows of the block.
    block : Block
    observed : Observed
        Of the differences of the block.
    alternative : {"two-sided", "greater", "less"}
    """
    size = float(np.abs(sums).max(initial=0.0))
    rounding = FLOAT32_ROUNDING * size
    is_in_range = 1 / FLOAT32_RANGE < size < FLOAT32_RANGE
    is_float32_close = (rounding < TOLERANCE * observed.scales) & is_in_range
    as_float32 = np.flatnonzero(is_float32_close & ~observed.is_zero)
    as_float64 = np.flatnonzero(~is_float32_close & ~observed.is_zero)
    counts: IntArray = np.zeros(len(block.first), np.int64)
    maxima: FloatArray = np.full(sums.shape[1], -np.inf)
    if len(as_float32):
        comparison = Comparison(
            block,
            sums.astype(np.float32),
            (observed.bounds - rounding).astype(np.float32),
            (1 / observed.scales).astype(np.float32),
            alternative,
        )
        np.maximum(maxima, _compare_in_threads(comparison, as_float32, counts), out=maxima)
    if len(as_float64):
        comparison = Comparison(block, sums, observed.bounds, 1 / observed.scales, alternative)
        np.maximum(maxima, _compare_in_threads(comparison, as_float64, counts), out=maxima)
    return counts, maxima


@dataclass(frozen=True, eq=False)
class Comparison:
    """Sums of a block under flips, in one precision, and the bounds of its differences.

    Attributes
    ----------
    block : Block
    sums : ndarray of float, shape (n_rows, n_flips)
    bounds : ndarray of float, shape (n_differences,)
        A difference is at least as extreme as in the data if its sum is at least this.
    inverse_scales : ndarray of float, shape (n_differences,)
        Sums times these are statistics.
    alternative : {"two-sided", "greater", "less"}
    """

    block: Block
    sums: FloatArray
    bounds: FloatArray
    inverse_scales: FloatArray
    alternative: Alternative


def _compare_in_threads(comparison: Comparison, places: IntArray, counts: IntArray) -> FloatArray:
    """Write the counts of some differences to `counts`, and return their largest statistic in each flip."""
    pieces = _cut_in_pieces(comparison.block, places)
    n_threads = os.cpu_count() or 1
    pieces_by_thread = [pieces[n::n_threads] for n in range(n_threads)]
    maxima = np.full(comparison.sums.shape[1], -np.inf)
    with ThreadPoolExecutor(n_threads) as threads:
        for thread_maxima in threads.map(partial(_compare_pieces, comparison, counts), pieces_by_thread):
            np.maximum(maxima, thread_maxima, out=maxima)
    return maxima


def _cut_in_pieces(block: Block, places: IntArray) -> list[IntArray]:
    """Return the differences at these places in pieces of at most `PIECE_ROWS` with the same subtracted row."""
    runs = [places]
    if block.second is not None:
        places = places[np.argsort(block.second[places], kind="stable")]
        runs = np.split(places, run_starts(block.second[places])[1:])
    pieces = []
    for run in runs:
        pieces += np.array_split(run, math.ceil(len(run) / PIECE_ROWS))
    return pieces


def _compare_pieces(comparison: Comparison, counts: IntArray, pieces: list[IntArray]) -> FloatArray:
    """Write the counts of the differences of some pieces to `counts`, and return the largest statistic of each flip."""
    block, sums = comparison.block, comparison.sums
    n_flips = sums.shape[1]
    maxima = np.full(n_flips, -np.inf, sums.dtype)
    for piece in pieces:
        first = block.first[piece]
        rows: IntArray | slice = first
        if (np.diff(first) == 1).all():
            rows = slice(first[0], first[-1] + 1)  # needs no copy
        bounds = comparison.bounds[piece, None]
        inverse_scales = comparison.inverse_scales[piece, None]
        for start in range(0, n_flips, PIECE_FLIPS):
            flips = slice(start, start + PIECE_FLIPS)
            differences = sums[rows, flips]
            if block.second is not None:
                differences = differences - sums[block.second[piece[0]], flips]
            values = extremeness(differences, comparison.alternative)
            is_extreme = values >= bounds
            counts[piece] += np.fromiter(map(np.count_nonzero, is_extreme), np.int64, len(piece))  # fast row by row
            statistics = values * inverse_scales
            np.maximum(maxima[flips], statistics.max(axis=0), out=maxima[flips])
    return maxima
