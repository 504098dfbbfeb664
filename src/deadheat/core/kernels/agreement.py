r"""How far two rankings of one query order its documents alike, where both may have ties: tau, tau-AP.

docs/math.md, section 13. A ranking is an array over the documents that both have: how many are above each one. Means
are over the orders of the ties of both, broken independently. Overlap, for which documents may be missing, is in
`overlap.py`.
"""

import math
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, run_sizes

FEW_DOCUMENTS = 256  # up to so many, all pairs are compared; more are sorted


@dataclass(frozen=True)
class Tau:
    """Kendall's tau of two rankings, with C pairs in the same order in both and D in opposite ones.

    A value is NaN where it would be divided by no pair.

    Attributes
    ----------
    tau_b : float
        (C - D) over the geometric mean of how many pairs do not tie in the first and in the second ranking.
    mean : float
        The mean of tau over the orders of the ties: (C - D) over all pairs.
    """

    tau_b: float
    mean: float


@dataclass(frozen=True)
class PairCounts:
    """Where the documents above each one in the first ranking stand in the second.

    Attributes
    ----------
    n_above, n_tied : ndarray of int, shape (n,)
        How many of them are above the document in the second ranking, too, and how many tie with it there.
    """

    n_above: IntArray
    n_tied: IntArray


def tau(first: IntArray, second: IntArray) -> Tau:
    """Return Kendall's tau-b, and the mean of tau over the orders of the ties.

    A tied pair is as often in one order as in the other, so it adds 0 to the mean of C - D.

    Parameters
    ----------
    first, second : ndarray of shape (n,)
        Documents above each of those that both rankings have.

    References
    ----------
    Kendall 1945, https://doi.org/10.1093/biomet/33.3.239.
    """
    n = len(first)
    if n < 2:
        return Tau(math.nan, math.nan)
    n_pairs = n * (n - 1) / 2
    n_ordered_first = n_pairs - _count_tied_pairs(first)
    n_ordered_second = n_pairs - _count_tied_pairs(second)
    # C - D of the pairs that the first ranking orders. One that the second ties counts 1/2 as in order: 2 / 2 - 1 = 0.
    difference = 2 * _count_in_order(first, second).sum() - n_ordered_first
    divisor = math.sqrt(n_ordered_first * n_ordered_second)  # the root of a square is exact: equal rankings have tau 1
    tau_b = float(difference / divisor) if divisor else math.nan
    return Tau(tau_b, float(difference / n_pairs))


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
    pairs = _count_pairs(first, second)
    n_ordered = n * (n - 1) // 2 - _count_tied_pairs(first)
    return int(n_ordered - pairs.n_above.sum() - pairs.n_tied.sum())


def tau_ap(first: IntArray, second: IntArray) -> float:
    r"""Return the mean over tie orders of tau-AP of the second ranking, with the first one as the reference.

    .. math:: \tau_{AP} = \frac{2}{n - 1} \sum_{i=2}^{n} \frac{C_i}{i - 1} - 1

    with :math:`C_i` of the documents above rank i of the second ranking also above that document in the first.

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
    sizes = run_sizes(starts, n)
    n_above = np.arange(n)
    n_above_in_tie = n_above - np.repeat(starts, sizes)
    in_order = _count_in_order(second, first)
    mean_of_tie = np.add.reduceat(in_order, starts) / sizes  # no tie is empty
    mean_in_order = np.repeat(mean_of_tie, sizes) + n_above_in_tie / 2
    shares = mean_in_order[1:] / n_above[1:]
    return float(2 * shares.sum() / (n - 1) - 1)


def _count_tied_pairs(ranking: IntArray) -> int:
    """Return how many pairs of documents tie."""
    sizes = np.unique(ranking, return_counts=True)[1]
    return int((sizes * (sizes - 1) // 2).sum())


def _count_in_order(first: IntArray, second: IntArray) -> FloatArray:
    """Return, for each document, how many of those above it in the first ranking are above it in the second, too.

    Those that tie with it in the second count 1/2.
    """
    pairs = _count_pairs(first, second)
    return pairs.n_above + 0.5 * pairs.n_tied


def _count_pairs(first: IntArray, second: IntArray) -> PairCounts:
    """Return for each document how those above it in the first ranking stand in the second.

    Few documents are compared pair by pair; more are sorted, which takes n log n steps.
    """
    if len(first) <= FEW_DOCUMENTS:
        is_above = first[None, :] < first[:, None]
        is_above_in_second = second[None, :] < second[:, None]
        is_tied_in_second = second[None, :] == second[:, None]
        return PairCounts((is_above & is_above_in_second).sum(axis=1), (is_above & is_tied_in_second).sum(axis=1))
    n_above = np.zeros(len(first), np.int64)
    n_tied = np.zeros(len(first), np.int64)
    # In the order of the first ranking. Its ties are put in the opposite order of the second, so that they count
    # nothing.
    order = np.lexsort((-second, first))
    n_above[order] = _count_smaller_before(second[order])
    # In each tie of the second ranking, in the order of the first.
    order = np.lexsort((first, second))
    n_tied[order] = _count_smaller_in_group(second[order], first[order])
    return PairCounts(n_above, n_tied)


def _count_smaller_before(values: IntArray) -> IntArray:
    """Return, for each place, how many places before it have a smaller value.

    As in a merge sort, blocks of places are merged two by two. Where two blocks are merged, a value of the right one
    comes after just those of the left one that are smaller; so these are counted, and in the end each pair of places
    once.
    """
    place = np.arange(len(values))
    n_smaller = np.zeros(len(values), np.int64)
    width = 1
    while width < len(values):
        pair = place // (2 * width)
        is_left = (place // width) % 2 == 0
        merged = np.lexsort((is_left, values, pair))  # of equal values those of the right block come first
        n_left_in_pairs_above = width * pair[merged]  # a left block that is followed by another pair is full
        n_left_before = np.cumsum(is_left[merged]) - n_left_in_pairs_above
        is_right = ~is_left[merged]
        n_smaller[merged[is_right]] += n_left_before[is_right]
        width *= 2
    return n_smaller


def _count_smaller_in_group(groups: IntArray, values: IntArray) -> IntArray:
    """Return, for each place, how many places of its group have a smaller value.

    Groups ascend, and values ascend in each group: those smaller are between the start of the group and that of the
    value.
    """
    place = np.arange(len(values))
    is_new_group = np.diff(groups, prepend=groups[0] - 1) != 0
    is_new_value = is_new_group | (np.diff(values, prepend=values[0]) != 0)
    start_of_group = np.maximum.accumulate(np.where(is_new_group, place, 0))
    start_of_value = np.maximum.accumulate(np.where(is_new_value, place, 0))
    return start_of_value - start_of_group
