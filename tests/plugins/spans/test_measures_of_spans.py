"""Measures that are another thing with spans: AllHit and Adjusted in all orders of the chunks, R over what is found."""

from __future__ import annotations

import random
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import MeasureError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Chunk = tuple[int, int]  # where it starts and ends
INSIDE = ("R@1", "R@2", "R", "AllHit@2", "Hit@1", "RR", "P@2")


def value(name: str, order: Sequence[Chunk], spans: Sequence[int]) -> float:
    """Return the value of one order, by characters; each span has ten, and a chunk hits it with five or more."""
    kind, _, cut = name.partition("@")
    top = order[: int(cut) if cut else len(order)]

    def hits(chunk: Chunk, span: int) -> bool:
        return len({*range(*chunk)} & {*range(span, span + 10)}) >= 5

    are_relevant = [any(hits(chunk, span) for span in spans) for chunk in top]
    are_hit = [any(hits(chunk, span) for chunk in top) for span in spans]
    if kind == "R":
        return sum(are_hit) / len(spans)
    if kind == "AllHit":
        return float(all(are_hit))
    if kind == "Hit":
        return float(any(are_relevant))
    if kind == "P":
        return sum(are_relevant) / int(cut)
    assert kind == "RR"
    return 1 / (1 + are_relevant.index(True)) if True in are_relevant else 0.0


def drawn() -> tuple[dict[str, list[int]], dict[str, dict[Chunk, float]]]:
    rng = random.Random(1)
    spans: dict[str, list[int]] = {}
    run: dict[str, dict[Chunk, float]] = {}
    for number in range(25):
        spans[f"q{number:02}"] = [20 * place for place in range(rng.randint(1, 3))]
        starts = rng.sample(range(0, 80, 5), rng.randint(2, 5))
        run[f"q{number:02}"] = {(start, start + rng.choice([10, 25])): float(rng.randrange(2)) for start in starts}
    return spans, run


def orders_of(chunks: dict[Chunk, float]) -> Iterable[list[Chunk]]:
    tied = [[chunk for chunk, score in chunks.items() if score == level] for level in (1.0, 0.0)]
    for first, last in product(permutations(tied[0]), permutations(tied[1])):
        yield [*first, *last]


def evaluated(names: Sequence[str]) -> tuple[dh.Evaluation, dict[str, list[int]], dict[str, dict[Chunk, float]]]:
    spans, run = drawn()
    rows = [(query, "d", start, start + 10) for query, starts in spans.items() for start in starts]
    chunks: Any = [
        {"query_id": query, "doc_id": "d", "start": start, "end": end, "score": score}
        for query, own in run.items()
        for (start, end), score in own.items()
    ]
    return dh.evaluate(dh.Spans(rows), chunks, [*names]), spans, run


def numbers_of(evaluation: dh.Evaluation, name: str, place: int) -> list[float]:
    scores = evaluation[name]
    return [scores.values[place], scores.tie_std[place], scores.tie_min[place], scores.tie_max[place]]


def moments(values: Sequence[float]) -> list[float]:
    return [float(np.mean(values)), float(np.std(values)), min(values), max(values)]


def test_values_are_those_over_all_orders_of_the_chunks() -> None:
    evaluation, spans, run = evaluated(INSIDE)
    for name in INSIDE:
        for place, query in enumerate(evaluation.query_ids.tolist()):
            expected = moments([value(name, order, spans[query]) for order in orders_of(run[query])])
            assert numbers_of(evaluation, name, place) == pytest.approx(expected, abs=1e-12), (name, query)


def test_adjusted_values_are_on_the_scale_of_all_orders_of_what_was_retrieved() -> None:
    names = [f"Adjusted({name})" for name in INSIDE]
    evaluation, spans, run = evaluated(names)
    assert [*evaluation.means()] == names
    n_on_scale = 0
    for inside, name in zip(INSIDE, names, strict=True):
        for place, query in enumerate(evaluation.query_ids.tolist()):
            everything = [value(inside, order, spans[query]) for order in permutations(run[query])]
            mean, best = float(np.mean(everything)), max(everything)
            if best - min(everything) < 1e-12:
                assert np.isnan(evaluation[name].values[place])
                continue
            own = [(value(inside, order, spans[query]) - mean) / (best - mean) for order in orders_of(run[query])]
            assert numbers_of(evaluation, name, place) == pytest.approx(moments(own), abs=1e-9), (name, query)
            n_on_scale += 1
    assert n_on_scale > 60


@pytest.mark.parametrize("notation", ["R(norm='retrieved_all')@5", "AP", "Adjusted(AP)", "Adjusted(nDCG@3)"])
def test_what_counts_chunks_is_refused(notation: str) -> None:
    with pytest.raises(MeasureError):
        evaluated([notation])
