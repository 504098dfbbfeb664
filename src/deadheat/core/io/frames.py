"""Frames of any engine, and tuples, converted to three checked columns.

They need Narwhals, so this module is imported only where they are used: files and dicts of dicts do not wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, cast

import narwhals as nw
import numpy as np

from deadheat.core import hooks
from deadheat.core.arrays import IntArray
from deadheat.core.errors import ColumnError, DataError, SourceTypeError
from deadheat.core.io.columns import find_value_column, guess_kind, refuse_patterns, resolve_columns
from deadheat.core.io.content import COMPARED_ROWS, Content
from deadheat.core.io.formats.base import collect_ranks, find_judged_rows, split_off_subtopics
from deadheat.core.io.guarding import guard_rows
from deadheat.core.io.ids import are_written_otherwise, ids_to_text, is_id, make_id_column, refuse_nul
from deadheat.core.io.indexes import advise_on_index, with_named_index
from deadheat.core.io.kinds import ANSWERABLE, KEYS, KNOWN_NAMES, SUBTOPIC, VALUE_COLUMN, Kind
from deadheat.core.io.lazy import Frame, Reading, as_narwhals, collect
from deadheat.core.io.list_rows import read_list_rows
from deadheat.core.io.notes import Notes
from deadheat.core.io.object_rows import is_row_type, make_row
from deadheat.core.io.result_errors import CALL
from deadheat.core.io.result_parts import find_results
from deadheat.core.io.results import ASSUMED, RANKED_BY_COLUMN
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
        Names of columns that the user gives.
    is_large : bool, default False
        Whether the rows of a run are better read once, where they are needed.

    Returns
    -------
    Content
        Its rows are a `polars.DataFrame` for rows in memory, a `narwhals.LazyFrame` for others, in their engine (not
        yet checked for runs in a cluster or a large file), and a dict of dicts where each row has a list of documents.
    """
    table = find_table(source, where)
    table = with_named_index(table, kind, given)
    _refuse_dicts_by_query(table, kind, where)
    if kind == "qrels" and ANSWERABLE in list_columns(table, where):
        return _read_answerable(table, where, given)
    frame = _make_frame(table, kind, where)
    schema = _get_schema(frame, where)
    lists = [name for name, dtype in schema.items() if isinstance(dtype, nw.List | nw.Array | nw.Object)]
    try:
        names = resolve_columns(schema.names(), kind, where=where, given=given, lists=lists)
    except ColumnError as error:
        error.hint = advise_on_index(frame) or error.hint
        raise
    doc_column = names["doc_id"]
    refuse_patterns(names.values(), where)
    if doc_column in lists:
        beside = lists  # a list beside that of documents may hold their scores
    else:
        beside = [name for name in schema.names() if name == "rank"]  # ranks are compared with scores
    needed = dict.fromkeys([*names.values(), *beside])
    if isinstance(frame, nw.DataFrame):
        # pandas and dicts hold lists as objects
        if schema[doc_column] == nw.Object and has_lists(frame[doc_column].to_list()):
            return _read_lists(frame.iter_rows(named=True), names, kind, where)
        frame = nw.from_native(_take_columns(frame.select(*needed), where).lazy())
        schema = frame.collect_schema()
    if isinstance(schema[doc_column], nw.List | nw.Array):
        rows = collect(frame.select(*needed)).iter_rows(named=True)
        return _read_lists(rows, names, kind, where)
    _check_types(frame, schema, names, where)
    return _read_columns(frame, names, kind, where, is_large=is_large)


def _take_columns(frame: nw.DataFrame[Any], where: str) -> pl.DataFrame:
    """Return a frame in Polars, with UUIDs and paths, which are objects elsewhere, as text."""
    columns = {}
    for name, dtype in frame.schema.items():
        if dtype == nw.Object:
            values = frame[name].to_list()
            if are_written_otherwise(values):
                columns[name] = _make_column(name, values, where)
    if not columns:
        return to_polars(frame, where)
    others = to_polars(frame.drop(*columns), where)
    return others.with_columns(**columns).select(frame.columns)


def _read_lists(rows: Iterable[Mapping[str, Any]], names: Mapping[str, str], kind: Kind, where: str) -> Content:
    """Read rows that have a list of documents each."""
    rows_without_lines = ((None, row) for row in rows)
    return Content.of_lists(read_list_rows(rows_without_lines, names, kind, where), names)


def _read_columns(frame: Frame, names: Mapping[str, str], kind: Kind, where: str, *, is_large: bool) -> Content:
    """Read rows that have one document each: in Polars, or in their engine."""
    subtopic = names.get(SUBTOPIC)
    if subtopic is not None:  # qrels with subtopics are read in Polars, whatever their engine
        frame = nw.from_native(collect(frame.select(*names.values())).lazy())
    value = find_value_column(names)
    notes: Notes = ()
    if value == "rank":
        notes = (RANKED_BY_COLUMN,)
    elif value is None:
        notes = (ASSUMED["qrels"],)
    reading = Reading(kind, value or VALUE_COLUMN[kind])
    ids = [nw.col(names[key]).cast(nw.String).alias(key) for key in KEYS]
    number = nw.lit(1.0) if value is None else nw.col(names[value])
    unchecked = frame.select(*ids, number.alias(reading.value))
    is_spark = frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect()
    if is_spark or (is_large and kind == "run"):
        return Content(unchecked, notes, _find_ranks(frame, names), reading=reading, columns=names)
    with guard_rows(where):
        if not frame.implementation.is_polars():
            rows = reading.read_in_engine(unchecked, where)
            return Content(rows, notes, _find_ranks(frame, names), columns=names)
        checked = reading.read_in_polars(unchecked)
        reading.check(checked.wrong, where)
        if subtopic is None:
            ranks = _find_ranks(frame, names)
            return Content(checked.frame, notes, ranks, query_runs=checked.query_runs, columns=names)
        subtopics = collect(frame.select(nw.col(subtopic).cast(nw.String).alias(SUBTOPIC)))[SUBTOPIC]
        refuse_nul(subtopics, where)
        return replace(split_off_subtopics(checked.frame.with_columns(subtopics), where, notes), columns=names)


def _read_answerable(table: Any, where: str, given: Mapping[str, str]) -> Content:  # noqa: ANN401 - a table
    """Return judgments that say which queries no document answers, without rows that only say so."""
    if isinstance(table, list):
        is_judgment, unanswerable = find_judged_rows([(None, row) for row in table], given, where)
        judgments = []
        for row, is_kept in zip(table, is_judgment, strict=True):
            if is_kept:
                judgments.append({name: row[name] for name in row if name != ANSWERABLE})
        return replace(convert_table(judgments, "qrels", where, given), unanswerable=unanswerable)
    frame = to_polars(table, where)
    names = resolve_columns(frame.columns, "qrels", where=where, given=given)
    flag = pl.col(ANSWERABLE).cast(pl.String).str.to_lowercase().fill_null("")
    wrong = frame.filter(~flag.is_in(["true", "false", ""]))
    if len(wrong):
        raise DataError(ANSWERABLE, given=wrong[0, ANSWERABLE], allowed="true or false", path=where)
    doc = pl.col(names["doc_id"])
    lacks_doc = doc.is_null()
    if frame.schema[names["doc_id"]] == pl.String:
        lacks_doc = lacks_doc | (doc == "")
    is_unanswerable = flag == "false"
    queries = frame.filter(is_unanswerable)[names["query_id"]].cast(pl.String).unique().sort()
    judged = frame.filter(~is_unanswerable | ~lacks_doc).drop(ANSWERABLE)
    return replace(convert_table(judged, "qrels", where, given), unanswerable=tuple(queries))


def _find_ranks(frame: Frame, names: Mapping[str, str]) -> pl.DataFrame | None:
    """Return the ranks and scores of the first rows of a run in Polars that has both; other engines have no order."""
    native = frame.to_native()
    if not isinstance(native, pl.LazyFrame):
        return None
    if "score" not in names or "rank" not in native.collect_schema():
        return None
    first_rows = native.head(COMPARED_ROWS).select(
        query_id=pl.col(names["query_id"]), rank=pl.col("rank"), score=pl.col(names["score"])
    )
    return collect_ranks(first_rows)


def _get_schema(frame: Frame | nw.DataFrame[Any], where: str) -> nw.Schema:
    try:
        return frame.collect_schema()
    except ValueError as error:  # Narwhals refuses decimals of more than 38 digits, which Parquet can hold
        raise ColumnError(f"a column has a type that cannot be read: {error}", path=where) from error


def _check_types(frame: Frame | nw.DataFrame[Any], schema: nw.Schema, names: Mapping[str, str], where: str) -> None:
    """Raise if the type of a column cannot hold ids, subtopics or numbers."""
    texts: tuple[type[nw.dtypes.DType], ...] = (nw.String, nw.Categorical, nw.Enum, nw.Unknown)
    if frame.implementation.is_polars():
        texts += (nw.Binary,)  # some Parquet writers store text so; other engines would write its bytes as \xC3
    for key, name in names.items():
        dtype = schema[name]
        allowed = ""
        if key in KEYS:
            # a float may have been text that got lost: 880.0 for "0880"
            if not (dtype.is_integer() or isinstance(dtype, texts)):
                allowed = "text or whole numbers as ids"
        elif key == SUBTOPIC:
            if isinstance(dtype, nw.List | nw.Array | nw.Struct | nw.Object):
                allowed = "one subtopic a row, as text or a whole number"
        elif not (dtype.is_numeric() or dtype == nw.Boolean):
            allowed = "numbers"
        if allowed:
            raise ColumnError(f"column {name!r} holds {dtype}", allowed=allowed, path=where)


def _make_frame(table: object, kind: Kind, where: str) -> Frame | nw.DataFrame[Any]:
    """Return a table, a list of dicts, or tuples as a frame."""
    frame = find_frame(table, where)
    if frame is not None:
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
        return nw.from_native(_make_frame_of_tuples(cast("Any", table), kind, where))
    hint = "give a path, a dict of dicts, tuples or a dataframe; for results of a search library write"
    hint += f" {CALL[kind]}({{query: results}})"
    raise SourceTypeError(
        f"cannot read {kind} from {type(table).__name__}",
        hint=hooks.advise_on_missing("an object of another library", "objects") or hint,
    )


def find_table(source: Any, where: str) -> Any:  # noqa: ANN401 - anything
    """Return the table that an object is: a frame of Narwhals, or a list of rows. Rows with names of fields are dicts.

    Hugging Face's data sets and those of ragas have methods that convert them, other libraries have Arrow's protocol.
    An object that is not a table is returned as it is; one that is a row is a table of this row.
    """
    if is_row_type(type(source)):
        return [make_row(source)]
    table = as_narwhals(source, where)
    if isinstance(table, nw.LazyFrame | nw.DataFrame | nw.Series | str | bytes | Mapping):
        return table
    if hasattr(source, "__arrow_c_stream__"):
        return nw.from_native(pl.DataFrame(source))
    for name in ("to_polars", "to_pandas"):
        convert = getattr(source, name, None)
        if callable(convert):
            return find_table(convert(), where)
    is_matrix = hasattr(source, "shape")
    if not isinstance(source, Iterable) or hasattr(source, "readline") or is_matrix:
        return source
    rows = source if isinstance(source, list) else list(source)
    # rows have few types: only if one of these names its fields, each row is looked at
    row_types = set(map(type, rows))
    if any(map(is_row_type, row_types)):
        return [make_row(row) if is_row_type(type(row)) else row for row in rows]
    if not any(hasattr(row_type, "_fields") for row_type in row_types):
        return rows
    return [row._asdict() if hasattr(row, "_fields") else row for row in rows]


def list_columns(table: object, where: str) -> list[str]:
    """Return the names of all columns of what :func:`find_table` returns; none if it is not a table."""
    if isinstance(table, nw.LazyFrame | nw.DataFrame):
        return _get_schema(table, where).names()
    if isinstance(table, list) and all(issubclass(row_type, Mapping) for row_type in set(map(type, table))):
        return list(dict.fromkeys(chain.from_iterable(table)))
    return []


def find_frame(source: object, where: str) -> Frame | nw.DataFrame[Any] | None:
    """Return an object as a frame, if it is a table or a list of dicts; else None."""
    table = find_table(source, where)
    if isinstance(table, nw.LazyFrame | nw.DataFrame):
        return table
    if not isinstance(table, list):
        return None
    names = list_columns(table, where)
    if not names:
        return None
    columns = [_make_column(name, [row.get(name) for row in table], where) for name in names]
    return nw.from_native(pl.DataFrame(columns))


def split_by_column(source: object, column: str, where: str) -> list[Frame | nw.DataFrame[Any]]:
    """Split a table by a column of ids: a frame for each id, in order of appearance, in an engine sorted by the id."""
    frame = cast("Frame | nw.DataFrame[Any]", find_frame(source, where))
    _check_types(frame, _get_schema(frame, where), {"doc_id": column}, where)
    ids = frame.select(column)
    if isinstance(ids, nw.LazyFrame) and not ids.implementation.is_polars():
        ids = ids.unique().sort(column)
    values = to_polars(ids, where)[column].unique(maintain_order=True).to_list()
    if None in values or "" in values:
        raise ColumnError(f"a row has no {column!r}", allowed="text or a whole number", path=where)
    return [frame.filter(nw.col(column) == value) for value in values]


def has_lists(values: Iterable[object]) -> bool:
    """Tell whether some value of a column is a list, or another collection."""
    for value_type in set(map(type, values)):
        if issubclass(value_type, Collection) and not issubclass(value_type, str | bytes):
            return True
    return False


def to_polars(frame: Frame | nw.DataFrame[Any], where: str) -> pl.DataFrame:
    """Fetch or convert a few columns, as plain lists where Polars cannot take them."""
    if isinstance(frame, nw.LazyFrame):
        return collect(frame)
    if frame.implementation.is_polars():
        return frame.to_native()
    try:
        return _copy_numbers(frame.to_polars())
    except Exception:  # noqa: BLE001 - pandas without PyArrow, or PyArrow's own errors for a mixed column
        columns = []
        for column in frame.iter_columns():
            values = []
            for value, is_null in zip(column.to_list(), column.is_null().to_list(), strict=True):
                values.append(None if is_null else value)
            columns.append(_make_column(column.name, values, where))
        return pl.DataFrame(columns)


def _copy_numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame that shares no number with the arrays of another library, which the caller may write to."""
    copies = []
    for column in frame:
        if column.dtype.is_numeric() and not column.null_count():
            copies.append(pl.Series(column.name, column.to_numpy().copy(), dtype=column.dtype))
    return frame.with_columns(copies)


def _make_column(name: str, values: Sequence[Any], where: str) -> pl.Series:
    """Return Python values as a column. A mix of whole numbers and floats becomes floats; any other is refused."""
    if are_written_otherwise(values):
        return pl.Series(name, [None if value is None else str(value) for value in values], pl.String)
    values = to_python_numbers(values)
    if has_lists(values):  # as a column of lists Polars would cut 1.5 to 1 where a list begins with 2
        return pl.Series(name, values, pl.Object)
    try:
        return pl.Series(name, values, strict=True)
    except (TypeError, ValueError, pl.exceptions.PolarsError):  # among them UnicodeEncodeError
        types = [value_type for value_type in dict.fromkeys(map(type, values)) if value_type is not type(None)]
        if set(types) == {int, float} and not any(is_beyond(value) for value in values if isinstance(value, int)):
            return pl.Series(name, values, pl.Float64, strict=False)
        if len(types) > 1:
            problem = "several types"
        else:
            problem = "a type that cannot be read, or text that UTF-8 cannot hold"
        raise ColumnError(
            f"column {name!r} holds values of {problem}",
            found=", ".join(value_type.__name__ for value_type in types),
            allowed="text, or numbers",
            path=where,
        ) from None


def _make_frame_of_tuples(rows: Sequence[Any], kind: Kind, where: str) -> pl.DataFrame:
    """Build a frame from tuples of query_id, doc_id and a number."""
    if hasattr(rows, "readline"):
        raise SourceTypeError(
            "rows cannot be read from an open file",
            found=type(rows).__name__,
            hint="give its path, whose ending says the format, or parse it, as with json.load",
            path=where,
        )
    if rows and all(isinstance(row, list) and _has_ids_of_one_type(row) for row in rows):
        raise _make_ambiguous_lists_error(rows, kind)
    queries: list[Any] = []
    docs: list[Any] = []
    values: list[Any] = []
    for place, row in enumerate(rows):
        if not _is_triple(row):
            raise SourceTypeError(_describe_wrong_row(row, place, kind))
        query, doc, value = row
        check_number(kind, query, doc, value, kind)
        queries.append(query)
        docs.append(doc)
        values.append(value)
    return pl.DataFrame(
        {
            "query_id": make_id_column(ids_to_text(queries, where), where),
            "doc_id": make_id_column(ids_to_text(docs, where), where),
            VALUE_COLUMN[kind]: np.array(values, np.float64),
        }
    )


def _is_triple(row: object) -> bool:
    """Tell whether a row is a query_id, a doc_id and a third value, which may be anything."""
    if not isinstance(row, tuple | list) or len(row) != 3:
        return False
    query, doc, _ = row
    return is_id(query) and is_id(doc)


def _describe_wrong_row(row: object, place: int, kind: Kind) -> str:
    """Say what is wrong with an item that is not a row, and what to write instead."""
    problem = (
        f"item {place}: expected (query_id, doc_id, {VALUE_COLUMN[kind]}) with text or whole numbers as ids, got"
        f" {row!r}"
    )
    if isinstance(row, str | os.PathLike):
        return f"{problem}; several runs are {{name: run}}, ids alone {{query: [ids]}}"
    if hasattr(row, "columns") or getattr(row, "kind", None) in VALUE_COLUMN:  # a frame, or a Run
        return f"{problem}; several runs are {{name: run}}"
    if not isinstance(row, tuple | list):
        return f"{problem}; for results of a search library write {CALL[kind]}({{query: results}})"
    return problem


def _refuse_dicts_by_query(table: object, kind: Kind, where: str) -> None:
    """Raise `SourceTypeError` for a list of dicts that have the documents of queries, as of several runs."""
    if not isinstance(table, list) or not table:
        return
    if not all(isinstance(row, Mapping) and _is_by_query(row) for row in table):
        return
    n_queries = sum(len(documents_by_query) for documents_by_query in table)
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
    """Tell whether a dict has documents by query, and is neither a row of a table nor a response of a library."""
    if not fields or find_results(fields) is not None:
        return False
    for name, value in fields.items():
        if not isinstance(value, Mapping | list | tuple | set):
            return False
        if name in KNOWN_NAMES or guess_kind(str(name)) is not None:
            return False
    return True


def _has_ids_of_one_type(row: Sequence[object]) -> bool:
    """Tell whether a list holds ids alone, all of them text or all whole numbers."""
    if not all(map(is_id, row)):
        return False
    n_texts = sum(isinstance(doc, str) for doc in row)
    return n_texts in {0, len(row)}


def _make_ambiguous_lists_error(lists: Sequence[list[Any]], kind: Kind) -> SourceTypeError:
    """Return the error for lists of ids, which may be the documents of each query, or rows."""
    of_queries = "if each list has the documents of one query, write dict(enumerate(lists)) for qrels and run alike"
    could_be_rows = all(len(ids) == 3 and not isinstance(ids[2], str) for ids in lists)
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
    if frame.implementation.is_duckdb() and not _may_repeat_in_duckdb(frame):
        frame = frame.head(0)
    counts = frame.select(*KEYS).group_by(*KEYS).agg(n=nw.len())
    return collect(counts.filter(nw.col("n") > 1)).sort(KEYS)


def _may_repeat_in_duckdb(frame: Frame) -> bool:
    """Tell whether a pair may appear twice, by hashes of the pairs: False is certain, True needs a closer look.

    To group the pairs takes DuckDB four times as long, and ten times the memory.
    """
    relation: Any = frame.select(*KEYS).to_native()
    hashes: IntArray = relation.project("hash(query_id, doc_id) as pair").fetchnumpy()["pair"]
    hashes.sort()
    return bool((hashes[1:] == hashes[:-1]).any())
