"""How many bytes texts of Parquet share with the text before them, counted before Polars decodes the texts.

A page in the encoding DELTA_BYTE_ARRAY has for each text the number of bytes that it shares with the text before, and
then the rest of all texts: a few bytes can stand for gigabytes. These numbers come first, and are encoded as whole
numbers are (DELTA_BINARY_PACKED). So the pages are written into a file with one column of numbers, and Polars, which
knows all codecs, reads the numbers.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deadheat.core.io.parquet_fields import (
    ColumnChunk,
    ColumnMeta,
    DataPage,
    DataPageV2,
    FileMeta,
    PageHeader,
    RowGroup,
    SchemaElement,
)
from deadheat.core.libraries import polars as pl

# Encodings of Parquet
DELTA_BINARY_PACKED = 5
DELTA_BYTE_ARRAY = 7
INT32 = 1  # a type of Parquet
DATA_PAGE = 0  # types of pages
DATA_PAGE_V2 = 3
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
    def is_v2(self) -> bool:
        """Whether it is of the second version of pages, whose levels are not compressed."""
        return PageHeader.DATA_V2 in self.header

    @property
    def n_values(self) -> int:
        """How many values it has; in the second version without those that are missing."""
        if self.is_v2:
            data = self.header[PageHeader.DATA_V2]
            return int(data[DataPageV2.N_VALUES] - data[DataPageV2.N_NULLS])
        return int(self.header[PageHeader.DATA][DataPage.N_VALUES])

    def as_numbers(self) -> bytes:
        """Return the page with the encoding of whole numbers; one of the second version without its levels."""
        if self.is_v2:
            return self._v2_as_numbers()
        data = self.header[PageHeader.DATA]
        data_header = {
            DataPage.N_VALUES: (I32, data[DataPage.N_VALUES]),
            DataPage.ENCODING: (I32, DELTA_BINARY_PACKED),
            DataPage.DEFINITION_ENCODING: (I32, data[DataPage.DEFINITION_ENCODING]),
            DataPage.REPETITION_ENCODING: (I32, data[DataPage.REPETITION_ENCODING]),
        }
        header = {
            PageHeader.TYPE: (I32, DATA_PAGE),
            PageHeader.N_UNPACKED: (I32, self.header[PageHeader.N_UNPACKED]),
            PageHeader.N_PACKED: (I32, self.header[PageHeader.N_PACKED]),
            PageHeader.DATA: (STRUCT, data_header),
        }
        return _encode(STRUCT, header) + self.content

    def _v2_as_numbers(self) -> bytes:
        data = self.header[PageHeader.DATA_V2]
        n_unpacked = self.header[PageHeader.N_UNPACKED]
        n_packed = self.header[PageHeader.N_PACKED]
        n_definition = data[DataPageV2.DEFINITION_BYTES]
        n_repetition = data[DataPageV2.REPETITION_BYTES]
        n_levels = n_definition + n_repetition
        if min(n_definition, n_repetition, self.n_values) < 0 or n_levels > min(n_unpacked, n_packed):
            raise ValueError
        is_compressed = TRUE if data.get(DataPageV2.IS_COMPRESSED, True) else FALSE
        data_header = {
            DataPageV2.N_VALUES: (I32, self.n_values),
            DataPageV2.N_NULLS: (I32, 0),
            DataPageV2.N_ROWS: (I32, self.n_values),
            DataPageV2.ENCODING: (I32, DELTA_BINARY_PACKED),
            DataPageV2.DEFINITION_BYTES: (I32, 0),
            DataPageV2.REPETITION_BYTES: (I32, 0),
            DataPageV2.IS_COMPRESSED: (is_compressed, None),
        }
        header = {
            PageHeader.TYPE: (I32, DATA_PAGE_V2),
            PageHeader.N_UNPACKED: (I32, n_unpacked - n_levels),
            PageHeader.N_PACKED: (I32, n_packed - n_levels),
            PageHeader.DATA_V2: (STRUCT, data_header),
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
        Of the column: 0 required, 1 optional; None if it is part of a nested one. Pages of the first version then have
        levels that nobody can tell here, so each text is taken for as long as its page.

    Raises
    ------
    ValueError, polars.exceptions.PolarsError
        A page is damaged.
    """
    n_bytes = 0
    pages_v1 = [page for page in pages if not page.is_v2]
    if repetition is None:
        n_bytes += sum(page.n_values * page.header[PageHeader.N_UNPACKED] for page in pages_v1)
    elif pages_v1:
        n_bytes += _sum_numbers(pages_v1, codec, repetition)
    pages_v2 = [page for page in pages if page.is_v2 and page.n_values]
    if pages_v2:
        n_bytes += _sum_numbers(pages_v2, codec, 0)
    return n_bytes


def _sum_numbers(pages: Sequence[DeltaPage], codec: int, repetition: int) -> int:
    """Return the sum of the numbers with which pages begin."""
    content = b"".join(page.as_numbers() for page in pages)
    n_values = sum(page.n_values for page in pages)
    column = {
        ColumnMeta.TYPE: (I32, INT32),
        ColumnMeta.ENCODINGS: (LIST, (I32, [DELTA_BINARY_PACKED])),
        ColumnMeta.PATH: (LIST, (BINARY, [b"n"])),
        ColumnMeta.CODEC: (I32, codec),
        ColumnMeta.N_VALUES: (I64, n_values),
        ColumnMeta.N_UNPACKED: (I64, len(content)),
        ColumnMeta.N_PACKED: (I64, len(content)),
        ColumnMeta.DATA_START: (I64, len(_MAGIC)),
    }
    chunk = {ColumnChunk.FILE_OFFSET: (I64, 0), ColumnChunk.META: (STRUCT, column)}
    group = {
        RowGroup.CHUNKS: (LIST, (STRUCT, [chunk])),
        RowGroup.N_BYTES: (I64, len(content)),
        RowGroup.N_ROWS: (I64, n_values),
    }
    root = {SchemaElement.NAME: (BINARY, b"schema"), SchemaElement.N_CHILDREN: (I32, 1)}
    leaf = {
        SchemaElement.TYPE: (I32, INT32),
        SchemaElement.REPETITION: (I32, repetition),
        SchemaElement.NAME: (BINARY, b"n"),
    }
    metadata = {
        FileMeta.VERSION: (I32, 1),
        FileMeta.SCHEMA: (LIST, (STRUCT, [root, leaf])),
        FileMeta.N_ROWS: (I64, n_values),
        FileMeta.ROW_GROUPS: (LIST, (STRUCT, [group])),
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
