"""deadheat explain."""

from __future__ import annotations

import click

from deadheat.cli.app import debug_option
from deadheat.cli.files import PATH, check_inputs, input_path, label, open_qrels, open_run, shown_path
from deadheat.cli.options import (
    decompressed_option,
    duplicates_option,
    examples,
    reading_options,
    then_by_option,
)
from deadheat.cli.output import output_options, prepare, print_report
from deadheat.cli.progress import progress

PARTS = ("document", "rows", "scores")
EXAMPLES = examples(
    "deadheat explain qrels.txt bm25.run --reported nDCG@10=0.6807",
    "deadheat explain qrels.txt bm25.run --reported 'MRR@10=34.1%, AP=0.412'",
)


@click.command(short_help="Find the conventions behind a reported number.", **EXAMPLES)
@click.argument("qrels", type=PATH)
@click.argument("run", type=PATH)
@click.option(
    "--reported",
    "texts",
    multiple=True,
    required=True,
    metavar="MEASURE=VALUE",
    help="A measure and its reported value, such as nDCG@10=0.6807, to its digits; several with commas between, or"
    " repeated. Several narrow it.",
)
@output_options(*PARTS)
@then_by_option
@reading_options
@duplicates_option
@decompressed_option
@debug_option
def explain(  # noqa: PLR0917 - click passes by name
    qrels: str,
    run: str,
    texts: tuple[str, ...],
    form: str | None,
    output: str | None,
    digits: int | None,
    check_duplicates: bool,  # noqa: FBT001 - click passes by name
) -> None:
    """Say which tool, with which settings, gives the values that were reported for a run.

    "My number differs" has a hundred causes: how ties are broken, how many bits of a score are kept, gain, ideal and
    divisor, which relevance counts, which queries. What known tools do is tried, with their options, and changes of one
    or two settings. A value fits if it is the reported one to its digits. The exit code is 0, also if nothing fits.
    """
    from deadheat.explanation.explain import explain_reported
    from deadheat.explanation.reported import all_reported, read_reported
    from deadheat.report.of_explanation import report_explanation

    wanted = all_reported(read_reported(texts))
    given = [input_path(path) for path in (qrels, run)]
    form = prepare(form, output, PARTS, given)
    check_inputs(given)
    with progress(given) as begin:
        begin(given[0])
        judgments = open_qrels(given[0])
        begin(given[1])
        retrieved = open_run(given[1], label(given[1], "run"))
        if check_duplicates:
            judgments.check_duplicates()
            retrieved.check_duplicates()
        found = explain_reported(judgments, retrieved, wanted)
    report = report_explanation(found, shown_path(given[0], "the qrels"), for_people=form not in {"json", "csv"})
    print_report(report, form=form, output=output, digits=digits)
