"""deadheat evaluate."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import click

from deadheat.cli.app import debug_option
from deadheat.cli.files import check_inputs, input_path, label, shown_path
from deadheat.cli.options import (
    complete_from,
    duplicates_option,
    examples,
    measure_option,
    missing_option,
    no_relevant_option,
    parsed_measures,
    precision_option,
    unique_names,
)
from deadheat.cli.output import FORMATS, emit, output_options, prepare, print_report
from deadheat.cli.progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deadheat.data import Qrels, Run
    from deadheat.evaluation import Evaluation
    from deadheat.report.model import Report

WITHOUT_FACTS = ("csv", "trec")  # formats that have no place for what stands beside the numbers
EXAMPLES = examples(
    "deadheat evaluate qrels.txt bm25.run",
    "deadheat evaluate qrels.txt bm25.run dense.run.gz -m nDCG@10 -m 'P(rel=2)@5'",
    "deadheat evaluate qrels.txt bm25.run --ties doc_id --format trec    # as trec_eval does",
    "deadheat evaluate qrels.txt bm25.run --per-query -o scores.csv",
)


@click.command(short_help="Score runs, exactly where scores tie.", **EXAMPLES)
@click.argument("qrels", type=click.Path())
@click.argument("runs", type=click.Path(), nargs=-1, required=True, metavar="RUN...")
@measure_option
@click.option(
    "--ties",
    metavar="POLICY",
    default="expected",
    show_default=True,
    shell_complete=complete_from("deadheat.ties:POLICIES"),
    help="What a tie counts: expected (the exact mean over its orders), best, worst, doc_id (as trec_eval), input"
    " (the order of the file) or random.",
)
@click.option("--rng", "seed", type=click.IntRange(0), metavar="SEED", help="Seed of --ties random.")
@click.option("--per-query", is_flag=True, help="Also the scores of each query.")
@output_options(*FORMATS)
@missing_option
@no_relevant_option
@precision_option
@duplicates_option
@debug_option
def evaluate(qrels: str, runs: tuple[str, ...], notations: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Score runs against relevance judgments, exactly where scores tie.

    One row a measure, one group of columns a run: the mean over queries, then the spread that the order of equal
    scores alone can give it: standard deviation, smallest and largest value. Of counts the total is shown.

    Files: TREC, CSV, TSV, Parquet, JSON Lines, JSON; .gz and .zst too.
    """
    from deadheat.report.of_evaluation import Settings, report_evaluations

    # what is mistyped is said before large files are read
    qrels, *given = map(input_path, (qrels, *runs))
    form = prepare(options["form"], options["output"], inputs=(qrels, *given))
    options = _checked(options)
    measures = parsed_measures(notations)
    check_inputs([qrels, *given])
    unmatched: dict[str, tuple[str, str]] = {}
    evaluations = list(_evaluate(qrels, given, measures, options, unmatched))
    settings = Settings(
        shown_path(qrels, "the qrels"),
        missing=options["missing"],
        no_relevant=options["no_relevant"],
        score_precision=options["score_precision"],
        seed=options["seed"],
        digits=options["digits"],
        unmatched=unmatched,
    )
    report = report_evaluations(evaluations, settings, per_query=options["per_query"])
    if form == "trec":
        emit(_as_trec(report, options["digits"]), options["output"])
    else:
        print_report(report, form=form, output=options["output"], digits=options["digits"])
    for fact in report.facts:
        if fact.is_warning and form in WITHOUT_FACTS:
            click.echo(f"Warning: {fact.text}", err=True)


def _checked(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options, each with an allowed value, and with a seed if one is needed."""
    from deadheat.errors import check_choice
    from deadheat.evaluating import MISSING, NO_RELEVANT
    from deadheat.precision import check_precision
    from deadheat.ties import POLICIES

    check_choice("missing", options["missing"], MISSING)
    check_choice("no_relevant", options["no_relevant"], NO_RELEVANT)
    check_choice("ties", options["ties"], POLICIES)
    precision = check_precision(options["score_precision"])
    seed = options["seed"]
    if seed is not None and options["ties"] != "random":
        raise click.UsageError(f"--rng is the seed of --ties random, got --ties {options['ties']}")
    if seed is None and options["ties"] == "random":
        seed = secrets.randbelow(10**6)  # named below the table, so that the result can be had again
    return {**options, "score_precision": precision, "seed": seed}


def _evaluate(
    qrels: str,
    runs: Sequence[str],
    measures: list[str] | None,
    options: dict[str, Any],
    unmatched: dict[str, tuple[str, str]],
) -> Iterator[Evaluation]:
    """Give the evaluation of each run; the qrels are read and checked once.

    Names in `unmatched` a document of the run and one of the qrels, if no document is in both.
    """
    from deadheat.data import Qrels, Run
    from deadheat.evaluating import evaluate as evaluate_run

    names = unique_names(runs, lambda path: label(path, "run"))
    with progress(runs) as begin:
        judgments = Qrels(qrels)
        if options["check_duplicates"]:
            judgments.check_duplicates()
        for path, name in zip(runs, names, strict=True):
            begin(path)
            run = Run(path, name=name)
            if options["check_duplicates"]:
                run.check_duplicates()
            evaluation = evaluate_run(
                judgments,
                run,
                measures,
                ties=options["ties"],
                rng=options["seed"],
                missing=options["missing"],
                no_relevant=options["no_relevant"],
                score_precision=options["score_precision"],
                check_duplicates=False,
            )
            if not len(evaluation.placements.query):
                shared = next(iter(evaluation.query_ids[evaluation.placements.n_retrieved > 0]))
                unmatched[name] = (_a_document(run, shared), _a_document(judgments, shared))
            yield evaluation


def _a_document(table: Qrels | Run, query: str) -> str:
    """Return the first document of a query."""
    frame = table.to_polars()
    return str(frame["doc_id"][int((frame["query_id"] == query).arg_max() or 0)])


def _as_trec(report: Report, digits: int | None) -> str:
    from deadheat.report.as_trec import as_trec

    *per_query, summary = report.tables
    return as_trec(summary, per_query[0] if per_query else None, digits=digits)
