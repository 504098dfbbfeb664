"""How objects show themselves in Python: the report and the page of each class, as the commands make them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from deadheat.comparison.agreement import Agreement
from deadheat.comparison.comparison import Comparison
from deadheat.comparison.history import History
from deadheat.comparison.holes import Holes
from deadheat.comparison.judges import JudgeAgreement
from deadheat.comparison.languages import Languages
from deadheat.comparison.leaderboard import Leaderboard
from deadheat.comparison.pairs import Pair
from deadheat.comparison.qrels_diff import QrelsDiff
from deadheat.comparison.system_orders import SystemOrders
from deadheat.data.tables import DocumentTable
from deadheat.evaluation.evaluation import Evaluation, Strata
from deadheat.evaluation.evaluations import Evaluations
from deadheat.evaluation.intervals import Interval
from deadheat.evaluation.scores import Scores
from deadheat.evaluation.steps import Steps
from deadheat.explanation.explain import Explanation
from deadheat.gates import GateResult
from deadheat.placements.placements import Placements
from deadheat.profile.exposure import Exposure
from deadheat.profile.items import ItemProfile
from deadheat.profile.profile import TieProfile
from deadheat.report.as_html import fragment
from deadheat.report.as_latex import as_latex
from deadheat.report.as_markdown import as_markdown
from deadheat.report.model import (
    QUERY,
    Column,
    Fact,
    Report,
    said,
    share,
    tabulate,
)
from deadheat.report.numbers import count_cell, format_cell
from deadheat.report.of_agreement import report_agreements
from deadheat.report.of_compact import report_compact
from deadheat.report.of_comparison import report_comparison
from deadheat.report.of_diff import report_diff
from deadheat.report.of_evaluation import EvaluationContext, Grouping, report_evaluations
from deadheat.report.of_explanation import report_explanation
from deadheat.report.of_exposure import of_exposure
from deadheat.report.of_gate import report_gate
from deadheat.report.of_history import report_history
from deadheat.report.of_holes import report_holes
from deadheat.report.of_items import of_items
from deadheat.report.of_judges import report_judges
from deadheat.report.of_languages import of_languages
from deadheat.report.of_leaderboard import report_compact_leaderboard, report_leaderboard
from deadheat.report.of_objects import of_documents, of_interval, of_pair, of_scores
from deadheat.report.of_orders import report_orders
from deadheat.report.of_planning import planned
from deadheat.report.of_profile import report_profile
from deadheat.report.of_steps import of_steps
from deadheat.report.page import (
    page_of_comparison,
    page_of_evaluation,
    page_of_history,
    page_of_judges,
    page_of_leaderboard,
)
from deadheat.wording import counted

MOST_ROWS = 20  # of placements: more are no table to read
WRITERS = {"markdown": as_markdown, "latex": as_latex, "html": fragment}


def _of_strata(strata: Strata) -> Report:
    """Return the report of strata, with the averages over them."""
    whole, queries = strata.whole, strata.queries
    ids = whole.query_ids.tolist()
    languages = queries.languages(ids)
    grouping = Grouping(
        queries.where,
        (strata,),
        asked=strata.columns,
        languages=languages,
        without_language=queries.without_language(ids),
        pool_languages=len(languages) > 1 and queries.language_column not in strata.columns,
    )
    return report_evaluations([whole], EvaluationContext(whole.qrels_name), grouping=grouping)


def _of_comparison(comparison: Comparison, *, compact: bool = False) -> Report:
    first = next(iter(comparison.evaluations.values()))
    if compact:
        return report_compact(comparison, qrels=first.qrels_name)
    report = report_comparison(comparison, qrels=first.qrels_name, margin=comparison.margin)
    tables, facts = planned({(): comparison}, (), comparison.margin, comparison.detect)
    return replace(report, tables=(*report.tables, *tables), facts=(*report.facts, *facts))


def _of_leaderboard(found: Leaderboard, *, compact: bool = False) -> Report:
    return report_compact_leaderboard(found) if compact else report_leaderboard(found)


def _of_evaluations(found: Evaluations) -> Report:
    first = next(iter(found.values()))
    return report_evaluations(list(found.values()), EvaluationContext(first.qrels_name))


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
    in_ties = f"{n_tied:,} of {n_rows:,} ({format_cell(share(n_tied / n_rows))})" if n_rows else ""
    facts = (
        Fact("n_retrieved", n_retrieved, "retrieved", f"{n_retrieved:,} documents"),
        Fact("n_tied", n_tied, "in ties", in_ties),
        Fact("n_missing", n_missing, "missing", counted(n_missing, "query", "queries") if n_missing else ""),
        said("above, tied", "documents of the query with a higher score, and with exactly this one"),
        said("rows", f"the first {MOST_ROWS} of {n_rows:,}" if n_rows > MOST_ROWS else ""),
    )
    judged = counted(n_rows, "judged document")
    return Report(
        (tabulate("placements", (QUERY, Column("doc_id", "document")), columns, rows),),
        facts,
        f"{counted(placements.n_queries, 'query', 'queries')}, {judged} retrieved",
    )


REPORTS: dict[type, Callable[..., Report]] = {
    Agreement: lambda found: report_agreements([found]),
    Comparison: _of_comparison,
    Evaluation: lambda found: report_evaluations([found], EvaluationContext(found.qrels_name)),
    Evaluations: _of_evaluations,
    Explanation: report_explanation,
    Exposure: of_exposure,
    GateResult: report_gate,
    History: report_history,
    Holes: report_holes,
    ItemProfile: of_items,
    JudgeAgreement: report_judges,
    Languages: of_languages,
    Leaderboard: _of_leaderboard,
    Placements: _of_placements,
    QrelsDiff: report_diff,
    Steps: of_steps,
    Strata: _of_strata,
    SystemOrders: report_orders,
    TieProfile: report_profile,
}
"""The report of each class that shows itself; the classes of a benchmark are added where they are defined."""
PIECES: dict[type, Callable[..., Report]] = {
    DocumentTable: of_documents,
    Interval: of_interval,
    Pair: of_pair,
    Scores: of_scores,
}
"""The report of each class that notebooks alone show."""
PAGES: dict[type, Callable[[Any], str]] = {
    Comparison: page_of_comparison,
    Evaluation: page_of_evaluation,
    History: page_of_history,
    JudgeAgreement: page_of_judges,
    Leaderboard: page_of_leaderboard,
}


def report_of(shown: Any, **options: bool) -> Report:  # noqa: ANN401 - of any kind
    """Return the report of an object that shows itself; some have other ones, such as `compact` of a comparison."""
    known = REPORTS | PIECES
    return next(known[one] for one in type(shown).__mro__ if one in known)(shown, **options)


def text_of(shown: object, width: int) -> str:
    """Return the report of an object as a terminal of this width shows it."""
    from deadheat.report.text import as_text  # Rich takes long to load

    return as_text(report_of(shown), width=width).plain


def written(shown: object, form: str, digits: int | None, **options: bool) -> str:
    """Return the report of an object as markdown, latex or html."""
    return WRITERS[form](report_of(shown, **options), digits=digits)


def page_of(shown: object) -> str | None:
    """Return the page of an object; None if there is none of such an object."""
    make = next((PAGES[one] for one in type(shown).__mro__ if one in PAGES), None)
    return None if make is None else make(shown)
