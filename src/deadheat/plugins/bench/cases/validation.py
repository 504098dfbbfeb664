"""Validation: what the schema forbids, then rules for what a schema cannot see."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from deadheat.core.data.sources import make_label
from deadheat.core.errors import DataError
from deadheat.core.io.files import check_readable
from deadheat.core.libraries import import_package
from deadheat.core.phases import phase
from deadheat.core.report.model import Column, Fact, Report, Table, prose_fact, tabulate
from deadheat.core.structures import group_values
from deadheat.core.wording import did_you_mean, format_count, quote_text
from deadheat.plugins.bench.cases.model import LABELS, SMALL, Case, Cases, label, summarise
from deadheat.plugins.bench.cases.reading import (
    FIELDS,
    IDS,
    CaseFile,
    Finding,
    examine,
    finding,
    language_in_name,
    quoted,
)
from deadheat.plugins.bench.languages import code_of, guess, known
from deadheat.plugins.bench.ontology import Ontology, read_ontology

_TYPES = {"string": "text", "integer": "a whole number", "number": "a number", "object": "an object", "array": "a list"}

STANDARD = 200  # cases: fewer are good for development, and fewer than `SMALL` for a quick check
EXPLANATION = (
    "distinct ids: fewer than ids where cases expect the same; these are not independent, and cluster intervals allow"
    " for it. repeated texts: cases whose text an earlier case has."
)
_HOW_TO_LABEL = {
    "difficulty": "Let people rate it easy, medium or hard: results can then be reported by it.",
    "category": "Write exact_match, synonym, abbreviation, layperson or complex: results can then be reported by it.",
    "domain": "Name the part of the collection that the case is about: results can then be reported by it.",
    "language": "Write it once, as metadata.language, or in a column language, or give --language, such as de."
    " Languages are never evaluated together.",
}


@dataclass(frozen=True)
class Validation:
    """What `validate` found in a file of cases.

    Attributes
    ----------
    path : pathlib.Path
    name : str
    n_cases : int
        All cases of the file, including unusable ones.
    findings : tuple of Finding
        Errors first.
    cause : DataError or None
        The error behind the only finding, if the file cannot be read.
    cases : Cases or None
        Those of a usable file.
    """

    path: Path
    name: str
    n_cases: int
    findings: tuple[Finding, ...]
    cause: DataError | None = None
    cases: Cases | None = None

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make a case, or the file, unusable."""
        return tuple(one for one in self.findings if one.level == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The other findings."""
        return tuple(one for one in self.findings if one.level == "warning")

    @property
    def is_usable(self) -> bool:
        """Whether `deadheat.read_cases` reads the file."""
        return not self.errors

    def told(self, message: str) -> Self:
        """Return what was found, with the error of an unreadable file in other words."""
        return replace(self, findings=tuple(replace(one, message=message) for one in self.findings))


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
    path = check_readable(path)
    terms = ontology if ontology is None or isinstance(ontology, Ontology) else read_ontology(ontology)
    try:
        with phase(f"reading {path.name}"):
            file = examine(path, id_pattern=id_pattern, format=format, language=language, columns=columns, terms=terms)
    except DataError as error:
        return Validation(
            Path(path),
            make_label(path),
            0,
            (finding(path, error.line, "malformed_file", error.sentence(has_place=False), level="error"),),
            error,
        )
    warnings: list[Finding] = []
    with phase(f"checking {path.name}"):
        for find in RULES:
            warnings += find(file)
        if terms is not None:
            warnings += _unknown_terms(file, terms)
    usable = None if file.errors else file.cases
    return Validation(path, file.name, len(file.rows), (*file.errors, *warnings), cases=usable)


def schema_text() -> str:
    """Return the JSON Schema as it is published with the package."""
    return files("deadheat.plugins.bench.cases").joinpath("schema.json").read_text(encoding="utf-8")


def _violations(file: CaseFile) -> Iterator[Finding]:
    """Find what the schema forbids but reading accepts, once for each value."""
    validator = import_package(
        "jsonschema", "checking against the JSON Schema needs the package jsonschema", "cases"
    ).Draft202012Validator
    defs = json.loads(schema_text())["$defs"]
    defs["hpo_id"] = {"type": "string"}  # reading has checked every id
    of = {name: validator({**defs[name], "$defs": defs}) for name in ("metadata", "case")}
    source = file.records.json
    found: dict[tuple[str, str, str], list[tuple[Any, int | None]]] = {}
    for one in of["metadata"].iter_errors(file.records.metadata):
        keys = ["metadata", *one.absolute_path]
        found[".".join(map(str, keys)), one.validator, ""] = [(one, source.line_of(keys) if source else None)]
    with phase("comparing with the schema", len(file.rows)) as advance:
        for place, row in enumerate(file.rows):
            for one in of["case"].iter_errors(row):
                keys = list(one.absolute_path)
                # reading refuses a case for these
                if keys and not (place in file.unusable and keys[0] in {"case_id", "text", *IDS, "relevance"}):
                    group = ".".join(map(str, keys)), one.validator, json.dumps(one.instance, ensure_ascii=False)
                    found.setdefault(group, []).append((one, file.line_of(place, *keys)))
            advance(1)
    for (field, *_), errors in found.items():
        lines = [line for _, line in errors]
        yield file.warning("schema", *_violation(field, errors[0][0], _in_cases(lines)), about=lines[0])


def _violation(field: str, error: Any, many: str) -> tuple[str, str]:  # noqa: ANN401 - jsonschema has no types
    """Return what is wrong with a field, and advice."""
    given = f"{field} is {quoted(error.instance)}{many}, expected"
    if error.validator == "enum":
        allowed = [value for value in error.validator_value if value is not None]
        return (
            f"{given} one of {', '.join(allowed)}",
            did_you_mean(str(error.instance), allowed)
            or "Other words make strata too, but none that other sets of cases share.",
        )
    if error.validator == "type":
        named = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
        lacks_quotes = "string" in named and isinstance(error.instance, int | float)
        expected = " or ".join(_TYPES[name] for name in named if name in _TYPES)
        return f"{given} {expected}", "Write it in quotes." * lacks_quotes
    if error.validator == "pattern":
        code = code_of(str(error.instance))
        return f"{given} a code such as de or en", f"Did you mean {code!r}?" if code else "Write its ISO 639 code."
    return f"{field}: {error.message}{many}", ""


def half_width(n: int) -> float:
    """Return half the width of a 95% interval of a mean of `n` values from 0 to 1, at worst: half are 0, half 1.

    Examples
    --------
    >>> [round(half_width(n), 2) for n in (9, 50, 200, 500)]
    [0.33, 0.14, 0.07, 0.04]
    """
    return 1.96 * 0.5 / n**0.5


def unread_fields(file: CaseFile) -> Iterator[Finding]:
    """Find the fields that are not read, of cases and beside them."""
    for name, own in group_values(
        (name, file.line(place))
        for place, row in enumerate(file.rows)
        for name in row
        if name not in FIELDS or (name == "hpo_domain" and label(row.get("domain")) is not None)
    ).items():
        near = "Keep one of domain and hpo_domain." if name in FIELDS else did_you_mean(name, FIELDS)
        language = language_in_name(name)
        if language is not None:
            near = f"If it has the texts in {language!r}, name the columns of all languages, such as text_{language}."
        elif name.casefold() == "id" and not any("case_id" in row for row in file.rows):
            near = "If it identifies the case, name it case_id."
        yield file.warning("unread_field", f"field {name!r} is not read{_in_cases(own)}", near, about=own[0])
    source, keys = file.records.json, file.records.keys
    for name in source.value if source and isinstance(source.value, dict) else ():
        if source and name not in {"metadata", "$schema", *keys}:
            near = did_you_mean(name, ["metadata"]) or "Move it into metadata."
            yield file.warning(
                "unread_field", f"field {name!r} beside {keys[0]!r} is not read", near, about=source.line_of([name])
            )


def missing_labels(file: CaseFile) -> Iterator[Finding]:
    """Find the labels that cases lack."""
    n = len(file.cases)
    for name in LABELS:
        if lacking := [case for case in file.cases if getattr(case, name) is None]:
            lack = f"{_share(lacking, file)} lack a {name} ({listed_lines(lacking)})"
            if len(lacking) == n:
                lack = f"{'all cases lack' if n > 1 else 'the case lacks'} a {name}"
            yield file.warning("missing_label", lack, _HOW_TO_LABEL[name])


def languages_of_folders(file: CaseFile) -> Iterator[Finding]:
    """Tell that a folder's name is all that says the language."""
    if file.said_by_folder:
        yield file.warning(
            "language_of_folder", file.said_by_folder, "Write it in the file, so that it is known in other folders too."
        )


def nothing_expected(file: CaseFile) -> Iterator[Finding]:
    """Find the cases that expect nothing."""
    if bare := [case for case in file.cases if not case.expected_ids]:
        yield file.warning(
            "nothing_expected",
            f"{_share(bare, file)} ({listed_lines(bare)}) expect nothing",
            "They count as 0 in the mean of every measure: leave them out, unless that is meant.",
        )


def repeated_texts(file: CaseFile) -> Iterator[Finding]:
    """Find the texts that several cases of one language have, with the same expected ids or with others."""
    for group in file.cases.repeated_texts():
        what = f"the text {quote_text(group[0].text)} appears {len(group)} times ({listed_lines(group)})"
        kind, advice = "repeated_text", "Keep one: the others repeat its result, and count as if they were new."
        if len({frozenset(case.expected_ids) for case in group}) > 1:
            kind, advice = "contradicting_text", "Keep one case with all of them: no ranking can satisfy both."
            what += ", with different expected ids"
        yield file.warning(kind, what, advice, about=group[1])


def _other(texts: Sequence[str], language: str | None) -> str | None:
    """Return the language that texts look like, if it is not theirs; this is only a guess."""
    code = known(language)
    found = guess(". ".join(texts)) if code else None
    return None if found == code else found


def other_languages(file: CaseFile) -> Iterator[Finding]:
    """Find sets that do not look like their stated language, and single texts of the others that do not."""
    for language, part in file.cases.by_language().items():
        if other := _other([case.text for case in part], language):
            what = f"the texts of language {language!r} look like {other!r} (a guess by py3langid)"
            yield file.warning("language", what, f"Check them; if so, write {other!r}.")
        for case in () if other else part:
            if near := _other([case.text], language):
                what = f"the text {quote_text(case.text)} of language {language!r} looks like {near!r} (a guess)"
                yield file.warning("language", what, f"Check it; if so, write language {near!r}.", about=case)


def few_cases(file: CaseFile) -> Iterator[Finding]:
    """Find the languages that have too few cases for a sound conclusion."""
    for language, part in file.cases.by_language().items():
        if (n := len(part)) < STANDARD:
            of = f" of language {language!r}" if language else ""
            width = f"the 95% interval of a mean can be as wide as ± {half_width(n):.2f} (of a measure from 0 to 1)"
            yield file.warning(
                "few_cases",
                f"{format_count(n, 'case')}{of}: {width}",
                f"Good for {'development' if n >= SMALL else 'a quick check only'}. Collect {STANDARD} for a conclusion"
                f" (± {half_width(STANDARD):.2f}), 500 for a fine one.",
            )


def shared_ids(file: CaseFile) -> Iterator[Finding]:
    """Find the cases that share an expected id with one of their language: what makes one hard makes the other so."""
    for language, part in file.cases.by_language().items():
        firsts = {one: case for case in reversed(part.cases) for one in case.expected_ids}
        if sharing := [case for case in part if any(firsts[one] is not case for one in case.expected_ids)]:
            of = f" of language {language!r}" if language and len(file.cases.languages) > 1 else ""
            yield file.warning(
                "shared_ids",
                f"{len(sharing):,} of {format_count(len(part), 'case')}{of} expect an id that an earlier case expects"
                f" too ({listed_lines(sharing)})",
                "They are not independent: use cluster intervals (bench --cluster expected_ids).",
            )


RULES = (  # what warns of cases that can be read, in the order of its findings
    _violations,
    unread_fields,
    missing_labels,
    nothing_expected,
    repeated_texts,
    languages_of_folders,
    other_languages,
    few_cases,
    shared_ids,
)


def _share(some: Sequence[object], file: CaseFile) -> str:
    return f"{len(some):,} of {format_count(len(file.cases), 'case')}"


def listed_lines(found: Sequence[Case | int | None], limit: int = 5) -> str:
    """Return the lines of several cases, for a message.

    Examples
    --------
    >>> listed_lines([3]), listed_lines([3, 9]), listed_lines(range(1, 9))
    ('line 3', 'lines 3, 9', 'lines 1, 2, 3, 4, 5 and 3 more')
    """
    places = (one.line if isinstance(one, Case) else one for one in found)
    lines = [str(line) for line in places if line is not None]
    more = f" and {len(lines) - limit} more" if len(lines) > limit else ""
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(lines[:limit])}{more}"


def _in_cases(lines: Sequence[int | None]) -> str:
    return f" in {len(lines):,} cases ({listed_lines(lines)})" if len(lines) > 1 else ""


def _unknown_terms(file: CaseFile, ontology: Ontology) -> Iterator[Finding]:
    """Find each expected id that is not a term of an ontology, once, with the cases that expect it."""
    expecting = group_values((term, case) for case in file.cases for term in case.expected_ids if term not in ontology)
    if not expecting:
        return
    # the term of each label and exact synonym
    names = {
        synonym.text.casefold(): term
        for term, own in zip(ontology.ids, ontology.synonyms, strict=True)
        for synonym in own
        if synonym.scope == "EXACT"
    }
    names |= {name.casefold(): term for term, name in zip(ontology.ids, ontology.labels, strict=True) if name}
    where = ontology.path.name if ontology.path else "the ontology"
    kinds = {"merged_id": ontology.alternatives, "obsolete_id": ontology.obsolete}
    for term, own in expecting.items():
        lines = "" if len(own) == 1 else f" ({listed_lines(own)})"
        status = ontology.status(term)
        kind = next((kind for kind, held in kinds.items() if term in held), "unknown_id")
        what = f"expected id {term!r}{lines} {f'{status} (in {where})' if status else f'is not in {where}'}"
        advice = "Correct it, or leave it out." if status else _named(own, names, ontology)
        yield file.warning(kind, what, advice, about=own[0])


def _named(cases: Sequence[Case], names: Mapping[str, str], ontology: Ontology) -> str:
    """Suggest the term whose name matches a case, if there is one."""
    for name in (text for case in cases for text in (case.description, case.text)):
        if found := names.get(name.strip().casefold()):
            return f"{quote_text(name)} is a name of {ontology.called(found)}: is that meant?"
    return "No document has it, so nothing can find it: correct it, or use the version of the ontology that has it."


def report_validation(validations: Sequence[Validation], names: Sequence[str], *, is_data: bool = False) -> Report:
    """Return the report of validated files: their findings, and the usable ones summarised by their labels.

    Parameters
    ----------
    validations : sequence of Validation
    names : sequence of str
        Of the sets, each another one.
    is_data : bool, default False
        Whether it is for JSON, where findings are a list, not a table.
    """
    of_sets = {name: summarise(one.cases) for name, one in zip(names, validations, strict=True) if one.cases}
    sets = (_tabulate_sets(of_sets),) if of_sets else ()
    closing = EXPLANATION if of_sets else ""
    if is_data:
        files = [
            {
                "path": str(one.path),
                "name": one.name,
                "n_cases": one.n_cases,
                "is_usable": one.is_usable,
                "n_errors": len(one.errors),
                "n_warnings": len(one.warnings),
                "findings": [asdict(finding) for finding in one.findings],
            }
            for one in validations
        ]
        return Report(sets, (Fact("is_usable", all(one.is_usable for one in validations)), Fact("files", files)))
    findings = [
        tabulate(
            "findings",
            (
                Column("level", ""),
                Column("line", "line", lambda one: "" if one.line is None else str(one.line)),
            ),
            (Column("text", "finding", lambda one: f"{one.case_id}: {one.text}" if one.case_id else one.text),),
            one.findings,
            title=_verdict(one),
        )
        for one in validations
        if one.findings
    ]
    facts = [prose_fact(_verdict(one), "no findings") for one in validations if not one.findings]
    return Report((*findings, *sets), tuple(facts), closing=closing)


def _verdict(validation: Validation) -> str:
    cases = f"{format_count(validation.n_cases, 'case')}, " if validation.n_cases else ""
    errors = format_count(len(validation.errors), "error") if validation.errors else "usable"
    warnings = f", {format_count(len(validation.warnings), 'warning')}" if validation.warnings else ""
    return f"{validation.path}: {cases}{errors}{warnings}"


def _tabulate_sets(sets: Mapping[str, Sequence[Mapping[str, Any]]]) -> Table:
    """Return a row for each part that `summarise` makes of each set."""
    rows: list[dict[str, Any]] = []
    for name, parts in sets.items():
        for part in parts:
            value = "" if part["by"] == "all" else part["value"] or "(none)"
            rows.append({"set": name, **part, "value": value})
    return tabulate(
        "sets",
        (Column("set", "set"), Column("by", "by"), Column("value", "value")),
        (
            Column("n_cases", "cases"),
            Column("n_ids", "ids", spare=2),
            Column("n_distinct_ids", "distinct ids"),
            Column("n_repeated_texts", "repeated texts", spare=1),
        ),
        rows,
    )
