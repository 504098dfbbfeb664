"""Parquet: scanned lazily, so that a file larger than memory streams."""

from __future__ import annotations

import io
import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from deadheat.core.errors import FileFormatError
from deadheat.core.io.columns import are_cases
from deadheat.core.io.content import Content
from deadheat.core.io.files import read_plain_head
from deadheat.core.io.formats.base import LABELLED_CASES, Format, register
from deadheat.core.io.guarding import guard_polars
from deadheat.core.io.kinds import Kind
from deadheat.core.io.memory_limits import is_bounded
from deadheat.core.io.pages import check_categories, check_pages, check_texts
from deadheat.core.io.writing import Compression
from deadheat.core.libraries import polars as pl

COMPRESSED = "it is compressed as a whole: unpack it first (Parquet is compressed inside)"
LARGE_PARQUET = 4_000_000  # rows from which a run is read only when it is needed, whole queries at a time


def scan_parquet(path: Path, *, is_whole: bool = False) -> pl.LazyFrame:
    """Scan a Parquet file with all its columns; they are checked where they are read, as those of any frame.

    Parameters
    ----------
    path : pathlib.Path
    is_whole : bool, default False
        Whether all columns are read, and not the three of a run or judgments.

    Raises
    ------
    FileFormatError
        If the file is not Parquet, is damaged, or takes more memory than it may.
    """
    check_file(path, is_whole=is_whole)
    rows = pl.scan_parquet(path, glob=False)
    try:
        with guard_polars(path):
            rows.collect_schema()
            check_categories(rows, path, path.stat().st_size)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileFormatError(
            allowed=f"a Parquet file ({error})", hint=COMPRESSED if read_plain_head(path) is None else None, path=path
        ) from error
    return rows


def read_parquet(path: Path, kind: Kind, given: Mapping[str, str]) -> Content:
    """Return the rows of a Parquet file: a frame, or of a large run one that is read when it is needed.

    Raises
    ------
    ColumnError, FileFormatError, DataError
        As for any frame, and as :func:`scan_parquet`.
    """
    rows = scan_parquet(path)
    if are_cases(rows.collect_schema().names(), kind, given):
        return LABELLED_CASES
    with guard_polars(path):
        n_rows = int(rows.select(pl.len()).collect().item())  # from the end of the file
        from deadheat.core.io.frames import convert_table  # it needs Narwhals

        content = convert_table(rows, kind, str(path), given, is_large=is_bounded() or n_rows >= LARGE_PARQUET)
    if isinstance(content.rows, pl.DataFrame):
        check_texts(content.rows, path, path.stat().st_size)
    return content


def write_parquet(rows: pl.DataFrame, file: IO[bytes], _kind: Kind, _tag: str, _compression: Compression) -> None:
    """Write a Parquet file, which is compressed inside."""
    # Polars would write into an open file by itself, and its error would only describe what the system says.
    buffer = io.BytesIO()
    rows.write_parquet(buffer)
    file.write(buffer.getbuffer())


def list_columns(path: Path) -> list[str]:
    """Return the names of the columns."""
    return scan_parquet(path).collect_schema().names()


def check_file(path: Path, *, is_whole: bool = False) -> None:
    """Raise FileFormatError if the sizes that a Parquet file declares are impossible, or take too much memory.

    Parameters
    ----------
    path : pathlib.Path
    is_whole : bool, default False
        Whether all columns are read, and not the three of a run or judgments.
    """
    with path.open("rb") as stream:
        n_bytes = stream.seek(0, 2)
        if n_bytes:
            with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
                check_pages(data, path, n_bytes, is_whole=is_whole)


register(
    Format(
        name="parquet",
        suffixes=(".parquet",),
        read=read_parquet,
        write=write_parquet,
        columns=list_columns,
        has_subtopics=True,
        is_text=False,
    )
)
