"""Several figures of ties as one page."""

import altair as alt

from deadheat.figures.base import figure
from deadheat.figures.draw_rows import mean_tie_ratio, traditional
from deadheat.figures.draw_ties import (
    Ties,
    largest_tie,
    of_measure,
    rule_of,
    table_of,
    tie_correlation,
    tie_histogram,
    tie_ratio,
)
from deadheat.figures.style import CONFIG
from deadheat.measures.notation import MeasureLike
from deadheat.wording import counted


@figure("ties", measures="all", place=90)
def overview(ties: Ties, measure: MeasureLike | None = None, other: MeasureLike | None = None) -> alt.ConcatChart:
    """Draw what a rule that breaks ties changes as one page: of one run six figures, of several four.

    Parameters
    ----------
    ties : TieProfile, several by name, the table `per_query()` of one, or a Simulation
    measure, other : measure, optional
        By default the first two. Of one run, the differences by both against its ties, by the first as a histogram,
        and by both against each other. Of several, all is by the first: the means and the mean tie ratio of each run,
        and its differences against its ties and as a histogram.

    Returns
    -------
    altair.ConcatChart
        With a single measure three figures of one run.

    Raises
    ------
    FigureError
        A profile was made without qrels, or no query has a value.

    Examples
    --------
    >>> from deadheat import simulate_rerankers, simulate_scenarios
    >>> [len(overview(one).concat) for one in (simulate_scenarios(20), simulate_rerankers(20))]
    [6, 4]
    """
    table = table_of(ties)
    names, runs = table["measure"].unique(maintain_order=True), table["run"].unique()
    first, _ = of_measure(table, measure)
    charts: list[alt.LayerChart]
    if len(runs) > 1:
        charts = [
            traditional(table, first),
            mean_tie_ratio(table),
            tie_ratio(table, first),
            tie_histogram(table, first),
        ]
    else:
        charts = [tie_ratio(table, first), largest_tie(table, first), tie_histogram(table, first)]
        if other is not None or len(names) > 1:
            second = next(name for name in names if name != first) if other is None else other
            charts += [draw(table, second) for draw in (tie_ratio, largest_tie)]
            charts.append(tie_correlation(table, first, second))
    for chart in charts:
        chart.config = chart.autosize = alt.Undefined  # which a page alone may have
    page = alt.concat(*charts, columns=2 if len(runs) > 1 else 3).resolve_scale(
        color="independent", shape="independent", size="independent"
    )
    title = f"What ties broken {rule_of(table)}, change in {counted(len(runs), 'run')}"
    return page.properties(title=alt.TitleParams(text=[title]), description=title, config=alt.Config.from_dict(CONFIG))
