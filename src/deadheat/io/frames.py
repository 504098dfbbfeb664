"""Frames of any engine, and tuples, converted to three checked columns.

They need Narwhals, so this module is imported only where they are used: files and dicts of dicts do not wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

import narwhals as nw
import numpy as np
import polars as pl

from deadheat.errors import ColumnError, SourceTypeError
from deadheat.io.foreign import frame_of
from deadheat.io.formats.base import ROWS, Content, ranks_of, split_off
from deadheat.io.kinds import KEYS, SUBTOPIC, VALUE_COLUMN, Kind, refuse_patterns, resolve_columns, subtopic_column
from deadheat.io.lists import RANKED_BY_COLUMN, lists_of_rows
from deadheat.io.mappings import (
    check_number,
    is_id,
    series_of_ids,
    text_of_ids,
)
from deadheat.io.reading import Reading, UnreadFrame, collect, readable
from deadheat.io.results import ASSUMED, CALL
from deadheat.wording import Plain

Frame = nw.LazyFrame[Any]


def canonical(source: object, kind: Kind, where: str, given: Mapping[str, str], *, is_large: bool = False) -> Content:
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
        Its rows are a `polars.DataFrame` for rows in memory, a `narwhals.LazyFrame` for others, in their engine (for
        runs in a cluster or a large file `Unread`), and a dict of dicts where each row has a list of documents.
    """
    if (listed := _listed(source, kind, where, given)) is not None:
        return listed
    _refuse_column(source, kind, where)
    held = _hold(source, kind, where, given)
    frame = nw.from_native(held.lazy()) if isinstance(held, pl.DataFrame) else held
    schema = _schema(frame, where)
    lists = [name for name, dtype in schema.items() if isinstance(dtype, nw.List | nw.Array)]
    names = resolve_columns(list(schema.names()), kind, where=where, given=given, lists=lists)
    refuse_patterns(names.values(), where)
    if isinstance(schema[names["doc_id"]], nw.List | nw.Array):
        listed_rows = collect(frame.select(*names.values())).iter_rows(named=True)
        return Content(*lists_of_rows(((None, row) for row in listed_rows), names, kind, where))
    topic = subtopic_column(list(schema.names()), kind, names, where=where, given=given)
    _check_types(frame, schema, names, topic, where)
    if topic is not None and not isinstance(held, pl.DataFrame):  # what other engines hold is fetched
        held = collect(frame.select(*names.values(), topic))
        frame = nw.from_native(held.lazy())
    value = next((name for name in names if name not in KEYS), None)
    notes = (RANKED_BY_COLUMN,) if value == "rank" else () if value else (ASSUMED["qrels"],)
    ids = [nw.col(names[key]).cast(nw.String).alias(key) for key in KEYS]
    number = nw.lit(1.0) if value is None else nw.col(names[value])
    raw = frame.select(*ids, number.alias(value or VALUE_COLUMN[kind]))
    reading = Reading(kind, value or VALUE_COLUMN[kind])
    if frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect():
        return Content(UnreadFrame(raw, reading, where), notes)
    if is_large and kind == "run":
        return Content(UnreadFrame(raw, reading, where), notes, _ranks(frame, names))
    with readable(where):
        if not isinstance(held, pl.DataFrame):
            return Content(reading.in_engine(raw, where), notes, _ranks(frame, names))
        rows, wrong = reading.in_polars(raw)
        reading.check(wrong, where)
        return _with_subtopics(Content(rows, notes, _ranks(frame, names)), frame, topic, where)


def _with_subtopics(content: Content, frame: Frame, topic: str | None, where: str) -> Content:
    """Return the judgments of a frame in memory with their subtopics, if its column holds several."""
    if topic is None:
        return content
    found = collect(frame.select(nw.col(topic).cast(nw.String).alias(SUBTOPIC)))
    return split_off(content.rows.with_columns(found[SUBTOPIC]), where, content.notes)


def _listed(source: object, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:
    """Read a frame of Python objects, as pandas holds lists, row by row; None if there is no list of documents."""
    frame = as_narwhals(source, where)
    if not isinstance(frame, nw.DataFrame):
        return None
    names = resolve_columns(frame.columns, kind, where=where, given=given, lists=_may_be_lists(frame))
    if frame[names["doc_id"]].dtype != nw.Object:
        return None
    columns = {name: frame[name].to_list() for name in names.values()}
    if not any(isinstance(one, Collection) and not isinstance(one, str | bytes) for one in columns[names["doc_id"]]):
        return None
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return Content(*lists_of_rows(((None, row) for row in rows), names, kind, where))


def _may_be_lists(frame: nw.DataFrame[Any]) -> list[str]:
    return [name for name, dtype in frame.schema.items() if isinstance(dtype, nw.List | nw.Array | nw.Object)]


def _ranks(frame: Frame, names: Mapping[str, str]) -> pl.DataFrame | None:
    """Return the ranks and scores of the first rows of a run in Polars that has both; other engines have no first."""
    native = frame.to_native()
    if not isinstance(native, pl.LazyFrame) or "score" not in names or "rank" not in native.collect_schema():
        return None
    both = {"query_id": pl.col(names["query_id"]), "rank": pl.col("rank"), "score": pl.col(names["score"])}
    return ranks_of(native.head(ROWS).select(**both))


def _schema(frame: Frame, where: str) -> nw.Schema:
    try:
        return frame.collect_schema()
    except ValueError as error:  # Narwhals refuses decimals of more than 38 digits, which Parquet can hold
        raise ColumnError(f"a column has a type that cannot be read: {error}", path=where) from error


def _check_types(frame: Frame, schema: nw.Schema, names: dict[str, str], topic: str | None, where: str) -> None:
    """Raise if the type of a column cannot hold ids, subtopics or numbers."""
    texts: tuple[type[nw.dtypes.DType], ...] = (nw.String, nw.Categorical, nw.Enum, nw.Unknown)
    if frame.implementation.is_polars():
        texts += (nw.Binary,)  # some Parquet writers store text so; other engines would write its bytes as \xC3
    for key in KEYS:
        dtype = schema[names[key]]
        # A float may have been text that got lost: 880.0 for "0880".
        if not (dtype.is_integer() or isinstance(dtype, texts)):
            raise ColumnError(
                f"column {names[key]!r} holds {dtype}", allowed="text or whole numbers as ids", path=where
            )
    if topic is not None and isinstance(schema[topic], nw.List | nw.Array | nw.Struct | nw.Object):
        problem = f"column {topic!r} holds {schema[topic]}"
        raise ColumnError(problem, allowed="one subtopic a row, as text or a whole number", path=where)
    value = next((column for name, column in names.items() if name not in KEYS), None)
    if value is None:
        return
    dtype = schema[value]
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        raise ColumnError(f"column {value!r} holds {dtype}", allowed="numbers", path=where)


def as_narwhals(source: object, where: str) -> object:
    """Return a frame of any engine as a Narwhals frame, and anything else unchanged."""
    try:
        return nw.from_native(cast("Any", source), pass_through=True)
    except nw.exceptions.DuplicateError as error:  # pandas allows two columns of the same name
        raise ColumnError(" ".join(str(error).split()), path=where) from error


def _refuse_column(source: object, kind: Kind, where: str) -> None:
    """Raise for a series of pandas, Polars or another library, which its index does not make a table."""
    column = nw.from_native(cast("Any", source), pass_through=True, allow_series=True)
    if isinstance(column, nw.Series):
        hint = f"give the dataframe, with query_id, doc_id and {VALUE_COLUMN[kind]}; pandas' reset_index() makes one"
        given = Plain(f"a single column of {type(source).__module__.partition('.')[0]}, {column.name!r}")
        raise SourceTypeError(given=given, allowed="a table", hint=hint, path=where)


def _hold(source: object, kind: Kind, where: str, given: Mapping[str, str]) -> pl.DataFrame | Frame:
    """Convert a frame in memory, or tuples, to Polars, usually without a copy; a lazy frame stays in its engine."""
    frame = as_narwhals(source, where)
    if isinstance(frame, nw.LazyFrame):
        return frame
    if isinstance(frame, nw.DataFrame):
        names = resolve_columns(frame.columns, kind, where=where, given=given, lists=_may_be_lists(frame))
        refuse_patterns(names.values(), where)
        extra = {"rank", subtopic_column(frame.columns, kind, names, where=where, given=given)}
        kept = list(dict.fromkeys([*names.values(), *(name for name in frame.columns if name in extra)]))
        return to_polars(frame.select(*kept), where)
    if (inside := frame_of(source)) is not None:
        return _hold(inside, kind, where, given)
    if isinstance(source, Iterable) and not isinstance(source, str | bytes):
        return _frame_of_tuples(source, kind, where)
    raise SourceTypeError(
        f"cannot read {kind} from {type(source).__name__}",
        hint="give a path, a dict of dicts, tuples or a dataframe; for results of a search library write"
        f" {CALL[kind]}({{query: results}})",
    )


def to_polars(frame: nw.DataFrame[Any], where: str) -> pl.DataFrame:
    """Convert three columns to Polars, as plain lists where it cannot take them."""
    try:
        return frame.to_polars()
    except Exception:  # noqa: BLE001 - pandas without PyArrow, or PyArrow's own errors for a mixed column
        return pl.DataFrame([_column(name, frame[name].to_list(), where) for name in frame.columns])


def _column(name: str, values: list[Any], where: str) -> pl.Series:
    try:
        return pl.Series(name, values, strict=True)
    except (TypeError, ValueError, pl.exceptions.PolarsError):  # among them UnicodeEncodeError
        types = dict.fromkeys(type(value).__name__ for value in values)
        if len(types) > 1:
            problem = f"column {name!r} holds values of several types: {', '.join(types)}"
            raise ColumnError(problem, allowed="text, or numbers", path=where) from None
        problem = f"column {name!r} holds values of a type that cannot be read, or text that UTF-8 cannot hold"
        raise ColumnError(problem, given=Plain(*types), path=where) from None


def _frame_of_tuples(rows: Iterable[Any], kind: Kind, where: str) -> pl.DataFrame:
    """Build a frame from tuples; named tuples, such as those of ir_measures, are read by name."""
    value = VALUE_COLUMN[kind]
    if hasattr(rows, "readline"):
        hint = "give its path, whose ending says the format, or parse it, as with json.load"
        raise SourceTypeError(
            "an open file is no source of rows", given=Plain(type(rows).__name__), hint=hint, path=where
        )
    topics: dict[str, list[str]] = {}
    rows = list(rows)
    if rows and hasattr(rows[0], "_fields"):
        names = list(rows[0]._fields)
        columns = resolve_columns(names, kind, where="tuples")
        topic = subtopic_column(names, kind, columns, where="tuples")
        topics = {} if topic is None else {SUBTOPIC: [str(getattr(row, topic)) for row in rows]}
        rows = [tuple(getattr(row, columns[key]) for key in ("query_id", "doc_id", value)) for row in rows]
    for place, row in enumerate(rows):
        if not isinstance(row, tuple | list) or len(row) != 3 or not all(is_id(key) for key in row[:2]):
            msg = f"item {place}: expected (query_id, doc_id, {value}) with text or whole numbers as ids, got {row!r}"
            if isinstance(row, str | os.PathLike):
                msg += "; for several runs use dh.compare, or call evaluate for each; ids alone are {query: [ids]}"
            elif not isinstance(row, tuple | list):
                msg += f"; for results of a search library write {CALL[kind]}({{query: results}})"
            raise SourceTypeError(msg)
        check_number(kind, row[0], row[1], row[2], kind)
    queries, docs, values = zip(*rows, strict=True) if rows else ((), (), ())
    return pl.DataFrame(
        {
            "query_id": series_of_ids(text_of_ids(queries, where), where),
            "doc_id": series_of_ids(text_of_ids(docs, where), where),
            value: np.array(values, np.float64),
            **topics,
        }
    )


def repeated_pairs(frame: Frame) -> pl.DataFrame:
    """Return query_id, doc_id and n of the (query, document) pairs that appear more than once, sorted."""
    rows = frame.select(*KEYS)
    if rows.implementation.is_polars():
        suspects = _rows_with_equal_hash(rows.to_native())
        if suspects is None:
            return pl.DataFrame()
        rows = nw.from_native(suspects)
    return collect(rows.group_by(*KEYS).agg(n=nw.len()).filter(nw.col("n") > 1)).sort(KEYS)


def _rows_with_equal_hash(keys: pl.LazyFrame) -> pl.LazyFrame | None:
    """Return the rows whose hash is repeated, or None if there are none.

    64-bit hashes find suspects in a tenth of the time and memory that grouping all rows takes.
    """
    hashed = pl.col("query_id").hash(1) ^ pl.col("doc_id").hash(2)
    hashes = keys.select(hashed).collect(engine="streaming").to_series().sort(in_place=True).to_numpy()
    twice = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
    return keys.filter(hashed.is_in(pl.Series(twice).implode())) if len(twice) else None
