"""The report of what differs between two sets of judgments."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from deadheat.core.report.cells import count_cell
from deadheat.core.report.conventions import tell_conventions
from deadheat.core.report.data_facts import describe_queries, tell_unshared
from deadheat.core.report.model import (
    MEASURE,
    QUERY,
    SYSTEM,
    Column,
    Fact,
    Report,
    Table,
    note_fact,
    registers_report,
    tabulate,
    warning_fact,
)
from deadheat.core.wording import format_count, format_exactly, format_list
from deadheat.plugins.weeks.diff import QrelsDiff

MOST_DOCUMENTS = 20  # that people are shown
MOST_CAUSES = 3  # queries of each system and measure that people are shown
MOST_GRADES = 8  # new grades that are columns; of more, each pair of an old and a new grade is a row
OLD = Column("old", "old")
NEW = Column("new", "new")


@registers_report(QrelsDiff, in_brief=True)
def report_diff(diff: QrelsDiff, *, for_people: bool = True) -> Report:
    """Return the report of two sets of judgments.

    Parameters
    ----------
    diff : QrelsDiff
    for_people : bool, default True
        Whether to list the first documents and queries only.
    """
    documents = diff.to_polars()
    causes = diff.causes
    if for_people:
        documents = documents.head(MOST_DOCUMENTS)
        causes = causes.group_by("measure", "system", maintain_order=True).head(MOST_CAUSES)
    tables = [_tabulate_grades(diff, for_people=for_people), _tabulate_documents(diff, documents)]
    if diff.evaluations:
        tables += [_tabulate_effects(diff.effects), _tabulate_causes(causes)]
    if for_people:
        tables = [table for table in tables if table.rows]
    sentences = [f"{diff.changes}.", *_describe_order(diff)]
    return Report(tuple(tables), tuple(_list_facts(diff, len(documents))), opening=" ".join(sentences))


def _tabulate_documents(diff: QrelsDiff, documents: pl.DataFrame) -> Table:
    """Return a row for each judgment that differs."""
    heading = "document" if diff.changes.judging_rule is None else "judged"
    return tabulate(
        "documents",
        (QUERY, Column("doc_id", heading)),
        (_make_count_column("old"), _make_count_column("new")),
        documents.to_dicts(),
        title="Judgments that differ",
    )


def _tabulate_effects(effects: pl.DataFrame) -> Table:
    """Return a row for each measure and system, with its means and ranks under both judgments."""
    columns = (
        OLD,
        NEW,
        Column("difference", "difference"),
        Column("old_rank", "old rank", spare=1),
        Column("new_rank", "new rank", spare=1),
        Column("n_new", "queries", spare=2),
        Column("n_old", "queries before", is_data=True),
    )
    title = "What that does to systems"
    return tabulate("effects", (MEASURE, SYSTEM), columns, effects.to_dicts(), title=title, has_blocks=True)


def _tabulate_causes(causes: pl.DataFrame) -> Table:
    """Return a row for each query that makes a difference to a system."""
    labels = (MEASURE, SYSTEM, QUERY, Column("kind", "judgments"))
    columns = (replace(OLD, spare=1), replace(NEW, spare=1), Column("part", "of the difference"))
    return tabulate("causes", labels, columns, causes.to_dicts(), title="Queries that cause it", has_blocks=True)


def _make_count_column(key: str) -> Column:
    """Return a column of grades, or of counts; empty where there is none."""
    return Column(key, key, lambda row: count_cell(row[key]))


def _tabulate_grades(diff: QrelsDiff, *, for_people: bool) -> Table:
    """Return how many judgments there are of each old and new grade."""
    frame = diff.changes.grades
    if for_people and frame["new"].n_unique() > MOST_GRADES:
        return _tabulate_pairs_of_grades(frame)
    counts = {(_format_grade(old), _format_grade(new)): n for old, new, n in frame.rows()}
    old_grades = _list_grades(frame["old"])
    new_grades = _list_grades(frame["new"])
    rows: list[dict[str, str | int | None]] = []
    for old_grade in old_grades:
        row: dict[str, str | int | None] = {"old": old_grade}
        for new_grade in new_grades:
            row[new_grade] = counts.get((old_grade, new_grade))
        rows.append(row)
    return tabulate(
        "grades",
        (Column("old", "old grade"),),
        [_make_count_column(grade) for grade in new_grades],
        rows,
        title="Judgments, by old grade (rows) and new grade (columns)",
    )


def _tabulate_pairs_of_grades(frame: pl.DataFrame) -> Table:
    """Return a row for each pair of an old and a new grade."""
    rows = []
    for old, new, n_judgments in frame.rows():
        rows.append({"old": _format_grade(old), "new": _format_grade(new), "n": n_judgments})
    return tabulate(
        "grades",
        (Column("old", "old grade"), Column("new", "new grade")),
        (Column("n", "judgments"),),
        rows,
        title="Judgments, by old and new grade",
    )


def _list_grades(grades: pl.Series) -> list[str]:
    """Return the grades that occur, ascending; last, if some judgment has none, "none"."""
    return [_format_grade(grade) for grade in grades.unique().sort(nulls_last=True)]


def _format_grade(grade: float | None) -> str:
    if grade is None:
        return "none"
    return format_exactly(grade)


def _describe_order(diff: QrelsDiff) -> list[str]:
    """Say by which measures systems change their order."""
    sentences: list[str] = []
    moved = diff.effects.filter(pl.col("old_rank") != pl.col("new_rank"))
    for (measure,), rows in moved.group_by("measure", maintain_order=True):
        moves = [f"{row['system']} from rank {row['old_rank']} to {row['new_rank']}" for row in rows.to_dicts()]
        sentences.append(f"By {measure} the order changes: {', '.join(moves)}.")
    if len(diff.evaluations) > 1 and not moved.height:
        sentences.append("The order of the systems stays.")
    return sentences


def _list_facts(diff: QrelsDiff, n_shown: int) -> list[Fact]:
    changes = diff.changes
    facts = [
        Fact("old", diff.old, "old", diff.old),
        Fact("new", diff.new, "new", diff.new),
        Fact("n_same", len(changes.same)),
        _tell_queries("changed", changes.changed),
        _tell_queries("added", changes.added),
        _tell_queries("gone", changes.gone),
        note_fact("judged", " became ".join(changes.rules)),
        _tell_judgments(changes.documents, n_shown),
    ]
    replaced = changes.find_replaced()
    pairs = format_list([f"{old!r} by {new!r}" for _, old, new in replaced])
    facts.append(Fact("replaced", [list(row) for row in replaced], "renamed?", pairs, is_note=True))
    unknown = diff.unknown_ids
    if unknown is not None:
        text = ""
        if unknown:
            text = f"lacks {format_count(len(unknown), 'document')}: {format_list(unknown)}"
        facts += [Fact("unknown_ids", list(unknown)), warning_fact("collection", text)]
    new_evaluations = [evaluation.called(name) for name, (_, evaluation) in diff.evaluations.items()]
    if new_evaluations:
        facts += tell_unshared(new_evaluations, new_evaluations[0].conventions.missing)
        facts += tell_conventions(new_evaluations)
    return facts


def _tell_queries(key: str, query_ids: Sequence[str]) -> Fact:
    text = ""
    if query_ids:
        text = describe_queries(query_ids)
    return Fact(key, list(query_ids), key, text)


def _tell_judgments(documents: pl.DataFrame, n_shown: int) -> Fact:
    """Say how many judgments were added, are gone, and have another grade."""
    counts: dict[str, Any] = {
        "added": documents["old"].is_null().sum(),
        "gone": documents["new"].is_null().sum(),
        "regraded": documents.drop_nulls().height,
    }
    text = ", ".join(f"{n:,} {kind}" for kind, n in counts.items())
    if n_shown < documents.height:
        text += f"; the first {n_shown:,} are listed"
    return Fact("judgments", counts, "judgments", text)
