"""How objects show themselves in Python: by the report and the page of their class, as the commands make them.

Each file of_*.py registers the reports that it makes (`shows` of `model.py`). Those of the most common classes are
here: an evaluation is printed without loading the others.
"""

from typing import Any

from deadheat.core import hooks, third_party
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.evaluations import Evaluations
from deadheat.core.evaluation.strata import Strata
from deadheat.core.placements.placements import Placements
from deadheat.core.report.as_html import fragment
from deadheat.core.report.as_latex import as_latex
from deadheat.core.report.as_markdown import as_markdown
from deadheat.core.report.cells import count_cell, format_cell, share_cell
from deadheat.core.report.model import (
    PAGES,
    QUERY,
    REPORTS,
    Column,
    Fact,
    Report,
    prose_fact,
    registers_report,
    tabulate,
)
from deadheat.core.report.of_evaluation import report_evaluations
from deadheat.core.report.of_strata import group_strata
from deadheat.core.wording import format_count, format_path

MOST_ROWS = 20  # of placements: more are no table to read
WRITERS = {"markdown": as_markdown, "latex": as_latex, "html": fragment}


@registers_report(Strata, in_brief=True)
def _of_strata(strata: Strata) -> Report:
    """Return the report of strata, with the averages over them."""
    whole, queries = strata.whole, strata.queries
    ids = whole.query_ids.tolist()
    grouping = group_strata(format_path(queries.where), [strata], queries, ids, asked=strata.columns)
    return report_evaluations([whole], format_path(whole.qrels.where), grouping=grouping)


@registers_report(Evaluation, Evaluations, in_brief=True)
def _of_evaluations(found: Evaluation | Evaluations) -> Report:
    several = list(found.values()) if isinstance(found, Evaluations) else [found]
    return report_evaluations(several, format_path(several[0].qrels.where))


@registers_report(Placements)
def _of_placements(placements: Placements) -> Report:
    """Return the report of placements: where the first judged documents are ranked."""
    columns = (
        Column("relevance", "relevance", lambda row: count_cell(row["relevance"])),
        Column("above", "above"),
        Column("tied", "tied"),
    )
    rows, n_rows = placements.to_polars().head(MOST_ROWS).to_dicts(), len(placements.query)
    n_tied, n_missing = int((placements.tied > 1).sum()), int(placements.missing.sum())
    n_retrieved = int(placements.n_retrieved.sum())
    in_ties = f"{n_tied:,} of {n_rows:,} ({format_cell(share_cell(n_tied / n_rows))})" if n_rows else ""
    return Report(
        (tabulate("placements", (QUERY, Column("doc_id", "document")), columns, rows),),
        (
            Fact("n_retrieved", n_retrieved, "retrieved", f"{n_retrieved:,} documents"),
            Fact("n_tied", n_tied, "in ties", in_ties),
            Fact("n_missing", n_missing, "missing", format_count(n_missing, "query", "queries") if n_missing else ""),
            prose_fact("above, tied", "documents of the query with a higher score, and with exactly this one"),
            prose_fact("rows", f"the first {MOST_ROWS} of {n_rows:,}" if n_rows > MOST_ROWS else ""),
        ),
        f"{format_count(placements.n_queries, 'query', 'queries')}, {format_count(n_rows, 'judged document')}"
        " retrieved",
    )


def report_of(shown: Any, **options: bool) -> Report:  # noqa: ANN401 - of any kind
    """Return the report of an object that shows itself; some have other ones, such as `compact` of a comparison."""
    if REPORTS.keys().isdisjoint(type(shown).__mro__):
        hooks.load("reports")
    if REPORTS.keys().isdisjoint(type(shown).__mro__):
        third_party.load("reports")
    report = next(REPORTS[one] for one in type(shown).__mro__ if one in REPORTS)(shown, **options)
    return report.without_option()


def text_of(shown: object, width: int) -> str:
    """Return the report of an object as a terminal of this width shows it."""
    from deadheat.core.report.text import as_text  # Rich takes long to load

    return as_text(report_of(shown), width=width).plain


def written(shown: object, form: str, digits: int | None, **options: bool) -> str:
    """Return the report of an object as markdown, latex or html."""
    return WRITERS[form](report_of(shown, **options), digits=digits)


def page_of(shown: object) -> str | None:
    """Return the page of an object; None if there is none of such an object."""
    hooks.service("page")  # or the error that says what is missing
    hooks.load("pages")  # they load more than a table needs
    third_party.load("pages")
    make = next((PAGES[one] for one in type(shown).__mro__ if one in PAGES), None)
    return None if make is None else make(shown)
