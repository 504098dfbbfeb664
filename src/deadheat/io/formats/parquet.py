"""Parquet: scanned lazily, so that a file larger than memory streams."""

import io
import mmap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import polars as pl

from deadheat.errors import FileFormatError
from deadheat.io.files import Compression, is_bounded, plain_head
from deadheat.io.formats.base import CASES, Content, Format, ScoreColumns, register
from deadheat.io.guarding import guarded
from deadheat.io.kinds import Kind, are_cases

_TAIL = 8  # four bytes that give the length of the footer, and the magic
COMPRESSED = "it is compressed as a whole: unpack it first (Parquet is compressed inside)"
LARGE_PARQUET = 4_000_000  # rows from which a run is read where it is needed, whole queries at a time


def scan_parquet(path: Path) -> pl.LazyFrame:
    """Scan a Parquet file with all its columns; they are checked where they are read, as those of any frame.

    Raises
    ------
    FileFormatError
        If the file is not Parquet, or is damaged.
    """
    check_pages(path)
    rows = pl.scan_parquet(path, glob=False)
    try:
        with guarded(path):
            rows.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileFormatError(
            allowed=f"a Parquet file ({error})", hint=COMPRESSED if plain_head(path) is None else None, path=path
        ) from error
    return rows


def _read(path: Path, kind: Kind, given: Mapping[str, str]) -> Content:
    rows = scan_parquet(path)
    if are_cases(rows.collect_schema().names(), kind, given):
        return CASES
    with guarded(path):
        n_rows = int(rows.select(pl.len()).collect().item())  # from the end of the file
        from deadheat.io.frames import canonical  # it needs Narwhals

        return canonical(rows, kind, str(path), given, is_large=is_bounded() or n_rows >= LARGE_PARQUET)


def _read_score_columns(path: Path, names: Sequence[str] | None, given: Mapping[str, str]) -> ScoreColumns:
    from deadheat.io.frames import score_columns  # it needs Narwhals

    return score_columns(scan_parquet(path), names, given, str(path))


def _write(rows: pl.DataFrame, file: IO[bytes], _kind: Kind, _tag: str, _compression: Compression) -> None:
    held = io.BytesIO()
    rows.write_parquet(held)  # into a file it would write by itself, and only describe what the system says
    file.write(held.getbuffer())


def check_pages(path: Path) -> None:
    """Raise FileFormatError if the sizes that a Parquet file declares are impossible.

    One below 0 makes Polars end the process, which Python cannot catch. No library for Python reads the headers of
    pages, so they are read here; parquet.thrift of apache/parquet-format has the numbers of the fields. It takes a few
    microseconds for each page of about a megabyte.

    A file that is not Parquet at all, or encrypted, is left to Polars, which says so.
    """
    with path.open("rb") as stream:
        if stream.seek(0, 2) < 4 + _TAIL:
            return
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                if data[-4:] == b"PAR1":
                    _check(data, len(data) - _TAIL - int.from_bytes(data[-8:-4], "little"))
            # a field is missing or of another type, there is nothing where it should be, or lists in lists in lists
            except (LookupError, TypeError, AttributeError, ValueError, OverflowError, RecursionError):
                raise FileFormatError(
                    allowed="a Parquet file, but it is damaged",
                    hint="its sizes are impossible, or files were joined",
                    path=path,
                ) from None


def _check(data: mmap.mmap, end: int) -> None:
    data.seek(_size(end))
    footer = _struct(data)
    if _size(footer[3]) != sum(_size(group[3]) for group in footer[4]):
        raise ValueError
    chunks = [chunk for group in footer[4] for chunk in group.get(1) or ()]
    metas = [chunk[3] for chunk in chunks if 1 not in chunk]  # Polars refuses a column in another file
    ends = [_start(meta) + _size(meta[7]) for meta in metas]
    ends += [chunk[at] + chunk[at + 1] for chunk in chunks for at in (4, 6) if chunk.get(at) and chunk.get(at + 1)]
    if max(ends, default=0) < end and data.find(b"PAR1PAR1", 0) >= 0:
        raise ValueError  # joined: the places in the last footer are those in its own file
    for meta in metas:
        _check_column(data, meta, min(end, _start(meta) + _size(meta[7])))


def _start(meta: dict[int, Any]) -> int:
    """Return where the pages of a column begin, with its dictionary if it has one (some writers put 0 for none)."""
    return min(_size(meta[9]), _size(meta.get(11) or meta[9]))


def _check_column(data: mmap.mmap, meta: dict[int, Any], end: int) -> None:
    """Check page after page of one column of a row group, until all its values are counted."""
    left, at = _size(meta[5]), _start(meta)
    while left > 0:
        if at >= end:
            raise ValueError
        data.seek(at)
        page = _struct(data)
        at = data.tell() + _size(page[3])
        _size(page[2])
        n_values = _size((page.get(7) or page.get(5) or page[8])[1])
        left -= 0 if 7 in page else n_values  # those of a dictionary do not count


def _size(number: int) -> int:
    if number < 0:
        raise ValueError
    return number


def _struct(data: mmap.mmap) -> dict[int, Any]:
    """Return the integers, structures and lists of a structure of Thrift's compact protocol, by field number."""
    fields: dict[int, Any] = {}
    number = 0
    while header := data.read_byte():
        number = number + (header >> 4) if header >> 4 else _value(data, 4)
        kind = header & 15
        fields[number] = None if kind in {1, 2} else _value(data, kind)  # for booleans the kind is the value
    return fields


def _value(data: mmap.mmap, kind: int) -> Any:  # noqa: ANN401 - what a field holds
    match kind:
        case 1 | 2 | 3:
            return data.read_byte()
        case 4 | 5 | 6:
            number = _varint(data)
            return number >> 1 ^ -(number & 1)
        case 7:
            return data.seek(8, 1)
        case 8:
            return data.seek(_varint(data), 1)
        case 9 | 10:
            header = data.read_byte()
            size = _varint(data) if header >> 4 == 15 else header >> 4
            return [_value(data, header & 15) for _ in range(size)]
        case 12:
            return _struct(data)
    raise ValueError(kind)


def _varint(data: mmap.mmap) -> int:
    number = shift = 0
    while (byte := data.read_byte()) & 128 and shift < 64:
        number |= (byte & 127) << shift
        shift += 7
    return number | byte << shift


register(
    Format(
        name="parquet",
        suffixes=(".parquet",),
        read=_read,
        write=_write,
        columns=lambda path: scan_parquet(path).collect_schema(),
        read_columns=_read_score_columns,
        has_subtopics=True,
        is_text=False,
    )
)
