"""What is simulated: rerankers that differ in how often they tie, and queries that differ in how hard they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from deadheat.arguments import is_number, whole
from deadheat.errors import ParameterError
from deadheat.io.naming import LONGEST, file_name
from deadheat.simulation.coarsening import check_coarse
from deadheat.wording import did_you_mean

Named = TypeVar("Named", "Reranker", "QueryType")

ROOM = 60  # bytes of a file name that endings and temporary names may take


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise ParameterError(argument="name", given=name, allowed="a word or words that can be printed")


def _is_share(given: object) -> bool:
    return is_number(given) and 0 <= cast("float", given) <= 1


def _is_count(given: object) -> bool:
    return (whole(given) or 0) > 0


def _check_share(name: str, given: object) -> None:
    if not _is_share(given):
        raise ParameterError(argument=name, given=given, allowed="a probability, from 0 to 1")


def _check_span(name: str, given: object, is_allowed: Callable[[object], bool], allowed: str) -> None:
    if not (isinstance(given, tuple) and len(given) == 2 and all(map(is_allowed, given)) and given[0] <= given[1]):
        raise ParameterError(argument=name, given=given, allowed=f"{allowed}, the lower one first")


@dataclass(frozen=True)
class Reranker:
    """A reranker to simulate.

    Attributes
    ----------
    name : str
        Of its run and its file.
    levels : int or None
        Scores that it can give, equally spaced from 0 to 1; None for any score.
    tie_probability : float
        With this probability each document, one after the other, gives its score to another one.
    lowest, highest : float, default 0.1 and 0.9
        Between these a score lies before it is raised for relevant documents.

    Examples
    --------
    >>> Reranker("grades", levels=4, tie_probability=0.0)
    Reranker(name='grades', levels=4, tie_probability=0.0, lowest=0.1, highest=0.9)
    """

    name: str
    levels: int | None = None
    tie_probability: float = 0.0
    lowest: float = 0.1
    highest: float = 0.9

    def __post_init__(self) -> None:
        """Raise `ParameterError` for what cannot be simulated."""
        _check_name(self.name)
        if self.levels is not None:
            check_coarse(levels=self.levels)
            object.__setattr__(self, "levels", whole(self.levels))
        _check_share("tie_probability", self.tie_probability)
        _check_span("lowest and highest", (self.lowest, self.highest), _is_share, "numbers from 0 to 1")

    @property
    def file_name(self) -> str:
        """The name of the file of its run, without the ending; one word, which a TREC run can hold too."""
        return file_name("_".join(self.name.split()), LONGEST - ROOM)


@dataclass(frozen=True)
class QueryType:
    """A kind of query to simulate.

    Attributes
    ----------
    name : str
    performance : float
        Probability that a reranker raises the score of a relevant document.
    tie_probability : float
        Probability that two to four documents of the query get one score.
    raised : tuple of float, default (0.2, 0.4)
        By how much a score is raised: at least and at most.
    n_documents, n_relevant : tuple of int
        At least and at most.
    """

    name: str
    performance: float
    tie_probability: float = 0.0
    raised: tuple[float, float] = (0.2, 0.4)
    n_documents: tuple[int, int] = (10, 19)
    n_relevant: tuple[int, int] = (1, 3)

    def __post_init__(self) -> None:
        """Raise `ParameterError` for what cannot be simulated."""
        _check_name(self.name)
        _check_share("performance", self.performance)
        _check_share("tie_probability", self.tie_probability)
        _check_span("raised", self.raised, _is_share, "a tuple of two numbers from 0 to 1")
        _check_span("n_documents", self.n_documents, _is_count, "a tuple of two whole numbers from 1 on")
        _check_span("n_relevant", self.n_relevant, _is_count, "a tuple of two whole numbers from 1 on")


# The four of source 1: levels, and how often a document gives its score to another.
PRESETS = (
    Reranker("low", 20, 0.1),
    Reranker("medium", 10, 0.3),
    Reranker("high", 5, 0.5),
    Reranker("very-high", 3, 0.7),
)
# Its four kinds of queries.
QUERY_TYPES = (
    QueryType("simple factual", 0.8, 0.2),
    QueryType("complex reasoning", 0.6, 0.4),
    QueryType("multi-hop", 0.7, 0.5),
    QueryType("ambiguous", 0.5, 0.6),
)
# Those that it tries its rerankers on, which are all alike.
PLAIN = QueryType("plain", 0.9, 0.0, (0.1, 0.3), (8, 19), (1, 4))
KINDS = (*QUERY_TYPES, PLAIN)


def chosen(
    argument: str,
    given: Iterable[str | Named] | str | Named | None,
    known: tuple[Named, ...],
    default: tuple[Named, ...],
) -> tuple[Named, ...]:
    """Return what was chosen, by name or made by the caller; names must differ, also as names of files."""
    if given is None:
        return default
    of_name: dict[Any, Named] = {one.name: one for one in known}
    kind = type(known[0])
    is_single = isinstance(given, str | kind) or not isinstance(cast("object", given), Iterable)
    listed: list[Any] = [given] if is_single else list(cast("Iterable[Any]", given))
    allowed = f"names among {', '.join(map(repr, of_name))}, or a {kind.__name__}"
    found: list[Named] = []
    for one in listed or [None]:
        if not isinstance(one, kind | str) or (isinstance(one, str) and one not in of_name):
            hint = did_you_mean(one, map(str, of_name))
            raise ParameterError(argument=argument, given=one, allowed=allowed, hint=hint)
        found.append(of_name[one] if isinstance(one, str) else one)
    names = [str(getattr(one, "file_name", one.name)).casefold() for one in found]
    for name, one in zip(names, found, strict=True):
        if names.count(name) > 1:
            raise ParameterError(f"two {argument} would be called {one.name!r}", hint="give each a name of its own")
    return tuple(found)
