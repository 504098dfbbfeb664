"""TREC lines one by one: slow and right, to name the line that is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadheat.errors import FileFormatError, MalformedRowError
from deadheat.io.kinds import TREC_FIELDS, VALUE_COLUMN
from deadheat.io.source import blocks, not_utf8
from deadheat.io.values import check_ids_of_row, frame_of_rows, read_value
from deadheat.wording import Plain, shown

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from deadheat.io.kinds import Kind


def read_lines(block: bytes, kind: Kind, path: Path, first_line: int) -> pl.DataFrame:
    """Read the lines of a block, or raise the error of the first line that is wrong.

    Parameters
    ----------
    block : bytes
        Whole lines.
    kind : {"qrels", "run"}
    path : pathlib.Path
        For the error message.
    first_line : int
        The 1-based number of the block's first line in the file.
    """
    value = TREC_FIELDS[kind].index(VALUE_COLUMN[kind])
    rows: list[tuple[str, str, float]] = []
    for line, raw in enumerate(block.split(b"\n"), first_line):
        fields = _fields(raw, kind, path, line)
        if fields:
            check_ids_of_row(fields[0], fields[2], path, line)
            rows.append((fields[0], fields[2], read_value(fields[value], kind, path=path, line=line)))
    return frame_of_rows(rows, kind)


def locate_in_lines(path: Path, kind: Kind, query_id: str, doc_id: str) -> list[int]:
    """Return the 1-based lines that hold this pair."""
    query, doc = query_id.encode(), doc_id.encode()
    n_fields = len(TREC_FIELDS[kind])
    found: list[int] = []
    first_line = 1
    for block in blocks(path, has_lines=True):
        line, counted, at = first_line, 0, block.find(doc)
        while at >= 0:
            start, end = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at)
            end = len(block) if end < 0 else end
            fields = block[start:end].split()
            if len(fields) == n_fields and fields[0] == query and fields[2] == doc:
                line, counted = line + block.count(b"\n", counted, start), start
                found.append(line)
            at = block.find(doc, end)
        first_line += block.count(b"\n")
    return found


def _fields(raw: bytes, kind: Kind, path: Path, line: int) -> list[str]:
    """Split a line into as many fields as its kind has, or none if it is blank."""
    if b"\0" in raw:
        raise FileFormatError(
            given=Plain("a NUL byte"),
            allowed="text in UTF-8",
            hint="the file is binary or damaged",
            path=path,
            line=line,
        )
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(raw, error.start, path, line) from error
    # Split the bytes: str.split() also cuts at blanks beyond ASCII, which may stand inside an id.
    fields = [field.decode() for field in raw.split()]
    names = TREC_FIELDS[kind]
    if fields and len(fields) != len(names):
        text = raw.decode().strip()
        raise MalformedRowError(
            given=Plain(f"{len(fields)}: {shown(text)}"),
            allowed=f"{len(names)} fields ({' '.join(names)})",
            path=path,
            line=line,
        )
    return fields
