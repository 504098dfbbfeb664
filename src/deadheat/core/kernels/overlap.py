r"""How many documents the tops of two rankings share, where both may have ties: rank-biased overlap, top k.

docs/math.md, section 13. A ranking is two arrays over the documents of both: how many are above each (`above`), and
how many share its score (`tied`, 0 for a document that it lacks). Means are over the orders of the ties of both, broken
independently.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import MAX_CELLS

Variant: TypeAlias = Literal["w", "a", "b"]
VARIANTS: tuple[Variant, ...] = ("w", "a", "b")
WEIGHT_EXPONENT = 41.5  # -ln(1e-18): depths of a smaller weight change nothing


@dataclass(frozen=True)
class Overlap:
    """Rank-biased overlap.

    Attributes
    ----------
    extrapolated : float
        As if both rankings went on to agree as they do so far.
    low, high : float
        If what is not seen agreed nowhere, or everywhere.
    """

    extrapolated: float
    low: float
    high: float


@dataclass(frozen=True)
class TopOverlap:
    """The share of the top k that two rankings have in common, over all orders of the ties."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class DepthSums:
    """Sums over documents at each depth, of shape (n_depths,).

    Attributes
    ----------
    shared : ndarray
        X_d: what both rankings have in their top d.
    divisor : ndarray
        What turns it into the agreement A_d.
    mean_share : ndarray
        Mean share in the top d of the documents there that the longer ranking alone has.
    best_surplus : ndarray
        What X_d would grow by if the shorter ranking went on with the first of these documents, to depth d.
    """

    shared: FloatArray
    divisor: FloatArray
    mean_share: FloatArray
    best_surplus: FloatArray


def share_in_top(above: IntArray, tied: IntArray, depth: FloatArray, variant: Variant) -> FloatArray:
    """Return how much of each document is in the top of some depths.

    Parameters
    ----------
    above, tied : ndarray of shape (n_docs,)
    depth : ndarray of shape (n_depths,)
    variant : {"w", "a", "b"}
        ``"w"`` has a whole tie as soon as a depth reaches it; the others have the probability of each document.

    Returns
    -------
    ndarray of shape (n_docs, n_depths)
    """
    n_reached = depth - above[:, None]
    if variant == "w":
        share = (n_reached > 0) * 1.0
    else:
        share = np.clip(n_reached / np.maximum(tied, 1)[:, None], 0.0, 1.0)
    is_ranked = tied[:, None] > 0
    return np.where(is_ranked, share, 0.0)


def rank_biased_overlap(above: IntArray, tied: IntArray, p: float, variant: Variant) -> Overlap:
    r"""Return the rank-biased overlap of two rankings with ties.

    .. math:: \text{RBO} = \frac{1 - p}{p} \sum_{d \ge 1} A_d\, p^d

    with the agreement :math:`A_d` of the top d. With the share c(e, d) of document e that is in the top d of a ranking
    and :math:`X_d = \sum_e c_1(e, d)\, c_2(e, d)`:

    * ``"w"``, ties as equality: c is 1 for a tie that d reaches, and :math:`A_d = 2 X_d / (\sum c_1 + \sum c_2)`.
    * ``"a"``, ties as doubt: c is a probability, and :math:`A_d = X_d / d`, the mean over orders. Where one ranking is
      longer, the depths between the two ends are extrapolated from such means, as the authors do it: that is not the
      mean of what each order would be extrapolated to.
    * ``"b"``, corrected for doubt as tau-b is: :math:`A_d = X_d / \sqrt{\sum c_1^2 \sum c_2^2}`, so that a ranking
      agrees with itself.

    Parameters
    ----------
    above, tied : ndarray of shape (2, n_docs)
        Of the documents that either ranking has.
    p : float
        Between 0 and 1.
    variant : {"w", "a", "b"}

    References
    ----------
    Corsi and Urbano 2024, https://doi.org/10.1145/3626772.3657700; without ties: Webber, Moffat and Zobel 2010,
    https://doi.org/10.1145/1852102.1852106.
    """
    lengths = (tied > 0).sum(axis=1)
    shorter_first = np.argsort(lengths, kind="stable")
    above, tied = above[shorter_first], tied[shorter_first]
    short, long = lengths[shorter_first].tolist()
    n_depths = min(long, math.ceil(WEIGHT_EXPONENT / -math.log(p)) + 1)
    depth = np.arange(1.0, n_depths + 1)
    surplus = np.maximum(depth - short, 0)  # ranks of the longer ranking below the end of the shorter one
    sums = _sum_all_depths(above, tied, depth, short, variant)
    end = min(short, n_depths) - 1
    agreement = sums.shared[end] / sums.divisor[end]  # at the end of the shorter ranking
    tails = Overlap(0.0, 0.0, 0.0)
    if n_depths == long:
        tails = _sum_tails(float(sums.shared[-1]), short, long, float(agreement), p)
    weights = p**depth

    def sum_depths(shared: FloatArray, tail: float) -> float:
        total = float((shared / sums.divisor * weights).sum() + tail)
        return min((1 - p) / p * total, 1.0)  # rounding leaves a little more than 1

    return Overlap(
        extrapolated=sum_depths(sums.shared + surplus * agreement * sums.mean_share, tails.extrapolated),
        low=sum_depths(sums.shared, tails.low),
        high=sum_depths(sums.shared + sums.best_surplus, tails.high),
    )


def _sum_all_depths(above: IntArray, tied: IntArray, depth: FloatArray, short: int, variant: Variant) -> DepthSums:
    """Return the sums at all depths, some depths at a time: a matrix of documents by depths stays small."""
    width = max(1, MAX_CELLS // max(1, above.shape[1]))
    blocks = []
    for start in range(0, len(depth), width):
        blocks.append(_sum_depths(above, tied, depth[start : start + width], short, variant))
    return DepthSums(
        shared=np.concatenate([block.shared for block in blocks]),
        divisor=np.concatenate([block.divisor for block in blocks]),
        mean_share=np.concatenate([block.mean_share for block in blocks]),
        best_surplus=np.concatenate([block.best_surplus for block in blocks]),
    )


def _sum_depths(above: IntArray, tied: IntArray, depth: FloatArray, short: int, variant: Variant) -> DepthSums:
    """Return the sums at some depths.

    Parameters
    ----------
    above, tied : ndarray of shape (2, n_docs)
        The shorter ranking first.
    depth : ndarray of shape (n_depths,)
    short : int
        Length of the shorter ranking.
    variant : {"w", "a", "b"}
    """
    is_reached = ((above < depth[-1]) & (tied > 0)).any(axis=0)
    above, tied = above[:, is_reached], tied[:, is_reached]
    short_shares = share_in_top(above[0], tied[0], depth, variant)
    long_shares = share_in_top(above[1], tied[1], depth, variant)
    is_missing = (tied[0] == 0) & (tied[1] > 0)
    missing = np.flatnonzero(is_missing)  # documents of the longer ranking alone, by rank
    missing = missing[np.argsort(above[1, missing], kind="stable")]
    missing_shares = long_shares[missing]
    n_missing_reached = (missing_shares > 0).sum(axis=0)
    n_unseen = np.minimum(np.maximum(depth - short, 0), len(missing)).astype(np.int64)
    best_sums = np.vstack((np.zeros(len(depth)), np.cumsum(missing_shares, axis=0)))
    return DepthSums(
        shared=(short_shares * long_shares).sum(axis=0),
        divisor=_compute_divisor(short_shares, long_shares, depth, short, variant),
        mean_share=missing_shares.sum(axis=0) / np.maximum(n_missing_reached, 1),
        best_surplus=best_sums[n_unseen, np.arange(len(depth))],
    )


def _compute_divisor(
    short_shares: FloatArray, long_shares: FloatArray, depth: FloatArray, short: int, variant: Variant
) -> FloatArray:
    """Return what the shared documents of each depth are divided by; below its end the shorter ranking has no ties."""
    if variant == "a":
        return depth
    is_in_short = depth <= short
    if variant == "w":
        return (np.where(is_in_short, short_shares.sum(axis=0), depth) + long_shares.sum(axis=0)) / 2
    short_squares = np.where(is_in_short, (short_shares**2).sum(axis=0), depth)
    return np.sqrt(short_squares) * np.sqrt((long_shares**2).sum(axis=0))


def _sum_tails(shared: float, short: int, long: int, agreement: float, p: float) -> Overlap:
    """Return the sums of A_d p^d over the depths below both rankings.

    Parameters
    ----------
    shared : float
        X_d at the end of the longer ranking.
    short, long : int
        Lengths of the rankings.
    agreement : float
        A_d at the end of the shorter one.
    p : float
    """
    depth = np.arange(1.0, long + 1)
    full_depth = long + short - round(shared)  # from here on, both can hold the same documents
    rising = np.arange(long + 1.0, full_depth + 1)
    extrapolated = (shared + (long - short) * agreement) / long
    sum_of_powers_over_depth = -math.log1p(-p) - float((p**depth / depth).sum())
    most_shared = 2 * rising - long - short + shared
    return Overlap(
        extrapolated=extrapolated * p ** (long + 1) / (1 - p),
        low=shared * max(sum_of_powers_over_depth, 0.0),
        high=float((most_shared / rising * p**rising).sum()) + p ** (full_depth + 1) / (1 - p),
    )


def top_overlap(above: IntArray, tied: IntArray, k: int) -> TopOverlap:
    """Return the share of the top k that two rankings have in common: of k, or of the longer ranking if that is less.

    Parameters
    ----------
    above, tied : ndarray of shape (2, n_docs)
    k : int
    """
    n_inside = np.clip(k - above, 0, tied)
    size = min(k, int((tied > 0).sum(axis=1).max()))
    probability = n_inside / np.maximum(tied, 1)
    mean = float(probability.prod(axis=0).sum())
    is_sure = (n_inside == tied) & (tied > 0)
    is_cut = (n_inside > 0) & (n_inside < tied)
    n_sure = int(is_sure.all(axis=0).sum())
    n_cut_in_both = int(is_cut.all(axis=0).sum())
    low, high = n_sure, n_sure
    n_free, n_both_needed = [], []  # by ranking
    for side, other in ((0, 1), (1, 0)):
        n_places = int(n_inside[side, is_cut[side]].max(initial=0))  # that the cut tie fills
        n_cut = int(is_cut[side].sum())
        n_sure_in_other = int((is_cut[side] & is_sure[other]).sum())
        n_in_neither = n_cut - n_sure_in_other - n_cut_in_both
        n_sure_taken = min(n_sure_in_other, n_places)
        high += n_sure_taken
        n_free.append(n_places - n_sure_taken)
        n_needed = max(0, n_places - n_in_neither)  # places that documents outside the other top k cannot fill
        n_both_needed.append(min(n_needed, n_cut_in_both))
        low += n_needed - n_both_needed[side]  # these are sure in the other ranking
    high += min(n_cut_in_both, *n_free)
    low += max(0, sum(n_both_needed) - n_cut_in_both)
    return TopOverlap(mean / size, low / size, high / size)
