"""What trec_eval -q and ir_measures -q print: three fields a line, of which the last is a value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deadheat.core.errors import DataError, MalformedRowError
from deadheat.core.io.ids import check_ids_of_row
from deadheat.core.io.objects import read_text
from deadheat.core.io.values import is_number_text
from deadheat.plugins.values.names import same_measure
from deadheat.plugins.values.table import ValueRow

NOT_VALUES = ("runid", "relstring")  # what begin so in trec_eval: a name, and the judgments of the first documents
NO_VALUE = ("nan", "-nan")  # as C prints it


@dataclass(frozen=True)
class PrintedForm:
    """How a tool prints values by query.

    Attributes
    ----------
    tool : str
    fields : str
        The fields of a line, for messages.
    measure, query : int
        Their places.
    """

    tool: str
    fields: str
    measure: int
    query: int


TREC_EVAL = PrintedForm("trec_eval", "measure, query and value, as trec_eval -q prints them", measure=0, query=1)
IR_MEASURES = PrintedForm("ir_measures", "query, measure and value, as ir_measures -q prints them", measure=1, query=0)


def form_of_line(line: str) -> PrintedForm | None:
    r"""Return the tool that prints such a line; None if none does.

    Examples
    --------
    >>> form_of_line("map                   \t301\t0.2500").tool, form_of_line("301\tAP\t0.2500").tool
    ('trec_eval', 'ir_measures')
    >>> form_of_line("301 0 FBIS3-1 1") is None
    True
    """
    fields = line.split()
    if len(fields) != 3:
        return None
    if fields[0].startswith(NOT_VALUES) or (_names_measure(fields[0]) and is_value(fields[2])):
        return TREC_EVAL
    if _names_measure(fields[1]) and is_value(fields[2]):
        return IR_MEASURES
    return None


def _names_measure(text: str) -> bool:
    """Tell whether a field is the name of a measure."""
    return text in {"gm_map", "gm_bpref"} or same_measure(text) is not None


def is_value(text: str) -> bool:
    """Tell whether a field is a value."""
    return is_number_text(text) or text in NO_VALUE


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
        yield ValueRow(query_id, measure, value_of(value, path, line), decimals_of(value), line)


def value_of(text: str, path: Path | str, line: int | None) -> float:
    """Return the value that a field says; raise `DataError` if it is no finite number.

    Examples
    --------
    >>> value_of("0.2500", "a.eval", 3), value_of("nan", "a.eval", 4)
    (0.25, nan)
    """
    if text in NO_VALUE:
        return math.nan
    value = float(text) if is_number_text(text) else math.nan
    if not math.isfinite(value):
        raise DataError("a value must be a finite number", given=text, path=path, line=line)
    return value


def decimals_of(text: str) -> int | None:
    """Return how many digits behind the point a value is written with; None of a whole number or powers of ten.

    Examples
    --------
    >>> decimals_of("0.2500"), decimals_of("17"), decimals_of("1e-05")
    (4, None, None)
    """
    _, point, behind = text.partition(".")
    if not point or not behind.isdecimal():
        return None
    return len(behind)
