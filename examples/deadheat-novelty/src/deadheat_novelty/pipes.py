"""Files with a line for each document: query|document|number."""

from collections.abc import Mapping
from pathlib import Path
from typing import IO

import polars as pl

from deadheat import api

LINE = "query|document|number"


def rows_of(path: Path, kind: api.Kind) -> list[tuple[int, str, str, float]]:
    """Return the line, the query, the document and the number of each row."""
    rows = []
    for line, text in enumerate(api.read_text(path, LINE).split("\n"), start=1):
        fields = text.rstrip("\r").split("|")
        if fields == [""]:
            continue
        if len(fields) != 3 or "" in fields:
            raise api.MalformedRowError(allowed=LINE, given=text, path=path, line=line)
        query_id, doc_id, number = fields
        api.check_ids_of_row(query_id, doc_id, path, line)
        rows.append((line, query_id, doc_id, api.read_value(number, kind, path=path, line=line)))
    return rows


def read(path: Path, kind: api.Kind, _columns: Mapping[str, str]) -> api.Content:
    """Read judgments or a run."""
    rows = [row[1:] for row in rows_of(path, kind)]
    return api.Content(api.frame_of_rows(rows, ("query_id", "doc_id", api.VALUE_COLUMN[kind])))


def write(rows: pl.DataFrame, file: IO[bytes], kind: api.Kind, _tag: str, compression: api.Compression) -> None:
    """Write judgments or a run."""
    line = pl.concat_str("query_id", "doc_id", api.value_as_text(kind), separator="|")
    api.write_text(rows.select(line), file, compression)


def locate(path: Path, kind: api.Kind, query_id: str, doc_id: str, _columns: Mapping[str, str]) -> list[int]:
    """Return the lines of a pair."""
    return [row[0] for row in rows_of(path, kind) if row[1:3] == (query_id, doc_id)]


api.register_file_format(
    api.FileFormat(name="pipes", suffixes=(".pipes",), read=read, write=write, locate=locate, splits_at=r"[|\r\n]")
)
