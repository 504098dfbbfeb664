r"""The expected gain of a user who reads from the top and stops at a document with a probability, as in ERR.

.. math:: M = \sum_i w_i\, s_i \prod_{l < i} q_l, \qquad q = 1 - s

with the weight w of a rank and the stop probability s of the document on it. docs/math.md derives the moments in
section 9; the variance is in `cascade_variance.py`.

The functions return the part of each group for a user who has arrived at it. The caller multiplies by the probability
of arriving, which does not depend on the order above.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.errors import warn_of_time
from deadheat.core.kernels.segments import batches

DECAY_EXPONENT = 41.5  # -ln(1e-18)
SMALLEST_DECAY = 1e-15
CELLS_A_SECOND = 1e8  # cells of tables to which one document is added
MANY_LISTED = 512  # listed documents; groups with more merge equal ones where that takes fewer steps
UNLIMITED = 1 << 62


@dataclass(frozen=True)
class Groups:
    """Groups of tied documents with their stop probabilities.

    The *plain* documents, unjudged ones and others like them, all stop the user with one probability, and are only
    counted. The others are *listed*, with a probability for each.

    Attributes
    ----------
    above, tied, inside : ndarray of shape (n_groups,)
        Documents above the group, documents in it, its ranks within the cutoff.
    n_plain : ndarray of shape (n_groups,)
        Plain documents of the group.
    plain_stop : float
        Stop probability of a plain document, often 0.
    first_listed, n_listed : ndarray of shape (n_groups,)
        Where the listed documents of the group begin in `stop`, and how many they are.
    stop : ndarray of shape (n_rows,)
        Stop probability of each listed document.
    """

    above: IntArray
    tied: IntArray
    inside: IntArray
    n_plain: IntArray
    plain_stop: float
    first_listed: IntArray
    n_listed: IntArray
    stop: FloatArray

    def mean_stop(self) -> FloatArray:
        """Return the mean stop probability of each group's documents, of shape (n_groups,)."""
        cumulative = np.concatenate(([0.0], np.cumsum(self.stop)))
        sum_of_listed = cumulative[self.first_listed + self.n_listed] - cumulative[self.first_listed]
        return (sum_of_listed + self.n_plain * self.plain_stop) / self.tied

    def read_on(self) -> FloatArray:
        """Return the probability of reading past all documents of each group, of shape (n_groups,)."""
        product = np.ones(len(self.tied))
        for index, width in batches(self.n_listed):
            product[index] = (1 - self.pad_stops(index, width)).prod(axis=1)
        return product * (1 - self.plain_stop) ** self.n_plain

    def stops_of(self, group: int) -> FloatArray:
        """Return the stop probabilities of one group's listed documents, of shape (n_listed,)."""
        first = int(self.first_listed[group])
        return self.stop[first : first + int(self.n_listed[group])]

    def pad_stops(self, index: IntArray, width: int) -> FloatArray:
        """Return the listed stop probabilities of the groups `index`, of shape (b, width), padded with 0."""
        place = np.arange(width)
        row = np.minimum(self.first_listed[index, None] + place, len(self.stop) - 1)
        return np.where(place < self.n_listed[index, None], self.stop[row], 0.0)


def count_documents_read(limit: IntArray, mean_stop: FloatArray) -> IntArray:
    """Return how many documents of each group are read before the probability of reading on is negligible.

    The mean product of q over x documents is at most (mean q) ** x, by Maclaurin's inequality.

    Parameters
    ----------
    limit : ndarray of shape (n_groups,)
        The most that can be read.
    mean_stop : ndarray of shape (n_groups,)

    Returns
    -------
    ndarray of shape (n_groups,)
    """
    with np.errstate(divide="ignore"):
        decay = np.maximum(-np.log1p(-np.clip(mean_stop, 0.0, 1.0)), SMALLEST_DECAY)
    n_read = np.ceil(DECAY_EXPONENT / decay).astype(np.int64) + 1
    return np.minimum(limit, n_read)


def batch_groups(width: IntArray, n_steps: IntArray, n_cells: IntArray) -> Iterator[IntArray]:
    """Yield the indices of groups whose tables are alike in width and in size, and take similar numbers of steps.

    Parameters
    ----------
    width, n_steps, n_cells : ndarray of shape (n_groups,)
        Columns of a group's tables (groups with 0 are left out), documents to add, and cells of the tables.
    """
    for alike_in_steps, _ in batches(n_steps + 1, max_cells=UNLIMITED):
        for chosen, _ in batches(np.maximum(n_cells[alike_in_steps], 1)):
            alike_in_cells = alike_in_steps[chosen]
            for alike_in_width, _ in batches(width[alike_in_cells], max_cells=UNLIMITED):
                yield alike_in_cells[alike_in_width]


def announce_duration(n_cells: IntArray, n_listed: IntArray, what: str) -> None:
    """Warn of tables that take long to fill: each listed document is added to all cells of its group's tables."""
    n_additions = float((n_cells * n_listed.astype(np.float64)).sum())
    warn_of_time(
        f"the {what} of a cascade over large ties of many different grades",
        n_additions / CELLS_A_SECOND,
        "; cut at a rank, such as @100, it takes less",
    )


def mean(groups: Groups, *, weights: FloatArray) -> FloatArray:
    """Return the expected gain of a user who arrives at each group.

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
    n_read = count_documents_read(groups.inside, groups.mean_stop())
    never_stops = (groups.n_listed == 0) & (groups.plain_stop == 0)
    n_read[never_stops] = 0
    announce_duration(n_read, groups.n_listed, "mean")
    for index in batch_groups(n_read, groups.n_listed, n_read):
        width = int(n_read[index].max())
        if groups.n_listed[index].max() > MANY_LISTED:
            stopped = np.stack([_chances_in_large_group(groups, int(group), width) for group in index])
        else:
            stopped = compute_stop_chances(groups, index, width)
        place = np.arange(width)
        rank = np.minimum(groups.above[index, None] + place, len(weights) - 1)
        gain = np.where(place < n_read[index, None], weights[rank], 0.0)
        part[index] = (gain * stopped).sum(axis=1)
    return part


def _chances_in_large_group(groups: Groups, group: int, width: int) -> FloatArray:
    """Return the chances of :func:`compute_stop_chances` for one group, of shape (width,), by the shorter way."""
    stops, counts = np.unique(groups.stops_of(group), return_counts=True)
    if len(stops) * width < groups.n_listed[group]:
        counts_by_stop = dict(zip(stops.tolist(), counts.tolist(), strict=True))
        return merge_classes(int(groups.n_plain[group]), groups.plain_stop, counts_by_stop, width)
    return compute_stop_chances(groups, np.array([group]), width)[0]


def compute_stop_chances(groups: Groups, index: IntArray, width: int) -> FloatArray:
    """Return the chance that a user stops at each of the first `width` documents of some groups.

    `passed` and `stopped` are P and F of section 9; documents are added one by one.

    Parameters
    ----------
    groups : Groups
    index : ndarray of shape (b,)
    width : int

    Returns
    -------
    ndarray of shape (b, width)
    """
    n_plain, n_listed = groups.n_plain[index, None], groups.n_listed[index]
    passed, stopped = _chances_of_plain(n_plain, groups.plain_stop, width)
    stop = groups.pad_stops(index, int(n_listed.max(initial=0)))
    x = np.arange(width + 1)
    for n_added in range(stop.shape[1]):
        s = stop[:, n_added, None]
        size = n_plain + n_added + 1  # with the new document
        not_among_first = np.maximum(size - x, 0) / size  # chance that the new document is not one of the first x
        among_first_and_passed = x[1:-1] / size * (1 - s)
        new_stopped = not_among_first[:, 1:] * stopped
        new_stopped += s / size * passed
        new_stopped[:, 1:] += among_first_and_passed * stopped[:, :-1]
        new_passed = not_among_first[:, :-1] * passed
        new_passed[:, 1:] += among_first_and_passed * passed[:, :-1]
        has_document = n_added < n_listed[:, None]
        if not has_document.all():
            new_stopped = np.where(has_document, new_stopped, stopped)
            new_passed = np.where(has_document, new_passed, passed)
        stopped, passed = new_stopped, new_passed
    return stopped


def _chances_of_plain(n_plain: IntArray | int, plain_stop: float, width: int) -> tuple[FloatArray, FloatArray]:
    """Return P and F of plain documents alone, of shape (width,) or (b, width)."""
    x = np.arange(width)
    passed = np.where(x <= n_plain, (1 - plain_stop) ** x, 0.0)
    stopped = np.where(x < n_plain, passed * plain_stop, 0.0)
    return passed, stopped


def merge_classes(n_plain: int, plain_stop: float, counts: dict[float, int], width: int) -> FloatArray:
    """Return the chance that a user stops at each of the first `width` documents of one group.

    It takes a step for each class of documents with the same stop probability and each x, not for each document.

    Parameters
    ----------
    n_plain : int
    plain_stop : float
    counts : dict of float to int
        Documents of each class, by their stop probability.
    width : int

    Returns
    -------
    ndarray of shape (width,)
    """
    passed, stopped = _chances_of_plain(n_plain, plain_stop, width)
    n_merged = n_plain
    for s, count in counts.items():
        size = n_merged + count
        passed_class = np.where(np.arange(width) <= count, (1 - s) ** np.arange(width), 0.0)
        chance: FloatArray = np.zeros(width)  # that y of x documents are of the class
        chance[0] = 1.0
        new_passed, new_stopped = np.zeros(width), np.zeros(width)
        for x in range(min(width, size + 1)):
            y = np.arange(x + 1)
            passed_y = (chance * passed_class)[: x + 1]
            passed_rest, stopped_rest = passed[x::-1], stopped[x::-1]  # of the x - y others
            new_passed[x] = passed_y @ passed_rest
            n_left = size - x
            if n_left:
                n_left_of_class = np.maximum(count - y, 0)
                n_left_of_rest = np.maximum(n_merged - (x - y), 0)
                stops_next = n_left_of_class * s * passed_rest + n_left_of_rest * stopped_rest
                new_stopped[x] = passed_y @ stops_next / n_left
                chance = _draw_next(chance, x, count, n_merged)
        passed, stopped, n_merged = new_passed, new_stopped, size
    return stopped


def _draw_next(chance: FloatArray, x: int, count: int, n_others: int) -> FloatArray:
    """Return the chances that y of x + 1 documents are of a class of `count`, from those of x documents."""
    y = np.arange(len(chance))
    n_left = count + n_others - x
    new_chance = np.maximum(n_others - (x - y), 0) / n_left * chance
    new_chance[1:] += np.maximum(count - y[:-1], 0) / n_left * chance[:-1]
    return new_chance
