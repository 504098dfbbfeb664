"""One HTML file about runs: verdict, leaderboard, figures, queries, rankings, ties, inputs, how to make it again."""

from deadheat.report.page.assemble import page_of, page_of_comparison, page_of_evaluation, page_of_history
from deadheat.report.page.subject import Input, Subject

__all__ = ["Input", "Subject", "page_of", "page_of_comparison", "page_of_evaluation", "page_of_history"]
