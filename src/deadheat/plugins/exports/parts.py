"""Parts of JSON documents, and what is said of them."""

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

from deadheat.core.errors import DataError
from deadheat.core.wording import did_you_mean, format_count, format_list

_WORDS = {dict: "an object", list: "a list", str: "text", int: "a whole number", Real: "a number"}


def part(held: Any, key: str, kinds: tuple[type, ...], place: str, where: str) -> Any:  # noqa: ANN401 - of JSON
    """Return what an object in a document holds under a key.

    Parameters
    ----------
    held : dict
    key : str
    kinds : tuple of type
        What may be there; true and false are no numbers.
    place : str
        Where the object is in the document, such as ``"requests[0]"``.
    where : str
        Where the document comes from.

    Raises
    ------
    DataError
        It is no object, it lacks the key, or something else is there; with the path inside the document.

    Examples
    --------
    >>> part({"ratings": [1]}, "ratings", (list, dict), "requests[0]", "x.json")
    [1]
    >>> part({"ratings": 5}, "ratings", (list, dict), "requests[0]", "x.json")
    Traceback (most recent call last):
        ...
    deadheat.core.errors.DataError: x.json: requests[0].ratings is 5, expected a list or an object
    """
    if not isinstance(held, Mapping):
        raise DataError(f"{place} is {held!r:.60}", allowed=f"an object with {key!r}", path=where)
    if key not in held:
        raise DataError(
            f"{place} has no {key!r}",
            hint=did_you_mean(key, map(str, held)) or f"it has {', '.join(map(repr, [*held][:6])) or 'no keys'}",
            path=where,
        )
    found = held[key]
    if not isinstance(found, kinds) or (isinstance(found, bool) and not {int, Real}.isdisjoint(kinds)):
        raise DataError(
            f"{place}.{key}".lstrip(".") + f" is {found!r:.60}",
            allowed=" or ".join(_WORDS[kind] for kind in kinds),
            path=where,
        )
    return found


def are_all(held: object, matches: Callable[[Any], object]) -> bool:
    """Tell whether this is a list, not empty, whose items all match."""
    return isinstance(held, list) and bool(held) and all(map(matches, held))


def tell_failed(queries: Sequence[str]) -> tuple[str, ...]:
    """Return a note on the queries for which the search engine had an error, if there are any."""
    told = f"{format_count(len(queries), 'query', 'queries')} failed in the search engine: {format_list(queries)}"
    return (told,) if queries else ()
