"""Reports of histories, of which each step is a row."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from deadheat.core.measures.notation import unit_of
from deadheat.core.report.cells import MARK, NumberCell, Span, p_value_cell
from deadheat.core.report.conventions import tell_weights
from deadheat.core.report.model import (
    MEASURE,
    QUERY,
    Column,
    Fact,
    Report,
    Table,
    note_fact,
    prose_fact,
    registers_report,
    summarise,
    table_of_rows,
    tabulate,
)
from deadheat.core.report.totals import tell_geometric
from deadheat.core.scalars import NOISE
from deadheat.core.wording import format_count, format_p_value, format_path, format_rounded
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.compare.verdict_facts import format_signed
from deadheat.plugins.weeks.history import History, has_other_queries

MOST = 5  # queries that fell, and that rose
MOST_BRIEF = 3  # of these in brief, by the first measure
COMMIT = 7  # characters of a commit
MINUTE, SECOND = 16, 19  # characters of a time


@registers_report(History, in_brief=True)
def report_history(history: History, *, for_people: bool = True) -> Report:
    """Return the report of a history.

    Parameters
    ----------
    history : History
    for_people : bool, default True
        Whether each measure has a table of its own; else one has all.
    """
    queries_tables = _tabulate_queries(history)
    facts = tuple(_list_facts(history))
    if not for_people:
        rows = []
        for n, row in enumerate(history.rows()):
            step = n // len(history.measures) + 1
            rows.append({"step": str(step), **row})
        table = table_of_rows("history", ("step", MEASURE), rows)
        return Report((table, *queries_tables), facts)
    headline, summary = _describe_last_steps(history)
    tables = [_tabulate_steps(history, measure) for measure in history.measures]
    return Report((*tables, *queries_tables), facts, headline=headline, summary=summarise(summary))


def _tabulate_queries(history: History) -> list[Table]:
    """Return the table of the queries that fell and rose at the last step; none if none did."""
    rows = history.queries(MOST).to_dicts()
    if not rows:
        return []
    columns = [Column("difference", "difference"), Column("value", "now")]
    if any(row["weight"] is not None for row in rows):
        columns.append(Column("weight", "weight"))
    labels = (MEASURE, Column("kind", ""), QUERY)
    title = "Queries of the last step"
    return [tabulate("queries", labels, columns, rows, title=title, has_blocks=True, is_extra=True)]


def _describe_last_steps(history: History) -> tuple[str, dict[str, str]]:
    """Return what the last step did to the first measure, and facts: each measure, since when, which queries.

    Of systems that take turns, the last step of each.
    """
    if len(history.steps) < 2:
        return "One evaluation: there is nothing to compare it with.", {}
    first_measure = history.measures[0]
    last_places = [place for place in range(len(history.steps)) if place not in history.before]  # one of each system
    *places_of_others, last = last_places
    facts: dict[str, str] = {}
    for measure in history.measures:
        facts[_label_step(history, measure, last)] = _describe_step(history, measure, last)
    for place in reversed(places_of_others):
        facts[_label_step(history, first_measure, place)] = _describe_step(history, first_measure, place)
    changes = _describe_last_changes(history)
    if changes:
        facts["last change"] = changes
    moved_queries = history.queries(MOST_BRIEF)
    for kind in ("fell", "rose"):
        rows = moved_queries.filter(measure=first_measure, kind=kind).to_dicts()
        if rows:
            queries = ", ".join(f"{row['query_id']} {format_signed(row['difference'])}" for row in rows)
            facts[kind] = f"{first_measure}: {queries}"
    return f"{_summarize_step(history, first_measure, last)}.", facts


def _label_step(history: History, measure: str, place: int) -> str:
    if not history.take_turns:
        return measure
    return f"{measure} of {history.steps[place].name}"


def _explain_missing_difference(history: History, measure: str, place: int) -> str:
    """Return why the mean of a step has no difference from the one before; empty if it has one."""
    pair = history.since[measure][place]
    if math.isnan(history.mean_of(place, measure)):
        return "no value"
    if pair is None:
        if history.before[place] is None:
            return "the first of its system"
        return "under other judgments than before"
    if not pair.n_queries:
        return "over other queries than before"
    return ""


def _format_mean(history: History, measure: str, place: int, pair: Pair) -> str:
    """Return the mean of a step: over the queries that it shares with the one before, if it has others too."""
    if not has_other_queries(history, measure, place):
        return f"{history.mean_of(place, measure):.4f}"
    shared_mean = pair.mean * pair.n_queries if measure in history.totals else pair.mean
    return f"{shared_mean:.4f} over the {format_count(pair.n_queries, 'shared query', 'shared queries')}"


def _summarize_step(history: History, measure: str, place: int) -> str:
    """Return what a step did to a mean, and whether that is more than chance."""
    label = _label_step(history, measure, place)
    pair = history.since[measure][place]
    why = _explain_missing_difference(history, measure, place)
    if why == "no value":
        return f"{label} has no value"
    if why or pair is None:
        return f"{label} is {history.mean_of(place, measure):.4f}, {why}"
    mean_text = _format_mean(history, measure, place, pair)
    if abs(pair.difference) <= NOISE:
        return f"{label} is as before, {mean_text}"
    verb = "rose" if pair.difference > 0 else "fell"
    size = f"{format_rounded(abs(history.difference_of(pair)), 4)}{unit_of(measure)}"
    sure = "by more than chance" if pair.significant else "not by more than chance"
    return f"{label} {verb} by {size} to {mean_text}, {sure}"


def _describe_step(history: History, measure: str, place: int) -> str:
    """Return the mean of a step, its difference from the one before, p and the queries."""
    mean = history.mean_of(place, measure)
    pair = history.since[measure][place]
    why = _explain_missing_difference(history, measure, place)
    if why == "no value":
        return why
    if why or pair is None:
        return f"{mean:.4f}, {why}"
    mean_text = _format_mean(history, measure, place, pair)
    parts = [f"{mean_text}, as before"]
    if abs(pair.difference) > NOISE:
        p = format_p_value(pair.p_adjusted).removeprefix("= ")
        parts = [f"{format_signed(history.difference_of(pair))}{unit_of(measure)} to {mean_text}", f"p adj {p}"]
    queries = format_count(pair.n_queries, "query", "queries")
    if pair.n_effective is not None and f"{pair.n_effective:.1f}" != f"{pair.n_queries:.1f}":
        parts.append(f"{queries} worth {pair.n_effective:.1f}")
    elif not has_other_queries(history, measure, place):
        parts.append(queries)
    n_all = history.steps[place].means[measure]["n_queries"]
    if pair.n_queries < n_all:
        parts.append(f"{mean:.4f} over all {n_all:,} queries")
    return ", ".join(parts)


def _describe_last_changes(history: History) -> str:
    """Say since when each measure is what it is: its last significant step, unless that is the last of all."""
    texts: list[str] = []
    for measure, pairs in history.since.items():
        last_change: Pair | None = None
        place_of_change = -1
        for place, pair in enumerate(pairs):
            if pair is not None and pair.significant:
                last_change = pair
                place_of_change = place
        if last_change is None or place_of_change == len(history.steps) - 1:
            continue
        step = history.steps[place_of_change]
        when = step.origin.time[:MINUTE].replace("T", " ")
        label = step.origin.label or step.name
        difference = format_signed(history.difference_of(last_change))
        texts.append(f"{measure} {difference}{unit_of(measure)} in {label}, {when}")
    return "; ".join(texts)


def _make_effective_number_cell(row: Mapping[str, Any]) -> NumberCell:
    """Return the cell of how many queries of equal weight a mean is worth; empty in a step without weights."""
    n_effective = row["n_effective"]
    if n_effective is None:
        n_effective = math.nan
    return NumberCell(n_effective, "worth")


def _tabulate_steps(history: History, measure: str) -> Table:
    """Return a row for each step by one measure."""
    shows_names = _needs_names(history)
    time_length = _choose_time_length(history)
    rows: list[dict[str, Any]] = []
    for row in history.rows():
        if row["measure"] == measure:
            cells = _make_cells(row, shows_names=shows_names, time_length=time_length)
            rows.append(row | cells)
    columns = [Column("n_queries", "queries")]
    if any(row["n_effective"] is not None for row in rows):
        columns.append(Column("n_effective", "worth", _make_effective_number_cell, spare=3))
    columns += [
        Column("mean", "mean"),
        Column("ci", "interval", spare=2, is_extra=True),
    ]
    if any(row["tie_min"] is not None and not math.isnan(row["tie_min"]) for row in rows):
        columns.append(Column("ties", "tie orders", ends=("tie_min", "tie_max"), spare=4, is_extra=True))
    columns += [
        Column("difference", "step"),
        Column("p", "p adj"),
    ]
    if any(row["n_shared"] not in {None, row["n_queries"]} for row in rows):
        columns.append(Column("n_shared", "in both"))
    if history.to_reference:
        columns.append(Column("reference", "to reference", lambda row: row["reference_difference"], spare=1))
    if any(row["judged"] for row in rows):
        columns.append(Column("judged", "judgments", spare=1))
    labels = (Column("what", ""), Column("when", "time"))
    return tabulate(f"history_{measure}", labels, columns, rows, title=measure, main=1)


def _needs_names(history: History) -> bool:
    """Tell whether label and commit alone do not tell the steps apart."""
    distinct = {(step.origin.label, step.origin.commit) for step in history.steps}
    return history.take_turns or len(distinct) < len(history.steps)


def _choose_time_length(history: History) -> int:
    """Return how many characters of a time are shown: to the minute, if that tells the steps apart."""
    distinct: set[tuple[str, ...]] = set()
    for step in history.steps:
        distinct.add((step.name, step.origin.label, step.origin.commit, step.origin.time[:MINUTE]))
    if len(distinct) == len(history.steps):
        return MINUTE
    return SECOND


def _make_cells(row: Mapping[str, Any], *, shows_names: bool, time_length: int) -> dict[str, Any]:
    """Return the cells of a step that are put together from several values."""
    interval = None
    if row["low"] is not None:
        interval = Span(row["low"], row["high"])
    names = [row["label"], row["commit"][:COMMIT]]
    if shows_names:
        names.insert(0, row["name"])
    distinct_names = dict.fromkeys(name for name in names if name)
    judged = ""
    if not row["comparable"]:
        judged += "# "
    if row["changed"]:
        judged += "changed"
    return {
        "ci": interval,
        "ties": Span(row["tie_min"], row["tie_max"]),
        "p": p_value_cell(row["p_adjusted"], is_significant=bool(row["significant"])),
        "when": row["time"].replace("T", " ")[:time_length],
        "what": " ".join(distinct_names),
        "judged": judged,
    }


def _list_facts(history: History) -> list[Fact]:
    names = dict.fromkeys(step.name for step in history.steps)
    facts = [
        Fact("n_steps", len(history.steps), "evaluations", f"{len(history.steps):,} of {', '.join(names)}"),
        *tell_geometric(history.measures),
        *_tell_weights(history),
    ]
    if history.reference is not None:
        file = format_path(history.steps[history.reference].file)
        facts.append(Fact("reference", file, "reference", file, brief=file))
    facts.append(prose_fact("interval", "of the mean, at the level at which it was saved (by default 95%)"))
    facts += _tell_tests(history)
    facts += _tell_changed_judgments(history)
    for text in history.notes:
        facts.append(note_fact("history", text))
    return facts


def _tell_tests(history: History) -> list[Fact]:
    """Say how steps are tested, and which are marked; nothing if none could be compared."""
    n_tests = 0
    is_marked = False
    for pairs in history.since.values():
        compared = [pair for pair in pairs if pair is not None]
        n_tests = max(n_tests, len(compared))
        is_marked = is_marked or any(pair.significant for pair in compared)
    if not n_tests:
        return []
    before = "the one before of the same system" if history.take_turns else "the one before"
    correction = f"corrected by Holm over {format_count(n_tests, 'step')}"
    level = f"p below {1 - history.design.confidence_level:.3g}"
    mark = prose_fact(MARK, level)
    if is_marked:
        mark = replace(mark, brief=f"{level}, {correction}")
    return [prose_fact("test", f"{history.design.test}, each step against {before}; {correction}"), mark]


def _tell_changed_judgments(history: History) -> list[Fact]:
    """Say where the judgments changed, and that steps under others are not comparable."""
    facts: list[Fact] = []
    changes = {step.origin.label or step.name: step.changed for step in history.steps if step.changed}
    if changes:
        texts = [f"{name}: {text}" for name, text in changes.items()]
        facts.append(note_fact("judgments", "; ".join(texts), brief=texts[-1]))
    if not all(step.is_comparable for step in history.steps):
        facts.append(note_fact("#", "under other judgments than the last: not comparable"))
    return facts


def _tell_weights(history: History) -> list[Fact]:
    """Say that the means of the last step are weighted, if they are; totals are not."""
    last = history.steps[-1]
    weighted_measures = [measure for measure in history.measures if "n_effective" in last.means[measure]]
    if last.weights is None or not weighted_measures:
        return []
    has_value = ~np.isnan(last.values[weighted_measures[0]])
    facts = tell_weights(last.query_ids, last.weights, has_value)
    return [*facts, note_fact("weights", "queries that fell and rose: by weight times difference")]
