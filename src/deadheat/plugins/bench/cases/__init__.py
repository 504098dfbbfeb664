"""Labelled cases: texts with the ids that a search for each of them should find; read, checked, summarised."""

from deadheat.plugins.bench.cases.model import LABELS, SMALL, Case, Cases, summarise
from deadheat.plugins.bench.cases.reading import Finding, content_of_qrels, read_cases
from deadheat.plugins.bench.cases.texts import folded
from deadheat.plugins.bench.cases.validation import STANDARD, Validation, half_width, schema_text, validate

__all__ = [
    "LABELS",
    "SMALL",
    "STANDARD",
    "Case",
    "Cases",
    "Finding",
    "Validation",
    "content_of_qrels",
    "folded",
    "half_width",
    "read_cases",
    "schema_text",
    "summarise",
    "validate",
]
