"""What the option --grades reads: tables of what judges wrote, as judgments and as runs."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import deadheat as dh
from deadheat.core.cli.errors import refuse
from deadheat.core.cli.input_options import InputOption
from deadheat.core.cli.inputs import named_columns, named_format
from deadheat.core.cli.paths import asked
from deadheat.core.errors import DataError

TABLES = re.compile(r"\.(csv|tsv|jsonl|json|parquet|xlsx)(\.gz|\.zst)?$", re.IGNORECASE)  # which may hold answers


def qrels_of(path: str) -> dh.Qrels | None:
    """Return the judgments that a judge wrote; None for a file that is no table."""
    judgments: Any = _read_answers(path, "qrels", None)
    return judgments


def run_of(path: str, name: str, form: str | None) -> dh.Run | None:
    """Return the run whose scores are the grades that a judge wrote; None for a file of scores."""
    graded: Any = None
    if not _is_run(path):
        graded = _read_answers(path, "run", name)
    if graded is None:
        return None
    run = dh.Run(graded.to_polars(), name=name, format=form, ascending=bool(asked().get("ascending")))
    run = run.noted(graded.notes)
    if graded.are_failures_open:
        refuse(("ascending",), "is not for --grades bounds: answers without a grade rank last in the values")
        run.failures, run.are_failures_open = graded.failures, True
    return run


def _read_answers(path: str, kind: Literal["qrels", "run"], name: str | None) -> dh.Qrels | dh.Run | None:
    """Read what a judge wrote, as --grades says; None for a file that is no table."""
    if not TABLES.search(path):
        return None
    return dh.read_judgments(path, kind=kind, name=name, **asked()["grades"])


def _is_run(path: str) -> bool:
    """Tell whether a table is an ordinary run: it has no column for grades, and its scores are numbers."""
    from deadheat.core.io.formats import has_column
    from deadheat.core.io.grades import GRADES

    if not TABLES.search(path):
        return False
    asked_column = asked()["grades"].get("grade")
    columns = [asked_column] if asked_column else [column for column in GRADES if column != "score"]
    for column in columns:
        if has_column(Path(path), column):
            return False
    with suppress(DataError):
        dh.Run(path, format=named_format("run"), columns=named_columns("run"))
        return True
    return False


INPUT = InputOption("grades", qrels_of, run_of)
