"""The command line: parsing and printing only.

A command is imported when it is asked for, and imports NumPy and Polars when it runs.
"""

import locale
import os
import sys
from contextlib import suppress

import click

from deadheat.core.cli.app import App
from deadheat.core.cli.help import flags, option
from deadheat.version import __version__

LIBRARIES = (
    *("numpy", "scipy", "polars", "narwhals", "click", "rich", "jinja2", "filelock"),
    *("pandas", "pyarrow", "duckdb", "pyspark", "altair", "vl-convert-python", "sentence-transformers", "torch"),
)

HELP = """Evaluate rankings, exactly where scores tie.

\b
  deadheat evaluate qrels.txt bm25.run     scores, and what ties may change
  deadheat evaluate qrels.txt a.run b.run -m nDCG@10 -m RR
  deadheat evaluate train.letor            which feature ranks best
  deadheat compare qrels.txt a.run b.run   better by more than chance?
  deadheat report qrels.txt a.run b.run -o r.html    all of it on one page
  deadheat ties bm25.run qrels.txt         how many ties, and what they decide
  deadheat measures --for rag              which measure to use
  deadheat demo                            why ties matter, on real data
"""

EPILOG = """\b
Exit codes: 0 done, 1 a gate failed, 2 usage, 3 bad data, 70 a bug,
130 Ctrl-C.
Shell completion: eval "$(_DEADHEAT_COMPLETE=bash_source deadheat)";
zsh_source and fish_source are for other shells.
"""


def _show_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's
    """Print the version; with --verbose also those of Python, the system and libraries, for a report of a bug."""
    if not value or ctx.resilient_parsing:
        return
    click.echo(f"deadheat {__version__}")
    if ctx.meta.get("verbose"):
        from importlib.metadata import PackageNotFoundError, version
        from platform import machine, platform, python_version

        click.echo(f"Python {python_version()}\n{platform()}, {machine()}, {os.cpu_count()} CPUs")
        click.echo(f"encoding {sys.stdout.encoding}, locale {locale.getlocale()[0]}")
        for name in LIBRARIES:
            with suppress(PackageNotFoundError):
                click.echo(f"{name} {version(name)}")
    ctx.exit()


@click.group(cls=App, help=HELP, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@option(
    "--version",
    is_flag=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit; with --verbose also what a report of a bug should have.",
)
@flags
def main() -> None:
    """Run a command."""
