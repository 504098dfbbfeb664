"""Tukey's HSD by enumeration."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from deadheat.api import FloatArray


def enumerated(values: FloatArray) -> FloatArray:
    """Return the p-values over all ways to permute the systems within each query."""
    n_systems = values.shape[1]
    permuted = [np.array(list(itertools.permutations(row))) for row in values]
    sums = np.zeros((1, n_systems))
    for rows in permuted:
        sums = (sums[:, None] + rows).reshape(-1, n_systems)
    observed = values.sum(axis=0)
    ranges = np.ptp(sums, axis=1)
    return (ranges[:, None, None] >= np.abs(observed[:, None] - observed) - 1e-12).mean(axis=0)
