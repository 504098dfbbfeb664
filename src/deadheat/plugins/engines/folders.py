"""A folder of Parquet files in the place of one file, which Polars reads as one table.

This module is imported wherever somebody gives a list: what reads files is imported when there is a folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from deadheat.core.io.folders import REGISTERED, FolderReader
from deadheat.core.io.guarding import guard_polars
from deadheat.core.io.kinds import Kind
from deadheat.core.io.memory_limits import is_bounded
from deadheat.core.libraries import is_polars_frame, polars as pl
from deadheat.core.wording import format_count

if TYPE_CHECKING:
    from deadheat.core.io.content import Content


def find_parquet(folder: Path, _kind: Kind | None = None) -> list[Path]:
    """Return the Parquet files in a folder and in folders inside, sorted, as ``--engine polars`` finds them."""
    from deadheat.plugins.engines.frames import parquet_files

    return [Path(file) for file in parquet_files(str(folder))]


def read_parquet_files(files: Sequence[Path], folder: Path, kind: Kind, columns: Mapping[str, str]) -> Content:
    """Return the rows of Parquet files; those of many rows are read when they are needed, as those of one file are.

    Raises
    ------
    ColumnError, FileFormatError, DataError
        As for one file; a file that is damaged is named.
    """
    from deadheat.core.io.formats import parquet
    from deadheat.core.io.frames import convert_table
    from deadheat.core.io.pages import check_texts
    from deadheat.plugins.engines.frames import scan_files

    for file in files:
        parquet.scan_parquet(file)  # raises for a damaged one, by its name
    rows = scan_files([str(file) for file in files])
    with guard_polars(folder):
        n_rows = int(rows.select(pl.len()).collect().item())  # from the end of each file
        is_large = is_bounded() or n_rows >= parquet.LARGE_PARQUET
        content = convert_table(rows, kind, str(folder), columns, is_large=is_large)
    if is_polars_frame(content.rows):
        check_texts(content.rows, folder, sum(file.stat().st_size for file in files))
    if len(files) == 1:
        return content
    note = f"{format_count(len(files), 'Parquet file')} read as one table"
    return replace(content, notes=(note, *content.notes))


REGISTERED.append(FolderReader(find_parquet, read_parquet_files))
