"""Answers of a judge that are no grade, a table beside the judgments; no measure looks at it."""

from deadheat.core.libraries import polars as pl
from deadheat.core.placements.beside import BesideTable, TableForm, add_beside

FORM = TableForm("failures", lambda: {"query_id": pl.String, "doc_id": pl.String, "answer": pl.String}, {"answer"})
add_beside(BesideTable("failures", FORM))
