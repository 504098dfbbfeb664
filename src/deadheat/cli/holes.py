"""deadheat holes."""

from pathlib import Path
from typing import Any

import click

from deadheat.cli.app import refuse_if, say
from deadheat.cli.files import INPUT, PATH, named_runs, open_qrels, open_run
from deadheat.cli.options import LAST, READING, complete_from, examples, takes
from deadheat.cli.output import Output, output_options
from deadheat.errors import counted
from deadheat.settings import Conventions

SEPARATORS = {".csv": ",", ".tsv": "\t"}


@click.command(
    short_help="Say which documents to judge first.",
    **examples(
        "deadheat holes qrels.txt bm25.run",
        "deadheat holes qrels.txt bm25.run dense.run --by decision -n 100 --judge to-judge.csv",
    ),
)
@click.argument("qrels", type=INPUT)
@click.argument("runs", type=INPUT, nargs=-1, required=True, metavar="RUN...")
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
@click.option("-n", "--number", "n", type=click.IntRange(1), metavar="N", help="The first N documents only.")
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
@output_options("document", "rows", "scores")
@takes("score_precision", *READING, *LAST)
def holes(qrels: str, runs: tuple[str, ...], measure: str, judge: str | None, **options: Any) -> None:  # noqa: ANN401 - click's
    """Rank the unjudged documents of runs by how much a judgment would tell.

    By range, a document weighs what its judgment takes off the range that the mean of the measure has over all labels.
    By decision, it weighs how far the answers "not relevant" and "as relevant as can be" are apart in the difference of
    two runs.
    """
    from deadheat.comparison.history import holes as find
    from deadheat.io.writing import replacing
    from deadheat.report.of_judgments import report_holes

    output = Output(options, [qrels, *runs])
    Conventions(score_precision=options["score_precision"])  # a typo is reported before files are read
    suffix = "" if judge is None else Path(judge).suffix.lower()
    refuse_if(judge is not None and suffix not in SEPARATORS, f"--judge writes .csv or .tsv, got {judge}")
    refuse_if(
        judge is not None and Path(judge).exists(),
        f"{judge!r} exists already, and judgments in it would be lost: choose another name",
    )
    judged = open_qrels(qrels)
    opened = {name: open_run(path, name) for name, path in named_runs(runs).items()}
    own = ("by", "n", "depth", "unjudged_max_rel", "score_precision")
    found = find(judged, opened, measure, **{name: options[name] for name in own}, check_duplicates=False)
    if judge is not None:
        with replacing(Path(judge)) as file:
            file.write(found.documents.write_csv(separator=SEPARATORS[suffix]).encode())
        n_rows = counted(len(found.documents), "document")
        say(f"{judge}: {n_rows} to judge; deadheat convert QRELS OUT --add {judge} adds what is filled in")
    output.print(report_holes(found, for_people=not output.is_data))
