"""Scores and relevances as text: which are numbers, and which a float64 can hold."""

import math
import re
from decimal import Context, Decimal
from pathlib import Path
from typing import cast

import polars as pl

from deadheat.arguments import LARGEST_INTEGER
from deadheat.errors import DataError, MalformedRowError
from deadheat.io.kinds import VALUE_COLUMN, Kind
from deadheat.io.mappings import BEYOND, is_beyond
from deadheat.wording import Plain, shown

# What Polars reads as a float. Python's float() accepts more: "1_0", and digits of other scripts.
_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE | re.ASCII
)
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
# C0, DEL and C1, some of which end lines or move the cursor, and the two non-ASCII characters that end lines.
CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]"
_FIND_CONTROL = re.compile(CONTROL)
LINE_ENDS = r"lines end with \n or \r\n"


def is_number(text: str) -> bool:
    """Return whether a text is a number as files have them."""
    return _NUMBER.fullmatch(text) is not None


def read_value(text: str, kind: Kind, *, path: Path, line: int | None, name: str = "") -> float:
    """Return the score, rank or relevance in `text`, or raise DataError or DataError."""
    name = name or VALUE_COLUMN[kind]
    if not _NUMBER.fullmatch(text):
        raise DataError(
            f"{name} must be a number",
            given=text or Plain("an empty field"),
            hint="leave out what is not judged, or add the file to the qrels: deadheat convert --add"
            if not text and kind == "qrels"
            else None,
            path=path,
            line=line,
        )
    value = float(text)
    if math.isnan(value):
        raise DataError(f"{name} must be a number", given=Plain(f"NaN ({text!r})"), path=path, line=line)
    if math.isinf(value) and kind == "qrels":
        raise DataError(f"{name} must be finite", given=text, path=path, line=line)
    if math.isinf(value) and any(char.isdigit() for char in text):
        raise DataError(f"{name} is beyond the range of float64: {shown(text)}", path=path, line=line)
    if abs(value) >= LARGEST_INTEGER and not math.isinf(value) and not _is_held(text, value):
        raise DataError(f"{name} is {shown(text)}, {BEYOND}", path=path, line=line)
    return value


def _is_held(text: str, value: float) -> bool:
    """Tell whether a large number is what float64 makes of its text: exactly, rounded to its digits, or in short."""
    given = Decimal(text)  # int() refuses thousands of digits
    if _INTEGER.fullmatch(text):
        return not is_beyond(given)
    n_digits = len(text.lower().partition("e")[0].strip("+-").replace(".", "").lstrip("0"))
    return given in {Decimal(value), Decimal(repr(value)), Context(prec=n_digits).plus(Decimal(value))}


def check_ids_of_row(query_id: str, doc_id: str, path: Path, line: int | None = None) -> None:
    """Raise MalformedRowError if an id contains a control character."""
    if query_id.isprintable() and doc_id.isprintable():
        return
    for name, given in (("query_id", query_id), ("doc_id", doc_id)):
        if found := _FIND_CONTROL.search(given):
            if found[0] == "\ufeff":
                raise MalformedRowError(
                    f"{name} {shown(given)} contains a byte order mark, which only the start of a file may have",
                    hint="were files concatenated?",
                    path=path,
                    line=line,
                )
            raise MalformedRowError(
                f"{name} {shown(given)} contains the control character U+{ord(found[0]):04X}; ids have none,"
                f" and {LINE_ENDS}",
                path=path,
                line=line,
            )


def check_comment(comment: str, path: Path, line: int) -> None:
    """Raise MalformedRowError for a control character in a comment: after some of them another row may follow."""
    found = _FIND_CONTROL.search(comment.replace("\t", " ").rstrip("\r"))
    if found:
        raise MalformedRowError(
            f"a comment contains the control character U+{ord(found[0]):04X}: {shown(comment)}",
            hint=LINE_ENDS,
            path=path,
            line=line,
        )


def holds_controls(frame: pl.DataFrame) -> bool:
    """Return whether an id contains a control character."""
    return any(ids.str.contains(CONTROL).any() for ids in frame.select("query_id", "doc_id"))


def holds_only_ids(frame: pl.DataFrame) -> bool:
    """Return whether no id is null or empty."""
    return not any(ids.null_count() or (ids == "").any() for ids in frame.select("query_id", "doc_id"))


def are_plain(values: pl.Series) -> bool:
    """Return whether all are numbers, finite and so small that float64 holds them exactly as they were written."""
    values = values.alias("value")  # a name of the user's own might be read as a pattern
    low, high = values.min(), values.max()
    if values.null_count() or values.is_nan().any():
        return False
    return not len(values) or -LARGEST_INTEGER < cast("float", low) <= cast("float", high) < LARGEST_INTEGER
