"""The parts of an ontology, and their checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from deadheat.arrays import FloatArray
from deadheat.benchmark.ontology.graph import Graph
from deadheat.errors import DataError, ParameterError, SourceTypeError
from deadheat.wording import Plain, did_you_mean

T = TypeVar("T")
SCOPES = ("EXACT", "NARROW", "BROAD", "RELATED")


class Synonym(NamedTuple):
    """Another name of a term.

    Attributes
    ----------
    text : str
    scope : {"EXACT", "NARROW", "BROAD", "RELATED"}
    kind : str
        The type that the ontology gives it, such as ``layperson``, ``abbreviation``, ``plural_form`` or
        ``uk_spelling``; empty if it gives none.
    """

    text: str
    scope: str = "EXACT"
    kind: str = ""


def listed(what: str, of: str, given: Iterable[T]) -> tuple[T, ...]:
    """Return several of something, or raise for a text, which Python would take as several letters."""
    if isinstance(given, str):
        raise SourceTypeError(
            f"{what} must be a list of {of}", given=Plain(f"the text {given!r}"), hint=f"write [{given!r}]"
        )
    return tuple(given)


def in_order(term: str, synonyms: Iterable[Synonym]) -> tuple[Synonym, ...]:
    """Return synonyms of a term sorted by scope, text and kind; their order in files has no meaning."""
    what, fields = f"a synonym of {term!r}", "its text, scope and kind"
    own = listed(f"the synonyms of {term!r}", "Synonym", synonyms)
    checked = [Synonym(*listed(what, fields, synonym)) for synonym in own]
    wrong = next((synonym for synonym in checked if synonym.scope not in SCOPES), None)
    if wrong is not None:
        raise DataError(f"the scope of a synonym must be one of {', '.join(map(repr, SCOPES))}", given=wrong)
    return tuple(sorted(checked, key=lambda synonym: (SCOPES.index(synonym.scope), synonym.text, synonym.kind)))


def ids_of(parents: Mapping[Any, Iterable[str]], path: Path | None) -> tuple[str, ...]:
    """Return the ids sorted, or raise if there is none or one is not text."""
    if not parents:
        raise DataError("an ontology needs at least one term that is not obsolete", given=Plain("none"), path=path)
    wrong = next((term for term in parents if not isinstance(term, str)), None)
    if wrong is not None:
        raise SourceTypeError("the id of a term must be text", given=Plain(f"{wrong!r} ({type(wrong).__name__})"))
    return tuple(sorted(parents))


def indices(
    ids: tuple[str, ...], parents: Mapping[str, Iterable[str]], path: Path | None
) -> tuple[tuple[int, ...], ...]:
    """Return the parents of each term as indices, or raise for one that is not a term."""
    place = {term: number for number, term in enumerate(ids)}
    found: list[tuple[int, ...]] = []
    for term in ids:
        own = dict.fromkeys(listed(f"the parents of {term!r}", "ids", parents[term]))
        unknown = next((parent for parent in own if parent not in place), None)
        if unknown is not None:
            raise DataError(
                f"term {term!r} has the parent {unknown!r}, which is not a term",
                hint=near_id(str(unknown), ids),
                path=path,
            )
        found.append(tuple(sorted(place[parent] for parent in own)))
    return tuple(found)


def near_id(given: str, ids: Sequence[str], labels: Sequence[str] = ()) -> str:
    """Return ``"Did you mean 'x'?"`` for a similarly spelt id or one with this label, or an empty string.

    Numbers close to each other mean nothing: they are never proposed.
    """
    folded = given.strip().casefold()
    for place, term in enumerate(ids):
        if term.casefold().replace("_", ":") == folded.replace("_", ":"):
            return f"Did you mean {term!r}?"
        if labels and labels[place].casefold() == folded:
            return f"Did you mean {term!r} ({labels[place]})?"
    return "" if re.search(r"\d{3}", given) else did_you_mean(given, ids)


def first_few(ids: Sequence[str], most: int = 5) -> str:
    """Return the first few of some ids in words."""
    rest = len(ids) - most
    return ", ".join(map(repr, ids[:most])) + (f" and {rest:,} more" if rest > 0 else "")


def intrinsic(graph: Graph) -> FloatArray:
    r"""Return the intrinsic information content of each term, of shape (n_terms,).

    .. math:: IC(t) = 1 - \log(\text{descendants of t, itself included}) / \log(\text{terms})

    from 0 (a root above all terms) to 1 (a leaf); it rises strictly from a parent to its child.

    References
    ----------
    Seco, Veale and Hayes 2004, "An Intrinsic Information Content Metric for Semantic Similarity in WordNet",
    ECAI 2004, 1089-1090, https://dl.acm.org/doi/10.5555/3000001.3000272.
    """
    covered = graph.n_descendants()
    values = np.zeros(1) if len(covered) == 1 else 1 - np.log(covered) / np.log(len(covered))
    values.setflags(write=False)
    return values


def checked(given: Mapping[str, float], ids: Sequence[str], graph: Graph) -> FloatArray:
    """Return a given information content as an array of shape (n_terms,), or raise `ParameterError`."""
    name = "information_content"
    missing = [term for term in ids if term not in given]
    if missing:
        raise ParameterError(
            f"must have a value for all {len(ids):,} terms",
            argument=name,
            given=Plain(f"none for {first_few(missing)}"),
        )
    others = [str(term) for term in given.keys() - set(ids)]
    if others:
        raise ParameterError(
            "must name terms of the ontology only", argument=name, given=Plain(first_few(sorted(others)))
        )
    values = np.array([_number(given[term], term) for term in ids])
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        raise ParameterError(
            argument=name, given=Plain(f"{values[wrong[0]]:g} for {ids[wrong[0]]!r}"), allowed="finite and 0 or more"
        )
    falls = np.flatnonzero(values[graph.child] < values[graph.parent])
    if len(falls):
        child, parent = int(graph.child[falls[0]]), int(graph.parent[falls[0]])
        raise ParameterError(
            "must not fall from a parent to its child",
            argument=name,
            given=Plain(f"{values[parent]:g} for {ids[parent]!r} and {values[child]:g} for its child {ids[child]!r}"),
        )
    values.setflags(write=False)
    return values


def _number(given: object, term: str) -> float:
    try:
        return float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(
            argument="information_content", given=Plain(f"{given!r} for {term!r}"), allowed="a number for each term"
        ) from None
