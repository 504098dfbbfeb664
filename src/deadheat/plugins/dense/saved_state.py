"""The file in which an accumulator keeps its state."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from deadheat.core.evaluation.documents import DocumentKind
from deadheat.core.evaluation.packed_tables import ENCODING, SCHEMAS, packed, unpacked_columns
from deadheat.core.evaluation.shapes import (
    FLAG,
    TEXT,
    TEXTS,
    WHOLE_OR_NONE,
    Fields,
    NoneOr,
    OfConventions,
)
from deadheat.core.libraries import polars as pl
from deadheat.core.settings import Conventions
from deadheat.plugins.dense.counting import Counted
from deadheat.plugins.dense.lists import Lists

STATE_TABLES: dict[str, dict[str, type[pl.DataType]]] = {
    "queries": {"query_id": pl.String, "n_retrieved": pl.Int64},
    "judged": SCHEMAS["retrieved"],  # those that were not have tied 0
}
PLACES: dict[str, type[pl.DataType]] = dict.fromkeys(("query", "document", "above", "tied"), pl.Int32)
DOCUMENTS: dict[str, type[pl.DataType]] = {"doc_id": pl.String}
STATE = DocumentKind(
    "deadheat accumulator",
    1,
    "the state of an accumulator",
    "Accumulator.save writes one",
    Fields(
        {
            "measures": TEXTS,
            "conventions": OfConventions(),
            "numbered": NoneOr(FLAG),
            "data": NoneOr(Fields({"queries": TEXT, "judged": TEXT}, {"lists": TEXT, "documents": TEXT})),
        },
        {"items": WHOLE_OR_NONE},
    ),
)


def tables_of(counts: Counted) -> dict[str, str]:
    """Return what was counted as tables that a document can hold."""
    columns = {one.name: getattr(counts, one.name) for one in fields(Counted)}
    columns |= {"query_id": counts.query_ids.tolist(), "doc_id": counts.doc_ids.tolist()}
    tables = {name: packed({one: columns[one] for one in schema}, schema) for name, schema in STATE_TABLES.items()}
    if counts.lists is not None:
        tables |= {
            "documents": packed({"doc_id": counts.lists.doc_ids.tolist()}, DOCUMENTS),
            "lists": packed({name: getattr(counts.lists, name) for name in PLACES}, PLACES),
        }
    return {"encoding": ENCODING, **tables}


def state_of(
    document: dict[str, Any],
) -> tuple[list[str], Conventions, bool | None, int | None, Counted | None]:
    """Return the measures, the conventions, whether queries are numbered, the depth of lists, and what was counted."""
    data, depth, found = document["data"], document.get("items"), None
    if data is not None:
        tables = [unpacked_columns(data[name], name, schema) for name, schema in STATE_TABLES.items()]
        found = Counted(**tables[0], **tables[1])
        if depth is not None:
            lists = unpacked_columns(data["lists"], "places", PLACES)
            lists |= unpacked_columns(data["documents"], "documents", DOCUMENTS)
            found = replace(found, lists=Lists(query_ids=found.query_ids, depth=depth, **lists))
    return list(document["measures"]), Conventions(**document["conventions"]), document["numbered"], depth, found
