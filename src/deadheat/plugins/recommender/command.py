"""The command ``deadheat items``."""

from dataclasses import replace
from typing import Any

import click

from deadheat.core.cli.errors import refuse
from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import open_qrels, open_run
from deadheat.core.cli.options import FILE, LAST, command, with_options
from deadheat.core.cli.paths import INPUT
from deadheat.core.cli.printing import Output, output_options
from deadheat.core.phases import phase
from deadheat.core.report.model import Report


@command(
    "deadheat items recommendations.run",
    "deadheat items recommendations.run train.qrels -k 20",
    "deadheat items recommendations.run train.qrels --n-items 59047 -o items.json",
    "deadheat items recommendations.run --groups producers.csv --qrels test.qrels",
)
@click.argument("run", type=INPUT)
@click.argument("train", type=INPUT, required=False)
@option(
    "-k", "--cutoff", type=int, help="Items of each list that are shown; default: 10, and for --groups and --qrels all."
)
@option("--n-items", type=int, metavar="N", help="Items of the catalogue; default: those of both files.")
@option("--n-users", type=float, metavar="N", help="Users, for novelty; default: those of TRAIN.")
@option("--head", type=float, default=0.2, show_default=True, help="Share of the catalogue that is not the long tail.")
@option(
    "--groups", **FILE, help="The group of each item, such as its producer: a table of items and groups. Adds exposure."
)
@option("--qrels", **FILE, help="Relevant items of each user: adds expected exposure (EE-D, EE-R, EE-L).")
@option(
    "--discount",
    default="log(2)",
    show_default=True,
    help="Weight of a rank, of exposure: log(b), linear, exp(p), none.",
)
@output_options("document", "rows", "scores")
@with_options("decimal", "columns", "file_formats", "ascending", "normalize_ids", *LAST)
def items(run: str, train: str | None, **options: Any) -> None:  # noqa: ANN401 - click's
    """Show which items the top k of a run's lists hold, exactly where scores tie.

    The share of the catalogue that is shown, and how evenly; and with TRAIN, qrels of the users and items that the
    system was trained on, how popular the shown items are, how many are in the long tail, and their novelty. With
    --groups or --qrels also how much exposure the ranks of the lists give to items and groups, and how far that is
    from what their relevance earns.
    """
    from deadheat.plugins.recommender.exposure import exposure
    from deadheat.plugins.recommender.item_profile import CUTOFF, item_profile
    from deadheat.plugins.recommender.report import of_exposure, of_items

    qrels = options["qrels"]
    groups = options["groups"]
    cutoff = options["cutoff"]
    has_exposure = bool(qrels or groups)
    if not has_exposure:
        refuse(("discount",), "is of exposure: give --groups or --qrels too")
    output = Output(options, [run, train, qrels, groups])
    popularity = None if train is None else open_qrels(train, is_checked=False)
    opened = open_run(run)
    with phase("counting items"):
        profile = item_profile(
            opened,
            popularity,
            cutoff=CUTOFF if cutoff is None else cutoff,
            n_items=options["n_items"],
            n_users=options["n_users"],
            head=options["head"],
        )
        report = of_items(profile)
    if has_exposure:
        judged = None if qrels is None else open_qrels(qrels)
        with phase("weighing exposure"):
            item_exposure = exposure(opened, judged, groups, options["discount"], cutoff=cutoff)
        report = _append(report, of_exposure(item_exposure, for_people=not output.is_data))
    output.print(report)


def _append(report: Report, beside: Report) -> Report:
    """Return a report with the tables of another one, and the facts that it does not have."""
    new_facts = [fact for fact in beside.facts if fact not in report.facts]
    return replace(report, tables=(*report.tables, *beside.tables), facts=(*report.facts, *new_facts))
