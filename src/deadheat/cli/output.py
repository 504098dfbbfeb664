"""Where reports go: a terminal, a pipe or a file, each in its format and encoding."""

from __future__ import annotations

import secrets
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from deadheat.report.model import Report

FORMATS = ("table", "json", "csv", "markdown", "latex", "trec")
OF_SUFFIX = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex", ".trec": "trec", ".eval": "trec"}
MAX_DIGITS = 15


def format_option(*formats: str) -> Callable[[Any], Any]:
    """Return the option --format."""
    choices = click.Choice(formats)
    return click.option("--format", "form", type=choices, help="Default: what the name of --output says, else table.")


def output_options(*formats: str) -> Callable[[Any], Any]:
    """Return the options --format, --output and --digits."""

    def add(command: Any) -> Any:  # noqa: ANN401 - a function or a command, as click's decorators
        digits = click.option(
            "--digits", type=click.IntRange(0, MAX_DIGITS), help="Decimals; default 4, in json and csv all there are."
        )
        output = click.option("-o", "--output", metavar="FILE", help="Write to a file, whole or not at all.")
        return format_option(*formats)(output(digits(command)))

    return add


def chosen_format(form: str | None, output: str | None, formats: tuple[str, ...] = FORMATS) -> str:
    """Return the format that was asked for, or else what the name of the output says."""
    if form is not None:
        return form
    named = OF_SUFFIX.get(Path(output).suffix.lower(), "table") if output else "table"
    return named if named in formats else "table"


def print_report(report: Report, *, form: str | None, output: str | None, digits: int | None = None) -> None:
    """Write a report in a format that does not depend on what the report is of."""
    form = chosen_format(form, output)
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
    else:
        from deadheat.report.as_csv import as_csv

        emit(as_csv(report.tables[0], digits=digits), output)


def as_screen(report: Report, *, digits: int | None = None, output: str | None = None) -> str:
    """Return a report as text for a terminal (styled, unless NO_COLOR), a pipe or a file (plain)."""
    from rich.console import Console

    from deadheat.report.as_text import as_text

    width = shutil.get_terminal_size().columns
    text = as_text(report, width=width, digits=digits)
    if output:
        return text.plain
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    with console.capture() as capture:
        console.print(text, soft_wrap=True, end="")
    return capture.get()


def emit(text: str, output: str | None = None) -> None:
    """Write text and a line end to standard output, or to a file that appears only when it is complete."""
    if output is None:
        sys.stdout.write(_printable(text) + "\n")
        sys.stdout.flush()
        return
    path = Path(output)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        temporary.write_text(text + "\n", encoding="utf-8", newline="\n")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise click.UsageError(f"cannot write {output!r}: {error.strerror}") from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _printable(text: str) -> str:
    """Replace what the encoding of standard output lacks: symbols by words, all else by escapes."""
    encoding = sys.stdout.encoding or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        from deadheat.report.formula import ascii_only

        return ascii_only(text).encode(encoding, "backslashreplace").decode(encoding)
    return text
