"""Does an evaluation reach its thresholds, over all queries and in strata; and can they be reached at all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from deadheat.arrays import FloatArray, IntArray
from deadheat.errors import ParameterError
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.intervals import Interval
from deadheat.evaluation.scores import Scores, intervals
from deadheat.gates.lowest import lowest
from deadheat.gates.notation import LOWER_IS_BETTER, Threshold
from deadheat.gates.result import Check, GateOptions
from deadheat.gates.subsets import Subset
from deadheat.wording import counted

BEYOND = 10  # resampled means beyond either end of an interval, at least, in strata
ENDS = ("low", "high")  # of a confidence interval


def refuse_ends_of_totals(thresholds: Sequence[Threshold], evaluation: Evaluation) -> None:
    """Raise `ParameterError` if a gate asks for an interval of a count, which is reported as a total and has none."""
    for one in thresholds:
        if one.quantity in ENDS and evaluation[one.measure].measure.total:
            raise ParameterError(
                f"cannot check {str(one)!r}: {one.label} is a count, whose total over these queries has no "
                f"interval; check the total, as in '{one.label} {one.operator} {one.bound:.15g}'"
            )


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
    """
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
            check = _checked(threshold, own[threshold.measure], interval, subset, allow_unknown=options.allow_unknown)
            check = _by_luck(check, own[threshold.measure]) if evaluation.ties == "random" else check
            yield check if subset.by else _by_omission(check, threshold, own[threshold.measure], evaluation)


def _by_luck(check: Check, scores: Scores) -> Check:
    """Return a check of values that one random order of ties gave: passing with them proves little."""
    if not check.passed or check.reason or check.quantity.startswith("tie_") or not scores.mean_tie_std:
        return check
    return replace(check, proves_little=True, reason="proves little: one random order of the ties gave this value")


def _by_omission(check: Check, threshold: Threshold, scores: Scores, evaluation: Evaluation) -> Check:
    """Return a check of a mean that leaves out missing queries: it may pass for want of them."""
    n_missing, conventions = len(evaluation.missing_queries), evaluation.conventions
    is_counted = conventions.missing == "skip" and conventions.no_relevant == "zero"  # all of them, if they were kept
    rises = _is_higher_better(threshold, scores) and scores.measure.range[0] == 0 and not scores.measure.total
    if not (check.passed and n_missing and is_counted and rises and threshold.quantity in {"mean", "low"}):
        return check
    if check.reason or threshold.holds(scores.mean * scores.n_queries / (scores.n_queries + n_missing)):
        return check
    without = counted(n_missing, "missing query", "missing queries")
    return replace(
        check, proves_little=True, reason=f"proves little: {without} left out, with which as empty rankings it fails"
    )


def _checked(
    threshold: Threshold, scores: Scores, interval: Interval | None, subset: Subset, *, allow_unknown: bool
) -> Check:
    value, reachable = _value(threshold.quantity, scores, interval), _reachable(threshold, scores)
    unknown = "" if interval is None else interval.unknown
    passed = threshold.holds(value) and (not unknown or allow_unknown)
    is_beyond = not passed and _is_beyond(threshold, scores, reachable)
    if passed:
        reason = f"proves nothing: {unknown}" if unknown else _why_trivial(threshold, scores, reachable)
    else:
        reason = _reason(threshold, value, scores, unknown=unknown, allow_unknown=allow_unknown)
        reason += f", which cannot be reached: {_limit(scores, reachable)}" if is_beyond else ""
    return Check(
        threshold.text,
        threshold.label,
        threshold.quantity,
        value,
        threshold.operator,
        threshold.bound,
        passed,
        reason,
        scores.n_queries,
        reachable=reachable,
        is_beyond=is_beyond,
        proves_little=passed and bool(reason),
        by=subset.by,
        stratum=subset.stratum,
        confidence_level=None if interval is None else interval.confidence_level,
        method="" if interval is None else interval.method,
        worst="" if passed else _worst(threshold, scores),
    )


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
    if not scores.n_queries:
        return math.nan
    is_total = scores.measure.total
    return {
        "mean": lambda: scores.total if is_total else scores.mean,
        "tie_min": lambda: scores.total_tie_min if is_total else scores.mean_tie_min,
        "tie_max": lambda: scores.total_tie_max if is_total else scores.mean_tie_max,
        "tie_std": lambda: scores.total_tie_std if is_total else scores.mean_tie_std,
    }[quantity]()


def _reachable(threshold: Threshold, scores: Scores) -> float | None:
    """Return the best value that the judgments allow, if they set a limit; of ties, whose spread may be none, 0."""
    if threshold.quantity in LOWER_IS_BETTER:
        return 0.0
    found = scores.reachable
    if math.isnan(found):
        return None
    return found * scores.n_queries if scores.measure.total else found


def _is_beyond(threshold: Threshold, scores: Scores, reachable: float | None) -> bool:
    """Tell whether even the ideal ranking misses a threshold.

    Its interval may well go beyond its mean: of the end on that side nothing is said.
    """
    is_higher = _is_higher_better(threshold, scores)
    if reachable is None or is_higher != (threshold.operator[0] == ">"):
        return False
    return threshold.quantity != ("high" if is_higher else "low") and not threshold.holds(reachable)


def _why_trivial(threshold: Threshold, scores: Scores, reachable: float | None) -> str:
    """Say that every ranking passes, if that is so; nothing is said of the ends of intervals."""
    if threshold.quantity in ENDS:
        return ""
    low, high = (0.0, math.inf) if threshold.quantity in LOWER_IS_BETTER else scores.measure.range
    if reachable is not None:
        low, high = (low, reachable) if _is_higher_better(threshold, scores) else (reachable, high)
    least = low if threshold.operator[0] == ">" else high
    if not math.isfinite(least) or not threshold.holds(least):
        return ""
    return f"proves nothing: no ranking is {'below' if threshold.operator[0] == '>' else 'above'} {least:.4g}"


def _is_higher_better(threshold: Threshold, scores: Scores) -> bool:
    return threshold.quantity not in LOWER_IS_BETTER and scores.measure.higher_is_better


def _limit(scores: Scores, reachable: float | None) -> str:
    return f"the judgments allow at {'most' if scores.measure.higher_is_better else 'least'} {reachable:.4g}"


def _reason(threshold: Threshold, value: float, scores: Scores, *, unknown: str, allow_unknown: bool) -> str:
    if not scores.n_queries:
        return "no query has a value"
    if unknown and not allow_unknown:
        return f"cannot be known: {unknown}"
    if math.isnan(value):
        return f"no interval: it takes two queries with a value, or two clusters, and there is {unknown}"
    words = {">=": "below", ">": "not above", "<=": "above", "<": "not below"}
    digits = 4
    while digits < 15 and f"{value:.{digits}g}" == f"{threshold.bound:.{digits}g}":
        digits += 1  # until the two can be told apart
    return f"{value:.{digits}g} is {words[threshold.operator]} {threshold.bound:.15g}"
