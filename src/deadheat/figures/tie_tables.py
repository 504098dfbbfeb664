"""The ties of each query beside what a rule makes of its value: what the figures of ties are drawn from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray
from deadheat.errors import FigureError, SourceTypeError
from deadheat.figures.style import NOISE, Row
from deadheat.measures import parse_measure
from deadheat.measures.notation import MeasureLike
from deadheat.profile import TieProfile
from deadheat.wording import BROKEN_BY, Plain

Ties: TypeAlias = "TieProfile | pl.DataFrame | Mapping[str, TieProfile | pl.DataFrame] | Sequence[TieProfile]"
"""The ties of one run by :func:`deadheat.tie_profile`, or of several by name; or their table, `per_query()`."""

NEEDED = ("query_id", "measure", "tie_ratio", "largest_tie", "exact", "traditional", "difference")
MOST_POINTS = 500
CELLS = (44, 30)  # of a grid, for more points than that


def table_of(ties: Ties) -> pl.DataFrame:
    """Return one table of all runs, with a column `run`.

    Raises
    ------
    FigureError
        A profile was made without qrels.
    """
    if isinstance(ties, pl.DataFrame):
        lacking = [name for name in NEEDED if name not in ties.columns]
        if lacking:
            raise FigureError(
                f"the table of ties lacks {', '.join(lacking)}", hint="take that of per_query(), with qrels"
            )
        return ties if "run" in ties.columns else ties.with_columns(run=pl.lit("run"))
    if isinstance(ties, TieProfile):
        ties = {ties.name: ties}
    named = ties if isinstance(ties, Mapping) else {one.name: one for one in ties}
    if not named:
        raise SourceTypeError(argument="ties", given=Plain("nothing"), allowed="a TieProfile, or several by name")
    frames = []
    for name, one in named.items():
        if isinstance(one, TieProfile) and not one.decided:
            raise FigureError(
                f"nothing is known of what the ties of {name} decide", hint="give tie_profile() the qrels too"
            )
        own = one if isinstance(one, pl.DataFrame) else one.per_query()
        frames.append(table_of(own).with_columns(run=pl.lit(str(name))))
    return pl.concat(frames, how="diagonal")


def of_measure(table: pl.DataFrame, measure: MeasureLike | None) -> tuple[str, pl.DataFrame]:
    """Return the notation of a measure, the first by default, and its rows that have a value."""
    held = table["measure"].unique(maintain_order=True).to_list()
    if not held:
        raise FigureError("no query was evaluated")
    is_held = isinstance(measure, str) and measure in held
    name = str(held[0] if measure is None else measure if is_held else parse_measure(measure))
    if name not in held:
        raise FigureError(f"{name} was not evaluated; there are {', '.join(held)}")
    rows = table.filter(
        (pl.col("measure") == name) & pl.col("exact").is_not_null() & pl.col("traditional").is_not_null()
    )
    if not len(rows):
        raise FigureError(f"no query has a value of {name}")
    return name, rows


def rule_of(table: pl.DataFrame) -> str:
    """Return how ties are broken, in words."""
    rules = table["rule"].unique().to_list() if "rule" in table.columns else []
    return BROKEN_BY.get(rules[0], str(rules[0])) if len(rules) == 1 else "by a rule"


def correlation(one: Iterable[float | None], other: Iterable[float | None]) -> float:
    """Return Pearson's correlation; NaN if there are fewer than three pairs, or one of the two does not vary."""
    pairs = np.array([pair for pair in zip(one, other, strict=True) if None not in pair], np.float64).reshape(-1, 2)
    if len(pairs) < 3:
        return float("nan")
    centred: FloatArray = pairs - pairs.mean(axis=0)
    norms = np.sqrt((centred**2).sum(axis=0))
    if (norms <= NOISE * np.maximum(1.0, np.abs(pairs).max(axis=0))).any():
        return float("nan")
    return float(np.clip(centred[:, 0] @ centred[:, 1] / (norms[0] * norms[1]), -1.0, 1.0))


def r_text(value: float) -> str:
    """Return a correlation for a sentence.

    Examples
    --------
    >>> r_text(0.456), r_text(float("nan"))
    ('r = 0.46', 'no r')
    """
    return f"r = {value:.2f}" if value == value else "no r"  # noqa: PLR0124 - not NaN


def gathered(rows: Sequence[tuple[float, float]]) -> tuple[list[Row], bool]:
    """Return a row for each point (x, y, and n_queries there), and whether they had to be gathered on a grid."""
    points = np.array(rows, np.float64).reshape(-1, 2)
    places, inverse = np.unique(points, axis=0, return_inverse=True)
    is_grid = len(places) > MOST_POINTS
    if is_grid:
        low, width = points.min(axis=0), np.maximum(np.ptp(points, axis=0), NOISE)
        cells = np.minimum((points - low) / width * CELLS, np.array(CELLS) - 1).astype(np.int64)
        _, inverse = np.unique(cells, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    sizes = np.bincount(inverse)
    means = (
        [np.bincount(inverse, points[:, axis]) / sizes for axis in (0, 1)] if is_grid else [places[:, 0], places[:, 1]]
    )
    return [
        {"x": float(x), "y": float(y), "n_queries": int(n)} for x, y, n in zip(*means, sizes.tolist(), strict=True)
    ], is_grid
