"""The formats of files with qrels or runs: importing this package reads those of the registry, in its order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from deadheat.core import hooks, third_party
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.io.columns import refuse_columns
from deadheat.core.io.content import Content
from deadheat.core.io.files import BOM, blocks, check_path, check_readable, read_plain_head
from deadheat.core.io.formats.base import FORMATS, Format, register
from deadheat.core.io.formats.delimited import is_trec
from deadheat.core.io.formats.trec import is_comment
from deadheat.core.io.ids import CONTROL
from deadheat.core.io.kinds import SUBTOPIC, TEXTS, TREC_FIELDS, VALUE_COLUMN, Kind
from deadheat.core.io.memory_limits import fits_in_memory
from deadheat.core.io.unpacking import HEAD
from deadheat.core.io.writing import Compression, replace_file
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import quote_text

hooks.load("readers")
# the order of the registry, whatever was imported first
for known in hooks.list_formats():
    FORMATS[known] = FORMATS.pop(known)

__all__ = [
    "COMPRESSED",
    "FORMATS",
    "SUFFIXES",
    "Format",
    "choose_format",
    "ending",
    "find_format",
    "has_column",
    "is_too_large",
    "load_third_party",
    "locate",
    "read_tag",
    "register",
    "scan",
    "write",
]

DEFAULT = "trec"
COMPRESSED: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}


def _list_suffixes() -> dict[str, str]:
    """Return the name of the format that each suffix stands for."""
    names = {}
    for file_format in FORMATS.values():
        names.update(dict.fromkeys(file_format.suffixes, file_format.name))
    return names


SUFFIXES = _list_suffixes()


def has_column(path: Path, name: str, format_name: str | None = None) -> bool:
    """Tell whether a file is a table with a column, beside those of qrels and runs.

    Its format, if that is known, and some of its bytes are looked at first: a closer look may parse all of it.

    Parameters
    ----------
    path : pathlib.Path
    name : str
    format_name : str, optional
        Its format.
    """
    if not path.is_file() or (format_name is not None and FORMATS[format_name].columns is None):
        return False
    names = _read_bytes_with_names(path)
    if names is None or name.encode() not in names:
        return False
    columns = find_format(path, None).columns
    return columns is not None and name in columns(path)


def _read_bytes_with_names(path: Path) -> bytes | None:
    """Return the part of a file that has the names of its columns, if it has names; None if it cannot be read."""
    head = read_plain_head(path)
    if head is None:
        with suppress(DataError):  # whoever reads the file gets the error
            head = next(blocks(path, HEAD))
    if head is not None and head.startswith(b"PAR1"):
        with suppress(OSError, ValueError):
            return _read_parquet_footer(path)
    return head


def _read_parquet_footer(path: Path) -> bytes:
    """Return the end of a Parquet file, which has the names of its columns: the last 8 bytes begin with its length."""
    with path.open("rb") as file:
        file.seek(-8, os.SEEK_END)
        n_bytes = int.from_bytes(file.read(4), "little")
        file.seek(-8 - n_bytes, os.SEEK_END)
        return file.read()


def ending(path: str | os.PathLike[str]) -> str:
    """Return the last suffix of a name in lower case, without that of a compressed file; empty if there is none."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def choose_format(path: str | os.PathLike[str], given: str | None = None) -> str:
    """Return the name of the format that was asked for, or else of the one that the file name says, by default TREC.

    Raises
    ------
    MissingPluginError, ParameterError
        The format is of a plugin that is not there, or nobody knows it.

    Examples
    --------
    >>> choose_format("bm25.jsonl.gz"), choose_format("bm25")
    ('jsonl', 'trec')
    """
    if given is None:
        suffix = ending(path)
        if suffix not in SUFFIXES:
            hooks.check_format(suffix)
            if suffix:
                load_third_party()
        return SUFFIXES.get(suffix, DEFAULT)
    if not _is_known_format(given):
        hooks.check_format(str(given))
        load_third_party()
    if not _is_known_format(given):
        raise ParameterError("unknown format", given=given, allowed=tuple(FORMATS))
    return given


def _is_known_format(given: object) -> bool:
    return isinstance(given, str) and given in FORMATS


def load_third_party() -> None:
    """Import the formats of files that plugins of others have, as for an unknown ending."""
    if third_party.load("readers"):
        SUFFIXES.update(_list_suffixes())


def registered_names() -> set[str]:
    """Return the names of all formats."""
    return {*FORMATS}


def forget_module(module: str) -> None:
    """Forget the formats of a module that could not be imported to its end."""
    for file_format in list(FORMATS.values()):
        if file_format.read.__module__ == module:
            del FORMATS[file_format.name]
            for suffix in file_format.suffixes:
                SUFFIXES.pop(suffix, None)


third_party.add_registry("readers", third_party.NamedRegistry("file format", registered_names, forget_module))


def find_format(path: str | os.PathLike[str], given: str | None) -> Format:
    """Return the format that was asked for, or else the one that the name says, or the first bytes where it says TREC.

    Many files of other formats have a name that ends in .txt.
    """
    file_format = FORMATS[choose_format(path, given)]
    if given is not None or file_format.name != DEFAULT or not Path(path).is_file():
        return file_format
    head = _read_first_bytes(Path(path))
    for candidate in FORMATS.values():
        if candidate.recognises is not None and candidate.recognises(head):
            return candidate
    return file_format


def _read_first_bytes(path: Path) -> bytes:
    """Return how a file begins, unpacked and without a byte order mark."""
    head = read_plain_head(path)
    if head is None:
        return next(blocks(path, HEAD))
    return head.removeprefix(BOM)


def is_too_large(path: Path, given: str | None) -> bool:
    """Tell whether a run is TREC, and too large to be held in memory."""
    if not os.path.isfile(path):  # noqa: PTH113 - never raises
        return False
    n_bytes = path.stat().st_size
    if fits_in_memory(n_bytes, is_packed=True):  # whatever it is: most files need no further look
        return False
    is_packed = read_plain_head(path) is None
    return not fits_in_memory(n_bytes, is_packed=is_packed) and find_format(path, given).name == DEFAULT


def scan(
    path: str | os.PathLike[str],
    kind: Kind,
    *,
    format: str | None = None,  # noqa: A002 - the word users expect
    columns: Mapping[str, str] | None = None,
) -> Content:
    """Read qrels or a run from a file.

    Parameters
    ----------
    path : path-like
        Gzip and Zstandard are recognised by their first bytes, whatever the name.
    kind : {"qrels", "run"}
    format : str, optional
        The name of a `Format`. Default: what the name says, and TREC if it says nothing. A .tsv file whose first line
        holds no known column name is TREC with tabs.
    columns : mapping of str to str, optional
        Names of columns in the file, by deadheat's names.

    Returns
    -------
    Content
        Its rows are checked, and in file order where they are in memory.

    Raises
    ------
    DataError
        Whatever is wrong with the file, with its line where it has lines.
    """
    path = check_readable(path)
    file_format = find_format(path, format)
    if columns and file_format.columns is None:
        refuse_columns(columns, kind, f"{path}, a {file_format.name} file")
    content = file_format.read(path, kind, columns or {})
    if isinstance(content.rows, pl.DataFrame) and VALUE_COLUMN[kind] not in content.rows.columns:
        content = _add_values(content, content.rows, kind, path)
    return replace(content, is_trec=file_format.name == DEFAULT)


def _add_values(content: Content, rows: pl.DataFrame, kind: Kind, path: Path) -> Content:
    """Return what a file without a number of its kind holds: ranks become scores, and judgments relevant documents."""
    from deadheat.core.io.frames import convert_table

    with_values = convert_table(rows, kind, str(path), {})
    return replace(
        with_values,
        notes=(*content.notes, *with_values.notes),
        unanswerable=content.unanswerable,
        columns=content.columns,
    )


def locate(
    path: str | os.PathLike[str],
    kind: Kind,
    query_id: str,
    doc_id: str,
    *,
    format: str | None = None,  # noqa: A002 - the word users expect
    columns: Mapping[str, str] | None = None,
) -> list[int]:
    """Return the 1-based lines that hold a (query, document) pair, to name duplicates.

    A format without lines (Parquet, JSON) and a file that can be read only once (a pipe) have none.
    """
    path = check_readable(path)
    if not path.is_file():
        return []
    return find_format(path, format).locate(path, kind, query_id, doc_id, columns or {})


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
        Checked rows: query_id, doc_id, and relevance or score; of qrels perhaps subtopic, if the format has a place.
    target : path-like or binary file
        ``.gz`` and ``.zst`` compress. For a path, see `replace_file`.
    kind : {"qrels", "run"}
    format : str, optional
        The name of a `Format`. Default: what the name says, and TREC if it says nothing.
    tag : str, default="deadheat"
        Last field of a TREC run. Its rank field counts by score, highest first, and by row where scores tie.

    Raises
    ------
    DataError
        If an id is null or empty, or holds a blank, which TREC cannot say, or a control character, which only Parquet
        can; or the folder does not exist.
    ParameterError
        If the format is unknown, or the tag is empty or holds a blank.
    """
    path = check_path(target) if isinstance(target, str | os.PathLike) else Path()
    file_format = FORMATS[choose_format(path, format)]
    if not tag or any(char.isspace() for char in tag):
        raise ParameterError(argument="tag", given=tag, allowed="one word without blanks")
    compression = COMPRESSED.get(path.suffix.lower(), "uncompressed")
    if not file_format.is_text and compression != "uncompressed":
        raise ParameterError(
            f"{file_format.name.capitalize()} is compressed inside",
            hint=f"name the file {path.with_suffix('').name!r}, without {path.suffix}",
        )
    id_names = [name for name in TEXTS if name in frame.columns]
    rows = frame.select(*id_names, pl.col(VALUE_COLUMN[kind]).cast(pl.Float64))
    for ids in rows.select(id_names):
        _check_ids(ids, path, file_format)
    context = replace_file(target) if isinstance(target, str | os.PathLike) else nullcontext(target)
    with context as file:
        file_format.write(rows, file, kind, tag, compression)


def _check_ids(ids: pl.Series, path: Path, file_format: Format) -> None:
    """Raise `DataError` for an id that a format cannot hold, before anything is written."""
    may_be_empty = ids.name == SUBTOPIC and not file_format.splits_at
    if not may_be_empty and (ids.null_count() or (ids == "").any()):
        raise DataError(f"column {ids.name!r} holds a null or empty id", allowed="text", path=path)
    if file_format.splits_at:
        split_id = _find_first_match(ids, file_format.splits_at)
        if split_id is not None:
            reason = _describe_splitting(file_format, ids)
            problem = f"{reason}, so {ids.name} cannot be {quote_text(split_id)}"
            raise DataError(problem, hint="write .csv", path=path)
    if file_format.is_text:
        id_with_control = _find_first_match(ids, CONTROL)
        if id_with_control is not None:
            quoted = quote_text(id_with_control)
            problem = f"{ids.name} {quoted} holds a control character, which no file of text may have"
            raise DataError(problem, hint="write .parquet", path=path)


def _find_first_match(ids: pl.Series, pattern: str) -> str | None:
    """Return the first id in which a regular expression matches; None if there is none."""
    matches = ids.filter(ids.str.contains(pattern))
    return str(matches[0]) if len(matches) else None


def _describe_splitting(file_format: Format, ids: pl.Series) -> str:
    """Say at what a format splits lines: at blanks, or at a character that one of these ids has."""
    splits_at_blanks = pl.Series([" "]).str.contains(file_format.splits_at).item()
    if splits_at_blanks:
        return f"{file_format.name.upper()} separates fields by blanks"
    characters = ids.str.extract(f"({file_format.splits_at})").drop_nulls()
    return f"a file of the format {file_format.name} is split at {characters[0]!r}"


def read_tag(path: str | Path) -> str | None:
    """Return the tag in the last row of a file, which trec_eval prints; None for a file that has none, or a pipe.

    Parameters
    ----------
    path : path
        Of a run that was read.
    """
    path = Path(path)
    name = choose_format(path)
    has_tags = name == "trec" or (name == "tsv" and is_trec(path, "\t"))
    if not path.is_file() or not has_tags:
        return None
    for row in reversed(_read_last_bytes(path).split(b"\n")):
        fields = row.split()
        if fields and not is_comment(row, "run"):
            is_complete = len(fields) == len(TREC_FIELDS["run"])
            return fields[-1].decode("utf-8", "replace") if is_complete else None
    return None


def _read_last_bytes(path: Path) -> bytes:
    """Return how a file ends, unpacked."""
    if read_plain_head(path) is None:
        last_blocks = deque(blocks(path), maxlen=1)
        return b"".join(last_blocks)
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - HEAD))
        return file.read()
