"""Ontologies: their terms, how similar these are, and judgments made from that."""

from deadheat.benchmark.ontology.kinds import KINDS
from deadheat.benchmark.ontology.ontology import Chance, Ontology
from deadheat.benchmark.ontology.reading import read_ontology
from deadheat.benchmark.ontology.terms import Synonym

__all__ = ["KINDS", "Chance", "Ontology", "Synonym", "read_ontology"]
