"""The command line: parsing and printing only. Commands import NumPy and Polars when they run."""

from __future__ import annotations

import click

from deadheat.cli.agree import agree
from deadheat.cli.app import App, debug_option
from deadheat.cli.bench import bench
from deadheat.cli.cases import cases
from deadheat.cli.compare import compare
from deadheat.cli.convert import convert
from deadheat.cli.demo import demo
from deadheat.cli.evaluate import evaluate
from deadheat.cli.explain import explain
from deadheat.cli.gate import gate
from deadheat.cli.holes import holes
from deadheat.cli.items import items
from deadheat.cli.measures import measures
from deadheat.cli.report import report
from deadheat.cli.simulate import simulate
from deadheat.cli.ties import ties
from deadheat.cli.trec_eval import trec_eval
from deadheat.cli.validate import validate

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
@click.version_option(package_name="deadheat", message="deadheat %(version)s")
@debug_option
def main() -> None:
    """Run a command."""


for command in (
    *(evaluate, compare, agree, report, gate, ties, explain, holes, items, simulate, trec_eval),
    *(measures, convert, bench, cases, validate, demo),
):
    main.add_command(command)
