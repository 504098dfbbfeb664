"""deadheat agree."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import click

from deadheat.cli.app import refuse, refuse_if
from deadheat.cli.files import INPUT, named_runs, open_run
from deadheat.cli.options import LAST, READING, examples, takes
from deadheat.cli.output import Output, output_options


@click.command(
    short_help="Show how far the rankings of two runs agree.",
    **examples(
        "deadheat agree bm25.run dense.run",
        "deadheat agree first.run second.run third.run -p 0.98 -k 100",
        "deadheat agree before.run after.run --per-query -o agree.csv",
        "deadheat agree by-human/ by-judge/    # the order of systems, saved by deadheat evaluate --save",
    ),
)
@click.argument("runs", type=INPUT, nargs=-1, required=True, metavar="RUN RUN...|FOLDER FOLDER")
@click.option(
    "-p", "--persistence", "p", type=float, default=0.9, show_default=True, help="Of rank-biased overlap, 0 to 1."
)
@click.option("-k", "--cutoff", type=int, default=10, show_default=True, help="Of the overlap of the top k.")
@click.option("--per-query", is_flag=True, help="Add a table of all queries; csv then holds it alone.")
@output_options("document", "rows", "scores")
@takes(*READING, *LAST)
def agree(runs: tuple[str, ...], *, per_query: bool, **options: Any) -> None:  # noqa: ANN401 - click's
    """Show how far the rankings of two runs agree, without judgments, and exactly where scores tie.

    Kendall's tau and AP correlation over the documents that both lists have; rank-biased overlap with ties as equals
    (w), averaged over their orders (a), or averaged and corrected for (b); and the overlap of the top k. Of more than
    two runs, every pair is compared.

    Of two folders of saved evaluations, the orders of the systems are compared, measure by measure.
    """
    from pathlib import Path

    from deadheat.comparison.agreement import agree as compare, agree_systems
    from deadheat.errors import SwappedFilesError
    from deadheat.evaluation.saved import is_saved
    from deadheat.report.of_judgments import report_agreements, report_orders

    refuse_if(len(runs) < 2, "give two runs: deadheat agree RUN RUN")
    if all(Path(one).is_dir() and any(map(is_saved, Path(one).glob("*.json"))) for one in runs):
        refuse_if(len(runs) > 2, "give two folders of saved evaluations: deadheat agree FOLDER FOLDER")
        refuse(("per_query", "cutoff"), "is for rankings, and folders of saved evaluations have orders of systems")
        output = Output(options)
        output.print(report_orders(agree_systems(*runs, p=options["p"])))
        return
    output = Output(options, runs)
    try:
        opened = [open_run(path, name) for name, path in named_runs(runs).items()]
    except SwappedFilesError as error:
        error.hint = "These are judgments: deadheat judges HUMAN JUDGE compares labels, agree compares rankings"
        raise
    measured = {"p": options["p"], "cutoff": options["cutoff"], "check_duplicates": False}
    found = [compare(one, other, **measured) for one, other in combinations(opened, 2)]
    report = report_agreements(found, per_query=per_query)
    if output.form == "csv" and per_query:
        report = replace(report, tables=report.tables[::-1])
    output.print(report)
