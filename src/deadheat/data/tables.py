"""Qrels and runs: checked tables of (query, document, number), lazy where the source allows it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Self, TypeAlias

import polars as pl

from deadheat.data.precision import ScorePrecision, round_and_warn
from deadheat.data.rows import LazyRows, MappingRows, MemoryRows, Rows
from deadheat.errors import DuplicateError, SourceTypeError
from deadheat.io.forking import check_threads
from deadheat.io.formats import COMPRESSED, SUFFIXES, locate, scan
from deadheat.io.guarding import guarded
from deadheat.io.kinds import Kind
from deadheat.io.mappings import check_mapping

Source: TypeAlias = object
"""A path, a dict of dicts, an iterable of (query, document, number) tuples, or a dataframe that Narwhals takes."""


class Table:
    """Rows of (query_id, doc_id, number): the base of `Qrels` and `Run`.

    Attributes
    ----------
    name : str
        Label of the table: what the caller gave, or the file name without its format.
    path : pathlib.Path or None
        The file that it was read from.
    rows : Rows
        Stored as the source allows.
    """

    kind: ClassVar[Kind]

    def __init__(
        self,
        source: Source,
        *,
        name: str | None = None,
        format: str | None = None,  # noqa: A002 - the word that users look for
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.path = path_of(source)
        self.name = name or (label_of(self.path) if self.path else self.kind)
        self.format = format
        with nullcontext() if isinstance(source, Mapping) else guarded(self.where):  # dicts need no Polars
            self.rows = self._read(source, progress)

    def _read(self, source: Source, progress: Callable[[int, int], None] | None) -> Rows:
        if self.path is not None:
            source = scan(self.path, self.kind, format=self.format, progress=progress)
        if isinstance(source, Mapping):
            return MappingRows(check_mapping(source, self.kind, self.where), self.kind, self.where)
        if not (self.path is not None and isinstance(source, pl.DataFrame)):  # rows read from a file are checked
            from deadheat.io.frames import canonical

            source = canonical(source, self.kind, self.where)
        return MemoryRows(source) if isinstance(source, pl.DataFrame) else LazyRows(source)

    @classmethod
    def of(cls, source: Source) -> Self:
        """Return `source` itself if it is of this class, else read it."""
        if isinstance(source, cls):
            return source
        if isinstance(source, Table):
            raise SourceTypeError(given=source, allowed=cls.kind, hint="are the arguments swapped?")
        return cls(source)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def where(self) -> str:
        """Where the rows come from, for messages."""
        return str(self.path) if self.path else self.name

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a Polars frame, in the order of the source."""
        with guarded(self.where):
            return self.rows.to_polars()

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the rows as ``{query_id: {doc_id: number}}``."""
        return self.rows.to_dict()

    def check_duplicates(self) -> None:
        """Raise `DuplicateError` if a (query, document) pair is repeated, which a dict cannot do."""
        if isinstance(self.rows, MappingRows):
            return
        with guarded(self.where):
            found = self.rows.repeated_pairs()
        if found is not None and len(found):
            raise self._duplicate(found)

    def _duplicate(self, found: pl.DataFrame) -> DuplicateError:
        query, doc, count = found.row(0)
        word = "judged" if self.kind == "qrels" else "retrieved"
        message = f"document {doc!r} is {word} {count} times for query {query!r}; each pair may appear only once"
        lines = locate(self.path, self.kind, query, doc, format=self.format) if self.path else []
        if lines:
            message += f" (lines {', '.join(map(str, lines[:5]))})"
        if len(found) > 1:
            message += f"; {len(found) - 1:,} more pairs are repeated"
        return DuplicateError(message, path=self.path or self.name, line=lines[1] if len(lines) > 1 else None)


class Qrels(Table):
    """Relevance judgments: query_id, doc_id, relevance.

    Parameters
    ----------
    source : path, dict of dict, iterable of tuples, dataframe
        Relevance may be an integer level or a real gain; negative values are kept; true is 1 and false 0. A query
        exists if it has a row: one with an empty dict does not.
    name : str, optional
        Label for messages and tables.
    format : str, optional
        Format of the file, if its name does not say.
    progress : callable, optional
        Called with the bytes read and their total while a file is read.

    Examples
    --------
    >>> Qrels({"q1": {"d1": 2, "d2": 0}}).to_polars().rows()
    [('q1', 'd1', 2.0), ('q1', 'd2', 0.0)]
    """

    kind = "qrels"

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 hash of the judgments, independent of their order."""
        check_threads()
        rows = self.to_polars().sort("query_id", "doc_id")
        found = hashlib.sha256()
        for column in ("query_id", "doc_id"):
            found.update(_written(rows[column].to_list()))
        found.update(rows["relevance"].to_numpy().astype("<f8").tobytes())
        return found.hexdigest()


class Run(Table):
    """Retrieved documents with their scores: query_id, doc_id, score.

    Parameters
    ----------
    source : path, dict of dict, iterable of tuples, dataframe
        Higher scores rank first; their order in the source matters for ``ties="input"`` only. Integers and decimals
        beyond 2**53 are refused, as float64 merges neighbours there; true is 1 and false 0. A query exists if it has a
        row: one with an empty dict is missing. Ids are text: a dict of dicts holds too many to check each, so one that
        is not text may pass as an unjudged document.
    name : str, optional
        Label for messages and tables.
    format : str, optional
        Format of the file, if its name does not say.
    progress : callable, optional
        Called with the bytes read and their total while a file is read.

    Examples
    --------
    >>> Run([("q1", "d1", 0.5), ("q1", "d2", 0.5)], name="bm25")
    <Run bm25>
    """

    kind = "run"

    def rounded(self, precision: ScorePrecision) -> Self:
        """Return the run with its scores rounded, in memory; the run itself if `precision` is None."""
        if precision is None:
            return self
        frame, found = self.to_polars(), copy(self)
        scores = round_and_warn(frame["score"].to_numpy(), precision)
        found.rows = MemoryRows(frame.with_columns(score=pl.Series(scores)))
        return found


def read_qrels(source: Source, *, name: str | None = None, format: str | None = None) -> Qrels:  # noqa: A002 - as in Table
    """Read relevance judgments from a file, or from anything else that `Qrels` takes.

    Parameters
    ----------
    source : path or other source
        TREC, CSV, TSV, Parquet, JSON Lines or JSON; ``.gz`` and ``.zst`` are unpacked.
    name, format : str, optional
        As for `Qrels`.

    Returns
    -------
    Qrels

    Raises
    ------
    DataError
        The file is missing, malformed, or holds a value that cannot be evaluated.
    """
    return Qrels(source, name=name, format=format)


def read_run(source: Source, *, name: str | None = None, format: str | None = None) -> Run:  # noqa: A002 - as in Table
    """Read a run from a file, or from anything else that `Run` takes.

    Parameters
    ----------
    source : path or other source
        TREC, CSV, TSV, Parquet, JSON Lines or JSON; ``.gz`` and ``.zst`` are unpacked.
    name, format : str, optional
        As for `Run`.

    Returns
    -------
    Run

    Raises
    ------
    DataError
        The file is missing, malformed, or holds a value that cannot be evaluated.
    """
    return Run(source, name=name, format=format)


def path_of(source: Source) -> Path | None:
    """Return a source as a path, or None if it is not one."""
    return Path(os.fsdecode(source)) if isinstance(source, str | os.PathLike) else None


def label_of(path: Path) -> str:
    """Return the label of a file, its name without the format: ``bm25`` for ``bm25.run.gz``."""
    name = path.name
    for suffix in (*COMPRESSED, *SUFFIXES):
        name = name.removesuffix(suffix)
    return name or path.name


def hash_of_ids(ids: Sequence[str]) -> str:
    """Return the SHA-256 of a list of ids, which the caller has sorted.

    Examples
    --------
    >>> hash_of_ids(["q1", "q2"]) == hash_of_ids(["q1q2"])
    False
    """
    return hashlib.sha256(_written(ids)).hexdigest()


def _written(ids: Sequence[str]) -> bytes:
    return json.dumps(ids).encode()  # quotes keep neighbours apart
