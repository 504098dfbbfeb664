r"""Gaffke's bounds of a mean of values between two limits, computed without drawing anything.

The data are units with sums :math:`S_g` and sizes :math:`n_g`. One more unit is added, of size :math:`n_0`, that has
the lowest possible value :math:`\ell`. Every unit gets a random weight E, a standard exponential variable, independent
of the others. (For units of one size, the weights over their sum are drawn evenly from all that sum to 1.) Gaffke's
lower bound is a quantile of the weighted mean

.. math:: D = \frac{\sum_g E_g S_g + E_0 n_0 \ell}{\sum_g E_g n_g + E_0 n_0}

**The probability to compute.** D is at most t exactly where a weighted sum W of exponential variables is at most 0:

.. math:: P(D \le t) = P(W \le 0), \quad W = \sum_g E_g y_g, \quad y_g = S_g - t n_g, \quad y_0 = n_0 (\ell - t)

Here and below, sums over g include the added unit. The gap y of a unit says how far its sum is from the one it would
have if the mean were t.

**Its cumulants.** Since :math:`\mathrm{E}\, e^{s E} = 1 / (1 - s)`, the cumulant generating function of W and its
derivatives are

.. math:: K(s) = \log \mathrm{E}\, e^{s W} = -\sum_g \log(1 - s y_g), \quad
    \dot{K}(s) = \sum_g \frac{y_g}{1 - s y_g}, \quad \ddot{K}(s) = \sum_g \left(\frac{y_g}{1 - s y_g}\right)^2

for all s with :math:`s y_g < 1`.

**The saddlepoint approximation.** At the saddlepoint, the s whose :math:`\dot{K}(s)` is 0, the formula of Lugannani and
Rice in the form of Barndorff-Nielsen is

.. math:: P(W \le 0) \approx \Phi(z), \quad z = r + \frac{1}{r} \log\frac{u}{r}, \quad
    r = \operatorname{sign}(s) \sqrt{-2 K(s)}, \quad u = s \sqrt{\ddot{K}(s)}

Near s = 0 both r and u go to 0, and the second term of z goes to :math:`\sum_g y_g^3 / (3 (\sum_g y_g^2)^{3/2})`. The
search for t takes :math:`\frac{dz}{dt} \approx \frac{s}{r} \sum_g \frac{n_g}{1 - s y_g}`. Both are derived in
docs/math.md, section 17.

**Its error.** The approximation is off by 5% at most, towards wider bounds, where a single unit decides, and by less
than 0.1% where many do. Up to 32 units it is corrected by the exact probability, an integral along a vertical line
through the saddlepoint.

References
----------
Gaffke 2005, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable",
Mathematical Methods of Statistics 14. Lugannani and Rice 1980, https://doi.org/10.2307/1426607. Barndorff-Nielsen 1991,
https://doi.org/10.1093/biomet/78.3.557. Butler 2007, Saddlepoint Approximations with Applications, chapters 1 and 2,
https://doi.org/10.1017/CBO9780511619083.
"""

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray

NORMAL_QUANTILE = np.vectorize(NormalDist().inv_cdf, [float])  # SciPy takes 0.3 s to load, and columns are few
BATCH_CELLS = 1 << 18  # units times columns at a time: 2 MB stay in the cache
N_INTEGRATED = 32  # units up to which the integral corrects the saddlepoint approximation
N_CORRECTIONS = 2  # each makes the error about a hundredth of what it was
NODES = np.arange(0.0, 12.0, 0.2)  # v of the trapezoidal rule; the integrand falls as exp(-2 v) or faster
CENTRAL = 1e-2  # |u| below which the second term of z is taken at its limit, as r and u are equal up to rounding
QUANTILE_ERROR = 1e-7  # error of z at which the search for a mean ends
DECREMENT = 1e-10  # Newton decrement at which the search for a saddlepoint ends
MAX_STEPS = 100  # of a search; about 8 are needed


def gaffke_bounds(
    sums: FloatArray, sizes: FloatArray | IntArray, *, tail: float, limits: tuple[float, float], added: FloatArray
) -> FloatArray:
    """Return Gaffke's lower and upper bounds of the mean of each column, shape (2, n_columns).

    Parameters
    ----------
    sums : ndarray of float, shape (n_units, n_columns)
        Sum of the values in each unit; with weights of weight times value. Values beyond the limits count as these.
    sizes : ndarray, shape (n_units, 1) or (n_units, n_columns)
        Number of queries in each unit; with weights the sum of these.
    tail : float
        Probability beyond each bound, below 1/2.
    limits : tuple of float
        The lowest and the highest value possible.
    added : ndarray of float, shape (1,) or (n_columns,)
        Size of the unit that is added.

    Examples
    --------
    Of zeros and ones these are Clopper and Pearson's bounds:

    >>> hits, ones = np.array([[1.0], [0.0], [1.0]]), np.ones((3, 1))
    >>> gaffke_bounds(hits, ones, tail=0.025, limits=(0, 1), added=np.ones(1)).round(4).T.tolist()
    [[0.0943, 0.9916]]
    """
    lowest, highest = limits
    n_units, n_columns = sums.shape
    all_sizes = np.broadcast_to(sizes.T, sums.T.shape)
    all_added = np.broadcast_to(added, n_columns)
    bounds = np.empty((2, n_columns))
    step = max(1, BATCH_CELLS // (n_units + 1))
    for first in range(0, n_columns, step):
        columns = slice(first, first + step)
        column_sums = np.ascontiguousarray(sums.T[columns])
        column_sizes = np.ascontiguousarray(all_sizes[columns], np.float64)
        above_lowest = np.maximum(column_sums - lowest * column_sizes, 0.0)
        below_highest = np.maximum(highest * column_sizes - column_sums, 0.0)
        bounds[0, columns] = lowest + _find_lower_bounds(above_lowest, column_sizes, all_added[columns], tail)
        bounds[1, columns] = highest - _find_lower_bounds(below_highest, column_sizes, all_added[columns], tail)
    return bounds


@dataclass(frozen=True, eq=False)
class Mixture:
    """The units of each column, and the added unit, whose sum is 0.

    The matrices are transposed: a row holds the units of a column of values, so that what is summed is adjacent in
    memory. Each row is searched by itself, so that its bounds do not depend on the others.

    Attributes
    ----------
    sums, sizes : ndarray of float, shape (n_rows, n_units + 1)
    """

    sums: FloatArray
    sizes: FloatArray

    def select(self, rows: BoolArray) -> "Mixture":
        """Return some rows."""
        return Mixture(self.sums[rows], self.sizes[rows])

    def gaps(self, means: FloatArray) -> FloatArray:
        """Return y: how far the sum of each unit is from the one it would have at these means."""
        return self.sums - means[:, None] * self.sizes


def _find_lower_bounds(sums: FloatArray, sizes: FloatArray, added: FloatArray, tail: float) -> FloatArray:
    """Return the lower bound of means of values whose lowest is 0, shape (n_rows,)."""
    bounds = np.zeros(len(sums))
    is_positive: BoolArray = np.any(sums, axis=1)  # where all values are 0 the bound is 0
    if not is_positive.any():
        return bounds
    all_units = Mixture(np.column_stack([sums, np.zeros_like(added)]), np.column_stack([sizes, added]))
    mixture = all_units.select(is_positive)
    tails = np.full(len(mixture.sums), tail)
    means, saddlepoints = _find_quantiles(mixture, tails)
    if sums.shape[1] <= N_INTEGRATED:
        targets = tails
        for _ in range(N_CORRECTIONS):
            exact_tails = _integrate_tails(mixture, means, saddlepoints)  # of the means that have these targets
            targets = np.minimum(targets * tails / exact_tails, 0.5)
            means, saddlepoints = _find_quantiles(mixture, targets)
    bounds[is_positive] = means
    return bounds


@dataclass(frozen=True, eq=False)
class TailApproximation:
    """The saddlepoint approximation of P(D <= mean).

    Attributes
    ----------
    z : ndarray of float, shape (n_rows,)
        The normal quantile of the probability.
    s_over_r : ndarray of float, shape (n_rows,)
        s / r, a factor of the derivative of z; its limit near s = 0.
    factors : ndarray of float, shape (n_rows, n_units + 1)
        1 - s y of each unit.
    """

    z: FloatArray
    s_over_r: FloatArray
    factors: FloatArray


@dataclass(frozen=True, eq=False)
class Search:
    """The columns whose quantiles are searched: each has a row of the mixture and a value in the other arrays.

    Attributes
    ----------
    mixture : Mixture
    column : ndarray of int, shape (n_rows,)
        Which column it is.
    targets : ndarray of float, shape (n_rows,)
        The z to reach.
    means : ndarray of float, shape (n_rows,)
        The mean to try next.
    lowest, highest : ndarray of float, shape (n_rows,)
        The bracket that the quantile is in.
    saddlepoints : ndarray of float, shape (n_rows,)
        Those of the mean before, from which the next ones are searched.
    """

    mixture: Mixture
    column: IntArray
    targets: FloatArray
    means: FloatArray
    lowest: FloatArray
    highest: FloatArray
    saddlepoints: FloatArray

    def select(self, rows: BoolArray) -> "Search":
        """Return some rows."""
        if rows.all():
            return self
        return Search(
            self.mixture.select(rows),
            self.column[rows],
            self.targets[rows],
            self.means[rows],
            self.lowest[rows],
            self.highest[rows],
            self.saddlepoints[rows],
        )


def _find_quantiles(mixture: Mixture, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the means that D falls below with these probabilities, by the saddlepoint, and the saddlepoints."""
    search = _begin_search(mixture, NORMAL_QUANTILE(tails))
    means = np.empty_like(tails)
    saddlepoints = np.empty_like(tails)
    for _ in range(MAX_STEPS):
        gaps = search.mixture.gaps(search.means)
        s = _find_saddlepoints(gaps, search.saddlepoints)
        means[search.column] = search.means
        saddlepoints[search.column] = s
        approximation = _approximate_tails(gaps, s)
        excess = approximation.z - search.targets
        goes_on = np.abs(excess) >= QUANTILE_ERROR
        if not goes_on.any():
            break
        search = _take_step(search, s, approximation, excess).select(goes_on)
    return means, saddlepoints


def _begin_search(mixture: Mixture, targets: FloatArray) -> Search:
    """Return the search for the means whose z are `targets`."""
    means = _guess_quantiles(mixture, targets)
    lowest = np.zeros_like(means)
    highest = (mixture.sums / mixture.sizes).max(axis=1)
    return Search(mixture, np.arange(len(means)), targets, means, lowest, highest, np.zeros_like(means))


def _take_step(search: Search, s: FloatArray, approximation: TailApproximation, excess: FloatArray) -> Search:
    """Return the search with the next means, where z at the present ones exceeds the targets by `excess`.

    Newton's method in the logarithm of the mean, because z is nearly linear in it. A step that leaves the bracket is
    replaced by the middle of the bracket.
    """
    means = search.means
    lowest = np.where(excess < 0, means, search.lowest)
    highest = np.where(excess > 0, means, search.highest)
    sum_of_sizes = (search.mixture.sizes / approximation.factors).sum(axis=1)
    slopes = means * approximation.s_over_r * sum_of_sizes  # of z, by the logarithm of the mean
    newton = means * np.exp(-excess / slopes)
    is_inside = (newton >= lowest) & (newton <= highest)
    next_means = np.where(is_inside, newton, (lowest + highest) / 2)
    return replace(search, means=next_means, lowest=lowest, highest=highest, saddlepoints=s)


def _guess_quantiles(mixture: Mixture, targets: FloatArray) -> FloatArray:
    """Return the means at which a search begins, as if the logarithm of D was normal."""
    n_queries = mixture.sizes.sum(axis=1)
    centres = mixture.sums.sum(axis=1) / n_queries
    errors = np.sqrt((mixture.gaps(centres) ** 2).sum(axis=1)) / n_queries
    return centres * np.exp(targets * errors / centres)


def _approximate_tails(gaps: FloatArray, s: FloatArray) -> TailApproximation:
    """Return the approximation at saddlepoints s by Barndorff-Nielsen's formula; see the top of this file."""
    factors = 1 - s[:, None] * gaps
    shares = gaps / factors
    curvature = (shares**2).sum(axis=1)
    u = s * np.sqrt(curvature)
    is_central = np.abs(u) < CENTRAL
    negative_cumulant = np.log(factors).sum(axis=1)  # -K(s), which is r^2 / 2
    least = CENTRAL**2 / 4  # in central rows it may be 0; they do without r, but r divides in them as well
    r = np.copysign(np.sqrt(2 * np.maximum(negative_cumulant, least)), u)
    limit = (shares**3).sum(axis=1) / (3 * curvature**1.5)
    ratio = np.where(is_central, 1.0, u / r)
    second_term = np.where(is_central, limit, np.log(ratio) / r)
    z = np.where(is_central, u, r) + second_term
    s_over_r = np.where(is_central, 1 / np.sqrt(curvature), s / r)
    return TailApproximation(z, s_over_r, factors)


def _find_saddlepoints(gaps: FloatArray, start: FloatArray) -> FloatArray:
    r"""Return s with :math:`\dot{K}(s) = 0`, shape (n_rows,), by damped Newton steps, which stay in the domain of K.

    K is self-concordant: Boyd and Vandenberghe 2004, Convex Optimization, section 9.6,
    https://doi.org/10.1017/CBO9780511804441.
    """
    s = np.clip(start, 0.5 / gaps.min(axis=1), 0.5 / gaps.max(axis=1))
    for _ in range(MAX_STEPS):
        shares = gaps / (1 - s[:, None] * gaps)
        slope = shares.sum(axis=1)
        curvature = (shares**2).sum(axis=1)
        decrement = np.abs(slope) / np.sqrt(curvature)
        goes_on = decrement >= DECREMENT
        if not goes_on.any():
            break
        damping = np.where(decrement > 0.25, 1 + decrement, 1.0)
        s = np.where(goes_on, s - slope / curvature / damping, s)
    return s


def _integrate_tails(mixture: Mixture, means: FloatArray, saddlepoints: FloatArray) -> FloatArray:
    r"""Return P(D <= mean), shape (n_rows,), by integrating the characteristic function.

    .. math:: P(W \le 0) = -\frac{1}{2 \pi i} \int_{c - i\infty}^{c + i\infty} \frac{e^{K(s)}}{s} ds, \quad c < 0

    For c > 0 it is 1 plus the same integral. The line goes through the saddlepoint, where the integrand oscillates
    least, but not near 0, where it has a pole. With :math:`s = c + i \sigma \sinh v` the trapezoidal rule converges
    exponentially.
    """
    gaps = mixture.gaps(means)
    shares_at_saddlepoint = gaps / (1 - saddlepoints[:, None] * gaps)
    scale = 1 / np.sqrt((shares_at_saddlepoint**2).sum(axis=1))
    is_left = saddlepoints <= 0
    left_line = np.minimum(saddlepoints, -scale / 2)
    right_line = np.maximum(saddlepoints, scale / 2)
    line = np.where(is_left, left_line, right_line)
    factors = 1 - line[:, None] * gaps
    shares = gaps / factors
    total = np.zeros_like(means)
    for node in NODES:
        height = 1j * scale * np.sinh(node)
        waves = 1 / np.prod(1 - height[:, None] * shares, axis=1) / (line + height)
        weight = 0.5 if node == 0 else 1.0
        total += weight * np.cosh(node) * waves.real
    spacing = NODES[1] - NODES[0]
    integral = -spacing * scale * total / np.prod(factors, axis=1) / np.pi
    return np.where(is_left, integral, 1 + integral)
