"""deadheat report."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import deadheat as dh
from deadheat.core import hooks
from deadheat.core.cli.errors import missing, refuse, refuse_if, refuse_others
from deadheat.core.cli.evaluating import evaluate_each
from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import check_inputs, load_saved, named_saves, split_judgments
from deadheat.core.cli.judged import judgments_asked
from deadheat.core.cli.options import INTERVALS, LAST, LISTS, READING, STRATA, TESTS, command, with_options
from deadheat.core.cli.paths import INPUT, REPORT, STDOUT, named_runs, shown_path
from deadheat.core.cli.printing import check_output, emit, warn_of_nothing_judged
from deadheat.core.cli.read_options import (
    apply_weights,
    check_strata,
    conventions_of,
    measures_of,
    read_queries,
    sets_of_strata,
)
from deadheat.core.cli.streams import write_note
from deadheat.core.errors import DataError
from deadheat.core.evaluation.systems import kind_of_runs
from deadheat.core.phases import phase
from deadheat.core.wording import format_path
from deadheat.plugins.compare.command import compare_files, saved_evaluations

if TYPE_CHECKING:
    from deadheat.core.report.model import Fact
    from deadheat.plugins.compare.companions import Companion
    from deadheat.plugins.page import Subject

    Gathered = tuple[list[Subject], dict[str, str], list[Companion], float | None, list[Fact]]

SUFFIXES = {"html": (".html", ".htm"), "markdown": (".md",)}
MOST_PAIRED = 100  # systems that are compared two by two; more are compared with one


@command(
    "deadheat report qrels.txt bm25.run dense.run -o report.html",
    "deadheat report qrels.txt *.run --baseline bm25.run -m 'nDCG@10 AP' -o report.html",
    "deadheat report qrels.txt old.run new.run --queries queries.csv --by difficulty -o report.html",
    "deadheat report --spans spans.csv chunks-200.jsonl chunks-1000.jsonl -m R@5 -o report.html",
    "deadheat report main.json branch.json -o report.html    # saved by deadheat evaluate --save",
    "deadheat report before.json after.json --diff -o report.html",
    "deadheat report bench-results -o report.html    # the folder of deadheat bench",
)
@click.argument("qrels", type=INPUT, required=False, metavar="QRELS|SAVED|FOLDER")
@click.argument("runs", type=INPUT, nargs=-1, metavar="RUN...|SAVED...")
@option(
    "-o",
    "--output",
    type=REPORT,
    required=True,
    metavar="FILE.html",
    help="The file, written whole or not at all.",
    heading="output",
    rank=40,
)
@with_options("history")
@option("--diff", is_flag=True, help="Of two saved evaluations, before and after: what fell and rose comes first.")
@option("--texts", type=INPUT, metavar="FILE", help="Titles or texts of documents.")
@option("--title", help="By default the names of the systems, and the first measure.")
@option(
    "--format",
    "form",
    type=click.Choice(list(SUFFIXES)),
    default="html",
    help="Markdown is for --fragment.",
    heading="output",
    rank=50,
)
@option("--fragment", is_flag=True, help="A short form for mail: headline, three figures and ten systems.")
@with_options(
    "baseline", "measures", *TESTS, "margin", *INTERVALS, "cluster", "seed", *STRATA, "ties", *LISTS, "bounds"
)
@with_options("other_judgments", *READING, *LAST)
def report(qrels: str | None, runs: tuple[str, ...], output: str, **options: Any) -> None:  # noqa: ANN401 - click's
    """Write one HTML file that needs no other file and no network: to look at, to mail, to put into a wiki.

    Verdict, leaderboard, figures, the queries that decide, two rankings side by side with their ties, what ties decide,
    strata, how values were made, and the files with their hashes. It is read without scripts too; with them tables
    sort, queries are searched, and figures show numbers. Figures need pip install 'deadheat[figures]'.

    Saved evaluations and folders of deadheat bench have no rankings to show, or only those that the folder keeps; what
    trec_eval -q printed, which is taken too, has no ties either.
    """
    check_strata(options)
    _check_form(output, options["form"], is_fragment=options["fragment"])
    check_output(output)
    if options.get("history") is not None:
        refuse_if(qrels is not None, "--history FOLDER has its own evaluations: leave out the others")
        refuse_others({"history", "output", "qrels", "runs"}, "is not for --history")
        with phase("making the page"):
            page = hooks.service("history").page_of_folder(options["history"])
        emit(page, output)
        return
    if qrels is None:
        raise missing("qrels")
    qrels, runs = split_judgments(qrels, runs)
    if options["fragment"]:
        refuse(("title", "texts"), "is of a page: leave it out, or --fragment")
    elif figures := hooks.find_service("painter"):
        figures.painter.start()  # and all else goes on
    from deadheat.plugins.page import Input, fragment_of, page_of

    subjects, roles, companions, margin, facts = _gather(qrels, runs, options)
    if options["fragment"]:
        emit(fragment_of(subjects, options["form"]), output)
        return
    inputs = [Input.of(role, path, shown_path(path, role)) for path, role in roles.items()]
    arguments = [without_folders(word) for word in click.get_current_context().meta["arguments"]]
    with phase("making the page"):
        page = page_of(
            subjects,
            title=options["title"] or "",
            inputs=inputs,
            command=shlex.join(["deadheat", *arguments]),
            companions=companions,
            margin=margin,
            facts=facts,
        )
    emit(page, output)
    if output != STDOUT:
        write_note(f"{output}: {Path(output).stat().st_size / 1e6:.1f} MB")


def without_folders(word: str) -> str:
    """Return a word of a command line with the absolute path in it as reports name paths, which hides its folders.

    Examples
    --------
    >>> [without_folders(word) for word in ("/home/ada/a.run", "--queries=/home/ada/q.csv", "-o/home/ada/r.html")]
    ['a.run', '--queries=q.csv', '-or.html']
    >>> without_folders("gpt=/home/ada/gpt-*.run"), without_folders("runs/a.run")
    ('gpt=gpt-*.run', 'runs/a.run')
    """
    if re.match("-[a-zA-Z]", word):  # a short option and its value
        return word[:2] + without_folders(word[2:])
    before, equals, value = word.partition("=")
    if equals and not Path(word).is_absolute():
        return f"{before}={format_path(value)}"
    return format_path(word)


def _check_form(output: str, form: str, *, is_fragment: bool) -> None:
    """Refuse a page in Markdown, and a file whose name says another format."""
    refuse_if(form != "html" and not is_fragment, f"--format {form} is for --fragment: a page is HTML")
    what = "fragment in Markdown" if form != "html" else "page"
    refuse_if(
        output != STDOUT and Path(output).suffix.lower() not in SUFFIXES[form],
        f"{output!r} names no {what}: give a name that ends in {SUFFIXES[form][0]}",
    )


def _gather(qrels: str, runs: tuple[str, ...], options: dict[str, Any]) -> Gathered:
    """Return what the page is about, as the service ``finished_bench`` does of a folder."""
    from deadheat.plugins.compare.companions import find_companions

    finished = _read_finished(qrels, runs, options)
    if finished is not None:
        return finished
    saved = saved_evaluations([qrels, *runs])
    refuse_if(not (saved or runs), "give QRELS RUN..., saved evaluations, or the folder of a benchmark")
    if saved:
        refuse(("texts",), "is for QRELS RUN...: saved evaluations have no rankings to show")
    roles_of_others = {options[name]: name for name in ("queries", "texts", "documents") if options[name]}
    check_inputs([qrels, *runs, *roles_of_others])
    if options["diff"]:
        refuse_if(
            len(saved) != 2 or options["baseline"],
            "--diff is of two saved evaluations, the first of which is the baseline",
        )
        options["baseline"] = (saved[0],)
    subject = _subject("" if saved else qrels, saved or runs, options)
    if options["diff"] and subject.comparison is not None:
        subject = _show_before_and_after(subject, subject.comparison)
    for name, evaluation in subject.evaluations.items():
        kind = kind_of_runs([evaluation])
        refuse_if(bool(kind), f"{name} has {kind}, and a page shows the ranking of one run: give one of them")
    companions: list[Companion] = []
    if subject.comparison is not None and subject.queries is not None:
        companions = find_companions(subject.comparison, subject.queries)
    roles = _find_roles(qrels, runs, saved) | roles_of_others
    return [subject], roles, companions, options["margin"], []


def _read_finished(qrels: str, runs: tuple[str, ...], options: dict[str, Any]) -> Gathered | None:
    """Return what the folder of a finished benchmark has left; None if it is no such folder."""
    if not Path(qrels).is_dir():
        return None
    store = hooks.find_service("finished_bench")
    if store is None or store.summary_of(qrels) is None:
        return None
    kept = {"title", "output", "qrels", "runs", "form", "fragment", "queries", "by", "pool_languages"}
    refuse_others(kept, f"is for QRELS RUN...: {qrels} is a finished benchmark")
    refuse_if(runs, f"{qrels} is the folder of a benchmark: give it alone")
    finished: Gathered = store.read_finished(qrels)
    queries = read_queries(options)
    if queries is None:
        return finished
    subjects, roles, *_ = finished
    roles[options["queries"]] = "queries"
    return [_with_queries(subject, queries, options) for subject in subjects], *finished[1:]


def _find_roles(qrels: str, runs: Sequence[str], saved: Sequence[str]) -> dict[str, str]:
    """Return what each of these files is for the page."""
    if saved:
        return dict.fromkeys(saved, "saved evaluation")
    option = judgments_asked()
    judged = "qrels" if option is None else option.kind().what
    return {qrels: judged} | dict.fromkeys(runs, "run")


def _show_before_and_after(subject: Subject, comparison: dh.Comparison) -> Subject:
    """Return a subject of two saved evaluations as what changed from the first to the second."""
    from deadheat.plugins.page import before_and_after

    _, later = subject.evaluations
    comparison = replace(comparison, later=later)
    texts = {} if subject.queries is None else subject.queries.texts(subject.query_ids)
    tables = before_and_after(comparison, texts)
    return replace(subject, comparison=comparison, tables=tables, heading="Before and after")


def _with_queries(subject: Subject, queries: dh.Queries, options: dict[str, Any]) -> Subject:
    """Return what a benchmark has left, with texts and labels of its queries from another table."""
    groupings = tuple(filter(None, sets_of_strata(queries, subject.evaluations.values(), options)))
    kept = tuple(own for own in subject.groupings if set(own) <= set(queries.columns))
    return replace(subject, queries=queries, groupings=groupings or kept)


def _subject(qrels: str, paths: Sequence[str], options: dict[str, Any]) -> Subject:
    """Return what the page is about: runs, or saved evaluations where there are no qrels."""
    from deadheat.plugins.page import Subject

    named = named_runs(paths) if qrels or judgments_asked() is not None else named_saves(paths)
    comparison, runs = None, dict[str, dh.Run]()
    if len(named) > MOST_PAIRED and not options["baseline"]:
        options["baseline"] = (paths[0],)
        write_note(
            f"{len(named):,} systems: each is compared with the first, {next(iter(named))}; --baseline takes another"
        )
    evaluated = load_saved(named) if len(named) == 1 and not qrels else {}
    if len(named) > 1 or len(evaluated) > 1:
        comparison, runs, queries = compare_files(qrels, named, options)
        evaluations = dict(comparison.evaluations)
    else:
        refuse(("baseline", "margin", *TESTS, *INTERVALS, "cluster"), "needs another run to compare with it")
        conventions, measures = conventions_of(options), measures_of(options)
        queries = read_queries(options)
        (name,) = named
        if qrels:
            evaluated_run = next(evaluate_each(qrels, named, conventions, measures, seed=options["seed"]))
            runs[name] = evaluated_run.run
            alone = evaluated_run.evaluation
            warn_of_nothing_judged([alone])
        else:
            alone = evaluated[name]
        evaluations = {name: apply_weights(alone, queries, options)}
    return Subject(
        evaluations=evaluations,
        comparison=comparison,
        runs=runs,
        queries=queries,
        groupings=tuple(filter(None, sets_of_strata(queries, evaluations.values(), options))),
        margin=options["margin"],
        names=_names(options["texts"], runs.values()),
        qrels=shown_path(qrels or next(iter(evaluations.values())).qrels.where, "the qrels"),
    )


def _names(path: str | None, runs: Iterable[dh.Run]) -> dict[str, str]:
    """Return the titles or texts of the documents of runs."""
    if path is None:
        return {}
    known = set[str]().union(*(run.to_polars()["doc_id"].unique() for run in runs))
    found = dh.read_collection(path)
    named = {doc: text for doc, text in zip(found.ids, found.texts, strict=True) if doc in known}
    if known and not named:
        raise DataError(f"no document of the runs, such as {min(known)!r}", given=found.ids[0], path=path)
    return named
