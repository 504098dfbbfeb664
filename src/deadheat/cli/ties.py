"""deadheat ties."""

from __future__ import annotations

import click

from deadheat.cli.app import debug_option
from deadheat.cli.options import duplicates_option, examples, measure_option, parsed_numbers, split_measures
from deadheat.cli.output import chosen_format, output_options, print_report
from deadheat.cli.progress import progress

FORMATS = ("table", "json", "markdown")
EXAMPLES = examples(
    "deadheat ties bm25.run",
    "deadheat ties bm25.run qrels.txt --at 1,10,100 -m nDCG@10",
    "deadheat ties bm25.run --format json",
)


@click.command(short_help="Show the ties of a run, and what they decide.", **EXAMPLES)
@click.argument("run", type=click.Path())
@click.argument("qrels", type=click.Path(), required=False)
@click.option("--at", metavar="1,5,10,...", callback=parsed_numbers, help="Cutoffs; default 1,3,5,10,20,50,100.")
@measure_option
@output_options(*FORMATS)
@duplicates_option
@debug_option
def ties(  # noqa: PLR0917 - click passes by name
    run: str,
    qrels: str | None,
    at: tuple[int, ...] | None,
    notations: tuple[str, ...],
    form: str | None,
    output: str | None,
    digits: int | None,
    check_duplicates: bool,  # noqa: FBT001 - click passes by name
) -> None:
    """Show how many documents of a run share their score, and what that decides.

    Ties by query, size and cutoff, and signs that scores are coarse. With QRELS also how much of each measure is
    decided by the order of ties: the spread of its mean; the queries whose value depends on it, and their share; and,
    if ties were broken at random, the part of the squared standard error of the mean that would be due to that.
    """
    from deadheat.profile import CUTOFFS, tie_profile
    from deadheat.report.of_profile import report_profile

    if notations and qrels is None:
        raise click.UsageError("-m needs QRELS: deadheat ties RUN QRELS -m MEASURE")
    form = chosen_format(form, output, FORMATS)
    with progress([run]) as begin:
        begin(run)
        measures = split_measures(notations) or None
        profile = tie_profile(run, qrels, at or CUTOFFS, measures, check_duplicates=check_duplicates)
    print_report(report_profile(profile, every_measure=form == "json"), form=form, output=output, digits=digits)
