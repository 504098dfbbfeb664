"""deadheat holes."""

from __future__ import annotations

from pathlib import Path

import click

from deadheat.cli.app import debug_option, say
from deadheat.cli.files import PATH, check_inputs, input_path, label, open_qrels, open_run
from deadheat.cli.options import (
    complete_from,
    decompressed_option,
    duplicates_option,
    examples,
    precision_option,
    reading_options,
    unique_names,
)
from deadheat.cli.output import output_options, prepare, print_report
from deadheat.cli.progress import progress
from deadheat.wording import counted

PARTS = ("document", "rows", "scores")
EXAMPLES = examples(
    "deadheat holes qrels.txt bm25.run",
    "deadheat holes qrels.txt bm25.run dense.run --by decision -n 100 --judge to-judge.csv",
)


@click.command(short_help="Say which documents to judge first.", **EXAMPLES)
@click.argument("qrels", type=PATH)
@click.argument("runs", type=PATH, nargs=-1, required=True, metavar="RUN...")
@click.option(
    "-m",
    "--measure",
    default="nDCG@10",
    show_default=True,
    metavar="MEASURE",
    shell_complete=complete_from("deadheat.measures.base:REGISTRY"),
    help="A measure that has bounds over unjudged documents.",
)
@click.option(
    "--by",
    metavar="range|decision",
    default="range",
    show_default=True,
    help="What a judgment should tell: how good the runs are, or which of them is better.",
)
@click.option("-n", "--number", "number", type=click.IntRange(1), metavar="N", help="The first N documents only.")
@click.option(
    "--depth",
    type=click.IntRange(1),
    metavar="N",
    help="Documents up to this rank; default: the cutoff, or 100 where documents below it count too, as in nDCG and R.",
)
@click.option("--unjudged-max-rel", type=float, metavar="LEVEL", help="Highest relevance; default: that of the qrels.")
@click.option(
    "--judge",
    type=PATH,
    metavar="FILE.csv|.tsv",
    help="Write the documents to a new file for annotators, who fill in its column relevance; deadheat convert --add"
    " adds that to the qrels.",
)
@output_options(*PARTS)
@precision_option
@reading_options
@duplicates_option
@decompressed_option
@debug_option
def holes(  # noqa: PLR0917 - click passes by name
    qrels: str,
    runs: tuple[str, ...],
    measure: str,
    by: str,
    number: int | None,
    depth: int | None,
    unjudged_max_rel: float | None,
    judge: str | None,
    form: str | None,
    output: str | None,
    digits: int | None,
    score_precision: str | None,
    check_duplicates: bool,  # noqa: FBT001 - click passes by name
) -> None:
    """Rank the unjudged documents of runs by what their judgment would tell.

    By range, a document weighs what its judgment takes off the range that the mean of the measure has over all labels.
    By decision, it weighs how far the answers "not relevant" and "as relevant as can be" are apart in the difference of
    two runs.
    """
    from deadheat.comparison.holes import holes as find
    from deadheat.data.precision import check_precision
    from deadheat.io.writing import replacing
    from deadheat.report.of_holes import report_holes

    given = [input_path(path) for path in (qrels, *runs)]
    form = prepare(form, output, PARTS, given)
    precision = check_precision(score_precision)
    separators = {".csv": ",", ".tsv": "\t"}
    if judge is not None and Path(judge).suffix.lower() not in separators:
        raise click.UsageError(f"--judge writes .csv or .tsv, got {judge}")
    if judge is not None and Path(judge).exists():
        raise click.UsageError(f"{judge!r} exists already, and judgments in it would be lost: choose another name")
    check_inputs(given)
    names = unique_names(given[1:], lambda path: label(path, "run"))
    with progress(given) as begin:
        begin(given[0])
        judgments, opened = open_qrels(given[0]), {}
        for name, path in zip(names, given[1:], strict=True):
            begin(path)
            opened[name] = open_run(path, name)
        found = find(
            judgments,
            opened,
            measure,
            by=by,
            n=number,
            depth=depth,
            unjudged_max_rel=unjudged_max_rel,
            score_precision=precision,
            check_duplicates=check_duplicates,
        )
    if judge is not None:
        text = found.documents.write_csv(separator=separators[Path(judge).suffix.lower()])
        with replacing(Path(judge)) as file:
            file.write(text.encode())
        n_rows = counted(len(found.documents), "document")
        say(f"{judge}: {n_rows} to judge; deadheat convert QRELS OUT --add {judge} adds what is filled in")
    report = report_holes(found, for_people=form not in {"json", "csv"})
    print_report(report, form=form, output=output, digits=digits)
