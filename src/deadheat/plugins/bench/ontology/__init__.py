"""Ontologies: their terms, how similar these are, and judgments made from that."""

from deadheat.plugins.bench.ontology.graph import (
    KINDS,
    LABEL,
    ORIGINAL,
    Synonym,
    Translation,
    Translations,
    listed,
    read_translations,
)
from deadheat.plugins.bench.ontology.ontology import Ontology
from deadheat.plugins.bench.ontology.reading import read_ontology

__all__ = [
    "KINDS",
    "LABEL",
    "ORIGINAL",
    "Ontology",
    "Synonym",
    "Translation",
    "Translations",
    "listed",
    "read_ontology",
    "read_translations",
]
