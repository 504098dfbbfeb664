"""Measures known by a function of the user (`Custom`), or by their saved values alone (`StoredMeasure`)."""

import inspect
import math
from collections.abc import Callable, Iterator
from inspect import Parameter
from typing import Any, ClassVar, NoReturn

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.checks import as_count
from deadheat.core.errors import MeasureError
from deadheat.core.measures.base import Measure
from deadheat.core.measures.families import CutMeasure
from deadheat.core.measures.notation import measure_named
from deadheat.core.measures.orders import MAX_ORDERS, OrdersMeasure, Plan
from deadheat.core.measures.parameters import Only, parameter, parameters
from deadheat.core.measures.registration import registered_names
from deadheat.core.placements.placements import Placements
from deadheat.core.random_generators import check_rng


@parameters
class StoredMeasure(Measure):
    """A `Custom` measure of a saved evaluation: its values are in the file, its function is not.

    Attributes
    ----------
    notation : str
        Its name.
    higher_is_better, total : bool
    lowest, highest : float
        The limits of its values, where they are known.
    """

    title: ClassVar[str] = "measure of a saved evaluation"

    notation: str = ""
    higher_is_better: bool = True  # type: ignore[misc]  # of each measure here, of the class elsewhere
    total: bool = False  # type: ignore[misc]
    lowest: float = -math.inf
    highest: float = math.inf

    def __post_init__(self) -> None:
        """Take the fields as the file has them, without the checks of other measures."""
        object.__setattr__(self, "range", (self.lowest, self.highest))

    def __repr__(self) -> str:
        return self.notation

    def mean(self, placements: Placements) -> NoReturn:  # noqa: ARG002 - as every measure
        """Refuse: the file has the values, not the function."""
        raise MeasureError(
            f"{self.notation} is known by its values alone, as saved and sampled ones are: its function is not here",
            hint="pass the measure itself",
        )

    variance = mean


def _check_name(value: Any) -> str:  # noqa: ANN401 - a check takes whatever the user gave
    if not isinstance(value, str) or not value.strip() or "@" in value:
        raise ValueError
    if value in registered_names() or measure_named(value) is not None:
        raise ValueError
    return value


def _check_function(value: Any) -> Any:  # noqa: ANN401 - as above
    if not callable(value):
        raise TypeError
    return value


def _check_max_orders(value: Any) -> int | None:  # noqa: ANN401 - as above
    if value is None:
        return None
    return as_count("", value, 2)


def _check_seed(value: Any) -> int:  # noqa: ANN401 - as above
    """Return a seed; a generator draws one, so that every query can draw from it alone."""
    if isinstance(value, np.random.Generator):
        return int(value.integers(2**63))
    return int(check_rng("rng", value))  # type: ignore[arg-type]  # a number, as it is no generator


@parameters
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

    name: str = parameter(
        None, Only("a text without @ that is not another measure's name", _check_name), "what it is called"
    )
    function: Callable[..., float] = parameter(
        None,
        Only("a function of the relevance values in rank order", _check_function),
        "of the relevance values in rank order",
    )
    max_orders: int | None = parameter(
        MAX_ORDERS,
        Only("a whole number from 2 on, or None", _check_max_orders),  # one drawn order has no standard error
        "most orders that are enumerated, and number drawn beyond that; None: no limit",
    )
    rng: "int | np.random.Generator" = parameter(
        0, Only("a whole number from 0 on, or a numpy.random.Generator", _check_seed), "seed of the sampling"
    )

    def __init__(
        self,
        name: str | None = None,
        function: Callable[..., float] | None = None,
        *,
        cutoff: int | None = None,
        max_orders: int | None = MAX_ORDERS,
        rng: "int | np.random.Generator" = 0,
    ) -> None:
        Measure.__init__(self, name=name, function=function, cutoff=cutoff, max_orders=max_orders, rng=rng)

    def __repr__(self) -> str:
        if self.cutoff is None:
            return self.name
        return f"{self.name}@{self.cutoff}"

    @property
    def n_orders(self) -> tuple[int, int | None]:
        """The orders to draw, and the most to draw or to list: one number, `max_orders`; None lists all."""
        return self.max_orders or 0, self.max_orders

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over all tie orders, or over the sample."""
        _, _, _, low, high = self.moments(placements)
        return low, high

    def reachable(self, placements: Placements) -> FloatArray:
        """Return NaN: nothing is known of the function."""
        return np.full(placements.n_queries, np.nan)

    def reach(self, placements: Placements, query: int) -> int:
        """Return the last rank that the function sees."""
        return int(self.depth(placements)[query])

    def draw_rankings(self, plan: Plan, seed: int) -> Iterator[FloatArray]:
        """Draw orders of a query one by one."""
        rng = np.random.default_rng([int(self.rng), seed])  # type: ignore[arg-type]
        for _ in range(plan.n_orders):
            for start, values in plan.ties:
                plan.ranking[start : start + len(values)] = rng.permutation(values)
            yield plan.ranking[None].copy()

    def score_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return the value of the function for each ranking."""
        n_retrieved = int(placements.n_retrieved[query])
        takes_n_retrieved = _takes_two_arguments(self.function)
        values = []
        for ranking in rankings[:, : self.cutoff]:
            arguments = (ranking, n_retrieved) if takes_n_retrieved else (ranking,)
            values.append(self._call_function(arguments, placements.query_ids[query]))
        return np.array(values)

    def _call_function(self, arguments: tuple[Any, ...], query_id: str) -> float:
        """Return the value of the function for one ranking; raise if it is not a number."""
        try:
            value = self.function(*arguments)
        except Exception as error:
            raise MeasureError(
                f"the function raised {error!r} for query {query_id!r}, relevance {arguments[0][:10].tolist()}",
                measure=self.name,
            ) from error
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.inf
        if math.isinf(number):
            raise MeasureError(
                "the function must return a finite number, or NaN where no value is defined",
                measure=self.name,
                found=f"{value!r} for query {query_id!r}",
            )
        return number


def _takes_two_arguments(function: Callable[..., float]) -> bool:
    """Tell whether a function requires two positional arguments."""
    try:
        arguments = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False
    n_required = 0
    for argument in arguments:
        is_positional = argument.kind in {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}
        if is_positional and argument.default is Parameter.empty:
            n_required += 1
    return n_required > 1
