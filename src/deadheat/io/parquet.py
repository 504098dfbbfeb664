"""Parquet: scanned lazily, so that a file larger than memory streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from deadheat.errors import FileFormatError
from deadheat.io.guarding import guarded
from deadheat.io.pages import check_pages

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
        raise FileFormatError(f"expected a Parquet file ({error})", path=path) from error
    return rows
