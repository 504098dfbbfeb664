"""How the differences between a rule that breaks ties and the exact values are distributed over queries."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np

from deadheat.figures.base import TIES, figure
from deadheat.figures.style import BLUE, NOISE, ORANGE, Row, finished, n_queries, shown, signed
from deadheat.figures.tie_tables import Ties, of_measure, rule_of, table_of
from deadheat.measures.notation import MeasureLike

BINS = 12  # on each side of zero
HEIGHT = 190


@figure(TIES, place=30)
def tie_histogram(ties: Ties, measure: MeasureLike | None = None) -> alt.LayerChart:
    """Draw a histogram of the differences between a rule that breaks ties and the exact value.

    Parameters
    ----------
    ties : TieProfile, several by name, or the table `per_query()` of one
    measure : measure, optional
        By default the first.

    Returns
    -------
    altair.LayerChart
        Queries without a difference are a bar of their own.

    Raises
    ------
    FigureError
        The profile was made without qrels, or no query has a value.

    Examples
    --------
    >>> import polars as pl
    >>> columns = {"query_id": ["q1", "q2"], "measure": "RR", "tie_ratio": [0.0, 1.0], "largest_tie": [1, 2]}
    >>> values = {"exact": [1.0, 0.75], "traditional": [1.0, 0.5], "difference": [0.0, -0.25]}
    >>> chart = tie_histogram(pl.DataFrame(columns | values))
    >>> [(row["low"], row["high"], row["n_queries"]) for row in chart.data.values if row["n_queries"]]
    [(-0.25, -0.22916666666666666, 1), (0.0, 0.0, 1)]
    """
    table = table_of(ties)
    of, own = of_measure(table, measure)
    differences = own["difference"].to_numpy().astype(np.float64)
    rows = _bins(differences)
    width = 8 if len(rows) == 1 else 360 / len(rows) * 0.9
    x = alt.X(
        "middle:Q",
        title=f"difference in {of} from exact, ties {rule_of(table)}",
        scale=alt.Scale(nice=True, padding=10),
    )
    y = alt.Y("n_queries:Q", title="queries", axis=alt.Axis(format="d", tickMinStep=1))
    colour = alt.Color("kind:N", scale=alt.Scale(domain=["equal", "apart"], range=[ORANGE, BLUE]), legend=None)
    tip = [alt.Tooltip(one) for one in ("low:Q", "high:Q", "n_queries:Q")]
    bars = alt.Chart().mark_bar(width=width).encode(x, y, color=colour, tooltip=tip)
    text = (
        alt.Chart()
        .transform_filter("datum.n_queries > 0")
        .mark_text(dy=-6, fontSize=9, color="#222")
        .encode(x, y, text="n_queries:Q")
    )
    return finished(
        [bars, text],
        rows,
        height=HEIGHT,
        title=_finding(of, differences, own["query_id"].to_list(), rule_of(table)),
        notes=["number: queries; orange: those without a difference."],
    )


def _bins(differences: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[Row]:
    """Return bins of equal width on both sides of zero, and one of no width for those without a difference."""
    apart = np.abs(differences) > NOISE
    rows: list[Row] = [{"low": 0.0, "high": 0.0, "middle": 0.0, "n_queries": int((~apart).sum()), "kind": "equal"}]
    if not apart.any():
        return rows
    largest = float(np.abs(differences).max())
    width = largest / BINS
    code = np.clip(np.floor(differences / width), -BINS, BINS - 1).astype(np.int64)
    for n in range(-BINS, BINS):
        count = int((apart & (code == n)).sum())
        # half a bin away from zero, to leave room for the bar of no difference
        middle = (n + 0.5) * width + (0.5 if n >= 0 else -0.5) * width
        rows.append({"low": n * width, "high": (n + 1) * width, "middle": middle, "n_queries": count, "kind": "apart"})
    return sorted(rows, key=lambda row: row["middle"])


def _finding(
    measure: str, differences: np.ndarray[tuple[int], np.dtype[np.float64]], query_ids: Sequence[str], rule: str
) -> str:
    n = len(differences)
    moved = int((np.abs(differences) > NOISE).sum())
    if not moved:
        return f"Ties broken {rule}, give the exact {measure} on all of {n_queries(n)}"
    place = int(np.abs(differences).argmax())
    return (
        f"Ties broken {rule}, give another {measure} on {moved:,} of {n_queries(n)},"
        f" up to {signed(float(differences[place]))} ({shown(str(query_ids[place]))})"
    )
