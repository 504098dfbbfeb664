"""Indexes of pandas whose levels have the names of columns that a table lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw

from deadheat.core.io.kinds import COLUMN_NAMES, KEYS, VALUE_COLUMN, Kind


def with_named_index(table: Any, kind: Kind, given: Mapping[str, str]) -> Any:  # noqa: ANN401 - anything
    """Return a table whose ids are also in columns, if its index in pandas has them by name; else the same table.

    A single column whose index has the ids is the table of its numbers.

    Parameters
    ----------
    table : object
        As `find_table` returns it.
    kind : {"qrels", "run"}
    given : mapping of str to str
        Names of columns that the user gives.
    """
    if not isinstance(table, nw.DataFrame | nw.Series) or not table.implementation.is_pandas():
        return table
    native: Any = table.to_native()
    columns = list(native.columns) if isinstance(table, nw.DataFrame) else []
    levels = []
    for key in KEYS:
        names = [given[key]] if key in given else COLUMN_NAMES[kind][key]
        if not any(name in columns for name in names):
            levels += [name for name in names if name in native.index.names][:1]
    if isinstance(table, nw.DataFrame):
        if not levels:
            return table
        return nw.from_native(native.reset_index(level=levels))
    if len(levels) < len(KEYS):
        return table
    value = VALUE_COLUMN[kind]
    name = native.name
    if name not in {*COLUMN_NAMES[kind][value], "rank", *given.values()}:
        name = value  # it is the only column
    return nw.from_native(native.reset_index(level=levels, name=name))


def advise_on_index(frame: Any) -> str | None:  # noqa: ANN401 - a frame of any engine
    """Return a hint for a frame of pandas with an index of its own, in which columns may be; None for any other."""
    if not isinstance(frame, nw.DataFrame) or not frame.implementation.is_pandas():
        return None
    index: Any = frame.to_native().index
    if type(index).__name__ == "RangeIndex":
        return None
    return "pandas' reset_index() makes columns of the index; rename_axis(['query_id', 'doc_id']) names its levels"
