"""The bytes of files, up to the size when they were opened, and those of compressed files unpacked."""

import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any

from deadheat.core.errors import FileFormatError

COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
HEAD = 1 << 16  # bytes at the beginning of a file, by which it is recognised
_FIRST_PIECE = 1 << 9  # bytes of a member that are taken first, as it may be small and others may follow
_MOST_EMPTY = 10_000  # members without content; bgzip writes one at the end


def detect_compression(head: bytes) -> str | None:
    """Return how a file with this head is compressed, None if it is not."""
    for magic, name in COMPRESSED.items():
        if head.startswith(magic):
            return name
    return None


class _FileOfFixedSize(io.RawIOBase):
    """A file that ends where it ended when it was opened; if it grew as fast as it is read, it would have no end."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self._left = os.fstat(self._file.fileno()).st_size

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the descriptor of the file."""
        return self._file.fileno()

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - memory of any kind
        """Read the next bytes into memory; 0 at the end."""
        memory = memoryview(buffer)[: self._left]
        n_read = self._file.readinto(memory) if len(memory) else 0
        self._left -= n_read
        return n_read

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to another place; the end is where it was."""
        end = self._file.tell() + self._left
        place = self._file.seek(end + offset) if whence == os.SEEK_END else self._file.seek(offset, whence)
        self._left = max(end - place, 0)
        return place

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def open_file(path: Path) -> BufferedReader:
    """Open a file to read its bytes; it ends at the size that it has now, a pipe where its writer closes it."""
    if stat.S_ISREG(path.stat().st_mode):
        return BufferedReader(_FileOfFixedSize(path))
    return path.open("rb")


def unpack(file: BufferedReader, path: Path, size: int) -> Iterator[bytes]:
    """Yield the content of an open file, decompressed byte for byte, in pieces of about `size` bytes.

    Raises
    ------
    FileFormatError
        A compressed file is truncated or damaged.
    """
    kind = detect_compression(file.peek(HEAD))
    if kind is None:
        yield from iter(partial(file.read, size), b"")
        return
    error_of_kind: type[Exception] = zlib.error
    if kind == "gzip":
        pieces = _gunzip(file, size)
    else:
        zstd = _import_zstd()
        pieces = _decompress_zstd(file, size, zstd)
        error_of_kind = zstd.ZstdError
    n_bytes = 0
    try:
        for piece in pieces:
            n_bytes += len(piece)
            yield piece
    except (EOFError, error_of_kind) as error:
        raise FileFormatError(
            f"the {kind} file is damaged or truncated ({error}) after {n_bytes:,} bytes of its content; "
            "nothing was read, expected a complete file",
            path=path,
        ) from error


class _Packed:
    """The bytes of an open compressed file, taken in pieces; what is not used of a piece can be given back.

    Pieces begin small in each member, and double. So a file of many small members is copied about once, and not from
    each member to its end.
    """

    def __init__(self, file: BufferedReader, size: int) -> None:
        self._file = file
        self._most = size
        self._data = b""
        self._at = 0
        self._n_empty = 0
        self.begin_member()

    def begin_member(self) -> None:
        """Take small pieces again."""
        self._size = min(_FIRST_PIECE, self._most)

    def take(self) -> bytes:
        """Return the next piece; empty at the end of the file."""
        if self._at == len(self._data):
            self._data = self._file.read(self._most)
            self._at = 0
        piece = self._data[self._at : self._at + self._size]
        self._at += len(piece)
        self._size = min(2 * self._size, self._most)
        return piece

    def give_back(self, n_bytes: int) -> None:
        """Let the last bytes of the last piece be taken again."""
        self._at -= n_bytes

    def end_member(self, n_bytes: int) -> None:
        """Note the end of a member with so much content; raise EOFError if very many have none."""
        if n_bytes == 0:
            self._n_empty += 1
        if self._n_empty > _MOST_EMPTY:
            raise EOFError(f"it has more than {_MOST_EMPTY:,} empty parts")
        self.begin_member()


def _gunzip(file: BufferedReader, size: int) -> Iterator[bytes]:
    """Yield the content of gzip's members; zlib refuses flags that RFC 1952 reserves, Python's gzip does not."""
    packed = _Packed(file, size)
    member = None
    n_bytes = 0
    while data := packed.take():
        if member is None:
            without_padding = data.lstrip(b"\0")  # members may have padding behind them
            if not without_padding:
                continue
            if len(without_padding) < len(data):
                packed.begin_member()
            data = without_padding
            member = zlib.decompressobj(wbits=31)
            n_bytes = 0
        piece = member.decompress(data, size)
        n_bytes += len(piece)
        if piece:
            yield piece
        if member.eof:
            packed.give_back(len(member.unused_data))
            packed.end_member(n_bytes)
            member = None
        else:
            packed.give_back(len(member.unconsumed_tail))
    if member:
        raise EOFError("it ends before its end-of-stream marker was reached")


def _import_zstd() -> Any:  # noqa: ANN401 - a module
    """Return Python's module for Zstandard, or the one for older versions of Python."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def _decompress_zstd(file: BufferedReader, size: int, zstd: Any) -> Iterator[bytes]:  # noqa: ANN401 - a module
    """Yield the content of Zstandard's frames."""
    packed = _Packed(file, size)
    frame = None
    n_bytes = 0
    while data := packed.take():
        if frame is None:
            frame = zstd.ZstdDecompressor()
            n_bytes = 0
        while True:
            piece = frame.decompress(data, size)
            n_bytes += len(piece)
            if piece:
                yield piece
            if frame.eof or frame.needs_input:
                break
            data = b""  # the frame has not returned all content of the bytes before
        if frame.eof:
            packed.give_back(len(frame.unused_data))
            packed.end_member(n_bytes)
            frame = None
    if frame is not None:
        raise EOFError("it ends before the end of its last frame")
