"""The order that means of a measure put systems in, and how far two such orders differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deadheat.core.arrays import ArrayLike
from deadheat.core.kernels.agreement import n_swapped_pairs
from deadheat.core.kernels.ranks import first_ranks

if TYPE_CHECKING:
    from deadheat.core.evaluation.scores import Scores


def order_by_mean(scores: Sequence[Scores]) -> list[int]:
    """Return the places of some scores of one measure, the best mean first; those without a mean come last.

    Equal means, also those that differ by rounding alone, stay in their order.
    """
    means = np.array([row.measure.sign * row.mean for row in scores], np.float64)
    order: list[int] = np.argsort(first_ranks(means), kind="stable").tolist()
    return order


def n_swapped(left: ArrayLike, right: ArrayLike) -> int:
    """Return how many pairs two lists of values put in opposite orders, by more than floating point leaves of a tie.

    Examples
    --------
    >>> n_swapped([1, 2, 3], [2, 1, 3]), n_swapped([0.1 + 0.2, 0.3], [1, 2])
    (1, 0)
    """
    left_ranks = first_ranks(np.asarray(left, np.float64))
    right_ranks = first_ranks(np.asarray(right, np.float64))
    have_both = ~(np.isnan(left_ranks) | np.isnan(right_ranks))
    return n_swapped_pairs(left_ranks[have_both].astype(np.int64), right_ranks[have_both].astype(np.int64))
