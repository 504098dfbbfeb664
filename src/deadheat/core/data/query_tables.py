"""How a table of queries is read: from dicts, lists and frames, with the column of ids and the labels as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from deadheat.core.arrays import IntArray
from deadheat.core.data.sources import Source
from deadheat.core.errors import ColumnError, DataError, DuplicateError, SourceTypeError
from deadheat.core.io.columns import find_column
from deadheat.core.io.guarding import guard_polars
from deadheat.core.io.ids import NUL, ids_to_text, make_nul_error
from deadheat.core.io.kinds import CASES_KEYS, COLUMN_NAMES
from deadheat.core.io.records import Records, Wanted, as_text, as_written
from deadheat.core.libraries import polars as pl

if TYPE_CHECKING:
    import narwhals as nw


# Names of the column of ids. The first tier that matches wins (`query` may be the text beside a `qid`); two names of
# one tier are ambiguous.
FIRST_TIERS = (("query_id",), ("query-id", "qid", "q_id"), ("case_id", "case-id"), ("_id", "id"), ("query",))
NAMES_OF_RUNS = [name for name in COLUMN_NAMES["run"]["query_id"] if name not in {*chain(*FIRST_TIERS)}]
TIERS = (*FIRST_TIERS, *((name,) for name in NAMES_OF_RUNS))
ID_NAMES = tuple(chain(*TIERS))
QUERIES = Wanted(
    what="queries",
    expected="a list of objects, or {query_id: {column: value}}",
    keys=CASES_KEYS,
    id="query_id",
    number=as_written,
)
NO_ROWS = "queries without a single row"


def convert_records(source: Source, where: str) -> Records:
    """Return the records of a source that is not a file: dicts, lists or a frame.

    Raises
    ------
    SourceTypeError
        The source is none of them.
    """
    if isinstance(source, Mapping):
        return _convert_dict(source, where)
    if isinstance(source, list | tuple) and all(isinstance(row, Mapping) for row in source):
        return Records([dict(row) for row in source])
    import narwhals as nw  # imported here, so that files do not wait for it

    from deadheat.core.io.lazy import as_narwhals, collect

    frame = as_narwhals(source, where)
    if isinstance(frame, nw.LazyFrame):
        return Records(collect(frame))
    if isinstance(frame, nw.DataFrame):
        with guard_polars(where):
            return Records(_convert_frame(frame, where))
    raise SourceTypeError(
        f"cannot read queries from {type(source).__name__}",
        hint="give a path, a dict of dicts, a list of dicts or a dataframe",
    )


def _convert_dict(source: Mapping[Any, Any], where: str) -> Records:
    """Return the records of ``{query_id: {column: value}}`` or of ``{column: [value, ...]}``."""
    not_rows = [key for key, row in source.items() if not isinstance(row, Mapping)]
    if not not_rows:
        ids = ids_to_text(list(source), where)
        return Records([{**row, "query_id": query} for query, row in zip(ids, source.values(), strict=True)])
    if not _are_columns(source):
        key = not_rows[0]
        raise SourceTypeError(
            found=f"{source[key]!r:.60} for {key!r}",
            allowed="a dict of dicts {query_id: {column: value}}, or of lists {column: [value, ...]} of one length",
        )
    return Records([dict(zip(source, row, strict=True)) for row in zip(*source.values(), strict=True)])


def _are_columns(source: Mapping[Any, Any]) -> bool:
    """Tell whether all values of a dict are lists of one length."""
    lengths = set()
    for column in source.values():
        if not isinstance(column, Sized) or isinstance(column, str | Mapping):
            return False
        lengths.add(len(column))
    return len(lengths) == 1


def _convert_frame(frame: nw.DataFrame[Any], where: str) -> pl.DataFrame:
    """Convert a frame to Polars; if that fails (pandas without PyArrow, mixed types), its columns become text."""
    try:
        return frame.to_polars()
    except Exception:  # noqa: BLE001 - each library has its own
        columns = {name: _list_values(frame[name]) for name in frame.columns}
    id_column = find_id_column(list(columns), where)
    types = {type(value) for value in columns[id_column] if value is not None}
    if not types <= {str} and not types <= {int}:
        names = ", ".join(sorted(id_type.__name__ for id_type in types))
        raise ColumnError(
            f"column {id_column!r} holds values of type {names}", allowed="text or whole numbers as ids", path=where
        )
    texts = {}
    for name, values in columns.items():
        texts[name] = [as_text(value) for value in values]
    return pl.DataFrame(texts)


def _list_values(column: nw.Series[Any]) -> list[object]:
    """Return the values of a column; None where its library says that there is none."""
    values = []
    for value, is_null in zip(column.to_list(), column.is_null().to_list(), strict=True):
        values.append(None if is_null else value)
    return values


def find_id_column(names: Sequence[str], where: str) -> str:
    """Return the name of the column of query ids.

    Parameters
    ----------
    names : sequence of str
        Those of all columns.
    where : str
        For messages.

    Raises
    ------
    ColumnError
        Two columns may hold the ids, or none.
    DataError
        There is no column at all.
    """
    if not names:
        raise DataError(NO_ROWS, path=where)
    for tier in TIERS:
        present = [name for name in tier if name in names]
        if len(present) > 1:
            raise ColumnError(
                f"{' and '.join(map(repr, present))} could both be the query id",
                hint="call one of them 'query_id'",
                path=where,
            )
        if present:
            return present[0]
    return find_column(ID_NAMES, names, "queries without a column 'query_id'", where)


def read_ids(records: Records, column: pl.Series, where: str) -> pl.Series:
    """Return the ids as text; raise if there are none, one is missing, or one is repeated."""
    if column.dtype.is_float() or column.dtype == pl.Boolean:
        raise ColumnError(
            f"column {column.name!r} holds {column.dtype}", allowed="text or whole numbers as ids", path=where
        )
    if column.is_empty():
        raise DataError(NO_ROWS, path=where)
    ids = read_texts(column, where)
    is_missing = ids.is_null() | (ids == "")
    has_nul = ids.str.contains(NUL, literal=True)
    if is_missing.any() or has_nul.any() or ids.n_unique() < len(ids):
        _refuse_ids(records, ids, where)
    return ids


def _refuse_ids(records: Records, ids: pl.Series, where: str) -> NoReturn:
    """Raise what is wrong with the first id that is missing, has a NUL or is repeated."""
    places: dict[str, int] = {}
    for place, query in enumerate(ids.to_list()):
        if not query:
            row = "" if records.own_lines else f" in row {place + 1}"
            raise DataError(
                f"empty field in column {ids.name!r}{row}", allowed="an id", path=where, line=records.line(place)
            )
        if NUL in query:
            raise make_nul_error(query, where)
        if query in places:
            raise DuplicateError(
                f"query {query!r} appears {records.where(places[query], place)}",
                hint=f"each may appear only once in column {ids.name!r}, which holds the ids",
                path=where,
                line=records.line(place),
            )
        places[query] = place
    raise AssertionError("no id is wrong")


def read_texts(column: pl.Series, where: str) -> pl.Series:
    """Return the values of a column as text, a list with bars between its parts.

    Raises
    ------
    ColumnError
        The column holds something that has no text, such as structs.
    """
    if isinstance(column.dtype, pl.List) and not column.dtype.inner.is_nested():
        return column.cast(pl.List(pl.String)).list.join("|")
    if column.dtype.is_nested():
        raise ColumnError(f"column {column.name!r} holds {column.dtype}", allowed="text", path=where)
    if column.dtype == pl.Object:
        return pl.Series(column.name, [as_text(value) for value in column.to_list()], dtype=pl.String)
    if column.dtype.is_float():
        column = column.fill_nan(None)
    try:
        return column.cast(pl.String)
    except pl.exceptions.PolarsError as error:
        raise ColumnError(
            f"column {column.name!r} holds {column.dtype}, which cannot be read as text ({error})", path=where
        ) from error


def find_texts(texts: pl.Series, among: pl.Series) -> IntArray:
    """Return the place of each text among distinct ones; -1 where it is not there, or null.

    Examples
    --------
    >>> find_texts(pl.Series(["b", "c", "a"]), pl.Series(["a", "b"])).tolist()
    [1, -1, 0]
    """
    wanted = pl.DataFrame({"text": texts, "wanted": np.arange(len(texts))})
    known = pl.DataFrame({"text": among, "place": np.arange(len(among))})
    pairs = wanted.join(known, on="text")
    places = np.full(len(texts), -1)
    places[pairs["wanted"].to_numpy()] = pairs["place"].to_numpy()
    return places
