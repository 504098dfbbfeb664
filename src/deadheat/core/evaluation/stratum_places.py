"""Which queries are in which stratum, by columns of the table of queries, as arrays: a stratum takes some bytes."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deadheat.core.arrays import BoolArray, IntArray, TextArray, concatenate_ranges
from deadheat.core.data.query_tables import find_texts
from deadheat.core.data.sources import Source
from deadheat.core.errors import DeadheatWarning, UnlabelledQueriesWarning
from deadheat.core.evaluation.strata_order import order_labels
from deadheat.core.evaluation.stratum import NONE, Stratum, names_of
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_count, format_list

TAG = "|"  # between the values of a query that has several


@dataclass(frozen=True, eq=False)
class StratumPlaces(Mapping[Stratum, IntArray]):
    """The places of the queries of each stratum: a mapping of str (of several columns: tuple) to ndarray of int.

    Strata are in their order, and the places of each ascend. A key is made when it is asked for.

    Attributes
    ----------
    labels : tuple of polars.Series
        Of each column, the labels in the order of strata.
    codes : ndarray of int, shape (n_strata, n_columns)
        The place of the label of each stratum among those of the column.
    places : ndarray of int, shape (n_places,)
        Those of the first stratum, then of the second, and so on.
    bounds : ndarray of int, shape (n_strata + 1,)
        Where the places of each stratum begin; the last one is where all end.
    """

    labels: tuple[pl.Series, ...]
    codes: IntArray
    places: IntArray
    bounds: IntArray

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[Stratum]:
        return iter(self.strata)

    def __getitem__(self, stratum: Stratum) -> IntArray:
        return self.places_at(self.number_of_stratum[stratum])

    @property
    def sizes(self) -> IntArray:
        """How many queries each stratum has, of shape (n_strata,)."""
        return np.diff(self.bounds)

    @cached_property
    def are_assigned(self) -> BoolArray:
        """Whether the queries of each stratum have a value in every column, of shape (n_strata,)."""
        assigned = np.ones(len(self), np.bool_)
        for labels, codes in zip(self.labels, self.codes.T, strict=True):
            assigned &= (labels != NONE).to_numpy()[codes]
        return assigned

    @cached_property
    def strata(self) -> list[Stratum]:
        """The keys of all strata."""
        return self.strata_at(np.arange(len(self)))

    @cached_property
    def number_of_stratum(self) -> dict[Stratum, int]:
        """The number of each stratum by its key."""
        return {stratum: number for number, stratum in enumerate(self.strata)}

    def count_queries(self, which: BoolArray) -> IntArray:
        """Return how many queries of each stratum are among some, which are a mask over all queries."""
        n_before = np.append(0, np.cumsum(which[self.places]))
        return np.diff(n_before[self.bounds])

    def labels_at(self, column: int, numbers: IntArray) -> pl.Series:
        """Return the label in one column of the strata with some numbers."""
        return self.labels[column].gather(self.codes[numbers, column])

    def strata_at(self, numbers: IntArray) -> list[Stratum]:
        """Return the keys of the strata with some numbers."""
        texts = [self.labels_at(column, numbers).to_list() for column in range(len(self.labels))]
        if len(texts) == 1:
            return texts[0]
        return list(zip(*texts, strict=True))

    def places_at(self, number: int) -> IntArray:
        """Return the places of the queries of the stratum with a number."""
        first, last = self.bounds[number : number + 2].tolist()
        return self.places[first:last]


def groups(
    query_ids: Iterable[str] | TextArray,
    columns: str | Sequence[str],
    queries: Source,
    *,
    pool_languages: bool = False,
    stacklevel: int = 2,
) -> StratumPlaces:
    """Return which queries are in which stratum, by their places.

    Parameters
    ----------
    query_ids : iterable of str, shape (n_queries,)
    columns : str or sequence of str
        Columns of the queries table; with several, every combination that occurs is a stratum. A query with several
        values, ``a|b``, is in the stratum of each.
    queries : path, frame or Queries
    pool_languages : bool, default False
        Whether queries of different languages may fall into one stratum; without it that gives a warning.
    stacklevel : int, default 2
        Of warnings, as for :func:`warnings.warn`: 2 is the caller.

    Returns
    -------
    StratumPlaces
        In the order of :class:`Strata`; the strata "(none)", of queries without a value, come last.
    """
    from deadheat.core.data.queries import Queries  # few evaluations have a table of queries

    ids = query_ids if isinstance(query_ids, np.ndarray) else np.array(list(query_ids), dtype=object)
    names = names_of(columns)
    table = Queries.of(queries, names)
    table.check_columns(names)
    rows = table.find_rows(ids)
    if not (rows >= 0).any():
        table.check_common(ids)
    languages = () if pool_languages else table.languages(ids)
    if len(languages) > 1 and table.language_column not in names:
        warnings.warn(
            f"strata by {', '.join(names)} average over queries in {len(languages)} languages"
            f" ({', '.join(languages)}): pass columns={[table.language_column, *names]!r} to keep them apart,"
            " or pool_languages=True if that is intended",
            DeadheatWarning,
            stacklevel=stacklevel,
        )
    cells = []
    values = []
    for name in names:
        codes, labels = table.coded_column(name, rows)
        cells.append(codes)
        values.append(_values_of_cells(labels))
    lacking = np.flatnonzero(np.any([codes < 0 for codes in cells], axis=0))
    if len(lacking):
        warnings.warn(
            f"{len(lacking)} of {format_count(len(ids), 'query', 'queries')}"
            f" ({format_list(ids[lacking[:4]].tolist(), n=len(lacking))}) have no {' or no '.join(names)} in"
            f" {table.where}: they form the stratum {NONE!r}",
            UnlabelledQueriesWarning,
            stacklevel=stacklevel,
        )
    return _place_in_strata(cells, values)


@dataclass(frozen=True, eq=False)
class CellValues:
    """The values of the different cells of a column: mostly one each.

    Attributes
    ----------
    labels : polars.Series of str
        The different values in the order of strata.
    codes : ndarray of int, shape (n_values,)
        The places of the values of each cell among the labels, those of the first cell first.
    starts, sizes : ndarray of int, shape (n_cells + 1,)
        Where the values of each cell begin, and how many there are. The last cell is the empty one.
    """

    labels: pl.Series
    codes: IntArray
    starts: IntArray
    sizes: IntArray


def _values_of_cells(cells: pl.Series) -> CellValues:
    """Return the values of different cells, none of which is empty; and, last, those of an empty one."""
    with_empty = pl.concat([cells.alias("label"), pl.Series("label", [NONE])])
    values = with_empty.to_frame().with_row_index("cell")
    has_several = with_empty.str.contains(TAG, literal=True) | with_empty.str.starts_with("[")
    if has_several.any():
        tags = [list(tags_of(cell)) for cell in with_empty.filter(has_several).to_list()]
        several = values.filter(has_several).with_columns(label=pl.Series(tags, dtype=pl.List(pl.String)))
        values = pl.concat([values.filter(~has_several), several.explode("label")]).sort("cell")
    sizes = np.bincount(values["cell"].to_numpy(), minlength=len(with_empty))
    distinct = values["label"].unique(maintain_order=True)
    order = order_labels(distinct)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    if len(distinct) == len(values):
        codes = ranks
    else:
        codes = ranks[find_texts(values["label"], distinct)]
    return CellValues(distinct.gather(order), codes, np.cumsum(sizes) - sizes, sizes)


def _place_in_strata(cells: Sequence[IntArray], values: Sequence[CellValues]) -> StratumPlaces:
    """Return the places of the queries of each stratum.

    Parameters
    ----------
    cells : sequence of ndarray of int, shape (n_queries,)
        Of each column: which cell each query has, -1 for the empty one.
    values : sequence of CellValues
        Of each column.
    """
    places: IntArray = np.arange(len(cells[0]))  # of a query, once for each of its strata
    stratum: IntArray = np.zeros(len(places), np.int64)  # the number of the stratum
    codes: IntArray = np.zeros((1, 0), np.int64)  # the labels of each stratum
    for cells_of_column, values_of_column in zip(cells, values, strict=True):
        cell = cells_of_column[places]
        sizes = values_of_column.sizes[cell]
        value = values_of_column.codes[concatenate_ranges(values_of_column.starts[cell], sizes)]
        n_labels = len(values_of_column.labels)
        combinations, stratum = _number_codes(np.repeat(stratum, sizes) * n_labels + value, len(codes) * n_labels)
        places = np.repeat(places, sizes)
        codes = np.column_stack([codes[combinations // n_labels], combinations % n_labels])
    bounds = np.append(0, np.cumsum(np.bincount(stratum, minlength=len(codes))))
    small_type = np.min_scalar_type(len(codes))  # of two bytes NumPy sorts in linear time
    in_strata = np.argsort(stratum.astype(small_type), kind="stable")
    return StratumPlaces(tuple(column.labels for column in values), codes, places[in_strata], bounds)


def _number_codes(codes: IntArray, n_possible: int) -> tuple[IntArray, IntArray]:
    """Return the codes that occur, ascending, and for each code its place among these."""
    if n_possible > 4 * len(codes):
        return np.unique(codes, return_inverse=True)
    occurs = np.zeros(n_possible, np.bool_)
    occurs[codes] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]


def tags_of(value: str | None) -> tuple[str, ...]:
    """Return the values of a cell, each once; several are written with bars between them, or as a list of JSON.

    Examples
    --------
    >>> tags_of("phone | new"), tags_of('["phone", "new"]'), tags_of(None)
    (('phone', 'new'), ('phone', 'new'), ('(none)',))
    >>> tags_of('[null, "new"]')
    ('new',)
    """
    parts: list[object] = list((value or "").split(TAG))
    if value is not None and value.startswith("["):
        with suppress(ValueError):
            parts = json.loads(value)
    return tuple(dict.fromkeys(filter(None, (str(one).strip() for one in parts if one is not None)))) or (NONE,)
