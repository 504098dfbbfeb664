"""deadheat items."""

from __future__ import annotations

from typing import Any

import click

from deadheat.cli.files import INPUT, open_qrels, open_run
from deadheat.cli.options import LAST, READING, examples, takes
from deadheat.cli.output import Output, output_options


@click.command(
    short_help="Show which items a recommender shows: coverage, popularity, novelty.",
    **examples(
        "deadheat items recommendations.run",
        "deadheat items recommendations.run train.qrels -k 20",
        "deadheat items recommendations.run train.qrels --n-items 59047 -o items.json",
    ),
)
@click.argument("run", type=INPUT)
@click.argument("train", type=INPUT, required=False)
@click.option("-k", "--cutoff", type=int, default=10, show_default=True, help="Items of each list that are shown.")
@click.option("--n-items", type=int, metavar="N", help="Items of the catalogue; default: those of both files.")
@click.option("--n-users", type=float, metavar="N", help="Users, for novelty; default: those of TRAIN.")
@click.option(
    "--head", type=float, default=0.2, show_default=True, help="Share of the catalogue that is not the long tail."
)
@output_options("document", "rows", "scores")
@takes(*READING, *LAST)
def items(run: str, train: str | None, **options: Any) -> None:  # noqa: ANN401 - click's
    """Show which items the top k of a run's lists hold, exactly where scores tie.

    The share of the catalogue that is shown, and how evenly; and with TRAIN, qrels of the users and items that the
    system was trained on, how popular the shown items are, how many are in the long tail, and their novelty.
    """
    from deadheat.profile.items import item_profile
    from deadheat.report.of_items import of_items

    output = Output(options, [run, train])
    popularity = None if train is None else open_qrels(train, is_checked=False)
    own = {name: options[name] for name in ("cutoff", "n_items", "n_users", "head")}
    output.print(of_items(item_profile(open_run(run), popularity, **own, check_duplicates=False)))
