"""Tables with one score a column: files by their format, and dataframes of any engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import narwhals as nw
import polars as pl

from deadheat.errors import ColumnError, DataError, SourceTypeError
from deadheat.io.formats import FORMATS, format_of
from deadheat.io.formats.base import ScoreColumns, chosen_names, read_each
from deadheat.io.frames import as_narwhals, canonical, to_polars
from deadheat.io.kinds import KEYS, refuse_patterns, resolve_columns
from deadheat.io.reading import collect
from deadheat.io.source import readable
from deadheat.io.values import are_plain
from deadheat.wording import Plain


def of_file(path: Path, names: Sequence[str] | None, given: Mapping[str, str], form: str | None = None) -> ScoreColumns:
    """Read a file.

    Parameters
    ----------
    path : pathlib.Path
    names : sequence of str or None
        The columns of scores; None: all columns of numbers but for ids, relevance and ranks.
    given : mapping of str to str
        Names of other columns that the user says, by canonical name.
    form : str, optional
        The name of a `Format`.
    """
    path = readable(path)
    found = format_of(path, form)
    if found.read_columns is None:
        several = ", ".join(one.name for one in FORMATS.values() if one.read_columns is not None)
        raise ColumnError(
            f"{found.name} has one score a document", allowed=f"a table with one score a column: {several}", path=path
        )
    return found.read_columns(path, names, given)


def of_frame(source: object, names: Sequence[str] | None, given: Mapping[str, str], where: str) -> ScoreColumns:
    """Read a dataframe, eager or lazy, that Narwhals takes; parameters as of :func:`of_file`."""
    frame = as_narwhals(source, where)
    if not isinstance(frame, nw.LazyFrame | nw.DataFrame):
        raise SourceTypeError(
            given=Plain(type(source).__name__), allowed="a path or a dataframe with one score a column"
        )
    schema = frame.collect_schema()
    numeric = [name for name, dtype in schema.items() if dtype.is_numeric()]
    chosen, notes = chosen_names(names, numeric, schema.names(), given, where)
    ids = resolve_columns(schema.names(), "run", where=where, given={**given, "score": chosen[0]})
    refuse_patterns([*ids.values(), *chosen], where)
    wanted = frame.select(*dict.fromkeys([*(ids[key] for key in KEYS), *chosen]))
    rows = collect(wanted) if isinstance(wanted, nw.LazyFrame) else to_polars(wanted, where)
    _refuse_missing(rows, ids, chosen, where)
    found = read_each(lambda columns: canonical(rows, "run", where, columns), chosen[:1], given, notes, where)
    for name in chosen[1:]:
        values = rows[name].cast(pl.Float64) if rows[name].dtype.is_numeric() else None
        if values is None or not are_plain(values):
            values = canonical(rows, "run", where, {**given, "score": name}).rows["score"]
        found.scores[name] = values.to_numpy() + 0.0
    return found


def _refuse_missing(rows: pl.DataFrame, ids: Mapping[str, str], names: Sequence[str], where: str) -> None:
    """Raise `DataError` for the first score that is missing."""
    for name in names:
        values = rows[name]
        is_missing = values.is_null() | (values.is_nan() if values.dtype.is_float() else False)
        if n := int(is_missing.sum()):
            query, doc = rows.filter(is_missing).select(ids[key] for key in KEYS).row(0)
            what = f"column {name!r} of document {doc!r} for query {query!r} is missing (null or NaN)"
            count = f"; this holds for {n:,} rows" if n > 1 else ""
            raise DataError(what + count, hint="fill it, or name the columns without it", path=where)
