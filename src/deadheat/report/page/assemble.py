"""The page as a whole: its parts in their order, and what its script reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from deadheat.comparison.comparison import Comparison
from deadheat.comparison.languages import Languages
from deadheat.evaluation.evaluation import Evaluation
from deadheat.report.as_html import escaped, html_facts, html_table, page
from deadheat.report.model import Fact, Report
from deadheat.report.of_comparison import report_comparison
from deadheat.report.page.data import N_RANKS, data_of, encoded
from deadheat.report.page.languages import language_sections
from deadheat.report.page.pictures import Picture, are_missing, pictures_of, pictures_of_languages, vega
from deadheat.report.page.sections import (
    deciding,
    details_of,
    figures,
    inputs_table,
    leaderboard,
    report_of_one,
    section,
    strata_tables,
    tie_table,
    verdict_of,
)
from deadheat.report.page.subject import Input, Subject
from deadheat.version import __version__
from deadheat.wording import counted, three

# Nothing is loaded from anywhere; Vega compiles its expressions, which takes 'unsafe-eval'.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data:"
SECTION = re.compile(
    r'<section id="(?P<id>[^"]+)" [^>]*?(?P<live>(?: class="live" hidden)?)>\n<h2[^>]*>(?P<name>.*?)</h2>'
)
FEW_SUBJECTS, MOST_FIGURES = 2, 3  # of more subjects each has but so many figures
MOST_NAMED = 3  # systems, in the title
RANGE = "The ends of a difference are those that some order of the ties can give it."


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
    title = title or _title(subjects)
    missing = are_missing()
    most = None if len(subjects) <= FEW_SUBJECTS else MOST_FIGURES
    specs: list[dict[str, Any]] = []
    of_languages: list[list[Picture]] = []
    for one in languages:
        of_languages.append([] if missing else list(pictures_of_languages(one, len(specs))))
        specs += [drawn.spec for drawn in of_languages[-1] if drawn.spec is not None]
    parts = list(language_sections(languages, of_languages, margin))
    for n, subject in enumerate(subjects):
        pictures = [] if missing else list(pictures_of(subject, len(specs), most=most))
        specs += [one.spec for one in pictures if one.spec is not None]
        parts += _parts(subject, pictures, f"s{n}", missing)
    parts.append(section("inputs", "Inputs", _inputs(inputs, command)))
    contents = "\n".join([f"<h1>{escaped(title)}</h1>", _contents(parts), *parts])
    data: dict[str, Any] = {"subjects": [data_of(one) for one in subjects], "charts": specs}
    scripts = [f'<script type="application/json" id="deadheat-data">{encoded(data)}</script>']
    scripts += [f"<script>{vega()}</script>"] if specs else []
    scripts.append(f"<script>{_own('page.js')}</script>")
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    body = f"<main>\n{contents}\n</main>\n" + "\n".join(scripts)
    return page(title, body, _own("page.css")).replace('<meta charset="utf-8">', f'<meta charset="utf-8">{policy}', 1)


def page_of_comparison(comparison: Comparison) -> str:
    """Return the page of a comparison; its runs are not at hand, so there are no rankings."""
    first = next(iter(comparison.evaluations.values()))
    return page_of([Subject(evaluations=comparison.evaluations, comparison=comparison, qrels=first.qrels_name)])


def page_of_evaluation(evaluation: Evaluation) -> str:
    """Return the page of an evaluation; its run is not at hand, so there are no rankings."""
    return page_of([Subject(evaluations={evaluation.name: evaluation}, qrels=evaluation.qrels_name)])


def _contents(parts: Sequence[str]) -> str:
    """Return links to the sections of a page; those that only the script fills are shown by it."""
    found = [SECTION.search(part) for part in parts]
    links = [f'<li{one["live"]}><a href="#{one["id"]}">{one["name"]}</a></li>' for one in found if one]
    return f'<nav aria-label="Contents"><ul>{"".join(links)}</ul></nav>'


def _title(subjects: Sequence[Subject]) -> str:
    names = list(dict.fromkeys(name for one in subjects for name in one.evaluations))
    of = three(names) if len(names) <= MOST_NAMED else f"{len(names)} systems"
    return f"{of} by {subjects[0].main.label}"


def _own(name: str) -> str:
    """Return a file of this package."""
    return (files("deadheat.report.page") / name).read_text(encoding="utf-8")


def _parts(subject: Subject, pictures: Sequence[Picture], prefix: str, missing: str) -> list[str]:
    """Return the sections of one subject."""
    drawn = {part: figures([one for one in pictures if one.part == part]) for part in ("figures", "strata", "ties")}
    report = _report(subject)
    of = f" ({subject.name})" if subject.name else ""
    verdict = "\n".join(f"<p>{escaped(sentence)}</p>" for sentence in verdict_of(subject))
    board = f'<div class="sortable">{html_table(leaderboard(subject))}</div>'
    shown = drawn["figures"] if pictures else f"<p>{escaped(missing)}</p>"
    parts = [
        section(f"{prefix}-verdict", f"Verdict{of}", f'<div class="verdict">{verdict}</div>'),
        section(f"{prefix}-leaderboard", f"Leaderboard{of}", board),
        section(f"{prefix}-figures", f"Figures{of}", shown),
        section(f"{prefix}-deciding", f"Queries that decide{of}", _deciding(subject, prefix)),
    ]
    if subject.runs:
        note = f"The first {N_RANKS} documents. A bracket holds a tie: its documents may come in any order."
        parts.append(
            section(f"{prefix}-rankings", f"Rankings{of}", _live(prefix, "rankings"), note=note, needs_script=True)
        )
    board = f'<div class="sortable">{html_table(tie_table(subject))}</div>'
    ties = "\n".join([board, _live(prefix, "ties"), drawn["ties"]])
    parts.append(section(f"{prefix}-ties", f"Ties{of}", ties))
    strata = strata_tables(subject)
    if strata:
        parts.append(section(f"{prefix}-strata", f"Strata{of}", details_of(Report(tuple(strata))) + drawn["strata"]))
    parts.append(section(f"{prefix}-all", f"All measures{of}", details_of(report)))
    parts.append(section(f"{prefix}-conventions", f"How values were made{of}", html_facts(report.shown)))
    return parts


def _live(prefix: str, kind: str) -> str:
    """Return the place of a part that the script fills."""
    return f'<div class="live" data-{kind}="{prefix.removeprefix("s")}" hidden></div>'


def _deciding(subject: Subject, prefix: str) -> str:
    table = deciding(subject)
    if not table.rows:
        return f"<p>No query tells {escaped(' and '.join(subject.duel or ()))} apart.</p>\n{_live(prefix, 'queries')}"
    total = len(subject.query_ids)
    note = f"{len(table.rows)} of {counted(total, 'query', 'queries')}. {RANGE}" if subject.duel else ""
    return f'<div class="static"><p>{escaped(note)}</p>{html_table(table)}</div>\n{_live(prefix, "queries")}'


def _report(subject: Subject) -> Report:
    if subject.comparison is None:
        return report_of_one(subject)
    return report_comparison(subject.comparison, qrels=subject.qrels, margin=subject.margin)


def _inputs(inputs: Sequence[Input], command: str) -> str:
    made = [Fact("", None, "deadheat", __version__)]
    again = f"<p>To make this page again:</p>\n<pre>{escaped(command)}</pre>" if command else ""
    table = html_table(inputs_table(inputs)) if inputs else ""
    return "\n".join([html_facts(made), table, again])
