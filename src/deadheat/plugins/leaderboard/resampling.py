"""Resamples of queries within tasks, or of tasks and their queries, for totals over tasks."""

from collections.abc import Sequence

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import segment_sums
from deadheat.core.stats.resamples import bootstrap_means, draw_counts
from deadheat.core.stats.units import Units

MOST_DRAWN = 200  # queries of a task; the mean over more of them is drawn from the normal distribution it tends to


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
        counts = np.vstack([part.copy() for _, part in draw_counts(len(own), n_resamples, rng)])
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
