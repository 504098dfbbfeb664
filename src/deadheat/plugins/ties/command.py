"""The commands ``deadheat ties`` and ``deadheat steps``."""

from dataclasses import replace
from typing import Any

import click

from deadheat.core.cli.beside_report import with_companion_options, with_companions
from deadheat.core.cli.errors import refuse, refuse_if
from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import open_qrels, open_run
from deadheat.core.cli.options import LAST, LISTS, READING, command, with_options
from deadheat.core.cli.parsing import parsed_numbers
from deadheat.core.cli.paths import INPUT, asked, label
from deadheat.core.cli.printing import Output, full_option, output_options
from deadheat.core.cli.read_options import conventions_of, measures_of, measures_under
from deadheat.core.phases import phase


@command(
    "deadheat ties bm25.run",
    "deadheat ties bm25.run qrels.txt --at 1,10,100 -m nDCG@10",
    "deadheat ties bm25.run qrels.txt --per-query --beside input -o ties.csv",
    "deadheat ties bm25.run qrels.txt --orders q17 -m RR -m Hit@3",
)
@click.argument("run", type=INPUT)
@click.argument("qrels", type=INPUT, required=False)
@option("--at", metavar="1,5,10,...", callback=parsed_numbers, help="Cutoffs; default 1,3,5,10,20,50,100.")
@with_options("measures", "beside")
@option(
    "--per-query",
    is_flag=True,
    help="Add the ties of each query and, with QRELS, what they do to its values.",
    heading="output",
    rank=110,
)
@option("--orders", "listed", metavar="QUERY", help="List instead every order of this query's ties, with its values.")
@with_companion_options("ties", such_as="tie_ratio")
@output_options("document", "rows", "scores")
@full_option
@with_options("missing", "no_relevant", "then_by", *READING, "engines", *LAST)
def ties(run: str, qrels: str | None, at: tuple[int, ...] | None, *, per_query: bool, **options: Any) -> None:  # noqa: ANN401 - click's
    """Show how many documents of a run share their score, and what that decides.

    Ties by query, size and cutoff, and signs that scores are coarse. With QRELS also how much of each measure is
    decided by the order of ties: the spread of its mean; the queries whose value depends on it, and their share; and,
    if ties were broken at random, the part of the squared standard error of the mean that would be due to that. Then
    values with ties broken by a rule beside the exact ones, and whether that makes a difference.

    csv holds one table: of the queries with --per-query, else of the measures, or of the cutoffs without QRELS.
    """
    from deadheat.plugins.ties.orders import orders_of_query
    from deadheat.plugins.ties.profile import CUTOFFS, tie_profile
    from deadheat.plugins.ties.report import add_second_key, report_orders, report_profile

    if qrels is None:
        refuse(("notations", "missing", "no_relevant", "beside", "listed"), "needs QRELS: deadheat ties RUN QRELS")
    if options["listed"] is not None:
        refuse(("at", "per_query", "beside", "missing", "no_relevant", "figures"), "is not for --orders")
    output = Output(options, [run, qrels])
    measures = None if qrels is None else measures_of(options)
    own: dict[str, Any] = {
        "missing": options["missing"],
        "no_relevant": options["no_relevant"],
        "beside": options["beside"] or "doc_id",
    }
    judgments = None if qrels is None else open_qrels(qrels)
    if judgments is not None and measures is not None:
        measures = tuple(measures_under(judgments, measures))
    if judgments is not None and options["listed"] is not None:
        output.print(
            report_orders(orders_of_query(judgments, open_run(run), options["listed"], measures), options["listed"])
        )
        return
    opened = open_run(run, keyed=False)
    with phase("describing ties"):
        profile = tie_profile(opened, judgments, at or CUTOFFS, measures, **own)
        report = report_profile(
            profile,
            every_measure=output.form == "json",
            missing=options["missing"],
            per_query=per_query,
            digits=output.digits,
        )
    if keys := asked().get("then_by"):
        keyed = tie_profile(open_run(run), judgments, (), measures, **own)
        report = add_second_key(report, profile, keyed, ", then ".join(map(label, keys)))
    if output.form == "csv" and qrels is not None and not per_query:
        report = replace(report, tables=tuple(sorted(report.tables, key=lambda table: table.key != "stability")))
    output.print(with_companions(report, [("", profile, {})], [one.measure.label for one in profile.decided]))


@command(
    "deadheat steps qrels.txt bm25.run --query q17 -m AP",
    "deadheat steps qrels.txt bm25.run --query q17 -m nDCG@10 -o q17.html",
)
@click.argument("qrels", type=INPUT)
@click.argument("run", type=INPUT)
@option("--query", "query_id", required=True, metavar="ID", help="The query.")
@with_options("measures", "ties_in_steps")
@output_options("document", "rows", "scores")
@with_options(*LISTS, "then_by", *READING, *LAST)
def steps(qrels: str, run: str, query_id: str, **options: Any) -> None:  # noqa: ANN401 - click's
    """Show how the value of a measure for one query comes about, document by document, exactly where scores tie.

    A row a document: rank, score, relevance, what the measure makes of them (gain and weight of nDCG, precision of AP,
    the probability to stop of ERR), what it adds, and the sum so far. Documents of a tie have what they add in the mean
    over its orders; --ties best or worst puts them in one. Below, what all orders of the ties allow.
    """
    from deadheat.core.evaluation.evaluate_runs import evaluate_under
    from deadheat.plugins.ties.report_of_steps import of_steps

    conventions = conventions_of(options)
    measure, *others = measures_of(options)
    refuse_if(others and options["notations"], "steps are those of one measure: give -m once")
    output = Output(options, [qrels, run])
    judged, retrieved = open_qrels(qrels), open_run(run)
    evaluation = evaluate_under(conventions, judged, retrieved, [measure])
    with phase("taking steps"):
        steps_of_query = evaluation.steps(measure, query_id, retrieved)
    output.print(of_steps(steps_of_query))
