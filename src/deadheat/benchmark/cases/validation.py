"""Validation: what the schema forbids, then what a schema cannot see."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from deadheat.benchmark.cases.documents import Document, read_document
from deadheat.benchmark.cases.findings import Finding, Validation, found_at, listed_lines
from deadheat.benchmark.cases.language import code_of, guess, known
from deadheat.benchmark.cases.model import LABELS, SMALL, Case, Cases
from deadheat.benchmark.cases.naming import FIELDS
from deadheat.benchmark.cases.pairing import check_pairs
from deadheat.benchmark.cases.reading import Reading, examine, label, quoted
from deadheat.benchmark.ontology import Ontology, read_ontology
from deadheat.data.tables import label_of
from deadheat.errors import DataError, MissingDependencyError
from deadheat.io.source import readable
from deadheat.wording import counted, did_you_mean, shown

NEEDED = {"case_id", "text", "expected_ids", "expected_hpo_ids", "relevance"}
_TYPES = {"string": "text", "integer": "a whole number", "number": "a number", "object": "an object", "array": "a list"}
_STRATA = "Other words make strata too, but none that other sets of cases share."
STANDARD = 200  # cases: fewer are good for development, and fewer than `SMALL` for a quick check
_HOW_TO_LABEL = {
    "difficulty": "Let people rate it easy, medium or hard: results can then be reported by it.",
    "category": "Write exact_match, synonym, abbreviation, layperson or complex: results can then be reported by it.",
    "domain": "Name the part of the collection that the case is about: results can then be reported by it.",
}


def validate(
    path: str | os.PathLike[str],
    *,
    ontology: str | os.PathLike[str] | Ontology | None = None,
    id_pattern: str | None = None,
    format: str | None = None,  # noqa: A002 - the word that users look for
    language: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Validation:
    """Find what is wrong with a file of labelled cases, and how to fix it.

    Errors are what `deadheat.read_cases` refuses: cases that cannot be used, or a file that is malformed. All else is a
    warning: what the JSON Schema does not allow, fields that nothing reads, missing labels, repeated texts,
    ids that the ontology lacks or marks as obsolete, texts that look like another language (a guess by
    py3langid, said only where it is clear), pairs across languages that ask for something else, and too few cases.

    Parameters
    ----------
    path : path-like
    ontology : path-like or Ontology, optional
        What the expected ids should be terms of.
    id_pattern, format, language, columns
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
    terms = ontology if ontology is None or isinstance(ontology, Ontology) else read_ontology(ontology)
    try:
        document = read_document(path, format, columns)
    except DataError as error:
        found = found_at(path, error.line, "malformed_file", error.told(has_place=False), level="error")
        return Validation(Path(path), label_of(path), 0, (found,), error)
    reading = examine(document, id_pattern=id_pattern, language=language)
    findings = [*reading.errors, *violations(reading, id_pattern=id_pattern), *check_fields(document)]
    cases = reading.cases
    for check in CHECKS:
        findings += check(document, cases)
    if terms is not None:
        findings += check_terms(document, cases, terms)
    return Validation(document.path, document.name, len(document.rows), tuple(findings))


def schema_text() -> str:
    """Return the JSON Schema as it is published with the package."""
    return files("deadheat.benchmark.cases").joinpath("schema.json").read_text(encoding="utf-8")


def violations(reading: Reading, *, id_pattern: str | None = None) -> Iterator[Finding]:
    """Yield what the schema forbids but reading accepts, once for each value, as warnings.

    Raises
    ------
    MissingDependencyError
        The package jsonschema is not installed.
    """
    document = reading.document
    found: dict[tuple[str, str, str], list[tuple[Any, int | None]]] = {}
    for error in _errors(document.value, id_pattern):
        keys = list(error.absolute_path)
        place, inside = _place(document, keys)
        if place is not None and (not inside or (place in reading.unusable and inside[0] in NEEDED)):
            continue  # reading refuses the case, with more detail
        field = ".".join(map(str, inside))
        group = (field, str(error.validator), json.dumps(error.instance, ensure_ascii=False))
        found.setdefault(group, []).append((error, _line(document, place, inside)))
    for (field, _, _), errors in found.items():
        yield _finding(document, field, errors[0][0], [line for _, line in errors])


def _errors(value: Any, id_pattern: str | None) -> Iterator[Any]:  # noqa: ANN401 - what JSON holds
    try:
        from jsonschema import Draft202012Validator
    except ImportError as error:
        raise MissingDependencyError(
            "checking against the JSON Schema needs the package jsonschema", hint="pip install 'deadheat[cases]'"
        ) from error
    schema = json.loads(schema_text())
    if id_pattern is not None:  # it replaces HPO's pattern, and reading has checked every id
        schema["$defs"]["hpo_id"] = {"type": "string"}
    yield from Draft202012Validator(schema).iter_errors(value)


def _place(document: Document, keys: Sequence[str | int]) -> tuple[int | None, list[str | int]]:
    """Return the place of the case that keys lead into, and the keys inside it; None if it is not about a case."""
    n = len(document.records.keys)
    if tuple(keys[:n]) == document.records.keys and len(keys) > n and isinstance(keys[n], int):
        return int(keys[n]), list(keys[n + 1 :])
    return None, list(keys)


def _line(document: Document, place: int | None, inside: Sequence[str | int]) -> int | None:
    if place is not None:
        return document.line_of(place, *inside)
    return document.records.json.line_of(inside) if document.records.json else None


def _finding(document: Document, field: str, error: Any, lines: Sequence[int | None]) -> Finding:  # noqa: ANN401 - jsonschema has no types
    given = quoted(error.instance)
    many = _in_cases(lines)
    message, advice = f"{field or 'the file'}: {error.message}{many}", ""
    if error.validator == "enum":
        allowed = [value for value in error.validator_value if value is not None]
        message = f"{field} is {given}{many}, expected one of {', '.join(allowed)}"
        advice = (did_you_mean(str(error.instance), allowed) or _STRATA).strip()
    elif error.validator == "type":
        named = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
        expected = " or ".join(_TYPES[name] for name in named if name in _TYPES)
        message = f"{field} is {given}{many}, expected {expected}"
        advice = "Write it in quotes." if "string" in named and isinstance(error.instance, int | float) else ""
    elif error.validator == "pattern":
        code = code_of(str(error.instance))
        message = f"{field} is {given}{many}, expected a code such as de or en"
        advice = f"Did you mean {code!r}?" if code else "Write its ISO 639 code."
    return found_at(document.path, lines[0], "schema", message, advice)


def half_width(n: int) -> float:
    """Return half the width of a 95% interval of a mean of `n` values from 0 to 1, at worst: half are 0, half 1.

    Examples
    --------
    >>> [round(half_width(n), 2) for n in (9, 50, 200, 500)]
    [0.33, 0.14, 0.07, 0.04]
    """
    return 1.96 * 0.5 / math.sqrt(n)


def check_fields(document: Document) -> Iterator[Finding]:
    """Yield the fields that are not read."""
    lines: dict[str, list[int]] = {}
    for row, line in zip(document.rows, document.lines, strict=True):
        for name in row:
            if name not in FIELDS or (name == "hpo_domain" and label(row.get("domain")) is not None):
                lines.setdefault(name, []).append(line)
    for name, own in lines.items():
        message = f"field {name!r} is not read{_in_cases(own)}"
        near = did_you_mean(name, FIELDS).strip() if name not in FIELDS else "Keep one of domain and hpo_domain."
        yield found_at(document.path, own[0], "unread_field", message, near)
    yield from _beside_cases(document)


def _beside_cases(document: Document) -> Iterator[Finding]:
    """Yield the keys of a JSON object beside its cases, where they are not read."""
    for name in document.value if document.records.json and isinstance(document.value, dict) else ():
        if name not in {"metadata", "$schema", *document.records.keys}:
            advice = did_you_mean(name, ["metadata"]).strip() or "Move it into metadata."
            line = document.records.json.line_of([name]) if document.records.json else None
            message = f"field {name!r} beside {document.records.keys[0]!r} is not read"
            yield found_at(document.path, line, "unread_field", message, advice)


def check_labels(document: Document, cases: Cases) -> Iterator[Finding]:
    """Yield the labels that cases lack, once for each label."""
    for name in LABELS:
        lacking = [case for case in cases if getattr(case, name) is None]
        if lacking:
            lack = f"{len(lacking):,} of {counted(len(cases), 'case')} lack"
            where = f" ({listed_lines([case.line for case in lacking])})"
            if len(lacking) == len(cases):
                lack, where = "all cases lack" if len(cases) > 1 else "the case lacks", ""
            advice = _HOW_TO_LABEL.get(name) or _how_to_name_language(document, lacking)
            yield found_at(document.path, None, "missing_label", f"{lack} a {name}{where}", advice)


def _how_to_name_language(document: Document, cases: Sequence[Case]) -> str:
    of_folder = code_of(document.path.absolute().parent.name)
    example = f", as the folder's name suggests: {of_folder}"
    if of_folder is None:
        likely = guess(". ".join(case.text for case in cases))
        example = f"; the texts look like {likely!r}" if likely else ", such as de"
    how = "Add a column language" if document.is_table else "Write it once, as metadata.language"
    return f"{how}, or give --language{example}. Languages are never evaluated together."


def check_expected(document: Document, cases: Cases) -> Iterator[Finding]:
    """Yield how many cases expect nothing."""
    if lines := [case.line for case in cases if not case.expected_ids]:
        message = f"{len(lines):,} of {counted(len(cases), 'case')} ({listed_lines(lines)}) expect nothing"
        advice = "They count as 0 in the mean of every measure: leave them out, unless that is meant."
        yield found_at(document.path, None, "nothing_expected", message, advice)


def check_grades(document: Document, cases: Cases) -> Iterator[Finding]:
    """Yield how many cases grade an expected id too low to be relevant for binary measures."""
    low = [case for case in cases if min(case.relevance, default=1.0) < 1]
    if low:
        message = (
            f"{len(low):,} of {counted(len(cases), 'case')} ({listed_lines([case.line for case in low])}): grades below"
            " 1 count in nDCG and other graded measures only: RR, Hit, P, R and AP take relevance >= 1 as relevant"
        )
        advice = "Write grades from 1 on for ids that a search should find."
        yield found_at(document.path, None, "low_grades", message, advice)


def check_texts(document: Document, cases: Cases) -> Iterator[Finding]:
    """Yield each text that several cases of one language have."""
    for group in cases.repeated_texts():
        lines = listed_lines([case.line for case in group])
        message = f"the text {shown(group[0].text)} appears {len(group)} times ({lines})"
        if len({frozenset(case.expected_ids) for case in group}) == 1:
            kind, advice = (
                "repeated_text",
                "Keep one: the others repeat its result, and count as if they were new.",
            )
        else:
            kind, message = "contradicting_text", f"{message}, with different expected ids"
            advice = "Keep one case with all of them: no ranking can satisfy both."
        case = group[1]
        yield found_at(document.path, case.line, kind, message, advice, case_id=case.case_id)


def check_language(document: Document, cases: Cases) -> Iterator[Finding]:
    """Yield the sets and single texts that do not look like their stated language; this is only a guess."""
    for language, part in cases.by_language().items():
        code = known(language)
        if code is None:
            continue
        other = guess(". ".join(part.texts()))
        if other not in {None, code}:
            message = f"the texts of language {language!r} look like {other!r} (a guess by py3langid)"
            yield found_at(document.path, None, "language", message, f"Check them; if so, write {other!r}.")
            continue
        for case in part:
            other = guess(case.text)
            if other in {None, code}:
                continue
            message = f"the text {shown(case.text)} of language {language!r} looks like {other!r} (a guess)"
            advice = f"Check it; if so, write language {other!r}."
            yield found_at(document.path, case.line, "language", message, advice, case_id=case.case_id)


def check_size(document: Document, cases: Cases) -> Iterator[Finding]:
    """Yield the languages that have too few cases for a sound conclusion."""
    for language, part in cases.by_language().items():
        n = len(part)
        if n < STANDARD:
            of = f" of language {language!r}" if language else ""
            message = (
                f"{counted(n, 'case')}{of}: the 95% interval of a mean can be as wide as"
                f" ± {half_width(n):.2f} (of a measure from 0 to 1)"
            )
            use = "Good for development." if n >= SMALL else "Good for a quick check only."
            advice = f"{use} Collect {STANDARD} for a conclusion (± {half_width(STANDARD):.2f}), 500 for a fine one."
            yield found_at(document.path, None, "few_cases", message, advice)


def check_independence(document: Document, cases: Cases) -> Iterator[Finding]:
    """Yield how many cases share an expected id with one of their language: what makes one hard makes the other so."""
    several = len(cases.languages) > 1
    for language, part in cases.by_language().items():
        seen: set[str] = set()
        sharing = []
        for case in part:
            if not seen.isdisjoint(case.expected_ids):
                sharing.append(case)
            seen.update(case.expected_ids)
        if sharing:
            n, lines = len(sharing), listed_lines([case.line for case in sharing])
            of = f"{counted(len(part), 'case')}{f' of language {language!r}' if several and language else ''}"
            message = f"{n:,} of {of} expect an id that an earlier case expects too ({lines})"
            advice = "They are not independent: use cluster intervals, one cluster for each expected id."
            yield found_at(document.path, None, "shared_ids", message, advice)


def _in_cases(lines: Sequence[int | None]) -> str:
    return f" in {len(lines):,} cases ({listed_lines(lines)})" if len(lines) > 1 else ""


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
    name = ontology.path.name if ontology.path else "the ontology"
    for term, own in expecting.items():
        kind, what, advice = _status(term, ontology, labels) or ("unknown_id", "is not", _named(own, names, labels))
        lines = "" if len(own) == 1 else f" ({listed_lines([case.line for case in own])})"
        message = f"expected id {term!r}{lines} {what} in {name}"
        yield found_at(document.path, own[0].line, kind, message, advice, case_id=own[0].case_id)


def _status(term: str, ontology: Ontology, labels: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Return why an id is not a current term, and how to fix it."""
    if term in ontology.alternatives:
        new = ontology.alternatives[term]
        return "merged_id", f"was merged into {_with_label(new, labels)}", f"Write {new!r}."
    if term in ontology.obsolete:
        instead = ontology.obsolete[term]
        choices = " or ".join(_with_label(new, labels) for new in instead)
        advice = f"Replace it by {choices}." if instead else "It names no replacement: leave it out, or choose a term."
        return "obsolete_id", "is obsolete", advice
    return None


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


CHECKS = (
    check_labels,
    check_expected,
    check_grades,
    check_texts,
    check_language,
    check_size,
    check_independence,
    check_pairs,
)
