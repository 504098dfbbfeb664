"""The command ``deadheat explain``."""

from typing import Any

import click

from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import open_qrels, open_run
from deadheat.core.cli.options import LAST, READING, command, with_options
from deadheat.core.cli.paths import INPUT, shown_path
from deadheat.core.cli.printing import Output, output_options
from deadheat.core.phases import phase


@command(
    "deadheat explain qrels.txt bm25.run --reported nDCG@10=0.6807",
    "deadheat explain qrels.txt bm25.run --reported 'MRR@10=34.1%, AP=0.412'",
)
@click.argument("qrels", type=INPUT)
@click.argument("run", type=INPUT)
@option(
    "--reported",
    "texts",
    multiple=True,
    required=True,
    metavar="MEASURE=VALUE",
    help="A measure and its reported value, such as nDCG@10=0.6807, to its digits; several with commas between, or"
    " repeated. Several narrow it.",
)
@output_options("document", "rows", "scores")
@with_options("then_by", *READING, *LAST)
def explain(qrels: str, run: str, texts: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Say which tool, with which settings, gives the values that were reported for a run.

    "My number differs" has a hundred causes: how ties are broken, how many bits of a score are kept, gain, ideal and
    divisor, which relevance counts, which queries. What known tools do is tried, with their options, and changes of one
    or two settings. A value fits if it is the reported one to its digits. The exit code is 0, also if nothing fits.
    """
    from deadheat.plugins.compat.explain import explain_reported
    from deadheat.plugins.compat.report import report_explanation
    from deadheat.plugins.compat.reported import parse_all_reported, split_reported_texts

    numbers = parse_all_reported(split_reported_texts(texts))
    output = Output(options, [qrels, run])
    judged, retrieved = open_qrels(qrels), open_run(run)
    with phase("trying conventions"):
        explanation = explain_reported(judged, retrieved, numbers)
    output.print(report_explanation(explanation, shown_path(qrels, "the qrels"), for_people=not output.is_data))
