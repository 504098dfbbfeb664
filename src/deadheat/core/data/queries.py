"""Queries: a table of labels of each query, such as its language, joined on the query id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np

from deadheat.core.arrays import IntArray, TextArray
from deadheat.core.data.query_tables import QUERIES, convert_records, find_id_column, find_texts, read_ids, read_texts
from deadheat.core.data.sources import Source, as_path, make_label
from deadheat.core.errors import ColumnError, DataError
from deadheat.core.io.records import Records, read_records
from deadheat.core.libraries import polars as pl
from deadheat.core.phases import phase
from deadheat.core.wording import did_you_mean, escape_invisible, format_count, format_list

LANGUAGE_NAMES = ("language", "lang")  # names of the column of languages, the first that is there
N_TRIED = 1_000  # queries that are looked up first, where any of them will do
# What Python's str.strip() removes: Polars has fewer of them
BLANKS = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "
    "\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"
    "\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
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
        self._ids = read_ids(self._records, frame[id_column], self.where)
        self.columns = tuple(name for name in frame.columns if name != id_column)
        self._labels_by_column: dict[str, pl.Series] = {}

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
        return len(self._ids)

    @cached_property
    def query_ids(self) -> list[str]:
        """The ids of the queries, in the order of the table."""
        return self._ids.to_list()

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
        if self.text_column is None:
            return {}
        ids = list(query_ids)
        texts = zip(ids, self.column(self.text_column, ids), strict=True)
        return {query: text for query, text in texts if text is not None}

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
        return _take_labels(column, self.find_rows(query_ids)).to_list()

    def coded_column(self, name: str, rows: IntArray) -> tuple[IntArray, pl.Series]:
        """Return the labels of some rows as their places among the different labels of a column.

        Parameters
        ----------
        name : str
        rows : ndarray of int, shape (n_queries,)
            As of :meth:`find_rows`; -1 of a query that the table lacks.

        Returns
        -------
        codes : ndarray of int, shape (n_queries,)
            -1 where the table lacks the query or its label is empty.
        labels : polars.Series of str, shape (n_labels,)
        """
        column = self._read_column(name)
        labels = column.drop_nulls().unique(maintain_order=True)
        codes_of_rows = find_texts(column, labels)
        # the last one is of queries that the table lacks
        return np.append(codes_of_rows, -1)[rows], labels

    def find_rows(self, query_ids: Iterable[str] | TextArray) -> IntArray:
        """Return the row of each of the given queries; -1 where the table lacks it."""
        if isinstance(query_ids, np.ndarray):
            query_ids = query_ids.tolist()
        return find_texts(pl.Series(list(query_ids), dtype=pl.String), self._ids)

    def check_common(self, query_ids: Sequence[str] | TextArray) -> None:
        """Raise if the table has none of these queries: the ids are of another collection, or written differently."""
        if (self.find_rows(query_ids[:N_TRIED]) >= 0).any() or (self.find_rows(query_ids) >= 0).any():
            return
        evaluated = format_list([*map(repr, query_ids)])
        present = format_list([*map(repr, self.query_ids)])
        raise DataError(
            f"{self.where} has none of the evaluated queries, such as {evaluated}; it has {present}",
            hint="Are they of the same collection, and are the ids written alike?",
        )

    def languages(self, query_ids: Iterable[str] | TextArray | None = None) -> tuple[str, ...]:
        """Return the languages of the given queries, by default all, sorted; none without a language column."""
        if self.language_column is None:
            return ()
        labels = self._read_column(self.language_column)
        if query_ids is not None:
            labels = _take_labels(labels, self.find_rows(query_ids))
        return tuple(labels.drop_nulls().unique().sort().to_list())

    def without_language(self, query_ids: Iterable[str] | TextArray) -> tuple[str, ...]:
        """Return the given queries that have no language; none without a language column."""
        if self.language_column is None:
            return ()
        ids = list(query_ids)
        labels = _take_labels(self._read_column(self.language_column), self.find_rows(ids))
        lacking = np.flatnonzero(labels.is_null().to_numpy())
        return tuple(ids[place] for place in lacking.tolist())

    def check_columns(self, names: Iterable[str]) -> None:
        """Raise `ColumnError` for a name that is not a label column."""
        for name in names:
            self._read_column(name)

    def _read_column(self, name: str, *, has_numbers: bool = False) -> pl.Series:
        """Return a column as text, without surrounding blanks; null where nothing is left."""
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


def _strip_labels(labels: pl.Series) -> pl.Series:
    """Return labels without surrounding blanks; null for those that are empty."""
    stripped = labels.str.strip_chars(BLANKS)
    return stripped.set(stripped == "", None)


def _take_labels(column: pl.Series, rows: IntArray) -> pl.Series:
    """Return the labels of some rows; null where a row is -1."""
    places = pl.Series(rows)
    return column.gather(places.set(places < 0, None))
