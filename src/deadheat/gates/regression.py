"""Test whether an evaluation is worse than its baseline: significantly, or possibly by more than a margin."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deadheat import stats
from deadheat.arrays import BoolArray, FloatArray, IntArray, TextArray
from deadheat.errors import DataError, UnknownMeasureError
from deadheat.evaluation.evaluation import Evaluation, check_alike
from deadheat.evaluation.intervals import FEWEST
from deadheat.gates.lowest import lowest
from deadheat.gates.result import QUESTIONS, Check, GateOptions
from deadheat.gates.subsets import Subset
from deadheat.measures import Measure
from deadheat.wording import counted

LEAST_P = 0.0001  # smaller p values print as "<", as in tables
POWER = 0.8


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

    @property
    def directions(self) -> FloatArray:
        """1 where higher is better, else -1, of shape (n_measures,)."""
        return np.array([1.0 if one.higher_is_better else -1.0 for one in self.measures])

    @property
    def better(self) -> FloatArray:
        """The differences, above 0 where the evaluation is better."""
        return (self.values - self.before) * self.directions

    @property
    def n_queries(self) -> IntArray:
        """Queries with a value in both, of shape (n_measures,)."""
        return (~np.isnan(self.values)).sum(axis=0)

    @property
    def n_units(self) -> IntArray:
        """Queries with a value in both, or the clusters of these, of shape (n_measures,)."""
        if self.cluster is None:
            return self.n_queries
        kept = ~np.isnan(self.values)
        return np.array([len(np.unique(self.cluster[column])) for column in kept.T], np.int64)

    @property
    def is_same(self) -> BoolArray:
        """Which measures have values that are all equal in both, and lost none."""
        return (
            (self.n_queries > 0)
            & ~self.is_lost.any(axis=0)
            & (np.nan_to_num(np.abs(self.better)) < stats.NEGLIGIBLE_DIFFERENCE).all(axis=0)
        )

    @property
    def scales(self) -> FloatArray:
        """The factors from means to reported numbers: the number of queries for counts, reported as totals; else 1."""
        totals = np.array([one.total for one in self.measures])
        return np.where(totals, np.maximum(self.n_queries, 1), 1).astype(np.float64)

    def select(self, keep: BoolArray) -> Pairs:
        """Return the pairs of some queries."""
        cluster = None if self.cluster is None else self.cluster[keep]
        ids = self.query_ids[keep]
        return Pairs(self.measures, self.values[keep], self.before[keep], self.is_lost[keep], cluster, ids)


@dataclass(frozen=True)
class Tested:
    """The result of a question's test for one measure in one subset.

    Attributes
    ----------
    question : {"no_regression", "no_worse_than"}
    n_queries, n_units, n_lost : int
        Queries with a value in both; these or their clusters; queries with a value only in the baseline.
    unit : {"query", "cluster"}
    is_same, is_known : bool
        Whether all values are equal; whether they are equal or enough for a test.
    better : float
        How much better the mean, or total, is.
    p_value, p_adjusted : float
    bound : float
        Of the difference, higher being better.
    detectable : float or None
    n_subsets : int
        Size of the family that the p values are corrected for.
    skewness : float
        Of the differences, higher being better; NaN if all are equal, or there are fewer than three.
    is_skewed : bool
        Whether the skewness is too large for so few queries or clusters to hold the level of the test.
    """

    question: str
    n_queries: int
    n_units: int
    n_lost: int
    unit: str
    is_same: bool
    is_known: bool
    better: float
    p_value: float
    p_adjusted: float
    bound: float
    detectable: float | None
    n_subsets: int
    skewness: float
    is_skewed: bool

    @property
    def is_constant(self) -> bool:
        """Whether all differences are equal, with more than two queries or clusters."""
        return math.isnan(self.skewness) and self.n_units > 2


def check_same(evaluation: Evaluation, baseline: Evaluation) -> None:
    """Raise `DataError` unless both have the same qrels and queries, under the same conventions."""
    names = f"{evaluation.name} and its baseline {baseline.name}"
    check_alike(evaluation, baseline, names)
    if evaluation.queries_hash != baseline.queries_hash:
        why = " (missing='skip' leaves out the queries that a run lacks)" * (baseline.conventions.missing == "skip")
        raise DataError(
            f"{names} are of different queries: {_only_in_one(evaluation, baseline)}",
            hint=f"evaluate both on the same queries{why}",
        )


def paired(evaluation: Evaluation, baseline: Evaluation, cluster: IntArray | None) -> tuple[Pairs, tuple[str, ...]]:
    """Return the pairs of every shared measure, and the measures that only one of the two has."""
    check_same(evaluation, baseline)
    own, others = ({str(one.measure): one for one in each} for each in (evaluation, baseline))
    shared = [name for name in own if name in others]
    if not shared:
        raise UnknownMeasureError(
            f"{evaluation.name} and its baseline {baseline.name} share no measure: {', '.join(own)} and "
            f"{', '.join(others)}"
        )
    values = np.column_stack([own[name].values for name in shared])
    before = np.column_stack([others[name].values for name in shared])
    lacking, is_lost = np.isnan(values - before), np.isnan(values) & ~np.isnan(before)
    values, before = (np.where(lacking, np.nan, each) for each in (values, before))
    measures = tuple(own[name].measure for name in shared)
    only = [one.measure.label for name, one in {**others, **own}.items() if name not in shared]
    pairs = Pairs(measures, values, before, is_lost, cluster, evaluation.query_ids)
    return pairs, tuple(sorted(only))


def regressions(pairs: Pairs, family: Sequence[Subset], options: GateOptions) -> Iterator[Check]:
    """Ask the questions of all measures in each subset of a family; p values are corrected over its subsets (Holm)."""
    subsets = [pairs.select(subset.keep) for subset in family]
    for question in QUESTIONS:
        if not getattr(options, question):
            continue
        found = [_tested(question, of_subset, options) for of_subset in subsets]
        p_values = np.stack([p_value for p_value, _ in found])
        adjusted = np.stack([stats.adjust(column, "holm") for column in p_values.T], axis=1)
        for n in range(len(pairs.measures)):
            for place, (subset, of_subset) in enumerate(zip(family, subsets, strict=True)):
                test = found[place][0][n], adjusted[place, n], found[place][1][n]
                yield _checked(
                    _measured(question, of_subset, n, test, options, len(family)), of_subset, n, subset, options
                )


def _tested(question: str, pairs: Pairs, options: GateOptions) -> tuple[FloatArray, FloatArray]:
    """Return the p value and the bound of the difference of each measure; p is NaN where a test says nothing."""
    better, level = pairs.better, 1 - options.alpha
    if question == "no_regression":
        p_values = stats.p_values(-better, test="t", alternative="greater", cluster=pairs.cluster).p_values
        bounds = stats.interval_bounds(better, method="t", confidence_level=2 * level - 1, cluster=pairs.cluster)[1]
    else:
        margins = _margin(options) / pairs.scales
        found = stats.no_worse(better, margins, confidence_level=level, cluster=pairs.cluster)
        p_values, bounds = np.where(pairs.is_same, 0.0, found.p_values), found.low
    return np.where(_is_known(pairs, options), p_values, np.nan), bounds


def _margin(options: GateOptions) -> float:
    return options.no_worse_than or 0.0


def _is_known(pairs: Pairs, options: GateOptions) -> BoolArray:
    return pairs.is_same | ((pairs.n_units >= FEWEST) | options.allow_unknown) & (pairs.n_queries > 0)


def _measured(  # noqa: PLR0917 - all that is known of one test
    question: str, pairs: Pairs, n: int, test: tuple[float, float, float], options: GateOptions, n_subsets: int
) -> Tested:
    """Return the result for one measure, in its own units."""
    column, scale = pairs.better[:, n], float(pairs.scales[n])
    better = scale * float(np.nanmean(column)) if pairs.n_queries[n] else math.nan
    skewness, n_units = stats.skewness(column[:, np.newaxis], cluster=pairs.cluster)
    return Tested(
        question,
        int(pairs.n_queries[n]),
        int(pairs.n_units[n]),
        int(pairs.is_lost[:, n].sum()),
        "query" if pairs.cluster is None else "cluster",
        bool(pairs.is_same[n]),
        bool(_is_known(pairs, options)[n]),
        better,
        float(test[0]),
        float(test[1]),
        scale * float(test[2]),
        _detectable(pairs, n, options.alpha / n_subsets) if question == "no_regression" else None,
        n_subsets,
        float(skewness[0]),
        bool(stats.is_doubtful(skewness, n_units, "t")[0]),
    )


def _detectable(pairs: Pairs, n: int, alpha: float) -> float | None:
    """Return the smallest loss that the test would find with a power of 80 %; None where nothing varies."""
    n_units = int(pairs.n_units[n])
    if n_units < 2:
        return None
    error = float(stats.standard_errors(pairs.better[:, [n]], cluster=pairs.cluster)[0])
    if not error > 0:
        return None
    return float(pairs.scales[n]) * stats.detectable_difference(
        error * math.sqrt(n_units), n_units, power=POWER, confidence_level=1 - alpha, alternative="greater"
    )


def _checked(test: Tested, pairs: Pairs, n: int, subset: Subset, options: GateOptions) -> Check:
    """Return the check of one question, measure and subset."""
    measure, is_higher = pairs.measures[n], pairs.measures[n].higher_is_better
    scale, sign = float(pairs.scales[n]), 1.0 if is_higher else -1.0
    mean, before = (
        scale * float(np.nanmean(each[:, n])) if test.n_queries else math.nan for each in (pairs.values, pairs.before)
    )
    passed, reason = _judged(test, options)
    margin = _margin(options) if test.question == "no_worse_than" else 0.0
    operator = (">=" if is_higher else "<=")[: 2 if test.question == "no_regression" else 1]
    return Check(
        f"{measure.label} {operator} baseline" + (f" {'-' if is_higher else '+'} {margin:.15g}" if margin else ""),
        measure.label,
        "difference",
        mean - before,
        operator,
        -sign * margin,
        passed,
        reason,
        test.n_queries,
        mean,
        before,
        test.p_value,
        sign * test.bound,
        test.question,
        test.p_adjusted,
        test.detectable,
        proves_little=passed and bool(reason),
        by=subset.by,
        stratum=subset.stratum,
        worst="" if passed else lowest(pairs.query_ids, pairs.better[:, n], "losses", below=0),
    )


def _judged(test: Tested, options: GateOptions) -> tuple[bool, str]:
    """Return whether it passes, and why it does not, or why that proves little."""
    if not test.n_queries:
        return False, "no query has a value in both"
    if not test.is_known:
        return False, f"cannot be known with {_units(test)}"
    if test.is_same:
        return True, ""
    return _no_regression(test, options) if test.question == "no_regression" else _no_worse(test, options)


def _no_regression(test: Tested, options: GateOptions) -> tuple[bool, str]:
    """Return whether it passes, and why it does not, or why that proves little."""
    by = f"worse by {-test.better:.4g}"
    is_worse = test.better < -stats.NEGLIGIBLE_DIFFERENCE
    if math.isnan(test.p_adjusted):
        return not is_worse, f"{by}; {_needs(test)}" if is_worse else f"proves nothing: {_needs(test)}"
    if stats.significant(test.p_adjusted, options.alpha):
        doubt = f"; {_skewed(test, 'finds')}" if test.is_skewed and test.skewness > 0 else ""
        return False, f"{by}, significantly ({_p_value(test)}){doubt}"
    why = [_lost(test)] if test.n_lost else []
    if is_worse or test.n_units < FEWEST:
        why.append(_power(test))
    if is_worse:
        why.append(f"{by}, but not significantly ({_p_value(test)})")
    return True, f"proves little: {'; '.join(why)}" if why else ""


def _no_worse(test: Tested, options: GateOptions) -> tuple[bool, str]:
    """Return whether it passes, and why it does not, or why that proves little."""
    if math.isnan(test.p_adjusted):
        return False, _needs(test)
    if stats.significant(test.p_adjusted, options.alpha):
        why = [_lost(test)] if test.n_lost else []
        why += [f"with {_units(test)}"] if test.n_units < FEWEST else []
        why += [_skewed(test, "rules out")] if test.is_skewed and test.skewness < 0 else []
        why += [f"all differences of {_units(test)} are equal"] if test.is_constant and test.better < 0 else []
        return True, f"proves little: {'; '.join(why)}" if why else ""
    by = f"worse by {-test.better:.4g}; " if test.better < -stats.NEGLIGIBLE_DIFFERENCE else ""
    return False, f"{by}a loss of {options.no_worse_than:.15g} or more is not ruled out ({_p_value(test)})"


def _lost(test: Tested) -> str:
    return f"{counted(test.n_lost, 'query', 'queries')} left out, with a value only in the baseline"


def _power(test: Tested) -> str:
    """Return which loss the test would have found."""
    if test.detectable is None:
        return f"with {_units(test)}"
    return f"with {_units(test)} only a loss of {test.detectable:.2g} or more would be found (power {POWER:.0%})"


def _skewed(test: Tested, errs: str) -> str:
    """Return that a sample with few large losses, or gains, may have missed others, which a t test ignores."""
    return f"differences too skewed ({test.skewness:+.1f}) for {_units(test)}: a t test {errs} losses too easily"


def _units(test: Tested) -> str:
    return counted(test.n_units, test.unit, "queries" if test.unit == "query" else None)


def _needs(test: Tested) -> str:
    return f"a test needs two queries, or two clusters; there is {_units(test)}"


def _p_value(test: Tested) -> str:
    name = "p" if test.n_subsets == 1 else "p adjusted"
    return f"{name} = {test.p_adjusted:.2g}" if test.p_adjusted >= LEAST_P else f"{name} < .0001"


def _only_in_one(evaluation: Evaluation, baseline: Evaluation) -> str:
    own, others = (set(one.query_ids.tolist()) for one in (evaluation, baseline))
    return " and ".join(
        f"{len(ids)} only in {name}, such as {min(ids)!r}"
        for name, ids in ((evaluation.name, own - others), (baseline.name, others - own))
        if ids
    )
