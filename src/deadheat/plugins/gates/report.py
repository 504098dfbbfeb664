"""The report of gates: what was checked, what failed and why, and which passes prove little."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from deadheat.core.evaluation.evaluation import UNKNOWN
from deadheat.core.evaluation.intervals import FEW, FEWEST
from deadheat.core.report.cells import BEYOND, NumberCell, format_cell, p_value_cell
from deadheat.core.report.conventions import (
    TIE_POLICIES,
    tell_doubted_names,
    tell_reconciled,
    tell_shared_weights,
    tell_weights_of,
)
from deadheat.core.report.data_facts import tell_unshared
from deadheat.core.report.interval_facts import BOOTSTRAPS, describe_methods, warn_of_narrow_bootstrap
from deadheat.core.report.model import (
    MEASURE,
    Column,
    Fact,
    Report,
    Table,
    note_fact,
    prose_fact,
    registers_report,
    tabulate,
    warning_fact,
)
from deadheat.core.report.report_parts import tell_parts
from deadheat.core.report.totals import tell_geometric
from deadheat.core.scalars import as_integer
from deadheat.core.structures import group_values
from deadheat.core.wording import UNIT, format_count, format_list
from deadheat.plugins.gates.notation import Check, GateResult
from deadheat.version import __version__

PASSED, WEAK, FAILED = "passed", "weak pass", "failed"
MARKS = {PASSED: "✅ passed", WEAK: "⚠ passed, proves little", FAILED: "❌ failed"}
OPTIONS = (
    *("no_regression", "no_worse_than", "alpha", "confidence_level", "method", "n_resamples", "cluster", "by"),
    *("pool_languages", "allow_unknown"),
)
ALL = "(all)"  # the stratum of checks over all queries, beside those of strata
MOST_FAILURES = 3  # whose worst queries are named
PLAIN_CAUSES = {"worse", "significant", "not ruled out"}  # of a failure, which p and bound in the table say
UNSEEN, UNSEEN_CAUSES = "a loss below detectable may go unseen", {"power", "not significant"}
# the questions that a baseline is asked: their tables in JSON, their titles, and the columns that people do not need
TABLES_OF_BASELINE = {
    "no_regression": ("regressions", "No regression", ()),
    "no_worse_than": ("no_worse_than", "No loss of {:.15g} or more", ("detectable",)),
}


def _result(check: Check) -> str:
    if not check.passed:
        return FAILED
    if check.proves_little:
        return WEAK
    return PASSED


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
    Column("p_value", "p value", lambda check: p_value_cell(check.p_value)),
    Column("p_adjusted", "p adjusted", lambda check: p_value_cell(check.p_adjusted)),
    Column("detectable", "detectable"),
    Column("n_queries", "queries"),
    Column("result", "result", _result),
    Column("gate", "gate", is_data=True),
    *REASON,
)


@registers_report(GateResult, in_brief=True)
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
    for question, (key, asked, spared) in TABLES_OF_BASELINE.items():
        if checks := [check for check in result.checks if check.question == question]:
            hidden = {*spared, "p_value" if any(check.by for check in checks) else "p_adjusted"}
            columns = [replace(one, is_data=one.is_data or one.key in hidden) for one in REGRESSIONS]
            title = f"{asked.format(result.options.no_worse_than)} against {result.baseline}"
            tables.append(_table_of_gate(key, MEASURE, columns, checks, marks=marks, title=title, main=2))
    weak = result.proving_little or not_asked or (result.together and result.together.left_out)
    mark = "" if not marks else "❌ " if not result.passed else "⚠ " if weak else "✅ "
    summary = result.summary + (f"; not checked: {_unasked(sources, not_asked)}" if not_asked else "")
    facts = tuple(_facts_of_gate(result, sources, not_asked, summary))
    headline = _headline_of_gate(result)
    if not_asked:
        headline += f"; not checked: {_unasked(sources, not_asked)}"
    return Report(tuple(tables), facts, mark + headline, subject=result)


def _headline_of_gate(result: GateResult) -> str:
    """Return how many gates passed or failed, and of how many a pass proves little."""
    gates = format_count(len(result.checks), "gate")
    if result.failures:
        return f"{result.name}: {len(result.failures)} of {gates} failed"
    text = f"{result.name}: {gates} passed"
    weak = [check.weakness.removeprefix("proves ") for check in result.proving_little]
    if weak:
        verb = "proves" if len(weak) == 1 else "prove"
        text += f", {len(weak)} of which {verb} {' or '.join(sorted(set(weak)))}"
    lost = result.together.left_out if result.together else ()
    return text + (f"; not compared: {', '.join(lost)}" if lost else "")


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
    """Give what is said of gates beside their tables."""
    weak = result.proving_little
    yield Fact("deadheat", __version__)
    yield Fact("name", result.name)
    yield Fact("passed", result.passed)
    yield Fact("summary", summary)
    yield Fact("proves_little", {check.title: check.reason for check in weak})
    yield from _describe_weak(weak)
    for check in result.failures:
        if not _is_plain(check):
            yield warning_fact("note", f"{check.title}: {check.reason}")
    yield from _name_worst(result.failures)
    beyond = ""
    if any(check.is_beyond for check in result.checks):
        beyond = "cannot be reached: beyond what the ideal ranking has (at best)"
    yield replace(prose_fact(BEYOND, beyond), brief=beyond)
    yield Fact("sources", sources or None, "gates", f"from {sources}" if sources else "")
    unasked = _unasked(sources, not_asked) if not_asked else ""
    yield Fact("not_asked", list(not_asked), "not checked", unasked, is_warning=True)
    baseline_file = _describe_baseline(result)
    yield Fact("baseline_file", result.baseline_file or None, "baseline", baseline_file, brief=baseline_file)
    yield from tell_shared_weights(result.shared_weights)
    yield Fact("unchanged", result.is_unchanged, "note", _describe_unchanged(result), is_warning=True)
    yield from _facts_of_data(result)
    yield from _facts_of_conventions(result)
    yield from _intervals(result)
    yield from _baseline(result)
    yield _tell_few_units(result)
    yield _tell_ties_at_threshold(result)


def _facts_of_data(result: GateResult) -> Iterator[Fact]:
    """Give what is said of the queries and judgments."""
    evaluation = result.evaluation
    notes = "; ".join(evaluation.notes)
    yield Fact("n_queries", result.n_queries, "queries", f"{result.n_queries:,}")
    yield Fact("notes", list(evaluation.notes), "data", notes, brief=notes)
    yield from tell_unshared([evaluation], evaluation.conventions.missing, is_alone=True, is_note=False)
    yield from tell_weights_of(evaluation)
    yield from tell_parts([evaluation])
    measures = [evaluation[name].measure for name in dict.fromkeys(check.measure for check in result.checks)]
    yield from tell_doubted_names(measures)
    yield from _sizes(result)


def _facts_of_conventions(result: GateResult) -> Iterator[Fact]:
    """Give what is said of ties, of the options, and of the strata in which gates are checked."""
    ties = result.evaluation.ties
    is_doubtful = ties in {"random", UNKNOWN}
    yield Fact("ties", ties, "ties", f"{ties}: {TIE_POLICIES[ties]}", is_warning=is_doubtful)
    options: dict[str, object] = {name: getattr(result.options, name) for name in OPTIONS}
    options["rng"] = as_integer(result.options.rng)
    yield Fact("options", options)
    yield prose_fact("at best", _describe_at_best(result))
    languages = ""
    if result.languages:
        languages = f"{', '.join(result.languages)}: checked apart; --pool-languages checks them together"
        if result.options.pool_languages:
            languages = f"{', '.join(result.languages)}: checked together, as asked"
    yield Fact("languages", list(result.languages), "languages", languages)
    by = "; by ".join(dict.fromkeys(check.by for check in result.checks if check.by))
    yield prose_fact("strata", f"by {by}; corrected over the strata of each check" if by else "")


def _describe_at_best(result: GateResult) -> str:
    """Say what the best value of a threshold is of; nothing where all gates are regressions."""
    if all(check.is_regression for check in result.checks):
        return ""
    if any(check.method for check in result.checks):
        return "of the ideal ranking; of an interval its end"
    return "of the ideal ranking"


def _describe_weak(checks: Sequence[Check]) -> Iterator[Fact]:
    """Say why gates that passed prove little: once for those with the same reason."""
    found = group_values(
        ((check.weakness, UNSEEN if UNSEEN_CAUSES.issuperset(check.causes) else check.because), check.title)
        for check in checks
    )
    for (weakness, why), titles in found.items():
        yield warning_fact(weakness, f"{format_list(titles)}: {why}")


def _name_worst(failures: Sequence[Check]) -> list[Fact]:
    """Name the queries behind the first failures, once for those that they share."""
    found = group_values((check.worst, check.title) for check in failures if check.worst)
    facts = [warning_fact("worst", f"{', '.join(titles)}: {worst}") for worst, titles in found.items()]
    n_more = len(found) - MOST_FAILURES
    return [*facts[:MOST_FAILURES], prose_fact("worst", f"of {n_more} more in json" if n_more > 0 else "")]


def _tell_few_units(result: GateResult) -> Fact:
    """Say that a p near alpha decides nothing where a comparison has few queries or clusters.

    With fewer than `FEWEST` a check says by itself that it proves nothing.
    """
    units = "queries" if result.options.cluster is None else "clusters"
    few = [check for check in result.checks if check.n_units is not None and FEWEST <= check.n_units < FEW]
    tested = [check for check in few if check.p_value is not None and 0 < check.p_value < 1]
    if not tested:
        return note_fact("few", "")
    text = f"with so few {units} a p near {result.options.alpha:.3g} decides nothing"
    if len(tested) < len(result.checks):
        text += f": {format_list([check.title for check in tested])}"
    return replace(note_fact(f"few {units}", text), brief=text)


def _tell_ties_at_threshold(result: GateResult) -> Fact:
    """Name the thresholds that some orders of the ties reach and others do not, and between what the values are."""
    named = []
    for check in result.checks:
        if check.tie_range is not None:
            low, high = check.tie_range
            named.append(f"{check.title} ({low:.4g} to {high:.4g})")
    text = f"can reverse {format_list(named)}" if named else ""
    return replace(note_fact("tie order", text), brief=text)


def _sizes(result: GateResult) -> Iterator[Fact]:
    """Name the measures that some queries have no value of."""
    fewer = [check for check in result.checks if not check.by and check.n_queries < result.n_queries]
    found = group_values(((check.n_queries, " in both" * check.is_regression), check.measure) for check in fewer)
    for (n_queries, both), names in found.items():
        over = f"over the {format_count(n_queries, 'query', 'queries')} with a value{both}"
        yield note_fact("note", f"{', '.join(dict.fromkeys(names))}: {over}")


def _is_plain(check: Check) -> bool:
    """Tell whether the numbers and marks in the table explain a failure: they can be told apart."""
    if "unknown" in check.causes:
        return False
    if not check.is_regression:
        return format_cell(check.value) not in {format_cell(None), format_cell(check.threshold)}
    has_p = check.p_value is not None and not math.isnan(check.p_value)
    return has_p and PLAIN_CAUSES.issuperset(check.causes)


def _intervals(result: GateResult) -> tuple[Fact, Fact]:
    options, checks = result.options, [check for check in result.checks if check.method]
    together = " for all strata of a check together (Bonferroni)" * any(check.by for check in checks)
    made = describe_methods(
        ((check.measure, check.method) for check in checks),
        "queries" if options.cluster is None else "clusters",
        options.n_resamples,
        as_integer(options.rng),
    )
    level = f"{100 * options.confidence_level:.6g}%{together}"
    sizes = [one.n_queries for one in checks if one.method in BOOTSTRAPS and one.n_queries >= FEWEST]
    narrow = warn_of_narrow_bootstrap(min(sizes), *UNIT) if sizes and options.cluster is None else ""
    return prose_fact("intervals", f"{level}, {made}{_clusters(result)}" if checks else ""), warning_fact(
        "intervals", narrow
    )


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
        *tell_reconciled(result.together),
        *tell_geometric(check.measure for check in result.checks if check.is_regression),
        prose_fact("test", test if has_baseline else ""),
        prose_fact("detectable", "loss found with 80% power" if asked else ""),
        prose_fact("bound", f"better side of the difference, {level}" if asked else ""),
        prose_fact("bound", "" if margin is None else f"worse side of the difference, {level}"),
        note_fact("not compared", apart if result.not_compared else ""),
    ]
