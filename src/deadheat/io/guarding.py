"""A guard around calls of Polars on a user's data, which turns its panics into errors."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from deadheat.errors import DataError
from deadheat.io.forking import check_threads

_NO_THREADS = re.compile(r"(?i)spawn|os error 11\b|WouldBlock|thread pool|ThreadPoolBuildError")


@contextmanager
def guarded(where: str | os.PathLike[str]) -> Iterator[None]:
    """Guard Polars while it works on a user's data.

    Parameters
    ----------
    where : str or path-like
        Where the data comes from, for messages.

    Raises
    ------
    DataError
        Polars panicked. What it raises then is not an `Exception`, and nothing that expects one would catch it.
    OSError
        The system has no threads left for Polars.
    ForkError
        Polars cannot work in this process.
    """
    check_threads()
    try:
        yield
    except pl.exceptions.PanicException as panic:
        what = str(panic).partition("\n")[0]
        if _NO_THREADS.search(what):
            raise OSError(
                errno.EAGAIN,
                "no threads left: memory or processes are short (with POLARS_MAX_THREADS=1 Polars needs fewer)",
            ) from panic
        raise DataError(
            f"Polars crashed while reading it ({what})",
            hint="it is damaged, or has content that Polars does not know",
            path=Path(where),
        ) from panic
