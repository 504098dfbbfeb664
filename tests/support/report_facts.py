"""The facts of a report by their headings, so that a test names the one that it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadheat.core.report.shown import report_of

if TYPE_CHECKING:
    from deadheat.core.report.model import Report


def facts_by_heading(report: Report) -> dict[str, str]:
    """Return the texts of the facts that people read, by their headings; several of one heading are lines."""
    facts: dict[str, str] = {}
    for fact in report.shown:
        facts[fact.heading] = f"{facts[fact.heading]}\n{fact.text}" if fact.heading in facts else fact.text
    return facts


def facts_of_object(shown: object) -> dict[str, str]:
    """Return the facts that an object shows when it is printed, by their headings."""
    return facts_by_heading(report_of(shown))
