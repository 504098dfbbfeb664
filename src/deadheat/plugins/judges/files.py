"""Files of judges under the options of a command: their labels, and tables of what they wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import deadheat as dh
from deadheat.core.cli.errors import refuse
from deadheat.core.cli.inputs import named_columns, open_qrels, source_of
from deadheat.core.cli.paths import asked, named_runs
from deadheat.core.errors import DataError, SwappedFilesError
from deadheat.plugins.judges.labels import Labels, labels_of

TABLES = re.compile(r"\.(csv|tsv|jsonl|json|parquet|xlsx)(\.gz|\.zst)?$", re.IGNORECASE)  # which may hold answers


def labels_in(path: str) -> Labels:
    """Read the labels of the one judge that an option names."""
    return labels_of(read_labels(path, next(iter(named_runs([path])))))


def read_labels(path: str, name: str) -> Any:  # noqa: ANN401 - qrels or a run
    """Read what a judge said, which may be written as a run."""
    with suppress(SwappedFilesError):
        return open_qrels(path)
    return dh.Run(path, name=name, columns=named_columns("run"))  # grades, which do not rank


def qrels_of(path: str) -> dh.Qrels | None:
    """Return the judgments that a judge wrote, under --grades; None for a file that is no table."""
    found: Any = read_answers(path, "qrels", None, asked()["grades"])
    return found


def run_of(path: str, name: str, form: str | None) -> dh.Run | None:
    """Return the run whose scores are the grades that a judge wrote, under --grades; None for a file of scores."""
    graded: Any = read_answers(path, "run", name, asked()["grades"])
    if graded is None:
        return None
    run = dh.Run(
        source_of(path) if asked().get("engine") else graded.to_polars(),
        name=name,
        format=form,
        ascending=bool(asked().get("ascending")),
    )
    run = run.noted(graded.notes)
    if graded.are_failures_open:
        refuse(("ascending",), "is not for --grades bounds: answers without a grade rank last in the values")
        run.failures, run.are_failures_open = graded.failures, True
    return run


def read_answers(
    path: str, kind: Literal["qrels", "run"], name: str | None, given: Mapping[str, Any]
) -> dh.Qrels | dh.Run | None:
    """Read what a judge wrote, if this is a table: --grades, which is given, says that tables hold that.

    A run is what a judge wrote only if it has a column for that, or its scores are not numbers.
    """
    from deadheat.core.io.formats import has_column
    from deadheat.core.io.grades import GRADES

    is_table = TABLES.search(path)
    known = [given["grade"]] if "grade" in given else [one for one in GRADES if one != "score"]
    if kind == "run" and is_table and not any(has_column(Path(path), one) for one in known):
        with suppress(DataError):
            dh.Run(path, columns=named_columns("run"))
            return None
    return dh.read_judgments(path, kind=kind, name=name, **given) if is_table else None
