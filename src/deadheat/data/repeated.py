"""Tables with several runs of one system, which a column tells apart."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import polars as pl

from deadheat.arguments import collected
from deadheat.data.tables import REPEAT, Run, Source, label_of, path_of
from deadheat.errors import ColumnError
from deadheat.io.formats import format_of, has_column
from deadheat.io.kinds import resolve_columns
from deadheat.io.mappings import is_id
from deadheat.io.records import Wanted, read_records
from deadheat.io.results import lists_of_rows


def runs_by_repeat(
    source: Source, *, name: str | None = None, columns: Mapping[str, str] | None = None, ascending: bool = False
) -> list[Run]:
    """Return the run of each repeat in a table with a column ``repeat``, in order of appearance.

    Parameters
    ----------
    source : path, dataframe or list of dict
        A row for each document, or each with a list of documents. Anything else has no repeats.
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
    rows = _rows_of(source) if path is None else _rows_in(path)
    if rows is None:
        return []
    where = name or (path and label_of(path)) or "run"
    if lists := [key for row in rows[:1] for key, value in row.items() if isinstance(value, list)]:
        names = resolve_columns(list(rows[0]), "run", where=where, given=columns, lists=lists)
        groups = collected((_repeat_of(row, place), (None, row)) for place, row in enumerate(rows, 1))
        read = [lists_of_rows(own, names, "run", where) for own in groups.values() if len(groups) > 1]
        return [Run(nested, name=where, ascending=ascending).noted(notes) for nested, notes in read]
    # the column of repeats is read as that of documents is: with the same checks, in the same order
    repeats = Run(source, columns={**(columns or {}), "doc_id": REPEAT}).to_polars()["doc_id"].alias(REPEAT)
    run = Run(source, name=name, columns=columns, ascending=ascending)
    frames = run.to_polars().with_columns(repeats).partition_by(REPEAT, maintain_order=True, include_key=False)
    return [Run.of_checked(own, run.name).noted(run.notes) for own in frames] if len(frames) > 1 else []


def _rows_of(source: Source) -> Sequence[Mapping[str, Any]] | None:
    """Return the rows of a table with the column: as dicts where they have lists, else perhaps none; None: no table."""
    if isinstance(source, list):
        has_column = bool(source) and all(isinstance(row, Mapping) for row in source) and REPEAT in source[0]
        return source if has_column else None
    if isinstance(source, pl.LazyFrame) or REPEAT not in getattr(source, "columns", ()):
        return None
    import narwhals as nw  # slow to load

    frame = nw.from_native(cast("Any", source), eager_only=True)
    has_lists = any(isinstance(own, nw.List | nw.Array | nw.Object) for own in frame.schema.values())
    return list(frame.iter_rows(named=True)) if has_lists else []


def _rows_in(path: Path) -> Sequence[Mapping[str, Any]] | None:
    """Return the same of a file."""
    if not has_column(path, REPEAT):
        return None
    form = format_of(path, None)
    found = read_records(path, form.name, Wanted()).table if form.name in {"json", "jsonl"} else []
    return found if isinstance(found, list) else []


def _repeat_of(row: Mapping[str, Any], place: int) -> str:
    if is_id(repeat := row.get(REPEAT)):
        return str(repeat)
    raise ColumnError(f"row {place} has no {REPEAT!r}", given=repeat, allowed="text or a whole number")
