"""Columns that tables of means and of differences with a judge share."""

from deadheat.core.report.cells import NumberCell
from deadheat.core.report.model import Column


def columns_of_judge(level: str) -> tuple[Column, ...]:
    """Return the columns of what a judge's labels make of a mean or a difference."""
    return (
        Column("with", "and judge"),
        Column("both", level, ends=("judge_low", "judge_high"), spare=1),
        Column("weight", "weight"),
        Column("correlation", "correlation", spare=2),
        Column("n_effective", "as if queries", lambda row: NumberCell(row["n_effective"], "worth")),
    )
