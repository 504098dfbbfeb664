"""deadheat report."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadheat.cli.app import debug_option, say
from deadheat.cli.compare import baseline_of, saved_evaluations
from deadheat.cli.files import (
    PATH,
    STDOUT,
    check_inputs,
    check_output,
    input_path,
    label,
    open_qrels,
    open_run,
    shown_path,
)
from deadheat.cli.options import (
    StratumOptions,
    cluster_option,
    comparing_options,
    conventions_of,
    decompressed_option,
    design_of,
    duplicates_option,
    examples,
    lists_options,
    measure_option,
    parsed_measures,
    precision_option,
    queries_options,
    reading_options,
    stratum_options,
    test_options,
    ties_option,
    unique_names,
)
from deadheat.cli.output import emit, warn_of_nothing_judged
from deadheat.cli.progress import progress

if TYPE_CHECKING:
    from deadheat.comparison.languages import Languages
    from deadheat.comparison.pairs import Design
    from deadheat.data.queries import Queries
    from deadheat.data.tables import Qrels, Run
    from deadheat.evaluation.evaluation import Evaluation
    from deadheat.report.page import Subject

SUFFIXES = (".html", ".htm")
MEGABYTE = 1_000_000
EXAMPLES = examples(
    "deadheat report qrels.txt bm25.run dense.run -o report.html",
    "deadheat report qrels.txt *.run --baseline bm25.run -m 'nDCG@10 AP' -o report.html",
    "deadheat report qrels.txt old.run new.run --queries queries.csv --by difficulty -o report.html",
    "deadheat report main.json branch.json -o report.html    # saved by deadheat evaluate --save",
    "deadheat report bench-results -o report.html    # the folder of deadheat bench",
)


class Remembering(click.Command):
    """A command that remembers what it was called with, so that it can say how to make its output again."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments as they were given."""
        ctx.meta["deadheat.arguments"] = list(args)
        return super().parse_args(ctx, args)


@click.command(cls=Remembering, short_help="Write one HTML file about runs, for mail and wiki.", **EXAMPLES)
@click.argument("qrels", type=PATH, metavar="QRELS|SAVED|FOLDER")
@click.argument("runs", type=PATH, nargs=-1, metavar="RUN...|SAVED...")
@click.option(
    "-o", "--output", type=PATH, required=True, metavar="FILE.html", help="The file, written whole or not at all."
)
@click.option("--title", help="By default the names of the systems, and the first measure.")
@click.option("--baseline", metavar="RUN", help="Compare all others with this run; by default every pair.")
@measure_option
@test_options
@click.option(
    "--margin", type=click.FloatRange(0, min_open=True), help="Also test that a system is no worse by this margin."
)
@comparing_options
@cluster_option
@click.option("--rng", "seed", type=click.IntRange(0), metavar="SEED", default=0, help="Seed; default 0.")
@stratum_options
@ties_option
@queries_options
@lists_options
@precision_option
@reading_options
@duplicates_option
@decompressed_option
@debug_option
@click.pass_context
def report(
    ctx: click.Context,
    /,
    qrels: str,
    runs: tuple[str, ...],
    output: str,
    **options: Any,  # noqa: ANN401 - click's
) -> None:
    """Write one HTML file that needs no other file and no network: to look at, to mail, to put into a wiki.

    Verdict, leaderboard, figures, the queries that decide, two rankings side by side with their ties, what ties decide,
    strata, how values were made, and the files with their hashes. It is read without scripts too; with them tables
    sort, queries are searched, and figures show numbers. Figures need pip install 'deadheat[figures]'.

    Saved evaluations and folders of deadheat bench have no rankings to show, or only those that the folder keeps.
    """
    from deadheat.report.page import Input, page_of

    qrels, *given = map(input_path, (qrels, *runs))
    strata = StratumOptions.of(options)
    sources = [qrels, *given, *([strata.path] if strata.path else [])]
    if output != STDOUT and Path(output).suffix.lower() not in SUFFIXES:
        raise click.UsageError(f"{output!r} names no page: give a name that ends in .html")
    check_output(output, sources)
    subjects, roles, languages, margin = _subjects(ctx, qrels, given, strata, options)
    inputs = [Input.of(role, path, shown_path(path, role)) for path, role in roles.items()]
    command = shlex.join(["deadheat", "report", *ctx.meta["deadheat.arguments"]])
    named = {"title": options["title"] or "", "command": command}
    emit(page_of(subjects, **named, inputs=inputs, languages=languages, margin=margin), output)
    if output != STDOUT:
        say(f"{output}: {Path(output).stat().st_size / MEGABYTE:.1f} MB")


def _subjects(
    ctx: click.Context, qrels: str, given: list[str], strata: StratumOptions, options: dict[str, Any]
) -> tuple[list[Subject], dict[str, str], list[Languages], float | None]:
    """Return what the page is about, what each file is, and the languages that are compared, with their margin."""
    from deadheat.benchmark.store import summary_of

    of_queries = {strata.path: "queries"} if strata.path else {}
    if Path(qrels).is_dir() and summary_of(qrels) is not None:
        _refuse_options(ctx, f"{qrels} is a finished benchmark", ("title", "output", "qrels"))
        if given:
            raise click.UsageError(f"{qrels} is the folder of a benchmark: give it alone")
        return _of_folder(qrels)
    if saved := saved_evaluations(ctx, [qrels, *given]):
        subject = _of_saved(saved, strata, options)
        return [subject], dict.fromkeys(saved, "saved evaluation") | of_queries, *_languages(subject)
    if not given:
        raise click.UsageError("give QRELS RUN..., saved evaluations, or the folder of a benchmark")
    subject = _of_runs(qrels, given, strata, options)
    return [subject], {qrels: "qrels"} | dict.fromkeys(given, "run") | of_queries, *_languages(subject)


def _languages(subject: Subject) -> tuple[list[Languages], float | None]:
    """Compare the languages of queries that belong together, if several systems have them."""
    from deadheat.comparison.compare_languages import languages_of_queries

    if subject.comparison is None or subject.queries is None:
        return [], None
    found = languages_of_queries(subject.comparison, subject.queries)
    return [found] if found else [], subject.margin


def _refuse_options(ctx: click.Context, why: str, allowed: Sequence[str]) -> None:
    """Refuse options where they change nothing."""
    for parameter in ctx.command.params:
        is_given = ctx.get_parameter_source(str(parameter.name)) is click.core.ParameterSource.COMMANDLINE
        if is_given and parameter.name not in {*allowed, "runs", "debug"}:
            raise click.UsageError(f"{parameter.opts[0]} is for QRELS RUN...: {why}")


def _of_folder(folder: str) -> tuple[list[Subject], dict[str, str], list[Languages], float | None]:
    """Return a subject for each set of cases and language of a benchmark."""
    from deadheat.benchmark.store import read_finished
    from deadheat.comparison.compare import compare_evaluated
    from deadheat.data.tables import Run
    from deadheat.report.page import Subject

    found, languages, margin = read_finished(folder)
    subjects: list[Subject] = []
    roles: dict[str, str] = {}
    for one in found:
        comparison = compare_evaluated(one.design, one.evaluations) if len(one.evaluations) > 1 else None
        is_whole = one.runs.keys() == one.evaluations.keys()
        runs = {name: Run(path, name=name) for name, path in one.runs.items()} if is_whole else {}
        name = "" if len(found) == 1 else str(one)
        subjects.append(
            Subject(name=name, evaluations=one.evaluations, comparison=comparison, runs=runs, qrels=str(one))
        )
        roles |= {str(path): f"run of {retriever}" for retriever, path in one.runs.items()}
    return subjects, roles, languages, margin


def _of_saved(paths: Sequence[str], strata: StratumOptions, options: dict[str, Any]) -> Subject:
    from deadheat.comparison.compare import compare_evaluated
    from deadheat.evaluation.evaluate import load_evaluation
    from deadheat.report.page import Subject

    named, design = _design(paths, strata, options)
    check_inputs([*paths, *([strata.path] if strata.path else [])])
    queries = strata.read()
    evaluations = {name: load_evaluation(path).called(name) for name, path in named.items()}
    clusters = (strata.cluster, queries if strata.cluster else None)
    comparison = compare_evaluated(design, evaluations, *clusters) if len(named) > 1 else None
    return Subject(
        evaluations=evaluations,
        comparison=comparison,
        queries=queries,
        columns=_columns(strata, queries, evaluations),
        margin=options["margin"],
        qrels="the qrels of the saved evaluations",
    )


def _of_runs(qrels: str, paths: Sequence[str], strata: StratumOptions, options: dict[str, Any]) -> Subject:
    from deadheat.comparison.compare import compare_under
    from deadheat.evaluation.evaluate import DEFAULT_MEASURES, evaluate_under
    from deadheat.report.page import Subject

    conventions = conventions_of(options)
    measures = parsed_measures(options["notations"]) or DEFAULT_MEASURES
    named, design = _design(paths, strata, options)
    check_inputs([qrels, *paths, *([strata.path] if strata.path else [])])
    queries = strata.read()
    clusters: dict[str, Any] = {"cluster": strata.cluster, "queries": queries if strata.cluster else None}
    comparison = None
    with progress([qrels, *paths]) as begin:
        judgments, runs = _read(begin, qrels, named)
        if len(runs) > 1:
            is_checked = options["check_duplicates"]
            comparison = compare_under(
                design, conventions, judgments, runs, measures, **clusters, check_duplicates=is_checked
            )
            evaluations = dict(comparison.evaluations)
        else:
            evaluations = {}
            for name, run in runs.items():
                if options["check_duplicates"]:
                    judgments.check_duplicates()
                    run.check_duplicates()
                evaluations[name] = evaluate_under(conventions, judgments, run, measures, design.rng)
    warn_of_nothing_judged(evaluations.values())
    return Subject(
        evaluations=evaluations,
        comparison=comparison,
        runs=runs,
        queries=queries,
        columns=_columns(strata, queries, evaluations),
        margin=options["margin"],
        qrels=shown_path(qrels, "the qrels"),
    )


def _read(begin: Callable[[str], None], qrels: str, named: Mapping[str, str]) -> tuple[Qrels, dict[str, Run]]:
    """Read the qrels and the runs."""
    begin(qrels)
    judgments, runs = open_qrels(qrels), {}
    for name, path in named.items():
        begin(path)
        runs[name] = open_run(path, name)
    return judgments, runs


def _design(paths: Sequence[str], strata: StratumOptions, options: dict[str, Any]) -> tuple[dict[str, str], Design]:
    """Return the paths by name, and how to compare."""
    named = dict(zip(unique_names(paths, lambda path: label(path, "run")), paths, strict=True))
    options["baseline"] = baseline_of(options["baseline"], named)
    design = design_of(options, has_queries=strata.path is not None)
    if len(named) > 1:
        design.check_systems(list(named), has_clusters=strata.cluster is not None)
    elif design.baseline is not None:
        raise click.UsageError("--baseline needs another run to compare with it")
    return named, design


def _columns(strata: StratumOptions, queries: Queries | None, evaluations: Mapping[str, Evaluation]) -> tuple[str, ...]:
    """Return the columns to report by."""
    if queries is None:
        return ()
    ids = sorted(set().union(*(one.query_ids.tolist() for one in evaluations.values())))
    return tuple(strata.columns(queries, ids))
