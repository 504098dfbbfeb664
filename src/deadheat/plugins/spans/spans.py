"""Spans: judged passages of documents, which the chunks of a run are held against, however documents are cut."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from deadheat.core.checks import as_positive, check_choice
from deadheat.core.data.kind_of_judgments import KindOfJudgments
from deadheat.core.data.qrels import JudgingRule, Qrels
from deadheat.core.data.rows import find_first_row
from deadheat.core.data.run import LOWER_FIRST, Run
from deadheat.core.data.sources import Source, as_path, find_run_column, make_label
from deadheat.core.errors import Advice, ColumnError, DataError, DuplicateError, NothingJudgedWarning, ParameterError
from deadheat.core.io.columns import find_column
from deadheat.core.io.kinds import ANSWERABLE, KEYS
from deadheat.core.io.records import Wanted, as_text, as_written, read_records
from deadheat.core.structures import copy_with
from deadheat.core.wording import escape_invisible, format_count, format_list, quote_text
from deadheat.plugins.spans.kind import OLD_SPANS, SPANS
from deadheat.plugins.spans.reading import OFFSETS, TEXT, read_passages
from deadheat.plugins.spans.rows import PLACE, chunks_of, hash_of_spans, spans_of

OVERLAP_OF = ("span", "chunk", "any")
UNITS = "count code points, as Python does, not bytes or UTF-16"


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
        offsets. A row with ``answerable`` false is a query that no document answers. An empty list is a query
        without a relevant span, which scores 0 unless ``no_relevant="skip"`` leaves it out.
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
    empty_queries : tuple of str
        The queries that were given an empty list, sorted.
    notes : tuple of str
        That spans which come twice are merged, if some do.

    Raises
    ------
    DataError
        Offsets are no whole numbers, end before they start or beyond the text; a quoted text is not in its document, or
        there more than once; a document is unknown; a relevance is negative; a span has two relevances.

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

    kind_of_judgments: ClassVar[KindOfJudgments] = SPANS

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
        self.notes: tuple[str, ...] = ()
        self.overlap, self.overlap_of = _share(overlap), overlap_of
        self.path = as_path(source)
        self.name = name or (make_label(self.path) if self.path else "spans")
        self._texts = None if documents is None else texts_of(documents)
        table = read_passages(source, self.path, "qrels", self.where)
        read = table.rows
        self.empty_queries = table.empty_queries
        has_none = ~read[ANSWERABLE].fill_null(value=True)
        if has_none.all():
            raise DataError("no query has a span", path=self.where)
        self.unanswerable = tuple(sorted({*read.filter(has_none)["query_id"]}))
        self.rows = self._checked(read.filter(~has_none))
        if both := set(self.rows["query_id"]) & set(self.unanswerable):
            raise DataError(
                f"query {min(both)!r} has a span, and no answer", allowed="one or the other", path=self.where
            )

    def __repr__(self) -> str:
        n_without = len(self.unanswerable) + len(self.empty_queries)
        queries = format_count(self.rows["query_id"].n_unique() + n_without, "query", "queries")
        return escape_invisible(f"<Spans {self.name}: {format_count(len(self.rows), 'span')} for {queries}>")

    @property
    def where(self) -> str:
        """Where the rows come from, for messages."""
        return str(self.path) if self.path else self.name

    @property
    def rule(self) -> "SpanRule":
        """How much a chunk has to cover."""
        return SpanRule(self.overlap, self.overlap_of)

    @classmethod
    def of_qrels(cls, qrels: Qrels) -> "Spans":
        """Return the spans that chunks were held against, which :meth:`judge` wrote into the qrels.

        Parameters
        ----------
        qrels : Qrels
            With `passages` and a `judging_rule`.

        Examples
        --------
        >>> qrels, run = Spans([("q", "d", 0, 10)], overlap=0.3).judge([("q", "d", 0, 8, 1.0)])
        >>> spans = Spans.of_qrels(qrels)
        >>> spans.rows["span"].to_list(), spans.overlap
        (['d[0:10]'], 0.3)
        """
        rule = qrels.judging_rule
        if not isinstance(rule, SpanRule):
            raise ParameterError(argument="qrels", given=qrels, allowed="qrels that Spans.judge made")
        rows = spans_of(qrels)
        queries = {*qrels.in_order.queries["query_id"]}
        return copy_with(
            cls.__new__(cls),
            overlap=rule.overlap,
            overlap_of=rule.overlap_of,
            path=qrels.path,
            name=qrels.name,
            rows=rows,
            unanswerable=qrels.unanswerable,
            empty_queries=tuple(sorted(queries.difference(rows["query_id"], qrels.unanswerable))),
            notes=(),
            _texts=None,
        )

    def with_overlap(self, overlap: float) -> "Spans":
        """Return the same spans with another share that a chunk has to cover."""
        found = copy_with(self, overlap=_share(overlap))
        vars(found).pop("fingerprint", None)
        return found

    def _checked(self, read: pl.DataFrame) -> pl.DataFrame:
        """Return the spans, each of which has a document, offsets and a relevance."""
        for column in ("doc_id", *(OFFSETS if self._texts is None else ())):
            lacking = find_first_row(read, pl.col(column).is_null(), "query_id", TEXT)
            if lacking is not None:
                query, text = lacking
                hint = None
                if text is not None and column != "doc_id":
                    hint = Advice("documents", when="to look quoted text up, ")
                raise DataError(f"a span of query {query!r} has no {column}", hint=hint, path=self.where)
        rows = self._located(read, "span", self.where) if self._texts is not None else read
        rows = rows.with_columns(pl.col("relevance").fill_null(1.0), span=PLACE)
        empty = find_first_row(rows, pl.col("start") == pl.col("end"), "span")
        if empty is not None:
            raise DataError(f"span {empty[0]!r} is empty", allowed="a character or more", path=self.where)
        negative = find_first_row(rows, pl.col("relevance") < 0, "query_id", "span", "relevance")
        if negative is not None:
            query, span, given = negative
            raise DataError(
                f"the relevance of span {span!r} of query {query!r} is negative",
                given=given,
                allowed="0 or more",
                path=self.where,
            )
        spans = rows.select("query_id", "doc_id", *OFFSETS, "relevance", "span")
        merged = spans.unique(maintain_order=True)
        is_repeated = merged.select("query_id", "span").is_duplicated()
        if is_repeated.any():
            query, span = merged.filter(is_repeated).select("query_id", "span").row(0)
            grades = merged.filter(query_id=query, span=span)["relevance"].sort().to_list()
            raise DuplicateError(
                f"span {span!r} of query {query!r} is there more than once, with relevance"
                f" {' and '.join(f'{grade:g}' for grade in grades)}",
                allowed="the same relevance each time",
                path=self.where,
            )
        if n_repeated := len(spans) - len(merged):
            self.notes = (
                (
                    f"{format_count(n_repeated, 'span that repeats another one is', 'spans that repeat others are')}"
                    " merged"
                ),
            )
        return merged

    def _located(self, rows: pl.DataFrame, what: str, where: str) -> pl.DataFrame:
        """Return passages with offsets, which agree with the texts of the documents."""
        known = self._texts or {}
        unknown = rows.filter(~pl.col("doc_id").is_in([*known]))["doc_id"].unique(maintain_order=True).to_list()
        if unknown:
            raise DataError(
                f"{what}s of {format_count(len(unknown), 'unknown document')}: {format_list(unknown)}",
                allowed="ids that exist",
                path=where,
            )
        places: list[tuple[int, int]] = []
        for doc, start, end, quoted in rows.select("doc_id", *OFFSETS, TEXT).iter_rows():
            text = known[doc]
            if start is None:
                places.append(_found(quoted, doc, text, where))
                continue
            told = f"{what} [{start}:{end}] of document {doc!r}"
            if end > len(text):
                raise DataError(f"{told} is beyond its {format_count(len(text), 'character')}", hint=UNITS, path=where)
            if quoted not in {None, text[start:end]}:
                raise DataError(
                    f"{told} is {quote_text(text[start:end])}", allowed=quote_text(quoted), hint=UNITS, path=where
                )
            places.append((start, end))
        start, end = zip(*places, strict=True) if places else ((), ())
        return rows.with_columns(start=pl.Series(start, dtype=pl.Int64), end=pl.Series(end, dtype=pl.Int64))

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 hash of the spans and the overlap, the same for all runs."""
        return hash_of_spans(self.rows, self.rule.as_hashed, self.unanswerable, self.empty_queries)

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
        path = as_path(run)
        label = name or (make_label(path) if path else "run")
        run = list(run) if isinstance(run, Iterator) else run
        run_column = find_run_column(run, label)
        if run_column is not None:
            raise ColumnError(
                f"column {run_column!r} tells several runs apart, which spans judge one by one",
                hint="make a table of each, without the column, and give them as repeats",
                python="dh.Repeats([one, other])",
                path=path or label,
            )
        table = read_passages(run, path, "run", str(path or label), ascending=ascending)
        chunks = table.rows
        for column in (*OFFSETS, "score"):
            lacking = find_first_row(chunks, pl.col(column).is_null(), *KEYS)
            if lacking is not None:
                query, doc = lacking
                raise DataError(f"a chunk of {doc!r} for query {query!r} has no {column}", path=str(path or label))
        if self._texts is not None:
            chunks = self._located(chunks, "chunk", str(path or label))
        chunks = chunks.select(*KEYS, *OFFSETS, "score", chunk=PLACE)
        qrels = self.judge_chunks(chunks.drop("score"))
        retrieved = Run.of_checked(chunks.select("query_id", pl.col("chunk").alias("doc_id"), "score"), label)
        retrieved.check_duplicates()
        retrieved.bare = table.empty_queries
        if ascending:
            retrieved.rows, retrieved.notes = retrieved.rows.negate(), (LOWER_FIRST,)
        return qrels, retrieved

    def judge_again(self, qrels: Qrels) -> Qrels:
        """Return judgments of the chunks of a run, of which there are those that earlier spans made.

        Parameters
        ----------
        qrels : Qrels
            That :meth:`judge` returned.

        Examples
        --------
        >>> qrels, run = Spans([("q", "d", 0, 10)]).judge([("q", "d", 0, 8, 1.0)])
        >>> Spans([("q", "d", 0, 20)]).judge_again(qrels).to_dict()
        {'q': {'d[0:8]': 0.0, 'd[0:20]': 1.0}}
        """
        return self.judge_chunks(chunks_of(qrels))

    def judge_chunks(self, chunks: pl.DataFrame) -> Qrels:
        """Return judgments of chunks, as :meth:`judge` does.

        Parameters
        ----------
        chunks : polars.DataFrame
            query_id, doc_id (of the document), start, end and chunk, its name.

        Returns
        -------
        Qrels

        Examples
        --------
        >>> row = {"query_id": "q", "doc_id": "d", "start": 0, "end": 8, "chunk": "d[0:8]"}
        >>> chunks = pl.DataFrame([row])
        >>> Spans([("q", "d", 0, 10)]).judge_chunks(chunks).to_dict()
        {'q': {'d[0:8]': 1.0}}
        """
        chunks = chunks.with_row_index("row")
        hits = self._hits(chunks)
        topics = hits.select("query_id", doc_id="chunk", subtopic="span", relevance="relevance")
        alone = self.rows.join(
            topics, left_on=("query_id", "span"), right_on=("query_id", "subtopic"), how="anti"
        ).select("query_id", doc_id="span", subtopic="span", relevance="relevance")
        relevance = np.zeros(len(chunks))
        np.maximum.at(relevance, hits["row"].to_numpy(), hits["relevance"].to_numpy())
        without_span = pl.Series([*self.unanswerable, *self.empty_queries], dtype=pl.String)
        queries = pl.concat([self.rows["query_id"].unique(), without_span])
        judged = chunks.select("query_id", doc_id="chunk", relevance=pl.Series(relevance)).filter(
            pl.col("query_id").is_in(queries.implode())
        )
        columns = ("query_id", "doc_id", "document", *OFFSETS, "relevance")
        of_both = (
            chunks.select("query_id", *OFFSETS, document="doc_id", doc_id="chunk", relevance=pl.lit(None, pl.Float64)),
            self.rows.select("query_id", *OFFSETS, "relevance", document="doc_id", doc_id=pl.lit(None, pl.String)),
        )
        return copy_with(
            Qrels.of_checked(pl.concat([judged, alone.select(*KEYS, "relevance")]), self.name),
            subtopics=pl.concat([topics, alone]),
            passages=pl.concat([rows.select(columns) for rows in of_both]),
            judging_rule=self.rule,
            fingerprint=self.fingerprint,
            unanswerable=self.unanswerable,
            bare=tuple(sorted({*without_span}.difference(judged["query_id"].unique()))),
            notes=(
                f"spans: a chunk is relevant if it covers {self.rule}; R is the share of spans that chunks hit",
                *self.notes,
            ),
        )

    def _hits(self, chunks: pl.DataFrame) -> pl.DataFrame:
        """Return the pairs of a chunk and a span of which the chunk covers enough."""
        pairs = chunks.join(self.rows, on=KEYS, suffix="_span")
        if pairs.is_empty() and not chunks.is_empty():
            docs = [format_list([*map(repr, one["doc_id"].unique(maintain_order=True))]) for one in (chunks, self.rows)]
            warnings.warn(
                f"no chunk is of a document with a span for its query: chunks have {docs[0]}, spans {docs[1]}",
                NothingJudgedWarning,
                stacklevel=5,
            )
        first, last = pl.max_horizontal("start", "start_span"), pl.min_horizontal("end", "end_span")
        pairs = pairs.with_columns(common=last - first).filter(pl.col("common") > 0)
        if self.overlap_of == "any":
            return pairs
        start, end = OFFSETS if self.overlap_of == "chunk" else (f"{one}_span" for one in OFFSETS)
        return pairs.filter(pl.col("common") / (pl.col(end) - pl.col(start)) >= self.overlap)


class _AnyRule:
    """What is so of the rules of all qrels of chunks."""

    def list_judged(self, qrels: Qrels) -> pl.DataFrame:
        """Return the spans: query_id, doc_id (the name of the span), relevance."""
        return spans_of(qrels).with_columns(doc_id="span")

    def judge_again(self, judgments: Qrels, qrels: Qrels) -> Qrels:
        """Return judgments of the chunks of some qrels, by the spans of others."""
        return Spans.of_qrels(judgments).judge_again(qrels)

    def knows_any(self, qrels: Qrels) -> bool:
        """Tell whether a chunk is of a document that has a span."""
        return not chunks_of(qrels).join(spans_of(qrels), on=["query_id", "doc_id"], how="semi").is_empty()

    def have_common_document(self, old: str, new: str) -> bool:  # noqa: ARG002 - a name has no document
        """Tell that a span may have taken the place of any other one."""
        return False

    def describe_renamed(self, shown: str) -> str:
        """Return a warning that documents may have been renamed."""
        return (
            f"{shown} in the spans: if the documents were changed or renamed, the offsets of the earlier chunks are"
            " of other text, and that run is to be evaluated again"
        )

    def describe_unknown(self, name: str, reference: str) -> str:
        """Say that no chunk is of a document that has a span."""
        return f"no chunk that {name} retrieved is of a document with a span of {reference}"


@dataclass(frozen=True)
class SpanRule(_AnyRule):
    """How much a chunk has to cover to be relevant.

    Attributes
    ----------
    overlap : float
        The share that a chunk covers at least.
    overlap_of : {"span", "chunk", "any"}
        Of what it is the share; "any" asks for one character.
    """

    overlap: float
    overlap_of: str

    def __str__(self) -> str:
        """Return what a chunk covers, as reports say it."""
        if self.overlap_of == "any":
            return "a part of the span"
        return f"at least {self.overlap:g} of the {self.overlap_of}"

    @property
    def as_hashed(self) -> str:
        """The rule, as the fingerprint has it."""
        return f"{self.overlap} {self.overlap_of}"

    @property
    def span_rule(self) -> "SpanRule":
        """Itself, as `Qrels.span_rule` has it."""
        return self

    @property
    def kind(self) -> KindOfJudgments:
        """Spans."""
        return SPANS

    def fingerprint(self, qrels: Qrels) -> str:
        """Return a hash of the spans and of this rule."""
        spans, queries = spans_of(qrels), {*qrels.in_order.queries["query_id"]}
        empty_queries = sorted(queries.difference(spans["query_id"], qrels.unanswerable))
        return hash_of_spans(spans, self.as_hashed, qrels.unanswerable, empty_queries)

    def describe_change(self, other: JudgingRule) -> str:
        """Say what chunks have to cover by another rule."""
        return "" if other == self else f"a chunk had to cover {self}, and has to cover {other} now"


@dataclass(frozen=True)
class LostRule(_AnyRule):
    """The rule of spans in a file of format 2, which does not say it.

    Attributes
    ----------
    hashed : str
        The fingerprint, which cannot be made again.
    """

    hashed: str = field(compare=False)

    def __str__(self) -> str:
        """Return what a chunk covers: it is not known."""
        return "a part of the span that is not known"

    @property
    def kind(self) -> KindOfJudgments:
        """Spans of format 2."""
        return OLD_SPANS

    def fingerprint(self, qrels: Qrels) -> str:  # noqa: ARG002 - as of any rule
        """Return the hash that the file has."""
        return self.hashed

    def describe_change(self, other: JudgingRule) -> str:  # noqa: ARG002 - as of any rule
        """Say nothing: what it was is not known."""
        return ""


def _share(overlap: float) -> float:
    """Return an overlap, checked."""
    if as_positive("overlap", overlap) > 1:
        raise ParameterError(argument="overlap", given=overlap, allowed="a share above 0 and up to 1")
    return float(overlap)


def _found(quoted: str | None, doc: str, text: str, where: str) -> tuple[int, int]:
    """Return where a quoted text starts and ends in a document that has it once."""
    first = -1 if quoted is None else text.find(quoted)
    if quoted is None or first < 0:
        what = "a span without offsets and text" if quoted is None else f"the text {quote_text(quoted)}"
        raise DataError(f"{what} is not in document {doc!r}", allowed="a part of it, as it is written", path=where)
    if text.find(quoted, first + 1) >= 0:
        raise DataError(
            f"the text {quote_text(quoted)} is in document {doc!r} more than once",
            hint="quote more of it, or give start and end",
            path=where,
        )
    return first, first + len(quoted)


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
    path = as_path(documents)
    if path is None:
        raise ParameterError(argument="documents", given=type(own).__name__, allowed="{doc_id: text}, or a path")
    records = read_records(path, None, Wanted(what="documents", id="doc_id", number=as_written))
    lacking = "documents without the columns doc_id and text"
    ids, texts = (
        [as_text(one) or "" for one in records.frame[find_column(known, records.columns, lacking, path)].to_list()]
        for known in (("doc_id", "id", "_id"), (TEXT,))
    )
    return dict(zip(ids, texts, strict=True))
