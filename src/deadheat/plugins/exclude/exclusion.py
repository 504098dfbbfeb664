"""What is to be excluded: documents with the id of their query, or pairs of a query and a document."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from deadheat.core.data.document_table import DocumentTable
from deadheat.core.data.fingerprints import ids_to_bytes
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rows import MappingRows
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source, as_path
from deadheat.core.errors import (
    Advice,
    DataError,
    DeadheatWarning,
    MalformedRowError,
    ParameterError,
    SourceTypeError,
    SwappedFilesError,
)
from deadheat.core.io.formats import has_column
from deadheat.core.io.guarding import guard_polars
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.exclude.matching import KEYS
from deadheat.plugins.exclude.rows import Remaining, leave_out
from deadheat.plugins.exclude.unmatched import describe_unmatched, drop_placeholders

SELF = "self"
OF_BRIGHT = "excluded_ids"  # a column of lists in BRIGHT's examples, beside which the query is called id
ALLOWED = "'self', {query_id: [doc_id]}, (query_id, doc_id) rows, a table or file of such pairs, or other qrels"
FEW = 0.1  # share of pairs: where fewer are retrieved or judged, the note says how many are not
SAVED_NAME = re.compile(r"[\d,]+ pairs? \(SHA-256 [0-9a-f]{12}\)")


class Exclusion:
    """Documents that are left out, of each query others.

    Parameters
    ----------
    source : str or other source
        "self": documents with the id of their query, which are left out of runs alone, as BEIR does. Anything else has
        pairs of a query and a document, which are left out of runs and of judgments. A file is read when its pairs are
        asked for.

    Examples
    --------
    >>> exclusion = Exclusion({"u": ["j"]})
    >>> exclusion.of_qrels(Qrels({"u": {"j": 1, "k": 1}})).to_dict()
    {'u': {'k': 1}}
    >>> run = exclusion.of_run(Run({"u": {"j": 3, "k": 2}}))
    >>> run.to_dict(), run.notes
    ({'u': {'k': 2}}, ('1 document excluded in 1 query, 1 of them relevant',))
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._labels: pl.DataFrame | None = None  # what the first judgments say of excluded documents, for notes

    @property
    def is_self(self) -> bool:
        """Whether documents are left out that have the id of their query."""
        return isinstance(self._source, str) and self._source == SELF

    @cached_property
    def pairs(self) -> pl.DataFrame | None:
        """The query_id and doc_id of each pair, once; None for "self"."""
        if self.is_self:
            return None
        table = _read_table(self._source)
        with guard_polars(table.where):
            return table.to_polars().select(KEYS).unique(maintain_order=True)

    def __str__(self) -> str:
        """Return what tells this exclusion from others: the name that conventions have."""
        if self.pairs is None:
            return SELF
        in_order = self.pairs.sort(KEYS)
        ids = ids_to_bytes(in_order["query_id"].to_list()) + ids_to_bytes(in_order["doc_id"].to_list())
        return f"{format_count(len(in_order), 'pair')} (SHA-256 {hashlib.sha256(ids).hexdigest()[:12]})"

    def of_qrels(self, qrels: Qrels) -> Qrels:
        """Return judgments without the excluded pairs, with the pairs in the table `Qrels.excluded`.

        A query whose judgments are all excluded stays, without any. With "self" judgments stay as they are.
        """
        pairs = self._pairs_for(qrels)
        if pairs is None:
            self._keep_labels(qrels.to_polars().filter(pl.col("query_id") == pl.col("doc_id")))
            return qrels
        qrels.check_duplicates()  # so that no judgment is counted twice
        remaining = self._leave_out(qrels, pairs)
        labels = remaining.excluded
        self._keep_labels(labels)
        attributes: dict[str, Any] = {"excluded": _join_earlier(qrels, pairs)}
        if len(labels):
            for key, frame in qrels.beside().items():
                if key != "excluded":
                    attributes[key] = frame.join(pairs, on=KEYS, how="anti", maintain_order="left")
            attributes["bare"] = tuple(sorted({*qrels.bare, *remaining.emptied}))
        return qrels.with_rows(remaining.rows, **attributes)

    def of_run(self, run: Run) -> Run:
        """Return a run without the excluded documents, with a note that says how many were left out.

        A query whose documents are all excluded stays, with an empty list. Rows that are read later are noted then.
        """
        remaining = self._leave_out(run, self._pairs_for(run))
        if remaining.is_known_later:
            remaining.rows.on_excluded = self._note_later
            return run.with_rows(remaining.rows)
        beside = {}
        for key, frame in run.beside().items():
            beside[key] = frame.join(remaining.excluded, on=KEYS, how="anti", maintain_order="left")
        left_out = run.with_rows(remaining.rows, **beside)
        self._note(left_out, remaining.excluded, remaining.emptied)
        return left_out

    def _pairs_for(self, table: DocumentTable) -> pl.DataFrame | None:
        """Return the pairs with their ids in the form of Unicode that the ids of a table have."""
        if self.pairs is None or table.id_form is None:
            return self.pairs
        form: Any = table.id_form
        return self.pairs.with_columns(pl.col(KEYS).str.normalize(form)).unique(maintain_order=True)

    def _leave_out(self, table: DocumentTable, pairs: pl.DataFrame | None) -> Remaining:
        """Return the rows of a table that remain."""
        if isinstance(table.rows, MappingRows):  # which need no Polars
            return leave_out(table, pairs)
        with guard_polars(table.where):
            return leave_out(table, pairs)

    def _keep_labels(self, labels: pl.DataFrame) -> None:
        """Keep what the first judgments say of excluded documents; those of a judge, say, come later."""
        if self._labels is None:
            self._labels = labels.select(*KEYS, "relevance")

    def _note_later(self, run: Run, excluded: pl.DataFrame, queries: pl.Series) -> None:
        """Note what was left out while rows were read, of which the given queries have documents left."""
        remaining = queries.rename("query_id").to_frame()
        emptied = excluded.select("query_id").unique().join(remaining, on="query_id", how="anti")["query_id"]
        if self._describe(excluded) not in run.notes:  # else the rows are read again
            self._note(run, excluded, tuple(emptied.to_list()))

    def _note(self, run: Run, excluded: pl.DataFrame, emptied: tuple[str, ...]) -> None:
        """Add to a run a note on its excluded documents, and the queries that have none left."""
        run.notes = (*run.notes, self._describe(excluded))
        run.bare = tuple(sorted({*run.bare, *emptied}))
        if self.pairs is None:
            if self._labels is not None:
                _warn_of_relevant(run, self._labels.join(excluded, on=KEYS, how="semi"))
        elif self._matches_nothing(excluded):
            _warn_of_unmatched(run, self.pairs)

    def _matches_nothing(self, excluded: pl.DataFrame) -> bool:
        """Tell whether no pair was in a run, and none was judged."""
        has_judged = self._labels is not None and len(self._labels) > 0
        return not has_judged and not len(excluded)

    def _describe(self, excluded: pl.DataFrame) -> str:
        """Say how many documents are excluded, of a run or of its judgments, and how many of them are relevant.

        With "self" judgments stay, so that those of documents that the run does not have do not count.
        """
        documents = excluded.select(KEYS).unique()  # of rows that are not merged yet
        n_relevant = 0
        if self._labels is not None:
            labels = self._labels
            if self.is_self:
                labels = labels.join(excluded, on=KEYS, how="semi")
            n_relevant = int((labels["relevance"] > 0).sum())
            documents = pl.concat([documents, labels.select(KEYS)]).unique()
        if not len(documents):
            return self._describe_nothing()
        n_queries = documents["query_id"].n_unique()
        text = f"{format_count(len(documents), 'document')} excluded in {format_count(n_queries, 'query', 'queries')}"
        if n_relevant:
            text += f", {n_relevant:,} of them relevant"
        return text + self._describe_few(len(documents))

    def _describe_few(self, n_documents: int) -> str:
        """Say how many pairs there are, if few of them are retrieved or judged; "" otherwise."""
        if self.pairs is None:
            return ""
        n_pairs = len(drop_placeholders(self.pairs))
        if n_documents >= FEW * n_pairs:
            return ""
        return f"; {n_pairs - n_documents:,} of {format_count(n_pairs, 'pair')} are neither retrieved nor judged"

    def _describe_nothing(self) -> str:
        if self.pairs is None:
            return "no document excluded: none has the id of its query"
        return f"no document excluded: none of {format_count(len(self.pairs), 'pair')} is retrieved or judged"


def read_exclusion(given: Source | Exclusion) -> Exclusion:
    """Return what was given as an `Exclusion`, whose pairs are read when they are first needed."""
    if isinstance(given, Exclusion):
        return given
    return Exclusion(given)


def is_name(given: object) -> bool:
    """Tell whether something is what conventions call an exclusion, as saved evaluations have it."""
    return isinstance(given, str) and (given == SELF or SAVED_NAME.fullmatch(given) is not None)


def name_exclusion(given: Source | Exclusion) -> str:
    """Return what conventions call an exclusion; that of a saved evaluation is such a name already."""
    if isinstance(given, str) and SAVED_NAME.fullmatch(given):
        return given
    return str(read_exclusion(given))


def _read_table(source: Source) -> DocumentTable:
    """Return qrels or a run with the pairs of a source: numbers in it do not matter."""
    if isinstance(source, Qrels | Run):
        return source
    path = as_path(source)
    try:
        if path is None:
            return Qrels(_without_numbers(source), columns=_find_columns(source), name="exclude")
        columns = None
        if has_column(path, OF_BRIGHT):
            columns = _columns_of_bright(has_column(path, "id"))
        try:
            return Qrels(path, columns=columns)
        except SwappedFilesError:
            return Run(path)
    except SourceTypeError:
        raise ParameterError(argument="exclude", given=source, allowed=ALLOWED) from None
    except DataError as error:
        if path is not None:
            error.hint = _hint_of_file(path, error)
        raise


def _hint_of_file(path: Path, error: DataError) -> str | Advice | None:
    """Return what to do about a file that cannot be read as pairs; options of qrels and runs do not reach it."""
    hint = error.hint
    if not path.exists():
        own = "to leave out documents with the id of their query, write self"
        return f"{hint} Or, {own}" if hint else own
    if isinstance(hint, Advice) and hint.argument == "format" and hint.endings:
        return f"{hint.when}name the file {hint.endings}"
    is_of_columns = isinstance(hint, str) and any(word in hint for word in ("columns", "input-format"))
    has_other_rows = hint is None and isinstance(error, MalformedRowError)
    if isinstance(hint, Advice) or is_of_columns or has_other_rows:
        return "name the file .csv, and write the header query_id,doc_id above the pairs"
    return hint


def _without_numbers(source: Source) -> Source:
    """Return dicts as lists of documents, and rows of two ids with a number, which qrels need."""
    if isinstance(source, Mapping):
        return {
            query: list(docs) if isinstance(docs, Mapping | set | frozenset) else docs for query, docs in source.items()
        }
    if isinstance(source, list | tuple | set) and all(isinstance(row, tuple) and len(row) == 2 for row in source):
        return [(query, doc, 1) for query, doc in source]
    return source


def _find_columns(source: Source) -> Mapping[str, str] | None:
    """Return the columns of a table of BRIGHT's; None for any other source."""
    if isinstance(source, Mapping):
        return None
    from deadheat.core.io.frames import find_table, list_columns  # they need Narwhals

    names = list_columns(find_table(source, "exclude"), "exclude")
    if OF_BRIGHT not in names:
        return None
    return _columns_of_bright("id" in names)


def _columns_of_bright(has_id: bool) -> dict[str, str]:  # noqa: FBT001 - of a table
    if has_id:
        return {"query_id": "id", "doc_id": OF_BRIGHT}
    return {"doc_id": OF_BRIGHT}


def _join_earlier(qrels: Qrels, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs, with those that the qrels were without before."""
    earlier: pl.DataFrame | None = getattr(qrels, "excluded", None)
    if earlier is None:
        return pairs
    return pl.concat([earlier, pairs]).unique(maintain_order=True)


def _warn_of_relevant(run: Run, labels: pl.DataFrame) -> None:
    """Warn of documents with the id of their query that are judged relevant: perhaps ids only look alike."""
    relevant = labels.filter(pl.col("relevance") > 0)["query_id"].to_list()
    if not relevant:
        return
    count = format_count(len(relevant), "query", "queries")
    warnings.warn(
        f"{run.where}: {count} excluded as documents of their own list are judged relevant for themselves"
        f" ({format_list(relevant)}), and still count as relevant, as in BEIR. If ids of queries and of documents only"
        " look alike, exclude pairs instead",
        DeadheatWarning,
        stacklevel=5,
    )


def _warn_of_unmatched(run: Run, pairs: pl.DataFrame) -> None:
    """Warn of pairs of which none is retrieved or judged."""
    text = describe_unmatched(pairs, run)
    if text:
        warnings.warn(f"{run.where}: {text}", DeadheatWarning, stacklevel=5)
