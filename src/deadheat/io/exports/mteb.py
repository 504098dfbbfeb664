"""Predictions of MTEB: ``TASK_predictions.json``, by subset and split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from deadheat.errors import DataError
from deadheat.io.exports.base import Export, first_of, register
from deadheat.io.mappings import Nested
from deadheat.wording import Plain

_META = "mteb_model_meta"


def _is_predictions(held: Mapping[Any, Any]) -> bool:
    return isinstance(held.get(_META), dict)


def _splits(held: Mapping[Any, Any]) -> Iterator[tuple[tuple[str, ...], Nested]]:
    """Yield the path of each split's queries, and these."""
    for name, part in held.items():
        if name == _META or not isinstance(part, dict):
            continue
        if _are_queries(part):
            yield (name,), part
        else:
            yield from (((name, split), some) for split, some in part.items() if _are_queries(some))


def _are_queries(held: object) -> bool:
    """Tell whether a dict has documents with numbers below its first key."""
    documents = first_of(held) if isinstance(held, dict) else None
    return isinstance(documents, dict) and all(isinstance(number, int | float) for number in documents.values())


def _read(held: Mapping[Any, Any], where: str) -> tuple[Nested, tuple[str, ...]]:
    found = dict(_splits(held))
    tests = [path for path in found if path[-1] == "test"]
    if not found:
        below = first_of({name: part for name, part in held.items() if name != _META})
        raise DataError(
            "no task of retrieval", given=Plain(f"{below!r:.60}"), allowed="{query: {document: score}}", path=where
        )
    if len(found) > 1 and len(tests) != 1:
        given = Plain(", ".join("/".join(path) for path in found))
        keys = "".join(f"[{name!r}]" for name in next(iter(found)))
        jq = "".join(f"[{name!r}]" for name in next(iter(found))).replace("'", '"')
        hint = f"write dh.read_run(json.load(open({where!r})){keys}), or in a shell jq '.{jq}' {where} > run.json"
        raise DataError("several subsets or splits", given=given, allowed="one", hint=hint, path=where)
    path = next(iter(tests or found))
    others = [f"others: {', '.join('/'.join(one) for one in found if one != path)}"] if len(found) > 1 else []
    model = held[_META].get("model_name")
    return found[path], ("; ".join([f"predictions of MTEB by {model}: {'/'.join(path)}", *others]),)


register(
    Export(
        name="a file of MTEB predictions",
        kind="run",
        matches=_is_predictions,
        read=_read,
        instead="the judgments are in the task's data set: task.load_data(), then task.dataset",
    )
)
