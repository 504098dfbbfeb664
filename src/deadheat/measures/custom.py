"""A measure of one's own, given as a function of the relevance values in rank order, or known by its saved values."""

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np

from deadheat.arrays import FloatArray
from deadheat.errors import MeasureError, Plain
from deadheat.measures.base import ALIASES, REGISTRY, CutMeasure, Measure
from deadheat.measures.notation import measure_named
from deadheat.measures.orders import OrdersMeasure, Plan
from deadheat.measures.parameters import Cutoff, Only, parameter, parameters
from deadheat.placements.placements import Placements


@parameters
class StoredMeasure(Measure):
    """A `Custom` measure of a saved evaluation: its values are in the file, its function is not.

    Attributes
    ----------
    notation : str
        Its name.
    higher_is_better, total : bool
    """

    title: ClassVar[str] = "measure of a saved evaluation"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)

    notation: str = ""
    higher_is_better: bool = True  # type: ignore[misc]  # of each measure here, of the class elsewhere
    total: bool = False  # type: ignore[misc]

    def __post_init__(self) -> None:
        """Skip the checks of other measures: the file says what it is."""

    def __repr__(self) -> str:
        return self.notation

    def mean(self, placements: Placements) -> NoReturn:  # noqa: ARG002 - as every measure
        """Refuse: the file has the values, not the function."""
        raise MeasureError(
            f"{self.notation} comes from a file, which holds its values but not its function",
            hint="pass the Custom measure",
        )

    variance = mean


def _is_name(value: Any) -> bool:  # noqa: ANN401 - a check takes whatever the user gave
    is_own = isinstance(value, str) and value not in {*REGISTRY, *ALIASES} and measure_named(value) is None
    return is_own and bool(value.strip()) and "@" not in value


def _is_seed(value: Any) -> bool:  # noqa: ANN401 - as above
    is_number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return isinstance(value, np.random.Generator) or (is_number and value >= 0)


def _seed(given: "int | np.random.Generator") -> int:
    return int(given.integers(2**63) if isinstance(given, np.random.Generator) else given)


NAME = Only("a text without @ that is not another measure's name", _is_name)
SEED = Only("a whole number from 0 on, or a numpy.random.Generator", _is_seed, _seed)


@dataclass(frozen=True, repr=False)
class Custom(OrdersMeasure, CutMeasure):
    """A measure given by a function, averaged over the tie orders by enumeration or by sampling.

    Different orders of equal relevance are the same to the function, so the distinct arrangements of the relevance
    values are enumerated, all of the same probability, if they are at most `max_orders`. Otherwise as many random
    orders are drawn, and ``Scores.standard_error`` says how far the mean may be off; the extremes are then those of the
    sample, which the true ones may exceed.

    Parameters
    ----------
    name : str
        What it is called in tables.
    function : callable
        ``function(relevance)`` or ``function(relevance, n_retrieved)`` returns a float. `relevance` is an array of
        shape (n_retrieved,), or (min(k, n_retrieved),) with a cutoff, in rank order; unjudged documents have 0.
    max_orders : int or None, default 10,000
        None enumerates the orders however many they are.
    rng : int or numpy.random.Generator, default 0
        Seed of the sampling; every query draws from it alone, whatever the other queries are.

    Examples
    --------
    >>> from deadheat import Custom, evaluate
    >>> first = Custom("first", lambda relevance: float(relevance[0]))
    >>> evaluate({"q": {"a": 2}}, {"q": {"a": 0.5, "b": 0.5}}, [first]).means()
    {'first': 1.0}
    """

    title: ClassVar[str] = "custom measure"
    range: ClassVar[tuple[float, float]] = (-np.inf, np.inf)

    name: str = parameter(None, NAME, "what it is called")
    function: Callable[..., float] = parameter(
        None,
        Only("a function of the relevance values in rank order", callable),
        "of the relevance values in rank order",
    )
    _: KW_ONLY
    max_orders: int | None = parameter(
        10_000, Cutoff(), "most orders that are enumerated, and number drawn beyond that; None: no limit"
    )
    rng: "int | np.random.Generator" = parameter(0, SEED, "seed of the sampling")

    def __repr__(self) -> str:
        return self.name + (f"@{self.cutoff}" if self.cutoff else "")

    @property
    def n_orders(self) -> tuple[int, int | None]:
        """Number of orders that are drawn, and most that are listed."""
        return self.max_orders or 0, self.max_orders

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over all tie orders, or over the sample."""
        _, _, _, low, high = self.moments(placements)
        return low, high

    def reachable(self, placements: Placements) -> FloatArray:
        """Return NaN: nothing is known of the function."""
        return np.full(placements.n_queries, np.nan)

    def codes(self, relevance: FloatArray) -> FloatArray:
        """Return the relevance, 0 for unjudged documents."""
        return np.nan_to_num(relevance)

    def reach(self, placements: Placements, query: int) -> int:
        """Return the last rank that the function sees."""
        return int(self.depth(placements)[query])

    def drawn(self, plan: Plan, seed: int) -> Iterator[FloatArray]:
        """Draw orders of a query one by one."""
        rng = np.random.default_rng([int(self.rng), seed])  # type: ignore[arg-type]
        for _ in range(plan.n_orders):
            for start, values in plan.ties:
                plan.ranking[start : start + len(values)] = rng.permutation(values)
            yield plan.ranking[None].copy()

    def of_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return what the function says of each ranking."""
        others = (int(placements.n_retrieved[query]),) if _takes_two(self.function) else ()
        name = placements.query_ids[query]
        return np.array([self._value((ranking, *others), name) for ranking in rankings[:, : self.cutoff]])

    def _value(self, arguments: tuple[Any, ...], query: str) -> float:
        try:
            value = self.function(*arguments)
        except Exception as error:
            raise MeasureError(
                f"the function raised {error!r} for query {query!r}, relevance {arguments[0][:10].tolist()}",
                measure=self.name,
            ) from error
        given = Plain(f"{value!r} for query {query!r}")
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise MeasureError("the function must return a number", measure=self.name, given=given) from None
        if math.isinf(number):
            raise MeasureError(
                "the function must return a finite number, or NaN where no value is defined",
                measure=self.name,
                given=given,
            )
        return number


def _takes_two(function: Callable[..., float]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False
    required = [
        p for p in parameters if p.default is p.empty and p.kind in {p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD}
    ]
    return len(required) > 1
