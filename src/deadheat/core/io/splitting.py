"""Polars splits the rows of TREC files into fields; it may begin while the rest of the program is still imported.

This module and what it imports load no NumPy, so that a command can begin with its largest file first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, Generic, Self

from deadheat.core.errors import DataError
from deadheat.core.io.files import check_file_lines, misleads_polars, read_plain_head
from deadheat.core.io.guarding import check_threads
from deadheat.core.io.id_hashes import hash_doc_ids
from deadheat.core.io.kinds import SUBTOPIC, TREC_FIELDS, VALUE_COLUMN, Kind
from deadheat.core.io.memory_limits import fits_in_memory, is_bounded
from deadheat.core.io.unpacking import open_file
from deadheat.core.libraries import polars as pl
from deadheat.core.structures import T

# Columns that `split` adds to those of the file
ENDS_EARLY = "ends_early"
RANK = "rank"

SMALL = 1 << 20  # bytes up to which a file is read at once
SMALL_OF_SEVERAL = 1 << 18  # bytes up to which several runs are split faster as one text
ENDS_OF_NUMBERS = b"0123456789.fFnNyY"  # inf, nan and infinity are numbers too

PIECE = 1 << 25  # bytes of files that are split together
MOST_FILES = 64  # of a piece: Polars waits for ever where more than some hundred files are read together
N_SAMPLED = 20  # lines that show whether a file is written as most are


@dataclass(frozen=True)
class SplitSource:
    """Rows to split, and how.

    Attributes
    ----------
    source : pathlib.Path or bytes
        An uncompressed file, or whole lines of one.
    kind : {"qrels", "run"}
    separator : str
        The blank between fields.
    reads_last_field : bool
        Whether Polars reads the last field, which shows where a row ends early.
    """

    source: Path | bytes
    kind: Kind
    separator: str
    reads_last_field: bool


@dataclass(frozen=True)
class _SplitRequest:
    """A file as it was, and how it was to be split: where its reader asks for something else, it is split again."""

    path: Path
    size: int
    changed_at: int
    kind: Kind
    separator: str
    reads_last_field: bool

    @classmethod
    def of(cls, path: Path, kind: Kind, separator: str, *, reads_last_field: bool) -> Self:
        """Return the request for a file as it is now."""
        status = path.stat()
        return cls(path, status.st_size, status.st_mtime_ns, kind, separator, reads_last_field)


@dataclass(frozen=True, eq=False)
class Begun:
    """A run that threads are splitting, alone or together with others.

    Attributes
    ----------
    request : _SplitRequest
    frames : Future of list of polars.DataFrame or None
        A frame for each run that is split together with this one. If there are several, each has a column `RANK`,
        which its reader takes off. A run that is split alone has none: its reader parses the first ranks by itself.
    place : int
        The place of this run's frame among them.
    blanks : Future of Blanks
        The count of this run's blanks.
    """

    request: _SplitRequest
    frames: Future[list[pl.DataFrame | None]]
    place: int
    blanks: Future[Any]


@dataclass(frozen=True)
class _UsualForm:
    """How a TREC run is written, if it is written as most runs are.

    Attributes
    ----------
    separator : str
    last_byte : int or None
        The byte that ends its rows, by `find_last_byte`.
    """

    separator: str
    last_byte: int | None


# The runs that threads are splitting, by file. `begin` adds to it while the rest of a command is still imported, and
# `group_in_pieces` while the runs of the piece before are evaluated. `split` takes a file out: a reader has to ask
# `is_begun` and `get_begun_blanks` first.
_begun: dict[Path, Begun] = {}


def is_small(path: Path) -> bool:
    """Return whether a file is so small that it is read at once, and that to begin with it early gains nothing."""
    return path.is_file() and path.stat().st_size <= SMALL


def split(source: Path | bytes, kind: Kind, separator: str, *, reads_last_field: bool = True) -> pl.DataFrame | None:
    """Let Polars split the rows; None where it cannot.

    Parameters
    ----------
    source : pathlib.Path or bytes
        An uncompressed file, or whole lines of one.
    kind : {"qrels", "run"}
    separator : str
        The blank between fields.
    reads_last_field : bool, default True
        Whether Polars reads the last field, too; of a run that is the tag, which takes a fifth of the time.

    Returns
    -------
    polars.DataFrame or None
        query_id, doc_id and the value; of qrels the subtopic. `ENDS_EARLY` says whether a row lacks its last field, if
        that is read. A run in a file has `DOC_HASH`, the hash of each document id, which takes the least time while
        the id is at hand; one that was begun together with others has its `RANK`, too.
    """
    if isinstance(source, Path) and source in _begun:
        begun = _begun.pop(source)
        if begun.request == _SplitRequest.of(source, kind, separator, reads_last_field=reads_last_field):
            return begun.frames.result()[begun.place]
    if not source or (isinstance(source, bytes) and misleads_polars(source)):
        return None
    (frame,) = _split_together([SplitSource(source, kind, separator, reads_last_field)])
    return frame


def is_begun(path: Path) -> bool:
    """Return whether a file is being split already."""
    return path in _begun


def get_begun_blanks(path: Path, kind: Kind, separator: str, *, reads_last_field: bool) -> Future[Any] | None:
    """Return the count of the blanks of a file that is being split already; arguments as of `split`."""
    begun = _begun.get(path)
    if begun is None or begun.request != _SplitRequest.of(path, kind, separator, reads_last_field=reads_last_field):
        return None
    return begun.blanks


def find_last_byte(head: bytes) -> int | None:
    r"""Return the last byte of a run's first row, if a row that ends with it must have a tag; else None.

    A row without a tag ends with its score. No number ends with M, for example, so a row that ends with M has a tag,
    and nobody needs to read it. Many tags end with a digit, as numbers do: these have to be read.

    Examples
    --------
    >>> find_last_byte(b"q1 Q0 d1 1 0.5 BM\n") == ord("M"), find_last_byte(b"q1 Q0 d1 1 0.5 bm25\n")
    (True, None)
    """
    first_row, _, _ = head.partition(b"\n")
    end = first_row[-1:]
    if end <= b" " or end in ENDS_OF_NUMBERS:
        return None
    return end[0]


def begin(sizes: Mapping[Path, int]) -> None:
    """Begin to split runs in a thread, those that are TREC as it is mostly written; `split` waits for them.

    Nothing is reported from here: what is wrong with a file is seen, and said, when it is read.

    Parameters
    ----------
    sizes : mapping of pathlib.Path to int
        The bytes of files. The first runs are begun, up to `PIECE` in all, as each takes memory.
    """
    _begun.clear()
    piece: list[Path] = []
    n_bytes = 0
    for path in sizes:
        if _find_usual_form(path) is None:
            continue
        n_bytes += sizes[path]
        if piece and (n_bytes > PIECE or len(piece) == MOST_FILES):
            break
        piece.append(path)
    threads = ThreadPoolExecutor(2)
    _begin_together(piece, threads)
    threads.shutdown(wait=False)


@dataclass(frozen=True)
class _Piece(Generic[T]):
    """Items whose files are split together, and these files."""

    items: list[T] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)


def group_in_pieces(items: Sequence[T], path_of: Callable[[T], Path | None]) -> Iterator[list[T]]:
    """Yield items in lists with files of about `PIECE` bytes; those of the next list are split meanwhile.

    Parameters
    ----------
    items : sequence
        Runs that are to be read, or whatever has one.
    path_of : callable
        Returns the file of an item, None if it has none.
    """
    pieces: list[_Piece[T]] = []
    n_bytes = 0
    for item in items:
        path = path_of(item)
        size = 0
        if path is not None and os.path.isfile(path):  # noqa: PTH113 - never raises
            size = path.stat().st_size
        n_bytes += size
        if not pieces or n_bytes > PIECE or len(pieces[-1].paths) == MOST_FILES or is_bounded():
            pieces.append(_Piece())
            n_bytes = size
        pieces[-1].items.append(item)
        if path is not None and size:
            pieces[-1].paths.append(path)
    threads = ThreadPoolExecutor(2)

    def begin_piece(piece: _Piece[T]) -> None:
        if len(piece.paths) > 1:  # a single run is split when it is read
            _begin_together(piece.paths, threads)

    try:
        for place, piece in enumerate(pieces):
            if place == 0:
                begin_piece(piece)
            if place + 1 < len(pieces):
                begin_piece(pieces[place + 1])
            yield piece.items
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        _begun.clear()  # of a piece that could not be read


def _begin_together(paths: Sequence[Path], threads: Executor) -> None:
    """Begin to split runs that are written as most are, and to count their blanks, in threads."""
    forms: dict[Path, _UsualForm] = {}
    for path in dict.fromkeys(paths):
        form = None if is_begun(path) else _find_usual_form(path)
        if form is not None:
            forms[path] = form
    if not forms:
        return
    check_threads()
    sources = []
    for path, form in forms.items():
        sources.append(SplitSource(path, "run", form.separator, reads_last_field=form.last_byte is None))
    frames = threads.submit(_split_together, sources)
    from deadheat.core.io.byte_counts import count_blanks  # loads NumPy, while the rows are split

    for place, (path, form) in enumerate(forms.items()):
        request = _SplitRequest.of(path, "run", form.separator, reads_last_field=form.last_byte is None)
        blanks = threads.submit(count_blanks, path, form.last_byte)
        _begun[path] = Begun(request, frames, place, blanks)


def _find_usual_form(path: Path) -> _UsualForm | None:
    """Return how a run is written; None if it is not written as most are, or cannot be read."""
    try:
        head = read_plain_head(path)
        if not head or misleads_polars(head) or not fits_in_memory(path.stat().st_size, is_packed=False):
            return None
        check_file_lines(path)
    except (OSError, DataError):
        return None
    lines = head.split(b"\n", N_SAMPLED)[:-1]  # without the last one, which may go on
    if not lines:
        return None
    separator = "\t" if b"\t" in lines[0] else " "
    n_fields = len(TREC_FIELDS["run"])
    for line in lines:
        if len(line.split()) != n_fields or len(line.split(separator.encode())) != n_fields:
            return None
    return _UsualForm(separator, find_last_byte(head))


def _split_together(sources: Sequence[SplitSource]) -> list[pl.DataFrame | None]:
    """Return the rows of each source, with ranks if there are several; None for one that Polars cannot split."""
    are_several = len(sources) > 1
    try:
        if are_several:
            frames = _split_as_one(sources)
            if frames:
                return [*frames]
        rows = [_scan_rows(source, with_rank=are_several) for source in sources]
        return [*pl.collect_all(rows, engine="streaming")]
    except pl.exceptions.PolarsError:
        if not are_several:
            return [None]
        return [_split_together([source])[0] for source in sources]  # one of them cannot be split: which?


def _split_as_one(sources: Sequence[SplitSource]) -> list[pl.DataFrame]:
    """Return the rows of small runs, split as one text; an empty list where they cannot be joined.

    For runs of a thousand rows that takes half the time.
    """
    ways = {(source.kind, source.separator, source.reads_last_field) for source in sources}
    paths = [source.source for source in sources if isinstance(source.source, Path)]
    if len(ways) > 1 or len(paths) < len(sources) or any(path.stat().st_size > SMALL_OF_SEVERAL for path in paths):
        return []
    texts = []
    for path in paths:
        with open_file(path) as file:
            texts.append(file.read())
    if not all(text.endswith(b"\n") for text in texts):
        return []
    rows = _scan_rows(replace(sources[0], source=b"".join(texts)), with_rank=True).collect(engine="streaming")
    n_rows = [text.count(b"\n") for text in texts]
    ends = list(accumulate(n_rows))
    if rows.height != ends[-1]:
        return []
    return [rows[end - n : end] for n, end in zip(n_rows, ends, strict=True)]


def _scan_rows(source: SplitSource, *, with_rank: bool) -> pl.LazyFrame:
    """Return the plan by which Polars splits the rows of a source."""
    fields = TREC_FIELDS[source.kind]
    value = VALUE_COLUMN[source.kind]
    schema: dict[str, Any] = dict.fromkeys(fields, pl.String)
    schema[value] = pl.Float64
    if with_rank:
        schema[RANK] = pl.Int64
    rows = pl.scan_csv(
        source.source,
        has_header=False,
        separator=source.separator,
        quote_char=None,
        schema=schema,
        glob=False,
    )
    columns = [pl.col("query_id"), pl.col("doc_id")]
    if source.kind == "qrels":
        columns.append(pl.col("iter").alias(SUBTOPIC))
    if source.kind == "run" and (with_rank or isinstance(source.source, Path)):
        columns.append(hash_doc_ids())
    if with_rank:
        columns.append(pl.col(RANK))
    columns.append(pl.col(value))
    if source.reads_last_field:
        # Polars cuts a long row in silence. The count of blanks shows that, unless a short row makes up for it: a short
        # row is seen here.
        columns.append(pl.col(fields[-1]).is_null().alias(ENDS_EARLY))
    return rows.select(columns)
