"""What reports say of repeats: the parts of the variance, and what they tell."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from deadheat.core.measures.notation import unit_of
from deadheat.core.report.cells import finite_or_none, format_cell
from deadheat.core.report.model import Fact, note_fact

if TYPE_CHECKING:
    from deadheat.core.evaluation.evaluation import Evaluation
    from deadheat.plugins.repeats.variances import VarianceComponents

WIDENED = (
    "what all queries of one repeat share widens intervals, by Student's t over the repeats, and p is at least that of"
    " a t test that counts it"
)
SHARED = 0.05  # p value below which repeats are said to differ as a whole


def facts_of_evaluations(evaluations: Sequence[Evaluation]) -> list[Fact]:
    """Give the parts of the variance of systems that were run several times, and say what their values differ by."""
    of_systems = {}
    for evaluation in evaluations:
        components = {one.measure.label: one.variance_components for one in evaluation if one.repeats is not None}
        if components:
            of_systems[evaluation.name] = components
    if not of_systems:
        return []
    stated = {
        name: {measure: _as_json(one) for measure, one in components.items()} for name, components in of_systems.items()
    }
    facts = [Fact("variance_components", stated)]
    for name, components in of_systems.items():
        facts += [note_fact("repeats", text) for text in _tell(name, components)]
    return facts


def facts_of_comparison(parts: Mapping[tuple[str, ...], Any]) -> list[Fact]:  # noqa: ARG001 - as of other plugins
    """Say nothing: what repeats tell of pairs is in their columns, of which the report of a comparison tells."""
    return []


def _as_json(components: VarianceComponents) -> dict[str, float | None]:
    return {name: finite_or_none(value) for name, value in asdict(components).items()}


def _tell(system: str, components: Mapping[str, VarianceComponents]) -> Iterator[str]:
    """Say what the values of a system differ by, by measure; "" where one thing is not to be said."""
    measure, first = next(iter(components.items()))
    queries, repeats, ties, shared = (
        format_cell(math.sqrt(max(getattr(first, name), 0.0))) for name in ("queries", "repeats", "ties", "shared")
    )
    yield (
        f"{measure} of {system}: standard deviation {queries}{unit_of(measure)} over queries, {repeats} over"
        f" {first.n_repeats:.3g} repeats ({shared} shared by all queries of one), {ties} over tie orders"
    )
    yield WIDENED if any(one.shared > 0 for one in components.values()) else ""
    alike = [name for name, one in components.items() if one.shared_p_value < SHARED]
    if alike:
        yield (
            f"those of {system} differ by more than chance in all queries together, such as by a seed: few of them tell"
            f" how far others would ({', '.join(alike)})"
        )
    else:
        yield ""
    below = [f"{name} ({', '.join(one.negative)})" for name, one in components.items() if one.negative]
    yield f"variance estimated below 0, shown as 0: {'; '.join(below)}" if below else ""
