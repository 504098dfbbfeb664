"""Judgments in a table that says which queries no document answers, in a column ``answerable``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import polars as pl

from deadheat.data.spans import ANSWERABLE, as_flags, as_numbers
from deadheat.errors import DataError
from deadheat.io.formats import has_column
from deadheat.io.kinds import resolve_columns
from deadheat.io.records import Wanted, read_records


def split_unanswerable(
    source: object, path: Path | None, columns: Mapping[str, str], where: str
) -> tuple[pl.DataFrame, tuple[str, ...]] | None:
    """Return the judgments of a table, and the queries without an answer, sorted; None of one without the column.

    Parameters
    ----------
    source : object
        What `Qrels` takes, or dicts; other sources than tables have no columns.
    path : pathlib.Path or None
        If it is a file.
    columns : mapping of str to str
        Names that the user says.
    where : str
        For messages.

    Raises
    ------
    DataError
        A query without an answer has a relevant document.

    Examples
    --------
    >>> rows = [{"query_id": "q1", "doc_id": "d", "answerable": True}, {"query_id": "q2", "answerable": False}]
    >>> frame, without = split_unanswerable(rows, None, {}, "qrels")
    >>> frame.rows(), without
    ([('q1', 'd')], ('q2',))
    """
    frame = _frame_of(source, path)
    if frame is None:
        return None
    names = resolve_columns([one for one in frame.columns if one != ANSWERABLE], "qrels", where=where, given=columns)
    has_none = ~as_flags(frame[ANSWERABLE], where).fill_null(value=True)
    ids = frame[names["query_id"]].cast(pl.String)
    doc, value = pl.col(names["doc_id"]), names.get("relevance")
    has_doc = doc.is_not_null() if frame.schema[names["doc_id"]] != pl.String else doc.fill_null("") != ""
    judged = frame.filter(has_doc | ~has_none).drop(ANSWERABLE)
    without = set(ids.filter(has_none).to_list())
    if value is not None:
        judged = judged.with_columns(as_numbers(judged[value], where, is_offset=False))
    is_relevant = pl.lit(1.0) if value is None else pl.col(value)
    wrong = judged.filter(pl.col(names["query_id"]).cast(pl.String).is_in([*without]) & (is_relevant > 0))
    if len(wrong):
        query, found = wrong.select(names["query_id"], names["doc_id"]).row(0)
        raise DataError(
            f"query {query!r} is not answerable, and document {found!r} is relevant for it",
            allowed="one of both",
            path=where,
        )
    return judged, tuple(sorted(without))


def _frame_of(source: object, path: Path | None) -> pl.DataFrame | None:
    """Return a table with the column as a frame; None of anything else."""
    if path is not None:
        return read_records(path, None, Wanted(what="judgments")).frame if has_column(path, ANSWERABLE) else None
    if isinstance(source, list):
        are_dicts = bool(source) and all(isinstance(row, Mapping) for row in source)
        has_any = are_dicts and any(ANSWERABLE in row for row in source)
        return pl.DataFrame(source, infer_schema_length=None) if has_any else None
    if isinstance(source, pl.LazyFrame):
        return source.collect() if ANSWERABLE in source.collect_schema().names() else None
    if type(source).__module__.startswith("pyspark.") or ANSWERABLE not in getattr(source, "columns", ()):
        return None
    import narwhals as nw  # dicts do not need it

    return nw.from_native(cast("Any", source), eager_only=True).to_polars()
