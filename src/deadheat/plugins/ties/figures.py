"""Figures of what a rule that breaks ties changes in each query, the mean tie ratio of runs, and all on one page."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import altair as alt
import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray
from deadheat.core.errors import FigureError
from deadheat.core.measures.notation import MeasureLike, measure_named, unit_of
from deadheat.core.scalars import NOISE
from deadheat.core.wording import BROKEN_BY, format_count, format_percentage
from deadheat.plugins.figures.draw_rows import MOST, traditional
from deadheat.plugins.figures.registration import figure
from deadheat.plugins.figures.style import (
    BLUE,
    CONFIG,
    ORANGE,
    SERIES,
    Record,
    finished,
    gathered,
    quantity,
    row_axis,
    row_height,
    series,
    tips,
    zero_line,
)
from deadheat.plugins.figures.systems import name_among, several_by_name
from deadheat.plugins.figures.texts import format_number, format_signed, left_out, n_queries, short, unique_labels
from deadheat.plugins.ties.profile import TieProfile
from deadheat.plugins.ties.rerankers import Simulation
from deadheat.plugins.ties.stability import Correlation, correlate

Ties: TypeAlias = (
    TieProfile | Simulation | pl.DataFrame | Mapping[str, TieProfile | pl.DataFrame] | Sequence[TieProfile]
)
"""The ties of one run by :func:`deadheat.tie_profile`, or of several by name; their table, `per_query()`; simulated."""

NEEDED = ("query_id", "measure", "tie_ratio", "largest_tie", "exact", "traditional", "difference")
MOST_POINTS = 500
CELLS = (44, 30)  # of a grid, for more points than that
BINS = 12  # of the histogram on each side of zero


@figure("ties", place=10)
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
    x = quantity(alt.X, "tie ratio: share of the documents that tie", alt.Axis(format="%", grid=False), domain=[0, 1])
    return _against(table_of(ties), measure, "tie_ratio", "tie ratio", x("x"))


@figure("ties", place=20)
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
    table = table_of(ties).filter(pl.col("largest_tie") > 0)
    is_log = bool((table["largest_tie"] > 50).any())
    x = quantity(
        alt.X,
        "documents in the largest tie (1: none tie)" + (", log scale" if is_log else ""),
        alt.Axis(format="d", tickMinStep=1, grid=False),
        type="log" if is_log else "linear",
        zero=False,
        nice=not is_log,
        padding=6,
    )
    return _against(table, measure, "largest_tie", "size of the largest tie", x("x"))


def _against(table: pl.DataFrame, measure: MeasureLike | None, column: str, words: str, x: alt.X) -> alt.LayerChart:
    """Draw the differences against a column."""
    of, own = of_measure(table, measure)
    own = own.drop_nulls([column, "difference"])
    differences = own["difference"].to_numpy()
    sizes = np.abs(differences)
    found = correlate(own[column].to_numpy().astype(np.float64), sizes, (f"the {words}", "the size of the difference"))
    rule, n_moved, cases = rule_of(table), int((sizes > NOISE).sum()), _cases(own)
    title = f"Ties broken {rule}, give the exact {of} on all of {cases}"
    if n_moved:
        title = (
            f"Ties broken {rule}, change {of} of {n_moved:,} of {cases}, by {format_number(sizes.mean())}{unit_of(of)}"
            f" on average ({format_signed(differences.mean())} in the mean); {r_text(found)} with the {words}"
        )
    return _points(
        own.select("run", x=column, y="difference"),
        x,
        quantity(alt.Y, f"difference in {of}{unit_of(of)} from exact", zero=True)("y"),
        height=210,
        title=title,
        note=f"r: of the {words} with the size of the difference"
        + (f": {found.undefined}." if found.undefined else "."),
    )


@figure("ties", measures="all", place=40)
def tie_correlation(ties: Ties, measure: MeasureLike | None = None, other: MeasureLike | None = None) -> alt.LayerChart:
    """Draw the difference between a rule that breaks ties and the exact value by one measure against that by another.

    Parameters
    ----------
    ties : TieProfile, several by name, or the table `per_query()` of one
    measure, other : measure, optional
        By default the first two.

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    FigureError
        There is only one measure, or no query has a value by both.
    """
    table = table_of(ties)
    first, one = of_measure(table, measure)
    others = [name for name in table["measure"].unique(maintain_order=True) if name != first]
    if other is None and not others:
        raise FigureError(f"a correlation is between two measures, and there is {first}")
    second, two = of_measure(table, others[0] if other is None else other)
    pairs = (
        one.select("run", "query_id", x="difference")
        .join(two.select("run", "query_id", y="difference"), on=["run", "query_id"])
        .select("run", "x", "y")
        .drop_nulls()
    )
    if pairs.is_empty():
        raise FigureError(f"no query has a value of both {first} and {second}")
    names = (f"the change of {first}", f"the change of {second}")
    points = pairs.select("x", "y").to_numpy()
    found, of_sizes = (correlate(one, two, names) for one, two in (points.T, np.abs(points.T)))
    return _points(
        pairs,
        quantity(alt.X, f"difference in {first}{unit_of(first)} from exact", zero=True)("x"),
        quantity(alt.Y, f"difference in {second}{unit_of(second)} from exact", zero=True)("y"),
        height=260,
        title=f"What ties broken {rule_of(table)}, change in {first} and {second}: {r_text(found)} ({_cases(pairs)})",
        note=f"Of the sizes of the differences {r_text(of_sizes)}.",
    )


def _cases(rows: pl.DataFrame) -> str:
    """Say how many cases there are: queries of one run, or of several."""
    return n_queries(rows.height) if rows["run"].n_unique() == 1 else f"{rows.height:,} pairs of query and run"


def _points(points: pl.DataFrame, x: alt.X, y: alt.Y, *, height: int, title: str, note: str) -> alt.LayerChart:
    """Draw a point for each query, larger where several are, in the colour of its run; many are gathered on a grid."""
    points, runs = _runs_of(points)
    by, is_grid = ["run"] if runs else [], points.n_unique() > MOST_POINTS
    rows = gathered(points.select("x", "y", *by), CELLS if is_grid else None, by).to_dicts()
    most = max((row["n_queries"] for row in rows), default=1)
    return finished(
        [
            zero_line(),
            alt.Chart()
            .mark_circle(color=BLUE, opacity=0.6, stroke="#00304d", strokeWidth=0.5)
            .encode(
                x,
                y,
                size=alt.Size(
                    "n_queries:Q",
                    title="queries",
                    scale=alt.Scale(type="sqrt", domain=[1, max(2, most)], range=[28, 28 if most == 1 else 320]),
                    legend=None if most == 1 else alt.Legend(values=sorted({1, (most + 1) // 2, most}), format="d"),
                ),
                tooltip=tips("n_queries:Q", "x:Q", "y:Q"),
                **_colour_of(runs),
            ),
        ],
        rows,
        height=height,
        title=title,
        notes=[
            "point: a query (larger: more of them).",
            note,
            f"The points are gathered on a grid, as there are {points.height:,}." if is_grid else "",
        ],
    )


def _runs_of(table: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return a table with labels of its runs, and these where colours tell them apart: of one run, or many, none."""
    runs = table["run"].unique(maintain_order=True).to_list()
    if not 1 < len(runs) <= len(SERIES):
        return table, []
    names = unique_labels(runs)
    return table.with_columns(run=pl.col("run").replace_strict(runs, names)), names


def _colour_of(runs: Sequence[str]) -> dict[str, alt.Color]:
    """Return the channel of the colours of runs; of none nothing."""
    return {"color": series("run", runs)[0]} if runs else {}


@figure("ties", place=30)
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
    own, runs = _runs_of(own.drop_nulls("difference"))
    differences = own["difference"].to_numpy().astype(np.float64)
    most = float(np.abs(differences).max(initial=0.0))
    width = most / BINS if most > NOISE else 0.0
    rows = [
        {"run": part["run"][0], **row}
        for part in (own.partition_by("run", maintain_order=True) if runs else [own])
        for row in _bins(part["difference"].to_numpy().astype(np.float64), width)
    ]
    rule = rule_of(table)
    colour = alt.Color("kind:N", scale=alt.Scale(domain=["equal", "apart"], range=[ORANGE, BLUE]), legend=None)
    base = alt.Chart().encode(
        alt.X(
            "middle:Q",
            title=f"difference in {of}{unit_of(of)} from exact, ties {rule}",
            scale=alt.Scale(nice=True, padding=10),
        ),
        alt.Y("sum(n_queries):Q", title="queries", axis=alt.Axis(format="d", tickMinStep=1)),
    )
    n_bins = len({row["middle"] for row in rows})
    n_moved = int((np.abs(differences) > NOISE).sum())
    title = f"Ties broken {rule}, give the exact {of} on all of {_cases(own)}"
    if n_moved:
        most = int(np.abs(differences).argmax())
        title = (
            f"Ties broken {rule}, give another {of} on {n_moved:,} of {_cases(own)},"
            f" up to {format_signed(float(differences[most]))}{unit_of(of)} ({short(str(own['query_id'][most]))})"
        )
    return finished(
        [
            base.mark_bar(width=8 if n_bins == 1 else 360 / n_bins * 0.9).encode(
                tooltip=tips("low:Q", "high:Q", "n_queries:Q"), **({"color": colour} | _colour_of(runs))
            ),
            base.transform_filter("datum.n_queries > 0")
            .mark_text(dy=-6, fontSize=9, color="#222")
            .encode(text="sum(n_queries):Q"),
        ],
        rows,
        height=190,
        title=title,
        notes=[f"number: queries; {'at 0' if runs else 'orange'}: those without a difference."],
    )


def _bins(differences: FloatArray, width: float) -> list[Record]:
    """Return bins of a width on both sides of zero, none if it is 0, and one for queries without a difference."""
    apart = differences[np.abs(differences) > NOISE]
    rows: list[Record] = [
        {"low": 0.0, "high": 0.0, "middle": 0.0, "n_queries": len(differences) - len(apart), "kind": "equal"}
    ]
    if width:
        codes = np.clip(np.floor(apart / width), -BINS, BINS - 1).astype(np.int64) + BINS
        rows += [  # half a bin away from zero, to leave room for the bar of no difference
            {"low": n * width, "high": (n + 1) * width, "middle": (n + (n >= 0)) * width}
            | {"n_queries": count, "kind": "apart"}
            for n, count in enumerate(np.bincount(codes, minlength=2 * BINS).tolist(), -BINS)
        ]
    return sorted(rows, key=lambda row: row["middle"])


def table_of(ties: Ties) -> pl.DataFrame:
    """Return one table of all runs, with a column `run`.

    Raises
    ------
    FigureError
        A profile was made without qrels.
    """
    ties = ties.profiles if isinstance(ties, Simulation) else ties
    if isinstance(ties, pl.DataFrame) and "run" in ties.columns:
        named: dict[str, TieProfile | pl.DataFrame] = {"": ties}
    else:
        named = several_by_name("ties", ties, (TieProfile, pl.DataFrame), "a TieProfile, or several by name")
    frames = []
    for name, one in named.items():
        table = one if isinstance(one, pl.DataFrame) else one.per_query()
        if lacking := [column for column in NEEDED if column not in table.columns]:
            raise FigureError(
                f"nothing is known of what the ties of {name or 'runs'} decide: no {', '.join(lacking)}",
                hint="give tie_profile() the qrels too; of a table, take that of per_query()",
            )
        frames.append(table.with_columns(run=pl.lit(name)) if name else table)
    return pl.concat(frames, how="diagonal")


def of_measure(table: pl.DataFrame, measure: MeasureLike | None) -> tuple[str, pl.DataFrame]:
    """Return the notation of a measure, the first by default, and its rows that have a value."""
    name = name_among(table["measure"].unique(maintain_order=True), measure)
    rows = table.filter(measure=name).drop_nulls(["exact", "traditional"])
    if not len(rows):
        raise FigureError(f"no query has a value of {name}")
    return name, rows


def rule_of(table: pl.DataFrame) -> str:
    """Return how ties are broken, in words."""
    rules = table["rule"].unique().to_list() if "rule" in table.columns else []
    return BROKEN_BY.get(rules[0], str(rules[0])) if len(rules) == 1 else "by a rule"


def r_text(found: Correlation) -> str:
    """Return a correlation for a sentence."""
    return "no r" if found.value is None else f"r = {found.value:.2f}"


@figure("ties", measures="all", place=45)
def mean_tie_ratio(ties: Ties) -> alt.LayerChart:
    """Draw the share of a query's documents that tie, its mean over queries, as a bar for each run.

    Parameters
    ----------
    ties : TieProfile, several by name, the table `per_query()` of one, or a Simulation

    Returns
    -------
    altair.LayerChart
        In the order of the runs.

    Raises
    ------
    FigureError
        A profile was made without qrels.

    Examples
    --------
    >>> from deadheat import simulate_rerankers
    >>> chart = mean_tie_ratio(simulate_rerankers(50, ["low", "very-high"]))
    >>> [(row["run"], round(row["ratio"], 2)) for row in chart.data.values]
    [('low', 0.65), ('very-high', 0.98)]
    """
    queries = table_of(ties).unique(["run", "query_id"], maintain_order=True).drop_nulls("tie_ratio")
    found = (
        queries.group_by("run", maintain_order=True)
        .agg(ratio=pl.col("tie_ratio").mean(), n_queries=pl.len())
        .to_dicts()
    )
    order = unique_labels(row["run"] for row in found[:MOST])
    rows = [
        {"label": label, **row, "text": format_percentage(row["ratio"])}
        for label, row in zip(order, found[:MOST], strict=True)
    ]
    base = alt.Chart().encode(row_axis(order), tooltip=tips("label:N", "ratio:Q", "n_queries:Q"))
    x = quantity(alt.X, "share of a query's documents that tie, mean", alt.Axis(format="%"), domain=[0, 1])("ratio")
    ends = sorted(found, key=lambda row: row["ratio"])
    told = [f"{format_percentage(row['ratio'])} in {short(row['run'])}" for row in (ends[0], ends[-1])]
    return finished(
        [base.mark_bar(color=ORANGE).encode(x), base.mark_text(align="left", dx=4).encode(x, text="text:N")],
        rows,
        height=row_height(len(rows)) * len(rows),
        title=f"Of a query's documents tie {', '.join(dict.fromkeys(told))}"
        f" (mean over {n_queries(*(row['n_queries'] for row in found))})",
        notes=[left_out(len(rows), len(found), "runs", "first")],
    )


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
            charts += [tie_ratio(table, second), largest_tie(table, second), tie_correlation(table, first, second)]
    for chart in charts:
        chart.config = chart.autosize = alt.Undefined  # which a page alone may have
    page = alt.concat(*charts, columns=2 if len(runs) > 1 else 3).resolve_scale(
        color="independent", shape="independent", size="independent"
    )
    title = f"What ties broken {rule_of(table)}, change in {format_count(len(runs), 'run')}"
    return page.properties(title=alt.TitleParams(text=[title]), description=title, config=alt.Config.from_dict(CONFIG))


def means_by_rule(ties: Ties, measure: MeasureLike | None) -> tuple[str, list[Record], str]:
    """Return what the figure `traditional` shows of ties: a measure, a row for each run, best first, and the rule.

    Parameters
    ----------
    ties : TieProfile, several by name, the table `per_query()` of one, or a Simulation
    measure : measure, optional
        By default the first.
    """
    table = table_of(ties)
    of, own = of_measure(table, measure)
    return of, _means_of_runs(own, of), rule_of(table)


def _means_of_runs(own: pl.DataFrame, measure: str) -> list[Record]:
    means = [pl.col(name).mean() for name in ("exact", "traditional", "tie_min", "tie_max") if name in own.columns]
    ends = [one.exp() for one in means] if unit_of(measure) else means
    rows = own.group_by("run", maintain_order=True).agg(*ends, n_queries=pl.len()).rename({"run": "system"}).to_dicts()
    known = measure_named(measure)  # none of a caller's own
    return sorted(rows, key=lambda row: row["exact"], reverse=known is None or known.higher_is_better)
