"""Labelled cases: texts with the ids that a search for each of them should find; read, checked, summarised."""

from deadheat.cases._findings import Finding, Validation
from deadheat.cases._model import LABELS, SMALL, Case, Cases, folded
from deadheat.cases._reading import read_cases
from deadheat.cases._schema import schema_text
from deadheat.cases._summary import Part, summarise
from deadheat.cases._validation import validate

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
