"""Qrels and runs: checked tables of (query, document, number), held lazily where the source allows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, cast

import narwhals as nw
import numpy as np
import polars as pl

from deadheat import io
from deadheat.errors import (
    ColumnError,
    DuplicateError,
    EmptyDataError,
    NullIdError,
    RelevanceError,
    ScoreError,
    SourceTypeError,
)

if TYPE_CHECKING:
    from deadheat.io import Format, Kind

Source: TypeAlias = object
"""A path, a dict of dicts, an iterable of (query, document, number) tuples, or a dataframe that Narwhals takes."""

LARGEST_INTEGER = 2**53  # beyond it float64 merges neighbouring integers


class Table:
    """Rows of (query_id, doc_id, number); what `Qrels` and `Run` have in common.

    Attributes
    ----------
    name : str
        Label of the table: the file's name, or what the caller gave.
    path : pathlib.Path or None
        The file that it was read from.
    mapping : dict of dict or None
        ``{query_id: {doc_id: number}}`` if the source was one; then no frame is built.
    """

    kind: ClassVar[Kind]
    value: ClassVar[str]
    value_error: ClassVar[type[ScoreError] | type[RelevanceError]]

    def __init__(self, source: Source, *, name: str | None = None, format: str | None = None) -> None:  # noqa: A002 - the word users expect
        self.path = Path(source) if isinstance(source, str | Path) else None
        self.name = name or (_stem(self.path) if self.path else self.kind)
        self.format = cast("Format | None", format)
        self.mapping: Mapping[str, Mapping[str, float]] | None = None
        self._frame: nw.LazyFrame[Any] | None = None
        if self.path is not None:
            source = io.scan(self.path, self.kind, format=self.format)
        if isinstance(source, Mapping):
            self.mapping = self._check_mapping(source)
        else:
            self._frame = self._canonical(source)

    @classmethod
    def of(cls, source: Source) -> Self:
        """Return `source` itself if it is of this class already, else read it."""
        if isinstance(source, cls):
            return source
        if isinstance(source, Table):
            msg = f"expected {cls.kind}, got {source!r}: are the arguments swapped?"
            raise SourceTypeError(msg)
        return cls(source)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def where(self) -> str:
        """Where the rows came from, for messages."""
        return str(self.path) if self.path else self.name

    @property
    def lazy(self) -> nw.LazyFrame[Any]:
        """The rows as a lazy Narwhals frame with the columns query_id, doc_id and relevance or score."""
        if self._frame is None:
            self._frame = nw.from_native(_frame_of_mapping(self.mapping or {}, self.value).lazy())
        return self._frame

    @property
    def is_polars(self) -> bool:
        """Whether Polars holds the rows (and can stream them)."""
        return self.lazy.implementation.is_polars()

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a Polars frame, in the order of the source."""
        return collect(self.lazy)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the rows as ``{query_id: {doc_id: number}}``."""
        if self.mapping is not None:
            return {query: dict(documents) for query, documents in self.mapping.items()}
        nested: dict[str, dict[str, float]] = {}
        for query, doc, value in self.to_polars().iter_rows():
            nested.setdefault(query, {})[doc] = value
        return nested

    def check_duplicates(self) -> None:
        """Raise `DuplicateError` if a (query, document) pair stands twice; a dict cannot hold one."""
        if self.mapping is not None:
            return
        keys = ["query_id", "doc_id"]
        rows = self.lazy.select(*keys)
        if self.is_polars:
            # 64-bit hashes find a suspicion in a tenth of the time and memory that grouping all rows takes.
            hashed = rows.to_native().select(pl.col("query_id").hash(1) ^ pl.col("doc_id").hash(2))
            hashes = hashed.collect(engine="streaming").to_series().sort(in_place=True).to_numpy()
            twice = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
            if not len(twice):
                return
            same = (pl.col("query_id").hash(1) ^ pl.col("doc_id").hash(2)).is_in(pl.Series(twice).implode())
            rows = nw.from_native(rows.to_native().filter(same))
        groups = rows.group_by(*keys).agg(n=nw.len()).filter(nw.col("n") > 1)
        found = collect(groups).sort(keys)
        if len(found):
            self._raise_duplicate(found)

    def _raise_duplicate(self, found: pl.DataFrame) -> None:
        query, doc, count = found.row(0)
        word = "is judged" if self.kind == "qrels" else "is retrieved"
        message = f"document {doc!r} {word} {count} times for query {query!r}; each pair may stand once"
        if len(found) > 1:
            message += f" ({len(found) - 1} more pairs are repeated)"
        lines = io.locate(self.path, self.kind, query, doc, format=self.format) if self.path else []
        if lines:
            message += f" (lines {', '.join(map(str, lines[:5]))})"
        raise DuplicateError(message, path=self.path or self.name, line=lines[1] if len(lines) > 1 else None)

    def _check_mapping(self, source: Mapping[Any, Any]) -> Mapping[str, Mapping[str, float]]:
        """Check the outer shape; the numbers are checked where they are read, once."""
        if not source:
            msg = "no query in it: an empty dict"
            raise EmptyDataError(msg, path=self.where)
        for query, documents in source.items():
            if not isinstance(documents, Mapping):
                msg = f"expected a dict of dicts {{query: {{document: {self.value}}}}}, got {documents!r} for {query!r}"
                raise SourceTypeError(msg)
            for given in (query, next(iter(documents), "")):
                if not isinstance(given, str):
                    msg = f"ids are text, got {given!r} ({type(given).__name__}): write str(id) for every id"
                    raise SourceTypeError(msg)
        return source

    def numbers(self, query: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the numbers of one query of a dict, checked, in its order."""
        documents = (self.mapping or {})[query]
        values = documents.values()
        if not set(map(type, values)) <= {float, int, bool, np.float64, np.float32, np.int64}:
            for doc, value in documents.items():
                self._check_number(query, doc, value)
        array = np.fromiter(values, np.float64, len(documents))
        wrong = ~np.isfinite(array) if self.kind == "qrels" else np.isnan(array)
        if wrong.any() or (np.abs(array) > LARGEST_INTEGER).any():
            for doc, value in documents.items():
                self._check_number(query, doc, value)
        return array + 0.0  # -0.0 becomes 0.0

    def _check_number(self, query: str, doc: str, value: Any) -> None:  # noqa: ANN401 - that it is anything is the point
        place = f"{self.value} of document {doc!r} for query {query!r}"
        try:
            number = float(value) if not isinstance(value, str) else None
        except (TypeError, ValueError):
            number = None
        if number is None:
            raise self.value_error(f"{place} is not a number: {value!r}", path=self.where)
        if number != number:  # noqa: PLR0124 - NaN is the only number that differs from itself
            raise self.value_error(f"{place} is NaN", path=self.where)
        if self.kind == "qrels" and number in {float("inf"), float("-inf")}:
            raise self.value_error(f"{place} is infinite: {value!r}", path=self.where)
        if isinstance(value, int) and abs(value) > LARGEST_INTEGER and int(number) != value:
            msg = f"{place} is {value}, an integer beyond 2**53 that float64 cannot hold; rescale the scores"
            raise self.value_error(msg, path=self.where)

    def _canonical(self, source: Source) -> nw.LazyFrame[Any]:
        frame = _to_narwhals(source, self.value, self.kind)
        if isinstance(frame, nw.DataFrame):  # in memory: Polars takes it over, mostly without a copy
            frame = nw.from_native(_to_polars(frame).lazy())
        schema = frame.collect_schema()
        names = io.resolve_columns(list(schema.names()), self.kind, where=self.where)
        dtype = schema[names[self.value]]
        if not (dtype.is_numeric() or dtype == nw.Boolean):
            msg = f"column {names[self.value]!r} holds {dtype}, expected numbers"
            raise ColumnError(msg, path=self.where)
        if dtype.is_integer():
            self._check_integers(frame, names[self.value])
        ids = [nw.col(names[key]).cast(nw.String).alias(key) for key in ("query_id", "doc_id")]
        number = (nw.col(names[self.value]).cast(nw.Float64) + 0.0).alias(self.value)
        canonical = frame.select(*ids, number)
        if self.path is None or canonical.implementation.is_polars():
            self._check_rows(canonical)
        return canonical

    def _check_integers(self, frame: nw.LazyFrame[Any], column: str) -> None:
        ends = collect(frame.select(low=nw.col(column).min(), high=nw.col(column).max()))
        for end in ends.row(0):
            if end is not None and abs(end) > LARGEST_INTEGER:
                msg = f"{self.value} {end} is an integer beyond 2**53 that float64 cannot hold; rescale the scores"
                raise self.value_error(msg, path=self.where)

    def _check_rows(self, frame: nw.LazyFrame[Any]) -> None:
        """Look for nulls and NaN in one pass; name the first row if there are any."""
        number = nw.col(self.value)
        wrong = number.is_nan() | ~number.is_finite() if self.kind == "qrels" else number.is_nan()
        checks = frame.select(
            rows=nw.len(),
            query=nw.col("query_id").is_null().sum(),
            doc=nw.col("doc_id").is_null().sum(),
            null=number.is_null().sum(),
            wrong=wrong.sum(),
        )
        rows, query, doc, null, bad = (value or 0 for value in collect(checks).row(0))
        if not rows:
            msg = "no row in it"
            raise EmptyDataError(msg, path=self.where)
        if query or doc:
            column, count = ("query_id", query) if query else ("doc_id", doc)
            msg = f"{count} of {rows} rows have no {column}; every row needs one"
            raise NullIdError(msg, path=self.where)
        if null or bad:
            example = collect(frame.filter(number.is_null() | wrong).head(1)).row(0)
            kind = "null" if null else "NaN" if example[2] != example[2] else "infinite"  # noqa: PLR0124 - a test for NaN
            msg = f"{self.value} of document {example[1]!r} for query {example[0]!r} is {kind} ({null + bad} such rows)"
            raise self.value_error(msg, path=self.where)


class Qrels(Table):
    """Relevance judgments: query_id, doc_id, relevance.

    Parameters
    ----------
    source : path, dict of dict, iterable of tuples, dataframe
        Relevance may be an integer level or a real gain; negative ones are kept.
    name : str, optional
        Label for messages and tables.
    format : str, optional
        Format of the file, if its name does not tell.

    Examples
    --------
    >>> Qrels({"q1": {"d1": 2, "d2": 0}}).to_polars().rows()
    [('q1', 'd1', 2.0), ('q1', 'd2', 0.0)]
    """

    kind = "qrels"
    value = "relevance"
    value_error = RelevanceError


class Run(Table):
    """Retrieved documents with their scores: query_id, doc_id, score.

    Parameters
    ----------
    source : path, dict of dict, iterable of tuples, dataframe
        Higher scores rank first; their order in the source matters for ``ties="input"`` only.
    name : str, optional
        Label for messages and tables.
    format : str, optional
        Format of the file, if its name does not tell.

    Examples
    --------
    >>> Run([("q1", "d1", 0.5), ("q1", "d2", 0.5)], name="bm25")
    <Run bm25>
    """

    kind = "run"
    value = "score"
    value_error = ScoreError


def read_qrels(path: Source, *, name: str | None = None, format: str | None = None) -> Qrels:  # noqa: A002 - as in Table
    """Read relevance judgments from a file, or from anything else that `Qrels` takes.

    Parameters
    ----------
    path : path or other source
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
    return Qrels(path, name=name, format=format)


def read_run(path: Source, *, name: str | None = None, format: str | None = None) -> Run:  # noqa: A002 - as in Table
    """Read a run from a file, or from anything else that `Run` takes.

    Parameters
    ----------
    path : path or other source
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
    return Run(path, name=name, format=format)


def collect(frame: nw.LazyFrame[Any]) -> pl.DataFrame:
    """Fetch a lazy frame into Polars; Polars' own frames stream."""
    if frame.implementation.is_polars():
        return cast("pl.LazyFrame", frame.to_native()).collect(engine="streaming")
    return frame.collect(backend="polars").to_native()


def _stem(path: Path) -> str:
    """Return a file's name without its format: ``bm25.run.gz`` is ``bm25``."""
    name = path.name
    for suffix in (".gz", ".zst", *io.SUFFIXES):
        name = name.removesuffix(suffix)
    return name or path.name


def _to_narwhals(source: Source, value: str, kind: str) -> nw.LazyFrame[Any] | nw.DataFrame[Any]:
    native = nw.from_native(cast("Any", source), pass_through=True)
    if isinstance(native, nw.DataFrame | nw.LazyFrame):
        return native
    if isinstance(source, Iterable) and not isinstance(source, str | bytes):
        return nw.from_native(_frame_of_tuples(source, value).lazy())
    msg = f"cannot read {kind} from {type(source).__name__}: give a path, a dict of dicts, tuples or a dataframe"
    raise SourceTypeError(msg)


def _to_polars(frame: nw.DataFrame[Any]) -> pl.DataFrame:
    return frame.to_polars()


def _frame_of_tuples(rows: Iterable[Any], value: str) -> pl.DataFrame:
    """Build a frame from tuples; named tuples (those of ir_measures, say) are read by name."""
    rows = list(rows)
    if rows and hasattr(rows[0], "_fields"):
        columns = io.resolve_columns(list(rows[0]._fields), "run" if value == "score" else "qrels", where="tuples")
        rows = [tuple(getattr(row, columns[key]) for key in ("query_id", "doc_id", value)) for row in rows]
    for place, row in enumerate(rows):
        if not isinstance(row, tuple | list) or len(row) != 3 or not all(isinstance(key, str) for key in row[:2]):  # noqa: PLR2004 - the three fields
            msg = f"item {place}: expected (query_id, doc_id, {value}) with text ids, got {row!r}"
            raise SourceTypeError(msg)
    schema = {"query_id": pl.String, "doc_id": pl.String, value: pl.Float64}
    try:
        return pl.DataFrame(rows, schema=schema, orient="row", strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        return pl.DataFrame([(q, d, float(v)) for q, d, v in rows], schema=schema, orient="row")


def _frame_of_mapping(mapping: Mapping[str, Mapping[str, float]], value: str) -> pl.DataFrame:
    lengths = [len(documents) for documents in mapping.values()]
    queries = pl.Series("query_id", list(mapping), pl.String)
    index = pl.Series(np.repeat(np.arange(len(lengths)), lengths))
    docs = [doc for documents in mapping.values() for doc in documents]
    values = (float(number) for documents in mapping.values() for number in documents.values())
    return pl.DataFrame(
        {
            "query_id": queries.gather(index),
            "doc_id": pl.Series(docs, dtype=pl.String),
            value: np.fromiter(values, np.float64, len(docs)) + 0.0,
        }
    )
