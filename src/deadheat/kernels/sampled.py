"""Lists of some documents and a sample of the others: exact means over all samples, and moments over tie orders.

If the sample of s of n others is drawn without replacement, and a of them are above a document, then the number of
sampled ones above it is hypergeometric.
"""

import numpy as np

from deadheat.arrays import FloatArray, IntArray


def probabilities(above: IntArray, n: int, sampled: int) -> FloatArray:
    """Return how likely each number of sampled documents above is.

    Parameters
    ----------
    above : ndarray of int, shape (m,)
        Documents above, of all n.
    n, sampled : int

    Returns
    -------
    ndarray of shape (m, sampled + 1)

    Examples
    --------
    >>> probabilities(np.array([1, 3]), 4, 2).tolist()
    [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]
    """
    j, a = np.arange(sampled + 1), above[:, None]
    up, down = (a - j[:-1]) * (sampled - j[:-1]), j[1:] * (n - a - sampled + j[1:])
    is_step = (up > 0) & (down > 0)
    steps = np.log(np.where(is_step, up, 1) / np.where(is_step, down, 1))  # of neighbours, so that none is too small
    logarithms = np.concatenate((np.zeros((len(above), 1)), np.cumsum(steps, axis=1)), axis=1)
    possible = (j >= sampled - n + a) & (j <= a)
    highest = np.where(possible, logarithms, -np.inf).max(axis=1, keepdims=True)
    found = np.where(possible, np.exp(np.minimum(logarithms - highest, 0.0)), 0.0)
    return found / found.sum(axis=1, keepdims=True)


def moments(values: FloatArray, mean: float, square: float, product: float) -> tuple[float, float]:
    r"""Return mean and variance over the orders of a tie of :math:`\sum_i g_i u_i(B_i)`.

    The tie has r documents with gains, in any order, among t others; B_i others come before the i-th of them.

    Parameters
    ----------
    values : ndarray of shape (r, t + 1)
        :math:`u_i(b)`.
    mean, square, product : float
        Of the gains: the mean, the mean square, and the mean product of two of them.
    """
    left = np.ones(values.shape[1])  # orders of the rest, after b others, over those after none
    first, second, squares = (np.zeros(values.shape[1]) for _ in range(3))
    for own in values[::-1]:
        whole = np.cumsum(left[::-1])[::-1]
        first, second, squares = (
            np.cumsum((left * one)[::-1])[::-1] / whole
            for one in (own + first, own**2 + 2 * own * first + second, own**2 + squares)
        )
        left = whole / whole[0]
    centre = float(mean * first[0])
    return centre, max(float((square - product) * squares[0] + product * second[0]) - centre**2, 0.0)
