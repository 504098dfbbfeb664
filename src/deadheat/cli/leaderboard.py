"""deadheat leaderboard."""

from pathlib import Path
from typing import Any

import click

from deadheat.cli.files import INPUT
from deadheat.cli.options import FIGURES, examples, takes
from deadheat.cli.output import Output, emit, output_options, table_option, with_figures
from deadheat.settings import Estimation


@click.command(
    short_help="Rank models over many tasks, as far as ranks are sure.",
    **examples(
        "deadheat leaderboard runs/ -m nDCG@10    # runs/TASK/qrels and runs/TASK/MODEL.run",
        "deadheat leaderboard results.csv --groups types.csv --missing drop-task",
        "deadheat leaderboard results/    # of MTEB, or saved by deadheat evaluate --save",
        "deadheat leaderboard results.csv --compact -o table.tex",
    ),
)
@click.argument("source", type=INPUT, nargs=-1, required=True, metavar="SOURCE")
@click.option("-m", "--measure", metavar="MEASURE", help="Default: the first that all results have.")
@click.option("--weights", type=INPUT, metavar="FILE", help="A table with the columns task and weight.")
@click.option(
    "--groups",
    metavar="COLUMN|TABLE",
    help="Average within groups of tasks first: a table with the columns task and group, or a column of SOURCE.",
)
@click.option(
    "--missing",
    type=click.Choice(["apart", "drop-task", "drop-model", "bounds"]),
    default="apart",
    show_default=True,
    help="Models that lack a task are listed apart; or the task is left out; or the model is; or its missing values"
    " count as all that they can be.",
)
@click.option(
    "--tasks",
    type=click.Choice(["fixed", "random"]),
    help="Only these tasks matter (default where queries are known), or they are a sample of others.",
)
@takes("confidence_level", "n_resamples", "seed", *FIGURES)
@click.option("--compact", is_flag=True, help="One table for a paper: the best bold, and letters for tiers.")
@output_options("document", "rows", "scores")
@table_option("that of the models", "tasks", "without_task")
@takes("decimal", "encoding", "flags")
def leaderboard(source: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Rank models by their mean over tasks. A rank is an interval, and models that cannot be told apart share a tier.

    SOURCE is a folder with TASK/qrels and TASK/MODEL.run, saved evaluations of several tasks, the folder of a
    benchmark, a table with the columns task, model, value (and query_id if there is one), or result files of MTEB.

    The interval of a rank follows from intervals of all differences at once, resampling queries within tasks, or tasks.
    """
    from deadheat.comparison.leaderboard import leaderboard as find
    from deadheat.report.of_tasks import report_leaderboard
    from deadheat.report.page import page_of_leaderboard

    output = Output(options, [*(one for one in source if not Path(one).is_dir()), options["weights"]])
    found = find(
        source[0] if len(source) == 1 else source,
        **{name: options[name] for name in ("measure", "weights", "groups", "missing", "tasks")},
        confidence_level=options["confidence_level"] or Estimation.confidence_level,
        n_resamples=options["n_resamples"] or Estimation.n_resamples,
        rng=options["seed"] or 0,
    )
    if output.form == "html" and not options["compact"] and options["figures"] is None:
        emit(page_of_leaderboard(found), output.path)
        return
    report = report_leaderboard(found, for_people=not output.is_data, compact=options["compact"] and not output.is_data)
    output.print(with_figures(report, [("", found, {})], [found.measure]))
