"""Measures without a closed form: what they fall back on, the orders of a query's ties themselves.

Such is a measure of one's own, a function of the relevance values in rank order, or known by its saved values.
"""

import inspect
import math
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.checks import as_count
from deadheat.core.errors import MeasureError, warn_of_time
from deadheat.core.kernels import orders
from deadheat.core.measures.base import Measure
from deadheat.core.measures.families import CutMeasure, JointMeasure
from deadheat.core.measures.notation import measure_named
from deadheat.core.measures.parameters import Only, parameter, parameters
from deadheat.core.measures.registration import ALIASES, REGISTRY
from deadheat.core.phases import Advance, lasting, phase
from deadheat.core.placements.placements import Placements
from deadheat.core.random_generators import check_rng

MAX_ORDERS = 10_000  # that are listed; beyond, as many are drawn, or fewer of large ties
MOST_RANKS = 1 << 23  # in the ties of all drawn orders of a query, as long as 100 are drawn
FEWEST_DRAWN = 100
CELLS_A_SECOND = 5e7  # ranks of orders
LESS = "with a cutoff or a limit of ranks it takes less"
RULE_OF_THREE = 3.0  # by the number of draws: the most that what none of them shows is probable, at 95%


@dataclass(frozen=True, eq=False)
class Plan:
    """Which orders of a query are looked at.

    Attributes
    ----------
    ranking : ndarray of shape (n_ranks,)
        Codes by rank.
    ties : list of (int, ndarray)
        The ranks above each tie in which codes differ, and its codes.
    n_orders : int
    is_listed : bool
        Whether these are all orders, and not drawn ones.
    """

    ranking: FloatArray
    ties: list[tuple[int, FloatArray]]
    n_orders: int
    is_listed: bool

    @classmethod
    def of(cls, ranking: FloatArray, ties: list[tuple[int, FloatArray]], *, fewest: int, most: int | None) -> "Plan":
        """List orders if they are at most `most` (None: however many), else draw as many, or down to `fewest`."""
        if most is None or all(len(codes) <= most for _, codes in ties):
            n_orders = math.prod(orders.count_arrangements(codes) for _, codes in ties)
            if most is None or n_orders <= most:
                return cls(ranking, ties, n_orders, is_listed=True)
        n_drawn = int(np.clip(MOST_RANKS // sum(len(codes) for _, codes in ties), fewest, most))
        return cls(ranking, ties, n_drawn, is_listed=False)


def moments_of(values: FloatArray, *, is_listed: bool, off: Callable[[float], float]) -> tuple[float, ...]:
    """Return mean, variance, the error of the mean, minimum and maximum of the values of all orders, or drawn ones.

    Parameters
    ----------
    values : ndarray of float, shape (n_orders,)
    is_listed : bool
        Whether these are all, so that the mean has no error.
    off : callable
        Returns how far from the mean others could be, which counts where all drawn ones agree.
    """
    mean, variance = float(values.mean()), float(values.var(ddof=0 if is_listed else 1))
    error = 0.0 if is_listed else math.sqrt(variance / len(values))
    if not is_listed and values.min() == values.max() and math.isfinite(furthest := off(mean)):
        error = RULE_OF_THREE / len(values) * furthest
    return mean, variance, error, float(values.min()), float(values.max())


@parameters
class OrdersMeasure(JointMeasure):
    """A measure that can be computed on the orders of a query's ties: on all if they are few, else on a sample.

    The sample is the same in every call. Its :meth:`moments` are mean, variance, the error of the mean, minimum and
    maximum. The error is 0 but for queries of which orders are drawn; where all of these agree, 3 by their number times
    how far another one could be off.
    """

    @property
    def n_orders(self) -> tuple[int, int | None]:
        """Fewest orders that are drawn, and most that are drawn or listed; None: all are listed."""
        return FEWEST_DRAWN, MAX_ORDERS

    def find_moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Compute mean, variance, standard error, minimum and maximum."""
        return tuple(self.over_orders(placements, np.arange(placements.n_queries)))

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over tie orders.

        Where orders are drawn, they are those of the sample, and of the documents in order of relevance.
        """
        _, _, error, low, high = self.moments(placements)
        if not (error > 0).any():
            return low, high
        in_order = super().extremes(placements)
        return (
            np.where(error > 0, np.minimum(low, in_order[0]), low),
            np.where(error > 0, np.maximum(high, in_order[1]), high),
        )

    def standard_error(self, placements: Placements) -> FloatArray:
        """Return the standard error of :meth:`mean`: 0 but for queries of which orders are drawn."""
        return self.moments(placements)[2]

    def codes(self, relevance: FloatArray) -> FloatArray:
        """Return numbers that are equal where the measure sees no difference: the relevance, 0 for unjudged documents.

        NaN is the relevance of the unjudged; of measures by subtopic it is the sets of subtopics.
        """
        return np.nan_to_num(relevance)

    @abstractmethod
    def of_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return the value of each ranking.

        Parameters
        ----------
        rankings : ndarray of shape (n_orders, n_ranks)
            Codes of the documents by rank.
        placements : Placements
        query : int
            Whose rankings they are.

        Returns
        -------
        ndarray of shape (n_orders,)
        """

    def reach(self, placements: Placements, query: int) -> int:
        """Return the rank below which no document makes a difference to the value of a query."""
        return int(placements.n_retrieved[query])

    def over_orders(self, placements: Placements, queries: IntArray) -> FloatArray:
        """Return mean, variance, standard error, minimum and maximum of some queries, of shape (5, n_queries)."""
        fewest, most = self.n_orders
        plans = [Plan.of(*self._ties(placements, query), fewest=fewest, most=most) for query in queries.tolist()]
        n_cells = sum(plan.n_orders * len(plan.ranking) for plan in plans)
        is_known = warn_of_time(
            str(self),
            n_cells / CELLS_A_SECOND,
            f": orders of the ties of {len(plans):,} queries are listed or drawn; {LESS}",
        )
        found = []
        with phase(str(self), n_cells) if is_known else lasting(str(self), n_cells, f"; {LESS}") as advance:
            for query, plan in zip(queries.tolist(), plans, strict=True):
                found.append(self._of_query(placements, query, plan, advance))
        return np.array(found).reshape(len(queries), 5).T

    def _of_query(self, placements: Placements, query: int, plan: Plan, advance: Advance) -> tuple[float, ...]:
        seed = zlib.crc32(placements.query_ids[query].encode())
        found = orders.list_rankings(plan.ranking, plan.ties) if plan.is_listed else self.drawn(plan, seed)
        parts = []
        for rows in found:
            parts.append(self.of_rankings(rows, placements, query))
            advance(rows.size)
        values = np.concatenate(parts)
        lowest, highest = self.range
        return moments_of(values, is_listed=plan.is_listed, off=lambda mean: max(highest - mean, mean - lowest))

    def drawn(self, plan: Plan, seed: int) -> Iterator[FloatArray]:
        """Draw orders of a query, in matrices of shape (n_orders, n_ranks)."""
        return orders.draw_rankings(plan.ranking, plan.ties, plan.n_orders, np.random.default_rng(seed))

    def _ties(self, placements: Placements, query: int) -> tuple[FloatArray, list[tuple[int, FloatArray]]]:
        """Return the codes of the ranks down to the reach, or to the end of a tie there, and the ties that differ."""
        rows = slice(*np.searchsorted(placements.query, [query, query + 1]))
        above, tied, codes = placements.above[rows], placements.tied[rows], self.codes(placements.relevance[rows])
        unjudged = float(self.codes(np.array([np.nan]))[0])
        reach = self.reach(placements, query)
        is_near = above < reach
        above, tied, codes = above[is_near], tied[is_near], codes[is_near]
        ranking = np.full(max(reach, int((above + tied).max(initial=0))), unjudged)
        ties: list[tuple[int, FloatArray]] = []
        for start in np.unique(above).tolist():
            of_tie = codes[above == start]
            values = np.full(int(tied[above == start][0]), unjudged)
            values[: len(of_tie)] = of_tie
            ranking[start : start + len(values)] = values
            if len(np.unique(values)) > 1:
                ties.append((start, values))
        return ranking, ties


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
        """Skip the checks of other measures: the file says what it is."""
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


def _name(value: Any) -> str:  # noqa: ANN401 - a check takes whatever the user gave
    is_own = isinstance(value, str) and value not in {*REGISTRY, *ALIASES} and measure_named(value) is None
    if not is_own or not value.strip() or "@" in value:
        raise ValueError
    return str(value)


def _function(value: Any) -> Any:  # noqa: ANN401 - as above
    if not callable(value):
        raise TypeError
    return value


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

    name: str = parameter(None, Only("a text without @ that is not another measure's name", _name), "what it is called")
    function: Callable[..., float] = parameter(
        None,
        Only("a function of the relevance values in rank order", _function),
        "of the relevance values in rank order",
    )
    max_orders: int | None = parameter(
        10_000,
        # of one drawn order no standard error is known
        Only("a whole number from 2 on, or None", lambda given: None if given is None else as_count("", given, 2)),
        "most orders that are enumerated, and number drawn beyond that; None: no limit",
    )
    rng: "int | np.random.Generator" = parameter(
        0,
        Only(
            "a whole number from 0 on, or a numpy.random.Generator",
            lambda given: int(
                given.integers(2**63) if isinstance(given, np.random.Generator) else check_rng("rng", given)  # type: ignore[arg-type]
            ),
        ),
        "seed of the sampling",
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
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.inf
        if math.isinf(number):
            raise MeasureError(
                "the function must return a finite number, or NaN where no value is defined",
                measure=self.name,
                found=f"{value!r} for query {query!r}",
            )
        return number


def _takes_two(function: Callable[..., float]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False
    return sum(p.default is p.empty and p.kind in {p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD} for p in parameters) > 1
