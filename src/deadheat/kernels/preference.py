"""bpref: how many judged non-relevant documents are above each relevant one.

Inside a tie with s judged non-relevant documents, the number above one relevant document is uniform on 0..s, and
two relevant documents have x and y above them with probability 2/((s+1)(s+2)) if x = y, else half of that.
"""

from __future__ import annotations

import numpy as np

from deadheat.arrays import FloatArray, IntArray
from deadheat.kernels.segments import batches


def moments(
    relevant: IntArray, nonrelevant: IntArray, nonrelevant_above: IntArray, n_relevant: IntArray, bound: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of each group's part of the sum that bpref divides by `n_relevant`.

    Parameters
    ----------
    relevant, nonrelevant, nonrelevant_above : ndarray of shape (n_groups,)
        Judged documents in the group, and judged non-relevant ones above it.
    n_relevant, bound : ndarray of shape (n_groups,)
        Of the query: judged relevant documents R, and min(R, judged non-relevant documents).

    Returns
    -------
    mean, variance : ndarray of shape (n_groups,)
    """
    mean, variance = np.zeros(len(relevant)), np.zeros(len(relevant))
    for index, width in batches(nonrelevant + 1):
        x, s, r = np.arange(width), nonrelevant[index], relevant[index]
        worse = nonrelevant_above[index, None] + x
        lost = np.minimum(worse, n_relevant[index, None]) / np.maximum(bound[index, None], 1)
        kept = np.where(worse > 0, 1 - lost, 1.0)
        real = x <= s[:, None]
        average = np.where(real, kept, 0.0).sum(axis=1) / (s + 1)
        # Centred, so that a group without any choice has variance 0 and not a rounding error.
        squares = (np.where(real, kept - average[:, None], 0.0) ** 2).sum(axis=1)
        mean[index] = r * average
        variance[index] = r * squares / (s + 1) + r * (r - 1) * squares / ((s + 1.0) * (s + 2.0))
    return mean, variance
