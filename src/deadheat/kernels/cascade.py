r"""Cascade measures: a user reads on with probability q(document), and gains weight(rank) where the reading stops.

.. math:: M = \sum_i w_i (\Pi_{i-1} - \Pi_i), \qquad \Pi_i = \prod_{j \le i} q_j

All moments come from E_x, the mean over x documents of a group of the product of their q, built by adding one
document at a time: a convex combination, so nothing overflows and nothing cancels (tie_math, section 6).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deadheat.kernels.segments import batches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deadheat.arrays import BoolArray, FloatArray, IntArray


NEGLIGIBLE = 41.5  # -ln(1e-18): by Maclaurin's inequality E_x <= (mean q) ** x, and the rest is not computed
DENSE = 512  # documents; from here on, equal documents are merged in one go where that is shorter


@dataclass(frozen=True)
class Groups:
    """Groups of a cascade: documents that differ from the plain one are listed, the plain ones counted.

    Attributes
    ----------
    above, tied, inside : ndarray of shape (n_groups,)
    plain : ndarray of shape (n_groups,)
        Documents whose q is `plain_q` (unjudged ones, and those with the same q).
    plain_q : float
        1 if an unjudged document never stops the reading.
    start, listed : ndarray of shape (n_groups,)
        Where the group's other documents stand in `q`, and how many they are.
    q : ndarray of shape (n_rows,)
        Probability of reading on past each listed document.
    """

    above: IntArray
    tied: IntArray
    inside: IntArray
    plain: IntArray
    plain_q: float
    start: IntArray
    listed: IntArray
    q: FloatArray

    def mean_q(self) -> FloatArray:
        """Return the mean q of each group's documents."""
        sums = np.concatenate(([0.0], np.cumsum(self.q)))
        return (sums[self.start + self.listed] - sums[self.start] + self.plain * self.plain_q) / self.tied

    def all_q(self) -> FloatArray:
        """Return the probability of reading past each whole group."""
        product = np.ones(len(self.tied))
        for index, width in batches(self.listed):
            product[index] = self.padded(index, width).prod(axis=1)
        return product * self.plain_q**self.plain

    def padded(self, index: IntArray, width: int) -> FloatArray:
        """Return the listed q of the groups `index`, of shape (b, width), padded with 1."""
        place = np.arange(width)
        real = place < self.listed[index, None]
        return np.where(real, self.q[np.minimum(self.start[index, None] + place, len(self.q) - 1)], 1.0)


def _reach(limit: IntArray, mean_q: FloatArray) -> IntArray:
    """Return how many documents can be read before the probability of reading on is negligible."""
    with np.errstate(divide="ignore"):
        decay = np.maximum(-np.log(np.clip(mean_q, 0.0, 1.0)), 1e-15)
    return np.minimum(limit, np.ceil(NEGLIGIBLE / decay).astype(np.int64) + 1)


def _two_way_batches(width: IntArray, depth: IntArray, cells: IntArray) -> Iterator[IntArray]:
    """Put groups together that are similar in both the width of their matrix and the steps they take."""
    for alike, _ in batches(depth + 1, max_cells=1 << 62):
        for chosen, _ in batches(np.maximum(cells[alike], 1)):
            for part, _ in batches(width[alike][chosen], max_cells=1 << 62):
                yield alike[chosen][part]


def mean(groups: Groups, *, weights: FloatArray) -> FloatArray:
    """Return each group's expected gain of a reader who arrives at it, to be multiplied by the chance to arrive.

    Parameters
    ----------
    groups : Groups
    weights : ndarray of shape (n_ranks,)
        ``weights[i - 1]`` is the gain of stopping at rank i.

    Returns
    -------
    ndarray of shape (n_groups,)
    """
    part = np.zeros(len(groups.tied))
    reach = _reach(groups.inside, groups.mean_q())
    reach[(groups.listed == 0) & (groups.plain_q == 1.0)] = 0
    for index in _two_way_batches(reach, groups.listed, reach):
        width = int(reach[index].max())
        if groups.listed[index].max() > max(DENSE, 2 * width):
            products = np.concatenate([_merged_products(groups, int(group), width) for group in index])
        else:
            products = _mean_products(groups, index, width)
        rank = np.arange(width)
        real = rank < reach[index, None]
        gain = np.where(real, weights[np.minimum(groups.above[index, None] + rank, len(weights) - 1)], 0.0)
        part[index] = (gain * (products[:, :-1] - products[:, 1:])).sum(axis=1)
    return part


def _mean_products(groups: Groups, index: IntArray, width: int) -> FloatArray:
    """Return E_0 .. E_width of each group, of shape (b, width + 1), adding its documents one by one."""
    x = np.arange(width + 1)
    plain, listed = groups.plain[index, None], groups.listed[index]
    products = np.where(x <= plain, groups.plain_q**x, 0.0)
    q = groups.padded(index, int(listed.max(initial=0)))
    for added in range(q.shape[1]):
        size = plain + added + 1
        grown = np.maximum(size - x, 0) / size * products
        grown[:, 1:] += x[1:] / size * q[:, added, None] * products[:, :-1]
        products = np.where(added < listed[:, None], grown, products)
    return products


def _merged_products(groups: Groups, group: int, width: int) -> FloatArray:
    """Return the same for one large group, merging all documents of equal q at once, of shape (1, width + 1)."""
    x = np.arange(width + 1)
    start, size = int(groups.start[group]), int(groups.plain[group])
    products = np.where(x <= size, groups.plain_q**x, 0.0)
    values, counts = np.unique(groups.q[start : start + int(groups.listed[group])], return_counts=True)
    for q, count in zip(values.tolist(), counts.tolist(), strict=True):
        power = np.where(x <= count, q**x, 0.0)
        chance = (x == 0).astype(np.float64)  # that y of x documents are of the class merged in
        merged = np.ones(width + 1)
        for taken in range(1, width + 1):
            left = size + count - taken + 1
            stay = np.maximum(size - (taken - 1 - x), 0) / left * chance
            stay[1:] += np.maximum(count - x[:-1], 0) / left * chance[:-1]
            chance = stay
            chance[taken + 1 :] = 0.0
            merged[taken] = (chance * power)[: taken + 1] @ products[taken::-1] if left > 0 else 0.0
        products, size = merged, size + count
    return products[None, :]


def variance(groups: Groups, *, weights: FloatArray) -> FloatArray:
    """Return the variance of each group's gain for a reader who arrives at it.

    The order of the documents that can stop the reading, and the ranks they take, are independent. So the second
    moment is a sum over pairs (s, s') of E[w(T_s) w(T_s')] E[Z_s Z_s'], T_s the rank of the s-th of them and
    Z_s the probability of stopping just there.

    Parameters
    ----------
    groups, weights
        As for :func:`mean`.

    Returns
    -------
    ndarray of shape (n_groups,)
    """
    part = np.zeros(len(groups.tied))
    stoppers = groups.listed + (groups.plain if groups.plain_q < 1.0 else 0)
    reach = np.minimum(groups.inside, stoppers)
    mean_q = 1 - (1 - groups.mean_q()) * groups.tied / np.maximum(stoppers, 1)
    depth = np.where(_is_random(groups), _reach(reach, mean_q), 0)
    for index in _two_way_batches(groups.inside * (depth > 0), groups.listed, (depth + 2) ** 2 * (depth > 0)):
        size = int(depth[index].max())
        chance, chance_pair = _stop_moments(groups, index, size)
        gain, gain_pair = _gain_moments(groups, index, stoppers[index], size, weights)
        centre = (chance * gain).sum(axis=1)
        part[index] = np.maximum((chance_pair * gain_pair).sum(axis=(1, 2)) - centre**2, 0.0)
    return part


def _is_random(groups: Groups) -> BoolArray:
    """Tell which groups hold documents of different q: the others have no variance, and no rounding error of it."""
    low, high = np.ones(len(groups.tied)), np.zeros(len(groups.tied))
    for index, width in batches(groups.listed):
        q = groups.padded(index, width)
        real = np.arange(width) < groups.listed[index, None]
        low[index] = np.where(real, q, 2.0).min(axis=1)
        high[index] = np.where(real, q, -1.0).max(axis=1)
    mixed = (groups.plain > 0) | (low < high)
    return mixed & (groups.listed > 0) & (groups.tied > 1) & (groups.inside > 0)


def _stop_moments(groups: Groups, index: IntArray, size: int) -> tuple[FloatArray, FloatArray]:
    """Return E[Z_s], of shape (b, size), and E[Z_s Z_s'], of shape (b, size, size), zero below the diagonal.

    The pairs above the diagonal are counted twice, for both of their orders.
    """
    a, b = np.arange(size + 2)[:, None], np.arange(size + 2)
    plain = groups.plain[index, None, None] if groups.plain_q < 1.0 else np.zeros((len(index), 1, 1), np.int64)
    listed = groups.listed[index]
    products = np.where(a + b <= plain, groups.plain_q ** (2 * a + b), 0.0)  # of q^2 over a documents, q over b
    q = groups.padded(index, int(listed.max()))
    for added in range(q.shape[1]):
        n = plain + added + 1
        grown = np.maximum(n - a - b, 0) / n * products
        grown[:, 1:] += (a[1:] / n) * (q[:, added] ** 2)[:, None, None] * products[:, :-1]
        grown[:, :, 1:] += (b[1:] / n) * q[:, added, None, None] * products[:, :, :-1]
        products = np.where(added < listed[:, None, None], grown, products)
    single = products[:, 0, :size] - products[:, 0, 1 : size + 1]
    pairs = np.zeros((len(index), size, size))
    for first in range(size):
        here, next_ = products[:, first], products[:, first + 1]
        pairs[:, first, first] = here[:, 0] - 2 * here[:, 1] + next_[:, 0]
        d = np.arange(size - first - 1)
        pairs[:, first, first + 1 :] = 2 * (here[:, d + 1] - next_[:, d] - here[:, d + 2] + next_[:, d + 1])
    return single, pairs


def _gain_moments(
    groups: Groups, index: IntArray, stoppers: IntArray, size: int, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return E[w(T_s)], of shape (b, size), and E[w(T_s) w(T_s')], of shape (b, size, size), for s <= s'."""
    b, inside = len(index), groups.inside[index]
    n, seen = groups.tied[index, None], np.arange(size + 1)
    count = np.zeros((b, size + 1))  # probability that so many stoppers stand above
    count[:, 0] = 1.0
    gained = np.zeros((b, size, size + 1))  # E[w(T_s); so many seen]
    single, pairs = np.zeros((b, size)), np.zeros((b, size, size))
    s = np.arange(size)
    for rank in range(int(inside.max())):
        place = np.minimum(groups.above[index] + rank, len(weights) - 1)
        w = np.where(rank < inside, weights[place], 0.0)[:, None]
        stop = np.clip((stoppers[:, None] - seen) / np.maximum(n - rank, 1), 0.0, 1.0)
        stopped = gained * stop[:, None, :]
        arrived = count * stop
        pairs += stopped[:, :, :-1] * w[:, :, None]
        pairs[:, s, s] += arrived[:, :-1] * w * w
        single += arrived[:, :-1] * w
        gained -= stopped
        gained[:, :, 1:] += stopped[:, :, :-1]
        gained[:, s, s + 1] += arrived[:, :-1] * w
        count -= arrived
        count[:, 1:] += arrived[:, :-1]
    return single, pairs
