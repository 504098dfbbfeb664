"""Where reports go: a terminal, a pipe or a file, each in its format and encoding."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadheat.cli.app import BAD_DATA, Failure, forget_stdout, reason, say
from deadheat.cli.files import STDOUT, check_output
from deadheat.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from deadheat.evaluation.evaluation import Evaluation
    from deadheat.report.model import Report

FORMATS = ("table", "json", "csv", "markdown", "latex", "trec")
OF_SUFFIX = {
    ".json": "json",
    ".csv": "csv",
    ".md": "markdown",
    ".tex": "latex",
    ".trec": "trec",
    ".eval": "trec",
    "": "table",
    ".txt": "table",
    ".log": "table",
    ".out": "table",
}
MAX_DIGITS = 15
ASCII = str.maketrans(  # for the symbols of formulas and drawings
    {"∑": "sum", "∏": "prod", "≤": "<=", "∈": "in", "·": "*", "β": "beta", "…": "~"}
    | dict(zip("─├┤●┊┼", "-||o:+", strict=True))
)


def format_option(*formats: str) -> Callable[[Any], Any]:
    """Return the option --format."""
    choices = click.Choice(formats)
    return click.option("--format", "form", type=choices, help="Default: what the name of --output says, else table.")


output_option = click.option(
    "-o", "--output", metavar="FILE", help="Write to a file, whole or not at all; - is stdout."
)


def output_options(*formats: str, decimals: int = 4) -> Callable[[Any], Any]:
    """Return the options --format, --output and --digits; `decimals` are those that people see by default."""
    exact = " and ".join(form for form in ("json", "csv") if form in formats)
    digits = click.option(
        "--digits",
        type=click.IntRange(0, MAX_DIGITS),
        help=f"Decimals; default {decimals}, in {exact} all there are.",
    )
    return lambda command: format_option(*formats)(output_option(digits(command)))


def prepare(
    form: str | None, output: str | None, formats: tuple[str, ...] = FORMATS, inputs: Sequence[str] = ()
) -> str:
    """Return the format of a report; refuse, before anything is computed, an output that cannot be written.

    Parameters
    ----------
    form, output : str, optional
        What was given as --format and --output.
    formats : tuple of str
        What the command can print.
    inputs : sequence of str
        Files that must not be overwritten.
    """
    if output in {None, STDOUT} and sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - closed, it is
        raise Failure("cannot write: standard output is closed", BAD_DATA)
    check_output(output, inputs)
    if form is not None:
        return form
    suffix = "" if output in {None, STDOUT} else Path(str(output)).suffix.lower()
    named = OF_SUFFIX.get(suffix)
    if named not in formats:
        told = "does not say a format" if named is None else f"says {named}, which this command cannot print"
        raise click.UsageError(f"{output!r} {told}: give --format {', '.join(formats[:-1])} or {formats[-1]}")
    return named


def print_report(report: Report, *, form: str, output: str | None, digits: int | None = None) -> None:
    """Write a report in a format that does not depend on what the report is of."""
    if form == "table":
        emit(as_screen(report, digits=digits, output=output), output)
    elif form == "json":
        from deadheat.report.as_json import as_json

        emit(as_json(report, digits=digits), output)
    elif form == "markdown":
        from deadheat.report.as_markdown import as_markdown

        emit(as_markdown(report, digits=digits), output)
    elif form == "latex":
        from deadheat.report.as_latex import as_latex

        emit(as_latex(report, digits=digits), output)
    elif form == "trec":
        from deadheat.report.as_trec import as_trec

        *per_query, summary = report.tables
        emit(as_trec(summary, per_query[0] if per_query else None, digits=digits), output)
        _tell(report)
    else:
        from deadheat.report.as_csv import as_csv

        text = as_csv(report.tables[0], digits=digits)
        is_shown = output in {None, STDOUT} and is_terminal()  # elsewhere it is data, which stays as it is
        emit(printable(text, "\n\t") if is_shown else text, output)
        _tell(report)


def _tell(report: Report) -> None:
    """Say on standard error what a format without facts has no place for."""
    from deadheat.report.numbers import MARK

    for fact in report.facts:
        if fact.is_warning:
            say(f"Warning: {fact.text}")
        elif fact.is_note:
            heading = "" if fact.heading == MARK else f"{fact.heading}: "  # no number is marked there
            say(f"Note: {heading}{fact.text}")


def warn_of_strangers(evaluations: Iterable[Evaluation]) -> None:
    """Warn on standard error of each run that retrieves no judged document, for a report that does not."""
    from deadheat.report.conventions import nothing_judged

    for one in evaluations:
        if not len(one.placements.query):
            say(f"Warning: {nothing_judged(one.name)}")


def as_screen(report: Report, *, digits: int | None = None, output: str | None = None) -> str:
    """Return a report as text for a terminal (styled, unless NO_COLOR), a pipe or a file (plain)."""
    from rich.console import Console

    from deadheat.report.as_text import as_text

    is_file = output not in {None, STDOUT}
    width = None if is_file else _screen_width()
    text = as_text(report, width=width, digits=digits)
    if is_file:
        return text.plain
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    with writing(output), console.capture() as capture:  # unbuffered, it writes an empty text
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
            if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - closed, it is
                raise Failure("cannot write: standard output is closed", BAD_DATA)
            sys.stdout.write(_printable(text) + "\n")
            sys.stdout.flush()
            return
        from deadheat.io.writing import replacing

        with replacing(output) as file:
            file.write((text + "\n").encode(errors="backslashreplace"))


@contextmanager
def writing(output: str | None) -> Iterator[None]:
    """Say in one line that an output cannot be written; a reader that has gone is the business of the caller."""
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
    """Return whether people see standard output."""
    return sys.stdout is not None and sys.stdout.isatty()  # pyright: ignore[reportUnnecessaryComparison] - closed, it is


def _printable(text: str) -> str:
    """Replace what the encoding of standard output lacks: symbols by words, all else by escapes."""
    encoding = sys.stdout.encoding or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return text
