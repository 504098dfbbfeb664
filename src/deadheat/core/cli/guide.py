"""Commands that show what deadheat has: measures, schema, demo."""

from importlib.resources import as_file, files
from operator import methodcaller
from pathlib import Path
from typing import Any

import click

import deadheat as dh
from deadheat.core import hooks
from deadheat.core.cli.errors import error_message, refuse, refuse_if
from deadheat.core.cli.help import option
from deadheat.core.cli.options import command, complete_from, with_options
from deadheat.core.cli.paths import PATH
from deadheat.core.cli.printing import Output, check_output, emit, format_option, output_option
from deadheat.core.cli.streams import write_note
from deadheat.core.errors import DataError
from deadheat.core.wording import did_you_mean, join_sentences

EVERY = "*"


@command(
    "deadheat measures                   all of them",
    "deadheat measures nDCG              formula, parameters, how to read it",
    "deadheat measures --for             every use that there is advice for",
    "deadheat measures --for voice       what suits it, and why",
    "deadheat measures --for k=10        what a cutoff of 10 is good for",
)
@click.argument("name", required=False, shell_complete=complete_from("deadheat.core.hooks:list_measures"))
@option(
    "--for",
    "use",
    is_flag=False,
    flag_value=EVERY,
    metavar="USE",
    shell_complete=complete_from("deadheat.core.measures.guide:USES"),
    help="Which measures suit a use, such as rag, recommender, search, qa, top3, graded, ab-test or k=5.",
)
@format_option("document")
@output_option
@with_options("flags")
def measures(name: str | None, use: str | None, form: str | None, output: str | None) -> None:
    """List the measures, explain one, or say which to use when."""
    from deadheat.core.measures import parse_measure
    from deadheat.core.measures.guide import USES, recommend
    from deadheat.core.report.of_measures import report_catalogue, report_measure, report_use, report_uses

    refuse_if(None not in {name, use}, f"either a measure or --for USE, got both: {name!r} and {use!r}")
    written = Output({"form": form, "output": output})
    if use is not None:
        report = report_uses(USES.values()) if use == EVERY else report_use(recommend(use), asked=use)
    else:
        report = report_catalogue() if name is None else report_measure(type(parse_measure(name)), name)
    written.print(report)


@command("deadheat schema evaluate", "deadheat schema compare -o compare.schema.json")
@click.argument("command")
@output_option
@with_options("flags")
def schema(command: str, *, output: str | None) -> None:
    """Print the JSON Schema (2020-12) of what another command prints with --format json.

    Its $id has the version of the schema: what a schema of one version requires, later releases keep, and keys that
    they add are allowed.
    """
    known = hooks.find_schemas()
    if command not in known:
        raise click.UsageError(
            join_sentences(
                f"{command!r} prints no JSON.", did_you_mean(command, known), f"All: {', '.join(sorted(known))}"
            )
        )
    check_output(output)
    emit(known[command].read_text(encoding="utf-8").rstrip("\n"), output)


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


@command("deadheat demo", "deadheat demo --copy demo-data    the files, to try other commands on")
@option("--copy", "folder", type=PATH, metavar="FOLDER", help="Copy the data there instead.")
@option("--force", is_flag=True, help="Let --copy replace existing files that differ.")
@format_option("document")
@output_option
@with_options("flags")
def demo(folder: str | None, *, force: bool, **options: Any) -> None:  # noqa: ANN401 - click's
    """Show on real data why ties matter."""
    from deadheat.core.report.conventions import TIE_HEADINGS
    from deadheat.core.report.model import Fact
    from deadheat.core.report.of_measures import MEASURES, report_demo

    if folder is not None:
        refuse(("form", "output"), "is for a report, which --copy does not print")
    refuse_if(folder is None and force, "--force replaces existing files: give --copy FOLDER too")
    with as_file(files("deadheat.core") / "demo") as data:
        if folder is not None:
            _copy(data, Path(folder), force=force)
            return
        output = Output(options)
        qrels = dh.Qrels(data / QRELS)
        runs = {path.name.removesuffix(ENDING): dh.Run(path) for path in sorted(data.glob(f"*{ENDING}"))}
        systems = {
            name: {rule: dh.evaluate(qrels, run, MEASURES, ties=rule, duplicates="trust") for rule in TIE_HEADINGS}
            for name, run in runs.items()
        }
    if output.digits is None and output.form != "json":
        output.digits = DIGITS
    output.print(report_demo(systems, Fact("source", SOURCE, "data", SHORT), CLOSING))


def _copy(data: Path, folder: Path, *, force: bool) -> None:
    """Copy the files; refuse to replace one that differs."""
    from deadheat.core.io.writing import write_files

    paths = [path for path in sorted(data.iterdir()) if path.is_file() and path.suffix != ".py"]
    try:
        write_files(folder, {path.name: methodcaller("write", path.read_bytes()) for path in paths}, force=force)
    except DataError as error:
        raise click.UsageError(error_message(error)) from None
    others = [path.name for path in paths if path.name != QRELS and not path.name.endswith(ENDING)]
    write_note(f"{folder}: {', '.join([QRELS, f'{len(paths) - 1 - len(others)} runs', *others])}")
