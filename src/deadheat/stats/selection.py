"""The best of many, chosen on the data that it is judged by: how sure the choice is, and how much too good it looks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadheat.arguments import Rng, generator
from deadheat.arrays import FloatArray
from deadheat.stats.resampling import batches

MOST = 1 << 22  # counts of queries that are drawn at once
EQUAL = 1e-12  # of means that differ by rounding alone


@dataclass(frozen=True, eq=False)
class Selection:
    """What resamples say of a choice.

    Attributes
    ----------
    shares : ndarray of float, shape (n_columns,)
        Share of the resamples in which each is best; equal ones share one.
    optimism : float
        By how much the mean of the best is too good, on average: the mean of the best in a resample, less its mean on
        all queries.
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
    own, n_queries = generator(rng), values.shape[1]
    is_known = ~np.isnan(values)
    known = np.where(is_known, values if higher_is_better else -values, 0.0)
    of_all = known.sum(1) / np.maximum(is_known.sum(1), 1)
    shares, optimism = np.zeros(len(values)), 0.0
    for start, stop in batches(n_resamples, n_queries, MOST):
        drawn = own.multinomial(n_queries, np.full(n_queries, 1 / n_queries), size=stop - start).T.astype(np.float64)
        counts = is_known.astype(np.float64) @ drawn
        means = np.where(counts > 0, known @ drawn / np.maximum(counts, 1.0), -np.inf)
        best = means.max(0)
        is_best = means >= best - EQUAL * np.maximum(1.0, np.abs(best))
        weights = is_best / is_best.sum(0)
        shares += weights.sum(1)
        optimism += float((best - of_all @ weights).sum())
    return Selection(shares / n_resamples, optimism / n_resamples, n_resamples)
