"""Slopes: each system from language to language, over the queries that are the same in all."""

from __future__ import annotations

import altair as alt

from deadheat.comparison.languages import Across, Languages
from deadheat.errors import FigureError
from deadheat.figures.base import figure
from deadheat.figures.style import NOT_DASHED, Row, finished, labels, left_out, n_queries, number, series, short
from deadheat.figures.systems import name_among
from deadheat.measures.notation import MeasureLike

MOST = 8


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
    of = name_among((one.measure for one in languages.across), measure)
    own = [one for one in languages.across if one.measure == of]
    if not own[0].n_queries:
        raise FigureError("no query has a value in all languages")
    kept = own[:MOST]
    names = labels(one.system for one in kept)
    rows: list[Row] = [
        {
            "system": name,
            "language": language,
            "mean": mean,
            "tie_min": one.ties[language][0],
            "tie_max": one.ties[language][1],
            "n_queries": one.n_queries,
        }
        for name, one in zip(names, kept, strict=True)
        for language, mean in one.means.items()
    ]
    x = alt.X(
        "language:N",
        sort=list(languages.languages),
        title=None,
        scale=alt.Scale(padding=0.3),
        axis=alt.Axis(labelAngle=0, grid=True),
    )
    y = alt.Y("mean:Q", title=f"{of}, mean over the same queries", scale=alt.Scale(zero=False))
    colour, shape, dash = series("system", names, NOT_DASHED)
    tip = ["system:N", "language:N", "mean:Q", "tie_min:Q", "tie_max:Q", "n_queries:Q"]
    base = alt.Chart().encode(x, color=colour)
    layers = [
        base.mark_line(strokeWidth=1.8).encode(y, strokeDash=dash),
        base.mark_rule(strokeWidth=1.4).encode(alt.Y("tie_min:Q"), alt.Y2("tie_max:Q")),
        base.mark_point(filled=True, size=46, opacity=1).encode(y, shape=shape, tooltip=tip),
    ]
    notes = [
        "point: exact mean over tie orders; whisker: range over tie orders.",
        "The queries are the same in each language: whether slopes differ by more than chance is in the table of gaps.",
        left_out(len(kept), len(own), which="first"),
    ]
    return finished(layers, rows, height=250, title=_finding(own), notes=notes)


def _finding(own: list[Across]) -> str:
    """Say how far the system that is best on average goes from its best language to its worst."""
    best = max(own, key=lambda one: one.mean)
    n = n_queries(best.n_queries)
    if best.worst is None or best.best is None:
        return f"{short(best.system)} has the same {best.measure} in all {len(best.means)} languages ({n})"
    ends = (f"{number(best.means[language])} in {language}" for language in (best.best, best.worst))
    return f"{best.measure} of {short(best.system)}: from {' to '.join(ends)} ({n})"
