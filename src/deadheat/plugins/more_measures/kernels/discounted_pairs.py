r"""A discounted gain taken at every gaining document (nDCGRel), where a rank counts with those above it.

.. math:: M = \sum_{i \le j} D_i V_j\, h_i u_j + \kappa \sum_i D_i h_i

h is the gain of a document, u is 1 where it is positive, else 0. docs/math.md derives the moments in section 8. For
each tie,

.. math:: X = \sum_i D_i h_i, \quad U = \sum_j V_j u_j, \quad Y = \sum_{i \le j} D_i V_j h_i u_j.

The parts of ties are not independent, but their deviations are uncorrelated: the variance is that of
:math:`Y + \alpha X + \beta U` of each tie, plus Var X times Var U of each pair of ties. Inside a tie, h and u are split
into their means and deviations h' and u', whose sums are 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import batches, scan_before, segment_sums

# `weights(index, j)`: D and V of ranks j (1-based inside the tie) of the ties `index`, each of shape (b, w)
Weights: TypeAlias = Callable[[IntArray, IntArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class GainSums:
    """Means of gains, and sums of products of deviations, over the documents of each tie, of shape (n_ties,).

    Attributes
    ----------
    h, u : ndarray
        Means of the gains, and of the indicator of a positive gain.
    hh, hu, uu, hhu, huu, hhuu : ndarray
        Sums of h'h', h'u' and so on.
    """

    h: FloatArray
    u: FloatArray
    hh: FloatArray
    hu: FloatArray
    uu: FloatArray
    hhu: FloatArray
    huu: FloatArray
    hhuu: FloatArray

    def select(self, index: IntArray) -> "GainSums":
        """Return the sums of some ties."""
        return GainSums(
            h=self.h[index],
            u=self.u[index],
            hh=self.hh[index],
            hu=self.hu[index],
            uu=self.uu[index],
            hhu=self.hhu[index],
            huu=self.huu[index],
            hhuu=self.hhuu[index],
        )


@dataclass(frozen=True)
class RankWeights:
    """Weights of the ranks of some ties, of shape (b, w), 0 beyond the end of a tie.

    Attributes
    ----------
    is_rank : ndarray
        1 for a rank of the tie, 0 beyond.
    d, v : ndarray
        D and V.
    before, after : ndarray
        Sum of D over the ranks of the tie above, and of V over those below.
    """

    is_rank: FloatArray
    d: FloatArray
    v: FloatArray
    before: FloatArray
    after: FloatArray

    @classmethod
    def of_ties(cls, index: IntArray, width: int, tied: IntArray, weights: Weights) -> "RankWeights":
        """Return the weights of the first `width` ranks of the ties `index`."""
        j = np.arange(1, width + 1)
        is_rank = (j <= tied[index, None]).astype(np.float64)
        d, v = weights(index, j)
        d, v = d * is_rank, v * is_rank
        return cls(is_rank, d, v, before=np.cumsum(d, axis=1) - d, after=_sum_after(v))


@dataclass(frozen=True)
class TieVariances:
    """Variances of some ties, of shape (b,).

    Attributes
    ----------
    part : ndarray
        Of Y + alpha X + beta U.
    x, u : ndarray
        Of X and U.
    """

    part: FloatArray
    x: FloatArray
    u: FloatArray


def moments(
    query: IntArray,
    tied: IntArray,
    gains: FloatArray,
    starts: IntArray,
    *,
    rest: FloatArray,
    weights: Weights,
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
        kappa of the tie's query.
    weights : callable
        ``weights(index, j)`` gives D and V of ranks j (1-based) of the ties `index`, each of shape (b, w).

    Returns
    -------
    mean, variance : ndarray of shape (n_ties,)
    """
    d_sum, v_sum, pair_sum, same_sum = np.zeros((4, len(query)))
    for index, width in batches(tied):
        ranks = RankWeights.of_ties(index, width, tied, weights)
        d_sum[index] = ranks.d.sum(axis=1)
        v_sum[index] = ranks.v.sum(axis=1)
        pair_sum[index] = (ranks.before * ranks.v).sum(axis=1)
        same_sum[index] = (ranks.d * ranks.v).sum(axis=1)
    sums = _sum_gains(gains, starts, tied)
    x, u = d_sum * sums.h, v_sum * sums.u  # means of X and U
    alpha = scan_before(u[::-1], -query[::-1], np.add)[::-1] + rest
    beta = scan_before(x, query, np.add)
    n = tied.astype(np.float64)
    mean_of_pair = sums.h * sums.u - sums.hu / np.maximum(n * (n - 1), 1.0)
    mean = same_sum * sums.h + pair_sum * mean_of_pair + x * alpha
    part, x_variance, u_variance = np.zeros((3, len(query)))
    varied = np.flatnonzero((tied > 1) & (sums.hh > 0))
    for chosen, width in batches(tied[varied]):
        index = varied[chosen]
        ranks = RankWeights.of_ties(index, width, tied, weights)
        variances = _find_variances(ranks, n[index], sums.select(index), alpha[index], beta[index])
        part[index], x_variance[index], u_variance[index] = variances.part, variances.x, variances.u
    return mean, part + u_variance * scan_before(x_variance, query, np.add)


def _sum_gains(gains: FloatArray, starts: IntArray, tied: IntArray) -> GainSums:
    """Return the sums over the documents of each tie; parameters as for :func:`moments`."""
    sizes = np.diff(np.append(starts, len(gains)))
    is_positive = (gains > 0).astype(np.float64)
    h_mean, u_mean = segment_sums(gains, starts) / tied, segment_sums(is_positive, starts) / tied
    h = gains - np.repeat(h_mean, sizes)
    u = is_positive - np.repeat(u_mean, sizes)

    def sum_products(h_power: int, u_power: int) -> FloatArray:
        known = segment_sums(h**h_power * u**u_power, starts)
        unknown = (tied - sizes) * (-h_mean) ** h_power * (-u_mean) ** u_power
        return known + unknown

    return GainSums(
        h=h_mean,
        u=u_mean,
        hh=sum_products(2, 0),
        hu=sum_products(1, 1),
        uu=sum_products(0, 2),
        hhu=sum_products(2, 1),
        huu=sum_products(1, 2),
        hhuu=sum_products(2, 2),
    )


def _find_variances(
    ranks: RankWeights, n: FloatArray, sums: GainSums, alpha: FloatArray, beta: FloatArray
) -> TieVariances:
    """Return the variances of some ties; all arrays but those of `ranks` are of shape (b,).

    c and e are the weights of h' and u' in the linear part, and f those of the pairs of a rank (section 8).
    """
    d, v = ranks.d, ranks.v

    def centre(values: FloatArray) -> FloatArray:
        return (values - (values.sum(axis=1) / n)[:, None]) * ranks.is_rank

    c = centre(d * v + alpha[:, None] * d + sums.u[:, None] * d * ranks.after)
    e = centre(beta[:, None] * v + sums.h[:, None] * v * ranks.before)
    f = d * ranks.after + v * ranks.before
    linear = _dot(c, c) * sums.hh + 2 * _dot(c, e) * sums.hu + _dot(e, e) * sums.uu
    mixed = (_dot(c, f) * sums.hhu + _dot(e, f) * sums.huu) / np.maximum(n - 2, 1.0)
    variance = linear / (n - 1) - 2 * mixed / (n - 1) + _find_pair_variance(ranks, n, sums)
    d_centred, v_centred = centre(d), centre(v)
    return TieVariances(
        part=np.maximum(variance, 0.0),
        x=_dot(d_centred, d_centred) * sums.hh / (n - 1),
        u=_dot(v_centred, v_centred) * sums.uu / (n - 1),
    )


def _find_pair_variance(ranks: RankWeights, n: FloatArray, sums: GainSums) -> FloatArray:
    """Return the variance of the sum of D V h' u' over the pairs of ranks, of shape (b,).

    The patterns are those of section 6, their sums over documents those of section 8.
    """
    d, v, before, after = ranks.d, ranks.v, ranks.before, ranks.after
    before_squares = np.cumsum(d * d, axis=1) - d * d
    after_squares = _sum_after(v * v)
    pairs = (before * v).sum(axis=1)
    same = (before_squares * v * v).sum(axis=1)
    same_early = (d * d * (after * after - after_squares)).sum(axis=1)
    same_late = (v * v * (before * before - before_squares)).sum(axis=1)
    chain = (d * v * before * after).sum(axis=1)
    apart = pairs * pairs - same - same_early - same_late - 2 * chain

    hh_uu, hu_hu, hhuu = sums.hh * sums.uu, sums.hu**2, sums.hhuu
    n2 = np.maximum(n * (n - 1), 1.0)
    n3 = np.maximum(n * (n - 1) * (n - 2), 1.0)
    n4 = np.maximum(n * (n - 1) * (n - 2) * (n - 3), 1.0)
    second = same * (hh_uu - hhuu) / n2
    second = second + (same_early + same_late) * (2 * hhuu - hh_uu) / n3
    second = second + 2 * chain * (2 * hhuu - hu_hu) / n3
    second = second + apart * (2 * hu_hu + hh_uu - 6 * hhuu) / n4
    mean = pairs * sums.hu / n2
    return second - mean**2


def _sum_after(values: FloatArray) -> FloatArray:
    """Return, for each rank, the sum over the ranks below it."""
    return np.cumsum(values[:, ::-1], axis=1)[:, ::-1] - values


def _dot(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the sum of products of each row."""
    return (first * second).sum(axis=1)
