"""Frames of any engine, and tuples, converted to three checked columns.

They need Narwhals, so this module is imported only where they are used: files and dicts of dicts do not wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, compress
from typing import Any, cast

import narwhals as nw
import numpy as np

from deadheat.core import hooks
from deadheat.core.errors import ColumnError, DataError, SourceTypeError
from deadheat.core.io.columns import find_value_column, guess_kind, refuse_patterns, resolve_columns
from deadheat.core.io.formats.base import ROWS, Content, ranks_of, split_off, which_judged
from deadheat.core.io.guarding import guard_rows
from deadheat.core.io.ids import ids_to_text, is_id, make_id_column, refuse_nul
from deadheat.core.io.kinds import ANSWERABLE, KEYS, KNOWN_NAMES, SUBTOPIC, TEXTS, VALUE_COLUMN, Kind
from deadheat.core.io.lazy import Frame, Reading, as_narwhals, collect
from deadheat.core.io.list_rows import read_list_rows
from deadheat.core.io.notes import Notes
from deadheat.core.io.result_parts import find_results
from deadheat.core.io.results import ASSUMED, CALL, RANKED_BY_COLUMN
from deadheat.core.io.values import check_number, is_beyond, to_python_numbers
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_count, format_given


def convert_table(
    source: object, kind: Kind, where: str, given: Mapping[str, str], *, is_large: bool = False
) -> Content:
    """Return the three columns of a frame or of tuples, named, cast and checked.

    Parameters
    ----------
    source : object
        A frame of any engine, tuples, or a Polars frame with canonical names.
    kind : {"qrels", "run"}
    where : str
        For messages.
    given : mapping of str to str
        Names of columns that the user says.
    is_large : bool, default False
        Whether the rows of a run are better read once, where they are needed.

    Returns
    -------
    Content
        Its rows are a `polars.DataFrame` for rows in memory, a `narwhals.LazyFrame` for others, in their engine (not
        yet checked for runs in a cluster or a large file), and a dict of dicts where each row has a list of documents.
    """
    table = find_table(source, where)
    _refuse_dicts_by_query(table, kind, where)
    if kind == "qrels" and ANSWERABLE in list_columns(table, where):
        return _flagged(table, where, given)
    frame = _frame_of(table, kind, where)
    schema = _schema(frame, where)
    lists = [name for name, dtype in schema.items() if isinstance(dtype, nw.List | nw.Array | nw.Object)]
    names = resolve_columns(schema.names(), kind, where=where, given=given, lists=lists)
    topic, value = names.get(SUBTOPIC), find_value_column(names)
    refuse_patterns(names.values(), where)
    if isinstance(frame, nw.DataFrame):
        # pandas and records hold lists as objects
        objects = frame[names["doc_id"]].to_list() if schema[names["doc_id"]] == nw.Object else ()
        if has_lists(objects):
            named = ((None, row) for row in frame.iter_rows(named=True))
            return Content.of_lists(read_list_rows(named, names, kind, where), names)
        others = lists if names["doc_id"] in lists else [name for name in schema.names() if name == "rank"]
        kept = dict.fromkeys([*names.values(), *others])
        frame = nw.from_native(to_polars(frame.select(*kept), where).lazy())
        schema = frame.collect_schema()
    if isinstance(schema[names["doc_id"]], nw.List | nw.Array):
        rows = collect(frame.select(*dict.fromkeys([*names.values(), *lists]))).iter_rows(named=True)
        return Content.of_lists(read_list_rows(((None, row) for row in rows), names, kind, where), names)
    _check_types(frame, schema, names, where)
    if topic is not None:  # what other engines hold is fetched
        frame = nw.from_native(collect(frame.select(*names.values())).lazy())
    notes: Notes = (RANKED_BY_COLUMN,) if value == "rank" else () if value else (ASSUMED["qrels"],)
    ids = [nw.col(names[key]).cast(nw.String).alias(key) for key in KEYS]
    number = nw.lit(1.0) if value is None else nw.col(names[value])
    raw = frame.select(*ids, number.alias(value or VALUE_COLUMN[kind]))
    reading = Reading(kind, value or VALUE_COLUMN[kind])
    is_spark = frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect()
    if is_spark or (is_large and kind == "run"):
        return Content(raw, notes, _ranks(frame, names), reading=reading, columns=names)
    with guard_rows(where):
        if not frame.implementation.is_polars():
            return Content(reading.in_engine(raw, where), notes, _ranks(frame, names), columns=names)
        checked = reading.in_polars(raw)
        reading.check(checked.wrong, where)
        if topic is not None:
            topics = collect(frame.select(nw.col(topic).cast(nw.String).alias(SUBTOPIC)))
            refuse_nul(topics[SUBTOPIC], where)
            with_topics = checked.frame.with_columns(topics[SUBTOPIC])
            return replace(split_off(with_topics, where, notes), columns=names)
        return Content(checked.frame, notes, _ranks(frame, names), query_runs=checked.query_runs, columns=names)


def _flagged(source: Any, where: str, given: Mapping[str, str]) -> Content:  # noqa: ANN401 - a table
    """Return judgments that say which queries no document answers, without rows that only say so."""
    if isinstance(source, list):
        is_kept, unanswerable = which_judged([(None, row) for row in source], given, where)
        own = [{name: row[name] for name in row if name != ANSWERABLE} for row in compress(source, is_kept)]
        return replace(convert_table(own, "qrels", where, given), unanswerable=unanswerable)
    table = to_polars(source, where)
    names = resolve_columns(table.columns, "qrels", where=where, given=given)
    doc, flag = pl.col(names["doc_id"]), pl.col(ANSWERABLE).cast(pl.String).str.to_lowercase().fill_null("")
    for wrong in table.filter(~flag.is_in(["true", "false", ""])).head(1)[ANSWERABLE]:
        raise DataError(ANSWERABLE, given=wrong, allowed="true or false", path=where)
    lacks = doc.is_null() | (doc == "" if table.schema[names["doc_id"]] == pl.String else False)
    queries = table.filter(flag == "false")[names["query_id"]].cast(pl.String).unique().sort()
    judged = table.filter((flag != "false") | ~lacks).drop(ANSWERABLE)
    return replace(convert_table(judged, "qrels", where, given), unanswerable=tuple(queries))


def _ranks(frame: Frame, names: Mapping[str, str]) -> pl.DataFrame | None:
    """Return the ranks and scores of the first rows of a run in Polars that has both; other engines have no first."""
    native = frame.to_native()
    if not isinstance(native, pl.LazyFrame) or "score" not in names or "rank" not in native.collect_schema():
        return None
    both = {"query_id": pl.col(names["query_id"]), "rank": pl.col("rank"), "score": pl.col(names["score"])}
    return ranks_of(native.head(ROWS).select(**both))


def _schema(frame: Frame | nw.DataFrame[Any], where: str) -> nw.Schema:
    try:
        return frame.collect_schema()
    except ValueError as error:  # Narwhals refuses decimals of more than 38 digits, which Parquet can hold
        raise ColumnError(f"a column has a type that cannot be read: {error}", path=where) from error


def _check_types(frame: Frame | nw.DataFrame[Any], schema: nw.Schema, names: dict[str, str], where: str) -> None:
    """Raise if the type of a column cannot hold ids, subtopics or numbers."""
    texts: tuple[type[nw.dtypes.DType], ...] = (nw.String, nw.Categorical, nw.Enum, nw.Unknown)
    if frame.implementation.is_polars():
        texts += (nw.Binary,)  # some Parquet writers store text so; other engines would write its bytes as \xC3
    for key, name in names.items():
        dtype = schema[name]
        # A float may have been text that got lost: 880.0 for "0880".
        if key in KEYS and not (dtype.is_integer() or isinstance(dtype, texts)):
            raise ColumnError(f"column {name!r} holds {dtype}", allowed="text or whole numbers as ids", path=where)
        if key == SUBTOPIC and isinstance(dtype, nw.List | nw.Array | nw.Struct | nw.Object):
            raise ColumnError(
                f"column {name!r} holds {dtype}", allowed="one subtopic a row, as text or a whole number", path=where
            )
        if key not in TEXTS and not (dtype.is_numeric() or dtype == nw.Boolean):
            raise ColumnError(f"column {name!r} holds {dtype}", allowed="numbers", path=where)


def _frame_of(table: object, kind: Kind, where: str) -> Frame | nw.DataFrame[Any]:
    """Return a table, its records, or tuples as a frame."""
    if (frame := find_frame(table, where)) is not None:
        return frame
    if isinstance(table, nw.Series):  # its index does not make it a table
        raise SourceTypeError(
            found=f"a single column of {table.implementation.value}, {table.name!r}",
            allowed="a table",
            hint=f"give the dataframe, with query_id, doc_id and {VALUE_COLUMN[kind]}; pandas' reset_index() makes one",
            path=where,
        )
    is_array = getattr(table, "ndim", None) is not None and hasattr(table, "shape")
    if is_array:
        raise SourceTypeError(
            f"cannot read {kind} from an array of shape {tuple(getattr(table, 'shape', ()))}",
            allowed="a path, a dict of dicts, tuples or a dataframe",
            path=where,
        )
    if isinstance(table, Iterable) and not isinstance(table, str | bytes):
        return nw.from_native(_frame_of_tuples(cast("Any", table), kind, where))
    hint = "give a path, a dict of dicts, tuples or a dataframe; for results of a search library write"
    hint += f" {CALL[kind]}({{query: results}})"
    raise SourceTypeError(
        f"cannot read {kind} from {type(table).__name__}",
        hint=hooks.advice_on_missing("an object of another library", "objects") or hint,
    )


def find_table(source: Any, where: str) -> Any:  # noqa: ANN401 - anything
    """Return the table in an object as a frame of Narwhals, or as a list of rows: dicts where they name their fields.

    Hugging Face's data sets and those of ragas say so with their methods, other libraries with Arrow's protocol. What
    is no table is returned as it is.
    """
    found = as_narwhals(source, where)
    if isinstance(found, nw.LazyFrame | nw.DataFrame | nw.Series | str | bytes | Mapping):
        return found
    if hasattr(source, "__arrow_c_stream__"):
        return nw.from_native(pl.DataFrame(source))
    for name in ("to_polars", "to_pandas"):
        if callable(convert := getattr(source, name, None)):
            return find_table(convert(), where)
    if not isinstance(source, Iterable) or hasattr(source, "readline") or hasattr(source, "shape"):
        return source  # also a matrix
    rows = source if isinstance(source, list) else list(source)
    has_named = any(hasattr(kind, "_fields") for kind in {*map(type, rows)})
    return [row._asdict() if hasattr(row, "_fields") else row for row in rows] if has_named else rows


def list_columns(table: object, where: str) -> list[str]:
    """Return the names of all columns of what :func:`find_table` returns; none if it is no table."""
    if isinstance(table, list) and all(issubclass(kind, Mapping) for kind in {*map(type, table)}):
        return [*dict.fromkeys(chain.from_iterable(table))]
    return _schema(table, where).names() if isinstance(table, nw.LazyFrame | nw.DataFrame) else []


def find_frame(source: object, where: str) -> Frame | nw.DataFrame[Any] | None:
    """Return the table in an object, or one of its records, as a frame; None of what is neither."""
    table = find_table(source, where)
    if isinstance(table, list) and (names := list_columns(table, where)):
        table = nw.from_native(pl.DataFrame([_column(name, [row.get(name) for row in table], where) for name in names]))
    return table if isinstance(table, nw.LazyFrame | nw.DataFrame) else None


def split_by_column(source: object, column: str, where: str) -> list[Frame | nw.DataFrame[Any]]:
    """Return the rows with each value of a table's column of ids: in order of appearance, or sorted in an engine."""
    frame = cast("Frame | nw.DataFrame[Any]", find_frame(source, where))
    _check_types(frame, _schema(frame, where), {"doc_id": column}, where)
    held = frame.select(column)
    if isinstance(held, nw.LazyFrame) and not held.implementation.is_polars():
        held = held.unique().sort(column)
    values = to_polars(held, where)[column].unique(maintain_order=True).to_list()
    if None in values or "" in values:
        raise ColumnError(f"a row has no {column!r}", allowed="text or a whole number", path=where)
    return [frame.filter(nw.col(column) == value) for value in values]


def has_lists(values: Iterable[object]) -> bool:
    """Tell whether some value of a column is a list, or another collection."""
    return any(issubclass(kind, Collection) and not issubclass(kind, str | bytes) for kind in {*map(type, values)})


def to_polars(frame: Frame | nw.DataFrame[Any], where: str) -> pl.DataFrame:
    """Fetch or convert a few columns, as plain lists where Polars cannot take them."""
    if isinstance(frame, nw.LazyFrame):
        return collect(frame)
    if frame.implementation.is_polars():
        return frame.to_native()
    try:
        return _with_own_numbers(frame.to_polars())
    except Exception:  # noqa: BLE001 - pandas without PyArrow, or PyArrow's own errors for a mixed column
        given = ((own.name, zip(own.to_list(), own.is_null().to_list(), strict=True)) for own in frame.iter_columns())
        return pl.DataFrame(
            [_column(name, [None if is_null else one for one, is_null in pairs], where) for name, pairs in given]
        )


def _with_own_numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame that shares no number with the arrays of another library, which the caller may write to."""
    own = []
    for column in frame:
        if column.dtype.is_numeric() and not column.null_count():
            own.append(pl.Series(column.name, column.to_numpy().copy(), dtype=column.dtype))
    return frame.with_columns(own)


def _column(name: str, values: Sequence[Any], where: str) -> pl.Series:
    values = to_python_numbers(values)
    if has_lists(values):  # in which Polars would make 1 of 1.5 if 2 is before it
        return pl.Series(name, values, pl.Object)
    try:
        return pl.Series(name, values, strict=True)
    except (TypeError, ValueError, pl.exceptions.PolarsError):  # among them UnicodeEncodeError
        types = [one for one in dict.fromkeys(map(type, values)) if one is not type(None)]
        if {*types} == {int, float} and not any(is_beyond(one) for one in values if isinstance(one, int)):
            return pl.Series(name, values, pl.Float64, strict=False)
        unread = "a type that cannot be read, or text that UTF-8 cannot hold"
        raise ColumnError(
            f"column {name!r} holds values of {'several types' if len(types) > 1 else unread}",
            found=", ".join(one.__name__ for one in types),
            allowed="text, or numbers",
            path=where,
        ) from None


def _frame_of_tuples(rows: Sequence[Any], kind: Kind, where: str) -> pl.DataFrame:
    """Build a frame from tuples."""
    value = VALUE_COLUMN[kind]
    if hasattr(rows, "readline"):
        raise SourceTypeError(
            "rows cannot be read from an open file",
            found=type(rows).__name__,
            hint="give its path, whose ending says the format, or parse it, as with json.load",
            path=where,
        )
    if rows and all(isinstance(row, list) and _are_ids(row) for row in rows):
        raise _ambiguous_lists(rows, kind)
    for place, row in enumerate(rows):
        if not isinstance(row, tuple | list) or len(row) != 3 or not all(is_id(key) for key in row[:2]):
            msg = f"item {place}: expected (query_id, doc_id, {value}) with text or whole numbers as ids, got {row!r}"
            if isinstance(row, str | os.PathLike):
                msg += "; several runs are {name: run}, ids alone {query: [ids]}"
            elif hasattr(row, "columns") or getattr(row, "kind", None) in VALUE_COLUMN:  # a frame, a Run
                msg += "; several runs are {name: run}"
            elif not isinstance(row, tuple | list):
                msg += f"; for results of a search library write {CALL[kind]}({{query: results}})"
            raise SourceTypeError(msg)
        check_number(kind, row[0], row[1], row[2], kind)
    queries, docs, values = zip(*rows, strict=True) if rows else ((), (), ())
    return pl.DataFrame(
        {
            "query_id": make_id_column(ids_to_text(queries, where), where),
            "doc_id": make_id_column(ids_to_text(docs, where), where),
            value: np.array(values, np.float64),
        }
    )


def _refuse_dicts_by_query(table: object, kind: Kind, where: str) -> None:
    """Raise `SourceTypeError` for a list of dicts that have the documents of queries, as of several runs."""
    if not isinstance(table, list) or not table:
        return
    if not all(isinstance(one, Mapping) and _is_by_query(one) for one in table):
        return
    n_queries = sum(len(one) for one in table)
    have_shared_queries = n_queries > len(set().union(*table))
    if len(table) == 1:
        hint = "give the dict itself, without the list"
    elif kind == "run" and have_shared_queries:
        hint = "several runs are {name: run}, such as {'a': run, 'b': other}"
    else:
        hint = "give one dict with all queries"
    raise SourceTypeError(
        found=f"a list of {format_count(len(table), 'dict')} by query",
        allowed="one dict {query: documents}, or a list of rows",
        hint=hint,
        path=where,
    )


def _is_by_query(fields: Mapping[Any, object]) -> bool:
    """Tell whether a dict has the documents of queries: it is no row of a table, and no response of a library."""
    if not fields or find_results(fields) is not None:
        return False
    for name, value in fields.items():
        if not isinstance(value, Mapping | list | tuple | set):
            return False
        if name in KNOWN_NAMES or guess_kind(str(name)) is not None:
            return False
    return True


def _are_ids(row: Sequence[object]) -> bool:
    """Tell whether a list holds ids alone, all of them text or all whole numbers."""
    return all(map(is_id, row)) and len({isinstance(one, str) for one in row}) < 2


def _ambiguous_lists(lists: Sequence[list[Any]], kind: Kind) -> SourceTypeError:
    """Return the error for lists of ids, which may be the documents of each query, or rows."""
    of_queries = "if each list has the documents of one query, write dict(enumerate(lists)) for qrels and run alike"
    could_be_rows = all(len(one) == 3 and not isinstance(one[2], str) for one in lists)
    if not could_be_rows:
        return SourceTypeError("lists of ids do not say their queries", found=format_given(lists[0]), hint=of_queries)
    row = f"(query_id, doc_id, {VALUE_COLUMN[kind]})"
    return SourceTypeError(
        f"a list of three whole numbers is a row {row}, or has the documents of a query",
        found=format_given(lists[0]),
        hint=f"{of_queries}; if each is a row, make tuples of them: [tuple(row) for row in rows]",
    )


def find_repeated_pairs(frame: Frame) -> pl.DataFrame:
    """Return query_id, doc_id and n of the (query, document) pairs that appear more than once, sorted."""
    return collect(frame.select(*KEYS).group_by(*KEYS).agg(n=nw.len()).filter(nw.col("n") > 1)).sort(KEYS)
