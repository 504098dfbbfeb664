"""The published JSON Schema of labelled cases, and what it forbids but reading accepts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any

from deadheat.benchmark.cases.documents import Document
from deadheat.benchmark.cases.expected import quoted
from deadheat.benchmark.cases.findings import Finding, listed_lines
from deadheat.benchmark.cases.language import code_of
from deadheat.benchmark.cases.reading import Reading
from deadheat.errors import MissingDependencyError
from deadheat.wording import did_you_mean

NEEDED = {"case_id", "text", "expected_ids", "expected_hpo_ids", "relevance"}
_TYPES = {"string": "text", "integer": "a whole number", "number": "a number", "object": "an object", "array": "a list"}
_STRATA = "Other words make strata too, but none that other sets of cases share."


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
    many = f" in {len(lines):,} cases ({listed_lines(lines)})" if len(lines) > 1 else ""
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
    line = lines[0]
    return Finding("warning", document.where(line), "", message, advice, "schema", line)
