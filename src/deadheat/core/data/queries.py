"""Queries: a table of labels of each query, such as its language, joined on the query id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Self

import numpy as np

from deadheat.core.arrays import IntArray
from deadheat.core.data.query_tables import QUERIES, convert_records, find_id_column, read_ids, read_texts
from deadheat.core.data.sources import Source, as_path, make_label
from deadheat.core.errors import ColumnError, DataError
from deadheat.core.io.records import Records, read_records
from deadheat.core.phases import phase
from deadheat.core.wording import did_you_mean, escape_invisible, format_count, format_list

LANGUAGE_NAMES = ("language", "lang")  # names of the column of languages, the first that is there
TEXT_NAMES = ("text", "query_text", "query", "question", "title", "phrase")  # the same for the texts of queries


class Queries:
    """A table with one row for each query; all columns but the id are labels.

    Labels are text with surrounding blanks removed; an empty one is missing, and a list is its parts with bars between
    them. Ids are text, unchanged: "0880" is not 880.

    Parameters
    ----------
    source : path, dict of dict, dataframe, list of dict, dict of list
        CSV, TSV, Parquet, JSON Lines or JSON (a list of objects, or ``{query_id: {column: value}}``); ``.gz`` and
        ``.zst`` are unpacked. The id is called query_id, query-id, qid, case_id, _id, id or query, or as in a run:
        question, user_id, topic, ...
    name : str, optional
        Label for messages; by default that of the file.
    format : str, optional
        Format of the file, if its name does not say.

    Attributes
    ----------
    name : str
    path : pathlib.Path or None
    query_ids : list of str
    columns : tuple of str
        Names of the labels.

    Raises
    ------
    DataError
        Missing or repeated ids, an empty table, a malformed file.

    Examples
    --------
    >>> queries = Queries({"q1": {"language": "de"}, "q2": {"language": "en"}})
    >>> queries.columns, queries.column("language", ["q2", "q3"])
    (('language',), ['en', None])
    """

    def __init__(
        self,
        source: Source,
        *,
        name: str | None = None,
        format: str | None = None,  # noqa: A002 - the word that users look for
    ) -> None:
        self.path = as_path(source)
        self.name = name or self._default_name()
        if self.path is None:
            records = convert_records(source, self.where)
        else:
            with phase(f"reading {self.path.name}"):
                records = read_records(self.path, format, QUERIES)
        self._records = _fill_in_language(records)
        frame = self._records.frame
        id_column = find_id_column(frame.columns, self.where)
        self.query_ids = read_ids(self._records, frame[id_column], self.where)
        self.columns = tuple(name for name in frame.columns if name != id_column)
        self._places = dict(zip(self.query_ids, range(len(self.query_ids)), strict=True))
        self._labels_by_column: dict[str, list[str | None]] = {}

    def _default_name(self) -> str:
        """Return the label of the file; "queries" without one."""
        if self.path is None:
            return "queries"
        return make_label(self.path)

    @classmethod
    def of(cls, source: Source, columns: Sequence[str] = ()) -> Self:
        """Return `source` itself if it is of this class, else read it.

        Parameters
        ----------
        source : Queries, or what it reads
            With a single column also ``{query_id: value}``.
        columns : sequence of str, default ()
            The columns that will be asked for.
        """
        if isinstance(source, cls):
            return source
        if isinstance(source, Mapping) and len(columns) == 1 and _has_values(source):
            column = columns[0]
            source = {query: {column: value} for query, value in source.items()}
        return cls(source)

    def __repr__(self) -> str:
        size = format_count(len(self), "query", "queries")
        columns = ", ".join(self.columns) or "none"
        return escape_invisible(f"<Queries {self.name}: {size}, columns {columns}>")

    def __len__(self) -> int:
        return len(self.query_ids)

    @property
    def where(self) -> str:
        """Where the rows come from, for messages."""
        if self.path is None:
            return self.name
        return str(self.path)

    @property
    def language_column(self) -> str | None:
        """The column that holds the language, in any case: language, or else lang."""
        return self._find_column(LANGUAGE_NAMES)

    @property
    def text_column(self) -> str | None:
        """The column that holds the text of the query, in any case: text, query_text, query, question or title."""
        return self._find_column(TEXT_NAMES)

    def _find_column(self, names: Iterable[str]) -> str | None:
        """Return the column that has the first of these names, in any case; None if no column has one."""
        for name in names:
            for column in self.columns:
                if column.casefold() == name:
                    return column
        return None

    def texts(self, query_ids: Iterable[str]) -> dict[str, str]:
        """Return the texts of the given queries that have one; empty without a column of texts."""
        labels = self._pair_labels(self.text_column, query_ids)
        return {query: text for query, text in labels if text is not None}

    def column(self, name: str, query_ids: Iterable[str], *, has_numbers: bool = False) -> list[str | None]:
        """Return the label of each of the given queries.

        Parameters
        ----------
        name : str
        query_ids : iterable of str
        has_numbers : bool, default False
            Whether the labels are numbers, to be returned with a decimal point.

        Returns
        -------
        list of str or None, shape (n_queries,)
            None where the table lacks the query or its label is empty.

        Raises
        ------
        ColumnError
            There is no such column, or it holds no text.
        MalformedRowError
            Its numbers can be read in two ways.
        """
        column = self._read_column(name, has_numbers=has_numbers)
        labels = []
        for query in query_ids:
            place = self._places.get(query)
            labels.append(None if place is None else column[place])
        return labels

    def coded_column(self, name: str, query_ids: Sequence[str]) -> tuple[IntArray, list[str]]:
        """Return the label of each of the given queries as its place in a list of the different labels.

        Parameters
        ----------
        name : str
        query_ids : sequence of str

        Returns
        -------
        codes : ndarray of int, shape (n_queries,)
            -1 where the table lacks the query or its label is empty.
        labels : list of str
        """
        column = self._read_column(name)
        labels = list(dict.fromkeys(filter(None, column)))
        code_of_label: dict[str | None, int] = dict(zip(labels, range(len(labels)), strict=True))
        codes_of_rows: IntArray = np.fromiter(map(code_of_label.get, column, repeat(-1)), np.int64, len(column))
        # the last one is of queries that the table lacks
        return np.append(codes_of_rows, -1)[self.find_rows(query_ids)], labels

    def find_rows(self, query_ids: Sequence[str]) -> IntArray:
        """Return the row of each of the given queries; -1 where the table lacks it."""
        return np.fromiter(map(self._places.get, query_ids, repeat(-1)), np.int64, len(query_ids))

    def check_common(self, query_ids: Sequence[str]) -> None:
        """Raise if the table has none of these queries: the ids are of another collection, or written differently."""
        if any(query in self._places for query in query_ids):
            return
        evaluated = format_list([*map(repr, query_ids)])
        present = format_list([*map(repr, self.query_ids)])
        raise DataError(
            f"{self.where} has none of the evaluated queries, such as {evaluated}; it has {present}",
            hint="Are they of the same collection, and are the ids written alike?",
        )

    def languages(self, query_ids: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return the languages of the given queries, by default all, sorted; none without a language column."""
        if query_ids is None:
            query_ids = self.query_ids
        labels = self._pair_labels(self.language_column, query_ids)
        return tuple(sorted({language for _, language in labels if language is not None}))

    def without_language(self, query_ids: Iterable[str]) -> tuple[str, ...]:
        """Return the given queries that have no language; none without a language column."""
        labels = self._pair_labels(self.language_column, query_ids)
        return tuple(query for query, language in labels if language is None)

    def _pair_labels(self, name: str | None, query_ids: Iterable[str]) -> list[tuple[str, str | None]]:
        """Return the given queries with their labels; empty without a column."""
        if name is None:
            return []
        ids = list(query_ids)
        return list(zip(ids, self.column(name, ids), strict=True))

    def check_columns(self, names: Iterable[str]) -> None:
        """Raise `ColumnError` for a name that is not a label column."""
        for name in names:
            self._read_column(name)

    def _read_column(self, name: str, *, has_numbers: bool = False) -> list[str | None]:
        """Return a column as text, without surrounding blanks; None where nothing is left."""
        if name not in self.columns:
            columns = ", ".join(map(repr, self.columns)) or "only the ids"
            raise ColumnError(
                f"no column {name!r} in the table of queries: found {columns}",
                hint=did_you_mean(str(name), self.columns),
                path=self.where,
            )
        if has_numbers:  # not kept: another decimal mark may be set at the next call
            frame, _ = self._records.with_points([name], self.where)
            return _strip_labels(read_texts(frame[name], self.where))
        if name not in self._labels_by_column:
            frame, _ = self._records.with_points([], self.where)
            self._labels_by_column[name] = _strip_labels(read_texts(frame[name], self.where))
        return self._labels_by_column[name]


def _fill_in_language(records: Records) -> Records:
    """Return records that have the language of their file, as of labelled cases, where they have none of their own."""
    if "language" not in records.metadata:
        return records
    language = records.metadata["language"]
    return replace(records, table=[{"language": language, **row} for row in records.rows(())])


def _has_values(source: Mapping[str, object]) -> bool:
    """Tell whether a dict has a label of each query, and not a table."""
    if not source:
        return False
    return all(value is None or isinstance(value, str | int | float) for value in source.values())


def _strip_labels(labels: Iterable[str | None]) -> list[str | None]:
    """Return labels without surrounding blanks; None for those that are empty."""
    return [(label or "").strip() or None for label in labels]
