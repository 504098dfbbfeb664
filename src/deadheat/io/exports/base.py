"""What an export is: a JSON document that another tool writes, recognised by its form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deadheat.errors import SwappedFilesError
from deadheat.io.kinds import OTHER_KIND, Kind
from deadheat.io.mappings import Nested

EXPORTS: dict[str, Export] = {}


@dataclass(frozen=True, kw_only=True)
class Export:
    """A JSON document of another tool that holds qrels or a run.

    Attributes
    ----------
    name : str
        What it is, with its article, for messages.
    kind : {"qrels", "run"}
    matches : callable
        Takes the parsed document, a dict; returns whether it has this form. It looks at few of its parts.
    read : callable
        Takes the document and where it comes from; returns its queries and notes for people.
    instead : str
        What to give if the other kind is wanted.
    """

    name: str
    kind: Kind
    matches: Callable[[Mapping[Any, Any]], bool]
    read: Callable[[Mapping[Any, Any], str], tuple[Nested, tuple[str, ...]]]
    instead: str = "were qrels and run given in the wrong order?"


def register(export: Export) -> None:
    """Make an export known by its name."""
    EXPORTS[export.name] = export


def exported(held: Mapping[Any, Any], kind: Kind, where: str) -> tuple[Nested, tuple[str, ...]] | None:
    """Return the queries in a document of another tool, and notes; None if its form is not known.

    Raises
    ------
    SwappedFilesError
        The document holds the other kind.
    DataError
        It has the form, but cannot be evaluated.
    """
    export = next((one for one in EXPORTS.values() if one.matches(held)), None)
    if export is None:
        return None
    if export.kind != kind:
        what = {"qrels": "judgments", "run": "results"}
        problem = f"{export.name} holds {what[OTHER_KIND[kind]]}, expected {what[kind]}"
        raise SwappedFilesError(problem, hint=export.instead, path=where)
    return export.read(held, where)


def first_of(held: Mapping[Any, Any]) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the first value of a dict, None if it is empty."""
    return next(iter(held.values()), None)
