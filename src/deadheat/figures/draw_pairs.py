"""Two systems: the differences query by query, one against the other, and the power of their comparison."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import altair as alt
import numpy as np

from deadheat import stats
from deadheat.arrays import BoolArray, FloatArray, IntArray, TextArray, members
from deadheat.comparison.comparison import Comparison
from deadheat.comparison.pairs import TUKEY, Design, Pair
from deadheat.errors import FigureError, ParameterError
from deadheat.figures.base import figure
from deadheat.figures.style import (
    BAND,
    BLACK,
    BLUE,
    GREY,
    NOISE,
    ORANGE,
    RED,
    SKY,
    Row,
    finished,
    labels,
    n_queries,
    number,
    p_text,
    share_text,
    short,
    signed,
    zero_line,
)
from deadheat.figures.systems import measure_of, systems_of
from deadheat.measures import Measure
from deadheat.measures.notation import MeasureLike
from deadheat.wording import counted

RESAMPLED = ("randomization", "bootstrap", "bootstrap-t")
MOST_NAMED = 40  # queries whose ids fit below the bars
MOST_BARS = 300
MOST_POINTS = 500
CELLS = 30  # of a grid, along each axis, for more queries than that
RANGES = ("system", "system_min", "system_max", "baseline", "baseline_min", "baseline_max")
POWERS = (0.5, 0.8, 0.95)
STEPS = 40  # points of a curve


@dataclass(frozen=True, eq=False, kw_only=True)
class Duel:
    """A system against another by one measure.

    Attributes
    ----------
    measure : Measure
    system, baseline : str
    query_ids : ndarray of str, shape (n_queries,)
        Those for which both have a value.
    values, lowest, highest : ndarray of float, shape (2, n_queries)
        The values of the system and of the baseline, and their ranges over tie orders.
    p_value : float
        After the correction; NaN if the comparison tested only the other direction.
    wins, losses : int
        Queries on which the system is better, and worse, by the direction of the measure.
    pair : Pair
        As the comparison has it, maybe the other way round.
    """

    measure: Measure
    system: str
    baseline: str
    query_ids: TextArray
    values: FloatArray
    lowest: FloatArray
    highest: FloatArray
    p_value: float
    wins: int
    losses: int
    pair: Pair

    @property
    def difference(self) -> FloatArray:
        """System minus baseline."""
        return self.values[0] - self.values[1]

    @property
    def low(self) -> FloatArray:
        """The smallest difference over the orders of the ties, which are independent in two runs."""
        return self.lowest[0] - self.highest[1]

    @property
    def high(self) -> FloatArray:
        """The largest difference over the orders of the ties."""
        return self.highest[0] - self.lowest[1]

    @property
    def is_open(self) -> BoolArray:
        """Where the order of the ties decides who is better."""
        return (self.low < -NOISE) & (self.high > NOISE)


def duel_of(comparison: Comparison, measure: MeasureLike | None, system: str | None, baseline: str | None) -> Duel:
    """Return two systems query by query.

    Parameters
    ----------
    comparison : Comparison
    measure : measure, optional
        By default the first.
    system, baseline : str, optional
        By default the best system against the comparison's baseline (if it is that, the next one); without one, the
        best against the second.

    Raises
    ------
    ParameterError
        There is no such system.
    FigureError
        The two were not compared, or have no query in common.
    """
    of = measure_of(comparison.evaluations, measure)
    for argument, name in (("system", system), ("baseline", baseline)):
        if name is not None and name not in comparison.evaluations:
            raise ParameterError(argument=argument, given=name, allowed=list(comparison.evaluations))
    ranked = [one.name for one in systems_of(comparison, of)]
    usual = comparison.design.baseline
    baseline = baseline or (usual if usual != system else None)
    system = system or next((name for name in ranked if name != baseline), None)
    baseline = baseline or next((name for name in ranked if name != system), None)
    if system is None or baseline is None or system == baseline:
        raise FigureError(f"fewer than two systems have a value of {of.label}")
    pair = next((pair for pair in comparison[of] if {pair.system, pair.baseline} == {system, baseline}), None)
    if pair is None:
        raise FigureError(
            f"{system} and {baseline} were not compared",
            hint="compare every pair, without a baseline, or against one of them",
        )
    one, other = comparison.evaluations[system], comparison.evaluations[baseline]
    shared = members(one.query_ids, other.query_ids)
    columns = [
        [column[keep] for column in (scores.values, scores.tie_min, scores.tie_max)]
        for scores, keep in ((one[of], shared), (other[of], members(other.query_ids, one.query_ids)))
    ]
    values, lowest, highest = np.swapaxes(np.array(columns), 0, 1)
    both = ~np.isnan(values).any(axis=0)
    if not both.any():
        raise FigureError(f"{system} and {baseline} have no query in common for {of.label}")
    is_reversed = pair.system != system
    is_tested = comparison.design.alternative == "two-sided" or not is_reversed
    return Duel(
        measure=one[of].measure,
        system=system,
        baseline=baseline,
        query_ids=one.query_ids[shared][both],
        values=values[:, both],
        lowest=lowest[:, both],
        highest=highest[:, both],
        p_value=pair.p_adjusted if is_tested else float("nan"),
        wins=pair.losses if is_reversed else pair.wins,
        losses=pair.wins if is_reversed else pair.losses,
        pair=pair,
    )


def tested_by(design: Design, n_pairs: int) -> str:
    """Say by which test p values were found, and what they were corrected for."""
    if design.test == TUKEY:
        return "p: Tukey's HSD test by randomization."
    corrected = f", {design.correction} over {n_pairs:,} pairs" if n_pairs > 1 and design.correction != "none" else ""
    sided = "" if design.alternative == "two-sided" else f", one-sided ({design.alternative})"
    least = n_pairs / (design.n_resamples + 1)  # a resampled p value is at least 1 / (n_resamples + 1)
    floor = (
        f" {design.n_resamples:,} resamples are too few to find any of so many significant."
        if corrected and design.correction != "bh" and design.test in RESAMPLED and least >= 1 - design.confidence_level
        else ""
    )
    return f"p: {design.test} test{sided}{corrected}.{floor}"


@figure("comparison", place=20)
def differences(
    comparison: Comparison,
    measure: MeasureLike | None = None,
    *,
    system: str | None = None,
    baseline: str | None = None,
) -> alt.LayerChart:
    """Draw the differences of two systems query by query, sorted, with whiskers for what tie order can make of each.

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
        Of more than 300 queries, each bar is the mean of as many neighbours in the sorted list.

    Raises
    ------
    FigureError
        The two were not compared, or have no query in common.

    Examples
    --------
    >>> from deadheat import compare
    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    >>> one, other = {"q1": {"a": 2, "b": 1}, "q2": {"a": 1}}, {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
    >>> chart = differences(compare(qrels, {"one": one, "other": other}, "RR"))
    >>> [(row["query_id"], row["difference"], row["high"]) for row in chart.data.values]
    [('q1', 0.25, 0.5), ('q2', 0.0, 0.0)]
    """
    duel = duel_of(comparison, measure, system, baseline)
    order = np.lexsort((duel.query_ids, -duel.difference))
    is_settled = (np.abs(duel.low) <= NOISE) & (np.abs(duel.high) <= NOISE)
    n_settled, n_left_out = int(is_settled.sum()), 0
    if len(order) > MOST_NAMED and len(order) / 2 <= n_settled < len(order):  # most of many queries, but not all
        n_left_out, order = n_settled, order[~is_settled[order]]
    step = -(-len(order) // MOST_BARS)
    rows = _bars(duel, order, step)
    is_named = len(rows) <= MOST_NAMED
    bar: dict[str, Any] = {}
    if is_named:
        x = alt.X(
            "label:N",
            sort=[row["label"] for row in rows],
            title="query",
            axis=alt.Axis(labelAngle=-90, labelLimit=70, labelFontSize=9 if len(rows) > 24 else 10, ticks=False),
            scale=alt.Scale(paddingInner=0.25, paddingOuter=0.2),
        )
    else:
        title = "queries, sorted by difference" + (f" (a bar is the mean of up to {step})" if step > 1 else "")
        x = alt.X("place:Q", title=title, scale=alt.Scale(domain=[0, len(order)], nice=False))
        bar = {"width": max(0.6, 270 / len(rows))}
    y = partial(alt.Y, type="quantitative", title=f"difference in {duel.measure.label}")
    scale = alt.Scale(domain=["better", "equal", "worse"], range=[BLUE, GREY, ORANGE])
    base = alt.Chart().encode(x=x, tooltip=["label:N", "difference:Q", "low:Q", "high:Q", "n_queries:Q"])
    whisker = base.transform_filter("datum.high - datum.low > 1e-12").mark_rule(
        color=BLACK, strokeWidth=1 if len(rows) <= 100 else 0.4
    )
    layers = [
        base.mark_bar(**bar).encode(y("difference"), color=alt.Color("sign:N", scale=scale, legend=None)),
        whisker.encode(y("low"), y2="high:Q"),
        zero_line(),
    ]
    notes = _notes(duel, n_left_out, tested_by(comparison.design, len(comparison[duel.measure])))
    return finished(layers, rows, height=200, title=_who_is_better(duel), notes=notes)


def _bars(duel: Duel, order: IntArray, step: int) -> list[Row]:
    """Return a row for each bar: of a query, or of neighbours in the sorted list."""
    ids = duel.query_ids[order].tolist()
    names = labels(ids)
    columns = np.stack([duel.difference, duel.low, duel.high])[:, order]
    better = 1.0 if duel.measure.higher_is_better else -1.0
    rows: list[Row] = []
    for start in range(0, len(order), step):
        held = columns[:, start : start + step]
        difference, low, high = held.mean(axis=1).tolist()
        size, towards = held.shape[1], better * difference
        rows.append(
            {
                "label": names[start] if step == 1 else "",
                "query_id": str(ids[start]) if size == 1 else "",
                "place": start + size / 2,
                "difference": difference,
                "low": low,
                "high": high,
                "sign": "equal" if abs(towards) <= NOISE else "better" if towards > 0 else "worse",
                "n_queries": size,
            }
        )
    return rows


def _who_is_better(duel: Duel) -> str:
    """Say who is better on how many queries, and by how much."""
    n = n_queries(len(duel.query_ids))
    if not duel.wins and not duel.losses:
        return f"{short(duel.system)} and {short(duel.baseline)} have the same {duel.measure.label} on all of {n}"
    return (
        f"{short(duel.system)} is better than {short(duel.baseline)} on {duel.wins:,} of {n}, worse on"
        f" {duel.losses:,}; mean difference {signed(float(duel.difference.mean()))} ({p_text(duel.p_value)})"
    )


def _notes(duel: Duel, n_left_out: int, tested: str) -> list[str]:
    is_moved = bool((duel.high - duel.low > NOISE).any())
    whiskers = "whisker: its range over tie orders" if is_moved else "no order of ties changes a bar"
    n_open = int(duel.is_open.sum())
    decided = f" Tie order decides who is better on {counted(n_open, 'query', 'queries')}." if n_open else ""
    better = "up" if duel.measure.higher_is_better else "down"
    pair = f"{short(duel.system)} - {short(duel.baseline)}"
    without = (
        f"{counted(n_left_out, 'query', 'queries')} without any difference, in any order of the ties, are left out."
    )
    return [
        f"bar: {pair} (blue, {better}: the former is better); {whiskers}.{decided}",
        without if n_left_out else "",
        tested,
    ]


@figure("comparison", place=30)
def scatter(
    comparison: Comparison,
    measure: MeasureLike | None = None,
    *,
    system: str | None = None,
    baseline: str | None = None,
) -> alt.LayerChart:
    """Draw one system against another, a point for each query, and a box where tie order leaves its values open.

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
        Of more than 500 queries, circles on a grid say how many lie there.

    Raises
    ------
    FigureError
        The two were not compared, or have no query in common.

    Examples
    --------
    >>> from deadheat import compare
    >>> one, other = {"q1": {"a": 2, "b": 1}}, {"q1": {"a": 1, "b": 1}}
    >>> chart = scatter(compare({"q1": {"a": 1}}, {"one": one, "other": other}, "RR"))
    >>> row, = chart.data.values
    >>> row["system"], row["baseline"], row["baseline_min"], row["baseline_max"]
    (1.0, 0.75, 0.5, 1.0)
    """
    duel = duel_of(comparison, measure, system, baseline)
    is_share = duel.measure.range == (0.0, 1.0)
    ranges = np.stack([duel.values, duel.lowest, duel.highest])
    low, high = (0.0, 1.0) if is_share else (float(ranges.min()), float(ranges.max()))
    low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
    scale = alt.Scale(domain=[low, high], nice=not is_share, zero=False)
    x, y = (
        partial(channel, type="quantitative", title=f"{duel.measure.label} of {short(name)}", scale=scale)
        for channel, name in ((alt.X, duel.baseline), (alt.Y, duel.system))
    )
    ends = alt.Chart(alt.InlineData(values=[{"x": low, "y": low}, {"x": high, "y": high}]))
    diagonal = ends.mark_line(color="#555", strokeDash=[4, 3], strokeWidth=1).encode(x("x"), y("y"))
    colour = alt.condition("datum.is_open", alt.value(ORANGE), alt.value(BLUE))
    base = alt.Chart().encode(x("baseline"), y("system"), color=colour)
    better = "above" if duel.measure.higher_is_better else "below"
    where = f"{better} the dashed line {short(duel.system)} is better"
    if len(duel.query_ids) > MOST_POINTS:
        rows = _cells(duel, low, high)
        most = max(row["n_queries"] for row in rows)
        size = alt.Size(
            "n_queries:Q",
            title="queries",
            scale=alt.Scale(type="sqrt", domain=[0, most], range=[0, 260]),
            legend=alt.Legend(values=sorted({1, most // 4, most} - {0}), format="d"),
        )
        circles = base.mark_circle(opacity=0.75, stroke="white", strokeWidth=0.4)
        tip = ["n_queries:Q", "system:Q", "baseline:Q", "share_open:Q"]
        layers = [diagonal, circles.encode(size=size, tooltip=tip)]
        note = f"circle: queries with about these values (orange: tie order decides at least half of them); {where}."
    else:
        rows = _points(duel)
        n_boxes = sum(row["has_range"] for row in rows)
        shape = alt.condition("datum.is_open", alt.value("square"), alt.value("circle"))
        dots = base.mark_point(filled=True, opacity=1, size=34, stroke=BLACK, strokeWidth=0.5)
        tip = ["label:N", *(f"{name}:Q" for name in RANGES)]
        box = _box(n_boxes).encode(x("baseline_min"), y("system_min"), alt.X2("baseline_max"), alt.Y2("system_max"))
        layers = [box, diagonal, dots.encode(shape=shape, tooltip=tip)]
        queries = counted(n_boxes, "query", "queries")
        boxes = f"box: range over tie orders ({queries})" if n_boxes else "no order of ties moves a point"
        note = f"point: a query; {boxes}; orange and square: tie order decides who is better; {where}."
    n_open, n = int(duel.is_open.sum()), n_queries(len(duel.query_ids))
    pair = f"{short(duel.system)} against {short(duel.baseline)}"
    decided = f"tie order decides {f'{n_open:,}' if n_open else 'none'} of {n}"
    title = f"{pair} by {duel.measure.label}: {decided} ({p_text(duel.p_value)})"
    notes = [note, tested_by(comparison.design, len(comparison[duel.measure]))]
    return finished(layers, rows, height=330, title=title, notes=notes)


def _box(n_boxes: int) -> alt.Chart:
    """Return the marks of boxes: the more there are, the fainter, as they lie on each other."""
    n = max(1, n_boxes)
    colour = alt.condition("datum.is_open", alt.value(BAND), alt.value(SKY))
    edge = alt.condition("datum.is_open", alt.value("#9A6700"), alt.value("#2F7FB5"))
    boxes = alt.Chart().transform_filter("datum.has_range").encode(color=colour, stroke=edge)
    return boxes.mark_rect(fillOpacity=min(0.4, 1.2 / n), strokeWidth=0.7, strokeOpacity=max(0.12, min(0.8, 12 / n)))


def _points(duel: Duel) -> list[Row]:
    """Return a row for each query: both values with their ranges over tie orders."""
    is_open = duel.is_open
    has_range = (duel.highest - duel.lowest).max(axis=0) > NOISE
    ids = duel.query_ids.tolist()
    columns = np.stack([duel.values, duel.lowest, duel.highest], axis=1).reshape(len(RANGES), -1)
    return [
        {
            "query_id": str(ids[n]),
            "label": label,
            **dict(zip(RANGES, columns[:, n].tolist(), strict=True)),
            "has_range": bool(has_range[n]),
            "is_open": bool(is_open[n]),
        }
        for n, label in enumerate(labels(ids))
    ]


def _cells(duel: Duel, low: float, high: float) -> list[Row]:
    """Count queries on a grid; each cell is at the mean of its queries."""
    places = np.clip(((duel.values - low) / ((high - low) / CELLS)).astype(np.int64), 0, CELLS - 1)
    cell = places[1] * CELLS + places[0]
    rows: list[Row] = []
    for code in np.unique(cell).tolist():
        own = cell == code
        system, baseline = (float(values[own].mean()) for values in duel.values)
        share_open = float(duel.is_open[own].mean())
        rows.append(
            {
                "baseline": baseline,
                "system": system,
                "n_queries": int(own.sum()),
                "share_open": share_open,
                "is_open": share_open >= 0.5,
            }
        )
    return rows


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
    pair_name = f"{short(duel.system)} against {short(duel.baseline)}"
    level = 1 - comparison.design.confidence_level
    notes = [
        f"{pair_name}. Red: these {n_queries(n)} and the difference that was found.",
        f"Paired t test at {level:.2g}, not corrected, for queries that differ as these do.",
        "The power for the difference that was found says no more than its p value.",
    ]
    return finished(layers, _curves(planned, n, comparison), height=220, title=title, notes=notes)


def _label(power_of: float) -> str:
    return f"power {share_text(power_of)}"


def _curves(planned: Row, n: int, comparison: Comparison) -> list[Row]:
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
