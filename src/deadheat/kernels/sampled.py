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


def of_gains(gains: FloatArray, n: int) -> tuple[float, float, float]:
    """Return mean, mean square and mean product of two of n gains, of which others than these are 0."""
    total, squares = float(gains.sum()), float((gains**2).sum())
    return total / max(n, 1), squares / max(n, 1), (total**2 - squares) / (n * (n - 1)) if n > 1 else squares


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


def moments_of_both(
    values: FloatArray, of_others: FloatArray, gains: FloatArray, others: FloatArray
) -> tuple[float, float]:
    r"""Return mean and variance over the orders of a tie whose other documents have gains too.

    Of :math:`\sum_i g_i u_i(B_i) + \sum_j h_j w_j(A_j)`: B_i others come before the i-th document of the r with gains,
    and A_j of these before the j-th other. From all paths of both counts, by the second moments of
    :math:`\sum_i u_i(B_i)` and :math:`\sum_j w_j(A_j)`, as any order of the gains along a path is equally likely.

    Parameters
    ----------
    values : ndarray of shape (r, t + 1)
        :math:`u_i(b)`.
    of_others : ndarray of shape (r + 1, t)
        :math:`w_j(a)` in row a and column j.
    gains : ndarray of shape (r,)
        :math:`g_i`.
    others : ndarray of shape (m,)
        :math:`h_j`; those of the other t - m are 0.
    """
    r, t = len(values), of_others.shape[1]
    state: FloatArray = np.zeros((r + 1, 3, 3))  # of 1 and both sums, over the paths that come by
    squares = np.zeros(2)
    state[0, 0, 0] = 1.0

    def add(chance: FloatArray, before: FloatArray, which: int, value: FloatArray) -> FloatArray:
        squares[which] += (chance * before[:, 0, 0] * value**2).sum()
        step = np.tile(np.eye(3), (len(value), 1, 1))
        step[:, which + 1, 0] = value
        return chance[:, None, None] * (step @ before @ step.transpose(0, 2, 1))

    places = np.arange(r + 1)
    for b in range(t + 1):
        if b:
            state = add((t - b + 1) / (r + t - places - b + 1), state, 1, of_others[:, b - 1])
        for i in range(1, r + 1):
            chance = np.array([(r - i + 1) / (r + t - i + 1 - b)])
            state[i] += add(chance, state[i - 1 : i], 0, values[i - 1 : i, b])[0]
    (_, first, second), (_, both, cross), (*_, of_two) = state[r]
    (g, g_square, g_product), (h, h_square, h_product) = of_gains(gains, r), of_gains(others, t)
    mean = float(g * first + h * second)
    square = (g_square - g_product) * squares[0] + g_product * both
    square += (h_square - h_product) * squares[1] + h_product * of_two + 2 * g * h * cross
    return mean, max(float(square) - mean**2, 0.0)
