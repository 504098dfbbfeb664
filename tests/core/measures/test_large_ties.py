"""Ties far too large to enumerate: closed forms equal a dynamic programme over all their orders."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

import deadheat as dh
from oracle.prefix_counts import Array, Increment, LargeTie

GRADES = (1, 3)
STOPS = ((2**1 - 1) / 2**3, (2**3 - 1) / 2**3)

TIES = {
    "few in 40": LargeTie([0, None, 1], 40, (2, 3)),
    "one in 700": LargeTie([], 700, (0, 1)),
    "few in 700": LargeTie([None, 0, 1, 1], 700, (3, 2)),
    "half of 120": LargeTie([None] * 3, 120, (30, 30)),
    "nearly all of 300": LargeTie([1], 300, (290, 5)),
    "all of 60, two kinds": LargeTie([], 60, (30, 30)),
    "few in 2500": LargeTie([None, 1], 2500, (3, 3)),
    "many in 900": LargeTie([0], 900, (200, 3)),
}
CUTOFFS = (None, 5, 10, 45, 650)


def inputs(tie: LargeTie) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Name the documents; every third plain one is judged 0, and two relevant ones are not retrieved."""
    plain = tie.size - sum(tie.counts)
    kinds = [*[0] * tie.counts[0], *[1] * tie.counts[1], *[None] * plain]
    scores = {f"a{place}": 2.0 + len(tie.above) - place for place in range(len(tie.above))}
    scores |= {f"t{place}": 1.0 for place in range(tie.size)}
    judged = {}
    for number, (doc, kind) in enumerate(zip(scores, [*tie.above, *kinds], strict=True)):
        if kind is not None:
            judged[doc] = GRADES[kind]
        elif number % 3 == 0:
            judged[doc] = 0
    return {"q": judged | {"unretrieved1": 1, "unretrieved3": 3}}, {"q": scores}


def n_relevant(tie: LargeTie) -> int:
    """Relevant documents in the qrels."""
    return sum(tie.counts) + sum(kind is not None for kind in tie.above) + 2


def ideal_gains(tie: LargeTie) -> list[int]:
    """Relevance of all judged relevant documents, highest first."""
    n_high = tie.counts[1] + list(tie.above).count(1) + 1
    return [3] * n_high + [1] * (n_relevant(tie) - n_high)


def average_precision(tie: LargeTie) -> Increment:
    return lambda rank, _, first, second: (first + second + 1) / rank / n_relevant(tie)


def ndcg(cutoff: int | None) -> Callable[[LargeTie], Increment]:
    def increment(tie: LargeTie) -> Increment:
        ideal = math.fsum(g / math.log2(i + 1) for i, g in enumerate(ideal_gains(tie)[:cutoff], start=1))
        return lambda rank, kind, first, second: GRADES[kind] / math.log2(rank + 1) / ideal + 0 * first + 0 * second

    return increment


def rbp(_: LargeTie) -> Increment:
    return lambda rank, _, first, second: 0.2 * 0.8 ** (rank - 1) + 0 * first + 0 * second


def reciprocal_rank(_: LargeTie) -> Increment:
    return lambda rank, _, first, second: np.where(first + second == 0, 1 / rank, 0.0)


def err(_: LargeTie) -> Increment:
    def increment(rank: int, kind: int, first: Array, second: Array) -> Array:
        reached: Array = (1 - STOPS[0]) ** first * (1 - STOPS[1]) ** second
        return STOPS[kind] * reached / rank

    return increment


def q_measure(tie: LargeTie) -> Increment:
    ideal = list(itertools.accumulate(ideal_gains(tie)))

    def increment(rank: int, kind: int, first: Array, second: Array) -> Array:
        gained: Array = first + second + 1 + first + 3 * second + GRADES[kind]
        return gained / (rank + ideal[min(rank, len(ideal)) - 1]) / n_relevant(tie)

    return increment


def gap(tie: LargeTie) -> Increment:
    def increment(rank: int, kind: int, first: Array, second: Array) -> Array:
        # Level 1 is reached by both kinds, levels 2 and 3 by the second alone.
        count = first + second + 1 + (2 * (second + 1) if kind == 1 else 0)
        return count / rank / sum(ideal_gains(tie))

    return increment


def counted(tie: LargeTie) -> Increment:
    return lambda _rank, _kind, first, second: 1 / n_relevant(tie) + 0 * first + 0 * second


def average_recall(tie: LargeTie) -> Increment:
    return lambda _, __, first, second: (first + second + 1) / n_relevant(tie) ** 2


MEASURES: dict[str, Callable[[int | None], Callable[[LargeTie], Increment]]] = {
    "AP": lambda _: average_precision,
    "nDCG": ndcg,
    "RBP": lambda _: rbp,
    "RR": lambda _: reciprocal_rank,
    "ERR": lambda _: err,
    "Q": lambda _: q_measure,
    "GAP": lambda _: gap,
    "R": lambda _: counted,
    "AR": lambda _: average_recall,
}


def cut(increment: Increment, cutoff: int | None) -> Increment:
    """Let the ranks beyond a cutoff add nothing."""
    if cutoff is None:
        return increment
    return lambda rank, kind, first, second: increment(rank, kind, first, second) * (rank <= cutoff)


@pytest.mark.slow
@pytest.mark.parametrize("tie", TIES.values(), ids=TIES.keys())
@pytest.mark.parametrize("measure", MEASURES)
def test_closed_form_equals_the_programme(measure: str, tie: LargeTie) -> None:
    """Mean and standard deviation, at cutoffs within and beyond the tie."""
    notations = {cutoff: measure + ("" if cutoff is None else f"@{cutoff}") for cutoff in CUTOFFS}
    evaluation = dh.evaluate(*inputs(tie), list(notations.values()))
    for cutoff, notation in notations.items():
        mean, variance = tie.moments(cut(MEASURES[measure](cutoff)(tie), cutoff))
        scores = evaluation[notation]
        assert scores.values[0] == pytest.approx(mean, rel=1e-11, abs=1e-15), notation
        # The programme subtracts the square of the mean, so it knows the variance to that many digits only.
        assert scores.tie_std[0] ** 2 == pytest.approx(variance, rel=1e-9, abs=1e-13 * max(mean, 1e-3) ** 2), notation


@pytest.mark.parametrize(
    ("size", "n_nonrelevant", "n_relevant"), [(60, 20, 10), (400, 50, 30), (900, 5, 200), (50, 0, 9)]
)
def test_bpref_counts_only_judged_documents(size: int, n_nonrelevant: int, n_relevant: int) -> None:
    """The same for trec_eval's bpref, where the two kinds are judged non-relevant and relevant."""
    tie = LargeTie([0, None, 1][: 3 if n_nonrelevant else 0], size, (n_nonrelevant, n_relevant))
    scores = {f"a{place}": 9.0 - place for place in range(len(tie.above))} | {f"t{doc}": 1.0 for doc in range(size)}
    judged = {f"a{place}": kind for place, kind in enumerate(tie.above) if kind is not None}
    judged |= {f"t{doc}": int(doc >= n_nonrelevant) for doc in range(n_nonrelevant + n_relevant)} | {"unretrieved": 1}
    n_all = sum(judged.values())
    most = min(n_all, len(judged) - n_all)

    def increment(_: int, kind: int, first: Array, second: Array) -> Array:
        lost = np.minimum(first, n_all) / max(most, 1)
        return kind * (1 - np.where(first > 0, lost, 0.0)) / n_all + 0 * second

    mean, variance = tie.moments(increment)
    found = dh.evaluate({"q": judged}, {"q": scores}, ["bpref"])["bpref"]
    assert found.values[0] == pytest.approx(mean, rel=1e-11)
    assert found.tie_std[0] ** 2 == pytest.approx(variance, rel=1e-9, abs=1e-14)
