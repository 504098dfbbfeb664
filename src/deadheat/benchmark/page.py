"""The page of a benchmark: one part for each set of cases and language."""

from __future__ import annotations

from deadheat.benchmark.result import Key, Results
from deadheat.data.queries import Queries
from deadheat.report.page import Subject, page_of


def page_of_bench(result: Results) -> str:
    """Return the page of a benchmark; its runs are not at hand, so there are no rankings."""
    subjects = []
    for key, part in result.parts.items():
        columns = result.settings.by if set(result.settings.by) <= set(part.strata) else ()
        subjects.append(
            Subject(
                name=str(part) if len(result.parts) > 1 else "",
                evaluations={name: result.evaluations[Key(*key, name)] for name in result.retrievers},
                comparison=result.comparisons.get(key),
                qrels=str(part),
                queries=Queries(part.cases.queries()),
                columns=columns,
            )
        )
    return page_of(subjects, languages=list(result.across.values()), margin=result.settings.margin)
