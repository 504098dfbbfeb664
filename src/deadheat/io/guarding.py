"""What Polars does to a user's data, watched: its panics become errors."""

from __future__ import annotations

import errno
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from deadheat.errors import DataError
from deadheat.io.forking import check_threads

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator


_NO_THREADS = re.compile(r"(?i)spawn|os error 11\b|WouldBlock|thread pool|ThreadPoolBuildError")


@contextmanager
def guarded(where: str | os.PathLike[str]) -> Iterator[None]:
    """Let Polars work on the data of a user.

    Parameters
    ----------
    where : str or path-like
        Where the data came from, for messages.

    Raises
    ------
    DataError
        Polars panicked: what it raises then is no `Exception`, and would pass by everything that expects one.
    OSError
        The system has no thread for Polars.
    ForkError
        Polars cannot work in this process.
    """
    check_threads()
    try:
        yield
    except pl.exceptions.PanicException as panic:
        what = str(panic).partition("\n")[0]
        if _NO_THREADS.search(what):
            msg = "no more threads: memory or processes are short (Polars: POLARS_MAX_THREADS=1 needs fewer)"
            raise OSError(errno.EAGAIN, msg) from panic
        problem = f"Polars broke off while it read it ({what})"
        hint = "it is damaged, or holds what Polars does not know"
        raise DataError(problem, hint=hint, path=Path(where)) from panic
