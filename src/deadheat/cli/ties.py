"""deadheat ties."""

from __future__ import annotations

import click

from deadheat.cli.app import debug_option
from deadheat.cli.files import PATH, check_inputs, input_path, label, open_qrels, open_run
from deadheat.cli.options import (
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

PARTS = ("document",)
EXAMPLES = examples(
    "deadheat ties bm25.run",
    "deadheat ties bm25.run qrels.txt --at 1,10,100 -m nDCG@10",
    "deadheat ties bm25.run --format json",
)


@click.command(short_help="Show the ties of a run, and what they decide.", **EXAMPLES)
@click.argument("run", type=PATH)
@click.argument("qrels", type=PATH, required=False)
@click.option("--at", metavar="1,5,10,...", callback=parsed_numbers, help="Cutoffs; default 1,3,5,10,20,50,100.")
@measure_option
@output_options(*PARTS)
@queries_options
@then_by_option
@reading_options
@duplicates_option
@decompressed_option
@debug_option
def ties(  # noqa: PLR0917 - click passes by name
    run: str,
    qrels: str | None,
    at: tuple[int, ...] | None,
    notations: tuple[str, ...],
    form: str | None,
    output: str | None,
    digits: int | None,
    missing: str,
    no_relevant: str,
    check_duplicates: bool,  # noqa: FBT001 - click passes by name
) -> None:
    """Show how many documents of a run share their score, and what that decides.

    Ties by query, size and cutoff, and signs that scores are coarse. With QRELS also how much of each measure is
    decided by the order of ties: the spread of its mean; the queries whose value depends on it, and their share; and,
    if ties were broken at random, the part of the squared standard error of the mean that would be due to that.
    """
    from deadheat.profile import CUTOFFS, tie_profile
    from deadheat.report.of_profile import report_profile

    if qrels is None and (notations or missing != "empty" or no_relevant != "zero"):
        name = "-m" if notations else "--missing" if missing != "empty" else "--no-relevant"
        raise click.UsageError(f"{name} needs QRELS: deadheat ties RUN QRELS {'-m MEASURE' if notations else name}")
    given = [input_path(path) for path in (run, qrels) if path is not None]
    form = prepare(form, output, PARTS, given)
    measures = parsed_measures(notations)
    check_inputs(given)
    with progress(given) as begin:
        begin(given[0])
        of_run, judgments = open_run(given[0], label(given[0], "run")), None
        for path in given[1:]:
            begin(path)
            judgments = open_qrels(path)
        profile = tie_profile(
            of_run,
            judgments,
            at or CUTOFFS,
            measures,
            missing=missing,
            no_relevant=no_relevant,
            check_duplicates=check_duplicates,
        )
    report = report_profile(profile, every_measure=form == "json", missing=missing)
    print_report(report, form=form, output=output, digits=digits)
