"""The parts of a search result: where its id and its number are, by the names of keys and attributes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set as AbstractSet
from decimal import Decimal
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np

from deadheat.core.errors import ABSENT
from deadheat.core.io.forms import Shape, known_forms
from deadheat.core.io.ids import is_id
from deadheat.core.io.kinds import ALL_OFFSETS, COLUMN_NAMES, DISTANCES, VALUE_COLUMN, Kind
from deadheat.core.wording import did_you_mean

_PYTHON_TYPES = {float, int, bool, str, type(None)}
GRADES = ("grade", "rating", "relevance", "confidence")  # of a language model: scores of results that have no other
_GRADE = re.compile(r"\s*[0-9]+(\.[0-9]+)?\s*(/\s*[0-9]+\s*)?", re.ASCII)  # "8", "8/10"
PADDING = "-1"  # the id that search libraries fill lists up with


def find_results(given: object, kind: Kind = "run") -> Sequence[Any] | None:
    """Return the list of results in what a search returned for one query; None if it holds no ordered list.

    Judgments may be a single id, or a set.

    Examples
    --------
    >>> find_results({"took": 3, "hits": {"hits": [{"_id": "d1"}]}})
    [{'_id': 'd1'}]
    """
    if kind == "qrels" and is_id(given):
        return [given]
    if kind == "qrels" and isinstance(given, AbstractSet):
        return sorted(given, key=str)
    if isinstance(given, list | tuple):
        return given
    if given is None or isinstance(given, str | bytes):
        return None
    to_list = getattr(given, "tolist", None) or getattr(given, "to_list", None)  # arrays, Series
    if callable(to_list) and getattr(given, "ndim", 1) == 1:
        return list(to_list())
    lists = split_result_set(given, "results")
    if lists is not None:
        return lists[0] if len(lists) == 1 else None
    for path in known_forms().holders:
        results = get_at_path(given, path)
        if isinstance(results, list | tuple):
            return results
    if isinstance(given, Iterable) and not isinstance(given, Collection):  # a stream
        return list(given)
    return None


def is_result_set(given: object) -> bool:
    """Tell whether this is what a search for several queries returned as one object, as that of Chroma."""
    return any(result_set.matches(given) for result_set in known_forms().result_sets)


def split_result_set(given: Any, where: str) -> list[list[dict[str, Any]]] | None:  # noqa: ANN401 - anything
    """Return the results of each query in what a search for several queries returned; None of other objects."""
    for result_set in known_forms().result_sets:
        if result_set.matches(given):
            return result_set.lists(given, where)
    return None


def get_at_path(item: object, path: str) -> Any:  # noqa: ANN401 - whatever is there
    """Return the value at a dotted path of keys and attributes; at "" that is the object. A key may have dots.

    Examples
    --------
    >>> get_at_path({"metadata": {"doc.id": "d1"}}, "metadata.doc.id")
    'd1'
    """
    if not path:
        return item
    member = get_member(item, path)
    head, dot, rest = path.partition(".")
    if member is not ABSENT or not dot:
        return member
    inner = get_member(item, head)
    if inner is ABSENT:
        return ABSENT
    return get_at_path(inner, rest)


def get_member(item: object, name: str) -> Any:  # noqa: ANN401 - whatever is there
    """Return the value of a key or an attribute; ABSENT if there is none."""
    if isinstance(item, Mapping):
        return item.get(name, ABSENT)
    return getattr(item, name, ABSENT)


def split_pair(result: object) -> tuple[object, object]:
    """Return an object and its number, of a pair of both; else the result and None."""
    if isinstance(result, tuple | list) and len(result) == 2:
        item, number = result
        # text is a grade, or is reported as not a number; a named tuple is an object with fields
        is_text = isinstance(number, str) and not hasattr(result, "_fields")
        if is_text or is_numeric(number):
            return item, number
    return result, None


def is_grade(value: object) -> bool:
    """Return whether a value is a number, or text as of language models that grade: 8, "8" or "8/10"."""
    if isinstance(value, str) and _GRADE.fullmatch(value):
        return True
    return is_numeric(value) and not isinstance(value, bool)


def find_numbers(item: object, kind: Kind) -> list[str]:
    """Return the paths to numbers of a result that may be its score; in its metadata only those of known names."""
    names = COLUMN_NAMES["run"]
    never_numbers = {*known_forms().no_scores, *names["doc_id"], *names["rank"], "id"}
    if kind == "run":
        known_names = (*names["score"], *GRADES, *DISTANCES)
        never_numbers.update(ALL_OFFSETS)
    else:
        known_names = COLUMN_NAMES["qrels"]["relevance"]
        never_numbers.update(names["score"], DISTANCES)
    paths = list_names(item)
    for place in known_forms().places_of_scores:
        if get_member(item, place) is not ABSENT:
            paths += [f"{place}.{name}" for name in known_names]
    return [path for path in paths if path not in never_numbers and is_grade(get_at_path(item, path))]


def is_numeric(value: object) -> bool:
    """Return whether a value is a number, perhaps in an array or tensor without dimensions."""
    if isinstance(value, Real | Decimal):
        return True
    return hasattr(value, "__float__") and getattr(value, "ndim", 1) == 0


def to_python_number(number: Any) -> Any:  # noqa: ANN401 - checked with all numbers
    """Return a number of another library as Python's, and any other value as it is."""
    if type(number) in _PYTHON_TYPES:
        return number
    if isinstance(number, Integral):
        return int(number)
    may_have_more_digits = isinstance(number, Rational | Decimal | np.longdouble)
    if may_have_more_digits or not is_numeric(number):
        return number  # refused later where float64 would merge it with others, or where it is not a number
    return float(number)


def guess_shape(item: object, kind: Kind) -> Shape:
    """Return the shape of a result by the names of its parts: those of columns in tables, or ``id``."""
    names = COLUMN_NAMES[kind]
    id_path = ""
    if not is_id(item):  # text has methods of such names
        for name in (*names["doc_id"], "id"):
            if is_id(get_member(item, name)):
                id_path = name
                break
    number_path = ""
    for name in names[VALUE_COLUMN[kind]]:
        if kind == "qrels" and name == "score":
            continue  # the score of a result is not its relevance
        if get_member(item, name) is not ABSENT:
            number_path = name
            break
    return Shape((), id_path, run=number_path, qrels=number_path)  # only that of the kind is read


def list_names(item: object) -> list[str]:
    """Return the keys of a result, or its public attributes that are not methods."""
    if isinstance(item, Mapping):
        return [name for name in item if isinstance(name, str)]
    if is_id(item) or item is None or isinstance(item, Real | list | tuple):
        return []
    return [name for name in getattr(item, "__dict__", {}) if not name.startswith("_")]


def list_paths(item: object) -> list[str]:
    """Return the paths in a result that may lead to its id, the likeliest first."""
    names = list_names(item)
    inner_paths = []
    for place in known_forms().places_of_ids:
        if place in names:
            inner_paths += [f"{place}.{name}" for name in list_names(get_member(item, place))]
    return [*inner_paths, *names]


def describe_near_paths(path: str, item: object) -> str:
    """Return ``Did you mean ...?`` for a path that leads nowhere, or the paths that are there."""
    paths = list_paths(item)
    suggestion = did_you_mean(path, paths)
    if suggestion or not paths:
        return suggestion
    return f"it has {', '.join(map(repr, paths[:6]))}"


def describe_object(item: object, limit: int = 60) -> str:
    """Return what an object is, for a message: its type, and how it shows itself, cut.

    Examples
    --------
    >>> describe_object(1.5), describe_object({1, 2}), describe_object("x" * 99, 9)
    ('float 1.5', 'set {1, 2}', "str 'xxxxxxxx...")
    """
    text = repr(item)
    if len(text) > limit:
        text = f"{text[:limit]}..."
    type_name = type(item).__name__
    if text.startswith(type_name):
        return text
    return f"{type_name} {text}"
