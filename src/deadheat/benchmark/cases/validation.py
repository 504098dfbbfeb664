"""Validation: the schema first, then what a schema cannot see."""

from __future__ import annotations

import os
from pathlib import Path

from deadheat.benchmark.cases.checks import (
    check_fields,
    check_grades,
    check_independence,
    check_labels,
    check_language,
    check_size,
    check_texts,
)
from deadheat.benchmark.cases.documents import read_document
from deadheat.benchmark.cases.findings import Finding, Validation
from deadheat.benchmark.cases.reading import examine
from deadheat.benchmark.cases.schema import violations
from deadheat.benchmark.cases.terms import check_terms
from deadheat.benchmark.ontology import Ontology
from deadheat.data.tables import label_of
from deadheat.errors import DataError
from deadheat.io.source import readable


def validate(
    path: str | os.PathLike[str],
    *,
    ontology: str | os.PathLike[str] | Ontology | None = None,
    id_pattern: str | None = None,
    format: str | None = None,  # noqa: A002 - the word that users look for
    language: str | None = None,
) -> Validation:
    """Find what is wrong with a file of labelled cases, and how to fix it.

    Errors are what `deadheat.read_cases` refuses: cases that cannot be used, or a file that is malformed. All else is a
    warning: what the JSON Schema does not allow, fields that nothing reads, missing labels, repeated texts,
    ids that the ontology lacks or marks as obsolete, texts that look like another language (a guess by
    py3langid, said only where it is clear), and too few cases.

    Parameters
    ----------
    path : path-like
    ontology : path-like or Ontology, optional
        What the expected ids should be terms of.
    id_pattern, format, language : str, optional
        As for `deadheat.read_cases`.

    Returns
    -------
    Validation

    Raises
    ------
    DataError
        There is no such file, or the ontology cannot be read.
    MissingDependencyError
        The package jsonschema or py3langid is not installed: ``pip install 'deadheat[cases]'``.
    """
    path = readable(path)
    terms = _terms_of(ontology)
    try:
        document = read_document(path, format)
    except DataError as error:
        place = str(path) if error.line is None else f"{path}:{error.line}"
        message = error.told(has_place=False)
        found = Finding("error", place, "", message, "", "malformed_file", error.line)
        return Validation(Path(path), label_of(path), 0, (found,), error)
    reading = examine(document, id_pattern=id_pattern, language=language)
    findings = [*reading.errors, *violations(reading, id_pattern=id_pattern), *check_fields(document)]
    cases = reading.cases
    for check in (check_labels, check_grades, check_texts, check_language, check_size, check_independence):
        findings += check(document, cases)
    if terms is not None:
        findings += check_terms(document, cases, terms)
    return Validation(document.path, document.name, len(document.rows), tuple(findings))


def _terms_of(ontology: str | os.PathLike[str] | Ontology | None) -> Ontology | None:
    if ontology is None:
        return None
    from deadheat.benchmark.ontology import Ontology, read_ontology

    return ontology if isinstance(ontology, Ontology) else read_ontology(ontology)
