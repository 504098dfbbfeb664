"""What Parquet declares of itself, checked before Polars takes memory for it.

A size below 0 makes Polars end the process, which Python cannot catch; so does a size beyond the memory that there is.
No library for Python reads the headers of pages, so they are read here. That takes a few microseconds for each page of
about a megabyte.
"""

from __future__ import annotations

import io
import mmap
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from deadheat.core.errors import FileFormatError
from deadheat.core.io.files import LONGEST_LINE
from deadheat.core.io.guarding import guard_polars
from deadheat.core.io.memory_limits import ROW_BYTES, check_memory
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
from deadheat.core.io.shared_prefixes import DELTA_BYTE_ARRAY, DeltaPage, count_shared_bytes
from deadheat.core.libraries import polars as pl

_MAGIC = b"PAR1"
_I16 = 4  # a type of Thrift's compact protocol
_TAIL = 8  # four bytes that give the length of the footer, and the magic
_VALUE_BYTES = 16  # bytes of memory for a value, beside its text
_SLACK = 1 << 18  # bytes that a page may have beyond its codec's ratio
_FEW_PAGES = 100_000  # pages that any file may have
_BYTES_PER_PAGE = 1_000  # a file may have one more page for each so many bytes
# The most that a byte unpacks to, by codec: none, Snappy, gzip, LZ4 and LZ4 raw; others go to the ratio of Zstandard
_RATIOS = {0: 1, 1: 64, 2: 1_100, 5: 256, 7: 256}
_LARGEST_RATIO = 1 << 15


@dataclass(frozen=True)
class Chunk:
    """What the footer says of a chunk, which is one column of a row group.

    Attributes
    ----------
    start, end : int
        Where its pages are.
    n_values : int
    codec : int
    repetition : int or None
        0: it has a value in each row; 1: values may be missing; None: it is part of a nested column.
    """

    start: int
    end: int
    n_values: int
    codec: int
    repetition: int | None


def check_pages(data: bytes | mmap.mmap, path: Path, n_packed: int, *, is_whole: bool = False) -> None:
    """Raise FileFormatError if sizes that Parquet declares are impossible, or more than may be held.

    What is not Parquet at all, or encrypted, is left to Polars, which says so.

    Parameters
    ----------
    data : bytes or mmap
    path : pathlib.Path
        For messages.
    n_packed : int
        The size of the file that it is from.
    is_whole : bool, default False
        Whether all columns are read, and not the three of a run or judgments.
    """
    if len(data) < 4 + _TAIL or data[-4:] != _MAGIC:
        return
    n_footer = int.from_bytes(data[-_TAIL:-4], "little")
    if n_footer > max(LONGEST_LINE, len(data) // 100):
        raise FileFormatError(
            f"its footer has {n_footer:,} bytes, more than the {LONGEST_LINE:,} of a footer or a line",
            allowed="a Parquet file",
            path=path,
        )
    try:
        with guard_polars(path):  # Polars looks at some pages
            n_bytes = _count_declared_bytes(data, len(data) - _TAIL - n_footer, is_whole=is_whole)
    # a field is missing or of another type, there is nothing where it should be, or lists in lists in lists
    except (
        LookupError,
        TypeError,
        AttributeError,
        ValueError,
        OverflowError,
        RecursionError,
        pl.exceptions.PolarsError,
    ):
        raise FileFormatError(
            allowed="a Parquet file, but it is damaged",
            hint="its sizes are impossible, or files were joined",
            path=path,
        ) from None
    check_memory(n_bytes, n_packed, path, is_all=True)


def read_table(data: bytes, path: Path) -> pl.DataFrame:
    """Read a table that is Parquet in memory; `path` is for messages.

    Raises
    ------
    DataError
        It is damaged, or takes more memory than it may.
    """
    check_pages(data, path, len(data), is_whole=True)
    with guard_polars(path):
        table = pl.read_parquet(io.BytesIO(data))
    check_texts(table, path, len(data))
    return table


def check_texts(table: pl.DataFrame, path: Path, n_packed: int) -> None:
    """Raise FileFormatError if the text of a table is more than may be held.

    Polars holds a text of a dictionary once, however many rows have it; whatever else is done with it takes a copy for
    each row.
    """
    n_bytes = 0
    for column in table:
        while isinstance(column.dtype, pl.List | pl.Array):
            column = column.explode()  # noqa: PLW2901 - what is in the lists
        if column.dtype == pl.String:
            n_bytes += int(column.str.len_bytes().sum())
        elif column.dtype == pl.Binary:
            n_bytes += int(column.bin.size().sum())
    check_memory(n_bytes, n_packed, path, is_all=True)


def check_categories(rows: pl.LazyFrame, path: Path, n_packed: int) -> None:
    """Raise FileFormatError if the text of categories is more than may be held: a cast takes a copy for each row."""
    n_bytes = 0
    for name, dtype in rows.collect_schema().items():
        if isinstance(dtype, pl.Categorical | pl.Enum):
            counts = rows.group_by(name).len().collect(engine="streaming")
            lengths = counts[name].cast(pl.String).str.len_bytes().cast(pl.Int64)
            n_bytes += int((lengths * counts["len"]).sum())
    check_memory(n_bytes, n_packed, path, is_all=True)


def _count_declared_bytes(data: bytes | mmap.mmap, end: int, *, is_whole: bool) -> int:
    """Return how many bytes the content takes, by its own account; raise for what is impossible."""
    footer = _Thrift(data, _check_size(end)).read_struct()
    n_rows = _check_size(footer[FileMeta.N_ROWS])
    groups = footer[FileMeta.ROW_GROUPS]
    if n_rows != sum(_check_size(group[RowGroup.N_ROWS]) for group in groups):
        raise ValueError
    leaves = [element for element in footer[FileMeta.SCHEMA] if not element.get(SchemaElement.N_CHILDREN)]
    chunks = []
    n_columns = 0
    for group in groups:
        metas = _list_column_metas(group)
        n_columns = max(n_columns, len(metas))
        for meta in metas:
            has_no_lists = len(meta[ColumnMeta.PATH]) == 1
            if has_no_lists and meta[ColumnMeta.N_VALUES] != group[RowGroup.N_ROWS]:
                raise ValueError
        for meta, leaf in zip(metas, leaves, strict=False):
            chunks.append(_read_chunk(meta, leaf, end))
    _check_places(data, groups, chunks, end)
    most_pages = _FEW_PAGES + len(data) // _BYTES_PER_PAGE
    n_bytes = n_pages = 0
    for chunk in chunks:
        n_pages_of_chunk, n_bytes_of_chunk = _check_chunk(data, chunk, most_pages - n_pages)
        n_pages += n_pages_of_chunk
        n_bytes += n_bytes_of_chunk
    n_values = sum(chunk.n_values for chunk in chunks)
    n_in_lists = max(n_values - n_rows * n_columns, 0)
    n_bytes += n_in_lists * _VALUE_BYTES
    if is_whole:
        n_bytes += n_rows * n_columns * _VALUE_BYTES
    return n_bytes + n_rows * ROW_BYTES


def _list_column_metas(group: dict[int, Any]) -> list[dict[int, Any]]:
    """Return the metadata of a row group's columns, except those in other files, which Polars refuses."""
    metas = []
    for chunk in group.get(RowGroup.CHUNKS) or ():
        if ColumnChunk.FILE_PATH not in chunk:
            metas.append(chunk[ColumnChunk.META])
    return metas


def _read_chunk(meta: dict[int, Any], leaf: dict[int, Any], end: int) -> Chunk:
    """Return what the footer says of a chunk; raise for what is impossible."""
    is_nested = len(meta[ColumnMeta.PATH]) != 1
    data_start = _check_size(meta[ColumnMeta.DATA_START])
    # some writers put 0 where there is no dictionary
    dictionary_start = _check_size(meta.get(ColumnMeta.DICTIONARY_START) or data_start)
    start = min(data_start, dictionary_start)
    return Chunk(
        start=start,
        end=min(end, start + _check_size(meta[ColumnMeta.N_PACKED])),
        n_values=_check_size(meta[ColumnMeta.N_VALUES]),
        codec=meta[ColumnMeta.CODEC],
        repetition=None if is_nested else leaf.get(SchemaElement.REPETITION, 0),
    )


def _check_places(data: bytes | mmap.mmap, groups: list[dict[int, Any]], chunks: list[Chunk], end: int) -> None:
    """Raise ValueError if files were joined, or chunks share bytes, which would be read again and again."""
    ends = [chunk.end for chunk in chunks]
    for group in groups:
        for chunk in group.get(RowGroup.CHUNKS) or ():
            for index in (ColumnChunk.OFFSET_INDEX, ColumnChunk.COLUMN_INDEX):
                start = chunk.get(index)
                size = chunk.get(index + 1)
                if start and size:
                    ends.append(start + size)
    if max(ends, default=0) < end and data.find(_MAGIC * 2, 0) >= 0:
        raise ValueError  # joined: the places in the last footer are those in its own file
    in_order = sorted((chunk for chunk in chunks if chunk.end > chunk.start), key=lambda chunk: chunk.start)
    for before, after in pairwise(in_order):
        if after.start < before.end:
            raise ValueError


def _check_chunk(data: bytes | mmap.mmap, chunk: Chunk, most_pages: int) -> tuple[int, int]:
    """Check the pages of a chunk, until all its values are counted; return how many pages and unpacked bytes it has."""
    n_left = chunk.n_values
    at = chunk.start
    ratio = _RATIOS.get(chunk.codec, _LARGEST_RATIO)
    n_pages = n_bytes = 0
    delta_pages = []
    while n_left > 0:
        n_pages += 1
        if at >= chunk.end or n_pages > most_pages:
            raise ValueError
        reader = _Thrift(data, at)
        fields = reader.read_struct()
        page = _read_page(fields)
        if page.n_unpacked > ratio * page.n_packed + _SLACK:
            raise ValueError
        if page.is_dictionary and page.n_values > page.n_unpacked:
            raise ValueError
        end = reader.at + page.n_packed
        if page.encoding == DELTA_BYTE_ARRAY and end <= chunk.end:
            delta_pages.append(DeltaPage(fields, data[reader.at : end]))
        n_bytes += page.n_unpacked
        if not page.is_dictionary:
            n_left -= page.n_values
        at = end
    if n_left < 0 or at > max(chunk.end, chunk.start):
        raise ValueError
    if delta_pages:
        n_bytes += count_shared_bytes(delta_pages, chunk.codec, chunk.repetition)
    return n_pages, n_bytes


@dataclass(frozen=True)
class _Page:
    """What the header of a page says.

    Attributes
    ----------
    n_packed, n_unpacked : int
        Its bytes in the file, and unpacked.
    n_values : int
    encoding : int
    is_dictionary : bool
        Whether it holds a dictionary of values, to which the other pages of the chunk refer.
    """

    n_packed: int
    n_unpacked: int
    n_values: int
    encoding: int
    is_dictionary: bool


def _read_page(fields: dict[int, Any]) -> _Page:
    """Return what the header of a page says."""
    kind_header = fields.get(PageHeader.DICTIONARY) or fields.get(PageHeader.DATA) or fields[PageHeader.DATA_V2]
    if PageHeader.DATA_V2 in fields:
        encoding = kind_header[DataPageV2.ENCODING]
    else:
        encoding = kind_header[DataPage.ENCODING]
    return _Page(
        n_packed=_check_size(fields[PageHeader.N_PACKED]),
        n_unpacked=_check_size(fields[PageHeader.N_UNPACKED]),
        n_values=_check_size(kind_header[DataPage.N_VALUES]),
        encoding=encoding,
        is_dictionary=PageHeader.DICTIONARY in fields,
    )


def _check_size(number: int) -> int:
    """Return a size that is possible; raise ValueError for one below 0."""
    if number < 0:
        raise ValueError
    return number


class _Thrift:
    """Structures of Thrift's compact protocol, read from a place on.

    Attributes
    ----------
    at : int
        Where the next byte is.
    """

    def __init__(self, data: bytes | mmap.mmap, at: int) -> None:
        self._data = data
        self.at = at

    def read_struct(self) -> dict[int, Any]:
        """Return the integers, structures and lists of a structure, by field number."""
        fields: dict[int, Any] = {}
        number = 0
        while header := self._read_byte():
            step = header >> 4
            number = number + step if step else self._read_value(_I16)
            kind = header & 15
            if kind in {1, 2}:  # for booleans the kind is the value
                fields[number] = kind == 1
            else:
                fields[number] = self._read_value(kind)
        return fields

    def _read_value(self, kind: int) -> Any:  # noqa: ANN401 - what a field holds
        """Return a value of one of Thrift's types; None for a float or bytes, which are skipped."""
        match kind:
            case 1 | 2 | 3:  # a boolean in a list, or a byte
                return self._read_byte()
            case 4 | 5 | 6:  # an integer of 16, 32 or 64 bits
                number = self._read_varint()
                return number >> 1 ^ -(number & 1)
            case 7:  # a float
                self.at += 8
                return None
            case 8:  # bytes
                size = self._read_varint()
                self.at += size
                return None
            case 9 | 10:  # a list or a set
                header = self._read_byte()
                size = self._read_varint() if header >> 4 == 15 else header >> 4
                return [self._read_value(header & 15) for _ in range(size)]
            case 12:  # a structure
                return self.read_struct()
        raise ValueError(kind)

    def _read_byte(self) -> int:
        byte = self._data[self.at]
        self.at += 1
        return byte

    def _read_varint(self) -> int:
        number = shift = 0
        while (byte := self._read_byte()) & 128 and shift < 64:
            number |= (byte & 127) << shift
            shift += 7
        return number | byte << shift
