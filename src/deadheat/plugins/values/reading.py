"""Evaluations of the systems whose values a file or an object holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from deadheat.core.data.sources import Source, as_path, make_label
from deadheat.core.errors import DataError, DuplicateError, ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.io.files import blocks, check_readable
from deadheat.core.wording import format_path
from deadheat.plugins.values import lines, tables
from deadheat.plugins.values.evaluations import make_evaluation
from deadheat.plugins.values.forms import TREC_EVAL, find_columns, has_ending, recognise_line
from deadheat.plugins.values.table import ALL, ValueRow, ValueTable

ANOTHER = "another tool"
MOST_ROUNDED = 8  # decimals: with more a value is not said to be rounded


def read_values(source: Source) -> dict[str, Evaluation]:
    """Return the evaluation of each system whose values a file or an object holds, by its name.

    Parameters
    ----------
    source : path, dict of dict, frame, or iterable of dicts or of objects with query_id, measure and value

    Raises
    ------
    DataError
        A row cannot be read, comes twice, or contradicts what the tool says of all queries.
    ParameterError
        The object has another form.
    """
    path = as_path(source)
    if path is not None:
        rows, tool = _read_file(check_readable(path))
        name, where = make_label(path), str(path)
    else:
        rows, tool = _read_object(source), ANOTHER
        name, where = "values", "the values"
    by_system: dict[str, list[ValueRow]] = {}
    for row in rows:
        by_system.setdefault(row.system or name, []).append(row)
    if not by_system:
        raise DataError("has no value", allowed=tables.ALLOWED, path=where)
    return {system: make_evaluation(_gather_rows(own, system, tool, where)) for system, own in by_system.items()}


def _read_file(path: Path) -> tuple[Iterator[ValueRow], str]:
    """Return the rows of a file, and the tool that wrote it."""
    head = next(blocks(path), b"").decode("utf-8", errors="replace")
    form = recognise_line(head.removeprefix("\ufeff").lstrip().partition("\n")[0])
    if form is None and has_ending(path):
        form = TREC_EVAL
    if form is None:
        return tables.read_rows(path), ANOTHER
    return lines.read_rows(path, form), form.tool


def _read_object(source: Any) -> Iterator[ValueRow]:  # noqa: ANN401 - any form
    """Yield the rows of a dict, a frame, or objects of ir_measures."""
    if isinstance(source, Mapping):
        yield from tables.read_mapping(source, "the values")
        return
    if isinstance(source, Iterator):
        source = list(source)
    if isinstance(source, list | tuple) and source and all(map(_is_metric, source)):
        yield from tables.read_metrics(source, "the values")
        return
    from deadheat.core.io.frames import find_frame, to_polars  # they need Narwhals

    found = find_frame(source, "the values")
    names = None if found is None else find_columns(found.columns)
    if found is None or names is None:
        raise ParameterError(found=type(source).__name__, allowed=f"the path of a file, {tables.ALLOWED}")
    yield from tables.read_frame(to_polars(found, "the values"), names, "the values")


def _is_metric(given: object) -> bool:
    """Tell whether an object is a value of a query, as ``ir_measures.iter_calc`` gives them."""
    return all(hasattr(given, name) for name in ("query_id", "measure", "value"))


def _gather_rows(rows: Iterable[ValueRow], system: str, tool: str, where: str) -> ValueTable:
    """Return the rows of one system by measure and query, those of all queries apart."""
    values: dict[str, dict[str, float]] = {}
    of_all: dict[str, ValueRow] = {}
    first_lines: dict[tuple[str, str], int | None] = {}
    decimals = 0
    for row in rows:
        key = (row.measure, row.query_id)
        if key in first_lines:
            at = "" if row.line is None else f" on lines {first_lines[key]} and {row.line}"
            raise DuplicateError(
                f"{row.measure} of query {row.query_id!r} is there twice{at}",
                hint="give the values of several systems a column system",
                path=where,
            )
        first_lines[key] = row.line
        if row.query_id == ALL:
            of_all[row.measure] = row
            continue
        values.setdefault(row.measure, {})[row.query_id] = row.value
        decimals = max(decimals, row.decimals or 0)
    return ValueTable(
        name=system,
        tool=tool,
        values=values,
        of_all=of_all,
        decimals=decimals if 1 < decimals <= MOST_ROUNDED else None,
        where=format_path(where),
    )
