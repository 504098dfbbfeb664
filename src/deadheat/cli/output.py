"""Where reports and figures go: a terminal, a pipe or files, each in its format and encoding."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from deadheat.cli.app import BAD_DATA, CommandError, discard, error_message, reason, refuse_if, say
from deadheat.cli.files import PATH, STDOUT, asked, check_folder, check_inputs, check_output
from deadheat.errors import collected, counted, in_brackets, printable, three

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
    text = f"Decimals; default {decimals}, but all of them in {exact}."
    digits = click.option("--digits", type=click.IntRange(0, MAX_DIGITS), help=text)
    return lambda command: format_option(*parts)(output_option(digits(command)))


def table_option(default: str, *others: str) -> Callable[[Any], Any]:
    """Return the option --table of a command whose csv has one table of several."""
    return click.option(
        "--table",
        metavar="NAME",
        help=f"The table that csv has instead of {default}, by its name in json: {', '.join(others[:-1])} or"
        f" {others[-1]}, where there is one.",
    )


class Output:
    """Where a command writes its report, and how; before anything is computed, what it cannot read or write is refused.

    Parameters
    ----------
    options : mapping
        Of the command.
    inputs : iterable of str or None
        Files that are read, and must not be overwritten; None is one that was not given.
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
    """

    def __init__(
        self, options: Mapping[str, Any], inputs: Iterable[str | None] = (), parts: Collection[str] | None = None
    ) -> None:
        self.path: str | None = options.get("output")
        self.digits: int | None = options.get("digits")
        self.table: str | None = options.get("table")
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
        check_folder("figures")
        if asked().get("figures") is not None:
            import deadheat.figures  # noqa: F401 - or the error that says what to install
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
        """Write a report."""
        from deadheat.report.formats import report_formats

        if self.table is not None:
            held = {table.key: table for table in report.tables}
            refuse_if(self.table not in held, f"--table {self.table}: there is none here. There are {', '.join(held)}")
            report = replace(report, tables=(held[self.table],))
        chosen, is_stdout = report_formats()[self.form], self.path in {None, STDOUT}
        if chosen.draw is not None and is_stdout:
            width = _screen_width()
            text = _styled(chosen.draw(report, width=width, digits=self.digits), width)
        else:
            text = chosen.write(report, digits=self.digits)
        is_shown = chosen.is_data and is_stdout and is_terminal()  # elsewhere it is data, which stays as it is
        emit(printable(text, "\n\t") if is_shown else text, self.path)
        if chosen.is_data:
            _tell(report)


def _format_of(path: str | None, parts: Collection[str]) -> str:
    """Return the format that the name of an output means."""
    from deadheat.report.formats import formats_of, report_formats

    suffix = "" if path in {None, STDOUT} else Path(str(path)).suffix.lower()
    own = formats_of(parts)
    named = [name for name, one in {**own, **report_formats()}.items() if suffix in one.suffixes]
    if named and named[0] in own:
        return named[0]
    problem = f"names {named[0]}, which this command cannot print" if named else "names no format"
    *others, last = own
    raise click.UsageError(f"{path!r} {problem}: give --format {', '.join(others)} or {last}")


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


def befores(groupings: Sequence[Sequence[str]]) -> list[str]:
    """Return what the names of the figures of each set of strata begin with."""
    return [f"{'-'.join(columns)}-" if len(groupings) > 1 else "" for columns in groupings]


def with_figures(
    report: Report, subjects: Iterable[tuple[str, Any, Mapping[str, Any]]], measures: Sequence[str]
) -> Report:
    """Draw the figures of some objects as --figures says, and return the report with what was drawn and what was not.

    Parameters
    ----------
    report : Report
    subjects : iterable of (str, object, dict)
        What figures are drawn of: each after what the names of its files begin with, and before the options of its
        figures, of which each gets those that it knows.
    measures : sequence of str
    """
    folder = asked().get("figures")
    if folder is None:
        return report
    from deadheat.figures import drawings, save
    from deadheat.io.writing import LONGEST, file_name
    from deadheat.report.model import Fact

    paths: list[str] = []
    drawn = [
        (before + one.name, one) for before, subject, own in subjects for one in drawings(subject, measures, **own)
    ]
    with writing(folder):
        Path(folder).mkdir(parents=True, exist_ok=True)
    for name, one in drawn:
        if one.chart is not None:
            paths.append(str(Path(folder) / f"{file_name(name, LONGEST - 15)}.{asked()['figure_format']}"))
            with writing(paths[-1]):
                save(one.chart, paths[-1], has_title=not asked().get("no_title"), width=asked().get("figure_width"))
    names = in_brackets([Path(path).name for path in paths])
    text = f"{counted(len(paths), 'file')} in {folder}{names}" if paths else "none"
    facts = [Fact("figures", paths, "figures", text, is_note=True)]
    if not_drawn := collected((error_message(one.error), name) for name, one in drawn if one.error is not None):
        text = "; ".join(f"{three(names)}: {why}" for why, names in not_drawn.items())
        facts.append(Fact("not_drawn", not_drawn, "not drawn", text, is_note=True))
    return replace(report, facts=(*report.facts, *facts))


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
            discard(sys.stdout)
        what = "" if is_stdout else f" {output!r}"
        raise CommandError(f"cannot write{what}: {reason(error)}", BAD_DATA) from error


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return standard_output().isatty()


def standard_output() -> TextIO:
    """Return the standard output, or raise an error if it is closed."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - None when closed
        raise CommandError("cannot write: standard output is closed", BAD_DATA)
    return sys.stdout


def _encodable(text: str, encoding: str) -> str:
    """Replace characters that an encoding lacks: symbols by words, others by escapes."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return text
