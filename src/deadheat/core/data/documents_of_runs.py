"""Which documents the rows of a run are of: those of chunks, and each once for a query."""

from __future__ import annotations

import shlex

from deadheat.core.data.document_table import DocumentTable
from deadheat.core.data.unread_rows import LazyRows
from deadheat.core.errors import Advice, DataError
from deadheat.core.io.chunk_ids import DocIdOf, find_separator
from deadheat.core.io.duplicates import MERGING, note_left_out
from deadheat.core.io.guarding import guard_polars
from deadheat.core.wording import format_count, format_list

NOTE_OF_TRUST = "documents that come twice were not looked for, by duplicates='trust', as asked"


def name_documents(run: DocumentTable, doc_id_of: str) -> None:
    """Give each row the id of the document that its chunk is of, and note which ids stay as they are."""
    documents = DocIdOf.of(doc_id_of)
    run.doc_id_of = doc_id_of
    if isinstance(run.rows, LazyRows):
        run.rows.check_has_first(run.duplicates)
    with guard_polars(run.where):
        named = run.rows.name_documents(documents)
    run.rows = named.rows
    if named.n_chunks == 0:
        examples = run.rows.sample_documents(3)
        separator = find_separator(examples)
        raise DataError(
            "no id of a document is that of a chunk",
            beside={"doc_id_of": doc_id_of},
            found=format_list([repr(doc) for doc in examples]),
            hint=_advise_on_documents(run) if separator is None else Advice("doc_id_of", separator),
            path=run.where,
        )
    note = f"documents are those of chunks by doc_id_of={doc_id_of!r}, as asked"
    if named.n_chunks is not None and named.n_chunks < named.n_results:
        n_others = named.n_results - named.n_chunks
        note += f"; {n_others:,} of {format_count(named.n_results, 'result')} have another id, which stays"
    run.notes = (*run.notes, note)


def merge_documents(run: DocumentTable) -> None:
    """Leave one row of each document of a query if the run's rule says so, and note how many are left out.

    Under "trust" nobody looks, and a note says so.
    """
    notes = [note for note in run.notes if note != NOTE_OF_TRUST]
    if run.duplicates == "trust":
        notes.append(NOTE_OF_TRUST)
    run.notes = tuple(notes)
    if run.duplicates not in MERGING:
        return
    with guard_polars(run.where):
        merged = run.rows.merge(run.duplicates)
    run.rows = merged.rows
    if merged.n_left_out:
        run.notes = (*run.notes, note_left_out(merged.n_left_out, merged.n_results, run.duplicates))


def _advise_on_documents(run: DocumentTable) -> str:
    """Say how a run of documents goes with runs of chunks."""
    rule = f"--doc-id-of {shlex.quote(str(run.doc_id_of))} --duplicates {run.duplicates}"
    return (
        "a run of documents needs none, and runs of chunks beside it become documents by deadheat convert CHUNKS OUT"
        f" {rule}"
    )
