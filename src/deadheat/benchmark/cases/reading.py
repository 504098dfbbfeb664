"""From rows of fields to cases; every reason why a case is unusable is found, with its place."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from deadheat.benchmark.cases.documents import Document, read_document
from deadheat.benchmark.cases.findings import Finding, found_at
from deadheat.benchmark.cases.language import normalised
from deadheat.benchmark.cases.model import Case, Cases, is_grade
from deadheat.benchmark.cases.naming import DOMAINS, HPO_IDS, IDS
from deadheat.errors import CasesError, ParameterError
from deadheat.io.records import as_text
from deadheat.wording import counted, did_you_mean, shown

_LIST_THEM = "List the ids that a search for the text should find."
_ONE_PER_ID = "Give one positive number for each expected id: a list in their order, or {id: grade}."
HPO_PATTERN = re.compile(r"^HP:\d{7}$", re.ASCII)
_LIKE_HPO = re.compile(r"\s*HPO?\s*[:_]", re.IGNORECASE)  # an id of HPO, in whatever field
_DIGITS = re.compile(r"[0-9]{1,7}", re.ASCII)


class Wrong(NamedTuple):
    """What is wrong with one field of a case."""

    kind: str
    keys: tuple[str | int, ...]  # the field and the position in it; empty for what is missing
    message: str
    advice: str = ""


@dataclass(frozen=True, eq=False)
class Reading:
    """The cases of a document, and its errors.

    Attributes
    ----------
    document : Document
    cases : Cases
        Those that can be used.
    errors : tuple of Finding
        What is wrong with the others.
    unusable : frozenset of int
        The places of the others.
    """

    document: Document
    cases: Cases
    errors: tuple[Finding, ...]
    unusable: frozenset[int]


def read_cases(
    path: str | os.PathLike[str],
    *,
    id_pattern: str | None = None,
    format: str | None = None,  # noqa: A002 - the word that users look for
    language: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Cases:
    r"""Read labelled cases: texts with the ids that a search for each of them should find.

    JSON is an object with ``metadata`` and ``cases`` (or ``test_cases``), or a list of cases; JSON lines have a case a
    line, the first line may be ``{"metadata": {...}}``; CSV and TSV have a column for each field, and ``|`` between
    ids, or a JSON list of them (``[]`` where nothing is to be found); ``;`` and ``,`` separate ids only where a
    benchmark's collection has each of them. Fields: text (also called phrase, query, question or input) and
    expected_ids (expected, expected_id, gold, ...; or expected_hpo_ids, each ``HP:`` and seven digits); and, where
    there are any, case_id, description, relevance (a grade for each id: a list in their order, or ``{id: grade}``; 1
    by default), language (``EN`` is read as ``en``, ``en_GB`` as ``en-gb``), difficulty, category, domain (or
    hpo_domain), pair_id (what cases of several languages share that ask for the same).
    ``deadheat validate`` reports more than this reader refuses.

    Parameters
    ----------
    path : path-like
        ``.gz`` and ``.zst`` are unpacked.
    id_pattern : str, optional
        A regular expression that every expected id must match as a whole, such as ``"MONDO:\d{7}"``. Default: that of
        HPO for expected_hpo_ids, and for an id that begins with HP: in expected_ids, where all else is allowed.
    format : {"json", "jsonl", "csv", "tsv"}, optional
        Default: what the name says.
    language : str, optional
        The language of cases for which neither they nor the metadata say one.
    columns : dict of str to str, optional
        Names of fields that are not recognised, such as ``{"text": "symptom"}``.

    Returns
    -------
    Cases
        A case without an id is called by the name of the set (the dataset_id, or else the file's name) and its place
        among the cases, from 0: ``tiny_v1-003``.

    Raises
    ------
    CasesError
        Unusable cases, each named with its place: an expected id that is malformed or repeated in
        its case, no expected id, grades that do not fit them, no text, a case_id that another case has, a row that is
        not a case.
    DataError
        The file is missing or malformed.
    """
    reading = examine(read_document(path, format, columns), id_pattern=id_pattern, language=language)
    if reading.errors:
        total = len(reading.document.rows)
        lines = "\n".join(f"  {error}" for error in reading.errors)
        msg = f"{len(reading.unusable):,} of {counted(total, 'case')} cannot be used:\n{lines}"
        raise CasesError(msg, path=reading.document.path, findings=reading.errors)
    return reading.cases


def examine(document: Document, *, id_pattern: str | None = None, language: str | None = None) -> Reading:
    """Read every row of a document as a case, or find what is wrong with it."""
    pattern = _compiled(id_pattern)
    cases: list[Case] = []
    errors: list[Finding] = []
    unusable: set[int] = set()
    seen: dict[str, int] = {}
    paired: dict[tuple[str | None, str], int] = {}
    for place, row in enumerate(document.rows):
        if misfit := document.misfit(place):
            errors.append(_finding(Wrong("malformed_row", (), misfit), document, place, ""))
            unusable.add(place)
            continue
        case_id = _case_id(row, document, place)
        ids, grades, unexpected = _expected(row, pattern)
        pairs = _repeated_pair(row, paired, document, place, language)
        wrong = [*_repeated_id(case_id, seen, document, place), *pairs, *_wrong_text(row), *unexpected]
        errors += [_finding(one, document, place, case_id) for one in wrong]
        if wrong:
            unusable.add(place)
        else:
            cases.append(_case(row, document, place, case_id, ids=ids, grades=grades, language=language))
    made = Cases(document.name, document.records.metadata, tuple(cases), document.path, document.is_table)
    return Reading(document, made, tuple(errors), frozenset(unusable))


def _compiled(id_pattern: str | None) -> re.Pattern[str] | None:
    try:
        return None if id_pattern is None else re.compile(id_pattern, re.ASCII)
    except (re.error, TypeError) as error:
        raise ParameterError(
            argument="id_pattern",
            given=id_pattern,
            allowed=f"a regular expression such as {HPO_PATTERN.pattern!r}",
            hint=f"{error}",
        ) from error


def _case_id(row: dict[str, Any], document: Document, place: int) -> str:
    """Return the id of a case, or one made from name and place; without spaces, which would split a TREC field."""
    given = row.get("case_id")
    if isinstance(given, str | int) and not isinstance(given, bool) and str(given).strip():
        return str(given)
    return f"{'_'.join(document.name.split())}-{place:03d}"


def _repeated_id(case_id: str, seen: dict[str, int], document: Document, place: int) -> Iterator[Wrong]:
    given = document.rows[place].get("case_id")
    if given is not None and (isinstance(given, bool) or not isinstance(given, str | int)):
        yield Wrong("malformed_case_id", ("case_id",), f"case_id must be text, got {quoted(given)}")
    first = seen.setdefault(case_id, place)
    if first != place:
        message = f"the case on line {document.lines[first]} has this case_id too"
        keys = ("case_id",) if given is not None else ()
        yield Wrong("repeated_case_id", keys, message, "Give each case an id of its own, or none at all.")


def _language(row: dict[str, Any], document: Document, language: str | None) -> str | None:
    """Return the language of a case: its own, or that of the set, or the one that was given for others."""
    return normalised(label(row.get("language")) or label(document.records.metadata.get("language")) or language)


def _repeated_pair(
    row: dict[str, Any], seen: dict[tuple[str | None, str], int], document: Document, place: int, language: str | None
) -> Iterator[Wrong]:
    pair = label(row.get("pair_id"))
    if pair is None:
        return
    of = _language(row, document, language)
    first = seen.setdefault((of, pair), place)
    if first != place:
        message = f"the case on line {document.lines[first]} has this pair_id too" + (f", also in {of}" if of else "")
        advice = "One case of each language may have it: name the language of each, or leave pair_id out."
        yield Wrong("repeated_pair_id", ("pair_id",), message, advice)


def _wrong_text(row: dict[str, Any]) -> Iterator[Wrong]:
    text = row.get("text")
    if text is None or (isinstance(text, str) and not text.strip()):
        what = "no field 'text'" if "text" not in row else "text is empty"
        yield Wrong("no_text", ("text",) if "text" in row else (), what, "Write what is searched for.")
    elif not isinstance(text, str):
        yield Wrong("malformed_text", ("text",), f"text must be in quotes, got {quoted(text)}")


def _expected(
    row: dict[str, Any], pattern: re.Pattern[str] | None
) -> tuple[tuple[str, ...], tuple[float, ...], list[Wrong]]:
    """Return the expected ids, their grades, and what is wrong with them."""
    named = [name for name in IDS if row.get(name) is not None]
    if len(named) > 1:
        message = f"both {IDS[0]} and {IDS[1]} are given, expected one of them"
        return (), (), [Wrong("no_expected_id", (IDS[1],), message, "Keep one list.")]
    name = named[0] if named else IDS[0]
    is_hpo = name == HPO_IDS and pattern is None
    ids, wrong = checked_ids(row.get(name), name, HPO_PATTERN if is_hpo else pattern)
    if wrong:
        return ids, (), wrong
    return ids, *checked_grades(row.get("relevance"), ids)


def _finding(wrong: Wrong, document: Document, place: int, case_id: str) -> Finding:
    line = document.line_of(place, *wrong.keys)
    return found_at(document.path, line, wrong.kind, wrong.message, wrong.advice, case_id=case_id, level="error")


def _case(
    row: dict[str, Any],
    document: Document,
    place: int,
    case_id: str,
    *,
    ids: tuple[str, ...],
    grades: tuple[float, ...],
    language: str | None,
) -> Case:
    return Case(
        case_id,
        row["text"],
        ids,
        grades,
        description=as_text(row.get("description")) or "",
        language=_language(row, document, language),
        difficulty=label(row.get("difficulty")),
        category=label(row.get("category")),
        domain=next(filter(None, (label(row.get(name)) for name in DOMAINS)), None),
        pair_id=label(row.get("pair_id")),
        line=document.lines[place],
    )


def label(value: object) -> str | None:
    """Return a label as `Queries` reads it: stripped text, or None."""
    return (as_text(value) or "").strip() or None


def checked_ids(given: object, name: str, pattern: re.Pattern[str] | None) -> tuple[tuple[str, ...], list[Wrong]]:
    """Return the expected ids of a case, and what is wrong with them.

    Parameters
    ----------
    given : object
        What the field holds; None if it is not there.
    name : str
        The field.
    pattern : re.Pattern, optional
        What each id must match as a whole.
    """
    if given is None:
        return (), [Wrong("no_expected_id", (), f"no field {name!r}", _LIST_THEM)]
    if given == []:
        return (), []
    if not isinstance(given, list):
        got = quoted(given)
        advice = f"Write [{got}].".replace("'", '"') if isinstance(given, str) else ""
        return (), [Wrong("malformed_id", (name,), f"{name} must be a list of ids, got {got}", advice)]
    wrong: list[Wrong] = []
    for place, one in enumerate(given):
        problem = _problem(one, pattern)
        where = "" if len(given) == 1 else f" (number {place + 1} of {len(given)})"
        if problem is not None:
            message = f"expected id {quoted(one)}{where} {problem[0]}"
            wrong.append(Wrong("malformed_id", (name, place), message, problem[1]))
        elif given[:place].count(one) == 1:
            message = f"expected id {one!r} appears {given.count(one)} times"
            wrong.append(Wrong("repeated_id", (name, place), message, "Keep it once."))
    return tuple(given) if not wrong else (), wrong


def checked_grades(given: Any, ids: Sequence[str]) -> tuple[tuple[float, ...], list[Wrong]]:  # noqa: ANN401 - what JSON holds
    """Return the grade of each expected id, 1 without any, and what is wrong with them."""
    if given is None:
        return (1.0,) * len(ids), []
    keys: Sequence[str | int] = ids if isinstance(given, dict) else range(len(ids))
    wrong = list(_wrong_grades(given, ids, keys))
    return () if wrong else tuple(float(given[key]) for key in keys), wrong


def _wrong_grades(given: Any, ids: Sequence[str], keys: Sequence[str | int]) -> Iterator[Wrong]:  # noqa: ANN401 - as above
    field = ("relevance",)
    if not isinstance(given, dict | list):
        message = f"relevance must be a list of grades or {{id: grade}}, got {quoted(given)}"
        yield Wrong("malformed_relevance", field, message, _ONE_PER_ID)
    elif isinstance(given, list) and len(given) != len(ids):
        message = f"relevance has {counted(len(given), 'grade')} for {counted(len(ids), 'expected id')}"
        yield Wrong("malformed_relevance", field, message, _ONE_PER_ID)
    else:
        grades: dict[str | int, object] = given if isinstance(given, dict) else dict(enumerate(given))
        for key, one in zip(keys, ids, strict=True):
            if key not in grades:
                yield Wrong("malformed_relevance", field, f"relevance has no grade for {one!r}", _ONE_PER_ID)
            elif not is_grade(grades[key]):
                message = f"relevance of {one!r} is {quoted(grades[key])}, expected a positive number"
                advice = "Leave out an id that should not be found."
                yield Wrong("malformed_relevance", (*field, key), message, advice)
        for key in grades:
            if key not in keys:
                message = (
                    f"relevance grades {key!r}, which is not an expected id. {did_you_mean(str(key), ids)}".strip()
                )
                yield Wrong("malformed_relevance", (*field, key), message)


def _problem(given: object, pattern: re.Pattern[str] | None) -> tuple[str, str] | None:
    """Return what is wrong with an id, and how to fix it; None if nothing is."""
    if not isinstance(given, str):
        return "is not text", "Write it in quotes."
    if not given.strip():
        return "is empty", "Remove it."
    if pattern is None and _LIKE_HPO.match(given):
        pattern = HPO_PATTERN
    if pattern is not None:
        if pattern.fullmatch(given):
            return None
        near = _nearest(given, pattern)
        return f"does not match {pattern.pattern}", f"Did you mean {near!r}?" if near else ""
    return ("has spaces around it", f"Write {given.strip()!r}.") if given != given.strip() else None


def _nearest(given: str, pattern: re.Pattern[str]) -> str:
    """Return a similar id that matches: without spaces, in upper case, or with the missing zeros."""
    digits = _DIGITS.findall(given)
    tries = [given.strip(), given.strip().upper(), given.strip().upper().replace("_", ":").replace("-", ":")]
    if len(digits) == 1 and given.strip().upper().removesuffix(digits[0]).rstrip(":_- ") in {"", "HP", "HPO"}:
        tries.append(f"HP:{digits[0]:0>7}")
    return next((one for one in tries if pattern.fullmatch(one)), "")


def quoted(value: object) -> str:
    """Return a value for a message: text in quotes, all else as JSON has it."""
    return shown(value) if isinstance(value, str) else shown(json.dumps(value, ensure_ascii=False))[1:-1]
