"""deadheat agree."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import click

from deadheat.cli.app import debug_option
from deadheat.cli.files import PATH, check_inputs, input_path, label, open_run, read_option
from deadheat.cli.options import decompressed_option, duplicates_option, examples, reading_options, unique_names
from deadheat.cli.output import output_options, prepare, print_report
from deadheat.cli.progress import progress

PARTS = ("document", "rows", "scores")
EXAMPLES = examples(
    "deadheat agree bm25.run dense.run",
    "deadheat agree first.run second.run third.run -p 0.98 -k 100",
    "deadheat agree before.run after.run --per-query -o agree.csv",
)


@click.command(short_help="Show how far the rankings of two runs agree.", **EXAMPLES)
@click.argument("runs", type=PATH, nargs=-1, required=True, metavar="RUN RUN...")
@click.option(
    "-p", "--persistence", "p", type=float, default=0.9, show_default=True, help="Of rank-biased overlap, 0 to 1."
)
@click.option("-k", "--cutoff", type=int, default=10, show_default=True, help="Of the overlap of the top k.")
@click.option("--per-query", is_flag=True, help="Add a table of all queries; csv then holds it alone.")
@output_options(*PARTS)
@reading_options
@duplicates_option
@decompressed_option
@debug_option
def agree(
    runs: tuple[str, ...],
    *,
    p: float,
    cutoff: int,
    per_query: bool,
    form: str | None,
    output: str | None,
    digits: int | None,
    check_duplicates: bool,
) -> None:
    """Show how far the rankings of two runs agree, without judgments, and exactly where scores tie.

    Kendall's tau and AP correlation over the documents that both lists have; rank-biased overlap with ties as equals
    (w), averaged over their orders (a), or averaged and corrected for (b); and the overlap of the top k. Of more than
    two runs, every pair is compared.
    """
    from deadheat.comparison.agreement import agree as compare
    from deadheat.report.of_agreement import report_agreements

    if len(runs) < 2:
        raise click.UsageError("give two runs: deadheat agree RUN RUN")
    given = [input_path(path) for path in runs]
    form = prepare(form, output, PARTS, given)
    check_inputs(given)
    precision = read_option("score_precision", None)
    with progress(given) as begin:
        opened = []
        for path, name in zip(given, unique_names(given, lambda path: label(path, "run")), strict=True):
            begin(path)
            opened.append(open_run(path, name))
            if check_duplicates:
                opened[-1].check_duplicates()
        options = {"p": p, "cutoff": cutoff, "score_precision": precision}
        found = [
            compare(one, other, check_duplicates=False, **options)  # type: ignore[arg-type]  # each of its own type
            for one, other in combinations(opened, 2)
        ]
    report = report_agreements(found, per_query=per_query)
    if form == "csv" and per_query:
        report = replace(report, tables=report.tables[::-1])
    print_report(report, form=form, output=output, digits=digits)
