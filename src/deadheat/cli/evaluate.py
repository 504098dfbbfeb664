"""deadheat evaluate."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from deadheat.cli.app import debug_option
from deadheat.cli.files import PATH, check_inputs, input_path, label, save_paths, shown_path
from deadheat.cli.grouping import group, queries_path, read_queries, stratum_options
from deadheat.cli.intervals import check_proportions, interval_options, intervals_of, with_queries
from deadheat.cli.options import (
    check_conventions,
    decompressed_option,
    duplicates_option,
    examples,
    measure_option,
    missing_option,
    no_relevant_option,
    parsed_measures,
    passed_on,
    precision_option,
    ties_option,
    unique_names,
)
from deadheat.cli.output import output_options, prepare, print_report, writing
from deadheat.cli.progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from deadheat.data.queries import Queries
    from deadheat.data.tables import Qrels, Run
    from deadheat.evaluation.evaluation import Evaluation
    from deadheat.evaluation.intervals import IntervalOptions
    from deadheat.report.model import Fact
    from deadheat.report.of_strata import Grouping

PARTS = ("document", "rows", "scores", "runs")
EXAMPLES = examples(
    "deadheat evaluate qrels.txt bm25.run",
    "deadheat evaluate qrels.txt bm25.run dense.run.gz -m nDCG@10 -m 'P(rel=2)@5'",
    "deadheat evaluate qrels.txt bm25.run --ties doc_id --format trec    # as trec_eval -c does",
    "deadheat evaluate qrels.txt bm25.run --per-query -o scores.csv",
    "deadheat evaluate qrels.txt bm25.run --ci --queries queries.csv --by difficulty",
    "deadheat evaluate qrels.txt bm25.run --save results/bm25.json",
)


@click.command(short_help="Score runs, exactly where scores tie.", **EXAMPLES)
@click.argument("qrels", type=PATH)
@click.argument("runs", type=PATH, nargs=-1, required=True, metavar="RUN...")
@measure_option
@ties_option
@click.option(
    "--rng",
    "seed",
    type=click.IntRange(0),
    metavar="SEED",
    help="Seed of --ties random (drawn if not given) and of --ci (0 if not given).",
)
@click.option("--ci", is_flag=True, help="Also confidence intervals, and how much of the error is the order of ties.")
@interval_options
@stratum_options
@click.option("--per-query", is_flag=True, help="Also the scores of each query.")
@click.option(
    "--save",
    type=PATH,
    metavar="FILE.json",
    help="Save the evaluation in one file for deadheat gate and dh.load_evaluation; of several runs, name a folder."
    " Replaces an earlier save, and nothing else.",
)
@output_options(*PARTS)
@missing_option
@no_relevant_option
@precision_option
@duplicates_option
@decompressed_option
@debug_option
def evaluate(qrels: str, runs: tuple[str, ...], notations: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Score runs against relevance judgments, exactly where scores tie.

    One row a measure, one group of columns a run: the mean over queries, then the spread that the order of equal
    scores alone can give it: standard deviation, smallest and largest value. Of counts the total is shown.

    With --queries and several languages, or --by, one block a stratum, and averages over strata below; csv holds the
    first table.

    --format trec with --ties doc_id is what trec_eval -c says, with --missing skip too what it says without -c; but
    runid is the name of the file, not the tag in it. What trec and csv have no place for is said on standard error.

    Files: TREC, CSV, TSV, Parquet, JSON Lines, JSON; .gz and .zst too.
    """
    from deadheat.report.of_evaluation import Settings, report_evaluations

    # what is mistyped is said before large files are read
    qrels, *given = map(input_path, (qrels, *runs))
    table = queries_path(options)
    inputs = [qrels, *given, *([table] if table else [])]
    form = prepare(options["form"], options["output"], PARTS, inputs)
    options = _checked(options, form)
    measures = parsed_measures(notations)
    check_proportions(options["intervals"], measures)
    names = unique_names(given, lambda path: label(path, "run"))
    targets = save_paths(options["save"], names, inputs, options["output"])
    check_inputs(inputs)
    queries = read_queries(table, options["by"], options["cluster"])
    unmatched: dict[str, tuple[str, str]] = {}
    evaluations = list(_evaluate(qrels, dict(zip(names, given, strict=True)), measures, options, unmatched))
    grouping = None if queries is None else _grouped(evaluations, queries, options, form)
    intervals = with_queries(options["intervals"], queries)
    settings = Settings(
        shown_path(qrels, "the qrels"),
        seed=options["seed"] if options["ties"] == "random" else None,
        digits=options["digits"],
        unmatched=unmatched,
        intervals=intervals if options["ci"] else None,
    )
    report = report_evaluations(evaluations, settings, per_query=options["per_query"], grouping=grouping)
    if targets:
        fact = _save(evaluations, targets, intervals, is_by_strata=bool(grouping and grouping.strata))
        report = replace(report, facts=(*report.facts, fact))
    if form == "markdown" and options["ci"]:
        from deadheat.report.sections import in_sections

        report = in_sections(report)
    print_report(report, form=form, output=options["output"], digits=options["digits"])


def _grouped(evaluations: Sequence[Evaluation], queries: Queries, options: dict[str, Any], form: str) -> Grouping:
    grouping = group(evaluations, queries, options)
    if form == "trec" and grouping.strata:
        msg = f"--format trec has no place for strata, and the queries are in {', '.join(grouping.languages)}:"
        raise click.UsageError(f"{msg} --pool-languages averages over them, another format keeps them apart")
    return grouping


def _save(
    evaluations: Sequence[Evaluation], targets: Sequence[str], intervals: IntervalOptions, *, is_by_strata: bool
) -> Fact:
    """Save the evaluations, and return what the report says of it."""
    from deadheat.report.model import Fact

    for evaluation, target in zip(evaluations, targets, strict=True):
        with writing(target):
            evaluation.save(target, **intervals)
    whole = "; the means in it are over all queries" if is_by_strata else ""
    return Fact("saved", list(targets), "saved", ", ".join(targets) + whole)


def _checked(options: dict[str, Any], form: str) -> dict[str, Any]:
    """Return the options, each with an allowed value, with a seed if one is needed and the options of intervals."""
    check_conventions(options)
    for name in ("ci", "by"):
        if form == "trec" and options[name]:
            raise click.UsageError(f"--format trec has no place for what --{name} adds: choose another format")
    has_intervals = bool(options["ci"] or options["save"])
    seed = options["seed"]
    if seed is not None and options["ties"] != "random" and not has_intervals:
        raise click.UsageError(f"--rng is the seed of --ties random and of --ci, got --ties {options['ties']}")
    if seed is None and options["ties"] == "random":
        seed = secrets.randbelow(10**6)  # named below the table, so that the result can be had again
    intervals = intervals_of(options, seed, for_what="" if has_intervals else "--ci")
    return {**options, "seed": seed, "intervals": intervals}


def _evaluate(
    qrels: str,
    runs: Mapping[str, str],
    measures: list[str] | None,
    options: dict[str, Any],
    unmatched: dict[str, tuple[str, str]],
) -> Iterator[Evaluation]:
    """Give the evaluation of each run, given by name; the qrels are read and checked once.

    Names in `unmatched` a document of the run and one of the qrels, if no document is in both.
    """
    from deadheat.data.tables import Qrels, Run
    from deadheat.evaluation.evaluate import evaluate as evaluate_run

    chosen = {**passed_on(options), "check_duplicates": False}  # each file is checked once
    with progress([qrels, *runs.values()]) as begin:
        begin(qrels)
        judgments = Qrels(qrels)
        if options["check_duplicates"]:
            judgments.check_duplicates()
        for name, path in runs.items():
            begin(path)
            run = Run(path, name=name)
            if options["check_duplicates"]:
                run.check_duplicates()
            evaluation = evaluate_run(judgments, run, measures, rng=options["seed"], **chosen)
            if not len(evaluation.placements.query):
                shared = next(iter(evaluation.query_ids[evaluation.placements.n_retrieved > 0]))
                unmatched[name] = (_a_document(run, shared), _a_document(judgments, shared))
            yield evaluation


def _a_document(table: Qrels | Run, query: str) -> str:
    """Return the first document of a query."""
    frame = table.to_polars()
    return str(frame["doc_id"][int((frame["query_id"] == query).arg_max() or 0)])
