"""Which queries are in which stratum, by columns of the table of queries, and the order of strata."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from deadheat.core.arrays import IntArray, run_starts
from deadheat.core.checks import as_list
from deadheat.core.data.sources import Source
from deadheat.core.errors import ColumnError, DeadheatWarning, ParameterError, UnlabelledQueriesWarning
from deadheat.core.evaluation.intervals import KNOWN
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_count, format_list

if TYPE_CHECKING:
    from deadheat.core.data.queries import Queries

Stratum: TypeAlias = str | tuple[str, ...]  # the value of one column, or a tuple of the values of several

NONE = "(none)"  # the value of queries without one
TAG = "|"  # between the values of a query that has several
# Words with an order of their own, which is not alphabetical
LEVELS = (("very easy",), ("easy", "low"), ("medium", "moderate"), ("hard", "difficult", "high"), ("very hard",))
NUMBERS = ("mean", "low", "high", "standard_error", "tie_std", "tie_min", "tie_max")


def summary_schema() -> dict[str, type[pl.DataType]]:
    """Return the columns of a summary of strata."""
    return {
        "measure": pl.String,
        "n_queries": pl.Int64,
        **dict.fromkeys(NUMBERS, pl.Float64),
        "is_small": pl.Boolean,
        **dict.fromkeys(KNOWN, pl.String),
        "known": pl.Boolean,
    }


def averages_schema() -> dict[str, type[pl.DataType]]:
    """Return the columns of the averages over strata."""
    return {
        "measure": pl.String,
        **dict.fromkeys(("micro", "macro"), pl.Float64),
        "n_strata": pl.Int64,
        **dict.fromkeys(("variance", "std"), pl.Float64),
        **dict.fromkeys(("lowest", "highest"), pl.String),
    }


def groups(
    query_ids: Iterable[str],
    columns: str | Sequence[str],
    queries: Source,
    *,
    pool_languages: bool = False,
    stacklevel: int = 2,
) -> dict[Stratum, IntArray]:
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
    dict of str (of several columns: tuple) to ndarray of int
        Ascending. In the order of :class:`Strata`; the strata "(none)", of queries without a value, come last.
    """
    from deadheat.core.data.queries import Queries  # few evaluations have a table of queries

    ids = list(query_ids)
    names = names_of(columns)
    table = Queries.of(queries, names)
    coded = [table.coded_column(name, ids) for name in names]
    table.check_common(ids)
    languages = [] if pool_languages else table.languages(ids)
    if len(languages) > 1 and table.language_column not in names:
        warnings.warn(
            f"strata by {', '.join(names)} average over queries in {len(languages)} languages"
            f" ({', '.join(languages)}): pass columns={[table.language_column, *names]!r} to keep them apart,"
            " or pool_languages=True if that is intended",
            DeadheatWarning,
            stacklevel=stacklevel,
        )
    codes = np.column_stack([codes_of_column for codes_of_column, _ in coded])
    lacking = np.flatnonzero((codes < 0).any(axis=1)).tolist()
    if lacking:
        warnings.warn(
            f"{len(lacking)} of {format_count(len(ids), 'query', 'queries')}"
            f" ({format_list([ids[place] for place in lacking])}) have no {' or no '.join(names)} in {table.where}:"
            f" they form the stratum {NONE!r}",
            UnlabelledQueriesWarning,
            stacklevel=stacklevel,
        )
    found = _gather_places(codes, [labels for _, labels in coded])
    places: dict[Stratum, IntArray] = {}
    for stratum in sorted(found, key=order):
        places[stratum if len(names) > 1 else stratum[0]] = found[stratum]
    return places


def _gather_places(codes: IntArray, labels_by_column: list[list[str]]) -> dict[tuple[str, ...], IntArray]:
    """Return the places of the queries of each stratum, ascending.

    Parameters
    ----------
    codes : ndarray of int, shape (n_queries, n_columns)
        The place of a query's cell among the labels of a column; -1 where it is empty.
    labels_by_column : list of list of str
    """
    group: IntArray = np.zeros(len(codes), np.int64)  # a number for each combination of cells that occurs
    for codes_of_column, labels in zip(codes.T, labels_by_column, strict=True):
        _, group = np.unique(group * (len(labels) + 1) + codes_of_column + 1, return_inverse=True)
    in_groups = np.argsort(group, kind="stable")
    starts = run_starts(group[in_groups])
    places_by_stratum: dict[tuple[str, ...], list[IntArray]] = {}
    for places in np.split(in_groups, starts[1:]):
        if not len(places):
            continue
        tags = []
        for code, labels in zip(codes[places[0]].tolist(), labels_by_column, strict=True):
            tags.append(tags_of(None if code < 0 else labels[code]))
        for stratum in product(*tags):
            places_by_stratum.setdefault(stratum, []).append(places)
    found = {}
    for stratum, parts in places_by_stratum.items():
        found[stratum] = parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))
    return found


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


def groupings_of(by: Sequence[str], table: Queries) -> list[tuple[str, ...]]:
    """Return the columns of each set of strata: each by itself; ``a:b``, unless it is a column, for combinations."""
    names_of(by, "by")
    return [(one,) if one in table.columns else tuple(one.split(":")) for one in by]


def columns_of(queries: Queries, query_ids: Sequence[str], by: Sequence[str], *, pool_languages: bool) -> list[str]:
    """Return the requested stratum columns, after the language column if the queries are in several languages.

    Raises
    ------
    DataError
        The table has none of the queries, even if it is not needed for strata.
    """
    queries.check_common(query_ids)
    column = queries.language_column
    if column is None or column in by or pool_languages or len(queries.languages(query_ids)) < 2:
        return list(by)
    return [column, *by]


def names_of(columns: str | Sequence[str], argument: str = "columns") -> list[str]:
    """Return the names of stratum columns, each once; raise an error of the argument if there are none."""
    allowed = "a column of the queries table, or several different ones"
    names = [columns] if isinstance(columns, str) else as_list(argument, columns, allowed)
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ParameterError(argument=argument, given=columns, allowed=allowed)
    return names


def check_columns(names: Sequence[str], table: Queries) -> None:
    """Raise `ColumnError` if the table lacks a column, or the result has another column of that name."""
    table.check_columns(names)
    results = {*summary_schema(), *averages_schema()}
    if taken := results.intersection(names):  # it would appear twice in one of these frames
        raise ColumnError(
            f"the stratum column {min(taken)!r} has the same name as a column of the result",
            hint="give it another name",
            path=table.where,
        )


def keys_of(stratum: Stratum) -> tuple[str, ...]:
    """Return the values of a stratum as a tuple, even of a single column."""
    return (stratum,) if isinstance(stratum, str) else stratum


def label(stratum: Stratum) -> str:
    """Return a stratum as text.

    Examples
    --------
    >>> label("de"), label(("de", "hard"))
    ('de', 'de, hard')
    """
    return ", ".join(keys_of(stratum))


def is_assigned(stratum: Stratum) -> bool:
    """Return whether the queries of a stratum have a value in every column."""
    return NONE not in keys_of(stratum)


def strata_of(found: Any, columns: Sequence[str], queries: Source) -> Any:  # noqa: ANN401 - an Evaluation or a Comparison
    """Return its strata, without a warning of queries that have no value: for reports, which name them."""
    with warnings.catch_warnings(action="ignore", category=UnlabelledQueriesWarning):
        return found.by(columns, queries, pool_languages=True)


def order(stratum: Stratum) -> list[tuple[Any, ...]]:
    """Return the sort key of a stratum.

    Examples
    --------
    >>> sorted(["hard", "(none)", "Medium", "k10", "easy", "k9", "10", "9.5"], key=order)
    ['easy', 'Medium', 'hard', '9.5', '10', 'k9', 'k10', '(none)']
    """
    return [_order(key) for key in keys_of(stratum)]


def _order(value: str) -> tuple[Any, ...]:
    """Return the sort key of a column's value: levels come first, then numbers, other values, "(none)"."""
    word = " ".join(value.casefold().replace("_", " ").replace("-", " ").split())
    rank = next((place for place, words in enumerate(LEVELS) if word in words), None)
    if rank is not None:
        return 0, rank, value
    if re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?", value):
        return 1, float(value), value
    parts = re.split("([0-9]+)", value)
    # a longer number is larger; Python limits the digits of what int() converts
    parts[1::2] = [f"{len(digits):09}{digits}" for digits in (one.lstrip("0") for one in parts[1::2])]
    return 3 if value == NONE else 2, parts, value
