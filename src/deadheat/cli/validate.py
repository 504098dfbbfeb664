"""deadheat validate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from deadheat.cli.app import BAD_DATA, debug_option
from deadheat.cli.files import PATH, check_inputs, input_path
from deadheat.cli.options import decompressed_option, examples, parsed_names
from deadheat.cli.output import emit, format_option, output_option, prepare, print_report
from deadheat.cli.wording import error_message

if TYPE_CHECKING:
    from deadheat.benchmark.cases import Validation

PARTS: tuple[str, ...] = ()
EXAMPLES = examples(
    "deadheat validate cases.json",
    "deadheat validate german/*.json --language de --ontology hp.obo.gz",
    "deadheat validate cases.csv --id-pattern 'MONDO:[0-9]{7}'",
    "deadheat validate --schema > cases.schema.json",
)

pattern_option = click.option(
    "--id-pattern",
    metavar="RE",
    help="Pattern that every expected id must match as a whole; default: HP: and seven digits for expected_hpo_ids.",
)
language_option = click.option(
    "--language", metavar="CODE", help="The language of cases whose file names none, such as de."
)

input_format_option = click.option(
    "--input-format",
    metavar="json|jsonl|csv|tsv",
    help="Format of the files, as for standard input; default: by their names.",
)
fields_option = click.option(
    "--columns",
    metavar="FIELD=COLUMN,...",
    callback=lambda _, __, value: parsed_names(value, "text=symptom,expected_ids=term"),
    help="Names of fields that are not recognised, such as text=symptom,expected_ids=term.",
)


@click.command(short_help="Check labelled cases, and say how to fix what is wrong.", **EXAMPLES)
@click.argument("files", type=PATH, nargs=-1, metavar="FILE...")
@click.option(
    "--ontology",
    type=PATH,
    metavar="FILE",
    help="OBO, OBO Graphs or OWL; expected ids that it lacks or marks as obsolete are reported.",
)
@pattern_option
@language_option
@input_format_option
@fields_option
@click.option("--schema", is_flag=True, help="Print the JSON Schema that files are checked against.")
@format_option(*PARTS)
@output_option
@decompressed_option
@debug_option
def validate(
    files: tuple[str, ...],
    *,
    ontology: str | None,
    id_pattern: str | None,
    language: str | None,
    input_format: str | None,
    columns: dict[str, str],
    schema: bool,
    form: str | None,
    output: str | None,
) -> None:
    """Check files of labelled cases (JSON, JSON lines or CSV), and say how to fix what is wrong.

    First against a JSON Schema, then for what no schema sees: repeated texts, missing labels, ids that an ontology
    lacks, texts in another language (a guess), too few cases for a sound conclusion.

    Exit codes: 0 usable, warnings or not; 3 a case or a file cannot be used, for example because an expected
    id is malformed or repeated.
    """
    from deadheat.benchmark.cases import schema_text
    from deadheat.benchmark.cases.report import report_validation

    if schema == bool(files):
        raise click.UsageError("give files to check, or --schema to print the schema")
    if schema:
        prepare("table", output, PARTS)
        emit(schema_text().rstrip("\n"), output)
        return
    paths = [input_path(path) for path in files]
    inputs = [*paths, *([] if ontology is None else [ontology])]
    form = prepare(form, output, PARTS, inputs)
    check_inputs(inputs)
    given = {"id_pattern": id_pattern, "language": language, "format": input_format}
    found = _validated(paths, ontology=ontology, columns=columns, **given)
    print_report(report_validation(found, is_data=form == "json"), form=form, output=output)
    if not all(one.is_usable for one in found):
        raise click.exceptions.Exit(BAD_DATA)


def _validated(
    paths: list[str], *, ontology: str | None, columns: dict[str, str], **options: str | None
) -> list[Validation]:
    """Check each file, all of them against one ontology, which is read once."""
    from deadheat.benchmark.cases import validate as check

    terms = None
    if ontology is not None:
        from deadheat.benchmark.ontology import read_ontology

        terms = read_ontology(ontology)
    return [_in_words(check(path, ontology=terms, columns=columns, **options)) for path in paths]


def _in_words(found: Validation) -> Validation:
    """Return what was found, with the error of an unreadable file worded for this command."""
    if found.cause is None:
        return found
    message = error_message(found.cause, has_place=False)
    return replace(found, findings=tuple(replace(one, message=message) for one in found.findings))
