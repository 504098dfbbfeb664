r"""The mean and the variance of a logarithm of a sum over ties, from the transforms of the sum.

A logarithm of a sum has no closed form over orders. But with E exponential, of rate 1 and independent of X > 0,
:math:`W = \log E - \log X` has :math:`P(W > \tau) = E \exp(-e^\tau X) = \phi(\tau)`, the Laplace transform of X. So
the moments of log X follow from integrals over :math:`\tau` of the difference between :math:`\phi` and the one of a
constant. It is analytic for imaginary parts within :math:`\pm \pi / 2`, so that the trapezoidal rule with steps h is
off by about :math:`\exp(-\pi^2 / h)`: less than rounding.

Of another smooth function f, a window around the possible sums makes a periodic function, and its Fourier series a
sum of :math:`E \exp(i \omega X)`. A window between error functions of width :math:`\delta` needs frequencies up to
about :math:`12 / \delta`; it may be as wide as f has room before it is singular.

Either transform is a product over ties, as they are independent. Inside a tie it is a walk from the last rank: of l
relevant documents left on i ranks, the last rank has one with probability l / i, and a factor for what it adds.
"""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import batches

STEP = 0.28
DEEPEST = -36.0  # exp(-36) is below rounding
SHARPNESS = 5.8  # erf of it is 1 to rounding
HIGHEST = 3.7  # exp(-exp(3.7)) is as well
EVERYTHING = 1e300  # so large an argument of the transform that any positive sum vanishes

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
    found = np.ones_like(s)
    most = int(count.max(initial=0)) + 1
    for index, width in batches(tied, max(1, (1 << 22) // (most * s.shape[1]))):
        size = int(count[index].max()) + 1
        left = np.arange(size)
        state = np.zeros((len(index), size, s.shape[1]), s.dtype)
        state[np.arange(len(index)), count[index]] = 1.0
        for i in range(width, 0, -1):
            on = np.flatnonzero(tied[index] >= i)
            ties = index[on]
            chance = np.minimum(left / i, 1.0)[:, None]
            moved = state[on] * chance * np.exp(-s[ties, None] * value(ties, left, i)[..., None])
            stayed = state[on] * (1 - chance)
            stayed[:, :-1] += moved[:, 1:]
            state[on] = stayed
        found[index] = state[:, 0]
    return found


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
    rising, falling = (
        np.vectorize(math.erf, otypes=[float])(2 * SHARPNESS * ((points - end[:, None]) / wide[:, None] + shift))
        for end, wide, shift in ((low, room[0], 0.5), (high, room[1], -0.5))
    )
    window, values = (rising - falling) / 2, function(points)
    omega = 2 * np.pi / length[:, None] * np.arange(n_nodes)
    means = transform_at(-1j * omega) * np.exp(-1j * omega * points[:, :1])  # from the first point on
    weights = np.where(np.arange(n_nodes) > 0, 2.0, 1.0)

    def expected(of_points: FloatArray) -> FloatArray:
        series = np.fft.rfft(of_points * window, axis=1)[:, :n_nodes] / (2 * n_nodes)
        return (weights * (series * means).real).sum(axis=1)

    mean = expected(values)
    return mean, np.maximum(expected((values - mean[:, None]) ** 2), 0.0)
