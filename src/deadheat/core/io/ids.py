"""Ids of queries and documents: text, without control characters, that UTF-8 can hold."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from numbers import Integral
from pathlib import Path, PurePath
from typing import Any, cast

from deadheat.core.errors import DataError, DuplicateError, MalformedRowError, SourceTypeError
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import quote_text

NUL = "\0"
FORMS = ("NFC", "NFD", "NFKC", "NFKD")  # of Unicode
CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]"
LINE_ENDS = r"lines end with \n or \r\n"
_FIND_CONTROL = re.compile(CONTROL)


def make_id_column(ids: Sequence[Any], where: str) -> pl.Series:
    """Return ids as a text column."""
    try:
        column = pl.Series(ids, dtype=pl.String)
    except (TypeError, UnicodeEncodeError):
        check_ids(ids, where)  # names the first wrong one
        raise
    refuse_nul(column, where)
    return column


def refuse_nul(ids: pl.Series, where: str) -> None:
    """Raise DataError for an id with a NUL, which NumPy and many libraries take for the end of a text."""
    wrong = ids.filter(ids.str.contains(NUL, literal=True))
    if len(wrong):
        raise make_nul_error(wrong[0], where)


def make_nul_error(given: str, where: str) -> DataError:
    """Return the error for an id with a NUL."""
    return DataError(f"id {given!r} contains the control character U+0000", allowed="text without it", path=where)


def check_ids(ids: Sequence[Any], where: str) -> None:
    """Raise for the first id that is not text, or not text that a file can hold."""
    with suppress(TypeError, UnicodeEncodeError):
        text = "".join(ids)
        text.encode()  # joined and encoded, all ids are checked ten times as fast as in a loop
        if all(ids) and NUL not in text:
            return
    for given in ids:
        if not isinstance(given, str):
            raise SourceTypeError(
                "ids are text",
                found=f"{given!r:.60} ({type(given).__name__})",
                hint="write str(id) for every id" if is_id(given) else None,
                path=where,
            )
        if not given:
            raise DataError("an id is an empty string", allowed="text", path=where)
        if NUL in given:
            raise make_nul_error(given, where)
        if has_lone_surrogate(given):
            raise DataError(f"id {given!r} has a lone surrogate", allowed="text that UTF-8 can hold", path=where)


def is_id(given: object) -> bool:
    """Return whether a value is text, a whole number, a UUID or a path; true and false are none of these."""
    if isinstance(given, str | Integral):
        return not isinstance(given, bool)
    return isinstance(given, _types_of_other_ids())


def _types_of_other_ids() -> tuple[type, ...]:
    """Return the classes of ids that are neither text nor numbers: paths, and UUIDs if their module was imported."""
    uuid = sys.modules.get("uuid")
    if uuid is None:  # there is no UUID then, and to import it takes long
        return (PurePath,)
    return PurePath, uuid.UUID


def are_written_otherwise(ids: Sequence[Any]) -> bool:
    """Tell whether all ids that are there are UUIDs or paths, which are written as `str` writes them.

    Examples
    --------
    >>> from uuid import UUID
    >>> are_written_otherwise([UUID(int=7), None]), are_written_otherwise(["007"]), are_written_otherwise([None])
    (True, False, False)
    """
    types = set(map(type, ids)) - {type(None)}
    return bool(types) and all(issubclass(id_type, _types_of_other_ids()) for id_type in types)


def ids_to_text(ids: Sequence[Any], where: str | Path) -> list[str]:
    """Return ids as text, others as `str` writes them; raise for text among others: 7 and "7" may be two documents.

    Examples
    --------
    >>> ids_to_text([7, 12], "run"), ids_to_text(["007"], "run"), ids_to_text([Path("a", "b.txt")], "run")
    (['7', '12'], ['007'], ['a/b.txt'])
    """
    types = set(map(type, ids))
    if types <= {str}:
        return list(ids)
    text_types = {id_type for id_type in types if issubclass(id_type, str)}
    number_types = {id_type for id_type in types - text_types if issubclass(id_type, Integral)}
    other_types = types - text_types - number_types
    if bool in types or not all(issubclass(id_type, _types_of_other_ids()) for id_type in other_types):
        check_ids([given for given in ids if type(given) not in text_types and not is_id(given)], str(where))
    kinds = [kind for kind in (text_types, number_types, other_types) if kind]
    if len(kinds) > 1:
        first, second = (next(given for given in ids if type(given) in kind) for kind in kinds[:2])
        raise SourceTypeError(
            f"ids are {_name_kind(first)} ({first!r}) and {_name_kind(second)} ({second!r})",
            allowed="one or the other in a table",
            hint="write str(id) for every id",
            path=where,
        )
    try:
        return list(map(str, ids))
    except ValueError:  # of whole numbers with thousands of digits
        raise SourceTypeError("an id is a number of thousands of digits", allowed="text", path=where) from None


def _name_kind(given: object) -> str:
    """Return what ids of this kind are called."""
    if isinstance(given, str):
        return "text"
    if isinstance(given, Integral):
        return "numbers"
    return type(given).__name__


def has_lone_surrogate(text: str) -> bool:
    """Tell whether a text has a lone surrogate (half a character), which UTF-8 cannot hold."""
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)


def normalize_keys(given: Mapping[Any, Any], form: str) -> dict[Any, Any]:
    r"""Return a dict with its keys in a form of Unicode; raise DuplicateError if two are one then.

    Examples
    --------
    >>> normalize_keys({"Mu\u0308ller": 1}, "NFC") == {"M\u00fcller": 1}
    True
    """
    normalized = []
    for key in given:
        is_text = isinstance(key, str)
        normalized.append(unicodedata.normalize(cast("Any", form), key) if is_text else key)
    if len(set(normalized)) < len(normalized):
        counts = Counter(normalized)
        repeated = next(key for key, count in counts.items() if count > 1)
        raise DuplicateError(f"two ids are {repeated!r} in Unicode form {form}", allowed="ids that differ in it")
    return dict(zip(normalized, given.values(), strict=True))


def check_ids_of_row(query_id: str, doc_id: str, path: Path, line: int | None = None) -> None:
    """Raise MalformedRowError if an id contains a control character."""
    if query_id.isprintable() and doc_id.isprintable():
        return
    for name, given in (("query_id", query_id), ("doc_id", doc_id)):
        control = _FIND_CONTROL.search(given)
        if control is None:
            continue
        if control[0] == "\ufeff":
            problem = "contains a byte order mark, which only the start of a file may have"
            hint = "were files concatenated?"
        else:
            problem = f"contains the control character {_name_character(control[0])}; ids have none, and {LINE_ENDS}"
            hint = None
        raise MalformedRowError(f"{name} {quote_text(given)} {problem}", hint=hint, path=path, line=line)


def _name_character(character: str) -> str:
    return f"U+{ord(character):04X}"


def check_comment(comment: str, path: Path, line: int) -> None:
    """Raise MalformedRowError for a control character in a comment: it may be a line end that hides another row."""
    control = _FIND_CONTROL.search(comment.replace("\t", " ").rstrip("\r"))
    if control:
        raise MalformedRowError(
            f"a comment contains the control character {_name_character(control[0])}: {quote_text(comment)}",
            hint=LINE_ENDS,
            path=path,
            line=line,
        )


def has_control_characters(frame: pl.DataFrame) -> bool:
    """Return whether an id contains a control character."""
    return any(ids.str.contains(CONTROL).any() for ids in frame.select("query_id", "doc_id"))


def has_only_ids(frame: pl.DataFrame) -> bool:
    """Return whether no id is null or empty."""
    return not any(ids.null_count() or (ids == "").any() for ids in frame.select("query_id", "doc_id"))
