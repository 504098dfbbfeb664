"""Reports on what changed: gates, with thresholds and a baseline; and histories, of which each step is a row."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from deadheat.comparison.history import History, has_other_queries
from deadheat.errors import (
    NOISE,
    UNIT,
    collected,
    counted,
    format_p_value,
    reported_path,
    rounded,
    whole,
)
from deadheat.evaluation.intervals import FEWEST
from deadheat.gates.notation import Check, GateResult
from deadheat.measures.notation import unit_of
from deadheat.report.conventions import (
    BOOTSTRAPS,
    EXPLAINED,
    brought_together,
    doubted_names,
    estimated_by,
    helped,
    tell_geometric,
    tell_unshared,
    tell_weights,
    too_narrow,
    weighted,
)
from deadheat.report.model import (
    BEYOND,
    MARK,
    MEASURE,
    QUERY,
    Column,
    Fact,
    NumberCell,
    Report,
    Span,
    Table,
    format_cell,
    note,
    p_value,
    said,
    shows,
    table_of_rows,
    tabulate,
    warning,
)
from deadheat.version import __version__

MOST = 5  # queries that fell, and that rose
COMMIT = 7  # characters of a commit
MINUTE, SECOND = 16, 19  # characters of a time


@shows(History)
def report_history(found: History, *, for_people: bool = True) -> Report:
    """Return the report of a history.

    Parameters
    ----------
    found : History
    for_people : bool, default True
        Whether each measure has a table of its own; else one has all.
    """
    fell = found.queries(MOST).to_dicts()
    columns = [Column("difference", "difference"), Column("value", "now")]
    if any(row["weight"] is not None for row in fell):
        columns.append(Column("weight", "weight"))
    labels, title = (MEASURE, Column("kind", ""), QUERY), "Queries of the last step"
    moved = [tabulate("queries", labels, columns, fell, title=title, has_blocks=True)] if fell else []
    if not for_people:
        rows = [{"step": str(n // len(found.measures) + 1), **row} for n, row in enumerate(found.rows())]
        return Report((table_of_rows("history", ("step", MEASURE), rows), *moved), tuple(_facts(found)))
    headline, opening = _told(found)
    tables = (_table(found, measure) for measure in found.measures)
    return Report((*tables, *moved), tuple(_facts(found)), opening=opening, headline=headline)


def _told(found: History) -> tuple[str, str]:
    """Return what the last step did: by the first measure in few words, then how sure that is, and the others.

    Of systems that take turns, the last step of each.
    """
    if len(found.steps) < 2:
        return "One evaluation: there is nothing to compare it with.", ""
    last, *earlier = (n for n in reversed(range(len(found.steps))) if n not in found.before)
    asked = [*((one, last) for one in found.measures), *((found.measures[0], n) for n in earlier)]
    (headline, sure), *others = (_moved(found, one, n) for one, n in asked)
    more = [f"{sure[0].upper()}{sure[1:]}."] if sure else []
    more += [_sentence(what, how) for what, how in others]
    return f"{headline}.", " ".join(more)


def _sentence(what: str, how: str) -> str:
    """Return what a step did, and how sure that is: in brackets, if it has none of its own."""
    if not how:
        return f"{what}."
    if "(" in how:
        return f"{what}: {how}."
    return f"{what} ({how})."


def _moved(found: History, measure: str, place: int) -> tuple[str, str]:
    """Return what a step did to a mean, and how sure that is."""
    step, pair = found.steps[place], found.since[measure][place]
    mean, of = found.mean_of(place, measure), f"{measure} of {step.name}" if found.take_turns else measure
    if math.isnan(mean):
        return f"{of} has no value", ""
    if pair is None:
        why = "the first of its system" if found.before[place] is None else "under other judgments than before"
        return f"{of} is {mean:.4f}, {why}", ""
    if not pair.n_queries:
        return f"{of} is {mean:.4f}, over other queries than before", ""
    level = f"{mean:.4f}"
    details = []
    if has_other_queries(found, measure, place):
        shared_mean = pair.mean * pair.n_queries if measure in found.totals else pair.mean
        level = f"{shared_mean:.4f} over the {counted(pair.n_queries, 'shared query', 'shared queries')}"
    else:
        details.append(counted(pair.n_queries, "query", "queries"))
    if pair.n_effective is not None and f"{pair.n_effective:.1f}" != f"{pair.n_queries:.1f}":
        details = [f"{counted(pair.n_queries, 'query', 'queries')} (worth {pair.n_effective:.1f})"]
    n_all = step.means[measure]["n_queries"]
    if pair.n_queries < n_all:
        details.append(f"{mean:.4f} over all {n_all:,} queries")
    if abs(pair.difference) <= NOISE:
        return f"{of} is as before, {level}", ", ".join(details)
    moved = abs(found.difference_of(pair))
    what = f"{'rose' if pair.difference > 0 else 'fell'} by {rounded(moved, 4)}{unit_of(measure)}"
    sure = "by more than chance" if pair.significant else "not by more than chance"
    p = format_p_value(pair.p_adjusted).removeprefix("= ")
    return f"{of} {what} to {level}, {sure}", ", ".join([f"adjusted p {p}", *details])


def _table(found: History, measure: str) -> Table:
    """Return a row for each step by one measure."""
    several = found.take_turns or len({(one.origin.label, one.origin.commit) for one in found.steps}) < len(found.steps)
    minutes = {(step.name, step.origin.label, step.origin.commit, step.origin.time[:MINUTE]) for step in found.steps}
    shown = MINUTE if len(minutes) == len(found.steps) else SECOND
    rows = [
        row
        | {
            "ci": None if row["low"] is None else Span(row["low"], row["high"]),
            "ties": Span(row["tie_min"], row["tie_max"]),
            "p": p_value(row["p_adjusted"], is_significant=bool(row["significant"])),
            "when": row["time"].replace("T", " ")[:shown],
            "what": " ".join(
                dict.fromkeys(filter(None, (row["name"] if several else "", row["label"], row["commit"][:COMMIT])))
            ),
            "judged": ("" if row["comparable"] else "# ") + row["changed"],
        }
        for row in found.rows()
        if row["measure"] == measure
    ]
    columns = [
        Column("n_queries", "queries"),
        *(
            [Column("n_effective", "worth", lambda row: NumberCell(row["n_effective"], "worth"), spare=3)]
            if any(row["n_effective"] is not None for row in rows)
            else []
        ),
        Column("mean", "mean"),
        Column("ci", "interval", spare=2),
        Column("ties", "tie orders", ends=("tie_min", "tie_max"), spare=4),
        Column("difference", "step"),
        Column("p", "p adj"),
        *(
            [Column("n_shared", "in both")]
            if any(row["n_shared"] not in {None, row["n_queries"]} for row in rows)
            else []
        ),
        *(
            [Column("reference", "to reference", lambda row: row["reference_difference"], spare=1)]
            if found.to_reference
            else []
        ),
        *([Column("judged", "judgments", spare=1)] if any(row["judged"] for row in rows) else []),
    ]
    return tabulate(
        f"history_{measure}", (Column("what", ""), Column("when", "time")), columns, rows, title=measure, main=1
    )


def _facts(found: History) -> list[Fact]:
    names = dict.fromkeys(step.name for step in found.steps)
    reference = () if found.reference is None else (found.steps[found.reference].file,)
    n_tests = max((sum(one is not None for one in pairs) for pairs in found.since.values()), default=0)
    before = "the one before of the same system" if found.take_turns else "the one before"
    how, level = "", ""
    if n_tests:
        how = f"{found.design.test}, each step against {before}; corrected by Holm over {counted(n_tests, 'step')}"
        level = f"p below {1 - found.design.confidence_level:.3g}"
    return [
        Fact("n_steps", len(found.steps), "evaluations", f"{len(found.steps):,} of {', '.join(names)}"),
        *(Fact("reference", file, "reference", file) for file in map(reported_path, reference)),
        *tell_geometric(found.measures),
        *_tell_weights(found),
        said("interval", "of the mean, at the level at which it was saved (by default 95%)"),
        said("test", how),
        said(MARK, level),
        note(
            "#",
            ""
            if all(step.is_comparable for step in found.steps)
            else "under other judgments than the last: not comparable",
        ),
        *(note("history", text) for text in found.notes),
    ]


def _tell_weights(found: History) -> list[Fact]:
    """Say that the means of the last step are weighted, if they are; totals are not."""
    last = found.steps[-1]
    weighted_measures = [measure for measure in found.measures if "n_effective" in last.means[measure]]
    if last.weights is None or not weighted_measures:
        return []
    has_value = ~np.isnan(last.values[weighted_measures[0]])
    facts = tell_weights(last.query_ids, last.weights, has_value)
    return [*facts, note("weights", "queries that fell and rose: by weight times difference")]


PASSED, WEAK, FAILED = "passed", "weak pass", "failed"
MARKS = {PASSED: "✅ passed", WEAK: "⚠ passed, proves little", FAILED: "❌ failed"}
OPTIONS = (
    *("no_regression", "no_worse_than", "alpha", "confidence_level", "method", "n_resamples", "cluster", "by"),
    *("pool_languages", "allow_unknown"),
)
ALL = "(all)"  # the stratum of checks over all queries, beside those of strata
NAMED = 5  # failed gates whose worst queries are named
# the questions that a baseline is asked: their tables in JSON, their titles, and the columns that people do not need
QUESTIONS = {
    "no_regression": ("regressions", "No regression", ()),
    "no_worse_than": ("no_worse_than", "No loss of {:.15g} or more", ("detectable",)),
}


def _result(check: Check) -> str:
    return FAILED if not check.passed else WEAK if check.proves_little else PASSED


REASON = (
    Column("reason", "reason", is_data=True),
    Column("proves_little", "proves little", is_data=True),
    Column("worst", "worst queries", is_data=True),
)
THRESHOLDS = (
    Column("value", "value"),
    Column(
        "threshold",
        "threshold",
        lambda check: NumberCell(check.threshold, marks=BEYOND) if check.is_beyond else check.threshold,
    ),
    Column("reachable", "at best", spare=1),
    Column("n_queries", "queries"),
    Column("result", "result", _result),
    Column("measure", "measure", is_data=True),
    Column("quantity", "quantity", is_data=True),
    Column("operator", "operator", is_data=True),
    Column("confidence_level", "level", is_data=True),
    Column("method", "method", lambda check: check.method or None, is_data=True),
    *REASON,
)
REGRESSIONS = (
    Column("baseline", "baseline", lambda check: check.baseline_mean, spare=2),
    Column("mean", "mean", spare=1),
    Column("difference", "difference", lambda check: check.value),
    Column("bound", "bound", spare=3),
    Column("p_value", "p value", lambda check: p_value(check.p_value)),
    Column("p_adjusted", "p adjusted", lambda check: p_value(check.p_adjusted)),
    Column("detectable", "detectable"),
    Column("n_queries", "queries"),
    Column("result", "result", _result),
    Column("gate", "gate", is_data=True),
    *REASON,
)


@shows(GateResult)
def report_gate(
    result: GateResult,
    *,
    sources: str = "",
    marks: bool = False,
    not_asked: Sequence[str] = (),
) -> Report:
    """Return the report of checked gates.

    Parameters
    ----------
    result : GateResult
    sources : str, default ""
        Where the gates come from, if that is a file.
    marks : bool, default False
        Whether the results have a check mark or a cross.
    not_asked : sequence of str, default ()
        What the file asks of a baseline, if there is none.
    """
    thresholds = [check for check in result.checks if not check.is_regression]
    tables = (
        [_table_of_gate("checks", Column("gate", "gate"), THRESHOLDS, thresholds, marks=marks)] if thresholds else []
    )
    for question, (key, asked, spared) in QUESTIONS.items():
        if checks := [check for check in result.checks if check.question == question]:
            hidden = {*spared, "p_value" if any(check.by for check in checks) else "p_adjusted"}
            columns = [replace(one, is_data=one.is_data or one.key in hidden) for one in REGRESSIONS]
            title = f"{asked.format(result.options.no_worse_than)} against {result.baseline}"
            tables.append(_table_of_gate(key, MEASURE, columns, checks, marks=marks, title=title, main=2))
    weak = result.proving_little or not_asked or (result.together and result.together.left_out)
    mark = "" if not marks else "❌ " if not result.passed else "⚠ " if weak else "✅ "
    summary = result.summary + (f"; not checked: {_unasked(sources, not_asked)}" if not_asked else "")
    facts = tuple(_facts_of_gate(result, sources, not_asked, summary))
    return Report(tuple(tables), facts, mark + summary, subject=result)


def _unasked(sources: str, not_asked: Sequence[str]) -> str:
    return f"{' and '.join(not_asked)} of {sources}: there is no baseline"


def _table_of_gate(
    key: str,
    label: Column,
    columns: Sequence[Column],
    checks: Sequence[Check],
    *,
    marks: bool,
    title: str = "",
    main: int = 0,
) -> Table:
    """Return a table of checks, with their strata if some have one."""
    if marks:
        columns = [
            replace(one, of=lambda check: MARKS[_result(check)]) if one.of is _result else one for one in columns
        ]
    has_strata = any(check.by for check in checks)
    stratum = Column("stratum", "stratum", lambda check: check.stratum if check.by else ALL)
    return tabulate(
        key,
        (label, stratum) if has_strata else (label,),
        columns,
        checks,
        has_blocks=has_strata,
        title=title,
        main=main,
    )


def _describe_unchanged(result: GateResult) -> str:
    """Ask whether the newest save in a folder is of the run itself, where no value differs from it."""
    if not result.is_unchanged or not result.baseline_file:
        return ""
    return "every query has the same value as in the baseline: is it a save of this run itself?"


def _describe_baseline(result: GateResult) -> str:
    """Say which save a folder had for the baseline; nothing where a file was named."""
    if not result.baseline_file:
        return ""
    return f"{result.baseline_file}, the newest save that fits"


def _facts_of_gate(result: GateResult, sources: str, not_asked: Sequence[str], summary: str) -> Iterator[Fact]:
    evaluation, weak, failed = result.evaluation, result.proving_little, result.failures
    kept = (
        "checked together, as asked"
        if result.options.pool_languages
        else "checked apart; --pool-languages checks them together"
    )
    by = "; by ".join(dict.fromkeys(check.by for check in result.checks if check.by))
    over_all = f", beside {ALL}, which is over all queries" if any(not check.by for check in result.checks) else ""
    is_beyond = any(check.is_beyond for check in result.checks)
    yield from (
        Fact("deadheat", __version__),
        Fact("name", result.name),
        Fact("passed", result.passed),
        Fact("summary", summary),
        Fact("proves_little", {check.title: check.reason for check in weak}),
        *(warning(check.weakness, f"{check.title}: {check.because}") for check in weak),
        warning(FAILED, "; ".join(check.title for check in failed)),
        *(warning("note", f"{check.title}: {check.reason}") for check in failed if not _is_plain(check)),
        *_worst(failed),
        said(BEYOND, "cannot be reached: beyond what the ideal ranking has (at best)" if is_beyond else ""),
        Fact("sources", sources or None, "gates", f"from {sources}" if sources else ""),
        Fact(
            "not_asked",
            list(not_asked),
            "not checked",
            _unasked(sources, not_asked) if not_asked else "",
            is_warning=True,
        ),
        Fact("baseline_file", result.baseline_file or None, "baseline", _describe_baseline(result)),
        Fact("unchanged", result.is_unchanged, "note", _describe_unchanged(result), is_warning=True),
        Fact("n_queries", result.n_queries, "queries", f"{result.n_queries:,}"),
        Fact("notes", list(evaluation.notes), "data", "; ".join(evaluation.notes)),
        *tell_unshared([evaluation], evaluation.conventions.missing, is_alone=True, is_note=False),
        *weighted(evaluation),
        *helped([evaluation]),
        *doubted_names(evaluation[name].measure for name in dict.fromkeys(check.measure for check in result.checks)),
        *_sizes(result),
        Fact(
            "ties",
            evaluation.ties,
            "ties",
            f"{evaluation.ties}: {EXPLAINED[evaluation.ties]}",
            is_warning=evaluation.ties == "random",
        ),
        Fact("options", {name: getattr(result.options, name) for name in OPTIONS} | {"rng": whole(result.options.rng)}),
        said(
            "judgments",
            ""
            if all(check.is_regression for check in result.checks)
            else "at best: the value of the ideal ranking of the judged documents, over the same queries"
            + "; of an interval its end" * any(check.method for check in result.checks),
        ),
        Fact(
            "languages",
            list(result.languages),
            "languages",
            f"{', '.join(result.languages)}: {kept}" if result.languages else "",
        ),
        said(
            "strata",
            f"by {by}{over_all}; p values and intervals are corrected over the strata of each check" if by else "",
        ),
        *_intervals(result),
        *_baseline(result),
    )


def _worst(failures: Sequence[Check]) -> list[Fact]:
    """Name the queries behind the first failures, once for those that they share."""
    found = collected((check.worst, check.title) for check in failures if check.worst)
    named = (warning("worst", f"{', '.join(titles)}: {worst}") for worst, titles in [*found.items()][:NAMED])
    return [*named, said("worst", f"of {len(found) - NAMED} more in json" if len(found) > NAMED else "")]


def _sizes(result: GateResult) -> Iterator[Fact]:
    """Name the measures that some queries have no value of."""
    fewer = [check for check in result.checks if not check.by and check.n_queries < result.n_queries]
    found = collected(((check.n_queries, " in both" * check.is_regression), check.measure) for check in fewer)
    for (n_queries, both), names in found.items():
        over = f"over the {counted(n_queries, 'query', 'queries')} with a value{both}"
        yield said("note", f"{', '.join(dict.fromkeys(names))}: {over}")


def _is_plain(check: Check) -> bool:
    """Tell whether the numbers in the table explain a failure: they can be told apart."""
    if check.is_beyond or "unknown" in check.causes:
        return False
    if not check.is_regression:
        return format_cell(check.value) not in {format_cell(None), format_cell(check.threshold)}
    has_p = check.p_value is not None and not math.isnan(check.p_value)
    return has_p and check.question == "no_regression" and "skewed gains" not in check.causes


def _intervals(result: GateResult) -> tuple[Fact, Fact]:
    options, checks = result.options, [check for check in result.checks if check.method]
    together = " for all strata of a check together (Bonferroni)" * any(check.by for check in checks)
    made = estimated_by(
        ((check.measure, check.method) for check in checks),
        "queries" if options.cluster is None else "clusters",
        options.n_resamples,
        whole(options.rng),
    )
    level = f"{100 * options.confidence_level:.6g}%{together}"
    sizes = [one.n_queries for one in checks if one.method in BOOTSTRAPS and one.n_queries >= FEWEST]
    narrow = too_narrow(min(sizes), *UNIT) if sizes and options.cluster is None else ""
    return said("intervals", f"{level}, {made}{_clusters(result)}" if checks else ""), warning("intervals", narrow)


def _clusters(result: GateResult) -> str:
    cluster = result.options.cluster
    return "" if cluster is None else ", by clusters" if cluster == "given" else f", by clusters: {cluster}"


def _baseline(result: GateResult) -> list[Fact]:
    options, has_baseline = result.options, result.baseline is not None
    asked, margin = has_baseline and options.no_regression, options.no_worse_than if has_baseline else None
    holm = ", Holm over strata" if any(check.p_adjusted is not None and check.by for check in result.checks) else ""
    test = f"one-sided paired t test, alpha {options.alpha:g}, each measure by itself{holm}{_clusters(result)}"
    level = f"one-sided, {100 * (1 - options.alpha):.6g}%"
    apart = f"{', '.join(result.not_compared)}: in {result.name} or in {result.baseline}, not in both"
    return [
        Fact("baseline", result.baseline),
        Fact("not_compared", list(result.not_compared)),
        *brought_together(result.together),
        *tell_geometric(check.measure for check in result.checks if check.is_regression),
        said("regression", f"fails a mean that is significantly worse: {test}" if asked else ""),
        said(
            "detectable",
            "the loss that would be found with a power of 80%; a smaller one may well go unseen" if asked else "",
        ),
        said("bound", f"of the difference on its better side, {level}" if asked else ""),
        said(
            "no worse", "" if margin is None else f"fails unless a loss of {margin:.15g} or more is ruled out: {test}"
        ),
        said("bound", "" if margin is None else f"of the difference on its worse side, {level}"),
        said("not compared", apart if result.not_compared else ""),
    ]
