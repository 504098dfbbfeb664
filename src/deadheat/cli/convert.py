"""deadheat convert."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deadheat.cli.app import debug_option
from deadheat.cli.options import complete_from, examples
from deadheat.cli.progress import progress

if TYPE_CHECKING:
    from deadheat.data import Qrels, Run

EXAMPLES = examples(
    "deadheat convert bm25.run bm25.parquet",
    "deadheat convert scores.jsonl.gz bm25.run --tag bm25",
    "deadheat convert labels.json qrels.txt --kind qrels",
    "deadheat convert export out.csv --from tsv",
)
_FORMATS = complete_from("deadheat.io:FORMATS")


@click.command(short_help="Convert qrels or a run from one format to another.", **EXAMPLES)
@click.argument("source", type=click.Path(), metavar="IN")
@click.argument("target", type=click.Path(), metavar="OUT")
@click.option(
    "--kind", type=click.Choice(["qrels", "run"]), help="What IN holds; default: what its name or its rows say."
)
@click.option(
    "--from", "from_format", metavar="FORMAT", shell_complete=_FORMATS, help="Format of IN; default: by its name."
)
@click.option(
    "--to", "to_format", metavar="FORMAT", shell_complete=_FORMATS, help="Format of OUT; default: by its name."
)
@click.option("--tag", default="deadheat", show_default=True, help="Last field of a TREC run.")
@click.option("--force", is_flag=True, help="Replace OUT if it is there.")
@debug_option
def convert(  # noqa: PLR0917 - click passes by name
    source: str,
    target: str,
    kind: str | None,
    from_format: str | None,
    to_format: str | None,
    tag: str,
    force: bool,  # noqa: FBT001 - click passes by name
) -> None:
    """Convert qrels or a run from one format to another.

    Formats: trec, csv, tsv, jsonl, json, parquet; OUT named .gz or .zst is compressed. Rows keep their order.
    """
    from deadheat.io import write
    from deadheat.io.formats import chosen_format

    if Path(target).exists() and not force:
        raise click.UsageError(f"{target!r} is there already: choose another name, or --force to replace it")
    written = chosen_format(target, to_format)  # a mistyped format is said before a large file is read
    with progress([source]) as begin:
        begin(source)
        table = _read(source, kind, from_format)
        frame = table.to_polars()
        write(frame, target, table.kind, format=to_format, tag=tag)
    click.echo(
        f"{target}: {len(frame):,} rows of {'qrels' if table.kind == 'qrels' else 'a run'} as {written}", err=True
    )


def _read(source: str, kind: str | None, from_format: str | None) -> Qrels | Run:
    """Read a file as what it is: by its name, else by its rows."""
    from deadheat.data import Qrels, Run
    from deadheat.errors import ColumnError, MalformedRowError, SwappedFilesError
    from deadheat.io.formats import chosen_format

    if kind is None and "qrel" in Path(source).name.casefold():
        kind = "qrels"
    if kind is None and chosen_format(source, from_format) == "json":
        raise click.UsageError(f"{source!r} is JSON, which does not say what it holds: give --kind qrels or --kind run")
    if kind == "qrels":
        return Qrels(source, format=from_format)
    if kind == "run":
        return Run(source, format=from_format)
    try:
        return Run(source, format=from_format)
    except (SwappedFilesError, ColumnError, MalformedRowError) as error:
        try:
            return Qrels(source, format=from_format)
        except (SwappedFilesError, ColumnError, MalformedRowError):
            raise error from None  # it is neither, and was most likely meant to be a run
