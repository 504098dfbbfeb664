"""JSON lines, one object a line: parsed by Polars, and line by line where its result is in doubt."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice
from pathlib import Path
from typing import IO

from deadheat.core.io.columns import find_value_column, is_pattern
from deadheat.core.io.content import COMPARED_ROWS, Content
from deadheat.core.io.files import (
    WILDCARDS,
    blocks,
    check_file_lines,
    decode_utf8,
    read_all,
    read_plain_head,
    refuse_binary,
)
from deadheat.core.io.formats.base import SAMPLED_ROWS, Format, collect_ranks, register
from deadheat.core.io.formats.json_rows import JsonObject, JsonRows, check_rows, find_columns, list_keys, read_rows
from deadheat.core.io.ids import has_control_characters, has_only_ids
from deadheat.core.io.kinds import KEYS, TEXTS, VALUE_COLUMN, Kind
from deadheat.core.io.values import are_plain
from deadheat.core.io.writing import Compression, value_as_text, write_text
from deadheat.core.libraries import polars as pl


@dataclass(frozen=True)
class JsonLines(JsonRows):
    """The objects on the lines of a file.

    Attributes
    ----------
    path : pathlib.Path
        For messages.
    data : pathlib.Path or bytes
        What Polars reads: the path, or the bytes of a file that it cannot read by itself.
    selected : sequence of (int, str), optional
        The lines with their numbers, if some lines of the file are left out; by default all of `data`.
    """

    path: Path
    data: Path | bytes
    selected: Sequence[tuple[int, str]] | None = None

    def texts(self) -> Iterable[tuple[int, str]]:
        """Return the lines that are not blank, with their numbers."""
        if self.selected is not None:
            return self.selected
        return split_lines(self.data, self.path)

    def values(self) -> Iterable[tuple[int, JsonObject]]:
        """Yield each object with its line."""
        return self.objects(needed=None, number=None)

    def first(self) -> JsonObject | None:
        """Return the object on the first line."""
        for _, row in self.objects():
            return row
        return None

    def may_have_keys(self, keys: Collection[str]) -> bool:
        """Tell whether the bytes hold one of these keys in quotes."""
        quoted_keys = [f'"{key}"'.encode() for key in keys]
        if not quoted_keys:
            return False
        return any(_holds_any(block, quoted_keys) for block in split_blocks(self.data))

    def select(self, are_selected: Sequence[bool]) -> JsonLines:
        """Return the lines for which `are_selected` is true."""
        selected = list(compress(self.texts(), are_selected))
        text = "\n".join(line for _, line in selected)
        return replace(self, data=text.encode(), selected=selected)

    def parse(self, columns: Mapping[str, str], nearer: Collection[str]) -> pl.DataFrame | None:
        """Let Polars read the rows; None where it cannot, or where a line may say something else."""
        if find_value_column(columns) is None:
            return None  # one relevant document a row: such files are few and small
        if any(is_pattern(name) for name in columns.values()):
            return None  # Polars would take the name for several columns
        schema = {name: pl.String if key in TEXTS else pl.Float64 for key, name in columns.items()}
        canonical = {key: pl.col(name) for key, name in columns.items()}
        try:
            frame = pl.scan_ndjson(self.data, schema=schema).select(**canonical).collect()
        except (pl.exceptions.PolarsError, OSError):
            return None
        values = frame.to_series(-1)
        if not has_only_ids(frame) or not are_plain(values) or has_control_characters(frame):
            return None
        return frame if self._is_proved(frame.height, columns, nearer) else None

    def _is_proved(self, n_rows: int, columns: Mapping[str, str], nearer: Collection[str]) -> bool:
        """Tell whether each line is a row, none is doubtful, and no column has ids that are text and numbers."""
        line = pl.col("line")
        is_doubtful = line.str.contains("|".join(_doubtful_patterns(columns, nearer)))
        counts = [pl.len().alias("lines"), is_doubtful.sum().alias("doubtful lines")]
        for key in KEYS:
            id_is_number = line.str.contains(rf'"{re.escape(columns[key])}"\s*:\s*[-0-9]')
            counts.append(id_is_number.sum().alias(key))
        n_lines, n_doubtful, *n_with_number = pl.scan_lines(self.data, glob=False).select(counts).collect().row(0)
        is_text_or_number = all(n in {0, n_lines} for n in n_with_number)
        return n_lines == n_rows and not n_doubtful and is_text_or_number

    def ranks(self, columns: Mapping[str, str]) -> pl.DataFrame | None:
        """Return the ranks and scores of the first rows; null where a field is not a number."""
        names = {"query_id": columns["query_id"], "rank": "rank", "score": columns["score"]}
        if any(is_pattern(name) for name in names.values()):
            return None
        schema = dict.fromkeys(names.values(), pl.String)
        rows = pl.scan_ndjson(self.data, schema=schema, n_rows=COMPARED_ROWS, ignore_errors=True)
        canonical = {key: pl.col(name) for key, name in names.items()}
        return collect_ranks(rows.select(**canonical))


def _doubtful_patterns(columns: Mapping[str, str], nearer: Collection[str]) -> Iterator[str]:
    """Yield regular expressions of lines that Polars may read in another way than Python's json."""
    ids = "|".join(re.escape(name) for key, name in columns.items() if key in TEXTS)
    # An id that is neither a string nor a plain integer; Polars would turn 1.50 into "1.5" and true into "true".
    yield rf'"(?:{ids})"\s*:\s*(?:-?[0-9]+[.eE]|-0|[^"0-9\s-])'
    # An id with half of a character, perhaps without its other half, for which Polars would put a NUL.
    yield rf'"(?:{ids})"\s*:\s*"(?:[^"\\]|\\.)*\\u[dD][89a-fA-F]'
    # A key that appears twice, of which Polars would take the first.
    for name in columns.values():
        key = re.escape(name)
        yield rf'"{key}"\s*:.*"{key}"\s*:'
    # A number that is true or false, which Polars would take for 1 or 0.
    value_name = list(columns.values())[-1]
    yield rf'"{re.escape(value_name)}"\s*:\s*[tf]'
    # A key with an escape, which may be one of these keys.
    yield r'\\u[^"]*"\s*:'
    if nearer:
        keys = "|".join(re.escape(name) for name in nearer)
        yield rf'"(?:{keys})"\s*:'


def split_blocks(data: Path | bytes) -> Iterable[bytes]:
    """Return the bytes of a file in blocks of whole lines; bytes that are in memory are one block."""
    return blocks(data) if isinstance(data, Path) else (data,)


def _holds_any(block: bytes, parts: Sequence[bytes]) -> bool:
    return any(part in block for part in parts)


def split_lines(data: Path | bytes, path: Path) -> Iterator[tuple[int, str]]:
    """Yield each line that is not blank with its number."""
    first_line = 1
    for block in split_blocks(data):
        text = decode_utf8(block, path, first_line)
        for line, raw in enumerate(text.split("\n"), first_line):
            if raw.strip():
                yield line, raw
        first_line += block.count(b"\n")


def read_jsonl(path: Path, kind: Kind, given: Mapping[str, str]) -> Content:
    """Read JSON lines into query_id, doc_id and the value, in file order.

    An id may be a JSON number; its text is the id then.

    Raises
    ------
    ColumnError, FileFormatError, DataError
        With the first line that is wrong.
    """
    head = read_plain_head(path)
    # scan_ndjson() expands a path as a pattern, and has no option against it.
    if head is None or not WILDCARDS.isdisjoint(str(path)):
        data = read_all(path, has_lines=True)
        return read_rows(JsonLines(path, data), kind, given)
    refuse_binary(head, path)
    check_file_lines(path)
    return read_rows(JsonLines(path, path), kind, given)


def read_first_objects(path: Path) -> list[JsonObject]:
    """Return the objects on the first lines; a number in them is a `JsonNumber`."""
    objects = JsonLines(path, path).objects()
    return [row for _, row in islice(objects, SAMPLED_ROWS)]


def list_columns(path: Path) -> list[str]:
    """Return the keys of the first objects, in the order in which they are named."""
    return list_keys(read_first_objects(path))


def locate_in_jsonl(path: Path, kind: Kind, query_id: str, doc_id: str, given: Mapping[str, str]) -> list[int]:
    """Return the 1-based lines that hold this pair."""
    rows = JsonLines(path, read_all(path, has_lines=True))
    columns = find_columns((row for _, row in rows.objects()), kind, given, path)
    lines = []
    for line, fields in check_rows(rows, columns, kind):
        if fields[:2] == (query_id, doc_id):
            lines.append(line)
    return lines


def write_jsonl(rows: pl.DataFrame, file: IO[bytes], kind: Kind, _tag: str, compression: Compression) -> None:
    """Write an object a line."""
    text_names = [name for name in TEXTS if name in rows.columns]
    object_of_texts = pl.struct(text_names).struct.json_encode()
    beginning = object_of_texts.str.strip_suffix("}")
    value_key = pl.lit(f',"{VALUE_COLUMN[kind]}":')
    number = value_as_text(kind).str.replace("inf", "Infinity", literal=True)  # as Python's json writes and reads it
    lines = rows.select(pl.concat_str(beginning, value_key, number, pl.lit("}")))
    write_text(lines, file, compression)


register(
    Format(
        name="jsonl",
        suffixes=(".jsonl", ".ndjson"),
        read=read_jsonl,
        write=write_jsonl,
        locate=locate_in_jsonl,
        columns=list_columns,
        has_subtopics=True,
    )
)
