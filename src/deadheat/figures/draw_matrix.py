"""All pairs of systems in one matrix: differences and p values below the diagonal, reversals by ties above it."""

from __future__ import annotations

import altair as alt

from deadheat.comparison.comparison import Comparison
from deadheat.comparison.pairs import Pair
from deadheat.errors import FigureError
from deadheat.figures.base import COMPARISON, figure
from deadheat.figures.duels import tested_by
from deadheat.figures.style import Row, finished, labels, n_queries, p_text, shown
from deadheat.figures.systems import measure_of, systems_of
from deadheat.measures.notation import MeasureLike

MOST = 40  # systems: cells of more would be dots
MOST_WITH_P = 8
MOST_WITH_NUMBERS = 16
MOST_COLUMNS = 24  # whose names do not overlap
ADVANTAGES = ["#EEF5FA", "#084B83"]
FLIPS = ["#FFFFFF", "#6B6B6B"]


@figure(COMPARISON, place=40)
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
        for high, one in enumerate(kept)
        for other in kept[high + 1 :]
        if (pair := pairs.get(frozenset((one, other)))) is not None
        for row in _cells(pair, one, other, named, len(kept), higher=of.higher_is_better)
    ]
    if not rows:
        raise FigureError(f"no pair of the best {MOST} systems was compared by {of.label}")
    order = list(named.values())
    size = max(11, min(46, 300 // len(order)))
    angle = 0 if len(order) <= 3 else -90
    font = 9 if size < 14 else 10
    x = alt.X(
        "against_label:N",
        sort=order,
        title=None,
        scale=alt.Scale(domain=order),
        axis=alt.Axis(
            labelAngle=angle,
            orient="top",
            labelFontSize=font,
            labelLimit=110,
            domain=False,
            ticks=False,
            labels=len(order) <= MOST_COLUMNS,
        ),
    )
    y = alt.Y(
        "label:N",
        sort=order,
        title=None,
        scale=alt.Scale(domain=order),
        axis=alt.Axis(labelFontSize=font, labelLimit=130, domain=False, ticks=False),
    )
    largest = max(0.0, *(row["advantage"] for row in rows if row["advantage"] is not None)) or 1.0
    layers = _layers(alt.Chart().encode(x, y), largest, len(order), f"lead in {of.label}")
    chart = finished(
        layers,
        rows,
        height=size * len(order),
        title=_finding(list(pairs.values()), of.label),
        notes=_notes(comparison, len(pairs), len(kept), len(ranked)),
    )
    return chart.resolve_scale(color="independent")


def _layers(base: alt.Chart, largest: float, n_systems: int, title: str) -> list[alt.Chart]:
    tip = [alt.Tooltip(f"{name}:{kind}") for name, kind in TIPS.items()]
    of_advantages = _colour("advantage", title, largest, ADVANTAGES, "+.2~f")
    of_flips = _colour("flip_probability", "reversed by random ties", 0.5, FLIPS, ".0%")
    lower, upper = (base.transform_filter(f"datum.part == '{part}'") for part in ("advantage", "flip"))
    width = 0.5 if n_systems > MOST_WITH_NUMBERS else 1
    layers = [
        lower.mark_rect(stroke="white", strokeWidth=width).encode(color=of_advantages, tooltip=tip),
        upper.mark_rect(stroke="#ccc", strokeWidth=width).encode(color=of_flips, tooltip=tip),
    ]
    if n_systems > MOST_WITH_NUMBERS:
        dots = lower.transform_filter("datum.significant").mark_circle(size=7, opacity=1)
        light = alt.condition(f"datum.advantage > {0.5 * largest!r}", alt.value("white"), alt.value("black"))
        return [*layers, dots.encode(color=light)]
    dark = ((lower, f"datum.advantage > {0.5 * largest!r}"), (upper, "datum.flip_probability > 0.3"))
    size = 10 if n_systems <= MOST_WITH_P else 9 if n_systems <= 12 else 8
    for part, is_dark in dark:
        colour = alt.condition(is_dark, alt.value("white"), alt.value("#111"))
        layers.append(
            part.mark_text(fontSize=size, lineBreak="\n", lineHeight=size + 2).encode(text="text:N", color=colour)
        )
    return layers


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


TIPS = {"label": "N", "against_label": "N", "difference": "Q", "p_adjusted": "Q", "flip_probability": "Q"}


def _cells(pair: Pair, better: str, worse: str, named: dict[str, str], n_systems: int, *, higher: bool) -> list[Row]:
    """Return two cells of a pair: below the diagonal the lead of the column's system, above it the reversals."""
    difference = pair.difference if pair.system == worse else -pair.difference
    advantage = -difference if higher else difference
    size = _short(advantage) + ("*" if pair.significant else "")
    if n_systems <= MOST_WITH_P:
        size += f"\n{p_text(pair.p_adjusted).removeprefix('p ').removeprefix('= ').replace(' ', '').replace('0.', '.')}"
    shared: Row = {
        "p_adjusted": pair.p_adjusted,
        "significant": pair.significant,
        "flip_probability": pair.flip_probability,
    }
    lower: Row = {
        "part": "advantage",
        "system": worse,
        "against": better,
        "difference": difference,
        "advantage": advantage,
    }
    upper: Row = {"part": "flip", "system": better, "against": worse, "difference": -difference, "advantage": None}
    ends = (
        {"label": named[worse], "against_label": named[better]},
        {"label": named[better], "against_label": named[worse]},
    )
    return [
        {**shared, **lower, **ends[0], "text": size},
        {**shared, **upper, **ends[1], "text": _percent(pair.flip_probability)},
    ]


def _short(value: float) -> str:
    """Return a number in few characters: .21, 3.40, -.02."""
    text = f"{abs(value):.2f}".removeprefix("0") if abs(value) < 10 else f"{abs(value):.0f}"
    return f"-{text}" if value < -1e-12 else "0" if abs(value) <= 1e-12 else text


def _percent(flip: float) -> str:
    """Return a probability as a short percentage; nothing where no order reverses, or there is nothing to reverse."""
    if not flip > 0:
        return ""
    return "<1" if flip < 0.01 else f"{100 * flip:.0f}"


def _finding(pairs: list[Pair], measure: str) -> str:
    n_significant = sum(pair.significant for pair in pairs)
    n_open = sum(pair.can_flip for pair in pairs)
    n = n_queries(*(pair.n_queries for pair in pairs))
    first = f"{n_significant:,} of {len(pairs):,} differences in {measure} are significant ({n})"
    if len(pairs) == 1:
        one = pairs[0]
        found = "" if one.significant else "not "
        first = (
            f"{shown(one.system)} and {shown(one.baseline)}: the difference in {measure} is {found}significant ({n})"
        )
        return f"{first}; tie order can{'' if n_open else 'not'} reverse it"
    which = "all" if n_open == len(pairs) else f"{n_open:,}"
    return f"{first}; tie order can reverse {f'{which} of the {len(pairs):,}' if n_open else 'none'}"


def _notes(comparison: Comparison, n_pairs: int, n_shown: int, n_systems: int) -> list[str]:
    marks = "a star: significant" if n_shown <= MOST_WITH_NUMBERS else "a dot: significant"
    second = " and its p value" if n_shown <= MOST_WITH_P else ""
    notes = [
        f"Below the diagonal: how far the column's system leads the row's{second} ({marks}).",
        "Above it: probability, in percent, that random tie orders reverse the two.",
        tested_by(comparison.design, n_pairs),
    ]
    if comparison.design.baseline is not None:
        notes.append(f"Compared against {shown(comparison.design.baseline)} only.")
    if n_shown > MOST_COLUMNS:
        notes.append("The columns are in the order of the rows.")
    if n_shown < n_systems:
        notes.append(f"The best {n_shown} of {n_systems:,} systems.")
    return notes
