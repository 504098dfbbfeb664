"""explain(): the conventions that tools really use, searched for those that give a reported number."""

import math
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from deadheat.core.arrays import FloatArray, use_default_arithmetic
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import ParameterError
from deadheat.core.evaluation.evaluate import find_tie_keys
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.tie_spread import TieSpread
from deadheat.core.evaluation.together import check_of_documents
from deadheat.core.measures.notation import MeasureLike
from deadheat.core.placements.place import open_pair
from deadheat.core.placements.placements import Placements
from deadheat.plugins.compat.explain_search import Search, Way
from deadheat.plugins.compat.explanation import Explanation, Range
from deadheat.plugins.compat.judged_run import JudgedRun
from deadheat.plugins.compat.reported import FINEST, Reported, parse_all_reported

N_NEAREST = 3  # ways that are named where none fits


def explain(
    qrels: Source,
    run: Source,
    reported: Mapping[MeasureLike, float | str],
    *,
    ascending: bool = False,
    duplicates: str = "error",
    then_by: Source | Sequence[Source] | None = None,
) -> Explanation:
    """Find the conventions under which a run has the values that somebody reported.

    Tools break ties in different ways, keep 32 or 64 bits of a score, have different gains, ideals and divisors, and
    count or leave out queries. All that known tools do is tried, each with its options, and every change of one
    setting of a tool; of two settings for trec_eval and deadheat.

    Parameters
    ----------
    qrels, run : path, dict of dict, dataframe, Qrels or Run
        As for :func:`deadheat.evaluate`; under ``"input"`` ties are in the order of the run.
    reported : dict of measure to float or str
        A value is reproduced if it is the reported one to its digits. A text keeps zeros at its end, as "0.680"; one
        above the range of its measure and up to 100, or with a percent sign, is a percentage. Parameters that a
        measure names are as they are: ``"AP(rel=2)"``.
    ascending : bool, default False
        Lower scores rank first, as of distances.
    duplicates : {"error", "best", "first", "trust"}, default "error"
        As for :func:`deadheat.evaluate`.
    then_by : run or list of runs, optional
        As for :func:`deadheat.evaluate`.

    Returns
    -------
    Explanation
        ``.matches``, likeliest first, each with ``.tool``, ``.settings`` and ``.value``.

    Raises
    ------
    ParameterError
        Nothing is reported, or it is no number.
    DataError
        The data cannot be evaluated.

    Examples
    --------
    >>> qrels, run = {"q": {"a": 1, "c": 1}}, {"q": {"a": 0.5, "b": 0.5, "c": 0.1}}
    >>> explain(qrels, run, {"RR": "0.50"}).matches[0].tool
    'trec_eval'
    >>> explain(qrels, run, {"RR": 0.75}).tools
    ('deadheat',)
    >>> explain(qrels, run, {"RR": 0.2})
    <Explanation of run, RR=0.2: nothing reproduces it>
    """
    if not isinstance(cast("object", reported), Mapping) or not reported:
        raise ParameterError(
            argument="reported", given=reported, allowed='a dict of numbers by measure, such as {"nDCG@10": 0.6807}'
        )
    numbers = parse_all_reported(reported.items())
    judged, retrieved = open_pair(qrels, run, ascending=ascending, duplicates=duplicates)
    tie_keys = find_tie_keys(run, then_by)
    return explain_reported(judged, retrieved.then_by(*tie_keys), numbers)


@use_default_arithmetic
def explain_reported(qrels: Qrels, run: Run, numbers: Sequence[Reported]) -> Explanation:
    """Do what :func:`explain` does, for data and numbers that are read already, without a check for duplicates."""
    check_of_documents("an explanation of other values", qrels)
    search = Search(JudgedRun(qrels, run), tuple(numbers))
    placements = search.judged.plain
    ways = list(search.ways())
    fitting_ways = [way for way in ways if _fits_all(way, numbers)]
    nearest_ways = sorted(ways, key=lambda way: _compute_distance(way, numbers))
    likeliest = next(iter(fitting_ways or nearest_ways), None)
    n_fitting: dict[str, int] = {}
    ranges: dict[str, Range] = {}
    for n, number in enumerate(numbers):
        label = number.measure.label
        n_fitting[label] = sum(number.is_printed_from(way.values[n]) for way in ways)
        skips_missing = likeliest is not None and likeliest.settings[n].missing == "skip"
        ranges[label] = _compute_tie_range(number, placements, skips_missing=skips_missing)
    rounded_values = [_round_to_units(ways, n, number) for n, number in enumerate(numbers)]
    return Explanation(
        name=run.name,
        reported=tuple(numbers),
        matches=tuple(search.match(way) for way in fitting_ways),
        nearest=() if fitting_ways else tuple(search.match(way) for way in nearest_ways[:N_NEAREST]),
        n_tried=len(ways),
        n_values=len(np.unique(rounded_values[0])),
        chance=math.prod(map(_compute_chance, rounded_values)),
        fitting=n_fitting,
        ranges=ranges,
        n_queries=placements.n_queries,
        missing_queries=tuple(placements.query_ids[placements.missing].tolist()),
    )


def _fits_all(way: Way, numbers: Sequence[Reported]) -> bool:
    """Tell whether all values of a way print as the numbers."""
    pairs = zip(numbers, way.values, strict=True)
    return all(number.is_printed_from(value) for number, value in pairs)


def _compute_distance(way: Way, numbers: Sequence[Reported]) -> float:
    """Return the largest difference between a value of a way and its number."""
    pairs = zip(numbers, way.values, strict=True)
    return max(abs(value - number.value) for number, value in pairs)


def _round_to_units(ways: Sequence[Way], n: int, number: Reported) -> FloatArray:
    """Return the values of the measure `n` as whole numbers of units of the last reported digit."""
    values = np.array([way.values[n] for way in ways])
    return np.round(values / (2 * max(number.half_unit, FINEST)))


def _compute_chance(rounded_values: FloatArray) -> float:
    """Return the share of the numbers between the lowest and the highest value that some value prints as."""
    if not len(rounded_values):
        return 0.0
    n_between = rounded_values.max() - rounded_values.min() + 1
    return float(len(np.unique(rounded_values)) / n_between)


def _compute_tie_range(number: Reported, placements: Placements, *, skips_missing: bool) -> Range:
    """Return what the order of ties alone makes of a measure."""
    if skips_missing:
        placements = placements.select(~placements.missing)
    spread = TieSpread(number.measure, placements)
    scores = Scores(number.measure, placements.query_ids, spread.mean, spread)
    low = scores.reported("tie_min")
    high = scores.reported("tie_max")
    return Range(
        mean=number.to_reported_unit(scores.reported("")),
        low=number.to_reported_unit(low),
        high=number.to_reported_unit(high),
        is_inside=number.is_between(low, high),
        skips_missing=skips_missing,
    )
