r"""Pairwise measures: :math:`M = \sum_j w_j\, u_j \sum_{i \le j} h_i` over the ranks (AP, GAP, Q).

A group's part is a linear sum (the document itself and all above the group) plus a sum over ordered pairs inside
the group. Its moments are sums over *patterns*, of two ranks or pairs of ranks that share none, one or both of
their members: a factor of the weights (:func:`rank_sums`) times a mean over distinct documents (:class:`Patterns`).
Formulas: tie_math, section 5; verified by enumeration.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import AnyArray, FloatArray, IntArray, run_starts
from deadheat.core.kernels.segments import batches, scan_before, segment_sums


@dataclass(frozen=True)
class Patterns:
    """Sums over ordered tuples of distinct documents of a group; all of one shape.

    ``a`` is the linear part of a document, ``K(early, late) = h(early) u(late)`` the part of a pair.
    """

    linear: AnyArray  # a
    linear_square: AnyArray  # a^2
    pair: AnyArray  # K(x, y)
    pair_square: AnyArray  # K(x, y)^2
    pair_reversed: AnyArray  # K(x, y) K(y, x)
    same_late: AnyArray  # K(x, z) K(y, z)
    same_early: AnyArray  # K(z, x) K(z, y)
    chain: AnyArray  # K(x, z) K(z, y)
    linear_late: AnyArray  # a(z) K(x, z)
    linear_early: AnyArray  # a(z) K(z, x)


@dataclass(frozen=True)
class RankSums:
    """Sums over the ranks j = 1..m of a group; `after` is the weight of the ranks below j, inside the cutoff."""

    weight: FloatArray  # w
    pair: FloatArray  # (j-1) w
    square: FloatArray  # w^2
    pair_square: FloatArray  # (j-1) w^2
    same_late: FloatArray  # (j-1)(j-2) w^2
    same_early: FloatArray  # after^2 - sum of w^2 below j
    chain: FloatArray  # (j-1) w after
    early: FloatArray  # w after


def binary_patterns(count: AnyArray, before: AnyArray) -> Patterns:
    """Return the patterns of `count` equal relevant documents (u = h = 1) with `before` of them above the group."""
    c, a = np.asarray(count, np.float64), np.asarray(before, np.float64) + 1
    two, three = c * (c - 1), c * (c - 1) * (c - 2)
    return Patterns(c * a, c * a * a, two, two, two, three, three, three, a * two, a * two)


def product_patterns(late: FloatArray, early: FloatArray, above: FloatArray, starts: IntArray) -> Patterns:
    """Return the patterns of documents with values of their own, K(x, y) = h(x) u(y).

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
    rows = np.diff(np.append(starts, len(late)))

    def others(values: FloatArray) -> FloatArray:
        return np.repeat(segment_sums(values, starts), rows) - values

    return _patterns(
        linear=late * (above + early),
        as_late=late * others(early),
        as_early=early * others(late),
        pair_square=late**2 * others(early**2),
        pair_reversed=late * early * others(late * early),
        starts=starts,
    )


def minimum_patterns(values: FloatArray, above: FloatArray, starts: IntArray) -> Patterns:
    """Return the patterns of documents of which a pair gains the smaller value, K(x, y) = min(value x, value y).

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
    rows = np.diff(np.append(starts, len(values)))
    group = np.repeat(np.arange(len(starts)), rows)
    n_before = np.arange(len(values)) - np.repeat(starts, rows)

    def minima(of: FloatArray) -> FloatArray:
        return n_before * of + scan_before(of[::-1], -group[::-1], np.add)[::-1]

    pair, square = minima(values), minima(values**2)
    return _patterns(
        linear=above + values, as_late=pair, as_early=pair, pair_square=square, pair_reversed=square, starts=starts
    )


def _patterns(
    *,
    linear: FloatArray,
    as_late: FloatArray,
    as_early: FloatArray,
    pair_square: FloatArray,
    pair_reversed: FloatArray,
    starts: IntArray,
) -> Patterns:
    """Sum what each document has with all others of its group: all arguments are of shape (n_rows,)."""

    def total(values: FloatArray) -> FloatArray:
        return segment_sums(values, starts)

    squares, reverse = total(pair_square), total(pair_reversed)
    return Patterns(
        linear=total(linear),
        linear_square=total(linear**2),
        pair=total(as_late),
        pair_square=squares,
        pair_reversed=reverse,
        same_late=total(as_late**2) - squares,
        same_early=total(as_early**2) - squares,
        chain=total(as_late * as_early) - reverse,
        linear_late=total(linear * as_late),
        linear_early=total(linear * as_early),
    )


def minima_above(values: FloatArray, query: IntArray, group: IntArray) -> FloatArray:
    """Return, for each row, the sum of min(own value, value) over the rows of its query in earlier groups.

    The groups of a query are halved again and again. What a row of a later half has with all of the earlier half
    follows from sums over the smaller values and from the number of larger ones, as all halves are kept in ascending
    order of the values: n log n steps, whatever the number of different values.

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
    row = np.lexsort((values, query))
    half, found = query[row], np.zeros(len(values))
    for bit in reversed(range(int(group.max(initial=0)).bit_length())):
        later = (group[row] >> bit) & 1
        value = values[row]
        starts = run_starts(half)
        sizes = np.diff(np.append(starts, len(row)))
        first = np.repeat(starts, sizes)
        n_earlier = np.cumsum(1 - later) - (1 - later)
        n_earlier -= n_earlier[first]  # of the half, with smaller values
        n_all = np.repeat(sizes - segment_sums(later, starts), sizes)
        smaller = scan_before(np.where(later, 0.0, value), half, np.add)
        found[row] += np.where(later, smaller + (n_all - n_earlier) * value, 0.0)
        place = np.arange(len(row)) - first
        target = first + np.where(later, n_all + place - n_earlier, n_earlier)
        half = 2 * half + np.where(place < n_all, 0, 1)
        row[target] = row.copy()
    return found


def rank_sums(inside: IntArray, weight: Callable[[IntArray, IntArray], FloatArray], *, squares: bool) -> RankSums:
    """Sum the weights of each group's ranks inside the cutoff.

    Parameters
    ----------
    inside : ndarray of shape (n_groups,)
    weight : callable
        ``weight(index, j)`` gives the weights of ranks j (1-based inside the group) of the groups `index`,
        of shape (b, w).
    squares : bool
        Whether the sums that only the second moment needs are wanted; they are 0 otherwise.

    Returns
    -------
    RankSums
        Arrays of shape (n_groups,).
    """
    sums = np.zeros((8, len(inside)))
    for index, width in batches(inside):
        j = np.arange(1, width + 1)
        w = np.where(j <= inside[index, None], weight(index, j), 0.0)
        sums[:2, index] = w.sum(axis=1), w @ (j - 1.0)
        if squares:
            w2, after = w * w, np.cumsum(w[:, ::-1], axis=1)[:, ::-1] - w
            pair_square = w2 @ (j - 1.0)
            sums[2:, index] = (
                w2.sum(axis=1),
                pair_square,
                w2 @ ((j - 1.0) * (j - 2.0)),
                (after * after).sum(axis=1) - pair_square,
                (w * after) @ (j - 1.0),
                (w * after).sum(axis=1),
            )
    return RankSums(*sums)


def _choose(n: AnyArray, size: int) -> FloatArray:
    """Return the number of ordered `size`-tuples of n documents, 1 where there is none (the sum is 0 there)."""
    product = np.prod([np.maximum(n - taken, 0.0) for taken in range(size)], axis=0)
    return np.where(product > 0, product, 1.0)


def mean(patterns: Patterns, sums: RankSums, n: AnyArray) -> FloatArray:
    """Return the expected part of each group; `n` is the number of documents over its ranks."""
    return patterns.linear / _choose(n, 1) * sums.weight + patterns.pair / _choose(n, 2) * sums.pair


def variance(patterns: Patterns, sums: RankSums, n: AnyArray) -> FloatArray:
    """Return the variance of each group's part over the orders of its `n` documents."""
    p, s = patterns, sums
    pairs_apart = p.pair**2 - p.pair_square - p.pair_reversed - p.same_late - p.same_early - 2 * p.chain
    ranks_apart = s.pair**2 - s.pair_square - s.same_late - s.same_early - 2 * s.chain
    apart = p.linear * p.pair - p.linear_late - p.linear_early
    second = (
        p.linear_square / _choose(n, 1) * s.square
        + (p.linear**2 - p.linear_square) / _choose(n, 2) * (s.weight**2 - s.square)
        + 2 * p.linear_late / _choose(n, 2) * s.pair_square
        + 2 * p.linear_early / _choose(n, 2) * s.early
        + 2 * apart / _choose(n, 3) * (s.weight * s.pair - s.pair_square - s.early)
        + p.pair_square / _choose(n, 2) * s.pair_square
        + p.same_late / _choose(n, 3) * s.same_late
        + p.same_early / _choose(n, 3) * s.same_early
        + 2 * p.chain / _choose(n, 3) * s.chain
        + pairs_apart / _choose(n, 4) * ranks_apart
    )
    return np.maximum(second - mean(p, s, n) ** 2, 0.0)
