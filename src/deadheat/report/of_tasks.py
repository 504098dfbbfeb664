"""Reports over several tasks: leaderboards with ranks as intervals and tiers, and comparisons in several languages."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from deadheat.comparison.languages import AcrossLanguages, Languages, sentences_of_languages
from deadheat.comparison.leaderboard import Leaderboard
from deadheat.comparison.pairs import Pair, Pairs
from deadheat.errors import UNIT, counted, format_names, joined, level_text, three
from deadheat.measures import Measure
from deadheat.report.conventions import cannot_be_known, tell_ties
from deadheat.report.model import (
    MEASURE,
    SYSTEM,
    Column,
    Fact,
    Report,
    Span,
    Table,
    first_true,
    format_cell,
    note,
    p_value,
    ranked,
    ranks,
    said,
    share,
    shows,
    summarise,
    table_of_rows,
    tabulate,
    warning,
)
from deadheat.report.of_comparison import cells_of, doubt_margin, tell_intervals, tell_tests
from deadheat.report.score_tables import level_heading
from deadheat.settings import TUKEY
from deadheat.version import __version__

MODEL = Column("model", "model", is_name=True)
MOST = 5  # tasks without which the order is shown
MOST_ON_PAGE, MOST_COLUMNS = 5, 13  # tasks or groups beside the mean: that fit a page, and that --full has
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@shows(Leaderboard, in_brief=True)
def report_leaderboard(found: Leaderboard, *, for_people: bool = True, compact: bool = False) -> Report:
    """Return the report of a leaderboard.

    Parameters
    ----------
    found : Leaderboard
    for_people : bool, default True
        Whether orders without a task are the first few.
    compact : bool, default False
        Whether it is one table, for a paper.
    """
    if compact:
        return _compact(found)
    values = tabulate(
        "tasks",
        (MODEL,),
        [Column(name, name, spare=n) for n, name in enumerate(found.tasks)],
        found.task_values().to_dicts(),
        title=f"{found.measure} by task",
        is_extra=True,
    )
    without, task = found.leave_one_out().to_dicts(), Column("task", "without")
    columns = (Column("leader", "leader"), Column("tau_b", "tau_b"), Column("n_swapped", "pairs swapped"))
    rows = without[:MOST] if for_people else without
    title = "The order without one task" + f" (the {len(rows)} that change most)" * (len(rows) < len(without))
    orders = [tabulate("without_task", (task,), columns, rows, title=title, is_extra=True)] if rows else []
    tables = (_ranking(found), values, *orders)
    return Report(tables, tuple(_facts(found)), headline=headline(found), summary=summarise(_describe_order(found)))


def _compact(found: Leaderboard) -> Report:
    """Return the table of a paper: models by groups or tasks, the best bold, and letters for tiers."""
    listed = found.rows()[: len(found.models)]
    columns = {
        "mean": [row["mean"] for row in listed],
        **{name: own.tolist() for name, own in found.group_means.items()},
    }
    if not found.groups and len(found.tasks) <= MOST_COLUMNS:
        columns |= {name: found.values[:, n].tolist() for n, name in enumerate(found.tasks)}
    cells = {
        name: ranked(1 if found.higher_is_better else -1, dict(zip(found.models, values, strict=True)))
        for name, values in columns.items()
    }
    rows = [
        {
            "model": row["model"],
            "tier": letter(row["tier"]),
            "ranks": ranks(row["rank_low"], row["rank_high"]),
            "bounds": Span(found.mean_low[n], found.mean_high[n]),
        }
        | {name: own[row["model"]] for name, own in cells.items()}
        for n, row in enumerate(listed)
    ]
    table = tabulate(
        "leaderboard",
        (Column("tier", "tier"), MODEL),
        [
            Column("ranks", "ranks"),
            *([Column("bounds", "mean is in")] if found.value_range else []),
            Column("mean", "mean"),
            *(Column(name, name, is_extra=len(columns) > MOST_ON_PAGE + 1) for name in columns if name != "mean"),
        ],
        rows,
        caption=_caption(found),
        main=-1,
    )
    notes = tuple(fact for fact in _facts(found) if fact.is_note)
    return Report((table,), notes, headline=headline(found), summary=summarise(_describe_order(found)))


def letter(tier: int | None) -> str:
    """Return the letter of a tier: a for the first, aa after z; empty for none.

    Examples
    --------
    >>> letter(1), letter(26), letter(27), letter(None)
    ('a', 'z', 'aa', '')
    """
    text, left = "", tier or 0
    while left:
        left, place = divmod(left - 1, len(LETTERS))
        text = LETTERS[place] + text
    return text


def headline(found: Leaderboard) -> str:
    """Say who is first, and how many models cannot be told from it."""
    best, n_others = found.models[0], len(found.models) - 1
    if not n_others:
        return f"{best} is the only model on all tasks."
    if found.tiers is None:
        first = [name for name, rank in zip(found.models, found.ranks, strict=True) if rank == 1]
        if not first:
            return f"It is open which model has the best mean {found.measure}."
        verb = "share" if len(first) > 1 else "has"
        return f"{format_names(first)} {verb} the best mean {found.measure}; which differences are sure is not known."
    n_equal = max(found.ranks.count(1), 1)
    n_open = found.tiers.count(1) - n_equal
    if n_equal > 1:
        told = f"{format_names(found.models[:n_equal])} share the best mean {found.measure}"
    elif not n_open:
        return f"{best} is above all others by more than chance."
    else:
        told = f"{best} {'is' if found.ranks[0] else 'may be'} first"
    if n_open:
        others = counted(len(found.models) - n_equal, "other model")
        told += f"; {n_open} of {others} cannot be told from {'it' if n_equal == 1 else 'them'}"
    return f"{told}."


def _describe_order(found: Leaderboard) -> dict[str, str]:
    """Return what the headline rests on: which models cannot be told from the first, and how many neighbours."""
    facts: dict[str, str] = {}
    n_pairs = len(found.models) - 1
    if n_pairs and found.tiers is not None and found.uncertainty is not None:
        n_equal = max(found.ranks.count(1), 1)
        in_first_tier = [name for name, tier in zip(found.models, found.tiers, strict=True) if tier == 1]
        if in_first_tier[n_equal:]:
            facts["not told apart"] = three(in_first_tier[n_equal:])
        n_alike = sum(not found.uncertainty.better[n, n + 1] for n in range(n_pairs))
        facts["neighbours"] = f"{n_alike:,} of {counted(n_pairs, 'pair')} cannot be told apart"
    if found.deciding_task:
        leader = found.leave_one_out().filter(task=found.deciding_task)["leader"][0]
        facts[f"without {found.deciding_task}"] = f"{leader} leads"
    return facts


def _ranking(found: Leaderboard) -> Table:
    """Return a row for each model."""
    rows: list[dict[str, Any]] = [
        row
        | {
            "letter": letter(row["tier"]),
            "ci": Span(row["low"], row["high"]) if row["rank_low"] is not None else None,
            "bounds": Span(row["mean_low"], row["mean_high"]) if row.get("mean_low") is not None else None,
            "ranks": ranks(row["rank_low"], row["rank_high"]),
            "p_best": share(row["p_best"]),
            "of_ties": Span(row["tie_min"], row["tie_max"]) if row["tie_min"] is not None else None,
        }
        for row in found.rows()
    ]
    columns = [
        Column("rank", "rank"),
        Column("mean", "mean"),
        *([Column("bounds", "mean is in", ends=("mean_low", "mean_high"))] if found.value_range else []),
        Column("ci", f"{level_text(found.confidence_level)} CI", spare=2),
        Column("ranks", "ranks"),
        Column("rank_low", "rank low", is_data=True),
        Column("rank_high", "rank high", is_data=True),
        Column("letter", "tier"),
        Column("tier", "tier number", is_data=True),
        Column("mean_rank", "mean rank", spare=3, is_extra=True),
        Column("p_best", "P(best)", spare=4),
        Column("resampled_rank_low", "resampled rank low", is_data=True),
        Column("resampled_rank_high", "resampled rank high", is_data=True),
        *(
            []
            if found.tie_min is None
            else [Column("of_ties", "tie orders", ends=("tie_min", "tie_max"), spare=5, is_extra=True)]
        ),
        Column("tie_rank_low", "tie rank low", is_data=True),
        Column("tie_rank_high", "tie rank high", is_data=True),
        Column("n_tasks", "tasks", is_data=not (found.incomplete or found.value_range)),
        *(
            Column(f"mean_{name}", name, spare=6, is_extra=len(found.group_means) > MOST_ON_PAGE)
            for name in found.group_means
        ),
    ]
    return tabulate("leaderboard", (MODEL,), columns, rows, title=f"Models by mean {found.measure}", main=1)


def _sampled(found: Leaderboard) -> str:
    """Return what was resampled."""
    return first_true(
        {
            "queries within each task; tasks are fixed": found.sampling == "fixed",
            "tasks, and queries within each": found.has_queries,
        },
        "tasks alone; their queries are not known",
    )


def _caption(found: Leaderboard) -> str:
    what = "of groups of tasks" if found.groups else f"over {counted(len(found.tasks), 'task')}"
    sure = (
        "Models of one tier (letter) cannot be told from the best of it. Ranks: simultaneous"
        f" {level_text(found.confidence_level)} intervals, resampling {_sampled(found)}."
    )
    of_ranks = f"Which differences are sure is not known: {found.unknown}." if found.tiers is None else sure
    return f"Mean {found.measure} {what}; the best of each column is bold. {of_ranks}"


def _facts(found: Leaderboard) -> list[Fact]:
    weights, names = dict(zip(found.tasks, found.shares.tolist(), strict=True)), list(dict.fromkeys(found.groups))
    by_group = f"{counted(len(names), 'group')} count the same: {three(names)}; within each, tasks by their weights"
    over = "tasks of a group, then over groups" if names else "tasks"
    direction = "" if found.higher_is_better else "; less is better"
    simultaneous = f"simultaneous {level_text(found.confidence_level)} intervals of all differences"
    lacking = {name: sorted(set(found.tasks) - set(own)) for name, own in found.incomplete.items()}
    apart = f"{counted(len(lacking), 'model')} without all tasks, not ranked: {three(list(lacking))}"
    deciding = [task for task, leader, *_ in found.leave_one_out().iter_rows() if leader != found.models[0]]
    decides = f"{three(deciding)}: without {'it' if len(deciding) == 1 else 'each of these'} another leads"
    missing = ""
    if found.value_range and np.isnan(found.values).any():
        low, high = found.value_range
        missing = f"a missing value is taken to be anything from {low:g} to {high:g}"
    return [
        Fact("n_tasks", len(found.tasks), "tasks", f"{len(found.tasks)}: {three(list(found.tasks))}"),
        Fact(
            "shares",
            weights,
            "weights",
            first_true(
                {by_group: names, "all tasks count the same": len({round(one, 12) for one in weights.values()}) == 1},
                "given",
            ),
        ),
        said("mean", f"over {over}, of {found.measure}{direction}"),
        *(
            [warning("ranks", f"no intervals and tiers: {found.unknown}")]
            if found.uncertainty is None
            else [
                Fact("resampled", found.sampling, "resampled", _sampled(found)),
                Fact(
                    "critical",
                    found.uncertainty.critical,
                    "ranks",
                    f"by {simultaneous} (Mogstad et al. 2024)",
                ),
                said("tier", "not told from the best of those left"),
                said("CI", "of each mean by itself: Student's t"),
            ]
        ),
        *(
            [
                said(
                    "ties",
                    "not known of these values" if found.tie_min is None else "not told where values are missing",
                )
            ]
            if found.reversible is None
            else [
                Fact(
                    "reversible",
                    [list(one) for one in found.reversible],
                    "ties",
                    _reversible(found),
                    brief=_count_reversible(found),
                ),
                Fact("tie_share", found.tie_share),
            ]
        ),
        *([Fact("incomplete", lacking, "apart", apart, is_note=True)] if lacking else []),
        note("missing", missing),
        *([Fact("deciding_task", found.deciding_task, "decides", decides)] if found.deciding_task else []),
        *(note("results", text) for text in found.notes),
    ]


def _count_reversible(found: Leaderboard) -> str:
    """Say how many orders of two models tie order alone can reverse; empty if none."""
    if not found.reversible:
        return ""
    return f"their order alone can reverse {counted(len(found.reversible), 'pair')} of models"


def _reversible(found: Leaderboard) -> str:
    """Say which orders of two models tie order alone can reverse."""
    if not found.reversible:
        return "no order of equal scores changes the order of two models"
    pairs = [f"{one} over {other}" for one, other in found.reversible]
    return f"{_count_reversible(found)}: {three(pairs)}"


POWER = 0.8
AMONG = "languages"


@shows(Languages)
def of_languages(found: Languages) -> Report:
    """Return the report of languages that are compared."""
    design = found.design
    ties = next(iter(next(iter(found.evaluations.values())).values())).ties
    facts = [
        Fact("deadheat", __version__),
        Fact("language_verdicts", {found.name: list(sentences_of_languages(found))}),
        *tell_languages(found),
        *facts_of_languages({found.name: found}),
        *tell_ties(ties, None),
        *tell_intervals(design, [], _named_pairs(found)),
        *tell_tests(design, *placed_pairs(found), has_clusters=found.cluster is not None),
        *tell_gaps(found),
    ]
    return Report(
        tuple(list_languages(found, found.measures)), tuple(facts), opening=" ".join(sentences_of_languages(found))
    )


def with_languages(report: Report, found: Languages, margin: float | None, *, for_people: bool) -> Report:
    """Add the tables and facts across languages to the report of a comparison."""
    named, verdict = {found.name: found}, list(sentences_of_languages(found, margin=margin))
    facts = (
        Fact("language_verdicts", {found.name: verdict}),
        *facts_of_languages(named),
        *tell_languages(found, margin=margin),
        *tell_beside(found),
        *tell_gaps(found),
    )
    tables = (
        list_languages(found, found.measures, margin=margin)
        if for_people
        else data_of_languages({"queries": found}, leading=Column("of", "of"), margin=margin)
    )
    return replace(
        report,
        tables=(*report.tables, *tables),
        facts=(*report.facts, *facts),
        opening=joined(report.opening, *verdict),
    )


def list_languages(
    found: Languages,
    measures: Sequence[Measure],
    *,
    tested: Sequence[Measure] | None = None,
    system: Column = SYSTEM,
    margin: float | None = None,
    most: int | None = None,
    unit: tuple[str, str] = UNIT,
) -> Iterator[Table]:
    """Yield the table of systems by languages, that of differences, and that of gaps against gaps.

    Parameters
    ----------
    found : Languages
    measures : sequence of Measure
        Those that are shown; totals and geometric means have no table of languages.
    tested : sequence of Measure, optional
        Those whose differences are shown; by default all of them.
    system : Column
        What a system is called.
    margin : float, optional
        Differences then have a p value of equivalence.
    most : int, optional
        Differences of more rows than that are of the first measure only.
    unit : tuple of str
        What a query is called.
    """
    shown = [one.label for one in measures if not one.total]
    if across := [one for name in shown for one in found.across if one.measure == name]:
        yield _means(found, across, system, unit)
    shown = shown if tested is None else [one.label for one in tested if not one.total]
    if not shown:
        return
    few = shown if most is None or len(found.differences) // len(found.measures) * len(shown) <= most else shown[:1]
    yield _differences(found, few, system, margin, unit)
    if found.interactions:
        yield _interactions(found, few if most is None else few[:1], system)


def _means(found: Languages, across: Sequence[AcrossLanguages], system: Column, unit: tuple[str, str]) -> Table:
    """Return the mean of each system in each language, and the numbers across languages."""
    n = sorted({one.n_queries for one in across})
    shared = counted(n[0], *unit) if len(n) == 1 else f"{n[0]:,} to {n[-1]:,} {unit[1]}"
    return tabulate(
        "across_languages",
        (MEASURE, replace(system, of=lambda one: one.system)),
        (
            Column("n_queries", unit[1], is_data=True),
            *(Column(f"mean_{code}", code, lambda one, code=code: one.means[code]) for code in found.languages),
            Column("mean", "mean", spare=3),
            Column("variance", "variance"),
            Column(
                "variance_ci",
                level_heading(found.design.confidence_level, set()),
                lambda one: Span(one.variance_low, one.variance_high, one.is_known),
                ("variance_low", "variance_high"),
                spare=1,
            ),
            Column("worst", "worst", spare=2),
        ),
        across,
        title=f"{found.name}: the same {shared} in {len(found.languages)} languages",
        main=1,
        is_section=True,
    )


def _differences(
    found: Languages, measures: Sequence[str], system: Column, margin: float | None, unit: tuple[str, str]
) -> Table:
    """Return each system's differences between languages."""
    counts = {one.pair.n_queries for one in found.differences}
    tested = found.equivalence(margin) if margin else [(None, False)] * len(found.differences)
    within = Column(
        "p_equivalent",
        f"p within {margin or 0:g}",
        lambda row: p_value(row["equivalent"][0], is_significant=row["equivalent"][1]),
    )
    return tabulate(
        "language_differences",
        (MEASURE, system, Column("language", "language"), Column("against", "against")),
        (
            Column("n_queries", unit[1], spare=1, is_data=len(counts) == 1),
            Column("difference", "difference"),
            Column("ci", level_heading(found.design.confidence_level, counts), spare=1),
            _p_column(found),
            *((within,) if margin else ()),
            Column("flip_probability", "ties reverse", spare=3),
            Column("wins", "wins", spare=2),
            Column("losses", "losses", spare=2),
        ),
        [
            {**cells_of(one.pair), "language": one.pair.system, "against": one.pair.baseline}
            | {system.key: one.system, "equivalent": own}
            for one, own in zip(found.differences, tested, strict=True)
            if one.pair.measure in measures
        ],
        title=f"{found.name}: differences between languages",
        main=1,
        is_section=True,
    )


def _p_column(found: Languages) -> Column:
    return Column("p_adjusted", "p" if found.design.test == TUKEY else "p adj")


def _interactions(found: Languages, measures: Sequence[str], system: Column) -> Table:
    """Return the gaps of systems between languages, each against that of another system."""
    return tabulate(
        "language_interactions",
        (MEASURE, Column("languages", "languages"), system, Column("baseline", "against")),
        (
            Column("gap", "gap", lambda row: row["mean"], spare=1),
            Column("baseline_gap", "other gap", lambda row: row["baseline_mean"], spare=1),
            Column("difference", "difference"),
            Column("ci", level_heading(found.design.confidence_level, set()), spare=2),
            _p_column(found),
            Column("flip_probability", "ties reverse", spare=3),
        ),
        [
            {**cells_of(one.pair), "languages": f"{one.language} - {one.baseline}", system.key: one.pair.system}
            for one in found.interactions
            if one.pair.measure in measures
        ],
        title=f"{found.name}: gaps between languages, {system.heading} against {system.heading}",
        main=2,
        is_section=True,
    )


def tell_languages(found: Languages, *, unit: tuple[str, str] = UNIT, margin: float | None = None) -> Iterator[Fact]:
    """Yield what is paired, what the variance is, and which differences could be found."""
    lacking = ", ".join(f"{number:,} of {language}" for language, number in found.left_out.items() if number)
    partial, n_languages = len(found.query_ids) - found.n_shared, len(found.languages)
    paired = f"{found.name}: {counted(found.n_shared, *unit)} in each of {', '.join(found.languages)}"
    paired += f"; {partial:,} in some of them, which count for these" if partial else ""
    paired += f"; left out, as no other language has them: {lacking}" if lacking else ""
    unpaired = f"{found.unpaired}: no pair_id that another language has, so that they count in no row of languages"
    totals = ", ".join(one.label for one in found.measures if one.total)
    n_clusters = 0 if found.cluster is None else len(set(found.cluster.tolist()))
    clusters = (
        f"{found.name}: languages have the {unit[1]} in different clusters; those that are one in any language are one"
        f" here, which leaves {counted(n_clusters, 'cluster')}"
    )
    yield from (
        Fact("", None, "paired", paired, is_note=bool(partial or lacking)),
        note("not paired", unpaired if found.unpaired else ""),
        note("paired", f"{totals}: in no table of languages, which are of means" if totals else ""),
        note("clusters", clusters if found.clusters_differ and n_clusters else ""),
    )
    if chance := [one.variance_by_chance for one in found.across if one.is_known]:
        yield said(
            "variance",
            f"of the means of {n_languages} languages (divisor {n_languages}); languages of equal means would have"
            f" {_range(chance)} on average, by the choice of {unit[1]}; its interval is for these languages and other"
            f" {unit[1]}",
        )
    ends = found.detectable(POWER)  # of the first measure that has means
    if measure := next((one.label for one in found.measures if one.label in ends and not one.total), ""):
        test = f"paired t test, p below {1 - found.design.confidence_level:.3g} before correction"
        detects = f"{_range(ends[measure])} and more in {measure} between languages ({POWER:.0%} power"
        yield replace(said("detects", f"{detects}, {test})"), brief=f"{detects})")
    if margin:
        yield said("margin", f"p within {margin:g}: two one-sided t tests that languages differ by less")
        yield from doubt_margin([(one.system, one.pair) for one in found.differences])


def _range(numbers: Sequence[float]) -> str:
    """Return the least and the most of some numbers, or the one."""
    low, high = format_cell(min(numbers)), format_cell(max(numbers))
    return low if low == high else f"{low} to {high}"


def facts_of_languages(named: Mapping[str, Languages]) -> Iterator[Fact]:
    """Yield for programs, by name: which differences could be found, and the variance of equal means."""
    found = {
        name: {measure: list(ends) for measure, ends in one.detectable(POWER).items()} for name, one in named.items()
    }
    yield Fact("detectable_differences", found)
    chance = {name: [row.variance_by_chance for row in one.across if row.is_known] for name, one in named.items()}
    yield Fact("variance_by_chance", {name: [min(own), max(own)] for name, own in chance.items() if own})


def placed_pairs(found: Languages) -> tuple[list[str], Pairs]:
    """Return the system of each difference between languages, and the pairs."""
    return [one.system for one in found.differences], Pairs.of([one.pair for one in found.differences])


def _named_pairs(found: Languages) -> list[tuple[str, Pair]]:
    """Return the pairs, each with what it is of."""
    return [
        (f"{one.pair.measure} of {one.system}, {one.pair.system} - {one.pair.baseline}", one.pair)
        for one in found.differences
    ]


def tell_beside(found: Languages, *, unit: tuple[str, str] = UNIT, among: str = AMONG) -> Iterator[Fact]:
    """Say how differences between languages were tested, and which are doubtful, in a report that has others too.

    Parameters
    ----------
    found : Languages
    unit : tuple of str
        What a query is called.
    among : str, default "languages"
        What the differences are between.
    """
    told = tell_tests(
        found.design, *placed_pairs(found), has_clusters=found.cluster is not None, unit=unit, among=among
    )
    yield from (fact for fact in told if fact.heading)  # the settings are those of the other differences
    yield from cannot_be_known((name, pair) for name, pair in _named_pairs(found) if not math.isnan(pair.low))


def tell_gaps(found: Languages) -> Iterator[Fact]:
    """Say how many gaps differ between systems."""
    if pairs := [one.pair for one in found.interactions]:
        n, below = sum(pair.significant for pair in pairs), f"{1 - found.design.confidence_level:.3g}"
        yield said(
            "gaps",
            f"a gap is one language less another: {n} of {counted(len(pairs), 'pair')} of gaps differ with p below"
            f" {below}, corrected on their own; if both gaps have the same sign, the difference says whose is smaller",
        )


def data_of_languages(named: Mapping[str, Languages], *, leading: Column, margin: float | None) -> Iterator[Table]:
    """Yield the three tables for programs, with all measures and numbers.

    Parameters
    ----------
    named : mapping of str to Languages
    leading : Column
        What the names are of.
    margin : float or None
    """
    frames: dict[str, tuple[tuple[str, ...], dict[str, pl.DataFrame]]] = {
        "across_languages": (("system", "measure"), {name: one.to_polars() for name, one in named.items()}),
        "language_differences": (
            ("system", "language", "against", "measure"),
            {name: one.differences_to_polars(margin) for name, one in named.items()},
        ),
        "language_interactions": (
            ("language", "against", "system", "baseline", "measure"),
            {name: one.interactions_to_polars() for name, one in named.items() if one.interactions},
        ),
    }
    for key, (keys, held) in frames.items():
        if rows := [{leading.key: name, **row} for name, frame in held.items() for row in frame.iter_rows(named=True)]:
            yield table_of_rows(key, (leading, *keys), rows)
