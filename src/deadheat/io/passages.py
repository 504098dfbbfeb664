"""Passages of documents: rows of a query, a document, and where the passage starts and ends in it.

They may say which queries no document answers, in a column ``answerable``.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from deadheat.errors import (
    ABSENT,
    ColumnError,
    DataError,
    MalformedRowError,
    ParameterError,
    SourceTypeError,
    did_you_mean,
)
from deadheat.io.formats import ending
from deadheat.io.guarding import guarded
from deadheat.io.kinds import ANSWERABLE, COLUMN_NAMES, KEYS, VALUE_COLUMN, Kind
from deadheat.io.objects import parsed, read_text
from deadheat.io.records import Wanted, as_written, read_records
from deadheat.io.results import results_in, value_at
from deadheat.io.values import is_id, text_of_ids

OFFSETS = ("start", "end")
TEXT = "text"
NAMES = {
    "query_id": COLUMN_NAMES["qrels"]["query_id"],
    # the id of a chunk of LangChain or LlamaIndex is not that of its document
    "doc_id": (*COLUMN_NAMES["run"]["doc_id"], "ref_doc_id", "source", "file_path"),
    "start": ("start", "start_index", "start_char_idx", "start_char", "char_start", "start_offset", "begin"),
    "end": ("end", "end_index", "end_char_idx", "end_char", "char_end", "end_offset", "stop"),
    TEXT: (TEXT, "quote", "page_content", "content", "answer"),
    ANSWERABLE: (ANSWERABLE,),
}
# Where results of LangChain, Haystack and LlamaIndex have them; `_with_query` puts an object into `node`
INSIDE = ("", *(f"{where}." for where in ("metadata", "meta", "node", "node.metadata", "node.meta", "node.node")))
LOOKED = 100  # rows, for where their fields are
# The fields of a passage as a tuple; that of a span has its relevance last, or nothing
ROW = ("query_id", "doc_id", *OFFSETS, "score")


def read_passages(
    source: object, path: Path | None, kind: Kind, where: str, *, ascending: bool = False
) -> pl.DataFrame:
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
    polars.DataFrame
        query_id, doc_id and text (String), start and end (Int64), relevance or score (Float64), and answerable
        (Boolean); null where the source has none.

    Raises
    ------
    DataError
        A row lacks an id, or its offsets are no whole numbers from 0, or end before they start.
    """
    value = VALUE_COLUMN[kind]
    if path is not None and ending(path) == ".json":
        source, path = parsed(read_text(path, "passages"), path), None
    given = _frame_of(source, path, kind, where)
    if given.is_empty():
        raise DataError("empty: it has no passages", path=where)
    for column in ("query_id", *(("doc_id",) if kind == "run" else ())):
        if given[column].null_count():
            raise DataError(f"row {_first(given[column].is_null())} has no {column}", path=where)
    numbers = [as_numbers(given[name], where, is_offset=name != value) for name in (*OFFSETS, value)]
    found = given.with_columns(*numbers, as_flags(given[ANSWERABLE], where))
    if found["end"].null_count() and kind == "run":  # as LangChain, which says where a chunk starts
        found = found.with_columns(pl.col("end").fill_null(pl.col("start") + pl.col(TEXT).str.len_chars()))
    if kind == "run" and path is None and isinstance(source, Mapping):
        is_ranked = found.select(pl.col(value).is_null().all().over("query_id"))[value]
        if ascending and is_ranked.any():
            raise ParameterError(argument="ascending", given=True, allowed="False, as there are ranks and no scores")
        minus_rank = -1.0 - pl.int_range(pl.len()).over("query_id")
        found = found.with_columns(pl.when(is_ranked).then(minus_rank).otherwise(value).alias(value))
    is_back = (found["end"] < found["start"]).fill_null(value=False)
    if is_back.any():
        row = found.row(_first(is_back) - 1, named=True)
        raise DataError(
            f"row {_first(is_back)}: the passage of {row['doc_id']!r} ends at {row['end']}, before its start",
            given=row["start"],
            allowed="end from start on",
            path=where,
        )
    return found


def _first(which: pl.Series) -> int:
    """Return the number of the first row of some, from 1."""
    return int(which.arg_true()[0]) + 1


def as_numbers(column: pl.Series, where: str, *, is_offset: bool) -> pl.Series:
    """Return a column of offsets or other numbers; raise for what is none."""
    read = column.cast(pl.Float64, strict=False)
    is_wrong = read.is_null() & column.is_not_null()
    if is_offset:
        read = read.fill_nan(None)  # as pandas marks what is not there
        is_wrong |= ((read < 0) | (read % 1 != 0)).fill_null(value=False)
    elif column.name == "relevance":
        is_wrong |= ~read.is_finite().fill_null(value=True)
    else:  # infinite scores are scores
        is_wrong |= read.is_nan().fill_null(value=False)
    _refuse(column, is_wrong, "a whole number from 0" if is_offset else "a number", where)
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


def _frame_of(source: object, path: Path | None, kind: Kind, where: str) -> pl.DataFrame:
    """Return the columns of a source under the names that they have here, each null if it is not there."""
    value, wanted = VALUE_COLUMN[kind], Wanted(what="passages", number=as_written)
    names = {**NAMES, value: COLUMN_NAMES[kind][value]}
    table = _table_of(source, value, where) if path is None else read_records(path, None, wanted).table
    if isinstance(table, pl.DataFrame):
        table = table.with_columns(pl.col(pl.String).replace("", None))  # of CSV
        known = {name: next((one for one in own if one in table.columns), None) for name, own in names.items()}
        _check_known(known, table.columns, where)
        found = table.select(
            pl.col(own).alias(name) if own else pl.lit(None).alias(name) for name, own in known.items()
        )
        for name in KEYS:
            if found.schema[name].is_float() or found.schema[name].is_nested():
                raise ColumnError(
                    f"column {known[name]!r} holds {found.schema[name]}", allowed="text or whole numbers", path=where
                )
    else:
        known = {name: _path(table, own) for name, own in names.items()}
        if table:
            _check_known(known, list(table[0]) if isinstance(table[0], Mapping) else [type(table[0]).__name__], where)
        held = {name: _column(table, own) for name, own in known.items()}
        for name in KEYS:
            texts = iter(text_of_ids([one for one in held[name] if one is not None], where))
            held[name] = [None if one is None else next(texts) for one in held[name]]
        found = pl.DataFrame([pl.Series(name, own, strict=False) for name, own in held.items()])
    return found.with_columns(pl.col(*KEYS, TEXT).cast(pl.String))


def _column(rows: Sequence[Any], path: str | None) -> list[Any]:
    """Return what each row has at a path, None where it has nothing."""
    if path is None or "." in path or not all(type(row) is dict for row in rows):
        return [_at(row, path) for row in rows]
    return [row.get(path) for row in rows]  # several times as fast


def _check_known(known: Mapping[str, str | None], names: Sequence[str], where: str) -> None:
    """Raise if columns that are needed are not there: the query, and where a passage is."""
    for name, *others in (["query_id"], ["start", TEXT, ANSWERABLE]):
        if known[name] is None and not any(known[other] for other in others):
            held = ", ".join(map(repr, names[:12]))
            raise ColumnError(
                f"passages without {name!r}: found {held}",
                hint=next((near for one in names if (near := did_you_mean(one, NAMES[name]))), ""),
                path=where,
            )


def _table_of(source: object, value: str, where: str) -> pl.DataFrame | list[Any]:
    """Return an object as a frame, or as a list of dicts or results."""
    if isinstance(source, Mapping):
        found: list[Any] = []
        for query, given in source.items():
            rows = results_in(given)
            if rows is None:
                raise SourceTypeError(
                    found=f"{type(given).__name__} for query {query!r}", allowed="a list of passages", path=where
                )
            found += (_with_query(row, query, value, where) for row in rows)
            if not rows and value == "relevance":
                found.append({"query_id": query, ANSWERABLE: False})
        return found
    import narwhals as nw  # dicts do not need it

    from deadheat.io.lazy import as_narwhals, collect

    frame = as_narwhals(source, where)
    if isinstance(frame, nw.LazyFrame | nw.DataFrame):
        with guarded(where):
            return collect(frame.lazy())
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
    """Return a passage of a query with it, and with its score or relevance if it has one."""
    score, held = None, row
    if isinstance(row, tuple) and len(row) == 2 and not is_id(row[0]):  # a result and its score
        held, score = row
    elif isinstance(row, tuple):
        held = _by_field(row, (*ROW[1:-1], value), f"a passage of query {query!r}", where)
    if score is None and value == "score":
        score = _at(held, _path([held], COLUMN_NAMES["run"]["score"]))
    beside = {} if score is None else {value: score}
    return {"query_id": query, **(held if isinstance(held, Mapping) else {"node": held}), **beside}


def _path(rows: Sequence[Any], names: Sequence[str]) -> str | None:
    """Return where the first results have something of one of these names; None if none has."""
    paths = [inside + name for name in names for inside in INSIDE]
    return next((path for row in rows[:LOOKED] for path in paths if _at(row, path) is not None), None)


def _at(row: Any, path: str | None) -> Any:  # noqa: ANN401 - whatever is there
    """Return what is at a path; None if nothing is."""
    found = ABSENT if path is None else value_at(row, path)
    return None if found is ABSENT else found
