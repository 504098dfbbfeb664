"""The report of evaluations: scores by measure and run, how they were made, and what looks wrong."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.evaluation.evaluation import UNKNOWN, Evaluation
from deadheat.core.evaluation.intervals import IntervalOptions
from deadheat.core.evaluation.ordering import n_swapped
from deadheat.core.io.texts import hint_at_texts
from deadheat.core.kernels.ranks import first_ranks
from deadheat.core.measures import Measure
from deadheat.core.report.cells import LACKING, format_cell, share_cell
from deadheat.core.report.conventions import TIE_HEADINGS, describe_ties, tell_conventions, tell_ties
from deadheat.core.report.data_facts import describe_queries, tell_data, warn_of_nothing_judged
from deadheat.core.report.interval_facts import describe_methods, tell_unknown_intervals, warn_of_few_units
from deadheat.core.report.make_parts import parts_of, unexplained
from deadheat.core.report.model import Fact, Report, notation_of, note_fact, prose_fact, warning_fact
from deadheat.core.report.of_strata import Grouping, _averages, _grouped
from deadheat.core.report.report_parts import Part, report_parts_of
from deadheat.core.report.score_tables import (
    Quantiles,
    inside,
    list_queries,
    quantiles_of,
    tabulate_quantiles,
    tabulate_scores,
)
from deadheat.core.report.totals import cell_of, tell_counts
from deadheat.core.scalars import NOISE, as_integer
from deadheat.core.settings import Estimation
from deadheat.core.structures import group_values
from deadheat.core.wording import format_count
from deadheat.version import __version__


def report_evaluations(
    evaluations: Sequence[Evaluation],
    qrels: str,
    *,
    per_query: bool = False,
    grouping: Grouping | None = None,
    seed: int | None = None,
    digits: int | None = None,
    unmatched: Mapping[str, tuple[str, str]] | None = None,
    intervals: IntervalOptions | None = None,
    beside: Sequence[Evaluation] = (),
    quantiles: Sequence[float] = (),
    confidence_level: float = Estimation.confidence_level,
) -> Report:
    """Return the report of evaluations of the same measures.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        With different names.
    qrels : str
        The name of the qrels.
    per_query : bool, default False
        Whether a table of all queries comes before the one of their means.
    grouping : Grouping, optional
        What is known of the queries; with strata, these are reported instead of the whole.
    seed : int, optional
        Of ``ties="random"``.
    digits : int, optional
        Decimals of the numbers in sentences.
    unmatched : mapping of str to (str, str), optional
        For a run that retrieves no judged document, by its name: one of its documents and one of the qrels, as their
        ids may be written in two ways.
    intervals : IntervalOptions, optional
        Of confidence intervals, if they are to be reported.
    beside : sequence of Evaluation, default ()
        Of each run, with ties broken by a rule that is to be shown beside the exact values.
    quantiles : sequence of float, default ()
        Over queries, which are to be reported with their intervals.
    confidence_level : float
        Of these intervals.
    """
    strata, columns = (grouping.strata, grouping.columns) if grouping else ((), ())
    first, names = evaluations[0], [evaluation.name for evaluation in evaluations]
    parts = parts_of(evaluations, strata, intervals)
    summary = tabulate_scores(
        parts,
        names,
        first.measures,
        columns=columns,
        smallest=strata[0].smallest if strata else 0,
        level=None if intervals is None else intervals.confidence_level,
        beside=beside,
    )
    of_queries = quantiles_of(parts, quantiles, confidence_level) if quantiles else {}
    title = "".join(["Quantiles over queries", *(f", by {own.values_are_by} alone" for own in report_parts_of(first))])
    tables = (
        *([list_queries(evaluations, strata, beside)] if per_query else []),
        summary,
        *(own.tabulate_means(parts, names, columns, confidence_level) for own in report_parts_of(first)),
        *(_averages(grouping) if grouping else []),
        *(
            [tabulate_quantiles(of_queries, names, level=confidence_level, columns=columns, title=title)]
            if of_queries
            else []
        ),
    )
    n_queries = len(first.query_ids) + (len(first.missing_queries) if first.conventions.missing == "skip" else 0)
    ids = {run: {"run": of_run, "qrels": of_qrels} for run, (of_run, of_qrels) in (unmatched or {}).items()}
    such_as = {}
    for name, own in ids.items():
        hint = hint_at_texts([own["run"]], [own["qrels"]])
        such_as[name] = f" (run: {own['run']!r}; qrels: {own['qrels']!r}){hint}"
    unjudged = [one.name for one in evaluations if one.placements.is_unmatched]
    effect = _effect(parts, digits)
    has_effect = len(unjudged) < len(evaluations) and first.ties != UNKNOWN
    facts = (
        Fact("nothing_judged", ids),
        *(warning_fact("WARNING", warn_of_nothing_judged(name) + such_as.get(name, "")) for name in unjudged),
        Fact("deadheat", __version__),
        Fact("qrels", qrels),
        Fact("n_queries", n_queries, "queries", f"{n_queries:,} in {qrels}", brief=f"{n_queries:,} in {qrels}"),
        *tell_ties(first.ties, seed),
        *(_beside(evaluations, beside) if beside else ()),
        effect if has_effect else replace(effect, text="", brief=""),
        *tell_counts(first.measures),
        *_estimated(evaluations, digits),
        *(_intervals(parts, intervals, digits) if intervals else ()),
        *(_of_quantiles(evaluations, of_queries) if of_queries else ()),
        *tell_conventions(evaluations),
        *tell_data(evaluations),
        *_without_value(evaluations),
        *(_grouped(grouping) if grouping else ()),
    )
    return Report(tables, facts)


def _of_quantiles(evaluations: Sequence[Evaluation], quantiles: Quantiles) -> Iterator[Fact]:
    """Say how quantiles and their intervals were made."""
    yield prose_fact(
        "quantiles", "of the values of queries, interpolated; intervals: exact (binomial), for independent queries"
    )
    yield from tell_unknown_intervals(
        (f"quantile {labels[-1]} of {labels[-2]} of {evaluations[run].name}{inside(labels[:-2])}", one)
        for (labels, run), one in quantiles.items()
    )


def _beside(evaluations: Sequence[Evaluation], beside: Sequence[Evaluation]) -> list[Fact]:
    """Say which rule is beside the exact values, where another run leads by it, and how many pairs of runs it swaps."""
    rule = beside[0].ties
    shown = Fact("beside", rule, "beside", f"{rule}: {describe_ties(rule, None)}; difference: from exact")
    if len(evaluations) < 2:
        return [shown]
    changed: dict[str, dict[str, list[str]]] = {}
    swapped: dict[str, int] = {}
    for measure in evaluations[0].measures:
        values = [np.array([one[measure].reported() for one in each]) for each in (evaluations, beside)]
        swapped[measure.label] = n_swapped(*values)
        best, best_by_rule = (_leaders(evaluations, measure, own) for own in values)
        if best != best_by_rule:
            changed[str(measure)] = {"exact": best, rule: best_by_rule}
    leaders = [
        f"{measure}: {' and '.join(best['exact'])} (exact), {' and '.join(best[rule])} ({TIE_HEADINGS[rule]})"
        for measure, best in changed.items()
    ]
    n_pairs = math.comb(len(evaluations), 2)
    moved = [f"{n:,} ({measure})" for measure, n in swapped.items() if n]
    order_of_runs = f"{', '.join(moved)} of {format_count(n_pairs, 'pair')} of runs change their order" if moved else ""
    return [
        shown,
        Fact("leader_changes", changed, "best run", "; ".join(leaders), is_note=True),
        Fact("swapped_pairs", {"n_pairs": n_pairs, "n_swapped": swapped}, "order", order_of_runs, is_note=True),
    ]


def _leaders(evaluations: Sequence[Evaluation], measure: Measure, values: FloatArray) -> list[str]:
    """Return the runs with the best value; several if their values are equal."""
    is_best = first_ranks(measure.sign * values) == 1
    return [evaluations[place].name for place in np.flatnonzero(is_best).tolist()]


def _effect(parts: Sequence[Part], digits: int | None) -> Fact:
    """Return which value tie orders change most; where means are estimated with more, of the values alone."""
    spans = []
    for part in parts:
        for name, numbers in part.numbers.items():
            span = numbers.reported.tie_range
            if span > NOISE:
                is_bounded = math.isfinite(numbers.measure.range[1])
                spans.append((is_bounded, span, name, part.whole.name, part.labels, numbers.measure))
    by = _whose_values(parts)
    # measures without an upper bound, such as ranks, are of another scale: they count if no other moves
    _, span, name, run, labels, measure = max(spans, key=lambda one: one[:5], default=(False, 0.0, "", "", (), None))
    if measure is None:
        return Fact("effect_of_ties", None, "tie order", f"{by}no order of equal scores changes any value")
    value = {"run": run, **({"stratum": list(labels)} if labels else {}), **notation_of(name), "range": span}
    size = format_cell(cell_of(measure, span), digits)
    text = f"{by}moves {name} of {run}{inside(labels)} by up to {size}"
    return Fact("effect_of_ties", value, "tie order", text, brief=text)


def _whose_values(parts: Sequence[Part]) -> str:
    """Return "by human labels " or the like where a mean is estimated with more than the values; else nothing."""
    for part in parts:
        if any(numbers.reported.is_estimated for numbers in part.numbers.values()):
            return "".join(f"by {own.values_are_by} " for own in report_parts_of(part.evaluation))
    return ""


def _estimated(evaluations: Sequence[Evaluation], digits: int | None) -> list[Fact]:
    """Name the measures whose values are not exact, as their orders are too many to count."""
    every, names = [(one, scores) for one in evaluations for scores in one], ("run", "n_queries", "standard_error")
    values = [
        (scores.measure.label, one.name, len(errors), float(errors.max()))
        for one, scores in every
        if one.ties == "expected" and len(errors := scores.standard_error[scores.standard_error > 0])
    ]
    held = [notation_of(measure) | dict(zip(names, own, strict=True)) for measure, *own in values]
    of_values = (
        f"{measure} of {run}: orders of ties were drawn for {format_count(n_queries, 'query', 'queries')}, with a"
        f" standard error of up to {format_cell(error, digits)}"
        for measure, run, n_queries, error in values
    )
    of_spread = (
        f"tie std, min and max of {scores.measure.label} of {one.name} are of drawn orders for"
        f" {format_count(n_drawn, 'query', 'queries')}; its means are exact"
        for one, scores in every
        if (n_drawn := int(scores.measure.has_drawn_spread(one.placements_of(scores.measure)).sum()))
    )
    return [
        *([Fact("estimated", held)] if held else []),
        *(note_fact("estimated", text) for text in (*of_values, *of_spread)),
    ]


def _intervals(parts: Sequence[Part], options: IntervalOptions, digits: int | None) -> Iterator[Fact]:
    """Say how the intervals were made, and where ties have the largest share in the error; totals have none."""
    units = f"values of {options.cluster}" if options.cluster else "queries"
    found = [
        (measure, part.whole.name, part.labels, interval)
        for part in parts
        for measure, interval in part.intervals.items()
        if not part.numbers[measure].measure.total
    ]
    methods = [(measure, interval.method) for measure, *_, interval in found]
    how = describe_methods(methods, units, options.n_resamples, as_integer(options.rng)) if found else "none of counts"
    known = [one for one in found if not math.isnan(one[-1].low)]
    yield from (
        Fact("intervals", options.to_dict(), "intervals", how),
        prose_fact("intervals", f"none where there are fewer than two {units}" if len(known) < len(found) else ""),
        note_fact("intervals", warn_of_few_units(interval for *_, interval in found)),
        *tell_unknown_intervals((f"{measure} of {run}{inside(labels)}", one) for measure, run, labels, one in known),
    )
    shares = [(one[-1].tie_share, *one) for one in found if math.isfinite(one[-1].tie_share)]
    if not shares:
        return
    of_error, measure, run, labels, interval = max(shares, key=lambda one: one[:4])
    text = ""
    if of_error:
        of_queries, of_ties = interval.query_standard_error, interval.tie_standard_error
        sizes = f"{format_cell(of_queries, digits)} by queries, {format_cell(of_ties, digits)} by ties"
        text = f"{measure} of {run}{inside(labels)}: {sizes} ({format_cell(share_cell(of_error))} of the squared error)"
    value = {"run": run, **({"stratum": list(labels)} if labels else {}), **notation_of(measure), "tie_share": of_error}
    yield Fact("largest_tie_share", value, "std err", text)


def _without_value(evaluations: Sequence[Evaluation]) -> Iterator[Fact]:
    """Give the queries without a value: skipped on demand, or not in the run where a measure has no worst value."""
    found = {
        one.name: {own.measure.label: own.query_ids[~own.kept].tolist() for own in one if not own.kept.all()}
        for one in evaluations
    }
    yield Fact("queries_without_value", {run: own for run, own in found.items() if own})
    of_each = [
        (one, group_values((tuple(unexplained(one, own)), own.measure.label) for own in one)) for one in evaluations
    ]
    alike = group_values(
        ((tuple(measures), lacking, set(one.missing_queries).issuperset(lacking)), one.name)
        for one, measures_by_queries in of_each
        for lacking, measures in measures_by_queries.items()
        if lacking
    )
    for (measures, lacking, are_missing), runs in alike.items():
        lack = f" that {', '.join(runs)} lack{'s' if len(runs) == 1 else ''}" if are_missing else ""
        has, them = "has" if len(lacking) == 1 else "have", "it" if len(measures) == 1 else "them"
        text = f"{', '.join(measures)}: without the {describe_queries(lacking)}{lack}, which {has} no value for {them}"
        yield note_fact(LACKING, text)
