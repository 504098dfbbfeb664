"""Errors for results that cannot be read, with the line to write instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from typing import Any

from deadheat.core import hooks
from deadheat.core.errors import ABSENT, Advice, DataError, DuplicateError, SourceTypeError
from deadheat.core.io.forms import known_forms
from deadheat.core.io.ids import is_id
from deadheat.core.io.kinds import ANSWERABLE, COLUMN_NAMES, Kind
from deadheat.core.io.result_parts import (
    PADDING,
    describe_near_paths,
    describe_object,
    get_at_path,
    get_member,
    is_result_set,
    list_paths,
)
from deadheat.core.io.texts import MATCH_TEXTS, is_text, names_a_text

CALL: dict[Kind, str] = {"run": "dh.Run.of_results", "qrels": "dh.Qrels.of_results"}
_LISTS: dict[Kind, str] = {
    "run": "a dict {document: score}, or a list of results, of ids or of (id, score), best first",
    "qrels": "a dict {document: relevance}, or a set, list or single id of relevant documents",
}
LEAVE_OUT_PADDING = "FAISS and others fill lists up with -1, which is no document: leave these out first"
KEEP_ONE = Advice("duplicates", "best", when="for several chunks of one document, ")
_N_SHOWN = 5  # places of a repeated document
_N_PATHS = 6  # that are shown instead of one that leads nowhere


def make_no_list_error(given: object, query: object, kind: Kind, where: str, line: int | None) -> SourceTypeError:
    """Return the error for the documents of a query that are no list of results."""
    return SourceTypeError(
        found=f"{describe_object(given)} for query {query!r}",
        allowed=_LISTS[kind],
        hint=_advise_on_list(given),
        path=where,
        line=line,
    )


def _advise_on_list(given: object) -> str:
    """Return what to give instead of an object without a list of results; "" where that is not known."""
    if isinstance(given, AbstractSet):
        return "a set has no order: give a list, best first"
    if is_id(given):
        return "write [id] for a single document"
    if is_result_set(given):
        return "it has the results of several queries: give it alone, or query for one at a time"
    missing_plugin = hooks.advise_on_missing("the results of a search library", "objects")
    if missing_plugin:
        return missing_plugin
    if isinstance(given, Mapping):
        keys = ", ".join(map(repr, list(given)[:6]))
        return f"its keys are {keys}: give the list that is in it"
    return ""


def make_no_id_error(
    result: object, what: str, pick: str | Callable[[Any], Any] | None, kind: Kind, where: str
) -> DataError | SourceTypeError:
    """Return the error for a result whose id is not found, with the line that would work.

    Parameters
    ----------
    result : object
    what : str
        Which result of which query, in words.
    pick : str or callable, optional
        Where the user looks for the id.
    kind : {"qrels", "run"}
    where : str
        For messages.
    """
    known_paths: tuple[object, ...] = (pick,)
    if pick is None:
        known_paths = (*COLUMN_NAMES[kind]["doc_id"], "id", "_id")
    paths = list_paths(result)
    are_at_top = not paths or "." not in paths[0]
    if are_at_top and any(get_at_path(result, path) is None for path in known_paths if isinstance(path, str)):
        return DataError(f"the id of {what} is None", allowed="text or a whole number", path=where)
    if pick is not None:
        place = "id" if callable(pick) else pick
        return DataError(f"{what} has no id at {place!r}", hint=describe_near_paths(place, result), path=where)
    if kind == "qrels" and get_member(result, ANSWERABLE) is not ABSENT:
        return SourceTypeError(
            f"{what} has no id, but says {ANSWERABLE}",
            found=describe_object(result),
            allowed=f"an id, or {ANSWERABLE} in a table with the columns query_id and doc_id",
            hint="in a dict write [], which counts as a query without a relevant document",
            path=where,
        )
    missing_plugin = hooks.advise_on_missing("the results of a search library", "objects")
    return SourceTypeError(
        f"cannot find the id of {what}",
        found=describe_object(result),
        hint=missing_plugin or _advise_on_id(result, paths, kind),
        path=where,
    )


def _advise_on_id(result: object, paths: Sequence[str], kind: Kind) -> str:
    """Return what to write for a result whose id may be at one of some paths."""
    if kind == "qrels" and isinstance(result, list | tuple) and result and all(map(is_id, result)):
        return f"a group of documents is a list of texts: write {list(map(str, result))}"
    likely = [path for path in paths if is_id(get_at_path(result, path))]  # others would be refused
    if not likely:
        return "give the ids themselves"
    texts = [path for path in likely if names_a_text(path) or is_text(get_at_path(result, path))]
    likely = [path for path in likely if path not in texts]
    if not likely:
        return (
            f"it has a text and no id, and {MATCH_TEXTS}; if only equal texts are one document, write"
            f' {CALL[kind]}(results, id="{texts[0]}")'
        )
    advice = f'write {CALL[kind]}(results, id="{likely[0]}")'
    if len(likely) > 1:
        advice += f", or another of {', '.join(map(repr, likely[1 : _N_PATHS + 1]))}"
    return advice


def make_repeated_error(
    docs: Sequence[str],
    numbers: Sequence[Any],
    results: Sequence[Any],
    query: object,
    *,
    kind: Kind,
    where: str,
    line: int | None,
) -> DuplicateError:
    """Return the error for a document that a query has twice.

    Parameters
    ----------
    docs, numbers, results : sequence of length n_results
        The ids and numbers, and the results that have them.
    query : object
    kind : {"qrels", "run"}
    where, line
        For messages.
    """
    is_padded = kind == "run" and docs.count(PADDING) > 1
    repeated = PADDING if is_padded else _find_repeated(docs)
    places = [place for place, doc in enumerate(docs) if doc == repeated]
    first_places = places[:_N_SHOWN]
    shown_places = ", ".join(str(place + 1) for place in first_places)
    problem = f"document {repeated!r} comes {len(places)} times for query {query!r} (results {shown_places})"
    if kind == "qrels":
        problem += f" with relevance {' and '.join(str(numbers[place]) for place in first_places)}"
    hint: str | Advice | None = None
    python = None
    if is_padded:
        hint = LEAVE_OUT_PADDING
    else:
        python = _advise_on_indices([results[place] for place in places])
        if kind == "run" and not python:
            hint = KEEP_ONE
        elif not python:
            python = f'write {CALL[kind]}(results, duplicates="best") for its highest relevance'
    return DuplicateError(problem, allowed="once", hint=hint, python=python, path=where, line=line)


def _find_repeated(docs: Sequence[str]) -> str:
    """Return the document that is the first to come a second time."""
    seen = set()
    for doc in docs:
        if doc in seen:
            return doc
        seen.add(doc)
    raise ValueError("no document is repeated")


def _advise_on_indices(results: Sequence[object]) -> str:
    """Return what to write where results with one id are from several indices; "" where they are from one."""
    for shape in known_forms().shapes:
        if shape.within:
            indices = sorted({str(get_at_path(result, shape.within)) for result in results})
            if len(indices) > 1:
                new_id = f"id=lambda hit: hit[{shape.within!r}] + '/' + hit[{shape.id!r}]"
                return f"it is in {', '.join(indices)}: write {new_id}"
    return ""
