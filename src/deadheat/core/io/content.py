"""What a file or an object holds: rows, and what was noticed in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from deadheat.core.io.list_order import ListOrder
from deadheat.core.io.nested import Nested
from deadheat.core.io.notes import Notes
from deadheat.core.io.results import Listing
from deadheat.core.libraries import polars as pl

if TYPE_CHECKING:
    import narwhals as nw

    from deadheat.core.io.id_columns import IdRuns
    from deadheat.core.io.lazy import Reading

FEWEST_ORDERED = 3  # documents of a query from which an order says something
COMPARED_ROWS = 20_000  # of a run, in which ranks are compared with scores


@dataclass(frozen=True)
class Content:
    """What a file or an object holds.

    Attributes
    ----------
    rows : dict of dict, polars.DataFrame, narwhals.LazyFrame or pathlib.Path
        The numbers of a dict are not yet checked. A lazy frame is in an engine, or in a file that is not in memory. A
        path is that of a TREC run that is larger than memory.
    notes : tuple of str or Ranked
        What was assumed or skipped, for people.
    ranks : polars.DataFrame or None
        query_id, rank and score of the first rows of a run that has both.
    subtopics : polars.DataFrame or None
        query_id, doc_id, subtopic and relevance of qrels that have several subtopics.
    unanswerable : tuple of str
        Queries that qrels call unanswerable, sorted.
    hashes : polars.Series or None
        Those of the document ids, by :func:`~deadheat.core.io.id_hashes.hash_doc_ids`, if the reader computed them.
    query_runs : IdRuns or None
        Which adjacent rows of a frame are of one query, if the reader found that out.
    reading : Reading or None
        How the rows of a lazy frame are to be read, if they are not yet checked.
    is_trec : bool
        Whether these are rows as TREC has them.
    read_by : str
        The service that is to read the file instead, by its ``content_of_qrels``; empty if the content is complete.
    judged_by : str
        The service whose ``RULE`` says how the judgments count; empty for judgments of documents.
    list_order : {"rise", "fall"}, optional
        Whether the scores of every list of a run rise from its first result to its last, or fall; None if they do
        neither, or if all lists are so short that it may be chance.
    columns : mapping of str to str
        Those that were read, from canonical name to name in the source; empty for a source without names.
    """

    rows: Nested | pl.DataFrame | nw.LazyFrame[Any] | Path
    notes: Notes = ()
    ranks: pl.DataFrame | None = None
    subtopics: pl.DataFrame | None = None
    unanswerable: tuple[str, ...] = ()
    hashes: pl.Series | None = None
    query_runs: IdRuns | None = None
    reading: Reading | None = None
    is_trec: bool = False
    read_by: str = ""
    judged_by: str = ""
    list_order: ListOrder | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_lists(cls, listing: Listing, columns: Mapping[str, str] | None = None) -> Self:
        """Return the documents that were in lists, perhaps in a column of a table."""
        order = listing.order if listing.longest >= FEWEST_ORDERED else None
        content = cls(listing.documents, listing.notes, list_order=order, columns=columns or {})
        if not listing.groups:
            return content
        query_ids, doc_ids, groups = zip(*listing.groups, strict=True)
        subtopics = pl.DataFrame(
            {"query_id": query_ids, "doc_id": doc_ids, "subtopic": groups, "relevance": [1.0] * len(groups)}
        )
        return replace(content, subtopics=subtopics, judged_by="groups")
