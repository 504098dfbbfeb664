"""Opening a file: check that it can be read, unpack it, and yield its bytes in blocks of whole lines."""

import codecs
import mmap
import os
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from io import BufferedReader
from pathlib import Path

from deadheat.errors import Advice, DataError, FileFormatError, Plain, did_you_mean, printable
from deadheat.io import limits

BLOCK = 1 << 24
HEAD = 1 << 16
MOSTLY_TEXT = 8  # in text, fewer than one byte in 8 is NUL; in UTF-16 about every other is
_CONVERT = "convert it first, for instance with iconv -f cp1252 -t utf-8"
_EXCEL = 'in Excel save it as "CSV UTF-8", or '
PATTERN = frozenset("*?[")  # in the name of a file: characters that stand for others
BOM = b"\xef\xbb\xbf"
_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_ZLIB = (b"x\x01", b"x^", b"x\x9c", b"x\xda")
_FOREIGN = {
    **dict.fromkeys(_COMPRESSED, "a file that is compressed twice (unpack it once)"),
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ\x00": "an xz archive",
    b"PK\x03\x04": "a zip archive",
    b"PAR1": "a Parquet file",
    b"\x89PNG": "a PNG image",
    b"%PDF": "a PDF document",
    b"\xff\xfe": "UTF-16 text (save it as UTF-8)",
    b"\xfe\xff": "UTF-16 text (save it as UTF-8)",
}


def path_named(path: str | os.PathLike[str]) -> Path:
    """Return a path; raise DataError for an empty name, which `Path` takes for the current folder."""
    if not os.fspath(path):
        raise DataError("the file name is empty", allowed="a path")
    return Path(path)


def readable(path: str | os.PathLike[str]) -> Path:
    """Return the path, or raise DataError if there is no file that can be read."""
    path = path_named(path)
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise DataError("the file name is not UTF-8, and Polars cannot open it: rename the file", path=path) from None
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise DataError(f"is a link to {path.readlink()}, which does not exist", path=path) from None
        raise DataError("no such file", hint=_meant(path), path=path) from None
    except (OSError, ValueError) as error:  # a name that is too long, a folder that may not be entered, a NUL
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise DataError(f"cannot be opened: {reason}", path=path) from None
    if stat.S_ISDIR(mode):
        raise DataError("is a directory", allowed="a file", path=path)
    if not os.access(path, os.R_OK):
        raise DataError("permission denied", allowed="a file that can be read", path=path)
    if (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and _is_endless(path):
        raise DataError("is a device", allowed="a file or a pipe", path=path)
    return path


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
    if kind is None and head.count(b"\0") >= len(head) / MOSTLY_TEXT:  # a few are named by their lines, later
        kind = "a binary file or UTF-16 text"
    if kind is not None:
        raise FileFormatError(
            allowed="text in UTF-8",
            given=Plain(kind),
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
    return head.startswith((*_COMPRESSED, *_ZLIB, BOM))


def blocks(path: Path, size: int = BLOCK) -> Iterator[bytes]:
    """Yield the decompressed file without its byte order mark, in blocks of about `size` bytes of whole lines.

    Raises
    ------
    FileFormatError
        If a compressed file is truncated or damaged, or a line is too long.
    """
    with path.open("rb") as file:
        pieces = whole_lines(_unpacked(file, path, size), path)
        first = next(pieces, b"")
        refuse_repeated_mark(first, path)
        yield first.removeprefix(BOM)
        yield from pieces


def read_all(path: Path, *, has_lines: bool = False, as_objects: bool = False) -> bytes:
    """Return the decompressed text of a file, without a byte order mark.

    Parameters
    ----------
    path : pathlib.Path
    has_lines : bool, default False
        Whether the format has lines: then none may be too long.
    as_objects : bool, default False
        Whether each field becomes an object of Python, which takes more memory than a row of a frame.

    Raises
    ------
    FileFormatError
        As for `blocks`; also if the file does not begin like text, or if it is compressed or a pipe and too large to be
        held in memory.
    """
    held: list[bytes] = []
    n_held, is_plain = 0, plain_head(path) is not None
    n_packed = path.stat().st_size  # 0 for a pipe
    with path.open("rb") as file:
        pieces = _unpacked(file, path, BLOCK)
        for piece in whole_lines(pieces, path) if has_lines else pieces:
            if not held:
                refuse_binary(piece, path)
            held.append(piece)
            if not is_plain:
                n_held += limits.held_of(piece, as_objects=as_objects)
                limits.check_held(n_held, n_packed, path)
    return b"".join(held).removeprefix(BOM)  # the mark may be in two members of a compressed file


def check_rows(n_bytes: int, path: Path) -> None:
    """Raise FileFormatError if rows of so many bytes are more than a compressed file or a pipe may make in memory."""
    if plain_head(path) is None:
        limits.check_held(n_bytes, path.stat().st_size, path, is_streamed=True)


def check_lines_of(path: Path) -> None:
    """Raise MalformedRowError if an uncompressed file has a line that is too long, before anything is parsed.

    So little of the file is read: a newline is looked for backwards from where the longest line would end.
    """
    if path.stat().st_size > limits.LONGEST_LINE:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            limits.check_lines(data, path, 1)


def decoded(data: bytes, path: Path, first_line: int = 1, *, advice: Advice | None = None, python: str = "") -> str:
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
        convert = (_EXCEL if {".csv", ".tsv"} & set(path.suffixes) else "") + _CONVERT
        raise FileFormatError(
            f"the text is not UTF-8 ({found}): '{printable(line.strip()[:80])}'; {convert}",
            hint=advice,
            python=python,
            path=path,
            line=data.count(b"\n", 0, error.start) + first_line,
        ) from error
    if "\0" in text:
        raise FileFormatError(
            allowed="text in UTF-8",
            given=Plain("a NUL byte"),
            hint="the file is damaged",
            path=path,
            line=text.count("\n", 0, text.index("\0")) + first_line,
        )
    return text


def compression(head: bytes) -> str | None:
    """Return how a file with this head is compressed, None if it is not."""
    return next((name for magic, name in _COMPRESSED.items() if head.startswith(magic)), None)


def whole_lines(pieces: Iterable[bytes], bounded: Path | None = None) -> Iterator[bytes]:
    """Yield the pieces of a file as whole lines; with the path as `bounded`, refuse a line that is too long."""
    rest, line = b"", 1
    for piece in pieces:
        rest += piece
        if bounded:
            limits.check_lines(rest, bounded, line)
        if end := rest.rfind(b"\n") + 1:
            yield rest[:end]
            line += rest.count(b"\n") if bounded else 0
            rest = rest[end:]
    if rest:
        yield rest


def _unpacked(file: BufferedReader, path: Path, size: int) -> Iterator[bytes]:
    """Yield the bytes of an open file, decompressed byte for byte, in pieces of about `size` bytes."""
    kind, n_bytes = compression(file.peek(HEAD)), 0
    pieces, errors = _decompressed(file, kind, size)
    try:
        for piece in pieces:
            n_bytes += len(piece)
            yield piece
    except errors as error:
        raise FileFormatError(
            f"the {kind} file is damaged or truncated ({error}) after {n_bytes:,} bytes of its content; "
            "nothing was read, expected a complete file",
            path=path,
        ) from error


def _decompressed(
    file: BufferedReader, kind: str | None, size: int
) -> tuple[Iterator[bytes], tuple[type[Exception], ...]]:
    """Return the content of an open file in pieces, and what is raised where it is damaged."""
    if kind == "gzip":
        return _gunzipped(file, size), (EOFError, zlib.error)
    if kind is None:
        return iter(partial(file.read, size), b""), ()
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return iter(partial(zstd.ZstdFile(file).read, size), b""), (EOFError, zstd.ZstdError)


def _gunzipped(file: BufferedReader, size: int) -> Iterator[bytes]:
    """Yield the content of gzip's members; zlib refuses flags that RFC 1952 reserves, Python's gzip does not."""
    member, rest = None, b""
    while data := rest or file.read(size):
        data = data if member else data.lstrip(b"\0")  # members may have padding behind them
        rest = b""
        if data:
            member = member or zlib.decompressobj(wbits=31)
            if piece := member.decompress(data, size):
                yield piece
            rest = member.unused_data or member.unconsumed_tail
            member = None if member.eof else member
    if member:
        raise EOFError("it ends before its end-of-stream marker was reached")
