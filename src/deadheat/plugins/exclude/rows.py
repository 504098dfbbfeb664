"""Documents left out of rows: of dicts, of frames, of rows in another engine, and of rows that are not read yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from deadheat.core.data.document_table import DocumentTable
from deadheat.core.data.rows import MappingRows, MemoryRows, Rows, collect_rows
from deadheat.core.data.run import Run
from deadheat.core.data.unread_rows import LazyRows, UnreadRows
from deadheat.core.io.kinds import VALUE_COLUMN
from deadheat.core.io.nested import Nested, read_numbers
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.passes import find_passes
from deadheat.plugins.exclude.matching import KEYS, find_excluded, split_in_engine
from deadheat.plugins.exclude.reading import ExcludingReading

MOST_IN_ENGINE = 10_000  # pairs that are written into the query of another engine; for more its rows are fetched


def _make_empty() -> pl.DataFrame:
    return pl.DataFrame(schema={**dict.fromkeys(KEYS, pl.String), "relevance": pl.Float64})


@dataclass(frozen=True, eq=False)
class Remaining:
    """Rows without what was left out of them.

    Attributes
    ----------
    rows : Rows
    excluded : polars.DataFrame
        The rows that were left out: query_id, doc_id and their number.
    emptied : tuple of str, default ()
        Queries of which no row remains, sorted.
    is_known_later : bool, default False
        Whether the rows are read, and what is left out is known, when they are placed.
    """

    rows: Any
    excluded: pl.DataFrame = field(default_factory=_make_empty)
    emptied: tuple[str, ...] = ()
    is_known_later: bool = False


def leave_out(table: DocumentTable, pairs: pl.DataFrame | None) -> Remaining:
    """Return the rows of a table that remain, and what was left out.

    Parameters
    ----------
    table : DocumentTable
    pairs : polars.DataFrame or None
        query_id and doc_id of what is excluded; None: documents with the id of their query.
    """
    rows = table.rows
    if isinstance(rows, MappingRows):
        return _leave_out_of_dicts(rows, pairs)
    if isinstance(rows, UnreadRows):
        if isinstance(table, Run) and find_passes(table) is not None:
            reading = ExcludingReading(**vars(rows.reading), pairs=pairs)
            return Remaining(rows.copy_unread(reading=reading), is_known_later=True)
        return _leave_out_of_frame(MemoryRows(rows.frame), pairs)
    if isinstance(rows, LazyRows):
        return _leave_out_in_engine(rows, pairs)
    return _leave_out_of_frame(rows, pairs)


def _leave_out_of_dicts(rows: MappingRows, pairs: pl.DataFrame | None) -> Remaining:
    """Leave documents out of a dict of dicts: the dicts of all other queries stay the same objects."""
    excluded: dict[str, dict[str, float]] = {}
    for query, doc in _find_in_dicts(rows.mapping, pairs):
        excluded.setdefault(query, {})[doc] = rows.mapping[query][doc]
    if not excluded:
        return Remaining(rows)
    mapping = dict(rows.mapping)
    emptied = []
    left_out = []
    for query, excluded_docs in excluded.items():
        documents = dict(mapping[query])
        for doc in excluded_docs:
            del documents[doc]
            left_out.append((query, doc))
        mapping[query] = documents
        if not documents:
            emptied.append(query)
            if rows.kind == "run":  # which keeps queries without a document apart
                del mapping[query]
    numbers = read_numbers(excluded, list(excluded), rows.kind, rows.where)
    frame = pl.DataFrame(left_out, schema=dict.fromkeys(KEYS, pl.String), orient="row")
    frame = frame.with_columns(pl.Series(VALUE_COLUMN[rows.kind], numbers))
    return Remaining(replace(rows, mapping=mapping), frame, tuple(sorted(emptied)))


def _find_in_dicts(mapping: Nested, pairs: pl.DataFrame | None) -> Iterable[tuple[str, str]]:
    """Return the excluded pairs that a dict of dicts has."""
    if pairs is None:
        return [(query, query) for query, documents in mapping.items() if query in documents]
    return [(query, doc) for query, doc in pairs.iter_rows() if doc in mapping.get(query, ())]


def _leave_out_of_frame(rows: Rows, pairs: pl.DataFrame | None) -> Remaining:
    """Leave documents out of rows in memory, or that are fetched now."""
    frame = rows.frame
    is_excluded = find_excluded(frame, pairs)
    if not is_excluded.any():
        return Remaining(rows)
    remaining = frame.filter(~is_excluded)
    left_out = frame.filter(is_excluded)
    hashes = None
    if isinstance(rows, MemoryRows) and rows.hashes is not None:
        hashes = rows.hashes.filter(~is_excluded)
    emptied = left_out.select("query_id").unique().join(remaining, on="query_id", how="anti")["query_id"]
    memory = MemoryRows(remaining, hashes)
    memory.are_unique = rows.are_unique
    return Remaining(memory, left_out, tuple(emptied.sort().to_list()))


def _leave_out_in_engine(rows: LazyRows, pairs: pl.DataFrame | None) -> Remaining:
    """Leave documents out of rows that stay in their engine; fetch them if there are too many pairs to tell it."""
    if pairs is not None and len(pairs) > MOST_IN_ENGINE and not rows.in_polars:
        return _leave_out_of_frame(rows, pairs)
    remaining, excluded = split_in_engine(rows.lazy, pairs)
    left_out = collect_rows(excluded)
    if not len(left_out):
        return Remaining(rows)
    queries = collect_rows(remaining.select("query_id").unique())
    emptied = left_out.select("query_id").unique().join(queries, on="query_id", how="anti")["query_id"]
    lazy = LazyRows(remaining, rows.where)
    lazy.are_unique = rows.are_unique
    return Remaining(lazy, left_out, tuple(emptied.sort().to_list()))
