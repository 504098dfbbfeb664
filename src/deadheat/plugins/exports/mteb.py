"""Predictions of MTEB, which are runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deadheat.core.errors import (
    DataError,
)
from deadheat.core.io.documents import Document, register_document
from deadheat.core.io.results import Listing
from deadheat.core.wording import format_count
from deadheat.plugins.exports.mteb_tasks import WITHOUT_IDENTICAL

_MTEB = "mteb_model_meta"
_ENDING = "_predictions.json"  # of a file, after the name of its task


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
    notes = [note + (f"; others: {others}" if others else "")]
    task, ending, _ = Path(where).name.partition(_ENDING)
    if not ending or task not in WITHOUT_IDENTICAL:
        return Listing(found[path], tuple(notes))
    documents, n_excluded = _without_identical(found[path])
    excluded = format_count(n_excluded, "document")
    notes.append(f"{excluded} with the id of their query left out, as MTEB does in {task}")
    return Listing(documents, tuple(notes))


def _without_identical(documents: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """Return predictions without documents that have the id of their query, and how many these were."""
    remaining = dict(documents)
    n_excluded = 0
    for query, scores in documents.items():
        if query in scores:
            remaining[query] = {doc: score for doc, score in scores.items() if doc != query}
            n_excluded += 1
    return remaining, n_excluded
