"""Which means differ for sure, all pairs at once, and what that says about ranks: intervals and tiers."""

from collections.abc import Sequence

import numpy as np

from deadheat.arrays import BoolArray, FloatArray, IntArray
from deadheat.kernels.segments import segment_sums
from deadheat.stats.units import NEGLIGIBLE_DIFFERENCE, ROUNDING, Units, bootstrap_means, drawn_counts

FEW = 20  # degrees of freedom with which the errors of differences are too uncertain for the bootstrap of the largest
MANY = 1e9  # of Student's t, which is the normal distribution then
MOST_DRAWN = 200  # queries of a task; the mean over more of them is drawn from the normal distribution it tends to


def pairwise_errors(blocks: Sequence[Units], shares: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    r"""Return the standard error of the difference of any two columns, and its degrees of freedom.

    A column's total is the sum over blocks of share times mean. Units are independent, and blocks are fixed:

    .. math:: v = \sum_b s_b^2 v_b, \quad \nu = v^2 \Big/ \sum_b \frac{(s_b^2 v_b)^2}{n_b - 1}

    with the variance :math:`v_b` of the mean difference over the :math:`n_b` units of a block, by linearisation.

    Parameters
    ----------
    blocks : sequence of Units
        Each of two units and more, and the same columns.
    shares : sequence of float

    Returns
    -------
    errors, freedom : ndarray of shape (n_columns + 1, n_columns + 1)
        The last row and column are of the totals themselves, against 0. Freedom is infinite where nothing varies.

    References
    ----------
    Satterthwaite 1946, https://doi.org/10.2307/3002019.
    """
    n_columns = blocks[0].sums.shape[1] + 1
    total, of_freedom = np.zeros((2, n_columns, n_columns))
    for block, share in zip(blocks, shares, strict=True):
        pulls = np.zeros((block.n_units, n_columns))
        pulls[:, :-1] = block.residuals * (share / block.sizes.sum())
        products = pulls.T @ pulls
        own = np.diag(products)
        squares = own[:, None] + own - 2 * products
        squares[squares <= ROUNDING * (own[:, None] + own)] = 0.0  # what rounding leaves of equal columns
        squares *= block.n_units / (block.n_units - 1)
        total += squares
        of_freedom += squares**2 / (block.n_units - 1)
    freedom = np.divide(total**2, of_freedom, out=np.full_like(total, np.inf), where=of_freedom > 0)
    return np.sqrt(total), freedom


def resampled_totals(
    tasks: Sequence[Units],
    shares: FloatArray,
    groups: Sequence[IntArray] | None,
    *,
    n_resamples: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the sum over tasks of share times mean in each resample of a hierarchical bootstrap.

    Parameters
    ----------
    tasks : sequence of Units
        The queries of each task; one unit if only the task's value is known.
    shares : ndarray of float, shape (n_tasks,)
    groups : sequence of ndarray of int, or None
        The tasks of each group, which are drawn within it, and then queries within each drawn one; None: tasks are
        fixed, and queries are drawn.
    n_resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of float, shape (n_resamples, n_columns)
    """
    found = np.zeros((n_resamples, tasks[0].sums.shape[1]))
    if groups is None:
        for task, share in zip(tasks, shares.tolist(), strict=True):
            found += share * _means(task, n_resamples, rng)
        return found
    for own in groups:
        counts = np.vstack([part.copy() for _, part in drawn_counts(len(own), n_resamples, rng)])
        is_single = np.array([tasks[place].n_units == 1 for place in own.tolist()])
        single = own[is_single].tolist()
        known = [shares[place] * tasks[place].means for place in single]
        sums = counts[:, is_single] @ np.vstack(known) if single else np.zeros_like(found)
        for copies, place in zip(counts[:, ~is_single].T, own[~is_single].tolist(), strict=True):
            drawn, n_copies = copies > 0, copies[copies > 0].astype(np.int64)
            if len(n_copies):
                each = _means(tasks[place], int(n_copies.sum()), rng)  # each copy of a task draws its own queries
                sums[drawn] += shares[place] * segment_sums(each, np.cumsum(n_copies) - n_copies)
        found += sums * (shares[own].sum() / (counts @ shares[own]))[:, None]
    return found


def _means(task: Units, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return the means of a task in resamples of its queries."""
    if task.n_units <= MOST_DRAWN:
        return bootstrap_means(task.sums, task.sizes, n_resamples=n_resamples, rng=rng)
    pulls = task.residuals / task.sizes.sum()
    values, vectors = np.linalg.eigh(pulls.T @ pulls)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return task.means + rng.standard_normal((n_resamples, len(root))) @ root


def critical_value(totals: FloatArray, confidence_level: float) -> float:
    """Return the quantile over resamples of the largest difference of two columns from its mean, in its deviations.

    Parameters
    ----------
    totals : ndarray of float, shape (n_resamples, n_columns)
    confidence_level : float

    Returns
    -------
    float
        0 if no difference varies.
    """
    apart = np.ascontiguousarray((totals - totals.mean(axis=0)).T)
    products = apart @ apart.T / len(totals)
    own = np.diag(products)
    squares = own[:, None] + own - 2 * products
    varies = squares > ROUNDING * (own[:, None] + own)
    scales = np.divide(1.0, np.sqrt(np.maximum(squares, 0.0)), out=np.zeros_like(squares), where=varies)
    largest = np.zeros(len(totals))
    for place, column in enumerate(apart[:-1], start=1):
        rest = apart[place:] - column
        np.abs(rest, out=rest)
        rest *= scales[place - 1, place:, None]
        np.maximum(largest, rest.max(axis=0), out=largest)
    return float(np.quantile(largest, confidence_level, method="higher"))


def separated(  # noqa: PLR0917 - what an interval is made of
    low: FloatArray,
    high: FloatArray,
    errors: FloatArray,
    freedom: FloatArray,
    critical: float,
    confidence_level: float,
) -> BoolArray:
    """Return whether column i is above column j in all simultaneous intervals, as entry (i, j).

    With few degrees of freedom a resample does not show how the errors themselves vary: there Bonferroni's bound holds.

    Parameters
    ----------
    low, high : ndarray of shape (n_columns,)
        Between which each total is, whatever is missing of it; more is better.
    errors, freedom : ndarray of shape (n_columns, n_columns)
    critical : float
        Of :func:`critical_value`: a deviate of the normal distribution, of which Student's t takes the same tail.
    confidence_level : float
    """
    from scipy import special  # slow to load

    tail, n_ordered = special.ndtr(-critical), max(len(low) * (len(low) - 1), 1)
    tails = np.where(freedom < FEW, min(tail, (1 - confidence_level) / n_ordered), tail)
    t = special.stdtrit(np.minimum(freedom, MANY), tails)  # of the lower tail: negative
    return np.asarray(low[:, None] - high + t * errors > NEGLIGIBLE_DIFFERENCE)


def rank_bounds(better: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the first and the last rank of each column that its separations allow.

    Parameters
    ----------
    better : ndarray of bool, shape (n_columns, n_columns)
        Whether column i is above column j for sure.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm 2024, https://doi.org/10.1093/restud/rdad006.

    Examples
    --------
    >>> [part.tolist() for part in rank_bounds(np.array([[False, False, True], [False] * 3, [False] * 3]))]
    [[1, 1, 2], [2, 3, 3]]
    """
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)


def tiers_of(order: Sequence[int], better: BoolArray) -> IntArray:
    """Return the tier of each column: the first holds all from which the best is not separated; remove and repeat.

    Parameters
    ----------
    order : sequence of int
        Columns, best first.
    better : ndarray of bool, shape (n_columns, n_columns)

    Examples
    --------
    >>> tiers_of([0, 1, 2], np.array([[False, False, True], [False] * 3, [False] * 3])).tolist()
    [1, 1, 2]
    """
    found: IntArray = np.zeros(len(better), np.int64)
    left, tier = list(order), 0
    while left:
        tier += 1
        rest = [one for one in left if better[left[0], one]]
        found[[one for one in left if one not in set(rest)]] = tier
        left = rest
    return found
