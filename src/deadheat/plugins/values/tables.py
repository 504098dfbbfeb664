"""Tables and dicts of values: a row for each query and measure, or {query: {measure: value}} as of pytrec_eval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import polars as pl

from deadheat.core.errors import DataError, SourceTypeError
from deadheat.core.io.columns import find_column
from deadheat.core.io.records import Records, Wanted, as_written, read_records
from deadheat.core.scalars import is_number
from deadheat.plugins.values.forms import COLUMNS, find_columns
from deadheat.plugins.values.lines import count_decimals, parse_value
from deadheat.plugins.values.table import ValueRow

SYSTEMS = ("system", "model", "run", "retriever", "name")
"""Columns that tell systems apart; the last is that of PyTerrier's experiments."""
ALLOWED = "{query: {measure: value}}, or a table with the columns query_id, measure and value"
WANTED = Wanted(
    what="values",
    expected="query_id, measure and value in each row",
    id="query_id",
    number=as_written,
)


def read_rows(path: Path) -> Iterator[ValueRow]:
    """Yield the values in a file: of a table, or of a JSON object by query.

    Raises
    ------
    ColumnError
        The table lacks a column.
    DataError
        A value is no number.
    """
    records = read_records(path, None, WANTED)
    if _is_by_query(records):
        yield from _read_json_object(records, path)
        return
    names = {}
    for column, known in COLUMNS.items():
        names[column] = find_column(known, records.columns, f"no column {column!r} in the table of values", path)
    frame, _ = records.with_points([names["value"]], path)
    yield from read_frame(frame, names, path, records)


def _is_by_query(records: Records) -> bool:
    """Tell whether a JSON file is an object with an object of values for each query."""
    if records.json is None or not isinstance(records.json.value, Mapping):
        return False
    return find_columns(records.columns) is None


def _read_json_object(records: Records, path: Path) -> Iterator[ValueRow]:
    for place, row in enumerate(records.rows(())):
        for measure, value in row.items():
            if measure != WANTED.id:
                yield _row((str(row[WANTED.id]), measure), value, where=path, line=records.line(place))


def read_frame(
    frame: pl.DataFrame, names: Mapping[str, str], where: Path | str, records: Records | None = None
) -> Iterator[ValueRow]:
    """Yield the values of a table.

    Parameters
    ----------
    frame : polars.DataFrame
    names : mapping of str to str
        What it calls query_id, measure and value.
    where : path or str
        For messages.
    records : Records, optional
        The records of a file, for lines.
    """
    system = next((name for name in SYSTEMS if name in frame.columns), None)
    columns = [names["query_id"], names["measure"], names["value"]]
    systems = [""] * len(frame) if system is None else frame[system].to_list()
    for place, row in enumerate(frame.select(columns).iter_rows()):
        query_id, measure, value = row
        line = None if records is None else records.line(place)
        if query_id is None or measure is None or systems[place] is None:
            raise DataError("a row has no query, measure or system", path=where, line=line)
        key = (str(query_id), str(measure))
        yield _row(key, value, where=where, line=line, system=str(systems[place]))


def read_mapping(values: Mapping[Any, Any], where: str) -> Iterator[ValueRow]:
    """Yield the values of a dict {query: {measure: value}}."""
    for query_id, of_query in values.items():
        if not isinstance(of_query, Mapping):
            raise SourceTypeError(found=f"{type(of_query).__name__} for query {query_id!r}", allowed=ALLOWED)
        for measure, value in of_query.items():
            yield _row((str(query_id), str(measure)), value, where=where, line=None)


def read_metrics(metrics: Iterable[Any], where: str) -> Iterator[ValueRow]:
    """Yield the values of objects with query_id, measure and value, as ``ir_measures.iter_calc`` gives them."""
    for metric in metrics:
        yield _row((str(metric.query_id), str(metric.measure)), metric.value, where=where, line=None)


def _row(key: tuple[str, str], value: object, *, where: Path | str, line: int | None, system: str = "") -> ValueRow:
    """Return a row of a query and a measure, from a value in whatever form a file or an object has it."""
    query_id, measure = key
    if value is None or value == "":
        return ValueRow(query_id, measure, math.nan, None, line, system)
    if isinstance(value, str):
        text = value.strip()
    elif is_number(value):
        text = repr(float(cast("float", value)))
    else:
        raise DataError(
            f"the value of {measure} for query {query_id!r} must be a number",
            found=type(value).__name__,
            path=where,
            line=line,
        )
    return ValueRow(query_id, measure, parse_value(text, where, line), count_decimals(text), line, system)
