"""The figure of what coarser scores cost."""

import altair as alt

from deadheat.core.errors import FigureError
from deadheat.core.measures.notation import MeasureLike
from deadheat.core.wording import BY_DOC_ID
from deadheat.plugins.figures.draw_lines import lines
from deadheat.plugins.figures.registration import figure
from deadheat.plugins.figures.style import BAND, BLACK, finished
from deadheat.plugins.figures.systems import measure_of, name_among
from deadheat.plugins.figures.texts import format_number, left_out, n_queries, short, unique_labels
from deadheat.plugins.ties.coarsening_profile import AS_GIVEN, CoarseningProfile

MOST_RUNS = 6
COLUMNS = ("scores", "value", "tie_min", "tie_max", "doc_id", "share_tied", "n_queries")


@figure("coarsening", place=130)
def coarsening(profile: CoarseningProfile, measure: MeasureLike | None = None) -> alt.LayerChart:
    """Draw the exact value of each run against how coarse its scores are, with the range over tie orders of one run.

    Parameters
    ----------
    profile : CoarseningProfile
    measure : measure, optional
        By default the first.

    Returns
    -------
    altair.LayerChart
        From the coarsest scores to those as given.

    Raises
    ------
    FigureError
        The profile has no such measure, or nothing but the scores as given.

    Examples
    --------
    >>> from deadheat import coarsening_profile
    >>> run = {"q": {"a": 0.9, "b": 0.8, "c": 0.1}}
    >>> chart = coarsening(coarsening_profile({"q": {"a": 1}}, run, "RR", levels=[2, 100]))
    >>> [(row["scores"], row["value"]) for row in chart.data.values]
    [('2 levels', 0.75), ('100 levels', 1.0), ('as given', 1.0)]
    """
    of = name_among((row.measure for row in profile.rows), measure)
    own = [row for row in profile.rows if row.measure == of]
    order = [*dict.fromkeys(row.scores for row in own if row.scores != AS_GIVEN), AS_GIVEN]
    if len(order) == 1:
        raise FigureError("the profile holds the scores as given alone: name levels, decimals or formats")
    sign = measure_of(profile.evaluations, of).sign
    given = sorted((row for row in own if row.scores == AS_GIVEN), key=lambda row: -sign * row.value)
    runs = [row.run for row in given][:MOST_RUNS]
    names = unique_labels(runs)
    kept = sorted(
        (row for row in own if row.run in runs), key=lambda row: (runs.index(row.run), order.index(row.scores))
    )
    rows = [{"run": names[runs.index(row.run)], **{name: getattr(row, name) for name in COLUMNS}} for row in kept]
    x = alt.X("scores:N", sort=order, title="scores", axis=alt.Axis(labelAngle=-40, grid=False))
    y = alt.Y("value:Q", title=f"{of}, mean over queries", scale=alt.Scale(zero=False))
    layers = lines(x, y, "run", names, ["value", "tie_min", "tie_max", "doc_id"])
    note = f"point: exact mean over tie orders; ranges over tie orders are drawn for one run, not for {len(runs)}."
    if len(runs) == 1:
        base = alt.Chart().encode(x)
        layers = [
            base.mark_area(color=BAND, opacity=0.75).encode(alt.Y("tie_min:Q"), alt.Y2("tie_max")),
            *layers,
            base.mark_tick(color=BLACK, thickness=2, width=11).encode(alt.Y("doc_id:Q")),
        ]
        note = f"point: exact mean over tie orders; band: range over tie orders; tick: ties {BY_DOC_ID}."
    first = next(row for row in kept if row.scores != AS_GIVEN)
    return finished(
        layers,
        rows,
        height=240,
        title=f"With {first.scores}, {of} of {short(runs[0])} changes by {format_number(first.value - first.original)},"
        f" and tie order alone moves it from {format_number(first.tie_min)} to {format_number(first.tie_max)}"
        f" ({n_queries(first.n_queries)})",
        notes=[note, left_out(len(runs), len(given), "runs")],
    )
