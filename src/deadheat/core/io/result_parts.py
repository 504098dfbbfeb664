"""The parts of a search result: where its id and its number are, by the names of keys and attributes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from decimal import Decimal
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np

from deadheat.core.errors import ABSENT
from deadheat.core.io.forms import Shape, known_forms
from deadheat.core.io.ids import is_id
from deadheat.core.io.kinds import ALL_OFFSETS, COLUMN_NAMES, DISTANCES, VALUE_COLUMN, Kind
from deadheat.core.wording import did_you_mean

_PLAIN = {float, int, bool, str, type(None)}
GRADES = ("grade", "rating", "relevance", "confidence")  # of a language model: scores of results that have no other
_GRADE = re.compile(r"\s*[0-9]+(\.[0-9]+)?\s*(/\s*[0-9]+\s*)?", re.ASCII)  # "8", "8/10"
PADDING = "-1"  # the id that search libraries fill lists up with


def find_results(given: object, kind: Kind = "run") -> Sequence[Any] | None:
    """Return the list of results in what a search returned for one query; None if there is none in an order.

    Judgments may be a single id, or a set.

    Examples
    --------
    >>> find_results({"took": 3, "hits": {"hits": [{"_id": "d1"}]}})
    [{'_id': 'd1'}]
    """
    if kind == "qrels" and (is_id(given) or isinstance(given, AbstractSet)):
        return sorted(given, key=str) if isinstance(given, AbstractSet) else [given]
    if given is None or isinstance(given, str | bytes | list | tuple):
        return given if isinstance(given, list | tuple) else None
    to_list = getattr(given, "tolist", None) or getattr(given, "to_list", None)  # arrays, Series
    if callable(to_list) and getattr(given, "ndim", 1) == 1:
        return list(to_list())
    lists = split_result_set(given, "results")
    if lists is not None:
        return lists[0] if len(lists) == 1 else None
    for path in known_forms().holders:
        held = get_at_path(given, path)
        if isinstance(held, list | tuple):
            return held
    return list(given) if isinstance(given, Iterable) and not isinstance(given, Collection) else None


def is_result_set(given: object) -> bool:
    """Tell whether this is what a search for several queries returned as one object, as that of Chroma."""
    return any(one.matches(given) for one in known_forms().result_sets)


def split_result_set(given: Any, where: str) -> list[list[dict[str, Any]]] | None:  # noqa: ANN401 - anything
    """Return the results of each query in what a search for several queries returned; None of other objects."""
    for one in known_forms().result_sets:
        if one.matches(given):
            return one.lists(given, where)
    return None


def get_at_path(held: object, path: str) -> Any:  # noqa: ANN401 - whatever is there
    """Return what a dotted path of keys and attributes leads to, an empty one to the object; a key may have dots.

    Examples
    --------
    >>> get_at_path({"metadata": {"doc.id": "d1"}}, "metadata.doc.id")
    'd1'
    """
    if not path:
        return held
    found = get_member(held, path)
    head, dot, rest = path.partition(".")
    if found is not ABSENT or not dot:
        return found
    inner = get_member(held, head)
    return ABSENT if inner is ABSENT else get_at_path(inner, rest)


def get_member(held: object, name: str) -> Any:  # noqa: ANN401 - whatever is there
    """Return the value of a key or an attribute; ABSENT if there is none."""
    return held.get(name, ABSENT) if isinstance(held, Mapping) else getattr(held, name, ABSENT)


def split_pair(result: object) -> tuple[object, object]:
    """Return an object and its number, of a pair of both; else the object and None."""
    if isinstance(result, tuple | list) and len(result) == 2:
        is_text = isinstance(result[1], str) and not hasattr(result, "_fields")  # a grade, or what is reported as none
        if is_text or is_numeric(result[1]):
            return result[0], result[1]
    return result, None


def is_grade(held: object) -> bool:
    """Return whether a value is a number, or text as of language models that grade: 8, "8" or "8/10"."""
    is_text = isinstance(held, str) and _GRADE.fullmatch(held) is not None
    return is_text or (is_numeric(held) and not isinstance(held, bool))


def find_numbers(held: object, kind: Kind) -> Iterator[str]:
    """Yield the paths in a result to numbers that may be its score; in its metadata those of known names."""
    names = COLUMN_NAMES["run"]
    if kind == "run":
        known = (*names["score"], *GRADES, *DISTANCES)
        others = {*known_forms().no_scores, *ALL_OFFSETS, *names["doc_id"], *names["rank"], "id"}
    else:
        known = COLUMN_NAMES["qrels"]["relevance"]
        others = {*known_forms().no_scores, *names["doc_id"], *names["rank"], "id", *names["score"], *DISTANCES}
    paths = list_names(held)
    for inner in known_forms().places_of_scores:
        if get_member(held, inner) is not ABSENT:
            paths += [f"{inner}.{name}" for name in known]
    for path in paths:
        if path not in others and is_grade(get_at_path(held, path)):
            yield path


def is_numeric(held: object) -> bool:
    """Return whether a value is a number, perhaps in an array or tensor without dimensions."""
    return isinstance(held, Real | Decimal) or (hasattr(held, "__float__") and getattr(held, "ndim", 1) == 0)


def to_python_number(number: Any) -> Any:  # noqa: ANN401 - checked with all numbers
    """Return a number of another library as Python's."""
    if type(number) in _PLAIN:
        return number
    if isinstance(number, Integral):
        return int(number)
    is_longer = isinstance(number, Rational | Decimal | np.longdouble)  # refused later where float64 would merge it
    return float(number) if is_numeric(number) and not is_longer else number


def guess_shape(held: object, kind: Kind) -> Shape:
    """Return the shape of a result whose parts have names that tables have too, or ``id``; those that it has."""
    names = COLUMN_NAMES[kind]
    ids = () if is_id(held) else (*names["doc_id"], "id")  # text has methods of such names
    one_id = next((name for name in ids if is_id(get_member(held, name))), "")
    # the score of a result is no relevance
    numbers = [name for name in names[VALUE_COLUMN[kind]] if kind == "run" or name != "score"]
    number = next((name for name in numbers if get_member(held, name) is not ABSENT), "")
    return Shape((), one_id, run=number, qrels=number)  # of which that of the kind counts


def list_names(held: object) -> list[str]:
    """Return the keys or public attributes of a result that are no methods."""
    if isinstance(held, Mapping):
        return [name for name in held if isinstance(name, str)]
    if is_id(held) or held is None or isinstance(held, Real | list | tuple):
        return []
    return [name for name in getattr(held, "__dict__", {}) if not name.startswith("_")]


def list_paths(held: object) -> list[str]:
    """Return the paths in a result that may lead to its id, the likeliest first."""
    names = list_names(held)
    inner = []
    for place in known_forms().places_of_ids:
        if place in names:
            inner += [f"{place}.{name}" for name in list_names(get_member(held, place))]
    return [*inner, *names]


def describe_near_paths(path: str, held: object) -> str:
    """Return ``Did you mean ...?`` for a path that leads nowhere, or the paths that are there."""
    paths = list_paths(held)
    return did_you_mean(path, paths) or (f"it has {', '.join(map(repr, paths[:6]))}" if paths else "")


def describe_object(held: object, limit: int = 60) -> str:
    """Return what an object is, for a message: its type, and how it shows itself, cut.

    Examples
    --------
    >>> describe_object(1.5), describe_object({1, 2}), describe_object("x" * 99, 9)
    ('float 1.5', 'set {1, 2}', "str 'xxxxxxxx...")
    """
    text = repr(held)
    text = text if len(text) <= limit else f"{text[:limit]}..."
    name = type(held).__name__
    return text if text.startswith(name) else f"{name} {text}"
