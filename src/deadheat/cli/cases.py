"""deadheat cases."""

from __future__ import annotations

import click

from deadheat.cli.app import debug_option
from deadheat.cli.files import PATH, check_inputs, input_path, label
from deadheat.cli.options import complete_from, decompressed_option, examples, unique_names
from deadheat.cli.output import output_options, prepare, print_report
from deadheat.cli.validate import fields_option, input_format_option, language_option, pattern_option

PARTS = ("document", "rows")
EXAMPLES = examples(
    "deadheat cases cases.json",
    "deadheat cases german/*.json english/*.json --by language",
    "deadheat cases cases.csv --by difficulty --by domain --format csv",
)


@click.command(short_help="Summarise labelled cases by language, difficulty, category and domain.", **EXAMPLES)
@click.argument("files", type=PATH, nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--by",
    multiple=True,
    metavar="LABEL",
    shell_complete=complete_from("deadheat.benchmark.cases:LABELS"),
    help="language, difficulty, category or domain; may be repeated. Default: every one that a set has.",
)
@pattern_option
@language_option
@input_format_option
@fields_option
@output_options(*PARTS)
@decompressed_option
@debug_option
def cases(
    files: tuple[str, ...],
    *,
    by: tuple[str, ...],
    id_pattern: str | None,
    language: str | None,
    input_format: str | None,
    columns: dict[str, str],
    form: str | None,
    output: str | None,
    digits: int | None,
) -> None:
    """Summarise sets of labelled cases: how many, what they expect, how often they repeat."""
    from deadheat.arguments import check_choice
    from deadheat.benchmark.cases import LABELS, read_cases, summarise
    from deadheat.benchmark.cases.report import report_cases

    paths = [input_path(path) for path in files]
    form = prepare(form, output, PARTS, paths)
    for one in by:
        check_choice("by", one, LABELS)
    check_inputs(paths)
    sets = [
        read_cases(path, id_pattern=id_pattern, language=language, format=input_format, columns=columns)
        for path in paths
    ]
    names = {path: one.name or label(path, "cases") for path, one in zip(paths, sets, strict=True)}
    keys = unique_names(paths, names.__getitem__)
    parts = {
        key: summarise(one, by or [name for name in LABELS if any(getattr(case, name) for case in one)])
        for key, one in zip(keys, sets, strict=True)
    }
    print_report(report_cases(parts), form=form, output=output, digits=digits)
