"""The data of a chart, runs that are hard to draw, and names that are hard to show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    import altair as alt

EVIL = (
    'quo"ted',
    "it's",
    "a<b>&amp;c",
    "</script><script>alert(1)</script>",
    "new\nline",
    "esc\x1b[2Jape",
    "\u202eright to left",
    "שלום",
    "emoji 🎉",
    "$x_1$ 100% {tex} \\n",
    "[0].field['x']",
    "n" * 300,
)


def rows_of(chart: alt.TopLevelMixin) -> list[dict[str, Any]]:
    """Return the data that the layers of a chart share, as its specification has them."""
    spec = chart.to_dict()
    found: list[dict[str, Any]] = spec["datasets"][spec["data"]["name"]]
    return found


def row_of(chart: alt.TopLevelMixin, **wanted: object) -> dict[str, Any]:
    """Return the only row of the data that has some values."""
    (found,) = (row for row in rows_of(chart) if all(row[name] == value for name, value in wanted.items()))
    return found


def title_of(chart: alt.TopLevelMixin) -> str:
    """Return the title as one line."""
    return " ".join(chart.to_dict()["title"]["text"])


def notes_of(chart: alt.TopLevelMixin) -> str:
    """Return what is below the title as one line."""
    return " ".join(chart.to_dict()["title"]["subtitle"])


TIES = pl.DataFrame(
    {
        "run": ["one"] * 4 + ["other"] * 4,
        "query_id": ["q1", "q2", "q3", "q4"] * 2,
        "measure": ["RR"] * 8,
        "n_documents": [4] * 8,
        "largest_tie": [1, 2, 2, 4, 1, 1, 2, 2],
        "tie_ratio": [0.0, 0.5, 1.0, 1.0, 0.0, 0.0, 0.5, 0.5],
        "exact": [1.0, 0.75, 0.5, 0.4, 0.2, 0.2, 0.75, 0.75],
        "traditional": [1.0, 0.5, 1.0, 0.2, 0.2, 0.2, 1.0, 0.5],
        "difference": [0.0, -0.25, 0.5, -0.2, 0.0, 0.0, 0.25, -0.25],
        "tie_min": [1.0, 0.5, 0.25, 0.2, 0.2, 0.2, 0.5, 0.5],
        "tie_max": [1.0, 1.0, 1.0, 1.0, 0.2, 0.2, 1.0, 1.0],
        "rule": ["doc_id"] * 8,
    }
)
"""As TieProfile.per_query() returns it, of two runs."""
