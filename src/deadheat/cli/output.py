"""Where reports go: a terminal, a pipe or a file, each in its format and encoding."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from deadheat.cli.app import BAD_DATA, Failure, forget_stdout, reason, say
from deadheat.cli.files import PATH, STDOUT, check_output
from deadheat.cli.options import together
from deadheat.wording import printable

if TYPE_CHECKING:
    from rich.text import Text

    from deadheat.evaluation.evaluation import Evaluation
    from deadheat.report.model import Report

MAX_DIGITS = 15
ASCII = str.maketrans(  # for the symbols of formulas and drawings
    {"†": "+", "‡": "-", "↓": "(lower)", "∑": "sum", "∏": "prod", "≤": "<=", "∈": "in", "·": "*", "β": "beta", "…": "~"}
    | dict(zip("─├┤●┊┼", "-||o:+", strict=True))
)


class FormatChoice(click.Choice[str]):
    """The names of the formats for reports that have some parts; they are looked up when they are needed."""

    def __init__(self, parts: Collection[str]) -> None:
        self.parts = parts
        super().__init__(())

    @property
    def choices(self) -> tuple[str, ...]:
        """The names, the most useful first."""
        from deadheat.report.formats import formats_of

        return tuple(formats_of(self.parts))

    @choices.setter
    def choices(self, _: object) -> None: ...  # pyright: ignore[reportIncompatibleVariableOverride] - looked up late


def format_option(*parts: str) -> Callable[[Any], Any]:
    """Return the option --format of a command whose reports have these parts."""
    return click.option(
        "--format", "form", type=FormatChoice(parts), help="Default: the format that --output names, else table."
    )


output_option = click.option(
    "-o", "--output", type=PATH, metavar="FILE", help="Write to a file, whole or not at all; - is stdout."
)


def output_options(*parts: str, decimals: int = 4) -> Callable[[Any], Any]:
    """Return the options --format, --output and --digits; `decimals` is the default of text formats."""
    exact = "json and csv" if "rows" in parts else "json"
    digits = click.option(
        "--digits",
        type=click.IntRange(0, MAX_DIGITS),
        help=f"Decimals; default {decimals}, but all of them in {exact}.",
    )
    return together(format_option(*parts), output_option, digits)


def table_option(default: str, *others: str) -> Callable[[Any], Any]:
    """Return the option --table of a command whose csv has one table of several."""
    return click.option(
        "--table",
        metavar="NAME",
        help=f"The table that csv has instead of {default}, by its name in json: {', '.join(others[:-1])} or"
        f" {others[-1]}, where there is one.",
    )


def check_table(name: str | None, form: str) -> None:
    """Refuse the name of a table for a format that has all of them."""
    if name is not None and form != "csv":
        raise click.UsageError(f"--table {name} is for --format csv: {form} has every table")


def with_table_first(report: Report, name: str | None) -> Report:
    """Return a report with one table only, for csv."""
    if name is None:
        return report
    own = tuple(table for table in report.tables if table.key == name)
    if not own:
        held = ", ".join(table.key for table in report.tables)
        raise click.UsageError(f"--table {name}: there is none here. There are {held}")
    return replace(report, tables=own)


def prepare(form: str | None, output: str | None, parts: Collection[str], inputs: Sequence[str] = ()) -> str:
    """Return the format of a report; refuse, before anything is computed, an output that cannot be written.

    Parameters
    ----------
    form, output : str, optional
        What was given as --format and --output.
    parts : collection of str
        What the reports of the command have.
    inputs : sequence of str
        Files that must not be overwritten.
    """
    if output in {None, STDOUT}:
        standard_output()
    check_output(output, inputs)
    if form is not None:
        return form
    from deadheat.report.formats import formats_of, report_formats

    suffix = "" if output in {None, STDOUT} else Path(str(output)).suffix.lower()
    own = formats_of(parts)
    named = [name for name, one in {**own, **report_formats()}.items() if suffix in one.suffixes]
    if named and named[0] in own:
        return named[0]
    problem = f"names {named[0]}, which this command cannot print" if named else "names no format"
    *others, last = own
    raise click.UsageError(f"{output!r} {problem}: give --format {', '.join(others)} or {last}")


def print_report(report: Report, *, form: str, output: str | None, digits: int | None = None) -> None:
    """Write a report in a format."""
    from deadheat.report.formats import report_formats

    chosen, is_stdout = report_formats()[form], output in {None, STDOUT}
    if chosen.draw is not None and is_stdout:
        width = _screen_width()
        text = _styled(chosen.draw(report, width=width, digits=digits), width)
    else:
        text = chosen.write(report, digits=digits)
    is_shown = chosen.is_data and is_stdout and is_terminal()  # elsewhere it is data, which stays as it is
    emit(printable(text, "\n\t") if is_shown else text, output)
    if chosen.is_data:
        _tell(report)


def _tell(report: Report) -> None:
    """Print the facts that a format has no place for to standard error."""
    from deadheat.report.model import LACKING, OF_FEW

    for fact in report.shown:
        if fact.is_warning:
            say(f"Warning: {fact.text}")
        elif fact.is_note:
            heading = "" if fact.heading in {OF_FEW, LACKING} else f"{fact.heading}: "  # no number is marked there
            say(f"Note: {heading}{fact.text}")


def warn_of_nothing_judged(evaluations: Iterable[Evaluation]) -> None:
    """Warn on standard error of each run that retrieves no judged document, for a report that does not."""
    from deadheat.report.conventions import nothing_judged

    for one in evaluations:
        if not len(one.placements.query):
            say(f"Warning: {nothing_judged(one.name)}")


def _styled(text: Text, width: int | None) -> str:
    """Return a text as a terminal shows it (styled, unless NO_COLOR), or a pipe (plain)."""
    from rich.console import Console

    console = Console(width=width, highlight=False, markup=False, emoji=False)
    with writing(None), console.capture() as capture:  # unbuffered, it writes an empty text
        console.print(text, soft_wrap=True, end="")
    return capture.get()


def _screen_width() -> int | None:
    """Return the columns of the terminal, or those that COLUMNS asks for; a pipe has no width."""
    if os.environ.get("COLUMNS", "").isdecimal() or sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    return None


def emit(text: str, output: str | None = None) -> None:
    """Write text and a line end to standard output, or to a file that appears only when it is complete."""
    with writing(output):
        if output is None or output == STDOUT:
            stdout = standard_output()
            stdout.write(_encodable(text, stdout.encoding or "ascii") + "\n")
            stdout.flush()
            return
        from deadheat.io.writing import replacing

        with replacing(output) as file:
            file.write((text + "\n").encode(errors="backslashreplace"))


@contextmanager
def writing(output: str | None) -> Iterator[None]:
    """Say in one line that an output cannot be written; a broken pipe is left to the caller."""
    try:
        yield
    except OSError as error:
        is_stdout = output is None or output == STDOUT
        if is_stdout and error.errno == errno.EPIPE:
            raise
        if is_stdout:
            forget_stdout()
        what = "" if is_stdout else f" {output!r}"
        raise Failure(f"cannot write{what}: {reason(error)}", BAD_DATA) from error


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return standard_output().isatty()


def standard_output() -> TextIO:
    """Return the standard output, or raise an error if it is closed."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - None when closed
        raise Failure("cannot write: standard output is closed", BAD_DATA)
    return sys.stdout


def _encodable(text: str, encoding: str) -> str:
    """Replace characters that an encoding lacks: symbols by words, others by escapes."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return text
