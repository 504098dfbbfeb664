"""The order that the scores of several lists have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal

ListOrder = Literal["rise", "fall"]
N_SORTED = 100  # lists whose scores are all looked at: of later ones, the first and the last


@dataclass
class CommonOrder:
    """Whether the scores of every list rise from its first result to its last, or fall.

    Attributes
    ----------
    longest : int
        Results of the longest list that has an order, of those that were looked at from end to end.
    """

    longest: int = 0
    _n_lists: int = 0  # with an order
    _orders: set[ListOrder | Literal["mixed"]] = field(default_factory=set)

    def add(self, scores: Sequence[Any]) -> None:
        """Take in the scores of a list, from its first result to its last."""
        if len(self._orders) > 1:
            return  # the lists have no order in common, whatever this one has
        if self._n_lists >= N_SORTED and len(scores) > 1:
            scores = [scores[0], scores[-1]]  # to look at all of many lists takes time
        order = find_order(scores)
        if order is not None:
            self._orders.add(order)
            self._n_lists += 1
            self.longest = max(self.longest, len(scores))

    @property
    def order(self) -> ListOrder | None:
        """The order of all lists; None if they differ, or one has none."""
        if len(self._orders) != 1:
            return None
        order = next(iter(self._orders))
        return None if order == "mixed" else order


def find_order(scores: Sequence[Any]) -> ListOrder | Literal["mixed"] | None:
    """Return the order of scores; None where all are equal, or some are not numbers."""
    if not all(issubclass(score_type, Real) for score_type in set(map(type, scores))):
        return None
    first, last = scores[0], scores[-1]
    if first < last and sorted(scores) == scores:
        return "rise"
    if first > last and sorted(scores, reverse=True) == scores:
        return "fall"
    return "mixed" if min(scores) < max(scores) else None
