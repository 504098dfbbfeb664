"""Ontologies: their terms, how similar these are, and judgments made from that."""

from deadheat.plugins.bench.ontology.graph import KINDS
from deadheat.plugins.bench.ontology.names import LABEL, Synonym, listed
from deadheat.plugins.bench.ontology.ontology import Ontology
from deadheat.plugins.bench.ontology.reading import read_ontology
from deadheat.plugins.bench.ontology.translations import ORIGINAL, Translation, Translations, read_translations

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
