"""What is kept of a result: numbers, short texts and keys, as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import polars as pl

Numbers: TypeAlias = dict[str, Any]
"""What a call returns: names, and numbers, short texts, lists, arrays, frames and dicts of these."""

PROSE = "(text)"  # in place of every text with a space in it: wording may change
DIGITS = 14  # of floats; 12 are compared
ROWS = "rows of"  # the key under which a list of records is kept, by column


def plain_numbers(value: object) -> Any:
    """Return a result as JSON has it.

    Texts with a space become `PROSE`. A frame and a list of records with the same keys become columns, which are
    shorter. NaN and infinity, which JSON lacks, become "nan", "inf" and "-inf".
    """
    if isinstance(value, np.generic):
        return plain_numbers(value.item())
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return PROSE if " " in value or "\n" in value else value
    if isinstance(value, pl.DataFrame):
        return plain_numbers(value.to_dict(as_series=False))
    if isinstance(value, Mapping):
        return {str(key): plain_numbers(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        return plain_numbers(value.tolist())
    if isinstance(value, Iterable):
        return plain_list(list(value))
    raise TypeError(f"{type(value).__name__} has no place among golden numbers: return its numbers")


def plain_list(values: list[object]) -> Any:
    """Return a list as JSON has it; of records with the same keys their columns."""
    first = values[0] if values else None
    if not isinstance(first, Mapping) or len(values) < 2:
        return [plain_numbers(value) for value in values]
    for value in values:
        if not isinstance(value, Mapping) or value.keys() != first.keys():
            return [plain_numbers(value) for value in values]
    columns = {}
    for key in first:
        columns[str(key)] = [plain_numbers(value[key]) for value in values if isinstance(value, Mapping)]
    return {f"{ROWS} {len(values)}": columns}


def attributes(thing: object, names: str) -> Numbers:
    """Return the named attributes of a result, but for those that say nothing; names are separated by spaces."""
    found: Numbers = {}
    for name in names.split():
        value = getattr(thing, name)
        if not says_nothing(value):
            found[name] = value
    return found


def says_nothing(value: object) -> bool:
    """Whether a value is None, False, NaN, or an empty text or tuple: most results have several of these."""
    if isinstance(value, float):
        return math.isnan(value)
    if isinstance(value, str | tuple):
        return len(value) == 0
    return value is None or value is False
