"""Similarities on a graph from their definitions, with sets and breadth-first search: slow, plain, no shared code."""

import math
import random
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Parents: TypeAlias = Mapping[str, Sequence[str]]


def draw_parents(rng: random.Random, n_terms: int, *, n_roots: int = 1) -> dict[str, list[str]]:
    """Draw a graph without cycles; ids do not follow the order of the graph."""
    names = [f"t{number:02}" for number in range(n_terms)]
    rng.shuffle(names)
    parents: dict[str, list[str]] = {}
    for number, name in enumerate(names):
        most = min(number, rng.choice([1, 1, 2, 3]))
        parents[name] = [] if number < n_roots else rng.sample(names[:number], k=max(1, most))
    return parents


def steps_up(parents: Parents, term: str) -> dict[str, int]:
    """Edges on the shortest way from a term to each ancestor, itself at 0."""
    found, frontier = {term: 0}, [term]
    while frontier:
        nearer = frontier.pop(0)
        for parent in parents[nearer]:
            if parent not in found:
                found[parent] = found[nearer] + 1
                frontier.append(parent)
    return found


def shortest_depth(parents: Parents, term: str) -> int:
    """Edges to the nearest root."""
    return min(steps for ancestor, steps in steps_up(parents, term).items() if not parents[ancestor])


def longest_depth(parents: Parents, term: str) -> int:
    """Terms on the longest way from a root, both ends included."""
    return 1 + max((longest_depth(parents, parent) for parent in parents[term]), default=0)


def intrinsic_information(parents: Parents) -> dict[str, float]:
    """Seco's information content: 1 - log(descendants and itself) / log(terms)."""
    covered = {term: sum(term in steps_up(parents, other) for other in parents) for term in parents}
    return {
        term: 0.0 if len(parents) == 1 else 1 - math.log(count) / math.log(len(parents))
        for term, count in covered.items()
    }


def similarity(parents: Parents, information: Mapping[str, float], a: str, b: str, kind: str) -> float:
    """One similarity of two terms."""
    up_a, up_b = steps_up(parents, a), steps_up(parents, b)
    shared = up_a.keys() & up_b.keys()
    if not shared:
        return 0.0
    if a == b and kind != "resnik":
        return 1.0
    if kind == "wu_palmer":
        longest = max(longest_depth(parents, term) for term in shared)
        return 2 * longest / (longest_depth(parents, a) + longest_depth(parents, b))
    if kind == "path":
        return 1 / (1 + min(up_a[term] + up_b[term] for term in shared))
    if kind in {"resnik", "lin", "jiang_conrath"}:
        return _by_information(information, shared, a, b, kind)
    depths = {term: shortest_depth(parents, term) for term in parents}
    return _by_depth(depths, max(depths[term] for term in shared), a, b, kind)


def _by_information(information: Mapping[str, float], shared: set[str], a: str, b: str, kind: str) -> float:
    total, most = information[a] + information[b], max(information[term] for term in shared)
    if kind == "resnik":
        return most
    if kind == "lin":
        return 2 * most / total if total else 0.0
    return 1 - (total - 2 * most) / (2 * max(information.values()))


def _by_depth(depths: Mapping[str, int], deepest: int, a: str, b: str, kind: str) -> float:
    share = deepest / max(depths.values())
    if kind == "simple_resnik_like":
        return share
    p = depths[a] + depths[b] - 2 * deepest
    return 1.0 if p <= 0 else 0.7 * share + 0.3 * (1 - p / (depths[a] + depths[b]))
