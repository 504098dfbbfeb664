"""Ontologies: their terms, how similar these are, and judgments made from that."""

from deadheat.benchmark.ontology.judging import Chance
from deadheat.benchmark.ontology.kinds import KINDS
from deadheat.benchmark.ontology.ontology import Ontology
from deadheat.benchmark.ontology.reading import read_ontology
from deadheat.benchmark.ontology.terms import Synonym
from deadheat.benchmark.ontology.translations import LABEL, ORIGINAL, Translation, Translations, read_translations

__all__ = [
    "KINDS",
    "LABEL",
    "ORIGINAL",
    "Chance",
    "Ontology",
    "Synonym",
    "Translation",
    "Translations",
    "read_ontology",
    "read_translations",
]
