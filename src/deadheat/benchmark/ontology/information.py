"""The information content of terms: from the graph alone, or given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from deadheat.arrays import FloatArray
from deadheat.benchmark.ontology.graph import Graph
from deadheat.benchmark.ontology.terms import first_few
from deadheat.errors import ParameterError
from deadheat.wording import Plain


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
