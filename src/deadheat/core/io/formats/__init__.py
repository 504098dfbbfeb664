"""The formats of files with qrels or runs: importing this package reads those of the registry, in its order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, cast

from deadheat.core import hooks, third_party
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.io.columns import refuse_columns
from deadheat.core.io.files import BOM, blocks, check_path, check_readable, read_plain_head
from deadheat.core.io.formats.base import FORMATS, Content, Format, register
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
for known in hooks.names_of_formats():
    FORMATS[known] = FORMATS.pop(known)

__all__ = [
    "COMPRESSED",
    "FORMATS",
    "SUFFIXES",
    "Content",
    "Format",
    "chosen_format",
    "ending",
    "format_of",
    "has_column",
    "is_too_large",
    "load_third_party",
    "locate",
    "register",
    "scan",
    "tag_of",
    "write",
]

DEFAULT = "trec"
COMPRESSED: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}
SUFFIXES = {suffix: form.name for form in FORMATS.values() for suffix in form.suffixes}


def has_column(path: Path, name: str, form: str | None = None) -> bool:
    """Tell whether a file is a table with a column, beside those of qrels and runs.

    First by its format, if that is known, and its first bytes: to look closer may be to parse all of it.
    """
    if not path.is_file() or (form is not None and FORMATS[form].columns is None):
        return False
    head = read_plain_head(path)
    if head is None:
        with suppress(DataError):  # which reading it raises
            head = next(blocks(path, HEAD))
    if head is not None and head.startswith(b"PAR1"):  # Parquet has names at its end
        with suppress(OSError, ValueError), path.open("rb") as file:
            file.seek(-8, os.SEEK_END)
            file.seek(-8 - int.from_bytes(file.read(4), "little"), os.SEEK_END)
            head = file.read()
    if head is None or name.encode() not in head:
        return False
    columns = format_of(path, None).columns
    return columns is not None and name in columns(path)


def ending(path: str | os.PathLike[str]) -> str:
    """Return the last suffix of a name in lower case, without that of a compressed file; empty if there is none."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def chosen_format(path: str | os.PathLike[str], given: str | None = None) -> str:
    """Return the format that was asked for, or else the one that the name says; TREC if it says nothing.

    Examples
    --------
    >>> chosen_format("bm25.jsonl.gz"), chosen_format("bm25")
    ('jsonl', 'trec')
    """
    if given is None:
        suffix = ending(path)
        if suffix not in SUFFIXES:
            hooks.check_format(suffix)
            if suffix:
                load_third_party()
        return SUFFIXES.get(suffix, DEFAULT)
    is_text = isinstance(cast("object", given), str)
    if not is_text or given not in FORMATS:
        hooks.check_format(str(given))
        load_third_party()
    if not is_text or given not in FORMATS:
        raise ParameterError("unknown format", given=given, allowed=tuple(FORMATS))
    return given


def load_third_party() -> None:
    """Import the formats of files that plugins of others have, as for an unknown ending."""
    if third_party.load("readers"):
        SUFFIXES.update({suffix: form.name for form in FORMATS.values() for suffix in form.suffixes})


def registered_names() -> set[str]:
    """Return the names of all formats."""
    return {*FORMATS}


def forget_module(module: str) -> None:
    """Forget the formats of a module that could not be imported to its end."""
    for form in [form for form in FORMATS.values() if form.read.__module__ == module]:
        del FORMATS[form.name]
        for suffix in form.suffixes:
            SUFFIXES.pop(suffix, None)


third_party.add_registry("readers", third_party.NamedRegistry("file format", registered_names, forget_module))


def format_of(path: str | os.PathLike[str], given: str | None) -> Format:
    """Return the format that was asked for, or else the one that the name says, or the first bytes where it says TREC.

    Many name files of other formats .txt.
    """
    form = FORMATS[chosen_format(path, given)]
    if given is not None or form.name != DEFAULT or not Path(path).is_file():
        return form
    head = read_plain_head(Path(path))
    head = next(blocks(Path(path), HEAD)) if head is None else head.removeprefix(BOM)
    return next((one for one in FORMATS.values() if one.recognises is not None and one.recognises(head)), form)


def is_too_large(path: Path, given: str | None) -> bool:
    """Tell whether a run is TREC, and too large to be held in memory."""
    n_bytes = path.stat().st_size if os.path.isfile(path) else 0  # noqa: PTH113 - never raises
    is_small = fits_in_memory(n_bytes, is_packed=True) or fits_in_memory(
        n_bytes, is_packed=read_plain_head(path) is None
    )
    return not is_small and format_of(path, given).name == "trec"


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
    form = format_of(path, format)
    if columns and form.columns is None:
        refuse_columns(columns, kind, f"{path}, a {form.name} file")
    content = form.read(path, kind, columns or {})
    if isinstance(content.rows, pl.DataFrame) and VALUE_COLUMN[kind] not in content.rows.columns:
        from deadheat.core.io.frames import convert_table  # ranks become scores; without a number, each is relevant

        made = convert_table(content.rows, kind, str(path), {})
        content = replace(
            made,
            notes=(*content.notes, *made.notes),
            unanswerable=content.unanswerable,
            columns=content.columns,
        )
    return replace(content, is_trec=form.name == DEFAULT)


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
    return format_of(path, format).locate(path, kind, query_id, doc_id, columns or {}) if path.is_file() else []


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
    form = FORMATS[chosen_format(path, format)]
    if not tag or any(char.isspace() for char in tag):
        raise ParameterError(argument="tag", given=tag, allowed="one word without blanks")
    compression = COMPRESSED.get(path.suffix.lower(), "uncompressed")
    if not form.is_text and compression != "uncompressed":
        raise ParameterError(
            f"{form.name.capitalize()} is compressed inside",
            hint=f"name the file {path.with_suffix('').name!r}, without {path.suffix}",
        )
    ids = [name for name in TEXTS if name in frame.columns]
    rows = frame.select(*ids, pl.col(VALUE_COLUMN[kind]).cast(pl.Float64))
    _check_ids(rows.select(ids), path, form)
    file_of = replace_file(target) if isinstance(target, str | os.PathLike) else nullcontext(target)
    with file_of as file:
        form.write(rows, file, kind, tag, compression)


def _check_ids(keys: pl.DataFrame, path: Path, form: Format) -> None:
    """Raise for ids that a format cannot hold, before anything is written."""
    for ids in keys:
        if (ids.null_count() or (ids == "").any()) and (ids.name != SUBTOPIC or form.splits_at):
            raise DataError(f"column {ids.name!r} holds a null or empty id", allowed="text", path=path)
        splits = f"{_describe_splitting(form, ids)}, so {ids.name} cannot be {{}}"
        controls = f"{ids.name} {{}} holds a control character, which no file of text may have"
        kinds = ((form.splits_at, splits, ".csv"), (CONTROL if form.is_text else "", controls, ".parquet"))
        for pattern, problem, suffix in kinds:
            wrong = ids.filter(ids.str.contains(pattern)).to_list() if pattern else []
            if wrong:
                raise DataError(problem.format(quote_text(wrong[0])), hint=f"write {suffix}", path=path)


def _describe_splitting(form: Format, ids: pl.Series) -> str:
    """Say at what a format splits lines: at blanks, or at what one of these ids holds."""
    if not form.splits_at or pl.Series([" "]).str.contains(form.splits_at).item():
        return f"{form.name.upper()} separates fields by blanks"
    found = ids.str.extract(f"({form.splits_at})").drop_nulls()
    character = f" at {found[0]!r}" if len(found) else ""
    return f"a file of the format {form.name} is split{character}"


def tag_of(path: str | Path) -> str | None:
    """Return the tag in the last row of a file, which trec_eval prints; None for a file that has none, or a pipe.

    Parameters
    ----------
    path : path
        Of a run that was read.
    """
    path, chosen = Path(path), chosen_format(path)
    if not path.is_file() or not (chosen == "trec" or (chosen == "tsv" and is_trec(path, "\t"))):
        return None
    if read_plain_head(path) is None:
        end = b"".join(deque(blocks(path), 1))
    else:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - HEAD))
            end = file.read()
    rows = [row for row in end.split(b"\n") if row.split() and not is_comment(row, "run")]
    fields = rows[-1].split() if rows else []
    return fields[-1].decode("utf-8", "replace") if len(fields) == len(TREC_FIELDS["run"]) else None
