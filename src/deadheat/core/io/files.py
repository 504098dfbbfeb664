"""Files: opened, unpacked within limits and read in blocks of whole lines; written so that each is whole; locked.

What is written goes to a temporary file beside the target, which is renamed when it is complete.
"""

from __future__ import annotations

import codecs
import errno
import filecmp
import hashlib
import io
import mmap
import os
import re
import shutil
import stat
import tempfile
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from contextvars import ContextVar, Token
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, Literal, Self, cast

from deadheat.core.checks import as_count
from deadheat.core.errors import Advice, DataError, DeadheatWarning, FileFormatError, MalformedRowError, ParameterError
from deadheat.core.io.guarding import errors_of_writing, note_file
from deadheat.core.io.kinds import VALUE_COLUMN, Kind
from deadheat.core.io.unpacking import COMPRESSED, HEAD, compression, opened, unpacked
from deadheat.core.libraries import polars as pl
from deadheat.core.scalars import LARGEST_INTEGER
from deadheat.core.structures import T
from deadheat.core.wording import did_you_mean, escape_invisible, format_list

LONGEST_LINE = STEP = 1 << 24  # bytes
_LEAST_ALLOWED = 4_000_000_000
_LARGEST_RATIO = 200
LARGE_TEXT = 1_500_000_000  # bytes of TREC text from which a run is read in blocks
ROW = 64  # bytes of memory for a row in a frame, beside its text; measured 49
_OBJECT = 150  # and for a field that becomes an object of Python; measured 96 in a table, 226 in JSON
_PER_TREC_BYTE = 3  # bytes of memory
_PACKED = 4  # bytes of text in a compressed byte
_BYTES_PER_ROW = 500  # of memory, for each row that is read at a time
_MOST_ROWS, _FEWEST_ROWS = 1_000_000, 20_000  # read at a time
_max_memory: ContextVar[int | None] = ContextVar("max_memory", default=None)
BLOCK = 1 << 24
CATALOGUE = "ir_datasets:"  # before the name of a data set
PATTERN = frozenset("*?[")  # in the name of a file: characters that stand for others
BOM = b"\xef\xbb\xbf"
_ZLIB = (b"x\x01", b"x^", b"x\x9c", b"x\xda")
_FOREIGN = {
    **dict.fromkeys(COMPRESSED, "a file that is compressed twice (unpack it once)"),
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ\x00": "an xz archive",
    b"PK\x03\x04": "a zip archive",
    b"PAR1": "a Parquet file",
    b"\x89PNG": "a PNG image",
    b"%PDF": "a PDF document",
    b"\xff\xfe": "UTF-16 text (save it as UTF-8)",
    b"\xfe\xff": "UTF-16 text (save it as UTF-8)",
}


def in_catalogue(source: object) -> bool:
    """Return whether a source is a name such as ``ir_datasets:vaswani``."""
    return isinstance(source, str) and source.startswith(CATALOGUE)


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return a path; raise for what is none, and for an empty name, which `Path` takes for the current folder."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(argument="path", given=path, allowed="a path: text, or a pathlib.Path")
    if not os.fspath(path):
        raise DataError("the file name is empty", allowed="a path")
    return Path(path)


def check_readable(path: str | os.PathLike[str]) -> Path:
    """Return the path, or raise DataError if there is no file that can be read."""
    path = check_path(path)
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise DataError("the file name is not UTF-8, and Polars cannot open it: rename the file", path=path) from None
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise DataError(f"is a link to {path.readlink()}, which does not exist", path=path) from None
        raise DataError("no such file", hint=_meant(path), path=path) from None
    except (OSError, ValueError) as error:  # a name that is too long, a folder that may not be entered, a NUL
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise DataError(f"cannot be opened: {reason}", path=path) from None
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        raise DataError("is a directory", allowed="a file", path=path)
    if not os.access(path, os.R_OK):
        raise DataError("permission denied", allowed="a file that can be read", path=path)
    if (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and _is_endless(path):
        raise DataError("is a device", allowed="a file or a pipe", path=path)
    note_file(status)
    return path


@dataclass(frozen=True)
class FileState:
    """What shows that a file is still what it was when it was first read.

    Attributes
    ----------
    path : pathlib.Path
    size : int
        In bytes.
    changed_at : int
        When it was last written, in nanoseconds.
    number : int
        That the file system has for it: another file under this name has another one.
    """

    path: Path
    size: int
    changed_at: int
    number: int

    @classmethod
    def of(cls, path: Path) -> Self:
        """Return the state of a file; of one that is not there all numbers are -1."""
        try:
            facts = path.stat()
        except OSError:
            return cls(path, -1, -1, -1)
        return cls(path, facts.st_size, facts.st_mtime_ns, facts.st_ino)

    def check(self) -> None:
        """Raise `DataError` if the file is another one now, or was written since."""
        if FileState.of(self.path) != self:
            raise DataError(
                "changed since it was first read, and has to be read again, as it is larger than memory",
                hint="evaluate it again",
                path=self.path,
            )


def _meant(path: Path) -> str:
    """Say what a path that leads to no file may have meant."""
    if not PATTERN.isdisjoint(path.name):
        return "a pattern names Parquet files for an engine: polars, duckdb or spark"
    return did_you_mean(path.name, [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else [])


def _is_endless(path: Path) -> bool:
    """Return whether a device has no end, such as /dev/zero or a disk, not a terminal or /dev/null."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        return not os.isatty(descriptor) and os.fstat(descriptor).st_rdev != Path(os.devnull).stat().st_rdev
    finally:
        os.close(descriptor)


def plain_head(path: Path) -> bytes | None:
    """Return the first bytes of an uncompressed file, None for a compressed one, a pipe or a device."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(HEAD)
    return None if compression(head) else head


def refuse_binary(data: bytes, path: Path) -> None:
    """Raise FileFormatError if the first bytes show that a file is not text."""
    head = data[:HEAD]
    refuse_repeated_mark(head, path)
    with suppress(UnicodeDecodeError):
        codecs.getincrementaldecoder("utf-8")().decode(head)  # whose last character may be incomplete
        if b"\0" not in head:
            return  # an id may begin like a magic number
    kind = next((name for magic, name in _FOREIGN.items() if head.startswith(magic)), None)
    # in UTF-16 about every other byte is NUL; a few are named by their lines, later
    if kind is None and head.count(b"\0") >= len(head) / 8:
        kind = "a binary file or UTF-16 text"
    if kind is not None:
        raise FileFormatError(
            allowed="text in UTF-8",
            found=kind,
            hint=Advice("format", "parquet", ".parquet") if head.startswith(b"PAR1") else None,
            path=path,
        )


def refuse_repeated_mark(head: bytes, path: Path) -> None:
    """Raise FileFormatError if a file begins with two byte order marks, as only one would be removed."""
    if head.startswith(BOM * 2):
        raise FileFormatError(
            "two byte order marks", allowed="one or none", hint="the file is damaged", path=path, line=1
        )


def misleads_polars(head: bytes) -> bool:
    """Return whether Polars would take the beginning of a text, such as a query x^2, for a magic number or a mark."""
    return head.startswith((*COMPRESSED, *_ZLIB, BOM))


def blocks(path: Path, size: int = BLOCK) -> Iterator[bytes]:
    """Yield the decompressed file without its byte order mark, in blocks of about `size` bytes of whole lines.

    Raises
    ------
    FileFormatError
        If a compressed file is truncated or damaged, or a line is too long.
    """
    with opened(path) as file:
        pieces = whole_lines(unpacked(file, path, size), path)
        first = next(pieces, b"")
        refuse_repeated_mark(first, path)
        yield first.removeprefix(BOM)
        yield from pieces


def read_all(path: Path, *, has_lines: bool = False, as_objects: bool = False, per_byte: int = 1) -> bytes:
    """Return the decompressed text of a file, without a byte order mark.

    Parameters
    ----------
    path : pathlib.Path
    has_lines : bool, default False
        Whether the format has lines: then none may be too long.
    as_objects : bool, default False
        Whether each field becomes an object of Python, which takes more memory than a row of a frame.
    per_byte : int, default 1
        Bytes of memory that a byte of text takes.

    Raises
    ------
    FileFormatError
        As for `blocks`; also if the file does not begin like text, or if it is compressed or a pipe and too large to be
        held in memory.
    """
    text = io.BytesIO()  # which grows in place, where joining pieces would hold them twice
    n_held, is_plain = 0, plain_head(path) is not None
    n_packed = path.stat().st_size  # 0 for a pipe
    with opened(path) as file:
        pieces = unpacked(file, path, BLOCK)
        for piece in whole_lines(pieces, path) if has_lines else pieces:
            if not text.tell():
                refuse_binary(piece, path)
            if not is_plain:
                n_parts = sum(map(piece.count, (b",", b";", b"\t", b"\n"))) if as_objects else piece.count(b"\n")
                n_held += per_byte * len(piece) + n_parts * (_OBJECT if as_objects else ROW)
                check_held(n_held, n_packed, path)
            text.write(piece)
    return text.getvalue().removeprefix(BOM)  # the mark may be in two members of a compressed file


def check_rows(n_bytes: int, path: Path) -> None:
    """Raise FileFormatError if rows of so many bytes are more than a compressed file or a pipe may make in memory."""
    if plain_head(path) is None:
        check_held(n_bytes, path.stat().st_size, path)


def check_lines_of(path: Path) -> None:
    """Raise MalformedRowError if an uncompressed file has a line that is too long, before anything is parsed.

    So little of the file is read: a newline is looked for backwards from where the longest line would end.
    """
    if path.stat().st_size > LONGEST_LINE:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            check_lines(data, path, 1)


def decode_utf8(data: bytes, path: Path, first_line: int = 1, *, advice: Advice | None = None, python: str = "") -> str:
    """Return the bytes as text, or raise FileFormatError with the line that is not UTF-8, or has a NUL byte.

    `advice` is what else to do about another encoding, `python` the same for a Python caller.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        start = data.rfind(b"\n", 0, error.start) + 1
        line = data[start : data.find(b"\n", error.start) + 1 or None].decode("utf-8", "backslashreplace")
        letter = data[error.start : error.start + 1].decode("cp1252", "ignore")
        found = f"byte 0x{data[error.start]:02X}" + (f", {letter} in Windows-1252" if letter else "")
        in_excel = 'in Excel save it as "CSV UTF-8", or ' if {".csv", ".tsv"} & set(path.suffixes) else ""
        convert = f"{in_excel}convert it first, for instance with iconv -f cp1252 -t utf-8"
        raise FileFormatError(
            f"the text is not UTF-8 ({found}): '{escape_invisible(line.strip()[:80])}'; {convert}",
            hint=advice,
            python=python,
            path=path,
            line=data.count(b"\n", 0, error.start) + first_line,
        ) from error
    if "\0" in text:
        raise FileFormatError(
            allowed="text in UTF-8",
            found="a NUL byte",
            hint="the file is damaged",
            path=path,
            line=text.count("\n", 0, text.index("\0")) + first_line,
        )
    return text


def whole_lines(pieces: Iterable[bytes], bounded: Path | None = None) -> Iterator[bytes]:
    """Yield the pieces of a file as whole lines; with the path as `bounded`, refuse a line that is too long."""
    rest, line = b"", 1
    for piece in pieces:
        rest += piece
        if bounded:
            check_lines(rest, bounded, line)
        if end := rest.rfind(b"\n") + 1:
            yield rest[:end]
            line += rest.count(b"\n") if bounded else 0
            rest = rest[end:]
    if rest:
        yield rest


def max_memory(n_bytes: float) -> AbstractContextManager[None]:
    """Set about how much memory the rows of one run may take: a larger run is read in blocks, and never held.

    This concerns runs in TREC and Parquet files, also compressed ones, and lazy frames of Polars. By default a run is
    read in blocks from 1.5 GB of TREC text or 4 million rows of Parquet on. The judgments, and what is kept of the
    judged documents, come on top. In blocks the rows of a query should be adjacent, as those of runs are. A run where
    they are not is held after all, and so is what comes through a pipe or in another format; the report says so. What
    is wrong with a run is seen when it is evaluated, not when it is opened.

    A compressed file, Parquet, a workbook (.xlsx) or a pipe is refused if its content would take more memory than 4 GB,
    or 200 times the size of the file: a few bytes can unpack to any number. More than that set here raises this limit;
    less does not lower it.

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
    return WithValue(_max_memory, _checked_bytes(_max_memory, n_bytes))


def _checked_bytes(limit: ContextVar[int | None], n_bytes: float) -> int:
    whole = int(n_bytes) if type(n_bytes) is float and n_bytes.is_integer() else n_bytes  # 1e9 is a usual way
    return as_count(limit.name, cast("int", whole))


class WithValue(AbstractContextManager[None], Generic[T]):
    """A value that holds inside a with statement; it warns if it is never entered, as it then holds nowhere."""

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
            warnings.warn(
                f"dh.{name}() has no effect outside a with statement: write with dh.{name}(...):", DeadheatWarning, 2
            )


def is_bounded() -> bool:
    """Tell whether :func:`max_memory` was set."""
    return _max_memory.get() is not None


def exceeds(n_bytes: int) -> bool:
    """Tell whether rows of this size are more than :func:`max_memory` allows."""
    most = _max_memory.get()
    return most is not None and n_bytes > most


def is_held(n_bytes: int, *, is_packed: bool) -> bool:
    """Tell whether a TREC file of this size is read into memory."""
    n_text, most = n_bytes * (_PACKED if is_packed else 1), _max_memory.get()
    return n_text < LARGE_TEXT if most is None else n_text * _PER_TREC_BYTE <= most


def rows_at_a_time() -> int:
    """Return how many rows of a run that is not held are read at a time."""
    most = _max_memory.get()
    return _MOST_ROWS if most is None else min(max(most // _BYTES_PER_ROW, _FEWEST_ROWS), _MOST_ROWS)


def check_held(n_bytes: int, n_packed: int, path: Path | None, *, is_all: bool = False) -> None:
    """Raise FileFormatError if a file of `n_packed` bytes takes more memory than it may.

    That is 4 GB, 200 times its size, or what `max_memory` allows, whichever is the largest.

    Parameters
    ----------
    n_bytes, n_packed : int
    path : pathlib.Path, optional
        For messages.
    is_all : bool, default False
        Whether `n_bytes` is all that it takes, and not what was seen so far.
    """
    allowed = max(_LEAST_ALLOWED, _LARGEST_RATIO * n_packed, _max_memory.get() or 0)
    if n_bytes > allowed:
        size = f"about {n_bytes:,} bytes, more than {allowed:,}" if is_all else f"more than {allowed:,} bytes"
        raise FileFormatError(
            f"its content takes {size}, the most that may be held at once",
            hint=Advice("max_memory", when="if that is intended, "),
            path=path,
        )


def check_lines(block: bytes | mmap.mmap, path: Path, first_line: int) -> None:
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


WITHOUT_LOCKS = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL}  # of a file system
MARK = 9  # bytes of a hash and its hyphen
LONGEST = 255  # bytes that file systems allow; some count UTF-16 units, which are never more
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)  # devices of Windows
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f\ud800-\udfff]')
_HASHED = re.compile(r"-[0-9a-f]{8}$")


def cut(text: str, most: int) -> str:
    """Return the beginning of a text, in at most `most` bytes.

    Examples
    --------
    >>> cut("größe", 4), cut("größe", 3)
    ('grö', 'gr')
    """
    return text.encode(errors="ignore")[: max(most, 0)].decode(errors="ignore")


def hashed(plain: str, name: str, most: int) -> str:
    """Return `plain` followed by a hash of the whole name, in at most `most` bytes."""
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    return f"{cut(plain, most - MARK)}-{digest[: MARK - 1]}"


def file_name(name: str, most: int) -> str:
    """Return a name as a file name for every system; if it changes by more than a ``_``, a hash is added.

    Parameters
    ----------
    name : str
        A ``/`` or a ``:`` becomes ``_``.
    most : int
        Bytes that the result may take.

    Examples
    --------
    >>> file_name("b/dense", 247), file_name("who?", 247), file_name("aux", 247)
    ('b_dense', 'who_-1d8176d1', 'aux-321f6814')
    >>> file_name("字" * 90, 20)
    '字字字-cedf9328'
    """
    plain = re.sub(r"[/:]", "_", name)
    safe = _FORBIDDEN.sub("_", plain)
    if safe == plain and is_kept(plain) and not plain.endswith((".", " ")) and len(plain.encode()) <= most:
        return plain
    return hashed(safe, name, most)


def is_kept(name: str) -> bool:
    """Return whether a name can stay: it is not a device, does not end like a hash, and is normalised Unicode (NFC)."""
    return not (_RESERVED.fullmatch(name) or _HASHED.search(name)) and unicodedata.is_normalized("NFC", name)


Compression = Literal["uncompressed", "gzip", "zstd"]


def write_text(
    table: pl.DataFrame,
    file: IO[bytes],
    compression: Compression,
    separator: str | None = None,
) -> None:
    """Write a table with a header; without a separator, write each row of its one column as an unquoted line.

    Polars writes into memory, plain text slice by slice: before 2.0 it does not report that a file lost the last bytes.
    """
    quoted: Literal["always", "necessary", "never"] = "necessary"
    if separator is None:
        quoted = "never"
    elif table.width and _begins_like_a_command(table):
        quoted = "always"
    # rows written together
    size = 1 << 18 if compression == "uncompressed" else max(table.height, 1)
    for start in range(0, max(table.height, 1), size):
        held = io.BytesIO()
        table[start : start + size].write_csv(
            held,
            separator=separator or ",",
            include_header=separator is not None and not start,
            quote_style=quoted,
            compression=compression,
        )
        file.write(held.getbuffer())


def _begins_like_a_command(table: pl.DataFrame) -> bool:
    """Return whether a line would begin as a command in a build log does, unless its first field is quoted."""
    first = table.to_series(0)
    return first.dtype == pl.String and bool(first.str.starts_with("::").any())


def value_as_text(kind: Kind) -> pl.Expr:
    """Return values as text: whole relevances as integers, everything else as the shortest text of its float64."""
    value = pl.col(VALUE_COLUMN[kind])
    text = value.cast(pl.String)
    if kind == "run":
        return text
    is_level = (value == value.round()) & (value.abs() <= LARGEST_INTEGER)
    levels = value.cast(pl.Int64, strict=False).cast(pl.String)
    return pl.when(is_level).then(levels).otherwise(text).alias(VALUE_COLUMN[kind])


def make_folder(path: Path) -> None:
    """Create a folder and those above it, where they are missing; raise `DataError` where a file is in the way."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise DataError(
            "cannot be created as a folder: part of the path is a file", hint="choose another one", path=path
        ) from None


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that becomes `path` when it is complete, and is deleted on any failure.

    Until then it is ``.NAME.deadheat-*.tmp`` in the same folder. A leftover one is from a process that was killed:
    nothing reads it, and it may be deleted.

    A symbolic link is kept, and its target is replaced; so is the mode of an existing file. Anything there that is not
    a regular file (a pipe, a device) is not replaced, but gets the bytes when they are complete.

    Raises
    ------
    DataError
        If the folder does not exist, or the file is read-only.
    """
    path_given = path
    path = check_path(path)
    may_be_redirected = str(path.absolute()).startswith(("/dev/fd/", "/dev/std", "/proc/"))  # to a file
    if may_be_redirected or (path.exists() and not path.is_file()):
        with tempfile.TemporaryFile() as held:
            with errors_of_writing(tempfile.gettempdir()):
                yield held
            held.seek(0)
            with path.open("ab") as stream:  # append: standard output may be a file that others write to
                shutil.copyfileobj(held, stream)
        return
    target = Path(os.path.realpath(path))
    mode = None
    with suppress(FileNotFoundError, NotADirectoryError):  # another process may remove it at any time
        mode = target.stat().st_mode
    if mode is not None and not mode & 0o222:
        raise DataError(
            "is read-only, so it is not replaced", hint="choose another name, or make it writable", path=path
        )
    if os.fspath(path_given).endswith(os.sep):
        raise DataError("is written as a folder", allowed="a file", path=path)
    if not target.parent.is_dir():
        raise DataError(f"no such folder: {str(target.parent if path.is_symlink() else path.parent)!r}", path=path)
    ending = f".deadheat-{os.urandom(4).hex()}.tmp"
    temporary = target.with_name(f".{cut(target.name, LONGEST - len(ending) - 1)}{ending}")
    try:
        with errors_of_writing(path, temporary):
            with temporary.open("xb") as file:
                if mode is not None:
                    temporary.chmod(stat.S_IMODE(mode))
                yield file
                file.flush()
                os.fsync(file.fileno())  # before renaming, after a crash of the machine the name is on a complete file
            temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_files(folder: Path, files: Mapping[str, Callable[[IO[bytes]], Any]], *, force: bool) -> list[Path]:
    """Write several files of a folder, which is made if need be: all of them or none.

    Parameters
    ----------
    folder : Path
    files : mapping of str to callable
        What writes each into an open file, by its name.
    force : bool
        Replace files that are there and differ.

    Raises
    ------
    DataError
        A file is there already and differs, or the folder cannot be made.
    """
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be made: {error.strerror}", hint="name a folder", path=folder) from None
    with ExitStack() as stack:  # on any error all temporary files are removed, and no file is replaced
        differing = []
        for name, write_to in files.items():
            path = folder / name
            file = stack.enter_context(replacing(path))
            write_to(file)
            file.flush()
            if path.exists() and not (path.is_file() and filecmp.cmp(path, file.name, shallow=False)):
                differing += [name] if path.is_dir() or not force else []
        if differing:
            raise DataError(
                f"{format_list(differing)} in it would be replaced",
                hint="choose another folder, or replace with --force (in Python: force=True)",
                path=folder,
            )
    return [folder / name for name in files]


@contextmanager
def locked(path: str | os.PathLike[str], what: str, advice: str) -> Iterator[None]:
    """Hold a lock file; that of a dead process is taken over.

    On a file system without locks there is a warning, and no lock.

    Parameters
    ----------
    path : path-like
        The lock file, in an existing folder.
    what : str
        What holds the lock, for messages, such as "deadheat bench".
    advice : str
        What to do if another process holds it.

    Raises
    ------
    DataError
        Another process, or another thread of this one, holds it.
    """
    from filelock import FileLock, Timeout  # few commands lock a folder

    path = Path(path)
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise DataError(f"another {what} is running there", hint=advice, path=path.parent) from None
    except (OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.errno not in WITHOUT_LOCKS:
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        warnings.warn(
            f"{path.parent} cannot be locked ({reason}): run one {what} there at a time",
            DeadheatWarning,
            stacklevel=4,
        )
    try:
        yield
    finally:
        lock.release()
