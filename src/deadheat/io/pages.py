"""The sizes that a Parquet file declares, checked before Polars trusts them.

A size below 0, or of exabytes, makes Polars abort the process, which nothing in Python can catch. So the footer and
the header of each page are read here first, in a few microseconds per page of about a megabyte. They are encoded in
the compact protocol of Apache Thrift, as apache/parquet-format describes (parquet.thrift).
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

from deadheat.errors import FileFormatError

_MAGIC = b"PAR1"
_TAIL = 8  # four bytes that give the length of the footer, and the magic
_DEEPEST = 16  # levels of nested structures and lists: the format needs 8
# field numbers in parquet.thrift
_FILE_ROWS, _FILE_GROUPS = 3, 4
_GROUP_CHUNKS, _GROUP_ROWS = 1, 3
_CHUNK_FILE, _CHUNK_META, _CHUNK_INDICES = 1, 3, ((4, 5), (6, 7))
_META_VALUES, _META_COMPRESSED, _META_DATA, _META_DICTIONARY = 5, 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED, _PAGE_DATA, _PAGE_DICTIONARY, _PAGE_DATA_V2 = 2, 3, 5, 7, 8
_COUNT_VALUES = 1


class _Damaged(Exception):  # noqa: N818 - never leaves this module
    pass


class _Thrift:
    """A reader of values, one after the other, from `at` on."""

    def __init__(self, data: mmap.mmap, at: int, end: int) -> None:
        self.data, self.at, self.end = data, at, end

    def byte(self) -> int:
        if self.at >= self.end:
            raise _Damaged
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        number = shift = 0
        while (byte := self.byte()) & 128:
            number |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise _Damaged
        return number | byte << shift

    def integer(self) -> int:
        number = self.varint()
        return number >> 1 ^ -(number & 1)

    def skip(self, n_bytes: int) -> None:
        self.at += n_bytes

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Return the integers, structures and lists of a structure by field number; other fields are None."""
        fields: dict[int, Any] = {}
        number = 0
        while header := self.byte():
            number = number + (header >> 4) if header >> 4 else self.integer()
            kind = header & 15
            fields[number] = None if kind in (1, 2) else self.value(kind, depth)  # for booleans the kind is the value
        return fields

    def value(self, kind: int, depth: int) -> Any:  # noqa: ANN401 - what a field holds
        if depth > _DEEPEST:
            raise _Damaged
        match kind:
            case 1 | 2 | 3:
                return self.skip(1)
            case 4 | 5 | 6:
                return self.integer()
            case 7:
                return self.skip(8)
            case 8:
                return self.skip(self.varint())
            case 9 | 10:
                header = self.byte()
                size = self.varint() if header >> 4 == 15 else header >> 4
                return [self.value(header & 15, depth + 1) for _ in range(size)]
            case 12:
                return self.struct(depth + 1)
        raise _Damaged


def check_pages(path: Path) -> None:
    """Raise FileFormatError if the sizes that a Parquet file declares are impossible.

    A file that is not Parquet at all, or encrypted, is left to Polars, which says so.
    """
    with path.open("rb") as stream:
        if stream.seek(0, 2) < len(_MAGIC) + _TAIL:
            return
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data[-len(_MAGIC) :] == _MAGIC:
                _check(data, path)


def _check(data: mmap.mmap, path: Path) -> None:
    end = len(data) - _TAIL
    start = end - int.from_bytes(data[end : end + 4], "little")
    where = "its footer"
    try:
        groups = _groups(data, start, end)
        where = "the file, whose footer does not account for all bytes,"
        _check_known(data, groups, start)
        for chunk in (chunk for group in groups for chunk in group.get(_GROUP_CHUNKS) or ()):
            # Polars refuses a column in another file
            if _CHUNK_FILE not in chunk:
                where = f"a column from byte {chunk[_CHUNK_META].get(_META_DATA)} on"
                _check_chunk(data, chunk[_CHUNK_META], start)
    # the latter three: a required field is missing, or has a value of another type
    except (_Damaged, LookupError, TypeError, AttributeError):
        raise FileFormatError(
            allowed="a Parquet file, but it is damaged", hint=f"{where} has impossible sizes", path=path
        ) from None


def _groups(data: mmap.mmap, start: int, end: int) -> list[dict[int, Any]]:
    if start < len(_MAGIC):
        raise _Damaged
    footer = _Thrift(data, start, end).struct()
    groups: list[dict[int, Any]] = footer[_FILE_GROUPS]
    if _size(footer, _FILE_ROWS) != sum(_size(group, _GROUP_ROWS) for group in groups):
        raise _Damaged
    return groups


def _check_known(data: mmap.mmap, groups: list[dict[int, Any]], end: int) -> None:
    """Refuse concatenated files: the offsets in the last footer refer to its own file only."""
    ends = [0]
    for chunk in (chunk for group in groups for chunk in group.get(_GROUP_CHUNKS) or ()):
        if chunk.get(_CHUNK_META) is not None:
            ends.append(_start(chunk[_CHUNK_META]) + _size(chunk[_CHUNK_META], _META_COMPRESSED))
        ends += [chunk[at] + chunk[length] for at, length in _CHUNK_INDICES if chunk.get(at) and chunk.get(length)]
    if max(ends) < end and data.find(_MAGIC * 2) >= 0:
        raise _Damaged


def _start(meta: dict[int, Any]) -> int:
    """Return where the pages of a column begin, with its dictionary if it has one (some writers put 0 for none)."""
    at = _size(meta, _META_DATA)
    return min(at, _size(meta, _META_DICTIONARY)) if meta.get(_META_DICTIONARY) else at


def _check_chunk(data: mmap.mmap, meta: dict[int, Any], end: int) -> None:
    """Check page after page of one column of a row group, until all its values are counted."""
    left, at = _size(meta, _META_VALUES), _start(meta)
    end = min(end, at + _size(meta, _META_COMPRESSED))
    while left > 0:
        thrift = _Thrift(data, at, end)
        page = thrift.struct()
        _size(page, _PAGE_UNPACKED)
        at = thrift.at + _size(page, _PAGE_PACKED)
        if _PAGE_DICTIONARY in page:
            _size(page[_PAGE_DICTIONARY], _COUNT_VALUES)
        else:
            left -= _size(page[_PAGE_DATA if _PAGE_DATA in page else _PAGE_DATA_V2], _COUNT_VALUES)


def _size(fields: dict[int, Any], number: int) -> int:
    size = fields[number]
    if not isinstance(size, int) or size < 0:
        raise _Damaged
    return size
