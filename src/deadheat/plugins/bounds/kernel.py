r"""Least and greatest values of one query over all labels of its unjudged documents, where more labels also cost.

A measure whose divisor grows with the number of relevant documents is not greatest if all unjudged documents are
relevant. In all of them the divisor depends only on *how many* are (X), not on which. So for each X the sum above it
is to be as large, or as small, as X documents can make it, and the ends are found among the U + 1 numbers.

* A sum to which each document adds its own amount (R, F, R-precision): those that add most, or least.
* AP: the highest X, or the lowest. Let a relevant document move up from rank b to a free rank a < b, with c relevant
  documents above a and m between them. It had (c + m + 1) / b and gets (c + 1) / a, which is larger by more than
  -m / b; each of the m gains 1 / rank > 1 / b. So the sum rises; in a tie this holds in every order, so for the mean.
* nDCG with labels of several gains: :func:`ndcg_ends`.
"""

from dataclasses import dataclass

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


def ndcg_ends(
    base: float, weights: FloatArray, judged: FloatArray, attainable: FloatArray, discounts: FloatArray
) -> Ends:
    r"""Return the ends of nDCG, or of a difference of two, over all gains of unjudged documents.

    The numerator N is linear in the gains, the ideal D convex. Of a difference both have the same ideal, and N is the
    difference of two sums: a document weighs as much as its weights in the two differ, which may be below 0.

    A greatest value c that is 0 or more makes the maximum of N - cD, which is concave, zero (Dinkelbach). Both are sums
    over the levels of gain: what a level adds depends only on how many documents reach it, so that numbers
    X_1 >= X_2 >= ... are sought, each for the documents of the highest weights: one pass over the levels. Between two
    neighbouring judged gains all levels have the same best number: no other gains need to be tried. Documents of a
    weight below 0 have no gain.

    Where no gains make N as large as 0, c is below 0 and N - cD convex. So the value is greatest at a corner: some
    documents have the highest gain and others none; for each number of them, those of the highest weights.

    The least value is that of the other sign turned round.

    Parameters
    ----------
    base : float
        The DCG of the judged documents, a mean over ties; of a difference, that of one run less that of the other.
    weights : ndarray of shape (n_unjudged,)
        The mean discount of each unjudged document, or its difference.
    judged : ndarray of shape (n_judged,)
        The gains of all judgments.
    attainable : ndarray of shape (n_levels,)
        The gains above 0 that a label can have and that are tried, ascending.
    discounts : ndarray of shape (n_ranks,)
        Of the ranks of the ideal.
    """
    ideal = _IdealLevels.of(judged, attainable, discounts)
    low = -_greatest_ndcg(-base, -weights, ideal)
    high = _greatest_ndcg(base, weights, ideal)
    return min(low, high), high


@dataclass(frozen=True)
class _IdealLevels:
    """The ideal DCG as a sum over levels of gain.

    Attributes
    ----------
    attainable : ndarray of shape (n_attainable,)
        The gains above 0 that a label can have, ascending.
    heights : ndarray of shape (n_levels,)
        How far each level of gain, judged or attainable, is above the one before.
    reached : ndarray of int, shape (n_levels,)
        The judgments that reach each level.
    needed : ndarray of int, shape (n_levels,)
        The lowest attainable gain that reaches each level, by its place; their number where none does.
    sums : ndarray of shape (n_ranks + 1,)
        Sums of the first discounts.
    """

    attainable: FloatArray
    heights: FloatArray
    reached: IntArray
    needed: IntArray
    sums: FloatArray

    @classmethod
    def of(cls, judged: FloatArray, attainable: FloatArray, discounts: FloatArray) -> "_IdealLevels":
        levels = np.unique(np.concatenate((judged[judged > 0], attainable)))
        return cls(
            attainable=attainable,
            heights=np.diff(levels, prepend=0.0),
            reached=(judged >= levels[:, None]).sum(axis=1),
            needed=np.searchsorted(attainable, levels),
            sums=_prefix(discounts),
        )

    def part(self, level: int, numbers: IntArray | int) -> FloatArray:
        """Return what a level adds to the ideal where so many unjudged documents reach it."""
        n_documents = np.minimum(self.reached[level] + numbers, len(self.sums) - 1)
        return np.asarray(self.heights[level] * self.sums[n_documents])

    def is_attainable(self, level: int) -> bool:
        """Return whether a label reaches a level."""
        return bool(self.needed[level] < len(self.attainable))

    def with_top_gains(self, numbers: IntArray) -> FloatArray:
        """Return the ideal where so many unjudged documents have the highest attainable gain, and others none."""
        total = np.zeros(len(numbers))
        for level in range(len(self.heights)):
            total += self.part(level, numbers if self.is_attainable(level) else 0)
        return total

    def with_numbers(self, numbers: IntArray) -> float:
        """Return the ideal where so many unjudged documents reach each attainable gain."""
        whole = np.append(numbers, 0)
        return sum(float(self.part(level, int(whole[place]))) for level, place in enumerate(self.needed.tolist()))


def _greatest_ndcg(base: float, weights: FloatArray, ideal: _IdealLevels) -> float:
    """Return the greatest value over all gains, as :func:`ndcg_ends` says; weights may be below 0."""
    falling = np.sort(weights)[::-1]
    top = ideal.attainable[-1] if len(ideal.attainable) else 0.0
    x = np.arange(len(falling) + 1)
    at_corners = float(divide_or_zero(base + top * _prefix(falling), ideal.with_top_gains(x)).max())
    useful = _prefix(falling[falling > 0])
    if base + top * useful[-1] < 0 or not len(ideal.attainable):
        return at_corners
    return max(at_corners, _greatest_by_levels(base, useful, ideal))


def _greatest_by_levels(base: float, useful: FloatArray, ideal: _IdealLevels) -> float:
    """Return the greatest value where it is 0 or more, by Dinkelbach's method.

    Parameters
    ----------
    base : float
    useful : ndarray of shape (n + 1,)
        Sums of the highest weights, of those above 0.
    ideal : _IdealLevels
    """
    x = np.arange(len(useful))
    steps = np.diff(ideal.attainable, prepend=0.0)

    def value(numbers: IntArray) -> float:
        """Return nDCG where so many documents reach each attainable level."""
        divisor = ideal.with_numbers(numbers)
        return (base + float(steps @ useful[numbers])) / divisor if divisor else 0.0

    numbers: IntArray = np.full(len(steps), len(useful) - 1)  # with which the numerator is not below 0
    high = value(numbers)
    while True:
        rows = np.zeros((len(steps), len(x)))
        for level, place in enumerate(ideal.needed.tolist()):
            if ideal.is_attainable(level):
                rows[place] += ideal.heights[level] * useful - high * ideal.part(level, x)
        found = value(_falling(rows))
        if not found > high:
            return high
        high = found


def _falling(rows: FloatArray) -> IntArray:
    """Return a column for each row, never rising from one row to the next, so that the entries' sum is largest."""
    places = np.empty(rows.shape, np.int64)
    total = np.zeros(rows.shape[1])
    for n in range(len(rows) - 1, -1, -1):
        total = rows[n] + total
        best = np.maximum.accumulate(total)
        # the first column with the best entry so far
        places[n] = np.maximum.accumulate(np.where(total >= best, np.arange(len(total)), 0))
        total = best
    found, most = np.empty(len(rows), np.int64), rows.shape[1] - 1
    for n in range(len(rows)):
        most = int(places[n, most])
        found[n] = most
    return found
