"""Tables in which each row has the list of documents of a query."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from deadheat.core.errors import ColumnError, DataError, DeadheatWarning, DuplicateError
from deadheat.core.io.columns import find_value_name
from deadheat.core.io.groups import are_groups
from deadheat.core.io.ids import is_id
from deadheat.core.io.kinds import NO_SCORES, Kind
from deadheat.core.io.result_parts import find_results, is_grade
from deadheat.core.io.results import RANKED_BY_COLUMN, Listing, Reader
from deadheat.core.scalars import is_number
from deadheat.core.wording import format_count


def read_list_rows(
    rows: Iterable[tuple[int | None, Mapping[str, Any]]], columns: Mapping[str, str], kind: Kind, path: str | Path
) -> Listing:
    """Read rows that have a list of documents each, with or without a list of numbers beside it.

    Parameters
    ----------
    rows : iterable of (int or None, mapping)
        The line of each, and its fields.
    columns : mapping of str to str
        From canonical name to name in the rows.
    kind : {"qrels", "run"}
    path : str or path
        For messages.
    """
    value = find_value_name(columns)
    documents: dict[str, Mapping[str, float]] = {}
    reader = Reader(kind, str(path))
    unused = UnusedNumbers(columns)
    for line, row in rows:
        reader.line = line
        query = row.get(columns["query_id"])
        _check_query(query, documents, columns["query_id"], path, line)
        listed = row.get(columns["doc_id"])
        results = find_results(listed, kind)
        given_numbers = None if value is None else row.get(value)
        if results is not None and given_numbers is not None:
            if kind == "qrels" and are_groups(results):
                raise ColumnError(
                    f"the documents of query {query!r} are in groups, and have {value} beside them",
                    allowed="groups alone, of which one document each is enough",
                    path=path,
                    line=line,
                )
            numbers = find_results(given_numbers)
            if numbers is None or len(numbers) != len(results):
                raise ColumnError(
                    f"{value} of query {query!r} is not a list of {format_count(len(results), 'number')}",
                    allowed=f"one for each of {columns['doc_id']}",
                    path=path,
                    line=line,
                )
            if "rank" in columns:
                numbers = [_score_rank(rank, query, path, line) for rank in numbers]
            results = list(zip(results, numbers, strict=True))
        if kind == "run" and value is None and results:
            unused.keep_columns(row, len(results))
        documents[str(query)] = reader.read_documents(listed if results is None else results, query)
    assumptions = reader.note_assumptions()
    unused.warn(str(path))
    if "rank" in columns and not assumptions:
        return Listing(documents, (RANKED_BY_COLUMN,))
    return reader.make_listing(documents, (*assumptions, *reader.note_merged()))


def _check_query(query: object, known: Collection[str], column: str, path: str | Path, line: int | None) -> None:
    """Raise for a query that is not an id, or that has a list already."""
    if not is_id(query):
        raise DataError(f"{column} {query!r:.60} is not an id", allowed="text or a whole number", path=path, line=line)
    if str(query) in known:  # also as 1 and "1"
        raise DuplicateError(f"query {str(query)!r} has two lists", allowed="one", path=path, line=line)


class UnusedNumbers:
    """Columns with a number for each retrieved document, which may be their scores.

    Parameters
    ----------
    columns : mapping of str to str
        Those that are read, from canonical name to name in the rows.
    """

    def __init__(self, columns: Mapping[str, str]) -> None:
        self.columns = columns
        self.names: set[str] | None = None  # None before the first row

    def keep_columns(self, row: Mapping[str, Any], n_documents: int) -> None:
        """Keep the columns that have a number for each document in this row as well as in the rows before."""
        if self.names is None:
            self.names = set(row) - set(self.columns.values()) - NO_SCORES
        for name in list(self.names):
            numbers = find_results(row.get(name))
            if numbers is None or len(numbers) != n_documents or not all(map(is_grade, numbers)):
                self.names.remove(name)

    def warn(self, where: str) -> None:
        """Warn the user of columns that had numbers in all rows."""
        if not self.names:
            return
        name = min(self.names)
        message = (
            f"the results of each query have no scores and rank as they are listed, but {name!r} has a number for each"
            f" of {self.columns['doc_id']!r}. If these are the scores, give columns={{'score': {name!r}}} (--columns"
            f" run.score={name}), and ascending=True (--ascending) if lower ones are better"
        )
        warnings.warn(DeadheatWarning(message, where), stacklevel=2)


def _score_rank(rank: Any, query: object, path: str | Path, line: int | None) -> float:  # noqa: ANN401 - checked here
    """Return minus the rank, which is the score that it counts as."""
    if is_number(rank) and 0 <= rank < math.inf and rank % 1 == 0:
        return -float(rank)
    raise DataError(f"rank for query {query!r} is {rank!r:.40}", allowed="a whole number from 0", path=path, line=line)
