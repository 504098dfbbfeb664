"""Tables beside the judgments, such as subtopics: kept with them, saved with them, and looked at by some measures.

The judgments are rows of a query, a document and a relevance. If a source says more of documents, that is another
table: an attribute of `Qrels`, whose name is the key of the table. Modules of the kind "beside" register such tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from deadheat.core import hooks
from deadheat.core.arrays import IntArray, TextArray, concatenate_ranges
from deadheat.core.data.qrels import Qrels
from deadheat.core.libraries import polars as pl


@dataclass(frozen=True, eq=False)
class BesideRows:
    """Rows of queries and documents, with more columns of the same length in a subclass.

    Attributes
    ----------
    query : ndarray of int, shape (n_rows,)
        Index of the query, ascending.
    doc_ids : ndarray of str or polars.Series, shape (n_rows,)
    """

    query: IntArray
    doc_ids: TextArray | pl.Series

    def select(self, queries: IntArray) -> Self:
        """Return the rows of some queries, as :meth:`Placements.select` does."""
        rows, query = find_rows(self.query, queries)
        columns = {name: column[rows] for name, column in vars(self).items()}
        columns["query"] = query
        return replace(self, **columns)


class TableForm(NamedTuple):
    """How a table is written to a saved file.

    Attributes
    ----------
    name : str
        What messages call it.
    schema : function that returns a mapping of str to type of polars
        Its columns; a function, since most evaluations need no Polars.
    nullable : set of str, default ()
        Columns that may have null.
    """

    name: str
    schema: Callable[[], Mapping[str, type[pl.DataType]]]
    nullable: AbstractSet[str] = frozenset()


class PlacedTable(NamedTuple):
    """The rows of a table that placements have, for measures.

    Attributes
    ----------
    rows : type of BesideRows
        Made of the columns of `form`, ``query`` and ``doc_ids`` first.
    find : callable
        Takes the table, and the ids of the queries in their order, and returns such rows.
    form : TableForm
        How the rows are saved.
    numbered : tuple of str, default ()
        Columns of numbers from 0 on, each below the number of rows.
    """

    rows: type[BesideRows]
    find: Callable[[pl.DataFrame, Sequence[str]], BesideRows]
    form: TableForm
    numbered: tuple[str, ...] = ()


class BesideTable(NamedTuple):
    """A table beside the judgments.

    Attributes
    ----------
    key : str
        The attribute of `Qrels` that holds it, a frame with a query_id and a doc_id; its key in placements and in
        saved files.
    form : TableForm
        How the frame is saved.
    placed : PlacedTable or None, default None
        None: no measure looks at it. Otherwise documents of one relevance may differ in it.
    """

    key: str
    form: TableForm
    placed: PlacedTable | None = None


BESIDE: dict[str, BesideTable] = {}


def add_beside(table: BesideTable) -> None:
    """Add a table to those that qrels may have."""
    BESIDE[table.key] = table


def beside_table(key: str) -> BesideTable:
    """Return the table of a key.

    Examples
    --------
    >>> list(beside_table("subtopics").form.schema())
    ['query_id', 'doc_id', 'relevance', 'subtopic']
    """
    hooks.load("beside")
    return BESIDE[key]


def beside_tables() -> list[BesideTable]:
    """Return all tables, in the order of the registry."""
    return [beside_table(key) for key in hooks.list_tables_beside()]


def find_beside(qrels: Qrels, query_ids: Sequence[str]) -> dict[str, BesideRows]:
    """Return the rows that measures need of the tables beside the judgments, by the keys of the tables.

    Parameters
    ----------
    qrels : Qrels
    query_ids : sequence of str
        The queries of the placements, in their order.
    """
    rows = {}
    for key, frame in qrels.beside().items():
        placed = beside_table(key).placed
        if placed is not None:
            rows[key] = placed.find(frame, query_ids)
    return rows


def find_rows(query: IntArray, queries: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows of some queries, one after the other, and for each row the place of its query among these.

    Parameters
    ----------
    query : ndarray of int, shape (n_rows,)
        The query of each row, ascending.
    queries : ndarray of int
    """
    starts = np.searchsorted(query, queries, side="left")
    ends = np.searchsorted(query, queries, side="right")
    sizes = ends - starts
    return concatenate_ranges(starts, sizes), np.repeat(np.arange(len(queries)), sizes)


def join_codes(rows: pl.DataFrame, query_ids: Sequence[str]) -> pl.DataFrame:
    """Return the rows of some queries, with a column "code": the place of the query among these."""
    ids = pl.Series(query_ids, dtype=pl.String)
    codes = pl.DataFrame({"query_id": ids, "code": np.arange(len(ids))})
    return rows.join(codes, on="query_id")
