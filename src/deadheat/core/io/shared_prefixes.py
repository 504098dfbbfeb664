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

DELTA_BYTE_ARRAY, DELTA_BINARY_PACKED = 7, 5  # encodings
INT32 = 1  # the type
I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12  # types of Thrift's compact protocol
TRUE, FALSE = 1, 2


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
        n_unpacked, n_packed = self.header[2], self.header[3]
        if not self.is_second:
            levels = self.header[5]
            own = {1: (I32, levels[1]), 2: (I32, DELTA_BINARY_PACKED), 3: (I32, levels[3]), 4: (I32, levels[4])}
            fields = {1: (I32, 0), 2: (I32, n_unpacked), 3: (I32, n_packed), 5: (STRUCT, own)}
            return _written(STRUCT, fields) + self.content
        second = self.header[8]
        n_levels = second[5] + second[6]
        if min(second[5], second[6], self.n_values) < 0 or n_levels > min(n_unpacked, n_packed):
            raise ValueError
        own = {
            1: (I32, self.n_values),
            2: (I32, 0),
            3: (I32, self.n_values),
            4: (I32, DELTA_BINARY_PACKED),
            5: (I32, 0),
            6: (I32, 0),
            7: (TRUE if second.get(7, True) else FALSE, None),
        }
        fields = {1: (I32, 3), 2: (I32, n_unpacked - n_levels), 3: (I32, n_packed - n_levels), 8: (STRUCT, own)}
        return _written(STRUCT, fields) + self.content[n_levels:]


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
    start = b"PAR1"
    written = b"".join(page.as_numbers() for page in pages)
    n_values = sum(page.n_values for page in pages)
    column = {
        1: (I32, INT32),
        2: (LIST, (I32, [DELTA_BINARY_PACKED])),
        3: (LIST, (BINARY, [b"n"])),
        4: (I32, codec),
        5: (I64, n_values),
        6: (I64, len(written)),
        7: (I64, len(written)),
        9: (I64, len(start)),
    }
    chunk = {2: (I64, 0), 3: (STRUCT, column)}
    group = {1: (LIST, (STRUCT, [chunk])), 2: (I64, len(written)), 3: (I64, n_values)}
    root = {4: (BINARY, b"schema"), 5: (I32, 1)}
    leaf = {1: (I32, INT32), 3: (I32, repetition), 4: (BINARY, b"n")}
    footer = _written(
        STRUCT,
        {1: (I32, 1), 2: (LIST, (STRUCT, [root, leaf])), 3: (I64, n_values), 4: (LIST, (STRUCT, [group]))},
    )
    file = start + written + footer + len(footer).to_bytes(4, "little") + start
    numbers = pl.read_parquet(io.BytesIO(file))["n"].cast(pl.Int64)
    if (numbers < 0).any():
        raise ValueError
    return int(numbers.sum())


def _written(kind: int, value: Any) -> bytes:  # noqa: ANN401 - what a field holds
    """Return a value in Thrift's compact protocol; those in structures and lists have their types before them."""
    match kind:
        case 1 | 2:  # for booleans the type is the value
            return b""
        case 5 | 6:
            return _varint(value << 1 if value >= 0 else ~(value << 1))
        case 8:
            return _varint(len(value)) + bytes(value)
        case 9:
            of_items, items = value  # few of them: from 15 on, their number is written otherwise
            return bytes([len(items) << 4 | of_items]) + b"".join(_written(of_items, item) for item in items)
    written, last = b"", 0
    for number, (of_field, content) in value.items():
        written += bytes([(number - last) << 4 | of_field]) + _written(of_field, content)
        last = number
    return written + b"\0"


def _varint(number: int) -> bytes:
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes([*written, number])
