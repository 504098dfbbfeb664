"""What a measure is: one class that says everything about it, found by its name in the registry."""

from __future__ import annotations

import dataclasses
from abc import ABC, ABCMeta, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from deadheat import ties
from deadheat.errors import MeasureError, as_given, did_you_mean
from deadheat.measures._parameters import Cutoff, parameter

if TYPE_CHECKING:
    from deadheat.arrays import BoolArray, FloatArray, IntArray
    from deadheat.placement import Placements


REGISTRY: dict[str, type[Measure]] = {}
ALIASES: dict[str, str] = {}

M = TypeVar("M", bound="type[Measure]")


class MeasureType(ABCMeta):
    """Lets a class stand for the measure with its defaults: ``nDCG @ 10`` is ``nDCG() @ 10``."""

    def __call__(cls, *values: Any, **parameters: Any) -> Any:  # noqa: ANN401 - typed by the dataclass
        known = [field.name for field in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else []
        for name, value in parameters.items():
            if name not in known:
                raise unknown_parameter(cls.__name__, name, value, known)
        try:
            return super().__call__(*values, **parameters)
        except TypeError as error:
            if "positional argument" not in str(error):
                raise
            example = f"{cls.__name__} @ 10" if "cutoff" in known else f"{cls.__name__}(rel=2)"
            advice = f"name each parameter and write a cutoff behind @, as in {example}"
            msg = f"{cls.__name__}: {advice}; got {as_given(values)}"
            raise MeasureError(msg) from None

    def __matmul__(cls, cutoff: int) -> Measure:
        return cls() @ cutoff

    def __repr__(cls) -> str:
        return cls.__name__


@dataclass(frozen=True, kw_only=True, repr=False)
class Measure(ABC, metaclass=MeasureType):
    """A measure of one ranking, with exact moments over all orders of its ties.

    Every array that a measure returns has shape (n_queries,), aligned with ``placements.query_ids``.

    Attributes
    ----------
    title : str
        Its name in words.
    range : tuple of float
        Lowest and highest possible value.
    higher_is_better : bool
    aliases : tuple of str
        Other names that are read; those of trec_eval take a cutoff behind ``_`` or ``.``.
    total : bool
        Whether its values are counts, whose sum over queries is reported, not their mean.
    binary : bool
        Whether judged documents differ to it only by ``relevance >= rel`` and ``relevance >= 0``.
    """

    title: ClassVar[str]
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    higher_is_better: ClassVar[bool] = True
    aliases: ClassVar[tuple[str, ...]] = ()
    total: ClassVar[bool] = False
    binary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check every parameter and bring it to its normal form."""
        for field in dataclasses.fields(self):
            value, check = getattr(self, field.name), field.metadata["check"]
            try:
                object.__setattr__(self, field.name, check(value))
            except (ValueError, TypeError) as error:
                hint = str(error) if "Did you mean" in str(error) else ""
                msg = f"{type(self).__name__}: {field.name} must be {check.allowed}, got {as_given(value)}.{hint}"
                raise MeasureError(msg) from None

    def __call__(self, **parameters: Any) -> Self:  # noqa: ANN401 - checked against the fields
        """Return the measure with other parameters."""
        own = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        measure: type[Self] = type(self)
        return measure(**(own | parameters))

    def __matmul__(self, cutoff: int) -> Self:
        """Return the measure at a cutoff."""
        if getattr(self, "cutoff", None) is not None:
            msg = f"{self} has a cutoff already, got another: {as_given(cutoff)}"
            raise MeasureError(msg)
        return self.__call__(cutoff=cutoff)

    def __repr__(self) -> str:
        """Return the notation: what prints can be parsed."""
        shown = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in dataclasses.fields(self)
            if field.name != "cutoff" and getattr(self, field.name) != field.default
        ]
        cutoff = getattr(self, "cutoff", None)
        return type(self).__name__ + (f"({', '.join(shown)})" if shown else "") + (f"@{cutoff}" if cutoff else "")

    @abstractmethod
    def mean(self, placements: Placements) -> FloatArray:
        """Return the exact mean over all tie orders; NaN where no value is defined."""

    @abstractmethod
    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value that an order of the ties can give."""
        one, other = self.mean(ties.worst(placements)), self.mean(ties.best(placements))
        return np.minimum(one, other), np.maximum(one, other)

    def distributions(
        self,
        placements: Placements,  # noqa: ARG002 - of the measures that have one
        queries: IntArray,  # noqa: ARG002 - as above
    ) -> list[tuple[FloatArray, FloatArray]] | None:
        """Return the values that each of some queries can take and their probabilities, where they are in closed form.

        None: they are not, and the orders of the ties have to be listed.
        """
        return None

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a document that counts as relevant for this measure."""
        return np.ones(placements.n_queries, np.bool_)

    def classes(self, relevance: FloatArray) -> FloatArray:
        """Return numbers that are equal where the measure cannot tell judged documents apart; they fall as it does."""
        if not self.binary:
            return relevance
        return 1.0 * (relevance >= getattr(self, "rel", 1)) + (relevance >= 0)

    def standard_error(self, placements: Placements) -> FloatArray:
        """Return the standard error of :meth:`mean`: 0, as it is exact (but for a `Custom` measure)."""
        return np.zeros(placements.n_queries)


@dataclass(frozen=True, kw_only=True, repr=False)
class CutMeasure(Measure):
    """A measure that can be cut at a rank."""

    cutoff: int | None = parameter(None, Cutoff(), "rank at which the list is cut; what @ sets")

    def inside(self, above: IntArray, tied: IntArray) -> IntArray:
        """Return how many ranks of each tie are within the cutoff."""
        return tied if self.cutoff is None else np.clip(self.cutoff - above, 0, tied)

    def depth(self, placements: Placements) -> IntArray:
        """Return the number of documents looked at in each list, the cutoff included."""
        n = placements.n_retrieved
        return n if self.cutoff is None else np.minimum(n, self.cutoff)


def register(measure: M) -> M:
    """Make a measure known by its class name and its aliases."""
    REGISTRY[measure.__name__] = measure
    for alias in measure.aliases:
        ALIASES[alias] = measure.__name__
    return measure


def measures() -> dict[str, type[Measure]]:
    """Return the registry: every measure's class by its name.

    Returns
    -------
    dict of str to type

    Examples
    --------
    >>> measures()["RR"].title
    'reciprocal rank'
    """
    return dict(REGISTRY)


def unknown_parameter(measure: str, name: str, value: object, names: list[str]) -> MeasureError:
    """Return the error for a parameter that a measure does not have."""
    if name == "cutoff":
        return MeasureError(f"{measure} takes no cutoff, got @{as_given(value)}")
    hint = did_you_mean(name, names)
    if not hint and name in {"k", "at", "top"} and "cutoff" in names:
        hint = f" Write the cutoff behind @: {measure}@{as_given(value)}"
    return MeasureError(f"{measure} takes {', '.join(names) or 'no parameter'}; got {name!r}.{hint}")
