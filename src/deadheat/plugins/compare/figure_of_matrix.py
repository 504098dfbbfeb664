"""The figure of all pairs: a matrix of their differences, and how often random tie orders reverse them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import altair as alt

from deadheat.core.errors import FigureError
from deadheat.core.measures import Measure
from deadheat.core.measures.notation import MeasureLike, unit_of
from deadheat.core.wording import format_list, is_share_known
from deadheat.plugins.compare.comparison import Comparison
from deadheat.plugins.compare.figures_of_pairs import tested_by
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.figures.registration import figure
from deadheat.plugins.figures.style import Record, finished, tips
from deadheat.plugins.figures.systems import best_first, measure_of, refuse_two
from deadheat.plugins.figures.texts import left_out, n_queries, short, unique_labels

MOST_CELLS = 40  # systems in a matrix: cells of more would be dots
SMALL_LEAD = 0.05  # a lead that is not drawn darkest, even if there is no larger one
ON_DARK, ON_LIGHT = "#fefefe", "#010101"  # text of cells, whose colours are the same in each theme
MOST_WITH_P = 8
MOST_WITH_NUMBERS = 16
MOST_COLUMNS = 24  # whose names do not overlap
UNKNOWN_CELL = "?"


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
        There are fewer than three systems, or no pair has a difference.

    Examples
    --------
    >>> from deadheat import compare
    >>> runs = {"one": {"q1": {"a": 2, "b": 1}}, "other": {"q1": {"a": 1, "b": 1}}, "third": {"q1": {"b": 2, "a": 1}}}
    >>> chart = matrix(compare({"q1": {"a": 1}}, runs, "RR"))
    >>> [(row["system"], row["against"], row["difference"]) for row in chart.data.values][:2]
    [('other', 'one', -0.25), ('one', 'other', 0.25)]
    """
    of = measure_of(comparison.evaluations, measure)
    ranked = list(best_first(comparison, of))
    refuse_two(ranked)
    pairs = {}
    for pair in comparison[of]:
        if not math.isnan(pair.difference):
            pairs[frozenset((pair.system, pair.baseline))] = pair
    kept = ranked[:MOST_CELLS]
    label_of = dict(zip(kept, unique_labels(kept), strict=True))
    rows: list[Record] = []
    for better, worse in combinations(kept, 2):
        pair_of_both = pairs.get(frozenset((better, worse)))
        if pair_of_both is not None:
            rows += _pair_of_cells(pair_of_both, better, worse, label_of, higher=of.higher_is_better)
    if not rows:
        raise FigureError(f"no pair of the best {MOST_CELLS} systems has a difference by {of.label}")
    n_systems = len(kept)
    largest = max(SMALL_LEAD, *(row["advantage"] or 0.0 for row in rows))
    size = max(11, min(46, 300 // n_systems))
    chart = finished(
        _layers(_base(list(label_of.values()), size), largest, n_systems, f"lead in {of.label}{unit_of(of)}"),
        rows,
        height=size * n_systems,
        title=_title(of, list(pairs.values())),
        notes=_notes(comparison, rows, n_systems, n_ranked=len(ranked), n_pairs=len(pairs)),
    )
    return chart.resolve_scale(color="independent")


def _title(measure: Measure, pairs: Sequence[Pair]) -> str:
    """Say how many differences are significant, and how many tie order can reverse."""
    n_significant = sum(pair.significant for pair in pairs)
    n_open = sum(pair.can_flip is True for pair in pairs)
    reversed_by_ties = "tie order can reverse none"
    if not measure.knows_ties:
        reversed_by_ties = "what tie order can reverse is not known"
    elif n_open:
        reversed_by_ties = f"tie order can reverse {n_open:,} of the {len(pairs):,}"
    n = n_queries(*(pair.n_queries for pair in pairs))
    return (
        f"{n_significant:,} of {len(pairs):,} differences in {measure.label} are significant ({n}); {reversed_by_ties}"
    )


def _notes(comparison: Comparison, rows: Sequence[Record], n_systems: int, *, n_ranked: int, n_pairs: int) -> list[str]:
    """Say what the cells are, how differences were tested, and what is not shown; some notes may be empty."""
    p_value = ", and its p value" if n_systems <= MOST_WITH_P else ""
    empty = " (empty: 0)" if n_systems <= MOST_WITH_NUMBERS else ""
    notes = [
        f"Below the diagonal: how far the column's system leads the row's{p_value} (a star: significant).",
        f"Above it: probability, in percent{empty}, that random tie orders reverse the two.",
    ]
    if any(row["text"] == UNKNOWN_CELL for row in rows):
        notes.append("A question mark: that is not known.")
    notes.append(tested_by(comparison.design, n_pairs))
    if comparison.design.against:
        notes.append(f"Compared against {format_list(list(map(short, comparison.design.against)), ' and ')} only.")
    if n_systems > MOST_COLUMNS:
        notes.append("The columns are in the order of the rows.")
    notes.append(left_out(n_systems, n_ranked))
    return notes


def _base(labels: Sequence[str], size: int) -> alt.Chart:
    """Return a chart with a row and a column for each system, in cells of this size, without marks."""
    n_systems = len(labels)
    axis: dict[str, Any] = {"labelFontSize": 9 if size < 14 else 10, "domain": False, "ticks": False}
    across = alt.Axis(
        labelAngle=0 if n_systems <= 3 else -90, orient="top", labelLimit=100, labels=n_systems <= MOST_COLUMNS, **axis
    )
    down = alt.Axis(labelLimit=130, **axis)
    shared: dict[str, Any] = {"type": "nominal", "sort": labels, "title": None, "scale": alt.Scale(domain=labels)}
    return alt.Chart().encode(alt.X("against_label", axis=across, **shared), alt.Y("label", axis=down, **shared))


@dataclass(frozen=True)
class _Half:
    """How the cells on one side of the diagonal are drawn.

    Attributes
    ----------
    part : str
        Which rows they are.
    field : str
        The number that their colour shows.
    title : str
    most : float
        The number of the darkest cell.
    colours : tuple of str
        Of 0 and of that number.
    format : str
        Of the numbers in the legend.
    dark : float
        The share of that number from which text is white: where both have the same contrast, which is above 4.5.
    """

    part: str
    field: str
    title: str
    most: float
    colours: tuple[str, str]
    format: str
    dark: float


def _layers(base: alt.Chart, largest: float, n_systems: int, title: str) -> list[alt.Chart]:
    """Return the cells below the diagonal and those above it, each with their texts."""
    leads = _Half("advantage", "advantage", title, largest, ("#EEF5FA", "#084B83"), "+.2~f", 0.726)
    reversals = _Half("flip", "flip_probability", "reversed by random ties", 0.5, ("#FFFFFF", "#6B6B6B"), ".0%", 0.929)
    return [*_draw_half(base, leads, n_systems), *_draw_half(base, reversals, n_systems)]


def _draw_half(base: alt.Chart, half: _Half, n_systems: int) -> list[alt.Chart]:
    """Return the cells of one side of the diagonal, and their texts."""
    cells = base.transform_filter(f"datum.part == '{half.part}'")
    most = half.most
    colour = alt.Color(
        f"{half.field}:Q",
        title=half.title,
        scale=alt.Scale(domain=[0, most], range=list(half.colours), clamp=True, interpolate="rgb"),
        legend=alt.Legend(format=half.format, values=[0, most / 2, most], gradientLength=130, gradientThickness=9),
    )
    is_dark = f"datum.{half.field} > {half.dark * most!r}"
    colour_of_text = alt.ColorValue(**alt.condition(is_dark, alt.value(ON_DARK), alt.value(ON_LIGHT)))
    tooltip = tips("label:N", "against_label:N", "difference:Q", "p_adjusted:Q", "flip_probability:Q")
    size = 10 if n_systems <= MOST_WITH_P else 8
    text = cells.mark_text(fontSize=size, lineBreak="\n", lineHeight=size + 2)
    return [
        cells.mark_rect(stroke="#ccc", strokeWidth=0.5).encode(color=colour, tooltip=tooltip),
        text.encode(text="text:N", color=colour_of_text),
    ]


def _pair_of_cells(pair: Pair, better: str, worse: str, label_of: Mapping[str, str], *, higher: bool) -> list[Record]:
    """Return two cells of a pair: below the diagonal the lead of the column's system, above it the reversals."""
    difference = pair.difference if pair.system == worse else -pair.difference
    advantage = -difference if higher else difference
    n_systems = len(label_of)
    is_known = is_share_known(pair.flip_probability, pair.flip_standard_error)
    shared = {
        "p_adjusted": pair.p_adjusted,
        "significant": pair.significant,
        "flip_probability": pair.flip_probability if is_known else None,
    }
    return [
        {
            "part": "advantage",
            "difference": difference,
            "advantage": advantage,
            "text": _lead(pair, advantage, n_systems),
            **shared,
            "system": worse,
            "against": better,
            "label": label_of[worse],
            "against_label": label_of[better],
        },
        {
            "part": "flip",
            "difference": -difference,
            "advantage": None,
            "text": _percent(pair, has_room=n_systems <= MOST_WITH_NUMBERS),
            **shared,
            "system": better,
            "against": worse,
            "label": label_of[better],
            "against_label": label_of[worse],
        },
    ]


def _lead(pair: Pair, advantage: float, n_systems: int) -> str:
    """Return a lead with two decimals, a star if it is significant, and its p value: as much as there is room for."""
    text = ""
    if n_systems <= MOST_WITH_NUMBERS:
        text = f"{round(advantage, 2) + 0.0:.2f}"  # not -0.00
        if abs(advantage) < 0.995:
            text = text.replace("0.", ".", 1)
    if pair.significant:
        text += "*"
    if n_systems > MOST_WITH_P or not math.isfinite(pair.p_adjusted):
        return text
    if pair.p_adjusted < 0.001:
        return f"{text}\n<.001"
    return text + f"\n{pair.p_adjusted:.3f}".replace("0.", ".")


def _percent(pair: Pair, *, has_room: bool) -> str:
    """Return how often tie orders reverse a pair, in percent: nothing where none does, or where there is no room."""
    chance = pair.flip_probability
    if pair.can_flip and not is_share_known(chance, pair.flip_standard_error):
        return UNKNOWN_CELL
    if not has_room or not chance > 0:
        return ""
    return f"{100 * chance:.0f}" if chance >= 0.01 else "<1"
