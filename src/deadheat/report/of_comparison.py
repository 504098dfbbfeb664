"""The report of a comparison: the systems with their intervals, their differences, and what ties could make of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from deadheat import arguments
from deadheat.comparison.comparison import Comparison, n_units
from deadheat.comparison.pairs import Design, Pair, least_p, n_differing
from deadheat.comparison.verdict import ENOUGH, Verdict, judge_strata
from deadheat.evaluation.intervals import FEWEST, KNOWN, Interval
from deadheat.evaluation.strata import keys_of, label
from deadheat.measures import Measure
from deadheat.report.bars import bars
from deadheat.report.conventions import (
    COUNTED,
    broken_by,
    cannot_be_known,
    estimated_by,
    made_under,
    named,
    of_runs,
    without_bounds,
    without_relevant,
)
from deadheat.report.model import MARK, MEASURE, Bar, Cell, Column, Fact, Report, Row, Share, Span, Table, p_value
from deadheat.report.model import named as notation_of
from deadheat.report.numbers import QUERY, error_of_share, few_units, format_cell, listed
from deadheat.report.of_systems import (
    SYSTEM,
    StratumComparison,
    counts_vary,
    level,
    list_systems,
    systems_as_data,
)
from deadheat.report.score_tables import inside, unexplained
from deadheat.report.totals import TOTALS, totals_of_row
from deadheat.version import __version__
from deadheat.wording import BY_DOC_ID, counted, joined

BASELINE = Column("baseline", "baseline")
LIKELY = 0.05  # probability of a reversal that is worth saying
RESAMPLED = ("randomization", "bootstrap-t", "bootstrap", "tukey")
TESTS = {
    "randomization": "paired randomisation test (sign flips)",
    "bootstrap-t": "paired bootstrap-t test",
    "bootstrap": "paired bootstrap test",
    "t": "paired t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
    "tukey": "Tukey's HSD by randomisation",
}
CORRECTIONS = {
    "none": "not corrected",
    "bonferroni": "corrected by Bonferroni",
    "holm": "corrected by Holm",
    "bh": "corrected by Benjamini and Hochberg (false discovery rate)",
}
FLIP_METHODS = {
    "exact": "exact",
    "grid": "to about 0.0001, as sums on a grid",
    "sampled": "from random orders, with a standard error of up to {}",
    "normal": "by the normal distribution with the exact variance, off by up to {}",
}
VAGUE = 0.05  # a probability that may be off by more gets a note
DATA = {name: name for name in [one.name for one in fields(Pair)][3:] if name not in KNOWN.values()} | KNOWN
"""Columns behind measure, system and baseline, and the attributes of a pair."""


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
    named = {(): comparison} if strata is None else strata
    parts = [StratumComparison(keys_of(key), part) for key, part in named.items()]
    leading = tuple(Column(name, name) for name in columns)
    said, verdict = judged(comparison, strata, columns, margin)
    facts = (verdict, *_facts(comparison, parts, qrels, among))
    if not for_people:
        return Report((_pairs_as_data(parts, leading), systems_as_data(parts, leading)), facts, opening=said)
    tables = []
    for measure in comparison.measures:
        tables += [list_systems(parts, leading, measure), _differences(parts, leading, measure)]
        tables += _reversals(parts, leading, measure)
    return Report(tuple(tables), facts, opening=said)


def judged(
    comparison: Comparison,
    strata: Mapping[str | tuple[str, ...], Comparison] | None,
    columns: Sequence[str],
    margin: float | None = None,
) -> tuple[str, Fact]:
    """Return the verdict as text, and as a fact for JSON; of strata that of each, and what they have in common."""
    if strata is None:
        verdict = comparison.judge(margin)
        return str(verdict), Fact("verdict", as_data(verdict))
    found = {label(stratum): part.judge(margin) for stratum, part in strata.items()}
    sentences = judge_strata(found, columns)
    held = {"text": " ".join(sentences), "strata": {name: as_data(one) for name, one in found.items()}}
    return str(held["text"]), Fact("verdict", held)


def as_data(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as JSON holds it: with the notation of its measure, and how that was asked for."""
    return {**verdict.to_dict(), **notation_of(verdict.measure)}


def _pairs_as_data(parts: Sequence[StratumComparison], leading: tuple[Column, ...]) -> Table:
    """Return all pairs with all numbers: totals for counts, means for other measures."""
    counts = {measure.label for measure in parts[0].comparison.measures if measure.total}
    names = (*DATA, *(TOTALS if counts else ()))
    rows = [
        Row((*part.stratum, pair.system, pair.baseline, pair.measure), (tuple(row[name] for name in names),))
        for part in parts
        for pair in part.comparison.pairs
        for own in [{"measure": pair.measure, **{name: getattr(pair, of_pair) for name, of_pair in DATA.items()}}]
        for row in [totals_of_row(own, counts, pair.n_queries)]
    ]
    columns = tuple(Column(name, name) for name in names)
    return Table("pairs", (*leading, SYSTEM, BASELINE, MEASURE), columns, tuple(rows))


def _title(comparison: Comparison, measure: Measure) -> str:
    of_numbers = " of totals" if measure.total else " of logarithms" if measure.geometric else ""
    baseline = comparison.design.baseline
    of_what = ", system - baseline" if baseline is None else f" from {baseline}"
    return f"{measure.label}: differences{of_numbers}{of_what}"


def _differences(parts: Sequence[StratumComparison], leading: tuple[Column, ...], measure: Measure) -> Table:
    """Return each pair with its difference, and how certain that is."""
    design = parts[0].comparison.design
    is_tukey = design.test == "tukey"  # one p value, which accounts for all pairs
    columns = (
        Column("n_queries", "queries", spare=1, is_data=not counts_vary(parts)),
        Column("difference", "difference"),
        Column("ci", level(parts), spare=1),
        Column("bar", "", spare=6),
        *(() if is_tukey else (Column("p_value", "p", spare=2),)),
        Column("p_adjusted", "p" if is_tukey else "p adj"),
        Column("effect_size", "effect", spare=5),
        Column("wins", "wins", spare=3),
        Column("draws", "draws", spare=4),
        Column("losses", "losses", spare=3),
    )
    named = [(part.stratum, pair) for part in parts for pair in part.of(measure)]
    drawn = bars([Span(pair.low, pair.high) for _, pair in named], [pair.difference for _, pair in named])
    rows = [
        Row((*stratum, *_names(pair, design)), (_cells(pair, bar, is_tukey=is_tukey),))
        for (stratum, pair), bar in zip(named, drawn, strict=True)
    ]
    labels = (*leading, *((BASELINE, SYSTEM) if design.baseline is None else (SYSTEM,)))
    return Table("pairs", labels, columns, tuple(rows), title=_title(parts[0].comparison, measure), main=1)


def _cells(pair: Pair, bar: Bar, *, is_tukey: bool) -> tuple[Cell, ...]:
    return (
        pair.n_queries,
        pair.difference,
        Span(pair.low, pair.high, pair.is_known),
        bar,
        *(() if is_tukey else (p_value(pair.p_value),)),
        p_value(pair.p_adjusted, is_significant=pair.significant),
        pair.effect_size,
        *(pair.wins, pair.draws, pair.losses),
    )


def _names(pair: Pair, design: Design) -> tuple[str, ...]:
    return (pair.baseline, pair.system) if design.baseline is None else (pair.system,)


def _reversals(parts: Sequence[StratumComparison], leading: tuple[Column, ...], measure: Measure) -> list[Table]:
    """List the pairs whose order ties may well reverse, the likeliest first."""
    design = parts[0].comparison.design
    rows = [
        Row(
            (*part.stratum, " / ".join(reversed(_names(pair, design)))),
            (
                (
                    Share(pair.flip_probability, pair.flip_standard_error),
                    pair.expected_difference,
                    pair.tie_standard_error,
                    pair.doc_id_difference,
                ),
            ),
        )
        for part in parts
        for pair in sorted(part.of(measure), key=lambda pair: -np.nan_to_num(pair.flip_probability))
        if pair.flip_probability >= LIKELY or pair.doc_id_reverses
    ]
    if not rows:
        return []
    columns = (
        Column("flip_probability", "reversed"),
        Column("expected_difference", "exact", spare=1),
        Column("tie_standard_error", "tie std err", spare=2),
        Column("doc_id_difference", BY_DOC_ID),
    )
    title = f"{measure.label}: what ties can reverse"
    label = SYSTEM if design.baseline is not None else Column("pair", "system / baseline")
    return [Table("ties", (*leading, label), columns, tuple(rows), title=title)]


def _facts(comparison: Comparison, parts: Sequence[StratumComparison], qrels: str, among: str) -> Iterator[Fact]:
    design = comparison.design
    evaluations = list(comparison.evaluations.values())
    seed, ties = arguments.whole(design.rng), evaluations[0].ties
    yield Fact("deadheat", __version__)
    yield Fact("qrels", qrels)
    yield from _of_queries(comparison, qrels)
    yield Fact("ties", ties, "ties", broken_by(ties, seed), is_note=ties != "expected")
    has_clusters = comparison.cluster is not None
    found = [
        (measure, f"{measure} of {system}{inside(part.stratum)}", one)
        for part in parts
        for (system, measure), one in part.comparison.intervals.items()
    ]
    differences = [
        (f"{pair.measure} of {pair.system} - {pair.baseline}{inside(part.stratum)}", pair)
        for part in parts
        for pair in part.comparison.pairs
    ]
    yield from tell_intervals(design, found, differences, clusters="clusters" if has_clusters else "")
    placed = [(label(part.stratum), pair) for part in parts for pair in part.comparison.pairs]
    has_strata = bool(parts[0].stratum)
    yield from tell_tests(design, placed, has_clusters=has_clusters, has_strata=has_strata, among=among)
    yield from _of_ties(parts)
    yield from made_under(evaluations[0].conventions)
    yield from _of_labels(parts)
    yield from without_bounds(evaluations)
    yield from _left_out(comparison)
    yield from without_relevant(evaluations)
    yield from of_runs(evaluations)


def _of_queries(comparison: Comparison, qrels: str) -> Iterator[Fact]:
    """Give the numbers of queries and of clusters."""
    n_queries = sorted({pair.n_queries for pair in comparison.pairs})
    shown = " to ".join(f"{end:,}" for end in dict.fromkeys((n_queries[0], n_queries[-1])))
    by_pair = ", by pair" if counts_vary([StratumComparison((), comparison)]) else ""
    n_clusters = None if comparison.cluster is None else len(set(comparison.cluster.tolist()))
    grouped = "" if n_clusters is None else f", in {counted(n_clusters, 'cluster')}"
    yield Fact("n_queries", n_queries[-1], "queries", f"{shown}{by_pair} in {qrels}{grouped}")
    yield Fact("n_clusters", n_clusters)


def tell_intervals(
    design: Design,
    found: Sequence[tuple[str, str, Interval]],
    differences: Sequence[tuple[str, Pair]] = (),
    *,
    clusters: str = "",
    unit: tuple[str, str] = QUERY,
) -> Iterator[Fact]:
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
    seed = arguments.whole(design.rng)
    for name in ("method", "confidence_level", "n_resamples"):
        yield Fact(name, getattr(design, name))
    yield Fact("rng", seed)
    of_means = {one.method for *_, one in found}
    methods = [
        ("means" if differences and len(of_means) == 1 else f"{'means of ' * bool(differences)}{measure}", one.method)
        for measure, _, one in found
    ]
    methods += [("differences", pair.method) for _, pair in differences]
    how = estimated_by(methods, clusters or unit[1], design.n_resamples, seed)
    sides = ", two-sided" if design.alternative != "two-sided" else ""
    yield Fact("", None, "intervals", f"{how}{sides}, not corrected")
    named: list[tuple[str, Interval | Pair]] = [*((name, one) for _, name, one in found), *differences]
    yield Fact("", None, "intervals", few_units((one for _, one in named), unit), is_note=True)
    yield from cannot_be_known((name, one) for name, one in named if not math.isnan(one.low))


def tell_tests(
    design: Design,
    placed: Sequence[tuple[str, Pair]],
    *,
    has_clusters: bool = False,
    has_strata: bool = False,
    unit: tuple[str, str] = QUERY,
    among: str = "",
    apart: str = "",
) -> Iterator[Fact]:
    """Say how differences were tested, whether skewness or few queries cast doubt on it, and how many are significant.

    Parameters
    ----------
    design : Design
    placed : sequence of (str, Pair)
        The stratum of each pair, empty for the whole.
    has_clusters, has_strata : bool, default False
    unit : tuple of str
        What a query is called, in the singular and the plural.
    among : str, default ""
        What the differences are between, where the report has others too.
    apart : str, default ""
        What has corrections of its own, such as "set and language".
    """
    pairs, units = [pair for _, pair in placed], "clusters" if has_clusters else unit[1]
    alpha = 1 - design.confidence_level
    for name in ("baseline", "test", "correction", "alternative"):
        yield Fact(name, getattr(design, name))
    by, between = ", by cluster" if has_clusters else "", f"between {among}" if among else ""
    total = joined(counted(len(pairs), "difference"), between)
    tested = _test(design, pairs, by, has_strata=has_strata) + (f", in each {apart} by itself" if apart else "")
    yield Fact("", None, "test", f"{between}: {tested}" if between else tested)
    if skewed := [(place, pair) for place, pair in placed if pair.doubtful]:
        yield Fact("", None, "skewed", _skewed(design, skewed, total, units), is_note=True)
    least = [(place, pair, least_p(pair, design)) for place, pair in placed if pair.wins + pair.losses]
    if few := [name_of(place, pair, f": {n_differing(pair)}, {p:.4f}") for place, pair, p in least if p >= alpha]:
        said = f"too few {units} differ for p of {len(few)} of {total} to fall below {alpha:.3g}, however much they do"
        yield Fact("", None, "few differ", f"{said} (how many, least p): {listed(few)}", is_note=True)
    enough = ENOUGH.get(design.test, FEWEST)
    few = [name_of(place, pair) for place, pair in placed if pair.significant and n_units(pair) < enough]
    if few:
        counted_few = f"{len(few)} of {total} significant with fewer than {enough} {units}"
        yield Fact("", None, "few", f"{counted_few}, which {_too_few(design)}: {listed(few)}", is_note=True)
    n_significant = sum(pair.significant for pair in pairs)
    yield Fact("", None, MARK, f"p below {alpha:.3g}: {n_significant} of {total}")


def _test(design: Design, pairs: Sequence[Pair], by: str, *, has_strata: bool) -> str:
    n_exact = sum(pair.exact_p_value for pair in pairs)
    resampled = f", {design.n_resamples:,} resamples"
    if design.test == "wilcoxon":
        n_normal = len(pairs) - n_exact
        resampled = f", by the normal distribution for {n_normal} of {counted(len(pairs), 'difference')}"
        resampled = resampled if n_normal else ", exact"
    elif design.test not in RESAMPLED:
        resampled = ""
    elif n_exact:
        resampled = ", exact" if n_exact == len(pairs) else f"{resampled}, exact where few queries differ"
    return f"{TESTS[design.test]}{by}, {design.alternative}{resampled}; {_corrected(design, has_strata=has_strata)}"


def name_of(place: str, pair: Pair, more: str = "") -> str:
    """Name a pair with its measure and, if it is of one, its stratum."""
    return f"{pair.system} / {pair.baseline} ({pair.measure}{f'; {place}' if place else ''}{more})"


def _too_few(design: Design) -> str:
    return "are too few for this test; --test t is nearer to its level" if design.test in ENOUGH else "prove little"


def _skewed(design: Design, skewed: Sequence[tuple[str, Pair]], total: str, units: str) -> str:
    """Say which differences are too skewed for their number to trust the level of the test, and what to do."""
    named = listed([name_of(place, pair, f": {pair.skewness:+.1f}") for place, pair in skewed])
    alpha = f"{1 - design.confidence_level:.3g}"
    other = "" if design.test == "bootstrap-t" else "; --test bootstrap-t is nearer to its level"
    return (
        f"{len(skewed)} of {total} too skewed for so few {units} to hold the level {alpha}:"
        f" {named}; take p near {alpha} as undecided{other}"
    )


def _corrected(design: Design, *, has_strata: bool) -> str:
    """Say which differences the p values account for."""
    if design.test == "tukey":
        return "which accounts for all pairs" + (", within each stratum only" if has_strata else "")
    if design.correction == "none":
        return CORRECTIONS["none"]
    return f"{CORRECTIONS[design.correction]} within a measure{', over all strata' if has_strata else ''}"


def _of_ties(parts: Sequence[StratumComparison]) -> Iterator[Fact]:
    """Say how many differences ties can reverse."""
    placed = [(part.stratum, pair) for part in parts for pair in part.comparison.pairs]
    pairs = [pair for _, pair in placed]
    possible = sum(pair.can_flip for pair in pairs)
    likely = [pair for pair in pairs if pair.flip_probability >= LIKELY]
    total = counted(len(pairs), "difference")
    if not possible:
        yield Fact("", None, "reversed", f"none: no order of equal scores reverses any of {total}")
        return
    text = (
        f"{possible} of {total} by some order of the ties; {len(likely)} with a probability of {LIKELY:.0%} or more if"
        " ties are broken at random"
    )
    yield Fact("", None, "reversed", f"{text} ({_how_found(pairs)})")
    if n_vague := sum(pair.flip_method == "normal" and pair.flip_standard_error > VAGUE for pair in pairs):
        vague = f"the probability of {n_vague} of {total} is not known to better than {VAGUE:.0%}, as no orders can be"
        vague += " drawn of saved evaluations or of very many documents"
        yield Fact("", None, "reversed", vague, is_note=True)
    reversed_ = [name_of(label(stratum), pair) for stratum, pair in placed if pair.doc_id_reverses]
    if reversed_:
        said = f"ties broken {BY_DOC_ID}, put {counted(len(reversed_), 'pair')} the other way: {listed(reversed_)}"
        yield Fact("", None, "by id", said)


def _of_labels(parts: Sequence[StratumComparison]) -> Iterator[Fact]:
    """Say which differences labels of unjudged documents could reverse, by an outer bound."""
    placed = [(part.stratum, one) for part in parts for one in part.comparison.unjudged_outer_bounds]
    if not placed:
        return
    rows = [
        {"measure": one.measure, "system": one.system, "baseline": one.baseline, "low": one.low, "high": one.high}
        for _, one in placed
    ]
    yield Fact("unjudged_outer_bounds", rows)
    open_ = [
        f"{one.measure} {one.system} - {one.baseline}{inside(stratum)} {format_cell(Span(one.low, one.high))}"
        for stratum, one in placed
        if not one.is_safe
    ]
    text = f"{len(open_)} of {counted(len(placed), 'difference')}: {listed(open_)}" if open_ else "no difference"
    yield Fact("", None, "if judged", f"labels of unjudged documents could reverse {text} (outer bounds)")


def _how_found(pairs: Sequence[Pair]) -> str:
    """Say how the probabilities of a reversal were found, and how far they may be off."""
    errors = {
        method: [pair.flip_standard_error for pair in pairs if pair.can_flip and pair.flip_method == method]
        for method in FLIP_METHODS
    }
    n_all = sum(map(len, errors.values()))
    return "; ".join(
        ("" if len(own) == n_all else f"{len(own)} ") + FLIP_METHODS[method].format(error_of_share(max(own)))
        for method, own in errors.items()
        if own
    )


def _left_out(comparison: Comparison) -> Iterator[Fact]:
    """Name the queries that are left out: a run lacks them, or they are not judged."""
    for name, evaluation in comparison.evaluations.items():
        if evaluation.missing_queries:
            ids = evaluation.missing_queries
            made = COUNTED[evaluation.conventions.missing]
            lacking = [one.measure.label for one in evaluation if unexplained(evaluation, one)]
            made += f"; left out of {', '.join(lacking)}" if lacking else ""
            yield Fact("", None, f"missing in {name}", f"{named(ids)}, {made}", is_note=True)
    missing = {name: list(one.missing_queries) for name, one in comparison.evaluations.items()}
    unjudged = {name: list(one.unjudged_queries) for name, one in comparison.evaluations.items()}
    yield Fact("missing_queries", missing)
    left_out = sorted(set().union(*unjudged.values()))
    text = f"{named(left_out)} of the runs, left out" if left_out else ""
    yield Fact("unjudged_queries", unjudged, "not judged", text, is_note=True)
