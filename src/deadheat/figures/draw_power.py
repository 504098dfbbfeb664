"""Power: the difference that so many queries can detect, and how many the one that was found would take."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import numpy as np

from deadheat import stats
from deadheat.comparison.comparison import Comparison
from deadheat.errors import FigureError
from deadheat.figures.base import COMPARISON, figure
from deadheat.figures.duels import Duel, duel_of
from deadheat.figures.style import BLACK, BLUE, NOISE, RED, Row, finished, n_queries, number, share_text, shown
from deadheat.measures.notation import MeasureLike

POWERS = (0.5, 0.8, 0.95)
STEPS = 40  # points of a curve
HEIGHT = 220


@figure(COMPARISON, place=70)
def power(
    comparison: Comparison,
    measure: MeasureLike | None = None,
    *,
    system: str | None = None,
    baseline: str | None = None,
) -> alt.LayerChart:
    """Draw the difference that a paired t test detects against the number of queries, for three powers.

    Parameters
    ----------
    comparison : Comparison
    measure : measure, optional
        By default the first.
    system, baseline : str, optional
        By default the best system against the baseline, or against the second best.

    Returns
    -------
    altair.LayerChart
        By the numbers of :meth:`Comparison.sample_sizes`.

    Raises
    ------
    FigureError
        There are fewer than two queries, or the two systems differ by the same in all.

    Examples
    --------
    >>> from deadheat import compare
    >>> qrels = {f"q{n}": {"a": 1} for n in range(9)}
    >>> one = {f"q{n}": {"a": 2 - n % 3, "b": 1} for n in range(9)}
    >>> other = {f"q{n}": {"a": 1, "b": 1} for n in range(9)}
    >>> chart = power(compare(qrels, {"one": one, "other": other}, "RR"))
    >>> row = next(row for row in chart.data.values if row["n_queries"] == 9 and row["power"] == 0.8)
    >>> round(row["detectable"], 3)
    0.231
    """
    duel = duel_of(comparison, measure, system, baseline)
    of, pair = duel.measure.label, duel.pair
    planned = (
        comparison.sample_sizes()
        .filter(measure=pair.measure, system=pair.system, baseline=pair.baseline)
        .row(0, named=True)
    )
    if planned["detectable_difference"] is None:
        raise FigureError(
            f"{pair.system} and {pair.baseline} show no spread by {of} that a power could be worked out from:"
            f" {n_queries(pair.n_queries)}, all with the same difference"
        )
    found, n = abs(pair.difference), pair.n_queries
    rows = _rows(planned, n, comparison)
    title = f"detectable difference in {of}"
    x = alt.X(
        "n_queries:Q",
        title="queries (log scale)",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(grid=False, labelOverlap="greedy", labelSeparation=8),
    )
    y = alt.Y(
        "detectable:Q",
        title=f"{title} (log scale)",
        scale=alt.Scale(type="log", nice=True),
        axis=alt.Axis(tickCount=4, grid=False),
    )
    names = [f"power {share_text(one)}" for one in POWERS]
    colour = alt.Color(
        "label:N", scale=alt.Scale(domain=names, range=["#6FA8CF", BLUE, BLACK]), legend=alt.Legend(title=None)
    )
    dash = alt.StrokeDash(
        "label:N", scale=alt.Scale(domain=names, range=[[2, 2], [1, 0], [6, 3]]), legend=alt.Legend(title=None)
    )
    tip = [alt.Tooltip(one) for one in ("n_queries:Q", "detectable:Q", "power:Q")]
    here = alt.Chart(
        alt.InlineData(
            values=[{"n_queries": n, "detectable": found, "text": f"these {n:,} queries", "difference": "found"}]
        )
    )
    layers = [
        alt.Chart().mark_line(strokeWidth=1.8).encode(x, y, color=colour, strokeDash=dash, tooltip=tip),
        here.mark_rule(color=RED, strokeWidth=1.2).encode(x),
    ]
    if found > NOISE:  # a logarithm has no place for 0
        layers += [
            here.mark_rule(color=RED, strokeWidth=1.2, strokeDash=[5, 3]).encode(y),
            here.mark_point(filled=True, color=RED, size=50, shape="diamond", opacity=1).encode(x, y),
        ]
    return finished(layers, rows, height=HEIGHT, title=_finding(duel, planned), notes=_notes(duel, comparison))


def _rows(planned: Row, n: int, comparison: Comparison) -> list[Row]:
    """Return the points of the curves, with the number of queries that there are among them.

    With clusters the test takes these: of more queries there are more clusters, of the same size.
    """
    units = (planned["n_clusters"] or n) / n  # of a query
    std, needed = planned["std"] * math.sqrt(units), planned["n_needed"]
    high = max(4 * n, 50)
    if needed is not None and needed > high:
        high = min(2 * needed, 1000 * n)
    grid = np.unique(np.append(np.geomspace(min(5, n), high, STEPS).round().astype(np.int64), n))
    design = comparison.design
    level: dict[str, Any] = {"confidence_level": design.confidence_level, "alternative": design.alternative}
    return [
        {
            "n_queries": int(size),
            "power": power_of,
            "label": f"power {share_text(power_of)}",
            "detectable": stats.detectable_difference(std, round(size * units), power=power_of, **level),
        }
        for power_of in POWERS
        for size in grid.tolist()
        if round(size * units) >= 2
    ]


def _finding(duel: Duel, planned: Row) -> str:
    detectable, needed = planned["detectable_difference"], planned["n_needed"]
    n = n_queries(planned["n_queries"])
    found = abs(float(duel.difference.mean()))
    first = f"{n} detect a difference of {number(detectable)} in {duel.measure.label} with 80% power"
    if needed is None:
        return first
    if needed <= planned["n_queries"]:
        return f"{first}; the {number(found)} that was found takes {needed:,}"
    return f"{first}; the {number(found)} that was found would take {needed:,}"


def _notes(duel: Duel, comparison: Comparison) -> list[str]:
    level = 1 - comparison.design.confidence_level
    pair = f"{shown(duel.system)} against {shown(duel.baseline)}"
    return [
        f"{pair}. Red: these {n_queries(duel.pair.n_queries)} and the difference that was found.",
        f"Paired t test at {level:.2g}, not corrected, for queries that differ as these do.",
        "Power for the difference that was found repeats its p value.",
    ]
