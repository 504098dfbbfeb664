"""deadheat judges."""

from __future__ import annotations

from typing import Any

import click

import deadheat as dh
from deadheat.core.cli.beside_report import with_companion_options, with_companions
from deadheat.core.cli.errors import refuse, refuse_if
from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import open_qrels, open_run
from deadheat.core.cli.options import LAST, READING, command, with_options
from deadheat.core.cli.paths import INPUT, named_runs
from deadheat.core.cli.printing import Output, emit, full_option, output_options
from deadheat.core.cli.read_options import given_intervals, need_queries
from deadheat.core.phases import phase


@command(
    "deadheat judges human.qrels gpt4.qrels",
    "deadheat judges human.qrels gpt4.qrels llama.qrels --run bm25.run --run dense.run -m nDCG@10",
)
@click.argument("human", type=INPUT)
@click.argument("judges", type=INPUT, nargs=-1, required=True, metavar="JUDGE...")
@option(
    "--run", "runs", type=INPUT, multiple=True, help="A system; of two or more: what the judge does to conclusions."
)
@option(
    "--per-query", is_flag=True, help="Add a table of all queries; csv then holds it alone.", heading="output", rank=110
)
@output_options("document", "rows", "scores")
@full_option
@with_options("measures", "rel", "queries", "by", "confidence_level", "n_resamples", "seed")
@with_companion_options("judges", such_as="confusion")
@with_options(*READING, *LAST)
def judges(human: str, judges: tuple[str, ...], runs: tuple[str, ...], *, per_query: bool, **options: Any) -> None:  # noqa: ANN401 - click's
    """Show how far labels of a judge, such as a language model, agree with human ones.

    On the documents that both labelled: kappa, Krippendorff's alpha, what each grade is worth, with intervals. With
    runs also: which differences between systems the judge reverses, misses or invents, and whether it favours one.
    """
    from deadheat.core.evaluation.stratum import groupings_of, label
    from deadheat.plugins.judges.files import read_labels
    from deadheat.plugins.judges.page import page_of_judges
    from deadheat.plugins.judges.report import report_judges

    need_queries(options["queries"], {"--by": options["by"]})
    if not runs:
        refuse(("notations", "n_resamples"), "is of systems: give --run too")
    refuse_if(len(runs) == 1, "a comparison needs two runs or more: give --run before each")
    output = Output(options, [human, *judges, *runs, options["queries"]])
    judged = open_qrels(human)
    labels = {name: read_labels(path, name) for name, path in named_runs(judges).items()}
    systems = {name: open_run(path, name) for name, path in named_runs(runs).items()}
    with phase("comparing labels"):
        found = dh.judge_agreement(
            judged,
            labels,
            runs=systems or None,
            measures=options["notations"] or "nDCG@10",
            rel=1 if options["rel"] is None else options["rel"],
            **given_intervals(options),
            rng=options["seed"],
        )
    strata = {}
    if options["by"]:
        table = dh.Queries(options["queries"])
        sets = groupings_of(options["by"], table)
        output.check_sets(sets)
        strata = {f"{':'.join(one)} {label(name)}": own for one in sets for name, own in found.by(one, table).items()}
    drawn = [(f"{name}-" if len(found.judges) > 1 else "", found, {"judge": name}) for name in found.judges]
    with phase("estimating agreement"):
        report = report_judges(found, per_query=per_query, strata=strata, for_people=not output.is_data)
    report = with_companions(
        report,
        drawn,
        list(dict.fromkeys(one.measure.label for one in found.conclusions)),
    )
    if output.form == "html":
        with phase("making the page"):
            page = page_of_judges(found, report, output.digits)
        emit(page, output.path)
        return
    if output.form == "csv" and per_query:
        output.table = "queries"
    output.print(report)
