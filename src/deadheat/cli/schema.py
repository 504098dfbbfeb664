"""deadheat schema."""

from importlib.resources import files

import click

from deadheat.cli.options import examples, takes
from deadheat.cli.output import emit, output_option


@click.command(
    short_help="Print the JSON Schema of what a command prints as JSON.",
    **examples("deadheat schema evaluate", "deadheat schema compare -o compare.schema.json"),
)
@click.argument("command")
@output_option
@takes("flags")
def schema(command: str, *, output: str | None) -> None:
    """Print the JSON Schema (2020-12) of what another command prints with --format json.

    Its $id has the version of the schema: what a schema of one version requires, later releases keep, and keys that
    they add are allowed.
    """
    from deadheat.errors import did_you_mean, joined

    known = {one.name.removesuffix(".json"): one for one in files("deadheat").joinpath("schemas").iterdir()}
    if command not in known:
        names = ", ".join(sorted(known))
        raise click.UsageError(joined(f"{command!r} prints no JSON.", did_you_mean(command, known), f"All: {names}"))
    emit(known[command].read_text(encoding="utf-8").rstrip("\n"), output)
