"""deadheat convert."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

import deadheat as dh
from deadheat.core.cli.errors import error_message, refuse, refuse_if
from deadheat.core.cli.help import Command, option
from deadheat.core.cli.inputs import check_inputs
from deadheat.core.cli.options import LAST, command, complete_from, with_options
from deadheat.core.cli.paths import INPUT, REPORT, STDOUT, files_read
from deadheat.core.cli.printing import check_output, writing
from deadheat.core.cli.row_files import chosen_format_of, write_rows
from deadheat.core.cli.streams import write_note
from deadheat.core.errors import ColumnError, DataError, MalformedRowError, SwappedFilesError
from deadheat.core.io.kinds import Kind
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_count, format_list

if TYPE_CHECKING:
    from deadheat.core.io.formats import Format

EITHER = {  # tables whose names are those of qrels and of a run
    "BEIR, whose qrels have a score too": {"query-id", "corpus-id", "score"},
    "Quepid, whose results have their ratings": {"Rating", "Doc Position"},
    "ragas, whose samples have both": {"retrieved_context_ids", "reference_context_ids"},
}
_FORMATS = complete_from("deadheat.core.io.formats:FORMATS")


class Convert(Command):
    """The command, with the known formats in its help."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help; formats are loaded only here."""
        from deadheat.core.io.formats import FORMATS

        self.help = (self.help or "").replace("FORMATS", ", ".join(FORMATS))
        super().format_help_text(ctx, formatter)


@command(
    "deadheat convert bm25.run bm25.parquet",
    "deadheat convert scores.jsonl.gz bm25.run --tag bm25",
    "deadheat convert labels.json qrels.txt --kind qrels",
    "deadheat convert export out.csv --from tsv",
    "zcat scores.gz | deadheat convert - - --to csv",
    "deadheat convert qrels.txt more-qrels.txt --add to-judge.csv",
    kind=Convert,
)
@click.argument("source", type=INPUT, metavar="IN")
@click.argument("target", type=REPORT, metavar="OUT")
@option("--kind", type=click.Choice(["qrels", "run"]), help="What IN holds; default: inferred from names or rows.")
@option("--from", "from_format", metavar="FORMAT", shell_complete=_FORMATS, help="Format of IN; default: by its name.")
@option("--to", "to_format", metavar="FORMAT", shell_complete=_FORMATS, help="Format of OUT; default: by its name.")
@option("--tag", help="Last field of a TREC run; default deadheat.")
@option(
    "--add",
    type=INPUT,
    metavar="FILE",
    help="Add the judgments of this file to the qrels: one of deadheat holes --judge, filled in as far as people got."
    " Rows without a relevance stay unjudged.",
)
@option("--no-subtopics", is_flag=True, help="Of qrels with subtopics, write each document's highest relevance.")
@option("--force", is_flag=True, help="Replace OUT if it exists.")
@with_options("decimal", *LAST)
def convert(  # noqa: PLR0917 - click passes by name
    source: str,
    target: str,
    kind: Kind | None,
    from_format: str | None,
    to_format: str | None,
    tag: str | None,
    add: str | None,
    no_subtopics: bool,  # noqa: FBT001 - click passes by name
    force: bool,  # noqa: FBT001 - click passes by name
    doc_id_of: str | None,
    duplicates: str,
) -> None:
    """Convert qrels or a run from one format to another.

    Formats: FORMATS; an OUT that ends in .gz or .zst is compressed, - is stdout. Rows keep their
    order.
    """
    if add is not None:
        refuse_if(kind == "run", "--add adds judgments to qrels, got --kind run")
        kind = "qrels"
    # report typos before a large file is read
    written = chosen_format_of(target, to_format)
    _check_tag(tag, kind, written)
    check_output(target, option="OUT")
    refuse_if(
        target != STDOUT and Path(target).is_file() and not force,
        f"{target!r} exists already: choose another name, or --force to replace it",
    )
    check_inputs(files_read())
    table = _read(
        source, kind or _kind_by_names(source, target), from_format, doc_id_of=doc_id_of, duplicates=duplicates
    )
    if table.kind == "qrels":
        refuse(("doc_id_of", "duplicates"), f"is for runs, and {source!r} holds qrels")
    if table.duplicates == "error":
        table.check_duplicates(now=True)
    frame = _rows_of(table, source, written, no_subtopics=no_subtopics)
    told = "".join(f"; {note}" for note in table.notes)
    if add is not None:
        frame, added = _with_judgments(table, add, frame)
        told += added
    if not frame.height:
        raise DataError("has queries without documents alone, which no row can hold", path=source)
    _check_tag(tag, table.kind, written)
    with writing(target):
        write_rows(frame, target, table.kind, written, tag or "deadheat")
    what = "qrels" if table.kind == "qrels" else "a run"
    if bare := getattr(table, "bare", ()):
        nothing = "nothing relevant" if table.kind == "qrels" else "nothing retrieved"
        told += f"; without {format_count(len(bare), 'query', 'queries')} that no row can hold, with {nothing}"
    if rule := getattr(table, "judging_rule", None):
        told += f"; without saying that they are {rule}"
    if marked := [query for query in getattr(table, "unanswerable", ()) if query not in bare]:
        told += f"; {format_list(marked)} no longer called unanswerable"
    write_note(
        f"{'stdout' if target == STDOUT else target}: {format_count(len(frame), 'row')} of {what} as {written}{told}"
    )


def _with_judgments(qrels: dh.Qrels | dh.Run, path: str, rows: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Return the rows of qrels with the judgments of a file, and how many these are, in words."""
    from deadheat.core.data.added_judgments import add_judgments

    refuse_if(
        "subtopic" in rows.columns, f"the qrels have judgments by subtopic, and {path!r} has none: give --no-subtopics"
    )
    judgments = add_judgments(cast("dh.Qrels", qrels), Path(path))
    text = f", {judgments.n_added:,} of them from {path}; not judged there: {judgments.n_open:,}"
    return judgments.frame, text


def _rows_of(table: dh.Qrels | dh.Run, source: str, written: str, *, no_subtopics: bool) -> pl.DataFrame:
    """Return the rows to write, of qrels with their subtopics; refuse a format that has no place for these."""
    from deadheat.core.io.formats import FORMATS

    refuse_if(no_subtopics and table.kind == "run", f"--no-subtopics is about qrels, and {source!r} holds a run")
    subtopics = None if no_subtopics else getattr(table, "subtopics", None)
    if subtopics is None:
        return table.to_polars()
    able = [one.name for one in FORMATS.values() if one.has_subtopics]
    problem = f"{source!r} has judgments by subtopic, which {written} has no place for"
    refuse_if(written not in able, f"{problem}: write {', '.join(able)}, or --no-subtopics")
    return subtopics


def _check_tag(tag: str | None, kind: Kind | None, written: str) -> None:
    """Refuse a tag that the output cannot hold; the kind may not be known yet."""
    from deadheat.core.io.formats import FORMATS

    what = f"qrels as {written}" if kind == "qrels" else written
    refuse_if(
        tag is not None and (not FORMATS[written].has_tag or kind == "qrels"),
        f"--tag is the last field of a TREC run, got {what} to write",
    )


def _kind_by_names(source: str, target: str) -> Kind | None:
    """Return what the names say IN holds (its own, else that of its folder or of OUT); refuse names that disagree."""
    of_folder: set[Kind] = {"qrels"} if Path(source).absolute().parent.name.casefold() == "qrels" else set()
    said = (_named(source) or of_folder) | _named(target)
    refuse_if(
        len(said) > 1, f"the names {source!r} and {target!r} leave open what IN holds: give --kind qrels or --kind run"
    )
    return next(iter(said), None)


def _named(path: str) -> set[Kind]:
    """Return the kinds that a file name implies: qrels anywhere in it, or the suffix of a run."""
    name = Path(path).name.casefold()
    qrels: set[Kind] = {"qrels"} if "qrel" in name else set()
    return qrels | ({"run"} if ".run" in Path(name).suffixes else set())


def _read(
    source: str, kind: Kind | None, from_format: str | None, *, doc_id_of: str | None, duplicates: str
) -> dh.Qrels | dh.Run:
    """Read a file as the kind that was given, else as the kind that its rows show."""
    from deadheat.core.io.formats import FORMATS, choose_format

    doubt = "" if kind else _doubt(Path(source), FORMATS[choose_format(source, from_format)])
    refuse_if(doubt, f"{source!r} {doubt}: give --kind qrels or --kind run")
    if kind == "qrels":
        return dh.Qrels(source, format=from_format)
    read_run = partial(dh.Run, source, format=from_format, doc_id_of=doc_id_of, duplicates=duplicates)
    if kind == "run":
        return read_run()
    try:
        return read_run()
    except (SwappedFilesError, ColumnError, MalformedRowError) as error:
        if not (Path(source).is_file() or Path(source).is_dir()):
            raise click.UsageError(
                f"{source!r} holds no run, and can be read only once: give --kind qrels ({error_message(error)})"
            ) from error
        try:
            return dh.Qrels(source, format=from_format)
        except (SwappedFilesError, ColumnError, MalformedRowError):
            raise error from None  # it is neither, and was most likely meant to be a run


def _doubt(path: Path, form: Format) -> str:
    """Return why the kind of a file cannot be inferred; empty if its rows or column names show it."""
    if form.columns is None:
        return "" if form.shows_kind else f"is {form.name.upper()}"
    if not path.is_file():
        return f"is a stream of {form.name}, whose columns cannot be read ahead"
    try:
        names = set(form.columns(path))
    except DataError:  # reading it raises the error
        return ""
    if not names and path.stat().st_size:
        return f"is {form.name.upper()} without names of columns"
    return next((f"has the columns of {what}" for what, columns in EITHER.items() if columns <= names), "")
