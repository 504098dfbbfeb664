r"""Cascade measures: a user stops at a document with probability s(document), and gains weight(rank) there.

.. math:: M = \sum_i w_i\, s_i \prod_{j < i} q_j, \qquad q = 1 - s

All moments come from means over the choices of some documents of a group: of the product of q over x of them, and of
that product times s of one more. They are built by adding one document at a time, each step a sum of products of
numbers that are not negative (tie_math, section 6, "free gain"). So nothing overflows, and nothing cancels where all
stop probabilities are tiny: s is never worked out as 1 - q.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.errors import MeasureError, warn_of_time
from deadheat.core.kernels.segments import batches

DECAY_EXPONENT = 41.5  # -ln(1e-18): by Maclaurin's inequality the mean product of x is at most (mean q) ** x
MAX_TABLE = 1 << 28  # cells of the tables of second moments for one tie: 2 GB, and about as much again while they grow
CELLS_A_SECOND = 1e8  # that one document is added to
DENSE = 512  # documents; with more, equal ones are merged in one go where that is shorter
ALIKE = 4.0  # sum of squared deviations up to which documents are put into the tables together
MANY = 64  # documents from which that is worth it
DEGREE = 64  # of the expansion in their deviations: the terms beyond it are below 1e-24 (e ALIKE / DEGREE)^(DEGREE/2)
NEVER = 1e-25  # chance of a number of documents seen that is left out


@dataclass(frozen=True)
class Groups:
    """Groups of a cascade: documents that differ from the plain one are listed, the plain ones counted.

    Attributes
    ----------
    above, tied, inside : ndarray of shape (n_groups,)
    plain : ndarray of shape (n_groups,)
        Documents that stop the reading with probability `plain_stop` (unjudged ones, and others like them).
    plain_stop : float
        0 if an unjudged document never stops the reading.
    start, listed : ndarray of shape (n_groups,)
        Where the group's other documents begin in `stop`, and how many they are.
    stop : ndarray of shape (n_rows,)
        Probability of stopping at each listed document.
    """

    above: IntArray
    tied: IntArray
    inside: IntArray
    plain: IntArray
    plain_stop: float
    start: IntArray
    listed: IntArray
    stop: FloatArray

    def mean_stop(self) -> FloatArray:
        """Return the mean stop probability of each group's documents."""
        sums = np.concatenate(([0.0], np.cumsum(self.stop)))
        return (sums[self.start + self.listed] - sums[self.start] + self.plain * self.plain_stop) / self.tied

    def read_on(self) -> FloatArray:
        """Return the probability of reading past each whole group."""
        product = np.ones(len(self.tied))
        for index, width in batches(self.listed):
            product[index] = (1 - self.padded(index, width)).prod(axis=1)
        return product * (1 - self.plain_stop) ** self.plain

    def padded(self, index: IntArray, width: int) -> FloatArray:
        """Return the listed stop probabilities of the groups `index`, of shape (b, width), padded with 0."""
        place = np.arange(width)
        own = self.stop[np.minimum(self.start[index, None] + place, len(self.stop) - 1)]
        return np.where(place < self.listed[index, None], own, 0.0)


def _reach(limit: IntArray, mean_stop: FloatArray) -> IntArray:
    """Return how many documents can be read before the probability of reading on is negligible."""
    with np.errstate(divide="ignore"):
        decay = np.maximum(-np.log1p(-np.clip(mean_stop, 0.0, 1.0)), 1e-15)
    return np.minimum(limit, np.ceil(DECAY_EXPONENT / decay).astype(np.int64) + 1)


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
    reach = _reach(groups.inside, groups.mean_stop())
    reach[(groups.listed == 0) & (groups.plain_stop == 0)] = 0
    _announce(reach, groups.listed, "mean")
    for index in _two_way_batches(reach, groups.listed, reach):
        width = int(reach[index].max())
        chances = (
            np.stack([_chances_of_large(groups, int(group), width) for group in index])
            if groups.listed[index].max() > DENSE
            else _stop_chances(groups, index, width)
        )
        rank = np.arange(width)
        gain = weights[np.minimum(groups.above[index, None] + rank, len(weights) - 1)]
        part[index] = (np.where(rank < reach[index, None], gain, 0.0) * chances).sum(axis=1)
    return part


def _stop_chances(groups: Groups, index: IntArray, width: int) -> FloatArray:
    """Return the chance to stop at each of the first `width` documents, of shape (b, width), adding them one by one."""
    x = np.arange(width)
    plain, listed = groups.plain[index, None], groups.listed[index]
    passed = np.where(x <= plain, (1 - groups.plain_stop) ** x, 0.0)  # mean product of q over x documents
    stopped = np.where(x < plain, passed * groups.plain_stop, 0.0)  # the same, times s of one more
    stop = groups.padded(index, int(listed.max(initial=0)))
    for added in range(stop.shape[1]):
        size, s = plain + added + 1, stop[:, added, None]
        without = np.maximum(size - np.arange(width + 1), 0) / size  # chance that it is not among the first x
        within = x[1:] / size * (1 - s)
        grown, more = without[:, 1:] * stopped, without[:, :-1] * passed
        grown += s / size * passed
        grown[:, 1:] += within * stopped[:, :-1]
        more[:, 1:] += within * passed[:, :-1]
        real = added < listed[:, None]
        stopped, passed = (
            (grown, more) if real.all() else (np.where(real, grown, stopped), np.where(real, more, passed))
        )
    return stopped


def _chances_of_large(groups: Groups, group: int, width: int) -> FloatArray:
    """Return the same for one large group, of shape (width,), in the way that takes fewer steps."""
    start, listed = int(groups.start[group]), int(groups.listed[group])
    stops, counts = np.unique(groups.stop[start : start + listed], return_counts=True)
    if len(stops) * width < listed:
        return _merged_chances(groups, group, width, dict(zip(stops.tolist(), counts.tolist(), strict=True)))
    return _stop_chances(groups, np.array([group]), width)[0]


def _merged_chances(groups: Groups, group: int, width: int, classes: dict[float, int]) -> FloatArray:
    """Return the same for one group, of shape (width,), merging all documents alike, a class, at once."""
    x = np.arange(width)
    size = int(groups.plain[group])
    passed = np.where(x <= size, (1 - groups.plain_stop) ** x, 0.0)
    stopped = np.where(x < size, passed * groups.plain_stop, 0.0)
    for s, count in classes.items():
        power = np.where(x <= count, (1 - s) ** x, 0.0)
        chance = (x == 0).astype(np.float64)  # that y of the documents taken are of the class merged in
        all_passed, all_stopped = np.zeros(width), np.zeros(width)
        for taken in range(min(width, size + count + 1)):
            left = size + count - taken
            y = x[: taken + 1]
            reading, other = (chance * power)[: taken + 1], np.maximum(size - (taken - y), 0)
            all_passed[taken] = reading @ passed[taken::-1]
            if left:  # one more is of the class, or one of the others
                last = np.maximum(count - y, 0) * s * passed[taken::-1] + other * stopped[taken::-1]
                all_stopped[taken] = reading @ last / left
                chance = _one_more(chance, taken, count, size, left)
        passed, stopped, size = all_passed, all_stopped, size + count
    return stopped


def _one_more(chance: FloatArray, taken: int, count: int, size: int, left: int) -> FloatArray:
    """Return the chances that y of taken + 1 documents are of a class, from those of `taken` documents."""
    y = np.arange(len(chance))
    grown = np.maximum(size - (taken - y), 0) / left * chance
    grown[1:] += np.maximum(count - y[:-1], 0) / left * chance[:-1]
    grown[taken + 2 :] = 0.0
    return grown


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
    stoppers = groups.listed + (groups.plain if groups.plain_stop else 0)
    size, n_above = _sizes(groups, stoppers)
    cells = 4 * size * n_above  # of four tables
    alike = _alike(groups, size * n_above)
    _check_cost(cells, groups.listed - alike)
    some = _two_way_batches(groups.inside * (size > 0) * (alike == 0), groups.listed, cells)
    for index in chain(some, np.flatnonzero(alike)[:, None]):
        shape = int(n_above[index].max()), int(size[index].max())
        chance, chance_pair = _stop_moments(groups, index, shape, int(alike[index[0]]))
        gain, gain_pair = _gain_moments(groups, index, stoppers[index], shape[1], weights)
        centre = (chance * gain).sum(axis=1)
        part[index] = np.maximum((chance_pair * gain_pair[:, : shape[0]]).sum(axis=(1, 2)) - centre**2, 0.0)
    return part


def _sizes(groups: Groups, stoppers: IntArray) -> tuple[IntArray, IntArray]:
    """Return how many of a group's stoppers are read at most, and how many above the first of two, which count twice.

    Both are 0 for a group without variance.
    """
    limit = np.where(_is_random(groups), np.minimum(groups.inside, stoppers), 0)
    once, s = groups.mean_stop(), groups.plain_stop
    twice = replace(groups, stop=groups.stop * (2 - groups.stop), plain_stop=s * (2 - s)).mean_stop()
    of_stoppers = groups.tied / np.maximum(stoppers, 1)
    return _reach(limit, once * of_stoppers), _reach(limit, twice * of_stoppers)


def _check_cost(cells: IntArray, listed: IntArray) -> None:
    """Refuse tables that no memory holds, and say before the time is spent that it will be long."""
    most = int(cells.max(initial=0))
    if most > MAX_TABLE:
        raise MeasureError(
            f"the spread of a tie whose documents hardly ever stop the reading needs {most * 8 / 1e9:.0f}"
            f" GB (allowed: {MAX_TABLE * 8 / 1e9:.0f})",
            hint="cut the measure at a rank, such as @100; its mean needs no tables",
        )
    _announce(cells, listed, "spread")


def _announce(cells: IntArray, listed: IntArray, what: str) -> None:
    """Warn of a sum that takes long: every listed document is added to all cells of its group."""
    warn_of_time(
        f"the {what} of a cascade over large ties of many different grades",
        float((cells * listed.astype(np.float64)).sum()) / CELLS_A_SECOND,
        "; cut at a rank, such as @100, it takes less",
    )


def _is_random(groups: Groups) -> BoolArray:
    """Tell which groups hold documents of different kinds: the others have no variance, and no rounding error of it."""
    changes = np.append(
        0, np.cumsum(np.diff(groups.stop, append=0.0) != 0)
    )  # of probability, above each listed document
    varies = changes[groups.start + groups.listed - 1] != changes[groups.start]
    return (varies | (groups.plain > 0)) & (groups.listed > 0) & (groups.tied > 1) & (groups.inside > 0)


def _stop_moments(groups: Groups, index: IntArray, shape: tuple[int, int], alike: int) -> tuple[FloatArray, FloatArray]:
    """Return E[Z_s], of shape (b, size), and E[Z_s Z_s'], of shape (b, n_above, size), zero below the diagonal.

    The pairs above the diagonal are counted twice, for both of their orders. For s < s', Z_s Z_s' is the product of
    q^2 over the a = s - 1 documents above both, s q of the s-th, q over the b documents between, and s of the s'-th.
    `shape` is (n_above, size), `alike` as of `_alike` for a group by itself.
    """
    n_above, size = shape
    a, b = np.arange(n_above)[:, None], np.arange(size)
    n = groups.plain[index, None, None] if groups.plain_stop else np.zeros((len(index), 1, 1), np.int64)
    listed, stop = groups.listed[index], groups.padded(index, int(groups.listed[index].max()))
    if alike:
        stop = np.sort(stop)
        tables, twice = _together(np.append(np.full(int(n[0, 0, 0]), groups.plain_stop), stop[0, :alike]), shape)
        listed, stop, n = listed - alike, stop[:, alike:], n + alike
    else:
        s, q = groups.plain_stop, 1 - groups.plain_stop
        both = np.where(a + b <= n, q ** (2 * a + b), 0.0)  # mean product of q^2 over a documents and q over b others,
        one = np.where(a + b < n, both, 0.0)
        # times nothing; s of one more; s q of one more; and both
        tables = np.stack([both, one * s, one * s * q, np.where(a + b + 1 < n, both * s * s * q, 0.0)])
        twice = one[:, :, 0] * s * s  # and s^2 of one more, b = 0
    for added in range(stop.shape[1]):
        here = int(n.max()) + 2  # no more documents, no more cells
        real = added < listed
        grown, more = _with_document(tables[:, real, :here, :here], twice[real, :here], stop[real, added], n[real])
        tables[:, real, :here, :here], twice[real, :here] = grown, more
        n = n + 1
    pairs = np.zeros((len(index), n_above, size))
    for first in range(n_above):
        pairs[:, first, first] = twice[:, first]
        pairs[:, first, first + 1 :] = 2 * tables[3, :, first, : size - first - 1]
    return tables[1, :, 0], pairs


def _alike(groups: Groups, cells: IntArray) -> IntArray:
    """Return how many of each group's listed documents, those that stop the reading least, can be taken together."""
    found = np.zeros(len(cells), np.int64)
    for group in np.flatnonzero((cells > DEGREE**2) & (groups.listed >= MANY)):
        own = groups.stop[groups.start[group] : groups.start[group] + groups.listed[group]]
        plain = int(groups.plain[group]) if groups.plain_stop else 0
        squares = (1 - np.append(np.full(plain, groups.plain_stop), np.sort(own))) ** 2
        size = np.arange(1, len(squares) + 1)
        sums = np.maximum(np.cumsum(squares), np.finfo(np.float64).tiny)
        deviation = size * (size * np.cumsum(squares**2) / sums**2 - 1)  # sum of (q^2 / mean - 1)^2
        n_alike = int(np.flatnonzero(deviation <= ALIKE)[-1]) + 1 - plain  # a document by itself does not deviate
        found[group] = n_alike if n_alike >= MANY else 0
    return found


def _together(stop: FloatArray, shape: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
    r"""Return the tables of `_stop_moments` for one group of documents that are alike, without a step for each.

    With q^2 = r (1 + e) and q = p (1 + d), where r and p are the means, the mean product of q^2 over a documents and
    q over b others is :math:`r^a p^b \sum_{ij} c_{ij} a^{(i)} b^{(j)} / n^{(i+j)}`: falling factorials, and c the
    coefficients of :math:`\prod (1 + e t + d u)`. As the deviations e have the sum 0 and squares that sum to V,
    :math:`|c_i| \le (e V / i)^{i/2}`: few terms are needed, and for small V nothing cancels.
    """
    n, reading = len(stop), 1 - stop
    r, p = (reading**2).mean(), reading.mean()
    terms, squares = _expansion(stop, reading**2 / r - 1, reading / p - 1)
    a, b, i = np.arange(shape[0]), np.arange(shape[1]), np.arange(DEGREE)
    falling_a, falling_b = (np.cumprod(np.vstack([np.ones(len(x)), (x - i[:-1, None]) / n]), axis=0) for x in (a, b))
    degree = np.add.outer(i, i)
    steps = np.arange(2 * DEGREE + 2)
    scale = np.append(1.0, np.cumprod(np.where(steps < n, n / np.maximum(n - steps, 1), 0.0)))  # n^i / n^(i)
    decay = np.power.outer(r, a)[:, None] * np.power.outer(p, b)
    total = np.add.outer(a, b)
    tables = np.empty((4, 1, *shape))
    for table, marked in enumerate((0, 1, 1, 2)):
        scaled = terms[table] * scale[degree + marked] / n**marked
        found = (falling_a.T @ scaled @ falling_b) * decay
        tables[table, 0] = np.where(total + marked <= n, np.maximum(found, 0.0), 0.0)
    twice = (squares * scale[i + 1] / n) @ falling_a * decay[:, 0]
    return tables, np.where(a < n, np.maximum(twice, 0.0), 0.0)[None]


def _expansion(stop: FloatArray, e: FloatArray, d: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients of `_together`, of shape (4, DEGREE, DEGREE): plain, and with marked documents.

    The marked ones have s; s q; and one of each. The second array, of shape (DEGREE,), has s^2, for b = 0.
    """
    terms, squares = np.zeros((4, DEGREE, DEGREE)), np.zeros(DEGREE)
    terms[0, 0, 0] = 1.0
    for s, of_both, of_one in zip(stop.tolist(), e.tolist(), d.tolist(), strict=True):
        grown, more = terms.copy(), squares.copy()
        grown[:, 1:] += of_both * terms[:, :-1]
        grown[:, :, 1:] += of_one * terms[:, :, :-1]
        more[1:] += of_both * squares[:-1]
        grown[1] += s * terms[0]
        grown[2] += s * (1 - s) * terms[0]
        grown[3] += s * terms[2] + s * (1 - s) * terms[1]
        terms, squares = grown, more + s * s * terms[0, :, 0]
    return terms, squares


def _with_document(
    tables: FloatArray, twice: FloatArray, stop: FloatArray, n: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the tables of `_stop_moments`, of shape (4, b, n_above, size), with one document more than `n`."""
    a, b = np.arange(tables.shape[-2])[:, None], np.arange(tables.shape[-1])
    s, q, size = stop[:, None, None], 1 - stop[:, None, None], n + 1.0
    left = size - (a + b)  # documents beside the a and b: more than the marked ones wherever a table is not 0
    grown = np.empty_like(tables)
    for marked, table in ((0, slice(1)), (1, slice(1, 3)), (2, slice(3, 4))):
        np.multiply(tables[table], (left - marked) / size, out=grown[table])
    grown[..., 1:, :] += a[1:] * (q**2 / size) * tables[..., :-1, :]
    grown[..., :, 1:] += b[1:] * (q / size) * tables[..., :, :-1]
    grown[1] += s / size * tables[0]
    grown[2] += s * q / size * tables[0]
    grown[3] += s / size * tables[2] + s * q / size * tables[1]
    more = (left[:, :, 0] - 1) / size[:, 0] * twice + s[:, 0] ** 2 / size[:, 0] * tables[0, :, :, 0]
    more[:, 1:] += a[1:, 0] / size[:, 0] * q[:, 0] ** 2 * twice[:, :-1]
    return grown, more


def _gain_moments(
    groups: Groups, index: IntArray, stoppers: IntArray, size: int, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return E[w(T_s)], of shape (b, size), and E[w(T_s) w(T_s')], of shape (b, size, size), for s <= s'."""
    b, inside = len(index), groups.inside[index]
    n, seen = groups.tied[index, None], np.arange(size + 1)
    count = np.zeros((b, size + 1))  # probability that so many stoppers are above
    count[:, 0] = 1.0
    gained = np.zeros((b, size, size + 1))  # E[w(T_s); so many seen]
    single, pairs = np.zeros((b, size)), np.zeros((b, size, size))
    s = np.arange(size)
    low, high = 0, 1  # so many stoppers may be above: what is hardly ever so is left out
    for rank in range(int(inside.max())):
        w = np.where(rank < inside, weights[np.minimum(groups.above[index] + rank, len(weights) - 1)], 0.0)[:, None]
        likely = np.flatnonzero((count[:, low:high] > NEVER).any(axis=0))
        if not len(likely):
            break  # every order has more stoppers above
        low, high = low + int(likely[0]), min(low + int(likely[-1]) + 2, size + 1)
        top = min(high, size)  # the pairs end there
        now, up, up_to = slice(low, high), slice(low, top), slice(low + 1, top + 1)
        stop = np.clip((stoppers[:, None] - seen[now]) / np.maximum(n - rank, 1), 0.0, 1.0)
        stopped, arrived = gained[:, :top, now] * stop[:, None, :], count[:, now] * stop
        ends, some = stopped[:, :, : top - low], arrived[:, : top - low]
        pairs[:, :top, up] += ends * w[:, :, None]
        pairs[:, s[up], s[up]] += some * w * w
        single[:, up] += some * w
        gained[:, :top, now] -= stopped
        gained[:, :top, up_to] += ends
        gained[:, s[up], s[up] + 1] += some * w
        count[:, now] -= arrived
        count[:, up_to] += some
    return single, pairs
