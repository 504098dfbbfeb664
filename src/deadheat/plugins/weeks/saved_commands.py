"""Commands on results that are there already: history, rescore."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

import deadheat as dh
from deadheat.core.cli.beside_report import with_companion_options, with_companions
from deadheat.core.cli.errors import refuse
from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import open_qrels
from deadheat.core.cli.judged import options_of_judgments
from deadheat.core.cli.options import LIMITS, LISTS, command, with_options
from deadheat.core.cli.paths import INPUT, PATH, label, shown_path
from deadheat.core.cli.printing import Output, format_option, full_option, output_options
from deadheat.core.cli.read_options import given_conventions, given_intervals, measures_of, need_queries
from deadheat.core.cli.saving import save_all, save_targets
from deadheat.core.data.judging import JudgesRuns, find_kind_of_qrels
from deadheat.core.phases import phase

OF_JUDGMENTS = ("columns", "file_formats", "normalize_ids")
OF_WEIGHTS = option(
    "--queries", type=INPUT, metavar="FILE", help="A table of queries with the column of --weights.", heading="input"
)


@command(
    "deadheat history weeks/",
    "deadheat history monday.json tuesday.json --reference main.json",
    "deadheat history weeks/ --queries queries.csv --weights traffic",
    "deadheat history weeks/ --queries queries.csv --cluster user",
    "deadheat history weeks/ --format jsonl -o trend.jsonl    # for a dashboard",
)
@click.argument("saved", type=INPUT, nargs=-1, required=True, metavar="SAVED...|FOLDER")
@option("--reference", type=INPUT, metavar="SAVED", help="Compare each with this one too.")
@option(
    "--queries",
    type=INPUT,
    metavar="FILE",
    help="A table of queries with the columns of --weights and --cluster.",
    heading="input",
)
@with_options("weights", "judgments", "test", "confidence_level", "n_resamples", "cluster", "seed")
@with_companion_options("history", such_as="history")
@output_options("document", "rows", "scores", "lines")
@full_option
@with_options("flags")
def history(saved: tuple[str, ...], reference: str | None, **options: Any) -> None:  # noqa: ANN401 - click's
    """Show evaluations that deadheat evaluate --save wrote, in order of time: what changed at each step.

    Where judgments changed, earlier rankings are scored again under the newest ones, if the files kept them; where
    they did not, values that are not comparable are marked. Evaluations of other weights are brought under those of
    the last one, or all under --weights. p values are corrected over the steps. What trec_eval -q printed is taken
    too, in the order in which it is given.
    """
    from deadheat.plugins.weeks.report_history import report_history

    queries = _table_of_columns(options, ("weights", "cluster"))
    output = Output(options, [*(one for one in saved if not Path(one).is_dir()), reference, options["queries"]])
    with phase("comparing with the reference"):
        found = dh.history(
            saved[0] if len(saved) == 1 else saved,
            reference=reference,
            judgments=options["judgments"],
            weights=options["weights"],
            queries=queries,
            test=options["test"],
            **given_intervals(options),
            rng=options["seed"],
        )
    output.print(
        with_companions(report_history(found, for_people=not output.is_data), [("", found, {})], list(found.measures))
    )


@command(
    "deadheat rescore results/main.json qrels-new.txt --save results/main-new.json",
    "deadheat rescore results/main.json -m nDCG@20 --rel 2    # the same judgments",
    "deadheat rescore results/main.json qrels-new.txt --ids renamed.csv",
    "deadheat rescore results/main.json --queries queries.csv --weights traffic --save results/main.json --replace",
    "deadheat rescore results/chunks.json spans-new.csv    # of evaluate --spans: its chunks against new spans",
)
@click.argument("saved", type=INPUT)
@click.argument("qrels", type=INPUT, required=False, metavar="[QRELS|SPANS]")
@option(
    "--save",
    type=PATH,
    metavar="FILE.json|FOLDER/",
    help="Save the new evaluation: in a file, which replaces an earlier save (SAVED itself with --replace), or as a new"
    " file in a folder.",
    heading="output",
    rank=100,
)
@option(
    "--ids",
    type=INPUT,
    metavar="OLD_NEW.csv",
    help="Documents that were renamed since: a table with columns old and new.",
)
@OF_WEIGHTS
@with_options("weights", "replace", "measures", "ties_not_drawn", *LISTS, "bounds")
@format_option("document", "rows", "scores", "runs")
@full_option
@with_options("other_judgments.documents", "decimal", *OF_JUDGMENTS, *LIMITS, "flags")
def rescore(saved: str, qrels: str | None, **options: Any) -> None:  # noqa: ANN401 - click's
    """Score the ranking of a saved evaluation again: under other judgments, measures, weights or conventions.

    What is not given is as in SAVED. The values are those of evaluating the run anew, as far as --save-depth of
    deadheat evaluate kept it; measures that look at more are refused, with their queries. New queries that the ranking
    was never asked are left out, unless --missing is given.

    What was evaluated with --spans takes spans in place of QRELS, under the overlap that it was evaluated with.
    """
    from deadheat.core.report.of_evaluation import report_evaluations

    if qrels is None:
        refuse((*OF_JUDGMENTS, "documents"), "is of judgments: give QRELS too")
    if options["save"] is None:
        refuse(("replace",), "is of a saved evaluation: give --save FOLDER/ too")
    queries = _table_of_columns(options, ("weights",))
    output = Output(options, [saved, qrels, options["ids"], options["queries"], options.get("documents")])
    replaces = saved if options["replace"] else None
    targets = save_targets(
        options["save"],
        [label(saved)],
        replace=options["replace"],
        replaces=replaces,
        hint="choose another name, or give --replace",
    )
    evaluation = dh.load_evaluation(saved)
    judged = None if qrels is None else _judgments(evaluation, qrels)
    with phase("scoring again"):
        found = evaluation.rescored(
            judged,
            measures_of(options) if options["notations"] else None,
            ids=options["ids"],
            weights=options["weights"],
            queries=queries,
            **given_conventions(options),
        )
        report = report_evaluations([found], shown_path(qrels or found.qrels.where, "the qrels"))
    if targets:
        saves = [(target, partial(found.save, replace=options["replace"])) for target in targets.values()]
        report = replace(report, facts=(*report.facts, save_all(saves)))
    output.print(report)


def _table_of_columns(options: Mapping[str, Any], names: Sequence[str]) -> dh.Queries | None:
    """Read the table that has the columns of some options, such as --weights, if one of them was given."""
    columns = {f"--{name}": options[name] for name in names if options[name] is not None}
    need_queries(options["queries"], columns)
    if not columns:
        typed = " and ".join(f"--{name}" for name in names)
        refuse(("queries",), f"is the table of {typed}: give --{names[0]} COLUMN too")
        return None
    queries = dh.Queries(options["queries"])
    queries.check_columns(list(columns.values()))
    return queries


def _judgments(evaluation: dh.Evaluation, path: str) -> dh.Qrels | JudgesRuns:
    """Read judgments for a saved evaluation: of the kind that it has, as spans where it is of chunks."""
    judged = find_kind_of_qrels(evaluation.qrels).what
    for other in options_of_judgments():
        what = other.kind().what
        if what == judged:
            refuse(OF_JUDGMENTS, f"is not for {what}")
            return other.open_like(path, evaluation.qrels)
        refuse(other.others, f"is about {what}: {evaluation.name} is of {judged}")
    return open_qrels(path)
