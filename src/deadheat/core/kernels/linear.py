"""Linear measures: a sum of weight(rank) x gain(document).

Mean: the mean gain of the tie at each of its ranks. Variance: the two centred sums of squares, of the weights
and of the gains, over n - 1. McSherry and Najork 2008, doi:10.1007/978-3-540-78646-7_38, for the mean of DCG.
"""

from collections.abc import Callable

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import batches


def mean(above: IntArray, tied: IntArray, inside: IntArray, gain_sum: FloatArray, *, weights: FloatArray) -> FloatArray:
    """Return each group's part of the expected sum.

    Parameters
    ----------
    above, tied, inside : ndarray of shape (n_groups,)
        Documents before the group, documents in it, its ranks within the cutoff.
    gain_sum : ndarray of shape (n_groups,)
        Sum of the gains of the group's documents.
    weights : ndarray of shape (n_ranks,)
        ``weights[i - 1]`` is the weight of rank i.

    Returns
    -------
    ndarray of shape (n_groups,)
    """
    part = np.zeros(len(above))
    alone = (tied == 1) & (inside == 1)
    part[alone] = weights[above[alone]] * gain_sum[alone]
    shared = ~alone & (inside > 0)
    if shared.any():
        cumulative = np.concatenate(([0.0], np.cumsum(weights)))
        first, last = above[shared], above[shared] + inside[shared]
        part[shared] = (cumulative[last] - cumulative[first]) * gain_sum[shared] / tied[shared]
    return part


def variance(
    above: IntArray, tied: IntArray, inside: IntArray, gain_squares: FloatArray, *, weights: FloatArray
) -> FloatArray:
    """Return each group's part of the variance over tie orders.

    Parameters
    ----------
    above, tied, inside, weights
        As for :func:`mean`.
    gain_squares : ndarray of shape (n_groups,)
        Sum over the group's documents of (gain - mean gain) squared, documents without gain included.

    Returns
    -------
    ndarray of shape (n_groups,)
    """
    part = np.zeros(len(above))
    varied = np.flatnonzero((tied > 1) & (inside > 0) & (gain_squares > 0))
    first, squares = above[varied, None] - 1, gain_squares[varied]

    def weight(index: IntArray, j: IntArray) -> FloatArray:
        return weights[np.minimum(first[index] + j, len(weights) - 1)]

    part[varied] = moments(tied[varied], inside[varied], squares, squares, weight=weight)[1]
    return part


def moments(
    tied: IntArray,
    inside: IntArray,
    gain_sum: FloatArray,
    gain_squares: FloatArray,
    *,
    weight: Callable[[IntArray, IntArray], FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """Return each group's part of mean and variance, where each query may have weights of its own.

    Parameters
    ----------
    tied, inside, gain_sum, gain_squares : ndarray of shape (n_groups,)
        As for :func:`mean` and :func:`variance`.
    weight : callable
        ``weight(index, j)`` gives the weights of ranks j (1-based inside the group) of the groups `index`, of shape
        (b, w).

    Returns
    -------
    mean, variance : ndarray of shape (n_groups,)
    """
    mean_, variance_ = np.zeros(len(tied)), np.zeros(len(tied))
    for index, width in batches(inside):
        j, n, m = np.arange(1, width + 1), tied[index], inside[index]
        real = j <= m[:, None]
        weights = np.where(real, weight(index, j), 0.0)
        centre = weights.sum(axis=1) / n
        mean_[index] = centre * gain_sum[index]
        squares = (np.where(real, weights - centre[:, None], 0.0) ** 2).sum(axis=1) + (n - m) * centre**2
        variance_[index] = squares * gain_squares[index] / np.maximum(n - 1, 1)
    return mean_, variance_
