"""The names of terms: synonyms, and ids that are written alike."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from deadheat.core.errors import DataError, SourceTypeError
from deadheat.core.structures import T
from deadheat.core.wording import did_you_mean

SCOPES = ("EXACT", "NARROW", "BROAD", "RELATED")
LABEL = "label"  # the type of a name that is a label too: that of another language, or a second one


class Synonym(NamedTuple):
    """Another name of a term.

    Attributes
    ----------
    text : str
    scope : {"EXACT", "NARROW", "BROAD", "RELATED"}
    kind : str
        The type that the ontology gives it, such as ``layperson``, ``abbreviation``, ``plural_form`` or
        ``uk_spelling``; empty if it gives none.
    """

    text: str
    scope: str = "EXACT"
    kind: str = ""


def listed(what: str, of: str, given: Iterable[T]) -> tuple[T, ...]:
    """Return several of something, or raise for a text, which Python would take as several letters."""
    if isinstance(given, str):
        raise SourceTypeError(f"{what} must be a list of {of}", found=f"the text {given!r}", hint=f"write [{given!r}]")
    return tuple(given)


def in_order(term: str, synonyms: Iterable[Synonym]) -> tuple[Synonym, ...]:
    """Return synonyms of a term sorted by scope, text and kind; their order in files has no meaning."""
    checked = []
    for given in listed(f"the synonyms of {term!r}", "Synonym", synonyms):
        synonym = Synonym(*listed(f"a synonym of {term!r}", "its text, scope and kind", given))
        checked.append(synonym)
    for synonym in checked:
        if synonym.scope not in SCOPES:
            raise DataError(f"the scope of a synonym must be one of {', '.join(map(repr, SCOPES))}", given=synonym)
    return tuple(sorted(checked, key=lambda synonym: (SCOPES.index(synonym.scope), synonym.text, synonym.kind)))


def near_id(given: str, ids: Sequence[str], labels: Sequence[str] = ()) -> str:
    """Return ``"Did you mean 'x'?"`` for a similarly spelt id or one with this label, or an empty string.

    Numbers close to each other mean nothing: they are never proposed.
    """
    folded = given.strip().casefold()
    for place, term in enumerate(ids):
        if term.casefold().replace("_", ":") == folded.replace("_", ":"):
            return f"Did you mean {term!r}?"
        if labels and labels[place].casefold() == folded:
            return f"Did you mean {term!r} ({labels[place]})?"
    return "" if re.search(r"\d{3}", given) else did_you_mean(given, ids)
