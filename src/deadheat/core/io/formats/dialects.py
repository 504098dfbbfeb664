"""How single tools write tables of text, where that is not plain CSV; modules of the kind "dialects" register it."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from deadheat.core import hooks
from deadheat.core.io.kinds import Kind


class Dialect(NamedTuple):
    """How one tool writes a table: rows may be short, and may lack the document or its number.

    Attributes
    ----------
    matches : callable
        Takes the names in the header.
    columns : dict of dict
        For each kind the names of its own columns by deadheat's: other columns may have any name.
    text_of : callable
        Takes the field of a query or an id, and returns its text.
    skipped : dict of str
        For each kind the rows that are skipped, for a note that counts them, such as "of a tool without a rating".
    """

    matches: Callable[[Sequence[str]], bool]
    columns: Mapping[Kind, Mapping[str, str]]
    text_of: Callable[[str], str]
    skipped: Mapping[Kind, str]


DIALECTS: list[Dialect] = []


def dialect_of(header: Sequence[str]) -> Dialect | None:
    """Return the dialect of a table with these names of columns; None of plain CSV."""
    hooks.load("dialects")
    for dialect in DIALECTS:
        if dialect.matches(header):
            return dialect
    return None
