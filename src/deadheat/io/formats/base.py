"""What a file format is: one file that says how it is read and written, found by its name in the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl

from deadheat.io.kinds import Kind
from deadheat.io.writing import Compression

FORMATS: dict[str, Format] = {}
ROWS = 20_000  # of a run, in which ranks are compared with scores


@dataclass(frozen=True)
class Content:
    """What a file holds.

    Attributes
    ----------
    rows : polars.DataFrame, polars.LazyFrame, narwhals.LazyFrame or dict of dict
    notes : tuple of str
        What was done to read it that people should know.
    ranks : polars.DataFrame or None
        query_id, rank and score of the first rows of a run that has both.
    """

    rows: Any
    notes: tuple[str, ...] = ()
    ranks: pl.DataFrame | None = None


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format of files that hold qrels or a run.

    Attributes
    ----------
    name : str
        What ``format=`` takes.
    suffixes : tuple of str
        How the names of such files end, in lower case.
    read : callable
        Takes a path, the kind, and names of columns that the user says; returns the `Content`. Its rows are checked and
        in file order as a `polars.DataFrame` of query_id, doc_id, and relevance, score or rank; a dict of queries; or
        not yet checked as a `polars.LazyFrame`.
    write : callable
        Takes checked rows, a binary file, the kind, the tag of a run, and how to compress.
    locate : callable
        Takes a path, the kind, a query, a document and names of columns, and returns the 1-based lines of this pair, if
        there are lines.
    columns : callable or None
        Takes a path, and returns the names of its columns, by which qrels and runs differ; None: it has no names.
    tells_kind : bool
        Whether rows without names of columns say what they are.
    has_tag : bool
        Whether a run has a tag.
    is_text : bool
        Whether it is text, which has no control characters in ids, and may be compressed as a whole.
    splits_at : str
        A regular expression of what separates fields, and no id can hold; empty where ids are quoted.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, Kind, Mapping[str, str]], Content]
    write: Callable[[pl.DataFrame, IO[bytes], Kind, str, Compression], None]
    locate: Callable[[Path, Kind, str, str, Mapping[str, str]], list[int]] = lambda *_: []
    columns: Callable[[Path], Iterable[object]] | None = None
    tells_kind: bool = False
    has_tag: bool = False
    is_text: bool = True
    splits_at: str = ""


def ranks_of(rows: pl.LazyFrame) -> pl.DataFrame | None:
    """Return query_id, rank and score of the first rows as numbers, null where they are none; None if nothing is read.

    Nothing is refused here: whatever is wrong with a file was found before.
    """
    number = pl.col("rank", "score").cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    try:
        return rows.with_columns(number).collect()
    except pl.exceptions.PolarsError:
        return None


def register(form: Format) -> None:
    """Make a format known by its name."""
    FORMATS[form.name] = form
