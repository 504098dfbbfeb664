"""What compared systems say about margins, and about the number of queries that a comparison takes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from deadheat import stats
from deadheat.arguments import positive
from deadheat.evaluation.intervals import FEWEST
from deadheat.stats.power import check_power

if TYPE_CHECKING:
    from deadheat.comparison.comparison import Comparison, Design, Pair

KEYS = ("measure", "system", "baseline")
SIZES: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(KEYS, pl.String),
    "target": pl.Float64,
    "std": pl.Float64,
    "n_queries": pl.Int64,
    "n_clusters": pl.Int64,
    "power": pl.Float64,
    "n_needed": pl.Int64,
    "detectable_difference": pl.Float64,
}


def list_equivalence(comparison: Comparison, margin: float) -> pl.DataFrame:
    """Return the table of :meth:`Comparison.equivalence`."""
    margin, pairs = positive("margin", margin), comparison.pairs
    higher = {str(measure): measure.higher_is_better for measure in comparison.measures}
    better = comparison.differences * np.array([1.0 if higher[pair.measure] else -1.0 for pair in pairs])
    options: dict[str, Any] = {"confidence_level": comparison.design.confidence_level, "cluster": comparison.cluster}
    one, both = stats.no_worse(better, margin, **options), stats.equivalent(better, margin, **options)
    is_enough = np.array([n_units(pair) >= FEWEST for pair in pairs], np.bool_)
    columns = {
        **{name: [getattr(pair, name) for pair in pairs] for name in (*KEYS, "difference")},
        "margin": both.margin,
        "p_no_worse": one.p_values,
        "no_worse": one.is_shown & is_enough,
        "p_equivalent": both.p_values,
        "equivalent": both.is_shown & is_enough,
    }
    return pl.DataFrame(columns).with_columns(pl.col(pl.Float64).fill_nan(None))


def n_units(pair: Pair) -> int:
    """Return what a pair's tests count: queries, or clusters."""
    return pair.n_queries if pair.n_clusters is None else pair.n_clusters


def list_sample_sizes(comparison: Comparison, difference: float | None, power: float) -> pl.DataFrame:
    """Return the table of :meth:`Comparison.sample_sizes`."""
    design, cluster = comparison.design, comparison.cluster
    check_power(power, design.confidence_level)
    towards = -1.0 if design.alternative == "less" else 1.0
    wanted = None if difference is None else towards * positive("difference", difference)
    errors = stats.standard_errors(comparison.differences, cluster=cluster).tolist()
    rows = []
    for pair, error, column in zip(comparison.pairs, errors, comparison.differences.T, strict=True):
        n_clusters = None if cluster is None else len(np.unique(cluster[~np.isnan(column)]))
        target = pair.difference if wanted is None else wanted
        rows.append(
            {
                **{name: getattr(pair, name) for name in KEYS},
                "target": target,
                "std": error * math.sqrt(pair.n_queries),
                "n_queries": pair.n_queries,
                "n_clusters": n_clusters,
                **_planned(target, error, pair.n_queries, n_clusters or pair.n_queries, design, power),
            }
        )
    return pl.DataFrame(rows, schema=SIZES).with_columns(pl.col(pl.Float64).fill_nan(None))


def _planned(  # noqa: PLR0917 - all numbers of one pair
    target: float, error: float, n_queries: int, n_units: int, design: Design, power: float
) -> dict[str, float | None]:
    """Return what the t test of one pair can do: it takes as many independent numbers as there are units."""
    if not error > 0:  # NaN, of one query or cluster, too: nothing says how much queries differ
        return {}
    std = error * math.sqrt(n_units)
    level: dict[str, Any] = {"confidence_level": design.confidence_level, "alternative": design.alternative}
    detectable = stats.detectable_difference(std, n_units, power=power, **level)
    if abs(target) <= stats.NEGLIGIBLE:
        return {"detectable_difference": detectable}
    needed = None
    if stats.power(target, std, stats.MAX_QUERIES, **level) >= power:  # else too small, or of the other sign
        needed = math.ceil(stats.sample_size(target, std, power=power, **level) * n_queries / n_units)
    return {
        "power": stats.power(target, std, n_units, **level),
        "n_needed": needed,
        "detectable_difference": detectable,
    }
