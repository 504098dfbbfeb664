"""How much of a file is held: the longest line, and what is unpacked into memory at once."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from deadheat.arguments import as_count
from deadheat.errors import FileFormatError, MalformedRowError
from deadheat.wording import Advice

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONGEST_LINE = 1 << 24  # bytes
_LEAST_ALLOWED = 4_000_000_000
_LARGEST_RATIO = 200
_given: ContextVar[int | None] = ContextVar("max_decompressed", default=None)


@contextmanager
def max_decompressed(n_bytes: int) -> Iterator[None]:
    """Allow this many bytes, and not more, to be unpacked from one file and held in memory at once.

    CSV, TSV, JSON, JSON Lines and whatever comes through a pipe are held; compressed TREC is read piece by piece, and
    plain files have the size that they have. Without this, the limit is the larger of 4 GB and 200 times the size of
    the compressed file.

    Parameters
    ----------
    n_bytes : int
        At least 1.

    Raises
    ------
    ParameterError
        If it is no whole number from 1 on.

    Examples
    --------
    >>> import deadheat as dh
    >>> with dh.max_decompressed(20_000_000_000):
    ...     pass  # dh.evaluate("qrels.csv.gz", "run.csv.gz")
    """
    token = _given.set(as_count("max_decompressed", n_bytes))
    try:
        yield
    finally:
        _given.reset(token)


def check_held(n_bytes: int, n_compressed: int, path: Path, *, is_streamed: bool = False) -> None:
    """Raise FileFormatError if a file of `n_compressed` bytes unpacks to more than may be held.

    What is streamed can hold as much only if it is one line, and is refused only where nobody would expect it.
    """
    allowed, given = max(_LEAST_ALLOWED, _LARGEST_RATIO * n_compressed), _given.get()
    if given is not None:
        allowed = max(allowed, given) if is_streamed else given
    if n_bytes > allowed:
        problem = f"unpacked it is more than {allowed:,} bytes, the most that may be held at once"
        hint = Advice("max_decompressed", when="if it is meant so, ")
        raise FileFormatError(problem, hint=hint, path=path)


def check_lines(block: bytes, path: Path, first_line: int) -> None:
    """Raise MalformedRowError for the first line of a block, whole or not, that is too long.

    Parameters
    ----------
    block : bytes
        It begins with a line.
    path : pathlib.Path
    first_line : int
        The number of that line.
    """
    start = 0
    while len(block) - start > LONGEST_LINE:
        end = block.rfind(b"\n", start, start + LONGEST_LINE + 1)
        if end < 0:
            raise MalformedRowError(
                f"a line of more than {LONGEST_LINE:,} bytes, the most that one may have",
                hint="are there line ends?",
                path=path,
                line=first_line + block.count(b"\n", 0, start),
            )
        start = end + 1
