"""Qrels with subtopics, as of TREC's diversity tasks: a row for each subtopic of a document."""

from __future__ import annotations

import polars as pl

from deadheat.wording import counted

SUBTOPIC = "subtopic"
NAMES = (SUBTOPIC, "subtopic_id", "iteration", "iter", "aspect", "intent")
"""Of a column with subtopics, nearest first; one that always holds the same has none."""


def split_off(rows: pl.DataFrame, where: object) -> tuple[pl.DataFrame, pl.DataFrame | None, tuple[str, ...]]:
    """Return the judgments without subtopics, those with them if there are several, and a note.

    Without subtopics, a document has the highest relevance that it has for one. A row that is there twice, with its
    subtopic, stays, so that it is found as a duplicate.

    Parameters
    ----------
    rows : polars.DataFrame
        query_id, doc_id, subtopic and relevance.
    where : object
        Where they are from, for the note.
    """
    plain = rows.drop(SUBTOPIC)
    n_topics = rows[SUBTOPIC].n_unique()
    if n_topics < 2 or rows.select("query_id", "doc_id", SUBTOPIC).is_duplicated().any():
        return plain, None, ()
    highest = plain.group_by("query_id", "doc_id", maintain_order=True).agg(pl.col("relevance").max())
    n_merged = len(plain) - len(highest)
    merged = f", {counted(n_merged, 'row')} merged" if n_merged else ""
    note = f"{where} has {n_topics} subtopics; without them a document has its highest relevance{merged}"
    return highest, rows.with_columns(pl.col(SUBTOPIC).fill_null("")), (note,)
