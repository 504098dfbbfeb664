"""Polars splits the rows of TREC files into fields; it may begin while the rest of the program is still imported.

This module and what it imports load no NumPy, so that a command can begin with its largest file first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from deadheat.core.errors import DataError
from deadheat.core.io.files import check_file_lines, misleads_polars, read_plain_head
from deadheat.core.io.guarding import check_threads
from deadheat.core.io.kinds import SUBTOPIC, TREC_FIELDS, VALUE_COLUMN, Kind
from deadheat.core.io.memory_limits import fits_in_memory, is_bounded
from deadheat.core.io.unpacking import open_file
from deadheat.core.libraries import polars as pl
from deadheat.core.structures import T

DOC_HASH = "doc_hash"
HASH_BITS = 32  # that are kept of each: half the memory to sort


def hash_doc_ids() -> pl.Expr:
    """Return the high bits of the hash of each doc_id, as a column of UInt32 that is named `DOC_HASH`."""
    return (pl.col("doc_id").hash(1) // 2 ** (64 - HASH_BITS)).cast(pl.UInt32).alias(DOC_HASH)


ENDS_EARLY, RANK = "ends_early", "rank"
SMALL = 1 << 20  # bytes
TOGETHER = 1 << 18  # bytes of each run, up to which they are split faster as one text
ENDS_OF_NUMBERS = b"0123456789.fFnNyY"  # inf, nan and infinity are numbers too

PIECE = 1 << 25  # bytes of files that are split together
MOST_FILES = 64  # at once: Polars waits for ever where more than some hundred are read together
LOOKED = 20  # lines that say whether a file is as it is mostly written

_Split: TypeAlias = tuple[Path | bytes, Kind, str, bool]
_FilePart: TypeAlias = tuple[Path, int, int, Kind, str, bool]


class Begun(NamedTuple):
    """A run that threads are splitting, alone or together with others.

    Attributes
    ----------
    part : tuple
        What is split, and how (`_key`): a file that changed since, or is read in another way, is split again.
    frames : Future of list of polars.DataFrame or None
        Those of all that are split together. If these are several, each has a column `RANK`, which the reader takes
        off; of a run that was split alone the reader looks up the ranks of the first rows by itself.
    place : int
        Which of the frames is that of this run.
    blanks : Future of Blanks
        The count of its blanks.
    """

    part: _FilePart
    frames: Future[list[pl.DataFrame | None]]
    place: int
    blanks: Future[Any]


# By file. `begin` fills it while the rest of a command is still imported, `group_in_pieces` while the runs before are
# evaluated. `split` takes a file out, so its reader asks for `is_begun` and `get_begun_count` before that.
_begun: dict[Path, Begun] = {}


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
        and of a run in a file the hash of each document id, which takes the least time while the id is at hand; of
        one that was begun with others, the rank too.
    """
    if isinstance(source, Path) and source in _begun:
        begun = _begun.pop(source)
        if begun.part == _key(source, kind, separator, to_the_end=to_the_end):
            return begun.frames.result()[begun.place]
    if not source or (isinstance(source, bytes) and misleads_polars(source)):
        return None
    return _split([(source, kind, separator, to_the_end)])[0]


def is_begun(path: Path) -> bool:
    """Return whether a file is being split already."""
    return path in _begun


def get_begun_count(path: Path, kind: Kind, separator: str, *, to_the_end: bool) -> Future[Any] | None:
    """Return the count of the blanks of a file that is being split already; arguments as of `split`."""
    begun = _begun.get(path)
    if begun is None or begun.part != _key(path, kind, separator, to_the_end=to_the_end):
        return None
    return begun.blanks


def find_last_byte(head: bytes) -> int | None:
    r"""Return the byte that ends the first row, and with it the tag of a run; None if a number may end with it.

    A row that ends with it, and whose score is a number, does not end with its score: it has a tag.

    Examples
    --------
    >>> find_last_byte(b"q1 Q0 d1 1 0.5 BM\n") == ord("M"), find_last_byte(b"q1 Q0 d1 1 0.5 bm25\n")
    (True, None)
    """
    end = head.partition(b"\n")[0][-1:]
    return end[0] if end > b" " and end not in ENDS_OF_NUMBERS else None


def begin(sizes: Mapping[Path, int]) -> None:
    """Begin to split runs in a thread, those that are TREC as it is mostly written; `split` waits for them.

    Nothing is reported from here: what is wrong with a file is seen, and said, when it is read.

    Parameters
    ----------
    sizes : mapping of pathlib.Path to int
        The bytes of files. The first runs are begun, up to `PIECE` in all, as each takes memory.
    """
    _begun.clear()
    piece, n_bytes = list[Path](), 0
    for path in filter(_form_of, sizes):
        n_bytes += sizes[path]
        if piece and (n_bytes > PIECE or len(piece) == MOST_FILES):
            break
        piece.append(path)
    beside = ThreadPoolExecutor(2)
    _begin(piece, beside)
    beside.shutdown(wait=False)


def group_in_pieces(items: Sequence[T], path_of: Callable[[T], Path | None]) -> Iterator[list[T]]:
    """Yield items in lists with files of about `PIECE` bytes; those of the next list are split meanwhile.

    Parameters
    ----------
    items : sequence
        Runs that are to be read, or whatever has one.
    path_of : callable
        Returns the file of an item, None if it has none.
    """
    pieces: list[tuple[list[T], list[Path]]] = []
    n_bytes = 0
    for item in items:
        path = path_of(item)
        size = path.stat().st_size if path is not None and os.path.isfile(path) else 0  # noqa: PTH113 - never raises
        n_bytes += size
        if not pieces or n_bytes > PIECE or len(pieces[-1][1]) == MOST_FILES or is_bounded():
            pieces.append(([], []))
            n_bytes = size
        pieces[-1][0].append(item)
        pieces[-1][1].extend([path] if path is not None and size else [])
    beside = ThreadPoolExecutor(2)
    try:
        for n, (piece, _) in enumerate(pieces):
            for _, paths in pieces[n + (n > 0) : n + 2]:
                if len(paths) > 1:
                    _begin(paths, beside)
            yield piece
    finally:
        beside.shutdown(wait=False, cancel_futures=True)
        _begun.clear()  # of a piece that could not be read


def _begin(paths: Sequence[Path], beside: Executor) -> None:
    """Begin to split runs that are TREC as it is mostly written, and to count their blanks, in threads."""
    usual = [(path, *form) for path in dict.fromkeys(paths) if not is_begun(path) and (form := _form_of(path))]
    if usual:
        check_threads()
        frames = beside.submit(_split, [(path, "run", separator, end is None) for path, separator, end in usual])
        from deadheat.core.io.byte_counts import count_blanks  # loads NumPy, while the rows are split

        for place, (path, separator, end) in enumerate(usual):
            part = _key(path, "run", separator, to_the_end=end is None)
            _begun[path] = Begun(part, frames, place, beside.submit(count_blanks, path, end))


def _form_of(path: Path) -> tuple[str, int | None] | None:
    """Return a run's separator, and the byte that ends its rows (`find_last_byte`); None if it is not as most are."""
    try:
        head = read_plain_head(path)
        if not head or misleads_polars(head) or not fits_in_memory(path.stat().st_size, is_packed=False):
            return None
        check_file_lines(path)
    except (OSError, DataError):
        return None
    lines, separator = head.split(b"\n", LOOKED)[:-1], "\t" if b"\t" in head.partition(b"\n")[0] else " "
    counts = {len(own) for line in lines for own in (line.split(), line.split(separator.encode()))}
    return (separator, find_last_byte(head)) if counts == {len(TREC_FIELDS["run"])} else None


def _key(path: Path, kind: Kind, separator: str, *, to_the_end: bool) -> _FilePart:
    """Name what is split, so that a file that has changed since is split again."""
    found = path.stat()
    return path, found.st_size, found.st_mtime_ns, kind, separator, to_the_end


def _split(sources: Sequence[_Split]) -> list[pl.DataFrame | None]:
    """Split sources at once; each by itself if Polars cannot split one of them. Of several, ranks are read too."""
    try:
        if len(sources) > 1 and (frames := _split_as_one(sources)):
            return [*frames]
        rows = [_scanned(*source, with_rank=len(sources) > 1) for source in sources]
        return [*pl.collect_all(rows, engine="streaming")]
    except pl.exceptions.PolarsError:
        return [None] if len(sources) == 1 else [_split([source])[0] for source in sources]


def _split_as_one(sources: Sequence[_Split]) -> list[pl.DataFrame]:
    """Split small runs one below the other, those of a thousand rows in half the time; empty where that cannot be."""
    paths, forms = zip(*((path, form) for path, *form in sources), strict=True)
    if any(form != forms[0] for form in forms) or any(path.stat().st_size > TOGETHER for path in paths):
        return []
    texts = []
    for path in paths:
        with open_file(path) as file:
            texts.append(file.read())
    if not all(text.endswith(b"\n") for text in texts):
        return []
    rows = _scanned(b"".join(texts), *forms[0], with_rank=True).collect(engine="streaming")
    sizes = [text.count(b"\n") for text in texts]
    ends = [*accumulate(sizes)]
    return [rows[end - n : end] for n, end in zip(sizes, ends, strict=True)] if rows.height == ends[-1] else []


def _scanned(
    source: Path | bytes,
    kind: Kind,
    separator: str,
    to_the_end: bool,  # noqa: FBT001 - part of what is begun
    *,
    with_rank: bool,
) -> pl.LazyFrame:
    """Return the rows of a source as they are to be split."""
    fields, value = TREC_FIELDS[kind], VALUE_COLUMN[kind]
    types = {value: pl.Float64, **({RANK: pl.Int64} if with_rank else {})}
    rows = pl.scan_csv(
        source,
        has_header=False,
        separator=separator,
        quote_char=None,
        schema={name: types.get(name, pl.String) for name in fields},
        glob=False,
    )
    # Polars cuts a long row in silence; the count of blanks shows it, unless a short row makes up for it: seen here.
    more = [pl.col("iter").alias(SUBTOPIC)] if kind == "qrels" else []
    if kind == "run" and (with_rank or isinstance(source, Path)):
        more.append(hash_doc_ids())
    more += [pl.col(RANK)] if with_rank else []
    ends = [pl.col(fields[-1]).is_null().alias(ENDS_EARLY)] if to_the_end else []
    return rows.select("query_id", "doc_id", *more, value, *ends)
