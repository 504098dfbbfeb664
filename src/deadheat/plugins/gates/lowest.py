"""The queries that pull a value down: those named behind a failure."""

import math

import numpy as np

from deadheat.core.arrays import FloatArray, TextArray
from deadheat.core.scalars import NOISE
from deadheat.core.wording import format_for_people

MOST_QUERIES = 3  # named


def lowest(
    query_ids: TextArray,
    values: FloatArray,
    what: str = "lowest",
    *,
    below: float = math.inf,
    weights: FloatArray | None = None,
    unit: str = "",
) -> str:
    """Return the queries with the lowest values, and how many more have that of the last one named.

    Parameters
    ----------
    query_ids : ndarray of str, shape (n_queries,)
    values : ndarray of float, shape (n_queries,)
        NaN where a query has none.
    what : {"lowest", "highest", "losses"}
        "highest": `values` are those of the queries with the other sign, which the text turns back. "losses": they are
        differences from a baseline, higher being better.
    below : float
        Only values below this are named: the others pull nothing down.
    weights : ndarray of float, shape (n_queries,), optional
        The queries are then those that pull furthest below `below`.
    unit : str, default ""
        What follows "losses".

    Examples
    --------
    >>> ids = np.array(["q1", "q2", "q3", "q4", "q5"])
    >>> lowest(ids, np.array([0.5, 0.0, 1.0, 0.0, 1 / 3]))
    'lowest: q2 0.00, q4 0.00, q5 0.33'
    >>> lowest(ids, np.array([0.0, 0.0, 0.0, 0.0, 1.0]))
    'lowest: q1 0.00, q2 0.00, q3 0.00 and 1 more of 0.00'
    >>> lowest(ids, np.array([-0.5, 0.0, 0.1, np.nan, 0.0]), "losses", below=0)
    'largest losses: q1 -0.50'
    """
    pulls = values if weights is None or math.isinf(below) else weights * (values - below)
    order = np.argsort(pulls, kind="stable")  # NaN comes last
    order = order[~np.isnan(values[order])]
    if not len(order):
        return ""
    differ = values[order[-1]] - values[order[0]] > NOISE
    if not differ and what != "losses":  # where all are equal, none is behind the value more than others
        return ""
    order = order[values[order] < below - NOISE]
    if not len(order):
        return ""
    sign = -1 if what == "highest" else 1
    named = order[:MOST_QUERIES]
    shown = []
    for place in named:
        query_id = format_for_people(str(query_ids[place]))
        shown.append(f"{query_id} {sign * values[place] + 0.0:.2f}")
    text = ", ".join(shown)
    last = values[named[-1]]
    n_more = int((np.abs(values[order[MOST_QUERIES:]] - last) < NOISE).sum())
    if n_more:
        text += f" and {n_more:,} more of {sign * last + 0.0:.2f}"
    title = f"largest losses{unit}" if what == "losses" else what
    return f"{title}: {text}"
