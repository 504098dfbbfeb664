"""The command ``deadheat agree``."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import click

import deadheat as dh
from deadheat.core.cli.errors import refuse_if, refuse_others
from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import is_saved, open_run
from deadheat.core.cli.options import (
    LAST,
    READING,
    command,
    with_options,
)
from deadheat.core.cli.paths import INPUT, named_runs
from deadheat.core.cli.printing import Output, full_option, output_options
from deadheat.core.errors import SwappedFilesError
from deadheat.core.phases import phase


@command(
    "deadheat agree bm25.run dense.run",
    "deadheat agree first.run second.run third.run -p 0.98 -k 100",
    "deadheat agree before.run after.run --per-query -o agree.csv",
    "deadheat agree by-human/ by-judge/    # the order of systems, saved by deadheat evaluate --save",
)
@click.argument("runs", type=INPUT, nargs=-1, required=True, metavar="RUN RUN...|FOLDER FOLDER")
@option("-p", "--persistence", "p", type=float, default=0.9, show_default=True, help="Of rank-biased overlap, 0 to 1.")
@option("-k", "--cutoff", type=int, default=10, show_default=True, help="Of the overlap of the top k.")
@option(
    "--per-query", is_flag=True, help="Add a table of all queries; csv then holds it alone.", heading="output", rank=110
)
@output_options("document", "rows", "scores")
@full_option
@with_options(*READING, *LAST)
def agree(runs: tuple[str, ...], *, per_query: bool, **options: Any) -> None:  # noqa: ANN401 - click's
    """Show how far the rankings of two runs agree, without judgments, and exactly where scores tie.

    Kendall's tau and AP correlation over the documents that both lists have; rank-biased overlap with ties as equals
    (w), averaged over their orders (a), or averaged and corrected for (b); and the overlap of the top k. Of more than
    two runs, every pair is compared.

    Of two folders of saved evaluations, the orders of the systems are compared, measure by measure, by means over the
    queries that both have.
    """
    from deadheat.plugins.agree.report import report_agreements
    from deadheat.plugins.compare.report_orders import report_orders

    refuse_if(len(runs) < 2, "give two runs: deadheat agree RUN RUN")
    if all(Path(one).is_dir() and any(map(is_saved, Path(one).glob("*.json"))) for one in runs):
        refuse_if(len(runs) > 2, "give two folders of saved evaluations: deadheat agree FOLDER FOLDER")
        refuse_others(
            {"runs", "p", "form", "output", "digits", "full"},
            "is for rankings, and folders of saved evaluations have orders of systems",
        )
        output = Output(options)
        with phase("comparing orders of systems"):
            report = report_orders(dh.agree_systems(*runs, p=options["p"]))
        output.print(report)
        return
    output = Output(options, runs)
    try:
        opened = [open_run(path, name) for name, path in named_runs(runs).items()]
    except SwappedFilesError as error:
        error.hint = "These are judgments: deadheat judges HUMAN JUDGE compares labels, agree compares rankings"
        raise
    found = [dh.agree(one, other, p=options["p"], cutoff=options["cutoff"]) for one, other in combinations(opened, 2)]
    if output.form == "csv" and per_query:
        output.table = "queries"
    output.print(report_agreements(found, per_query=per_query))
