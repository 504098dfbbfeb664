"""How sure a choice of the best column is, and how optimistic, by resampling queries."""

from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.resamples import batches

BATCH_CELLS = 1 << 22  # counts of queries that are drawn at once


@dataclass(frozen=True, eq=False)
class Selection:
    """The choice of the best column, in resamples of the queries.

    Attributes
    ----------
    shares : ndarray of float, shape (n_columns,)
        Share of the resamples in which the column is best; columns that are best together share a resample.
    optimism : float
        How much too good the mean of the chosen column is, on average: the mean of the best column in a resample, less
        the mean of that column on all queries.
    n_resamples : int
    """

    shares: FloatArray
    optimism: float
    n_resamples: int


def resample_choice(
    values: FloatArray, *, higher_is_better: bool = True, n_resamples: int = 1000, rng: Rng = 0
) -> Selection:
    r"""Return how often each column is the best one if the queries are resampled, and the optimism of the choice.

    .. math:: optimism = \frac{1}{B} \sum_b \left( \max_c \bar{x}_{cb} - \bar{x}_{c_b} \right)

    where :math:`c_b` is the best column of resample b, and the second mean is over all queries.

    Parameters
    ----------
    values : ndarray of float, shape (n_columns, n_queries)
        NaN where a query has no value.
    higher_is_better : bool, default True
    n_resamples : int, default 1000
    rng : numpy.random.Generator or int, default 0

    Returns
    -------
    Selection

    References
    ----------
    Efron and Gong 1983, https://doi.org/10.1080/00031305.1983.10483087.

    Examples
    --------
    >>> resample_choice(np.array([[0.1, 0.2, 0.3], [0.5, 0.6, 0.7]])).shares.tolist()
    [0.0, 1.0]
    """
    generator = random_generator(rng)
    n_queries = values.shape[1]
    signed = values if higher_is_better else -values
    is_known = ~np.isnan(values)
    filled = np.where(is_known, signed, 0.0)
    means_of_all = filled.sum(1) / np.maximum(is_known.sum(1), 1)
    shares = np.zeros(len(values))
    optimism = 0.0
    equal_chances = np.full(n_queries, 1 / n_queries)
    for start, stop in batches(n_resamples, n_queries, BATCH_CELLS):
        drawn = generator.multinomial(n_queries, equal_chances, size=stop - start).T.astype(np.float64)
        n_known = is_known.astype(np.float64) @ drawn
        means = np.where(n_known > 0, filled @ drawn / np.maximum(n_known, 1.0), -np.inf)
        best = means.max(0)
        rounding = ROUNDING * np.maximum(1.0, np.abs(best))
        is_best = means >= best - rounding
        share_of_best = is_best / is_best.sum(0)  # in each resample
        shares += share_of_best.sum(1)
        optimism += float((best - means_of_all @ share_of_best).sum())
    return Selection(shares / n_resamples, optimism / n_resamples, n_resamples)
