"""deadheat demo."""

from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import IO, Any

import click

from deadheat.cli.app import error_message, refuse, refuse_if, say
from deadheat.cli.files import PATH
from deadheat.cli.options import examples, takes
from deadheat.cli.output import Output, output_options

QRELS, ENDING = "qrels.human.txt.gz", ".run.gz"
DIGITS = 3  # what fits in 80 columns
SOURCE = (
    "four LLM judges as rerankers, grades 0 to 3 for 4,423 passages of 25 queries (TREC 2023 Deep Learning, relevance"
    " by NIST assessors); LLMJudge benchmark, Rahmani et al., arXiv 2502.13908"
)
SHORT = "TREC 2023 Deep Learning, NIST assessors; LLMJudge, arXiv 2502.13908"
CLOSING = f"""With your files: deadheat evaluate QRELS RUN... Or go on with these:
  deadheat demo --copy demo-data
  deadheat ties demo-data/Olz-gpt4o.run.gz demo-data/{QRELS}"""


@click.command(
    short_help="Show on real data why ties matter.",
    **examples("deadheat demo", "deadheat demo --copy demo-data    the files, to try other commands on"),
)
@click.option("--copy", "folder", type=PATH, metavar="FOLDER", help="Copy the data there instead.")
@click.option("--force", is_flag=True, help="Let --copy replace existing files that differ.")
@output_options("document", decimals=DIGITS)
@takes("flags")
def demo(folder: str | None, *, force: bool, **options: Any) -> None:  # noqa: ANN401 - click's
    """Show on real data why ties matter."""
    from deadheat.data.tables import Qrels, Run
    from deadheat.evaluation.evaluate import evaluate
    from deadheat.report.conventions import RULES
    from deadheat.report.model import Fact
    from deadheat.report.of_explanation import MEASURES, report_demo

    if folder is not None:
        refuse(("form", "output", "digits"), "is for a report, which --copy does not print")
    refuse_if(folder is None and force, "--force replaces existing files: give --copy FOLDER too")
    with as_file(files("deadheat") / "demo") as data:
        if folder is not None:
            _copy(data, Path(folder), force=force)
            return
        output = Output(options)
        qrels = Qrels(data / QRELS)
        runs = {path.name.removesuffix(ENDING): Run(path) for path in sorted(data.glob(f"*{ENDING}"))}
        systems = {
            name: {rule: evaluate(qrels, run, MEASURES, ties=rule, check_duplicates=False) for rule in RULES}
            for name, run in runs.items()
        }
    if output.digits is None and output.form != "json":
        output.digits = DIGITS
    output.print(report_demo(systems, Fact("source", SOURCE, "data", SHORT), CLOSING))


def _copy(data: Path, folder: Path, *, force: bool) -> None:
    """Copy the files; refuse to replace one that differs."""
    from deadheat.errors import DataError
    from deadheat.io.writing import write_files

    paths = [path for path in sorted(data.iterdir()) if path.is_file() and path.suffix != ".py"]
    try:
        write_files(folder, {path.name: partial(_write, path) for path in paths}, force=force)
    except DataError as error:
        raise click.UsageError(error_message(error)) from None
    others = [path.name for path in paths if path.name != QRELS and not path.name.endswith(ENDING)]
    say(f"{folder}: {', '.join([QRELS, f'{len(paths) - 1 - len(others)} runs', *others])}")


def _write(path: Path, file: IO[bytes]) -> None:
    file.write(path.read_bytes())
