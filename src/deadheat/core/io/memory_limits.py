"""How much memory the content of a file may take: the limits, and :func:`max_memory`, which sets them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar
from pathlib import Path
from typing import cast

from deadheat.core.checks import as_count
from deadheat.core.errors import Advice, FileFormatError
from deadheat.core.io.with_value import WithValue

_LEAST_ALLOWED = 4_000_000_000  # bytes of memory that the content of any file may take
_LARGEST_RATIO = 200  # bytes of memory for each byte of a larger file
LARGE_TEXT = 1_500_000_000  # bytes of TREC text from which a run is read in blocks
ROW_BYTES = 64  # bytes of memory for a row in a frame, beside its text; measured 49
OBJECT_BYTES = 150  # bytes of memory for a field that becomes an object of Python; measured 96 in a table, 226 in JSON
_CELL_BYTES = 24  # bytes of memory for a cell of a table, in a list and in a column, beside its text
_PER_TREC_BYTE = 3  # bytes of memory for a byte of a TREC file
_PER_PACKED_BYTE = 4  # bytes of text for a byte of a compressed file
_BYTES_PER_ROW = 500  # bytes of memory for a row of a run that is read part by part
_MOST_ROWS = 1_000_000  # of such a run, that are read at a time
_FEWEST_ROWS = 20_000
_max_memory: ContextVar[int | None] = ContextVar("max_memory", default=None)


def max_memory(n_bytes: float) -> AbstractContextManager[None]:
    """Set about how much memory the rows of one run may take: a larger run is read in blocks, and never held.

    This concerns runs in TREC and Parquet files, also compressed ones, and lazy frames of Polars. By default a run is
    read in blocks from 1.5 GB of TREC text or 4 million rows of Parquet on. The judgments, and what is kept of the
    judged documents, come on top. In blocks the rows of a query should be adjacent, as those of runs are. A run where
    they are not is held after all, and so is what comes through a pipe or in another format; the report says so. What
    is wrong with a run is seen when it is evaluated, not when it is opened.

    A compressed file, Parquet, a workbook (.xlsx) or a pipe is refused if its content would take more memory than 4 GB,
    or 200 times the size of the file: a few bytes can unpack to any number. More than that set here raises this limit;
    less does not lower it.

    Parameters
    ----------
    n_bytes : int
        At least 1; also written as 1e9.

    Raises
    ------
    ParameterError
        If it is not a whole number from 1 on.

    Examples
    --------
    >>> import deadheat as dh
    >>> with dh.max_memory(500_000_000):
    ...     pass  # dh.evaluate("qrels.txt", "huge.run.gz")
    """
    if type(n_bytes) is float and n_bytes.is_integer():  # 1e9 is a usual way to write it
        n_bytes = int(n_bytes)
    return WithValue(_max_memory, as_count("max_memory", cast("int", n_bytes)))


def is_bounded() -> bool:
    """Tell whether :func:`max_memory` was set."""
    return _max_memory.get() is not None


def exceeds_memory(n_bytes: int) -> bool:
    """Tell whether rows of this size are more than :func:`max_memory` allows."""
    most = _max_memory.get()
    return most is not None and n_bytes > most


def fits_in_memory(n_bytes: int, *, is_packed: bool) -> bool:
    """Tell whether a TREC file of this size is read into memory."""
    n_text = n_bytes * _PER_PACKED_BYTE if is_packed else n_bytes
    most = _max_memory.get()
    if most is None:
        return n_text < LARGE_TEXT
    return n_text * _PER_TREC_BYTE <= most


def rows_at_a_time() -> int:
    """Return how many rows of a run that is not held are read at a time."""
    most = _max_memory.get()
    if most is None:
        return _MOST_ROWS
    n_rows = max(most // _BYTES_PER_ROW, _FEWEST_ROWS)
    return min(n_rows, _MOST_ROWS)


def check_memory(n_bytes: int, n_packed: int, path: Path | None, *, is_all: bool = False) -> None:
    """Raise FileFormatError if a file of `n_packed` bytes takes more memory than it may.

    That is 4 GB, 200 times its size, or what `max_memory` allows, whichever is the largest.

    Parameters
    ----------
    n_bytes, n_packed : int
    path : pathlib.Path, optional
        For messages.
    is_all : bool, default False
        Whether `n_bytes` is all that it takes, and not what was seen so far.
    """
    allowed = max(_LEAST_ALLOWED, _LARGEST_RATIO * n_packed, _max_memory.get() or 0)
    if n_bytes > allowed:
        size = f"more than {allowed:,} bytes"
        if is_all:
            size = f"about {n_bytes:,} bytes, more than {allowed:,}"
        raise FileFormatError(
            f"its content takes {size}, the most that may be held at once",
            hint=Advice("max_memory", when="if that is intended, "),
            path=path,
        )


def check_cells(n_rows: int, n_columns: int, path: Path | None, n_packed: int) -> None:
    """Raise FileFormatError if a table takes more memory than it may: rows may be short, and their header long."""
    check_memory(n_rows * n_columns * _CELL_BYTES, n_packed, path, is_all=True)
