r"""The mean and the variance of a logarithm of a sum over ties, from the transforms of the sum (GMAP).

docs/math.md, section 12: the moments of log X follow from integrals over :math:`\tau` of the difference between the
Laplace transform of X at :math:`e^\tau` and that of a constant. The trapezoidal rule with steps h is off by about
:math:`\exp(-\pi^2 / h)`: less than rounding.

For another smooth function f, a window around the possible sums makes a periodic function, whose Fourier series is a
sum of :math:`E \exp(i \omega X)`. A window between error functions of width d needs frequencies up to about 12 / d;
it may be as wide as f has room before it is singular.

Either transform is a product over ties, as they are independent.
"""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import batches

STEP = 0.28  # h
DEEPEST = -36.0  # lowest tau: exp(-36) is below rounding
HIGHEST = 3.7  # highest tau: exp(-exp(3.7)) is as well
SHARPNESS = 5.8  # erf of it is 1 to rounding
EVERYTHING = 1e300  # so large an argument of the transform that any positive sum vanishes
MAX_CELLS = 1 << 22  # of the states of ties that are walked together

# `value(ties, left, i)`: what the last of `left` relevant documents adds on rank i of the ties, 0 or more
Value: TypeAlias = Callable[[IntArray, IntArray, int], FloatArray]


def n_nodes(spread: float) -> int:
    """Return the number of arguments of the transform that are needed if the largest sum is `spread` times the least.

    Parameters
    ----------
    spread : float
        1 or more.
    """
    return int(np.ceil((HIGHEST - DEEPEST + 2 * np.log(spread)) / STEP)) + 1


def transform(tied: IntArray, count: IntArray, value: Value, s: NDArray[Any]) -> NDArray[Any]:
    """Return the mean over orders of exp(-s x), with x what a tie adds.

    A walk from the last rank of a tie: of l relevant documents left on i ranks, the last rank has one with probability
    l / i, and a factor for what it adds.

    Parameters
    ----------
    tied, count : ndarray of shape (n_ties,)
        Ranks of each tie, and relevant documents on them.
    value : callable
    s : ndarray of shape (n_ties, n_nodes)
        Real numbers of 0 or more, or imaginary ones.

    Returns
    -------
    ndarray of shape (n_ties, n_nodes)
    """
    means = np.ones_like(s)
    n_nodes = s.shape[1]
    most_left = int(count.max(initial=0)) + 1
    for index, width in batches(tied, max(1, MAX_CELLS // (most_left * n_nodes))):
        size = int(count[index].max()) + 1
        left = np.arange(size)
        state = np.zeros((len(index), size, n_nodes), s.dtype)  # by relevant documents left
        state[np.arange(len(index)), count[index]] = 1.0
        for i in range(width, 0, -1):
            row = np.flatnonzero(tied[index] >= i)
            ties = index[row]
            chance = np.minimum(left / i, 1.0)[:, None]
            moved = state[row] * chance * np.exp(-s[ties, None] * value(ties, left, i)[..., None])
            stayed = state[row] * (1 - chance)
            stayed[:, :-1] += moved[:, 1:]
            state[row] = stayed
        means[index] = state[:, 0]
    return means


def moments(
    transform_at: Callable[[FloatArray], FloatArray], mean: FloatArray, spread: float
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of log X.

    Parameters
    ----------
    transform_at : callable
        Of s of shape (n, n_nodes), the means of exp(-s X), of the same shape.
    mean : ndarray of shape (n,)
        Mean of X, above 0.
    spread : float
        How many times the mean, at most, the largest X is, and the smallest is contained in the mean.

    Returns
    -------
    mean, variance : ndarray of shape (n,)
    """
    tau = DEEPEST - np.log(spread) + STEP * np.arange(n_nodes(spread))
    s = np.exp(tau)
    difference = transform_at(s / mean[:, None]) - np.exp(-s)  # of log X / mean and of log 1
    first, second = STEP * difference.sum(axis=1), 2 * STEP * (difference @ tau)
    return np.log(mean) - first, np.maximum(second + 2 * np.euler_gamma * first - first**2, 0.0)


def n_frequencies(low: FloatArray, high: FloatArray, room: tuple[FloatArray, FloatArray]) -> IntArray:
    """Return how many arguments of the transform :func:`moments_of` needs; parameters as there."""
    length = high - low + room[0] + room[1]
    return np.ceil(2 * SHARPNESS**2 * length / np.minimum(*room) / np.pi * 1.1).astype(np.int64) + 8


def moments_of(
    function: Callable[[FloatArray], FloatArray],
    transform_at: Callable[[NDArray[Any]], NDArray[Any]],
    low: FloatArray,
    high: FloatArray,
    *,
    room: tuple[FloatArray, FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of a function of X.

    Parameters
    ----------
    function : callable
        Of numbers of shape (n, n_points), one row for each X; smooth between its singularities.
    transform_at : callable
        Of imaginary s of shape (n, n_nodes), the means of exp(-s X), of the same shape.
    low, high : ndarray of shape (n,)
        Between which X is.
    room : tuple of two ndarrays of shape (n,)
        How far below and above these the function is singular.

    Returns
    -------
    mean, variance : ndarray of shape (n,)
    """
    n_nodes = int(n_frequencies(low, high, room).max())
    start, length = low - room[0], high - low + room[0] + room[1]
    step = length / (2 * n_nodes)
    points = start[:, None] + step[:, None] * (np.arange(2 * n_nodes) + 0.5)
    room_below, room_above = room
    rising = _erf_step((points - low[:, None]) / room_below[:, None] + 0.5)
    falling = _erf_step((points - high[:, None]) / room_above[:, None] - 0.5)
    window = (rising - falling) / 2
    values = function(points)
    omega = 2 * np.pi / length[:, None] * np.arange(n_nodes)
    means = transform_at(-1j * omega) * np.exp(-1j * omega * points[:, :1])  # from the first point on
    weights = np.where(np.arange(n_nodes) > 0, 2.0, 1.0)  # each frequency also stands for the negative one

    def average(of_points: FloatArray) -> FloatArray:
        series = np.fft.rfft(of_points * window, axis=1)[:, :n_nodes] / (2 * n_nodes)
        return (weights * (series * means).real).sum(axis=1)

    mean = average(values)
    return mean, np.maximum(average((values - mean[:, None]) ** 2), 0.0)


def _erf_step(x: FloatArray) -> FloatArray:
    """Return a smooth step from -1 to 1 between -1/2 and 1/2."""
    erf = np.vectorize(math.erf, otypes=[float])
    return np.asarray(erf(2 * SHARPNESS * x))
