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
    moved = []
    if fell:
        moved.append(tabulate("queries", labels, columns, fell, title=title, has_blocks=True, is_extra=True))
    if not for_people:
        rows = [{"step": str(n // len(found.measures) + 1), **row} for n, row in enumerate(found.rows())]
        return Report((table_of_rows("history", ("step", MEASURE), rows), *moved), tuple(_facts(found)))
    headline, summary = _describe_last_steps(found)
    tables = (_table(found, measure) for measure in found.measures)
    return Report((*tables, *moved), tuple(_facts(found)), headline=headline, summary=summarise(summary))


def _describe_last_steps(found: History) -> tuple[str, dict[str, str]]:
    """Return what the last step did to the first measure, and facts: each measure, since when, which queries.

    Of systems that take turns, the last step of each.
    """
    if len(found.steps) < 2:
        return "One evaluation: there is nothing to compare it with.", {}
    first = found.measures[0]
    last, *earlier = (n for n in reversed(range(len(found.steps))) if n not in found.before)
    facts = {_label_of(found, measure, last): _describe_step(found, measure, last) for measure in found.measures}
    for place in earlier:
        facts[_label_of(found, first, place)] = _describe_step(found, first, place)
    changes = _describe_last_changes(found)
    if changes:
        facts["last change"] = changes
    for kind in ("fell", "rose"):
        rows = found.queries(MOST_BRIEF).filter(measure=first, kind=kind).to_dicts()
        if rows:
            facts[kind] = f"{first}: " + ", ".join(
                f"{row['query_id']} {format_signed(row['difference'])}" for row in rows
            )
    return f"{_headline_of_step(found, first, last)}.", facts


def _label_of(found: History, measure: str, place: int) -> str:
    return f"{measure} of {found.steps[place].name}" if found.take_turns else measure


def _why_incomparable(found: History, measure: str, place: int) -> str:
    """Return why the mean of a step has no difference from the one before; empty if it has one."""
    pair = found.since[measure][place]
    if math.isnan(found.mean_of(place, measure)):
        return "no value"
    if pair is None:
        return "the first of its system" if found.before[place] is None else "under other judgments than before"
    return "" if pair.n_queries else "over other queries than before"


def _level_of(found: History, measure: str, place: int, pair: Pair) -> str:
    """Return the mean of a step: over the queries that it shares with the one before, if it has others too."""
    if not has_other_queries(found, measure, place):
        return f"{found.mean_of(place, measure):.4f}"
    shared_mean = pair.mean * pair.n_queries if measure in found.totals else pair.mean
    return f"{shared_mean:.4f} over the {format_count(pair.n_queries, 'shared query', 'shared queries')}"


def _headline_of_step(found: History, measure: str, place: int) -> str:
    """Return what a step did to a mean, and whether that is more than chance."""
    label, pair = _label_of(found, measure, place), found.since[measure][place]
    why = _why_incomparable(found, measure, place)
    if why == "no value":
        return f"{label} has no value"
    if why or pair is None:
        return f"{label} is {found.mean_of(place, measure):.4f}, {why}"
    level = _level_of(found, measure, place, pair)
    if abs(pair.difference) <= NOISE:
        return f"{label} is as before, {level}"
    moved = abs(found.difference_of(pair))
    what = f"{'rose' if pair.difference > 0 else 'fell'} by {format_rounded(moved, 4)}{unit_of(measure)}"
    sure = "by more than chance" if pair.significant else "not by more than chance"
    return f"{label} {what} to {level}, {sure}"


def _describe_step(found: History, measure: str, place: int) -> str:
    """Return the mean of a step, its difference from the one before, p and the queries."""
    mean, pair = found.mean_of(place, measure), found.since[measure][place]
    why = _why_incomparable(found, measure, place)
    if why == "no value":
        return why
    if why or pair is None:
        return f"{mean:.4f}, {why}"
    level = _level_of(found, measure, place, pair)
    parts = [f"{level}, as before"]
    if abs(pair.difference) > NOISE:
        p = format_p_value(pair.p_adjusted).removeprefix("= ")
        parts = [f"{format_signed(found.difference_of(pair))}{unit_of(measure)} to {level}", f"p adj {p}"]
    queries = format_count(pair.n_queries, "query", "queries")
    if pair.n_effective is not None and f"{pair.n_effective:.1f}" != f"{pair.n_queries:.1f}":
        parts.append(f"{queries} worth {pair.n_effective:.1f}")
    elif not has_other_queries(found, measure, place):
        parts.append(queries)
    n_all = found.steps[place].means[measure]["n_queries"]
    if pair.n_queries < n_all:
        parts.append(f"{mean:.4f} over all {n_all:,} queries")
    return ", ".join(parts)


def _describe_last_changes(found: History) -> str:
    """Say since when each measure is what it is: its last significant step, unless that is the last of all."""
    texts = []
    for measure, pairs in found.since.items():
        places = [n for n, pair in enumerate(pairs) if pair is not None and pair.significant]
        if places and places[-1] < len(found.steps) - 1:
            pair = pairs[places[-1]]
            step = found.steps[places[-1]]
            when = step.origin.time[:MINUTE].replace("T", " ")
            called = step.origin.label or step.name
            difference = format_signed(found.difference_of(pair)) if pair is not None else ""
            texts.append(f"{measure} {difference}{unit_of(measure)} in {called}, {when}")
    return "; ".join(texts)


def _effective_number_cell(row: Mapping[str, Any]) -> NumberCell:
    """Return the cell of how many queries of equal weight a mean is worth; empty in a step without weights."""
    n_effective = row["n_effective"]
    if n_effective is None:
        n_effective = math.nan
    return NumberCell(n_effective, "worth")


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
            "p": p_value_cell(row["p_adjusted"], is_significant=bool(row["significant"])),
            "when": row["time"].replace("T", " ")[:shown],
            "what": " ".join(
                dict.fromkeys(filter(None, (row["name"] if several else "", row["label"], row["commit"][:COMMIT])))
            ),
            "judged": ("" if row["comparable"] else "# ") + ("changed" if row["changed"] else ""),
        }
        for row in found.rows()
        if row["measure"] == measure
    ]
    columns = [Column("n_queries", "queries")]
    if any(row["n_effective"] is not None for row in rows):
        columns.append(Column("n_effective", "worth", _effective_number_cell, spare=3))
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
    if found.to_reference:
        columns.append(Column("reference", "to reference", lambda row: row["reference_difference"], spare=1))
    if any(row["judged"] for row in rows):
        columns.append(Column("judged", "judgments", spare=1))
    labels = (Column("what", ""), Column("when", "time"))
    return tabulate(f"history_{measure}", labels, columns, rows, title=measure, main=1)


def _facts(found: History) -> list[Fact]:
    names = dict.fromkeys(step.name for step in found.steps)
    n_tests = max((sum(one is not None for one in pairs) for pairs in found.since.values()), default=0)
    facts = [
        Fact("n_steps", len(found.steps), "evaluations", f"{len(found.steps):,} of {', '.join(names)}"),
        *tell_geometric(found.measures),
        *_tell_weights(found),
    ]
    if found.reference is not None:
        file = format_path(found.steps[found.reference].file)
        facts.append(Fact("reference", file, "reference", file, brief=file))
    facts.append(prose_fact("interval", "of the mean, at the level at which it was saved (by default 95%)"))
    if n_tests:
        before = "the one before of the same system" if found.take_turns else "the one before"
        over = f"corrected by Holm over {format_count(n_tests, 'step')}"
        facts.append(prose_fact("test", f"{found.design.test}, each step against {before}; {over}"))
        level = f"p below {1 - found.design.confidence_level:.3g}"
        is_marked = any(pair is not None and pair.significant for pairs in found.since.values() for pair in pairs)
        facts.append(replace(prose_fact(MARK, level), brief=f"{level}, {over}" if is_marked else ""))
    changes = {step.origin.label or step.name: step.changed for step in found.steps if step.changed}
    if changes:
        texts = [f"{name}: {text}" for name, text in changes.items()]
        facts.append(note_fact("judgments", "; ".join(texts), brief=texts[-1]))
    if not all(step.is_comparable for step in found.steps):
        facts.append(note_fact("#", "under other judgments than the last: not comparable"))
    return facts + [note_fact("history", text) for text in found.notes]


def _tell_weights(found: History) -> list[Fact]:
    """Say that the means of the last step are weighted, if they are; totals are not."""
    last = found.steps[-1]
    weighted_measures = [measure for measure in found.measures if "n_effective" in last.means[measure]]
    if last.weights is None or not weighted_measures:
        return []
    has_value = ~np.isnan(last.values[weighted_measures[0]])
    facts = tell_weights(last.query_ids, last.weights, has_value)
    return [*facts, note_fact("weights", "queries that fell and rose: by weight times difference")]
