"""How a command prints its report: the format, the digits, the file; what cannot be written is refused first."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

import deadheat as dh
from deadheat.core import hooks
from deadheat.core.cli.beside_report import claim_companions
from deadheat.core.cli.errors import BAD_DATA, CommandError, refuse_if
from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import check_inputs
from deadheat.core.cli.paths import REPORT, STDOUT, outputs_of_command
from deadheat.core.cli.streams import ClosedOutput, discard, write_note
from deadheat.core.phases import phase
from deadheat.core.wording import escape_invisible

if TYPE_CHECKING:
    from rich.text import Text

    from deadheat.core.report.model import Report

    TextChoice = click.Choice[str]
else:
    TextChoice = click.Choice  # click 8.1 does not say what the choices are


def check_output(target: str | None, inputs: Sequence[str] = (), *, option: str = "--output") -> None:
    """Claim an output that an option names; refuse one in a folder that does not exist.

    What the command reads, and the inputs that are named here, it may not be.
    """
    if target is None or target == STDOUT:
        return
    outputs = outputs_of_command()
    outputs.name_inputs(inputs)
    outputs.claim(option, target)
    path = Path(target)
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    refuse_if(not path.exists() and not folder.is_dir(), f"no such folder: {str(folder)!r}")


def check_folder(option: str, folder: str | None) -> None:
    """Refuse the folder of an option that cannot be made, before anything is computed."""
    refuse_if(
        folder is not None and Path(folder).exists() and not (Path(folder).is_dir() and os.access(folder, os.W_OK)),
        f"--{option} {folder!r} is not a writable folder: choose another name",
    )


ASCII = str.maketrans(  # for the symbols of formulas and drawings
    {"↓": "(lower)", "∑": "sum", "∏": "prod", "≤": "<=", "≥": ">=", "∈": "in", "β": "beta"}
    | dict(zip("†‡·…─├┤●┊┼", "+-*~-||o:+", strict=True))
)


class FormatChoice(TextChoice):
    """The names of the formats for reports that have some parts; they are looked up when they are needed."""

    def __init__(self, parts: Collection[str]) -> None:
        self.parts = parts
        super().__init__(())

    @property
    def choices(self) -> tuple[str, ...]:
        """The names, the most useful first."""
        from deadheat.core.report.formats import formats_of

        return tuple(formats_of(self.parts))

    @choices.setter
    def choices(self, _: object) -> None: ...  # pyright: ignore[reportIncompatibleVariableOverride] - looked up late

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - click's
        """Return the name; plugins of other distributions are asked about one that is unknown."""
        if value not in self.choices:
            from deadheat.core.report.formats import load_third_party_formats

            load_third_party_formats()
        return super().convert(value, param, ctx)


def format_option(*parts: str) -> Callable[[Any], Any]:
    """Return the option --format of a command whose reports have these parts."""
    return option(
        "--format",
        "form",
        type=FormatChoice(parts),
        help="Default: the format that --output names, else table.",
        heading="output",
        rank=50,
    )


output_option = option(
    "-o",
    "--output",
    type=REPORT,
    metavar="FILE",
    help="Write to a file, whole or not at all; - is stdout.",
    heading="output",
    rank=40,
)


full_option = option(
    "--full",
    is_flag=True,
    help="Show every table and note, not only what can change a decision. JSON and CSV always have all of them.",
    rank=170,
)


def output_options(*parts: str) -> Callable[[Any], Any]:
    """Return the options --format, --output and --digits."""
    exact = "json and csv" if "rows" in parts else "json"
    digits = option(
        "--digits",
        type=click.IntRange(0, 15),
        help=f"Decimals; default 4, but all of them in {exact}.",
        heading="output",
    )
    return lambda command: format_option(*parts)(output_option(digits(command)))


def table_option(default: str, *others: str) -> Callable[[Any], Any]:
    """Return the option --table of a command whose csv has one table of several."""
    return option(
        "--table",
        metavar="NAME",
        help=f"The table that csv has instead of {default}, by its name in json: {', '.join(others[:-1])} or"
        f" {others[-1]}, where there is one.",
        heading="output",
    )


class Output:
    """Where a command writes its report, and how; before anything is computed, what it cannot read or write is refused.

    Parameters
    ----------
    options : mapping
        Of the command.
    inputs : iterable of str or None
        Files that must be readable, and no output; None is one that was not given.
    parts : collection of str, optional
        What the report has; by default what reports of the command have.

    Attributes
    ----------
    form : str
        The name of a format.
    path : str or None
    digits : int or None
    table : str or None
        The only table that csv has.
    is_full : bool
        Whether people see every table and note.
    """

    def __init__(
        self, options: Mapping[str, Any], inputs: Iterable[str | None] = (), parts: Collection[str] | None = None
    ) -> None:
        self.path: str | None = options.get("output")
        self.digits: int | None = options.get("digits")
        self.table: str | None = options.get("table")
        self.is_full: bool = options.get("full", True)
        if self.path in {None, STDOUT}:
            standard_output()
        read = [one for one in inputs if one is not None]
        check_output(self.path, read)
        if parts is None:
            types = (one.type for one in click.get_current_context().command.params)
            parts = next(one.parts for one in types if isinstance(one, FormatChoice))
        self.form: str = options.get("form") or _format_of(self.path, parts)
        refuse_if(
            self.table is not None and self.form != "csv",
            f"--table {self.table} is for --format csv: {self.form} has every table",
        )
        refuse_if(
            self.is_data and bool(options.get("full")),
            f"--full is for people: {self.form} has every number without it",
        )
        claim_companions(options)
        check_inputs(read)

    @property
    def is_data(self) -> bool:
        """Whether programs read it."""
        return self.form in {"json", "jsonl", "csv"}

    def check_sets(self, groupings: Sequence[Sequence[str]]) -> None:
        """Refuse several sets of strata where there is room for one table."""
        refuse_if(
            self.form == "csv" and len(groupings) > 1,
            "csv has one table, and each --by another: give one, or combine them as in --by a:b",
        )

    def print(self, report: Report) -> None:
        """Write a report, in brief unless all of it was asked for."""
        from deadheat.core.report.formats import report_formats

        if self.table is not None:
            held = {table.key: table for table in report.tables}
            if self.table not in held:
                hooks.check_table(self.table)
            refuse_if(self.table not in held, f"--table {self.table}: there is none here. There are {', '.join(held)}")
            report = replace(report, tables=(held[self.table],))
        chosen, is_stdout = report_formats()[self.form], self.path in {None, STDOUT}
        if not (self.is_full or self.is_data or chosen.is_data):
            report = report.in_brief()
        draw = chosen.draw if is_stdout else None
        with phase("laying out the report"):
            text = _on_screen(draw, report, self.digits) if draw else chosen.write(report, digits=self.digits)
        is_shown = chosen.is_data and is_stdout and standard_output().isatty()  # elsewhere it stays as it is
        emit(escape_invisible(text, "\n\t") if is_shown else text, self.path)
        if chosen.is_data:
            _tell(report)


def _format_of(path: str | None, parts: Collection[str]) -> str:
    """Return the format that the name of an output means."""
    from deadheat.core.report.formats import formats_of, load_third_party_formats, report_formats

    suffix = "" if path in {None, STDOUT} else Path(str(path)).suffix.lower()
    own = formats_of(parts)
    endings = [ending for one in report_formats().values() for ending in one.suffixes]
    if suffix and suffix not in endings and load_third_party_formats():
        own = formats_of(parts)
    named = [name for name, one in {**own, **report_formats()}.items() if suffix in one.suffixes]
    if named and named[0] in own:
        return named[0]
    problem = f"names {named[0]}, which this command cannot print" if named else "names no format"
    *others, last = own
    raise click.UsageError(f"{path!r} {problem}: give --format {', '.join(others)} or {last}")


def _tell(report: Report) -> None:
    """Print the facts that a format has no place for to standard error."""
    from deadheat.core.report.cells import LACKING, OF_FEW

    for fact in report.shown:
        if fact.is_warning:
            write_note(f"Warning: {fact.text}")
        elif fact.is_note:
            heading = "" if fact.heading in {OF_FEW, LACKING} else f"{fact.heading}: "  # no number is marked there
            write_note(f"Note: {heading}{fact.text}")


def warn_of_nothing_judged(evaluations: Iterable[dh.Evaluation]) -> None:
    """Warn on standard error of each run that retrieves no judged document, for a report that does not."""
    from deadheat.core.report.data_facts import warn_of_nothing_judged

    for one in evaluations:
        if one.placements.is_unmatched:
            write_note(f"Warning: {warn_of_nothing_judged(one.name)}")


def _on_screen(draw: Callable[..., Text], report: Report, digits: int | None) -> str:
    """Return a report as a terminal shows it (styled, unless NO_COLOR), or a pipe (plain, and as wide as COLUMNS)."""
    from rich.console import Console

    has_width = os.environ.get("COLUMNS", "").isdecimal() or sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if has_width else None
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    with writing(None), console.capture() as capture:  # unbuffered, it writes an empty text
        console.print(draw(report, width=width, digits=digits), soft_wrap=True, end="")
    return capture.get()


def emit(text: str, output: str | None = None) -> None:
    """Write text and a line end to standard output, or to a file that appears only when it is complete."""
    with writing(output):
        if output is None or output == STDOUT:
            stdout = standard_output()
            stdout.write(_encodable(text, stdout.encoding or "ascii") + "\n")
            stdout.flush()
            return
        from deadheat.core.io.writing import replace_file

        with replace_file(output) as file:
            file.write((text + "\n").encode(errors="backslashreplace"))


@contextmanager
def writing(output: str | None) -> Iterator[None]:
    """Say in one line that an output cannot be written; a broken pipe is left to the caller.

    Before the first is written, no output may have turned out to be a file that was read.
    """
    outputs_of_command().check_read()
    is_stdout = output is None or output == STDOUT
    shown = nullcontext() if is_stdout else phase(f"writing {Path(str(output)).name}")
    try:
        with shown:
            yield
    except OSError as error:
        if is_stdout and error.errno == errno.EPIPE:
            raise
        if is_stdout:
            discard(sys.stdout)
        is_named = error.filename is not None or not is_stdout
        written = repr(error.filename or output) if is_named else "standard output"
        raise CommandError(f"cannot write {written}: {error.strerror or error}", BAD_DATA) from error


def standard_output() -> TextIO:
    """Return the standard output, or raise an error if it is closed."""
    if isinstance(sys.stdout, ClosedOutput):
        sys.stdout.write("")
    return sys.stdout


def _encodable(text: str, encoding: str) -> str:
    """Replace characters that an encoding lacks: symbols by words, others by escapes."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return text
