r"""Pairwise measures (AP, GAP, Q): :math:`M = \sum_j w_j\, u_j \sum_{i \le j} h_i` over the ranks.

docs/math.md, section 6. The part of a group is a linear sum, with a value a for each document, and a sum over ordered
pairs inside the group, with a value K(x, y) for an earlier document x and a later one y. Both moments are sums over
*patterns* of ranks, in which two terms share none, one or both of their ranks: a sum over ranks (:class:`RankSums`)
times a mean over choices of different documents (:class:`Patterns`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import AnyArray, FloatArray, IntArray, run_sizes, run_starts
from deadheat.core.kernels.segments import batches, scan_before, segment_sums


@dataclass(frozen=True)
class Patterns:
    """Sums over ordered choices of different documents x, y, z of a group, by pattern; all arrays have one shape.

    Attributes
    ----------
    linear, linear_square : ndarray
        a(x), and its square.
    pair, pair_square : ndarray
        K(x, y), and its square.
    pair_reversed : ndarray
        K(x, y) K(y, x): no pattern of ranks, but part of the square of `pair`.
    same_late, same_early : ndarray
        K(x, z) K(y, z) and K(z, x) K(z, y): two pairs with the same later document, or the same earlier one.
    chain : ndarray
        K(x, z) K(z, y): the later document of one pair is the earlier one of the other.
    linear_late, linear_early : ndarray
        a(z) K(x, z) and a(z) K(z, x): the linear value of the later document of a pair, or of the earlier one.
    """

    linear: AnyArray
    linear_square: AnyArray
    pair: AnyArray
    pair_square: AnyArray
    pair_reversed: AnyArray
    same_late: AnyArray
    same_early: AnyArray
    chain: AnyArray
    linear_late: AnyArray
    linear_early: AnyArray


@dataclass(frozen=True)
class RankSums:
    """Sums over the ranks j = 1..m of a group, by pattern, of shape (n_groups,).

    w is the weight of rank j, and A that of all ranks below it in the group.

    Attributes
    ----------
    weight, square : ndarray
        w, and its square.
    pair, pair_square : ndarray
        (j-1) w and (j-1) w^2: j is the later rank of j - 1 pairs.
    same_late, same_early : ndarray
        (j-1)(j-2) w^2, and A^2 less the squares of the weights below j.
    chain : ndarray
        (j-1) w A.
    early : ndarray
        w A: a linear term at j, and a pair in which j is the earlier rank.
    """

    weight: FloatArray
    pair: FloatArray
    square: FloatArray
    pair_square: FloatArray
    same_late: FloatArray
    same_early: FloatArray
    chain: FloatArray
    early: FloatArray

    def as_columns(self) -> "RankSums":
        """Return the sums with a second axis, of shape (n_groups, 1), for patterns of shape (n_groups, n_counts)."""
        return RankSums(
            weight=self.weight[:, None],
            pair=self.pair[:, None],
            square=self.square[:, None],
            pair_square=self.pair_square[:, None],
            same_late=self.same_late[:, None],
            same_early=self.same_early[:, None],
            chain=self.chain[:, None],
            early=self.early[:, None],
        )


def binary_patterns(count: AnyArray, before: AnyArray) -> Patterns:
    """Return the patterns of relevant documents that count the same, u = h = 1.

    Parameters
    ----------
    count, before : ndarray of int
        Relevant documents in each group, and above it.

    Returns
    -------
    Patterns
        Arrays of the shape of `count`.
    """
    c = np.asarray(count, np.float64)
    a = np.asarray(before, np.float64) + 1
    two = c * (c - 1)
    three = c * (c - 1) * (c - 2)
    return Patterns(
        linear=c * a,
        linear_square=c * a * a,
        pair=two,
        pair_square=two,
        pair_reversed=two,
        same_late=three,
        same_early=three,
        chain=three,
        linear_late=a * two,
        linear_early=a * two,
    )


def product_patterns(late: FloatArray, early: FloatArray, above: FloatArray, starts: IntArray) -> Patterns:
    """Return the patterns of documents with K(x, y) = h(x) u(y).

    Parameters
    ----------
    late, early : ndarray of shape (n_rows,)
        u and h of each document.
    above : ndarray of shape (n_rows,)
        Sum of h over the documents above the row's group.
    starts : ndarray of shape (n_groups,)
        First row of each group.

    Returns
    -------
    Patterns
        Arrays of shape (n_groups,).
    """
    sizes = run_sizes(starts, len(late))

    def sum_others(values: FloatArray) -> FloatArray:
        return np.repeat(segment_sums(values, starts), sizes) - values

    return _sum_patterns(
        linear=late * (above + early),
        as_late=late * sum_others(early),
        as_early=early * sum_others(late),
        pair_square=late**2 * sum_others(early**2),
        pair_reversed=late * early * sum_others(late * early),
        starts=starts,
    )


def minimum_patterns(values: FloatArray, above: FloatArray, starts: IntArray) -> Patterns:
    """Return the patterns of documents with K(x, y) = min(value of x, value of y), as GAP has them.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        0 or more, highest first within each group.
    above : ndarray of shape (n_rows,)
        Sum of K over the documents above the row's group, from :func:`minima_above`.
    starts : ndarray of shape (n_groups,)
        First row of each group.

    Returns
    -------
    Patterns
        Arrays of shape (n_groups,).
    """
    sizes = run_sizes(starts, len(values))
    group = np.repeat(np.arange(len(starts)), sizes)
    n_before = np.arange(len(values)) - np.repeat(starts, sizes)

    def sum_minima(descending: FloatArray) -> FloatArray:
        """Return the sum of each row's minima with all others: its own value before it, theirs after it."""
        sum_after = scan_before(descending[::-1], group[::-1], np.add)[::-1]
        return n_before * descending + sum_after

    pair = sum_minima(values)
    square = sum_minima(values**2)
    return _sum_patterns(
        linear=above + values, as_late=pair, as_early=pair, pair_square=square, pair_reversed=square, starts=starts
    )


def _sum_patterns(
    *,
    linear: FloatArray,
    as_late: FloatArray,
    as_early: FloatArray,
    pair_square: FloatArray,
    pair_reversed: FloatArray,
    starts: IntArray,
) -> Patterns:
    """Return the patterns of groups, from each document's sums over all others of its group.

    Parameters
    ----------
    linear : ndarray of shape (n_rows,)
        a of each document.
    as_late, as_early : ndarray of shape (n_rows,)
        Sum of K over the others, with the document as the later one of a pair, and as the earlier one.
    pair_square, pair_reversed : ndarray of shape (n_rows,)
        Sum of K(x, y)^2 over the others, and of K(x, y) K(y, x).
    starts : ndarray of shape (n_groups,)
    """

    def sum_groups(values: FloatArray) -> FloatArray:
        return segment_sums(values, starts)

    # In a product of two sums over others, both may take the same document: these choices are subtracted below.
    same_partner = sum_groups(pair_square)
    same_partner_reversed = sum_groups(pair_reversed)
    return Patterns(
        linear=sum_groups(linear),
        linear_square=sum_groups(linear**2),
        pair=sum_groups(as_late),
        pair_square=same_partner,
        pair_reversed=same_partner_reversed,
        same_late=sum_groups(as_late**2) - same_partner,
        same_early=sum_groups(as_early**2) - same_partner,
        chain=sum_groups(as_late * as_early) - same_partner_reversed,
        linear_late=sum_groups(linear * as_late),
        linear_early=sum_groups(linear * as_early),
    )


def minima_above(values: FloatArray, query: IntArray, group: IntArray) -> FloatArray:
    """Return, for each row, the sum of min(own value, value) over the rows of its query in earlier groups.

    A block of groups, at first all those of a query, is cut into an earlier and a later half, then each half again, by
    the bits of the groups' numbers. At each cut the rows of the later half meet those of the earlier half, so that in
    the end each row has met all rows of earlier groups once. The rows of a block are in ascending order of their
    values. So what a row gets at a cut is the sum of the smaller values of the earlier half, which is a scan, and its
    own value for each of the others. This takes n log n steps, however many values are different.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        0 or more.
    query, group : ndarray of shape (n_rows,)
        Ascending query codes, and the place of each row's group in its query, from 0.

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    row = np.lexsort((values, query))  # by block, then by value
    block = query[row]
    sums = np.zeros(len(values))
    n_bits = int(group.max(initial=0)).bit_length()
    for bit in reversed(range(n_bits)):
        is_later = (group[row] >> bit) & 1
        is_earlier = 1 - is_later
        value = values[row]
        starts = run_starts(block)
        sizes = run_sizes(starts, len(row))
        first = np.repeat(starts, sizes)
        place = np.arange(len(row)) - first
        n_smaller = np.cumsum(is_earlier) - is_earlier
        n_smaller -= n_smaller[first]  # rows of the block's earlier half with smaller values
        n_earlier = np.repeat(segment_sums(is_earlier, starts), sizes)
        sum_smaller = scan_before(np.where(is_later, 0.0, value), block, np.add)
        sums[row] += np.where(is_later, sum_smaller + (n_earlier - n_smaller) * value, 0.0)
        # Both halves become blocks, the earlier one first; within each, rows keep their order.
        new_place = np.where(is_later, n_earlier + place - n_smaller, n_smaller)
        block = 2 * block + np.where(place < n_earlier, 0, 1)
        row[first + new_place] = row.copy()
    return sums


def rank_sums(inside: IntArray, weight: Callable[[IntArray, IntArray], FloatArray], *, squares: bool) -> RankSums:
    """Sum the weights of each group's ranks inside the cutoff.

    Parameters
    ----------
    inside : ndarray of shape (n_groups,)
    weight : callable
        ``weight(index, j)`` gives the weights of ranks j (1-based inside the group) of the groups `index`,
        of shape (b, w).
    squares : bool
        Whether to compute all sums; if not, those that only the second moment needs stay 0.

    Returns
    -------
    RankSums
        Arrays of shape (n_groups,).
    """
    sums = RankSums(*np.zeros((8, len(inside))))  # its arrays are filled batch by batch
    for index, width in batches(inside):
        j = np.arange(1, width + 1)
        n_above = j - 1.0
        w = np.where(j <= inside[index, None], weight(index, j), 0.0)
        sums.weight[index] = w.sum(axis=1)
        sums.pair[index] = w @ n_above
        if not squares:
            continue
        w_square = w * w
        after = np.cumsum(w[:, ::-1], axis=1)[:, ::-1] - w  # A
        pair_square = w_square @ n_above
        sums.square[index] = w_square.sum(axis=1)
        sums.pair_square[index] = pair_square
        sums.same_late[index] = w_square @ (n_above * (j - 2.0))
        sums.same_early[index] = (after * after).sum(axis=1) - pair_square
        sums.chain[index] = (w * after) @ n_above
        sums.early[index] = (w * after).sum(axis=1)
    return sums


def mean(patterns: Patterns, sums: RankSums, n: AnyArray) -> FloatArray:
    """Return the expected part of each group.

    Parameters
    ----------
    patterns : Patterns
    sums : RankSums
    n : ndarray of int
        Documents of the group.
    """
    linear = patterns.linear / _count_choices(n, 1) * sums.weight
    return linear + patterns.pair / _count_choices(n, 2) * sums.pair


def variance(patterns: Patterns, sums: RankSums, n: AnyArray) -> FloatArray:
    """Return the variance of each group's part over the orders of its documents; parameters as for :func:`mean`.

    The second moment has a line for each row of the table in section 6, docs/math.md.
    """
    p, s = patterns, sums
    n1, n2, n3, n4 = (_count_choices(n, size) for size in (1, 2, 3, 4))
    linear_apart = p.linear * p.pair - p.linear_late - p.linear_early
    ranks_linear_apart = s.weight * s.pair - s.pair_square - s.early
    pairs_apart = p.pair**2 - p.pair_square - p.pair_reversed - p.same_late - p.same_early - 2 * p.chain
    ranks_pairs_apart = s.pair**2 - s.pair_square - s.same_late - s.same_early - 2 * s.chain

    second = p.linear_square / n1 * s.square
    second = second + (p.linear**2 - p.linear_square) / n2 * (s.weight**2 - s.square)
    second = second + 2 * p.linear_late / n2 * s.pair_square
    second = second + 2 * p.linear_early / n2 * s.early
    second = second + 2 * linear_apart / n3 * ranks_linear_apart
    second = second + p.pair_square / n2 * s.pair_square
    second = second + p.same_late / n3 * s.same_late
    second = second + p.same_early / n3 * s.same_early
    second = second + 2 * p.chain / n3 * s.chain
    second = second + pairs_apart / n4 * ranks_pairs_apart
    return np.maximum(second - mean(p, s, n) ** 2, 0.0)


def _count_choices(n: AnyArray, size: int) -> FloatArray:
    """Return the number of ordered choices of `size` out of n documents, 1 where there is none: the sum is 0 then."""
    product = np.maximum(n, 0.0)
    for taken in range(1, size):
        product = product * np.maximum(n - taken, 0.0)
    return np.where(product > 0, product, 1.0)
