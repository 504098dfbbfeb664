"""Lists of some documents and a sample of the others: exact means over all samples, and moments over tie orders.

If the sample of s of n others is drawn without replacement, and a of them are above a document, then the number of
sampled ones above it is hypergeometric.
"""

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import MAX_CELLS


def probabilities(above: IntArray, n: int | IntArray, sampled: int | IntArray) -> FloatArray:
    """Return how likely each number of sampled documents above is.

    Parameters
    ----------
    above : ndarray of int, shape (m,)
        Documents above, of all n.
    n, sampled : int, or ndarray of int, shape (m,)

    Returns
    -------
    ndarray of shape (m, sampled + 1)
        By the largest number of sampled ones.

    Examples
    --------
    >>> probabilities(np.array([1, 3]), 4, 2).tolist()
    [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]
    """
    j, (a, of, s) = np.arange(np.max(sampled, initial=0) + 1), (np.reshape(one, (-1, 1)) for one in (above, n, sampled))
    up, down = (a - j[:-1]) * (s - j[:-1]), j[1:] * (of - a - s + j[1:])
    is_step = (up > 0) & (down > 0)
    steps = np.log(np.where(is_step, up, 1) / np.where(is_step, down, 1))  # of neighbours, so that none is too small
    logarithms = np.concatenate((np.zeros((len(above), 1)), np.cumsum(steps, axis=1)), axis=1)
    possible = (j >= s - of + a) & (j <= np.minimum(a, s))
    highest = np.where(possible, logarithms, -np.inf).max(axis=1, keepdims=True)
    found = np.where(possible, np.exp(np.minimum(logarithms - highest, 0.0)), 0.0)
    return found / found.sum(axis=1, keepdims=True)


def means(weights: FloatArray, above: IntArray, before: IntArray, n: IntArray, sampled: IntArray) -> FloatArray:
    """Return the mean weight of documents without ties, of shape (m,).

    Parameters
    ----------
    weights : ndarray of float, shape (n_ranks,)
    above, before : ndarray of int, shape (m,)
        Others that are above each, which are drawn, and documents that are always there.
    n, sampled : ndarray of int, shape (m,)
        How many others its list has, and are drawn.
    """
    found, size = np.zeros(len(above)), max(1, MAX_CELLS // (int(sampled.max(initial=0)) + 1))
    for rows in (slice(first, first + size) for first in range(0, len(above), size)):
        likely = probabilities(above[rows], n[rows], sampled[rows])
        ranks = before[rows, np.newaxis] + np.arange(likely.shape[1])
        found[rows] = (likely * weights[np.minimum(ranks, len(weights) - 1)]).sum(axis=1)
    return found


def moments(values: FloatArray, of_others: FloatArray, gains: FloatArray, others: FloatArray) -> tuple[float, float]:
    r"""Return mean and variance over the orders of a tie of :math:`\sum_i g_i u_i(B_i) + \sum_j h_j w_j(A_j)`.

    The tie has r documents with gains, in any order, among t others, which may have gains too; B_i others come before
    the i-th of the documents, and A_j documents before the j-th other. Any order of the gains is equally likely, so the
    second moments of :math:`\sum_i u_i(B_i)` and :math:`\sum_j w_j(A_j)` are enough.

    They are found from the last document up. Where b others are above what is left, the next document is the i-th, and
    has c others above it, b or more, with a chance that is proportional to the orders :math:`L_{i+1}(c)` of what
    follows. With the sums :math:`U_{i+1}(c)` and :math:`W_{i+1}(c)` of what follows, and
    :math:`S(c) = \sum_{j \le c} w_j(i - 1)` of the others that have i - 1 documents above them,

    .. math:: U_i(b) = u_i(c) + U_{i+1}(c), \qquad W_i(b) = S(c) - S(b) + W_{i+1}(c), \qquad
        L_i(b) = \sum_{c \ge b} L_{i+1}(c)

    Means of U, W, UU, UW, WW, and of the sums of the squares of single terms, are those of the right sides over c. As
    S(b) is no part of what is averaged, it is taken out afterwards, as in
    :math:`E (X - S(b))^2 = E X^2 - 2 S(b)\, E X + S(b)^2`.

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
    sums, sums_of_squares = (
        np.hstack((np.zeros((len(one), 1)), np.cumsum(one, axis=1))) for one in (of_others, of_others**2)
    )
    left = np.ones(values.shape[1])  # orders of the rest, after b others, over those after none
    u, uu, uw, u_squares = np.zeros((4, values.shape[1]))
    w, w_squares = (one[-1, -1] - one[-1] for one in (sums, sums_of_squares))
    ww = w**2
    for own, before, squares in zip(values[::-1], sums[-2::-1], sums_of_squares[-2::-1], strict=True):
        whole = np.cumsum(left[::-1])[::-1]
        u, w, uu, uw, ww, u_squares, w_squares = (
            np.cumsum((left * one)[::-1])[::-1] / whole
            for one in (
                own + u,
                before + w,
                own**2 + 2 * own * u + uu,
                own * (before + w) + before * u + uw,
                before**2 + 2 * before * w + ww,
                own**2 + u_squares,
                squares + w_squares,
            )
        )
        uw, ww = uw - before * u, ww - 2 * before * w + before**2
        w, w_squares = w - before, w_squares - squares
        left = whole / whole[0]
    (g, g_square, g_product), (h, h_square, h_product) = (
        _of_gains(one, n) for one, n in ((gains, len(values)), (others, of_others.shape[1]))
    )
    centre = float(g * u[0] + h * w[0])
    square = (g_square - g_product) * u_squares[0] + g_product * uu[0] + 2 * g * h * uw[0]
    square += (h_square - h_product) * w_squares[0] + h_product * ww[0]
    return centre, max(float(square) - centre**2, 0.0)


def _of_gains(gains: FloatArray, n: int) -> tuple[float, float, float]:
    """Return mean, mean square and mean product of two of n gains, of which others than these are 0."""
    total, squares = float(gains.sum()), float((gains**2).sum())
    return total / max(n, 1), squares / max(n, 1), (total**2 - squares) / (n * (n - 1)) if n > 1 else squares
