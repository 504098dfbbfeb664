"""A measure of one's own, given as a function of the relevance values in rank order."""

from __future__ import annotations

import inspect
import itertools
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from deadheat.arrays import FloatArray
from deadheat.errors import MeasureError
from deadheat.measures.base import ALIASES, REGISTRY, CutMeasure, JointMeasure
from deadheat.measures.parameters import Cutoff, parameter
from deadheat.placements.placements import Placements
from deadheat.wording import Plain


class Name:
    """A text that is no other measure's name."""

    allowed = "a text without @ that is not another measure's name"

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
        """Return the text."""
        if not isinstance(value, str) or not value.strip() or "@" in value or value in {*REGISTRY, *ALIASES}:
            raise ValueError
        return value


class Function:
    """Something that can be called."""

    allowed = "a function of the relevance values in rank order"

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
        """Return the function."""
        if not callable(value):
            raise ValueError  # noqa: TRY004 - the caller makes one message of it
        return value


class Seed:
    """A seed or a generator."""

    allowed = "a whole number from 0 on, or a numpy.random.Generator"

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
        """Return a seed: a generator gives one."""
        if isinstance(value, np.random.Generator):
            return int(value.integers(2**63))
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise ValueError
        return int(value)


@dataclass(frozen=True, repr=False)
class Custom(JointMeasure, CutMeasure):
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

    name: str = parameter(None, Name(), "what it is called")
    function: Callable[..., float] = parameter(None, Function(), "of the relevance values in rank order")
    _: KW_ONLY
    max_orders: int | None = parameter(
        10_000, Cutoff(), "most orders that are enumerated, and number drawn beyond that; None: no limit"
    )
    rng: int | np.random.Generator = parameter(0, Seed(), "seed of the sampling")

    def __repr__(self) -> str:
        return self.name + (f"@{self.cutoff}" if self.cutoff else "")

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over all tie orders, or over the sample."""
        _, _, low, high, _ = self.moments(placements)
        return low, high

    def reachable(self, placements: Placements) -> FloatArray:
        """Return NaN: nothing is known of the function."""
        return np.full(placements.n_queries, np.nan)

    def standard_error(self, placements: Placements) -> FloatArray:
        """Return the standard error of the mean: 0 where all orders were enumerated."""
        return self.moments(placements)[4]

    def moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Return mean, variance, minimum, maximum and standard error over all tie orders, or over the sample."""
        return placements.cached(
            ("custom", self),
            lambda: tuple(np.array([self._of_query(placements, q) for q in range(placements.n_queries)]).T),
        )

    def _of_query(self, placements: Placements, query: int) -> tuple[float, float, float, float, float]:
        """Return mean, variance, minimum, maximum and standard error of one query."""
        n_retrieved = int(placements.n_retrieved[query])
        rows = slice(*np.searchsorted(placements.query, [query, query + 1]))
        above, tied, relevance = placements.above[rows], placements.tied[rows], placements.relevance[rows]
        ranking, is_tied = np.zeros(n_retrieved), tied > 1
        ranking[above[~is_tied]] = relevance[~is_tied]
        ties: list[tuple[int, FloatArray]] = []
        for start in np.unique(above[is_tied]).tolist():
            in_tie = above == start
            values = np.zeros(int(tied[in_tie][0]))
            values[: in_tie.sum()] = relevance[in_tie]
            ranking[start : start + len(values)] = values
            if (self.cutoff is None or start < self.cutoff) and len(set(values.tolist())) > 1:
                ties.append((start, values))
        if self.max_orders is None or math.prod(_n_arrangements(values) for _, values in ties) <= self.max_orders:
            rankings, sampled = _enumerated(ranking, ties), False
        else:
            seed = [int(self.rng), zlib.crc32(placements.query_ids[query].encode())]  # type: ignore[arg-type]
            rankings, sampled = _drawn(ranking, ties, self.max_orders, np.random.default_rng(seed)), True
        of = placements.query_ids[query]
        values = np.array([self._value(ranking[: self.cutoff], n_retrieved, of) for ranking in rankings])
        variance = float(values.var(ddof=1)) if sampled else float(values.var())
        error = math.sqrt(variance / len(values)) if sampled else 0.0
        return float(values.mean()), variance, float(values.min()), float(values.max()), error

    def _value(self, relevance: FloatArray, n_retrieved: int, query: str) -> float:
        arguments = (relevance, n_retrieved) if _takes_two(self.function) else (relevance,)
        try:
            value = self.function(*arguments)
        except Exception as error:
            raise MeasureError(
                f"the function raised {error!r} for query {query!r}, relevance {relevance[:10].tolist()}",
                measure=self.name,
            ) from error
        given = Plain(f"{value!r} for query {query!r}")
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise MeasureError("the function must return a number", measure=self.name, given=given) from None
        if math.isinf(number):
            problem = "the function must return a finite number, or NaN where no value is defined"
            raise MeasureError(problem, measure=self.name, given=given)
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


def _n_arrangements(values: FloatArray) -> int:
    """Count the distinct orders of values of which some are equal."""
    repeats = Counter(values.tolist()).values()
    return math.factorial(len(values)) // math.prod(map(math.factorial, repeats))


def _enumerated(ranking: FloatArray, ties: list[tuple[int, FloatArray]]) -> Iterator[FloatArray]:
    """Yield every distinct ranking."""
    arranged = [list(_arrangements(Counter(values.tolist()), len(values))) for _, values in ties]
    for choice in itertools.product(*arranged):
        for (start, values), chosen in zip(ties, choice, strict=True):
            ranking[start : start + len(values)] = chosen
        yield ranking.copy()


def _arrangements(left: Counter[float], size: int) -> Iterator[tuple[float, ...]]:
    """Yield the distinct orders of a multiset."""
    if not size:
        yield ()
        return
    for value in [value for value, count in left.items() if count]:
        left[value] -= 1
        for rest in _arrangements(left, size - 1):
            yield (value, *rest)
        left[value] += 1


def _drawn(
    ranking: FloatArray, ties: list[tuple[int, FloatArray]], size: int, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Yield random rankings."""
    for _ in range(size):
        for start, values in ties:
            ranking[start : start + len(values)] = rng.permutation(values)
        yield ranking.copy()
