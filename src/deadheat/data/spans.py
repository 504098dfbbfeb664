"""Spans: judged passages of documents, which the chunks of a run are held against, however documents are cut.

A passage is a row of a query, a document, and where it starts and ends in it.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from deadheat.data.tables import LOWER_FIRST, NO_ANSWER, Qrels, Run, Source, hash_of_ids, label_of, path_of
from deadheat.errors import (
    ABSENT,
    Advice,
    ColumnError,
    DataError,
    DuplicateError,
    MalformedRowError,
    NothingJudgedWarning,
    ParameterError,
    Plain,
    SourceTypeError,
    as_positive,
    check_choice,
    counted,
    did_you_mean,
    shown,
    three,
)
from deadheat.io.formats import ending
from deadheat.io.guarding import guarded
from deadheat.io.kinds import VALUE_COLUMN, Kind, names_of
from deadheat.io.mappings import text_of_ids
from deadheat.io.objects import parsed, read_text
from deadheat.io.records import Wanted, as_text, read_records
from deadheat.io.results import results_in, value_at

OFFSETS = ("start", "end")
TEXT = "text"
ANSWERABLE = "answerable"
NAMES = {
    "query_id": names_of("qrels")["query_id"],
    # the id of a chunk of LangChain or LlamaIndex is not that of its document
    "doc_id": (*names_of("run")["doc_id"], "ref_doc_id", "source", "file_path"),
    "start": ("start", "start_index", "start_char_idx", "start_char", "char_start", "start_offset", "begin"),
    "end": ("end", "end_index", "end_char_idx", "end_char", "char_end", "end_offset", "stop"),
    TEXT: (TEXT, "quote", "page_content", "content", "answer"),
    ANSWERABLE: (ANSWERABLE,),
}
# Where results of LangChain, Haystack and LlamaIndex have them; `_with_query` puts an object into `node`
INSIDE = ("", *(f"{where}." for where in ("metadata", "meta", "node", "node.metadata", "node.meta", "node.node")))
LOOKED = 100  # rows, for where their fields are
# The fields of a passage as a tuple; that of a span has its relevance last, or nothing
ROW = ("query_id", "doc_id", *OFFSETS, "score")
WHOLE = "a whole number from 0"


def read_passages(source: object, path: Path | None, kind: Kind, where: str) -> pl.DataFrame:
    """Return a row for each passage.

    Parameters
    ----------
    source : object
        Dicts, tuples ``(query_id, doc_id, start, end[, number])`` or results of a library; a frame; or
        ``{query_id: rows}``, best first.
    path : pathlib.Path or None
        If the source is a file.
    kind : {"qrels", "run"}
        Whether the number is the relevance of a passage, or its score.
    where : str
        For messages.

    Returns
    -------
    polars.DataFrame
        query_id, doc_id and text (String), start and end (Int64), relevance or score (Float64), and answerable
        (Boolean); null where the source has none.

    Raises
    ------
    DataError
        A row lacks an id, or its offsets are no whole numbers from 0, or end before they start.
    """
    value, names = VALUE_COLUMN[kind], {**NAMES, VALUE_COLUMN[kind]: names_of(kind)[VALUE_COLUMN[kind]]}
    given = _frame_of(source, path, names, where)
    if given.is_empty():
        raise DataError("empty: it has no passages", path=where)
    for column in ("query_id", *(("doc_id",) if kind == "run" else ())):
        if given[column].null_count():
            raise DataError(f"row {_first(given[column].is_null())} has no {column}", path=where)
    numbers = [as_numbers(given[name], where, is_offset=name != value) for name in (*OFFSETS, value)]
    found = given.with_columns(*numbers, as_flags(given[ANSWERABLE], where))
    if found["end"].null_count() and kind == "run":  # as LangChain, which says where a chunk starts
        found = found.with_columns(pl.col("end").fill_null(pl.col("start") + pl.col(TEXT).str.len_chars()))
    is_back = (found["end"] < found["start"]).fill_null(value=False)
    if is_back.any():
        row = found.row(_first(is_back) - 1, named=True)
        raise DataError(
            f"row {_first(is_back)}: the passage of {row['doc_id']!r} ends at {row['end']}, before its start",
            given=row["start"],
            allowed="end from start on",
            path=where,
        )
    return found


def _first(which: pl.Series) -> int:
    """Return the number of the first row of some, from 1."""
    return int(which.arg_true()[0]) + 1


def as_numbers(column: pl.Series, where: str, *, is_offset: bool) -> pl.Series:
    """Return a column of offsets or other numbers; raise for what is none."""
    read = column.cast(pl.Float64, strict=False)
    is_wrong = read.is_null() & column.is_not_null()
    if is_offset:
        read = read.fill_nan(None)  # as pandas marks what is not there
        is_wrong |= ((read < 0) | (read % 1 != 0)).fill_null(value=False)
    elif column.name == "relevance":
        is_wrong |= ~read.is_finite().fill_null(value=True)
    else:  # infinite scores are scores
        is_wrong |= read.is_nan().fill_null(value=False)
    if is_wrong.any():
        row = _first(is_wrong)
        raise DataError(
            f"row {row}: {column.name}", given=column[row - 1], allowed=WHOLE if is_offset else "a number", path=where
        )
    return read.cast(pl.Int64) if is_offset else read


def as_flags(column: pl.Series, where: str) -> pl.Series:
    """Return a column of true and false, in a file as text; null stays."""
    read = column.cast(pl.String).str.to_lowercase().replace_strict({"true": True, "false": False}, default=None)
    is_wrong = read.is_null() & column.is_not_null()
    if is_wrong.any():
        row = _first(is_wrong)
        raise DataError(f"row {row}: {column.name}", given=column[row - 1], allowed="true or false", path=where)
    return read.cast(pl.Boolean)


def _frame_of(source: object, path: Path | None, names: Mapping[str, Sequence[str]], where: str) -> pl.DataFrame:
    """Return the columns of a source under the names that they have here, each null if it is not there."""
    table: pl.DataFrame | list[Any]
    if path is not None and ending(path) == ".json":
        source = parsed(read_text(path, "passages"), path)
        path = None
    if path is not None:
        table = read_records(path, None, Wanted(what="passages", as_written=True)).table
    else:
        table = _table_of(source, names, where)
    ids = ("query_id", "doc_id")
    if isinstance(table, pl.DataFrame):
        table = table.with_columns(pl.col(pl.String).replace("", None))  # of CSV
        known = {name: next((one for one in own if one in table.columns), None) for name, own in names.items()}
        _check_known(known, table.columns, where)
        columns = [
            table[own].alias(name) if own else pl.Series(name, [None] * len(table)) for name, own in known.items()
        ]
        for place, column in enumerate(columns[:2]):
            if column.dtype.is_float() or column.dtype.is_nested():
                raise ColumnError(
                    f"column {known[ids[place]]!r} holds {column.dtype}", allowed="text or whole numbers", path=where
                )
            columns[place] = column.cast(pl.String)
        columns[4] = columns[4].cast(pl.String)
        return pl.DataFrame(columns)
    paths = {name: _path(table, own) for name, own in names.items()}
    if table:
        _check_known(paths, list(table[0]) if isinstance(table[0], Mapping) else [type(table[0]).__name__], where)
    are_dicts = all(type(row) is dict for row in table)
    held = {name: _column(table, own, are_dicts=are_dicts) for name, own in paths.items()}
    for name in ids:
        if None in held[name]:
            texts = iter(text_of_ids([one for one in held[name] if one is not None], where))
            held[name] = [None if one is None else next(texts) for one in held[name]]
        else:
            held[name] = text_of_ids(held[name], where)
    return pl.DataFrame({name: pl.Series(name, own, strict=False) for name, own in held.items()}).with_columns(
        pl.col(*ids, TEXT).cast(pl.String)
    )


def _column(rows: Sequence[Any], path: str | None, *, are_dicts: bool) -> list[Any]:
    """Return what each row has at a path, None where it has nothing."""
    if path is None:
        return [None] * len(rows)
    return [row.get(path) for row in rows] if are_dicts and "." not in path else [_at(row, path) for row in rows]


def _check_known(known: Mapping[str, str | None], names: Sequence[str], where: str) -> None:
    """Raise if columns that are needed are not there: the query, and where a passage is."""
    for name, *others in (["query_id"], ["start", TEXT, ANSWERABLE]):
        if known[name] is None and not any(known[other] for other in others):
            held = ", ".join(map(repr, names[:12]))
            raise ColumnError(
                f"passages without {name!r}: found {held}",
                hint=next((near for one in names if (near := did_you_mean(one, NAMES[name]))), ""),
                path=where,
            )


def _table_of(source: object, names: Mapping[str, Sequence[str]], where: str) -> pl.DataFrame | list[Any]:
    """Return an object as a frame, or as a list of dicts or results."""
    value = [*names][-1]
    fields = (*ROW[:-1], value)
    if isinstance(source, Mapping):
        found: list[Any] = []
        for query, given in source.items():
            rows = results_in(given)
            if rows is None:
                raise SourceTypeError(
                    given=Plain(f"{type(given).__name__} for query {query!r}"), allowed="a list of passages", path=where
                )
            found += (_with_query(row, query, place, fields) for place, row in enumerate(rows, 1))
            if not rows and value == "relevance":
                found.append({"query_id": query, ANSWERABLE: False})
        return found
    import narwhals as nw  # dicts do not need it

    from deadheat.io.frames import as_narwhals, collect

    frame = as_narwhals(source, where)
    if isinstance(frame, nw.LazyFrame):
        return collect(frame)
    if isinstance(frame, nw.DataFrame):
        with guarded(where):
            return frame.to_polars()
    if not isinstance(source, Iterable) or isinstance(source, str | bytes):
        raise SourceTypeError(
            given=Plain(type(source).__name__),
            allowed="passages: a path, a dataframe, a list of dicts or of (query_id, doc_id, start, end), or"
            " {query_id: passages}",
        )
    rows = list(source)
    if rows and isinstance(rows[0], tuple) and not hasattr(rows[0], "_fields"):
        misfit = next((n for n, row in enumerate(rows, 1) if not 4 <= len(row) <= len(fields)), 0)
        if misfit:
            raise MalformedRowError(
                f"row {misfit}",
                given=rows[misfit - 1],
                allowed=f"(query_id, doc_id, start, end[, {value}])",
                path=where,
            )
        return [dict(zip(fields, row, strict=False)) for row in rows]
    return rows


def _with_query(row: object, query: object, place: int, fields: Sequence[str]) -> dict[str, Any]:
    """Return a passage of a query with it, and with minus its rank if it has no score."""
    value, score, held = fields[-1], None, row
    if isinstance(row, tuple) and len(row) == 2:  # a result and its score
        held, score = row
    elif isinstance(row, tuple):
        held = dict(zip(fields[1:], row, strict=False))
    if score is None and value == "score":
        own = _at(held, _path([held], names_of("run")["score"]))
        score = -float(place) if own is None else own
    beside = {} if score is None else {value: score}
    return {"query_id": query, **(held if isinstance(held, Mapping) else {"node": held}), **beside}


def _path(rows: Sequence[Any], names: Sequence[str]) -> str | None:
    """Return where the first results have something of one of these names; None if none has."""
    paths = [inside + name for name in names for inside in INSIDE]
    return next((path for row in rows[:LOOKED] for path in paths if _at(row, path) is not None), None)


def _at(row: Any, path: str | None) -> Any:  # noqa: ANN401 - whatever is there
    """Return what is at a path; None if nothing is."""
    if path is None:
        return None
    found = row.get(path, ABSENT) if isinstance(row, Mapping) else ABSENT
    found = value_at(row, path) if found is ABSENT else found
    return None if found is ABSENT else found


OVERLAP_OF = ("span", "chunk", "any")
KEY = ("query_id", "doc_id")
# What a chunk and a span are called: as Python takes the passage from the text
PLACE = pl.format("{}[{}:{}]", "doc_id", *OFFSETS)


class Spans:
    """Judged passages: the parts of documents that answer each query, for runs of chunks.

    A chunk is relevant if it covers a share of a span. Each span is a subtopic of its query, which counts once however
    many chunks hit it, so runs of different chunks of the same documents can be compared.

    Parameters
    ----------
    source : path, dataframe, list of dict or of tuple, dict of list
        Rows of query_id, doc_id, start, end and perhaps relevance (1 if it is not there); also
        ``{query_id: [row, ...]}``. The passage is ``text[start:end]``, in characters (code points, as Python counts) or
        tokens, the same for spans and chunks. With `documents`, a row may have the ``text`` of its passage in place of
        offsets. A row with ``answerable`` false, or an empty list, is a query that no document answers.
    overlap : float, default 0.5
        The share that a chunk has to cover, above 0 and up to 1.
    overlap_of : {"span", "chunk", "any"}, default "span"
        Of what it is the share: of the span, or of the chunk; "any" asks for one character.
    documents : dict of str to str, path or Collection, optional
        The texts, which quoted passages are looked up in and all offsets are checked against.
    name : str, optional
        Label for messages and tables.

    Attributes
    ----------
    rows : polars.DataFrame
        query_id, doc_id, start, end, relevance and span, its name.
    unanswerable : tuple of str
        The queries without an answer, sorted.

    Raises
    ------
    DataError
        Offsets are no whole numbers, end before they start or beyond the text, or seem to count bytes; a quoted text is
        not in its document, or there more than once; a document is unknown; a relevance is negative.

    Examples
    --------
    >>> spans = Spans([{"query_id": "q", "doc_id": "d", "start": 10, "end": 30}], overlap=0.5)
    >>> chunks = [{"query_id": "q", "doc_id": "d", "start": 0, "end": 20, "score": 2.0},
    ...           {"query_id": "q", "doc_id": "d", "start": 15, "end": 40, "score": 1.0}]
    >>> qrels, run = spans.judge(chunks)
    >>> qrels.to_dict()
    {'q': {'d[0:20]': 1.0, 'd[15:40]': 1.0}}
    >>> from deadheat import evaluate
    >>> evaluate(spans, chunks, ["R@1", "P@2"]).means()
    {'R@1': 1.0, 'P@2': 1.0}
    """

    def __init__(
        self,
        source: Source,
        *,
        overlap: float = 0.5,
        overlap_of: str = "span",
        documents: Source | None = None,
        name: str | None = None,
    ) -> None:
        check_choice("overlap_of", overlap_of, OVERLAP_OF)
        self.overlap, self.overlap_of = _share(overlap), overlap_of
        self.path = path_of(source)
        self.name = name or (label_of(self.path) if self.path else "spans")
        self._texts = None if documents is None else texts_of(documents)
        read = read_passages(source, self.path, "qrels", self.where)
        has_none = ~read[ANSWERABLE].fill_null(value=True)
        if has_none.all():
            raise DataError("no query has a span", path=self.where)
        self.unanswerable = tuple(sorted({*read.filter(has_none)["query_id"]}))
        self.rows = self._checked(read.filter(~has_none))
        both = set(self.rows["query_id"]) & set(self.unanswerable)
        if both:
            raise DataError(f"query {min(both)!r} has a span, and no answer", allowed="one of both", path=self.where)

    def __repr__(self) -> str:
        queries = counted(self.rows["query_id"].n_unique() + len(self.unanswerable), "query", "queries")
        return f"<Spans {self.name}: {counted(len(self.rows), 'span')} for {queries}>"

    @property
    def where(self) -> str:
        """Where the rows come from, for messages."""
        return str(self.path) if self.path else self.name

    def with_overlap(self, overlap: float) -> "Spans":
        """Return the same spans with another share that a chunk has to cover."""
        found = copy(self)
        vars(found).pop("fingerprint", None)
        found.overlap = _share(overlap)
        return found

    def _checked(self, read: pl.DataFrame) -> pl.DataFrame:
        """Return the spans, each of which has a document, offsets and a relevance."""
        for column in ("doc_id", *(OFFSETS if self._texts is None else ())):
            lacking = read.filter(pl.col(column).is_null())
            if len(lacking):
                query, text = lacking.select("query_id", TEXT).row(0)
                raise DataError(
                    f"a span of query {query!r} has no {column}",
                    hint=Advice("documents", when="to look quoted text up, ")
                    if text is not None and column != "doc_id"
                    else None,
                    path=self.where,
                )
        rows = self._located(read, "span", self.where) if self._texts is not None else read
        rows = rows.with_columns(pl.col("relevance").fill_null(1.0), span=PLACE)
        wrong = rows.filter(pl.col("start") == pl.col("end"))
        if len(wrong):
            raise DataError(f"span {wrong['span'][0]!r} is empty", allowed="a character or more", path=self.where)
        wrong = rows.filter(pl.col("relevance") < 0)
        if len(wrong):
            query, span, given = wrong.select("query_id", "span", "relevance").row(0)
            raise DataError(
                f"the relevance of span {span!r} of query {query!r} is negative",
                given=given,
                allowed="0 or more",
                path=self.where,
            )
        twice = rows.filter(pl.struct("query_id", "span").is_duplicated())
        if len(twice):
            query, span = twice.select("query_id", "span").row(0)
            raise DuplicateError(f"span {span!r} of query {query!r} is there more than once", path=self.where)
        return rows.select("query_id", "doc_id", *OFFSETS, "relevance", "span")

    def _located(self, rows: pl.DataFrame, what: str, where: str) -> pl.DataFrame:
        """Return passages with offsets, which agree with the texts of the documents."""
        known = self._texts or {}
        unknown = rows.filter(~pl.col("doc_id").is_in([*known]))["doc_id"].unique(maintain_order=True).to_list()
        if unknown:
            raise DataError(
                f"{what}s of {counted(len(unknown), 'document')} that documents do not have ({three(unknown)})",
                allowed="ids that exist",
                path=where,
            )
        places: list[tuple[int, int]] = []
        for doc, start, end, quoted in rows.select("doc_id", *OFFSETS, TEXT).iter_rows():
            text = known[doc]
            if start is None:
                places.append(_found(quoted, doc, text, where))
                continue
            if end > len(text) or quoted not in {None, text[start:end]}:
                raise _misplaced(what, (doc, start, end), quoted, text, where)
            places.append((start, end))
        start, end = zip(*places, strict=True) if places else ((), ())
        return rows.with_columns(start=pl.Series(start, dtype=pl.Int64), end=pl.Series(end, dtype=pl.Int64))

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 hash of the spans and the overlap, the same for all runs."""
        rows = self.rows.sort("query_id", "span")
        own = [str(row) for row in rows.select("query_id", "span", "relevance").iter_rows()]
        return hash_of_ids([f"{self.overlap} {self.overlap_of}", *own, *self.unanswerable])

    def judge(self, run: Source, *, name: str | None = None, ascending: bool = False) -> tuple[Qrels, Run]:
        """Return judgments of the chunks of a run, with a subtopic for each span, and the run.

        Parameters
        ----------
        run : path, dataframe, list of dict, dict of list
            Chunks: query_id, doc_id, start, end and score, or ``{query_id: results}``, best first, of LangChain
            (``start_index``), LlamaIndex (``start_char_idx``) or as dicts. A chunk without an end ends with its text.
        name : str, optional
            Label of the run.
        ascending : bool, default False
            Lower scores rank first.

        Returns
        -------
        qrels : Qrels
            Every chunk of a judged query is judged, with 0 if it covers no span; a span that no chunk covers is there
            as a chunk that is nothing but this span. Chunks are called ``doc[start:end]``.
        run : Run
        """
        path = path_of(run)
        label = name or (label_of(path) if path else "run")
        chunks = read_passages(run, path, "run", str(path or label))
        for column in (*OFFSETS, "score"):
            if chunks[column].null_count():
                query, doc = chunks.filter(pl.col(column).is_null()).select(KEY).row(0)
                raise DataError(f"a chunk of {doc!r} for query {query!r} has no {column}", path=str(path or label))
        if self._texts is not None:
            chunks = self._located(chunks, "chunk", str(path or label))
        chunks = chunks.select(*KEY, *OFFSETS, "score", chunk=PLACE).with_row_index("row")
        hits = self._hits(chunks)
        topics = hits.select("query_id", doc_id="chunk", subtopic="span", relevance="relevance")
        missed = self.rows.join(topics, left_on=("query_id", "span"), right_on=("query_id", "subtopic"), how="anti")
        alone = missed.select("query_id", doc_id="span", subtopic="span", relevance="relevance")
        relevance = np.zeros(len(chunks))
        np.maximum.at(relevance, hits["row"].to_numpy(), hits["relevance"].to_numpy())
        queries = {*self.rows["query_id"], *self.unanswerable}
        judged = chunks.select("query_id", doc_id="chunk", relevance=pl.Series(relevance))
        judged = judged.filter(pl.col("query_id").is_in([*queries]))
        qrels = Qrels.of_checked(pl.concat([judged, alone.select(*KEY, "relevance")]), self.name)
        qrels.subtopics = pl.concat([topics, alone])
        columns = ("query_id", "doc_id", "document", *OFFSETS, "relevance")
        of_both = (
            chunks.select("query_id", *OFFSETS, document="doc_id", doc_id="chunk", relevance=pl.lit(None, pl.Float64)),
            self.rows.select("query_id", *OFFSETS, "relevance", document="doc_id", doc_id=pl.lit(None, pl.String)),
        )
        qrels.passages = pl.concat([one.select(columns) for one in of_both])
        qrels.fingerprint = self.fingerprint
        qrels.unanswerable = self.unanswerable
        qrels.bare = tuple(sorted({*self.unanswerable} - {*judged["query_id"]}))
        share = {"span": "the span", "chunk": "the chunk"}.get(self.overlap_of)
        asked = f"at least {self.overlap:g} of {share}" if share else "a part of the span"
        qrels.notes = (f"spans: a chunk is relevant if it covers {asked}; R is the share of spans that chunks hit",)
        if self.unanswerable:
            qrels.notes += (NO_ANSWER.format(counted(len(self.unanswerable), "query", "queries")),)
        retrieved = Run.of_checked(chunks.select("query_id", pl.col("chunk").alias("doc_id"), "score"), label)
        retrieved.check_duplicates()
        if ascending:
            retrieved.rows, retrieved.notes = retrieved.rows.negated(), (LOWER_FIRST,)
        return qrels, retrieved

    def _hits(self, chunks: pl.DataFrame) -> pl.DataFrame:
        """Return the pairs of a chunk and a span of which the chunk covers enough."""
        pairs = chunks.drop("score").join(self.rows, on=KEY, suffix="_span")
        if pairs.is_empty():
            docs = [three([*map(repr, one["doc_id"].unique(maintain_order=True))]) for one in (chunks, self.rows)]
            told = f"no chunk is of a document with a span for its query: chunks have {docs[0]}, spans {docs[1]}"
            warnings.warn(told, NothingJudgedWarning, stacklevel=4)
        first, last = pl.max_horizontal("start", "start_span"), pl.min_horizontal("end", "end_span")
        pairs = pairs.with_columns(common=last - first).filter(pl.col("common") > 0)
        if self.overlap_of == "any":
            return pairs
        start, end = OFFSETS if self.overlap_of == "chunk" else (f"{one}_span" for one in OFFSETS)
        return pairs.filter(pl.col("common") / (pl.col(end) - pl.col(start)) >= self.overlap)


def _share(overlap: float) -> float:
    """Return an overlap, checked."""
    if as_positive("overlap", overlap) > 1:
        raise ParameterError(argument="overlap", given=overlap, allowed="a share above 0 and up to 1")
    return float(overlap)


def _found(quoted: str | None, doc: str, text: str, where: str) -> tuple[int, int]:
    """Return where a quoted text starts and ends in a document that has it once."""
    first = -1 if quoted is None else text.find(quoted)
    if quoted is None or first < 0:
        what = "a span without offsets and text" if quoted is None else f"the text {shown(quoted)}"
        raise DataError(f"{what} is not in document {doc!r}", allowed="a part of it, as it is written", path=where)
    if text.find(quoted, first + 1) >= 0:
        raise DataError(
            f"the text {shown(quoted)} is in document {doc!r} more than once",
            hint="quote more of it, or give start and end",
            path=where,
        )
    return first, first + len(quoted)


def _misplaced(what: str, place: tuple[str, int, int], quoted: str | None, text: str, where: str) -> DataError:
    """Return the error for offsets that do not fit the text; it says if they count something else than characters."""
    doc, start, end = place
    told, hint = f"{what} [{start}:{end}] of document {doc!r}", ""
    for encoding, size, unit in (("utf-16-le", 2, "units of UTF-16, as JavaScript counts"), ("utf-8", 1, "bytes")):
        encoded = text.encode(encoding, "surrogatepass")
        inside = encoded[start * size : end * size].decode(encoding, "replace")
        fits = end * size <= len(encoded) if quoted is None else inside == quoted
        if fits and len(encoded) > len(text) * size:
            hint = f"these seem to be {unit}: count characters, as Python does"
            break
    if end > len(text):
        return DataError(f"{told} is beyond its {counted(len(text), 'character')}", hint=hint, path=where)
    return DataError(f"{told} is {shown(text[start:end])}", allowed=shown(quoted or ""), hint=hint, path=where)


def texts_of(documents: Source) -> dict[str, str]:
    """Return the text of each document: of a dict, a collection, or a file with columns such as doc_id and text.

    Examples
    --------
    >>> texts_of({"d": "cash or card"})
    {'d': 'cash or card'}
    """
    own: Any = documents
    if isinstance(own, Mapping):
        return {str(doc): str(text) for doc, text in own.items()}
    if hasattr(own, "ids") and hasattr(own, "texts"):
        return dict(zip(own.ids, own.texts, strict=True))
    path = path_of(documents)
    if path is None:
        raise ParameterError(argument="documents", given=type(own).__name__, allowed="{doc_id: text}, or a path")
    return _texts_in(path)


def _texts_in(path: Path) -> dict[str, str]:
    records = read_records(path, None, Wanted(what="documents", id="doc_id", as_written=True))
    names = [next((one for one in known if one in records.columns), "") for known in (("doc_id", "id", "_id"), (TEXT,))]
    if not all(names):
        raise DataError("documents without the columns doc_id and text", given=records.columns, path=path)
    ids, texts = ([as_text(one) or "" for one in records.frame[name].to_list()] for name in names)
    return dict(zip(ids, texts, strict=True))
