"""deadheat demo."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deadheat.cli.app import debug_option
from deadheat.cli.options import examples
from deadheat.cli.output import output_options, prepare, print_report, writing

if TYPE_CHECKING:
    from deadheat.evaluation import Evaluation

FORMATS = ("table", "json", "markdown")
QRELS = "qrels.human.txt.gz"
DIGITS = 3  # what fits in 80 columns
SOURCE = (
    "four LLM judges as rerankers, grades 0 to 3 for 4,423 passages of 25 queries (TREC 2023 Deep Learning, relevance"
    " by NIST assessors); LLMJudge benchmark, Rahmani et al., arXiv 2502.13908"
)
CLOSING = (
    "Next:\n"
    "  deadheat demo --copy demo-data\n"
    f"  deadheat ties demo-data/Olz-gpt4o.run.gz demo-data/{QRELS}\n"
    "Or with your files:\n"
    "  deadheat evaluate QRELS RUN..."
)


@click.command(
    short_help="Show on real data why ties matter.",
    **examples("deadheat demo", "deadheat demo --copy demo-data    the files, to try other commands on"),
)
@click.option("--copy", "folder", type=click.Path(), metavar="FOLDER", help="Copy the data there instead.")
@click.option("--force", is_flag=True, help="Let --copy replace files that are there and differ.")
@output_options(*FORMATS)
@debug_option
def demo(
    folder: str | None,
    force: bool,  # noqa: FBT001 - click passes by name
    form: str | None,
    output: str | None,
    digits: int | None,
) -> None:
    """Show on real data why ties matter."""
    from deadheat.report.of_demo import report_demo

    with as_file(files("deadheat") / "demo") as data:
        if folder is not None:
            _copy(data, Path(folder), force=force)
            return
        form = prepare(form, output, FORMATS)
        systems = {name: _by_rule(data, path) for name, path in _runs(data).items()}
    report = report_demo(systems, SOURCE, CLOSING)
    print_report(report, form=form, output=output, digits=DIGITS if digits is None and form != "json" else digits)


def _runs(data: Path) -> dict[str, Path]:
    return {path.name.removesuffix(".run.gz"): path for path in sorted(data.glob("*.run.gz"))}


def _by_rule(data: Path, path: Path) -> dict[str, Evaluation]:
    from deadheat.data import Qrels, Run
    from deadheat.evaluating import evaluate
    from deadheat.report.of_demo import MEASURES, RULES

    qrels, run = Qrels(data / QRELS), Run(path)
    return {rule: evaluate(qrels, run, MEASURES, ties=rule, check_duplicates=False) for rule in RULES}


def _copy(data: Path, folder: Path, *, force: bool) -> None:
    """Copy the files that are not there yet; refuse to replace one that differs, before any is written."""
    if folder.exists() and not folder.is_dir():
        raise click.UsageError(f"{str(folder)!r} is a file, expected a folder")
    sources = [path for path in sorted(data.iterdir()) if path.is_file() and path.suffix != ".py"]
    new = [path for path in sources if not _is_copied(path, folder / path.name)]
    differing = [path.name for path in new if (folder / path.name).exists()]
    if differing and not force:
        raise click.UsageError(f"{', '.join(differing)} in {str(folder)!r} would be replaced: --force does so")
    with writing(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
        for path in new:
            shutil.copyfile(path, folder / path.name)
    if new:
        runs = _runs(data).values()
        others = [path.name for path in sources if path.name != QRELS and path not in runs]
        click.echo(f"{folder}: {', '.join([QRELS, f'{len(runs)} runs', *others])}", err=True)


def _is_copied(path: Path, target: Path) -> bool:
    return target.is_file() and target.read_bytes() == path.read_bytes()
