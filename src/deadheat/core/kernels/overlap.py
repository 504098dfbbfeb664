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
    mean_long_share : ndarray
        Mean share in the top d of the documents there that only the longer ranking has.
    most_added : ndarray
        The most that can be added to X_d below the end of the shorter ranking: it goes on to depth d with the first
        documents that only the longer one has.
    """

    shared: FloatArray
    divisor: FloatArray
    mean_long_share: FloatArray
    most_added: FloatArray


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
    n_unseen = np.maximum(depth - short, 0)  # documents that the shorter ranking would have had below its end
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
        extrapolated=sum_depths(sums.shared + n_unseen * agreement * sums.mean_long_share, tails.extrapolated),
        low=sum_depths(sums.shared, tails.low),
        high=sum_depths(sums.shared + sums.most_added, tails.high),
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
        mean_long_share=np.concatenate([block.mean_long_share for block in blocks]),
        most_added=np.concatenate([block.most_added for block in blocks]),
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
    is_only_in_long = (tied[0] == 0) & (tied[1] > 0)
    only_in_long = np.flatnonzero(is_only_in_long)
    by_rank = np.argsort(above[1, only_in_long], kind="stable")
    shares = long_shares[only_in_long[by_rank]]
    n_reached = (shares > 0).sum(axis=0)
    n_added = np.minimum(np.maximum(depth - short, 0), len(shares)).astype(np.int64)
    sums_of_first = np.vstack((np.zeros(len(depth)), np.cumsum(shares, axis=0)))  # of the first 0, 1, ... documents
    return DepthSums(
        shared=(short_shares * long_shares).sum(axis=0),
        divisor=_compute_divisor(short_shares, long_shares, depth, short, variant),
        mean_long_share=shares.sum(axis=0) / np.maximum(n_reached, 1),
        most_added=sums_of_first[n_added, np.arange(len(depth))],
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
    sum_below = -math.log1p(-p) - float((p**depth / depth).sum())  # of p^d / d over all depths d below the end
    most_shared = 2 * rising - long - short + shared
    return Overlap(
        extrapolated=extrapolated * p ** (long + 1) / (1 - p),
        low=shared * max(sum_below, 0.0),
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
    n_sure_in_both = int(is_sure.all(axis=0).sum())
    n_cut_in_both = int(is_cut.all(axis=0).sum())
    cut_ties: list[CutTie] = []
    for side, other in ((0, 1), (1, 0)):
        n_places = int(n_inside[side, is_cut[side]].max(initial=0))
        n_cut = int(is_cut[side].sum())
        n_sure_in_other = int((is_cut[side] & is_sure[other]).sum())
        n_outside_other = n_cut - n_sure_in_other - n_cut_in_both
        cut_ties.append(CutTie(n_places, n_sure_in_other, n_outside_other))
    low = n_sure_in_both + _count_fewest_shared(cut_ties, n_cut_in_both)
    high = n_sure_in_both + _count_most_shared(cut_ties, n_cut_in_both)
    return TopOverlap(mean / size, low / size, high / size)


@dataclass(frozen=True)
class CutTie:
    """The tie of a ranking that the cutoff cuts; all numbers are 0 if it cuts none.

    Attributes
    ----------
    n_places : int
        How many of its documents are in the top k, in every order.
    n_sure_in_other : int
        Its documents that the other ranking has in its top k in every order.
    n_outside_other : int
        Those that the other ranking has in its top k in no order. The rest are cut in both rankings.
    """

    n_places: int
    n_sure_in_other: int
    n_outside_other: int


def _count_most_shared(cut_ties: list[CutTie], n_cut_in_both: int) -> int:
    """Return how many documents of the two cut ties are shared at most.

    Each tie first takes documents that are sure in the other ranking. With the places that are left, both take the
    same documents.
    """
    n_shared = 0
    places_left = []
    for tie in cut_ties:
        n_sure_taken = min(tie.n_sure_in_other, tie.n_places)
        n_shared += n_sure_taken
        places_left.append(tie.n_places - n_sure_taken)
    return n_shared + min(n_cut_in_both, *places_left)


def _count_fewest_shared(cut_ties: list[CutTie], n_cut_in_both: int) -> int:
    """Return how many documents of the two cut ties are shared at least.

    Each tie first takes documents that are outside the other top k, then those that are cut in both, and last those
    that are sure in the other ranking, which are shared. Of those cut in both, the two ties take different ones, as
    long as there are enough.
    """
    n_shared = 0
    n_taken_of_cut = 0
    for tie in cut_ties:
        places_left = max(0, tie.n_places - tie.n_outside_other)
        n_taken = min(places_left, n_cut_in_both)
        n_taken_of_cut += n_taken
        n_shared += places_left - n_taken
    return n_shared + max(0, n_taken_of_cut - n_cut_in_both)
