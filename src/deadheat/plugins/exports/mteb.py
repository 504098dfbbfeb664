"""Predictions of MTEB, which are runs."""

from deadheat.core.errors import (
    DataError,
)
from deadheat.core.io.documents import Document, register_document
from deadheat.core.io.results import Listing

_MTEB = "mteb_model_meta"


def _are_scores(held: object) -> bool:
    """Tell whether a dict has documents with numbers below its first key."""
    documents = next(iter(held.values()), None) if isinstance(held, dict) else None
    return isinstance(documents, dict) and all(isinstance(number, int | float) for number in documents.values())


@register_document(
    "a file of MTEB predictions",
    "run",
    lambda held: isinstance(held.get(_MTEB), dict),
    instead="the judgments are in the task's data set: task.load_data(), then task.dataset",
)
def _read_mteb(held: Document, where: str) -> Listing:
    """Read predictions by subset and split, or by one or the other."""
    parts = {name: one for name, one in held.items() if name != _MTEB and isinstance(one, dict)}
    found = {(name,): one for name, one in parts.items() if _are_scores(one)}
    found |= {(name, split): some for name, one in parts.items() for split, some in one.items() if _are_scores(some)}
    if not found:
        raise DataError(
            "no task of retrieval",
            found=f"{next(iter(parts.values()), None)!r:.60}",
            allowed="{query: {document: score}}",
            path=where,
        )
    tests = [path for path in found if path[-1] == "test"]
    names = ["/".join(path) for path in found]
    if len(found) > 1 and len(tests) != 1:
        keys = "".join(f"[{name!r}]" for name in next(iter(found)))
        raise DataError(
            "several subsets or splits",
            found=", ".join(names),
            allowed="one",
            hint=f"write dh.read_run(json.load(open({where!r})){keys})",
            path=where,
        )
    path = next(iter(tests or found))
    others = ", ".join(name for name in names if name != "/".join(path))
    note = f"predictions of MTEB by {held[_MTEB].get('model_name')}: {'/'.join(path)}"
    return Listing(found[path], (note + (f"; others: {others}" if others else ""),))
