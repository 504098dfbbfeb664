"""The part of a page about the same queries in several languages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deadheat.comparison.languages import Languages, judge_languages
from deadheat.report.as_html import escaped, html_facts
from deadheat.report.model import Report
from deadheat.report.of_languages import list_languages, tell_beside, tell_gaps, tell_languages
from deadheat.report.page.pictures import Picture
from deadheat.report.page.sections import details_of, figures, section

N_OPEN = 2  # tables that are not folded: systems by languages, and differences


def language_section(
    found: Languages, identifier: str, *, name: str = "", margin: float | None = None, pictures: Sequence[Picture] = ()
) -> str:
    """Return the section of a page: verdict, tables, figure, and how the values were made.

    Parameters
    ----------
    found : Languages
    identifier : str
    name : str, default ""
        Whose languages they are, if there are others.
    margin : float, optional
        Differences then have a p value of equivalence.
    pictures : sequence of Picture, default ()
    """
    said = "\n".join(f"<p>{escaped(sentence)}</p>" for sentence in judge_languages(found, margin=margin))
    facts = (*tell_languages(found, margin=margin), *tell_beside(found), *tell_gaps(found))
    report = Report(tuple(list_languages(found, found.measures, margin=margin)), facts)
    content = [
        f'<div class="verdict">{said}</div>' if said else "",
        details_of(report, n_open=N_OPEN),
        figures(pictures) if pictures else "",
        html_facts(report.shown),
    ]
    return section(identifier, f"Languages{f' ({name})' if name else ''}", "\n".join(filter(None, content)))


def language_sections(
    languages: Sequence[Languages], pictures: Sequence[Sequence[Picture]], margin: float | None
) -> Iterator[str]:
    """Yield a section for each set of queries whose languages were compared, with its pictures."""
    for n, (found, drawn) in enumerate(zip(languages, pictures, strict=True)):
        name = found.name if len(languages) > 1 else ""
        yield language_section(found, f"languages{n}", name=name, margin=margin, pictures=drawn)
