"""Qrels: relevance judgments, checked when they are read, lazy where the source allows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from deadheat.core import hooks
from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.data.document_table import DocumentTable
from deadheat.core.data.kind_of_judgments import KindOfJudgments
from deadheat.core.data.rows import MappingRows, MemoryRows, Rows, find_first_row
from deadheat.core.data.sources import Source
from deadheat.core.data.unread_rows import LazyRows
from deadheat.core.errors import DataError
from deadheat.core.io.content import Content
from deadheat.core.io.files import FileState
from deadheat.core.io.guarding import guard_polars
from deadheat.core.io.nested import Nested
from deadheat.core.io.results import Pick, Reader, note_merged_judgments
from deadheat.core.libraries import is_polars_frame, polars as pl
from deadheat.core.wording import format_count, format_list


class JudgingRule(Protocol):
    """How judgments of another kind were turned into qrels for one run: `Qrels.judging_rule`.

    It stays with the qrels when queries are selected. The data that it needs are in tables beside the qrels.
    """

    @property
    def kind(self) -> KindOfJudgments:
        """The kind of the judgments."""
        ...

    def fingerprint(self, qrels: Qrels) -> str:
        """Return a hash of the judgments, the same for all runs."""
        ...

    def list_judged(self, qrels: Qrels) -> pl.DataFrame:
        """Return the judgments as query_id, doc_id (the name of a span, say) and relevance."""
        ...

    def judge_again(self, judgments: Qrels, qrels: Qrels) -> Qrels:
        """Return new qrels for the run that `qrels` were made for, by the judgments behind `judgments`."""
        ...

    def knows_any(self, qrels: Qrels) -> bool:
        """Tell whether the run retrieved anything from a document that has judgments."""
        ...

    def describe_change(self, other: JudgingRule) -> str:
        """Say how another rule differs from this one; return "" if it does not."""
        ...

    def have_common_document(self, old: str, new: str) -> bool:
        """Tell whether two judgments, by their names, are of a document that was not renamed."""
        ...

    def describe_renamed(self, shown: str) -> str:
        """Say that the documents in the text `shown` may have been renamed."""
        ...

    def describe_unknown(self, name: str, reference: str) -> str:
        """Say that the run `name` retrieved nothing from a document that has judgments in `reference`."""
        ...


class OrderedJudgments(NamedTuple):
    """The judgments of qrels by query, highest relevance first.

    Attributes
    ----------
    queries : polars.DataFrame
        query_id and code of all queries, also of those without a judgment.
    codes : ndarray of int, shape (n_judged,)
        The code of each judgment's query.
    relevance : ndarray of float, shape (n_judged,)
    """

    queries: pl.DataFrame
    codes: IntArray
    relevance: FloatArray


class Qrels(DocumentTable):
    """Relevance judgments: query_id, doc_id, relevance.

    Parameters
    ----------
    source : path, dict of dict, iterable of tuples, dataframe
        Relevance may be an integer level or a real gain; negative values are kept; true is 1 and false 0. A query
        with an empty dict or list has no relevant document. Lists of texts in the list of a query are groups, as in
        ``{"q1": [["a", "b"], ["c"]]}``: a or b, and c. In a table, a query whose column ``answerable`` is false
        is unanswerable: measures leave it out by default.
    name : str, optional
        Label for messages and tables.
    format : str, optional
        Format of the file, if its name does not say.
    columns : dict of str to str, optional
        Names of columns that are not recognised, such as ``{"doc_id": "hit"}``.

    Attributes
    ----------
    subtopics : polars.DataFrame or None
        query_id, doc_id, subtopic and relevance, if the second field of a TREC file, or a column ``subtopic`` of a
        table, holds several subtopics, as of TREC's diversity tasks. Measures of diversity look at them; for others a
        document has its highest relevance.
    passages : polars.DataFrame or None
        The chunks that a run retrieved and the spans that :class:`Spans` compares them with, in one table: query_id,
        doc_id, document, start, end and relevance. Chunks have no relevance, spans no doc_id.
    judging_rule : JudgingRule or None
        How judgments of another kind, such as :class:`Spans`, were turned into these for one run; else None.
    unanswerable : tuple of str
        The queries that the source says no document answers, sorted.
    source_form : {"trec", "array", "other"}
        The form of the source. Negative labels are usual in TREC files, and padding in arrays.

    Examples
    --------
    >>> Qrels({"q1": {"d1": 2, "d2": 0}}).to_polars().rows()
    [('q1', 'd1', 2.0), ('q1', 'd2', 0.0)]
    """

    kind = "qrels"
    subtopics: pl.DataFrame | None = None
    passages: pl.DataFrame | None = None
    judging_rule: JudgingRule | None = None
    unanswerable: tuple[str, ...] = ()
    source_form: str = "other"
    open_to: float | None = None  # bounds let documents of `failures` have any relevance up to this; None: no bounds

    def _prepare(self, content: Content) -> Content:
        """Return the content with a note on queries that look like comments."""
        if not is_polars_frame(content.rows):
            return content
        queries = content.rows["query_id"]
        comments = queries.filter(queries.str.starts_with("#")).unique(maintain_order=True).to_list()
        if not comments:
            return content
        n_comments = format_count(len(comments), "query", "queries")
        note = f"{n_comments} with # in front ({format_list(comments)}): comments, perhaps?"
        return replace(content, notes=(*content.notes, note))

    def _keep_attributes(self, content: Content) -> None:
        """Keep judgments of subtopics, how they count, unanswerable queries and the form of the source."""
        self.subtopics = content.subtopics
        if content.judged_by:
            self.judging_rule = hooks.service(content.judged_by).RULE
            self.notes = (*self.notes, str(self.judging_rule))
        self.unanswerable = content.unanswerable
        if content.is_trec:
            self.source_form = "trec"

    def _store(self, content: Content, file: FileState | None) -> Rows:
        """Return the rows as they are stored, with the unanswerable queries; raise if one has a relevant document."""
        rows = super()._store(content, file)
        if not self.unanswerable:
            return rows
        is_contradicted = pl.col("query_id").is_in(self.unanswerable) & (pl.col("relevance") > 0)
        contradicted = find_first_row(rows.frame, is_contradicted, "query_id", "doc_id")
        if contradicted is not None:
            query, doc = contradicted
            raise DataError(
                f"query {query!r} is not answerable, and document {doc!r} is relevant for it",
                allowed="one or the other",
                path=self.where,
            )
        without_rows = sorted({*self.unanswerable}.difference(rows.frame["query_id"]))
        if isinstance(rows, MappingRows):
            empty: Nested = {query: {} for query in without_rows}
            return replace(rows, mapping={**rows.mapping, **empty})
        self.bare = tuple(without_rows)  # instead of the cached property, which looks at dicts alone
        return rows

    @classmethod
    def of_results(
        cls,
        results: object,
        *,
        id: Pick | None = None,  # noqa: A002 - what every library calls it
        relevance: Pick | None = None,
        duplicates: str = "error",
        name: str | None = None,
    ) -> Self:
        """Return judgments from objects of other libraries.

        Parameters
        ----------
        results : dict of list
            The relevant documents of each query, as `Run.of_results` takes retrieved ones; also ratings of
            Elasticsearch, OpenSearch and Quepid.
        id, relevance : str or callable, optional
            Where they are, if the form of a document does not say: a name, a dotted path, or a function of it. Where
            no document has a relevance, each is 1.
        duplicates : {"error", "best", "first", "trust"}, default "error"
            What to do with a document that comes twice with different relevances: raise, keep its highest relevance, or
            keep the first; "trust" is as "error".
        name : str, optional
            Label for messages and tables.

        Examples
        --------
        >>> ratings = {"q1": [{"_index": "docs", "_id": "d1", "rating": 3}]}
        >>> Qrels.of_results(ratings).to_dict()
        {'q1': {'d1': 3}}
        """
        listing = Reader(cls.kind, name or cls.kind, id, relevance, duplicates).read(results)
        qrels = cls(listing.documents, name=name)
        qrels._keep_attributes(Content.of_lists(listing))
        return qrels.noted(listing.notes)

    def check_duplicates(self, *, now: bool = False) -> None:  # noqa: ARG002 - judgments are always looked at now
        """Merge judgments that come twice with the same relevance, and note how many.

        Raises
        ------
        DuplicateError
            A document has two relevances for a query.

        Examples
        --------
        >>> qrels = Qrels([("q", "a", 1), ("q", "a", 1), ("q", "b", 0)])
        >>> qrels.check_duplicates()
        >>> qrels.to_dict()
        {'q': {'a': 1.0, 'b': 0.0}}
        >>> qrels.notes
        ("1 judgment that repeats another one is merged, as of document 'a' for query 'q'",)
        """
        if self.rows.are_unique:
            return
        with guard_polars(self.where):
            repeated = self.rows.repeated_pairs()
            if repeated is not None and len(repeated):
                self._merge_duplicates(repeated)
        self.rows.are_unique = True

    def _merge_duplicates(self, repeated: pl.DataFrame) -> None:
        """Keep one of several equal judgments; raise if a document has two relevances.

        Parameters
        ----------
        repeated : polars.DataFrame
            query_id, doc_id and n of each pair that comes more than once.
        """
        merged: Rows
        if type(self.rows) is LazyRows:  # merged in its engine, where it can still be joined
            merged = LazyRows(self.rows.lazy.unique(), self.where)
        else:
            merged = MemoryRows(self.rows.frame.unique(maintain_order=True))
        contradicted = merged.repeated_pairs()
        if contradicted is not None and len(contradicted):
            raise self.make_duplicate_error(repeated.join(contradicted, on=["query_id", "doc_id"], how="semi"))
        n_merged = int(repeated["n"].sum()) - len(repeated)
        query, doc, _ = repeated.row(0)
        self.notes = (*self.notes, note_merged_judgments(n_merged, f"of document {doc!r} for query {query!r}"))
        self.rows = merged
        self.drop_computed()

    def _describe_duplicate(self, query: str, doc: str, count: int) -> str:
        """Name the relevances that contradict each other."""
        rows = self.to_polars().filter(query_id=query, doc_id=doc)
        grades = " and ".join(f"{grade:g}" for grade in rows["relevance"].unique().sort().to_list())
        return (
            f"document {doc!r} is judged {count} times for query {query!r}, with relevance {grades};"
            " a judgment may come twice with the same relevance only"
        )

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the judgments as ``{query_id: {doc_id: relevance}}``, with the queries that have none.

        Raises
        ------
        DuplicateError
            A document has two relevances for a query.
        """
        self.check_duplicates()
        return self.rows.to_dict() | {query: {} for query in self.bare}

    def of_queries(self, names: Mapping[str, str], *notes: str) -> Self:
        """Return the judgments of some queries under other ids.

        Parameters
        ----------
        names : mapping of str to str
            The new id of each query that stays; new ids differ.
        *notes : str
            On what was done. They are added after those of the table.
        """
        is_kept = pl.col("query_id").is_in([*names])
        new_id = pl.col("query_id").replace(names)
        rows = MemoryRows(self.to_polars().filter(is_kept).with_columns(new_id))
        attributes: dict[str, Any] = {"notes": (*self.notes, *notes)}
        for key, frame in self.beside().items():
            attributes[key] = frame.filter(is_kept).with_columns(new_id)
        attributes["bare"] = tuple(sorted(names[query] for query in self.bare if query in names))
        attributes["unanswerable"] = tuple(sorted(names[query] for query in self.unanswerable if query in names))
        return self.with_rows(rows, **attributes)

    @property
    def span_rule(self) -> Any:  # noqa: ANN401 - a class of a plugin
        """How much of a span makes a chunk relevant; None for other judgments, and from a file in format 2."""
        return getattr(self.judging_rule, "span_rule", None)

    @cached_property
    def in_order(self) -> OrderedJudgments:
        """The judgments by query, highest relevance first."""
        judgments = self.to_polars().select("query_id", "relevance")
        ordered = judgments.sort("query_id", "relevance", descending=[False, True])
        sizes = ordered["query_id"].rle().struct.unnest().select(query_id="value", n="len")
        if self.bare:
            bare_sizes = pl.DataFrame({"query_id": self.bare, "n": 0}, schema=sizes.schema)
            sizes = pl.concat([sizes, bare_sizes]).sort("query_id")
        codes = np.arange(sizes.height)
        return OrderedJudgments(
            queries=sizes.select("query_id", code=codes),
            codes=np.repeat(codes, sizes["n"].to_numpy()),
            relevance=ordered["relevance"].to_numpy(),
        )

    @cached_property
    def bare(self) -> tuple[str, ...]:
        """The queries that were given without a document, sorted."""
        if not isinstance(self.rows, MappingRows):
            return ()
        return tuple(sorted(query for query, documents in self.rows.mapping.items() if not documents))

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 hash of the judgments, independent of their order; with a judging rule the same for all runs."""
        if self.judging_rule is not None:
            return self.judging_rule.fingerprint(self)
        from deadheat.core.data.fingerprints import hash_parts, ids_to_bytes, numbers_to_bytes  # asked of few judgments

        rows = self.to_polars().sort("query_id", "doc_id")
        parts = [
            ids_to_bytes(rows["query_id"].to_list()),
            ids_to_bytes(rows["doc_id"].to_list()),
            numbers_to_bytes(rows["relevance"]),
        ]
        for queries in (self.bare, self.unanswerable):
            if queries:
                parts.append(ids_to_bytes(queries))
        if self.subtopics is not None:
            subtopics = self.subtopics.sort("query_id", "doc_id", "subtopic")
            parts.append(ids_to_bytes(subtopics["subtopic"].to_list()))
            parts.append(numbers_to_bytes(subtopics["relevance"]))
        return hash_parts(parts)


def read_qrels(
    source: Source,
    *,
    name: str | None = None,
    format: str | None = None,  # noqa: A002 - as in DocumentTable
    columns: Mapping[str, str] | None = None,
) -> Qrels:
    """Read relevance judgments from a file, or from anything else that `Qrels` takes.

    Parameters
    ----------
    source : path or other source
        TREC, CSV, TSV, Parquet, JSON Lines or JSON; ``.gz`` and ``.zst`` are unpacked.
    name, format, columns : optional
        As for `Qrels`.

    Returns
    -------
    Qrels

    Raises
    ------
    DataError
        The file is missing, malformed, or holds a value that cannot be evaluated.

    Examples
    --------
    >>> read_qrels({"q1": {"d1": 1, "d2": 0}}).to_dict()
    {'q1': {'d1': 1, 'd2': 0}}
    """
    return Qrels(source, name=name, format=format, columns=columns)
