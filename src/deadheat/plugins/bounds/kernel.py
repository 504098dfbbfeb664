r"""Least and greatest values of one query over all labels of its unjudged documents, where more labels also cost.

A measure whose divisor grows with the number of relevant documents is not greatest if all unjudged documents are
relevant. In all of them the divisor depends only on *how many* are (X), not on which. So for each X the sum above it
is to be as large, or as small, as X documents can make it, and the ends are found among the U + 1 numbers.

* A sum to which each document adds its own amount (R, F, R-precision): those that add most, or least.
* AP: the highest X, or the lowest. Let a relevant document move up from rank b to a free rank a < b, with c relevant
  documents above a and m between them. It had (c + m + 1) / b and gets (c + 1) / a, which is larger by more than
  -m / b; each of the m gains 1 / rank > 1 / b. So the sum rises; in a tie this holds in every order, so for the mean.
* nDCG with labels of several gains: :mod:`deadheat.plugins.bounds.ndcg_ends`.
"""

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import divide_or_zero

Ends = tuple[float, float]


def _prefix(values: FloatArray) -> FloatArray:
    return np.concatenate(([0.0], np.cumsum(values)))


def ratio_ends(base: float, shares: FloatArray, divisor: FloatArray, allowed: slice) -> Ends:
    """Return the ends of a sum of the documents that are relevant, over a divisor that depends on their number.

    Parameters
    ----------
    base : float
        What the judged documents add.
    shares : ndarray of shape (n_unjudged,)
        What each unjudged document adds if it is relevant.
    divisor : ndarray of shape (n_unjudged + 1,)
        For each number of relevant unjudged documents; the value is 0 where it is 0.
    allowed : slice
        The numbers that can occur.
    """
    ordered = np.sort(shares)
    low, high = (base + _prefix(own) for own in (ordered, ordered[::-1]))
    return sum_ends(low, high, divisor, allowed)


def rprec_ends(  # noqa: PLR0917 - arrays that belong together
    judged: FloatArray,
    above: IntArray,
    tied: IntArray,
    count: IntArray,
    n_relevant: int,
    allowed: slice,
    *,
    n_lost: int = 0,
) -> Ends:
    """Return the ends of R-precision, whose cutoff is the number of relevant documents too.

    Parameters
    ----------
    judged : ndarray of shape (n_retrieved,)
        Expected relevant judged documents at each rank.
    above, tied, count : ndarray of shape (n_ties,)
        The ties with unjudged documents, and how many of these are in them.
    n_relevant : int
        Relevant judged documents, retrieved or not.
    allowed : slice
        The numbers of relevant unjudged documents that can occur.
    n_lost : int, default 0
        Unjudged documents that are not retrieved.
    """
    total = int(count.sum()) + n_lost
    x = np.arange(total + 1.0)
    cutoff = n_relevant + x
    base = _prefix(judged)[np.minimum(cutoff, len(judged)).astype(np.int64)]
    place = np.searchsorted(above + tied, cutoff, side="right")  # ties that are wholly inside
    inside = _prefix(count.astype(np.float64))[place]
    sizes, starts, ranks = (np.append(column, last) for column, last in ((count, 0), (above, 2**62), (tied, 1)))
    is_cut = starts[place] < cutoff
    cut = np.where(is_cut, sizes[place], 0)
    share = np.where(is_cut, (cutoff - starts[place]) / ranks[place], 0.0)
    outside = total - inside - cut
    high = np.minimum(x, inside) + share * np.clip(x - inside, 0, cut)
    low = share * np.clip(x - outside, 0, cut) + np.clip(x - outside - cut, 0, None)
    return sum_ends(base + low, base + high, cutoff, allowed)


def precision_sums(
    above: IntArray, tied: IntArray, inside: IntArray, *, relevant: IntArray, unjudged: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the least and the greatest mean sum of precisions (that AP divides) for each number of relevant unjudged.

    Parameters
    ----------
    above, tied, inside : ndarray of int, shape (n_ties,)
        Documents above a tie and in it, and how many of its ranks count.
    relevant, unjudged : ndarray of int, shape (n_ties,)
        Those in each tie.

    Returns
    -------
    low, high : ndarray of shape (n_unjudged + 1,)
        With the lowest documents relevant, and the highest.
    """
    if not len(above):  # nothing of it is retrieved
        return np.zeros(1), np.zeros(1)
    last = int((above + inside).max(initial=0))
    harmonic = _prefix(1 / np.arange(1.0, last + 1))
    inverse = harmonic[np.minimum(above + inside, last)] - harmonic[np.minimum(above, last)]
    full = relevant + unjudged
    x = np.arange(int(unjudged.sum()) + 1)

    def part(place: IntArray | slice, count: FloatArray | IntArray, before: FloatArray | IntArray) -> FloatArray:
        n, t = tied[place], above[place]
        slope = np.where(n > 1, (count - 1) / np.maximum(n - 1, 1), 0.0)
        return np.asarray(count / n * ((before + 1 - (t + 1) * slope) * inverse[place] + slope * inside[place]))

    every = slice(None)
    judged_before = np.cumsum(relevant) - relevant
    # from the top: ties above the one that is filled in part are full, and those below have X more above them
    filled = np.concatenate(([0], np.cumsum(unjudged)))
    place = np.minimum(np.searchsorted(filled, x, side="right") - 1, len(full) - 1)
    full_before = np.cumsum(full) - full
    before = _prefix(part(every, full, full_before))[place]
    plain, steep = part(every, relevant, judged_before), relevant / tied * inverse
    below, gained = (_suffix(column)[place + 1] for column in (plain, steep))
    high = before + part(place, relevant[place] + x - filled[place], full_before[place]) + below + x * gained
    # from the bottom: ties below are full
    left = filled[-1] - filled[1:]  # unjudged documents below each tie
    place = np.searchsorted(-left, -x)
    shifted = part(every, full, judged_before - left - unjudged)
    below, gained = (_suffix(column)[place + 1] for column in (shifted, full / tied * inverse))
    own = part(place, relevant[place] + x - left[place], judged_before[place])
    return _prefix(plain)[place] + own + below + x * gained, high


def _suffix(values: FloatArray) -> FloatArray:
    """Return sums from each place to the end, and 0 behind it."""
    return np.concatenate((np.cumsum(values[::-1])[::-1], [0.0]))


def sum_ends(low: FloatArray, high: FloatArray, divisor: FloatArray, allowed: slice) -> Ends:
    """Return the ends of sums for each number of relevant unjudged documents, over their divisors."""
    return float(divide_or_zero(low, divisor)[allowed].min()), float(divide_or_zero(high, divisor)[allowed].max())
