"""The command ``deadheat fuse``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deadheat.core.cli.errors import refuse, refuse_if
from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import open_qrels, open_run
from deadheat.core.cli.options import LIMITS, READING, command, complete_from, with_options
from deadheat.core.cli.paths import INPUT, REPORT, STDOUT, named_runs
from deadheat.core.cli.printing import Output, check_output, format_option, writing
from deadheat.core.cli.read_options import measures_of
from deadheat.core.cli.row_files import chosen_format_of, write_rows
from deadheat.core.cli.streams import write_note

TIES = ("expected", "doc_id", "input")
DEFAULT_MEASURE = "nDCG@10"


def _parse_weights(_: click.Context, __: click.Parameter, text: str | None) -> Any:  # noqa: ANN401 - numbers, or a dict
    """Return the weights of runs: numbers in the order of the runs, or each with a name."""
    if text is None:
        return None
    parts = text.replace(",", " ").split()
    try:
        if all("=" in part for part in parts):
            pairs = [part.rpartition("=") for part in parts]
            return {name: float(number) for name, _, number in pairs}
        return [float(part) for part in parts]
    except ValueError:
        raise click.UsageError(f"--weights {text!r}: give numbers as in 0.3,0.7, or bm25=0.3,dense=0.7") from None


@command(
    "deadheat fuse bm25.run dense.run -o hybrid.run",
    "deadheat fuse bm25.run dense.run --method wsum --norm min-max --weights 0.3,0.7 -o hybrid.run",
    "deadheat fuse bm25.run dense.run --qrels qrels.txt -m nDCG@10    # how far tie order moves it",
    "deadheat fuse a.run b.run c.run --method mapfuse --qrels training.txt -o fused.run",
)
@click.argument("runs", type=INPUT, nargs=-1, required=True, metavar="RUN RUN...")
@option(
    "--method",
    metavar="NAME",
    default="rrf",
    show_default=True,
    shell_complete=complete_from("deadheat.plugins.fusion.catalogue:METHODS"),
    help="rrf, wsum, sum, mnz, rbc, isr, bordafuse, condorcet, mapfuse and others: docs/guide/fusion.md has all.",
    rank=20,
)
@option(
    "--norm",
    metavar="NAME",
    help="Bring scores to one scale first: min-max, max, sum, zmuv, rank, borda, l2 or dbsf. Default: none.",
    rank=30,
)
@option(
    "--weights",
    metavar="W,W...",
    callback=_parse_weights,
    help="Of the runs, in their order, or by name as in bm25=0.3,dense=0.7. Default: 1 each.",
    rank=35,
)
@option("--k", type=float, help="Of rrf; default 60.", rank=90)
@option("--phi", type=float, help="Of rbc; default 0.8.")
@option("--gamma", type=float, help="Of gmnz; default 1.")
@option("--sigma", type=float, help="Of logn_isr; default 0.01.")
@option("--n-segments", type=int, help="Of probfuse; default 25.")
@option("--w", type=int, help="Of slidefuse, ranks on each side; default 5.")
@option("--window", type=click.IntRange(1), metavar="N", help="Of each run the first N ranks count.", rank=100)
@option(
    "--ties",
    type=click.Choice(TIES),
    default="expected",
    show_default=True,
    help="Ranks of equal scores: the mean over their orders; by document id, as trec_eval; or of the file.",
    heading="ties",
    rank=80,
)
@option(
    "--qrels",
    type=INPUT,
    metavar="QRELS",
    help="Judgments: for methods that learn; and to evaluate the inputs and the result with -m.",
    heading="input",
    rank=60,
)
@option("-l", "--rel", type=float, default=1.0, help="Lowest relevance that methods learn from; default 1.")
@with_options("measures", "seed")
@option("--name", metavar="TEXT", help="Label of the result, and the last field of a TREC run.", heading="output")
@option(
    "-o",
    "--output",
    "target",
    type=REPORT,
    metavar="FILE",
    help="Write the fused run, in the format that the name implies; - is stdout.",
    heading="output",
    rank=40,
)
@option("--to", "to_format", metavar="FORMAT", help="Format of the run; default: by its name.", heading="output")
@option("--force", is_flag=True, help="Replace FILE if it exists.", heading="output")
@format_option("document", "rows")
@option(
    "--digits",
    type=click.IntRange(0, 15),
    help="Decimals; default 4, but all of them in json and csv.",
    heading="output",
)
@with_options(*READING, *LIMITS, "flags")
def fuse(runs: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Make one run of several: by reciprocal ranks, weighted scores, and other methods, exact where scores tie.

    A method that uses ranks gives equal scores the mean over the ranks that they may have. The report says how many
    documents of the result tie; with --qrels also how far the order of equal scores in the inputs could have moved it.
    """
    from deadheat.plugins.fusion.catalogue import METHODS
    from deadheat.plugins.fusion.fuse import fuse_runs
    from deadheat.plugins.fusion.report import report_fused, score_fused

    refuse_if(len(runs) < 2, "give two runs or more: deadheat fuse RUN RUN")
    target: str | None = options["target"]
    written = None
    if target is not None:
        written = chosen_format_of(target, options["to_format"])
        check_output(target, [*runs, *filter(None, [options["qrels"]])])
        exists = target != STDOUT and Path(target).is_file() and not options["force"]
        refuse_if(exists, f"{target!r} exists already: choose another name, or --force to replace it")
    else:
        refuse(("to_format", "force", "name"), "is about -o FILE, which is missing")
    if options["qrels"] is None:
        refuse(("notations",), "needs --qrels FILE")
    output = Output(options, [*runs, options["qrels"]])
    opened = {name: open_run(path, name) for name, path in named_runs(runs).items()}
    qrels = None if options["qrels"] is None else open_qrels(options["qrels"])
    method = METHODS.get(options["method"])
    learns = method is not None and not method().is_fitted
    fused = fuse_runs(
        opened,
        options["method"],
        norm=options["norm"],
        weights=options["weights"],
        parameters={name: options[name] for name in ("k", "phi", "gamma", "sigma", "n_segments", "w")},
        window=options["window"],
        ties=options["ties"],
        qrels=qrels if learns else None,
        rel=options["rel"],
        name=options["name"] or (Path(target).stem if target not in {None, STDOUT} else None),
    )
    if target is not None and written is not None:
        with writing(target):
            write_rows(fused.run.to_polars(), target, "run", written, options["name"] or "deadheat")
    scored = None
    if qrels is not None:
        measures = measures_of(options if options["notations"] else {**options, "notations": (DEFAULT_MEASURE,)})
        scored = score_fused(fused, qrels, measures, options["seed"])
    if target == STDOUT:
        for note in fused.run.notes:
            write_note(f"Note: {note}")
        return
    output.print(report_fused(fused, scored, path=target))
