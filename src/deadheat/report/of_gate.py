"""The report of gates: what was checked, what came of it, and against what."""

from __future__ import annotations

import math
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING

from deadheat.io.values import counted
from deadheat.report.conventions import COUNTED, EXPLAINED, LEFT_OUT
from deadheat.report.model import Column, Fact, Report, Row, Table, p_value
from deadheat.report.numbers import format_cell, three

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deadheat.evaluation import Evaluation
    from deadheat.gates import Check, GateResult
    from deadheat.report.model import Cell

PASSED, FAILED = "passed", "failed"
MARKS = {PASSED: "✅ passed", FAILED: "❌ failed"}
THRESHOLDS = (
    Column("value", "value"),
    Column("threshold", "threshold"),
    Column("result", "result"),
    Column("measure", "measure", is_data=True),
    Column("quantity", "quantity", is_data=True),
    Column("operator", "operator", is_data=True),
    Column("n_queries", "queries", is_data=True),
    Column("reason", "reason", is_data=True),
)
REGRESSIONS = (
    Column("baseline", "baseline", spare=2),
    Column("mean", "mean", spare=1),
    Column("difference", "difference"),
    Column("bound", "bound", spare=3),
    Column("p_value", "p value"),
    Column("result", "result"),
    Column("gate", "gate", is_data=True),
    Column("n_queries", "queries", is_data=True),
    Column("reason", "reason", is_data=True),
)


def report_gate(result: GateResult, evaluation: Evaluation, *, sources: str = "", marks: bool = False) -> Report:
    """Return the report of checked gates.

    Parameters
    ----------
    result : GateResult
    evaluation : Evaluation
        What was checked.
    sources : str, default ""
        Where the gates come from, if that is a file.
    marks : bool, default False
        Whether the results have a check mark or a cross.
    """
    thresholds = [check for check in result.checks if not check.is_regression]
    regressions = [check for check in result.checks if check.is_regression]
    words = MARKS if marks else {PASSED: PASSED, FAILED: FAILED}
    tables = []
    if thresholds:
        rows = tuple(Row((check.gate,), (_threshold(check, words),)) for check in thresholds)
        tables.append(Table("checks", (Column("gate", "gate"),), THRESHOLDS, rows))
    if regressions:
        rows = tuple(Row((check.measure,), (_regression(check, words),)) for check in regressions)
        title = f"Against {result.baseline}"
        tables.append(Table("regressions", (Column("measure", "measure"),), REGRESSIONS, rows, title=title, main=2))
    mark = f"{'✅' if result.passed else '❌'} " if marks else ""
    return Report(tuple(tables), tuple(_facts(result, evaluation, sources)), mark + result.summary)


def _threshold(check: Check, words: dict[str, str]) -> tuple[Cell, ...]:
    shown = (check.value, check.threshold, _result(check, words))
    return (*shown, check.measure, check.quantity, check.operator, check.n_queries, check.reason)


def _regression(check: Check, words: dict[str, str]) -> tuple[Cell, ...]:
    shown = (check.baseline_mean, check.mean, check.value, check.bound, p_value(check.p_value), _result(check, words))
    return (*shown, check.gate, check.n_queries, check.reason)


def _result(check: Check, words: dict[str, str]) -> str:
    return words[PASSED if check.passed else FAILED]


def _facts(result: GateResult, evaluation: Evaluation, sources: str) -> Iterator[Fact]:
    yield Fact("deadheat", version("deadheat"))
    yield Fact("name", result.name)
    yield Fact("passed", result.passed)
    failed = "; ".join(check.gate for check in result.failures)
    yield Fact("", None, FAILED, failed, is_warning=True)
    for check in result.checks:
        if not _is_plain(check):
            yield Fact("", None, "note", f"{check.gate}: {check.reason}", is_warning=not check.passed)
    yield Fact("sources", sources or None, "gates", f"from {sources}" if sources else "")
    yield Fact("n_queries", result.n_queries, "queries", f"{result.n_queries:,}")
    for key, heading, ids, effect in (
        ("missing_queries", "missing queries", evaluation.missing_queries, COUNTED[evaluation.conventions.missing]),
        ("unjudged_queries", "unjudged queries", evaluation.unjudged_queries, LEFT_OUT),
    ):
        yield Fact(key, list(ids), heading, f"{len(ids):,} ({three(ids)}), {effect}" if ids else "")
    yield Fact("ties", evaluation.ties, "ties", EXPLAINED[evaluation.ties])
    yield Fact("options", asdict(result.options))
    yield from _intervals(result)
    yield from _baseline(result)


def _is_plain(check: Check) -> bool:
    """Tell whether the table says all there is to say: numbers that can be told apart, or no surprise."""
    if check.is_regression:
        return not check.reason or not (check.passed or check.p_value is None or math.isnan(check.p_value))
    return check.passed or format_cell(check.value) not in {format_cell(None), format_cell(check.threshold)}


def _intervals(result: GateResult) -> Iterator[Fact]:
    options = result.options
    if any(check.quantity in {"low", "high"} for check in result.checks):
        drawn = "" if options.method == "t" else f", {counted(options.n_resamples, 'resample')}"
        level = f"{100 * options.confidence_level:.6g}%"
        yield Fact("", None, "intervals", f"{level}, {options.method}{drawn}{_clusters(result)}")


def _clusters(result: GateResult) -> str:
    cluster = result.options.cluster
    return "" if cluster is None else ", by clusters" if cluster == "given" else f", by clusters: {cluster}"


def _baseline(result: GateResult) -> Iterator[Fact]:
    options = result.options
    yield Fact("baseline", result.baseline)
    yield Fact("not_compared", list(result.not_compared))
    if result.baseline is None:
        return
    more = f" by more than {options.no_worse_than:.15g}" if options.no_worse_than else ""
    text = (
        f"{result.baseline}; a mean fails that is significantly worse{more}: one-sided paired t test,"
        f" alpha {options.alpha:g}, each measure by itself{_clusters(result)}"
    )
    yield Fact("", None, "baseline", text)
    yield Fact("", None, "bound", f"of the difference on its better side, one-sided, {100 * (1 - options.alpha):.6g}%")
    for check in result.checks:
        if check.is_regression and check.n_queries < result.n_queries:
            text = f"{check.measure}: over the {counted(check.n_queries, 'query', 'queries')} with a value in both"
            yield Fact("", None, "note", text)
    if result.not_compared:
        text = f"{', '.join(result.not_compared)}: in {result.name} or in {result.baseline}, not in both"
        yield Fact("", None, "not compared", text)
