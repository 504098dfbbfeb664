"""One HTML file about runs: verdict, leaderboard, figures, queries, rankings, ties, inputs, how to make it again."""

from deadheat.report.page.assemble import (
    fragment_of,
    page_of,
    page_of_comparison,
    page_of_evaluation,
    page_of_judges,
    page_of_report,
)
from deadheat.report.page.subject import Input, Subject, before_and_after

__all__ = [
    "Input",
    "Subject",
    "before_and_after",
    "fragment_of",
    "page_of",
    "page_of_comparison",
    "page_of_evaluation",
    "page_of_judges",
    "page_of_report",
]
