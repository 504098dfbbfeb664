"""Chance: the score of random rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.arrays import FloatArray


@dataclass(frozen=True)
class Chance:
    """The expected MaxRel of a random ranking of all terms.

    Attributes
    ----------
    kind : str
        The kind of similarity.
    max_rel : dict of int to float
        By cutoff, the mean over the queries.
    standard_error : dict of int to float
        The error of the mean due to the sample of terms: 0 where nothing was sampled.
    n_queries : int
        Queries, or terms that were drawn in their place.
    """

    kind: str
    max_rel: dict[int, float]
    standard_error: dict[int, float]
    n_queries: int


def best_of_random(n_terms: int, cutoffs: Sequence[int]) -> FloatArray:
    r"""Return the probability that the i-th best of all terms is the best in the top k of a random ranking.

    .. math:: \frac{k}{N - i + 1} \prod_{l < i} \frac{N - k - l + 1}{N - l + 1}

    as for `MaxRel`, with all N terms in one tie.

    Returns
    -------
    ndarray of shape (n_cutoffs, n_terms)
    """
    left = np.arange(n_terms, 0, -1.0)
    k = np.minimum(cutoffs, n_terms)[:, None]
    outside = np.maximum(left - k, 0.0) / left
    none_before = np.concatenate((np.ones((len(k), 1)), np.cumprod(outside, axis=1)[:, :-1]), axis=1)
    return none_before * np.minimum(k / left, 1.0)
