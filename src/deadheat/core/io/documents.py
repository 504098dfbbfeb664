"""JSON documents of other tools, each known by its form: modules of the kind "objects" register how they are read."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from deadheat.core import hooks, third_party
from deadheat.core.errors import FileFormatError, SwappedFilesError
from deadheat.core.io.kinds import Kind
from deadheat.core.io.results import Listing

SWAPPED = "were qrels and run given in the wrong order?"
Document = Mapping[Any, Any]


class Export(NamedTuple):
    """A JSON document of another tool that holds qrels or a run.

    Attributes
    ----------
    name : str
        What it is, with its article, for messages.
    kind : {"qrels", "run"}
    matches : callable
        Takes a document; tells whether it has this form.
    read : callable
        Takes the document, and where it comes from.
    instead : str
        What to give if the other kind is wanted.
    """

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
        Advice on what to give if the other kind is wanted.
    """

    def register(read: Callable[[Document, str], Listing]) -> None:
        EXPORTS.append(Export(name, kind, matches, read, instead))

    return register


def known_exports() -> list[Export]:
    """Return the documents that are known, in the order in which they are asked."""
    return hooks.load_in_order("objects", EXPORTS, lambda known: known.read.__module__)


def read_export(document: Document, kind: Kind, where: str) -> Listing | None:
    """Return the documents by query that another tool's JSON document holds; None if its form is not known.

    Raises
    ------
    SwappedFilesError
        The document holds the other kind.
    DataError
        It has the form, but cannot be evaluated.
    """
    _refuse_saved(document, kind, where)
    export = _find_export(document)
    if export is None and _is_document(document) and third_party.load("objects"):
        return read_export(document, kind, where)
    if export is None:
        _check_objects(document)
        return None
    if export.kind != kind:
        what = {"qrels": "judgments", "run": "results"}
        raise SwappedFilesError(
            f"{export.name} holds {what[export.kind]}, expected {what[kind]}", hint=export.instead, path=where
        )
    return export.read(document, where)


def _refuse_saved(document: Document, kind: Kind, where: str) -> None:
    """Raise `FileFormatError` for a document that deadheat saved, and name the function that reads it."""
    saved_kind = str(document.get("kind"))
    use = hooks.describe_use_of_saved(saved_kind)
    if use is not None and "format" in document:
        raise FileFormatError(f"is a saved {saved_kind.removeprefix('deadheat ')}", allowed=kind, hint=use, path=where)


def _find_export(document: Document) -> Export | None:
    """Return the first known export that has the form of a document."""
    for export in known_exports():
        if export.matches(document):
            return export
    return None


def _is_document(document: Document) -> bool:
    """Tell whether a dict is a tool's document and not results by query.

    Its first value shows it: that is no collection, or has objects inside objects.
    """
    first = next(iter(document.values()), None)
    return not isinstance(first, Mapping | list | tuple) or _has_objects_inside(first)


def _check_objects(document: Document) -> None:
    """Raise `MissingPluginError` for objects inside objects, if a plugin that may read them is missing."""
    missing = hooks.list_missing_plugins("objects")
    if missing and any(map(_has_objects_inside, document.values())):
        raise hooks.missing_plugin("a JSON document of another tool", missing[0])


def _has_objects_inside(value: object) -> bool:
    """Tell whether a value is like ``{"a": {...}}`` or ``{"a": [{...}]}``, or a list like ``[{"a": [{...}]}]``."""
    if isinstance(value, Mapping):
        return any(isinstance(member, Mapping) or _are_objects(member) for member in value.values())
    if not isinstance(value, list) or not _are_objects(value):
        return False
    return any(map(_are_objects, value[0].values()))


def _are_objects(value: object) -> bool:
    """Tell whether a value is a list whose first item is an object."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)
