"""Parquet written by hand, so that its footer and the headers of its pages may say anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

MAGIC = b"PAR1"
BYTES, DOUBLE = 6, 5  # types of Parquet
TYPES = {"query_id": BYTES, "doc_id": BYTES, "score": DOUBLE}


class Short(int):
    """A number of Thrift's type i32; others are i64."""


def thrift(value: Any) -> bytes:  # noqa: ANN401 - what Thrift's compact protocol writes
    """Return a structure (a dict by field number), a list, text or a number in Thrift's compact protocol."""
    if isinstance(value, int):
        return _varint((value << 1) ^ (value >> 63))
    if isinstance(value, bytes):
        return _varint(len(value)) + value
    if isinstance(value, list):
        kind = _kind(value[0]) if value else 5
        head = bytes([len(value) << 4 | kind]) if len(value) < 15 else bytes([0xF0 | kind]) + _varint(len(value))
        return head + b"".join(map(thrift, value))
    written, last = b"", 0
    for number, one in value.items():
        written += bytes([(number - last) << 4 | _kind(one)]) + thrift(one)
        last = number
    return written + b"\0"


def _kind(value: object) -> int:
    for type_, kind in ((Short, 5), (int, 6), (bytes, 8), (list, 9), (dict, 12)):
        if isinstance(value, type_):
            return kind
    raise TypeError(value)


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes([*written, number])


@dataclass
class Page:
    """A page of a column, uncompressed, and what its header says of it.

    Attributes
    ----------
    content : bytes
    n_values : int
    n_unpacked, n_packed : int or None
        None: the size of the content.
    encoding : int
        0: plain.
    """

    content: bytes
    n_values: int
    n_unpacked: int | None = None
    n_packed: int | None = None
    encoding: int = 0

    def written(self) -> bytes:
        """Return the page with its header."""
        size = len(self.content)
        unpacked = size if self.n_unpacked is None else self.n_unpacked
        packed = size if self.n_packed is None else self.n_packed
        data_page = {1: Short(self.n_values), 2: Short(self.encoding), 3: Short(3), 4: Short(3)}
        return thrift({1: Short(0), 2: Short(unpacked), 3: Short(packed), 5: data_page}) + self.content


@dataclass
class Column:
    """A column of a row group: its pages, and what the footer says of them; None: what is so."""

    name: str
    pages: list[Page]
    n_values: int | None = None
    codec: int = 0
    start: int | None = None
    size: int | None = None


@dataclass
class File:
    """A file of row groups, each of which has all columns.

    Attributes
    ----------
    groups : list of list of Column
    n_rows : list of int
        Of each group, as the footer says.
    total : int or None
        Rows of all groups, as the footer says; None: their sum.
    """

    groups: list[list[Column]] = field(default_factory=list)
    n_rows: list[int] = field(default_factory=list)
    total: int | None = None

    def written(self) -> bytes:
        """Return the bytes of the file."""
        data, groups = bytearray(MAGIC), []
        for columns, n_rows in zip(self.groups, self.n_rows, strict=True):
            metas = []
            for column in columns:
                start = len(data)
                for page in column.pages:
                    data += page.written()
                size = len(data) - start if column.size is None else column.size
                n_values = sum(page.n_values for page in column.pages) if column.n_values is None else column.n_values
                meta = {
                    1: Short(TYPES[column.name]),
                    2: [Short(0)],
                    3: [column.name.encode()],
                    4: Short(column.codec),
                    5: n_values,
                    6: size,
                    7: size,
                    9: start if column.start is None else column.start,
                }
                metas.append({2: 0, 3: meta})
            groups.append({1: metas, 2: len(data), 3: n_rows})
        schema: list[Any] = [{4: b"schema", 5: Short(len(TYPES))}]
        for name, kind in TYPES.items():
            text = {6: Short(0)} if kind == BYTES else {}
            schema.append({1: Short(kind), 3: Short(0), 4: name.encode(), **text})
        total = sum(self.n_rows) if self.total is None else self.total
        footer = thrift({1: Short(1), 2: schema, 3: total, 4: groups})
        return bytes(data) + footer + len(footer).to_bytes(4, "little") + MAGIC


def texts(values: Sequence[str]) -> bytes:
    """Return the content of a page of text."""
    encoded = [value.encode() for value in values]
    return b"".join(len(value).to_bytes(4, "little") + value for value in encoded)
