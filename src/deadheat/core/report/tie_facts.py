"""What the orders of ties change in a report: which value most, which leaders, and which values are of drawn orders."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.ordering import n_swapped
from deadheat.core.kernels.ranks import first_ranks
from deadheat.core.measures import Measure
from deadheat.core.report.cells import format_cell
from deadheat.core.report.conventions import TIE_HEADINGS, describe_ties
from deadheat.core.report.model import Fact, notation_of, note_fact
from deadheat.core.report.report_parts import Part, report_parts_of
from deadheat.core.report.score_tables import format_stratum
from deadheat.core.report.totals import measure_cell
from deadheat.core.scalars import NOISE
from deadheat.core.wording import format_count


@dataclass(frozen=True)
class _TieRange:
    """How far tie orders move the mean of a measure.

    Attributes
    ----------
    measure : Measure
    name : str
        As the report has it.
    run : str
    labels : tuple of str
        Of the stratum; none of all queries.
    size : float
        The largest mean of any order minus the smallest.
    """

    measure: Measure
    name: str
    run: str
    labels: tuple[str, ...]
    size: float

    @property
    def order(self) -> tuple[bool, float, str, str, tuple[str, ...]]:
        """What sorts ranges by how much they matter.

        Measures without an upper bound, such as ranks, are of another scale: they count if no other moves.
        """
        is_bounded = math.isfinite(self.measure.range[1])
        return is_bounded, self.size, self.name, self.run, self.labels


def tell_effect_of_ties(parts: Sequence[Part], digits: int | None) -> Fact:
    """Say which value tie orders change most; where means are estimated with more, of the values alone."""
    ranges = []
    for part in parts:
        for name, numbers in part.numbers.items():
            size = numbers.reported.tie_range
            if size > NOISE:
                ranges.append(_TieRange(numbers.measure, name, part.whole.name, part.labels, size))
    by = _describe_source_of_values(parts)
    if not ranges:
        return Fact("effect_of_ties", None, "tie order", f"{by}no order of equal scores changes any value")
    largest = max(ranges, key=lambda tie_range: tie_range.order)
    value: dict[str, object] = {"run": largest.run}
    if largest.labels:
        value["stratum"] = list(largest.labels)
    value |= notation_of(largest.name)
    value["range"] = largest.size
    size_as_text = format_cell(measure_cell(largest.measure, largest.size), digits)
    text = f"{by}moves {largest.name} of {largest.run}{format_stratum(largest.labels)} by up to {size_as_text}"
    return Fact("effect_of_ties", value, "tie order", text, brief=text)


def _describe_source_of_values(parts: Sequence[Part]) -> str:
    """Return "by human labels " or the like where a mean is estimated with more than the values; else nothing."""
    for part in parts:
        if any(numbers.reported.is_estimated for numbers in part.numbers.values()):
            return "".join(f"by {report_part.values_are_by} " for report_part in report_parts_of(part.evaluation))
    return ""


def tell_rule_beside(evaluations: Sequence[Evaluation], evaluations_by_rule: Sequence[Evaluation]) -> list[Fact]:
    """Say which rule is beside the exact values, where another run leads by it, and how many pairs of runs it swaps.

    Parameters
    ----------
    evaluations : sequence of Evaluation
    evaluations_by_rule : sequence of Evaluation
        Of the same runs, with ties broken by the rule.
    """
    rule = evaluations_by_rule[0].ties
    description = f"{rule}: {describe_ties(rule, None)}; difference: from exact"
    facts = [Fact("beside", rule, "beside", description)]
    if len(evaluations) < 2:
        return facts
    leaders_by_measure: dict[str, dict[str, list[str]]] = {}
    changed_leaders = []
    n_swapped_by_measure: dict[str, int] = {}
    for measure in evaluations[0].measures:
        values = _reported_values(evaluations, measure)
        values_by_rule = _reported_values(evaluations_by_rule, measure)
        n_swapped_by_measure[measure.label] = n_swapped(values, values_by_rule)
        leaders = _find_leaders(evaluations, measure, values)
        leaders_by_rule = _find_leaders(evaluations, measure, values_by_rule)
        if leaders != leaders_by_rule:
            leaders_by_measure[str(measure)] = {"exact": leaders, rule: leaders_by_rule}
            by_rule = f"{' and '.join(leaders_by_rule)} ({TIE_HEADINGS[rule]})"
            changed_leaders.append(f"{measure}: {' and '.join(leaders)} (exact), {by_rule}")
    facts.append(Fact("leader_changes", leaders_by_measure, "best run", "; ".join(changed_leaders), is_note=True))
    facts.append(_tell_swapped_pairs(math.comb(len(evaluations), 2), n_swapped_by_measure))
    return facts


def _reported_values(evaluations: Sequence[Evaluation], measure: Measure) -> FloatArray:
    """Return the value of each run, of shape (n_runs,)."""
    return np.array([evaluation[measure].reported() for evaluation in evaluations])


def _find_leaders(evaluations: Sequence[Evaluation], measure: Measure, values: FloatArray) -> list[str]:
    """Return the runs with the best value; several if their values are equal."""
    is_best = first_ranks(measure.sign * values) == 1
    return [evaluations[place].name for place in np.flatnonzero(is_best).tolist()]


def _tell_swapped_pairs(n_pairs: int, n_swapped_by_measure: Mapping[str, int]) -> Fact:
    """Say how many pairs of runs change their order."""
    counts = [f"{n:,} ({measure})" for measure, n in n_swapped_by_measure.items() if n]
    text = ""
    if counts:
        text = f"{', '.join(counts)} of {format_count(n_pairs, 'pair')} of runs change their order"
    value = {"n_pairs": n_pairs, "n_swapped": n_swapped_by_measure}
    return Fact("swapped_pairs", value, "order", text, is_note=True)


def tell_drawn_orders(evaluations: Sequence[Evaluation], digits: int | None) -> list[Fact]:
    """Name the measures whose numbers are not exact, as their orders are too many to count."""
    values = []
    notes = []
    for evaluation in evaluations:
        if evaluation.ties != "expected":
            continue
        for scores in evaluation:
            errors = scores.standard_error[scores.standard_error > 0]
            if not len(errors):
                continue
            measure = scores.measure.label
            error = float(errors.max())
            n_queries = len(errors)
            numbers = {"run": evaluation.name, "n_queries": n_queries, "standard_error": error}
            values.append(notation_of(measure) | numbers)
            notes.append(
                f"{measure} of {evaluation.name}: orders of ties were drawn for"
                f" {format_count(n_queries, 'query', 'queries')}, with a standard error of up to"
                f" {format_cell(error, digits)}"
            )
    notes += _describe_drawn_spreads(evaluations)
    facts = [Fact("estimated", values)] if values else []
    for note in notes:
        facts.append(note_fact("estimated", note))
    return facts


def _describe_drawn_spreads(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """Yield a sentence for each measure whose means are exact, and whose spread over orders is not."""
    for evaluation in evaluations:
        for scores in evaluation:
            measure = scores.measure
            n_drawn = int(measure.has_drawn_spread(evaluation.placements_of(measure)).sum())
            if n_drawn:
                yield (
                    f"tie std, min and max of {measure.label} of {evaluation.name} are of drawn orders for"
                    f" {format_count(n_drawn, 'query', 'queries')}; its means are exact"
                )
