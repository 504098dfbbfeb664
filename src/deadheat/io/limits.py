"""Limits on files: the longest line, and how much may be unpacked into memory at once."""

import warnings
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from mmap import mmap
from pathlib import Path
from typing import Generic, TypeVar, cast

from deadheat.errors import Advice, DeadheatWarning, FileFormatError, MalformedRowError, as_count

T = TypeVar("T")
LONGEST_LINE = STEP = 1 << 24  # bytes
_LEAST_ALLOWED = 4_000_000_000
_LARGEST_RATIO = 200
LARGE = 1_500_000_000  # bytes of TREC text from which a run is read in blocks
ROW = 64  # bytes of memory for a row in a frame, beside its text; measured 49
_OBJECT = 150  # and for a field that becomes an object of Python; measured 96 in a table, 226 in JSON
_HELD = 3  # bytes of memory for a byte of TREC text
_PACKED = 4  # bytes of text in a compressed byte
_BYTES_PER_ROW = 500  # of memory, for each row that is read at a time
_MOST_ROWS, _FEWEST_ROWS = 1_000_000, 20_000  # read at a time
_given: ContextVar[int | None] = ContextVar("max_decompressed", default=None)
_memory: ContextVar[int | None] = ContextVar("max_memory", default=None)


def max_decompressed(n_bytes: float) -> AbstractContextManager[None]:
    """Set how many bytes may be unpacked from one file and held in memory at once.

    This concerns compressed files and whatever comes through a pipe; plain files are not limited. Counted are the text
    and about what its rows take, which of short rows is several times as much; of compressed TREC and LETOR, which are
    read piece by piece, the rows alone. The default limit is 4 GB or 200 times the size of the compressed file,
    whichever is larger.

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
    >>> with dh.max_decompressed(20_000_000_000):
    ...     pass  # dh.evaluate("qrels.csv.gz", "run.csv.gz")
    """
    return WithValue(_given, _checked(_given, n_bytes))


def max_memory(n_bytes: float) -> AbstractContextManager[None]:
    """Set about how much memory the rows of one run may take: a larger run is read in blocks, and never held.

    This concerns runs in TREC and Parquet files, also compressed ones, and lazy frames of Polars. By default a run is
    read in blocks from 1.5 GB of TREC text or 4 million rows of Parquet on. The judgments, and what is kept of the
    judged documents, come on top. In blocks the rows of a query should be adjacent, as those of runs are. A run where
    they are not is held after all, and so is what comes through a pipe or in another format; the report says so. What
    is wrong with a run is seen when it is evaluated, not when it is opened.

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
    return WithValue(_memory, _checked(_memory, n_bytes))


def _checked(limit: ContextVar[int | None], n_bytes: float) -> int:
    whole = int(n_bytes) if type(n_bytes) is float and n_bytes.is_integer() else n_bytes  # 1e9 is a usual way
    return as_count(limit.name, cast("int", whole))


class WithValue(AbstractContextManager[None], Generic[T]):
    """A value inside a with statement; it warns if it was never entered, where it would hold nowhere in silence."""

    def __init__(self, variable: ContextVar[T | None], value: T) -> None:
        self._variable, self._value = variable, value
        self._token: Token[T | None] | None = None

    def __enter__(self) -> None:
        self._token = self._variable.set(self._value)

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            self._variable.reset(self._token)

    def __del__(self) -> None:
        if self._token is None:
            name = self._variable.name
            warnings.warn(f"dh.{name}() holds for nothing: write with dh.{name}(...):", DeadheatWarning, 2)


def is_bounded() -> bool:
    """Tell whether :func:`max_memory` was set."""
    return _memory.get() is not None


def exceeds(n_bytes: int) -> bool:
    """Tell whether rows of this size are more than :func:`max_memory` allows."""
    most = _memory.get()
    return most is not None and n_bytes > most


def is_held(n_bytes: int, *, is_packed: bool) -> bool:
    """Tell whether a TREC file of this size is read into memory."""
    n_text, most = n_bytes * (_PACKED if is_packed else 1), _memory.get()
    return n_text < LARGE if most is None else n_text * _HELD <= most


def rows_at_a_time() -> int:
    """Return how many rows of a run that is not held are read at a time."""
    most = _memory.get()
    return _MOST_ROWS if most is None else min(max(most // _BYTES_PER_ROW, _FEWEST_ROWS), _MOST_ROWS)


def most_rows(default: int) -> int:
    """Return the number of rows from which a run that could be held is not, if it is `default` without a bound."""
    most = _memory.get()
    return default if most is None else min(default, most // _BYTES_PER_ROW)


def held_of(text: bytes, *, as_objects: bool) -> int:
    r"""Return about how many bytes of memory a text takes with what is made of it.

    Parameters
    ----------
    text : bytes
    as_objects : bool
        Whether its fields become objects of Python, not rows of a frame.

    Examples
    --------
    >>> held_of(b"q,d,1\n", as_objects=False), held_of(b"q,d,1\n", as_objects=True)
    (70, 456)
    """
    n_fields = sum(map(text.count, (b",", b";", b"\t", b"\n"))) if as_objects else 0
    return len(text) + (_OBJECT * n_fields if as_objects else ROW * text.count(b"\n"))


def check_held(n_bytes: int, n_compressed: int, path: Path, *, is_streamed: bool = False) -> None:
    """Raise FileFormatError if a file of `n_compressed` bytes unpacks to more than may be held.

    A streamed file needs that much memory only if it is a single line or has very many rows, so for one a limit lower
    than the default is ignored.
    """
    allowed, given = max(_LEAST_ALLOWED, _LARGEST_RATIO * n_compressed), _given.get()
    if given is not None:
        allowed = max(allowed, given) if is_streamed else given
    if n_bytes > allowed:
        raise FileFormatError(
            f"its content takes more than {allowed:,} bytes, the most that may be held at once",
            hint=Advice("max_decompressed", when="if that is intended, "),
            path=path,
        )


def check_lines(block: bytes | mmap, path: Path, first_line: int) -> None:
    """Raise MalformedRowError for the first line of a block, complete or not, that is too long.

    Parameters
    ----------
    block : bytes or mmap
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
                line=first_line + sum(block[n : min(n + STEP, start)].count(b"\n") for n in range(0, start, STEP)),
            )
        start = end + 1
