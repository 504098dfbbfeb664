"""Functions of the number of relevant documents in the top k, a hypergeometric number.

docs/math.md, section 4. Only the group that the cutoff cuts is random: `inside` of its `tied` documents are in the
top k.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, concatenate_ranges
from deadheat.core.kernels.segments import batches


@dataclass(frozen=True, eq=False)
class Relevant:
    """The groups that contain a relevant document, in the order of queries and ranks.

    Attributes
    ----------
    query, above, tied : ndarray of shape (n_groups,)
        Query code, number of documents above the group and in it.
    count, before : ndarray of shape (n_groups,)
        Number of relevant documents in the group, and above it.
    """

    query: IntArray
    above: IntArray
    tied: IntArray
    count: IntArray
    before: IntArray

    def __getitem__(self, index: IntArray | BoolArray) -> "Relevant":
        return Relevant(self.query[index], self.above[index], self.tied[index], self.count[index], self.before[index])

    def separate(self, *, best: bool) -> "Relevant":
        """Return each relevant document as a group of one: on the first ranks of its group (`best`), or on the last."""
        group = np.repeat(np.arange(len(self.query)), self.count)
        place = concatenate_ranges(np.zeros_like(self.count), self.count)  # among the relevant ones of the group
        above_first = self.above
        if not best:
            above_first = self.above + self.tied - self.count
        one = np.ones_like(group)
        return Relevant(
            query=self.query[group],
            above=above_first[group] + place,
            tied=one,
            count=one,
            before=self.before[group] + place,
        )

    def renumber_queries(self) -> "Relevant":
        """Return the groups with new query codes: 0, 1, ... for the queries that have a group."""
        _, number = np.unique(self.query, return_inverse=True)
        return replace(self, query=number)

    @classmethod
    def concatenate(cls, parts: Sequence["Relevant"], starts: Sequence[int]) -> "Relevant":
        """Return the groups of several parts one after the other; the start of a part is added to its query codes."""
        queries = [part.query + start for part, start in zip(parts, starts, strict=True)]
        return cls(
            query=np.concatenate(queries),
            above=np.concatenate([part.above for part in parts]),
            tied=np.concatenate([part.tied for part in parts]),
            count=np.concatenate([part.count for part in parts]),
            before=np.concatenate([part.before for part in parts]),
        )


def mean(tied: IntArray, inside: IntArray, relevant: IntArray) -> FloatArray:
    """Return the expected number of relevant documents that each group puts into the top k.

    Parameters
    ----------
    tied, inside, relevant : ndarray of shape (n_groups,)
        Documents in the group, its ranks within the cutoff, relevant documents in the group.

    Returns
    -------
    ndarray of shape (n_groups,)
    """
    is_whole = inside == tied
    return np.where(is_whole, relevant, inside * (relevant / tied))


def variance(tied: IntArray, inside: IntArray, relevant: IntArray) -> FloatArray:
    """Return the variance of the number of relevant documents that each group puts into the top k.

    It is 0 unless the cutoff cuts the group. The parameters are those of :func:`mean`.
    """
    share = relevant / tied
    return inside * share * (1 - share) * (tied - inside) / np.maximum(tied - 1, 1)


def distribution(
    tied: IntArray, inside: IntArray, relevant: IntArray
) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
    """Yield how likely each number of relevant documents inside is, in batches of groups.

    The parameters are those of :func:`mean`.

    Probabilities are running products of the ratios of neighbours, from the most probable number upwards and downwards,
    so that nothing overflows and no digit is lost to factorials.

    Yields
    ------
    index : ndarray of shape (b,)
        The groups of the batch.
    count : ndarray of shape (b, w)
        Numbers of relevant documents inside; padding repeats a possible number with probability 0.
    probability : ndarray of shape (b, w)
        Each row sums to 1.
    """
    lowest = np.maximum(0, inside - (tied - relevant))
    highest = np.minimum(relevant, inside)
    mode = np.clip((inside + 1) * (relevant + 1) // (tied + 2), lowest, highest)
    for index, width in batches(highest - lowest + 1):
        n, m, r = tied[index, None], inside[index, None], relevant[index, None]
        low, high, peak = lowest[index, None], highest[index, None], mode[index, None]
        step = np.arange(width)
        up, down = peak + step, peak - step
        with np.errstate(divide="ignore", invalid="ignore"):  # of impossible numbers, whose ratios become 0 below
            ratio_up = (r - up + 1) * (m - up + 1) / (up * (n - r - m + up))  # P(x) / P(x - 1)
            ratio_down = (down + 1) * (n - r - m + down + 1) / ((r - down) * (m - down))  # P(x) / P(x + 1)
        at_peak = step == 0  # both products begin here, with a factor of 1
        ratio_up = np.where((up <= high) & ~at_peak, ratio_up, at_peak)
        ratio_down = np.where((down >= low) & ~at_peak, ratio_down, at_peak)
        # The products have no names, so that NumPy reuses their memory: names cost 8 % here.
        mass = np.concatenate((np.cumprod(ratio_up, axis=1), np.cumprod(ratio_down, axis=1)[:, 1:]), axis=1)
        count = np.clip(np.concatenate((up, down[:, 1:]), axis=1), low, high)
        yield index, count, mass / mass.sum(axis=1, keepdims=True)


def mix(
    tied: IntArray,
    inside: IntArray,
    relevant: IntArray,
    given: Callable[[IntArray, IntArray], tuple[FloatArray, FloatArray]],
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of a value whose moments are known for each number of relevant documents inside.

    Parameters
    ----------
    tied, inside, relevant : ndarray of shape (n_groups,)
        As for :func:`mean`.
    given : callable
        ``given(index, count)`` returns the conditional mean and variance, shaped as `count`.

    Returns
    -------
    mean, variance : ndarray of shape (n_groups,)
    """
    means, variances = np.zeros(len(tied)), np.zeros(len(tied))
    for index, count, probability in distribution(tied, inside, relevant):
        mean_given, variance_given = given(index, count)
        overall = (probability * mean_given).sum(axis=1)
        means[index] = overall
        variances[index] = (probability * (variance_given + (mean_given - overall[:, None]) ** 2)).sum(axis=1)
    return means, variances
