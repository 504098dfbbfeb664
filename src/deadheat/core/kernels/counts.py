"""Functions of the number of relevant documents in the top k, a hypergeometric number.

Only the tie that the cutoff cuts is random: it puts `inside` of its `tied` documents into the top k.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, concatenated_ranges
from deadheat.core.kernels.segments import batches


@dataclass(frozen=True, eq=False)
class Relevant:
    """The ties that contain a relevant document, in the order of queries and ranks.

    Attributes
    ----------
    query, above, tied : ndarray of shape (n_groups,)
        Query code, number of documents above the tie and in it.
    count, before : ndarray of shape (n_groups,)
        Number of relevant documents in the tie, and above it.
    """

    query: IntArray
    above: IntArray
    tied: IntArray
    count: IntArray
    before: IntArray

    def __getitem__(self, index: IntArray | BoolArray) -> "Relevant":
        return Relevant(self.query[index], self.above[index], self.tied[index], self.count[index], self.before[index])

    def apart(self, *, best: bool) -> "Relevant":
        """Return the documents without ties, each on one of the first (`best`) or last ranks of its own."""
        ties, within = (
            np.repeat(np.arange(len(self.query)), self.count),
            concatenated_ranges(np.zeros_like(self.count), self.count),
        )
        first = self.above if best else self.above + self.tied - self.count
        alone = np.ones_like(ties)
        return Relevant(self.query[ties], first[ties] + within, alone, alone, self.before[ties] + within)

    def numbered(self) -> "Relevant":
        """Return the ties with the queries that are left numbered from 0 on."""
        return replace(self, query=np.unique(self.query, return_inverse=True)[1])

    @classmethod
    def of_parts(cls, parts: Sequence["Relevant"], starts: Sequence[int]) -> "Relevant":
        """Return the ties of several parts, one after the other, whose queries are numbered from some numbers on."""
        query = np.concatenate([part.query + start for part, start in zip(parts, starts, strict=True)])
        others = ([vars(part)[name] for part in parts] for name in ("above", "tied", "count", "before"))
        return cls(query, *map(np.concatenate, others))


def mean(tied: IntArray, inside: IntArray, relevant: IntArray) -> FloatArray:
    """Return the expected number of relevant documents that each group puts into the top k."""
    return np.where(inside == tied, relevant, inside * (relevant / tied))


def variance(tied: IntArray, inside: IntArray, relevant: IntArray) -> FloatArray:
    """Return the variance of that number: 0 unless the cutoff cuts the group."""
    share = relevant / tied
    return inside * share * (1 - share) * (tied - inside) / np.maximum(tied - 1, 1)


def distribution(
    tied: IntArray, inside: IntArray, relevant: IntArray
) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
    """Yield the distribution of the number inside, in batches of groups.

    Probabilities are running products of ratios away from the mode, so that nothing overflows and no digit is
    lost to factorials.

    Yields
    ------
    index : ndarray of shape (b,)
        The groups of the batch.
    count : ndarray of shape (b, w)
        Numbers of relevant documents inside; padding repeats a possible number with probability 0.
    probability : ndarray of shape (b, w)
        Each row sums to 1.
    """
    low, high = np.maximum(0, inside - (tied - relevant)), np.minimum(relevant, inside)  # numbers that are possible
    mode = np.clip((inside + 1) * (relevant + 1) // (tied + 2), low, high)
    for index, width in batches(high - low + 1):
        n, m, r = tied[index, None], inside[index, None], relevant[index, None]
        peak, step = mode[index, None], np.arange(width)
        up, down = peak + step, peak - step
        with np.errstate(divide="ignore", invalid="ignore"):
            rising = (r - up + 1) * (m - up + 1) / (up * (n - r - m + up))
            falling = (down + 1) * (n - r - m + down + 1) / ((r - down) * (m - down))
        rising = np.where((up <= high[index, None]) & (step > 0), rising, step == 0)
        falling = np.where((down >= low[index, None]) & (step > 0), falling, step == 0)
        mass = np.concatenate((np.cumprod(rising, axis=1), np.cumprod(falling, axis=1)[:, 1:]), axis=1)
        count = np.clip(np.concatenate((up, down[:, 1:]), axis=1), low[index, None], high[index, None])
        yield index, count, mass / mass.sum(axis=1, keepdims=True)


def mix(
    tied: IntArray,
    inside: IntArray,
    relevant: IntArray,
    given: Callable[[IntArray, IntArray], tuple[FloatArray, FloatArray]],
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of a value whose mean and variance are known for each number inside.

    Parameters
    ----------
    tied, inside, relevant : ndarray of shape (n_groups,)
    given : callable
        ``given(index, count)`` returns the conditional mean and variance, shaped as `count`.

    Returns
    -------
    mean, variance : ndarray of shape (n_groups,)
    """
    mean_, variance_ = np.zeros(len(tied)), np.zeros(len(tied))
    for index, count, probability in distribution(tied, inside, relevant):
        value, spread = given(index, count)
        centre = (probability * value).sum(axis=1)
        mean_[index] = centre
        variance_[index] = (probability * (spread + (value - centre[:, None]) ** 2)).sum(axis=1)
    return mean_, variance_
