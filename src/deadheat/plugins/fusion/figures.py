"""The figure of a tuned fusion: the measure over what was tuned."""

import altair as alt

from deadheat.core.errors import FigureError
from deadheat.plugins.figures.registration import figure
from deadheat.plugins.figures.style import BAND, BLACK, BLUE, Record, finished, quantity, tips
from deadheat.plugins.figures.texts import short
from deadheat.plugins.fusion.tuned import TunedFusion


@figure("fusion", measures="all", place=140)
def tuning(found: TunedFusion) -> alt.LayerChart:
    """Draw the mean of a measure over the one parameter that was tuned, or the weight of one of two runs.

    Parameters
    ----------
    found : TunedFusion

    Returns
    -------
    altair.LayerChart
        With 95% intervals of each mean by itself; a line across at the value held out.

    Raises
    ------
    FigureError
        Settings differ in no number, or in several.

    Examples
    --------
    >>> from deadheat import tune_fusion
    >>> qrels = {f"q{n}": {"a": 1} for n in range(4)}
    >>> one, two = ({query: {"a": s, "b": 0.5} for query in qrels} for s in (1, 0))
    >>> chart = tuning(tune_fusion(qrels, {"one": one, "two": two}, "RR", "wsum", grid=3, folds=2))
    >>> [(row["position"], row["mean"]) for row in chart.data.values]
    [(0.0, 1.0), (0.5, 0.75), (1.0, 0.5)]
    """
    positions = found.positions()
    if positions is None or len(found.settings) < 2:
        raise FigureError("settings differ in no number, or in several: there is no curve")
    name, values = positions
    low, high = found.intervals
    rows: list[Record] = [
        {"position": value, "mean": float(mean), "low": float(bottom), "high": float(top)}
        for value, mean, bottom, top in zip(values, found.means, low, high, strict=True)
    ]
    label = found.measure.label
    held_out = found.held_out[found.measure].reported()
    x = quantity(alt.X, name, zero=False, nice=False, padding=6)
    y = quantity(alt.Y, f"{label}, mean over queries", zero=False)
    base = alt.Chart().encode(x("position"), tooltip=tips("position:Q", "mean:Q", "low:Q", "high:Q"))
    layers = [
        base.mark_area(color=BAND).encode(y("low"), alt.Y2("high")),
        base.mark_line(color=BLUE, strokeWidth=2).encode(y("mean")),
        base.mark_point(color=BLUE, filled=True, size=30).encode(y("mean")),
        alt.Chart().mark_rule(color=BLACK, strokeDash=[4, 3]).encode(alt.YDatum(held_out)),
    ]
    best = found.describe_setting(found.best)
    flatness = found.flatness
    is_flat = flatness is not None and flatness.is_flat
    title = (
        f"{label} is flat: {best} is not told apart from other settings" if is_flat else f"{label} is best by {best}"
    )
    return finished(
        layers,
        rows,
        height=240,
        title=f"{short(found.name)}: {title}",
        notes=[
            "band: 95% intervals of each mean by itself.",
            "dashed: the mean held out.",
        ],
    )
