r"""A discounted gain taken at every gaining document: :math:`M = \sum_{i \le j} D_i V_j h_i u_j + K \sum_i D_i h_i`.

h is the gain of a document, u is 1 where it is positive, else 0. What a tie adds depends on the order above it, so
that the parts of ties are not independent, as they are in the pairwise measures. With

.. math:: X = \sum_i D_i h_i, \quad U = \sum_j V_j u_j, \quad Y = \sum_{i \le j} D_i V_j h_i u_j

of each tie g, M is the sum of all Y, of :math:`X_g U_{g'}` for g above g', and of K X. X, U, Y of different ties are
independent. Splitting X and U into mean and deviation leaves parts without correlation:

.. math::
    \text{Var} M = \sum_g \text{Var}(Y_g + \alpha_g X_g + \beta_g U_g)
    + \sum_{g < g'} \text{Var} X_g\, \text{Var} U_{g'}

where :math:`\alpha_g` is K plus the means of U below g, and :math:`\beta_g` the means of X above it. Inside a tie, h
and u are split the same way: what is left is a linear part and a sum over pairs of deviations from the mean. Its
second moment is a sum over the ways in which two pairs of ranks share members, each a factor of ranks times one of
documents; with sums of deviations 0, few are left. Verified by enumeration.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import batches, scan_before, segment_sums


@dataclass(frozen=True)
class GainSums:
    """Sums over the documents of each tie, of shape (n_ties,): means, and products of deviations from them."""

    h: FloatArray
    u: FloatArray
    hh: FloatArray
    hu: FloatArray
    uu: FloatArray
    hhu: FloatArray
    huu: FloatArray
    hhuu: FloatArray


def _gain_sums(gains: FloatArray, starts: IntArray, tied: IntArray) -> GainSums:
    """Return the sums over the documents of each tie.

    Parameters
    ----------
    gains : ndarray of shape (n_rows,)
        Of the documents that are known; all others in a tie have none.
    starts, tied : ndarray of shape (n_ties,)
        First row of each tie, and its number of documents.
    """
    sizes = np.diff(np.append(starts, len(gains)))
    positive = (gains > 0).astype(np.float64)
    h, u = segment_sums(gains, starts) / tied, segment_sums(positive, starts) / tied
    of_rows = gains - np.repeat(h, sizes), positive - np.repeat(u, sizes)

    def total(h_times: int, u_times: int) -> FloatArray:
        known = segment_sums(of_rows[0] ** h_times * of_rows[1] ** u_times, starts)
        return known + (tied - sizes) * (-h) ** h_times * (-u) ** u_times

    return GainSums(h, u, total(2, 0), total(1, 1), total(0, 2), total(2, 1), total(1, 2), total(2, 2))


def moments(
    query: IntArray,
    tied: IntArray,
    gains: FloatArray,
    starts: IntArray,
    *,
    rest: FloatArray,
    weights: Callable[[IntArray, IntArray], tuple[FloatArray, FloatArray]],
) -> tuple[FloatArray, FloatArray]:
    """Return the parts of mean and variance; those of a query add up.

    Parameters
    ----------
    query, tied : ndarray of shape (n_ties,)
        Ascending query codes, and documents of each tie, in the order of the ranks.
    gains : ndarray of shape (n_rows,)
        Of the documents that are known; all others in a tie have none.
    starts : ndarray of shape (n_ties,)
        First row of each tie.
    rest : ndarray of shape (n_ties,)
        K of the tie's query.
    weights : callable
        ``weights(index, j)`` gives D and V of ranks j (1-based) of the ties `index`, each of shape (b, w).

    Returns
    -------
    mean, variance : ndarray of shape (n_ties,)
    """
    discounts, late, pairs, own = sums = np.zeros((4, len(query)))
    for index, width in batches(tied):
        _, d, v = _of_ranks(index, width, tied, weights)
        before = np.cumsum(d, axis=1) - d
        sums[:, index] = [part.sum(axis=1) for part in (d, v, before * v, d * v)]
    g = _gain_sums(gains, starts, tied)
    x, u = discounts * g.h, late * g.u
    above = scan_before(x, query, np.add)
    below = scan_before(u[::-1], -query[::-1], np.add)[::-1] + rest
    n = tied.astype(np.float64)
    inside = g.h * g.u - g.hu / np.maximum(n * (n - 1), 1.0)
    mean = own * g.h + pairs * inside + x * below
    part, var_x, var_u = np.zeros((3, len(query)))
    varied = np.flatnonzero((tied > 1) & (g.hh > 0))
    for chosen, width in batches(tied[varied]):
        index = varied[chosen]
        part[index], var_x[index], var_u[index] = _variances(
            index, width, tied, g, below=below, above=above, weights=weights
        )
    return mean, part + var_u * scan_before(var_x, query, np.add)


def _of_ranks(
    index: IntArray, width: int, tied: IntArray, weights: Callable[[IntArray, IntArray], tuple[FloatArray, FloatArray]]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return which ranks there are, and D and V of them, 0 beyond."""
    j = np.arange(1, width + 1)
    real = (j <= tied[index, None]).astype(np.float64)
    discount, late = weights(index, j)
    return real, discount * real, late * real


def _variances(
    index: IntArray,
    width: int,
    tied: IntArray,
    gains: GainSums,
    *,
    below: FloatArray,
    above: FloatArray,
    weights: Callable[[IntArray, IntArray], tuple[FloatArray, FloatArray]],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the variances of Y + below X + above U, of X and of U, of each tie."""
    real, d, v = _of_ranks(index, width, tied, weights)
    n = tied[index].astype(np.float64)
    g = GainSums(*(getattr(gains, name)[index] for name in GainSums.__dataclass_fields__))

    def centred(values: FloatArray) -> FloatArray:
        return (values - (values.sum(axis=1) / n)[:, None]) * real

    before, after = np.cumsum(d, axis=1) - d, np.cumsum(v[:, ::-1], axis=1)[:, ::-1] - v
    of_h = centred(d * v + below[index, None] * d + g.u[:, None] * d * after)
    of_u = centred(above[index, None] * v + g.h[:, None] * v * before)
    d_centred, v_centred = centred(d), centred(v)

    def dot(one: FloatArray, other: FloatArray) -> FloatArray:
        return (one * other).sum(axis=1)

    linear = dot(of_h, of_h) * g.hh + 2 * dot(of_h, of_u) * g.hu + dot(of_u, of_u) * g.uu
    either = d * after + v * before
    mixed = dot(of_h, either) * g.hhu + dot(of_u, either) * g.huu
    mixed = mixed / np.maximum(n - 2, 1.0)
    variance = linear / (n - 1) - 2 * mixed / (n - 1) + _pair_variance(d, v, before, after, n=n, g=g)
    return (
        np.maximum(variance, 0.0),
        dot(d_centred, d_centred) * g.hh / (n - 1),
        dot(v_centred, v_centred) * g.uu / (n - 1),
    )


def _pair_variance(
    d: FloatArray, v: FloatArray, before: FloatArray, after: FloatArray, *, n: FloatArray, g: GainSums
) -> FloatArray:
    """Return the variance of the sum of D V h u over pairs of ranks, h and u being deviations from their means."""
    before_squared = np.cumsum(d * d, axis=1) - d * d
    after_squared = np.cumsum((v * v)[:, ::-1], axis=1)[:, ::-1] - v * v
    pairs = (before * v).sum(axis=1)
    same = (before_squared * v * v).sum(axis=1)
    same_early = (d * d * (after * after - after_squared)).sum(axis=1)
    same_late = (v * v * (before * before - before_squared)).sum(axis=1)
    chain = (d * v * before * after).sum(axis=1)
    apart = pairs * pairs - same - same_early - same_late - 2 * chain
    two, three, four = (np.maximum(np.prod([n - taken for taken in range(size)], axis=0), 1.0) for size in (2, 3, 4))
    square = (
        same * (g.hh * g.uu - g.hhuu) / two
        + (same_early + same_late) * (2 * g.hhuu - g.hh * g.uu) / three
        + 2 * chain * (2 * g.hhuu - g.hu**2) / three
        + apart * (2 * g.hu**2 + g.hh * g.uu - 6 * g.hhuu) / four
    )
    return square - (pairs * g.hu / two) ** 2
