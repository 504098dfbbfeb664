"""deadheat ties."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from deadheat.cli.app import debug_option
from deadheat.cli.engines import engine_options
from deadheat.cli.figures import check_figures, figures_options, with_figures
from deadheat.cli.files import PATH, check_inputs, input_path, label, open_qrels, open_run, second_keys
from deadheat.cli.options import (
    beside_option,
    decompressed_option,
    duplicates_option,
    examples,
    measure_option,
    parsed_measures,
    parsed_numbers,
    queries_options,
    reading_options,
    then_by_option,
)
from deadheat.cli.output import output_options, prepare, print_report
from deadheat.cli.progress import progress

PARTS = ("document", "rows", "scores")
EXAMPLES = examples(
    "deadheat ties bm25.run",
    "deadheat ties bm25.run qrels.txt --at 1,10,100 -m nDCG@10",
    "deadheat ties bm25.run qrels.txt --per-query --beside input -o ties.csv",
)


@click.command(short_help="Show the ties of a run, and what they decide.", **EXAMPLES)
@click.argument("run", type=PATH)
@click.argument("qrels", type=PATH, required=False)
@click.option("--at", metavar="1,5,10,...", callback=parsed_numbers, help="Cutoffs; default 1,3,5,10,20,50,100.")
@measure_option
@beside_option
@click.option(
    "--per-query", is_flag=True, help="Add the ties of each query and, with QRELS, what they do to its values."
)
@figures_options
@output_options(*PARTS)
@queries_options
@then_by_option
@reading_options
@engine_options
@duplicates_option
@decompressed_option
@debug_option
def ties(  # noqa: PLR0917 - click passes by name
    run: str,
    qrels: str | None,
    at: tuple[int, ...] | None,
    notations: tuple[str, ...],
    beside: str | None,
    per_query: bool,  # noqa: FBT001 - click passes by name
    form: str | None,
    output: str | None,
    digits: int | None,
    missing: str,
    no_relevant: str,
    figures: str | None,
    figure_format: str,
    check_duplicates: bool,  # noqa: FBT001 - click passes by name
) -> None:
    """Show how many documents of a run share their score, and what that decides.

    Ties by query, size and cutoff, and signs that scores are coarse. With QRELS also how much of each measure is
    decided by the order of ties: the spread of its mean; the queries whose value depends on it, and their share; and,
    if ties were broken at random, the part of the squared standard error of the mean that would be due to that. Then
    values with ties broken by a rule beside the exact ones, and whether that makes a difference.

    csv holds one table: of the queries with --per-query, else of the measures, or of the cutoffs without QRELS.
    """
    from deadheat.profile import CUTOFFS, tie_profile
    from deadheat.report.of_profile import report_profile, with_second_key

    _check_usage(qrels, notations, missing, no_relevant, beside)
    given = [input_path(path) for path in (run, qrels) if path is not None]
    form = prepare(form, output, PARTS, given)
    measures = parsed_measures(notations)
    check_figures(figures)
    check_inputs(given)
    options: dict[str, Any] = {"missing": missing, "no_relevant": no_relevant, "beside": beside or "doc_id"}
    options["check_duplicates"] = check_duplicates
    name = label(given[0], "run")
    with progress(given) as begin:
        begin(given[0])
        of_run, judgments = open_run(given[0], name, keyed=False), None
        for path in given[1:]:
            begin(path)
            judgments = open_qrels(path)
        profile = tie_profile(of_run, judgments, at or CUTOFFS, measures, **options)
        keyed = tie_profile(open_run(given[0], name), judgments, (), measures, **options) if second_keys() else None
    report = report_profile(profile, every_measure=form == "json", missing=missing, per_query=per_query, digits=digits)
    if keyed is not None:
        report = with_second_key(report, profile, keyed, ", then ".join(label(key, "run") for key in second_keys()))
    if form == "csv" and judgments is not None and not per_query:
        tables = sorted(report.tables, key=lambda table: table.key != "stability")
        report = replace(report, tables=tuple(tables))
    if figures is not None:
        subjects: list[tuple[str, Any, dict[str, Any]]] = [("", profile, {})]
        own = [one.measure.label for one in profile.decided]
        report = with_figures(report, figures, figure_format, subjects, own)
    print_report(report, form=form, output=output, digits=digits)


def _check_usage(
    qrels: str | None, notations: tuple[str, ...], missing: str, no_relevant: str, beside: str | None
) -> None:
    """Refuse options that need judgments where there are none, and a rule that does not exist."""
    from deadheat.evaluation.beside import check_rule

    if beside:
        check_rule(beside)
    needing = {
        "-m": "-m MEASURE" if notations else "",
        "--missing": "--missing" if missing != "empty" else "",
        "--no-relevant": "--no-relevant" if no_relevant != "zero" else "",
        "--beside": f"--beside {beside}" if beside else "",
    }
    for name, given in needing.items():
        if given and qrels is None:
            raise click.UsageError(f"{name} needs QRELS: deadheat ties RUN QRELS {given}")
