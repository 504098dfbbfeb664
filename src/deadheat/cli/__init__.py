"""The command line: parsing and printing only.

A command is imported when it is asked for, and imports NumPy and Polars when it runs.
"""

from __future__ import annotations

import click

from deadheat.cli.app import App, flags
from deadheat.version import __version__

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


@click.group(cls=App, help=HELP, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="deadheat %(version)s")
@flags
def main() -> None:
    """Run a command."""
