"""Pairs of systems with repeats: the noise that all queries of a repeat share, and what another run would reverse."""

import math
from typing import Any

import numpy as np

from deadheat.arrays import BoolArray
from deadheat.errors import ParameterError
from deadheat.kernels import weighting
from deadheat.plugins.compare.flips import Side
from deadheat.plugins.compare.pair_parts import ComparedPairs
from deadheat.plugins.compare.stack import Stack
from deadheat.settings import CLUSTERED, Design
from deadheat.stats import standard_errors
from deadheat.stats.units import as_alternative
from deadheat.stats.variances import rerun_probability, shared_of, shared_p_value, widened


class RepeatedPairs:
    """What repeats of a system make of its pairs."""

    def is_in(self, side: Side) -> bool:
        """Tell whether a system has repeats."""
        return side.repeats is not None

    def change_design(self, design: Design) -> Design:
        """Return the design for p values that no sign flips alone give; refuse tests that cannot have the noise."""
        if design.test not in CLUSTERED:
            raise ParameterError(argument="test", given=design.test, allowed=CLUSTERED, beside={"runs": "repeats"})
        return design.without_maxima({"runs": "repeats"})

    def change(self, columns: dict[str, Any], pairs: ComparedPairs) -> None:
        """Put the noise that the queries of a repeat share into intervals, errors and p values."""
        stack, first, second, design, cluster = pairs
        columns["rerun_probability"] = np.full(len(first), math.nan)
        columns["rerun_unknown"] = np.full(len(first), "", object)
        for n, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            difference = stack.values[a] - stack.values[b]
            keep = ~np.isnan(difference)
            shared = [
                shared_of(side.repeats[keep]) for side in (stack.sides[a], stack.sides[b]) if side.repeats is not None
            ]
            if not shared:
                continue
            mean, spread = float(columns["difference"][n]), math.sqrt(sum(one.variance for one in shared))
            columns["low"][n], columns["high"][n] = widened(
                mean, (float(columns["low"][n]), float(columns["high"][n])), shared, design.confidence_level
            )
            if any(one.variance for one in shared):
                own = None if stack.weights is None else stack.weights[a]
                error = float(standard_errors(difference[:, None], cluster=cluster, weights=own)[0])
                worth = math.inf if own is None else weighting.effective_number(own[keep])
                freedom = min(int(keep.sum()) if cluster is None else len(np.unique(cluster[keep])), worth) - 1
                side = as_alternative(design.alternative)
                columns["p_value"][n] = max(columns["p_value"][n], shared_p_value(mean, error, freedom, shared, side))
            columns["standard_error"][n] = math.hypot(columns["standard_error"][n], spread)
            unknown = _why_no_rerun(stack, a, b, keep)
            columns["rerun_unknown"][n] = unknown
            if not unknown:
                columns["rerun_probability"][n] = rerun_probability(mean, shared)


def _why_no_rerun(stack: Stack, system: int, baseline: int, keep: BoolArray) -> str:
    """Return why it is not known how likely running two systems once more reverses their order; empty if it is.

    Parameters
    ----------
    stack : Stack
    system, baseline : int
        Their rows, of which at least one has repeats.
    keep : ndarray of bool, shape (n_queries,)
        The queries with a value of both.
    """
    for row, role in ((system, "system"), (baseline, "baseline")):
        repeats = stack.sides[row].repeats
        if repeats is None:
            return f"the {role} has a single run"
        if not shared_of(repeats[keep]).freedom:
            return f"fewer than two queries have a value in every repeat of the {role}"
    if stack.weights is not None and not weighting.are_equal(stack.weights[system][keep]):
        return "the queries have weights"
    return ""


PART = RepeatedPairs()
