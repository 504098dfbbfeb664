"""Polars splits the rows of TREC files into fields; it may begin while the rest of the program is still imported.

This module and what it imports load no NumPy, so that a command can begin with its largest file first.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

import polars as pl

from deadheat.errors import DataError
from deadheat.io.forking import check_threads
from deadheat.io.hashing import doc_hash
from deadheat.io.kinds import SUBTOPIC, TREC_FIELDS, VALUE_COLUMN, Kind
from deadheat.io.limits import is_held
from deadheat.io.source import check_lines_of, misleads_polars, plain_head

ENDS_EARLY = "ends_early"
SMALL = 1 << 20  # bytes
ENDS_OF_NUMBERS = b"0123456789.fFnNyY"  # inf, nan and infinity are numbers too

_FilePart: TypeAlias = tuple[Path, int, int, Kind, str, bool]
_begun: dict[_FilePart, Future[pl.DataFrame | None]] = {}


def is_small(path: Path) -> bool:
    """Return whether a file is read into memory at once: there is nothing to gain by beginning with it early."""
    return path.is_file() and path.stat().st_size <= SMALL


def split(source: Path | bytes, kind: Kind, separator: str, *, to_the_end: bool = True) -> pl.DataFrame | None:
    """Let Polars split the rows; None where it cannot.

    Parameters
    ----------
    source : pathlib.Path or bytes
        An uncompressed file, or whole lines of one.
    kind : {"qrels", "run"}
    separator : str
        The blank between fields.
    to_the_end : bool, default True
        Whether the last field is looked at; the tag of a run takes a fifth of the time.

    Returns
    -------
    polars.DataFrame or None
        query_id, doc_id, of qrels the subtopic, the value, whether the row ends early if its last field is looked at,
        and of a run in a file the hash of each document id, which takes the least time while the id is at hand.
    """
    if _begun and isinstance(source, Path):
        begun = _begun.pop(_key(source, kind, separator, to_the_end=to_the_end), None)
        if begun is not None:
            return begun.result()
    if not source or (isinstance(source, bytes) and misleads_polars(source)):
        return None
    return _split(source, kind, separator, to_the_end=to_the_end)


def last_byte(head: bytes) -> int | None:
    r"""Return the byte that ends the first row, and with it the tag of a run; None if a number may end with it.

    A row that ends with it, and whose score is a number, does not end with its score: it has a tag.

    Examples
    --------
    >>> last_byte(b"q1 Q0 d1 1 0.5 BM\n") == ord("M"), last_byte(b"q1 Q0 d1 1 0.5 bm25\n")
    (True, None)
    """
    end = head.partition(b"\n")[0][-1:]
    return end[0] if end > b" " and end not in ENDS_OF_NUMBERS else None


def begin(path: Path) -> bool:
    """Begin to split a run in a thread, if it is TREC as it is mostly written; `split` waits for it.

    Nothing is reported from here: what is wrong with a file is seen, and said, when it is read.

    Returns
    -------
    bool
        Whether it has begun.
    """
    try:
        head = None if is_small(path) else plain_head(path)
        if not head or misleads_polars(head) or not is_held(path.stat().st_size, is_packed=False):
            return False
        check_lines_of(path)
    except (OSError, DataError):
        return False
    lines, separator = head.split(b"\n")[:-1], "\t" if b"\t" in head.partition(b"\n")[0] else " "
    n_fields = len(TREC_FIELDS["run"])
    if not lines or not all(len(line.split(separator.encode())) == n_fields == len(line.split()) for line in lines):
        return False
    check_threads()
    _begun.clear()  # one at a time, as each takes memory
    beside, to_the_end = ThreadPoolExecutor(1), last_byte(head) is None
    key = _key(path, "run", separator, to_the_end=to_the_end)
    _begun[key] = beside.submit(_split, path, "run", separator, to_the_end=to_the_end)
    beside.shutdown(wait=False)
    return True


def _key(path: Path, kind: Kind, separator: str, *, to_the_end: bool) -> _FilePart:
    """Name what is split, so that a file that has changed since is split again."""
    found = path.stat()
    return path, found.st_size, found.st_mtime_ns, kind, separator, to_the_end


def _split(source: Path | bytes, kind: Kind, separator: str, *, to_the_end: bool) -> pl.DataFrame | None:
    fields, value = TREC_FIELDS[kind], VALUE_COLUMN[kind]
    rows = pl.scan_csv(
        source,
        has_header=False,
        separator=separator,
        quote_char=None,
        schema={name: pl.Float64 if name == value else pl.String for name in fields},
        glob=False,
    )
    # Polars cuts a long row in silence; the count of blanks shows it, unless a short row makes up for it: seen here.
    more = [pl.col("iter").alias(SUBTOPIC)] if kind == "qrels" else []
    if kind == "run" and isinstance(source, Path):
        more.append(doc_hash())
    ends = [pl.col(fields[-1]).is_null().alias(ENDS_EARLY)] if to_the_end else []
    try:
        return rows.select("query_id", "doc_id", *more, value, *ends).collect(engine="streaming")
    except pl.exceptions.PolarsError:
        return None
