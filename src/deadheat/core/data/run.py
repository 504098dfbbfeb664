"""Runs: retrieved documents with scores, checked when they are read, lazy where the source allows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from deadheat.core import hooks
from deadheat.core.checks import as_precision, as_text
from deadheat.core.data.document_table import DocumentTable
from deadheat.core.data.documents_of_runs import merge_documents, name_documents
from deadheat.core.data.doubts import warn_of_list_order, warn_of_order, warn_of_ranks
from deadheat.core.data.rounding import ScorePrecision, round_and_warn
from deadheat.core.data.rows import MemoryRows, Rows
from deadheat.core.data.several_keys import order_by_keys, rank_tuples
from deadheat.core.data.sources import Source
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.io.chunk_ids import check_merging
from deadheat.core.io.content import Content
from deadheat.core.io.duplicates import MERGING, Merging, check_rule, reading_lists
from deadheat.core.io.memory_limits import exceeds_memory
from deadheat.core.io.nested import Nested
from deadheat.core.io.notes import Notes, Ranked
from deadheat.core.io.results import Pick, Reader
from deadheat.core.libraries import is_polars_frame, polars as pl
from deadheat.core.structures import copy_with

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

IN_MEMORY = "all rows are in memory, beyond its bound: only TREC and Parquet files and lazy frames are read in blocks"
LOWER_FIRST = "lower scores rank first, as asked: they are negated"
OF_TUPLES = "scores are tuples: the second part orders what ties by the first, and so on"


class Run(DocumentTable):
    """Retrieved documents with their scores: query_id, doc_id, score.

    Parameters
    ----------
    source : path, dict of dict, iterable of tuples, dataframe
        Higher scores rank first; the order of rows matters for ``ties="input"`` only. Integers and decimals
        beyond 2**53 are refused, as float64 merges neighbours there; true is 1 and false 0. A query with an empty dict
        or list was asked, and nothing was found: it is an empty ranking, which ``missing="skip"`` does not leave out.
        In a table, a query exists if it has a row. Ids are text, or whole numbers, UUIDs or paths, which become text;
        those in a dict of dicts are too many to check, so an id that is none may pass as an unjudged document.
    name : str, optional
        Label for messages and tables.
    format : str, optional
        Format of the file, if its name does not say.
    columns : dict of str to str, optional
        Names of columns that are not recognised, such as ``{"doc_id": "hit"}``.
    ascending : bool, default False
        Lower scores rank first, as of distances.
    doc_id_of : str, optional
        Ids are those of chunks, and the documents that these are of count: what stands before the last "#", for
        ``doc_id_of="#"``, or what the group of a regular expression finds, as in ``"(.+)_chunk[0-9]+$"``. An id that
        has another form stays as it is. `duplicates` says which chunk of a document counts.
    duplicates : {"error", "best", "first", "trust"}, default "error"
        What becomes of a document that a query has twice, such as a page of which several chunks are found. It is an
        error; or one row stays, in its place, the one with the best score or the first one, and `notes` say how many
        are left out; or it is taken for granted that none does, where nobody has to look.

    Attributes
    ----------
    bare : tuple of str
        The queries that were given without a document, sorted.

    Examples
    --------
    >>> Run([("q1", "d1", 0.5), ("q1", "d2", 0.5)], name="bm25")
    <Run bm25>
    >>> Run([("q1", "d1", 0.9), ("q1", "d1", 0.7), ("q1", "d2", 0.1)], duplicates="best").to_dict()
    {'q1': {'d1': 0.9, 'd2': 0.1}}
    >>> Run({"q1": {"d1#0": 0.9, "d1#1": 0.7, "d2#0": 0.1}}, doc_id_of="#", duplicates="best").to_dict()
    {'q1': {'d1': 0.9, 'd2': 0.1}}
    """

    kind = "run"
    bare: tuple[str, ...] = ()
    are_failures_open = False  # whether bounds let documents of `failures`, which rank last, be at any place

    def __init__(
        self,
        source: Source,
        *,
        name: str | None = None,
        format: str | None = None,  # noqa: A002 - the word that users look for
        columns: Mapping[str, str] | None = None,
        ascending: bool = False,
        doc_id_of: str | None = None,
        duplicates: str = "error",
    ) -> None:
        self._ascending = ascending
        self.duplicates = check_rule(duplicates)
        if doc_id_of is not None:
            check_merging(doc_id_of, duplicates)
        super().__init__(source, name=name, format=format, columns=columns)
        if ascending:
            self.rows = self.rows.negate()
            self.notes = (*self.notes, LOWER_FIRST)
        if doc_id_of is not None:
            name_documents(self, doc_id_of)
        merge_documents(self)

    def _load(self, source: Source) -> Content:
        """Return what a file or an object holds; lists are read as `duplicates` says."""
        if self.duplicates not in MERGING:
            return super()._load(source)
        with reading_lists(Merging(self.duplicates, lower_first=self._ascending)):
            return super()._load(source)

    @classmethod
    def of(
        cls,
        source: Source,
        *,
        ascending: bool = False,
        doc_id_of: str | None = None,
        duplicates: str = "error",
        name: str | None = None,
    ) -> Self:
        """Return a run as it is, or under another name, or merged; anything else is read as the arguments say."""
        if ascending and isinstance(source, Run):
            raise ParameterError(
                argument="ascending",
                given=True,
                allowed="False for a Run that is read already",
                hint="write Run(..., ascending=True)",
            )
        if not isinstance(source, DocumentTable):
            return cls(source, name=name, ascending=ascending, doc_id_of=doc_id_of, duplicates=duplicates)
        run = super().of(source).with_duplicates(duplicates, doc_id_of=doc_id_of)
        if name is None:
            return run
        return run.renamed(name)

    def with_duplicates(self, duplicates: str, *, doc_id_of: str | None = None) -> Self:
        """Return the run under a rule for documents that come twice: itself under "error", and if it has this rule.

        Parameters
        ----------
        duplicates : {"error", "best", "first", "trust"}
        doc_id_of : str, optional
            As for `Run`.

        Examples
        --------
        >>> run = Run([("q1", "d1", 0.9), ("q1", "d1", 0.7)])
        >>> run.with_duplicates("best").to_dict()
        {'q1': {'d1': 0.9}}
        """
        rule = self.duplicates if check_rule(duplicates) == "error" else duplicates
        if doc_id_of is not None:
            check_merging(doc_id_of, rule)
            if self.doc_id_of not in {None, doc_id_of}:
                raise ParameterError(
                    argument="doc_id_of", given=doc_id_of, allowed=f"{self.doc_id_of!r}, as {self.where} was read"
                )
        has_documents = doc_id_of in {None, self.doc_id_of}
        if rule == self.duplicates and has_documents:
            return self
        run = copy_with(self, duplicates=rule)
        run.drop_computed()
        if doc_id_of is not None and not has_documents:
            name_documents(run, doc_id_of)
        merge_documents(run)
        return run

    def _normalize_rows(self, form: Any, attributes: Mapping[str, Any]) -> Self:  # noqa: ANN401 - a literal of Polars
        """Return the run in a form of Unicode; if documents are merged, those too whose ids are one then."""
        if self.duplicates not in MERGING:
            return super()._normalize_rows(form, attributes)
        run = self.with_rows(MemoryRows(self.to_polars()).normalize(form), **attributes)
        merge_documents(run)
        return run

    def _prepare(self, content: Content) -> Content:
        """Return the content with ranks instead of tuples of scores; note that, or that all rows are in memory."""
        rows = content.rows
        if isinstance(rows, Mapping):
            ranks = rank_tuples(rows, self.where)
            if ranks is not None:
                self.by_keys = (None,)  # by several keys, and these were not rounded
                return replace(content, rows=ranks, notes=(OF_TUPLES, *content.notes))
        elif self.path is not None and is_polars_frame(rows) and exceeds_memory(int(rows.estimated_size())):
            return replace(content, notes=(*content.notes, IN_MEMORY))
        return content

    def _check_order(self, content: Content) -> None:
        """Raise if ranks would be reversed, and warn of scores that contradict ranks or the order of rows."""
        _check_direction(content.notes, ascending=self._ascending)
        if any(isinstance(note, Ranked) for note in content.notes):
            return
        if content.ranks is not None:
            warn_of_ranks(content.ranks, self.where, ascending=self._ascending)
        elif content.list_order is not None:
            warn_of_list_order(content.list_order, self.where, ascending=self._ascending)
        elif isinstance(content.rows, Mapping) or is_polars_frame(content.rows):
            warn_of_order(content.rows, self.where, ascending=self._ascending)

    @classmethod
    def of_results(
        cls,
        results: object,
        *,
        id: Pick | None = None,  # noqa: A002 - what every library calls it
        score: Pick | None = None,
        ascending: bool = False,
        duplicates: str = "error",
        name: str | None = None,
    ) -> Self:
        """Return a run from the results that a search library returned, one list for each query.

        Known by their form, without any import: LangChain's documents and ``(document, score)``, LlamaIndex's
        ``NodeWithScore``, Haystack's ``Document``, lists of sentence-transformers' ``semantic_search``, responses and
        hits of Elasticsearch and OpenSearch, what a query of Chroma returned (minus the distance is the score), and
        whatever has an ``id`` and a ``score``.

        Parameters
        ----------
        results : dict of list, or list of list
            Results of each query, best first, or what holds them: a response, an iterator. In a list of lists, and in
            Chroma's results of several queries, the queries are called "0", "1", and so on.
        id, score : str or callable, optional
            Where they are, if the form of a result does not say: the name of a key or attribute, a dotted path such as
            ``"metadata.doc_id"``, or a function of one result. Results without scores are a ranked list, in strict
            order.
        ascending : bool, default False
            Lower scores rank first, as of distances.
        duplicates : {"error", "best", "first", "trust"}, default "error"
            What to do if a document comes twice for a query, as a page does if several of its chunks are found: raise,
            keep its best score, or keep its first place. `notes` say how many results were left out. "trust" raises
            here, too.
        name : str, optional
            Label for messages and tables.

        Returns
        -------
        Run

        Raises
        ------
        SourceTypeError
            The results have no known form.
        DataError
            A result has no id where it should be.
        DuplicateError
            A document comes twice, and `duplicates` is "error".

        Warns
        -----
        DeadheatWarning
            Scores rise from the first result to the last, as distances do, or fall with ``ascending=True``.

        Examples
        --------
        >>> chunks = [{"page": "p1", "score": 0.9}, {"page": "p2", "score": 0.9}, {"page": "p1", "score": 0.3}]
        >>> run = Run.of_results({"q1": chunks}, id="page", duplicates="best")
        >>> run.to_dict(), run.notes
        ({'q1': {'p1': 0.9, 'p2': 0.9}}, ('1 of 3 results repeat a document: its best counts',))
        """
        where = name or cls.kind
        listing = Reader(cls.kind, where, id, score, duplicates, lower_first=ascending).read(results)
        _check_direction(listing.notes, ascending=ascending)
        warn_of_list_order(listing.order, where, ascending=ascending)
        run = cls(listing.documents, name=name, ascending=ascending, duplicates=duplicates)
        return run.noted(listing.notes)

    @classmethod
    def from_topk(
        cls,
        ids: ArrayLike | Sequence[Sequence[str | None]],
        scores: ArrayLike | None = None,
        query_ids: ArrayLike | None = None,
        *,
        ascending: bool = False,
        duplicates: str = "error",
        name: str | None = None,
    ) -> Run:
        """Return a run from the arrays that a search for nearest neighbours returns.

        FAISS, hnswlib, ScaNN, usearch, implicit and cuVS return two of them: ids and scores, or distances. Beside a
        run without `query_ids`, judgments may be by position as well: a list of lists, of sets or of dicts, an array
        of ids with -1 for none, or a sparse matrix of relevance, with a row for each query.

        Parameters
        ----------
        ids : array-like of int or str, shape (n_queries, k)
            Of NumPy, PyTorch or JAX. No document: -1, NaN, None or an empty text. A whole number is the document whose
            id is its text.
        scores : array-like of number, shape (n_queries, k), optional
            Higher ones rank first, wherever they stand; a document with NaN is none. Without scores the ids of a row
            rank in their order.
        query_ids : array-like of int or str, shape (n_queries,), optional
            By default queries are called by their places, "0", "1", and so on.
        ascending : bool, default False
            Lower scores rank first, as of distances.
        duplicates : {"error", "best", "first", "trust"}, default "error"
            As for `Run`.
        name : str, optional
            Label for messages and tables.

        Returns
        -------
        Run

        Raises
        ------
        ParameterError
            The shapes do not fit, or an array is of another type.
        DataError
            An id is negative and not -1, a score is beyond what float64 holds, or a query comes twice.

        Warns
        -----
        DeadheatWarning
            Scores rise from the first document of every row to the last, as distances do, or fall with
            ``ascending=True``.

        Examples
        --------
        >>> from deadheat import evaluate
        >>> ids = [[3, 1, 9], [5, 6, -1]]
        >>> run = Run.from_topk(ids, [[0.9, 0.5, 0.5], [0.7, 0.7, float("nan")]])
        >>> evaluate([[9], [6]], run, "R@2").to_dict()  # the mean over both orders of each tie
        {'0': {'R@2': 0.5}, '1': {'R@2': 1.0}}
        """
        run: Run = hooks.service("topk").run_of_topk(ids, scores, query_ids, ascending=ascending, name=name)
        return run.with_duplicates(duplicates)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the rows as ``{query_id: {doc_id: number}}``, with the queries that were given without a document.

        Examples
        --------
        >>> Run({"q1": {"d1": 0.5}, "q2": {}}).to_dict()
        {'q1': {'d1': 0.5}, 'q2': {}}
        """
        return self.rows.to_dict() | {query: {} for query in self.bare}

    def _store_dicts(self, nested: Nested) -> Rows:
        """Return the rows of checked dicts, and keep the queries without a document."""
        self.bare = tuple(sorted(query for query, documents in nested.items() if not documents))
        if self.bare:
            nested = {query: documents for query, documents in nested.items() if documents}
        return super()._store_dicts(nested)

    def renamed(self, name: str) -> Self:
        """Return the run under another name."""
        return copy_with(self, name=as_text("name", name))

    def then_by(self, *others: Source, score_precision: ScorePrecision = None) -> Self:
        """Return the run with its ties ordered by the scores of other runs, one after the other.

        Documents that tie in all runs stay tied. A document that another run lacks comes after those that it has;
        `notes` say how many tied documents it lacks. Ids of the other runs are normalized as those of this run were.

        Parameters
        ----------
        *others : path, dict, dataframe or Run
            Such as the first stage, whose results were reranked. A text that names no file is a column of this run's
            own file.
        score_precision : {"float32", "float16", "bfloat16"} or int, optional
            Round all scores first, those of the other runs too.

        Returns
        -------
        Run
            In memory; its scores are ranks, the lowest 1.

        Raises
        ------
        DataError
            Another run cannot be read.

        Examples
        --------
        >>> llm, bm25 = {"q": {"a": 3, "b": 3, "c": 3}}, {"q": {"b": 7.5, "c": 7.5}}
        >>> run = Run(llm).then_by(Run(bm25, name="bm25"))
        >>> run.to_dict()
        {'q': {'a': 1.0, 'b': 2.0, 'c': 2.0}}
        >>> run.notes
        ('3 tied documents ordered by bm25, 1 of them is not in it: it comes last',)
        """
        if score_precision is not None:
            as_precision("score_precision", score_precision)
        if not others:
            return self
        keys = [self._read_key(other) for other in others]
        names = [key.name for key in keys]
        frames = {}
        for number, key in enumerate(keys, 1):
            label = key.name
            if names.count(label) > 1:
                label = f"{label} ({number})"
            frames[label] = key.to_polars()
        frame, notes = order_by_keys(self.to_polars(), frames, score_precision)
        return copy_with(self, rows=MemoryRows(frame), by_keys=(score_precision,)).noted(notes)

    def _read_key(self, other: Source) -> Run:
        """Return a run to order ties by: `other`, or the column of this run's file that `other` names."""
        if self.path is not None and isinstance(other, str) and not Path(other).exists():
            try:
                columns = {**self.columns, "score": other}
                key = Run(
                    self.path,
                    name=other,
                    format=self.format,
                    columns=columns,
                    doc_id_of=self.doc_id_of,
                    duplicates=self.duplicates,
                )
            except ParameterError:  # of files without columns
                raise DataError(
                    "no such file",
                    path=other,
                    hint=f"a column can be named only if the run has columns, as CSV has; {self.path} has none",
                ) from None
        else:
            key = Run.of(other, doc_id_of=self.doc_id_of, duplicates=self.duplicates)
        key.check_duplicates()
        return key.normalized(self.id_form)

    def positions(self, score_precision: ScorePrecision = None) -> pl.DataFrame:
        """Return query_id, doc_id, above and tied of all documents.

        Parameters
        ----------
        score_precision : {"float32", "float16", "bfloat16"} or int, optional

        Examples
        --------
        >>> Run({"q": {"a": 2, "b": 1, "c": 1}}).positions().sort("doc_id").rows()
        [('q', 'a', 0, 1), ('q', 'b', 1, 2), ('q', 'c', 1, 2)]
        """
        rank = pl.col("score").rank("min", descending=True).over("query_id").cast(pl.Int64)
        n_tied = pl.len().over("query_id", "score").cast(pl.Int64)
        rows = self.rounded(score_precision).to_polars()
        return rows.select("query_id", "doc_id", above=rank - 1, tied=n_tied)

    def rounded(self, precision: ScorePrecision) -> Self:
        """Return the run in memory with rounded scores; the run itself if it has ranks, or without a precision."""
        if precision is None or self.by_keys is not None:
            return self
        frame = self.to_polars()
        scores = round_and_warn(frame["score"].to_numpy(), precision)
        return copy_with(self, rows=MemoryRows(frame.with_columns(score=pl.Series(scores))))


def read_run(
    source: Source,
    *,
    name: str | None = None,
    format: str | None = None,  # noqa: A002 - as in DocumentTable
    columns: Mapping[str, str] | None = None,
    ascending: bool = False,
    doc_id_of: str | None = None,
    duplicates: str = "error",
) -> Run:
    """Read a run from a file, or from anything else that `Run` takes.

    Parameters
    ----------
    source : path or other source
        TREC, CSV, TSV, Parquet, JSON Lines or JSON; ``.gz`` and ``.zst`` are unpacked.
    name, format, columns, ascending, doc_id_of, duplicates : optional
        As for `Run`.

    Returns
    -------
    Run

    Raises
    ------
    DataError
        The file is missing, malformed, or holds a value that cannot be evaluated.

    Examples
    --------
    >>> run = read_run({"q1": ["d2", "d1"]})
    >>> run.to_dict(), run.notes
    ({'q1': {'d2': -1, 'd1': -2}}, ('ranked lists without scores: in strict order, no ties',))
    """
    return Run(
        source,
        name=name,
        format=format,
        columns=columns,
        ascending=ascending,
        doc_id_of=doc_id_of,
        duplicates=duplicates,
    )


def _check_direction(notes: Notes, *, ascending: bool) -> None:
    """Raise if ranks, which have a direction, would be reversed."""
    if not ascending:
        return
    for note in notes:
        if isinstance(note, Ranked) and note.why_not_ascending:
            raise ParameterError(argument="ascending", given=True, allowed=f"False, as {note.why_not_ascending}")
