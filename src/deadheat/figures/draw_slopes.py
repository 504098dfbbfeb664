"""Slopes: each system from language to language, over the queries that are the same in all."""

from __future__ import annotations

import altair as alt

from deadheat.comparison.languages import Across, Languages
from deadheat.errors import FigureError
from deadheat.figures.base import LANGUAGES, figure
from deadheat.figures.style import DASHES, SERIES, SHAPES, Row, finished, labels, n_queries, number, shown
from deadheat.measures import parse_measure
from deadheat.measures.notation import MeasureLike

MOST = 8
HEIGHT = 250


@figure(LANGUAGES, place=120)
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
    own = _of(languages, measure)
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
    return finished(
        _layers(list(languages.languages), names, own[0].measure),
        rows,
        height=HEIGHT,
        title=_finding(own),
        notes=_notes(len(kept), len(own)),
    )


def _of(languages: Languages, measure: MeasureLike | None) -> list[Across]:
    known = list(dict.fromkeys(one.measure for one in languages.across))
    wanted = (known or [""])[0] if measure is None else str(measure)
    if wanted not in known:
        same = [name for name in known if measure is not None and parse_measure(name) == parse_measure(measure)]
        if not same:
            raise FigureError(
                f"{wanted or 'nothing'} has no means of languages; there are {', '.join(known) or 'none'}"
            )
        (wanted,) = same
    own = [one for one in languages.across if one.measure == wanted]
    if not own[0].n_queries:
        raise FigureError("no query has a value in all languages")
    return own


def _layers(order: list[str], systems: list[str], of: str) -> list[alt.Chart]:
    x = alt.X(
        "language:N", sort=order, title=None, scale=alt.Scale(padding=0.3), axis=alt.Axis(labelAngle=0, grid=True)
    )
    y = alt.Y("mean:Q", title=f"{of}, mean over the same queries", scale=alt.Scale(zero=False))
    legend = alt.Legend(title=None, columns=2, symbolStrokeWidth=0) if len(systems) > 1 else None  # not dashed
    n = len(systems)
    colours, shapes, dashes = (alt.Scale(domain=systems, range=list(all_of[:n])) for all_of in (SERIES, SHAPES, DASHES))
    colour = alt.Color("system:N", sort=systems, scale=colours, legend=legend)
    shape = alt.Shape("system:N", sort=systems, scale=shapes, legend=legend)
    dash = alt.StrokeDash("system:N", sort=systems, scale=dashes, legend=legend)
    fields = ("system:N", "language:N", "mean:Q", "tie_min:Q", "tie_max:Q", "n_queries:Q")
    tip = [alt.Tooltip(one) for one in fields]
    base = alt.Chart()
    return [
        base.mark_line(strokeWidth=1.8).encode(x, y, color=colour, strokeDash=dash),
        base.mark_rule(strokeWidth=1.4).encode(x, alt.Y("tie_min:Q"), alt.Y2("tie_max:Q"), color=colour),
        base.mark_point(filled=True, size=46, opacity=1).encode(x, y, color=colour, shape=shape, tooltip=tip),
    ]


def _finding(own: list[Across]) -> str:
    """Say how far the system that is best on average goes from its best language to its worst."""
    best = max(own, key=lambda one: one.mean)
    n = n_queries(best.n_queries)
    if best.worst is None or best.best is None:
        return f"{shown(best.system)} has the same {best.measure} in all {len(best.means)} languages ({n})"
    ends = (f"{number(best.means[language])} in {language}" for language in (best.best, best.worst))
    return f"{best.measure} of {shown(best.system)}: from {' to '.join(ends)} ({n})"


def _notes(n_shown: int, n_systems: int) -> list[str]:
    more = f"The first {n_shown} of {n_systems} systems." if n_systems > n_shown else ""
    return [
        "point: exact mean over tie orders; whisker: range over tie orders.",
        "The queries are the same in each language: whether slopes differ by more than chance is in the table of gaps.",
        more,
    ]
