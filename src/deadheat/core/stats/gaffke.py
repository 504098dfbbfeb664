r"""Gaffke's bounds of a mean of values between two limits, computed without drawing anything.

Gaffke's lower bound is a quantile of the weighted mean

.. math:: D = \frac{\sum_g E_g S_g + E_0 n_0 \ell}{\sum_g E_g n_g + E_0 n_0}

of the units, with sums S and sizes n, and of one more unit that has the lowest value. All E are independent standard
exponential variables; of units of one size E over its sum is drawn evenly from all weights that sum to 1. D is at most
t where a sum of exponential variables is at most 0,

.. math:: P(D \le t) = P(W \le 0), \quad W = \sum_g E_g y_g, \quad y_g = S_g - t n_g, \quad y_0 = n_0 (\ell - t)

and the cumulants of W are known,

.. math:: K(s) = \log \mathrm{E}\, e^{s W} = -\sum_g \log(1 - s y_g)

so that the saddlepoint, where K'(s) = 0, gives the probability in the form of Barndorff-Nielsen,

.. math:: P(W \le 0) \approx \Phi\left(r + \frac{1}{r} \log\frac{u}{r}\right), \quad
    r = \operatorname{sign}(s) \sqrt{-2 K(s)}, \quad u = s \sqrt{K''(s)}

It is off by 5% at most, towards wider bounds, where a single unit decides, and by less than 0.1% where many do. Of few
units the integral of the characteristic function along a vertical line through the saddlepoint corrects it to more
digits than anybody needs.

References
----------
Gaffke 2005, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable",
Mathematical Methods of Statistics 14. Lugannani and Rice 1980, https://doi.org/10.2307/1426607. Barndorff-Nielsen 1991,
https://doi.org/10.1093/biomet/78.3.557. Butler 2007, Saddlepoint Approximations with Applications, chapters 1 and 2.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray

NORMAL_QUANTILE = np.vectorize(NormalDist().inv_cdf, [float])  # of few columns; SciPy takes 0.3 s to load
CELLS = 1 << 18  # units and columns at a time: 2 MB stay in the cache
N_INTEGRATED = 32  # units up to which the integral corrects the saddlepoint
N_CORRECTIONS = 2  # each makes the error about a hundredth of what it was
NODES = np.arange(0.0, 12.0, 0.2)  # of the trapezoidal rule; the integrand falls as exp(-2 u) or faster
CENTRAL = 1e-2  # normal quantile below which a saddlepoint is near 0
NEAR = 1e-7  # error of the normal quantile at which the search ends
SAFE = 1e-10  # Newton decrement at which a saddlepoint is one
N_STEPS = 100  # of a search; about 8 are needed


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
    bounds = np.empty((2, n_columns))
    step = max(1, CELLS // (n_units + 1))
    for first in range(0, n_columns, step):
        columns = slice(first, first + step)
        own_sums = np.ascontiguousarray(sums.T[columns])
        own_sizes = np.ascontiguousarray(np.broadcast_to(sizes.T, sums.T.shape)[columns], np.float64)
        own_added = np.broadcast_to(added, n_columns)[columns]
        above = np.maximum(own_sums - lowest * own_sizes, 0.0)
        below = np.maximum(highest * own_sizes - own_sums, 0.0)
        bounds[0, columns] = lowest + _least_means(above, own_sizes, own_added, tail)
        bounds[1, columns] = highest - _least_means(below, own_sizes, own_added, tail)
    return bounds


@dataclass(frozen=True, eq=False)
class Mixture:
    """Units and one more that has the value 0, for each column, which is a row here: what is summed lies together.

    A row is searched by itself, so that its bounds do not depend on the others.

    Attributes
    ----------
    sums, sizes : ndarray of float, shape (n_rows, n_units + 1)
    """

    sums: FloatArray
    sizes: FloatArray

    def select(self, rows: BoolArray | IntArray) -> "Mixture":
        """Return some rows."""
        return Mixture(self.sums[rows], self.sizes[rows])

    def gaps(self, means: FloatArray) -> FloatArray:
        """Return y, how far each unit is from what it would have at these means."""
        return self.sums - means[:, None] * self.sizes


def _least_means(sums: FloatArray, sizes: FloatArray, added: FloatArray, tail: float) -> FloatArray:
    """Return the lower bound of means of values from 0 on, shape (n_rows,)."""
    bounds = np.zeros(len(sums))
    differ: BoolArray = np.any(sums, axis=1)  # of zeros alone the bound is 0
    if not differ.any():
        return bounds
    mixture = Mixture(np.column_stack([sums, np.zeros_like(added)]), np.column_stack([sizes, added])).select(differ)
    tails = np.full(len(mixture.sums), tail)
    means, saddlepoints = _quantiles(mixture, tails)
    if sums.shape[1] <= N_INTEGRATED:
        aims = tails
        for _ in range(N_CORRECTIONS):
            exact = _integrated_tails(mixture, means, saddlepoints)
            aims = np.minimum(aims * tails / exact, 0.5)
            means, saddlepoints = _quantiles(mixture, aims)
    bounds[differ] = means
    return bounds


def _quantiles(mixture: Mixture, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the means that D falls below with these probabilities, by the saddlepoint, and the saddlepoints.

    Newton's steps in the logarithm of the mean, as the normal quantile is nearly linear in it; a step that leaves the
    bracket becomes half of it.
    """
    aims = NORMAL_QUANTILE(tails)
    n_queries = mixture.sizes.sum(axis=1)
    centres = mixture.sums.sum(axis=1) / n_queries
    errors = np.sqrt((mixture.gaps(centres) ** 2).sum(axis=1)) / n_queries
    means = centres * np.exp(aims * errors / centres)
    lowest = np.zeros_like(centres)
    highest = (mixture.sums / mixture.sizes).max(axis=1)
    saddlepoints = np.zeros_like(means)
    rows = np.arange(len(means))  # those whose search goes on
    for _ in range(N_STEPS):
        own = mixture.select(rows) if len(rows) < len(means) else mixture
        gaps = own.gaps(means[rows])
        s = _saddlepoints(gaps, saddlepoints[rows])
        saddlepoints[rows] = s
        factors = 1 - s[:, None] * gaps
        shares = gaps / factors
        curvature = (shares**2).sum(axis=1)
        scaled = s * np.sqrt(curvature)
        is_central = np.abs(scaled) < CENTRAL  # there r and u are equal up to rounding: their limits
        roots = np.copysign(np.sqrt(2 * np.maximum(np.log(factors).sum(axis=1), CENTRAL**2 / 4)), scaled)
        limit = (shares**3).sum(axis=1) / (3 * curvature**1.5)
        skew = np.where(is_central, limit, np.log(np.where(is_central, 1.0, scaled / roots)) / roots)
        off = np.where(is_central, scaled, roots) + skew - aims[rows]
        lowest[rows] = np.where(off < 0, means[rows], lowest[rows])
        highest[rows] = np.where(off > 0, means[rows], highest[rows])
        pull = np.where(is_central, 1 / np.sqrt(curvature), s / roots)
        slopes = means[rows] * pull * (own.sizes / factors).sum(axis=1)
        steps = means[rows] * np.exp(-off / slopes)
        is_inside = (steps >= lowest[rows]) & (steps <= highest[rows])
        goes_on = np.abs(off) >= NEAR
        rows, steps = rows[goes_on], np.where(is_inside, steps, (lowest[rows] + highest[rows]) / 2)[goes_on]
        if not len(rows):
            break
        means[rows] = steps
    return means, saddlepoints


def _saddlepoints(gaps: FloatArray, start: FloatArray) -> FloatArray:
    """Return s with K'(s) = 0, shape (n_rows,), by damped Newton steps, which cannot leave the domain of K.

    K is self-concordant: Boyd and Vandenberghe 2004, Convex Optimization, section 9.6.
    """
    s = np.clip(start, 0.5 / gaps.min(axis=1), 0.5 / gaps.max(axis=1))
    for _ in range(N_STEPS):
        shares = gaps / (1 - s[:, None] * gaps)
        slope = shares.sum(axis=1)
        curvature = (shares**2).sum(axis=1)
        decrement = np.abs(slope) / np.sqrt(curvature)
        goes_on = decrement >= SAFE
        if not goes_on.any():
            break
        damping = np.where(decrement > 0.25, 1 + decrement, 1.0)
        s = np.where(goes_on, s - slope / curvature / damping, s)
    return s


def _integrated_tails(mixture: Mixture, means: FloatArray, saddlepoints: FloatArray) -> FloatArray:
    r"""Return P(D <= mean), shape (n_rows,), by integrating the characteristic function.

    .. math:: P(W \le 0) = -\frac{1}{2 \pi i} \int_{c - i\infty}^{c + i\infty} \frac{e^{K(s)}}{s} ds, \quad c < 0

    and 1 more for c > 0. The line goes through the saddlepoint, where the integrand oscillates least, but not near 0,
    where it has a pole. With :math:`s = c + i \sigma \sinh u` the trapezoidal rule converges exponentially.
    """
    gaps = mixture.gaps(means)
    scale = 1 / np.sqrt(((gaps / (1 - saddlepoints[:, None] * gaps)) ** 2).sum(axis=1))
    is_left = saddlepoints <= 0
    line = np.where(is_left, np.minimum(saddlepoints, -scale / 2), np.maximum(saddlepoints, scale / 2))
    factors = 1 - line[:, None] * gaps
    shares = gaps / factors
    total = np.zeros_like(means)
    for node in NODES:
        height = 1j * scale * np.sinh(node)
        waves = 1 / np.prod(1 - height[:, None] * shares, axis=1) / (line + height)
        total += (0.5 if node == 0 else 1.0) * np.cosh(node) * waves.real
    integral = -(NODES[1] - NODES[0]) * scale * total / np.prod(factors, axis=1) / np.pi
    return np.where(is_left, integral, 1 + integral)
