r"""How far two rankings of one query agree, where both may have ties: tau, tau-AP, rank-biased overlap, top k.

A ranking is given by two arrays over the documents of both: how many are above each (`above`), and how many share its
score (`tied`, 0 for a document that it lacks). Means are over the orders of the ties of both, broken independently.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import MAX_CELLS

Variant: TypeAlias = Literal["w", "a", "b"]
VARIANTS: tuple[Variant, ...] = ("w", "a", "b")
FEW_DOCUMENTS = 256  # of which all pairs are looked at
NEGLIGIBLE = 41.5  # -ln(1e-18): ranks of a weight below it change nothing


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


def tau(first: IntArray, second: IntArray) -> tuple[float, float]:
    """Return Kendall's tau-b, and the mean of tau over the orders of the ties.

    A tied pair is as often in one order as in the other, so its mean part is 0, and the mean tau is (C - D) over all
    pairs, with C pairs in the same order and D in opposite ones. tau-b divides by the pairs that do not tie instead:
    the geometric mean of their numbers in both rankings.

    Parameters
    ----------
    first, second : ndarray of shape (n,)
        Documents above each of those that both rankings have.

    Returns
    -------
    tau_b, mean : float
        NaN if there is no pair, for tau-b also if all documents of a ranking tie.

    References
    ----------
    Kendall 1945, https://doi.org/10.1093/biomet/33.3.239.
    """
    n = len(first)
    if n < 2:
        return math.nan, math.nan
    n_pairs = n * (n - 1) / 2
    ordered = [n_pairs - _n_tied_pairs(own) for own in (first, second)]
    balance = 2 * _n_in_order(first, second).sum() - ordered[0]  # a tie of the second alone is a half on either side
    free = math.sqrt(ordered[0] * ordered[1])  # one root: of a square it is exact, so that equal rankings have 1
    return (float(balance / free) if free else math.nan), float(balance / n_pairs)


def n_swapped_pairs(first: IntArray, second: IntArray) -> int:
    """Return how many pairs of documents two rankings have in opposite orders.

    Parameters
    ----------
    first, second : ndarray of shape (n,)
        Documents above each of those that both rankings have.

    Examples
    --------
    >>> n_swapped_pairs(np.array([0, 1, 2]), np.array([1, 0, 2])), n_swapped_pairs(np.array([0, 1]), np.array([0, 0]))
    (1, 0)
    """
    n = len(first)
    n_above, n_tied = _order_of_pairs(first, second)
    n_ordered = n * (n - 1) // 2 - _n_tied_pairs(first)
    return int(n_ordered - n_above.sum() - n_tied.sum())


def _n_tied_pairs(ranking: IntArray) -> int:
    sizes = np.unique(ranking, return_counts=True)[1]
    return int((sizes * (sizes - 1) // 2).sum())


def _n_in_order(first: IntArray, second: IntArray) -> FloatArray:
    """Return, for each document, how many that are above it in the first ranking are so in the second, ties as 1/2."""
    n_above, n_tied = _order_of_pairs(first, second)
    return n_above + 0.5 * n_tied


def _order_of_pairs(first: IntArray, second: IntArray) -> tuple[IntArray, IntArray]:
    """Return, for each document, how many that are above it in the first ranking are above it, or tied, in the second.

    Of few documents all pairs are looked at; more are sorted, which takes n log n.
    """
    if len(first) <= FEW_DOCUMENTS:
        is_above = first[None, :] < first[:, None]
        n_above = (is_above & (second[None, :] < second[:, None])).sum(axis=1)
        n_tied = (is_above & (second[None, :] == second[:, None])).sum(axis=1)
        return n_above, n_tied
    n_above, n_tied = np.zeros((2, len(first)), np.int64)
    # what ties in the first ranking comes from the last to the first of the second: none is above one behind it
    order = np.lexsort((-second, first))
    n_above[order] = _n_smaller_before(second[order])
    order = np.lexsort((first, second))
    n_tied[order] = _n_with_smaller(second[order], first[order])
    return n_above, n_tied


def _n_smaller_before(values: IntArray) -> IntArray:
    """Return, for each place, how many places before it have a smaller value.

    As a merge sort finds it: blocks of places are merged two by two, and in each pair every value of the right block
    has, before it in the merged order, the smaller ones of the left block.
    """
    places = np.arange(len(values))
    found = np.zeros(len(values), np.int64)
    width = 1
    while width < len(values):
        pair = places // (2 * width)
        is_left = (places // width) % 2 == 0
        merged = np.lexsort((is_left, values, pair))  # of equal values those of the right block come first
        n_left = np.cumsum(is_left[merged]) - width * pair[merged]  # all blocks before are whole
        is_right = ~is_left[merged]
        found[merged[is_right]] += n_left[is_right]
        width *= 2
    return found


def _n_with_smaller(groups: IntArray, values: IntArray) -> IntArray:
    """Return, for each place, how many places of its group have a smaller value; groups and values are in order."""
    places = np.arange(len(values))
    is_new_group = np.diff(groups, prepend=groups[0] - 1) != 0
    is_new = is_new_group | (np.diff(values, prepend=values[0]) != 0)
    start_of_group = np.maximum.accumulate(np.where(is_new_group, places, 0))
    start_of_value = np.maximum.accumulate(np.where(is_new, places, 0))
    return start_of_value - start_of_group


def tau_ap(first: IntArray, second: IntArray) -> float:
    r"""Return the mean over tie orders of tau-AP of the second ranking, with the first one as the reference.

    .. math:: \tau_{AP} = \frac{2}{n - 1} \sum_{i=2}^{n} \frac{C_i}{i - 1} - 1

    with :math:`C_i` of the documents above rank i of the second ranking also above that document in the first. In a tie
    of m documents of the second ranking, of which t are above, the document at rank t + j has j - 1 of the tie above
    it, each in the right order with probability 1/2 on average over the tie; and of the t, the mean of the tie.

    Parameters
    ----------
    first, second : ndarray of shape (n,)
        Documents above each of those that both rankings have.

    References
    ----------
    Yilmaz, Aslam and Robertson 2008, https://doi.org/10.1145/1390334.1390435; means over ties: Urbano and Marrero 2017,
    https://doi.org/10.1145/3121050.3121106.
    """
    n = len(first)
    if n < 2:
        return math.nan
    order = np.argsort(second, kind="stable")
    first, second = first[order], second[order]
    starts = np.flatnonzero(np.diff(second, prepend=-1))
    sizes = np.diff(np.append(starts, n))
    of_tie = np.add.reduceat(_n_in_order(second, first), starts) / sizes  # no tie is empty
    rank_above = np.arange(n)
    within = rank_above - np.repeat(starts, sizes)
    parts = (np.repeat(of_tie, sizes) + within / 2)[1:] / rank_above[1:]
    return float(2 * parts.sum() / (n - 1) - 1)


def presence(above: IntArray, tied: IntArray, depth: FloatArray, variant: Variant) -> FloatArray:
    """Return how much of each document is in the top of some depths.

    Parameters
    ----------
    above, tied : ndarray of shape (n_docs,)
    depth : ndarray of shape (n_depths,)
    variant : {"w", "a", "b"}
        ``"w"`` has a tie whole as soon as a depth reaches it; the others have the probability of each document.

    Returns
    -------
    ndarray of shape (n_docs, n_depths)
    """
    reached = depth - above[:, None]
    share = (reached > 0) * 1.0 if variant == "w" else np.clip(reached / np.maximum(tied, 1)[:, None], 0.0, 1.0)
    return np.where(tied[:, None] > 0, share, 0.0)


def rank_biased_overlap(above: IntArray, tied: IntArray, p: float, variant: Variant) -> Overlap:
    r"""Return the rank-biased overlap of two rankings with ties.

    .. math:: \text{RBO} = \frac{1 - p}{p} \sum_{d \ge 1} A_d\, p^d

    with the agreement :math:`A_d` of the top d. With the share c(e, d) of document e that is in the top d of a ranking
    and :math:`X_d = \sum_e c_1(e, d)\, c_2(e, d)`:

    * ``"w"``, ties as equality: c is 1 for a tie that d reaches, and :math:`A_d = 2 X_d / (\sum c_1 + \sum c_2)`.
    * ``"a"``, ties as doubt: c is a probability, and :math:`A_d = X_d / d`, the mean over orders. Where one ranking is
      longer, what lies between the two ends is extrapolated from such means, as the authors do it: that is not the
      mean of what each order would be extrapolated to.
    * ``"b"``, doubt that is corrected for, as tau-b does: :math:`A_d = X_d / \sqrt{\sum c_1^2 \sum c_2^2}`, so that a
      ranking agrees with itself.

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
    order = np.argsort(lengths, kind="stable")
    (s, length), above, tied = lengths[order].tolist(), above[order], tied[order]
    n_ranks = min(length, math.ceil(NEGLIGIBLE / -math.log(p)) + 1)
    depth = np.arange(1.0, n_ranks + 1)
    surplus = np.maximum(depth - s, 0)
    width = max(1, MAX_CELLS // max(1, above.shape[1]))
    blocks = (slice(start, start + width) for start in range(0, n_ranks, width))
    parts = [_seen(above, tied, depth[own], surplus[own], s, variant) for own in blocks]
    seen, divisor, mean_share, best = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    agreement = seen[min(s, n_ranks) - 1] / divisor[min(s, n_ranks) - 1]
    each = {
        "extrapolated": seen + surplus * agreement * mean_share,
        "low": seen,
        "high": seen + best,
    }
    tails = _tails(float(seen[-1]), s, length, float(agreement), p) if n_ranks == length else dict.fromkeys(each, 0.0)
    weights = p**depth
    return Overlap(  # rounding leaves a little more than 1
        **{
            name: min((1 - p) / p * float((one / divisor * weights).sum() + tails[name]), 1.0)
            for name, one in each.items()
        }
    )


def _seen(  # noqa: PLR0917 - of one pair of rankings
    above: IntArray, tied: IntArray, depth: FloatArray, surplus: FloatArray, s: int, variant: Variant
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return what is shared at some depths, its divisor, and mean and best share of what the longer ranking adds."""
    near = ((above < depth[-1]) & (tied > 0)).any(axis=0)  # others are below these depths in both
    above, tied = above[:, near], tied[:, near]
    shares = [presence(above[side], tied[side], depth, variant) for side in (0, 1)]
    return (
        (shares[0] * shares[1]).sum(axis=0),
        _divisor(shares, depth, s, variant),
        *_of_surplus(above, tied, shares[1], surplus),
    )


def _divisor(shares: list[FloatArray], depth: FloatArray, s: int, variant: Variant) -> FloatArray:
    """Return what the shared documents of each depth are divided by; below its end the shorter ranking has no ties."""
    if variant == "a":
        return depth
    if variant == "w":
        shorter, longer = (share.sum(axis=0) for share in shares)
        return (np.where(depth <= s, shorter, depth) + longer) / 2
    shorter, longer = ((share**2).sum(axis=0) for share in shares)
    return np.sqrt(np.where(depth <= s, shorter, depth)) * np.sqrt(longer)


def _of_surplus(
    above: IntArray, tied: IntArray, longer: FloatArray, surplus: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return, of documents that the longer ranking alone has, the mean share and that of the first `surplus` ones."""
    own = np.flatnonzero((tied[1] > 0) & (tied[0] == 0))
    own = own[np.argsort(above[1, own], kind="stable")]
    shares = longer[own]
    mean = shares.sum(axis=0) / np.maximum((shares > 0).sum(axis=0), 1)
    best = np.vstack((np.zeros(len(surplus)), np.cumsum(shares, axis=0)))
    place = np.minimum(surplus, len(own)).astype(np.int64)
    return mean, best[place, np.arange(len(surplus))]


def _tails(seen: float, s: int, length: int, agreement: float, p: float) -> dict[str, float]:
    """Return the sums over the depths below both rankings."""
    depth = np.arange(1.0, length + 1)
    full = length + s - round(seen)  # depth at which both can hold the same documents
    rising = np.arange(length + 1.0, full + 1)
    return {
        "extrapolated": (seen + (length - s) * agreement) / length * p ** (length + 1) / (1 - p),
        "low": seen * max(-math.log1p(-p) - float((p**depth / depth).sum()), 0.0),
        "high": float(((2 * rising - length - s + seen) / rising * p**rising).sum()) + p ** (full + 1) / (1 - p),
    }


def top_overlap(above: IntArray, tied: IntArray, k: int) -> tuple[float, float, float]:
    """Return the mean, smallest and largest share of the top k that two rankings have in common.

    The share is of k, or of the length of the longer ranking if that is less.

    Parameters
    ----------
    above, tied : ndarray of shape (2, n_docs)
    k : int

    Returns
    -------
    mean, low, high : float
        Over all orders of the ties.
    """
    inside = np.clip(k - above, 0, tied)
    size = min(k, int((tied > 0).sum(axis=1).max()))
    mean = float((inside / np.maximum(tied, 1)).prod(axis=0).sum())
    is_sure, is_cut = (inside == tied) & (tied > 0), (inside > 0) & (inside < tied)
    places = [int(inside[side, is_cut[side]].max(initial=0)) for side in (0, 1)]
    sure = int(is_sure.all(axis=0).sum())
    with_sure = [int((is_cut[side] & is_sure[1 - side]).sum()) for side in (0, 1)]
    with_cut = int(is_cut.all(axis=0).sum())
    taken = [min(own, place) for own, place in zip(with_sure, places, strict=True)]
    left = [place - own for place, own in zip(places, taken, strict=True)]
    high = sure + sum(taken) + min(with_cut, *left)
    need = [  # places that documents without a partner in the other top k cannot fill
        max(0, places[side] - (int(is_cut[side].sum()) - with_sure[side] - with_cut)) for side in (0, 1)
    ]
    shared = [min(own, with_cut) for own in need]
    low = sure + sum(need) - sum(shared) + max(0, sum(shared) - with_cut)
    return mean / size, low / size, high / size
