"""Linear measures: a sum of weight(rank) x gain(document), such as DCG, P and RBP.

docs/math.md, section 3. Averaged over the orders, each rank of a group has the mean gain of its documents. The variance
of a group is the product of two centred sums of squares, of the weights and of the gains, over n - 1. The mean of DCG:
McSherry and Najork 2008, https://doi.org/10.1007/978-3-540-78646-7_38.
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
    is_alone = (tied == 1) & (inside == 1)  # most groups; they need no cumulated weights, which are rounded
    part[is_alone] = weights[above[is_alone]] * gain_sum[is_alone]
    is_shared = ~is_alone & (inside > 0)
    if is_shared.any():
        cumulative = np.concatenate(([0.0], np.cumsum(weights)))
        first = above[is_shared]
        weight_sum = cumulative[first + inside[is_shared]] - cumulative[first]
        part[is_shared] = weight_sum * gain_sum[is_shared] / tied[is_shared]
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
    place_of_first_rank = above[varied, None]  # in the weights, which begin with that of rank 1
    squares = gain_squares[varied]

    def weight(index: IntArray, j: IntArray) -> FloatArray:
        place = place_of_first_rank[index] + (j - 1)
        return weights[np.minimum(place, len(weights) - 1)]

    unused_sums = squares  # the sums of gains decide the means alone, which are dropped
    _, part[varied] = moments(tied[varied], inside[varied], unused_sums, squares, weight=weight)
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
    means, variances = np.zeros(len(tied)), np.zeros(len(tied))
    for index, width in batches(inside):
        j = np.arange(1, width + 1)
        n, m = tied[index], inside[index]
        is_inside = j <= m[:, None]
        weights = np.where(is_inside, weight(index, j), 0.0)
        mean_weight = weights.sum(axis=1) / n
        means[index] = mean_weight * gain_sum[index]
        squares_inside = (np.where(is_inside, weights - mean_weight[:, None], 0.0) ** 2).sum(axis=1)
        weight_squares = squares_inside + (n - m) * mean_weight**2  # the ranks beyond the cutoff have weight 0
        variances[index] = weight_squares * gain_squares[index] / np.maximum(n - 1, 1)
    return means, variances
