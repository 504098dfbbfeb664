"""deadheat validate."""

from typing import Any

import click

from deadheat.cli.app import BAD_DATA, error_message, refuse_if
from deadheat.cli.files import INPUT, PATH
from deadheat.cli.options import CASES, LIMITS, examples, takes
from deadheat.cli.output import Output, emit, format_option, output_option


@click.command(
    short_help="Check labelled cases, and say how to fix what is wrong.",
    **examples(
        "deadheat validate cases.json",
        "deadheat validate german/*.json --language de --ontology hp.obo.gz",
        "deadheat validate cases.csv --id-pattern 'MONDO:[0-9]{7}'",
        "deadheat validate --schema > cases.schema.json",
    ),
)
@click.argument("files", type=INPUT, nargs=-1, metavar="FILE...")
@click.option(
    "--ontology",
    type=PATH,
    metavar="FILE",
    help="OBO, OBO Graphs or OWL; expected ids that it lacks or marks as obsolete are reported.",
)
@takes(*CASES)
@click.option("--schema", is_flag=True, help="Print the JSON Schema that files are checked against.")
@format_option()
@output_option
@takes(*LIMITS, "flags")
def validate(files: tuple[str, ...], *, ontology: str | None, schema: bool, **options: Any) -> None:  # noqa: ANN401 - click's
    """Check files of labelled cases (JSON, JSON lines or CSV), and say how to fix what is wrong.

    First against a JSON Schema, then for what no schema sees: repeated texts, missing labels, ids that an ontology
    lacks, texts in another language (a guess), too few cases for a sound conclusion.

    Exit codes: 0 usable, warnings or not; 3 a case or a file cannot be used, for example because an expected
    id is malformed or repeated.
    """
    from deadheat.benchmark.cases import schema_text, validate as check
    from deadheat.benchmark.cases.validation import report_validation

    refuse_if(schema == bool(files), "give files to check, or --schema to print the schema")
    output = Output({"form": "table"} | options if schema else options, [*files, ontology])
    if schema:
        emit(schema_text().rstrip("\n"), output.path)
        return
    terms = None
    if ontology is not None:  # read once for all files
        from deadheat.benchmark.ontology import read_ontology

        terms = read_ontology(ontology)
    own = {name: options[name] for name in ("id_pattern", "language", "columns")}
    found = [check(path, ontology=terms, format=options["input_format"], **own) for path in files]
    found = [one.told(error_message(one.cause, has_place=False)) if one.cause else one for one in found]
    output.print(report_validation(found, is_data=output.form == "json"))
    if not all(one.is_usable for one in found):
        raise click.exceptions.Exit(BAD_DATA)
