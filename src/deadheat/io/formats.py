"""Which format a file has, and reading it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from deadheat.errors import ParameterError
from deadheat.io.jsonl import locate_in_jsonl, read_jsonl
from deadheat.io.lines import locate_in_lines
from deadheat.io.nested import read_nested
from deadheat.io.parquet import scan_parquet
from deadheat.io.source import readable
from deadheat.io.tabular import is_trec_with_tabs, locate_in_table, read_table
from deadheat.io.trec import read_trec

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    import polars as pl

    from deadheat.io.kinds import Kind

Format = Literal["trec", "csv", "tsv", "jsonl", "json", "parquet"]

FORMATS: tuple[Format, ...] = get_args(Format)

COMPRESSED = (".gz", ".zst")

_SUFFIXES: dict[str, Format] = {
    ".run": "trec",
    ".qrels": "trec",
    ".qrel": "trec",
    ".trec": "trec",
    ".txt": "trec",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
}

SUFFIXES: tuple[str, ...] = tuple(_SUFFIXES)

_SEPARATORS = {"csv": ",", "tsv": "\t"}


def sniff_format(path: str | os.PathLike[str]) -> Format:
    """Return the format that a file's name says; TREC if it says nothing.

    Examples
    --------
    >>> sniff_format("bm25.jsonl.gz"), sniff_format("bm25")
    ('jsonl', 'trec')
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return _SUFFIXES.get(suffixes[-1], "trec") if suffixes else "trec"


def chosen_format(path: str | os.PathLike[str], given: str | None) -> Format:
    """Return the format that was asked for, or else the one that the name says."""
    if given is None:
        return sniff_format(path)
    if given not in FORMATS:
        raise ParameterError("unknown format", given=given, allowed=FORMATS)
    return given  # pyright: ignore[reportReturnType] - it does not narrow by a tuple of literals


def scan(
    path: str | os.PathLike[str],
    kind: Kind,
    *,
    format: str | None = None,  # noqa: A002 - the word users expect
    progress: Callable[[int, int], None] | None = None,
) -> pl.DataFrame | pl.LazyFrame | dict[str, Mapping[str, float]]:
    """Read qrels or a run from a file.

    Parameters
    ----------
    path : path-like
        Gzip and Zstandard are recognised by their first bytes, whatever the name.
    kind : {"qrels", "run"}
    format : {"trec", "csv", "tsv", "jsonl", "json", "parquet"}, optional
        Default: what the name says, and TREC if it says nothing. A .tsv file whose first line holds no known column
        name is TREC with tabs.
    progress : callable, optional
        Called with the bytes read and the bytes of the file, before and after.

    Returns
    -------
    polars.DataFrame
        From TREC, CSV, TSV and JSON lines: query_id, doc_id, and relevance or score as float64, in file order, checked.
    polars.LazyFrame
        From Parquet: as the file is, not yet read and not yet checked.
    dict of dict
        From JSON: ``{query_id: {doc_id: number}}``, checked, without queries that have no document.

    Raises
    ------
    DataError
        Whatever is wrong with the file, with its line where it has lines.
    """
    path = readable(path)
    n_bytes = path.stat().st_size
    if progress is not None:
        progress(0, n_bytes)
    rows = _read(path, kind, chosen_format(path, format))
    if progress is not None:
        progress(n_bytes, n_bytes)
    return rows


def _read(path: Path, kind: Kind, chosen: Format) -> pl.DataFrame | pl.LazyFrame | dict[str, Mapping[str, float]]:
    if chosen == "parquet":
        return scan_parquet(path)
    if chosen == "json":
        return read_nested(path, kind)
    if chosen == "jsonl":
        return read_jsonl(path, kind)
    if chosen == "trec" or (chosen == "tsv" and path.is_file() and is_trec_with_tabs(path)):
        return read_trec(path, kind)
    return read_table(path, kind, _SEPARATORS[chosen])


def locate(
    path: str | os.PathLike[str],
    kind: Kind,
    query_id: str,
    doc_id: str,
    *,
    format: str | None = None,  # noqa: A002 - the word users expect
) -> list[int]:
    """Return the 1-based lines that hold a (query, document) pair, to name duplicates.

    A format without lines (Parquet, JSON) and a file that can be read only once (a pipe) have none.
    """
    path = readable(path)
    chosen = chosen_format(path, format)
    if chosen in {"parquet", "json"} or not path.is_file():
        return []
    if chosen == "jsonl":
        return locate_in_jsonl(path, kind, query_id, doc_id)
    if chosen == "trec" or (chosen == "tsv" and is_trec_with_tabs(path)):
        return locate_in_lines(path, kind, query_id, doc_id)
    return locate_in_table(path, kind, query_id, doc_id, _SEPARATORS[chosen])
