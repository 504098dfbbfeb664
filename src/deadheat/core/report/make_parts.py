"""The parts of evaluations that a report has rows for: each run in each stratum, or in all its queries."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat

import numpy as np

from deadheat.core.arrays import is_member
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import Interval, IntervalOptions
from deadheat.core.evaluation.reported import report_numbers
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.strata import Strata
from deadheat.core.evaluation.strata_order import union_of_strata
from deadheat.core.evaluation.stratum import Stratum
from deadheat.core.measures.selection import ByMeasure
from deadheat.core.report.report_parts import Part, PartNumbers


def parts_of(
    evaluations: Sequence[Evaluation], strata: Sequence[Strata], options: IntervalOptions | None
) -> list[Part]:
    """Return a part for each run and stratum that it has, or for all its queries; without options have no intervals."""
    if strata:
        return _parts_of_strata(strata, options)
    parts = []
    for run, evaluation in enumerate(evaluations):
        intervals: Mapping[str, Interval] = {}
        if options is not None:
            intervals = evaluation.intervals(**vars(options))
        parts.append(Part(run, evaluation, {(): evaluation}, (), _number_evaluation(evaluation), intervals))
    return parts


def _parts_of_strata(strata_of_runs: Sequence[Strata], options: IntervalOptions | None) -> list[Part]:
    """Return a part for each stratum and run that has it."""
    parts_of_runs = []
    for run, strata in enumerate(strata_of_runs):
        intervals: Mapping[Stratum, Mapping[str, Interval]] = {}
        if options is not None:
            intervals = strata.intervals(**vars(options))
        parts = {}
        for stratum, numbers in zip(strata, _number_strata(strata), strict=True):
            parts[stratum] = Part(run, strata.whole, strata, stratum, numbers, intervals.get(stratum, {}))
        parts_of_runs.append(parts)
    if len(parts_of_runs) == 1:
        return list(parts_of_runs[0].values())
    return [
        parts[stratum] for stratum in union_of_strata(strata_of_runs) for parts in parts_of_runs if stratum in parts
    ]


def _number_evaluation(evaluation: Evaluation) -> Mapping[str, PartNumbers]:
    """Return the numbers of an evaluation by measure."""
    numbers = {}
    for scores in evaluation:
        n_unexplained = len(unexplained(evaluation, scores))
        numbers[scores.measure.label] = PartNumbers(
            scores.measure, report_numbers(scores), len(scores.query_ids), n_unexplained
        )
    return ByMeasure(numbers, rel=evaluation.conventions.rel)


def _number_strata(strata: Strata) -> Iterator[Mapping[str, PartNumbers]]:
    """Yield the numbers of each stratum by measure."""
    rel = strata.whole.conventions.rel
    columns = []
    for scores in strata.whole:
        is_unexplained = is_member(strata.whole.query_ids, np.array(unexplained(strata.whole, scores), object))
        counts = strata.count_queries(is_unexplained).tolist()
        reported = strata.reported(scores.measure)
        columns.append(list(map(PartNumbers, repeat(scores.measure), reported, strata.sizes.tolist(), counts)))
    labels = [measure.label for measure in strata.whole.measures]
    for numbers in zip(*columns, strict=True):
        yield ByMeasure(zip(labels, numbers, strict=True), rel=rel)


def unexplained(evaluation: Evaluation, scores: Scores) -> list[str]:
    """Return the queries without a value that were not skipped on demand."""
    counts = True if scores.weights is None else scores.weights > 0
    no_relevant = evaluation.conventions.no_relevant
    skipped = set(evaluation.without_relevant(scores.measure) if no_relevant == "skip" else ())
    skipped.update(evaluation.unanswerable if no_relevant is None else ())
    return [query for query in scores.query_ids[~scores.kept & counts].tolist() if query not in skipped]
