"""deadheat evaluate --score-columns: many scorings of one collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadheat.cli.files import named_columns, shown_path
from deadheat.cli.options import refuse
from deadheat.cli.output import Output
from deadheat.io.phases import phase

if TYPE_CHECKING:
    from deadheat.evaluation.conventions import Conventions
    from deadheat.evaluation.evaluation import Evaluation
    from deadheat.measures import Measure

PARTS = ("document", "rows")
ALL = "all"
REFUSED = (
    *("ci", "save", "queries", "by", "pool_languages", "per_query", "unjudged", "unjudged_max_rel", "then_by"),
    *("confidence_level", "method", "n_resamples"),
)
score_columns_option = click.option(
    "--score-columns",
    metavar="all|NAME,...",
    help="Evaluate several columns of one table, or features of a LETOR file, each as a run of its own, and list them"
    " by the first measure, the best first. all: each column of numbers but ids, relevance and ranks.",
)


def wants_columns(qrels: str, runs: Sequence[str], asked: str | None) -> bool:
    """Tell whether columns are evaluated: they were asked for, or the file is LETOR, which has nothing else.

    Raises
    ------
    click.MissingParameter
        There is no run, and the qrels hold none.
    """
    if asked is not None:
        return True
    is_letor = len(runs) < 2 and _is_letor(*(runs or [qrels])) and "score" not in named_columns("run")
    if not (runs or is_letor):
        ctx = click.get_current_context()
        raise click.MissingParameter(ctx=ctx, param=next(one for one in ctx.command.params if one.name == "runs"))
    return is_letor


def _is_letor(path: str) -> bool:
    from deadheat.errors import DataError
    from deadheat.io.formats import format_of

    try:
        return Path(path).is_file() and format_of(path, None).name == "letor"
    except DataError:  # reading it raises the error
        return False


def evaluate_score_columns(  # noqa: PLR0917 - what an evaluation is made of
    qrels: str,
    runs: Sequence[str],
    measures: Sequence[Measure],
    conventions: Conventions,
    seed: int | None,
    options: Mapping[str, Any],
) -> None:
    """Print the report of all columns."""
    from deadheat.evaluation.columns import evaluate_each, open_scorings
    from deadheat.report.formats import formats_of
    from deadheat.report.of_columns import numbers_of, report_columns

    if len(runs) > 1:
        raise click.UsageError(f"--score-columns evaluates one table, got {len(runs)} files")
    refuse(REFUSED, "is not for columns: evaluate one as a run, with --columns run.score=NAME")
    table = runs[0] if runs else qrels
    inputs = list(dict.fromkeys([qrels, table]))
    output = Output.of(options, PARTS, inputs)
    if output.form not in formats_of(PARTS):
        raise click.UsageError(
            f"--format {output.form} has no place for columns: choose {', '.join(formats_of(PARTS))}"
        )
    wanted = options["score_columns"]
    names = None if wanted in {None, ALL} else [name.strip() for name in wanted.split(",") if name.strip()]
    if names == []:
        raise click.UsageError(f"--score-columns takes names with commas between them, or all; got {wanted!r}")
    is_ascending = options["ascending"]
    given = {"qrels": named_columns("qrels"), "run": named_columns("run")}
    with phase(f"reading {Path(table).name}"):
        judged, scorings = open_scorings(qrels, table, names, ascending=is_ascending, names=given)
        if options["check_duplicates"]:
            judged.check_duplicates()
            scorings.check_duplicates()
    columns: list[dict[str, Any]] = []
    first: Evaluation | None = None
    with phase("evaluating columns", len(scorings.scores)) as advance:
        for scored in evaluate_each(conventions, judged, scorings, measures, seed, both_ways=True):
            columns.append(numbers_of(scored))
            first = first or scored.evaluation
            advance(1)
    assert first is not None  # noqa: S101 - a table has a column
    report = report_columns(
        columns,
        first,
        qrels=shown_path(qrels, "the qrels"),
        table=shown_path(table, "the table"),
        is_ascending=is_ascending,
        seed=seed if conventions.ties == "random" else None,
        digits=output.digits,
    )
    output.print(report)
