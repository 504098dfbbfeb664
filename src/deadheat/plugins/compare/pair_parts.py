"""Parts of pairs: what a feature makes of the pairs of a comparison, where a side of one has something of it.

Modules of the kind "pairs" have a ``PART`` that fulfils `PairPart`. The parts change the pairs in the order of the
registry, after differences, intervals and p values are there, and before p values are corrected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from deadheat.core import hooks
from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.design import Design
from deadheat.plugins.compare.flips import Side
from deadheat.plugins.compare.stack import Stack

if TYPE_CHECKING:
    from deadheat.core.report.model import Fact
    from deadheat.plugins.compare.pair import Pairs


class ComparedPairs(NamedTuple):
    """The pairs that are compared, and how.

    Attributes
    ----------
    stack : Stack
    first, second : ndarray of int, shape (n_pairs,)
        The rows of the system and of the baseline of each pair in the stack.
    design : Design
    cluster : ndarray of int, shape (n_queries,), or None
    """

    stack: Stack
    first: IntArray
    second: IntArray
    design: Design
    cluster: IntArray | None

    def differences(self, places: slice) -> FloatArray:
        """Return the values of systems less those of baselines, of shape (n_places, n_queries); NaN without a value."""
        return self.stack.values[self.first[places]] - self.stack.values[self.second[places]]

    def weights(self, places: slice) -> FloatArray | None:
        """Return how much the queries of some pairs count, of shape (n_places, n_queries); None: all the same."""
        if self.stack.weights is None:
            return None
        return self.stack.weights[self.first[places]]


class PairPart(Protocol):
    """What a feature makes of pairs."""

    def is_in(self, side: Side) -> bool:
        """Tell whether a side has something of it."""
        ...

    def change_design(self, design: Design) -> Design:
        """Return the design with it; raise `ParameterError` for what does not go with it."""
        ...

    def change(self, columns: dict[str, Any], pairs: ComparedPairs) -> None:
        """Change columns of the pairs, by the names of the fields of `Pair`, and add others."""
        ...

    def tell(self, places: Sequence[str], pairs: Pairs) -> Iterable[Fact]:
        """Return what the report of a comparison says of its columns.

        Parameters
        ----------
        places : sequence of str
            The stratum of each pair; empty where there are none.
        pairs : Pairs
            Those of all strata.
        """
        ...


def pair_parts(sides: Iterable[Side]) -> list[PairPart]:
    """Return the parts that some of these sides have something of, in the order of the registry."""
    listed = list(sides)
    parts: list[PairPart] = [module.PART for module in hooks.load("pairs")]
    return [part for part in parts if any(part.is_in(side) for side in listed)]
