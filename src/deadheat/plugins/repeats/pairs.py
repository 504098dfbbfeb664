"""Pairs of systems with repeats: the noise that all queries of a repeat share, and what another run would reverse."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray
from deadheat.core.design import CLUSTERED, Design
from deadheat.core.errors import ParameterError
from deadheat.core.kernels import weighting
from deadheat.core.stats import standard_errors
from deadheat.core.stats.alternatives import as_alternative
from deadheat.core.wording import format_list
from deadheat.plugins.compare.flips import Side, over_all
from deadheat.plugins.compare.pair_parts import ComparedPairs
from deadheat.plugins.compare.stack import Stack
from deadheat.plugins.repeats.repeated import REPEATS, Repeated
from deadheat.plugins.repeats.variances import rerun_probability, shared_of, shared_p_value, widened

if TYPE_CHECKING:
    from deadheat.core.report.model import Fact
    from deadheat.plugins.compare.pair import Pairs


class RepeatedPairs:
    """What repeats of a system make of its pairs."""

    def is_in(self, side: Side) -> bool:
        """Tell whether a system has repeats."""
        return REPEATS in side.score_parts

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
            shared = []
            for side in (stack.sides[a], stack.sides[b]):
                if self.is_in(side):
                    shared.append(shared_of(_values_of(side)[keep]))
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
                alternative = as_alternative(design.alternative)
                p_value = shared_p_value(mean, error, freedom, shared, alternative)
                columns["p_value"][n] = max(columns["p_value"][n], p_value)
            columns["standard_error"][n] = math.hypot(columns["standard_error"][n], spread)
            unknown = _why_no_rerun(stack, a, b, keep)
            columns["rerun_unknown"][n] = unknown
            if not unknown:
                columns["rerun_probability"][n] = rerun_probability(mean, shared)

    def tell(self, places: Sequence[str], pairs: Pairs) -> Iterator[Fact]:
        """Say which orders running the systems once more may reverse, if these were run several times."""
        from deadheat.core.report.model import Fact, prose_fact
        from deadheat.plugins.compare.pair_names import name_first  # a comparison is not always printed
        from deadheat.plugins.compare.pairs import LIKELY

        chance = pairs.column("rerun_probability")
        if not np.isnan(chance).all():
            n_likely, likely = name_first(
                places, pairs, chance >= LIKELY, lambda pair: f": {pair.rerun_probability:.0%}"
            )
            what = f"reverse the order with a probability of {LIKELY:.0%} or more"
            text = f"running both systems again would {what}: {format_list(likely, n=n_likely) or 'of no pair'}"
            yield replace(prose_fact("once more", text), brief=text)
        unknown = pairs.column("rerun_unknown")
        counts = {}
        told = []
        for reason in sorted(set(unknown.tolist()) - {""}):
            counts[reason], names = name_first(places, pairs, unknown == reason)
            told.append(f"{reason}: {format_list(names, n=counts[reason])}")
        if told:
            text = (
                "the probability that running both systems again reverses their order is not known, as"
                f" {'; '.join(told)}"
            )
            yield Fact("rerun_unknown", counts, "once more", text, brief=text)


def _values_of(side: Side) -> FloatArray:
    """Return the values of each run of a system, of shape (n_queries, n_repeats), NaN for queries that it lacks."""
    repeated = cast("Repeated", side.score_parts[REPEATS])
    return over_all(repeated.values, side.is_evaluated, math.nan)


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
        side = stack.sides[row]
        if REPEATS not in side.score_parts:
            return f"the {role} has a single run"
        if not shared_of(_values_of(side)[keep]).freedom:
            return f"fewer than two queries have a value in every repeat of the {role}"
    if stack.weights is not None and not weighting.are_equal(stack.weights[system][keep]):
        return "the queries have weights"
    return ""


PART = RepeatedPairs()
