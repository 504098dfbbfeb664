"""deadheat ties."""

from dataclasses import replace
from typing import Any

import click

from deadheat.cli.app import refuse
from deadheat.cli.files import INPUT, asked, label, open_qrels, open_run
from deadheat.cli.options import (
    ENGINE,
    FIGURES,
    LAST,
    READING,
    examples,
    measures_of,
    parsed_numbers,
    takes,
)
from deadheat.cli.output import Output, output_options, with_figures


@click.command(
    short_help="Show the ties of a run, and what they decide.",
    **examples(
        "deadheat ties bm25.run",
        "deadheat ties bm25.run qrels.txt --at 1,10,100 -m nDCG@10",
        "deadheat ties bm25.run qrels.txt --per-query --beside input -o ties.csv",
        "deadheat ties bm25.run qrels.txt --orders q17 -m RR -m Hit@3",
    ),
)
@click.argument("run", type=INPUT)
@click.argument("qrels", type=INPUT, required=False)
@click.option("--at", metavar="1,5,10,...", callback=parsed_numbers, help="Cutoffs; default 1,3,5,10,20,50,100.")
@takes("measures", "beside")
@click.option(
    "--per-query", is_flag=True, help="Add the ties of each query and, with QRELS, what they do to its values."
)
@click.option(
    "--orders", "listed", metavar="QUERY", help="List instead every order of this query's ties, with its values."
)
@takes(*FIGURES)
@output_options("document", "rows", "scores")
@takes("missing", "no_relevant", "then_by", *READING, *ENGINE, *LAST)
def ties(run: str, qrels: str | None, at: tuple[int, ...] | None, *, per_query: bool, **options: Any) -> None:  # noqa: ANN401 - click's
    """Show how many documents of a run share their score, and what that decides.

    Ties by query, size and cutoff, and signs that scores are coarse. With QRELS also how much of each measure is
    decided by the order of ties: the spread of its mean; the queries whose value depends on it, and their share; and,
    if ties were broken at random, the part of the squared standard error of the mean that would be due to that. Then
    values with ties broken by a rule beside the exact ones, and whether that makes a difference.

    csv holds one table: of the queries with --per-query, else of the measures, or of the cutoffs without QRELS.
    """
    from deadheat.profile.orders import orders_of_query
    from deadheat.profile.profile import CUTOFFS, tie_profile
    from deadheat.report.of_profile import report_orders, report_profile, with_second_key

    if qrels is None:
        refuse(("notations", "missing", "no_relevant", "beside", "listed"), "needs QRELS: deadheat ties RUN QRELS")
    output = Output(options, [run, qrels])
    measures = None if qrels is None else measures_of(options)
    own: dict[str, Any] = {name: options[name] for name in ("missing", "no_relevant")}
    own |= {"beside": options["beside"] or "doc_id", "check_duplicates": False}  # what was opened is checked
    judgments = None if qrels is None else open_qrels(qrels)
    if judgments is not None and options["listed"] is not None:
        listed = orders_of_query(judgments, open_run(run), options["listed"], measures)
        output.print(report_orders(listed, options["listed"]))
        return
    profile = tie_profile(open_run(run, keyed=False), judgments, at or CUTOFFS, measures, **own)
    of_report = {"every_measure": output.form == "json", "missing": options["missing"], "digits": output.digits}
    report = report_profile(profile, **of_report, per_query=per_query)
    if keys := asked().get("then_by"):
        keyed = tie_profile(open_run(run), judgments, (), measures, **own)
        report = with_second_key(report, profile, keyed, ", then ".join(map(label, keys)))
    if output.form == "csv" and qrels is not None and not per_query:
        report = replace(report, tables=tuple(sorted(report.tables, key=lambda table: table.key != "stability")))
    output.print(with_figures(report, [("", profile, {})], [one.measure.label for one in profile.decided]))
