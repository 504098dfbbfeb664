"""Pairs of systems: differences query by query, one against the other, and power."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from deadheat.core import stats
from deadheat.core.checks import check_choice
from deadheat.core.design import TUKEY, Design
from deadheat.core.errors import FigureError
from deadheat.core.evaluation.scores import Scores
from deadheat.core.measures import Measure
from deadheat.core.measures.notation import MeasureLike, unit_of
from deadheat.core.scalars import NOISE
from deadheat.core.wording import format_count, format_percentage
from deadheat.plugins.compare.comparison import Comparison
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.figures.registration import figure
from deadheat.plugins.figures.style import (
    BAND,
    BLACK,
    BLUE,
    CAP,
    GAIN,
    GREEN,
    LOSS,
    SKY,
    UNDECIDED,
    WHISKER,
    Record,
    finished,
    gathered,
    quantity,
    tips,
    zero_line,
)
from deadheat.plugins.figures.systems import best_first, measure_of, refuse_systems
from deadheat.plugins.figures.texts import (
    format_number,
    format_signed,
    n_queries,
    p_text,
    short,
    unique_labels,
)

MOST_NAMED = 40  # queries whose ids fit below the bars
MOST_BARS = 300
MOST_POINTS = 500
CELLS = (30, 30)  # of a grid, along each axis, for more queries than that
RANGES = ("system", "system_min", "system_max", "baseline", "baseline_min", "baseline_max")
POWERS = (0.5, 0.8, 0.95)
STEPS = 40  # points of a curve


def duel_of(
    comparison: Comparison, measure: MeasureLike | None, system: str | None, baseline: str | None
) -> tuple[Measure, pl.DataFrame, Pair]:
    """Return two systems query by query.

    Parameters
    ----------
    comparison : Comparison
    measure : measure, optional
        By default the first.
    system, baseline : str, optional
        By default the best system against the comparison's baseline (if it is that, the next one); without one, the
        best against the second.

    Returns
    -------
    measure : Measure
    queries : polars.DataFrame
        Those for which both have a value: query_id; the values of both and their ranges over tie orders (`RANGES`);
        difference, low and high: system minus baseline, and its range over tie orders, which are independent in two
        runs; is_open: whether the order of the ties decides who is better.
    pair : Pair
        With this system and this baseline, its difference, wins and losses; the p value is NaN if the comparison tested
        only the other direction, and the other numbers are as the comparison has them.

    Raises
    ------
    ParameterError
        There is no such system.
    FigureError
        The two were not compared, or have no query in common.
    """
    of = measure_of(comparison.evaluations, measure)
    for argument, name in (("system", system), ("baseline", baseline)):
        if name is not None:
            check_choice(argument, name, comparison.evaluations)
    system, baseline = _choose_two(comparison, of, system, baseline)
    pair = _find_pair(comparison, of, system, baseline)
    values_of_system = _values(comparison.evaluations[system][of], "system")
    values_of_baseline = _values(comparison.evaluations[baseline][of], "baseline")
    queries = (
        values_of_system.join(values_of_baseline, on="query_id", maintain_order="left")
        .with_columns(
            difference=pl.col("system") - pl.col("baseline"),
            low=pl.col("system_min") - pl.col("baseline_max"),
            high=pl.col("system_max") - pl.col("baseline_min"),
        )
        .with_columns(is_open=(pl.col("low") < -NOISE) & (pl.col("high") > NOISE))
    )
    if queries.is_empty():
        raise FigureError(f"{system} and {baseline} have no query in common for {of.label}")
    return comparison.evaluations[system][of].measure, queries, pair


def _choose_two(comparison: Comparison, measure: Measure, system: str | None, baseline: str | None) -> tuple[str, str]:
    """Return the system and the baseline, as `duel_of` chooses those that are not given."""
    ranked = list(best_first(comparison, measure))
    first_baseline = next(iter(comparison.design.against), None)
    if not baseline and first_baseline != system:
        baseline = first_baseline
    system = system or next((name for name in ranked if name != baseline), None)
    baseline = baseline or next((name for name in ranked if name != system), None)
    if system is None or baseline is None or system == baseline:
        raise FigureError(f"fewer than two systems have a value of {measure.label}")
    return system, baseline


def _find_pair(comparison: Comparison, measure: Measure, system: str, baseline: str) -> Pair:
    """Return the pair of two systems, seen from the first; raise `FigureError` if they were not compared."""
    for pair in comparison[measure]:
        if {pair.system, pair.baseline} == {system, baseline}:
            return pair if pair.system == system else _turn(pair, comparison.design)
    raise FigureError(
        f"{system} and {baseline} were not compared",
        hint="compare every pair, without a baseline, or against one of them",
    )


def _turn(pair: Pair, design: Design) -> Pair:
    """Return a pair seen from its baseline; a p value of one side says nothing of the other side, and becomes NaN."""
    return replace(
        pair,
        system=pair.baseline,
        baseline=pair.system,
        difference=-pair.difference,
        wins=pair.losses,
        losses=pair.wins,
        p_adjusted=pair.p_adjusted if design.alternative == "two-sided" else np.nan,
    )


def _values(scores: Scores, who: str) -> pl.DataFrame:
    """Return query_id, and the values of a system with their range over tie orders, of the queries that have one."""
    return pl.DataFrame(
        {
            "query_id": pl.Series(scores.query_ids.tolist(), dtype=pl.String),
            who: scores.values,
            f"{who}_min": scores.tie_min,
            f"{who}_max": scores.tie_max,
        }
    ).filter(pl.col(who).is_not_nan())


def tested_by(design: Design, n_pairs: int) -> str:
    """Say by which test p values were found, and what they were corrected for."""
    if design.test == TUKEY:
        return "p: Tukey's HSD test by randomization."
    corrected = f", {design.correction} over {n_pairs:,} pairs" if n_pairs > 1 and design.correction != "none" else ""
    sided = "" if design.alternative == "two-sided" else f", one-sided ({design.alternative})"
    return f"p: {design.test} test{sided}{corrected}."


@figure("comparison", place=20)
def differences(
    comparison: Comparison,
    measure: MeasureLike | None = None,
    *,
    system: str | None = None,
    baseline: str | None = None,
) -> alt.LayerChart:
    """Draw the differences of two systems query by query, sorted, with a line for what tie order can make of each.

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
    of, queries, pair = duel_of(comparison, measure, system, baseline)
    ordered = queries.sort("difference", "query_id", descending=[True, False])
    shown = _drop_equal(ordered)
    step = -(-shown.height // MOST_BARS)
    rows = _bars(shown, step, higher=of.higher_is_better)
    better = "up" if of.higher_is_better else "down"
    bar_is = f"bar: {short(pair.system)} - {short(pair.baseline)} (blue, {better}: the former is better)"
    notes = [f"{bar_is}; line: its range over tie orders."]
    n_open = int(queries["is_open"].sum())
    if n_open:
        notes[0] += f" Tie order decides who is better on {format_count(n_open, 'query', 'queries')}."
    n_left_out = ordered.height - shown.height
    if n_left_out:
        notes.append(f"{n_queries(n_left_out)} without any difference, in any order of the ties, are left out.")
    notes.append(tested_by(comparison.design, len(comparison[of])))
    return finished(
        _layers_of_differences(rows, shown.height, step, f"difference in {of.label}{unit_of(of)}"),
        rows,
        height=200,
        title=_who_is_better(of, queries, pair),
        notes=notes,
    )


def _drop_equal(queries: pl.DataFrame) -> pl.DataFrame:
    """Return the queries that differ in some order of ties, if there are many and most do not; else all."""
    differing = queries.filter((pl.col("low").abs() > NOISE) | (pl.col("high").abs() > NOISE))
    if queries.height > MOST_NAMED and 0 < differing.height <= queries.height / 2:
        return differing
    return queries


def _layers_of_differences(rows: Sequence[Record], n: int, step: int, title: str) -> list[alt.Chart]:
    """Return the marks of each bar, the range over tie orders behind it, and a line at 0.

    Parameters
    ----------
    rows : sequence of dict
    n : int
        How many queries they are of.
    step : int
        How many queries have one bar.
    title : str
        Of the vertical axis.
    """
    bar: dict[str, Any] = {"width": {"band": 0.6}}
    cap: dict[str, Any] = {"width": {"band": 0.9}}
    if len(rows) <= MOST_NAMED:
        axis = alt.Axis(labelAngle=-90, labelLimit=70, labelFontSize=9, ticks=False)
        x = alt.X("label:N", sort=[row["label"] for row in rows], title="query", axis=axis)
    else:
        sorted_queries = "queries, sorted by difference"
        if step > 1:
            sorted_queries += f" (a bar is the mean of up to {step})"
        x = alt.X("place:Q", title=sorted_queries, scale=alt.Scale(domain=[0, n], nice=False))
        bar = {"width": max(0.6, 250 / len(rows))}
        cap = {"width": max(0.9, 340 / len(rows))}
    y = quantity(alt.Y, title)
    base = alt.Chart().encode(x=x, tooltip=tips("label:N", "difference:Q", "low:Q", "high:Q", "n_queries:Q"))
    ranges = base.transform_filter("datum.high - datum.low > 1e-12")
    line = ranges.mark_rule(color=WHISKER, strokeWidth=1)
    end = ranges.mark_tick(color=CAP, opacity=1, thickness=1, **cap)
    signs = alt.Scale(domain=["better", "equal", "worse"], range=[GAIN, UNDECIDED, LOSS])
    return [
        line.encode(y("low"), alt.Y2("high")),
        base.mark_bar(**bar).encode(y("difference"), color=alt.Color("sign:N", scale=signs, legend=None)),
        end.encode(y("low")),
        end.encode(y("high")),
        zero_line(),
    ]


def _bars(queries: pl.DataFrame, step: int, *, higher: bool) -> list[Record]:
    """Return a row for each bar: of a query, or of neighbours in the sorted list."""
    bars = queries.group_by(pl.int_range(pl.len()) // step, maintain_order=True).agg(
        pl.col("query_id").first(), pl.col("difference", "low", "high").mean(), n_queries=pl.len()
    )
    names = unique_labels(bars["query_id"].to_list() if step == 1 else [])
    return [
        {
            **row,
            "label": names[n] if step == 1 else "",
            "query_id": row["query_id"] if row["n_queries"] == 1 else "",
            "place": n * step + row["n_queries"] / 2,
            "sign": _sign(row["difference"] if higher else -row["difference"]),
        }
        for n, row in enumerate(bars.drop("literal").to_dicts())
    ]


def _sign(lead: float) -> str:
    return "equal" if abs(lead) <= NOISE else "better" if lead > 0 else "worse"


def _who_is_better(of: Measure, queries: pl.DataFrame, pair: Pair) -> str:
    """Say who is better on how many queries, and by how much."""
    n, system, baseline = n_queries(queries.height), short(pair.system), short(pair.baseline)
    if not pair.wins and not pair.losses:
        return f"{system} and {baseline} have the same {of.label} on all of {n}"
    return (
        f"{system} is better than {baseline} on {pair.wins:,} of {n}, worse on {pair.losses:,}; mean difference"
        f" {format_signed(pair.difference)}{unit_of(of)} ({p_text(pair.p_adjusted)})"
    )


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
    of, queries, pair = duel_of(comparison, measure, system, baseline)
    is_share, n = of.range == (0.0, 1.0), queries.height
    ranges = queries.select(RANGES).to_numpy()
    low, high = (0.0, 1.0) if is_share else (float(ranges.min()), float(ranges.max()))
    low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
    limits: Record = {"domain": [low, high], "nice": not is_share, "zero": False}
    x = quantity(alt.X, f"{of.label} of {short(pair.baseline)}{unit_of(of)}", **limits)
    y = quantity(alt.Y, f"{of.label} of {short(pair.system)}{unit_of(of)}", **limits)
    diagonal = (
        alt.Chart(alt.InlineData(values=[{"x": low, "y": low}, {"x": high, "y": high}]))
        .mark_line(color="#555", strokeDash=[4, 3], strokeWidth=1)
        .encode(x("x"), y("y"))
    )
    base = alt.Chart().encode(
        x("baseline"),
        y("system"),
        color=alt.Color(
            "winner:N",
            scale=alt.Scale(domain=["system", "neither", "baseline"], range=[GAIN, UNDECIDED, LOSS]),
            legend=None,
        ),
    )
    where = f"{'above' if of.higher_is_better else 'below'} the dashed line, blue: {short(pair.system)} is better"
    if n > MOST_POINTS:
        cells = gathered(queries.select("system", "baseline", share_open="is_open"), CELLS)
        cells = cells.with_columns(is_open=pl.col("share_open") >= 0.5)
        rows = cells.with_columns(winner=_winner(higher=of.higher_is_better)).to_dicts()
        layers = [
            diagonal,
            base.mark_circle(opacity=0.75, stroke="white", strokeWidth=0.4).encode(
                size=alt.Size(
                    "n_queries:Q",
                    title="queries",
                    scale=alt.Scale(type="sqrt", domain=[0, max(row["n_queries"] for row in rows)], range=[0, 260]),
                    legend=alt.Legend(format="d", tickCount=3),
                ),
                tooltip=tips("n_queries:Q", "system:Q", "baseline:Q", "share_open:Q"),
            ),
        ]
        note = f"circle: queries with about these values (grey: tie order decides at least half of them); {where}."
    else:
        rows = _points(queries.with_columns(winner=_winner(higher=of.higher_is_better)))
        n_boxes = sum(row["has_range"] for row in rows)
        layers = [
            _box(n_boxes).encode(x("baseline_min"), y("system_min"), alt.X2("baseline_max"), alt.Y2("system_max")),
            diagonal,
            base.mark_point(filled=True, opacity=1, size=34, stroke=BLACK, strokeWidth=0.5).encode(
                shape=alt.ShapeValue(**alt.condition("datum.is_open", alt.value("square"), alt.value("circle"))),
                tooltip=tips("label:N", *(f"{name}:Q" for name in RANGES)),
            ),
        ]
        note = (
            f"point: a query; box: range over tie orders ({format_count(n_boxes, 'query', 'queries')}); grey and"
            f" square: tie order decides who is better; {where}."
        )
    n_open = int(queries["is_open"].sum())
    return finished(
        layers,
        rows,
        height=330,
        title=f"{short(pair.system)} against {short(pair.baseline)} by {of.label}: tie order decides"
        f" {f'{n_open:,}' if n_open else 'none'} of {n_queries(n)} ({p_text(pair.p_adjusted)})",
        notes=[note, tested_by(comparison.design, len(comparison[of]))],
    )


def _winner(*, higher: bool) -> pl.Expr:
    """Return who is better on a query in every order of the ties: "system", "baseline" or "neither"."""
    lead = (pl.col("system") - pl.col("baseline")) * (1 if higher else -1)
    decided = pl.when(lead > NOISE).then(pl.lit("system")).when(lead < -NOISE).then(pl.lit("baseline"))
    return pl.when("is_open").then(pl.lit("neither")).otherwise(decided.otherwise(pl.lit("neither")))


def _box(n_boxes: int) -> alt.Chart:
    """Return the marks of boxes: the more there are, the fainter, as they lie on each other."""
    n = max(1, n_boxes)
    colour = alt.ColorValue(**alt.condition("datum.is_open", alt.value(BAND), alt.value(SKY)))
    edge = alt.StrokeValue(**alt.condition("datum.is_open", alt.value("#9A6700"), alt.value("#2F7FB5")))
    return (
        alt.Chart()
        .transform_filter("datum.has_range")
        .encode(color=colour, stroke=edge)
        .mark_rect(fillOpacity=min(0.4, 1.2 / n), strokeWidth=0.7, strokeOpacity=max(0.12, min(0.8, 12 / n)))
    )


def _points(queries: pl.DataFrame) -> list[Record]:
    """Return a row for each query: both values with their ranges over tie orders."""
    return queries.select(
        "query_id",
        *RANGES,
        "is_open",
        "winner",
        label=pl.Series(unique_labels(queries["query_id"].to_list()), dtype=pl.String),
        has_range=pl.max_horizontal(pl.col(f"{who}_max") - pl.col(f"{who}_min") for who in ("system", "baseline"))
        > NOISE,
    ).to_dicts()


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
        There are fewer than two queries, the two systems differ by the same in all, or there are repeats.

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
    refuse_systems(comparison.evaluations)
    measured, _, turned = duel_of(comparison, measure, system, baseline)
    of = measured.label + unit_of(measured)
    both = {turned.system, turned.baseline}
    pair = next(pair for pair in comparison[measured] if {pair.system, pair.baseline} == both)
    planned = comparison.sample_sizes(pair=pair).row(0, named=True)
    if planned["detectable_difference"] is None:
        raise FigureError(
            f"{pair.system} and {pair.baseline} show no spread by {of} that a power could be worked out from:"
            f" {n_queries(pair.n_queries)}, all with the same difference"
        )
    difference = abs(pair.difference)
    n = pair.n_queries
    detectable = format_number(planned["detectable_difference"])
    title = f"{n_queries(n)} detect a difference of {detectable} in {of} with 80% power"
    needed = planned["n_needed"]
    if needed is not None:
        takes = "takes" if needed <= n else "would take"
        title += f"; the {format_number(difference)} that was found {takes} {needed:,}"
    return finished(
        _layers_of_power(n, difference, of),
        _curves(planned, n, comparison),
        height=220,
        title=title,
        notes=[
            f"{short(turned.system)} against {short(turned.baseline)}.",
            f"Straight lines: these {n_queries(n)} and the difference found.",
            f"Paired t test at {1 - comparison.design.confidence_level:.2g}, not corrected; queries vary as these do.",
            "The power for the difference that was found says no more than its p value.",
        ],
    )


def _layers_of_power(n: int, difference: float, measure: str) -> list[alt.Chart]:
    """Return a curve for each power, and lines at the number of queries and the difference that there are."""
    x = alt.X(
        "n_queries:Q",
        title="queries (log scale)",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(grid=False, labelOverlap="greedy", labelSeparation=8),
    )
    y = alt.Y(
        "detectable:Q",
        title=f"detectable difference in {measure} (log scale)",
        scale=alt.Scale(type="log", nice=True),
        axis=alt.Axis(tickCount=4, grid=False),
    )
    names = [f"power {format_percentage(power_of)}" for power_of in POWERS]
    colours = alt.Scale(domain=names, range=["#6FA8CF", BLUE, BLACK])
    dashes = alt.Scale(domain=names, range=[[2, 2], [1, 0], [6, 3]])
    curves = alt.Chart().encode(
        color=alt.Color("label:N", title=None, scale=colours),
        strokeDash=alt.StrokeDash("label:N", title=None, scale=dashes),
        tooltip=tips("n_queries:Q", "detectable:Q", "power:Q"),
    )
    row = {"n_queries": n, "detectable": difference, "text": f"these {n:,} queries", "difference": "found"}
    here = alt.Chart(alt.InlineData(values=[row]))
    layers = [
        curves.mark_line(strokeWidth=1.8).encode(x, y),
        here.mark_rule(color=GREEN, strokeWidth=1.2).encode(x),
    ]
    if difference > NOISE:  # a logarithm has no place for 0
        layers.append(here.mark_rule(color=GREEN, strokeWidth=1.2, strokeDash=[5, 3]).encode(y))
        dot = here.mark_point(filled=True, color=GREEN, size=50, shape="diamond", opacity=1)
        layers.append(dot.encode(x, y))
    return layers


def _curves(planned: Record, n: int, comparison: Comparison) -> list[Record]:
    """Return the points of the curves, with the number of queries that there are among them.

    With clusters the test takes these: of more queries there are more clusters, of the same size.
    """
    units = (planned["n_clusters"] or n) / n  # of a query
    std, needed = planned["std"] * units**0.5, planned["n_needed"]
    high = max(4 * n, 50, min(2 * (needed or 0), 1000 * n))
    grid = np.unique(np.append(np.geomspace(min(5, n), high, STEPS).round().astype(np.int64), n))
    design = comparison.design
    level: dict[str, Any] = {"confidence_level": design.confidence_level, "alternative": design.alternative}
    return [
        {
            "n_queries": int(size),
            "power": power_of,
            "label": f"power {format_percentage(power_of)}",
            "detectable": stats.detectable_difference(std, round(size * units), power=power_of, **level),
        }
        for power_of in POWERS
        for size in grid.tolist()
        if round(size * units) >= 2
    ]
