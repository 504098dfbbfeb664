"""Limits on files: the longest line, and how much may be unpacked into memory at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from deadheat.errors import FileFormatError, MalformedRowError
from deadheat.wording import Advice

LONGEST_LINE = 1 << 24  # bytes
_LEAST_ALLOWED = 4_000_000_000
_LARGEST_RATIO = 200
_given: ContextVar[int | None] = ContextVar("max_decompressed", default=None)


@contextmanager
def max_decompressed(n_bytes: int) -> Iterator[None]:
    """Set how many bytes may be unpacked from one file and held in memory at once.

    This concerns CSV, TSV, JSON, JSON Lines and whatever comes through a pipe; compressed TREC is read piece by piece,
    and plain files are not limited. The default limit is 4 GB or 200 times the size of the compressed file, whichever
    is larger.

    Parameters
    ----------
    n_bytes : int
        At least 1.

    Raises
    ------
    ParameterError
        If it is not a whole number from 1 on.

    Examples
    --------
    >>> import deadheat as dh
    >>> with dh.max_decompressed(20_000_000_000):
    ...     pass  # dh.evaluate("qrels.csv.gz", "run.csv.gz")
    """
    from deadheat.arguments import as_count  # it needs NumPy, without which a command begins to read

    token = _given.set(as_count("max_decompressed", n_bytes))
    try:
        yield
    finally:
        _given.reset(token)


def check_held(n_bytes: int, n_compressed: int, path: Path, *, is_streamed: bool = False) -> None:
    """Raise FileFormatError if a file of `n_compressed` bytes unpacks to more than may be held.

    A streamed file needs that much memory only if it is a single line, so for one a limit lower than the default is
    ignored.
    """
    allowed, given = max(_LEAST_ALLOWED, _LARGEST_RATIO * n_compressed), _given.get()
    if given is not None:
        allowed = max(allowed, given) if is_streamed else given
    if n_bytes > allowed:
        raise FileFormatError(
            f"it unpacks to more than {allowed:,} bytes, the most that may be held at once",
            hint=Advice("max_decompressed", when="if that is intended, "),
            path=path,
        )


def check_lines(block: bytes, path: Path, first_line: int) -> None:
    """Raise MalformedRowError for the first line of a block, complete or not, that is too long.

    Parameters
    ----------
    block : bytes
        From the start of a line.
    path : pathlib.Path
    first_line : int
        The number of its first line.
    """
    start = 0
    while len(block) - start > LONGEST_LINE:
        end = block.rfind(b"\n", start, start + LONGEST_LINE + 1)
        if end < 0:
            raise MalformedRowError(
                f"a line of more than {LONGEST_LINE:,} bytes, the longest allowed",
                hint="are there line ends?",
                path=path,
                line=first_line + block.count(b"\n", 0, start),
            )
        start = end + 1
