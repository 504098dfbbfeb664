"""Thresholds in each subset of the queries: whether they are reached, why not, and where a pass proves little."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.errors import ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.interval_estimates import estimate_intervals
from deadheat.core.evaluation.intervals import Interval, IntervalOptions
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.together import check_use
from deadheat.core.settings import BOUNDED, PROPORTION
from deadheat.core.wording import format_count
from deadheat.plugins.gates.lowest import lowest
from deadheat.plugins.gates.notation import LOWER_IS_BETTER, Check, Threshold
from deadheat.plugins.gates.settings import GateOptions
from deadheat.plugins.gates.subsets import Subset

FEWEST_BEYOND = 10  # resampled means beyond either end of an interval, at least, in strata
ENDS = ("low", "high")  # of a confidence interval
MISSED = {">=": "below", ">": "not above", "<=": "above", "<": "not below"}


def check_family(
    evaluation: Evaluation,
    thresholds: Sequence[Threshold],
    family: Sequence[Subset],
    options: GateOptions,
    cluster: IntArray | None,
) -> list[Check]:
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
    for threshold in thresholds:
        _check_is_known(threshold, evaluation[threshold.label])
    if any(subset.by for subset in family):
        check_use("gate by strata", [evaluation])
    raised = _raise_level(options, len(family))
    names = list(dict.fromkeys(threshold.measure for threshold in thresholds if threshold.quantity in ENDS))
    checks = []
    for subset in family:
        has_all_queries = len(subset.places) == len(evaluation.query_ids)
        of_subset = evaluation if has_all_queries else evaluation.select(subset.places)
        interval_options = IntervalOptions.of(vars(raised), cluster=None if cluster is None else cluster[subset.places])
        ends_by_measure = _estimate_ends(of_subset, names, interval_options)
        for threshold in thresholds:
            ends = ends_by_measure[threshold.measure] if threshold.quantity in ENDS else None
            scores = of_subset[threshold.measure]
            outcome = _find_outcome(threshold, scores, ends, subset, evaluation=evaluation, options=options)
            checks.append(_make_check(outcome, subset))
    return checks


def _check_is_known(threshold: Threshold, scores: Scores) -> None:
    """Raise if nothing is known of the quantity that a threshold is about."""
    measure = scores.measure
    is_of_ties = threshold.quantity.startswith("tie_")
    if measure.total and threshold.quantity in ENDS:
        raise ParameterError(
            f"cannot check {str(threshold)!r}: {threshold.label} is a count, whose total over these queries has no "
            f"interval; check the total, as in '{threshold.label} {threshold.operator} {threshold.bound:.15g}'"
        )
    if is_of_ties and not measure.knows_ties:
        raise ParameterError(
            f"cannot check {str(threshold)!r}: the values came without their rankings, so nothing is known of their"
            " ties",
            hint="evaluate the run with deadheat",
        )
    if is_of_ties and scores.is_estimated:
        raise ParameterError(
            f"cannot check {str(threshold)!r}: it is not known how far ties move a mean that a judge's labels help to"
            " estimate",
            hint="evaluate without a judge",
        )


def _raise_level(options: GateOptions, n_subsets: int) -> GateOptions:
    """Return options under which the intervals of all subsets hold at once."""
    level = 1 - (1 - options.confidence_level) / n_subsets
    if n_subsets == 1:
        return replace(options, confidence_level=level)
    # the further out an end, the more resamples it takes to see it
    least = math.ceil(2 * FEWEST_BEYOND / (1 - level))
    return replace(options, confidence_level=level, n_resamples=max(options.n_resamples, least))


@dataclass(frozen=True)
class Ends:
    """The interval of a measure.

    Attributes
    ----------
    interval : Interval
    of_ideal : Interval or None
        That of the ideal ranking; None of a method whose ends may be above those of higher values.
    """

    interval: Interval
    of_ideal: Interval | None


def _estimate_ends(evaluation: Evaluation, names: Sequence[str], options: IntervalOptions) -> dict[str, Ends]:
    """Return the intervals of some measures, all from the same resamples."""
    if not names:
        return {}
    intervals = estimate_intervals([evaluation[name] for name in names], options)
    # with a seed of their own, which does not change what others draw
    of_ideals = estimate_intervals([evaluation[name].ideal for name in names], replace(options, rng=0))
    ends = {}
    for name, interval, of_ideal in zip(names, intervals, of_ideals, strict=True):
        is_monotone = of_ideal.method in {PROPORTION, BOUNDED}
        ends[name] = Ends(interval, of_ideal if is_monotone else None)
    return ends


@dataclass(frozen=True)
class Outcome:
    """What came of a threshold in a subset.

    Attributes
    ----------
    threshold : Threshold
    scores : Scores
        Of the queries of the subset.
    interval : Interval or None
        If the threshold is about an end of it.
    value : float
        NaN where there is none.
    passed : bool
    cause : str
        Why it failed, or why its passing proves little; empty if it passed and proves something.
    best : float
        The best value that the judgments allow; NaN where they set no limit.
    easiest : float
        The value that passes most easily.
    n_left_out : int
        Missing queries that the mean leaves out.
    is_beyond : bool
        Whether no ranking can reach the threshold.
    """

    threshold: Threshold
    scores: Scores
    interval: Interval | None
    value: float
    passed: bool
    cause: str
    best: float
    easiest: float
    n_left_out: int
    is_beyond: bool

    @property
    def unknown(self) -> str:
        """Why the interval is not known; empty if it is, or if there is none."""
        return "" if self.interval is None else self.interval.unknown


def _find_outcome(
    threshold: Threshold,
    scores: Scores,
    ends: Ends | None,
    subset: Subset,
    *,
    evaluation: Evaluation,
    options: GateOptions,
) -> Outcome:
    """Return what came of a threshold in a subset; of the causes that hold, the first says why."""
    interval = None if ends is None else ends.interval
    value = _find_value(threshold, scores, interval)
    unknown = "" if interval is None else interval.unknown
    passed = threshold.holds(value) and (not unknown or options.allow_unknown)
    is_higher_better = threshold.quantity not in LOWER_IS_BETTER and scores.measure.higher_is_better
    best = _find_best(threshold, scores, ends)
    easiest = _find_easiest(threshold, scores, best, is_higher_better=is_higher_better)
    n_left_out = 0 if subset.by else _count_left_out(threshold, scores, evaluation)
    if not passed:
        cause = _find_failure(scores, value, "" if options.allow_unknown else unknown)
    elif unknown:
        cause = "unknown"
    else:
        cause = _find_doubt(threshold, scores, easiest, n_left_out, ties=evaluation.ties)
    return Outcome(
        threshold=threshold,
        scores=scores,
        interval=interval,
        value=value,
        passed=passed,
        cause=cause,
        best=best,
        easiest=easiest,
        n_left_out=n_left_out,
        is_beyond=not passed and _is_beyond(threshold, best, is_higher_better=is_higher_better),
    )


def _find_value(threshold: Threshold, scores: Scores, interval: Interval | None) -> float:
    """Return the value of the quantity that a threshold is about; NaN where no query has one."""
    if interval is not None:
        return interval.low if threshold.quantity == "low" else interval.high
    if not scores.n_queries:
        return math.nan
    return scores.reported("" if threshold.quantity == "mean" else threshold.quantity)


def _find_best(threshold: Threshold, scores: Scores, ends: Ends | None) -> float:
    """Return the best value that the judgments allow, NaN where they set no limit."""
    if scores.predicted is not None:
        return math.nan  # the ideal ranking of the queries that a judge alone labelled is not known
    if ends is not None and ends.of_ideal is not None:
        return ends.of_ideal.low if threshold.quantity == "low" else ends.of_ideal.high
    if threshold.quantity in LOWER_IS_BETTER:
        return 0.0  # a spread over ties may be 0
    return scores.reachable * (scores.n_queries if scores.measure.total else 1)


def _find_easiest(threshold: Threshold, scores: Scores, best: float, *, is_higher_better: bool) -> float:
    """Return the value that passes a threshold most easily: an end of the measure's range, or the best value."""
    rises = threshold.operator[0] == ">"
    if not math.isnan(best) and is_higher_better != rises:
        return best
    low, high = scores.limits
    if threshold.quantity in LOWER_IS_BETTER and scores.predicted is None:
        low, high = 0.0, math.inf
    return low if rises else high


def _is_beyond(threshold: Threshold, best: float, *, is_higher_better: bool) -> bool:
    """Tell whether not even the best value reaches a threshold that better values pass."""
    rises = threshold.operator[0] == ">"
    # an interval may go beyond its mean: nothing is said of the end on that side
    outer_end = "high" if rises else "low"
    if math.isnan(best) or is_higher_better != rises or threshold.quantity == outer_end:
        return False
    return not threshold.holds(best)


def _count_left_out(threshold: Threshold, scores: Scores, evaluation: Evaluation) -> int:
    """Return how many missing queries a mean leaves out that would count 0; none where it is not known what they do."""
    measure, conventions = scores.measure, evaluation.conventions
    would_count_0 = measure.higher_is_better and measure.range[0] == 0 and conventions.no_relevant in {None, "zero"}
    is_mean = threshold.quantity in {"mean", "low"} and not measure.total and not scores.is_weighted
    if conventions.missing != "skip" or not would_count_0 or not is_mean:
        return 0
    unanswerable = evaluation.unanswerable if conventions.no_relevant is None and measure.asks_for_relevant else ()
    return len({*evaluation.missing_queries}.difference(unanswerable))


def _find_failure(scores: Scores, value: float, unknown: str) -> str:
    """Return why a threshold failed: the first cause that holds."""
    if not scores.n_queries:
        return "no query"
    if unknown:
        return "unknown"
    if math.isnan(value):
        return "no interval"
    return "missed"


def _find_doubt(threshold: Threshold, scores: Scores, easiest: float, n_left_out: int, *, ties: str) -> str:
    """Return why a pass proves little, although its value is known: the first cause that holds, or nothing."""
    if threshold.quantity not in ENDS and math.isfinite(easiest) and threshold.holds(easiest):
        return "trivial"
    if ties == "random" and not threshold.quantity.startswith("tie_") and scores.tie_std_of_values:
        return "luck"
    if n_left_out:
        mean_with_zeros = scores.mean * scores.n_queries / (scores.n_queries + n_left_out)
        if not threshold.holds(mean_with_zeros):
            return "missing"
    return ""


def _make_check(outcome: Outcome, subset: Subset) -> Check:
    """Return the check of a threshold, with its reasons in words."""
    threshold, scores, interval = outcome.threshold, outcome.scores, outcome.interval
    because = _describe_doubt(outcome) if outcome.passed else _describe_failure(outcome)
    if outcome.is_beyond:
        because += _describe_reach(outcome)
    return Check(
        gate=threshold.text,
        measure=threshold.label,
        quantity=threshold.quantity,
        value=outcome.value,
        operator=threshold.operator,
        threshold=threshold.bound,
        passed=outcome.passed,
        because=because,
        n_queries=scores.n_queries,
        reachable=None if math.isnan(outcome.best) else outcome.best,
        is_beyond=outcome.is_beyond,
        proves_little=outcome.passed and bool(outcome.cause),
        by=subset.by,
        stratum=subset.stratum,
        confidence_level=None if interval is None else interval.confidence_level,
        method="" if interval is None else interval.method,
        worst="" if outcome.passed else _name_worst(threshold, scores),
        causes=(outcome.cause,) if outcome.cause else (),
        tie_range=_find_tie_range(threshold, scores),
    )


def _describe_failure(outcome: Outcome) -> str:
    """Say why a threshold failed."""
    if outcome.cause == "no query":
        return "no query has a value"
    if outcome.cause == "unknown":
        return f"cannot be known: {outcome.unknown}"
    if outcome.cause == "no interval":
        return f"no interval: it takes two queries with a value, or two clusters, and there is {outcome.unknown}"
    value, bound = outcome.value, outcome.threshold.bound
    shown = f"{value:.15g}"
    for digits in range(4, 15):
        if f"{value:.{digits}g}" != f"{bound:.{digits}g}":  # so many tell them apart
            shown = f"{value:.{digits}g}"
            break
    return f"{shown} is {MISSED[outcome.threshold.operator]} {bound:.15g}"


def _describe_doubt(outcome: Outcome) -> str:
    """Say why the passing of a threshold proves little; nothing where it proves something."""
    if outcome.cause == "unknown":
        return outcome.unknown
    if outcome.cause == "trivial":
        side = "below" if outcome.threshold.operator[0] == ">" else "above"
        return f"no ranking is {side} {outcome.easiest:.4g}"
    if outcome.cause == "luck":
        return "one random order of the ties gave this value"
    if outcome.cause == "missing":
        left_out = format_count(outcome.n_left_out, "missing query", "missing queries")
        return f"{left_out} left out, with which as empty rankings it fails"
    return ""


def _describe_reach(outcome: Outcome) -> str:
    """Say how far the best ranking gets that the judgments allow."""
    if outcome.threshold.quantity in ENDS:
        units = format_count(outcome.scores.n_queries, "query", "queries")
        return f", which cannot be reached: with {units} the interval of the ideal ranking ends at {outcome.best:.4g}"
    end = "most" if outcome.scores.measure.higher_is_better else "least"
    return f", which cannot be reached: the judgments allow at {end} {outcome.best:.4g}"


def _find_tie_range(threshold: Threshold, scores: Scores) -> tuple[float, float] | None:
    """Return between what the order of ties moves a mean, or total, if some orders reach the threshold only."""
    if threshold.quantity != "mean" or not scores.n_queries or scores.is_estimated:
        return None
    low, high = scores.reported("tie_min"), scores.reported("tie_max")
    if threshold.holds(low) == threshold.holds(high):
        return None
    return low, high


def _name_worst(threshold: Threshold, scores: Scores) -> str:
    """Return the queries furthest on the wrong side, by the values that the quantity is a mean of."""
    values: FloatArray
    if threshold.quantity in {"mean", *ENDS}:
        values = scores.values
    else:
        values = getattr(scores, threshold.quantity)
    if scores.measure.geometric:  # as the value is
        values = values * scores.mean if threshold.quantity == "tie_std" else np.exp(values)
    sign = 1 if threshold.operator[0] == ">" else -1
    return lowest(
        scores.query_ids,
        sign * values,
        "lowest" if sign > 0 else "highest",
        below=math.inf if scores.measure.total else sign * threshold.bound,  # a total is of all queries together
        weights=scores.weights,
    )
