"""Measures of the first relevant document: its rank has an exact hypergeometric distribution.

Only the first group with a relevant document is random. McSherry and Najork 2008, section 2.5, with the printed
sum corrected: P(first at x) = S(x - 1) - S(x), S(x) the probability that the first x ranks hold none.
"""

from collections.abc import Callable, Iterator

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import batches

TAIL_EXPONENT = 46.1  # -ln(1e-20): S(x) <= exp(-x r / n), so ranks beyond 46.1 n / r carry less than 1e-20
LEAST = 1e-18  # probability of a value that is listed


def moments(
    above: IntArray,
    tied: IntArray,
    inside: IntArray,
    relevant: IntArray,
    missed: FloatArray,
    *,
    value: Callable[[IntArray], FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of a function of the first relevant rank.

    Parameters
    ----------
    above, tied, inside, relevant : ndarray of shape (n_groups,)
        The first group of each query that has a relevant document (``relevant >= 1``).
    missed : ndarray of shape (n_groups,)
        The value where no relevant document is inside.
    value : callable
        Maps ranks to values.

    Returns
    -------
    mean, variance : ndarray of shape (n_groups,)
    """
    mean, variance = missed.astype(np.float64), np.zeros(len(above))
    for index, ranks, here, never in _first_ranks(above, tied, inside, relevant):
        other, at_rank = mean[index], value(ranks)
        centre = (here * at_rank).sum(axis=1) + np.where(never > 0, never * other, 0.0)
        certain = (never == 0) & (at_rank == at_rank[:, :1]).all(axis=1, where=here > 0)
        centre = np.where(certain, at_rank[:, 0], centre)  # probabilities may add up to a little less than 1
        squares = (here * (at_rank - centre[:, None]) ** 2).sum(axis=1)
        variance[index] = squares + np.where(never > 0, never * (other - centre) ** 2, 0.0)
        mean[index] = centre
    return mean, variance


def distributions(
    above: IntArray,
    tied: IntArray,
    inside: IntArray,
    relevant: IntArray,
    missed: FloatArray,
    *,
    value: Callable[[IntArray], FloatArray],
) -> list[tuple[FloatArray, FloatArray]]:
    """Return the values that a function of the first relevant rank can take, and their probabilities.

    The parameters are those of :func:`moments`. Values whose probability is below 1e-18 are left out, and nothing
    takes their place: what is missing from a sum of 1 is less than its rounding error.

    Returns
    -------
    list of (values, probabilities)
        For each group, rank by rank; the value where none is found comes last.
    """
    found: list[tuple[FloatArray, FloatArray]] = [(other, np.ones(1)) for other in missed.astype(np.float64)[:, None]]
    for index, ranks, here, never in _first_ranks(above, tied, inside, relevant):
        values = np.column_stack((value(ranks), missed[index]))
        probabilities = np.column_stack((here, never))
        listed = probabilities >= LEAST
        for row, group in enumerate(index.tolist()):
            found[group] = values[row, listed[row]], probabilities[row, listed[row]]
    return found


def _first_ranks(
    above: IntArray, tied: IntArray, inside: IntArray, relevant: IntArray
) -> Iterator[tuple[IntArray, IntArray, FloatArray, FloatArray]]:
    """Yield, for groups of similar size, how likely each rank is the first relevant one.

    Yields
    ------
    index : ndarray of shape (n,)
        The groups; those with nothing inside are left out.
    ranks : ndarray of int, shape (n, width)
    here : ndarray of shape (n, width)
        Probability of each rank.
    never : ndarray of shape (n,)
        Probability that none is inside, or on a rank beyond the negligible ones; 0 where one must.
    """
    reach = np.minimum(inside, tied - relevant + 1)
    reach = np.minimum(reach, np.ceil(TAIL_EXPONENT * tied / relevant).astype(np.int64) + 1)
    for index, width in batches(reach):
        x = np.arange(1, width + 1)
        n, r = tied[index, None], relevant[index, None]
        left = np.maximum(n - x + 1, 1)
        missing = np.where(x <= reach[index, None], np.maximum(left - r, 0) / left, 1.0)
        none = np.cumprod(missing, axis=1, dtype=np.float64)
        before = np.concatenate((np.ones((len(index), 1)), none[:, :-1]), axis=1)
        here = np.where(x <= reach[index, None], before * np.minimum(r / left, 1.0), 0.0)
        must = inside[index] > tied[index] - relevant[index]
        yield index, above[index, None] + x, here, np.where(must, 0.0, none[:, -1])
