"""The report of a comparison: the systems with their intervals, their differences, and what ties could make of them."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from deadheat.core import hooks
from deadheat.core.arrays import IntArray, run_starts
from deadheat.core.design import TUKEY, Design
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import KNOWN, Interval
from deadheat.core.evaluation.ordering import order_by_mean
from deadheat.core.evaluation.stratum import keys_of, label
from deadheat.core.measures import Measure
from deadheat.core.report.cells import DOUBT, Cell, NumberCell, Span, bars, p_value_cell, share_cell
from deadheat.core.report.conventions import tell_conventions, tell_reconciled, tell_shared_weights, tell_ties
from deadheat.core.report.data_facts import tell_data, warn_of_nothing_judged
from deadheat.core.report.interval_facts import (
    describe_methods,
    interval_cell,
    tell_unknown_intervals,
    warn_of_few_units,
)
from deadheat.core.report.make_parts import unexplained
from deadheat.core.report.model import (
    MEASURE,
    SYSTEM,
    Column,
    Fact,
    Report,
    Table,
    notation_of,
    note_fact,
    prose_fact,
    registers_report,
    summarise,
    tabulate,
)
from deadheat.core.report.score_tables import columns_of_strata, format_stratum, level_heading
from deadheat.core.report.totals import (
    add_totals,
    mean_cell,
    mean_heading,
    reported_interval,
    scale_to_total,
    tell_geometric,
    tie_range_cell,
)
from deadheat.core.scalars import as_integer
from deadheat.core.wording import (
    BY_DOC_ID,
    UNIT,
    format_count,
)
from deadheat.plugins.compare.comparison import Comparison, knows_ties
from deadheat.plugins.compare.comparison_parts import ComparisonPart
from deadheat.plugins.compare.least_p import (
    is_least,
)
from deadheat.plugins.compare.pair import Pair, Pairs
from deadheat.plugins.compare.pairs import LIKELY
from deadheat.plugins.compare.report_flips import tell_flips
from deadheat.plugins.compare.report_tests import SKEWED, tell_tests
from deadheat.plugins.compare.verdict import Verdict, text_of
from deadheat.plugins.compare.verdict_facts import (
    describe_strata,
    headline_of_strata,
)
from deadheat.version import __version__

BASELINE = Column("baseline", "baseline", is_name=True)
MOST_PAIRS = 1_000  # by a measure, that people are shown
OF_INTERVAL = {**{key: key for key in ("n_queries", "standard_error", "tie_standard_error")}, **KNOWN}
Parts = Mapping[tuple[str, ...], Comparison]
"""Comparisons by stratum; of all queries one without a stratum, ()."""


def report_comparison(
    comparison: Comparison,
    *,
    qrels: str,
    columns: Sequence[str] = (),
    strata: Mapping[str | tuple[str, ...], Comparison] | None = None,
    for_people: bool = True,
    margin: float | None = None,
    among: str = "",
) -> Report:
    """Return the report of a comparison, which begins with the verdict.

    Parameters
    ----------
    comparison : Comparison
    qrels : str
        The name of the qrels.
    columns : sequence of str
        What `strata` are of.
    strata : mapping of stratum to Comparison, optional
        Shown instead of the whole.
    for_people : bool, default True
        Tables measure by measure; else one of all pairs, which comes first, and one of all systems.
    margin : float, optional
        What the verdict says is tested against.
    among : str, default ""
        What the differences are between, where the report gets others too.
    """
    parts = {keys_of(key): part for key, part in ({(): comparison} if strata is None else strata).items()}
    shown = {key: as_shown(part) for key, part in parts.items()}
    leading = columns_of_strata(columns)
    headline, summary, verdict = judged(comparison, strata, columns, margin)
    tables = [] if for_people else [_pairs_as_data(parts, leading), _systems_as_data(parts, leading)]
    for measure in comparison.measures if for_people else ():
        tables += [list_systems(parts, leading, measure), _differences(shown, leading, measure)]
        tables.append(_reversals(shown, leading, measure))
        tables += [part.tabulate_pairs(shown, leading, measure) for part in comparison.parts.values()]
    if not for_people or all(shown[key] is part for key, part in parts.items()):
        tables.append(_by_one_rule(parts, leading))
    return Report(
        tuple(one for one in tables if one.rows),
        (verdict, *facts_of(comparison, parts, qrels, among)),
        headline=headline,
        summary=summary,
    )


def judged(
    comparison: Comparison,
    strata: Mapping[str | tuple[str, ...], Comparison] | None,
    columns: Sequence[str],
    margin: float | None = None,
) -> tuple[str, tuple[Fact, ...], Fact]:
    """Return the headline, what it rests on, and both for JSON; of strata what they share, and for JSON each."""
    if strata is None:
        verdict = comparison.judge(margin)
        return verdict.headline, summarise(verdict.facts), Fact("verdict", as_data(verdict))
    verdicts = {label(stratum): part.judge(margin) for stratum, part in strata.items()}
    by = " and ".join(columns)
    what = f"stratum of {by}", f"strata of {by}"
    headline = headline_of_strata(verdicts, what)
    facts = describe_strata(verdicts, what)
    data = {
        "text": text_of(headline, facts),
        "headline": headline,
        "facts": facts,
        "strata": {stratum: as_data(verdict) for stratum, verdict in verdicts.items()},
    }
    return headline, summarise(facts), Fact("verdict", data)


def as_data(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as JSON holds it: with the notation of its measure, and how that was asked for."""
    return {**verdict.to_dict(), **notation_of(verdict.measure)}


def _counts(comparisons: Collection[Comparison]) -> set[int]:
    """Return the numbers of queries with a value, of systems and of pairs: these share fewer if each lacks another."""
    return {own.n_queries for one in comparisons for own in chain.from_iterable(one.evaluations.values())}.union(
        *(np.unique(one.pairs.column("n_queries")).tolist() for one in comparisons)
    )


def list_systems(parts: Parts, leading: Iterable[Column], measure: Measure) -> Table:
    """Return the systems by one measure, for people; in each part the best one first."""
    heading = mean_heading([measure])
    title, columns = f"{measure.label}: {heading}s{by_values_alone(parts.values())}", _columns(parts, heading)
    return tabulate("systems", (*leading, SYSTEM), columns, _systems(parts, measure), title=title, main=1)


def parts_among(comparisons: Iterable[Comparison]) -> list[ComparisonPart[Comparison]]:
    """Return the parts that some of these comparisons, which are strata of one, have, each once."""
    found: dict[str, ComparisonPart[Comparison]] = {}
    for comparison in comparisons:
        found |= comparison.parts
    return list(found.values())


def by_values_alone(comparisons: Iterable[Comparison]) -> str:
    """Return what the title of a table says of numbers of values alone, where differences are estimated with more."""
    return "".join(f", by {part.values_are_by} alone" for part in parts_among(comparisons))


def _systems_as_data(parts: Parts, leading: Iterable[Column]) -> Table:
    """Return the systems by all measures, for programs; counts have a total where others have a mean."""
    measures = next(iter(parts.values())).measures
    totals = [Column("total", "total", is_data=True)] if any(one.total for one in measures) else []
    rows = [
        {**row, "mean": None, "total": row["mean"]} if measure.total else {**row, "total": None}
        for measure in measures
        for row in _systems(parts, measure)
    ]
    return tabulate("systems", (*leading, SYSTEM, MEASURE), (*_columns(parts), *totals), rows)


def _columns(parts: Parts, heading: str = "mean") -> list[Column]:
    counts = _counts(parts.values())
    of_ties = [
        Column("ties", "tie orders", ends=("tie_min", "tie_max"), spare=2),
        Column("tie_standard_error", "tie std err", is_data=True),
    ]
    if not knows_ties(next(iter(parts.values()))):
        of_ties = []
    return [
        Column("n_queries", "queries", is_data=len(counts) == 1),
        Column("mean", heading),
        Column("ci", level_heading(next(iter(parts.values())).design.confidence_level, counts), spare=-1),
        Column("bar", "", spare=1),
        *of_ties[:1],
        Column("standard_error", "std err", spare=3),
        *of_ties[1:],
        *(Column(key, key, is_data=True) for key in KNOWN),
    ]


def _systems(parts: Parts, measure: Measure) -> list[dict[str, Any]]:
    """Return a row for every system, in each part the best one first; their bars share one scale."""
    found = [
        (stratum, name, part.evaluations[name][measure], part.intervals[name, measure.label])
        for stratum, part in parts.items()
        for name in best_first(part.evaluations, measure)
    ]
    intervals = [reported_interval(scores, interval) for *_, scores, interval in found]
    rows = [
        {
            "stratum": stratum,
            "system": name,
            "measure": measure.label,
            "mean": mean_cell(scores),
            "ci": interval_cell(one),
            "ties": tie_range_cell(scores),
            **{key: getattr(one, attribute) for key, attribute in OF_INTERVAL.items()},
        }
        for (stratum, name, scores, _), one in zip(found, intervals, strict=True)
    ]
    drawn = bars([row["ci"] for row in rows], [float(row["mean"]) for row in rows])
    return [{**row, "bar": bar} for row, bar in zip(rows, drawn, strict=True)]


def best_first(evaluations: Mapping[str, Evaluation], measure: Measure) -> list[str]:
    """Return the names of the systems; one without a mean comes last."""
    names = list(evaluations)
    return [names[place] for place in order_by_mean([one[measure] for one in evaluations.values()])]


def _pairs_as_data(parts: Parts, leading: Iterable[Column]) -> Table:
    """Return all pairs with all numbers: totals for counts, means for other measures."""
    counts = {measure.label for part in parts.values() for measure in part.measures if measure.total}
    labels = (*leading, SYSTEM, BASELINE, MEASURE)
    prefixes = [part.prefix for part in parts_among(parts.values())]
    rows = [
        add_totals({**row, "stratum": stratum}, counts, row["n_queries"], ("", *prefixes))
        for stratum, part in parts.items()
        for row in part.to_polars(details=True).to_dicts()
    ]
    held = {"stratum", *(one.key for one in labels)}
    return tabulate("pairs", labels, [Column(name, name) for name in rows[0] if name not in held], rows)


def cells_of(pair: Pair) -> dict[str, Any]:
    """Return what tables show of a pair, by the keys of their columns."""
    is_least_of_resamples = not pair.exact_p_value and is_least(pair.p_value, pair.n_resamples)
    is_bound = is_least_of_resamples or (pair.p_is_bound and pair.n_resamples == 0)
    return {
        **vars(pair),
        "ci": Span(*pair.ends, pair.is_known),
        "p_value": p_value_cell(pair.p_value, is_bound=is_bound),
        "p_adjusted": adjusted_and_skewed(pair),
        "flip_probability": reversal(pair),
    }


OF_VALUES = (
    Column("effect_size", "effect", spare=5),
    Column("std", "std", spare=7),
    Column("wins", "wins", spare=3),
    Column("draws", "draws", spare=4),
    Column("losses", "losses", spare=3),
)
"""What is said of the differences query by query."""


def _differences(parts: Parts, leading: Iterable[Column], measure: Measure) -> Table:
    """Return each pair with its difference, and how certain that is."""
    design = next(iter(parts.values())).design
    is_tukey = design.test == TUKEY  # one p value, which accounts for all pairs
    lows = np.concatenate([part.pairs.by(measure.label).column("simultaneous_low") for part in parts.values()])
    is_simultaneous = not np.isnan(lows).all()
    counts = _counts(parts.values())
    rows = [
        {"stratum": stratum, **cells_of(pair)}
        for stratum, part in parts.items()
        for pair in reported_pairs(part, measure)
    ]
    drawn = bars([row["ci"] for row in rows], [row["difference"] for row in rows])
    columns = (
        Column("n_queries", "queries", spare=1, is_data=len(counts) == 1),
        Column("difference", "difference"),
        Column("ci", level_heading(design.confidence_level, counts), spare=-2),
        Column("bar", "", spare=6),
        *(() if is_tukey else (Column("p_value", "p", spare=-1),)),
        Column("p_adjusted", "p" if is_tukey else "p adj"),
    )
    added = [] if measure.total else parts_among(parts.values())
    if not added:  # else they are in the table of what a part adds, by the values alone
        columns = (*columns, *OF_VALUES)
    labels = (*leading, *((BASELINE, SYSTEM) if design.baseline is None else (SYSTEM,)))
    of_numbers = " of totals" if measure.total else " of logarithms" if measure.geometric else ""
    of_what = ", system - baseline" if design.baseline is None else f" from {design.baseline}"
    of_what += "".join(f", {part.differences_are}" for part in added)
    of_what += ", joint intervals" if is_simultaneous else ""
    return tabulate(
        "pairs",
        labels,
        columns,
        [{**row, "bar": bar} for row, bar in zip(rows, drawn, strict=True)],
        title=titled(f"{measure.label}: differences{of_numbers}{of_what}", parts.values()),
        main=1,
    )


def reported_pairs(comparison: Comparison, measure: Measure) -> list[Pair]:
    """Return the pairs of one measure, those of a count with totals over the queries of both."""
    return [
        scale_to_total(pair, pair.n_queries) if measure.total else pair for pair in comparison.pairs.by(measure.label)
    ]


def as_shown(comparison: Comparison) -> Comparison:
    """Return a comparison with the pairs alone that people are shown: of very many those of the two best systems."""
    if comparison.design.against or len(comparison.pairs) <= MOST_PAIRS * len(comparison.measures):
        return comparison
    each = [
        (comparison.pairs.by(one.label), np.array(best_first(comparison.evaluations, one)[:2], object))
        for one in comparison.measures
    ]
    return replace(
        comparison,
        pairs=Pairs.joined(
            [
                pairs.where(np.isin(pairs.column("system"), best) | np.isin(pairs.column("baseline"), best))
                for pairs, best in each
            ]
        ),
    )


def titled(title: str, parts: Iterable[Comparison]) -> str:
    """Return the title of a table of pairs, which says where it has those alone that people are shown."""
    return title + " (the two best against all; CSV and JSON have every pair)" * any(
        not one.design.against and len(one.pairs) < math.comb(len(one.evaluations), 2) * len(one.measures)
        for one in parts
    )


def adjusted(pair: Pair, *, is_marked: bool = True) -> NumberCell | None:
    """Return the corrected p value of a pair, with a star if it is significant and a question mark if undecided."""
    cell = p_value_cell(pair.p_adjusted, is_significant=pair.significant and is_marked, is_bound=pair.p_is_bound)
    return replace(cell, marks=DOUBT) if cell is not None and pair.undecided and is_marked else cell


def adjusted_and_skewed(pair: Pair) -> NumberCell | None:
    """Return the corrected p value of a pair with its marks, and one more if its differences are too skewed."""
    cell = adjusted(pair)
    return replace(cell, marks=cell.marks + SKEWED) if cell is not None and pair.doubtful else cell


def reversal(pair: Pair) -> Cell:
    """Return the probability that ties reverse a pair."""
    return share_cell(pair.flip_probability, pair.flip_standard_error)


def _reversals(parts: Parts, leading: Iterable[Column], measure: Measure) -> Table:
    """Return the pairs whose order ties may well reverse, the likeliest first in each part."""
    rows = [
        {"stratum": stratum, **cells_of(pair)}
        for stratum, part in parts.items()
        for pair in sorted(reported_pairs(part, measure), key=lambda pair: -np.nan_to_num(pair.flip_probability))
        if pair.flip_probability >= LIKELY or pair.doc_id_reverses
    ]
    return tabulate(
        "ties",
        (*leading, *((SYSTEM, BASELINE) if next(iter(parts.values())).design.baseline is None else (SYSTEM,))),
        (
            Column("flip_probability", "reversed"),
            Column("expected_difference", "exact", spare=1),
            Column("tie_standard_error", "tie std err", spare=2),
            Column("doc_id_difference", BY_DOC_ID),
        ),
        rows,
        title=titled(f"{measure.label}: what ties can reverse{by_values_alone(parts.values())}", parts.values()),
    )


def _by_one_rule(parts: Parts, leading: Iterable[Column]) -> Table:
    """Return the pairs that are significant under one tie rule only."""
    rows = [
        {"stratum": stratum, **row}
        for stratum, part in parts.items()
        for row in part.significant_by_one_rule().iter_rows(named=True)
    ]
    columns = (
        # the star says it too, where a screen is narrow
        Column("rule", "with ties", lambda row: BY_DOC_ID if row["rule"] == "doc_id" else row["rule"], spare=3),
        Column("difference", "difference", spare=1),
        Column(
            "p_adjusted", "p adj", lambda row: p_value_cell(row["p_adjusted"], is_significant=row["rule"] != "doc_id")
        ),
        Column("doc_id_difference", BY_DOC_ID, spare=2),
        Column(
            "doc_id_p_adjusted",
            f"p adj {BY_DOC_ID}",
            lambda row: p_value_cell(row["doc_id_p_adjusted"], is_significant=row["rule"] == "doc_id"),
            spare=-1,
        ),
    )
    return tabulate(
        "one_tie_rule",
        (*leading, SYSTEM, BASELINE, MEASURE),
        columns,
        rows,
        title="Significant under one tie rule only",
    )


def facts_of(comparison: Comparison, parts: Parts, qrels: str, among: str = "") -> list[Fact]:
    """Return what is said below the tables of a comparison; `parts` are its strata, or the whole alone."""
    design = next(iter(parts.values())).design
    n_clusters = clusters_of(comparison)
    has_clusters = n_clusters is not None
    evaluations = list(comparison.evaluations.values())
    pairs = Pairs.joined([part.pairs for part in parts.values()])
    places: list[str] = []
    for stratum, part in parts.items():
        places += [label(stratum)] * len(part.pairs)

    facts: list[Fact] = []
    for evaluation in evaluations:
        if evaluation.placements.is_unmatched:
            facts.append(prose_fact("WARNING", warn_of_nothing_judged(evaluation.name)))
    facts.append(Fact("deadheat", __version__))
    facts.append(Fact("qrels", qrels))
    facts.append(_count_queries(comparison, qrels, n_clusters))
    facts.append(Fact("n_clusters", n_clusters))
    facts += tell_reconciled(comparison.together)
    facts += tell_shared_weights(comparison.shared_weights)
    facts += tell_ties(evaluations[0].ties, as_integer(design.rng))
    facts += tell_geometric(measure.label for measure in comparison.measures)
    units = "clusters" if has_clusters else ""
    facts += tell_intervals(design, _name_intervals(parts), _name_differences(parts), clusters=units)
    has_strata = () not in parts
    facts += tell_tests(design, places, pairs, has_clusters=has_clusters, has_strata=has_strata, among=among)
    for comparison_part in comparison.parts.values():
        facts += comparison_part.tell(comparison, parts)
    if knows_ties(comparison):
        facts += tell_flips(places, pairs)
    for module in hooks.load("pairs"):
        facts += module.PART.tell(places, pairs)
    facts += tell_conventions(evaluations)
    for module in hooks.load("facts"):
        facts += module.facts_of_comparison(parts)
    for evaluation in evaluations:
        measures = [scores.measure.label for scores in evaluation if unexplained(evaluation, scores)]
        if measures:
            without = f"{', '.join(measures)} of {evaluation.name}: without the queries that it lacks"
            facts.append(note_fact("left out", without))
    facts += tell_data(evaluations)
    return facts


def _count_queries(comparison: Comparison, qrels: str, n_clusters: int | None) -> Fact:
    """Say how many queries are compared, and how many clusters they are in."""
    counts = comparison.pairs.column("n_queries")
    text = size_of(np.unique(counts).tolist())
    if len(_counts([comparison])) > 1:
        text += ", by pair"
    text += f" in {qrels}"
    if n_clusters is not None:
        text += f", in {format_count(n_clusters, 'cluster')}"
    return Fact("n_queries", int(counts.max()), "queries", text)


def _name_intervals(parts: Parts) -> list[tuple[str, str, Interval]]:
    """Return each interval of a mean behind its measure and what it is of."""
    named: list[tuple[str, str, Interval]] = []
    for stratum, part in parts.items():
        for (system, measure), interval in part.intervals.items():
            named.append((measure, f"{measure} of {system}{format_stratum(stratum)}", interval))
    return named


def _name_differences(parts: Parts) -> list[tuple[str, Pair]]:
    """Return the pairs whose intervals tell something that others do not, each behind what it is of."""
    named: list[tuple[str, Pair]] = []
    for stratum, part in parts.items():
        for pair in part.pairs.where(_telling(part.pairs)):
            named.append((f"{pair.measure} of {pair.system} - {pair.baseline}{format_stratum(stratum)}", pair))
    return named


def size_of(counts: Iterable[int]) -> str:
    """Return the number of queries that all have, or the least and the most."""
    ascending = sorted(counts)
    return " to ".join(f"{end:,}" for end in dict.fromkeys((ascending[0], ascending[-1])))


def _telling(pairs: Pairs) -> IntArray:
    """Return the places of the pairs whose intervals cannot be known, and of one of each method and number of units."""
    columns = [pairs.column(name) for name in ("is_known", "measure", "method", "n_queries", "n_clusters")]
    starts = run_starts(*columns)
    found = dict(zip(zip(*(column[starts].tolist() for column in columns), strict=True), starts.tolist(), strict=True))
    return np.union1d(np.flatnonzero(~columns[0]), np.array([*found.values()], np.int64))


def clusters_of(comparison: Comparison) -> int | None:
    """Return the number of clusters; None if there are none."""
    return None if comparison.cluster is None else len(set(comparison.cluster.tolist()))


def tell_intervals(
    design: Design,
    found: Sequence[tuple[str, str, Interval]],
    differences: Sequence[tuple[str, Pair]] = (),
    *,
    clusters: str = "",
    unit: tuple[str, str] = UNIT,
) -> list[Fact]:
    """Say how intervals were made, and warn of those that cannot be known or that a bootstrap makes too narrow.

    Parameters
    ----------
    design : Design
    found : sequence of (str, str, Interval)
        Of all means: the measure, what it is of, and the interval.
    differences : sequence of (str, Pair), default ()
        What each is of, and the pair.
    clusters : str, default ""
        What was resampled, if that is not the single queries.
    unit : tuple of str
        What a query is called, in the singular and the plural.
    """
    seed = as_integer(design.rng)
    of_means = {one.method for *_, one in found}
    methods = [
        ("means" if differences and len(of_means) == 1 else f"{'means of ' * bool(differences)}{measure}", one.method)
        for measure, _, one in found
    ]
    methods += [("differences", pair.method) for _, pair in differences]
    how = describe_methods(methods, clusters or unit[1], design.n_resamples, seed)
    sides = ", two-sided" if design.alternative != "two-sided" else ""
    has_joint = any(pair.is_simultaneous for _, pair in differences)
    joint = "; those of differences that are shown hold together, by max-t" if has_joint else ""
    named: list[tuple[str, Interval | Pair]] = [*((name, one) for _, name, one in found), *differences]
    return [
        *(Fact(name, getattr(design, name)) for name in ("method", "confidence_level", "n_resamples")),
        Fact("rng", seed),
        prose_fact("intervals", f"{how}{sides}, not corrected{joint}"),
        note_fact("intervals", warn_of_few_units((one for _, one in named), unit)),
        *tell_unknown_intervals((name, one) for name, one in named if not math.isnan(one.low)),
    ]


@registers_report(Pair)
def of_pair(pair: Pair) -> Report:
    """Return the report of a pair of systems by one measure."""
    columns = (
        Column("difference", "difference"),
        Column("ci", "interval"),
        Column("p_value", "p"),
        Column("p_adjusted", "p adj"),
        Column("flip_probability", "reversed by ties"),
        *(Column(name, name) for name in ("wins", "draws", "losses")),
        Column("n_queries", "queries"),
    )
    return Report(
        (tabulate("pair", (SYSTEM, BASELINE, MEASURE), columns, [cells_of(pair)]),),
        tuple(tell_geometric([pair.measure])),
    )
