"""Judgments that are added to qrels: a file of unjudged documents, filled in as far as people got."""

from pathlib import Path

import polars as pl

from deadheat.data.tables import Qrels
from deadheat.errors import ColumnError, DataError, DuplicateError
from deadheat.io.records import Wanted, as_text, read_records
from deadheat.io.values import read_value

COLUMNS = ("query_id", "doc_id", "relevance")
WANTED = Wanted(what="judgments", expected="a list of objects with query_id, doc_id and relevance", as_written=True)


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
        A relevance is no number.
    DuplicateError
        A document is in the qrels already, or twice in the file.
    DataError
        No row has a relevance.
    """
    records = read_records(path, wanted=WANTED)
    lacking = [name for name in COLUMNS if name not in records.columns]
    if lacking:
        raise ColumnError(f"no column {', '.join(lacking)}", given=records.columns, path=path)
    judged = qrels.to_polars().select(*COLUMNS)
    known = set(judged.select("query_id", "doc_id").iter_rows())
    new: list[tuple[str, str, float]] = []
    for place, row in enumerate(records.frame.select(*COLUMNS).iter_rows()):
        query, document, answer = ((as_text(field) or "").strip() for field in row)
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
