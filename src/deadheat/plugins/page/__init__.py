"""One HTML file about runs: verdict, leaderboard, figures, queries, rankings, ties, inputs, how to make it again.

Adds the command ``report``, the pages of an evaluation and of a comparison, and the service ``page``, by which other
features make theirs: `page_of` of `Subject` makes a whole one, `page_of_report` one of a report and its figures.

* `subject` is what a page is about: runs on one set of qrels, and the numbers at its top.
* `assemble` puts the parts together, by `templates/page.html`, `page.css` and `page.js`.
* `data` is what the script reads, `pictures` are the figures, which it redraws; `command` is the command line.

A section is added in `assemble`; the page of another result is a function registered by that result's feature.
"""

from deadheat.plugins.page.assemble import (
    fragment_of,
    page_of,
    page_of_comparison,
    page_of_evaluation,
    page_of_report,
)
from deadheat.plugins.page.subject import Input, Subject, before_and_after

__all__ = [
    "Input",
    "Subject",
    "before_and_after",
    "fragment_of",
    "page_of",
    "page_of_comparison",
    "page_of_evaluation",
    "page_of_report",
]
