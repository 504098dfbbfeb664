"""The values of both sides of all pairs, one below the other, and the blocks of pairs that are compared together."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray
from deadheat.plugins.compare.flips import Side

K = TypeVar("K", bound=Hashable)
BLOCK = 1 << 20  # values of pairs at a time
FEWEST_PAIRS, MOST_PAIRS = 64, 1024  # at a time
HELD = 1 << 25  # values of pairs that stay in memory while signs are drawn: 256 MB


@dataclass(frozen=True, eq=False)
class Stack:
    """The sides of all measures, one below the other, of shape (n_measures * n_sides, n_queries) each.

    Attributes
    ----------
    sides : tuple of Side
    values, mean, variance, low, high, by_doc_id : ndarray of float
    deviation : ndarray of float
        The most that a value can be from its mean over tie orders.
    weights : ndarray of float, or None
        None: all queries count the same.
    sign : ndarray of float, shape (n_measures * n_sides,)
        -1 where less is better.
    is_exact, is_geometric : ndarray of bool, shape (n_measures * n_sides,)
    """

    sides: tuple[Side, ...]
    values: FloatArray
    mean: FloatArray
    variance: FloatArray
    low: FloatArray
    high: FloatArray
    by_doc_id: FloatArray
    deviation: FloatArray
    weights: FloatArray | None
    sign: FloatArray
    is_exact: BoolArray
    is_geometric: BoolArray

    @classmethod
    def of(cls, measures: Sequence[Mapping[K, Side]]) -> "Stack":
        """Return the sides of measures, each with the same keys."""
        sides = tuple(side for of_measure in measures for side in of_measure.values())
        columns = {
            name: np.stack([getattr(side, name) for side in sides])
            for name in ("values", "mean", "variance", "low", "high", "by_doc_id")
        }
        has_weights = any(side.weights is not None for side in sides)
        weights = (np.ones_like(side.values) if side.weights is None else side.weights for side in sides)
        mean, low, high = (columns[name] for name in ("mean", "low", "high"))
        return cls(
            sides,
            **columns,
            deviation=np.maximum(high - mean, mean - low),
            weights=np.stack([*weights]) if has_weights else None,
            sign=np.array([side.measure.sign for side in sides]),
            is_exact=np.array([side.is_exact for side in sides], np.bool_),
            is_geometric=np.array([side.measure.geometric and not side.parts for side in sides], np.bool_),  # no gap
        )


def split_pairs(n_pairs: int, n_queries: int) -> list[slice]:
    """Split the places of pairs into blocks, so that the values of a block fit into memory."""
    size = int(np.clip(BLOCK // max(n_queries, 1), FEWEST_PAIRS, MOST_PAIRS))
    return [slice(start, min(start + size, n_pairs)) for start in range(0, n_pairs, size)]
