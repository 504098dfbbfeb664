"""The page of a leaderboard."""

from deadheat.core import hooks
from deadheat.core.report.model import PAGES, Report, registers_report
from deadheat.plugins.leaderboard.board import Leaderboard
from deadheat.plugins.leaderboard.report import report_leaderboard


@registers_report(Leaderboard, among=PAGES)
def page_of_leaderboard(found: Leaderboard, report: Report | None = None, digits: int | None = None) -> str:
    """Return an HTML document with the figures of a leaderboard, and its tables."""
    heading = f"Leaderboard: {found.measure}"
    shown = report or report_leaderboard(found)
    page: str = hooks.service("page").page_of_report(shown, heading, found, found.measure, digits)
    return page
