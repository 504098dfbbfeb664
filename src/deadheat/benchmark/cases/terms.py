"""Expected ids against an ontology: which are missing from it, and which are obsolete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from deadheat.benchmark.cases.documents import Document
from deadheat.benchmark.cases.findings import Finding, listed_lines
from deadheat.benchmark.cases.model import Case, Cases
from deadheat.benchmark.ontology import Ontology
from deadheat.wording import shown


def check_terms(document: Document, cases: Cases, ontology: Ontology) -> Iterator[Finding]:
    """Yield each expected id that is not a term of an ontology, once, with the cases that expect it."""
    expecting: dict[str, list[Case]] = {}
    for case in cases:
        for term in case.expected_ids:
            if term not in ontology:
                expecting.setdefault(term, []).append(case)
    if not expecting:
        return
    labels = dict(zip(ontology.ids, ontology.labels, strict=True))
    names = _names(ontology)
    for term, own in expecting.items():
        kind, what, advice = _status(term, ontology, labels) or _unknown(ontology, _named(own, names, labels))
        lines = "" if len(own) == 1 else f" ({listed_lines([case.line for case in own])})"
        message = f"expected id {term!r}{lines} {what}"
        yield Finding("warning", document.where(own[0].line), own[0].case_id, message, advice, kind, own[0].line)


def _status(term: str, ontology: Ontology, labels: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Return why an id is not a current term, and how to fix it."""
    if term in ontology.alternatives:
        new = ontology.alternatives[term]
        return "merged_id", f"was merged into {_with_label(new, labels)} in {_name(ontology)}", f"Write {new!r}."
    if term in ontology.obsolete:
        instead = ontology.obsolete[term]
        choices = " or ".join(_with_label(new, labels) for new in instead)
        advice = f"Replace it by {choices}." if instead else "It names no replacement: leave it out, or choose a term."
        return "obsolete_id", f"is obsolete in {_name(ontology)}", advice
    return None


def _unknown(ontology: Ontology, advice: str) -> tuple[str, str, str]:
    return "unknown_id", f"is not in {_name(ontology)}", advice


def _name(ontology: Ontology) -> str:
    return ontology.path.name if ontology.path else "the ontology"


def _named(cases: list[Case], names: Mapping[str, str], labels: Mapping[str, str]) -> str:
    """Suggest the term whose name matches a case, if there is one."""
    for case in cases:
        for said in (case.description, case.text):
            found = names.get(said.strip().casefold())
            if found is not None:
                return f"{shown(said)} is a name of {_with_label(found, labels)}: is that meant?"
    return "No document has it, so nothing can find it: correct it, or use the version of the ontology that has it."


def _names(ontology: Ontology) -> dict[str, str]:
    """Return the term of each label and exact synonym."""
    synonyms = {
        synonym.text.casefold(): term
        for term, own in zip(ontology.ids, ontology.synonyms, strict=True)
        for synonym in own
        if synonym.scope == "EXACT"
    }
    labels = zip(ontology.ids, ontology.labels, strict=True)
    return synonyms | {label.casefold(): term for term, label in labels if label}


def _with_label(term: str, labels: Mapping[str, str]) -> str:
    return f"{term} ({labels[term]})" if labels.get(term) else term
