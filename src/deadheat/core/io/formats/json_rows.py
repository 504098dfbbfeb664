"""Objects of JSON as qrels or a run: each object is a row, or has the list of documents of a query.

The lines of a file of JSON lines and the items of a JSON list are such objects. `JsonRows` says what `read_rows` needs
of either.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TypeAlias, cast

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.errors import Advice, ColumnError, DataError, MalformedRowError
from deadheat.core.io.columns import are_cases, find_value_column, list_nearer_names, resolve_columns
from deadheat.core.io.content import Content
from deadheat.core.io.formats.base import LABELLED_CASES, find_judged_rows, frame_of_rows, split_off_subtopics
from deadheat.core.io.ids import check_ids_of_row, has_lone_surrogate
from deadheat.core.io.kinds import ANSWERABLE, SUBTOPIC, Kind
from deadheat.core.io.list_rows import read_list_rows
from deadheat.core.io.nested import check_mapping, read_numbers
from deadheat.core.io.objects import parse_json, parse_object
from deadheat.core.io.values import read_value
from deadheat.core.libraries import polars as pl
from deadheat.core.scalars import LARGEST_INTEGER
from deadheat.core.wording import quote_text

JsonObject: TypeAlias = dict[str, Any]


class JsonNumber(str):
    """The text of a JSON number, as it is written: an id may be a number, and float64 may hold less than the text.

    It is a `str` and no dataclass with a text: with a dataclass, ids that are numbers take a tenth longer to read.
    """

    __slots__ = ()


class JsonRows(ABC):
    """The objects of a file, in its order.

    Attributes
    ----------
    path : pathlib.Path
        For messages.
    """

    path: Path

    @abstractmethod
    def texts(self) -> Iterable[tuple[int, str]]:
        """Return the text of each object with the line on which it begins."""

    @abstractmethod
    def values(self) -> Iterable[tuple[int | None, JsonObject]]:
        """Return each object, its numbers as Python reads them, with its line if it has one for itself."""

    @abstractmethod
    def first(self) -> JsonObject | None:
        """Return the first object; None if there is none."""

    @abstractmethod
    def may_have_keys(self, keys: Collection[str]) -> bool:
        """Tell whether some object may have one of these keys, without parsing anything."""

    @abstractmethod
    def select(self, are_selected: Sequence[bool]) -> Self:
        """Return these rows without the objects for which `are_selected` is false."""

    @abstractmethod
    def parse(self, columns: Mapping[str, str], nearer: Collection[str]) -> pl.DataFrame | None:
        """Return the columns of all objects, read fast; None where they may not be what the file says.

        Parameters
        ----------
        columns : mapping of str to str
            The name of each column, by canonical name.
        nearer : collection of str
            Names that would have been preferred to those of `columns`: None is returned if an object may have one.
        """

    @abstractmethod
    def ranks(self, columns: Mapping[str, str]) -> pl.DataFrame | None:
        """Return the ranks and scores of the first rows, for `Content.ranks`; None where they are not compared."""

    def objects(
        self,
        *,
        needed: Collection[str] | None = (),
        number: Callable[[str], object] | None = JsonNumber,
    ) -> Iterator[tuple[int, JsonObject]]:
        """Yield each object with its line.

        Parameters
        ----------
        needed : collection of str, optional
            The keys that no object may have twice; None: all keys.
        number : callable, optional
            Makes the value of a number from its text; None: numbers are as Python reads them.
        """
        for line, text in self.texts():
            yield line, parse_object(text, self.path, line, number=number, needed=needed)


def read_rows(rows: JsonRows, kind: Kind, given: Mapping[str, str]) -> Content:
    """Return the content of objects, without those that only say that a query has no answer.

    Parameters
    ----------
    rows : JsonRows
    kind : {"qrels", "run"}
    given : mapping of str to str
        Names of columns that the user gives, by canonical name.

    Raises
    ------
    ColumnError, FileFormatError, DataError
        With the first line that is wrong.
    """
    if kind == "qrels" and rows.may_have_keys([ANSWERABLE]):
        are_judged, unanswerable = find_judged_rows(list(rows.objects()), given, rows.path)
        content = _read_judged(rows.select(are_judged), kind, given)
        return replace(content, unanswerable=unanswerable)
    return _read_judged(rows, kind, given)


def _read_judged(rows: JsonRows, kind: Kind, given: Mapping[str, str]) -> Content:
    """Return the content of objects that each have a document or a list of documents."""
    path = rows.path
    first = rows.first()
    if first is None:
        raise DataError(f"{kind} without a single row", allowed="one JSON object a line", path=path)
    if are_cases(first, kind, given):
        return LABELLED_CASES
    has_all_given = first.keys() >= set(given.values())
    if has_all_given:  # the first object shows the columns, unless a later one has a name that is preferred
        columns = find_columns([first], kind, given, path)
        nearer = list_nearer_names(columns, kind, given)
    else:
        columns = _find_columns_of_all(rows, kind, given)
        nearer = []
    has_lists = isinstance(first.get(columns["doc_id"]), list | dict)
    frame = None if has_lists else rows.parse(columns, nearer)  # which returns None where an object has such a name
    if frame is None and rows.may_have_keys(nearer):
        columns = _find_columns_of_all(rows, kind, given)
    if has_lists:
        return _read_lists(rows, columns, kind)
    if frame is None:
        checked_rows = check_rows(rows, columns, kind)
        frame = frame_of_rows((row for _, row in checked_rows), columns)
    if SUBTOPIC in columns:
        return replace(split_off_subtopics(frame, path), columns=columns)
    has_ranks_and_scores = "rank" in first and "score" in columns
    ranks = rows.ranks(columns) if has_ranks_and_scores else None
    return Content(frame, ranks=ranks, columns=columns)


def _read_lists(rows: JsonRows, columns: Mapping[str, str], kind: Kind) -> Content:
    """Return the content of objects that each have the list of documents of a query."""
    listing = read_list_rows(rows.values(), columns, kind, rows.path)
    content = Content.of_lists(listing, columns)
    texts = (text for _, text in rows.texts())
    documents = cast("Mapping[str, Any]", content.rows)
    return replace(content, rows=check_nested(documents, texts, rows.path, kind))


def _find_columns_of_all(rows: JsonRows, kind: Kind, given: Mapping[str, str]) -> dict[str, str]:
    objects = rows.objects(needed=None)
    return find_columns((row for _, row in objects), kind, given, rows.path)


def find_columns(
    objects: Iterable[Mapping[str, Any]], kind: Kind, given: Mapping[str, str], path: Path
) -> dict[str, str]:
    """Return the name of each column among the keys of objects, by canonical name; a value may be a list.

    Raises
    ------
    ColumnError, SwappedFilesError
        As `resolve_columns`.
    """
    names: dict[str, None] = {}  # a dict, which keeps their order
    names_of_lists: set[str] = set()
    names_of_objects: dict[str, None] = {}
    for row in objects:
        for name, value in row.items():
            names[name] = None
            if isinstance(value, list):
                names_of_lists.add(name)
            elif isinstance(value, dict):
                names_of_objects[name] = None
    try:
        return resolve_columns(list(names), kind, where=path, given=given, lists=names_of_lists)
    except ColumnError as error:
        _advise_on_objects(error, list(names_of_objects))
        raise


def _advise_on_objects(error: ColumnError, names: Sequence[str]) -> None:
    """Replace advice that takes a column of objects for ids or scores: they are what a search returned, perhaps."""
    hint = error.hint
    if not isinstance(hint, Advice) or not isinstance(hint.value, Mapping):
        return
    for name in names:
        if name in hint.value.values():
            error.hint = f"{name!r} holds objects: if they are responses of a search, save JSON of {{query: response}}"
            error.python = None
            return


def list_keys(objects: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the keys of all objects, in the order in which they are named."""
    names: dict[str, None] = {}
    for row in objects:
        names |= dict.fromkeys(row)
    return list(names)


def check_rows(
    rows: JsonRows, columns: Mapping[str, str], kind: Kind
) -> Iterator[tuple[int, tuple[str | float | None, ...]]]:
    """Yield the fields of each row with its line, in the order of `columns`; raise for the first that is wrong."""
    path = rows.path
    id_names = (columns["query_id"], columns["doc_id"])
    subtopic_name = columns.get(SUBTOPIC)
    value_key = find_value_column(columns)
    needed_names = [name for key, name in columns.items() if key != SUBTOPIC]
    are_numbers: dict[tuple[str, str], bool] = {}  # by column and id, whether the id is written as a number
    for line, row in rows.objects(needed=columns.values()):
        for name in needed_names:
            if name not in row:
                raise _make_missing_key_error(name, row, columns, path, line)
        for name in id_names:
            given = row[name]
            if not isinstance(given, str) or not given or has_lone_surrogate(given):
                raise _make_id_error(name, given, path, line)
            is_number = isinstance(given, JsonNumber)
            if are_numbers.setdefault((name, given), is_number) != is_number:
                raise MalformedRowError(
                    f"{name} {str(given)!r} is text and a number",
                    allowed="one or the other in a file",
                    path=path,
                    line=line,
                )
        query_id, doc_id = (str(row[name]) for name in id_names)
        check_ids_of_row(query_id, doc_id, path, line)
        fields: list[str | float | None] = [query_id, doc_id]
        if subtopic_name is not None:
            fields.append(_read_subtopic(row.get(subtopic_name), subtopic_name, path, line))
        if value_key is not None:
            value_name = columns[value_key]
            fields.append(_read_number(row[value_name], value_name, kind, path, line))
        yield line, tuple(fields)


def _make_missing_key_error(
    name: str, row: JsonObject, columns: Mapping[str, str], path: Path, line: int
) -> MalformedRowError:
    return MalformedRowError(
        f"object without {name!r}",
        allowed=", ".join(columns.values()),
        hint=quote_text(json.dumps(row)),
        path=path,
        line=line,
    )


def _make_id_error(name: str, given: object, path: Path, line: int) -> MalformedRowError:
    if isinstance(given, str) and given:
        return MalformedRowError(
            f"{name} {quote_text(given)} has a lone surrogate", allowed="text that UTF-8 can hold", path=path, line=line
        )
    shown = quote_text(json.dumps(given))
    return MalformedRowError(f"{name} must be a string or a number, got {shown}", path=path, line=line)


def _read_subtopic(given: object, name: str, path: Path, line: int) -> str | None:
    """Return a subtopic as text; None if the row has none."""
    if given is None:
        return None
    if isinstance(given, str) and not has_lone_surrogate(given):
        return str(given)
    raise MalformedRowError(
        f"{name} must be a string or a number", found=quote_text(json.dumps(given)), path=path, line=line
    )


def _read_number(given: object, name: str, kind: Kind, path: Path, line: int) -> float:
    """Return a relevance, score or rank; of qrels true is 1, and false is 0."""
    if isinstance(given, bool) and kind == "qrels":
        return float(given)
    if not isinstance(given, JsonNumber):
        raise DataError(f"{name} must be a number", given=json.dumps(given), path=path, line=line)
    return read_value(str(given), kind, path=path, line=line)


def check_nested(
    documents: Mapping[str, Any], texts: Iterable[str], path: Path, kind: Kind
) -> Mapping[str, Mapping[str, float]]:
    """Return the dict of dicts that JSON texts hold; raise for what cannot be evaluated.

    Parameters
    ----------
    documents : mapping of str to mapping
        Documents with their numbers, by query.
    texts : iterable of str
        The texts, in which numbers are as they were written.
    path : pathlib.Path
        For messages.
    kind : {"qrels", "run"}
    """
    nested = check_mapping(documents, kind, str(path))
    for query, numbers in nested.items():
        all_ids = "".join((query, *numbers))
        if not all_ids.isprintable():  # a fast look: few queries have such an id
            for doc in numbers:
                check_ids_of_row(query, doc, path)
        if kind == "run":
            _refuse_flags(query, numbers, path)
    if kind == "run" and isinstance(_first_number(nested), list):
        return nested  # of scores by several keys, which a run checks
    values = read_numbers(nested, list(nested), kind, str(path))
    _refuse_rounded(values, texts, kind, path)
    return nested


def _refuse_flags(query: str, scores: Mapping[str, object], path: Path) -> None:
    """Raise `DataError` for a score that is true or false, which Python counts as a number."""
    if bool not in set(map(type, scores.values())):
        return
    for doc, score in scores.items():
        if isinstance(score, bool):
            problem = f"score of document {doc!r} for query {query!r} is {json.dumps(score)}"
            raise DataError(problem, allowed="a number", path=path)


def _first_number(nested: Mapping[str, Mapping[str, object]]) -> object:
    """Return the first number of a dict of dicts; None if no query has a document."""
    for numbers in nested.values():
        for number in numbers.values():
            return number
    return None


def _refuse_rounded(numbers: FloatArray, texts: Iterable[str], kind: Kind, path: Path) -> None:
    """Raise for a number that became infinite, or another one beyond 2**53; whole numbers were not rounded."""
    is_large = np.abs(numbers) >= LARGEST_INTEGER
    large = set(numbers[is_large].tolist())
    if not large:
        return

    def check_exact(text: str) -> str:
        is_whole = text.lstrip("-").isdigit()
        if not is_whole and float(text) in large:
            read_value(text, kind, path=path, line=None)
        return text

    for text in texts:
        parse_json(text, path, number=check_exact)
