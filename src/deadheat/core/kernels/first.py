"""Functions of the rank of the first relevant document, which has a hypergeometric distribution: RR, Hit, FRP.

docs/math.md, section 5. Only the first group with a relevant document is random. With S(x) the probability that its
first x ranks hold none, rank x is the first relevant one with probability S(x - 1) - S(x). This corrects the sum in
section 2.5 of McSherry and Najork 2008, https://doi.org/10.1007/978-3-540-78646-7_38.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import batches

TAIL_EXPONENT = 46.1  # -ln(1e-20): S(x) <= exp(-x r / n), so ranks beyond 46.1 n / r carry less than 1e-20
LEAST_PROBABILITY = 1e-18  # of a value in a distribution


@dataclass(frozen=True)
class FirstRanks:
    """How likely each rank is the first relevant one, for groups of similar size.

    Attributes
    ----------
    index : ndarray of shape (b,)
        The groups; those without a rank inside are left out.
    rank : ndarray of int, shape (b, w)
        Ranks in the list.
    probability : ndarray of shape (b, w)
        That the first relevant document is there; 0 for padding.
    chance_missed : ndarray of shape (b,)
        Probability that none is on these ranks; 0 where one must be inside. Negligible ranks are left out of them.
    """

    index: IntArray
    rank: IntArray
    probability: FloatArray
    chance_missed: FloatArray


def mean(
    above: IntArray,
    tied: IntArray,
    inside: IntArray,
    relevant: IntArray,
    value_missed: FloatArray,
    *,
    value: Callable[[IntArray], FloatArray],
) -> FloatArray:
    """Return the mean of a function of the first relevant rank.

    Parameters
    ----------
    above, tied, inside, relevant : ndarray of shape (n_groups,)
        The first group of each query that has a relevant document (``relevant >= 1``).
    value_missed : ndarray of shape (n_groups,)
        The value where no relevant document is inside.
    value : callable
        Maps ranks to values.

    Returns
    -------
    ndarray of shape (n_groups,)
    """
    means = value_missed.astype(np.float64)  # of groups without a rank inside, which no batch has
    for batch in _batch_first_ranks(above, tied, inside, relevant):
        means[batch.index] = _mean_of_batch(batch, value(batch.rank), value_missed[batch.index])
    return means


def variance(
    above: IntArray,
    tied: IntArray,
    inside: IntArray,
    relevant: IntArray,
    value_missed: FloatArray,
    *,
    value: Callable[[IntArray], FloatArray],
) -> FloatArray:
    """Return the variance of a function of the first relevant rank; parameters and shape as for :func:`mean`."""
    variances = np.zeros(len(above))
    for batch in _batch_first_ranks(above, tied, inside, relevant):
        values = value(batch.rank)
        missed = value_missed[batch.index]
        mean_of_batch = _mean_of_batch(batch, values, missed)
        squares = (batch.probability * (values - mean_of_batch[:, None]) ** 2).sum(axis=1)
        square_missed = _weigh_missed(batch, (missed - mean_of_batch) ** 2)
        variances[batch.index] = squares + square_missed
    return variances


def _mean_of_batch(batch: FirstRanks, values: FloatArray, missed: FloatArray) -> FloatArray:
    """Return the mean of each group from the values of its ranks and the value where none is relevant."""
    mean_of_batch = (batch.probability * values).sum(axis=1) + _weigh_missed(batch, missed)
    is_same = ((values == values[:, :1]) | (batch.probability == 0)).all(axis=1)
    is_certain = is_same & (batch.chance_missed == 0)
    return np.where(is_certain, values[:, 0], mean_of_batch)  # the probabilities may add up to a little less than 1


def _weigh_missed(batch: FirstRanks, missed: FloatArray) -> FloatArray:
    """Return numbers times the chance of a miss; 0 where there is no such chance, as the number may be infinite."""
    return np.where(batch.chance_missed > 0, batch.chance_missed * missed, 0.0)


def distributions(
    above: IntArray,
    tied: IntArray,
    inside: IntArray,
    relevant: IntArray,
    value_missed: FloatArray,
    *,
    value: Callable[[IntArray], FloatArray],
) -> list[tuple[FloatArray, FloatArray]]:
    """Return the values that a function of the first relevant rank can take, and their probabilities.

    The parameters are those of :func:`mean`. Values whose probability is below 1e-18 are left out, and nothing
    takes their place: the others add up to 1 but for rounding.

    Returns
    -------
    list of (values, probabilities)
        For each group, rank by rank; the value where none is inside comes last.
    """
    results: list[tuple[FloatArray, FloatArray]] = []
    for certain_value in value_missed.astype(np.float64)[:, None]:  # of groups without a rank inside
        results.append((certain_value, np.ones(1)))
    for batch in _batch_first_ranks(above, tied, inside, relevant):
        values = np.column_stack((value(batch.rank), value_missed[batch.index]))
        probabilities = np.column_stack((batch.probability, batch.chance_missed))
        is_possible = probabilities >= LEAST_PROBABILITY
        for row, group in enumerate(batch.index.tolist()):
            possible = is_possible[row]
            results[group] = values[row, possible], probabilities[row, possible]
    return results


def _batch_first_ranks(above: IntArray, tied: IntArray, inside: IntArray, relevant: IntArray) -> Iterator[FirstRanks]:
    """Yield how likely each rank is the first relevant one, in batches of groups; parameters as for `mean`."""
    last_possible = np.minimum(inside, tied - relevant + 1)
    last_likely = np.ceil(TAIL_EXPONENT * tied / relevant).astype(np.int64) + 1
    n_ranks = np.minimum(last_possible, last_likely)
    for index, width in batches(n_ranks):
        x = np.arange(1, width + 1)
        is_rank = x <= n_ranks[index, None]
        n, r = tied[index, None], relevant[index, None]
        n_left = np.maximum(n - x + 1, 1)  # documents of the group that the x - 1 ranks above leave over
        ratio = np.where(is_rank, np.maximum(n_left - r, 0) / n_left, 1.0)  # S(x) / S(x - 1)
        none_so_far = np.cumprod(ratio, axis=1, dtype=np.float64)  # S(x)
        none_above = np.ones_like(none_so_far)  # S(x - 1)
        none_above[:, 1:] = none_so_far[:, :-1]
        probability = np.where(is_rank, none_above * np.minimum(r / n_left, 1.0), 0.0)
        must_be_inside = inside[index] > tied[index] - relevant[index]
        chance_missed = np.where(must_be_inside, 0.0, none_so_far[:, -1])
        yield FirstRanks(index, above[index, None] + x, probability, chance_missed)
