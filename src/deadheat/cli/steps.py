"""deadheat steps."""

from typing import Any

import click

from deadheat.cli.files import INPUT, open_qrels, open_run
from deadheat.cli.options import LAST, LISTS, READING, conventions_of, examples, measures_of, takes
from deadheat.cli.output import Output, output_options


@click.command(
    short_help="Show how the value of one query comes about, rank by rank.",
    **examples(
        "deadheat steps qrels.txt bm25.run --query q17 -m AP",
        "deadheat steps qrels.txt bm25.run --query q17 -m nDCG@10 -o q17.html",
    ),
)
@click.argument("qrels", type=INPUT)
@click.argument("run", type=INPUT)
@click.option("--query", "query_id", required=True, metavar="ID", help="The query.")
@takes("measures", "ties_in_steps")
@output_options("document", "rows", "scores")
@takes(*LISTS, "then_by", *READING, *LAST)
def steps(qrels: str, run: str, query_id: str, **options: Any) -> None:  # noqa: ANN401 - click's
    """Show how the value of a measure for one query comes about, document by document, exactly where scores tie.

    A row a document: rank, score, relevance, what the measure makes of them (gain and weight of nDCG, precision of AP,
    the probability to stop of ERR), what it adds, and the sum so far. Documents of a tie have what they add in the mean
    over its orders; --ties best or worst puts them in one. Below, what all orders of the ties allow.
    """
    from deadheat.evaluation.under import evaluate_under
    from deadheat.report.of_explanation import of_steps

    conventions = conventions_of(options)
    measure, *others = measures_of(options)
    if others and options["notations"]:
        raise click.UsageError("steps are those of one measure: give -m once")
    output = Output(options, [qrels, run])
    judged, retrieved = open_qrels(qrels), open_run(run)
    evaluation = evaluate_under(conventions, judged, retrieved, [measure])
    output.print(of_steps(evaluation.steps(measure, query_id, retrieved)))
