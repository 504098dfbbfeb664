"""The reports of objects that show themselves in Python: those of the commands, as far as the object knows."""

from __future__ import annotations

from dataclasses import replace

from deadheat.comparison.comparison import Comparison
from deadheat.evaluation.evaluation import Evaluation, Strata
from deadheat.placements.placements import Placements
from deadheat.report.conventions import nothing_judged
from deadheat.report.model import QUERY, Column, Fact, Report, Row, Share, Table
from deadheat.report.numbers import format_cell
from deadheat.report.of_comparison import report_comparison
from deadheat.report.of_evaluation import EvaluationContext, report_evaluations
from deadheat.report.of_strata import Grouping
from deadheat.wording import counted

MOST_ROWS = 20  # of placements: more are no table to read
DOCUMENT = Column("doc_id", "document")


def of_evaluation(evaluation: Evaluation) -> Report:
    """Return the report of an evaluation."""
    return _warned(report_evaluations([evaluation], EvaluationContext(evaluation.qrels_name)), evaluation)


def of_strata(strata: Strata) -> Report:
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
    return _warned(report_evaluations([whole], EvaluationContext(whole.qrels_name), grouping=grouping), whole)


def of_comparison(comparison: Comparison) -> Report:
    """Return the report of a comparison."""
    first = next(iter(comparison.evaluations.values()))
    return report_comparison(comparison, qrels=first.qrels_name)


def _warned(report: Report, evaluation: Evaluation) -> Report:
    """Return a report that begins with a warning if nothing that is retrieved is judged."""
    if not evaluation.has_placements or len(evaluation.placements.query):
        return report
    fact = Fact("", None, "WARNING", nothing_judged(evaluation.name), is_warning=True)
    return replace(report, facts=(fact, *report.facts))


def of_placements(placements: Placements) -> Report:
    """Return the report of placements: where the first judged documents are ranked."""
    columns = (Column("relevance", "relevance"), Column("above", "above"), Column("tied", "tied"))
    frame, n_rows = placements.to_polars().head(MOST_ROWS), len(placements.query)
    rows = tuple(Row((query, doc), (tuple(cells),)) for query, doc, *cells in frame.iter_rows())
    n_tied, n_missing = int((placements.tied > 1).sum()), int(placements.missing.sum())
    share = f"{n_tied:,} of {n_rows:,} ({format_cell(Share(n_tied / n_rows))})" if n_rows else ""
    facts = (
        Fact(
            "n_retrieved", int(placements.n_retrieved.sum()), "retrieved", f"{placements.n_retrieved.sum():,} documents"
        ),
        Fact("n_tied", n_tied, "in ties", share),
        Fact("n_missing", n_missing, "missing", counted(n_missing, "query", "queries") if n_missing else ""),
        Fact("", None, "above, tied", "documents of the query with a higher score, and with exactly this one"),
        Fact("", None, "rows", f"the first {MOST_ROWS} of {n_rows:,}" if n_rows > MOST_ROWS else ""),
    )
    judged = counted(n_rows, "judged document")
    heading = f"{counted(placements.n_queries, 'query', 'queries')}, {judged} retrieved"
    return Report((Table("placements", (QUERY, DOCUMENT), columns, rows),), facts, heading)
