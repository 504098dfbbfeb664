"""The report of evaluations: scores by measure and run, how they were made, and what looks wrong."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from deadheat.core.evaluation.evaluation import UNKNOWN, Evaluation
from deadheat.core.evaluation.intervals import Interval, IntervalOptions
from deadheat.core.evaluation.strata import Strata
from deadheat.core.io.texts import hint_at_texts
from deadheat.core.report.cells import LACKING, format_cell, share_cell
from deadheat.core.report.conventions import tell_conventions, tell_ties
from deadheat.core.report.data_facts import describe_queries, tell_data, warn_of_nothing_judged
from deadheat.core.report.interval_facts import describe_methods, tell_unknown_intervals, warn_of_few_units
from deadheat.core.report.make_parts import parts_of, unexplained
from deadheat.core.report.model import Fact, Report, notation_of, note_fact, prose_fact, warning_fact
from deadheat.core.report.of_strata import Grouping, tabulate_averages, tell_grouping
from deadheat.core.report.report_parts import Part, report_parts_of
from deadheat.core.report.score_tables import (
    Quantiles,
    format_stratum,
    list_queries,
    quantiles_of,
    tabulate_quantiles,
    tabulate_scores,
)
from deadheat.core.report.tie_facts import tell_drawn_orders, tell_effect_of_ties, tell_rule_beside
from deadheat.core.report.totals import tell_counts
from deadheat.core.scalars import as_integer
from deadheat.core.settings import Estimation
from deadheat.core.structures import group_values
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
    first = evaluations[0]
    names = [evaluation.name for evaluation in evaluations]
    strata: Sequence[Strata] = ()
    columns: Sequence[str] = ()
    if grouping is not None:
        strata = grouping.strata
        columns = grouping.columns
    parts = parts_of(evaluations, strata, intervals)
    tables = []
    if per_query:
        tables.append(list_queries(evaluations, strata, beside))
    tables.append(
        tabulate_scores(
            parts,
            names,
            first.measures,
            columns=columns,
            smallest=strata[0].smallest if strata else 0,
            level=None if intervals is None else intervals.confidence_level,
            beside=beside,
        )
    )
    for report_part in report_parts_of(first):
        tables.append(report_part.tabulate_means(parts, names, columns, confidence_level))
    if grouping is not None:
        tables += tabulate_averages(grouping)
    intervals_of_quantiles = quantiles_of(parts, quantiles, confidence_level)
    if intervals_of_quantiles:
        title = _title_quantiles(first)
        tables.append(
            tabulate_quantiles(intervals_of_quantiles, names, level=confidence_level, columns=columns, title=title)
        )

    facts = [
        *_tell_nothing_judged(evaluations, unmatched or {}),
        Fact("deadheat", __version__),
        *_tell_qrels(first, qrels),
        *tell_ties(first.ties, seed),
    ]
    if beside:
        facts += tell_rule_beside(evaluations, beside)
    facts.append(_tell_effect(evaluations, parts, digits))
    facts += tell_counts(first.measures)
    facts += tell_drawn_orders(evaluations, digits)
    if intervals is not None:
        facts += _tell_intervals(parts, intervals, digits)
    if intervals_of_quantiles:
        facts += _tell_quantiles(names, intervals_of_quantiles)
    facts += tell_conventions(evaluations)
    facts += tell_data(evaluations)
    facts += _tell_without_value(evaluations)
    if grouping is not None:
        facts += tell_grouping(grouping)
    return Report(tuple(tables), tuple(facts))


def _title_quantiles(evaluation: Evaluation) -> str:
    """Return the title of the table of quantiles, with what the values are by if means are by more."""
    title = "Quantiles over queries"
    for report_part in report_parts_of(evaluation):
        title += f", by {report_part.values_are_by} alone"
    return title


def _tell_nothing_judged(evaluations: Sequence[Evaluation], unmatched: Mapping[str, tuple[str, str]]) -> Iterator[Fact]:
    """Warn of each run that retrieves no judged document, with ids of both sides where they are known."""
    ids_by_run = {run: {"run": run_id, "qrels": qrels_id} for run, (run_id, qrels_id) in unmatched.items()}
    yield Fact("nothing_judged", ids_by_run)
    for evaluation in evaluations:
        if not evaluation.placements.is_unmatched:
            continue
        warning = warn_of_nothing_judged(evaluation.name)
        if evaluation.name in unmatched:
            run_id, qrels_id = unmatched[evaluation.name]
            hint = hint_at_texts([run_id], [qrels_id])
            warning += f" (run: {run_id!r}; qrels: {qrels_id!r}){hint}"
        yield warning_fact("WARNING", warning)


def _tell_qrels(evaluation: Evaluation, qrels: str) -> list[Fact]:
    """Name the qrels, and say how many queries they have."""
    n_queries = len(evaluation.query_ids)
    if evaluation.conventions.missing == "skip":
        n_queries += len(evaluation.missing_queries)
    text = f"{n_queries:,} in {qrels}"
    return [Fact("qrels", qrels), Fact("n_queries", n_queries, "queries", text, brief=text)]


def _tell_effect(evaluations: Sequence[Evaluation], parts: Sequence[Part], digits: int | None) -> Fact:
    """Say which value tie orders change most; people read nothing of it where there is no tie to know or to judge."""
    effect = tell_effect_of_ties(parts, digits)
    have_matches = any(not evaluation.placements.is_unmatched for evaluation in evaluations)
    if have_matches and evaluations[0].ties != UNKNOWN:
        return effect
    return replace(effect, text="", brief="")


def _tell_quantiles(names: Sequence[str], quantiles: Quantiles) -> Iterator[Fact]:
    """Say how quantiles and their intervals were made."""
    yield prose_fact(
        "quantiles", "of the values of queries, interpolated; intervals: exact (binomial), for independent queries"
    )
    named_intervals = []
    for (labels, run), interval in quantiles.items():
        *stratum, measure, quantile = labels
        name = f"quantile {quantile} of {measure} of {names[run]}{format_stratum(tuple(stratum))}"
        named_intervals.append((name, interval))
    yield from tell_unknown_intervals(named_intervals)


@dataclass(frozen=True)
class _MeanInterval:
    """The interval of a mean, with what it is of.

    Attributes
    ----------
    measure, run : str
    labels : tuple of str
        Of the stratum; none of all queries.
    interval : Interval
    """

    measure: str
    run: str
    labels: tuple[str, ...]
    interval: Interval

    @property
    def name(self) -> str:
        """What sentences call it."""
        return f"{self.measure} of {self.run}{format_stratum(self.labels)}"

    @property
    def order(self) -> tuple[float, str, str, tuple[str, ...]]:
        """What sorts intervals by the share of ties in their error."""
        return self.interval.tie_share, self.measure, self.run, self.labels


def _tell_intervals(parts: Sequence[Part], options: IntervalOptions, digits: int | None) -> Iterator[Fact]:
    """Say how the intervals were made, and where ties have the largest share in the error; totals have none."""
    units = f"values of {options.cluster}" if options.cluster else "queries"
    intervals = []
    for part in parts:
        for measure, interval in part.intervals.items():
            if not part.numbers[measure].measure.total:
                intervals.append(_MeanInterval(measure, part.whole.name, part.labels, interval))
    how = "none of counts"
    if intervals:
        methods = [(mean.measure, mean.interval.method) for mean in intervals]
        how = describe_methods(methods, units, options.n_resamples, as_integer(options.rng))
    with_ends = [mean for mean in intervals if not math.isnan(mean.interval.low)]
    without_ends = ""
    if len(with_ends) < len(intervals):
        without_ends = f"none where there are fewer than two {units}"
    yield Fact("intervals", options.to_dict(), "intervals", how)
    yield prose_fact("intervals", without_ends)
    yield note_fact("intervals", warn_of_few_units(mean.interval for mean in intervals))
    yield from tell_unknown_intervals((mean.name, mean.interval) for mean in with_ends)
    yield from _tell_largest_tie_share(intervals, digits)


def _tell_largest_tie_share(intervals: Iterable[_MeanInterval], digits: int | None) -> Iterator[Fact]:
    """Say where ties have the largest share in the error; nothing where no share is known."""
    with_share = [mean for mean in intervals if math.isfinite(mean.interval.tie_share)]
    if not with_share:
        return
    largest = max(with_share, key=lambda mean: mean.order)
    interval = largest.interval
    text = ""
    if interval.tie_share:
        of_queries = format_cell(interval.query_standard_error, digits)
        of_ties = format_cell(interval.tie_standard_error, digits)
        share = format_cell(share_cell(interval.tie_share))
        text = f"{largest.name}: {of_queries} by queries, {of_ties} by ties ({share} of the squared error)"
    value: dict[str, object] = {"run": largest.run}
    if largest.labels:
        value["stratum"] = list(largest.labels)
    value |= notation_of(largest.measure)
    value["tie_share"] = interval.tie_share
    yield Fact("largest_tie_share", value, "std err", text)


@dataclass(frozen=True)
class _WithoutValue:
    """Queries without a value that were not skipped on demand: of several runs often the same ones.

    Attributes
    ----------
    measures : tuple of str
        That have no value for them.
    query_ids : tuple of str
    are_missing : bool
        Whether the run lacks all of them.
    """

    measures: tuple[str, ...]
    query_ids: tuple[str, ...]
    are_missing: bool


def _tell_without_value(evaluations: Sequence[Evaluation]) -> Iterator[Fact]:
    """Give the queries without a value: skipped on demand, or not in the run where a measure has no worst value."""
    yield Fact("queries_without_value", _list_without_value(evaluations))
    found_in_runs = []
    for evaluation in evaluations:
        labels_by_queries = group_values(
            (tuple(unexplained(evaluation, scores)), scores.measure.label) for scores in evaluation
        )
        for query_ids, labels in labels_by_queries.items():
            if query_ids:
                are_missing = set(evaluation.missing_queries).issuperset(query_ids)
                found_in_runs.append((_WithoutValue(tuple(labels), query_ids, are_missing), evaluation.name))
    for queries, runs in group_values(found_in_runs).items():
        subject = f"the {describe_queries(queries.query_ids)}"
        if queries.are_missing:
            lack = "lacks" if len(runs) == 1 else "lack"
            subject += f" that {', '.join(runs)} {lack}"
        have = "has" if len(queries.query_ids) == 1 else "have"
        them = "it" if len(queries.measures) == 1 else "them"
        text = f"{', '.join(queries.measures)}: without {subject}, which {have} no value for {them}"
        yield note_fact(LACKING, text)


def _list_without_value(evaluations: Sequence[Evaluation]) -> dict[str, dict[str, list[str]]]:
    """Return the queries without a value by run and measure; runs and measures with all values are left out."""
    queries_by_run: dict[str, dict[str, list[str]]] = {}
    for evaluation in evaluations:
        for scores in evaluation:
            if not scores.kept.all():
                queries = queries_by_run.setdefault(evaluation.name, {})
                queries[scores.measure.label] = scores.query_ids[~scores.kept].tolist()
    return queries_by_run
