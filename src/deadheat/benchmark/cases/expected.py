"""The expected ids of a case, and their grades: checked one by one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import NamedTuple

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
    if given is None or given == []:
        what = f"no field {name!r}" if given is None else f"{name} is empty"
        return (), [
            Wrong(
                "no_expected_id",
                () if given is None else (name,),
                what,
                _LIST_THEM,
            )
        ]
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


def checked_grades(given: object, ids: Sequence[str]) -> tuple[tuple[float, ...], list[Wrong]]:
    """Return the grade of each expected id, 1 without any, and what is wrong with them."""
    if given is None:
        return (1.0,) * len(ids), []
    if isinstance(given, dict):
        return _of_mapping(given, ids)
    if not isinstance(given, list):
        message = f"relevance must be a list of grades or {{id: grade}}, got {quoted(given)}"
        return (), [Wrong("malformed_relevance", ("relevance",), message, _ONE_PER_ID)]
    if len(given) != len(ids):
        message = f"relevance has {counted(len(given), 'grade')} for {counted(len(ids), 'expected id')}"
        return (), [Wrong("malformed_relevance", ("relevance",), message, _ONE_PER_ID)]
    wrong = [_wrong_grade(grade, one, place) for place, (grade, one) in enumerate(zip(given, ids, strict=True))]
    found = [one for one in wrong if one is not None]
    return () if found else tuple(map(float, given)), found


def _of_mapping(given: dict[str, object], ids: Sequence[str]) -> tuple[tuple[float, ...], list[Wrong]]:
    wrong = []
    for one in ids:
        if one not in given:
            wrong.append(
                Wrong("malformed_relevance", ("relevance",), f"relevance has no grade for {one!r}", _ONE_PER_ID)
            )
        else:
            fault = _wrong_grade(given[one], one, one)
            wrong += [] if fault is None else [fault]
    for one in given:
        if one not in ids:
            message = f"relevance grades {one!r}, which is not an expected id. {did_you_mean(one, ids)}".strip()
            wrong.append(Wrong("malformed_relevance", ("relevance", one), message))
    return () if wrong else tuple(float(given[one]) for one in ids), wrong  # type: ignore[arg-type]


def _wrong_grade(grade: object, one: str, key: str | int) -> Wrong | None:
    try:
        number = float(grade) if isinstance(grade, int | float) and not isinstance(grade, bool) else math.nan
    except OverflowError:  # of hundreds of digits
        number = math.inf
    if 0 < number < math.inf:
        return None
    message = f"relevance of {one!r} is {quoted(grade)}, expected a positive number"
    return Wrong("malformed_relevance", ("relevance", key), message, "Leave out an id that should not be found.")


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
