"""A guard around calls of Polars and other engines on a user's data, which turns their failures into errors."""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from deadheat.errors import DataError
from deadheat.io.forking import check_threads

_ENGINES = {"duckdb": "DuckDB", "_duckdb": "DuckDB", "pyspark": "Spark", "py4j": "Spark"}
_CAUSE = re.compile(r"^(?:: |Caused by: )(.+)", re.MULTILINE)  # of an exception of Java, the last one the first of all
_OF_A_WORKER = "PythonException"  # raised by our own code there
_NO_THREADS = re.compile(r"(?i)spawn|os error 11\b|WouldBlock|thread pool|ThreadPoolBuildError")


@contextmanager
def guarded(where: str | os.PathLike[str]) -> Iterator[None]:
    """Guard Polars, or another engine, while it works on a user's data.

    Parameters
    ----------
    where : str or path-like
        Where the data comes from, for messages.

    Raises
    ------
    DataError
        Polars panicked. What it raises then is not an `Exception`, and nothing that expects one would catch it. Or
        DuckDB or Spark failed, or a store such as ``s3://`` does not answer.
    OSError
        The system has no threads left for Polars.
    DeadheatError
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
    except OSError as error:
        if error.strerror:  # of this system; that of a store has words only
            raise
        raise DataError(f"cannot be read: {_told(error)}", path=os.fspath(where)) from error
    except Exception as error:
        engine = _ENGINES.get(type(error).__module__.partition(".")[0])
        if engine is None or _OF_A_WORKER in f"{type(error).__name__} {error}":
            raise
        raise DataError(f"{engine} failed: {_told(error)}", path=os.fspath(where)) from error


def _told(error: Exception) -> str:
    """Return the line of a message that says what is wrong."""
    text = str(error).strip()
    causes = _CAUSE.findall(text)
    return causes[-1] if causes else text.partition("\n")[0]
