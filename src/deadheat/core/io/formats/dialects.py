"""How single tools write tables of text, where that is not plain CSV; modules of the kind "dialects" register it."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from deadheat.core import hooks
from deadheat.core.io.kinds import Kind


class Dialect(NamedTuple):
    """How a tool writes a table of text; its rows may be short, and may lack the document or its number.

    Attributes
    ----------
    matches : callable
        Takes the names in the header, and tells whether the tool wrote the table.
    columns : dict of dict
        For qrels and for a run the names of the columns that the tool writes, by canonical name; other columns may
        have any name.
    text_of : callable
        Takes the field of a query or of an id, and returns the text that it stands for.
    skipped : dict of str
        For qrels and for a run which rows are skipped, for a note that counts them, such as "of a tool without a
        rating".
    """

    matches: Callable[[Sequence[str]], bool]
    columns: Mapping[Kind, Mapping[str, str]]
    text_of: Callable[[str], str]
    skipped: Mapping[Kind, str]


DIALECTS: list[Dialect] = []


def find_dialect(header: Sequence[str]) -> Dialect | None:
    """Return the dialect of a table with these names of columns; None for plain CSV."""
    hooks.load("dialects")
    for dialect in DIALECTS:
        if dialect.matches(header):
            return dialect
    return None
