"""How long the texts in pages of Parquet are that begin as the one before does, told before Polars decodes them.

Such a page (DELTA_BYTE_ARRAY) has how many bytes each text shares with the one before, and then the ends of all texts:
a few bytes can stand for gigabytes. The shared lengths are encoded as whole numbers are (DELTA_BINARY_PACKED), and come
first. So a file with a column of numbers is made of the same pages, and Polars, which knows all codecs, reads them.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deadheat.core.libraries import polars as pl

# Encodings of Parquet
DELTA_BINARY_PACKED = 5
DELTA_BYTE_ARRAY = 7
INT32 = 1  # a type of Parquet
# Types of Thrift's compact protocol; for booleans the type is the value
TRUE = 1
FALSE = 2
I32 = 5
I64 = 6
BINARY = 8
LIST = 9
STRUCT = 12
_MAGIC = b"PAR1"


@dataclass(frozen=True)
class DeltaPage:
    """A page of the encoding DELTA_BYTE_ARRAY.

    Attributes
    ----------
    header : dict
        Fields of its header by number.
    content : bytes
    """

    header: dict[int, Any]
    content: bytes

    @property
    def is_second(self) -> bool:
        """Whether it is of the second version of pages, whose levels are not compressed."""
        return 8 in self.header

    @property
    def n_values(self) -> int:
        """How many values it has, without those that are missing in the second version."""
        if self.is_second:
            return int(self.header[8][1] - self.header[8][2])
        return int(self.header[5][1])

    def as_numbers(self) -> bytes:
        """Return the page with the encoding of whole numbers; one of the second version without its levels."""
        if self.is_second:
            return self._second_as_numbers()
        levels = self.header[5]
        data_header = {
            1: (I32, levels[1]),
            2: (I32, DELTA_BINARY_PACKED),
            3: (I32, levels[3]),
            4: (I32, levels[4]),
        }
        header = {1: (I32, 0), 2: (I32, self.header[2]), 3: (I32, self.header[3]), 5: (STRUCT, data_header)}
        return _encode(STRUCT, header) + self.content

    def _second_as_numbers(self) -> bytes:
        second = self.header[8]
        n_unpacked = self.header[2]
        n_packed = self.header[3]
        n_levels = second[5] + second[6]
        if min(second[5], second[6], self.n_values) < 0 or n_levels > min(n_unpacked, n_packed):
            raise ValueError
        is_compressed = TRUE if second.get(7, True) else FALSE
        data_header = {
            1: (I32, self.n_values),
            2: (I32, 0),
            3: (I32, self.n_values),
            4: (I32, DELTA_BINARY_PACKED),
            5: (I32, 0),
            6: (I32, 0),
            7: (is_compressed, None),
        }
        header = {
            1: (I32, 3),
            2: (I32, n_unpacked - n_levels),
            3: (I32, n_packed - n_levels),
            8: (STRUCT, data_header),
        }
        return _encode(STRUCT, header) + self.content[n_levels:]


def count_shared_bytes(pages: Sequence[DeltaPage], codec: int, repetition: int | None) -> int:
    """Return how many bytes the texts of some pages share with the ones before them.

    Parameters
    ----------
    pages : sequence of DeltaPage
        Of one column in one row group.
    codec : int
    repetition : int or None
        Of the column: 0 required, 1 optional; None if it is within others. Then the levels of its pages of the first
        version are unknown, and each text may have all bytes of the page.

    Raises
    ------
    ValueError, polars.exceptions.PolarsError
        A page is damaged.
    """
    n_bytes = 0
    first = [page for page in pages if not page.is_second]
    if repetition is None:
        n_bytes += sum(page.n_values * page.header[2] for page in first)
    elif first:
        n_bytes += _sum_of_numbers(first, codec, repetition)
    second = [page for page in pages if page.is_second and page.n_values]
    if second:
        n_bytes += _sum_of_numbers(second, codec, 0)
    return n_bytes


def _sum_of_numbers(pages: Sequence[DeltaPage], codec: int, repetition: int) -> int:
    """Return the sum of the numbers with which pages begin."""
    content = b"".join(page.as_numbers() for page in pages)
    n_values = sum(page.n_values for page in pages)
    column = {
        1: (I32, INT32),
        2: (LIST, (I32, [DELTA_BINARY_PACKED])),
        3: (LIST, (BINARY, [b"n"])),
        4: (I32, codec),
        5: (I64, n_values),
        6: (I64, len(content)),
        7: (I64, len(content)),
        9: (I64, len(_MAGIC)),
    }
    chunk = {2: (I64, 0), 3: (STRUCT, column)}
    group = {1: (LIST, (STRUCT, [chunk])), 2: (I64, len(content)), 3: (I64, n_values)}
    root = {4: (BINARY, b"schema"), 5: (I32, 1)}
    leaf = {1: (I32, INT32), 3: (I32, repetition), 4: (BINARY, b"n")}
    metadata = {
        1: (I32, 1),
        2: (LIST, (STRUCT, [root, leaf])),
        3: (I64, n_values),
        4: (LIST, (STRUCT, [group])),
    }
    footer = _encode(STRUCT, metadata)
    file = _MAGIC + content + footer + len(footer).to_bytes(4, "little") + _MAGIC
    numbers = pl.read_parquet(io.BytesIO(file))["n"].cast(pl.Int64)
    if (numbers < 0).any():
        raise ValueError
    return int(numbers.sum())


def _encode(kind: int, value: Any) -> bytes:  # noqa: ANN401 - what a field holds
    """Return a value in Thrift's compact protocol; those in structures and lists have their types before them."""
    if kind in {TRUE, FALSE}:
        return b""
    if kind in {I32, I64}:
        zigzag = value << 1 if value >= 0 else ~(value << 1)
        return _encode_varint(zigzag)
    if kind == BINARY:
        return _encode_varint(len(value)) + bytes(value)
    if kind == LIST:
        item_kind, items = value  # few of them: from 15 on, their number is written otherwise
        header = bytes([len(items) << 4 | item_kind])
        return header + b"".join(_encode(item_kind, item) for item in items)
    fields = b""
    last_number = 0
    for number, (field_kind, content) in value.items():
        fields += bytes([(number - last_number) << 4 | field_kind]) + _encode(field_kind, content)
        last_number = number
    return fields + b"\0"


def _encode_varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
