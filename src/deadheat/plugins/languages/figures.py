"""The figure of languages: a line of each system from language to language."""

import altair as alt

from deadheat.core.errors import FigureError
from deadheat.core.measures.notation import MeasureLike
from deadheat.plugins.figures.draw_lines import MOST, lines
from deadheat.plugins.figures.registration import figure
from deadheat.plugins.figures.style import finished, series
from deadheat.plugins.figures.systems import measure_of, name_among
from deadheat.plugins.figures.texts import format_number, left_out, n_queries, short, unique_labels
from deadheat.plugins.languages.across import Languages
from deadheat.plugins.languages.system_means import AcrossLanguages


@figure("languages", place=120)
def slopes(languages: Languages, measure: MeasureLike | None = None) -> alt.LayerChart:
    """Draw the mean of each system in each language, with a line from language to language.

    Parameters
    ----------
    languages : Languages
    measure : measure, optional
        By default the first.

    Returns
    -------
    altair.LayerChart
        Languages in the order in which they were given; whiskers are what tie orders can make of a mean.

    Raises
    ------
    FigureError
        There is no such measure, it is a total, or no query has a value in all languages.

    Examples
    --------
    >>> from deadheat import compare_languages, evaluate
    >>> english = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR")
    >>> french = evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, "RR")
    >>> chart = slopes(compare_languages({"en": english, "fr": french}))
    >>> [(row["language"], row["mean"], row["tie_min"]) for row in chart.data.values]
    [('en', 1.0, 1.0), ('fr', 0.75, 0.5)]
    """
    label = name_among((row.measure for row in languages.across), measure)
    systems = [row for row in languages.across if row.measure == label]
    if not systems[0].n_queries:
        raise FigureError("no query has a value in all languages")
    drawn = systems[:MOST]
    names = unique_labels(row.system for row in drawn)
    points = []
    for name, system in zip(names, drawn, strict=True):
        points += _points_of(name, system)
    x = alt.X(
        "language:N",
        sort=list(languages.languages),
        title=None,
        scale=alt.Scale(padding=0.3),
        axis=alt.Axis(labelAngle=0, grid=True),
    )
    y = alt.Y("mean:Q", title=f"{label}, mean over the same queries", scale=alt.Scale(zero=False))
    whiskers = alt.Chart().encode(x, color=series("system", names)[0]).mark_rule(strokeWidth=1.4)
    sign = measure_of(next(iter(languages.evaluations.values())), label).sign
    best = max(systems, key=lambda row: sign * row.mean)
    return finished(
        [
            *lines(x, y, "system", names, ["mean", "tie_min", "tie_max", "n_queries"]),
            whiskers.encode(alt.Y("tie_min:Q"), alt.Y2("tie_max")),
        ],
        points,
        height=250,
        title=_describe_range(best),
        notes=[
            "point: exact mean over tie orders; whisker: range over tie orders.",
            (
                "The queries are the same in each language:"
                " whether slopes differ by more than chance is in the table of gaps."
            ),
            left_out(len(drawn), len(systems), which="first"),
        ],
    )


def _points_of(name: str, system: AcrossLanguages) -> list[dict[str, str | float]]:
    """Return the mean of a system in each language, with what tie orders can make of it."""
    points: list[dict[str, str | float]] = []
    for language, mean in system.means.items():
        tie_min, tie_max = system.ties[language]
        points.append(
            {
                "system": name,
                "language": language,
                "mean": mean,
                "tie_min": tie_min,
                "tie_max": tie_max,
                "n_queries": system.n_queries,
            }
        )
    return points


def _describe_range(best: AcrossLanguages) -> str:
    """Say how far the system that is best on average goes from its best language to its worst."""
    queries = n_queries(best.n_queries)
    if best.worst is None or best.best is None:
        return f"{short(best.system)} has the same {best.measure} in all {len(best.means)} languages ({queries})"
    highest = f"{format_number(best.means[best.best])} in {best.best}"
    lowest = f"{format_number(best.means[best.worst])} in {best.worst}"
    return f"{best.measure} of {short(best.system)}: from {highest} to {lowest} ({queries})"
