"""What stands around work on a user's data, and loads no Polars: a guard, a watch over forks, and one over files.

The guard turns failures of Polars and other engines into errors; in the command, what Polars' threads print when they
panic is hidden too. A fork loses the threads of Polars: a call that needs them would hang for ever, and raises an error
instead. The files that are read are noted, so that none of them is written over.
"""

import errno
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deadheat.core.errors import DataError, DeadheatError
from deadheat.core.libraries import polars as pl

# Device and inode of the files that were read, for each `collect_read_files` that is open; the last set gets them. This
# is no context variable, as all threads of a command add to it.
_read_files: list[set[tuple[int, int]]] = []
_ENGINES = {"duckdb": "DuckDB", "_duckdb": "DuckDB", "pyspark": "Spark", "py4j": "Spark"}
_CAUSE = r"(?m)^(?:: |Caused by: )(.+)"  # in the text of a Java exception; the last line names the first cause
_NO_THREADS = r"(?i)spawn|os error 11\b|WouldBlock|thread pool|ThreadPoolBuildError"


@contextmanager
def guard_polars(where: str | os.PathLike[str]) -> Iterator[None]:
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
    _PANIC_OUTPUT.hide()
    try:
        yield
    except _panics() as panic:
        _PANIC_OUTPUT.hide()  # once more than it is shown, so for good: other threads may panic later
        if re.search(_NO_THREADS, str(panic).partition("\n")[0]):
            raise OSError(
                errno.EAGAIN,
                "no threads left: memory or processes are short (with POLARS_MAX_THREADS=1 Polars needs fewer)",
            ) from panic
        raise DataError(
            "Polars crashed while reading it",
            hint="it is damaged, or has content that Polars does not know",
            path=Path(where),
        ) from panic
    except OSError as error:
        if error.strerror:  # of this system; that of a store has words only
            raise
        raise DataError(f"cannot be read: {_extract_reason(error)}", path=os.fspath(where)) from error
    except Exception as error:
        engine = _ENGINES.get(type(error).__module__.partition(".")[0])
        if engine is None or "PythonException" in f"{type(error).__name__} {error}":  # of our own code in a worker
            raise
        raise DataError(f"{engine} failed: {_extract_reason(error)}", path=os.fspath(where)) from error
    finally:
        _PANIC_OUTPUT.show()


def _panics() -> tuple[type[BaseException], ...]:
    """Return the exception of a panic, if Polars is loaded: nothing else raises it."""
    return (pl.exceptions.PanicException,) if "polars" in sys.modules else ()


class _PanicOutput:
    """Hides what threads of Polars print when they panic: they write to descriptor 2, whatever Python does.

    If the command has taken a descriptor of its own for standard error, descriptor 2 leads nowhere while a guard is at
    work. A program that uses deadheat as a library may print there itself, so nothing is hidden from it.

    Attributes
    ----------
    stderr : int or None
        The command's own descriptor of standard error. None: nothing is hidden.
    n_guards : int
        Guards that are at work.
    """

    def __init__(self) -> None:
        self.stderr: int | None = None
        self.n_guards = 0
        self._lock = threading.Lock()

    def hide(self) -> None:
        """Begin a guard's work."""
        if self.stderr is None:
            return
        with self._lock:
            self.n_guards += 1
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 2)
            os.close(nowhere)

    def show(self) -> None:
        """End a guard's work."""
        if self.stderr is None:
            return
        with self._lock:
            self.n_guards -= 1
            if self.n_guards == 0:
                os.dup2(self.stderr, 2)


_PANIC_OUTPUT = _PanicOutput()


def take_stderr() -> None:
    """Let `sys.stderr` write to a descriptor of its own, so that a guard can hide what Polars prints.

    For a process that is the command and no other program.
    """
    _PANIC_OUTPUT.stderr = os.dup(2)
    stderr = sys.stderr
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, encoding=stderr.encoding, errors=stderr.errors)


def give_stderr_back() -> None:
    """Stop hiding: a process that is started now keeps the descriptor 2 that it finds, as long as it runs."""
    if _PANIC_OUTPUT.stderr is not None:
        os.dup2(_PANIC_OUTPUT.stderr, 2)
        _PANIC_OUTPUT.stderr = None


@contextmanager
def guard_rows(where: str) -> Iterator[None]:
    """Raise `DataError` where Polars finds bytes that are not text, or a damaged file."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        first_line, _, _ = str(error).partition("\n")
        reason, _, _ = first_line.partition(", hint: ")  # Polars' hints are for programs
        raise DataError(f"rows cannot be read as ids and numbers: {reason}", path=where) from error


def _extract_reason(error: Exception) -> str:
    """Return the line of a message that says what is wrong."""
    text = str(error).strip()
    causes = re.findall(_CAUSE, text)
    if causes:
        return causes[-1]
    first_line, _, _ = text.partition("\n")
    return first_line


class _Threads:
    """Whether Polars has worker threads, and whether a fork left this process without them.

    Attributes
    ----------
    may_run : bool
        Whether deadheat has called Polars. Names of threads do not tell that: one that just started has none yet.
    ran_before_fork : bool
        Whether there were threads when this process was forked last.
    are_lost : bool
        Whether this process is a fork without them.
    """

    may_run = ran_before_fork = are_lost = False

    def before_fork(self) -> None:
        self.ran_before_fork = self.are_lost or self.may_run or _others_use_polars()

    def after_fork(self) -> None:
        self.are_lost = self.ran_before_fork
        if self.are_lost:
            _close_polars()


def _others_use_polars() -> bool:
    """Tell whether Polars has computed something, by the threads of this process where the system shows them."""
    for name in Path("/proc/self/task").glob("*/comm"):
        with suppress(OSError):  # it may have ended meanwhile
            if re.match(r"polars-\d|async-executor", name.read_text()):  # its workers; importing starts none
                return True
    return False


# Methods through which Polars uses its threads; versions differ in those with an underscore
_WITH_THREADS = {
    "LazyFrame": ("collect", "_collect_eager", "collect_batches", "sink_parquet", "sink_csv", "serialize"),
    "DataFrame": ("serialize", "deserialize", "write_parquet", "write_csv", "write_ipc", "write_json"),
}


def _close_polars() -> None:
    """Let Polars raise in this process wherever it would wait for threads that are not there."""
    polars = sys.modules.get("polars")
    for class_name, methods in _WITH_THREADS.items():
        polars_class = getattr(polars, class_name, None)
        for method in methods:
            if hasattr(polars_class, method):
                setattr(polars_class, method, _raise_lost)


def _raise_lost(*_: object, **__: object) -> None:
    """Stand in for a method of Polars in a process without its threads."""
    check_threads()


_THREADS = _Threads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_THREADS.before_fork, after_in_child=_THREADS.after_fork)


def check_threads() -> None:
    """Raise `DeadheatError` in a forked process where Polars would hang: its threads were not forked."""
    _THREADS.may_run = True
    if _THREADS.are_lost:
        raise DeadheatError(
            "this process was forked from one that had already used Polars; the threads of Polars were not forked, and"
            " it would wait for them for ever. Start processes with multiprocessing.get_context('spawn') or"
            " ('forkserver'), or fork before anything is read; evaluate() of dicts of dicts works here too"
        )


@contextmanager
def name_file_in_errors(path: str | os.PathLike[str], *others: str | os.PathLike[str]) -> Iterator[None]:
    """Name a file in the errors that the system has while it is written: those of a full disk name none.

    Parameters
    ----------
    path : path
    *others : path
        Other names under which it is written.
    """
    try:
        yield
    except OSError as error:
        other_names = [os.fspath(other) for other in others]
        if error.strerror is None or error.filename not in {None, *other_names}:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


@contextmanager
def collect_read_files() -> Iterator[set[tuple[int, int]]]:
    """Yield a set that gets the device and inode of each file that is read while the context lasts."""
    files: set[tuple[int, int]] = set()
    _read_files.append(files)
    try:
        yield files
    finally:
        _read_files.pop()


def note_file(status: os.stat_result) -> None:
    """Note a file that is about to be read, if somebody asked for it."""
    if _read_files:
        _read_files[-1].add((status.st_dev, status.st_ino))
