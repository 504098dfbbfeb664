"""Bounds of shares of documents, which come by query."""

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.stats.resamples import BATCH_CELLS, batches

N_SAMPLES = 9_999
MOST_WEIGHTS = 10_000_000  # that share_bounds() draws: of very many groups fewer sets, but at least FEWEST_SETS
FEWEST_SETS = 999


def share_bounds(
    hits: FloatArray, totals: FloatArray, confidence_level: float = 0.95, *, n_sets: int = N_SAMPLES
) -> FloatArray:
    r"""Return the bounds of shares of things that come in groups, such as documents of queries.

    Gaffke's bounds of a mean from 0 to 1, whose units are the groups,

    .. math:: \frac{\sum_{g=1}^{G} w_g x_g}{\sum_{g=1}^{G} w_g n_g + w_{G+1} \bar{n}}, \quad
        \frac{\sum_{g=1}^{G} w_g x_g + w_{G+1} \bar{n}}{\sum_{g=1}^{G} w_g n_g + w_{G+1} \bar{n}}, \quad
        w \sim \text{Exponential}(1), \quad \bar{n} = \frac{\sum_g n_g^2}{\sum_g n_g}

    with x of the n things of a group that count. The lower bound is a quantile of the first ratio, the upper one of the
    second. The added group has the size that a thing's own group has on average: all things over Kish's number of
    groups. So an interval has a width also where all groups have the same share, where a jackknife has none; of groups
    of one thing each it is Clopper and Pearson's.

    Parameters
    ----------
    hits, totals : ndarray of float, shape (n_groups, n_shares)
        How many things of each group count, and how many there are; groups without things change nothing.
    confidence_level : float, default 0.95
    n_sets : int, default 9999
        Sets of weights that are drawn; fewer for more than a thousand groups.

    Returns
    -------
    ndarray of float, shape (2, n_shares)
        The same for the same input: the weights have a fixed seed. NaN with fewer than two groups with things.

    References
    ----------
    Gaffke 2005, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable",
    Mathematical Methods of Statistics 14. Simulated in ``docs/figures/judge_shares.py``.

    Examples
    --------
    Of 25 queries with four documents each, on which a judge is always right:

    >>> found = share_bounds(np.full((25, 1), 4.0), np.full((25, 1), 4.0))
    >>> found.round(2).tolist()
    [[0.86], [1.0]]
    """
    n_groups, n_shares = hits.shape
    bounds = np.full((2, n_shares), np.nan)
    has_groups = (totals > 0).sum(axis=0) >= 2
    columns = np.flatnonzero(has_groups)
    n_sets = max(FEWEST_SETS, min(n_sets, MOST_WEIGHTS // (n_groups + 1)))
    for first, last in batches(len(columns), n_sets, BATCH_CELLS):
        own = columns[first:last]
        bounds[:, own] = _drawn_share_bounds(hits[:, own], totals[:, own], n_sets, confidence_level)
    return bounds


def _drawn_share_bounds(hits: FloatArray, totals: FloatArray, n_sets: int, confidence_level: float) -> FloatArray:
    """Return the bounds of so many shares that the sums of all sets of weights fit into memory."""
    rng = np.random.default_rng(0)
    n_groups, n_shares = hits.shape
    added_size = (totals**2).sum(axis=0) / totals.sum(axis=0)
    operand = np.column_stack([hits, totals])
    lower = np.empty((n_sets, n_shares))
    upper = np.empty((n_sets, n_shares))
    for start, stop in batches(n_sets, n_groups + 1, BATCH_CELLS):
        weights = rng.standard_exponential((stop - start, n_groups + 1))
        sums = weights[:, :-1] @ operand
        added = weights[:, -1:] * added_size
        weighted_totals = sums[:, n_shares:] + added
        lower[start:stop] = sums[:, :n_shares] / weighted_totals
        upper[start:stop] = (sums[:, :n_shares] + added) / weighted_totals
    tail = (1 - confidence_level) / 2
    return np.stack([np.quantile(lower.T, tail, axis=1), np.quantile(upper.T, 1 - tail, axis=1)])
