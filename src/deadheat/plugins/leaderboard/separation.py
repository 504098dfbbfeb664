"""Ranges of ranks that hold for all columns together: which columns differ, at one level for all pairs of them.

The difference of two columns is the sum over blocks (tasks, or groups of tasks) of share times mean difference. It is
compared with its standard error. Sign flips of the units say how large the largest of all these ratios is by chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import special

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, use_default_arithmetic
from deadheat.core.phases import lasting
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.resamples import batches
from deadheat.core.stats.sign_sums import draw_signs, sign_flip_sums
from deadheat.core.stats.units import NEGLIGIBLE_DIFFERENCE, Units

MANY = 1e9  # of Student's t, which is the normal distribution then
MANY_UNITS = 30  # of equal size: their variance is about the same under all signs
CELLS = 1 << 18  # pairs of columns in resamples at a time: 2 MB, of which several are in the cache


@dataclass(frozen=True, eq=False)
class Spread:
    """How much the differences of columns vary, by the cautious of two counts of degrees of freedom.

    Attributes
    ----------
    errors : ndarray of float, shape (n_columns, n_columns)
        Standard error of each difference.
    freedom : ndarray of float, shape (n_columns, n_columns)
        Infinite where nothing varies.
    most_freedom : float
        The degrees of freedom of all blocks together.
    """

    errors: FloatArray
    freedom: FloatArray
    most_freedom: float


def pairwise_errors(blocks: Sequence[Units], shares: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    r"""Return the standard error of the difference of any two columns, and its degrees of freedom.

    A column's total is the sum over blocks of share times mean. Units are independent, and blocks are fixed:

    .. math:: v = \sum_b s_b^2 v_b, \quad \nu = v^2 \Big/ \sum_b \frac{(s_b^2 v_b)^2}{n_b - 1}

    with the variance :math:`v_b` of the mean difference over the :math:`n_b` units of a block, by the jackknife, which
    takes into account how far a unit with a large weight pulls the mean to itself. With weights :math:`n_b` is the
    effective number of units. Of equal weights, v is the usual variance of a mean.

    Parameters
    ----------
    blocks : sequence of Units
        Each of two units and more, and the same columns.
    shares : sequence of float

    Returns
    -------
    errors, freedom : ndarray of shape (n_columns + 1, n_columns + 1)
        The last row and column are of the totals themselves, against 0. Freedom is infinite where nothing varies.

    References
    ----------
    Satterthwaite 1946, https://doi.org/10.2307/3002019.
    """
    n_columns = blocks[0].sums.shape[1] + 1
    total, of_freedom = np.zeros((2, n_columns, n_columns))
    for block, share in zip(blocks, shares, strict=True):
        pulls = np.zeros((block.n_units, n_columns))
        left = block.sizes.sum() - block.sizes
        pulls[:, :-1] = block.residuals * (share / left)[:, None]
        products = pulls.T @ pulls
        own = np.diag(products)
        squares = own[:, None] + own - 2 * products
        squares[squares <= ROUNDING * (own[:, None] + own)] = 0.0  # what rounding leaves of equal columns
        squares *= (block.n_units - 1) / block.n_units
        total += squares
        of_freedom += squares**2 / block.freedom
    freedom = np.divide(total**2, of_freedom, out=np.full_like(total, np.inf), where=of_freedom > 0)
    return np.sqrt(total), freedom


def cautious_spread(
    errors: FloatArray, freedom: FloatArray, blocks: Sequence[Units], shares: Sequence[float]
) -> Spread:
    r"""Return errors and degrees of freedom of differences that few units in some block do not make too small.

    With several blocks, of which one has few units, some of many pairs vary little in it by chance. Their error looks
    small, and their degrees of freedom look like those of the other blocks. So a pair has at most the degrees of
    freedom of the mean variances over pairs,

    .. math:: \tilde\nu = \Big(\sum_b \bar v_b\Big)^2 \Big/ \sum_b \frac{\bar v_b^2}{n_b - 1}

    and a pair with the same difference d in all units of a block has the variance :math:`(s_b d)^2 / n_b` there.

    Parameters
    ----------
    errors, freedom : ndarray of float, shape (n_columns + 1, n_columns + 1)
        Of :func:`pairwise_errors`.
    blocks : sequence of Units
    shares : sequence of float
    """
    most_freedom = sum(block.freedom for block in blocks)
    errors, freedom = errors[:-1, :-1], freedom[:-1, :-1]
    if len(blocks) == 1:
        return Spread(errors, freedom, most_freedom)
    variances = errors**2
    of_freedom = variances**2 / freedom
    mean_total = mean_of_freedom = 0.0
    for block, share in zip(blocks, shares, strict=True):
        of_block, _ = pairwise_errors([block], [share])
        of_block = of_block[:-1, :-1] ** 2
        n_columns = len(of_block)
        mean_variance = float(of_block.sum()) / max(1, n_columns * (n_columns - 1))
        mean_total += mean_variance
        mean_of_freedom += mean_variance**2 / block.freedom
        differences = block.means[:, None] - block.means
        differences[(of_block > 0) | (np.abs(differences) <= NEGLIGIBLE_DIFFERENCE)] = 0.0
        unseen = (share * differences) ** 2 / block.n_units
        variances += unseen
        of_freedom += unseen**2 / block.freedom
    most = mean_total**2 / mean_of_freedom if mean_of_freedom > 0 else np.inf
    freedom = np.divide(variances**2, of_freedom, out=np.full_like(variances, np.inf), where=of_freedom > 0)
    return Spread(np.sqrt(variances), np.minimum(freedom, most), most_freedom)


@use_default_arithmetic
def joint_critical_value(
    blocks: Sequence[Units],
    shares: Sequence[float],
    confidence_level: float,
    *,
    n_resamples: int,
    rng: np.random.Generator,
) -> float:
    r"""Return the quantile over sign flips of the largest ratio of a difference to its standard error.

    A ratio t is given as

    .. math:: c = t \sqrt{\frac{\nu + 1}{\nu + t^2}}

    with the degrees of freedom of all blocks together. Of one block of units that count the same, c is the sum of the
    differences by the root of their sum of squares. Signs do not change that root, so such flips need no errors of
    their own. In a block of few units, or of units with weights, each resample has its own variance.

    Parameters
    ----------
    blocks : sequence of Units
        Each of two units and more, and the same columns.
    shares : sequence of float
    confidence_level : float
    n_resamples : int
    rng : numpy.random.Generator
    """
    if all(_has_steady_variance(block, is_alone=len(blocks) == 1) for block in blocks):
        flipped = flipped_totals(blocks, shares, n_resamples=n_resamples, rng=rng)
        return critical_value(*flipped, confidence_level)
    largest = largest_ratios(blocks, shares, n_resamples=n_resamples, rng=rng)
    t = float(np.quantile(largest, confidence_level, method="higher"))
    freedom = sum(block.freedom for block in blocks)
    if np.isinf(t):
        return float(np.sqrt(freedom + 1))
    return t * float(np.sqrt((freedom + 1) / (freedom + t**2)))


def _has_steady_variance(block: Units, *, is_alone: bool) -> bool:
    """Return whether signs do not change a block's variance, or hardly."""
    is_even = bool(np.ptp(block.sizes) <= ROUNDING * block.sizes.max())
    return is_even and (is_alone or block.n_units >= MANY_UNITS)


def largest_ratios(
    blocks: Sequence[Units], shares: Sequence[float], *, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    r"""Return the largest ratio of a difference of two columns to its standard error, in each resample.

    A resample gives every unit a random sign, the same for all columns, as :func:`flipped_totals` says. Its variance in
    a block is the jackknife of the flipped values y,

    .. math:: v = \sum_g a_g^2 (y_g - n_g \bar y)^2 = \sum_g a_g^2 y_g^2 - 2 \bar y P + \bar y^2 K,
       \quad P = \sum_g a_g^2 n_g y_g, \quad K = \sum_g a_g^2 n_g^2

    with :math:`a_g = \frac{s}{N - n_g} \sqrt{\frac{G - 1}{G}}`. The first sum does not change with signs. The rest is
    :math:`K (\bar y - P / K)^2 - P^2 / K`: squares of differences of columns, which one matrix product gives for all
    pairs.

    Parameters
    ----------
    blocks : sequence of Units
    shares : sequence of float
    n_resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of float, shape (n_resamples,)
        Infinite where a difference has no spread in a resample, and is not 0.
    """
    parts = [
        _FlippedBlock.of(block, share, is_alone=len(blocks) == 1) for block, share in zip(blocks, shares, strict=True)
    ]
    n_units = sum(len(part.values) for part in parts)
    n_columns = parts[0].values.shape[1]
    constant, squares, scales = np.zeros((3, n_columns, n_columns))
    for part in parts:
        constant += part.squares if part.has_own_variance else part.squares * (1 - 1 / len(part.values))
        squares += part.squares
        scales += part.scales[:, None] + part.scales
    negligible = ROUNDING * scales
    never_varies = squares <= negligible
    largest = np.zeros(n_resamples)
    for start, stop in batches(n_resamples, max(n_units, n_columns**2, 2 * len(parts) * n_columns), CELLS):
        signs = draw_signs(stop - start, n_units, rng).matrix
        totals = np.zeros((stop - start, n_columns))
        added: list[FloatArray] = []
        taken: list[FloatArray] = []
        first = 0
        for part in parts:
            own = signs[:, first : first + len(part.values)]
            first += len(part.values)
            means = own @ part.mean_operand
            totals += part.share * means
            if part.has_own_variance:
                pulls = own @ part.pull_operand
                added.append(np.sqrt(part.constant) * (means - pulls / part.constant))
                taken.append(pulls / np.sqrt(part.constant))
        ratios = _squared_ratios(totals, np.array(added), np.array(taken), constant, negligible)
        ratios[:, never_varies] = 0.0
        largest[start:stop] = np.sqrt(ratios.max(axis=(1, 2)))
    return largest


@dataclass(frozen=True, eq=False)
class _FlippedBlock:
    """What flips of a block need.

    Attributes
    ----------
    values : ndarray of float, shape (n_units, n_columns)
        Sums of units, less their mean over columns, which no difference has.
    mean_operand, pull_operand : ndarray of float, shape (n_units, n_columns)
        Signs times these are the mean of a block and P.
    squares : ndarray of float, shape (n_columns, n_columns)
        The part of a difference's variance that signs do not change.
    scales : ndarray of float, shape (n_columns,)
        The same of the columns themselves, against which rounding is judged.
    constant : float
        K.
    share : float
    has_own_variance : bool
        Whether the variance is computed for each resample.
    """

    values: FloatArray
    mean_operand: FloatArray
    pull_operand: FloatArray
    squares: FloatArray
    scales: FloatArray
    constant: float
    share: float
    has_own_variance: bool

    @classmethod
    def of(cls, block: Units, share: float, *, is_alone: bool) -> Self:
        """Return what flips of a block need."""
        values = block.sums if is_alone else block.residuals
        size = block.sizes.sum()
        factors = share / (size - block.sizes) * np.sqrt((block.n_units - 1) / block.n_units)
        scales = ((values * factors[:, None]) ** 2).sum(axis=0)
        values = values - values.mean(axis=1, keepdims=True)
        weighted = values * factors[:, None]
        products = weighted.T @ weighted
        own = np.diag(products)
        return cls(
            values=values,
            mean_operand=values / size,
            pull_operand=values * (factors**2 * block.sizes)[:, None],
            squares=np.maximum(own[:, None] + own - 2 * products, 0.0),
            scales=scales,
            constant=float((factors**2 * block.sizes**2).sum()),
            share=share,
            has_own_variance=not _has_steady_variance(block, is_alone=is_alone),
        )


def _squared_ratios(
    totals: FloatArray, added: FloatArray, taken: FloatArray, constant: FloatArray, negligible: FloatArray
) -> FloatArray:
    """Return the squared ratio of each difference to its error, shape (n_resamples, n_columns, n_columns)."""
    forms = np.concatenate([added, taken]).transpose(1, 2, 0)
    factors = np.repeat([1.0, -1.0], [len(added), len(taken)])
    products = (forms * factors) @ forms.transpose(0, 2, 1)
    own = np.diagonal(products, axis1=1, axis2=2).copy()
    variances = products
    variances *= -2
    variances += own[:, :, None]
    variances += own[:, None, :]
    variances += constant
    variances[variances <= negligible] = 0.0
    ratios = totals[:, :, None] - totals[:, None, :]
    ratios *= ratios
    ratios[ratios <= negligible] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios /= variances
    ratios[np.isnan(ratios)] = 0.0  # no difference and no spread
    return ratios


def flipped_totals(
    blocks: Sequence[Units], shares: Sequence[float], *, n_resamples: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return the total of each column in resamples that give every unit a random sign, the same for all columns.

    Of a single block the values themselves change sign, as if no column were above another. Of several blocks what
    units differ by from the mean of their block does: columns that are equal in total may differ in each block.

    Parameters
    ----------
    blocks : sequence of Units
        Each of two units and more, and the same columns.
    shares : sequence of float

    Returns
    -------
    sums : ndarray of float, shape (n_resamples, n_columns)
    products : ndarray of float, shape (n_columns, n_columns)
        The products of any two columns, summed over units.
    """
    parts = []
    for block, share in zip(blocks, shares, strict=True):
        values = block.sums if len(blocks) == 1 else block.residuals
        left = block.sizes.sum() - block.sizes
        parts.append(values * (share / left * np.sqrt((block.n_units - 1) / block.n_units))[:, None])
    pulls = np.vstack(parts)
    return sign_flip_sums(pulls, n_resamples=n_resamples, rng=rng), pulls.T @ pulls


def critical_value(sums: FloatArray, products: FloatArray, confidence_level: float) -> float:
    """Return the quantile over resamples of the largest difference of two columns, by the root of its sum of squares.

    Parameters
    ----------
    sums : ndarray of float, shape (n_resamples, n_columns)
    products : ndarray of float, shape (n_columns, n_columns)
        As :func:`flipped_totals` gives both.
    confidence_level : float

    Returns
    -------
    float
        0 if no difference varies.
    """
    columns = np.ascontiguousarray(sums.T)
    own = np.diag(products)
    squares = own[:, None] + own - 2 * products
    varies = squares > ROUNDING * (own[:, None] + own)
    scales = np.divide(1.0, np.sqrt(np.maximum(squares, 0.0)), out=np.zeros_like(squares), where=varies)
    largest = np.zeros(len(sums))
    n_columns = len(columns)
    n_pairs = n_columns * (n_columns - 1) // 2
    with lasting("comparing all pairs", n_pairs, "; fewer resamples take less") as advance:
        for place, column in enumerate(columns[:-1], start=1):
            rest = columns[place:] - column
            np.abs(rest, out=rest)
            rest *= scales[place - 1, place:, None]
            np.maximum(largest, rest.max(axis=0), out=largest)
            advance(len(rest))
    return float(np.quantile(largest, confidence_level, method="higher"))


def separated(low: FloatArray, high: FloatArray, spread: Spread, critical: float) -> BoolArray:
    r"""Return whether column i is above column j in all simultaneous intervals, as entry (i, j).

    The critical value c is that of :func:`joint_critical_value`. Student's t increases with it:

    .. math:: t = c \sqrt{\frac{\nu}{\nu + 1 - c^2}}

    with the degrees of freedom of all blocks together; a pair with fewer has the t that is as rare with its own. Where
    c is the largest possible, nothing is separated.

    Parameters
    ----------
    low, high : ndarray of shape (n_columns,)
        Between which each total is, whatever is missing of it; more is better.
    spread : Spread
    critical : float
    """
    most = min(spread.most_freedom, MANY)
    rest = most + 1 - critical**2
    if rest <= ROUNDING * (most + 1):
        return np.zeros(spread.errors.shape, np.bool_)
    t = critical * np.sqrt(most / rest)
    reach = np.full_like(spread.errors, t)
    has_fewer = spread.freedom < most * (1 - ROUNDING)
    if has_fewer.any():
        reach[has_fewer] = -special.stdtrit(spread.freedom[has_fewer], special.stdtr(most, -t))
    varies = spread.errors > 0
    reach[~varies] = 0.0
    reach[varies] *= spread.errors[varies]
    return np.asarray(low[:, None] - high - reach > NEGLIGIBLE_DIFFERENCE)


def rank_bounds(better: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the first and the last rank of each column that its separations allow.

    Parameters
    ----------
    better : ndarray of bool, shape (n_columns, n_columns)
        Whether column i is above column j for sure.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm 2024, https://doi.org/10.1093/restud/rdad006.

    Examples
    --------
    >>> [part.tolist() for part in rank_bounds(np.array([[False, False, True], [False] * 3, [False] * 3]))]
    [[1, 1, 2], [2, 3, 3]]
    """
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)
