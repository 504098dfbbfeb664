"""Is an evaluation worse than its baseline: by more than a margin, and beyond chance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from deadheat.errors import BaselineMismatchError, UnknownMeasureError
from deadheat.evaluation import check_alike
from deadheat.gates._notation import EQUAL
from deadheat.gates._result import Check
from deadheat.stats import interval_bounds, p_values, significant

if TYPE_CHECKING:
    from deadheat.arrays import FloatArray, IntArray
    from deadheat.evaluation import Evaluation
    from deadheat.gates._result import GateOptions
    from deadheat.measures import Measure

LEAST_P = 0.0001  # that people are told as a number, as in tables


def check_same(evaluation: Evaluation, baseline: Evaluation) -> None:
    """Raise `BaselineMismatchError` unless both are of the same qrels and queries, under the same conventions."""
    names = f"{evaluation.name} and its baseline {baseline.name}"
    check_alike(evaluation, baseline, names)
    if evaluation.queries_hash != baseline.queries_hash:
        only = _only_in_one(evaluation, baseline)
        hint = " (missing='skip' leaves out the queries that a run lacks)" * (baseline.conventions.missing == "skip")
        msg = f"{names} are of different queries: {only}; evaluate both on the same queries{hint}"
        raise BaselineMismatchError(msg)


def regressions(
    evaluation: Evaluation, baseline: Evaluation, options: GateOptions, cluster: IntArray | None
) -> tuple[list[Check], tuple[str, ...]]:
    """Check every measure that both have; return the checks, and the measures that only one of them has.

    A one-sided paired t test of "worse by the margin at most": only its rejection fails.
    """
    check_same(evaluation, baseline)
    own, others = ({str(one.measure): one for one in each} for each in (evaluation, baseline))
    shared = [name for name in own if name in others]
    if not shared:
        msg = (
            f"{evaluation.name} and its baseline {baseline.name} share no measure:"
            f" {', '.join(own)} and {', '.join(others)}"
        )
        raise UnknownMeasureError(msg)
    values = np.column_stack([own[name].values for name in shared])
    before = np.column_stack([others[name].values for name in shared])
    differences = values - before
    directions = np.array([1.0 if own[name].measure.higher_is_better else -1.0 for name in shared])
    better = differences * directions
    found = p_values(-better - options.no_worse_than, test="t", alternative="greater", cluster=cluster).p_values
    bounds = interval_bounds(better, method="t", confidence_level=1 - 2 * options.alpha, cluster=cluster)[1]
    checks = [
        _checked(
            own[name].measure,
            np.where(np.isnan(differences[:, n]), np.nan, values[:, n]),
            np.where(np.isnan(differences[:, n]), np.nan, before[:, n]),
            (float(found[n]), float(bounds[n] * directions[n])),
            options,
        )
        for n, name in enumerate(shared)
    ]
    return checks, tuple(sorted({*own, *others}.difference(shared)))


def _checked(
    measure: Measure, values: FloatArray, before: FloatArray, test: tuple[float, float], options: GateOptions
) -> Check:
    """Return the check of one measure; `test` are the p value and the bound of the difference."""
    kept = ~np.isnan(values)
    mean, baseline_mean = (float(one[kept].mean()) if kept.any() else math.nan for one in (values, before))
    difference = mean - baseline_mean
    margin, (p_value, bound) = options.no_worse_than, test
    passed, reason = _judged(-difference if measure.higher_is_better else difference, p_value, options)
    sign, operator = ("-", ">=") if measure.higher_is_better else ("+", "<=")
    return Check(
        f"{measure} {operator} baseline" + (f" {sign} {margin:.15g}" if margin else ""),
        str(measure),
        "difference",
        difference,
        operator,
        -margin if measure.higher_is_better else margin,
        passed,
        reason,
        int(kept.sum()),
        mean,
        baseline_mean,
        p_value,
        bound,
    )


def _judged(worse: float, p_value: float, options: GateOptions) -> tuple[bool, str]:
    """Tell whether a mean that is worse by so much passes, and why."""
    margin = options.no_worse_than
    if math.isnan(worse):
        return False, "no query has a value in both"
    if worse <= margin + EQUAL * max(1.0, margin):
        return True, ""
    by = f"worse by {worse:.4g}"
    beyond = f" more than the margin {margin:.15g}" if margin else ""
    if math.isnan(p_value):
        return False, f"{by}{beyond and ','}{beyond}; a test takes two queries, or two clusters"
    told = f"p = {p_value:.2g}" if p_value >= LEAST_P else "p < .0001"
    if significant(p_value, options.alpha):
        return False, f"{by}, significantly{beyond} ({told})"
    return True, f"{by}, but not significantly{beyond} ({told})"


def _only_in_one(evaluation: Evaluation, baseline: Evaluation) -> str:
    own, others = (set(one.query_ids.tolist()) for one in (evaluation, baseline))
    parts = [
        f"{len(ids)} only in {name}, such as {min(ids)!r}"
        for name, ids in ((evaluation.name, own - others), (baseline.name, others - own))
        if ids
    ]
    return " and ".join(parts)
