"""The fields of labelled cases, and the names that users give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from deadheat.errors import ColumnError, ParameterError
from deadheat.io.kinds import names_of
from deadheat.wording import did_you_mean

HPO_IDS = "expected_hpo_ids"
IDS = ("expected_ids", HPO_IDS)
DOMAINS = ("domain", "hpo_domain")
FIELDS = (
    "case_id",
    "text",
    "description",
    *IDS,
    "relevance",
    "language",
    "difficulty",
    "category",
    *DOMAINS,
    "pair_id",
)

# Nearest first. A table of qrels may call its documents so too; but `doc_id` beside a text is no expected document.
_EXPECTED = tuple(
    name for name in names_of("qrels")["doc_id"] if name.startswith(("expected", "relevant", "reference", "ground"))
)
_NAMES: dict[str, tuple[str, ...]] = {
    "case_id": ("query_id", "qid", "question_id"),
    "text": ("phrase", "query", "question", "user_input", "input", "query_text", "search_term", "utterance"),
    "expected_ids": (*_EXPECTED, "gold", "gold_id", "gold_ids", "gold_doc_id", "gold_doc_ids", "target", "target_id"),
    "language": ("lang",),
}
_BEGINNINGS = ("expected_", "gold_")  # of the one column that may hold the ids, if no name is known


def fields_in(columns: Iterable[object], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the name in a file of each field that it calls otherwise, by field.

    Parameters
    ----------
    columns : iterable of str
        The names in the file.
    given : dict of str to str, optional
        What the user says, by field.

    Examples
    --------
    >>> fields_in(["phrase", "expected_id", "language"])
    {'text': 'phrase', 'expected_ids': 'expected_id'}
    >>> fields_in(["text", "query", "expected_term"], {"text": "query"})
    {'text': 'query', 'expected_ids': 'expected_term'}
    """
    names = [name for name in columns if isinstance(name, str)]
    found = _checked(given or {}, names)
    has_ids = not found.keys().isdisjoint(IDS)
    for field, accepted in _NAMES.items():
        if field in names or field in found or (field == IDS[0] and (has_ids or HPO_IDS in names)):
            continue
        name = next((one for one in accepted if one in names), None)
        if name is None and field == IDS[0]:
            name = _only(one for one in names if one.startswith(_BEGINNINGS) and one not in found.values())
        if name is not None and name not in found.values():
            found[field] = name
    return found


def _only(names: Iterable[str]) -> str | None:
    found = list(names)
    return found[0] if len(found) == 1 else None


def _checked(given: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Return the names that a user says; raise for what is no field, or not in the file."""
    if not isinstance(cast("object", given), Mapping):
        raise ParameterError(argument="columns", given=given, allowed="a dict such as {'text': 'phrase'}")
    for field, name in given.items():
        if field not in FIELDS:
            raise ParameterError(argument="columns", given=field, allowed=FIELDS)
        if name not in names:
            allowed, hint = f"one of {', '.join(map(repr, names))}", did_you_mean(name, names)
            raise ColumnError(f"no column {name!r} in the cases", allowed=allowed, hint=hint)
    return dict(given)
