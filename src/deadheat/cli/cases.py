"""deadheat cases."""

from typing import Any

import click

from deadheat.cli.files import INPUT, label, unique_names
from deadheat.cli.options import CASES, LIMITS, complete_from, examples, takes
from deadheat.cli.output import Output, output_options


@click.command(
    short_help="Summarise labelled cases by language, difficulty, category and domain.",
    **examples(
        "deadheat cases cases.json",
        "deadheat cases german/*.json english/*.json --by language",
        "deadheat cases cases.csv --by difficulty --by domain --format csv",
    ),
)
@click.argument("files", type=INPUT, nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--by",
    multiple=True,
    metavar="LABEL",
    shell_complete=complete_from("deadheat.benchmark.cases:LABELS"),
    help="language, difficulty, category or domain; may be repeated. Default: every one that a set has.",
)
@takes(*CASES)
@output_options("document", "rows")
@takes(*LIMITS, "flags")
def cases(files: tuple[str, ...], *, by: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Summarise sets of labelled cases: how many, what they expect, how often they repeat."""
    from deadheat.benchmark.cases import LABELS, read_cases, summarise
    from deadheat.benchmark.cases.validation import report_cases

    output = Output(options, files)
    own = {name: options[name] for name in ("id_pattern", "language", "columns")}
    sets = [read_cases(path, format=options["input_format"], **own) for path in files]
    names = {path: one.name or label(path, "cases") for path, one in zip(files, sets, strict=True)}
    keys = unique_names(files, names.__getitem__)
    parts = {
        key: summarise(one, by or [name for name in LABELS if any(getattr(case, name) for case in one)])
        for key, one in zip(keys, sets, strict=True)
    }
    output.print(report_cases(parts, [note for one in sets for note in one.notes]))
