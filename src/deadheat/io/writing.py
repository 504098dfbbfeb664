"""Writing files: into a temporary one beside the target, which takes its name when it is complete."""

from __future__ import annotations

import io
import json
import os
import re
import secrets
import shutil
import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

import polars as pl

from deadheat.errors import DataError, DuplicateError, NullIdError, ParameterError
from deadheat.io.formats import chosen_format
from deadheat.io.kinds import VALUE_COLUMN
from deadheat.io.mappings import LARGEST_INTEGER
from deadheat.io.naming import LONGEST, cut
from deadheat.io.values import CONTROL, holds_only_numbers, value_error
from deadheat.wording import Plain, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deadheat.io.formats import Format
    from deadheat.io.kinds import Kind

# What splits a TREC line; NUL, which marks a binary file; a byte order mark, which reading takes off.
_BREAKS_TREC = r"[ \t\n\v\f\r\x00]|^\x{FEFF}"
_SLICE = 1 << 18  # rows that are written together
_Compression = Literal["uncompressed", "gzip", "zstd"]
_COMPRESSIONS: dict[str, _Compression] = {".gz": "gzip", ".zst": "zstd"}


def write(
    frame: pl.DataFrame,
    target: str | os.PathLike[str] | IO[bytes],
    kind: Kind,
    *,
    format: str | None = None,  # noqa: A002 - the word users expect
    tag: str = "deadheat",
) -> None:
    """Write qrels or a run to a file.

    Rows keep their order. Numbers are written so that reading gives the same float64; a relevance without a fraction
    is written as an integer.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns query_id, doc_id, and relevance or score.
    target : path-like or binary file
        ``.gz`` and ``.zst`` compress. For a path, see `replacing`.
    kind : {"qrels", "run"}
    format : {"trec", "csv", "tsv", "jsonl", "json", "parquet"}, optional
        Default: what the name says, and TREC if it says nothing.
    tag : str, default="deadheat"
        Last field of a TREC run. Its rank field counts by score, highest first, and by row where scores tie.

    Raises
    ------
    NullIdError
        If an id is null or empty.
    ScoreError, RelevanceError, DuplicateError
        If reading the file back would refuse it.
    DataError
        If an id holds a blank, which TREC cannot say, or a control character, which only Parquet can; or the folder
        does not exist.
    ParameterError
        If the format is unknown, or the tag is empty or holds a blank.
    """
    path = Path(target) if isinstance(target, str | os.PathLike) else Path()
    chosen = chosen_format(path, format)
    if not tag or any(char.isspace() for char in tag):
        raise ParameterError(argument="tag", given=tag, allowed="one word without blanks")
    if chosen == "parquet" and path.suffix.lower() in _COMPRESSIONS:
        hint = f"name the file {path.with_suffix('').name!r}, without {path.suffix}"
        raise ParameterError("Parquet is compressed inside", hint=hint)
    rows = frame.select("query_id", "doc_id", pl.col(VALUE_COLUMN[kind]).cast(pl.Float64))
    _check(rows, kind, path, chosen)
    file_of = replacing(target) if isinstance(target, str | os.PathLike) else nullcontext(target)
    with file_of as file, _errors_of_the_system():
        _write_rows(rows, file, kind, chosen, tag, _COMPRESSIONS.get(path.suffix.lower(), "uncompressed"))


@contextmanager
def _errors_of_the_system() -> Iterator[None]:
    """Raise as `OSError` with its number what Polars, which may write by itself, only describes."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        found = re.search(r"\(os error (\d+)\)$", str(error))
        if found is None:
            raise
        raise OSError(int(found[1]), os.strerror(int(found[1]))) from error


def _write_rows(  # noqa: PLR0917 - what a file is made of
    rows: pl.DataFrame, file: IO[bytes], kind: Kind, chosen: Format, tag: str, compression: _Compression
) -> None:
    if chosen == "parquet":
        rows.write_parquet(file)
    elif chosen in {"csv", "tsv"}:
        separator = "," if chosen == "csv" else "\t"
        _write_csv(rows.with_columns(_value_as_text(kind)), file, compression, separator=separator)
    else:
        # A table of one column, never quoted: whole lines, which Polars compresses.
        lines = _lines(rows, kind, chosen, tag)
        _write_csv(lines, file, compression, include_header=False, quote_style="never")


def _write_csv(
    table: pl.DataFrame,
    file: IO[bytes],
    compression: _Compression,
    *,
    separator: str = ",",
    include_header: bool = True,
    quote_style: Literal["necessary", "never"] = "necessary",
) -> None:
    """Write a table, plain ones by `file` itself: Polars before 2.0 does not tell that it lost the last bytes."""
    if compression != "uncompressed":
        table.write_csv(
            file,
            separator=separator,
            include_header=include_header,
            quote_style=quote_style,
            compression=compression,
        )
        return
    for start in range(0, max(table.height, 1), _SLICE):
        held, has_header = io.BytesIO(), include_header and not start
        table[start : start + _SLICE].write_csv(
            held, separator=separator, include_header=has_header, quote_style=quote_style
        )
        file.write(held.getbuffer())


def _lines(rows: pl.DataFrame, kind: Kind, chosen: Format, tag: str) -> pl.DataFrame:
    """Return the lines of the file as a table of one column."""
    if chosen == "json":
        return _nested_lines(rows, kind)
    if chosen == "jsonl":
        return _json_lines(rows, kind)
    return _trec_lines(rows, kind, tag)


def _trec_lines(rows: pl.DataFrame, kind: Kind, tag: str) -> pl.DataFrame:
    if kind == "qrels":
        return rows.select(pl.format("{} 0 {} {}", "query_id", "doc_id", _value_as_text(kind)))
    rank = pl.col("score").rank("ordinal", descending=True).over("query_id")
    return rows.select(pl.format("{} Q0 {} {} {} {}", "query_id", "doc_id", rank, _value_as_text(kind), pl.lit(tag)))


def _json_lines(rows: pl.DataFrame, kind: Kind) -> pl.DataFrame:
    ids = pl.struct("query_id", "doc_id").struct.json_encode().str.strip_suffix("}")
    number = _value_as_text(kind).str.replace("inf", "Infinity", literal=True)  # as Python's json writes and reads it
    return rows.select(pl.concat_str(ids, pl.lit(f',"{VALUE_COLUMN[kind]}":'), number, pl.lit("}")))


def _nested_lines(rows: pl.DataFrame, kind: Kind) -> pl.DataFrame:
    nested: dict[str, dict[str, float]] = {}
    for query_id, doc_id, value in rows.iter_rows():
        is_level = kind == "qrels" and value.is_integer() and abs(value) <= LARGEST_INTEGER
        nested.setdefault(query_id, {})[doc_id] = int(value) if is_level else value
    last = len(nested) - 1
    lines = [
        f"{'{' if n == 0 else ''}{json.dumps(query_id)}: {json.dumps(documents)}{'}' if n == last else ','}"
        for n, (query_id, documents) in enumerate(nested.items())
    ]
    return pl.DataFrame({"line": lines or ["{}"]})


def _value_as_text(kind: Kind) -> pl.Expr:
    """Write a relevance without a fraction as an integer; everything else as the shortest text of its float64."""
    value = pl.col(VALUE_COLUMN[kind])
    text = value.cast(pl.String)
    if kind == "run":
        return text
    is_level = (value == value.round()) & (value.abs() <= LARGEST_INTEGER)
    levels = value.cast(pl.Int64, strict=False).cast(pl.String)
    return pl.when(is_level).then(levels).otherwise(text).alias(VALUE_COLUMN[kind])


def _check(rows: pl.DataFrame, kind: Kind, path: Path, chosen: Format) -> None:
    """Raise what reading the file back would raise, before anything is written."""
    value = rows[VALUE_COLUMN[kind]]
    if not holds_only_numbers(value) or (kind == "qrels" and value.is_infinite().any()):
        wrong = value.filter(value.is_null() | ~value.is_finite())[0]
        raise value_error(kind, f"{value.name} must be a number", path, given=Plain(wrong))
    if rows.select("query_id", "doc_id").is_duplicated().any():
        pair = rows.filter(rows.select("query_id", "doc_id").is_duplicated()).row(0)[:2]
        raise DuplicateError(f"(query, document) pair {pair} stands more than once", allowed="once", path=path)
    for ids in rows.select("query_id", "doc_id"):
        if ids.null_count() or (ids == "").any():
            raise NullIdError(f"column {ids.name!r} holds a null or empty id", allowed="text", path=path)
        unwritable = ids.filter(ids.str.contains(_BREAKS_TREC))
        if chosen == "trec" and len(unwritable):
            raise DataError(
                f"TREC separates fields by blanks, so {ids.name} cannot be {shown(unwritable[0])}",
                hint="write .csv",
                path=path,
            )
        unreadable = ids.filter(ids.str.contains(CONTROL))
        if chosen != "parquet" and len(unreadable):
            message = f"{ids.name} {shown(unreadable[0])} holds a control character, which no file of text may have"
            raise DataError(f"{message}; write .parquet", path=path)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that becomes `path` when it is complete, or vanishes on any failure.

    Until then it is ``.NAME.deadheat-*.tmp`` in the same folder. One that is left there is of a process that was
    killed: nothing reads it, and it may be deleted.

    A symbolic link stays, and what it points to is replaced; the mode of an existing file stays too. What is there
    and is no regular file (a pipe, a device) stays what it is: it gets the bytes when they are complete.

    Raises
    ------
    DataError
        If the folder does not exist, or the file is read-only.
    """
    path = Path(path)
    if _is_stream(path):
        with tempfile.TemporaryFile() as held:
            yield held
            held.seek(0)
            with path.open("ab") as stream:  # appended: the standard output may be a file that others write to
                shutil.copyfileobj(held, stream)
        return
    target = Path(os.path.realpath(path))
    if target.exists() and not target.stat().st_mode & 0o222:
        raise DataError("is read-only, and is not replaced: choose another name, or make it writable", path=path)
    if not target.parent.is_dir():
        raise DataError(f"no such folder: {str(target.parent if path.is_symlink() else path.parent)!r}", path=path)
    ending = f".deadheat-{secrets.token_hex(4)}.tmp"
    temporary = target.with_name(f".{cut(target.name, LONGEST - len(ending) - 1)}{ending}")
    try:
        with temporary.open("xb") as file:
            if target.exists():
                shutil.copymode(target, temporary)
            yield file
            file.flush()
            os.fsync(file.fileno())  # before the name: after a crash of the machine it is on a whole file
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _is_stream(path: Path) -> bool:
    """Return whether a path is something that must not be replaced by a file."""
    if path.exists() and not path.is_file():
        return True
    return str(path.absolute()).startswith(("/dev/fd/", "/dev/std", "/proc/"))  # redirected, these may be files
