"""Several runs: by name, or repeats of one system, and the scores of their queries over all of them."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any, TypeGuard, cast

import numpy as np

from deadheat.arrays import BoolArray, FloatArray, is_member
from deadheat.data.tables import REPEAT, DocumentTable, Qrels, Run, Source, has_repeats, label_of, path_of
from deadheat.errors import ParameterError
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.repeated import REPEATS, Repeated
from deadheat.evaluation.scores import Scores, TieSpread
from deadheat.io.formats import format_of
from deadheat.io.formats.parquet import scan_parquet
from deadheat.io.records import Wanted, read_records
from deadheat.io.results import is_result_set
from deadheat.io.values import is_id
from deadheat.structures import copy_with
from deadheat.wording import escape_invisible, format_count


def are_runs(
    source: Source, qrels: Source | None = None, *, is_run: Callable[[list[Any]], bool] | None = None
) -> TypeGuard[Mapping[object, Source]]:
    """Tell whether a source is several runs by name: `Run`, `Repeats`, files, frames, or dicts of lists or dicts.

    A list of whole numbers may be ids, or the scores of a document by several keys; what one search returned may be a
    query's, or a system's (Chroma's is so): then the qrels know the queries. Where judgments of another kind say which
    lists are runs (`is_run` of `KindOfJudgments`), other lists are of a query; dicts, files and frames are runs.
    """
    if not isinstance(source, Mapping) or not source:
        return False
    first = next((one for one in source.values() if not isinstance(one, Mapping) or one), {})
    if isinstance(first, str):  # a document, unless there are files
        return any(os.path.isfile(one) for one in source.values() if isinstance(one, str))  # noqa: PTH113 - never raises
    if is_run is not None and isinstance(first, list):
        return is_run(first)
    if isinstance(first, Mapping) and is_run is None:
        inner = next(iter(first.values()), None)
        if not isinstance(inner, Mapping | list | tuple):
            return False
        are_scores = isinstance(inner, tuple | list) and bool(inner) and all(isinstance(one, Real) for one in inner)
        if is_result_set(first) or (are_scores and isinstance(inner, list) and all(map(is_id, inner))):
            are_scores = qrels is not None and not {*map(str, source)}.isdisjoint(Qrels.of(qrels).to_dict())
        return not are_scores
    return isinstance(first, Mapping | Run | Path | Repeats) or hasattr(type(first), "columns")


def runs_by_repeat(
    source: Source, *, name: str | None = None, columns: Mapping[str, str] | None = None, ascending: bool = False
) -> list[Run]:
    """Return the run of each repeat in a table with a column ``repeat``, in order of appearance; of an engine sorted.

    Parameters
    ----------
    source : path, dataframe, or rows as dicts or named tuples
        A row for each document, or each with a list of documents. What is no table has no repeats.
    name, columns, ascending : optional
        As for `Run`.

    Returns
    -------
    list of Run
        Empty if there is no such column, or it holds one value only.

    Examples
    --------
    >>> rows = [{"query_id": "q", "doc_id": "a", "score": n, "repeat": n} for n in range(2)]
    >>> [run.to_dict() for run in runs_by_repeat(rows)]
    [{'q': {'a': 0.0}}, {'q': {'a': 1.0}}]
    """
    path = path_of(source)
    where = name or (path and label_of(path)) or "run"
    if not has_repeats(source, where):
        return []
    table = source if path is None else _table_in(path)
    if table is not None:
        from deadheat.io.frames import split_by  # it needs Narwhals

        parts = split_by(table, REPEAT, where)
        return [Run(own, name=where, columns=columns, ascending=ascending) for own in parts] if len(parts) > 1 else []
    # the column of repeats is read as that of documents is: with the same checks, in the same order
    repeats = Run(source, columns={**(columns or {}), "doc_id": REPEAT}).to_polars()["doc_id"].alias(REPEAT)
    run = Run(source, name=name, columns=columns, ascending=ascending)
    frames = run.to_polars().with_columns(repeats).partition_by(REPEAT, maintain_order=True, include_key=False)
    return [Run.of_checked(own, run.name).noted(run.notes) for own in frames] if len(frames) > 1 else []


def _table_in(path: Path) -> object:
    """Return the table in a file if it is Parquet or has lists; None of others, whose format checks the fields."""
    form = format_of(path, None).name
    if form == "parquet":
        return scan_parquet(path)
    rows = read_records(path, form, Wanted()).table if form in {"json", "jsonl"} else []
    return rows if any(isinstance(held, list) for row in rows for held in cast("Any", row).values()) else None


class Repeats(Sequence[Source]):
    """Several runs of one system that answers differently each time.

    Give it to :func:`deadheat.evaluate` or :func:`deadheat.compare` in place of a run: values are means over the
    repeats, and intervals and tests carry their noise.

    Parameters
    ----------
    runs : sequence of run, or a table
        Two or more; or the path of a table, a dataframe, or rows as dicts, with a column ``repeat``.
    name : str, default "repeats"

    Attributes
    ----------
    is_ascending : bool
        Whether the runs were read with the lowest scores first.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    >>> one = {"q1": ["a", "b"], "q2": ["b", "a"], "q3": ["a"]}
    >>> other = {"q1": ["a", "b"], "q2": ["a", "b"], "q3": ["a"]}
    >>> ev = evaluate(qrels, Repeats([one, other]), "RR")
    >>> ev["RR"].values.tolist(), round(ev["RR"].variance_components.repeats, 4)
    ([1.0, 0.75, 1.0], 0.0417)
    """

    def __init__(self, runs: Source, name: str = "repeats") -> None:
        runs = runs_by_repeat(runs) or runs
        if not isinstance(runs, list | tuple) or len(runs) < 2:
            raise ParameterError(
                argument="runs",
                given=len(runs) if isinstance(runs, list | tuple) else runs,
                allowed="a list of two runs or more, or a table with a column 'repeat'",
            )
        self.runs, self.name, self.is_ascending = tuple(runs), name, False

    @classmethod
    def found_in(cls, run: Source, *, ascending: bool = False) -> Source:
        """Return a run itself, or its repeats if it is a table with a column ``repeat``; of several by name, each."""
        if isinstance(run, Mapping):
            if set(map(type, run.values())) == {dict}:  # of queries, mostly: then no look at each
                return run
            each = {
                name: cls.found_in(one, ascending=ascending)
                if isinstance(one, str | Path) or hasattr(type(one), "columns")
                else one
                for name, one in run.items()
            }
            return each if any(isinstance(one, cls) for one in each.values()) else run
        if isinstance(run, list | tuple | Iterator):  # whose rows are made, or can be read, once
            from deadheat.io.frames import table_in  # it needs Narwhals

            run = table_in(run, "run")
        found = [] if isinstance(run, cls | DocumentTable) else runs_by_repeat(run, ascending=ascending)
        return copy_with(cls(found, found[0].name), is_ascending=ascending) if found else run

    def __repr__(self) -> str:
        return escape_invisible(f"<Repeats {self.name}: {len(self)} runs>")

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401 - an index or a slice
        return self.runs[place]


def together(name: str, evaluations: Sequence[Evaluation], missing: str) -> Evaluation:
    """Return the evaluation of a system from those of its repeats, under ``missing="empty"``.

    Parameters
    ----------
    name : str
    evaluations : sequence of Evaluation
        Of the same qrels, measures and conventions; documents are counted in the first.
    missing : str
        What becomes of a query that a repeat lacks: with "skip" its mean is over the others.

    Raises
    ------
    ParameterError
        Ties are not expected, bounds over unjudged documents were asked for, or a judge's labels help.
    """
    first, n = evaluations[0], len(evaluations)
    given = {**vars(first.conventions), "judge": first.judge and "some"}
    for argument, allowed in (("ties", "expected"), ("unjudged", "zero"), ("judge", None)):
        if given[argument] != allowed:
            raise ParameterError(
                argument=argument,
                given=given[argument],
                found="some" if argument == "judge" else None,
                allowed=repr(allowed),
                beside={"run": "repeats"},
            )
    lacks = np.column_stack([is_member(one.query_ids, np.array(one.missing_queries, object)) for one in evaluations])
    left_out: BoolArray = lacks if missing == "skip" else np.zeros_like(lacks)
    scores = [_of_measure([one[own.measure] for one in evaluations], left_out) for own in first]
    n_lacking = int((lacks.any(axis=1) & ~lacks.all(axis=1)).sum())
    lacking = f"; {format_count(n_lacking, 'query lacks', 'queries lack')} some of them" if n_lacking else ""
    found = Evaluation(
        scores,
        **first.parts()
        | {
            "name": name,
            "conventions": replace(first.conventions, missing=missing),
            "missing_queries": tuple(sorted(set().union(*(one.missing_queries for one in evaluations)))),
            "unjudged_queries": tuple(sorted(set().union(*(one.unjudged_queries for one in evaluations)))),
            "notes": (*first.notes, f"means over {n} repeats{lacking}; documents are counted in the first"),
            "run": None,
        },
    )
    is_lost: BoolArray = np.asarray(left_out.all(axis=1))
    return found.select(~is_lost) if is_lost.any() else found


def _of_measure(each: Sequence[Scores], left_out: BoolArray) -> Scores:
    """Return the means over repeats of one measure, and what ties do to them: each repeat breaks its own."""

    def beside(name: str) -> FloatArray:
        return np.where(left_out, np.nan, np.column_stack([getattr(one, name) for one in each]))

    first, values, variances = each[0], beside("values"), beside("tie_std") ** 2
    counts = (~np.isnan(values)).sum(axis=1)

    def mean(columns: FloatArray) -> FloatArray:
        return np.divide(np.nansum(columns, axis=1), counts, out=np.full(len(counts), np.nan), where=counts > 0)

    return replace(
        first,
        values=mean(values),
        spread=TieSpread.known(
            first.measure,
            first.spread.placements,
            mean=mean(values),
            std=np.sqrt(np.nansum(variances, axis=1)) / np.maximum(counts, 1),
            extremes=(mean(beside("tie_min")), mean(beside("tie_max"))),
            standard_error=np.sqrt(np.nansum(beside("standard_error") ** 2, axis=1)) / np.maximum(counts, 1),
            has_relevant=first.has_relevant,
            reachable=first.spread.reachable,
        ),
        parts={REPEATS: Repeated(values, variances)},  # no other: bounds over places are of one run
    )
