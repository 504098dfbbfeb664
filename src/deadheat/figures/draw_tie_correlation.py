"""Whether a rule that breaks ties is off by two measures on the same queries."""

from __future__ import annotations

import altair as alt
import polars as pl

from deadheat.errors import FigureError
from deadheat.figures.base import TIES, figure
from deadheat.figures.draw_tie_effect import layers
from deadheat.figures.style import finished, n_queries
from deadheat.figures.tie_tables import Ties, correlation, gathered, of_measure, r_text, rule_of, table_of
from deadheat.measures.notation import MeasureLike

HEIGHT = 260


@figure(TIES, measures="all", place=40)
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
    held = table["measure"].unique(maintain_order=True).to_list()
    if other is None and len(held) < 2:
        raise FigureError(f"a correlation is between two measures, and there is {', '.join(held) or 'none'}")
    first, one = of_measure(table, measure)
    second, two = of_measure(table, other if other is not None else next(name for name in held if name != first))
    both = one.select("run", "query_id", x="difference").join(
        two.select("run", "query_id", y="difference"), on=["run", "query_id"]
    )
    pairs = both.filter(pl.col("x").is_not_null() & pl.col("y").is_not_null()).select("x", "y").rows()
    if not pairs:
        raise FigureError(f"no query has a value of both {first} and {second}")
    rows, is_grid = gathered(pairs)
    x = alt.X("x:Q", title=f"difference in {first} from exact", scale=alt.Scale(zero=True, nice=True))
    y = alt.Y("y:Q", title=f"difference in {second} from exact", scale=alt.Scale(zero=True, nice=True))
    sizes = correlation([abs(left) for left, _ in pairs], [abs(right) for _, right in pairs])
    found = correlation([left for left, _ in pairs], [right for _, right in pairs])
    return finished(
        layers(rows, x, y),
        rows,
        height=HEIGHT,
        title=f"What ties broken {rule_of(table)}, change in {first} and in {second}: {r_text(found)}"
        f" ({n_queries(len(pairs))})",
        notes=[
            f"point: a query{' (larger: more of them)' if len(rows) < len(pairs) else ''}."
            + (f" Of the sizes of the differences {r_text(sizes)}." if sizes == sizes else ""),  # noqa: PLR0124 - not NaN
            f"{len(pairs):,} queries are gathered on a grid." if is_grid else "",
        ],
    )
