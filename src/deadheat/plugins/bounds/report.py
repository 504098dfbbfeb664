"""What reports say of bounds: labels that were assumed, measures without bounds, differences that could be reversed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.report.cells import Span, format_cell
from deadheat.core.report.model import Fact, prose_fact
from deadheat.core.report.score_tables import format_stratum
from deadheat.core.wording import format_count, format_list


def facts_of_evaluations(evaluations: Sequence[Evaluation]) -> list[Fact]:
    """Say what was assumed of unjudged documents, if anything, and which measures have no bounds."""
    facts = _tell_assumption(evaluations)
    unbounded = []
    for scores in evaluations[0]:
        if scores.unjudged is not None and not scores.has_unjudged_bounds:
            unbounded.append(scores.measure.label)
    if unbounded:
        text = f"over unjudged documents: {', '.join(unbounded)}"
        facts.append(Fact("without_bounds", unbounded, "no bound", text, is_note=True))
    return facts


def _tell_assumption(evaluations: Sequence[Evaluation]) -> list[Fact]:
    """Say what labels or places documents were assumed to have, if bounds were asked for."""
    conventions = evaluations[0].conventions
    top = conventions.unjudged_max_rel
    if conventions.unjudged == "bounds":
        highest = "the highest in the qrels" if top is None else f"{top:g}"
        qrels = evaluations[0].qrels
        of = "document without a grade" if qrels.open_to is not None else "retrieved unjudged document"
        text = f"if each {of} had any relevance, 0 to {highest}"
        return [Fact("unjudged", "bounds", "if judged", text), Fact("unjudged_max_rel", top)]
    if any(scores.unjudged for one in evaluations for scores in one):
        text = "if each document without a grade were anywhere in its list"
        return [Fact("unjudged", "bounds", "if judged", text)]
    return []


def facts_of_comparison(parts: Mapping[tuple[str, ...], Any]) -> list[Fact]:
    """Say which differences labels of unjudged documents could reverse, and of which that is not known."""
    placed = [(format_stratum(stratum), one) for stratum, part in parts.items() for one in part.unjudged_outer_bounds]
    if not placed:
        return []
    keys = ("measure", "system", "baseline", "low", "high", "is_attained")
    held = [{key: getattr(bound, key) for key in keys} for _, bound in placed]
    reversible, unknown = [], []
    for where, bound in placed:
        span = format_cell(Span(bound.low, bound.high))
        described = f"{bound.measure} {bound.system} - {bound.baseline}{where} {span}"
        if bound.is_reversible:
            reversible.append(described)
        elif bound.is_open:
            unknown.append(described)
    total = format_count(len(placed), "difference")
    what = "labels of unjudged documents could reverse"
    text = f"{what} {len(reversible)} of {total}: {format_list(reversible)}" if reversible else f"{what} no difference"
    if unknown:
        text += f"; of {len(unknown)} that is not known (outer bounds): {format_list(unknown)}"
    return [Fact("unjudged_outer_bounds", held), replace(prose_fact("if judged", text), brief=text)]
