"""The page of a history."""

from pathlib import Path

from deadheat.core import hooks
from deadheat.core.report.model import (
    PAGES,
    registers_report,
)
from deadheat.plugins.weeks.history import History, history
from deadheat.plugins.weeks.report_history import report_history


@registers_report(History, among=PAGES)
def page_of_history(found: History) -> str:
    """Return an HTML document with the line of the first measure, and the tables."""
    heading = f"History: {', '.join(found.measures)}"
    page: str = hooks.service("page").page_of_report(report_history(found), heading, found, found.measures[0])
    return page


def page_of_folder(folder: str | Path) -> str:
    """Return the page of the saved evaluations of a folder, in order of time."""
    return page_of_history(history(folder))
