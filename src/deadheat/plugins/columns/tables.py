"""Tables with one score a column, in any format that can have several: CSV, TSV, JSON Lines, LETOR, Parquet, frames."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import cast

import narwhals as nw
import polars as pl

from deadheat.core.arrays import FloatArray
from deadheat.core.errors import ColumnError, DataError, SourceTypeError
from deadheat.core.io.columns import refuse_patterns, resolve_columns
from deadheat.core.io.content import Content
from deadheat.core.io.decimals import may_be_number
from deadheat.core.io.files import check_readable
from deadheat.core.io.formats import find_format
from deadheat.core.io.formats.base import SAMPLED_ROWS
from deadheat.core.io.formats.delimited import HeaderFile, read_columns
from deadheat.core.io.formats.json_rows import JsonNumber, list_keys
from deadheat.core.io.formats.jsonl import read_first_objects, read_jsonl
from deadheat.core.io.formats.parquet import scan_parquet
from deadheat.core.io.frames import convert_table, to_polars
from deadheat.core.io.kinds import KEYS
from deadheat.core.io.lazy import as_narwhals, collect
from deadheat.core.io.values import are_plain
from deadheat.plugins.columns.letor import read_features
from deadheat.plugins.columns.score_columns import ScoreColumns, chosen_names


def scan_columns(path: Path, names: Sequence[str] | None, given: Mapping[str, str]) -> ScoreColumns:
    """Read a file with one score a column.

    Parameters
    ----------
    path : pathlib.Path
    names : sequence of str or None
        The columns of scores; None: all columns of numbers but for ids, relevance and ranks.
    given : mapping of str to str
        Names of other columns that the user says, by canonical name.
    """
    path = check_readable(path)
    found = find_format(path, None)
    if found.name not in READERS:
        raise ColumnError(
            f"{found.name} has one score a document",
            allowed=f"a table with one score a column: {', '.join(READERS)}",
            path=path,
        )
    return READERS[found.name](path, names, given)


def score_columns(source: object, names: Sequence[str] | None, given: Mapping[str, str], where: str) -> ScoreColumns:
    """Read several scores of each document from a dataframe, eager or lazy.

    Parameters
    ----------
    source : dataframe
    names : sequence of str or None
        The columns of scores; None: all columns of numbers but for ids, relevance and ranks.
    given : mapping of str to str
        Names of other columns that the user says, by canonical name.
    where : str
        For messages.
    """
    frame = as_narwhals(source, where)
    if not isinstance(frame, nw.LazyFrame | nw.DataFrame):
        raise SourceTypeError(found=type(source).__name__, allowed="a path or a dataframe with one score a column")
    schema = frame.collect_schema()
    numeric = [name for name, dtype in schema.items() if dtype.is_numeric()]
    chosen, notes = chosen_names(names, numeric, schema.names(), given, where)
    ids = resolve_columns(schema.names(), "run", where=where, given={**given, "score": chosen[0]})
    refuse_patterns([*ids.values(), *chosen], where)
    wanted = frame.select(*dict.fromkeys([*(ids[key] for key in KEYS), *chosen]))
    rows = collect(wanted) if isinstance(wanted, nw.LazyFrame) else to_polars(wanted, where)
    _refuse_missing(rows, ids, chosen, where)
    found = read_each(lambda columns: convert_table(rows, "run", where, columns), chosen[:1], given, notes, where)
    for name in chosen[1:]:
        values = rows[name].cast(pl.Float64) if rows[name].dtype.is_numeric() else None
        if values is None or not are_plain(values):
            values = cast("pl.DataFrame", convert_table(rows, "run", where, {**given, "score": name}).rows)["score"]
        found.scores[name] = values.to_numpy() + 0.0
    return found


def _refuse_missing(rows: pl.DataFrame, ids: Mapping[str, str], names: Sequence[str], where: str) -> None:
    """Raise `DataError` for the first score that is missing."""
    for name in names:
        values = rows[name]
        is_missing = values.is_null() | (values.is_nan() if values.dtype.is_float() else False)
        if n := int(is_missing.sum()):
            query, doc = rows.filter(is_missing).select(ids[key] for key in KEYS).row(0)
            raise DataError(
                f"column {name!r} of document {doc!r} for query {query!r} is missing (null or NaN)"
                + (f"; this holds for {n:,} rows" if n > 1 else ""),
                hint="fill it, or name the columns without it",
                path=where,
            )


def read_each(
    read: Callable[[Mapping[str, str]], Content],
    names: Sequence[str],
    given: Mapping[str, str],
    notes: tuple[str, ...],
    where: str | Path,
) -> ScoreColumns:
    """Read a table as a run by each of some columns of scores.

    Parameters
    ----------
    read : callable
        Takes the names of columns that the user says, and returns a run.
    names, given, notes, where
        The columns of scores, names of others, and what is known of the table.
    """
    each = {name: read({**given, "score": name}).rows for name in names}
    frames = {name: rows for name, rows in each.items() if isinstance(rows, pl.DataFrame)}
    if len(frames) < len(each):
        raise ColumnError("a row holds a list of documents", allowed="one document a row", path=where)
    return ScoreColumns(
        frames[names[0]].select(KEYS), {name: own["score"].to_numpy() + 0.0 for name, own in frames.items()}, notes
    )


def _read_delimited(
    path: Path, names: Sequence[str] | None, given: Mapping[str, str], *, separator: str
) -> ScoreColumns:
    """Read the ids of a table and several columns of scores, in file order."""
    table = HeaderFile(path, "run", separator, [*given.values(), *(names or ())[:1]])
    chosen, notes = chosen_names(names, _numeric(table) if names is None else (), table.header, given, path)
    table.choose_columns({**given, "score": chosen[0]})
    # under names of their own, as a column of scores may have the name of one of ids
    frame = read_columns(table, {f"score {n}": table.header.index(name) for n, name in enumerate(chosen)})[0]
    scores: dict[str, FloatArray] = {name: frame[f"score {n}"].to_numpy() + 0.0 for n, name in enumerate(chosen)}
    return ScoreColumns(frame.select(KEYS), scores, notes)


def _numeric(table: HeaderFile) -> list[str]:
    """Return the columns whose first rows hold numbers, some of which may be missing."""
    rows = [row for _, row in islice(table.rows(), SAMPLED_ROWS)]
    columns = zip(*rows, strict=True) if rows else [()] * len(table.header)
    found = []
    for name, texts in zip(table.header, columns, strict=True):
        own = [may_be_number(text.strip(), has_semicolons=table.separator == ";") for text in texts if text.strip()]
        found += [name] if own and all(own) else []
    return found


def _read_jsonl(path: Path, names: Sequence[str] | None, given: Mapping[str, str]) -> ScoreColumns:
    """Read the ids of JSON lines and several scores of each object, in file order."""
    some = read_first_objects(path)
    known = list_keys(some)
    numeric = [name for name in known if {type(row.get(name)) for row in some} - {type(None)} == {JsonNumber}]
    chosen, notes = chosen_names(names, numeric, known, given, path)
    return read_each(lambda columns: read_jsonl(path, "run", columns), chosen, given, notes, path)


def _read_parquet(path: Path, names: Sequence[str] | None, given: Mapping[str, str]) -> ScoreColumns:
    """Read the ids of a Parquet file and several columns of scores, in file order."""
    return score_columns(scan_parquet(path), names, given, str(path))


READERS: dict[str, Callable[[Path, Sequence[str] | None, Mapping[str, str]], ScoreColumns]] = {
    "csv": partial(_read_delimited, separator=","),
    "tsv": partial(_read_delimited, separator="\t"),
    "jsonl": _read_jsonl,
    "letor": read_features,
    "parquet": _read_parquet,
}
