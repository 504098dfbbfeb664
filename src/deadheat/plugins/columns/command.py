"""deadheat evaluate --score-columns: many scorings of one collection in place of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadheat.core.cli.errors import refuse, refuse_if, refuse_others
from deadheat.core.cli.inputs import named_columns
from deadheat.core.cli.paths import shown_path
from deadheat.core.cli.printing import Output
from deadheat.core.cli.read_options import seed_of
from deadheat.core.cli.systems import systems_asked
from deadheat.core.phases import phase

if TYPE_CHECKING:
    from deadheat.core.cli.requests import EvaluationRequest
    from deadheat.core.evaluation.evaluation import Evaluation

PARTS = ("document", "rows")
TAKEN = {
    *("qrels", "runs", "score_columns", "notations", "seed", "columns", "ascending", "duplicates"),
    *("ties", "missing", "no_relevant", "score_precision", "rel", "judged_only", "depth"),
    *("form", "output", "digits"),
}


def is_for(request: EvaluationRequest) -> bool:
    """Tell whether columns are evaluated: they were asked for, or the file is LETOR, which has nothing else."""
    for system in systems_asked().values():
        refuse(["score_columns"], f"is not for {system.kind_of_system} of a run")
        return False
    if request.options["score_columns"] is not None:
        return True
    return request.form == "letor" and "score" not in named_columns("run")


def print_report(request: EvaluationRequest) -> None:
    """Print the report of all columns of a table."""
    from deadheat.core.io.duplicates import refuse_merging
    from deadheat.core.report.formats import formats_of
    from deadheat.plugins.columns.report import numbers_of, report_columns
    from deadheat.plugins.columns.scorings import evaluate_scorings, open_scorings

    refuse_merging(request.options["duplicates"], "several columns of scores")
    qrels, runs, conventions, options = request.qrels, request.runs, request.conventions, request.options
    seed = seed_of(options["seed"], conventions.ties, is_drawn=False)
    refuse_if(len(runs) > 1, f"--score-columns evaluates one table, got {len(runs)} files")
    refuse_others(TAKEN, "is not for columns: evaluate one as a run, with --columns run.score=NAME")
    table = runs[0] if runs else qrels
    output, formats = Output(options, list(dict.fromkeys([qrels, table])), PARTS), formats_of(PARTS)
    refuse_if(
        output.form not in formats, f"--format {output.form} has no place for columns: choose {', '.join(formats)}"
    )
    wanted = options["score_columns"]
    names = None if wanted in {None, "all"} else [name.strip() for name in wanted.split(",") if name.strip()]
    refuse_if(names == [], f"--score-columns takes names with commas between them, or all; got {wanted!r}")
    given = {"qrels": named_columns("qrels"), "run": named_columns("run")}
    with phase(f"reading {Path(table).name}"):
        judged, scorings = open_scorings(qrels, table, names, ascending=options["ascending"], names=given)
        judged.check_duplicates()
        if options["duplicates"] != "trust":
            scorings.check_duplicates()
    columns: list[dict[str, Any]] = []
    first: Evaluation | None = None
    with phase("evaluating columns", len(scorings.scores)) as advance:
        for scored in evaluate_scorings(conventions, judged, scorings, request.measures, seed, both_ways=True):
            columns.append(numbers_of(scored))
            first = first or scored.evaluation
            advance(1)
    assert first is not None  # noqa: S101 - a table has a column
    output.print(
        report_columns(
            columns,
            first,
            qrels=shown_path(qrels, "the qrels"),
            table=shown_path(table, "the table"),
            is_ascending=options["ascending"],
            seed=seed if conventions.ties == "random" else None,
            digits=output.digits,
        )
    )
