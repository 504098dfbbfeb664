"""The forms of what search libraries return; modules of the kind "objects" register those that they know."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from deadheat.core import hooks
from deadheat.core.io.notes import Ranked


class Shape(NamedTuple):
    """The form of one library's results: what each has, and the paths of its id, score and relevance.

    Attributes
    ----------
    has : tuple of str
        The keys or attributes by which it is known.
    id : str
    run, qrels : str, default ""
        Of the number; empty where results have none.
    assumes : Ranked or None
        A note that goes with the score of `run`.
    within : str, default ""
        The path of the index that a result is from, where ids are unique only within one.
    """

    has: tuple[str, ...]
    id: str
    run: str = ""
    qrels: str = ""
    assumes: Ranked | None = None
    within: str = ""


class ResultSet(NamedTuple):
    """What a search for several queries returned as one object.

    Attributes
    ----------
    matches : callable
        Takes any object; tells whether it is one.
    lists : callable
        Takes the object, and where it comes from; returns the results of each query.
    """

    matches: Callable[[object], bool]
    lists: Callable[[Mapping[str, Any], str], list[list[dict[str, Any]]]]


@dataclass
class Forms:
    """What is known of results; each list in the order in which it is looked through.

    Attributes
    ----------
    shapes : list of Shape
    result_sets : list of ResultSet
    holders : list of str
        Paths to the list of results in what one search returned.
    places_of_ids, places_of_scores, places_of_passages : list of str
        Where, inside a result, ids, scores, and the fields of passages may be.
    no_scores : list of str
        Names of numbers that are never scores.
    judged : list of str
        Keys of results whose rating is a judgment, which is no score.
    """

    shapes: list[Shape] = field(default_factory=list)
    result_sets: list[ResultSet] = field(default_factory=list)
    holders: list[str] = field(default_factory=list)
    places_of_ids: list[str] = field(default_factory=list)
    places_of_scores: list[str] = field(default_factory=list)
    places_of_passages: list[str] = field(default_factory=list)
    no_scores: list[str] = field(default_factory=list)
    judged: list[str] = field(default_factory=list)


REGISTERED = Forms()  # modules of the kind "objects" add to its lists when they are imported


def known_forms() -> Forms:
    """Return what the plugins that are there know of results."""
    hooks.load("objects")
    return REGISTERED
