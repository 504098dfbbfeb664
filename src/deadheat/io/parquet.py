"""Parquet: scanned lazily, so that a file larger than memory streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from deadheat.errors import FileFormatError
from deadheat.io.guarding import guarded
from deadheat.io.pages import check_pages
from deadheat.io.source import compression

if TYPE_CHECKING:
    from pathlib import Path


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


def _advice(path: Path) -> str:
    """Say so if the whole file was compressed, as text is."""
    with path.open("rb") as file:
        is_packed = compression(file.read(4)) is not None
    return "it is compressed as a whole: unpack it first (Parquet is compressed inside)" if is_packed else ""
