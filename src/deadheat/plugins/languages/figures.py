"""The figure of languages: a line of each system from language to language."""

import altair as alt

from deadheat.core.errors import FigureError
from deadheat.core.measures.notation import MeasureLike
from deadheat.plugins.figures.base import (
    figure,
    finished,
    format_number,
    left_out,
    measure_of,
    n_queries,
    name_among,
    series,
    short,
    unique_labels,
)
from deadheat.plugins.figures.draw_lines import MOST, lines
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
    of = name_among((one.measure for one in languages.across), measure)
    own = [one for one in languages.across if one.measure == of]
    if not own[0].n_queries:
        raise FigureError("no query has a value in all languages")
    kept = own[:MOST]
    names = unique_labels(one.system for one in kept)
    rows = [
        {"system": name, "language": language, "mean": mean}
        | dict(zip(("tie_min", "tie_max"), one.ties[language], strict=True))
        | {"n_queries": one.n_queries}
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
    sign = measure_of(next(iter(languages.evaluations.values())), of).sign
    return finished(
        [
            *lines(x, y, "system", names, ["mean", "tie_min", "tie_max", "n_queries"]),
            alt.Chart()
            .encode(x, color=series("system", names)[0])
            .mark_rule(strokeWidth=1.4)
            .encode(alt.Y("tie_min:Q"), alt.Y2("tie_max")),
        ],
        rows,
        height=250,
        title=_over_languages(max(own, key=lambda one: sign * one.mean)),
        notes=[
            "point: exact mean over tie orders; whisker: range over tie orders.",
            (
                "The queries are the same in each language:"
                " whether slopes differ by more than chance is in the table of gaps."
            ),
            left_out(len(kept), len(own), which="first"),
        ],
    )


def _over_languages(best: AcrossLanguages) -> str:
    """Say how far the system that is best on average goes from its best language to its worst."""
    n = n_queries(best.n_queries)
    if best.worst is None or best.best is None:
        return f"{short(best.system)} has the same {best.measure} in all {len(best.means)} languages ({n})"
    ends = (f"{format_number(best.means[language])} in {language}" for language in (best.best, best.worst))
    return f"{best.measure} of {short(best.system)}: from {' to '.join(ends)} ({n})"
