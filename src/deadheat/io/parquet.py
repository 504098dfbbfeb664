"""Parquet: scanned lazily, so that a file larger than memory streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from deadheat.errors import ColumnError, EmptyDataError, FileFormatError
from deadheat.io.kinds import VALUE_COLUMN, resolve_columns
from deadheat.io.values import value_error

if TYPE_CHECKING:
    from pathlib import Path

    from deadheat.io.kinds import Kind

_LARGEST_INTEGER = 2**53


def scan_parquet(path: Path, kind: Kind) -> pl.LazyFrame:
    """Scan a Parquet file as query_id, doc_id and the value; nulls and NaN are found where the rows are read.

    Raises
    ------
    FileFormatError
        If the file is not Parquet.
    ColumnError
        If a column is missing or of a type that is no id or no number.
    EmptyDataError
        If the file has no row.
    ScoreError, RelevanceError
        If the value is an integer column with a number that float64 cannot hold.
    """
    rows = pl.scan_parquet(path, glob=False)
    try:
        schema = rows.collect_schema()
        n_rows = rows.select(pl.len()).collect().item()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileFormatError(f"expected a Parquet file ({error})", path=path) from error
    columns = resolve_columns(schema.names(), kind, where=path)
    *ids, value = columns
    for name in ids:
        _check_id(schema[columns[name]], columns[name], path)
    _check_value(rows, schema[columns[value]], columns[value], kind, path)
    if not n_rows:
        raise EmptyDataError(f"{kind} without a single row", path=path)
    return rows.select(
        *(pl.col(columns[name]).cast(pl.String).alias(name) for name in ids),
        pl.col(columns[value]).cast(pl.Float64).alias(value),
    )


def _check_id(dtype: pl.DataType, name: str, path: Path) -> None:
    # A float column may have come from ids and lost their text: 880.0 for "0880".
    if not (dtype.is_integer() or isinstance(dtype, pl.String | pl.Categorical | pl.Enum | pl.Binary)):
        raise ColumnError(f"column {name!r} holds {dtype}, expected text or integers as ids", path=path)


def _check_value(rows: pl.LazyFrame, dtype: pl.DataType, name: str, kind: Kind, path: Path) -> None:
    if not dtype.is_numeric():
        raise ColumnError(f"column {name!r} holds {dtype}, expected numbers as {VALUE_COLUMN[kind]}", path=path)
    if isinstance(dtype, pl.Int64 | pl.UInt64 | pl.Int128):
        low, high = rows.select(low=pl.col(name).min(), high=pl.col(name).max()).collect(engine="streaming").row(0)
        beyond = next((given for given in (low, high) if given is not None and abs(given) > _LARGEST_INTEGER), None)
        if beyond is not None:
            message = f"{VALUE_COLUMN[kind]} {beyond} is an integer beyond 2**53, which float64 cannot hold exactly"
            raise value_error(kind, message, path)
