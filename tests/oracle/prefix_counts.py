"""Exact moments over the orders of one large tie, by dynamic programming over what has been seen so far.

Inside a tie only the kinds of its documents matter: some of each of two judged kinds, the rest plain. What a rank
adds to any measure here depends on the rank, the kind found there, and the number of each kind seen before. So two
values for each state (ranks filled, seen of the first kind, seen of the second) give mean and second moment.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Increment: TypeAlias = Callable[[int, int, Array, Array], Array]
"""``f(rank, kind, first, second)``: what the document of a kind (0 or 1) adds, given how many were seen before."""


@dataclass(frozen=True)
class LargeTie:
    """One query: untied documents above, each of a kind (None for plain), then the tie."""

    above: Sequence[int | None]
    size: int
    counts: tuple[int, int]

    def moments(self, increment: Increment) -> tuple[float, float]:
        """Return mean and variance of the sum of all increments."""
        seen = [self.above.count(0), self.above.count(1)]
        first = np.arange(self.counts[0] + 1.0)[:, None] + seen[0]
        second = np.arange(self.counts[1] + 1.0)[None, :] + seen[1]
        placed = np.arange(self.counts[0] + 1)[:, None] + np.arange(self.counts[1] + 1)[None, :]
        left = [self.counts[0] + seen[0] - first, self.counts[1] + seen[1] - second]
        value, square = np.zeros(placed.shape), np.zeros(placed.shape)
        for filled in range(self.size - 1, -1, -1):
            rank = len(self.above) + filled + 1
            plain = self.size - sum(self.counts) - (filled - placed)
            new_value, new_square = plain * value, plain * square
            for kind in (0, 1):
                added = increment(rank, kind, first, second)
                next_value, next_square = _shift(value, kind), _shift(square, kind)
                new_value = new_value + left[kind] * (added + next_value)
                new_square = new_square + left[kind] * (added**2 + 2 * added * next_value + next_square)
            possible = (placed <= filled) & (plain >= 0)
            value = np.where(possible, new_value / (self.size - filled), 0.0)
            square = np.where(possible, new_square / (self.size - filled), 0.0)
        return float(value[0, 0]) + self._fixed(increment), float(square[0, 0] - value[0, 0] ** 2)

    def _fixed(self, increment: Increment) -> float:
        """Sum what the documents above the tie add."""
        total, seen = 0.0, np.zeros((2, 1, 1))
        for rank, kind in enumerate(self.above, start=1):
            if kind is not None:
                total += float(increment(rank, kind, seen[0], seen[1])[0, 0])
                seen[kind] += 1
        return total


def _shift(values: Array, kind: int) -> Array:
    """Take each state's value after one more document of a kind."""
    moved = np.zeros_like(values)
    if kind == 0:
        moved[:-1] = values[1:]
    else:
        moved[:, :-1] = values[:, 1:]
    return moved
