"""Opening a file: whether it can be read, how it is compressed, and its bytes in blocks of whole lines."""

from __future__ import annotations

import codecs
import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import polars as pl

from deadheat.errors import DataError, FileFormatError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 1 << 24
HEAD = 1 << 16
MOSTLY_TEXT = 8  # at most one byte in so many is NUL; of UTF-16 it is about every other
_CONVERT = "convert it first, for instance with iconv -f latin1 -t utf-8"
_BOM = b"\xef\xbb\xbf"
_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_FOREIGN = {
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ\x00": "an xz archive",
    b"PK\x03\x04": "a zip archive",
    b"PAR1": "a Parquet file (pass format='parquet', or name it .parquet)",
    b"\x89PNG": "a PNG image",
    b"%PDF": "a PDF document",
    b"\xff\xfe": "UTF-16 text (save it as UTF-8)",
    b"\xfe\xff": "UTF-16 text (save it as UTF-8)",
}


def readable(path: str | os.PathLike[str]) -> Path:
    """Return the path, or raise DataError if there is no file that can be read."""
    path = Path(path)
    if path.is_dir():
        raise DataError("is a directory, expected a file", path=path)
    if path.is_symlink() and not path.exists():
        raise DataError(f"is a link to {path.readlink()}, which is not there", path=path)
    if not path.exists():
        siblings = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        raise DataError(f"no such file.{did_you_mean(path.name, siblings)}", path=path)
    if not os.access(path, os.R_OK):
        raise DataError("permission denied, expected a file that can be read", path=path)
    return path


def plain_head(path: Path) -> bytes | None:
    """Return the first bytes of an uncompressed file, None for a compressed one, a pipe or a device."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(HEAD)
    return None if _compression(head) else head


def refuse_binary(data: bytes, path: Path) -> None:
    """Raise FileFormatError if the first bytes are those of a file without lines of text."""
    head = data[:HEAD]
    if b"\0" not in head and _is_utf8(head):
        return  # an id may begin with the letters of a magic number
    kind = next((name for magic, name in _FOREIGN.items() if head.startswith(magic)), None)
    n_nul, line = head.count(b"\0"), None
    if kind is None and 0 < n_nul < len(head) / MOSTLY_TEXT:
        kind, line = "a NUL byte: the file is damaged", head.count(b"\n", 0, head.index(b"\0")) + 1
    elif kind is None and n_nul:
        kind = "a binary file or UTF-16 text"
    if kind is not None:
        raise FileFormatError(f"expected text in UTF-8, got {kind}", path=path, line=line)


def _is_utf8(head: bytes) -> bool:
    """Return whether this is the start of a UTF-8 text; its last character may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def without_bom(data: bytes) -> bytes:
    """Return the bytes without a UTF-8 byte order mark."""
    return data.removeprefix(_BOM)


def blocks(path: Path, size: int = BLOCK) -> Iterator[bytes]:
    """Yield the decompressed file in blocks of about `size` bytes, each cut after a line; no byte order mark.

    Raises
    ------
    FileFormatError
        If a compressed file is truncated or damaged, or its text is not UTF-8.
    """
    with path.open("rb") as file:
        compressed = _compression(file.peek(HEAD))
        if compressed:
            pieces = _decompressed(path if path.is_file() else file.read(), path, compressed, size)
        else:
            pieces = _cut_after_lines(file, size)
        first = next(pieces, b"")
        yield without_bom(first)
        yield from pieces


def read_all(path: Path) -> bytes:
    """Return the decompressed bytes of a file, without a byte order mark."""
    return b"".join(blocks(path))


def count_lines(data: Path | bytes) -> int:
    """Return how many lines a file has; the last one may lack its newline."""
    n_newlines, last = 0, b"\n"
    for block in blocks(data) if isinstance(data, Path) else (data,):
        n_newlines += block.count(b"\n")
        last = block[-1:]
    return n_newlines + (last != b"\n")


def decoded(data: bytes, path: Path, first_line: int = 1) -> str:
    """Return the bytes as text, or raise FileFormatError with the line that is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        start = data.rfind(b"\n", 0, error.start) + 1
        line = data[start : data.find(b"\n", error.start) + 1 or None]
        n = data.count(b"\n", 0, error.start) + first_line
        raise not_utf8(line, error.start - start, path, n) from error


def not_utf8(line: bytes, position: int, path: Path, n: int) -> FileFormatError:
    """Return the error of the `n`-th line of a file, which is not UTF-8 at a position."""
    wrong = line.decode("utf-8", "backslashreplace").strip()
    return FileFormatError(
        f"the text is not UTF-8 (byte 0x{line[position]:02X}): {wrong[:80]!r}; {_CONVERT}", path=path, line=n
    )


def _compression(head: bytes) -> str | None:
    return next((name for magic, name in _COMPRESSED.items() if head.startswith(magic)), None)


def _cut_after_lines(file: BinaryIO, size: int) -> Iterator[bytes]:
    rest = b""
    while chunk := file.read(size):
        end = chunk.rfind(b"\n") + 1
        if end:
            yield rest + chunk[:end]
            rest = chunk[end:]
        else:
            rest += chunk
    if rest:
        yield rest


def _decompressed(source: Path | bytes, path: Path, compressed: str, size: int) -> Iterator[bytes]:
    """Yield blocks from Polars, which decompresses as fast as it reads, and refuses a file that ends early."""
    held: list[str] = []
    n_held = n_lines = 0
    lines = pl.scan_lines(source, glob=False).select(pl.col("line"))
    try:
        for batch in lines.collect_batches(maintain_order=True):
            held.append(batch["line"].str.join("\n").item() + "\n")
            n_held += len(held[-1])
            n_lines += batch.height
            if n_held >= size:
                yield "".join(held).encode()
                held, n_held = [], 0
    except OSError as error:
        raise FileFormatError(
            f"the {compressed} file is damaged or ends too early ({error}) after {n_lines:,} lines; nothing was read, "
            "expected a complete file",
            path=path,
        ) from error
    except pl.exceptions.ComputeError as error:
        raise _not_utf8_somewhere(source, path) from error
    if held:
        yield "".join(held).encode()


def _not_utf8_somewhere(source: Path | bytes, path: Path) -> FileFormatError:
    """Name the line of a compressed file that is not UTF-8: read again, with a sign for each byte that is wrong."""
    text = pl.scan_csv(
        source,
        has_header=False,
        separator="\x01",
        quote_char=None,
        encoding="utf8-lossy",
        glob=False,
        schema={"line": pl.String},
        truncate_ragged_lines=True,
    )
    wrong = text.with_row_index("n").filter(pl.col("line").str.contains("\ufffd", literal=True)).head(1).collect()
    if wrong.is_empty():
        return FileFormatError(f"the text is not UTF-8; {_CONVERT}", path=path)
    advice = "it looks like UTF-16: save it as UTF-8" if "\0" in wrong["line"].item() else _CONVERT
    return FileFormatError(f"the text is not UTF-8; {advice}", path=path, line=wrong["n"].item() + 1)
