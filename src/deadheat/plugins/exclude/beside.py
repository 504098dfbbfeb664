"""Excluded pairs, a table beside the judgments that they were left out of; no measure looks at it."""

from deadheat.core.libraries import polars as pl
from deadheat.core.placements.beside import BesideTable, TableForm, add_beside

FORM = TableForm("excluded", lambda: {"query_id": pl.String, "doc_id": pl.String})
add_beside(BesideTable("excluded", FORM))
