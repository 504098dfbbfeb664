"""The queries that pulled a failed gate down, by name."""

from __future__ import annotations

import math

import numpy as np

from deadheat.arrays import FloatArray, TextArray
from deadheat.wording import printable

NAMED = 3  # queries
EQUAL = 1e-12  # values this near are equal


def lowest(query_ids: TextArray, values: FloatArray, what: str = "lowest", *, below: float = math.inf) -> str:
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
    order = np.argsort(values, kind="stable")  # NaN comes last
    order = order[~np.isnan(values[order])]
    has_worst = len(order) and (what == "losses" or values[order[-1]] - values[order[0]] > EQUAL)
    order = order[values[order] < below - EQUAL]
    if not (has_worst and len(order)):  # where all are equal, none is behind it more than others
        return ""
    sign = -1 if what == "highest" else 1
    shown = [f"{printable(str(query_ids[place]))} {sign * values[place] + 0.0:.2f}" for place in order[:NAMED]]
    last = values[order[:NAMED][-1]]
    n_more = int((np.abs(values[order[NAMED:]] - last) < EQUAL).sum())
    more = f" and {n_more:,} more of {sign * last + 0.0:.2f}" if n_more else ""
    return f"{'largest losses' if what == 'losses' else what}: {', '.join(shown)}{more}"
