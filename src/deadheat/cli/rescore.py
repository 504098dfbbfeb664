"""deadheat rescore."""

from dataclasses import replace
from typing import Any

import click

from deadheat.cli.files import INPUT, PATH, open_qrels, save_paths, shown_path
from deadheat.cli.options import LIMITS, LISTS, examples, given_conventions, measures_of, takes
from deadheat.cli.output import Output, format_option, writing


@click.command(
    short_help="Score a saved evaluation again, under other judgments.",
    **examples(
        "deadheat rescore results/main.json qrels-new.txt -o results/main-new.json",
        "deadheat rescore results/main.json -m nDCG@20 --rel 2    # the same judgments",
        "deadheat rescore results/main.json qrels-new.txt --ids renamed.csv",
    ),
)
@click.argument("saved", type=INPUT)
@click.argument("qrels", type=INPUT, required=False)
@click.option(
    "-o", "--save", type=PATH, metavar="FILE.json", help="Save the new evaluation; replaces an earlier save, no other."
)
@click.option(
    "--ids",
    type=INPUT,
    metavar="OLD_NEW.csv",
    help="Documents that were renamed since: a table with columns old and new.",
)
@takes("measures", "ties_not_drawn", *LISTS)
@format_option("document", "rows", "scores", "runs")
@takes("decimal", "columns", "normalize_ids", "check_duplicates", *LIMITS, "flags")
def rescore(saved: str, qrels: str | None, **options: Any) -> None:  # noqa: ANN401 - click's
    """Score the ranking of a saved evaluation again: under other judgments, measures or conventions.

    What is not given is as in SAVED. The values are those of evaluating the run anew, as far as --save-depth of
    deadheat evaluate kept it; measures that look at more are refused, with their queries.
    """
    from deadheat.evaluation.evaluate import load_evaluation
    from deadheat.report.model import Fact
    from deadheat.report.of_evaluation import report_evaluations

    inputs = [saved, qrels, options["ids"]]
    output = Output(options, inputs)
    measures = measures_of(options) if options["notations"] else None
    targets = save_paths(options["save"], [saved], list(filter(None, inputs[1:])))
    found = load_evaluation(saved).rescored(
        None if qrels is None else open_qrels(qrels),
        measures,
        ids=options["ids"],
        **given_conventions(options),
    )
    for target in targets:
        with writing(target):
            found.save(target)
    of_what = found.qrels_name if qrels is None else shown_path(qrels, "the qrels")
    report = report_evaluations([found], of_what)
    if targets:
        report = replace(report, facts=(*report.facts, Fact("saved", targets, "saved", ", ".join(targets))))
    output.print(report)
