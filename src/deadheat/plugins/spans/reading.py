"""Passages of documents: rows of a query, a document, and where the passage starts and ends in it.

They may say which queries no document answers, in a column ``answerable``.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from deadheat.core.errors import ABSENT, ColumnError, DataError, MalformedRowError, ParameterError, SourceTypeError
from deadheat.core.io.formats import ending
from deadheat.core.io.forms import known_forms
from deadheat.core.io.guarding import guard_polars
from deadheat.core.io.ids import ids_to_text, is_id
from deadheat.core.io.kinds import ANSWERABLE, COLUMN_NAMES, KEYS, OFFSET_NAMES, VALUE_COLUMN, Kind
from deadheat.core.io.objects import parse_json, read_text
from deadheat.core.io.records import Records, Wanted, read_records
from deadheat.core.io.result_parts import describe_object, find_results, get_at_path, list_names
from deadheat.core.io.values import read_value, to_python_numbers
from deadheat.core.scalars import LARGEST_INTEGER
from deadheat.core.wording import did_you_mean

OFFSETS = ("start", "end")
TEXT = "text"
NAMES = {
    "query_id": COLUMN_NAMES["qrels"]["query_id"],
    # the id of a chunk of LangChain or LlamaIndex is not that of its document
    "doc_id": (*COLUMN_NAMES["run"]["doc_id"], "ref_doc_id", "source", "file_path"),
    **OFFSET_NAMES,
    TEXT: (TEXT, "quote", "page_content", "content", "answer"),
    ANSWERABLE: (ANSWERABLE,),
}
NODE = "node"  # `_with_query` puts an object into it, and LlamaIndex has it
PLAIN = frozenset((str, int, float, bool, list, type(None)))  # types of values in a list that are no passages
# The fields of a passage as a tuple; that of a span has its relevance last, or nothing
ROW = ("query_id", "doc_id", *OFFSETS, "score")
WANTED = Wanted(what="passages", number=str)


@dataclass(frozen=True, eq=False)
class PassageTable:
    """The passages of a source.

    Attributes
    ----------
    rows : polars.DataFrame
        query_id, doc_id and text (String), start and end (Int64), relevance or score (Float64), and answerable
        (Boolean); null where the source has none.
    empty_queries : tuple of str
        The queries that a dict of lists gives an empty list, sorted.
    """

    rows: pl.DataFrame
    empty_queries: tuple[str, ...] = ()


def read_passages(
    source: object, path: Path | None, kind: Kind, where: str, *, ascending: bool = False
) -> PassageTable:
    """Return a row for each passage; where a query has no scores, a passage scores minus its rank.

    Parameters
    ----------
    source : object
        Dicts, tuples ``(query_id, doc_id, start, end[, number])`` or results of a library; a frame; or
        ``{query_id: rows}``, best first.
    path : pathlib.Path or None
        If the source is a file.
    kind : {"qrels", "run"}
        Whether the number is the relevance of a passage, or its score.
    where : str
        For messages.
    ascending : bool
        Whether lower scores rank first, which ranked lists cannot do.

    Returns
    -------
    PassageTable

    Raises
    ------
    DataError
        A row lacks an id, or its offsets are no whole numbers from 0, or end before they start.
    """
    value = VALUE_COLUMN[kind]
    if path is not None and ending(path) == ".json":
        source, path = parse_json(read_text(path, "passages"), path, number=str), None
    if path is None and isinstance(source, Mapping):
        source = _lists_of(source, where)
    given = _frame_of(source, path, kind, where)
    empty_queries = _empty_queries_of(source, where)
    if given.is_empty() and not (kind == "run" and empty_queries):
        raise DataError("empty: it has no passages", path=where)
    _check_ids(given, kind, where)
    numbers = [as_numbers(given[name], kind, where) for name in (*OFFSETS, value)]
    rows = given.with_columns(*numbers, as_flags(given[ANSWERABLE], where))
    if kind == "run":
        if rows["end"].null_count():  # as LangChain, which says where a chunk starts
            rows = rows.with_columns(pl.col("end").fill_null(pl.col("start") + pl.col(TEXT).str.len_chars()))
        if path is None and isinstance(source, Mapping):
            rows = _score_by_rank(rows, value, ascending=ascending)
    _check_ends(rows, where)
    return PassageTable(rows, empty_queries)


def _check_ids(rows: pl.DataFrame, kind: Kind, where: str) -> None:
    """Raise `DataError` for a row without a query, or of a run without a document."""
    needed = ("query_id", "doc_id") if kind == "run" else ("query_id",)
    for column in needed:
        for row in rows[column].is_null().arg_true().head(1):
            raise DataError(f"row {row + 1} has no {column}", path=where)


def _score_by_rank(rows: pl.DataFrame, value: str, *, ascending: bool) -> pl.DataFrame:
    """Return rows in which passages of queries without scores have minus their rank; lower ones cannot rank first."""
    is_ranked = rows.select(pl.col(value).is_null().all().over("query_id"))[value]
    if ascending and is_ranked.any():
        raise ParameterError(argument="ascending", given=True, allowed="False, as there are ranks and no scores")
    minus_rank = -1.0 - pl.int_range(pl.len()).over("query_id")
    return rows.with_columns(pl.when(is_ranked).then(minus_rank).otherwise(value).alias(value))


def _check_ends(rows: pl.DataFrame, where: str) -> None:
    """Raise `DataError` for the first passage that ends before it starts."""
    is_back = pl.col("end") < pl.col("start")
    wrong = rows.with_row_index("row", 1).filter(is_back).select("row", "doc_id", *OFFSETS)
    for row, doc, start, end in wrong.head(1).rows():
        raise DataError(
            f"row {row}: the passage of {doc!r} ends at {end}, before its start",
            given=start,
            allowed="end from start on",
            path=where,
        )


def _lists_of(source: Mapping[Any, object], where: str) -> dict[Any, Sequence[Any]]:
    """Return the list of passages that a dict has for each query."""
    lists: dict[Any, Sequence[Any]] = {}
    for query, given in source.items():
        passages = find_results(given)
        if passages is None:
            raise SourceTypeError(
                found=f"{type(given).__name__} for query {query!r}", allowed="a list of passages", path=where
            )
        _refuse_ids(passages, query, where)
        lists[query] = passages
    return lists


def _refuse_ids(passages: Sequence[Any], query: object, where: str) -> None:
    """Raise `SourceTypeError` for a list of ids, or of other plain values, which do not say where passages are."""
    if PLAIN.isdisjoint(map(type, passages)):
        return
    first = next(passage for passage in passages if type(passage) in PLAIN)
    raise SourceTypeError(
        found=f"{describe_object(first)} in the list of query {query!r}",
        allowed="passages with doc_id, start and end",
        path=where,
    )


def _empty_queries_of(source: object, where: str) -> tuple[str, ...]:
    """Return the queries that a dict of lists gives an empty list, sorted."""
    if not isinstance(source, Mapping):
        return ()
    queries = ids_to_text(list(source), where)
    return tuple(sorted(query for query, passages in zip(queries, source.values(), strict=True) if not passages))


def as_numbers(column: pl.Series, kind: Kind, where: str) -> pl.Series:
    """Return a column of offsets or other numbers; raise for what is none, or beyond what float64 holds."""
    read, is_offset = column.cast(pl.Float64, strict=False), column.name in OFFSETS
    is_wrong = read.is_null() & column.is_not_null()
    if is_offset:
        read = read.fill_nan(None)  # as pandas marks what is not there
        is_wrong |= ((read < 0) | (read % 1 != 0) | (read >= LARGEST_INTEGER)).fill_null(value=False)
    elif kind == "qrels":
        is_wrong |= ~read.is_finite().fill_null(value=True)
    else:  # infinite scores are scores
        is_wrong |= read.is_nan().fill_null(value=False)
    _refuse(column, is_wrong, "a whole number from 0 and below 2**53" if is_offset else "a number", where)
    for row in (read.abs() >= LARGEST_INTEGER).arg_true():
        read_value(str(column[row]), kind, path=Path(where), line=None, name=f"row {row + 1}: {column.name}")
    return read.cast(pl.Int64) if is_offset else read


def as_flags(column: pl.Series, where: str) -> pl.Series:
    """Return a column of true and false, in a file as text; null stays."""
    read = column.cast(pl.String).str.to_lowercase().replace_strict({"true": True, "false": False}, default=None)
    _refuse(column, read.is_null() & column.is_not_null(), "true or false", where)
    return read.cast(pl.Boolean)


def _refuse(column: pl.Series, is_wrong: pl.Series, allowed: str, where: str) -> None:
    """Raise for the first wrong value of a column."""
    for row in is_wrong.arg_true().head(1):
        raise DataError(f"row {row + 1}: {column.name}", given=column[row], allowed=allowed, path=where)


@dataclass(frozen=True, eq=False)
class _FoundColumns:
    """The columns that a source has for the fields of passages.

    Attributes
    ----------
    by_field : dict of str to list of polars.Series
        Those that each field may come from, the best first; an empty list where there is none.
    names : list of str
        All that the source has, for messages.
    raw : dict of str to list
        Of dicts and results the values of each column, as they are there; empty for a frame.
    """

    by_field: dict[str, list[pl.Series]]
    names: list[str]
    raw: dict[str, list[Any]]


def _frame_of(source: object, path: Path | None, kind: Kind, where: str) -> pl.DataFrame:
    """Return the columns of a source under the names that they have here, each null if it is not there."""
    value = VALUE_COLUMN[kind]
    names = {**NAMES, value: COLUMN_NAMES[kind][value]}
    records = Records(_table_of(source, value, where)) if path is None else read_records(path, None, WANTED)
    table = records.table
    if isinstance(table, pl.DataFrame):
        found = _columns_of_frame(records, names, value, where)
    else:
        found = _columns_of_rows(table, names)
    known = {}
    for name, columns in found.by_field.items():
        if columns:
            known[name] = _chosen(columns, where, is_one=name not in {*KEYS, TEXT})
    if len(table):
        names_there = _names_in_lists(found.names) if isinstance(source, Mapping) else found.names
        _check_known(known, names_there or [type(table[0]).__name__], where)
    for name in KEYS:
        if name in known:
            _check_ids_of_column(known[name], found.raw, where)
    nulls = pl.Series([None] * len(table))
    frame = pl.DataFrame({name: known.get(name, nulls) for name in names})
    return frame.with_columns(pl.col(*KEYS, TEXT).cast(pl.String).replace("", None))


def _columns_of_frame(records: Records, names: Mapping[str, Sequence[str]], value: str, where: str) -> _FoundColumns:
    """Return the columns of a table that fields may come from."""
    table, _ = records.with_points({*names["start"], *names["end"], *names[value]}, where)
    table = table.with_columns(pl.col(pl.String).replace("", None))  # of CSV
    by_field = {}
    for field, usual_names in names.items():
        by_field[field] = [table[name] for name in usual_names if name in table.columns]
    return _FoundColumns(by_field, table.columns, raw={})


def _columns_of_rows(rows: Sequence[Any], names: Mapping[str, Sequence[str]]) -> _FoundColumns:
    """Return what dicts or results have at the paths that fields may come from, as columns."""
    there = _names_in(rows, {*_places(), *chain.from_iterable(names.values())})
    beginnings = _paths_inside()
    paths = {}
    for field, usual_names in names.items():
        paths[field] = [beginning + name for name in usual_names for beginning in beginnings]
    raw = _columns(rows, [path for path in chain.from_iterable(paths.values()) if path in there])
    by_field = {}
    for field, paths_of_field in paths.items():
        by_field[field] = [_series(path, raw[path]) for path in paths_of_field if path in raw]
    return _FoundColumns(by_field, there, raw)


def _check_ids_of_column(column: pl.Series, raw: Mapping[str, Sequence[Any]], where: str) -> None:
    """Raise an error if a column holds what can be no id."""
    if column.name in raw:
        ids_to_text([value for value in raw[column.name] if value is not None], where)
    elif column.dtype.is_float() or column.dtype.is_nested():
        raise ColumnError(f"column {column.name!r} holds {column.dtype}", allowed="text or whole numbers", path=where)


def _chosen(columns: Sequence[pl.Series], where: str, *, is_one: bool) -> pl.Series:
    """Return the first of several columns that holds something; raise if it `is_one` and another has what it lacks."""
    first, *others = [one for one in columns if one.null_count() < len(one)] or columns[:1]
    for other in others if is_one else ():
        _refuse(other, first.is_null() & other.is_not_null(), f"{first.name}, as in other rows", where)
    return first


def _series(name: str, values: list[Any]) -> pl.Series:
    """Return values as a column: of their type, or as text where they have several, as one might change others."""
    values = list(to_python_numbers(values))
    found = pl.Series(name, values, strict=False)
    is_whole = not found.null_count() or found.null_count() == values.count(None)  # no integer is too large
    if is_whole and len({*map(type, values)} - {type(None)}) < 2:
        return found
    return pl.Series(name, [None if one is None else str(one) for one in values])


def _places() -> list[str]:
    """Return where results of libraries have the fields of passages."""
    return [*known_forms().places_of_passages, NODE]


def _paths_inside() -> list[str]:
    """Return what the paths of fields begin with: nothing, a place, or a place in a node."""
    places = _places()
    return ["", *(f"{place}." for place in places), *(f"{NODE}.{place}." for place in places)]


def _names_in(rows: Sequence[Any], wanted: Collection[str]) -> list[str]:
    """Return the paths of what results have, sorted; attributes that are made when asked for only if `wanted`."""
    found: set[str] = set()
    for inside in _paths_inside():
        place = inside.removesuffix(".")
        if not place or place in found:
            held = _columns(rows, [place])[place] if place else rows
            examples = {type(one): one for one in held}
            named = held if {*examples} == {dict} else map(list_names, held)
            made = (name for name in wanted if any(hasattr(one, name) for one in examples.values()))
            found |= {f"{inside}{name}" for name in set().union(made, *named)}
    return sorted(found)


def _columns(rows: Sequence[Any], paths: Sequence[str]) -> dict[str, list[Any]]:
    """Return what each row has at each path, None where it has nothing."""
    is_plain = {*map(type, rows)} == {dict}  # several times as fast
    return {
        path: [row.get(path) for row in rows] if is_plain and "." not in path else [_at(row, path) for row in rows]
        for path in paths
    }


def _check_known(known: Collection[str], names: Sequence[str], where: str) -> None:
    """Raise if columns that are needed are not there: the query, and where a passage is."""
    for name, *others in (["query_id"], ["start", TEXT, ANSWERABLE]):
        if not any(one in known for one in (name, *others)):
            raise ColumnError(
                f"passages without {name!r}: found {', '.join(map(repr, names[:12]))}",
                hint=next((near for one in names if (near := did_you_mean(one, NAMES[name]))), ""),
                path=where,
            )


def _names_in_lists(paths: Sequence[str]) -> list[str]:
    """Return the paths in passages without the names that `_with_query` has put in front of them or beside them."""
    names: list[str] = []
    for path in paths:
        name = path.removeprefix(f"{NODE}.")
        if name not in {NODE, "query_id", *names}:
            names.append(name)
    return names


def _table_of(source: object, value: str, where: str) -> pl.DataFrame | list[Any]:
    """Return an object as a frame, or as a list of dicts or results."""
    if isinstance(source, Mapping):
        found: list[Any] = []
        for query, passages in source.items():
            found += (_with_query(row, query, value, where) for row in passages)
        return found
    import narwhals as nw  # dicts do not need it

    from deadheat.core.io.frames import to_polars
    from deadheat.core.io.lazy import as_narwhals, collect

    frame = as_narwhals(source, where)
    if isinstance(frame, nw.LazyFrame | nw.DataFrame):
        with guard_polars(where):
            return collect(frame) if isinstance(frame, nw.LazyFrame) else to_polars(frame, where)
    if not isinstance(source, Iterable) or isinstance(source, str | bytes):
        raise SourceTypeError(
            found=type(source).__name__,
            allowed="passages: a path, a dataframe, a list of dicts or of (query_id, doc_id, start, end), or"
            " {query_id: passages}",
        )
    rows = list(source)
    if rows and isinstance(rows[0], tuple) and not hasattr(rows[0], "_fields"):
        return [_by_field(row, (*ROW[:-1], value), f"row {n}", where) for n, row in enumerate(rows, 1)]
    return rows


def _by_field(row: Sequence[object], fields: Sequence[str], what: str, where: str) -> dict[str, object]:
    """Return a passage that is a tuple by the names of its fields, of which the last may be missing."""
    if not len(fields) - 1 <= len(row) <= len(fields):
        raise MalformedRowError(what, given=row, allowed=f"({', '.join(fields[:-1])}[, {fields[-1]}])", path=where)
    return dict(zip(fields, row, strict=False))


def _with_query(row: object, query: object, value: str, where: str) -> dict[str, Any]:
    """Return a passage of a query with it, and with the score or relevance that is beside it."""
    score, held = None, row
    if isinstance(row, tuple) and len(row) == 2 and not is_id(row[0]):  # a result and its score
        held, score = row
    elif isinstance(row, tuple):
        held = _by_field(row, (*ROW[1:-1], value), f"a passage of query {query!r}", where)
    beside = {} if score is None else {value: score}
    return {"query_id": query, **(held if isinstance(held, Mapping) else {NODE: held}), **beside}


def _at(row: Any, path: str) -> Any:  # noqa: ANN401 - whatever is there
    """Return what is at a path; None if nothing is."""
    found = get_at_path(row, path)
    return None if found is ABSENT else found
