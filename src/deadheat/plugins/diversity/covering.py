"""How many of several subtopics have a document on the first ranks of a tie, over all orders of the tie."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from math import comb, perm
from typing import TypeAlias

from deadheat.core.arrays import BoolArray
from deadheat.core.errors import MeasureError

MOST_STATES = 1 << 14
"""Sets of subtopics that documents may have together, while they are counted."""

Kinds: TypeAlias = tuple[tuple[int, int], ...]
"""Documents by their subtopics: a set as a number with a bit for each subtopic, and how many documents have it."""


@dataclass(frozen=True)
class CoverChance:
    """How likely all subtopics have a document on the first ranks.

    Attributes
    ----------
    probability : float
    is_possible, is_certain : bool
        Whether some order and whether every order does it; the probability is rounded.
    """

    probability: float
    is_possible: bool
    is_certain: bool


@dataclass(frozen=True)
class HitNumbers:
    """How many subtopics have a document on the first ranks.

    Attributes
    ----------
    mean, variance : float
    fewest, most : int
        In some order.
    """

    mean: float
    variance: float
    fewest: int
    most: int


def count_kinds(member: BoolArray) -> Kinds:
    """Return how many documents have each set of subtopics, which is a number with a bit for each subtopic."""
    counts: Counter[int] = Counter()
    for row in member.tolist():
        subtopics = 0
        for place, has_subtopic in enumerate(row):
            if has_subtopic:
                subtopics |= 1 << place
        if subtopics:
            counts[subtopics] += 1
    return tuple(sorted(counts.items()))


@lru_cache(maxsize=1 << 14)
def hit_numbers(kinds: Kinds, tied: int, inside: int) -> HitNumbers:
    """Return how many subtopics have a document on the first ranks of a tie, as :func:`cover_chance` counts them.

    Examples
    --------
    >>> hit_numbers(((0b01, 1), (0b10, 1)), tied=3, inside=2)
    HitNumbers(mean=1.3333333333333333, variance=0.2222222222222222, fewest=1, most=2)
    """
    n_documents = sum(count for _, count in kinds)
    total = perm(tied, n_documents)
    orders_by_hits: dict[int, int] = {}
    for n_hit, ways in count_hits(kinds).items():
        n_orders = 0
        for n_chosen, n_ways in enumerate(ways):
            if n_ways:
                n_orders += n_ways * perm(inside, n_chosen) * perm(tied - inside, n_documents - n_chosen)
        if n_orders:
            orders_by_hits[n_hit] = n_orders
    first = sum(n_hit * n_orders for n_hit, n_orders in orders_by_hits.items())
    second = sum(n_hit**2 * n_orders for n_hit, n_orders in orders_by_hits.items())
    variance = (second * total - first**2) / total**2
    return HitNumbers(first / total, variance, min(orders_by_hits), max(orders_by_hits))


def count_hits(kinds: Kinds) -> dict[int, list[int]]:
    """Return, by how many subtopics are hit, for each number of documents how many choices of so many hit that many.

    Examples
    --------
    >>> count_hits(((0b01, 2), (0b10, 1)))
    {0: [1], 1: [0, 3, 1], 2: [0, 0, 2, 1]}
    """
    ways_by_hits: dict[int, list[int]] = {0: [1]}
    for part in _split_by_shared_subtopics(kinds):
        of_part: dict[int, list[int]] = {}
        for subtopics, ways in _count_by_set(part).items():
            _add(of_part, subtopics.bit_count(), ways)
        found: dict[int, list[int]] = {}
        for n_before, ways_before in ways_by_hits.items():
            for n_hit, ways in of_part.items():
                _add(found, n_before + n_hit, _multiply(ways_before, ways))
        ways_by_hits = found
    return ways_by_hits


@lru_cache(maxsize=1 << 14)
def cover_chance(kinds: Kinds, tied: int, inside: int) -> CoverChance:
    r"""Return the chance that the first ranks of a tie have a document of each subtopic.

    M of the n documents in the tie have a subtopic, and m ranks count. Let :math:`w_j` of the ways to choose j of the M
    have all subtopics. Each choice of j is equally likely to be on the first ranks, so the chance is

    .. math:: \sum_j w_j \binom{n - M}{m - j} \bigg/ \binom{n}{m}

    which is computed with whole numbers, each ratio of binomials as one of falling factorials.

    Parameters
    ----------
    kinds : tuple of (int, int)
        The documents that have a subtopic, sorted.
    tied, inside : int
        Documents in the tie, and its ranks that count.

    Examples
    --------
    One of three documents is of each of two subtopics, and the first two ranks count:

    >>> cover_chance(((0b01, 1), (0b10, 1)), tied=3, inside=2).probability
    0.3333333333333333
    """
    n_documents = sum(count for _, count in kinds)
    total = perm(tied, n_documents)
    favourable = 0
    for n_chosen, n_ways in enumerate(count_covers(kinds)):
        if n_ways:
            favourable += n_ways * perm(inside, n_chosen) * perm(tied - inside, n_documents - n_chosen)
    return CoverChance(favourable / total, favourable > 0, favourable == total)


def count_covers(kinds: Kinds) -> list[int]:
    """Return, for each number of documents, how many choices of so many have all subtopics.

    Examples
    --------
    >>> count_covers(((0b01, 2), (0b10, 1)))
    [0, 0, 2, 1]
    """
    ways = [1]
    for part in _split_by_shared_subtopics(kinds):
        ways_by_set = _count_by_set(part)
        all_subtopics = max(ways_by_set, key=int.bit_count)
        ways = _multiply(ways, ways_by_set[all_subtopics])
    return ways


def _count_by_set(kinds: Kinds) -> dict[int, list[int]]:
    """Return, by the set of subtopics that are hit, for each number of documents how many choices hit that set."""
    ways_by_set: dict[int, list[int]] = {0: [1]}
    for subtopics, count in kinds:
        some = [comb(count, n_chosen) for n_chosen in range(count + 1)]
        some[0] = 0
        found: dict[int, list[int]] = {}
        for seen, ways in ways_by_set.items():
            _add(found, seen, ways)
            _add(found, seen | subtopics, _multiply(ways, some))
        if len(found) > MOST_STATES:
            raise MeasureError(
                "too many subtopics that share documents of one tie at the cutoff to count all orders",
                allowed=f"up to {MOST_STATES:,} sets of them",
            )
        ways_by_set = found
    return ways_by_set


def _split_by_shared_subtopics(kinds: Kinds) -> list[Kinds]:
    """Return the documents in parts, of which no two share a subtopic."""
    parts: list[tuple[int, Kinds]] = []
    for kind in kinds:
        subtopics = kind[0]
        joined: Kinds = (kind,)
        separate = []
        for of_part, members in parts:
            if of_part & kind[0]:
                subtopics |= of_part
                joined += members
            else:
                separate.append((of_part, members))
        parts = [*separate, (subtopics, joined)]
    return [members for _, members in parts]


def _add(ways_by_set: dict[int, list[int]], subtopics: int, ways: list[int]) -> None:
    """Add ways to those of a set of subtopics."""
    present = ways_by_set.get(subtopics, [])
    total = [0] * max(len(present), len(ways))
    for terms in (present, ways):
        for n_chosen, n_ways in enumerate(terms):
            total[n_chosen] += n_ways
    ways_by_set[subtopics] = total


def _multiply(first: list[int], second: list[int]) -> list[int]:
    """Return the coefficients of the product of two polynomials."""
    product = [0] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        if not a:
            continue
        for j, b in enumerate(second):
            product[i + j] += a * b
    return product
