"""What a method of fusion is: one class, with its parameters; by name in `METHODS` of `catalogue`.

A method gets the `Pool` and returns a score for each candidate. To add one, write a class in `of_scores`, `of_ranks`,
`condorcet` or `learned` and decorate it with :func:`register`: `fuse`, the command and the table of methods know it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.checks import as_number
from deadheat.core.errors import ParameterError
from deadheat.plugins.fusion.pool import Pool

if TYPE_CHECKING:
    from deadheat.plugins.fusion.judged import JudgedPool

WEIGHTS = "weights"
ROUNDING_STEPS = 4  # neighbouring floats by which equal sums of a few numbers differ
M = TypeVar("M", bound="type[Method]")

METHODS: dict[str, type[Method]] = {}


def parameter(default: float, check: Callable[[str, Any], Any], meaning: str, grid: tuple[float, ...] = ()) -> Any:  # noqa: ANN401 - a field
    """Return a field of a method that knows its check, and the values that tuning tries by default."""
    return field(default=default, metadata={"check": check, "meaning": meaning, "grid": grid})


def at_least(low: float, *, above: bool = False) -> Callable[[str, Any], float]:
    """Return a check of a number from `low` on, or above it."""

    def check(name: str, given: Any) -> float:  # noqa: ANN401 - whatever was given
        number = as_number(name, given, low)
        if above and number <= low:
            raise ParameterError(argument=name, given=given, allowed=f"a number above {low:g}")
        return number

    return check


def between(low: float, high: float) -> Callable[[str, Any], float]:
    """Return a check of a number from `low` to `high`."""
    return lambda name, given: as_number(name, given, low, high)


@dataclass(frozen=True)
class Method(ABC):
    """The base of all methods.

    Attributes
    ----------
    weights : tuple of float or None
        Of the runs, in their order; of methods that take them, 1 each by default.
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    uses_scores: ClassVar[bool] = True  # else ranks alone count, and no normalization changes these
    uses_ranks: ClassVar[bool] = False
    takes_weights: ClassVar[bool] = False

    weights: tuple[float, ...] | None = None

    @abstractmethod
    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate, of shape (n_candidates,)."""

    @property
    def is_fitted(self) -> bool:
        """Whether the method needs no judgments, or has learned from them."""
        return True

    def fit(self, judged: JudgedPool) -> Self:  # noqa: ARG002 - of methods that learn
        """Return the method as it learned from judgments; one that learns nothing returns itself."""
        return self

    def weights_of(self, pool: Pool) -> FloatArray:
        """Return a weight for each run."""
        return np.ones(len(pool.runs)) if self.weights is None else np.array(self.weights)

    def parameters(self) -> dict[str, float | tuple[float, ...]]:
        """Return the parameters by name; weights only where some were given."""
        found = {one.name: getattr(self, one.name) for one in parameters_of(type(self))}
        if self.weights is not None:
            found[WEIGHTS] = self.weights
        return found


def register(cls: M) -> M:
    """Add a method to those that `fuse` knows by name."""
    METHODS[cls.name] = cls
    return cls


def parameters_of(cls: type[Method]) -> list[Any]:
    """Return the fields of a method that are its parameters, without the weights."""
    return [one for one in fields(cls) if "check" in one.metadata]


def add_up(matrix: FloatArray) -> FloatArray:
    """Return the sum of each column, which does not depend on the order of the rows.

    Of three and more numbers the last digit of a sum depends on their order. Documents with the same numbers from
    other runs tie, and have to stay tied: so the numbers are sorted first.

    Parameters
    ----------
    matrix : ndarray of float, shape (n_runs, n_candidates)

    Examples
    --------
    >>> first, second = add_up(np.array([[0.1, 0.3], [0.2, 0.2], [0.3, 0.1]])).tolist()
    >>> first == second, 0.1 + 0.2 + 0.3 == 0.3 + 0.2 + 0.1
    (True, False)
    """
    if len(matrix) > 2:
        matrix = np.sort(matrix, axis=0)
    total = matrix[0].copy()
    for row in matrix[1:]:
        total += row
    return total


def merge_rounding(scores: FloatArray) -> FloatArray:
    """Return scores of which those that differ by rounding alone are equal.

    A document that ties at ranks 1 and 2 in two runs has the same sum as one that is first in one run and second in
    the other, but the floats may differ in their last digits: then rounding would break a tie, and how depends on the
    processor. Sums that are not equal differ by more, unless a term is as small as the rounding of the others.

    Parameters
    ----------
    scores : ndarray of float, shape (n_candidates,)

    Examples
    --------
    >>> first, second, third = merge_rounding(np.array([0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1, 0.5])).tolist()
    >>> first == second, third
    (True, 0.5)
    """
    rising = np.unique(scores)
    is_near = np.diff(rising) <= ROUNDING_STEPS * np.spacing(np.abs(rising[1:]))  # to the value below
    if not is_near.any():
        return scores
    is_first = ~np.append(False, is_near)
    is_last = ~np.append(is_near, False)
    lowest = rising[is_first]
    highest = rising[is_last]
    has_several = lowest < highest
    lowest = lowest[has_several]
    highest = highest[has_several]
    group = np.maximum(np.searchsorted(lowest, scores, side="right") - 1, 0)
    is_inside = (scores >= lowest[group]) & (scores <= highest[group])
    return np.where(is_inside, lowest[group], scores)
