"""The steps of a history compared: each with the one before, or with the reference."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deadheat.core.arrays import IntArray, TextArray, is_member
from deadheat.core.design import Design
from deadheat.core.evaluation.read_saved import measure_of
from deadheat.core.measures import Measure
from deadheat.core.measures.selection import ByMeasure
from deadheat.plugins.compare.flips import Side, over_all
from deadheat.plugins.compare.of_values import side_of_values
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.compare.pairs import compare_sides
from deadheat.plugins.weeks.steps import Step


def compare_steps(
    steps: Sequence[Step],
    measures: Sequence[str],
    query_ids: TextArray,
    baselines: Sequence[int | None],
    *,
    design: Design,
    cluster: IntArray | None,
) -> dict[str, tuple[Pair | None, ...]]:
    """Compare each step with its baseline, by measure.

    Parameters
    ----------
    steps : sequence of Step
    measures : sequence of str
    query_ids : ndarray of str, shape (n_queries,)
        Of all steps together.
    baselines : sequence of (int or None)
        For each step, the place of the step that it is compared with.
    design : Design
    cluster : ndarray of int, shape (n_queries,), or None

    Returns
    -------
    dict of str to tuple of (Pair or None)
        A pair for each step; None without a baseline, and where the two cannot be compared.
    """
    places = _places_of_pairs(steps, baselines)
    pairs_by_measure: dict[str, tuple[Pair | None, ...]] = ByMeasure()
    for label in measures:
        pairs: list[Pair | None] = [None] * len(steps)
        if places:
            measure = measure_of(label, steps[0].means[label])
            sides = {place: _side_of_step(step, measure, query_ids) for place, step in enumerate(steps)}
            compared = compare_sides([measure], [sides], places, design=design, cluster=cluster)
            for (place, _), pair in zip(places, compared, strict=True):
                pairs[place] = pair
        pairs_by_measure[label] = tuple(pairs)
    return pairs_by_measure


def _places_of_pairs(steps: Sequence[Step], baselines: Sequence[int | None]) -> list[tuple[int, int]]:
    """Return the places of each step that can be compared, and of its baseline."""
    places: list[tuple[int, int]] = []
    for place, place_of_baseline in enumerate(baselines):
        if place_of_baseline is None:
            continue
        step, baseline = steps[place], steps[place_of_baseline]
        are_comparable = step.is_comparable and baseline.is_comparable
        if are_comparable or step.qrels_hash == baseline.qrels_hash:
            places.append((place, place_of_baseline))
    return places


def _side_of_step(step: Step, measure: Measure, query_ids: TextArray) -> Side:
    """Return the values of a step by a measure, over the queries of all steps, as one side of a comparison."""
    label = measure.label
    is_evaluated = is_member(query_ids, step.query_ids)
    ties = {column: over_all(numbers, is_evaluated, np.nan) for column, numbers in step.ties[label].items()}
    weights = None
    if step.weights is not None and not measure.total:
        weights = over_all(step.weights, is_evaluated, 0.0)
    return replace(
        side_of_values(measure, over_all(step.values[label], is_evaluated, np.nan)),
        mean=ties["tie_mean"],
        variance=ties["tie_std"] ** 2,
        low=ties["tie_min"],
        high=ties["tie_max"],
        is_exact=not np.nan_to_num(ties["standard_error"]).any(),
        is_evaluated=is_evaluated,
        score_parts=step.parts[label],
        weights=weights,
    )
