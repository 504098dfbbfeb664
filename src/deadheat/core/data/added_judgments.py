"""What people write: a file of unjudged documents, filled in as far as they got, that is added to qrels."""

from __future__ import annotations

from pathlib import Path

from deadheat.core.data.qrels import Qrels
from deadheat.core.errors import DataError, DuplicateError
from deadheat.core.io.columns import check_column
from deadheat.core.io.kinds import KEYS
from deadheat.core.io.records import Wanted, as_text, as_written, read_records
from deadheat.core.io.spreadsheets import unguard_text
from deadheat.core.io.values import read_value
from deadheat.core.libraries import polars as pl

COLUMNS = (*KEYS, "relevance")
WANTED = Wanted(what="judgments", expected="a list of objects with query_id, doc_id and relevance", number=as_written)


def add_judgments(qrels: Qrels, path: Path) -> tuple[pl.DataFrame, int, int]:
    """Return qrels with the judgments of a file such as `deadheat holes --judge` writes; empty rows are left out.

    Parameters
    ----------
    qrels : Qrels
    path : pathlib.Path
        A table with the columns query_id, doc_id and relevance, and any others.

    Returns
    -------
    frame : polars.DataFrame
        query_id, doc_id and relevance: the rows of the qrels, then the new ones.
    n_added, n_open : int
        Rows with a relevance, and rows that have none yet.

    Raises
    ------
    ColumnError
        A column is missing.
    DataError
        A relevance is no number, or no row has one.
    DuplicateError
        A document is in the qrels already, or twice in the file.
    """
    records = read_records(path, wanted=WANTED)
    for name in COLUMNS:
        check_column(name, records.columns, path)
    judged = qrels.to_polars().select(*COLUMNS)
    known = set(judged.select("query_id", "doc_id").iter_rows())
    new: list[tuple[str, str, float]] = []
    for place, row in enumerate(records.frame.select(*COLUMNS).iter_rows()):
        query, document, answer = ((as_text(field) or "").strip() for field in row)
        query, document = unguard_text(query), unguard_text(document)
        if not answer:
            continue
        line = records.line(place)
        if (query, document) in known:
            raise DuplicateError(
                f"document {document!r} of query {query!r} is judged already, in {qrels.where} or above",
                path=path,
                line=line,
            )
        known.add((query, document))
        new.append((query, document, read_value(answer, "qrels", path=path, line=line)))
    if not new:
        raise DataError("no row has a relevance: nothing is judged yet", path=path)
    frame = pl.concat([judged, pl.DataFrame(new, schema=judged.schema, orient="row")])
    return frame, len(new), len(records.frame) - len(new)
