"""Power: the difference that so many queries can detect, and how many the one that was found would take."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import numpy as np

from deadheat import stats
from deadheat.comparison.comparison import Comparison
from deadheat.errors import FigureError
from deadheat.figures.base import figure
from deadheat.figures.duels import duel_of
from deadheat.figures.style import BLACK, BLUE, NOISE, RED, Row, finished, n_queries, number, share_text, shown
from deadheat.measures.notation import MeasureLike

POWERS = (0.5, 0.8, 0.95)
STEPS = 40  # points of a curve


@figure("comparison", place=70)
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
    scale, axis = alt.Scale(type="log", nice=False), alt.Axis(grid=False, labelOverlap="greedy", labelSeparation=8)
    x = alt.X("n_queries:Q", title="queries (log scale)", scale=scale, axis=axis)
    y = alt.Y(
        "detectable:Q",
        title=f"detectable difference in {of} (log scale)",
        scale=alt.Scale(type="log", nice=True),
        axis=alt.Axis(tickCount=4, grid=False),
    )
    names, legend = list(map(_label, POWERS)), alt.Legend(title=None)
    colours = alt.Scale(domain=names, range=["#6FA8CF", BLUE, BLACK])
    dashes = alt.Scale(domain=names, range=[[2, 2], [1, 0], [6, 3]])
    curves = alt.Chart().encode(
        color=alt.Color("label:N", scale=colours, legend=legend),
        strokeDash=alt.StrokeDash("label:N", scale=dashes, legend=legend),
        tooltip=["n_queries:Q", "detectable:Q", "power:Q"],
    )
    point = {"n_queries": n, "detectable": found, "text": f"these {n:,} queries", "difference": "found"}
    here = alt.Chart(alt.InlineData(values=[point]))
    layers = [
        curves.mark_line(strokeWidth=1.8).encode(x, y),
        here.mark_rule(color=RED, strokeWidth=1.2).encode(x),
    ]
    if found > NOISE:  # a logarithm has no place for 0
        layers += [
            here.mark_rule(color=RED, strokeWidth=1.2, strokeDash=[5, 3]).encode(y),
            here.mark_point(filled=True, color=RED, size=50, shape="diamond", opacity=1).encode(x, y),
        ]
    needed = planned["n_needed"]
    title = f"{n_queries(n)} detect a difference of {number(planned['detectable_difference'])} in {of} with 80% power"
    if needed is not None:
        title += f"; the {number(found)} that was found {'takes' if needed <= n else 'would take'} {needed:,}"
    pair_name = f"{shown(duel.system)} against {shown(duel.baseline)}"
    level = 1 - comparison.design.confidence_level
    notes = [
        f"{pair_name}. Red: these {n_queries(n)} and the difference that was found.",
        f"Paired t test at {level:.2g}, not corrected, for queries that differ as these do.",
        "Power for the difference that was found repeats its p value.",
    ]
    return finished(layers, _rows(planned, n, comparison), height=220, title=title, notes=notes)


def _label(power_of: float) -> str:
    return f"power {share_text(power_of)}"


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
            "label": _label(power_of),
            "detectable": stats.detectable_difference(std, round(size * units), power=power_of, **level),
        }
        for power_of in POWERS
        for size in grid.tolist()
        if round(size * units) >= 2
    ]
