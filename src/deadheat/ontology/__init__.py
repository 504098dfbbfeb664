"""Ontologies: their terms, how similar these are, and judgments made of that."""

from deadheat.ontology._chance import Chance
from deadheat.ontology._kinds import KINDS
from deadheat.ontology._ontology import Ontology
from deadheat.ontology._reading import read_ontology
from deadheat.ontology._terms import Synonym

__all__ = ["KINDS", "Chance", "Ontology", "Synonym", "read_ontology"]
