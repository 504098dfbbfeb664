"""Queries: a table of labels of each query, such as its language, joined on the query id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

from deadheat.core.data.sources import Source, label_of, path_of
from deadheat.core.errors import ColumnError, DataError, DuplicateError, SourceTypeError
from deadheat.core.io.columns import find_column
from deadheat.core.io.guarding import guard_polars
from deadheat.core.io.ids import NUL, ids_to_text, make_nul_error
from deadheat.core.io.kinds import CASES_KEYS, COLUMN_NAMES
from deadheat.core.io.records import Records, Wanted, as_text, as_written, read_records
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import did_you_mean, escape_invisible, format_count, format_list

if TYPE_CHECKING:
    import narwhals as nw


# The first tier that matches wins (`query` may be the text beside a `qid`); two names of one tier are ambiguous.
_FIRST = (("query_id",), ("query-id", "qid", "q_id"), ("case_id", "case-id"), ("_id", "id"), ("query",))
ID_NAMES = (*_FIRST, *((name,) for name in COLUMN_NAMES["run"]["query_id"] if name not in {*chain(*_FIRST)}))
WANTED = Wanted(
    what="queries",
    expected="a list of objects, or {query_id: {column: value}}",
    keys=CASES_KEYS,
    id="query_id",
    number=as_written,
)


class Queries:
    """A table with one row for each query; all columns but the id are labels.

    Labels are text with surrounding blanks removed; an empty one is missing, and a list is its parts with bars between
    them. Ids are text, unchanged: "0880" is not
    880.

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
        self.path = path_of(source)
        self.name = name or (label_of(self.path) if self.path else "queries")
        records = read_records(self.path, format, WANTED) if self.path else _records_of(source, self.where)
        if common := {name: value for name, value in records.metadata.items() if name == "language"}:
            records = replace(records, table=[{**common, **row} for row in records.rows(())])  # of cases without one
        self._records = records
        key = _find_id(records.frame.columns, self.where)
        self.query_ids = _checked_ids(records, records.frame[key], self.where)
        self.columns = tuple(name for name in records.frame.columns if name != key)
        self._places = {query: place for place, query in enumerate(self.query_ids)}
        self._read: dict[str, list[str | None]] = {}

    @classmethod
    def of(cls, source: Source, columns: Sequence[str] = ()) -> Self:
        """Return `source` itself if it is of this class, else read it.

        Parameters
        ----------
        source : Queries, or what it reads
            With a single column also ``{query_id: value}``.
        columns : sequence of str, default ()
            Those that will be asked for.
        """
        if isinstance(source, Mapping) and len(columns) == 1:
            plain = [one is None or isinstance(one, str | int | float) for one in source.values()]
            if plain and all(plain):
                source = {query: {columns[0]: value} for query, value in source.items()}
        return source if isinstance(source, cls) else cls(source)

    def __repr__(self) -> str:
        size = format_count(len(self), "query", "queries")
        return escape_invisible(f"<Queries {self.name}: {size}, columns {', '.join(self.columns) or 'none'}>")

    def __len__(self) -> int:
        return len(self.query_ids)

    @property
    def where(self) -> str:
        """Where the rows come from, for messages."""
        return str(self.path) if self.path else self.name

    @property
    def language_column(self) -> str | None:
        """The column that holds the language, in any case: language, or else lang."""
        return self._first_of(("language", "lang"))

    @property
    def text_column(self) -> str | None:
        """The column that holds the text of the query, in any case: text, query_text, query, question or title."""
        return self._first_of(("text", "query_text", "query", "question", "title", "phrase"))

    def _first_of(self, names: Iterable[str]) -> str | None:
        folded = {name.casefold(): name for name in reversed(self.columns)}  # of two, the first column wins
        return next((folded[name] for name in names if name in folded), None)

    def texts(self, query_ids: Iterable[str]) -> dict[str, str]:
        """Return the texts of the given queries that have one; empty without a column of texts."""
        return {query: text for query, text in self._labelled(self.text_column, query_ids) if text is not None}

    def column(self, name: str, query_ids: Iterable[str], *, has_numbers: bool = False) -> list[str | None]:
        """Return the label of each of the given queries.

        Parameters
        ----------
        name : str
        query_ids : iterable of str
        has_numbers : bool, default False
            Whether the labels are numbers, whose decimal mark shall be the point.

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
        labels = self._labels(name, has_numbers=has_numbers)
        return [None if place is None else labels[place] for place in map(self._places.get, query_ids)]

    def check_common(self, query_ids: Sequence[str]) -> None:
        """Raise if the table has none of these queries: the ids are of another collection, or written differently."""
        if not set(query_ids).isdisjoint(self.query_ids):
            return
        shown = [format_list([*map(repr, some)]) for some in (query_ids, self.query_ids)]
        raise DataError(
            f"{self.where} has none of the evaluated queries, such as {shown[0]}; it has {shown[1]}",
            hint="Are they of the same collection, and are the ids written alike?",
        )

    def languages(self, query_ids: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return the languages of the given queries, by default all, sorted; none without a language column."""
        labels = self._labelled(self.language_column, self.query_ids if query_ids is None else query_ids)
        return tuple(sorted({language for _, language in labels if language is not None}))

    def without_language(self, query_ids: Iterable[str]) -> tuple[str, ...]:
        """Return the given queries that have no language; none without a language column."""
        return tuple(query for query, language in self._labelled(self.language_column, query_ids) if language is None)

    def _labelled(self, name: str | None, query_ids: Iterable[str]) -> list[tuple[str, str | None]]:
        """Return the given queries with their labels; empty without a column."""
        ids = list(query_ids)
        return [] if name is None else list(zip(ids, self.column(name, ids), strict=True))

    def check_columns(self, names: Iterable[str]) -> None:
        """Raise `ColumnError` for a name that is not a label column."""
        for name in names:
            self._labels(name)

    def _labels(self, name: str, *, has_numbers: bool = False) -> list[str | None]:
        """Return a whole column as text."""
        if name not in self.columns:
            held = f"found {', '.join(map(repr, self.columns))}" if self.columns else "found only the ids"
            raise ColumnError(
                f"no column {name!r} in the table of queries: {held}",
                hint=did_you_mean(str(name), self.columns),
                path=self.where,
            )
        if name in self._read and not has_numbers:  # for numbers, another decimal mark may be set by now
            return self._read[name]
        frame, _ = self._records.with_points([name] if has_numbers else [], self.where)
        found = [(cell or "").strip() or None for cell in _texts(frame[name], self.where)]
        return found if has_numbers else self._read.setdefault(name, found)


def _records_of(source: Source, where: str) -> Records:
    """Read a source that is not a file: dicts and lists, or a frame."""
    if isinstance(source, Mapping):
        wrong = next((query for query, row in source.items() if not isinstance(row, Mapping)), None)
        if wrong is None:
            ids = ids_to_text(list(source), where)
            return Records([{**row, WANTED.id: query} for query, row in zip(ids, source.values(), strict=True)])
        lists = [one for one in source.values() if isinstance(one, Sized) and not isinstance(one, str | Mapping)]
        if len(lists) < len(source) or len(set(map(len, lists))) > 1:
            raise SourceTypeError(
                found=f"{source[wrong]!r:.60} for {wrong!r}",
                allowed="a dict of dicts {query_id: {column: value}}, or of lists {column: [value, ...]} of one length",
            )
        return Records([dict(zip(source, row, strict=True)) for row in zip(*source.values(), strict=True)])
    if isinstance(source, list | tuple) and all(isinstance(row, Mapping) for row in source):
        return Records([dict(row) for row in source])
    import narwhals as nw  # imported here, so that files do not wait for it

    from deadheat.core.io.lazy import as_narwhals, collect

    frame = as_narwhals(source, where)
    if isinstance(frame, nw.LazyFrame):
        return Records(collect(frame))
    if isinstance(frame, nw.DataFrame):
        with guard_polars(where):
            return Records(_to_polars(frame, where))
    raise SourceTypeError(
        f"cannot read queries from {type(source).__name__}",
        hint="give a path, a dict of dicts, a list of dicts or a dataframe",
    )


def _to_polars(frame: nw.DataFrame[Any], where: str) -> pl.DataFrame:
    """Convert a frame to Polars; columns it cannot take (pandas without PyArrow, mixed types) become text."""
    try:
        return frame.to_polars()
    except Exception:  # noqa: BLE001 - each library has its own
        columns = {
            name: [
                None if null else value
                for value, null in zip(frame[name].to_list(), frame[name].is_null().to_list(), strict=True)
            ]
            for name in frame.columns
        }
    key = _find_id(list(columns), where)
    kinds = {type(value) for value in columns[key] if value is not None}
    if not kinds <= {str} and not kinds <= {int}:
        held = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ColumnError(
            f"column {key!r} holds values of type {held}", allowed="text or whole numbers as ids", path=where
        )
    return pl.DataFrame({name: [as_text(value) for value in column] for name, column in columns.items()})


def _find_id(names: Sequence[str], where: str) -> str:
    if not names:
        raise DataError("queries without a single row", path=where)
    for tier in ID_NAMES:
        found = [name for name in tier if name in names]
        if len(found) > 1:
            raise ColumnError(
                f"{' and '.join(map(repr, found))} could both be the query id",
                hint="call one of them 'query_id'",
                path=where,
            )
        if found:
            return found[0]
    return find_column([*chain(*ID_NAMES)], names, "queries without a column 'query_id'", where)


def _checked_ids(records: Records, column: pl.Series, where: str) -> list[str]:
    """Return the ids as text; raise if there are none, one is missing, or one is repeated."""
    if column.dtype.is_float() or column.dtype == pl.Boolean:
        raise ColumnError(
            f"column {column.name!r} holds {column.dtype}", allowed="text or whole numbers as ids", path=where
        )
    if column.is_empty():
        raise DataError("queries without a single row", path=where)
    seen: dict[str, int] = {}
    for place, query in enumerate(_texts(column, where)):
        if not query:
            beside = "" if records.own_lines else f" in row {place + 1}"
            raise DataError(
                f"empty field in column {column.name!r}{beside}", allowed="an id", path=where, line=records.line(place)
            )
        if NUL in query:
            raise make_nul_error(query, where)
        if query in seen:
            raise DuplicateError(
                f"query {query!r} appears {records.where(seen[query], place)}",
                hint=f"each may appear only once in column {column.name!r}, which holds the ids",
                path=where,
                line=records.line(place),
            )
        seen[query] = place
    return list(seen)


def _texts(column: pl.Series, where: str) -> list[str | None]:
    if isinstance(column.dtype, pl.List) and not column.dtype.inner.is_nested():
        return column.cast(pl.List(pl.String)).list.join("|").to_list()
    if column.dtype.is_nested():
        raise ColumnError(f"column {column.name!r} holds {column.dtype}", allowed="text", path=where)
    if column.dtype == pl.Object:
        return [as_text(value) for value in column.to_list()]
    if column.dtype.is_float():
        column = column.fill_nan(None)
    try:
        return column.cast(pl.String).to_list()
    except pl.exceptions.PolarsError as error:
        raise ColumnError(
            f"column {column.name!r} holds {column.dtype}, which cannot be read as text ({error})", path=where
        ) from error
