"""The report of what differs between two sets of judgments."""

from collections.abc import Iterator
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

MOST, MOST_CAUSES = 20, 3  # documents, and queries of each system and measure, that people are shown
MOST_GRADES = 8  # new grades that are columns; of more, each pair of an old and a new grade is a row
OLD, NEW = Column("old", "old"), Column("new", "new")


@registers_report(QrelsDiff, in_brief=True)
def report_diff(found: QrelsDiff, *, for_people: bool = True) -> Report:
    """Return the report of two sets of judgments.

    Parameters
    ----------
    found : QrelsDiff
    for_people : bool, default True
        Whether to list the first documents and queries only.
    """
    documents, causes = found.to_polars(), found.causes
    if for_people:
        documents = documents.head(MOST)
        causes = causes.group_by("measure", "system", maintain_order=True).head(MOST_CAUSES)
    tables = [
        _grades(found, for_people=for_people),
        tabulate(
            "documents",
            (QUERY, Column("doc_id", "document" if found.changes.judging_rule is None else "judged")),
            (_level("old"), _level("new")),
            documents.to_dicts(),
            title="Judgments that differ",
        ),
    ]
    if found.evaluations:
        tables += [
            tabulate(
                "effects",
                (MEASURE, SYSTEM),
                (
                    OLD,
                    NEW,
                    Column("difference", "difference"),
                    Column("old_rank", "old rank", spare=1),
                    Column("new_rank", "new rank", spare=1),
                    Column("n_new", "queries", spare=2),
                    Column("n_old", "queries before", is_data=True),
                ),
                found.effects.to_dicts(),
                title="What that does to systems",
                has_blocks=True,
            ),
            tabulate(
                "causes",
                (MEASURE, SYSTEM, QUERY, Column("kind", "judgments")),
                (replace(OLD, spare=1), replace(NEW, spare=1), Column("part", "of the difference")),
                causes.to_dicts(),
                title="Queries that cause it",
                has_blocks=True,
            ),
        ]
    return Report(
        tuple([one for one in tables if one.rows or not for_people]),
        tuple(_facts_of_diff(found, len(documents))),
        opening=" ".join((f"{found.changes}.", *_order(found))),
    )


def _level(name: str) -> Column:
    """Return a column of grades, or of counts; empty where there is none."""
    return Column(name, name, lambda row: count_cell(row[name]))


def _grades(found: QrelsDiff, *, for_people: bool) -> Table:
    """Return how many judgments there are of each old and new grade."""
    frame = found.changes.grades
    if for_people and frame["new"].n_unique() > MOST_GRADES:
        return tabulate(
            "grades",
            (Column("old", "old grade"), Column("new", "new grade")),
            (Column("n", "judgments"),),
            [{"old": _grade(old), "new": _grade(new), "n": n} for old, new, n in frame.rows()],
            title="Judgments, by old and new grade",
        )
    counts = {(_grade(old), _grade(new)): n for old, new, n in frame.rows()}
    old, levels = ([*map(_grade, frame[name].unique().sort(nulls_last=True))] for name in ("old", "new"))
    return tabulate(
        "grades",
        (Column("old", "old grade"),),
        [_level(one) for one in levels],
        [{"old": own, **{other: counts.get((own, other)) for other in levels}} for own in old],
        title="Judgments, by old grade (rows) and new grade (columns)",
    )


def _grade(level: float | None) -> str:
    return "none" if level is None else format_exactly(level)


def _order(found: QrelsDiff) -> Iterator[str]:
    """Say by which measures systems change their order."""
    moved = found.effects.filter(pl.col("old_rank") != pl.col("new_rank"))
    for measure, own in moved.group_by("measure", maintain_order=True):
        told = ", ".join(f"{row['system']} from rank {row['old_rank']} to {row['new_rank']}" for row in own.to_dicts())
        yield f"By {measure[0]} the order changes: {told}."
    if len(found.evaluations) > 1 and not moved.height:
        yield "The order of the systems stays."


def _facts_of_diff(found: QrelsDiff, n_shown: int) -> list[Fact]:
    own, documents, lacking = found.changes, found.changes.documents, found.unknown_ids
    kinds: dict[str, Any] = {
        "added": documents["old"].is_null().sum(),
        "gone": documents["new"].is_null().sum(),
        "regraded": documents.drop_nulls().height,
    }
    shown = f"; the first {n_shown:,} are listed" if n_shown < documents.height else ""
    replaced = own.find_replaced()
    pairs = format_list([f"{old!r} by {new!r}" for _, old, new in replaced])
    outside = f"lacks {format_count(len(lacking), 'document')}: {format_list(lacking)}" if lacking else ""
    after = [pair[1].called(name) for name, pair in found.evaluations.items()]
    return [
        *(Fact(name, source, name, source) for name, source in (("old", found.old), ("new", found.new))),
        Fact("n_same", len(own.same)),
        *(
            Fact(name, list(queries), name, describe_queries(queries) if queries else "")
            for name, queries in (("changed", own.changed), ("added", own.added), ("gone", own.gone))
        ),
        note_fact("judged", " became ".join(own.rules)),
        Fact("judgments", kinds, "judgments", ", ".join(f"{n:,} {kind}" for kind, n in kinds.items()) + shown),
        Fact("replaced", [list(one) for one in replaced], "renamed?", pairs, is_note=True),
        *([] if lacking is None else [Fact("unknown_ids", list(lacking)), warning_fact("collection", outside)]),
        *([*tell_unshared(after, after[0].conventions.missing), *tell_conventions(after)] if after else []),
    ]
