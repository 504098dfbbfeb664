"""Test whether an evaluation is worse than its baseline: significantly, or possibly by more than a margin."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from deadheat import stats
from deadheat.arrays import BoolArray, FloatArray, IntArray, TextArray
from deadheat.errors import DataError, UnknownMeasureError
from deadheat.evaluation.evaluation import Evaluation, check_alike
from deadheat.evaluation.intervals import FEWEST
from deadheat.gates.result import QUESTIONS, Check, GateOptions
from deadheat.gates.subsets import Subset
from deadheat.gates.thresholds import lowest
from deadheat.measures import Measure
from deadheat.wording import counted

LEAST_P = 0.0001  # smaller p values print as "<", as in tables
POWER = 0.8
REASONS = {
    "no query": "no query has a value in both",
    "unknown": "cannot be known with {units}",
    "needs": "a test needs two queries, or two clusters; there is {units}",
    "worse": "worse by {loss:.4g}",
    "significant": "worse by {loss:.4g}, significantly ({p})",
    "not significant": "worse by {loss:.4g}, but not significantly ({p})",
    "not ruled out": "a loss of {margin:.15g} or more is not ruled out ({p})",
    "lost": "{lost} left out, with a value only in the baseline",
    "power": "with {units} only a loss of {detectable:.2g} or more would be found (power {power:.0%})",
    "few": "with {units}",
    # a sample with few large losses, or gains, may have missed others, which a t test ignores
    "skewed gains": "differences too skewed ({skewness:+.1f}) for {units}: a t test finds losses too easily",
    "skewed losses": "differences too skewed ({skewness:+.1f}) for {units}: a t test rules out losses too easily",
    "constant": "all differences of {units} are equal",
}


@dataclass(frozen=True, eq=False)
class Pairs:
    """The values of shared measures in an evaluation and its baseline, query by query.

    Attributes
    ----------
    measures : tuple of Measure
    values, before : ndarray of float, shape (n_queries, n_measures)
        NaN in both where either has no value.
    is_lost : ndarray of bool, shape (n_queries, n_measures)
        Where only the baseline has a value.
    cluster : ndarray of int, shape (n_queries,), or None
    query_ids : ndarray of str, shape (n_queries,)
    """

    measures: tuple[Measure, ...]
    values: FloatArray
    before: FloatArray
    is_lost: BoolArray
    cluster: IntArray | None
    query_ids: TextArray

    @cached_property
    def better(self) -> FloatArray:
        """The differences, above 0 where the evaluation is better."""
        return (self.values - self.before) * np.array([1.0 if one.higher_is_better else -1.0 for one in self.measures])

    @cached_property
    def n_queries(self) -> IntArray:
        """Queries with a value in both, of shape (n_measures,)."""
        return (~np.isnan(self.values)).sum(axis=0)

    @cached_property
    def n_units(self) -> IntArray:
        """Queries with a value in both, or the clusters of these, of shape (n_measures,)."""
        if self.cluster is None:
            return self.n_queries
        return np.array([len(np.unique(self.cluster[column])) for column in (~np.isnan(self.values)).T], np.int64)

    @cached_property
    def is_same(self) -> BoolArray:
        """Which measures have values that are all equal in both, and lost none."""
        return (
            (self.n_queries > 0)
            & ~self.is_lost.any(axis=0)
            & (np.nan_to_num(np.abs(self.better)) < stats.NEGLIGIBLE_DIFFERENCE).all(axis=0)
        )

    @cached_property
    def scales(self) -> FloatArray:
        """The factors from means to reported numbers: the number of queries for counts, reported as totals; else 1."""
        totals = np.array([one.total for one in self.measures])
        return np.where(totals, np.maximum(self.n_queries, 1), 1).astype(np.float64)

    def is_known(self, options: GateOptions) -> BoolArray:
        """Whether all values are equal, or enough for a test, of shape (n_measures,)."""
        return self.is_same | ((self.n_units >= FEWEST) | options.allow_unknown) & (self.n_queries > 0)

    def select(self, keep: BoolArray) -> Pairs:
        """Return the pairs of some queries."""
        columns = (self.values, self.before, self.is_lost, self.cluster, self.query_ids)
        return Pairs(self.measures, *(None if column is None else column[keep] for column in columns))  # type: ignore[arg-type]


def paired(evaluation: Evaluation, baseline: Evaluation, cluster: IntArray | None) -> tuple[Pairs, tuple[str, ...]]:
    """Return the pairs of every shared measure, and the measures that only one of the two has.

    Raises
    ------
    DataError
        They have other qrels or queries, or other conventions.
    UnknownMeasureError
        They share no measure.
    """
    names = f"{evaluation.name} and its baseline {baseline.name}"
    check_alike(evaluation, baseline, names)
    if evaluation.queries_hash != baseline.queries_hash:
        ids, others = (set(one.query_ids.tolist()) for one in (evaluation, baseline))
        only = " and ".join(
            f"{len(one)} only in {name}, such as {min(one)!r}"
            for name, one in ((evaluation.name, ids - others), (baseline.name, others - ids))
            if one
        )
        why = " (missing='skip' leaves out the queries that a run lacks)" * (baseline.conventions.missing == "skip")
        raise DataError(f"{names} are of different queries: {only}", hint=f"evaluate both on the same queries{why}")
    own, of_baseline = ({str(one.measure): one for one in each} for each in (evaluation, baseline))
    shared = [name for name in own if name in of_baseline]
    if not shared:
        raise UnknownMeasureError(f"{names} share no measure: {', '.join(own)} and {', '.join(of_baseline)}")
    values = np.column_stack([own[name].values for name in shared])
    before = np.column_stack([of_baseline[name].values for name in shared])
    lacking, is_lost = np.isnan(values - before), np.isnan(values) & ~np.isnan(before)
    values, before = (np.where(lacking, np.nan, each) for each in (values, before))
    measures = tuple(own[name].measure for name in shared)
    alone = [one.measure.label for name, one in {**of_baseline, **own}.items() if name not in shared]
    pairs = Pairs(measures, values, before, is_lost, cluster, evaluation.query_ids)
    return pairs, tuple(sorted(alone))


def regressions(pairs: Pairs, family: Sequence[Subset], options: GateOptions) -> Iterator[Check]:
    """Ask the questions of all measures in each subset of a family; p values are corrected over its subsets (Holm)."""
    subsets = [pairs.select(subset.keep) for subset in family]
    for question in QUESTIONS:
        if not getattr(options, question):
            continue
        found = [_tested(question, of_subset, options) for of_subset in subsets]
        adjusted = np.stack(
            [stats.adjust(column, "holm") for column in np.stack([p_values for p_values, _ in found]).T], axis=1
        )
        for n in range(len(pairs.measures)):
            for subset, of_subset, (p_values, bounds), p_adjusted in zip(family, subsets, found, adjusted, strict=True):
                test = float(p_values[n]), float(p_adjusted[n]), float(of_subset.scales[n]) * float(bounds[n])
                check = _checked(question, of_subset, n, test, options=options, n_subsets=len(family))
                yield replace(check, by=subset.by, stratum=subset.stratum)


def _tested(question: str, pairs: Pairs, options: GateOptions) -> tuple[FloatArray, FloatArray]:
    """Return the p value and the bound of the difference of each measure; p is NaN where a test says nothing."""
    better, level = pairs.better, 1 - options.alpha
    if question == "no_regression":
        p_values = stats.p_values(-better, test="t", alternative="greater", cluster=pairs.cluster).p_values
        bounds = stats.interval_bounds(better, method="t", confidence_level=2 * level - 1, cluster=pairs.cluster)[1]
    else:
        margins = (options.no_worse_than or 0.0) / pairs.scales
        found = stats.no_worse(better, margins, confidence_level=level, cluster=pairs.cluster)
        p_values, bounds = np.where(pairs.is_same, 0.0, found.p_values), found.low
    return np.where(pairs.is_known(options), p_values, np.nan), bounds


def _checked(
    question: str, pairs: Pairs, n: int, test: tuple[float, float, float], *, options: GateOptions, n_subsets: int
) -> Check:
    """Return the check of one question and measure: `test` has p, p adjusted and the bound of the difference."""
    (p_value, p_adjusted, bound), measure, column = test, pairs.measures[n], pairs.better[:, n]
    scale, n_queries, n_units = float(pairs.scales[n]), int(pairs.n_queries[n]), int(pairs.n_units[n])
    mean, before, better = (
        scale * float(np.nanmean(each)) if n_queries else math.nan
        for each in (pairs.values[:, n], pairs.before[:, n], column)
    )
    is_regression, n_lost = question == "no_regression", int(pairs.is_lost[:, n].sum())
    detectable = _detectable(pairs, n, options.alpha / n_subsets) if is_regression else None
    (skewness,), sizes = stats.skewness(column[:, np.newaxis], cluster=pairs.cluster)
    is_skewed = bool(stats.is_doubtful(np.array([skewness]), sizes, "t")[0])
    is_worse, is_few = better < -stats.NEGLIGIBLE_DIFFERENCE, n_units < FEWEST
    is_shown = bool(stats.significant(p_adjusted, options.alpha))
    needs = math.isnan(p_adjusted)
    if not n_queries:
        passed, why = False, {"no query": True}
    elif not pairs.is_known(options)[n]:
        passed, why = False, {"unknown": True}
    elif pairs.is_same[n]:
        passed, why = True, {}
    elif needs:
        passed, why = is_regression and not is_worse, {"worse": is_regression and is_worse, "needs": True}
    elif is_shown and is_regression:
        passed, why = False, {"significant": True, "skewed gains": is_skewed and skewness > 0}
    elif is_regression:
        is_little = is_worse or is_few
        power = {"few": is_little and detectable is None, "power": is_little and detectable is not None}
        passed, why = True, {"lost": n_lost > 0, **power, "not significant": is_worse}
    elif is_shown:
        is_constant = math.isnan(skewness) and n_units > 2 and better < 0
        skewed = {"skewed losses": is_skewed and skewness < 0}
        passed, why = True, {"lost": n_lost > 0, "few": is_few, **skewed, "constant": is_constant}
    else:
        passed, why = False, {"worse": is_worse, "not ruled out": True}
    p = "p" if n_subsets == 1 else "p adjusted"
    words = {
        "units": counted(n_units, "cluster") if pairs.cluster is not None else counted(n_units, "query", "queries"),
        "lost": counted(n_lost, "query", "queries"),
        "loss": -better,
        "margin": options.no_worse_than,
        "detectable": detectable,
        "power": POWER,
        "skewness": skewness,
        "p": f"{p} = {p_adjusted:.2g}" if p_adjusted >= LEAST_P else f"{p} < .0001",
    }
    causes = tuple(key for key, holds in why.items() if holds)
    reason = "; ".join(REASONS[key].format_map(words) for key in causes)
    if passed and reason:
        reason = f"proves {'nothing' if needs else 'little'}: {reason}"
    sign, margin = (1.0, "-") if measure.higher_is_better else (-1.0, "+")
    operator = (">" if sign > 0 else "<") + "=" * is_regression
    size = 0.0 if is_regression else options.no_worse_than or 0.0
    return Check(
        gate=f"{measure.label} {operator} baseline" + (f" {margin} {size:.15g}" if size else ""),
        measure=measure.label,
        quantity="difference",
        value=mean - before,
        operator=operator,
        threshold=-sign * size,
        passed=passed,
        reason=reason,
        n_queries=n_queries,
        mean=mean,
        baseline_mean=before,
        p_value=p_value,
        bound=sign * bound,
        question=question,
        p_adjusted=p_adjusted,
        detectable=detectable,
        proves_little=passed and bool(causes),
        worst="" if passed else lowest(pairs.query_ids, column, "losses", below=0),
        causes=causes,
    )


def _detectable(pairs: Pairs, n: int, alpha: float) -> float | None:
    """Return the smallest loss that the test would find with a power of 80 %; None where nothing varies."""
    n_units = int(pairs.n_units[n])
    error = float(stats.standard_errors(pairs.better[:, [n]], cluster=pairs.cluster)[0]) if n_units > 1 else 0.0
    if not error > 0:
        return None
    return float(pairs.scales[n]) * stats.detectable_difference(
        error * math.sqrt(n_units), n_units, power=POWER, confidence_level=1 - alpha, alternative="greater"
    )
