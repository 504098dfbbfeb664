"""compare_overlaps(): what the share of a span that a chunk has to cover makes of the order of systems."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack, cast

import polars as pl

from deadheat.data.spans import OVERLAP_OF, Spans
from deadheat.data.tables import Source
from deadheat.errors import NOISE, MeasureError, ParameterError
from deadheat.evaluation.evaluate import EvaluationArguments, evaluate
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.spans import SPAN_MEASURES
from deadheat.measures import Abstain, Measure, NumQ, NumRet
from deadheat.measures.coverage import CoverageMeasure
from deadheat.measures.notation import MeasureLike, parse_measures

OVERLAPS = (0.1, 0.25, 0.5, 0.75, 1.0)


def compare_overlaps(
    spans: Spans,
    runs: Mapping[str, Source],
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    overlaps: Sequence[float] = OVERLAPS,
    **options: Unpack[EvaluationArguments],
) -> pl.DataFrame:
    """Evaluate runs of chunks under several overlaps: a row for each, each measure and each run.

    Where the place of a run changes with the overlap, that choice decides which system is better.

    Parameters
    ----------
    spans : Spans
        Their own overlap makes no difference.
    runs : dict of str to run
        Two or more, by name.
    measures : measure or iterable of measures, optional
        As for :func:`evaluate`; those that no overlap changes, as CharRecall and NumRet, are left out.
    overlaps : sequence of float
        Above 0 and up to 1.
    **options
        As for :func:`evaluate`.

    Returns
    -------
    polars.DataFrame
        overlap, measure, system, mean, tie_min, tie_max and place: 1 for the best mean, the same for equal ones.

    Raises
    ------
    ParameterError
        An overlap is out of range, or chunks need no share of a span (``overlap_of="any"``).
    MeasureError
        No measure depends on the overlap.

    Examples
    --------
    >>> spans = Spans([("q", "d", 0, 10)])
    >>> runs = {"part": [("q", "d", 0, 6, 1)], "whole": [("q", "d", 0, 20, 1)]}
    >>> compare_overlaps(spans, runs, "R@1", overlaps=(0.5, 1)).select("overlap", "system", "mean", "place").rows()
    [(0.5, 'part', 1.0, 1), (0.5, 'whole', 1.0, 1), (1.0, 'part', 0.0, 2), (1.0, 'whole', 1.0, 1)]
    """
    if len(runs) < 2:
        raise ParameterError(argument="runs", given=runs, allowed="a dict of two runs or more, by name")
    if spans.overlap_of == "any":
        raise ParameterError(argument="overlap_of", given="any", allowed=OVERLAP_OF[:-1], beside={"overlaps": None})
    if not overlaps:
        raise ParameterError(argument="overlaps", given=overlaps, allowed="one or more")
    chosen = measures_of_overlap(SPAN_MEASURES if measures is None else parse_measures(measures))
    by_overlap: Any = {one: evaluate(spans.with_overlap(one), runs, chosen, **cast("Any", options)) for one in overlaps}
    return table_of_overlaps(by_overlap)


def measures_of_overlap(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """Return the measures whose values depend on the share of a span that a chunk has to cover."""
    found = tuple(one for one in measures if not isinstance(one, (CoverageMeasure, NumQ, NumRet, Abstain)))
    if not found:
        raise MeasureError(
            "no measure depends on the overlap",
            found=", ".join(map(str, measures)),
            allowed="one that does, such as R@5",
        )
    return found


def table_of_overlaps(by_overlap: Mapping[float, Mapping[str, Evaluation]]) -> pl.DataFrame:
    """Return the means of systems under each overlap, as :func:`compare_overlaps` does."""
    rows: list[dict[str, object]] = []
    for overlap, evaluations in by_overlap.items():
        for measure in next(iter(evaluations.values())).measures:
            scores = {name: one[measure.label] for name, one in evaluations.items()}
            rows.extend(
                {
                    "overlap": float(overlap),
                    "measure": measure.label,
                    "system": name,
                    "mean": one.mean,
                    "tie_min": one.mean_tie_min,
                    "tie_max": one.mean_tie_max,
                    "place": 1 + sum(measure.sign * (other.mean - one.mean) > NOISE for other in scores.values()),
                }
                for name, one in scores.items()
            )
    return pl.DataFrame(rows)
