"""What trec_eval -q and ir_measures -q print: three fields a line, of which the last is a value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from deadheat.core.errors import DataError, MalformedRowError
from deadheat.core.io.ids import check_ids_of_row
from deadheat.core.io.objects import read_text
from deadheat.core.io.values import is_number_text
from deadheat.plugins.values.forms import NO_VALUE, NOT_VALUES, TREC_EVAL, PrintedForm
from deadheat.plugins.values.table import ValueRow


def read_rows(path: Path, form: PrintedForm) -> Iterator[ValueRow]:
    """Yield the values in a file, of single queries and of all of them.

    Raises
    ------
    MalformedRowError
        A line has not three fields.
    DataError
        A value is no number.
    """
    text = read_text(path, form.fields, has_lines=True)
    for line, written in enumerate(text.split("\n"), start=1):
        fields = written.split()
        if not fields:
            continue
        if form is TREC_EVAL and fields[0].startswith(NOT_VALUES):
            continue
        if len(fields) != 3:
            raise MalformedRowError(allowed=form.fields, given=written, path=path, line=line)
        measure, query_id, value = fields[form.measure], fields[form.query], fields[2]
        check_ids_of_row(query_id, measure, path, line)
        yield ValueRow(query_id, measure, parse_value(value, path, line), count_decimals(value), line)


def parse_value(text: str, path: Path | str, line: int | None) -> float:
    """Return the value that a field says; raise `DataError` if it is no finite number.

    Examples
    --------
    >>> parse_value("0.2500", "a.eval", 3), parse_value("nan", "a.eval", 4)
    (0.25, nan)
    """
    if text in NO_VALUE:
        return math.nan
    value = float(text) if is_number_text(text) else math.nan
    if not math.isfinite(value):
        raise DataError("a value must be a finite number", given=text, path=path, line=line)
    return value


def count_decimals(text: str) -> int | None:
    """Return how many digits behind the point a value is written with; None of a whole number or powers of ten.

    Examples
    --------
    >>> count_decimals("0.2500"), count_decimals("17"), count_decimals("1e-05")
    (4, None, None)
    """
    _, point, behind = text.partition(".")
    if not point or not behind.isdecimal():
        return None
    return len(behind)
