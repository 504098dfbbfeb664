"""deadheat demo."""

from __future__ import annotations

import shutil
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deadheat.cli.app import debug_option, say
from deadheat.cli.files import PATH
from deadheat.cli.options import examples
from deadheat.cli.output import output_options, prepare, print_report, writing

if TYPE_CHECKING:
    from deadheat.evaluation.evaluation import Evaluation

PARTS = ("document",)
QRELS = "qrels.human.txt.gz"
DIGITS = 3  # what fits in 80 columns
SOURCE = (
    "four LLM judges as rerankers, grades 0 to 3 for 4,423 passages of 25 queries (TREC 2023 Deep Learning, relevance"
    " by NIST assessors); LLMJudge benchmark, Rahmani et al., arXiv 2502.13908"
)
SHORT = "TREC 2023 Deep Learning, NIST assessors; LLMJudge, arXiv 2502.13908"
CLOSING = """With your files: {program} evaluate QRELS RUN... Or go on with these:
  {program} demo --copy demo-data
  {program} ties demo-data/Olz-gpt4o.run.gz demo-data/{qrels}"""


@click.command(
    short_help="Show on real data why ties matter.",
    **examples("deadheat demo", "deadheat demo --copy demo-data    the files, to try other commands on"),
)
@click.option("--copy", "folder", type=PATH, metavar="FOLDER", help="Copy the data there instead.")
@click.option("--force", is_flag=True, help="Let --copy replace existing files that differ.")
@output_options(*PARTS, decimals=DIGITS)
@debug_option
def demo(
    folder: str | None,
    force: bool,  # noqa: FBT001 - click passes by name
    form: str | None,
    output: str | None,
    digits: int | None,
) -> None:
    """Show on real data why ties matter."""
    from deadheat.report.model import Fact
    from deadheat.report.of_demo import report_demo

    _check_usage(folder, form, output, digits, force=force)
    with as_file(files("deadheat") / "demo") as data:
        if folder is not None:
            _copy(data, Path(folder), force=force)
            return
        form = prepare(form, output, PARTS)
        systems = {name: _by_rule(data, path) for name, path in _runs(data).items()}
    closing = CLOSING.format(program=_program(), qrels=QRELS)
    report = report_demo(systems, Fact("source", SOURCE, "data", SHORT), closing)
    print_report(report, form=form, output=output, digits=DIGITS if digits is None and form != "json" else digits)


def _check_usage(folder: str | None, *of_report: object, force: bool) -> None:
    """Refuse report options with --copy, and --force without it."""
    if folder is not None and any(given is not None for given in of_report):
        raise click.UsageError("--copy prints no report: leave out --format, --output and --digits")
    if folder is None and force:
        raise click.UsageError("--force replaces existing files: give --copy FOLDER too")


def _program() -> str:
    """Return how to call this program: by its path, if a shell would not find it."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "deadheat" and shutil.which("deadheat") is None else "deadheat"


def _runs(data: Path) -> dict[str, Path]:
    return {path.name.removesuffix(".run.gz"): path for path in sorted(data.glob("*.run.gz"))}


def _by_rule(data: Path, path: Path) -> dict[str, Evaluation]:
    from deadheat.data.tables import Qrels, Run
    from deadheat.evaluation.evaluate import evaluate
    from deadheat.report.conventions import RULES
    from deadheat.report.of_demo import MEASURES

    qrels, run = Qrels(data / QRELS), Run(path)
    return {rule: evaluate(qrels, run, MEASURES, ties=rule, check_duplicates=False) for rule in RULES}


def _copy(data: Path, folder: Path, *, force: bool) -> None:
    """Copy the missing files; refuse to replace one that differs, before any is written."""
    from deadheat.io.writing import replacing

    if folder.exists() and not folder.is_dir():
        raise click.UsageError(f"{str(folder)!r} is a file, expected a folder")
    sources = [path for path in sorted(data.iterdir()) if path.is_file() and path.suffix != ".py"]
    new = [path for path in sources if not _is_copied(path, folder / path.name)]
    differing = [path.name for path in new if (folder / path.name).exists()]
    if differing and not force:
        raise click.UsageError(
            f"{', '.join(differing)} in {str(folder)!r} would be replaced: give --force to replace them"
        )
    with writing(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
        for path in new:
            with path.open("rb") as source, replacing(folder / path.name) as file:
                shutil.copyfileobj(source, file)
    if new:
        runs = _runs(data).values()
        others = [path.name for path in sources if path.name != QRELS and path not in runs]
        say(f"{folder}: {', '.join([QRELS, f'{len(runs)} runs', *others])}")


def _is_copied(path: Path, target: Path) -> bool:
    return target.is_file() and target.read_bytes() == path.read_bytes()
