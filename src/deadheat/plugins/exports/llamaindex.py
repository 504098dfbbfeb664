"""LlamaIndex's data set of questions, as an object and as it is saved: queries, corpus, and the relevant_docs of each.

Evaluators of sentence-transformers take the same three dicts. Results (``RetrievalEvalResult``) are rows with
``expected_ids`` and ``retrieved_ids``, which the core reads; nodes are a line in `forms`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from deadheat.core.io.columns import refuse_columns
from deadheat.core.io.content import Content
from deadheat.core.io.documents import Document, read_export, register_document
from deadheat.core.io.kinds import Kind
from deadheat.core.io.result_parts import get_member
from deadheat.core.io.results import Listing, Reader
from deadheat.core.io.sources import RECOGNISERS
from deadheat.core.wording import format_count, format_list

PARTS = ("queries", "corpus", "relevant_docs")
RESULTS = "write dh.Run.of_results({query_id: retriever.retrieve(text) for query_id, text in dataset.queries.items()})"


def is_data_set(source: object) -> bool:
    """Return whether an object or a dict has the three dicts of a data set."""
    return all(isinstance(get_member(source, name), Mapping) for name in PARTS)


@register_document("a data set of questions", "qrels", is_data_set, instead=RESULTS)
def _read_data_set(held: Document, where: str) -> Listing:
    """Read the relevant documents of each query."""
    queries, corpus, relevant_docs = (held[name] for name in PARTS)
    listing = Reader("qrels", where).read(relevant_docs)
    notes = [*listing.notes]
    without = [str(query) for query in queries if query not in relevant_docs]
    if without:
        count = format_count(len(without), "query without relevant_docs is", "queries without relevant_docs are")
        notes.append(f"{count} left out: {format_list(without)}")
    absent = _list_absent(listing.documents.values(), {str(doc) for doc in corpus})
    if absent:
        count = format_count(len(absent), "relevant document is", "relevant documents are")
        notes.append(f"{count} not in the corpus of the data set: {format_list(absent)}")
    return replace(listing, notes=tuple(notes))


def _list_absent(documents_of_queries: Iterable[Mapping[Any, Any]], corpus: set[str]) -> list[str]:
    """Return the documents that a corpus lacks, each once."""
    absent: dict[str, None] = {}  # a dict, which keeps their order
    for documents in documents_of_queries:
        for doc in documents:
            if str(doc) not in corpus:
                absent[str(doc)] = None
    return list(absent)


def read_data_set(source: Any, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:  # noqa: ANN401 - anything
    """Read an ``EmbeddingQAFinetuneDataset``."""
    if not is_data_set(source):
        return None
    refuse_columns(given, kind, "a data set of questions")
    listing = read_export({name: getattr(source, name) for name in PARTS}, kind, where)
    return None if listing is None else Content.of_lists(listing)


RECOGNISERS.append(read_data_set)
