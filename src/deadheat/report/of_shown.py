"""The reports of objects that show themselves in Python: those of the commands, as far as the object knows."""

from __future__ import annotations

import re
from dataclasses import replace

from deadheat.comparison.comparison import Comparison
from deadheat.evaluation.evaluation import Evaluation, Strata
from deadheat.gates import GateResult
from deadheat.placements.placements import Placements
from deadheat.profile import TieProfile
from deadheat.report.conventions import nothing_judged
from deadheat.report.model import QUERY, Column, Fact, Report, Row, Share, Table
from deadheat.report.numbers import format_cell
from deadheat.report.of_compact import report_compact
from deadheat.report.of_comparison import report_comparison
from deadheat.report.of_evaluation import EvaluationContext, report_evaluations
from deadheat.report.of_gate import report_gate
from deadheat.report.of_planning import planned
from deadheat.report.of_profile import report_profile
from deadheat.report.of_strata import Grouping
from deadheat.report.totals import count_cell
from deadheat.wording import counted

MOST_ROWS = 20  # of placements: more are no table to read
DOCUMENT = Column("doc_id", "document")
OPTION = re.compile(
    r"--(rng|ci-method|test|by|pool-languages|collection-language)\b(?: ([\w-]+))?"
)  # that the sentences of reports name

ALL = re.compile(", all in --format json")  # Python has them as attributes


def in_python(report: Report) -> Report:
    """Return a report whose facts name the arguments of functions, in place of a command's options."""
    facts = (replace(fact, text=OPTION.sub(_argument, ALL.sub("", fact.text))) for fact in report.facts)
    return replace(report, facts=tuple(facts))


def _argument(option: re.Match[str]) -> str:
    name, value = option[1].removeprefix("ci-").replace("-", "_"), option[2]
    if name == "pool_languages":
        return f"{name}=True" + (f" {value}" if value else "")
    return name if value is None else f"{name}={value}" if value.isdigit() else f"{name}={value!r}"


def of_evaluation(evaluation: Evaluation) -> Report:
    """Return the report of an evaluation."""
    return _told(report_evaluations([evaluation], EvaluationContext(evaluation.qrels_name)), evaluation)


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
    return _told(report_evaluations([whole], EvaluationContext(whole.qrels_name), grouping=grouping), whole)


def of_comparison(comparison: Comparison) -> Report:
    """Return the report of a comparison."""
    first = next(iter(comparison.evaluations.values()))
    report = report_comparison(comparison, qrels=first.qrels_name, margin=comparison.margin)
    tables, facts = planned({(): comparison}, (), comparison.margin, comparison.detect)
    return in_python(replace(report, tables=(*report.tables, *tables), facts=(*report.facts, *facts)))


def of_compact(comparison: Comparison, digits: int | None) -> Report:
    """Return the report of a comparison that is one table."""
    first = next(iter(comparison.evaluations.values()))
    return in_python(report_compact(comparison, qrels=first.qrels_name, digits=digits))


def of_profile(profile: TieProfile) -> Report:
    """Return the report of a tie profile."""
    return in_python(report_profile(profile))


def of_gate(result: GateResult) -> Report:
    """Return the report of checked gates."""
    return in_python(report_gate(result))


def _told(report: Report, evaluation: Evaluation) -> Report:
    """Return the report for Python, which begins with a warning if nothing that is retrieved is judged."""
    report = in_python(report)
    if len(evaluation.placements.query):
        return report
    fact = Fact("", None, "WARNING", nothing_judged(evaluation.name), is_warning=True)
    return replace(report, facts=(fact, *report.facts))


def of_placements(placements: Placements) -> Report:
    """Return the report of placements: where the first judged documents are ranked."""
    columns = (Column("relevance", "relevance"), Column("above", "above"), Column("tied", "tied"))
    frame, n_rows = placements.to_polars().head(MOST_ROWS), len(placements.query)
    rows = tuple(
        Row((query, doc), ((count_cell(relevance), *cells),)) for query, doc, relevance, *cells in frame.iter_rows()
    )
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
