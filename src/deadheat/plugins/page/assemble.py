"""The page as a whole: its parts in their order, and what its script reads."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import chain, count
from typing import Any

import numpy as np
from jinja2 import ChoiceLoader, Environment, PackageLoader

from deadheat.core import hooks
from deadheat.core.data.renderable import Plottable
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import IntervalOptions
from deadheat.core.evaluation.query_columns import SMALLEST
from deadheat.core.evaluation.stratum import keys_of, strata_of
from deadheat.core.evaluation.together import check_use
from deadheat.core.measures import Measure, unit_of
from deadheat.core.placements.policies import POLICIES
from deadheat.core.report.as_html import harmless, parts, templates
from deadheat.core.report.as_markdown import as_markdown
from deadheat.core.report.cells import Span, share_cell
from deadheat.core.report.interval_facts import interval_cell
from deadheat.core.report.make_parts import parts_of
from deadheat.core.report.model import (
    PAGES,
    QUERY,
    Column,
    Fact,
    Report,
    Table,
    note_fact,
    prose_fact,
    registers_report,
    select_facts,
    summarise,
    tabulate,
)
from deadheat.core.report.of_evaluation import report_evaluations
from deadheat.core.report.score_tables import NOTHING, columns_of_strata, level_heading, tabulate_scores
from deadheat.core.report.totals import TIE_NUMBERS, mean_cell, tie_range_cell
from deadheat.core.scalars import NOISE
from deadheat.core.wording import BY_DOC_ID, format_count, format_names, format_path, join_sentences
from deadheat.plugins.compare.companions import Companion
from deadheat.plugins.compare.comparison import Comparison
from deadheat.plugins.compare.report import list_systems, report_comparison
from deadheat.plugins.page.added import sections_of
from deadheat.plugins.page.data import LONGEST_TEXT, N_RANKS, data_of, encoded, has_steps
from deadheat.plugins.page.pictures import Picture, are_missing, draw, pictures_of
from deadheat.plugins.page.subject import Input, Subject, about, glance, headline_of
from deadheat.version import __version__

# Nothing is loaded from anywhere, and no script runs but those of the page, by their hashes.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; img-src data:"
FEW_SUBJECTS = 2  # of more subjects no strata are drawn
MOST_NAMED = 3  # systems, in the title
SYSTEMS = Column("system", "system", str)
MOST_IN_FRAGMENT = 10  # systems
LIVE = {"forest": "forest", "differences": "differences", "traditional": "ties"}  # what the script draws in their place
GLOSSARY = {
    "mean": "The mean over queries, of counts the total; of measures with ties it is exact, over all orders of equal"
    " scores, unless another tie policy was asked for.",
    "interval": "The confidence interval of the mean over other queries of the same kind, at the level of the heading.",
    "drawn": "The dot is the mean, the line its interval, the band its range over all orders of equal scores; all rows"
    " have one scale.",
    "tie orders": "The lowest and the highest mean that some order of equal scores gives.",
    BY_DOC_ID: "The mean if equal scores are ordered by document id, from the last to the first.",
    "not told apart": "The difference from the baseline is not significant after the correction, or in doubt; that"
    " does not show that there is none. Better and worse are significant. Not tested: nothing is known of the pair.",
    "detectable difference": "Only a true difference of this size or more would be detected reliably (80% power).",
    "reversed by ties": "How often the two would change places if equal scores were ordered at random.",
}


def page_of(
    subjects: Sequence[Subject],
    *,
    title: str = "",
    inputs: Sequence[Input] = (),
    command: str = "",
    companions: Sequence[Companion] = (),
    margin: float | None = None,
    facts: Sequence[Fact] = (),
) -> str:
    """Return an HTML document that needs no other file and no network.

    Parameters
    ----------
    subjects : sequence of Subject
    title : str, optional
        By default which systems are shown, and the first measure.
    inputs : sequence of Input, default ()
    command : str, default ""
        Which makes the page again.
    companions : sequence of Companion, default ()
        What is compared beside systems; they come first.
    margin : float, optional
        Up to which companions are tested for equivalence.
    facts : sequence of Fact, default ()
        What else is to be known of all subjects.
    """
    names = list(dict.fromkeys(name for one in subjects for name in one.evaluations))
    first = subjects[0]
    about_it = (about(first), str(datetime.now(UTC).date()), f"deadheat {__version__}")
    missing, numbers = are_missing(), count()
    of_companions = [
        draw(one.key, one.subject, one.measure, numbers) if one.measure and not missing else [] for one in companions
    ]
    of_subjects = [
        [] if missing else pictures_of(one, numbers, has_strata=len(subjects) <= FEW_SUBJECTS) for one in subjects
    ]
    held = [data_of(one) for one in subjects]  # while figures are drawn
    made: Any = _templates().get_template("page.html").module
    columns = (Column("n_bytes", "bytes"), Column("sha256", "SHA-256", lambda one: one.sha256 or "-"))
    table = tabulate("inputs", (Column("role", "what"), Column("path", "file")), columns, inputs, title="Files")
    sections = [
        *(
            _of_companion(made, one, n, margin, own, is_named=len(companions) > 1)
            for n, (one, own) in enumerate(zip(companions, of_companions, strict=True))
        ),
        *chain.from_iterable(
            _of_subject(made, subject, n, own, missing)
            for n, (subject, own) in enumerate(zip(subjects, of_subjects, strict=True))
        ),
        *_added_sections(made, subjects),
        *([_section("notes", "Notes", parts().facts(facts))] if facts else []),
        _section("inputs", "Inputs", made.inputs(__version__, table, command)),
    ]
    drawn = [one.rows for one in chain(*of_companions, *of_subjects) if one.drawing]
    data, script = encoded({"subjects": held, "charts": drawn}), _own("page.js")
    policy = POLICY.format(base64.b64encode(hashlib.sha256(script.encode()).digest()).decode())
    if first.comparison is not None and first.comparison.later is not None and first.duel is not None:
        names = list(first.duel)
    title = title or _title(names, first.main)
    page = made.page((title, " · ".join(about_it)), sections, (data, script), _own("page.css"), policy, GLOSSARY)
    return harmless(str(page))


def fragment_of(subjects: Sequence[Subject], form: str) -> str:
    """Return the short form of the first subject, for mail and pull requests: what the first screen of a page says.

    Parameters
    ----------
    subjects : sequence of Subject
    form : {"html", "markdown"}
    """
    subject, *others = subjects
    board, n = _leaderboard(subject), len(subject.ranked)
    shown = replace(board, rows=board.rows[:MOST_IN_FRAGMENT], title="")
    more = [
        *[f"the first {MOST_IN_FRAGMENT} of {n:,} systems"] * (n > MOST_IN_FRAGMENT),
        *[f"of {subject.name}; {format_count(len(others), 'more set')} in the page"] * bool(others),
    ]
    told = [
        prose_fact(number.heading, f"{number.value} {number.text}".strip())
        for number in glance(subject)
        if number.value
    ]
    facts = (
        *told,
        prose_fact("", join_sentences(f"{about(subject)}.", *(f"{one[0].upper()}{one[1:]}." for one in more))),
    )
    report = Report((shown,), facts, facts_first=True, headline=headline_of(subject))
    return as_markdown(report) if form == "markdown" else str(parts().short(report)).strip()


def _title(names: Sequence[str], measure: Measure) -> str:
    """Return the title of a page: which systems it shows, by which measure."""
    if len(names) == 2:
        return f"{names[0]} against {names[1]} by {measure.label}"
    if len(names) > MOST_NAMED:
        return f"{len(names)} systems by {measure.label}"
    return f"{format_names(names)} by {measure.label}"


@registers_report(Comparison, among=PAGES)
def page_of_comparison(comparison: Comparison) -> str:
    """Return the page of a comparison; its runs are not at hand, so there are no rankings."""
    comparison.refuse_parts("a page")
    return page_of(
        [
            Subject(
                evaluations=comparison.evaluations,
                comparison=comparison,
                qrels=format_path(next(iter(comparison.evaluations.values())).qrels.where),
                margin=comparison.margin,
            )
        ]
    )


@registers_report(Evaluation, among=PAGES)
def page_of_evaluation(evaluation: Evaluation) -> str:
    """Return the page of an evaluation; its run is not at hand, so there are no rankings."""
    check_use("report", [evaluation])
    return page_of([Subject(evaluations={evaluation.name: evaluation}, qrels=format_path(evaluation.qrels.where))])


def _section(
    id_: str, heading: str, *content: str, note: str = "", is_live: bool = False, is_first: bool = False
) -> dict[str, Any]:
    """Return a section of a page, as the template takes it, with HTML that templates made.

    A live one is hidden without the script; the heading of the first is for screen readers.
    """
    return {
        "id": id_,
        "heading": heading,
        "content": content,
        "note": note,
        "is_live": is_live,
        "is_first": is_first,
    }


@cache
def _templates() -> Environment:
    """Return the templates of reports, and those of pages, which import them."""
    own, of_reports = PackageLoader("deadheat.plugins.page"), PackageLoader("deadheat.core.report")
    return templates().overlay(loader=ChoiceLoader([own, of_reports]))


def _own(name: str) -> str:
    """Return a file of this package."""
    return (files("deadheat.plugins.page") / name).read_text(encoding="utf-8")


def _of_subject(
    made: Any,  # noqa: ANN401 - the macros of page.html
    subject: Subject,
    number: int,
    pictures: Sequence[Picture],
    missing: str,
) -> list[dict[str, Any]]:
    """Return the sections of one subject."""
    of = f" ({subject.name})" if subject.name else ""

    def section(name: str, heading: str, *content: str, **others: Any) -> dict[str, Any]:  # noqa: ANN401 - as below
        return _section(f"s{number}-{name}", heading + of, *content, **others)

    report = _report_of(subject)
    by_figure = {picture.figure: picture for picture in pictures if picture.part == "figures"}
    not_drawn = made.figures([picture for picture in by_figure.values() if picture.why_not])
    first_screen = made.first_screen(headline_of(subject), glance(subject), _verdict_of(subject), number)
    leaderboard = made.board(_leaderboard(subject), number)
    n_queries = format_count(len(subject.query_ids), "query", "queries")
    deciding = made.deciding(_deciding(subject), number, n_queries, subject.duel or ())
    conventions = parts().folded(select_facts(report.without_option().shown), report.shown)

    sections = [section("verdict", "Verdict", first_screen, is_first=not of)]
    if subject.tables:
        sections.append(section("cases", subject.heading, made.details(subject.tables, len(subject.tables))))
    sections.append(section("leaderboard", "Leaderboard", made.live("toolbar", number), leaderboard))
    figures = made.live_figures(_live_figures(by_figure), number)
    sections.append(section("figures", "Figures", figures, not_drawn, note=_why_few(subject, missing)))
    sections.append(section("deciding", "Queries that decide", deciding, note=_what_is_held(subject)))
    rankings = made.live("rankings", number)
    if subject.runs:
        sections.append(section("rankings", "Rankings", rankings, note=_describe_rankings(subject), is_live=True))
    elif has_steps() and subject.first.ties in POLICIES:
        sections.append(section("steps", "Values, step by step", rankings, note=_describe_steps(subject), is_live=True))
    if subject.knows_ties:
        sections.append(section("ties", "Ties", made.board(_tie_table(subject)), made.live("ties", number)))
    strata = _strata_tables(subject)
    if strata:
        figures_of_strata = made.figures([picture for picture in pictures if picture.part == "strata"])
        sections.append(section("strata", "Strata", made.details(strata), figures_of_strata))
    sections.append(section("all", "All measures", made.details(report.tables)))
    sections.append(section("conventions", "How values were made", conventions))
    return sections


def _report_of(subject: Subject) -> Report:
    """Return the report that the commands print of a subject."""
    if subject.comparison is None:
        return report_evaluations([subject.first], subject.qrels, intervals=IntervalOptions())
    return report_comparison(subject.comparison, qrels=subject.qrels, margin=subject.margin)


def _live_figures(by_figure: Mapping[str, Picture]) -> list[tuple[str, Picture | None]]:
    """Return the figures that the script draws, each with the picture of it without the script, if there is one."""
    figures: list[tuple[str, Picture | None]] = []
    for name in Comparison.figures_shown:
        picture = by_figure.get(name)
        is_drawn = picture is not None and bool(picture.svg)
        figures.append((LIVE[name], picture if is_drawn else None))
    return figures


def _describe_rankings(subject: Subject) -> str:
    """Say what the section of rankings shows."""
    sentences = [f"The first {N_RANKS} documents. A bracket holds a tie: its documents may come in any order. "]
    if any(len(text) > LONGEST_TEXT for text in subject.names.values()):
        sentences.append(f"Texts are cut after {LONGEST_TEXT} characters. ")
    if has_steps():
        sentences.append(_describe_steps(subject))
    return "".join(sentences)


def _describe_steps(subject: Subject) -> str:
    """Say what the steps of a value are."""
    value = subject.main.label
    return f"How {value} comes about: a row for each judged document; in a tie the mean over its orders."


def _added_sections(made: Any, subjects: Sequence[Subject]) -> list[dict[str, Any]]:  # noqa: ANN401 - as above
    """Return the sections that other plugins add, for each subject."""
    sections: list[dict[str, Any]] = []
    for subject in subjects:
        of = f" ({subject.name})" if subject.name else ""
        for report in sections_of(subject.evaluations):
            tables = made.details(report.tables, len(report.tables))
            facts = parts().facts(report.shown)
            sections.append(_section(f"added{len(sections)}", f"{report.heading}{of}", tables, facts))
    return sections


def _why_few(subject: Subject, missing: str) -> str:
    """Say why there are no figures, or only those that the script draws; empty if there are others."""
    choice = hooks.find_service("figure_choice")
    if choice is not None and not choice.figures_to_show(subject.comparison or subject.first, subject.main.label):
        return f"None: {choice.OF_ONE_QUERY}."
    return f"Others were not drawn, as {missing}" if missing else ""


def _what_is_held(subject: Subject) -> str:
    """Say of which queries the page holds values, and where the others are; empty if it holds all."""
    if not subject.is_summary:
        return ""
    decide = "ties decide most or values are lowest"
    if subject.duel is not None:
        decide = "systems differ most, ties decide most or both fail"
    return (
        f"Values by query are here for {len(subject.held):,} of {len(subject.query_ids):,} queries, those in which"
        f" {decide}. Means, intervals, tests and strata are of all. deadheat evaluate --per-query writes the others."
    )


def _of_companion(
    made: Any,  # noqa: ANN401 - the macros of page.html
    companion: Companion,
    number: int,
    margin: float | None,
    pictures: Sequence[Picture],
    *,
    is_named: bool,
) -> dict[str, Any]:
    """Return the section of what is compared beside systems: verdict, tables, figures, facts."""
    section = companion.section(margin)
    name = f" ({companion.name})" if is_named else ""
    return _section(
        f"{companion.key}{number}",
        f"{section.heading}{name}",
        made.verdict(section.verdict) if section.verdict else "",
        made.details(section.tables, section.n_open),
        made.figures(pictures),
        parts().facts([fact for fact in section.facts if fact.text]),
    )


def _verdict_of(subject: Subject) -> tuple[Fact, ...]:
    """Return the verdict in full, as facts."""
    if subject.comparison is not None:
        return summarise(subject.comparison.judge(subject.margin).facts)
    return tuple(
        prose_fact(number.heading, f"{number.value}, {number.text}") for number in glance(subject) if number.value
    )


def _leaderboard(subject: Subject) -> Table:
    """Return the systems, best first by the main measure, with the means of all measures."""
    main, evaluations = subject.main, subject.evaluations
    options = IntervalOptions() if subject.comparison is None else subject.comparison.design
    by_doc_id = _by_doc_id(subject)
    of_ties = Column("ties", "tie orders", lambda name: tie_range_cell(evaluations[name][main]), ("tie_min", "tie_max"))
    columns = (
        Column("mean", _heading(main), lambda name: mean_cell(evaluations[name][main])),
        Column(
            "ci",
            level_heading(options.confidence_level, {one[main].n_queries for one in evaluations.values()}),
            lambda name: (
                interval_cell(subject.intervals[name, main.label])
                if not main.total and (name, main.label) in subject.intervals
                else NOTHING
            ),
        ),
        *([of_ties] if subject.knows_ties else []),
        *([Column("doc_id", BY_DOC_ID, by_doc_id.get)] if by_doc_id else []),
        *(
            Column(one.label, _heading(one), lambda name, one=one: mean_cell(evaluations[name][one]))
            for one in subject.measures
            if one != main
        ),
    )
    return tabulate("leaderboard", [SYSTEMS], columns, subject.ranked, title=f"Systems by {main.label}")


def _heading(measure: Measure) -> str:
    total, less = " (total)" * measure.total, "" if measure.higher_is_better else " (less is better)"
    return f"{measure.label}{total}{less}"


def _by_doc_id(subject: Subject) -> dict[str, float]:
    """Return the mean of each system with its ties broken by document id; empty where that is not known."""
    found = {name: subject.by_doc_id(name, subject.main) for name in subject.ranked}
    return {name: scores.reported() for name, scores in found.items() if scores is not None}


def _deciding(subject: Subject) -> Table:
    """Return the queries that decide most: between two systems, or of a single one the worst."""
    texts, names = subject.texts, subject.duel or subject.ranked[:1]
    found = [subject.evaluations[name][subject.main] for name in names]
    values, low, high = (
        [subject.of_all_queries(one, getattr(one, column)) for one in found]
        for column in ("values", "tie_min", "tie_max")
    )
    apart = values[0] - values[-1]
    ends = (low[0] - high[1], high[0] - low[1]) if len(names) > 1 else (low[0], high[0])
    # two systems differ in a query, or can by some order of its ties
    decides = ~(np.abs(apart) <= NOISE) | (ends[1] - ends[0] > NOISE)
    columns = [
        *(Column(name, name, lambda n, own=own: float(own[n])) for name, own in zip(names, values, strict=True)),
        *([Column("difference", "difference", lambda n: float(apart[n]))] if len(names) > 1 else []),
    ]
    main_column = len(columns) - 1
    if subject.knows_ties:
        columns.append(Column("ties", "over tie orders", lambda n: Span(float(ends[0][n]), float(ends[1][n]))))
    labels = [Column(QUERY.key, QUERY.heading, subject.query_ids.__getitem__)]
    labels += [] if texts is None else [Column("text", "text", texts.__getitem__)]
    shown = [n for n in subject.deciding if len(names) == 1 or decides[n]]
    return tabulate(
        "deciding",
        labels,
        columns,
        shown,
        title=f"{subject.main.label}: {' - '.join(names)}{unit_of(subject.main)}",
        main=main_column,
    )


def _tie_table(subject: Subject) -> Table:
    """Return what the order of ties decides, system by system, by the main measure."""
    main, by_doc_id = subject.main, _by_doc_id(subject)
    scores = {name: subject.evaluations[name][main] for name in subject.ranked}
    exact = {name: replace(one, values=one.tie_mean).reported() for name, one in scores.items()}
    decided = {name: int(np.count_nonzero(one.tie_max - one.tie_min > NOISE)) for name, one in scores.items()}
    columns = (
        Column("exact", "exact", exact.get),
        *(
            Column(key, key.replace("_", " "), lambda name, key=key: mean_cell(scores[name], key))
            for key in TIE_NUMBERS
        ),
        *(
            [
                Column("doc_id", BY_DOC_ID, by_doc_id.get),
                Column("difference", "difference", lambda name: by_doc_id.get(name, np.nan) - exact[name]),
            ]
            if by_doc_id
            else []
        ),
        Column("n_queries", "queries decided", decided.get),
        Column("share", "share", lambda name: share_cell(decided[name] / n) if (n := scores[name].n_queries) else None),
    )
    return tabulate("ties", [SYSTEMS], columns, subject.ranked, title=f"What tie order decides of {main.label}")


def _strata_tables(subject: Subject) -> list[Table]:
    """Return the systems of each stratum, measure by measure; none without columns to report by."""
    if subject.comparison is None:
        return [
            tabulate_scores(
                parts_of((), list(subject.strata(columns).values()), IntervalOptions()),
                subject.ranked,
                subject.measures,
                columns=columns,
                smallest=SMALLEST,
                level=IntervalOptions.confidence_level,
            )
            for columns in subject.groupings
        ]
    compared = {columns: strata_of(subject.comparison, columns, subject.queries) for columns in subject.groupings}
    return [
        list_systems({keys_of(key): part for key, part in own.items()}, columns_of_strata(columns), measure)
        for columns, own in compared.items()
        for measure in subject.measures
    ]


def page_of_report(
    report: Report,
    heading: str,
    found: Plottable,
    measure: str,
    digits: int | None = None,
) -> str:
    """Return an HTML document with the report of an object, and its figures below the headline and the verdict.

    Parameters
    ----------
    report : Report
    heading : str
    found : object
        What the report is of, and figures are drawn of.
    measure : str
        Which figures are of, if they are of one.
    digits : int, optional
        Of numbers.
    """
    numbers = count(1)
    drawn = [] if are_missing() else draw("figures", found, measure, numbers)
    failed = [note_fact("not drawn", f"{one.name}: {one.why_not}") for one in drawn if one.drawing and one.why_not]
    report = replace(report, facts=(*report.facts, *failed))
    extra = tuple(table for table in report.tables if table != table.in_brief() or table.is_extra)
    drawings = [one.svg for one in drawn if one.svg]
    made = parts().whole(heading, report.in_brief().without_option(), digits, drawings, Report(extra, report.facts))
    return harmless(str(made))
