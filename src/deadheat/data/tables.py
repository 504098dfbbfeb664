"""Qrels and runs: checked tables of (query, document, number), held lazily where the source allows it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import polars as pl

from deadheat.data import fingerprints
from deadheat.data.blocks import blocks_of, may_repeat
from deadheat.errors import DuplicateError, SourceTypeError
from deadheat.io.formats import COMPRESSED, SUFFIXES, locate, scan
from deadheat.io.guarding import guarded
from deadheat.io.mappings import all_numbers, check_mapping, frame_of_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import narwhals as nw

    from deadheat.arrays import FloatArray
    from deadheat.data.blocks import Blocks
    from deadheat.io.kinds import Kind
    from deadheat.io.mappings import Nested

Source: TypeAlias = object
"""A path, a dict of dicts, an iterable of (query, document, number) tuples, or a dataframe that Narwhals takes."""


class Table:
    """Rows of (query_id, doc_id, number); what `Qrels` and `Run` have in common.

    Attributes
    ----------
    name : str
        Label of the table: the file's name without its format, or what the caller gave.
    path : pathlib.Path or None
        The file that it was read from.
    mapping : dict of dict or None
        ``{query_id: {doc_id: number}}`` if the source was one; then no frame is built. Without queries that have no
        document: like rows, a dict of dicts has a query only where it has a document of it.
    blocks : Blocks or None
        The rows query by query, if they are in memory and stand so.
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
        self.mapping: Nested | None = None
        self.blocks: Blocks | None = None
        self._rows: pl.DataFrame | None = None
        self._frame: nw.LazyFrame[Any] | None = None
        with nullcontext() if isinstance(source, Mapping) else guarded(self.where):  # dicts need no Polars
            self._read(source, progress)

    def _read(self, source: Source, progress: Callable[[int, int], None] | None) -> None:
        if self.path is not None:
            source = scan(self.path, self.kind, format=self.format, progress=progress)
        if isinstance(source, Mapping):
            self.mapping = check_mapping(source, self.kind, self.where)
        elif self.path is not None and isinstance(source, pl.DataFrame):
            self._hold(source)  # whoever read it has checked it
        else:
            self._take(source)

    @classmethod
    def of(cls, source: Source) -> Self:
        """Return `source` itself if it is of this class already, else read it."""
        if isinstance(source, cls):
            return source
        if isinstance(source, Table):
            raise SourceTypeError(given=source, allowed=cls.kind, hint="are the arguments swapped?")
        return cls(source)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def where(self) -> str:
        """Where the rows came from, for messages."""
        return str(self.path) if self.path else self.name

    def _hold(self, rows: pl.DataFrame) -> None:
        self._rows, self.blocks = rows, blocks_of(rows)

    def _take(self, source: Source) -> None:
        """Check a frame or tuples; hold their rows, or leave them to their engine."""
        from deadheat.io.frames import canonical

        found = canonical(source, self.kind, self.where)
        if isinstance(found, pl.DataFrame):
            self._hold(found)
        else:
            self._frame = found

    @property
    def lazy(self) -> nw.LazyFrame[Any]:
        """The rows as a lazy Narwhals frame with the columns query_id, doc_id and relevance or score."""
        if self._frame is None:
            import narwhals as nw

            self._frame = nw.from_native(self.to_polars().lazy())
        return self._frame

    @property
    def is_polars(self) -> bool:
        """Whether Polars holds the rows (and can stream them)."""
        return self._frame is None or bool(self._frame.implementation.is_polars())

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a Polars frame, in the order of the source."""
        if self._rows is not None:
            return self._rows
        if self._frame is None:
            self._rows = frame_of_mapping(self.mapping or {}, self.kind, self.where)
            return self._rows
        from deadheat.io.frames import collect

        with guarded(self.where):
            return collect(self._frame)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the rows as ``{query_id: {doc_id: number}}``."""
        if self.mapping is not None:
            return {query: dict(documents) for query, documents in self.mapping.items()}
        nested: dict[str, dict[str, float]] = {}
        for query, doc, value in self.to_polars().iter_rows():
            nested.setdefault(query, {})[doc] = value
        return nested

    def all_numbers(self, queries: Sequence[str]) -> FloatArray:
        """Return the numbers of some queries of a dict of dicts, checked, one after the other in its order."""
        return all_numbers(self.mapping or {}, queries, self.kind, self.where)

    def example_ids(self, size: int = 3) -> list[str]:
        """Return a few document ids, for messages."""
        if self.mapping is not None:
            return list(islice(chain.from_iterable(self.mapping.values()), size))
        rows = self.lazy.select("doc_id").head(size).collect(backend="polars")
        return rows["doc_id"].to_list()

    def check_duplicates(self) -> None:
        """Raise `DuplicateError` if a (query, document) pair stands twice; a dict cannot hold one."""
        if self.mapping is not None:
            return
        with guarded(self.where):
            if self.blocks and not may_repeat(self.blocks):
                return
            from deadheat.io.frames import repeated_pairs

            found = repeated_pairs(self.lazy)
        if len(found):
            raise self._duplicate(found)

    def _duplicate(self, found: pl.DataFrame) -> DuplicateError:
        query, doc, count = found.row(0)
        word = "judged" if self.kind == "qrels" else "retrieved"
        message = f"document {doc!r} is {word} {count} times for query {query!r}; each pair may stand once"
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
        Relevance may be an integer level or a real gain; negative ones are kept; true is 1 and false 0. A query exists
        if it has a row: one with an empty dict is none.
    name : str, optional
        Label for messages and tables.
    format : str, optional
        Format of the file, if its name does not tell.
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
        """A SHA-256 of the judgments, whatever their order."""
        return fingerprints.of_judgments(self.to_polars())


class Run(Table):
    """Retrieved documents with their scores: query_id, doc_id, score.

    Parameters
    ----------
    source : path, dict of dict, iterable of tuples, dataframe
        Higher scores rank first; their order in the source matters for ``ties="input"`` only. Integers and decimals
        beyond 2**53 are refused, for float64 merges neighbours; true is 1 and false 0. A query exists if it has a row:
        one with an empty dict is missing. Ids are text: in a dict of dicts, which holds too many to look at each, one
        that is not may pass as an unjudged document.
    name : str, optional
        Label for messages and tables.
    format : str, optional
        Format of the file, if its name does not tell.
    progress : callable, optional
        Called with the bytes read and their total while a file is read.

    Examples
    --------
    >>> Run([("q1", "d1", 0.5), ("q1", "d2", 0.5)], name="bm25")
    <Run bm25>
    """

    kind = "run"


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
    """Return the path that a source is, None if it is none."""
    return Path(os.fsdecode(source)) if isinstance(source, str | os.PathLike) else None


def label_of(path: Path) -> str:
    """Return the label of a file, its name without the format: ``bm25.run.gz`` is ``bm25``."""
    name = path.name
    for suffix in (*COMPRESSED, *SUFFIXES):
        name = name.removesuffix(suffix)
    return name or path.name
