"""Gates: does an evaluation reach its thresholds, and is it no worse than a baseline."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from deadheat.arguments import generator
from deadheat.confidence import cluster_codes, intervals
from deadheat.errors import GateError, ParameterError, UnknownMeasureError, did_you_mean
from deadheat.gates._notation import QUANTITIES, Threshold, parse_all, parse_gate
from deadheat.gates._presets import PRESETS, preset_gates
from deadheat.gates._regression import regressions
from deadheat.gates._result import Check, GateOptions, GateResult, check_options
from deadheat.gates._settings import GateSettings, has_settings, read_settings
from deadheat.measures import parse_measure
from deadheat.saved import StoredMeasure, opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np

    from deadheat.confidence import Cluster, Interval, IntervalOptions
    from deadheat.data import Source
    from deadheat.evaluation import Evaluation
    from deadheat.gates._notation import Gates
    from deadheat.measures import Measure
    from deadheat.scores import Scores

__all__ = [
    "PRESETS",
    "QUANTITIES",
    "Check",
    "GateOptions",
    "GateResult",
    "GateSettings",
    "Threshold",
    "gate",
    "has_settings",
    "measures_of",
    "opened",
    "parse_all",
    "parse_gate",
    "preset_gates",
    "read_settings",
]


def gate(
    evaluation: Evaluation | str | Path,
    checks: Gates = (),
    *,
    baseline: Evaluation | str | Path | None = None,
    no_worse_than: float = 0.0,
    alpha: float = 0.05,
    confidence_level: float = 0.95,
    method: str = "bca",
    n_resamples: int = 10_000,
    cluster: Cluster = None,
    queries: Source | None = None,
    rng: np.random.Generator | int | None = 0,
) -> GateResult:
    """Check whether an evaluation reaches thresholds, and whether it is no worse than a baseline.

    Parameters
    ----------
    evaluation : Evaluation or path
        A path is that of a saved one.
    checks : str, Threshold or iterable of them
        ``"nDCG@10 >= 0.8"`` is about the mean; ``low(...)`` and ``high(...)`` are the ends of its confidence interval,
        ``tie_min(...)``, ``tie_max(...)`` and ``tie_std(...)`` what the order of ties can make of it. The operators are
        ``>=``, ``>``, ``<=``, ``<``; numbers closer than 1e-12 are equal. A value that is NaN never passes.
    baseline : Evaluation or path, optional
        Of the same qrels and queries, under the same conventions. For every measure that both have, a one-sided paired
        t test fails where the mean is significantly worse than the baseline's by more than `no_worse_than`.
    no_worse_than : float, default 0
        A change for the worse that is tolerated, in the units of each measure.
    alpha : float, default 0.05
        Level of these tests, each by itself: of 20 measures that did not change, one is expected to fail.
    confidence_level, method, n_resamples, rng
        Of the intervals, as for :meth:`Scores.interval`.
    cluster, queries
        As for :meth:`Scores.interval`; of intervals and tests.

    Returns
    -------
    GateResult
        True if every check passed.

    Raises
    ------
    GateError
        A gate cannot be read, or there is none.
    UnknownMeasureError
        The evaluation lacks a measure, or shares none with the baseline.
    BaselineMismatchError
        The baseline is of other qrels, queries or conventions.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> ev = evaluate({"q1": {"a": 1}}, {"q1": {"a": 0.5, "b": 0.5}}, ["RR"])
    >>> gate(ev, ["RR >= 0.75", "tie_min(RR) > 0.5"])
    <GateResult run: 1 of 2 gates failed: tie_min(RR) > 0.5 (0.5 is not above 0.5)>
    """
    thresholds = parse_all(checks)
    if not thresholds and baseline is None:
        msg = "nothing to check: give gates such as ['nDCG@10 >= 0.8', 'low(RR) > 0.7'], or a baseline"
        raise GateError(msg)
    if baseline is None and no_worse_than:
        msg = f"no_worse_than={no_worse_than!r} is about a baseline, and there is none: give baseline= too"
        raise ParameterError(msg)
    shown = cluster if cluster is None or isinstance(cluster, str) else "given"
    options = check_options(GateOptions(no_worse_than, alpha, confidence_level, method, n_resamples, shown))
    rng = generator(rng)
    own = opened(evaluation)
    before = None if baseline is None else opened(baseline)
    codes = cluster_codes(cluster, queries, own.query_ids)
    of_intervals: IntervalOptions = {
        "method": method,
        "confidence_level": confidence_level,
        "n_resamples": n_resamples,
        "cluster": codes,
        "rng": rng,
    }
    found = _check_all(thresholds, _scores(own, thresholds), of_intervals)
    if before is None:
        return GateResult(own.name, tuple(found), len(own.query_ids), options=options)
    compared, not_compared = regressions(own, before, options, codes)
    name = before.name + " (baseline)" * (before.name == own.name)
    return GateResult(own.name, (*found, *compared), len(own.query_ids), name, not_compared, options)


def measures_of(checks: Sequence[Threshold], baseline: Evaluation | None = None) -> list[Measure]:
    """Return the measures that gates, and a comparison with a baseline, are about: what to evaluate for them.

    Raises
    ------
    MeasureError
        A gate's measure cannot be read.
    """
    wanted = [parse_measure(check.measure) for check in checks]
    known = [] if baseline is None else [one for one in baseline.measures if not isinstance(one, StoredMeasure)]
    return list(dict.fromkeys((*wanted, *known)))


def _scores(evaluation: Evaluation, thresholds: Sequence[Threshold]) -> list[Scores]:
    """Return the scores of each threshold's measure; name all that are lacking at once."""
    lacking = list(dict.fromkeys(one.measure for one in thresholds if one.measure not in evaluation))
    held = list(map(str, evaluation.measures))
    for notation in lacking:
        if not did_you_mean(notation, held):
            parse_measure(notation)  # what is no measure at all is an error of its own
    if lacking:
        hint = did_you_mean(lacking[0], held)
        msg = (
            f"{evaluation.name} was not evaluated with {', '.join(lacking)}; it holds {', '.join(held)}.{hint}"
            " Evaluate it again with all measures of the gates"
        )
        raise UnknownMeasureError(msg)
    return [evaluation[one.measure] for one in thresholds]


def _check_all(thresholds: Sequence[Threshold], scores: Sequence[Scores], options: IntervalOptions) -> Iterator[Check]:
    """Check each threshold; the intervals that are needed share their resamples."""
    pairs = list(zip(thresholds, scores, strict=True))
    wanted = list({id(one): one for threshold, one in pairs if threshold.quantity in {"low", "high"}}.values())
    found = intervals(wanted, **options) if wanted else []
    bounds = {str(one.measure): interval for one, interval in zip(wanted, found, strict=True)}
    for threshold, one in pairs:
        value = _value(threshold.quantity, one, bounds.get(str(one.measure)))
        passed = threshold.holds(value)
        yield Check(
            str(threshold),
            str(one.measure),
            threshold.quantity,
            value,
            threshold.operator,
            threshold.bound,
            passed,
            "" if passed else _reason(threshold, value, one),
            one.n_queries,
        )


def _value(quantity: str, scores: Scores, interval: Interval | None) -> float:
    if interval is not None and quantity in {"low", "high"}:
        return interval.low if quantity == "low" else interval.high
    return {
        "mean": lambda: scores.mean,
        "tie_min": lambda: scores.mean_tie_min,
        "tie_max": lambda: scores.mean_tie_max,
        "tie_std": lambda: scores.mean_tie_std,
    }[quantity]()


def _reason(threshold: Threshold, value: float, scores: Scores) -> str:
    if math.isnan(value):
        if not scores.n_queries:
            return "no query has a value"
        return "no interval: it takes two queries with a value, or two clusters"
    words = {">=": "below", ">": "not above", "<=": "above", "<": "not below"}
    digits = 4
    while digits < 15 and f"{value:.{digits}g}" == f"{threshold.bound:.{digits}g}":
        digits += 1  # until the two can be told apart
    return f"{value:.{digits}g} is {words[threshold.operator]} {threshold.bound:.15g}"
