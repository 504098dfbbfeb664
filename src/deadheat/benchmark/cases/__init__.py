"""Labelled cases: texts with the ids that a search for each of them should find; read, checked, summarised."""

from deadheat.benchmark.cases.findings import Finding, Validation
from deadheat.benchmark.cases.model import LABELS, SMALL, Case, Cases, folded
from deadheat.benchmark.cases.reading import read_cases
from deadheat.benchmark.cases.summary import Part, summarise
from deadheat.benchmark.cases.validation import schema_text, validate

__all__ = [
    "LABELS",
    "SMALL",
    "Case",
    "Cases",
    "Finding",
    "Part",
    "Validation",
    "folded",
    "read_cases",
    "schema_text",
    "summarise",
    "validate",
]
