"""The figure of interpolated precision against recall."""

from collections.abc import Mapping
from typing import Any

import altair as alt

from deadheat.core.errors import FigureError
from deadheat.core.evaluation.intervals import IntervalOptions
from deadheat.plugins.figures.draw_lines import curve_rows, draw_with_bands
from deadheat.plugins.figures.registration import figure
from deadheat.plugins.figures.systems import Systems, named
from deadheat.plugins.figures.texts import format_number
from deadheat.plugins.more_measures.interpolated import IPrec, remember_together

LEVELS = tuple(n / 10 for n in range(11))
STEPS_A_SECOND = 300_000_000  # of the exact mean of interpolated precision
MOST_STEPS = 10 * STEPS_A_SECOND


@figure("systems", "comparison", measures="all", place=60)
def precision_recall(
    systems: Systems, *, options: Mapping[str, Any] | IntervalOptions | None = None, even_if_slow: bool = False
) -> alt.LayerChart:
    """Draw interpolated precision against recall, with the interval over queries and the range over tie orders.

    Parameters
    ----------
    systems : Evaluation, Comparison, or several evaluations
        Their ties count by the exact mean, whatever their policy.
    options : dict, optional
        Of the intervals, as for :meth:`Scores.interval`; by default those of the comparison.
    even_if_slow : bool, default False
        Whether to compute it where large ties make its exact means take more than some seconds.

    Returns
    -------
    altair.LayerChart
        At the eleven levels of recall; with more than two systems without bands; of more than eight, the best eight.

    Raises
    ------
    FigureError
        No system has a value, it would take long, or there are repeats or a judge.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> ev = evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": 1}}, "RR")
    >>> row, *_ = precision_recall(ev).data.values
    >>> row["recall"], row["mean"], row["tie_min"], row["tie_max"]
    (0.0, 0.75, 0.5, 1.0)
    """
    family = {level: IPrec(recall=level) for level in LEVELS}
    pairs = [(one, of.placements) for of in named(systems).values() for one in family.values()]
    steps = sum(one.n_steps(placements) for one, placements in pairs)
    if steps > MOST_STEPS and not even_if_slow:
        raise FigureError(
            f"interpolated precision of ties as large as these takes about {round(steps / STEPS_A_SECOND):,} seconds",
            python="even_if_slow=True computes it",
        )
    remember_together(pairs)
    rows, n_systems = curve_rows(systems, "recall", family, options)
    first = {row["recall"]: row["mean"] for row in rows if row["system"] == rows[0]["system"]}
    ends = " and ".join(f"{format_number(first[level])} at recall {level:g}" for level in (0.0, 0.5))
    x = alt.X("recall:Q", title="recall", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(grid=False))
    return draw_with_bands(
        rows, n_systems, x, "interpolated precision, mean over queries", finding=f"interpolated precision {ends}"
    )
