"""deadheat items."""

from __future__ import annotations

import click

from deadheat.cli.app import debug_option
from deadheat.cli.files import PATH, check_inputs, input_path, label, open_qrels, open_run, read_option
from deadheat.cli.options import decompressed_option, duplicates_option, examples, reading_options
from deadheat.cli.output import output_options, prepare, print_report

PARTS = ("document", "rows", "scores")
EXAMPLES = examples(
    "deadheat items recommendations.run",
    "deadheat items recommendations.run train.qrels -k 20",
    "deadheat items recommendations.run train.qrels --n-items 59047 -o items.json",
)


@click.command(short_help="Show which items a recommender shows: coverage, popularity, novelty.", **EXAMPLES)
@click.argument("run", type=PATH)
@click.argument("train", type=PATH, required=False)
@click.option("-k", "--cutoff", type=int, default=10, show_default=True, help="Items of each list that are shown.")
@click.option("--n-items", type=int, metavar="N", help="Items of the catalogue; default: those of both files.")
@click.option("--n-users", type=float, metavar="N", help="Users, for novelty; default: those of TRAIN.")
@click.option(
    "--head", type=float, default=0.2, show_default=True, help="Share of the catalogue that is not the long tail."
)
@output_options(*PARTS)
@reading_options
@duplicates_option
@decompressed_option
@debug_option
def items(
    run: str,
    train: str | None,
    *,
    cutoff: int,
    n_items: int | None,
    n_users: float | None,
    head: float,
    form: str | None,
    output: str | None,
    digits: int | None,
    check_duplicates: bool,
) -> None:
    """Show which items the top k of a run's lists hold, exactly where scores tie.

    The share of the catalogue that is shown, and how evenly; and with TRAIN, qrels of the users and items that the
    system was trained on, how popular the shown items are, how many are in the long tail, and their novelty.
    """
    from deadheat.profile.items import item_profile
    from deadheat.report.of_items import of_items

    given = [input_path(path) for path in (run, train) if path is not None]
    form = prepare(form, output, PARTS, given)
    check_inputs(given)
    popularity = open_qrels(given[1]) if train is not None else None
    profile = item_profile(
        open_run(given[0], label(given[0], "run")),
        popularity,
        cutoff=cutoff,
        n_items=n_items,
        n_users=n_users,
        head=head,
        score_precision=read_option("score_precision", None),
        check_duplicates=check_duplicates,
    )
    print_report(of_items(profile), form=form, output=output, digits=digits)
