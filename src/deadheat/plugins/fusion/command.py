"""The command ``deadheat fuse``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import deadheat as dh
from deadheat.core.cli.beside_report import with_companion_options, with_companions
from deadheat.core.cli.errors import refuse, refuse_if
from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import open_qrels, open_run
from deadheat.core.cli.options import LAST, READING, command, complete_from, with_options
from deadheat.core.cli.paths import INPUT, REPORT, STDOUT, label, named_runs
from deadheat.core.cli.printing import Output, check_output, format_option, full_option, writing
from deadheat.core.cli.read_options import measures_of
from deadheat.core.cli.row_files import chosen_format_of, write_rows
from deadheat.core.cli.streams import write_note
from deadheat.core.phases import phase

if TYPE_CHECKING:
    from deadheat.core.data.qrels import Qrels
    from deadheat.core.data.run import Run
    from deadheat.core.report.model import Report

PARAMETERS = ("k", "phi", "gamma", "sigma", "n_segments", "w")
OF_TUNING = ("grid", "folds", "cluster", "queries")
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
    "deadheat fuse bm25.run dense.run --tune nDCG@10 --qrels qrels.txt -o hybrid.run",
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
    rank=45,
)
@option(
    "--tune",
    "tune",
    metavar="MEASURE",
    help="Find the parameters that are best by this measure on --qrels, and what they are worth on other queries.",
    rank=55,
)
@option(
    "--grid",
    multiple=True,
    metavar="NAME=V,V...|N",
    help="With --tune: values of a parameter, as k=10,20,60, or the number of values of a weight. May be repeated.",
)
@option("--folds", type=click.IntRange(2), default=10, show_default=True, help="With --tune: parts of the queries.")
@option("-l", "--rel", type=float, default=1.0, help="Lowest relevance that methods learn from; default 1.")
@with_options("measures", "cluster", "queries", "seed")
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
@full_option
@with_companion_options("fusion", such_as="tuning")
@with_options(*READING, *LAST)
def fuse(runs: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Make one run of several: by reciprocal ranks, weighted scores, and other methods, exact where scores tie.

    A method that uses ranks gives equal scores the mean over the ranks that they may have. The report says how many
    documents of the result tie; with --qrels also how far the order of equal scores in the inputs could have moved it.
    """
    refuse_if(len(runs) < 2, "give two runs or more: deadheat fuse RUN RUN")
    if options["tune"] is None:
        refuse(OF_TUNING, "is for --tune MEASURE, which is missing")
    else:
        refuse(("notations",), "is not for --tune, which names the measure")
        refuse_if(options["qrels"] is None, "--tune needs --qrels FILE")
        own = [name for name in ("weights", *PARAMETERS) if options[name] is not None]
        refuse(own, "is tuned: name its values with --grid")
    if options["qrels"] is None:
        refuse(("notations",), "needs --qrels FILE")
    target: str | None = options["target"]
    written = _check_target(runs, options)
    output = Output({**options, "output": None}, [*runs, options["qrels"], options["queries"]])
    opened = {name: open_run(path, name) for name, path in named_runs(runs).items()}
    qrels = None if options["qrels"] is None else open_qrels(options["qrels"])
    if options["tune"] is None:
        run, report = _fuse(opened, qrels, options)
    else:
        run, report = _tune(opened, qrels, options)
    if target is not None:
        with writing(target):
            write_rows(run.to_polars(), target, "run", written, options["name"] or "deadheat")
    if target == STDOUT:
        for note in run.notes:
            write_note(f"Note: {note}")
        return
    output.print(report)


def _check_target(runs: tuple[str, ...], options: Mapping[str, Any]) -> str:
    """Return the format of the file to write, refuse one that cannot be written; empty without any."""
    target: str | None = options["target"]
    if target is None:
        refuse(("to_format", "force"), "is about -o FILE, which is missing")
        return ""
    written = chosen_format_of(target, options["to_format"])
    check_output(target, [*runs, *filter(None, [options["qrels"], options["queries"]])])
    exists = target != STDOUT and Path(target).is_file() and not options["force"]
    refuse_if(exists, f"{target!r} exists already: choose another name, or --force to replace it")
    return written


def _name_of(options: Mapping[str, Any]) -> str | None:
    """Return the name of the result: as given, or that of its file; None without either."""
    target = options["target"]
    if options["name"] or target in {None, STDOUT}:
        return options["name"] or None
    return label(target)


def _fuse(runs: Mapping[str, Run], qrels: Qrels | None, options: Mapping[str, Any]) -> tuple[Run, Report]:
    """Return the fused run and its report."""
    from deadheat.plugins.fusion.catalogue import METHODS
    from deadheat.plugins.fusion.fuse import fuse_runs
    from deadheat.plugins.fusion.report import report_fused, score_fused

    method = METHODS.get(options["method"])
    learns = method is not None and not method().is_fitted
    with phase("fusing runs"):
        fused = fuse_runs(
            runs,
            options["method"],
            norm=options["norm"],
            weights=options["weights"],
            parameters={name: options[name] for name in PARAMETERS},
            window=options["window"],
            ties=options["ties"],
            qrels=qrels if learns else None,
            rel=options["rel"],
            name=_name_of(options),
        )
    scored = None
    if qrels is not None:
        measures = measures_of(options if options["notations"] else {**options, "notations": (DEFAULT_MEASURE,)})
        scored = score_fused(fused, qrels, measures, options["seed"])
    with phase("making the report"):
        report = report_fused(fused, scored, path=options["target"])
    return fused.run, report


def _tune(runs: Mapping[str, Run], qrels: Qrels | None, options: Mapping[str, Any]) -> tuple[Run, Report]:
    """Return the run that is fused by the best setting, and the report of tuning."""
    from deadheat.plugins.fusion.report_of_tuning import report_tuning

    with phase("tuning the fusion"):
        found = dh.tune_fusion(
            qrels,
            runs,
            options["tune"],
            options["method"],
            norm=options["norm"],
            grid=parse_grid(options["grid"]),
            folds=options["folds"],
            rng=options["seed"],
            cluster=options["cluster"],
            queries=options["queries"],
            window=options["window"],
            ties=options["ties"],
            rel=options["rel"],
            name=_name_of(options),
        )
    report = with_companions(report_tuning(found, path=options["target"]), [("", found, {})], [found.measure.label])
    return found.run, report


def parse_grid(texts: Sequence[str]) -> Any:  # noqa: ANN401 - as tune_fusion takes it
    """Return what --grid says: values by the name of their parameter, or the number of values of a weight.

    Examples
    --------
    >>> parse_grid(["k=10,60"]), parse_grid(["101"]), parse_grid([])
    ({'k': [10, 60]}, 101, None)
    """
    if not texts:
        return None
    try:
        if len(texts) == 1 and "=" not in texts[0]:
            return int(texts[0])
        found = {}
        for text in texts:
            name, _, values = text.partition("=")
            numbers = [float(value) for value in values.replace(",", " ").split()]
            whole = [int(number) if number.is_integer() else number for number in numbers]
            found[name.strip().replace("-", "_")] = whole
    except ValueError:
        raise click.UsageError(f"--grid {' '.join(texts)!r}: give values as in k=10,20,60, or a number") from None
    return found
