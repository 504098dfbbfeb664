"""Several runs: by name; or of one system, given in the place of a run, or in a table with a column that tells them.

What several runs of one system are is known by a plugin. Their class fulfils `System`: it holds the runs, and puts
their evaluations together. Who evaluates or compares asks for the protocol, and knows no class. Which column of a table
tells runs apart is said by a record of the registry (`RunColumn`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeGuard, cast

from deadheat.core import hooks
from deadheat.core.data.document_table import DocumentTable
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source, as_path, find_run_column, make_label
from deadheat.core.io.ids import is_id
from deadheat.core.io.result_parts import is_result_set

if TYPE_CHECKING:
    from deadheat.core.evaluation.evaluation import Evaluation


class System(Protocol):
    """Several runs of one system, given in the place of a run.

    Attributes
    ----------
    kind_of_system : str
        What messages call the runs, such as "repeats".
    name : str
    runs : sequence of run
    is_ascending : bool
        Whether the runs were read with the lowest scores first.
    """

    kind_of_system: ClassVar[str]
    name: str
    runs: Sequence[Source]
    is_ascending: bool

    def together(self, evaluations: Sequence[Evaluation], missing: str) -> Evaluation:
        """Return the evaluation of the system from those of its runs.

        Parameters
        ----------
        evaluations : sequence of Evaluation
            Of the runs, where a query that a run lacks is an empty ranking.
        missing : str
            What is to become of such a query.
        """
        ...


def is_system(source: object) -> TypeGuard[System]:
    """Tell whether a source is several runs of one system.

    Examples
    --------
    >>> from deadheat import Repeats
    >>> is_system(Repeats([{"q": ["a"]}, {"q": ["b"]}])), is_system({"q": ["a"]})
    (True, False)
    """
    return has_system([source])


def has_system(sources: Iterable[object]) -> bool:
    """Tell whether some of these sources are several runs of one system each."""
    return any(isinstance(getattr(kind, "kind_of_system", None), str) for kind in set(map(type, sources)))


def are_runs(
    source: Source, qrels: Source | None = None, *, is_run: Callable[[list[Any]], bool] | None = None
) -> TypeGuard[Mapping[object, Source]]:
    """Tell whether a source is several runs by name: `Run`, systems, files, frames, or dicts of lists or dicts.

    A list of whole numbers may be ids, or the scores of a document by several keys; what one search returned may be a
    query's, or a system's (Chroma's is so): then the qrels know the queries. Where judgments of another kind say which
    lists are runs (`is_run` of `KindOfJudgments`), other lists are of a query; dicts, files and frames are runs.
    """
    if not isinstance(source, Mapping) or not source:
        return False
    first = _first_filled(source)
    if isinstance(first, str):  # a document, unless there are files
        paths = [value for value in source.values() if isinstance(value, str)]
        return any(map(os.path.isfile, paths))  # which never raises, as that of Path may
    if is_run is not None and isinstance(first, list):
        return is_run(first)
    if isinstance(first, Mapping) and is_run is None:
        return _is_run_of_queries(first, source, qrels)
    return isinstance(first, Mapping | Run | Path) or is_system(first) or hasattr(type(first), "columns")


def _first_filled(source: Mapping[object, object]) -> object:
    """Return the first value that is not an empty dict; an empty dict if all are."""
    for value in source.values():
        if not isinstance(value, Mapping) or value:
            return value
    return {}


def _is_run_of_queries(first: Mapping[Any, Any], names: Iterable[object], qrels: Source | None) -> bool:
    """Tell whether a dict, the first of several with these names, holds queries, and not the documents of one query.

    Parameters
    ----------
    first : mapping
    names : iterable of object
        If the qrels know one as a query, they are queries, where the values leave that open.
    qrels : source, optional
    """
    inner = next(iter(first.values()), None)
    if not isinstance(inner, Mapping | list | tuple):
        return False
    are_scores = isinstance(inner, tuple | list) and bool(inner) and all(isinstance(value, Real) for value in inner)
    may_be_ids = are_scores and isinstance(inner, list) and all(map(is_id, inner))
    if not may_be_ids and not is_result_set(first):
        return not are_scores
    if qrels is None:
        return True
    return {*map(str, names)}.isdisjoint(Qrels.of(qrels).to_dict())


def find_systems(run: Source, *, ascending: bool = False, duplicates: str = "error") -> Source:
    """Return a run itself, or the system of a table with a column that tells its runs apart; of several by name, each.

    Parameters
    ----------
    run : run, or mapping of str to run
    ascending : bool, default False
    duplicates : {"error", "best", "first", "trust"}, default "error"
        As for `Run`.

    Raises
    ------
    MissingPluginError
        A table has several runs, and the plugin that knows what these are is not there.
    """
    if isinstance(run, Mapping):
        return _find_by_name(run, ascending=ascending, duplicates=duplicates)
    if isinstance(run, list | tuple | Iterator):  # whose rows are made, or can be read, once
        from deadheat.core.io.frames import find_table  # it needs Narwhals

        run = find_table(run, "run")
    if is_system(run) or isinstance(run, DocumentTable):
        return run
    return system_in(run, ascending=ascending, duplicates=duplicates) or run


def _find_by_name(runs: Mapping[Any, Any], *, ascending: bool, duplicates: str) -> Source:
    if set(map(type, runs.values())) == {dict}:  # of queries, mostly: then no look at each
        return runs
    found = {}
    for name, one in runs.items():
        may_be_table = isinstance(one, str | Path) or hasattr(type(one), "columns")
        found[name] = one
        if may_be_table:
            found[name] = find_systems(one, ascending=ascending, duplicates=duplicates)
    return found if any(map(is_system, found.values())) else runs


def system_in(
    source: Source,
    *,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    ascending: bool = False,
    duplicates: str = "error",
) -> System | None:
    """Return the system of a table with a column that tells its runs apart; None if it has no such column, or one run.

    Parameters
    ----------
    source : path, dataframe, or rows as dicts or named tuples
    name, columns, ascending, duplicates : optional
        As for `Run`.

    Raises
    ------
    MissingPluginError
        The table has several runs, and the plugin that knows what these are is not there.
    """
    column = find_run_column(source, _label(source, name))
    if column is None:
        return None
    runs = runs_by(column, source, name=name, columns=columns, ascending=ascending, duplicates=duplicates)
    if not runs:
        return None
    system: System = hooks.load_module_of_runs(column).system_of(runs, is_ascending=ascending)
    return system


def runs_by(
    column: str,
    source: Source,
    *,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    ascending: bool = False,
    duplicates: str = "error",
) -> list[Run]:
    """Return the run of each value of a column in a table, in order of appearance; of an engine sorted.

    Parameters
    ----------
    column : str
    source : path, dataframe, or rows as dicts or named tuples
        A row for each document, or each with a list of documents.
    name, columns, ascending, duplicates : optional
        As for `Run`.

    Returns
    -------
    list of Run
        Empty if the column holds one value only.

    Examples
    --------
    >>> rows = [{"query_id": "q", "doc_id": "a", "score": n, "repeat": n} for n in range(2)]
    >>> [run.to_dict() for run in runs_by("repeat", rows)]
    [{'q': {'a': 0.0}}, {'q': {'a': 1.0}}]
    """
    path, where = as_path(source), _label(source, name)
    table = source if path is None else _table_in(path)
    if table is not None:
        from deadheat.core.io.frames import split_by_column  # it needs Narwhals

        parts = split_by_column(table, column, where)
        if len(parts) < 2:
            return []
        read = partial(Run, name=where, columns=columns, ascending=ascending, duplicates=duplicates)
        return [read(part) for part in parts]
    # the column is read as that of documents is: with the same checks, in the same order
    values = Run(source, columns={**(columns or {}), "doc_id": column}).to_polars()["doc_id"].alias(column)
    run = Run(source, name=name, columns=columns, ascending=ascending)
    frames = run.to_polars().with_columns(values).partition_by(column, maintain_order=True, include_key=False)
    if len(frames) < 2:
        return []
    runs = [Run.of_checked(frame, run.name).noted(run.notes) for frame in frames]
    return [run.with_duplicates(duplicates) for run in runs]


def _label(source: Source, name: str | None) -> str:
    """Return what messages call a table."""
    path = as_path(source)
    return name or (path and make_label(path)) or "run"


def _table_in(path: Path) -> object:
    """Return the table in a file if it is Parquet or has lists; None of others, whose format checks the fields."""
    from deadheat.core.io.formats import find_format  # dicts need no formats of files
    from deadheat.core.io.formats.parquet import scan_parquet
    from deadheat.core.io.records import Wanted, read_records

    form = find_format(path, None).name
    if form == "parquet":
        return scan_parquet(path)
    rows = read_records(path, form, Wanted()).table if form in {"json", "jsonl"} else []
    return rows if any(isinstance(held, list) for row in rows for held in cast("Any", row).values()) else None


def kind_of_runs(evaluations: Iterable[Evaluation]) -> str:
    """Return what messages call the runs of the first system of several runs; empty if each has one."""
    for evaluation in evaluations:
        for scores in evaluation:
            if scores.several_runs:
                return scores.several_runs
    return ""
