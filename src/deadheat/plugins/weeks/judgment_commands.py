"""Commands on judgments: diff, holes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import deadheat as dh
from deadheat.core.cli.errors import refuse_if
from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import is_saved, open_qrels, open_run
from deadheat.core.cli.options import FILE, LAST, LISTS, READING, command, complete_from, with_options
from deadheat.core.cli.paths import INPUT, PATH, named_runs
from deadheat.core.cli.printing import Output, check_output, full_option, output_options, writing
from deadheat.core.cli.read_options import given_conventions, measures_of
from deadheat.core.cli.streams import write_note
from deadheat.core.phases import phase
from deadheat.core.settings import Conventions
from deadheat.core.wording import format_count

if TYPE_CHECKING:
    import polars as pl


@command(
    "deadheat diff old.qrels new.qrels",
    "deadheat diff old.qrels new.qrels bm25.run dense.run -m nDCG@10 --format markdown",
    "deadheat diff old.qrels new.qrels results/*.json    # saved by deadheat evaluate --save",
)
@click.argument("old", type=INPUT)
@click.argument("new", type=INPUT)
@click.argument("runs", type=INPUT, nargs=-1, metavar="[RUN|SAVED]...")
@option(
    "--collection",
    "documents",
    **FILE,
    help="All documents that exist: judged ones that are not in it are named.",
    heading="input",
)
@with_options("measures", "ties_not_drawn")
@output_options("document", "rows", "scores")
@full_option
@with_options(*LISTS, *READING, *LAST)
def diff(old: str, new: str, runs: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Say which queries and judgments differ, from which grade to which.

    With runs or saved evaluations, also what that does to their measures and to their order, and which queries cause
    it. Measures and conventions of saved evaluations are their own, unless others are given.
    """
    from deadheat.plugins.weeks.report_diff import report_diff

    output = Output(options, [old, new, options["documents"], *runs])
    with phase("comparing judgments"):
        found = dh.diff_qrels(
            open_qrels(old),
            open_qrels(new),
            {name: path if is_saved(path) else open_run(path, name) for name, path in named_runs(runs).items()},
            measures_of(options) if options["notations"] else None,
            collection=options["documents"],
            **given_conventions(options),
        )
    output.print(report_diff(found, for_people=not output.is_data))


SEPARATORS = {".csv": ",", ".tsv": "\t"}


def _sheet(documents: pl.DataFrame, separator: str) -> bytes:
    """Return the table for annotators, in whose texts a spreadsheet finds no formula; `add_judgments` restores them."""
    import polars as pl

    from deadheat.core.io.spreadsheets import guard_text

    texts = documents.select(pl.col(pl.String)).to_dict(as_series=False)
    guarded = {name: [None if text is None else guard_text(text) for text in own] for name, own in texts.items()}
    columns = [pl.Series(name, own, pl.String) for name, own in guarded.items()]
    return documents.with_columns(columns).write_csv(separator=separator).encode()


@command(
    "deadheat holes qrels.txt bm25.run",
    "deadheat holes qrels.txt bm25.run dense.run --by decision -n 100 --judge to-judge.csv",
)
@click.argument("qrels", type=INPUT)
@click.argument("runs", type=INPUT, nargs=-1, required=True, metavar="RUN...")
@option(
    "-m",
    "--measure",
    default="nDCG@10",
    show_default=True,
    metavar="MEASURE",
    shell_complete=complete_from("deadheat.core.hooks:list_measures"),
    help="A measure that has bounds over unjudged documents.",
)
@option(
    "--by",
    metavar="range|decision",
    default="range",
    show_default=True,
    help="What a judgment should tell: how good the runs are, or which of them is better.",
    heading="statistics",
    rank=70,
)
@option("-n", "--number", "n", type=click.IntRange(1), metavar="N", help="The first N documents only.")
@option(
    "--depth",
    type=click.IntRange(1),
    metavar="N",
    help="Documents up to this rank; default: the cutoff, or 100 where documents below it count too, as in nDCG and R.",
    heading="measures",
)
@option(
    "--unjudged-max-rel",
    type=float,
    metavar="LEVEL",
    help="Highest relevance; default: that of the qrels.",
    heading="measures",
)
@option(
    "--judge",
    type=PATH,
    metavar="FILE.csv|.tsv",
    help="Write the documents to a new file for annotators, who fill in its column relevance; deadheat convert --add"
    " adds that to the qrels.",
    heading="input",
)
@output_options("document", "rows", "scores")
@full_option
@with_options("score_precision", *READING, *LAST)
def holes(qrels: str, runs: tuple[str, ...], measure: str, judge: str | None, **options: Any) -> None:  # noqa: ANN401 - click's
    """Rank the unjudged documents of runs by how much a judgment would tell.

    By range, a document weighs what its judgment takes off the range that the mean of the measure has over all labels.
    By decision, it weighs how far the answers "not relevant" and "as relevant as can be" are apart in the difference of
    two runs.
    """
    from deadheat.core.io.writing import replace_file
    from deadheat.plugins.weeks.report_holes import report_holes

    output = Output(options, [qrels, *runs])
    Conventions(score_precision=options["score_precision"])  # a typo is reported before files are read
    suffix = "" if judge is None else Path(judge).suffix.lower()
    refuse_if(judge is not None and suffix not in SEPARATORS, f"--judge writes .csv or .tsv, got {judge}")
    check_output(judge, option="--judge")
    refuse_if(
        judge is not None and Path(judge).exists(),
        f"{judge!r} exists already, and judgments in it would be lost: choose another name",
    )
    found = dh.holes(
        open_qrels(qrels),
        {name: open_run(path, name) for name, path in named_runs(runs).items()},
        measure,
        **{name: options[name] for name in ("by", "n", "depth", "unjudged_max_rel", "score_precision")},
    )
    if judge is not None:
        with writing(judge), replace_file(judge) as file:
            file.write(_sheet(found.documents, SEPARATORS[suffix]))
        write_note(
            f"{judge}: {format_count(len(found.documents), 'document')} to judge;"
            f" deadheat convert QRELS OUT --add {judge} adds what is filled in"
        )
    output.print(report_holes(found, for_people=not output.is_data))
