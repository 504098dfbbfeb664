"""deadheat evaluate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from deadheat.cli.app import debug_option
from deadheat.cli.options import (
    complete_from,
    duplicates_option,
    examples,
    measure_option,
    precision_option,
    split_measures,
    unique_names,
)
from deadheat.cli.output import FORMATS, chosen_format, emit, output_options, print_report
from deadheat.cli.progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deadheat.evaluation import Evaluation
    from deadheat.report.model import Report

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
@click.option(
    "--missing",
    metavar="empty|skip|error",
    default="empty",
    show_default=True,
    help="Queries that a run lacks count as empty rankings, are left out, or are an error.",
)
@click.option(
    "--no-relevant",
    metavar="zero|skip",
    default="zero",
    show_default=True,
    help="Queries without a relevant document score 0, or are left out.",
)
@precision_option
@duplicates_option
@debug_option
def evaluate(qrels: str, runs: tuple[str, ...], notations: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Score runs against relevance judgments, exactly where scores tie.

    One row a measure, one group of columns a run: the mean over queries, then the spread that the order of equal
    scores alone can give it: standard deviation, smallest and largest value. Of counts the total is shown.

    Files: TREC, CSV, TSV, Parquet, JSON Lines, JSON; .gz and .zst too.
    """
    from deadheat.precision import check_precision
    from deadheat.report.of_evaluation import Settings, report_evaluations
    from deadheat.ties import check_policy

    check_policy(options["ties"])  # what is mistyped is said before large files are read
    options["score_precision"] = check_precision(options["score_precision"])
    form = chosen_format(options["form"], options["output"])
    if options["ties"] == "random" and options["seed"] is None:
        import secrets

        options["seed"] = secrets.randbelow(10**6)  # named below the table, so that the result can be had again
    measures = split_measures(notations) or None
    evaluations = list(_evaluate(qrels, runs, measures, options))
    settings = Settings(
        qrels,
        missing=options["missing"],
        no_relevant=options["no_relevant"],
        score_precision=options["score_precision"],
        seed=options["seed"] if options["ties"] == "random" else None,
        digits=options["digits"],
    )
    report = report_evaluations(evaluations, settings, per_query=options["per_query"])
    if form == "trec":
        emit(_as_trec(report, options["digits"]), options["output"])
    else:
        print_report(report, form=form, output=options["output"], digits=options["digits"])


def _evaluate(
    qrels: str, runs: Sequence[str], measures: list[str] | None, options: dict[str, Any]
) -> Iterator[Evaluation]:
    """Give the evaluation of each run; the qrels are read and checked once."""
    from pathlib import Path

    from deadheat.data import Qrels, Run, label_of
    from deadheat.evaluation import evaluate as evaluate_run
    from deadheat.measures import parse_measure

    for notation in measures or ():
        parse_measure(notation)  # said before large files are read
    names = unique_names(runs, lambda path: label_of(Path(path)))
    with progress(runs) as begin:
        judgments = Qrels(qrels)
        if options["check_duplicates"]:
            judgments.check_duplicates()
        for path, name in zip(runs, names, strict=True):
            begin(path)
            run = Run(path, name=name)
            if options["check_duplicates"]:
                run.check_duplicates()
            yield evaluate_run(
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


def _as_trec(report: Report, digits: int | None) -> str:
    from deadheat.report.as_trec import as_trec

    *per_query, summary = report.tables
    return as_trec(summary, per_query[0] if per_query else None, digits=digits)
