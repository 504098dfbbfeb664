"""What a rule that breaks ties makes of each query, against how many of its documents tie."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt

from deadheat.figures.base import TIES, figure
from deadheat.figures.style import BLUE, Row, finished, n_queries, number, signed
from deadheat.figures.tie_tables import Ties, correlation, gathered, of_measure, r_text, rule_of, table_of
from deadheat.measures.notation import MeasureLike

HEIGHT = 210


@figure(TIES, place=10)
def tie_ratio(ties: Ties, measure: MeasureLike | None = None) -> alt.LayerChart:
    """Draw the difference between a rule that breaks ties and the exact value, against the share of tied documents.

    Parameters
    ----------
    ties : TieProfile, several by name, or the table `per_query()` of one
    measure : measure, optional
        By default the first.

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    FigureError
        The profile was made without qrels, or no query has a value.

    Examples
    --------
    >>> import polars as pl
    >>> columns = {"query_id": ["q1", "q2"], "measure": "RR", "tie_ratio": [0.0, 1.0], "largest_tie": [1, 2]}
    >>> values = {"exact": [1.0, 0.75], "traditional": [1.0, 0.5], "difference": [0.0, -0.25]}
    >>> chart = tie_ratio(pl.DataFrame(columns | values))
    >>> [(row["x"], row["y"]) for row in chart.data.values]
    [(0.0, 0.0), (1.0, -0.25)]
    """
    scale = alt.Scale(domain=[0, 1], nice=False, padding=6)
    axis = alt.Axis(format="%", grid=False)
    x = alt.X("x:Q", title="tie ratio: share of the documents that tie", scale=scale, axis=axis)
    return _against(ties, measure, "tie_ratio", "tie ratio", x)


@figure(TIES, place=20)
def largest_tie(ties: Ties, measure: MeasureLike | None = None) -> alt.LayerChart:
    """Draw the difference between a rule that breaks ties and the exact value, against the size of the largest tie.

    Parameters
    ----------
    ties : TieProfile, several by name, or the table `per_query()` of one
    measure : measure, optional
        By default the first.

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    FigureError
        The profile was made without qrels, or no query has a value.
    """
    table = table_of(ties)
    largest = max([int(one) for one in table["largest_tie"].to_list() if one is not None], default=1)
    scale = (
        alt.Scale(type="log", nice=False, padding=6) if largest > 50 else alt.Scale(zero=False, nice=True, padding=6)
    )
    axis = alt.Axis(format="d", tickMinStep=1, grid=False)
    title = "documents in the largest tie (1: none tie)" + (", log scale" if largest > 50 else "")
    return _against(
        ties, measure, "largest_tie", "size of the largest tie", alt.X("x:Q", title=title, scale=scale, axis=axis)
    )


def _against(ties: Ties, measure: MeasureLike | None, column: str, words: str, x: alt.X) -> alt.LayerChart:
    table = table_of(ties)
    of, own = of_measure(table, measure)
    held = [
        (one, two)
        for one, two in own.select(column, "difference").rows()
        if one is not None and two is not None and (column != "largest_tie" or one > 0)
    ]
    rows, is_grid = gathered(held)
    y = alt.Y(
        "y:Q", title=f"difference in {of} from exact, ties {rule_of(table)}", scale=alt.Scale(zero=True, nice=True)
    )
    found = correlation([one for one, _ in held], [abs(two) for _, two in held])
    undefined = " is undefined, as one of the two is the same everywhere" if math.isnan(found) else ""
    return finished(
        layers(rows, x, y),
        rows,
        height=HEIGHT,
        title=_finding(of, [two for _, two in held], found, words, rule_of(table)),
        notes=[
            f"point: a query{' (larger: more of them)' if len(rows) < len(held) else ''}.",
            f"r: of the {words} with the size of the difference{undefined}.",
            f"{len(held):,} queries are gathered on a grid." if is_grid else "",
        ],
    )


def layers(rows: Sequence[Row], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Return points whose size says how many queries there are, and a line at 0."""
    most = max((row["n_queries"] for row in rows), default=1)
    scale = alt.Scale(type="sqrt", domain=[1, max(2, most)], range=[28, 28 if most == 1 else 320])
    legend = None if most == 1 else alt.Legend(values=sorted({1, (most + 1) // 2, most}), format="d")
    size = alt.Size("n_queries:Q", title="queries", scale=scale, legend=legend)
    tip = [alt.Tooltip(one) for one in ("n_queries:Q", "x:Q", "y:Q")]
    return [
        alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color="#444", strokeWidth=0.8).encode(y="zero:Q"),
        alt.Chart()
        .mark_circle(color=BLUE, opacity=0.6, stroke="#00304d", strokeWidth=0.5)
        .encode(x, y, size=size, tooltip=tip),
    ]


def _finding(measure: str, differences: Sequence[float], r: float, words: str, rule: str) -> str:
    n = len(differences)
    moved = sum(abs(one) > 1e-12 for one in differences)
    if not moved:
        return f"Ties broken {rule}, give the exact {measure} on all of {n_queries(n)}"
    mean = sum(abs(one) for one in differences) / n
    return (
        f"Ties broken {rule}, change {measure} of {moved:,} of {n_queries(n)}, by {number(mean)} on average"
        f" ({signed(sum(differences) / n)} in the mean); {r_text(r)} with the {words}"
    )
