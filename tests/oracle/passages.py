"""Spans and chunks character by character, over every order of the ties: sets of positions, and no code of deadheat."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from oracle.orders import Moments

Place = tuple[str, int, int]
"""A document, and where a passage starts and ends in it."""


@dataclass(frozen=True)
class Case:
    """The spans of one query, and the chunks of a run with their scores."""

    spans: Sequence[Place]
    chunks: Mapping[Place, float]
    orders: list[tuple[Place, ...]] = field(init=False)

    def __post_init__(self) -> None:
        ties = [[one for one, own in self.chunks.items() if own == score] for score in self.levels()]
        orders = itertools.product(*(itertools.permutations(tie) for tie in ties))
        object.__setattr__(self, "orders", [tuple(itertools.chain.from_iterable(order)) for order in orders])

    def levels(self) -> list[float]:
        return sorted(set(self.chunks.values()), reverse=True)


def characters(places: Sequence[Place]) -> set[tuple[str, int]]:
    """Return every character of some passages, once."""
    return {(doc, at) for doc, start, end in places for at in range(start, end)}


def is_hit(span: Place, chunk: Place, overlap: float, overlap_of: str) -> bool:
    own, held = characters([span]), characters([chunk])
    of = {"span": own, "chunk": held, "any": own & held}[overlap_of]
    return bool(own & held) and (overlap_of == "any" or len(own & held) / len(of) >= overlap)


def covered(order: Sequence[Place], spans: Sequence[Place]) -> dict[str, float]:
    """Return what the characters of a list say of those of the spans."""
    top, wanted = characters(order), characters(spans)
    both, length = len(top & wanted), sum(end - start for _, start, end in order)
    return {
        "CharRecall": both / len(wanted),
        "CharPrecision": both / len(top) if top else 0.0,
        "CharIoU": both / len(top | wanted),
        "CharDensity": both / length if length else 0.0,
    }


def moments(value: Callable[[Sequence[Place]], float], case: Case) -> Moments:
    """Return the moments of a measure of the ranking over all orders."""
    values = [value(order) for order in case.orders]
    return Moments(float(np.mean(values)), float(np.var(values)), min(values), max(values))


def drawn(rng: random.Random, *, n_chunks: int = 5, length: int = 12) -> Case:
    """Return a small case: chunks may overlap, be nested or empty; spans may be nested and across chunks."""

    def place(least: int) -> Place:
        start = rng.randrange(length - 1)
        return rng.choice("dde"), start, rng.randint(min(start + least, length), length)

    spans = {place(1) for _ in range(rng.randint(1, 3))}
    chunks = {place(0) for _ in range(rng.randint(1, n_chunks))}
    levels = rng.choice(((1.0,), (1.0, 2.0), (1.0, 2.0, 3.0)))
    return Case(sorted(spans), {one: rng.choice(levels) for one in sorted(chunks)})
