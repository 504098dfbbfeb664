"""Relevant documents in groups, one of each of which is enough: ``[["a", "b"], ["c"]]``.

The core knows the form, and keeps the groups as subtopics. What measures make of them is for the service "groups" to
say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set as AbstractSet
from typing import Any, NamedTuple

from deadheat.core.errors import DataError, SourceTypeError
from deadheat.core.io.result_parts import describe_object

_SMALL_NUMBER = re.compile("[0-9]{1,2}", re.ASCII)
ALLOWED = "a list of texts for each group, as in [['a', 'b'], ['c']]"


class GroupMember(NamedTuple):
    """A document of a group.

    Attributes
    ----------
    query_id, doc_id : str
    group : str
        The place of the group in its list, from "1" on.
    """

    query_id: str
    doc_id: str
    group: str


def are_groups(results: Sequence[Any]) -> bool:
    """Tell whether the relevant documents of a query are in groups: whether one of its items is a list of texts.

    A pair of a document and a number is its relevance.

    Examples
    --------
    >>> are_groups([["a", "b"], ["c"]]), are_groups([["a", 2], ["c", 1]]), are_groups(["a", "b"])
    (True, False, False)
    """
    if set(map(type, results)) <= {str}:  # as of nearly all
        return False
    return any(_list_texts(item) is not None for item in results)


def list_groups(results: Sequence[Any], query: object, where: str, line: int | None) -> list[list[str]]:
    """Return the documents of each group, each once in its group.

    Raises
    ------
    SourceTypeError
        An item is no list of texts.
    DataError
        A group has no document.
    """
    groups = []
    for place, item in enumerate(results, 1):
        what = f"group {place} of query {query!r}"
        texts = _list_texts(item)
        if texts is None:
            hint = f"write [{item!r}]" if isinstance(item, str) else None
            raise SourceTypeError(
                f"{what} is no group of documents",
                found=describe_object(item),
                allowed=ALLOWED,
                hint=hint,
                path=where,
                line=line,
            )
        if not texts:
            raise DataError(f"{what} has no document", allowed=ALLOWED, path=where, line=line)
        groups.append(list(dict.fromkeys(texts)))
    return groups


def looks_graded(group: Sequence[str]) -> bool:
    """Tell whether a group may be a document and its relevance, written as text.

    Examples
    --------
    >>> looks_graded(["d1", "2"]), looks_graded(["d1", "d2"]), looks_graded(["7", "1205"])
    (True, False, False)
    """
    return len(group) == 2 and _SMALL_NUMBER.fullmatch(group[1]) is not None


def _list_texts(item: object) -> list[str] | None:
    """Return the texts of a list, tuple, set or array of nothing else; None of any other object."""
    members: Any = item
    if getattr(item, "ndim", None) == 1 and hasattr(item, "tolist"):  # an array, as pandas reads Parquet
        members = item.tolist()
    if isinstance(item, AbstractSet):
        members = sorted(item, key=str)
    is_list = isinstance(members, list | tuple) and not hasattr(members, "_fields")
    if not is_list or not all(isinstance(member, str) for member in members):
        return None
    return list(members)
