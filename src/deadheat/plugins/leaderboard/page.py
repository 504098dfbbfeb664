"""The page of a leaderboard."""

from deadheat.plugins.leaderboard.board import Leaderboard
from deadheat.plugins.leaderboard.report import report_leaderboard
from deadheat.report.model import PAGES, Report, registers_report
from deadheat.report.page import page_of_report


@registers_report(Leaderboard, among=PAGES)
def page_of_leaderboard(found: Leaderboard, report: Report | None = None, digits: int | None = None) -> str:
    """Return an HTML document with the figures of a leaderboard, and its tables."""
    heading = f"Leaderboard: {found.measure}"
    return page_of_report(report or report_leaderboard(found), heading, found, found.measure, digits)
