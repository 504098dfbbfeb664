"""Tables as text in JSON documents: Parquet in base64, with the columns that saved evaluations have."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Set as AbstractSet
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.core.arrays import AnyArray
from deadheat.core.evaluation.shapes import WrongValueError
from deadheat.core.io.guarding import check_threads
from deadheat.core.io.pages import read_table
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.beside import beside_table

ENCODING = "Parquet in base64"
_TABLE = Path("a table in it")
OF_TIES = ("tie_std", "tie_min", "tie_max")
NUMBERS = ("tie_mean", *OF_TIES, "standard_error")
SCHEMAS: dict[str, dict[str, type[pl.DataType]]] = {  # of the tables
    "scores": {
        **dict.fromkeys(("value", *NUMBERS), pl.Float64),
        "has_relevant": pl.Boolean,
        "reachable": pl.Float64,
    },
    "weights": {"weight": pl.Float64},
    "queries": {
        "query_id": pl.String,
        "n_retrieved": pl.Int64,
        "ends_in_tie": pl.Boolean,
        "top_score": pl.Float64,
        "absent": pl.Boolean,
        "retrieves_itself": pl.Boolean,
    },
    "retrieved": {
        "query": pl.Int64,
        "doc_id": pl.String,
        "relevance": pl.Float64,
        "above": pl.Int64,
        "tied": pl.Int64,
    },
    "judged": {"query": pl.Int64, "relevance": pl.Float64},
    "judgments": {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64},
    "lists": {"query_id": pl.String, "n_retrieved": pl.Int64, "next_score": pl.Float64},
    "ranking": {"query": pl.UInt32, "doc_id": pl.String, "score": pl.Float64},
}
NOT_IN_ALL = {"queries": {"top_score", "absent", "retrieves_itself"}}  # columns that some saves lack
NULLABLE: dict[str, set[str]] = {  # columns that may have null
    "scores": {*NUMBERS, "value", "reachable"},
    "queries": {"ends_in_tie", "top_score"},
    "lists": {"next_score"},
}


def packed(columns: Mapping[str, Any] | pl.DataFrame, schema: Mapping[str, type[pl.DataType]]) -> str:
    """Return a table as text that JSON can hold."""
    check_threads()
    held = io.BytesIO()
    pl.DataFrame(columns, schema=schema).write_parquet(held, compression="zstd")
    return base64.b64encode(held.getvalue()).decode()


def unpacked(
    text: str,
    name: str,
    schema: Mapping[str, type[pl.DataType]] | None = None,
    nullable: AbstractSet[str] | None = None,
) -> pl.DataFrame:
    """Read what `packed` returned.

    Parameters
    ----------
    text : str
    name : str
        Of the table.
    schema : mapping of str to type, optional
        Of columns that it may have; by default those of saved evaluations.
    nullable : set of str, optional
        Columns that may have null; by default as in saved evaluations.

    Raises
    ------
    WrongValueError
        A column has another type, or a null where none can be.
    """
    rows = read_table(base64.b64decode(text), _TABLE)
    if nullable is None:
        nullable = NULLABLE.get(name, set())
    for column, dtype in (schema or SCHEMAS[name]).items():
        if column not in rows.columns:
            if column in NOT_IN_ALL.get(name, ()):
                continue
            raise WrongValueError(f"lacks column {column!r} of {name}")
        if rows.schema[column] != dtype:
            raise WrongValueError(f"column {column!r} of {name} holds {rows.schema[column]}, expected {dtype()}")
        if column not in nullable and rows[column].null_count():
            raise WrongValueError(f"column {column!r} of {name} has a null")
    return rows


def unpacked_columns(
    text: str,
    name: str,
    schema: Mapping[str, type[pl.DataType]] | None = None,
    nullable: AbstractSet[str] | None = None,
) -> dict[str, Any]:
    """Return the columns of a packed table; those of ids have their names in the plural, as in `Placements`.

    Parameters
    ----------
    text, name, schema, nullable
        As for :func:`unpacked`.
    """
    plural = {"query_id": "query_ids", "doc_id": "doc_ids"}
    columns: dict[str, Any] = {}
    for column in unpacked(text, name, schema, nullable):
        if column.name in plural:
            columns[plural[column.name]] = np.array(column.to_list(), object)
        else:
            columns[column.name] = column.to_numpy()
    return columns


def packed_beside(key: str, frame: pl.DataFrame) -> str:
    """Return a table beside the judgments as text."""
    schema = beside_table(key).form.schema()
    return packed(frame.select(*schema), schema)


def unpacked_beside(key: str, text: str) -> pl.DataFrame:
    """Read what `packed_beside` returned."""
    form = beside_table(key).form
    return unpacked(text, form.name, form.schema(), form.nullable)


def check_codes(name: str, codes: AnyArray, n_known: int) -> None:
    """Raise `WrongValueError` if a code of a table names what is not there."""
    if len(codes) and not (codes.min() >= 0 and codes.max() < n_known):
        raise WrongValueError(f"a row of {name} has the number of what is not there")
