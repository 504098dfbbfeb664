"""The forms of files with values of another tool, and by which first bytes they are known.

Commands ask of each file whether it is one: what reads them is imported when there is one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from deadheat.core.io.files import read_plain_head
from deadheat.core.io.formats import COMPRESSED
from deadheat.core.io.kinds import COLUMN_NAMES
from deadheat.core.io.values import is_number_text
from deadheat.plugins.values.names import find_same_measure

ENDING = ".eval"
FIRST_OF_JSON = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*("(?:[^"\\]|\\.)*")\s*:\s*[-0-9.nN]')
NOT_VALUES = ("runid", "relstring")  # what begin so in trec_eval: a name, and the judgments of the first documents
NO_VALUE = ("nan", "-nan")  # as C prints it
COLUMNS = {
    "query_id": COLUMN_NAMES["run"]["query_id"],
    "measure": ("measure", "metric"),
    "value": ("value", "score"),
}
OF_OTHER_TABLES = {*COLUMN_NAMES["run"]["doc_id"], "task", "task_name"}
"""Columns that tables of values have not: of a document, as in runs, or of a task, as in results for a leaderboard."""


class PrintedForm(NamedTuple):
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


def recognise_line(line: str) -> PrintedForm | None:
    r"""Return the tool that prints such a line; None if none does.

    Examples
    --------
    >>> recognise_line("map                   \t301\t0.2500").tool, recognise_line("301\tAP\t0.2500").tool
    ('trec_eval', 'ir_measures')
    >>> recognise_line("301 0 FBIS3-1 1") is None
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
    return text in {"gm_map", "gm_bpref"} or find_same_measure(text) is not None


def is_value(text: str) -> bool:
    """Tell whether a field is a value."""
    return is_number_text(text) or text in NO_VALUE


def find_columns(columns: Iterable[str]) -> dict[str, str] | None:
    """Return what a table calls the query, the measure and the value; None if it lacks one, or is of documents.

    Examples
    --------
    >>> find_columns(["name", "qid", "measure", "value"])
    {'query_id': 'qid', 'measure': 'measure', 'value': 'value'}
    >>> find_columns(["query_id", "doc_id", "score"]) is None
    True
    """
    there = set(columns)
    if not there.isdisjoint(OF_OTHER_TABLES):
        return None
    names = {}
    for column, known in COLUMNS.items():
        for name in known:
            if name in there:
                names[column] = name
                break
    return names if len(names) == len(COLUMNS) else None


def is_values(path: Path) -> bool:
    """Tell whether a file holds values of another tool, by its first bytes.

    That is a line of trec_eval -q or ir_measures -q, a table that names the query, the measure and the value, or a JSON
    object of objects whose first key is a measure.
    """
    if has_ending(path):
        return path.is_file()
    head = read_plain_head(path)  # of a compressed file it is not known
    if not head:
        return False
    text = head.decode("utf-8", errors="replace").removeprefix("\ufeff")
    first_line = text.lstrip().partition("\n")[0]
    if recognise_line(first_line) is not None:
        return True
    if text.lstrip().startswith("{"):
        return _is_json_of_values(text, first_line)
    columns = [name.strip().strip('"') for name in re.split(r"[,;\t]", first_line)]
    return find_columns(columns) is not None


def has_ending(path: Path) -> bool:
    """Tell whether the name of a file ends in .eval, compressed or not."""
    name = path.name
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    return name.endswith(ENDING)


def _is_json_of_values(text: str, first_line: str) -> bool:
    """Tell whether a text begins as {query: {measure: value}}, or as a line with query, measure and value."""
    found = FIRST_OF_JSON.match(text)
    if found is not None:
        return find_same_measure(json.loads(found[1])) is not None
    try:
        row = json.loads(first_line)
    except ValueError:
        return False
    return isinstance(row, dict) and find_columns(row) is not None
