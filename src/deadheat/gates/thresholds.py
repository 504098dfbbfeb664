"""Does an evaluation reach its thresholds, over all queries and in strata; and can they be reached at all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from deadheat.arrays import FloatArray, IntArray, TextArray
from deadheat.errors import ParameterError
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.intervals import Interval
from deadheat.evaluation.scores import Scores, intervals
from deadheat.gates.notation import LOWER_IS_BETTER, Threshold
from deadheat.gates.result import Check, GateOptions
from deadheat.gates.subsets import Subset
from deadheat.wording import counted, printable

BEYOND = 10  # resampled means beyond either end of an interval, at least, in strata
ENDS = ("low", "high")  # of a confidence interval
NAMED = 3  # queries behind a failure
EQUAL = 1e-12  # values this near are equal
MISSED = {">=": "below", ">": "not above", "<=": "above", "<": "not below"}


def check_family(
    evaluation: Evaluation,
    thresholds: Sequence[Threshold],
    family: Sequence[Subset],
    options: GateOptions,
    cluster: IntArray | None,
) -> Iterator[Check]:
    """Check thresholds in each subset of a family.

    Intervals hold for all subsets at once: their level is raised to ``1 - (1 - level) / n_subsets`` (Bonferroni). The
    intervals of one subset share their resamples; many strata need more of them.

    Parameters
    ----------
    evaluation : Evaluation
    thresholds : sequence of Threshold
    family : sequence of Subset
    options : GateOptions
    cluster : ndarray of int, shape (n_queries,), or None
        The code of each query's cluster.

    Raises
    ------
    ParameterError
        A gate asks for an interval of a count, which is reported as a total and has none.
    """
    for one in thresholds:
        if evaluation[one.label].measure.total and one.quantity in ENDS:
            raise ParameterError(
                f"cannot check {str(one)!r}: {one.label} is a count, whose total over these queries has no "
                f"interval; check the total, as in '{one.label} {one.operator} {one.bound:.15g}'"
            )
    level = 1 - (1 - options.confidence_level) / len(family)
    n_resamples = options.n_resamples
    if len(family) > 1:  # the further out an end, the more of them it takes to see it
        n_resamples = max(n_resamples, math.ceil(2 * BEYOND / (1 - level)))
    raised = replace(options, confidence_level=level, n_resamples=n_resamples)
    names = list(dict.fromkeys(one.measure for one in thresholds if one.quantity in ENDS))
    subsets = [evaluation.select(subset.keep) for subset in family]
    bounds = []
    for subset, own in zip(family, subsets, strict=True):
        of_subset = raised.with_clusters(None if cluster is None else cluster[subset.keep])
        of_names = intervals([own[name] for name in names], of_subset) if names else []
        bounds.append(dict(zip(names, of_names, strict=True)))
    for threshold in thresholds:
        for subset, own, found in zip(family, subsets, bounds, strict=True):
            interval = found[threshold.measure] if threshold.quantity in ENDS else None
            yield _checked(threshold, own[threshold.measure], interval, subset, evaluation=evaluation, options=options)


def _checked(
    threshold: Threshold,
    scores: Scores,
    interval: Interval | None,
    subset: Subset,
    *,
    evaluation: Evaluation,
    options: GateOptions,
) -> Check:
    quantity, measure = threshold.quantity, scores.measure
    is_higher = quantity not in LOWER_IS_BETTER and measure.higher_is_better
    value, reachable = _value(quantity, scores, interval), _reachable(threshold, scores)
    unknown = "" if interval is None else interval.unknown
    passed = threshold.holds(value) and (not unknown or options.allow_unknown)
    is_beyond = not passed and _is_beyond(threshold, reachable, is_higher=is_higher)
    if passed:
        reason = (
            f"proves nothing: {unknown}" if unknown else _why_trivial(threshold, scores, reachable, is_higher=is_higher)
        )
        reason = reason or _why_little(threshold, scores, evaluation, subset, is_higher=is_higher)
    else:
        reason = _reason(threshold, value, scores, unknown=unknown, allow_unknown=options.allow_unknown)
        limit = f"at {'most' if measure.higher_is_better else 'least'}"
        reason += f", which cannot be reached: the judgments allow {limit} {reachable:.4g}" if is_beyond else ""
    return Check(
        gate=threshold.text,
        measure=threshold.label,
        quantity=quantity,
        value=value,
        operator=threshold.operator,
        threshold=threshold.bound,
        passed=passed,
        reason=reason,
        n_queries=scores.n_queries,
        reachable=reachable,
        is_beyond=is_beyond,
        proves_little=passed and bool(reason),
        by=subset.by,
        stratum=subset.stratum,
        confidence_level=None if interval is None else interval.confidence_level,
        method="" if interval is None else interval.method,
        worst="" if passed else _worst(threshold, scores),
    )


def _why_little(
    threshold: Threshold, scores: Scores, evaluation: Evaluation, subset: Subset, *, is_higher: bool
) -> str:
    """Say that one random order of ties decided, or that missing queries, which are left out, may have."""
    if evaluation.ties == "random" and not threshold.quantity.startswith("tie_") and scores.mean_tie_std:
        return "proves little: one random order of the ties gave this value"
    n_missing, conventions = len(evaluation.missing_queries), evaluation.conventions
    is_counted = conventions.missing == "skip" and conventions.no_relevant == "zero"  # all of them, if they were kept
    rises = is_higher and scores.measure.range[0] == 0 and not scores.measure.total
    if subset.by or not (n_missing and is_counted and rises and threshold.quantity in {"mean", "low"}):
        return ""
    if threshold.holds(scores.mean * scores.n_queries / (scores.n_queries + n_missing)):
        return ""
    without = counted(n_missing, "missing query", "missing queries")
    return f"proves little: {without} left out, with which as empty rankings it fails"


def _worst(threshold: Threshold, scores: Scores) -> str:
    """Return the queries furthest on the wrong side, by the values that the quantity is a mean of."""
    values: FloatArray = scores.values if threshold.quantity in {"mean", *ENDS} else getattr(scores, threshold.quantity)
    sign = 1 if threshold.operator[0] == ">" else -1
    bound = math.inf if scores.measure.total else sign * threshold.bound  # a total is of all queries together
    return lowest(scores.query_ids, sign * values, "lowest" if sign > 0 else "highest", below=bound)


def _value(quantity: str, scores: Scores, interval: Interval | None) -> float:
    """Return what is held against the number; of counts it is of the total, and NaN if no query counts."""
    if interval is not None:
        return interval.low if quantity == "low" else interval.high
    level = "total" if scores.measure.total else "mean"
    name = level if quantity == "mean" else f"{level}_{quantity}"
    return float(getattr(scores, name)) if scores.n_queries else math.nan


def _reachable(threshold: Threshold, scores: Scores) -> float | None:
    """Return the best value that the judgments allow, if they set a limit; of ties, whose spread may be none, 0."""
    if threshold.quantity in LOWER_IS_BETTER:
        return 0.0
    found = scores.reachable
    if math.isnan(found):
        return None
    return found * scores.n_queries if scores.measure.total else found


def _is_beyond(threshold: Threshold, reachable: float | None, *, is_higher: bool) -> bool:
    """Tell whether even the ideal ranking misses a threshold.

    Its interval may well go beyond its mean: of the end on that side nothing is said.
    """
    if reachable is None or is_higher != (threshold.operator[0] == ">"):
        return False
    return threshold.quantity != ("high" if is_higher else "low") and not threshold.holds(reachable)


def _why_trivial(threshold: Threshold, scores: Scores, reachable: float | None, *, is_higher: bool) -> str:
    """Say that every ranking passes, if that is so; nothing is said of the ends of intervals."""
    low, high = (0.0, math.inf) if threshold.quantity in LOWER_IS_BETTER else scores.measure.range
    if reachable is not None:
        low, high = (low, reachable) if is_higher else (reachable, high)
    least, word = (low, "below") if threshold.operator[0] == ">" else (high, "above")
    if threshold.quantity in ENDS or not math.isfinite(least) or not threshold.holds(least):
        return ""
    return f"proves nothing: no ranking is {word} {least:.4g}"


def _reason(threshold: Threshold, value: float, scores: Scores, *, unknown: str, allow_unknown: bool) -> str:
    if not scores.n_queries:
        return "no query has a value"
    if unknown and not allow_unknown:
        return f"cannot be known: {unknown}"
    if math.isnan(value):
        return f"no interval: it takes two queries with a value, or two clusters, and there is {unknown}"
    digits = 4
    while digits < 15 and f"{value:.{digits}g}" == f"{threshold.bound:.{digits}g}":
        digits += 1  # until the two can be told apart
    return f"{value:.{digits}g} is {MISSED[threshold.operator]} {threshold.bound:.15g}"


def lowest(query_ids: TextArray, values: FloatArray, what: str = "lowest", *, below: float = math.inf) -> str:
    """Return the queries with the lowest values, and how many more have that of the last one named.

    Parameters
    ----------
    query_ids : ndarray of str, shape (n_queries,)
    values : ndarray of float, shape (n_queries,)
        NaN where a query has none.
    what : {"lowest", "highest", "losses"}
        "highest": `values` are those of the queries with the other sign, which the text turns back. "losses": they are
        differences from a baseline, higher being better.
    below : float
        Only values below this are named: the others pull nothing down.

    Examples
    --------
    >>> ids = np.array(["q1", "q2", "q3", "q4", "q5"])
    >>> lowest(ids, np.array([0.5, 0.0, 1.0, 0.0, 1 / 3]))
    'lowest: q2 0.00, q4 0.00, q5 0.33'
    >>> lowest(ids, np.array([0.0, 0.0, 0.0, 0.0, 1.0]))
    'lowest: q1 0.00, q2 0.00, q3 0.00 and 1 more of 0.00'
    >>> lowest(ids, np.array([-0.5, 0.0, 0.1, np.nan, 0.0]), "losses", below=0)
    'largest losses: q1 -0.50'
    """
    order = np.argsort(values, kind="stable")  # NaN comes last
    order = order[~np.isnan(values[order])]
    has_worst = len(order) and (what == "losses" or values[order[-1]] - values[order[0]] > EQUAL)
    order = order[values[order] < below - EQUAL]
    if not (has_worst and len(order)):  # where all are equal, none is behind it more than others
        return ""
    sign = -1 if what == "highest" else 1
    shown = [f"{printable(str(query_ids[place]))} {sign * values[place] + 0.0:.2f}" for place in order[:NAMED]]
    last = values[order[:NAMED][-1]]
    n_more = int((np.abs(values[order[NAMED:]] - last) < EQUAL).sum())
    more = f" and {n_more:,} more of {sign * last + 0.0:.2f}" if n_more else ""
    return f"{'largest losses' if what == 'losses' else what}: {', '.join(shown)}{more}"
