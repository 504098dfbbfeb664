"""Files that are read: checked, unpacked within limits, decoded, and cut into blocks of whole lines."""

from __future__ import annotations

import codecs
import io
import mmap
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from deadheat.core.errors import Advice, DataError, FileFormatError, MalformedRowError, ParameterError
from deadheat.core.io.guarding import note_file
from deadheat.core.io.memory_limits import OBJECT_BYTES, ROW_BYTES, check_memory
from deadheat.core.io.unpacking import COMPRESSED, HEAD, detect_compression, open_file, unpack
from deadheat.core.wording import did_you_mean, escape_invisible

LONGEST_LINE = 1 << 24  # bytes
STEP = 1 << 24  # bytes of a mapped file that are copied at a time
BLOCK = 1 << 24  # bytes of a block of whole lines, about
CATALOGUE = "ir_datasets:"  # before the name of a data set
WILDCARDS = frozenset("*?[")  # in the name of a file
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


def is_in_catalogue(source: object) -> bool:
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
        raise DataError("no such file", hint=_advise_on_missing_file(path), path=path) from None
    except (OSError, ValueError) as error:  # a name that is too long, a folder that may not be entered, a NUL
        reason: object = error
        if isinstance(error, OSError) and error.strerror:
            reason = error.strerror
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
    """The size, time and inode of a file, by which a later change is seen.

    Attributes
    ----------
    path : pathlib.Path
    size : int
        In bytes; of a folder those of all files in it.
    changed_at : int
        When it was last written, in nanoseconds; of a folder the last of it and its files.
    inode : int
        Another file under this name has another one.
    """

    path: Path
    size: int
    changed_at: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Self:
        """Return the state of a file; all numbers are -1 if there is no file."""
        try:
            status = path.stat()
        except OSError:
            return cls(path, -1, -1, -1)
        if stat.S_ISDIR(status.st_mode):
            inside = [entry.stat() for entry in path.rglob("*")]
            size = sum(entry.st_size for entry in inside)
            changed_at = max(entry.st_mtime_ns for entry in (status, *inside))
            return cls(path, size, changed_at, status.st_ino)
        return cls(path, status.st_size, status.st_mtime_ns, status.st_ino)

    def check(self) -> None:
        """Raise `DataError` if the file is another one now, or was written since."""
        if FileState.of(self.path) != self:
            raise DataError(
                "changed since it was first read, and has to be read again, as it is larger than memory",
                hint="evaluate it again",
                path=self.path,
            )


def _advise_on_missing_file(path: Path) -> str:
    """Return advice for a path without a file, such as a file with a similar name; "" if there is none."""
    if not WILDCARDS.isdisjoint(path.name):
        return "a pattern names Parquet files for an engine: polars, duckdb or spark"
    if not path.parent.is_dir():
        return ""
    return did_you_mean(path.name, [entry.name for entry in path.parent.iterdir()])


def _is_endless(path: Path) -> bool:
    """Return whether a device has no end, such as /dev/zero or a disk, not a terminal or /dev/null."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        is_null_device = os.fstat(descriptor).st_rdev == Path(os.devnull).stat().st_rdev
        return not os.isatty(descriptor) and not is_null_device
    finally:
        os.close(descriptor)


def read_plain_head(path: Path) -> bytes | None:
    """Return the first bytes of an uncompressed file, None for a compressed one, a pipe or a device."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(HEAD)
    if detect_compression(head):
        return None
    return head


def refuse_binary(data: bytes, path: Path) -> None:
    """Raise FileFormatError if the first bytes show that a file is not text."""
    head = data[:HEAD]
    refuse_repeated_mark(head, path)
    with suppress(UnicodeDecodeError):
        codecs.getincrementaldecoder("utf-8")().decode(head)  # incremental: the last character may be cut
        if b"\0" not in head:
            return  # text, even if its first id begins like a magic number
    kind = _find_foreign_kind(head)
    if kind is not None:
        hint = None
        if head.startswith(b"PAR1"):
            hint = Advice("format", "parquet", ".parquet")
        raise FileFormatError(allowed="text in UTF-8", found=kind, hint=hint, path=path)


def _find_foreign_kind(head: bytes) -> str | None:
    """Return what a file is that is not text, by its first bytes; None if they do not say it."""
    for magic, kind in _FOREIGN.items():
        if head.startswith(magic):
            return kind
    # in UTF-16 about every other byte is NUL; where a text has a few, its reader names their lines later
    if head.count(b"\0") >= len(head) / 8:
        return "a binary file or UTF-16 text"
    return None


def refuse_repeated_mark(head: bytes, path: Path) -> None:
    """Raise FileFormatError if a file begins with two byte order marks, as only one would be removed."""
    if head.startswith(BOM * 2):
        raise FileFormatError(
            "two byte order marks", allowed="one or none", hint="the file is damaged", path=path, line=1
        )


def misleads_polars(head: bytes) -> bool:
    """Return whether Polars takes the beginning of a text for a mark or a compressed file, as that of a query x^2."""
    return head.startswith((*COMPRESSED, *_ZLIB, BOM))


def blocks(path: Path, size: int = BLOCK) -> Iterator[bytes]:
    """Yield the decompressed file without its byte order mark, in blocks of about `size` bytes of whole lines.

    Raises
    ------
    FileFormatError
        If a compressed file is truncated or damaged, or a line is too long.
    """
    with open_file(path) as file:
        pieces = group_whole_lines(unpack(file, path, size), path)
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
    is_plain = read_plain_head(path) is not None
    n_packed = path.stat().st_size  # 0 for a pipe
    n_bytes = 0  # of memory, so far
    with open_file(path) as file:
        pieces = unpack(file, path, BLOCK)
        if has_lines:
            pieces = group_whole_lines(pieces, path)
        for piece in pieces:
            is_first = text.tell() == 0
            if is_first:
                refuse_binary(piece, path)
            if not is_plain:
                n_bytes += _estimate_memory(piece, as_objects=as_objects, per_byte=per_byte)
                check_memory(n_bytes, n_packed, path)
            text.write(piece)
    return text.getvalue().removeprefix(BOM)  # the mark may be in two members of a compressed file


def _estimate_memory(piece: bytes, *, as_objects: bool, per_byte: int) -> int:
    """Return about how many bytes of memory a piece of text takes as a table."""
    n_bytes = per_byte * len(piece)
    if as_objects:
        n_fields = sum(map(piece.count, (b",", b";", b"\t", b"\n")))
        return n_bytes + n_fields * OBJECT_BYTES
    return n_bytes + piece.count(b"\n") * ROW_BYTES


def check_rows(n_bytes: int, path: Path) -> None:
    """Raise FileFormatError if rows of so many bytes are more than a compressed file or a pipe may make in memory."""
    if read_plain_head(path) is None:
        check_memory(n_bytes, path.stat().st_size, path)


def check_file_lines(path: Path) -> None:
    """Raise MalformedRowError if an uncompressed file has a line that is too long, before anything is parsed.

    Little of the file is read: a newline is searched backwards from where the longest line would end.
    """
    if path.stat().st_size > LONGEST_LINE:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            check_lines(data, path, 1)


def decode_utf8(data: bytes, path: Path, first_line: int = 1, *, advice: Advice | None = None, python: str = "") -> str:
    """Return the bytes as text, or raise FileFormatError with the line that is not UTF-8, or has a NUL byte.

    `advice` adds what to do about another encoding, `python` the same for a Python caller.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        start = data.rfind(b"\n", 0, error.start) + 1
        end = data.find(b"\n", error.start)
        if end < 0:
            end = len(data)
        line = data[start:end].decode("utf-8", "backslashreplace")
        wrong_byte = data[error.start : error.start + 1]
        found = f"byte 0x{wrong_byte[0]:02X}"
        letter = wrong_byte.decode("cp1252", "ignore")
        if letter:
            found += f", {letter} in Windows-1252"
        convert = "convert it first, for instance with iconv -f cp1252 -t utf-8"
        if {".csv", ".tsv"} & set(path.suffixes):
            convert = f'in Excel save it as "CSV UTF-8", or {convert}'
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


def group_whole_lines(pieces: Iterable[bytes], bounded: Path | None = None) -> Iterator[bytes]:
    """Yield the pieces of a file as whole lines; with the path as `bounded`, refuse a line that is too long."""
    rest = b""
    line = 1
    for piece in pieces:
        rest += piece
        if bounded:
            check_lines(rest, bounded, line)
        end = rest.rfind(b"\n") + 1
        if end:
            yield rest[:end]
            if bounded:
                line += rest.count(b"\n")
            rest = rest[end:]
    if rest:
        yield rest


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
                line=first_line + _count_newlines(block, start),
            )
        start = end + 1


def _count_newlines(block: bytes | mmap.mmap, end: int) -> int:
    """Return how many newlines are before a place; a file that is mapped is copied step by step."""
    n_newlines = 0
    for start in range(0, end, STEP):
        n_newlines += block[start : min(start + STEP, end)].count(b"\n")
    return n_newlines
