"""Parquet: scanned lazily, so that a file larger than memory streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import polars as pl

from deadheat.errors import FileFormatError
from deadheat.io.formats.base import CASES, Content, Format, ScoreColumns, register
from deadheat.io.guarding import guarded
from deadheat.io.kinds import Kind, are_cases
from deadheat.io.limits import is_bounded, most_rows
from deadheat.io.pages import check_pages
from deadheat.io.source import compression
from deadheat.io.writing import Compression

LARGE = 4_000_000  # rows from which a run is read where it is needed, whole queries at a time


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
        raise FileFormatError(allowed=f"a Parquet file ({error})", hint=_advice(path), path=path) from error
    return rows


def _read(path: Path, kind: Kind, given: Mapping[str, str]) -> Content:
    rows = scan_parquet(path)
    if are_cases(rows.collect_schema().names(), kind, given):
        return CASES
    with guarded(path):
        n_rows = int(rows.select(pl.len()).collect().item())  # from the end of the file
        from deadheat.io.frames import canonical  # it needs Narwhals

        return canonical(rows, kind, str(path), given, is_large=is_bounded() or n_rows >= most_rows(LARGE))


def _read_score_columns(path: Path, names: Sequence[str] | None, given: Mapping[str, str]) -> ScoreColumns:
    from deadheat.io.score_columns import of_frame  # it needs Narwhals

    return of_frame(scan_parquet(path), names, given, str(path))


def _advice(path: Path) -> str:
    """Say so if the whole file was compressed, as text is."""
    with path.open("rb") as file:
        is_packed = compression(file.read(4)) is not None
    return "it is compressed as a whole: unpack it first (Parquet is compressed inside)" if is_packed else ""


def _write(rows: pl.DataFrame, file: IO[bytes], _kind: Kind, _tag: str, _compression: Compression) -> None:
    rows.write_parquet(file)


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
