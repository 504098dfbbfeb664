"""What a tool says of all queries together, held against the values of the single ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

from deadheat.core.errors import DataError
from deadheat.core.wording import format_count
from deadheat.plugins.values.names import find_same_measure
from deadheat.plugins.values.table import ValueRow, ValueTable

NUM_Q = "num_q"  # trec_eval's number of queries
LEFT_OUT = "trec_eval -c counted {} without a row as 0 in the rows of all queries; here they are left out"


@dataclass(frozen=True)
class Summed:
    """What the values of single queries say of all of them.

    Attributes
    ----------
    total : float
    n_queries : int
        That have a value.
    most_off : float
        What rounding can make of a mean.
    """

    total: float
    n_queries: int
    most_off: float


def check_summary(table: ValueTable) -> str:
    """Hold the rows of all queries against those of single ones; return a note on queries without a row, if any.

    Raises
    ------
    DataError
        A mean or total is another one, or the number of queries is: a part of the file is missing, or of another run.
    """
    n_queries = len(table.query_ids)
    n_counted = n_queries
    if NUM_Q in table.of_all and not math.isnan(table.of_all[NUM_Q].value):
        n_counted = int(table.of_all[NUM_Q].value)
        if n_counted < n_queries or (n_counted > n_queries and not _counts_missing_as_zero(table, n_counted)):
            raise DataError(
                f"{NUM_Q} is {n_counted:,}, and {format_count(n_queries, 'query has', 'queries have')} values",
                hint="is a part of the file missing?",
                path=table.where,
                line=table.of_all[NUM_Q].line,
            )
    for name, row in table.of_all.items():
        if math.isnan(row.value):
            continue
        expected = _expect(table, name, n_counted)
        if expected is not None and not _is_near(row, expected, _add_up(table, name).most_off):
            raise DataError(
                f"{name} of all queries is {row.value:.6g}, and the values of single queries give {expected:.6g}",
                hint="is a part of the file missing, or of another run?",
                path=table.where,
                line=row.line,
            )
    if n_counted == n_queries:
        return ""
    return LEFT_OUT.format(format_count(n_counted - n_queries, "query", "queries"))


def _counts_missing_as_zero(table: ValueTable, n_counted: int) -> bool:
    """Tell whether some mean of all queries shows that those without a row count as 0, as trec_eval -c has them."""
    for name, row in table.of_all.items():
        measure = find_same_measure(name)
        if measure is None or measure.total or name not in table.values:
            continue
        summed = _add_up(table, name)
        return _is_near(row, summed.total / n_counted, summed.most_off)
    return False


def _expect(table: ValueTable, name: str, n_counted: int) -> float | None:
    """Return what single queries say of all of them; None where it is not known how a measure is averaged."""
    measure = find_same_measure(name)
    if measure is None or name not in table.values:
        return None
    summed = _add_up(table, name)
    if measure.total:
        return summed.total
    n_without_row = n_counted - len(table.query_ids)
    n_averaged = summed.n_queries + n_without_row
    return summed.total / n_averaged if n_averaged else None


def _add_up(table: ValueTable, name: str) -> Summed:
    values = [value for value in table.values[name].values() if not math.isnan(value)]
    unit = 0.0 if table.decimals is None else 10.0**-table.decimals
    return Summed(math.fsum(values), len(values), unit)


def _is_near(row: ValueRow, expected: float, most_off: float) -> bool:
    """Tell whether two numbers are the same but for rounding: half a unit of the mean, and half of that of all."""
    own_unit = 0.0 if row.decimals is None else 10.0**-row.decimals
    rounding = (most_off + own_unit) / 2
    return abs(row.value - expected) <= rounding + 1e-9 * max(1.0, abs(expected))
