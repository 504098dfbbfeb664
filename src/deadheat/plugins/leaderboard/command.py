"""The command ``deadheat leaderboard``."""

from pathlib import Path
from typing import Any

import click

import deadheat as dh
from deadheat.core.cli.beside_report import with_companion_options, with_companions
from deadheat.core.cli.help import option
from deadheat.core.cli.options import command, with_options
from deadheat.core.cli.paths import INPUT
from deadheat.core.cli.printing import Output, emit, full_option, output_options, table_option
from deadheat.core.cli.read_options import given_intervals
from deadheat.core.phases import phase


@command(
    "deadheat leaderboard runs/ -m nDCG@10    # runs/TASK/qrels and runs/TASK/MODEL.run",
    "deadheat leaderboard results.csv --groups types.csv --missing drop-task",
    "deadheat leaderboard results/    # of MTEB, or saved by deadheat evaluate --save",
    "deadheat leaderboard results.csv --compact -o table.tex",
)
@click.argument("source", type=INPUT, nargs=-1, required=True, metavar="SOURCE")
@option("-m", "--measure", metavar="MEASURE", help="Default: the first that all results have.")
@option("--weights", type=INPUT, metavar="FILE", help="A table with the columns task and weight.", heading="statistics")
@option(
    "--groups",
    type=INPUT,
    metavar="COLUMN|TABLE",
    help="Average within groups of tasks first: a table with the columns task and group, or a column of SOURCE.",
)
@option(
    "--missing",
    type=click.Choice(["apart", "drop-task", "drop-model", "bounds"]),
    default="apart",
    show_default=True,
    help="Models that lack a task are listed apart; or the task is left out; or the model is; or its missing values"
    " count as all that they can be.",
    heading="measures",
)
@option(
    "--tasks",
    type=click.Choice(["fixed", "random"]),
    help="Only these tasks matter (default where queries are known), or they are a sample of others.",
)
@with_options("confidence_level", "n_resamples", "seed")
@with_companion_options("leaderboard", such_as="without_task")
@option("--compact", is_flag=True, help="One table for a paper: the best bold, and letters for tiers.", rank=160)
@output_options("document", "rows", "scores")
@full_option
@table_option("that of the models", "tasks", "without_task")
@with_options("decimal", "encoding", "exclude", "flags")
def leaderboard(source: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Rank models by their mean over tasks. A rank is an interval, and models that cannot be told apart share a tier.

    SOURCE is a folder with TASK/qrels and TASK/MODEL.run, saved evaluations of several tasks, the folder of a
    benchmark, a table with the columns task, model, value (and query_id if there is one), result files of MTEB, or what
    trec_eval -q printed of each model.

    The interval of a rank follows from intervals of all differences at once, resampling queries within tasks, or tasks.
    """
    from deadheat.plugins.leaderboard.page import page_of_leaderboard
    from deadheat.plugins.leaderboard.report import report_leaderboard

    output = Output(options, [*(one for one in source if not Path(one).is_dir()), options["weights"]])
    with phase("ranking models"):
        found = dh.leaderboard(
            source[0] if len(source) == 1 else source,
            **{name: options[name] for name in ("measure", "weights", "groups", "missing", "tasks")},
            exclude=options.get("exclude"),
            **given_intervals(options),
            rng=options["seed"] or 0,
        )
    compact = options["compact"] and not output.is_data
    report = with_companions(
        report_leaderboard(found, for_people=not output.is_data, compact=compact), [("", found, {})], [found.measure]
    )
    if output.form == "html" and not compact:
        with phase("making the page"):
            page = page_of_leaderboard(found, report, output.digits)
        emit(page, output.path)
    else:
        output.print(report)
