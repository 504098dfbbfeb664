"""What an export is: a JSON document that another tool writes, recognised by its form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from deadheat.errors import DataError, FileFormatError, SwappedFilesError
from deadheat.io.kinds import OTHER_KIND, Kind
from deadheat.io.mappings import Nested
from deadheat.wording import did_you_mean

EXPORTS: dict[str, Export] = {}
SAVED = {  # what deadheat itself writes, and what it is for
    "deadheat evaluation": "deadheat compare, gate and report take it in place of qrels and run",
    "deadheat accumulator": "Accumulator.resume() takes it",
}
_WORDS = {dict: "an object", list: "a list", str: "text", int: "a whole number", Real: "a number"}


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
    if str(held.get("kind")) in SAVED and "format" in held:
        name = held["kind"].removeprefix("deadheat ")
        raise FileFormatError(f"is a saved {name}", allowed=kind, hint=SAVED[held["kind"]], path=where)
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


def part(held: Any, key: str, kinds: tuple[type, ...], place: str, where: str) -> Any:  # noqa: ANN401 - of JSON
    """Return what an object in a document holds under a key.

    Parameters
    ----------
    held : dict
    key : str
    kinds : tuple of type
        What may be there; true and false are no numbers.
    place : str
        Where the object is in the document, such as ``"requests[0]"``.
    where : str
        Where the document comes from.

    Raises
    ------
    DataError
        It is no object, it lacks the key, or something else is there; with the path inside the document.

    Examples
    --------
    >>> part({"ratings": [1]}, "ratings", (list, dict), "requests[0]", "x.json")
    [1]
    >>> part({"ratings": 5}, "ratings", (list, dict), "requests[0]", "x.json")
    Traceback (most recent call last):
        ...
    deadheat.errors.DataError: x.json: requests[0].ratings is 5, expected a list or an object
    """
    if not isinstance(held, Mapping):
        raise DataError(f"{place} is {held!r:.60}", allowed=f"an object with {key!r}", path=where)
    if key not in held:
        has = f"it has {', '.join(map(repr, [*held][:6])) or 'no keys'}"
        raise DataError(f"{place} has no {key!r}", hint=did_you_mean(key, map(str, held)) or has, path=where)
    found = held[key]
    if not isinstance(found, kinds) or (isinstance(found, bool) and not {int, Real}.isdisjoint(kinds)):
        allowed = " or ".join(_WORDS[kind] for kind in kinds)
        raise DataError(f"{place}.{key}".lstrip(".") + f" is {found!r:.60}", allowed=allowed, path=where)
    return found
