"""deadheat diff."""

from typing import Any

import click

from deadheat.cli.files import INPUT, named_runs, open_qrels, open_run
from deadheat.cli.options import FILE, LAST, LISTS, READING, examples, given_conventions, measures_of, takes
from deadheat.cli.output import Output, output_options


@click.command(
    short_help="Say what differs between two sets of judgments.",
    **examples(
        "deadheat diff old.qrels new.qrels",
        "deadheat diff old.qrels new.qrels bm25.run dense.run -m nDCG@10 --format markdown",
        "deadheat diff old.qrels new.qrels results/*.json    # saved by deadheat evaluate --save",
    ),
)
@click.argument("old", type=INPUT)
@click.argument("new", type=INPUT)
@click.argument("runs", type=INPUT, nargs=-1, metavar="[RUN|SAVED]...")
@click.option(
    "--collection", "documents", **FILE, help="All documents that exist: judged ones that are not in it are named."
)
@takes("measures", "ties_not_drawn")
@output_options("document", "rows", "scores")
@takes(*LISTS, *READING, *LAST)
def diff(old: str, new: str, runs: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Say which queries and judgments differ, from which grade to which.

    With runs or saved evaluations, also what that does to their measures and to their order, and which queries cause
    it. Measures and conventions of saved evaluations are their own, unless others are given.
    """
    from deadheat.comparison.history import diff_qrels
    from deadheat.evaluation.saved import is_saved
    from deadheat.report.of_judgments import report_diff

    output = Output(options, [old, new, options["documents"], *runs])
    found = diff_qrels(
        open_qrels(old),
        open_qrels(new),
        {name: path if is_saved(path) else open_run(path, name) for name, path in named_runs(runs).items()},
        measures_of(options) if options["notations"] else None,
        collection=options["documents"],
        **given_conventions(options),
    )
    output.print(report_diff(found, for_people=not output.is_data))
