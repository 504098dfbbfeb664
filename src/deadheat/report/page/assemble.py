"""The page as a whole: its parts in their order, and what its script reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from deadheat.comparison.comparison import Comparison
from deadheat.comparison.languages import Languages, judge_languages
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.intervals import IntervalOptions
from deadheat.report.as_html import parts, templates
from deadheat.report.model import Column, tabulate
from deadheat.report.of_comparison import report_comparison
from deadheat.report.of_evaluation import EvaluationContext, report_evaluations
from deadheat.report.of_languages import list_languages, tell_beside, tell_gaps, tell_languages
from deadheat.report.page.data import N_RANKS, data_of, encoded
from deadheat.report.page.pictures import Picture, are_missing, pictures_of, pictures_of_languages, vega
from deadheat.report.page.subject import Input, Subject
from deadheat.report.page.tables import deciding, leaderboard, strata_tables, tie_table, verdict_of
from deadheat.version import __version__
from deadheat.wording import counted, three

# Nothing is loaded from anywhere; Vega compiles its expressions, which takes 'unsafe-eval'.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data:"
FEW_SUBJECTS, MOST_FIGURES = 2, 3  # of more subjects each has but so many figures
MOST_NAMED = 3  # systems, in the title
N_OPEN = 2  # tables of languages that are not folded: systems by languages, and differences


@dataclass(frozen=True)
class Section:
    """A section of a page; a live one is hidden without the script.

    Attributes
    ----------
    id, heading : str
    content : tuple of str
        HTML that the templates made.
    note : str
    is_live : bool
    """

    id: str
    heading: str
    content: tuple[str, ...]
    note: str = ""
    is_live: bool = False


def page_of(
    subjects: Sequence[Subject],
    *,
    title: str = "",
    inputs: Sequence[Input] = (),
    command: str = "",
    languages: Sequence[Languages] = (),
    margin: float | None = None,
) -> str:
    """Return an HTML document that needs no other file and no network.

    Parameters
    ----------
    subjects : sequence of Subject
    title : str, optional
        By default the names of the systems.
    inputs : sequence of Input, default ()
    command : str, default ""
        Which makes the page again.
    languages : sequence of Languages, default ()
        Of queries that are the same in several; they come first.
    margin : float, optional
        Up to which languages are tested for equivalence.
    """
    if not title:
        names = list(dict.fromkeys(name for one in subjects for name in one.evaluations))
        of = three(names) if len(names) <= MOST_NAMED else f"{len(names)} systems"
        title = f"{of} by {subjects[0].main.label}"
    missing = are_missing()
    most = None if len(subjects) <= FEW_SUBJECTS else MOST_FIGURES
    specs: list[dict[str, Any]] = []
    sections: list[Section] = []
    made: Any = templates().get_template("page.html").module
    for n, found in enumerate(languages):
        pictures = [] if missing else list(pictures_of_languages(found, len(specs)))
        specs += [one.spec for one in pictures if one.spec is not None]
        name = f" ({found.name})" if len(languages) > 1 else ""
        sections.append(_of_languages(made, found, f"languages{n}", name, margin, pictures))
    for n, subject in enumerate(subjects):
        pictures = [] if missing else list(pictures_of(subject, len(specs), most=most))
        specs += [one.spec for one in pictures if one.spec is not None]
        sections += _of_subject(made, subject, n, pictures, missing)
    columns = (Column("n_bytes", "bytes"), Column("sha256", "SHA-256", lambda one: one.sha256 or "-"))
    table = tabulate("inputs", (Column("role", "what"), Column("path", "file")), columns, inputs, title="Files")
    sections.append(Section("inputs", "Inputs", (made.inputs(__version__, table, command),)))
    data = encoded({"subjects": [data_of(one) for one in subjects], "charts": specs})
    scripts = [data, *([vega()] if specs else []), _own("page.js")]
    return str(made.page(title, sections, scripts, _own("page.css"), POLICY))


def page_of_comparison(comparison: Comparison) -> str:
    """Return the page of a comparison; its runs are not at hand, so there are no rankings."""
    first = next(iter(comparison.evaluations.values()))
    return page_of([Subject(evaluations=comparison.evaluations, comparison=comparison, qrels=first.qrels_name)])


def page_of_evaluation(evaluation: Evaluation) -> str:
    """Return the page of an evaluation; its run is not at hand, so there are no rankings."""
    return page_of([Subject(evaluations={evaluation.name: evaluation}, qrels=evaluation.qrels_name)])


def _own(name: str) -> str:
    """Return a file of this package."""
    return (files("deadheat.report.page") / name).read_text(encoding="utf-8")


def _of_subject(
    made: Any,  # noqa: ANN401 - the macros of page.html
    subject: Subject,
    number: int,
    pictures: Sequence[Picture],
    missing: str,
) -> Iterator[Section]:
    """Give the sections of one subject."""
    prefix, of = f"s{number}", f" ({subject.name})" if subject.name else ""
    drawn = {
        name: made.figures([one for one in pictures if one.part == name]) for name in ("figures", "strata", "ties")
    }
    if subject.comparison is None:
        context = EvaluationContext(subject.qrels, intervals=IntervalOptions())
        report = report_evaluations([subject.first], context)
    else:
        report = report_comparison(subject.comparison, qrels=subject.qrels, margin=subject.margin)
    n_queries = counted(len(subject.query_ids), "query", "queries")
    queries = made.deciding(deciding(subject), number, n_queries, subject.duel or ())
    yield Section(f"{prefix}-verdict", f"Verdict{of}", (made.verdict(verdict_of(subject)),))
    yield Section(f"{prefix}-leaderboard", f"Leaderboard{of}", (made.board(leaderboard(subject)),))
    yield Section(f"{prefix}-figures", f"Figures{of}", (drawn["figures"],), note="" if pictures else missing)
    yield Section(f"{prefix}-deciding", f"Queries that decide{of}", (queries,))
    if subject.runs:
        note = f"The first {N_RANKS} documents. A bracket holds a tie: its documents may come in any order."
        content = (made.live("rankings", number),)
        yield Section(f"{prefix}-rankings", f"Rankings{of}", content, note=note, is_live=True)
    ties = (made.board(tie_table(subject)), made.live("ties", number), drawn["ties"])
    yield Section(f"{prefix}-ties", f"Ties{of}", ties)
    if strata := strata_tables(subject):
        yield Section(f"{prefix}-strata", f"Strata{of}", (made.details(strata), drawn["strata"]))
    yield Section(f"{prefix}-all", f"All measures{of}", (made.details(report.tables),))
    yield Section(f"{prefix}-conventions", f"How values were made{of}", (parts().facts(report.shown),))


def _of_languages(  # noqa: PLR0917 - all of a section
    made: Any,  # noqa: ANN401 - the macros of page.html
    found: Languages,
    identifier: str,
    name: str,
    margin: float | None,
    pictures: Sequence[Picture],
) -> Section:
    """Return the section of a set of queries whose languages were compared: verdict, tables, figures, facts."""
    said = judge_languages(found, margin=margin)
    facts = (*tell_languages(found, margin=margin), *tell_beside(found), *tell_gaps(found))
    content = (
        made.verdict(said) if said else "",
        made.details(list(list_languages(found, found.measures, margin=margin)), N_OPEN),
        made.figures(pictures),
        parts().facts([one for one in facts if one.text]),
    )
    return Section(identifier, f"Languages{name}", content)
