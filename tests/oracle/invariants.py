"""What must hold between measures, whatever was retrieved: if it does not, deadheat is wrong."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from deadheat import RR, Hit, MaxRel, P, R
from deadheat.core.wording import format_count
from deadheat.plugins.bench.report_measures import cutoff_of, uncut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deadheat import Evaluation, Measure
    from deadheat.api import BoolArray

NEARLY = 1e-9
GROW = (RR, Hit, R, MaxRel)  # a deeper look can only add to them


class BrokenInvariantError(RuntimeError):
    """Two measures contradict each other: a mistake in deadheat, not in the data."""


def check(evaluation: Evaluation) -> None:
    """Raise `BrokenInvariantError` if the scores of a query contradict each other.

    Hit@1 is P@1; Hit@k is not below R@k, and is R@k with one expected id; RR is not below Hit@1; Hit, R, RR and MaxRel
    grow with the cutoff; and every value is in its measure's range.
    """
    for low, high, is_equal in _rules(evaluation):
        below, above = evaluation[low].values, evaluation[high].values
        _hold(evaluation, f"{low} <= {high}", below <= above + NEARLY)
        if is_equal is not None:
            _hold(evaluation, f"{low} = {high}", ~is_equal | (np.abs(below - above) <= NEARLY))
    for scores in evaluation:
        smallest, largest = scores.measure.range
        inside = (scores.values >= smallest - NEARLY) & (scores.values <= largest + NEARLY)
        _hold(evaluation, f"{scores.measure} in [{smallest}, {largest}]", inside | ~scores.kept)


def _rules(evaluation: Evaluation) -> Iterator[tuple[Measure, Measure, BoolArray | None]]:
    """Give pairs of measures, the smaller one first, and for which queries they are equal."""
    held = evaluation.measures
    everywhere = np.ones(len(evaluation.query_ids), np.bool_)
    for hit in (one for one in held if isinstance(one, Hit)):
        recall, precision = R(rel=hit.rel, cutoff=hit.cutoff), P(rel=hit.rel, cutoff=hit.cutoff)
        if recall in held:
            yield recall, hit, _has_one(evaluation, recall)
        if hit.cutoff == 1 and precision in held:
            yield hit, precision, everywhere
        if hit.cutoff == 1 and RR(rel=hit.rel) in held:
            yield hit, RR(rel=hit.rel), None
    for kind in dict.fromkeys(uncut(one) for one in held if isinstance(one, GROW)):
        cut = sorted((one for one in held if uncut(one) == kind), key=lambda one: cutoff_of(one) or np.inf)
        for shallow, deep in pairwise(cut):
            yield shallow, deep, None


def _has_one(evaluation: Evaluation, recall: R) -> BoolArray | None:
    """Tell which queries have one relevant document, if the placements say so."""
    return evaluation.placements.n_relevant(recall.rel) == 1


def _hold(evaluation: Evaluation, rule: str, holds: BoolArray) -> None:
    if not holds.all():
        query = evaluation.query_ids[int(np.argmin(holds))]
        failing = format_count(int((~holds).sum()), "query", "queries")
        msg = f"{rule} does not hold for {query!r} of {evaluation.name}, and {failing} in all"
        raise BrokenInvariantError(msg)
