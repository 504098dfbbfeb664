"""Sums over relevant documents of a function of how many others are above each: bpref, binG.

docs/math.md, section 7. Inside a group with s other documents (of bpref: judged non-relevant ones), the number above
one relevant document is uniform on 0..s. Two relevant documents have x and y above them with probability 2/((s+1)(s+2))
if x = y, else half of that.
"""

from collections.abc import Callable

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import batches


def moments(
    relevant: IntArray, others: IntArray, value: Callable[[IntArray, IntArray], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of each group's part of the sum.

    Parameters
    ----------
    relevant, others : ndarray of shape (n_groups,)
        Relevant documents in the group, and those that are counted above them.
    value : callable
        ``value(index, x)`` gives the function's value for the groups `index`, where x others of the group are above the
        relevant document, of shape (b, w).

    Returns
    -------
    mean, variance : ndarray of shape (n_groups,)
    """
    means, variances = np.zeros(len(relevant)), np.zeros(len(relevant))
    for index, width in batches(others + 1):
        r, s = relevant[index], others[index]
        x = np.arange(width)
        values = value(index, x)
        is_possible = x <= s[:, None]
        mean_of_one = np.where(is_possible, values, 0.0).sum(axis=1) / (s + 1)
        # Centred, so that a group without any choice has variance 0 and not a rounding error.
        squares = (np.where(is_possible, values - mean_of_one[:, None], 0.0) ** 2).sum(axis=1)
        means[index] = r * mean_of_one
        variances[index] = r * squares / (s + 1) + r * (r - 1) * squares / ((s + 1.0) * (s + 2.0))
    return means, variances
