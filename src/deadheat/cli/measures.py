"""deadheat measures."""

import click

from deadheat.cli.options import complete_from, examples, takes
from deadheat.cli.output import Output, format_option, output_option

EVERY = "*"


@click.command(
    short_help="List the measures, explain one, or say which to use.",
    **examples(
        "deadheat measures                   all of them",
        "deadheat measures nDCG              formula, parameters, how to read it",
        "deadheat measures --for             every use that there is advice for",
        "deadheat measures --for voice       what suits it, and why",
        "deadheat measures --for k=10        what a cutoff of 10 is good for",
    ),
)
@click.argument("name", required=False, shell_complete=complete_from("deadheat.measures.base:REGISTRY"))
@click.option(
    "--for",
    "use",
    is_flag=False,
    flag_value=EVERY,
    metavar="USE",
    shell_complete=complete_from("deadheat.measures.guide:USES"),
    help="Which measures suit a use, such as rag, recommender, search, qa, top3, graded, ab-test or k=5.",
)
@format_option("document")
@output_option
@takes("flags")
def measures(name: str | None, use: str | None, form: str | None, output: str | None) -> None:
    """List the measures, explain one, or say which to use when."""
    from deadheat.measures import parse_measure
    from deadheat.measures.guide import USES, recommend
    from deadheat.report.of_explanation import report_catalogue, report_measure, report_use, report_uses

    if name is not None and use is not None:
        raise click.UsageError(f"either a measure or --for USE, got both: {name!r} and {use!r}")
    written = Output({"form": form, "output": output})
    if use is not None:
        report = report_uses(USES.values()) if use == EVERY else report_use(recommend(use), asked=use)
    else:
        report = report_catalogue() if name is None else report_measure(type(parse_measure(name)), name)
    written.print(report)
