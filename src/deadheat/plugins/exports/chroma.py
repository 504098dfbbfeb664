"""What queries of Chroma return: lists of ids, distances and others side by side, each with a list for each query."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from deadheat.core.errors import (
    DataError,
)
from deadheat.core.io.documents import Document, register_document
from deadheat.core.io.forms import REGISTERED, ResultSet
from deadheat.core.io.result_parts import is_numeric
from deadheat.core.io.results import Listing, Reader
from deadheat.plugins.exports.forms import NEARNESS

DISTANCE = "distance"
NAMES = {"ids": "id", "distances": DISTANCE, "metadatas": "metadata", "documents": "document"}


def is_of_chroma(given: object) -> bool:
    """Tell whether this is what a query of Chroma returned: lists side by side, each with a list for each query."""
    ids = given.get("ids") if isinstance(given, Mapping) else None
    is_nested = isinstance(ids, list) and all(isinstance(one, list) for one in ids)
    return is_nested and isinstance(given, Mapping) and not {"distances", "metadatas"}.isdisjoint(given)


def lists_of_chroma(given: Mapping[str, Any], where: str) -> list[list[dict[str, Any]]]:
    """Return the results of each query in what a query of Chroma returned.

    Raises
    ------
    DataError
        Its lists differ in their lengths.

    Examples
    --------
    >>> lists_of_chroma({"ids": [["d1", "d2"]], "distances": [[0.1, 0.25]], "metadatas": None}, "results")
    [[{'id': 'd1', 'distance': 0.1, 'nearness': -0.1}, {'id': 'd2', 'distance': 0.25, 'nearness': -0.25}]]
    """
    columns = {name: given[key] for key, name in NAMES.items() if given.get(key) is not None}
    try:
        parts = [list(zip(*lists, strict=True)) for lists in zip(*columns.values(), strict=True)]
    except (TypeError, ValueError):
        keys = ", ".join(key for key, name in NAMES.items() if name in columns)
        raise DataError(f"the lists of {keys} differ in their lengths", path=where) from None
    found = [[dict(zip(columns, row, strict=True)) for row in rows] for rows in parts]
    for one in chain.from_iterable(found):
        distance: Any = one.get(DISTANCE)
        if is_numeric(distance):
            one[NEARNESS] = -distance
    return found


REGISTERED.result_sets.append(ResultSet(is_of_chroma, lists_of_chroma))


@register_document(
    "results of Chroma", "run", lambda held: is_of_chroma(held) or is_of_chroma(next(iter(held.values()), None))
)
def _read_chroma(held: Document, where: str) -> Listing:
    """Read what one call returned for its queries, or ``{query: results}``."""
    return Reader("run", where).read(held)
