"""Judgments that people wrote into a file of unjudged documents, as far as they got, added to qrels."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True)
class AddedJudgments:
    """Qrels with the judgments of a file.

    Attributes
    ----------
    frame : polars.DataFrame
        query_id, doc_id and relevance: the rows of the qrels, then the new ones.
    n_added : int
        Rows of the file with a relevance.
    n_open : int
        Rows of the file that have none yet.
    """

    frame: pl.DataFrame
    n_added: int
    n_open: int


def add_judgments(qrels: Qrels, path: Path) -> AddedJudgments:
    """Return qrels with the judgments of a file such as `deadheat holes --judge` writes; empty rows are left out.

    Parameters
    ----------
    qrels : Qrels
    path : pathlib.Path
        A table with the columns query_id, doc_id and relevance, and any others.

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
    judgments = qrels.to_polars().select(*COLUMNS)
    judged = set(judgments.select(*KEYS).iter_rows())
    added: list[tuple[str, str, float]] = []
    for place, cells in enumerate(records.frame.select(*COLUMNS).iter_rows()):
        query, document, relevance = (_read_cell(cell) for cell in cells)
        if not relevance:
            continue
        query = unguard_text(query)
        document = unguard_text(document)
        line = records.line(place)
        if (query, document) in judged:
            raise DuplicateError(
                f"document {document!r} of query {query!r} is judged already, in {qrels.where} or above",
                path=path,
                line=line,
            )
        judged.add((query, document))
        added.append((query, document, read_value(relevance, "qrels", path=path, line=line)))
    if not added:
        raise DataError("no row has a relevance: nothing is judged yet", path=path)
    frame = pl.concat([judgments, pl.DataFrame(added, schema=judgments.schema, orient="row")])
    return AddedJudgments(frame, n_added=len(added), n_open=len(records.frame) - len(added))


def _read_cell(cell: object) -> str:
    """Return a cell as text without blanks around it; an empty one as ""."""
    return (as_text(cell) or "").strip()
