"""All pairs of systems in one matrix: differences and p values below the diagonal, reversals by ties above it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import altair as alt

from deadheat.comparison.comparison import Comparison
from deadheat.comparison.pairs import Pair
from deadheat.errors import FigureError
from deadheat.figures.base import figure
from deadheat.figures.draw_pairs import tested_by
from deadheat.figures.style import NOISE, Row, finished, labels, left_out, n_queries, p_text, short
from deadheat.figures.systems import measure_of, systems_of
from deadheat.measures.notation import MeasureLike

MOST = 40  # systems: cells of more would be dots
MOST_WITH_P = 8
MOST_WITH_NUMBERS = 16
MOST_COLUMNS = 24  # whose names do not overlap


@figure("comparison", place=40)
def matrix(comparison: Comparison, measure: MeasureLike | None = None) -> alt.LayerChart:
    """Draw the differences of all pairs, which are significant, and which a random tie-break reverses how often.

    Parameters
    ----------
    comparison : Comparison
        Of every pair, or against a baseline.
    measure : measure, optional
        By default the first.

    Returns
    -------
    altair.LayerChart
        The best system first.

    Raises
    ------
    FigureError
        No pair has a difference.

    Examples
    --------
    >>> from deadheat import compare
    >>> one, other = {"q1": {"a": 2, "b": 1}}, {"q1": {"a": 1, "b": 1}}
    >>> chart = matrix(compare({"q1": {"a": 1}}, {"one": one, "other": other}, "RR"))
    >>> [(row["system"], row["against"], row["difference"]) for row in chart.data.values]
    [('other', 'one', -0.25), ('one', 'other', 0.25)]
    """
    of = measure_of(comparison.evaluations, measure)
    ranked = [one.name for one in systems_of(comparison, of)]
    pairs = {
        frozenset((pair.system, pair.baseline)): pair for pair in comparison[of] if pair.difference == pair.difference
    }
    if not pairs:
        raise FigureError(f"no pair has a difference by {of.label}")
    kept = ranked[:MOST]
    named = dict(zip(kept, labels(kept), strict=True))
    rows = [
        row
        for better, worse in combinations(kept, 2)
        if frozenset((better, worse)) in pairs
        for row in _cells(pairs[frozenset((better, worse))], better, worse, named, higher=of.higher_is_better)
    ]
    if not rows:
        raise FigureError(f"no pair of the best {MOST} systems was compared by {of.label}")
    order = list(named.values())
    n_systems = len(order)
    size = max(11, min(46, 300 // n_systems))
    axis: dict[str, Any] = {"labelFontSize": 9 if size < 14 else 10, "domain": False, "ticks": False}
    across = alt.Axis(
        labelAngle=0 if n_systems <= 3 else -90, orient="top", labelLimit=110, labels=n_systems <= MOST_COLUMNS, **axis
    )
    x, y = (
        channel(field, type="nominal", sort=order, title=None, scale=alt.Scale(domain=order), axis=own)
        for channel, field, own in (
            (alt.X, "against_label", across),
            (alt.Y, "label", alt.Axis(labelLimit=130, **axis)),
        )
    )
    largest = max(row["advantage"] or 0.0 for row in rows) or 1.0
    layers = _layers(alt.Chart().encode(x, y), largest, n_systems, f"lead in {of.label}")
    notes = _notes(comparison, len(pairs), n_systems, len(ranked))
    title = _finding(list(pairs.values()), of.label)
    return finished(layers, rows, height=size * n_systems, title=title, notes=notes).resolve_scale(color="independent")


def _layers(base: alt.Chart, largest: float, n_systems: int, title: str) -> list[alt.Chart]:
    tip = ["label:N", "against_label:N", "difference:Q", "p_adjusted:Q", "flip_probability:Q"]
    of_advantages = _colour("advantage", title, largest, ["#EEF5FA", "#084B83"], "+.2~f")
    of_flips = _colour("flip_probability", "reversed by random ties", 0.5, ["#FFFFFF", "#6B6B6B"], ".0%")
    lower, upper = (base.transform_filter(f"datum.part == '{part}'") for part in ("advantage", "flip"))
    width = 0.5 if n_systems > MOST_WITH_NUMBERS else 1
    cells = [
        lower.mark_rect(stroke="white", strokeWidth=width).encode(color=of_advantages, tooltip=tip),
        upper.mark_rect(stroke="#ccc", strokeWidth=width).encode(color=of_flips, tooltip=tip),
    ]
    is_dark = f"datum.advantage > {0.5 * largest!r}"
    if n_systems > MOST_WITH_NUMBERS:
        dots = lower.transform_filter("datum.significant").mark_circle(size=7, opacity=1)
        return [*cells, dots.encode(color=alt.condition(is_dark, alt.value("white"), alt.value("black")))]
    size = 10 if n_systems <= MOST_WITH_P else 9 if n_systems <= 12 else 8
    for part, condition in ((lower, is_dark), (upper, "datum.flip_probability > 0.3")):
        colour = alt.condition(condition, alt.value("white"), alt.value("#111"))
        cells.append(
            part.mark_text(fontSize=size, lineBreak="\n", lineHeight=size + 2).encode(text="text:N", color=colour)
        )
    return cells


def _colour(field: str, title: str, largest: float, colours: list[str], form: str) -> alt.Color:
    legend = alt.Legend(
        format=form,
        values=[0, largest / 2, largest],
        orient="bottom",
        direction="horizontal",
        gradientLength=130,
        gradientThickness=9,
    )
    return alt.Color(
        f"{field}:Q", title=title, scale=alt.Scale(domain=[0, largest], range=colours, clamp=True), legend=legend
    )


def _cells(pair: Pair, better: str, worse: str, named: dict[str, str], *, higher: bool) -> list[Row]:
    """Return two cells of a pair: below the diagonal the lead of the column's system, above it the reversals."""
    difference = pair.difference if pair.system == worse else -pair.difference
    advantage = -difference if higher else difference
    size = _short(advantage) + ("*" if pair.significant else "")
    if len(named) <= MOST_WITH_P:
        size += f"\n{p_text(pair.p_adjusted).removeprefix('p ').removeprefix('= ').replace(' ', '').replace('0.', '.')}"
    shared: Row = {
        "p_adjusted": pair.p_adjusted,
        "significant": pair.significant,
        "flip_probability": pair.flip_probability,
    }
    flip = pair.flip_probability
    percent = f"{100 * flip:.0f}" if flip >= 0.01 else "<1" if flip > 0 else ""  # nothing where no order reverses
    ends = {"system": worse, "against": better, "label": named[worse], "against_label": named[better]}
    turned = {"system": better, "against": worse, "label": named[better], "against_label": named[worse]}
    return [
        {"part": "advantage", "difference": difference, "advantage": advantage, "text": size, **shared, **ends},
        {"part": "flip", "difference": -difference, "advantage": None, "text": percent, **shared, **turned},
    ]


def _short(value: float) -> str:
    """Return a number in few characters: .21, 3.40, -.02."""
    if abs(value) <= NOISE:
        return "0"
    text = f"{abs(value):.2f}".removeprefix("0") if abs(value) < 10 else f"{abs(value):.0f}"
    return f"-{text}" if value < 0 else text


def _finding(pairs: list[Pair], measure: str) -> str:
    n_significant = sum(pair.significant for pair in pairs)
    n_open = sum(pair.can_flip for pair in pairs)
    n = n_queries(*(pair.n_queries for pair in pairs))
    if len(pairs) == 1:
        one, found = pairs[0], "" if n_significant else "not "
        both = f"{short(one.system)} and {short(one.baseline)}"
        return (
            f"{both}: the difference in {measure} is {found}significant ({n});"
            f" tie order can{'' if n_open else 'not'} reverse it"
        )
    which = "all" if n_open == len(pairs) else f"{n_open:,}"
    return (
        f"{n_significant:,} of {len(pairs):,} differences in {measure} are significant ({n});"
        f" tie order can reverse {f'{which} of the {len(pairs):,}' if n_open else 'none'}"
    )


def _notes(comparison: Comparison, n_pairs: int, n_shown: int, n_systems: int) -> list[str]:
    marks = "a star: significant" if n_shown <= MOST_WITH_NUMBERS else "a dot: significant"
    second = " and its p value" if n_shown <= MOST_WITH_P else ""
    baseline = comparison.design.baseline
    return [
        f"Below the diagonal: how far the column's system leads the row's{second} ({marks}).",
        "Above it: probability, in percent, that random tie orders reverse the two.",
        tested_by(comparison.design, n_pairs),
        "" if baseline is None else f"Compared against {short(baseline)} only.",
        "The columns are in the order of the rows." if n_shown > MOST_COLUMNS else "",
        left_out(n_shown, n_systems),
    ]
