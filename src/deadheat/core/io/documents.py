"""JSON documents of other tools, each known by its form: modules of the kind "objects" register how they are read."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from deadheat.core import hooks, third_party
from deadheat.core.errors import FileFormatError, SwappedFilesError
from deadheat.core.io.kinds import OTHER_KIND, Kind
from deadheat.core.io.results import Listing

SWAPPED = "were qrels and run given in the wrong order?"
Document = Mapping[Any, Any]


class Export(NamedTuple):
    """A JSON document of another tool that holds qrels or a run; how it is recognised, and read."""

    name: str
    kind: Kind
    matches: Callable[[Document], object]
    read: Callable[[Document, str], Listing]
    instead: str


EXPORTS: list[Export] = []


def register_document(
    name: str,
    kind: Kind,
    matches: Callable[[Document], object],
    instead: str = SWAPPED,
) -> Callable[[Callable[[Document, str], Listing]], None]:
    """Register a function that reads a document and takes it and where it comes from.

    Parameters
    ----------
    name : str
        What it is, with its article, for messages.
    kind : {"qrels", "run"}
    matches : callable
        Takes the document, a dict; tells whether it has this form. It looks at few of its parts.
    instead : str
        What to give if the other kind is wanted.
    """
    return lambda read: EXPORTS.append(Export(name, kind, matches, read, instead))


def known_exports() -> list[Export]:
    """Return the documents that are known, in the order in which they are asked."""
    return hooks.load_in_order("objects", EXPORTS, lambda one: one.read.__module__)


def read_export(held: Document, kind: Kind, where: str) -> Listing | None:
    """Return the queries in a document of another tool, and notes; None if its form is not known.

    Raises
    ------
    SwappedFilesError
        The document holds the other kind.
    DataError
        It has the form, but cannot be evaluated.
    """
    saved = str(held.get("kind"))
    use = hooks.describe_use_of_saved(saved)
    if use is not None and "format" in held:
        raise FileFormatError(f"is a saved {saved.removeprefix('deadheat ')}", allowed=kind, hint=use, path=where)
    found = next((one for one in known_exports() if one.matches(held)), None)
    if found is None and _is_document(held) and third_party.load("objects"):
        return read_export(held, kind, where)
    if found is None:
        _check_objects(held)
        return None
    if found.kind != kind:
        what = {"qrels": "judgments", "run": "results"}
        raise SwappedFilesError(
            f"{found.name} holds {what[OTHER_KIND[kind]]}, expected {what[kind]}", hint=found.instead, path=where
        )
    return found.read(held, where)


def _is_document(held: Document) -> bool:
    """Tell whether a dict is no plain one of queries: a value is no collection, or has objects inside objects."""
    first = next(iter(held.values()), None)
    return not isinstance(first, Mapping | list | tuple) or _has_objects_inside(first)


def _check_objects(held: Document) -> None:
    """Raise `MissingPluginError` for objects inside objects, which are no numbers, where a plugin is missing."""
    missing = hooks.list_missing_plugins("objects")
    if missing and any(map(_has_objects_inside, held.values())):
        raise hooks.missing_plugin("a JSON document of another tool", missing[0])


def _has_objects_inside(held: object) -> bool:
    if isinstance(held, Mapping):
        return any(isinstance(one, Mapping) or _are_objects(one) for one in held.values())
    if not isinstance(held, list) or not _are_objects(held):
        return False
    return any(map(_are_objects, held[0].values()))


def _are_objects(held: object) -> bool:
    return isinstance(held, list) and bool(held) and isinstance(held[0], Mapping)
