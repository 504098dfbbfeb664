"""Whether an evaluation is worse than its baseline: the test of each measure in each subset, and what it proves."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.core import stats
from deadheat.core.arrays import FloatArray
from deadheat.core.evaluation.intervals import FEWEST
from deadheat.core.kernels import weighting
from deadheat.core.measures import unit_of
from deadheat.core.settings import BOUNDED
from deadheat.core.wording import format_count, format_p_value
from deadheat.plugins.gates.lowest import lowest
from deadheat.plugins.gates.notation import QUESTIONS, Check
from deadheat.plugins.gates.paired_values import PairedValues
from deadheat.plugins.gates.settings import GateOptions
from deadheat.plugins.gates.subsets import Subset

POWER = 0.8
FEWEST_BEYOND = 10  # resampled means beyond the bound of Gaffke, at least
REASONS = {
    "no query": "no query has a value in both",
    "unknown": "cannot be known with {units}",
    "needs": "a test needs two queries, or two clusters; there is {units}",
    "worse": "worse by {loss:.4g}{unit}",
    "significant": "worse by {loss:.4g}{unit}, significantly ({p})",
    "not significant": "worse by {loss:.4g}{unit}, but not significantly ({p})",
    "not ruled out": "a loss of {margin:.15g}{unit} or more is not ruled out ({p})",
    "lost": "{lost} left out, with a value only in the baseline",
    "power": "with {units} only a loss of {detectable:.2g}{unit} or more would be found (power {power:.0%})",
    "few": "with {units}",
    # a sample with few large losses, or gains, may have missed others, which a t test ignores
    "skewed gains": "differences too skewed ({skewness:+.1f}) for {units}: a t test finds losses too easily",
    "skewed losses": "differences too skewed ({skewness:+.1f}) for {units}: a t test rules out losses too easily",
    "constant": "all differences of {units} are equal",
}


@dataclass(frozen=True)
class Tests:
    """A question asked of every measure in one subset.

    Attributes
    ----------
    p_values : ndarray of float, shape (n_measures,)
        NaN where a test says nothing.
    bounds : ndarray of float, shape (n_measures,)
        The one-sided confidence bound of each difference.
    """

    p_values: FloatArray
    bounds: FloatArray


@dataclass(frozen=True)
class Difference:
    """The difference of one measure from the baseline in one subset.

    Attributes
    ----------
    pairs : PairedValues
    subset : Subset
    place : int
        Of the measure, among those of `pairs`.
    question : str
        One of `QUESTIONS`.
    p_value, p_adjusted, bound : float
    n_subsets : int
        Over which p values are corrected.
    mean, baseline_mean, better : float
        Means, or totals; `better` is their difference, above 0 where the evaluation is better.
    skewness : float
        Of the differences.
    is_skewed : bool
        Whether that is too much for a t test of so many queries.
    detectable : float or None
        Of "no_regression": the smallest loss that the test would find.
    """

    pairs: PairedValues
    subset: Subset
    place: int
    question: str
    p_value: float
    p_adjusted: float
    bound: float
    n_subsets: int
    mean: float
    baseline_mean: float
    better: float
    skewness: float
    is_skewed: bool
    detectable: float | None

    @property
    def n_units(self) -> int:
        """Queries or clusters; by weight what they are worth."""
        return int(self.pairs.n_units[self.place])

    @property
    def n_lost(self) -> int:
        """Queries with a value only in the baseline."""
        return int(self.pairs.is_lost[:, self.place].sum())


def check_regressions(pairs: PairedValues, family: Sequence[Subset], options: GateOptions) -> list[Check]:
    """Ask the questions of all measures in each subset of a family; p values are corrected over its subsets (Holm)."""
    pairs_by_subset = [pairs.select(subset.places) for subset in family]
    checks = []
    for question in QUESTIONS:
        if not getattr(options, question):
            continue
        tests_by_subset = [_test(question, of_subset, options) for of_subset in pairs_by_subset]
        p_values = np.column_stack([tests.p_values for tests in tests_by_subset])
        p_adjusted = np.column_stack([stats.adjust(of_measure, "holm") for of_measure in p_values])
        for n, subset in enumerate(family):
            for place in range(len(pairs.measures)):
                difference = _measure_difference(
                    pairs_by_subset[n],
                    subset,
                    place,
                    question,
                    tests=tests_by_subset[n],
                    p_adjusted=float(p_adjusted[n, place]),
                    n_subsets=len(family),
                    alpha=options.alpha,
                )
                checks.append(_make_check(difference, options))
    return checks


def _test(question: str, pairs: PairedValues, options: GateOptions) -> Tests:
    """Return the p value and the bound of the difference of each measure."""
    better, level = pairs.better, 1 - options.alpha
    cluster, weights = pairs.cluster, pairs.weights
    if question == "no_regression":
        significance = stats.p_values(-better, test="t", alternative="greater", cluster=cluster, weights=weights)
        p_values = significance.p_values
        bounds = stats.interval_bounds(
            better, method="t", confidence_level=2 * level - 1, cluster=cluster, weights=weights
        )[1]
    else:
        margins = (options.no_worse_than or 0.0) / pairs.scales
        equivalence = stats.no_worse(better, margins, confidence_level=level, cluster=cluster, weights=weights)
        p_values = np.where(pairs.is_same, 0.0, equivalence.p_values)
        bounds = equivalence.low
    return Tests(np.where(pairs.is_known(options), p_values, np.nan), pairs.scales * bounds)


def _measure_difference(
    pairs: PairedValues,
    subset: Subset,
    place: int,
    question: str,
    *,
    tests: Tests,
    p_adjusted: float,
    n_subsets: int,
    alpha: float,
) -> Difference:
    """Return the difference of one measure, with what decides whether it passes."""
    column = pairs.better[:, place]
    weights = None if pairs.weights is None else pairs.weights[:, place]
    (skewness,), sizes = stats.skewness(column[:, np.newaxis], cluster=pairs.cluster, weights=weights)
    is_no_regression = question == "no_regression"
    return Difference(
        pairs=pairs,
        subset=subset,
        place=place,
        question=question,
        p_value=float(tests.p_values[place]),
        p_adjusted=p_adjusted,
        bound=float(tests.bounds[place]),
        n_subsets=n_subsets,
        mean=_average(pairs, place, pairs.values),
        baseline_mean=_average(pairs, place, pairs.before),
        better=_average(pairs, place, pairs.better),
        skewness=skewness,
        is_skewed=bool(stats.is_doubtful(np.array([skewness]), sizes, "t")[0]),
        detectable=_find_detectable(pairs, place, alpha / n_subsets) if is_no_regression else None,
    )


def _average(pairs: PairedValues, place: int, values: FloatArray) -> float:
    """Return the mean of a column over the queries with a value in both; the total of a count."""
    has_value = ~np.isnan(pairs.better[:, place])
    weights = None if pairs.weights is None else pairs.weights[has_value, place]
    return float(pairs.scales[place]) * weighting.mean(values[has_value, place], weights)


@dataclass(frozen=True)
class Decision:
    """Whether a comparison passes, and why.

    Attributes
    ----------
    passed : bool
    causes : tuple of str
        Of its failure, or why its passing proves little: keys of `REASONS`.
    """

    passed: bool
    causes: tuple[str, ...] = ()


def _decide(difference: Difference, options: GateOptions) -> Decision:
    """Return whether a comparison passes, and every cause that holds."""
    pairs, place = difference.pairs, difference.place
    if not pairs.is_known(options)[place]:
        return Decision(passed=False, causes=("unknown" if pairs.n_queries[place] else "no query",))
    if pairs.is_same[place]:
        return Decision(passed=True)
    if difference.question == "no_regression":
        return _decide_regression(difference, options.alpha)
    return _decide_margin(difference, options)


def _decide_regression(difference: Difference, alpha: float) -> Decision:
    """Return whether a measure shows no significant loss."""
    is_worse = difference.better < -stats.NEGLIGIBLE_DIFFERENCE
    causes = []
    if math.isnan(difference.p_adjusted):  # there is no test of so few
        if is_worse:
            causes.append("worse")
        causes.append("needs")
        return Decision(not is_worse, tuple(causes))
    if stats.significant(difference.p_adjusted, alpha):
        causes.append("significant")
        if difference.is_skewed and difference.skewness > 0:
            causes.append("skewed gains")
        return Decision(passed=False, causes=tuple(causes))
    if difference.n_lost:
        causes.append("lost")
    if is_worse or difference.n_units < FEWEST:
        causes.append("few" if difference.detectable is None else "power")
    if is_worse:
        causes.append("not significant")
    return Decision(passed=True, causes=tuple(causes))


def _decide_margin(difference: Difference, options: GateOptions) -> Decision:
    """Return whether a loss of the margin is ruled out."""
    is_worse = difference.better < -stats.NEGLIGIBLE_DIFFERENCE
    causes = []
    if math.isnan(difference.p_adjusted):  # there is no test of so few
        return Decision(passed=False, causes=("needs",))
    if not stats.significant(difference.p_adjusted, options.alpha):
        if is_worse:
            causes.append("worse")
        causes.append("not ruled out")
        return Decision(passed=False, causes=tuple(causes))
    if difference.n_lost:
        causes.append("lost")
    if difference.n_units < FEWEST:
        causes.append("few")
    if difference.is_skewed and difference.skewness < 0 and not _is_sure(difference, options):
        causes.append("skewed losses")
    if math.isnan(difference.skewness) and difference.n_units > 2 and difference.better < 0:
        causes.append("constant")
    return Decision(passed=True, causes=tuple(causes))


def _is_sure(difference: Difference, options: GateOptions) -> bool:
    """Tell whether Gaffke's bound, which needs no normal distribution, rules out a loss of the margin as well."""
    pairs, place = difference.pairs, difference.place
    most = float(np.ptp(pairs.measures[place].range))  # that a query may lose or gain
    margin = options.no_worse_than
    is_plain = pairs.cluster is None and pairs.weights is None
    if margin is None or not is_plain or math.isinf(most):
        return False
    tail = options.alpha / difference.n_subsets
    bounds = stats.interval_bounds(
        pairs.better[:, [place]],
        method=BOUNDED,
        confidence_level=1 - 2 * tail,
        n_resamples=max(2_000, math.ceil(FEWEST_BEYOND / tail)),
        limits=(-most, most),
        rng=0,
    )
    return float(bounds[0][0]) > -margin


def _find_detectable(pairs: PairedValues, place: int, alpha: float) -> float | None:
    """Return the smallest loss that the test would find with a power of 80 %; None if it would find none."""
    n_units = int(pairs.n_units[place])
    weights = None if pairs.weights is None else pairs.weights[:, place]
    (error,) = stats.standard_errors(pairs.better[:, [place]], cluster=pairs.cluster, weights=weights).tolist()
    if n_units < 2 or not error > 0:
        return None
    std = error * math.sqrt(n_units)
    detectable = stats.detectable_difference(
        std, n_units, power=POWER, confidence_level=1 - alpha, alternative="greater"
    )
    scaled = float(pairs.scales[place]) * detectable
    return scaled if scaled <= np.ptp(pairs.measures[place].range) else None


def _make_check(difference: Difference, options: GateOptions) -> Check:
    """Return the check of one question and measure; every cause that holds says why it came out so."""
    pairs, place = difference.pairs, difference.place
    measure = pairs.measures[place]
    decision = _decide(difference, options)
    is_no_regression = difference.question == "no_regression"
    operator = ">" if measure.higher_is_better else "<"
    if is_no_regression:
        operator += "="
    size = 0.0 if is_no_regression else options.no_worse_than or 0.0
    unit = unit_of(measure)
    gate = f"{measure.label} {operator} baseline"
    if size:
        gate += f" {'-' if measure.higher_is_better else '+'} {size:.15g}{unit}"
    weights = None if pairs.weights is None else pairs.weights[:, place]
    worst = ""
    if not decision.passed:
        worst = lowest(pairs.query_ids, pairs.better[:, place], "losses", below=0, weights=weights, unit=unit)
    return Check(
        gate=gate,
        measure=measure.label,
        quantity="difference",
        value=difference.mean - difference.baseline_mean,
        operator=operator,
        threshold=-measure.sign * size,
        passed=decision.passed,
        because=_describe(decision.causes, difference, options),
        n_queries=int(pairs.n_queries[place]),
        mean=float(measure.level_of(difference.mean)),
        baseline_mean=float(measure.level_of(difference.baseline_mean)),
        p_value=difference.p_value,
        bound=measure.sign * difference.bound,
        question=difference.question,
        p_adjusted=difference.p_adjusted,
        detectable=difference.detectable,
        proves_little=decision.passed and bool(decision.causes),
        by=difference.subset.by,
        stratum=difference.subset.stratum,
        worst=worst,
        causes=decision.causes,
        n_units=difference.n_units,
    )


def _describe(causes: Sequence[str], difference: Difference, options: GateOptions) -> str:
    """Say the causes in words."""
    pairs = difference.pairs
    if pairs.cluster is None:
        units = format_count(difference.n_units, "query", "queries")
    else:
        units = format_count(difference.n_units, "cluster")
    if pairs.weights is not None:
        units += " by weight"
    p = "p" if difference.n_subsets == 1 else "p adjusted"
    words = {
        "units": units,
        "lost": format_count(difference.n_lost, "query", "queries"),
        "loss": -difference.better,
        "unit": unit_of(pairs.measures[difference.place]),
        "margin": options.no_worse_than,
        "detectable": difference.detectable,
        "power": POWER,
        "skewness": difference.skewness,
        "p": f"{p} {format_p_value(difference.p_adjusted)}",
    }
    return "; ".join(REASONS[cause].format_map(words) for cause in causes)
