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
# why a threshold failed, or why its passing proves little: the first that holds is said
FAILED = {
    "no query": "no query has a value",
    "unknown": "cannot be known: {unknown}",
    "no interval": "no interval: it takes two queries with a value, or two clusters, and there is {unknown}",
    "missed": "{value:.{digits}g} is {missed} {bound:.15g}",
}
PASSED = {
    "unknown": "proves nothing: {unknown}",
    "trivial": "proves nothing: no ranking is {side} {least:.4g}",
    "luck": "proves little: one random order of the ties gave this value",
    "missing": "proves little: {missing} left out, with which as empty rankings it fails",
}
BEYOND_REACH = ", which cannot be reached: the judgments allow at {end} {reachable:.4g}"


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
    quantity, bound, measure = threshold.quantity, threshold.bound, scores.measure
    is_spread, is_end, rises = quantity in LOWER_IS_BETTER, quantity in ENDS, threshold.operator[0] == ">"
    is_higher = not is_spread and measure.higher_is_better
    if interval is not None:
        value = interval.low if quantity == "low" else interval.high
    else:
        value = scores.reported("" if quantity == "mean" else quantity) if scores.n_queries else math.nan
    unknown = "" if interval is None else interval.unknown
    passed = threshold.holds(value) and (not unknown or options.allow_unknown)
    # the best value that the judgments allow, NaN where they set no limit; a spread over ties may be 0
    best = 0.0 if is_spread else scores.reachable * (scores.n_queries if measure.total else 1)
    has_limit = not math.isnan(best)
    # an interval may go beyond its mean: nothing is said of the end on that side
    is_near_end = quantity == ("high" if is_higher else "low")
    is_beyond = not passed and has_limit and is_higher == rises and not is_near_end and not threshold.holds(best)
    low, high = (0.0, math.inf) if is_spread else measure.range
    if has_limit:
        low, high = (low, best) if is_higher else (best, high)
    least = low if rises else high
    n_missing, conventions = len(evaluation.missing_queries), evaluation.conventions
    # a mean that leaves out missing queries, which would count 0
    may_lack = is_higher and measure.range[0] == 0 and not measure.total and quantity in {"mean", "low"}
    is_lacking = may_lack and not subset.by and conventions.missing == "skip" and conventions.no_relevant == "zero"
    digits = next((n for n in range(4, 15) if f"{value:.{n}g}" != f"{bound:.{n}g}"), 15)  # until they can be told apart
    if passed:
        holds = {
            "unknown": bool(unknown),
            "trivial": not is_end and math.isfinite(least) and threshold.holds(least),
            "luck": evaluation.ties == "random" and not quantity.startswith("tie_") and bool(scores.mean_tie_std),
            "missing": is_lacking
            and n_missing > 0
            and not threshold.holds(scores.mean * scores.n_queries / (scores.n_queries + n_missing)),
        }
    else:
        is_unknown = bool(unknown) and not options.allow_unknown
        holds = {"no query": not scores.n_queries, "unknown": is_unknown, "no interval": math.isnan(value)}
        holds["missed"] = True
    cause = next((key for key, does in holds.items() if does), "")
    reason = (PASSED if passed else FAILED).get(cause, "") + BEYOND_REACH * is_beyond
    return Check(
        gate=threshold.text,
        measure=threshold.label,
        quantity=quantity,
        value=value,
        operator=threshold.operator,
        threshold=bound,
        passed=passed,
        reason=reason.format(
            unknown=unknown,
            value=value,
            digits=digits,
            missed=MISSED[threshold.operator],
            bound=bound,
            side="below" if rises else "above",
            least=least,
            missing=counted(n_missing, "missing query", "missing queries"),
            end="most" if measure.higher_is_better else "least",
            reachable=best,
        ),
        n_queries=scores.n_queries,
        reachable=best if has_limit else None,
        is_beyond=is_beyond,
        proves_little=passed and bool(cause),
        by=subset.by,
        stratum=subset.stratum,
        confidence_level=None if interval is None else interval.confidence_level,
        method="" if interval is None else interval.method,
        worst="" if passed else _worst(threshold, scores),
        causes=(cause,) if cause else (),
    )


def _worst(threshold: Threshold, scores: Scores) -> str:
    """Return the queries furthest on the wrong side, by the values that the quantity is a mean of."""
    values: FloatArray = scores.values if threshold.quantity in {"mean", *ENDS} else getattr(scores, threshold.quantity)
    sign = 1 if threshold.operator[0] == ">" else -1
    bound = math.inf if scores.measure.total else sign * threshold.bound  # a total is of all queries together
    return lowest(scores.query_ids, sign * values, "lowest" if sign > 0 else "highest", below=bound)


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
